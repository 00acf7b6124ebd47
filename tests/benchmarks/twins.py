"""Each kernel beside its plain twin, on the inputs of tests/engine/twins.py.

Milliseconds for all inputs, each at its best, wrappers and the making of arrays included. Both are
told what to compute by the same table that the tests hold them equal with.
"""

from __future__ import annotations

from common import best_of, table

from tests.engine.twins import TWINS, Rng

SIZE = 5_000  # bytes of an input
N_INPUTS = 3


def run(rounds: int) -> None:
    print(f"\nKernels and their twins, milliseconds for {N_INPUTS} inputs of {SIZE:,} bytes\n")
    rows = [["kernel", "compiled", "plain", "times as fast"]]
    for row in TWINS:
        row.compare(seed=0, size=100)  # loaded, and warm
        compiled = plain = 0.0
        for seed in range(N_INPUTS):
            inputs = row.inputs(Rng(seed), SIZE)
            compiled += best_of(rounds, lambda: row.run(*inputs))  # noqa: B023
            plain += best_of(1, lambda: row.twin(*inputs))  # noqa: B023
        ratio = plain / compiled
        rows.append([row.kernel, f"{1e3 * compiled:.2f}", f"{1e3 * plain:.1f}", f"{ratio:.3g}"])
    table(rows)
