"""The command line: `python -m bpe_core`, installed as `mergescope`.

Belongs here: what each command does, and the process around it. Does not belong here: options
and help (`cli_options.py`), files, ids and progress (`cli.py`). Exit codes: 0 done, 1 an error,
2 wrong usage, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np

from . import cli
from .cli import STDIO, CommandError, Outputs, Progress, note
from .cli_options import parser
from .counting import PretokenCounter, count_pretokens
from .metrics import bytes_per_token
from .model import BYTE_ORDERS
from .pretokenize import PreTokenizer
from .special import Policy
from .tokenizer import Tokenizer
from .trainer import MergeTrace, Trainer, TrainingResult, TrainingRun

# --------------------------------------------------------------------------- commands


def train(args: argparse.Namespace) -> None:
    """Train on files and write the tokenizer."""
    folder = Path(args.out)
    cli.check_folder(folder)
    kind = _kind_of_log(args.trace) if args.trace else ""
    if args.trace and Path(args.trace).absolute().parent != folder.absolute():
        cli.check_folder(Path(args.trace).parent, may_be_made=False)
    # The runners-up cost time and stand in the merge log only.
    result, summary = _trained(args, top_k=args.top_k if args.trace else 0)
    folder.mkdir(parents=True, exist_ok=True)
    with Outputs() as outputs:
        for form in dict.fromkeys(args.format or ("native", "gpt2")):
            for name, content in cli.tokenizer_files(result.tokenizer, form).items():
                outputs.create(str(folder / name)).write(content)
        if args.trace:
            log = _merge_log(result.trace, result.tokenizer)
            _write_log(outputs.create(args.trace), kind, log)
    if not args.quiet:
        note(summary)


def trace(args: argparse.Namespace) -> None:
    """Train on files and write the merge log only."""
    kind = _kind_of_log(args.output)
    with Outputs() as outputs:
        file = outputs.create(args.output)
        result, summary = _trained(args, top_k=args.top_k)
        _write_log(file, kind, _merge_log(result.trace, result.tokenizer))
    if not args.quiet:
        note(summary)


def _trained(args: argparse.Namespace, top_k: int) -> tuple[TrainingResult, str]:
    """The result of training as the options say, and a line of numbers about it."""
    try:
        trainer = Trainer(
            args.vocab_size, tuple(args.special), args.pattern, args.tie_break, args.byte_order,
            args.min_pair_count, args.max_token_bytes, top_k,
        )  # fmt: skip
    except ValueError as err:
        raise CommandError(_in_options(err), 2) from None
    total = cli.size_of_inputs(args.files)
    with Progress(args.quiet) as progress:
        progress.load_engine()
        start = time.perf_counter()
        counter, replaced = _counted(args, trainer, progress, total)
        run = TrainingRun(trainer, counter, replaced)
        step = 16
        while not run.done:
            # Short enough for Ctrl-C and the progress line, long enough to cost nothing.
            before = time.perf_counter()
            run.advance(step)
            took = time.perf_counter() - before
            step = max(1, step * 2 if took < 0.05 else step // 2 if took > 0.2 else step)
            progress.show("merging", run.n_merges, run.goal, "merges")
    result = run.result()
    reasons = {
        "vocab_size": "vocabulary size reached",
        "no_pairs": "no pair left to merge",
        "min_pair_count": f"no pair occurs {args.min_pair_count} times any more",
    }
    n_bytes, tokens = result.trace.corpus_bytes, result.trace.corpus_tokens
    n_tokens = int(tokens[-1]) if tokens.size else n_bytes
    summary = (
        f"{n_bytes:,} bytes, {len(counter):,} distinct pre-tokens, {run.n_merges:,} merges "
        f"({reasons[result.stop_reason]}), {_ratio(n_bytes, n_tokens)}, "
        f"{time.perf_counter() - start:.1f} s{_replaced(args, replaced)}"
    )
    return result, summary


def _counted(
    args: argparse.Namespace, trainer: Trainer, progress: Progress, total: int | None
) -> tuple[PretokenCounter, int]:
    """Pre-tokens of all files, each a document, and how many bytes were replaced."""
    corpora: list[Any] = [[]]
    for name in args.files:
        if name == STDIO:
            corpora += [getattr(sys.stdin.buffer, "raw", sys.stdin.buffer), []]
        else:
            corpora[-1].append(Path(name))
    pretokenizer = PreTokenizer(trainer.pattern)
    counter, replaced = PretokenCounter(pretokenizer), 0
    before = latest = 0

    def on_progress(done: int) -> None:
        nonlocal latest
        if cli.stop.is_set():
            raise KeyboardInterrupt
        latest = before + done
        progress.show("counting", latest, total, "MB")

    for corpus in corpora:
        if corpus == []:
            continue
        part, bad = count_pretokens(
            corpus, pretokenizer, trainer.special_tokens, errors=args.errors,
            workers=args.workers, on_progress=on_progress,
        )  # fmt: skip
        before = latest
        replaced += bad
        if len(counter):
            counter.add_pretokens(part.data, part.offsets, part.counts)
        else:
            counter = part
    return counter, replaced


def encode(args: argparse.Namespace) -> None:
    """Write the ids of texts."""
    kind = cli.kind_of_ids(args.output, args.ids)
    total = cli.size_of_inputs(args.files)
    tokenizer = cli.load_tokenizer(args.tokenizer, args.special, args.pattern)
    dtype = cli.dtype_of_ids(tokenizer, args.dtype)
    for token in [*args.allow_special, *([args.append] if args.append else [])]:
        if token not in tokenizer.special_tokens:
            known = ", ".join(map(repr, tokenizer.special_tokens)) or "none"
            raise CommandError(
                f"{args.tokenizer}: {token!r} is not one of its special tokens ({known})", 2
            )
    allowed: Policy = () if args.no_special else args.allow_special or "all"
    n_bytes = replaced = 0
    with Outputs() as outputs, Progress(args.quiet or args.output == STDIO) as progress:
        progress.load_engine()
        start = time.perf_counter()
        writer = cli.IdWriter(outputs.create(args.output), kind, dtype)
        for name in args.files:
            text = cli.TextInput(name, args.errors)
            for ids in cli.encoded(tokenizer, text, allowed):
                writer.write(ids)
                progress.show("encoding", n_bytes + text.n_bytes, total, "MB")
            if args.append:
                writer.write(np.array([tokenizer.special_tokens[args.append]], np.uint32))
            writer.end_text()
            n_bytes += text.n_bytes
            replaced += text.replaced_bytes
        writer.finish()
    if not args.quiet:
        note(
            f"{writer.n_ids:,} tokens as {'text' if kind == 'text' else dtype.name}, "
            f"{n_bytes:,} bytes, {_ratio(n_bytes, writer.n_ids)}, "
            f"{time.perf_counter() - start:.1f} s{_replaced(args, replaced)}"
        )


def decode(args: argparse.Namespace) -> None:
    """Write the text of ids."""
    kinds = [cli.kind_of_ids(name, args.ids) for name in args.files]
    cli.size_of_inputs(args.files)
    tokenizer = cli.load_tokenizer(args.tokenizer, args.special, args.pattern)
    dtype = cli.dtype_of_ids(tokenizer, args.dtype)
    with Outputs() as outputs:
        file = outputs.create(args.output)
        for name, kind in zip(args.files, kinds, strict=True):
            chunks = cli.read_ids(name, kind, dtype)
            try:
                for text in cli.decoded(tokenizer, chunks, args.errors):
                    file.write(text)
            except KeyError as err:
                raise CommandError(
                    f"{cli.title(name)}: {err.args[0]}; is it the tokenizer that encoded them"
                    f"{', and the right --dtype' * (kind == 'bin')}?"
                ) from None
            except UnicodeDecodeError as err:
                raise CommandError(
                    f"{cli.title(name)}: the ids give no UTF-8 text (byte "
                    f"0x{err.object[err.start]:02X}: {err.reason}); use --errors replace or ignore"
                ) from None


def inspect(args: argparse.Namespace) -> None:
    """Print numbers, tokens and merges of a tokenizer."""
    tokenizer = cli.load_tokenizer(args.tokenizer, args.special, args.pattern)
    try:
        asked = [_token(tokenizer, i) for i in args.token]
    except KeyError as err:
        raise CommandError(f"{args.tokenizer}: {err.args[0]}") from None
    order = next((n for n, o in BYTE_ORDERS.items() if o == tokenizer.model.byte_order), "other")
    longest = sorted(tokenizer.vocab, key=lambda i: (-len(tokenizer.vocab[i]), i))
    n, m = tokenizer.n_merges, min(args.merges, tokenizer.n_merges)
    facts: dict[str, Any] = {
        "tokenizer": args.tokenizer,
        "vocab_size": tokenizer.vocab_size,
        "merges": n,
        "largest_id": max(tokenizer.vocab),
        "dtype": cli.dtype_of_ids(tokenizer).name,
        "special_tokens": tokenizer.special_tokens,
        "unused_entries": len(cli.unused_ids(tokenizer)),
        "pattern": tokenizer.pattern,
        "regex": tokenizer.pretokenizer.regex,
        "byte_order": order,
        "longest_tokens": [_token(tokenizer, i) for i in longest[: args.longest]],
        "first_merges": _merges(tokenizer, range(m)),
        "last_merges": _merges(tokenizer, range(n - m, n)),
    }
    if asked:
        facts["tokens"] = asked
    text = json.dumps(facts, ensure_ascii=False, indent=1) if args.json else _facts(facts)
    print(text)


def _token(tokenizer: Tokenizer, i: int) -> dict[str, Any]:
    token = tokenizer.token_bytes(i)
    rank = int(tokenizer.birth_ranks[i])
    parents = tokenizer.merge_ids[rank, :2].tolist() if rank >= 0 else []
    special = i in tokenizer.special_tokens.values()
    return {
        "id": i,
        "text": cli.shown(token),
        "hex": token.hex(),
        "bytes": len(token),
        "special": special,
        "rank": rank if rank >= 0 else None,
        "parents": parents,
        "parent_texts": [cli.shown(tokenizer.vocab[p]) for p in parents],
        "used_in_merges": int(np.count_nonzero(tokenizer.merge_ids[:, :2] == i)),
    }


def _merges(tokenizer: Tokenizer, ranks: range) -> list[dict[str, Any]]:
    rows = []
    for rank in ranks:
        ids = tokenizer.merge_ids[rank].tolist()
        rows.append(
            {"rank": rank, "ids": ids, "texts": [cli.shown(tokenizer.vocab[i]) for i in ids]}
        )
    return rows


def _facts(facts: dict[str, Any]) -> str:
    """The facts for people; tokens stand in quotes with control characters escaped."""
    specials = [f"{t!r} = {i}" for t, i in facts["special_tokens"].items()]
    lines = [
        f"tokenizer       {facts['tokenizer']}",
        f"vocabulary      {facts['vocab_size']:,} entries, {facts['merges']:,} merges",
        f"ids             up to {facts['largest_id']}, kept as {facts['dtype']}",
        f"special tokens  {', '.join(specials) or 'none'}",
        f"unused entries  {facts['unused_entries']:,}",
        f"pattern         {facts['pattern']}",
        f"byte order      {facts['byte_order']}",
    ]
    if facts["longest_tokens"]:
        lines += ["", "longest tokens  (id, bytes)"]
        lines += [f"{t['id']:>8} {t['bytes']:>5}  {t['text']!r}" for t in facts["longest_tokens"]]
    for name in ("first_merges", "last_merges"):
        if facts[name]:
            lines += ["", f"{name.replace('_', ' '):<15} (rank, id)"]
        for merge in facts[name]:
            left, right, new = map(repr, merge["texts"])
            lines.append(f"{merge['rank']:>8} {merge['ids'][2]:>8}  {left} + {right} = {new}")
    for token in facts.get("tokens", ()):
        lines += ["", f"token {token['id']}  {token['text']!r}  bytes {token['hex']}"]
        if token["special"]:
            lines.append("  a special token")
        elif token["rank"] is None:
            lines.append("  a single byte" if token["bytes"] == 1 else "  no merge makes it")
        else:
            (a, b), (left, right) = token["parents"], map(repr, token["parent_texts"])
            lines.append(f"  made by merge {token['rank']}: {left} ({a}) + {right} ({b})")
        lines.append(f"  part of {token['used_in_merges']:,} merges")
    return "\n".join(lines)


def _ratio(n_bytes: int, n_tokens: int) -> str:
    return f"{n_bytes / n_tokens:.3f} bytes per token" if n_tokens else "no tokens"


def _replaced(args: argparse.Namespace, n: int) -> str:
    what = "left out" if args.errors == "ignore" else "replaced by U+FFFD"
    return f"; bytes that are no text, {what}: {n:,}" if n else ""


# --------------------------------------------------------------------------- merge log


def _merge_log(trace: MergeTrace, tokenizer: Tokenizer) -> dict[str, Any]:
    """The columns of a merge log: ids, bytes in hex and as text, counts, candidates."""
    recorded = trace.to_columns()
    columns: dict[str, Any] = {"rank": np.arange(len(trace))}
    for side in ("left", "right", "new"):
        ids = recorded.pop(side)
        tokens = [tokenizer.vocab[i] for i in ids.tolist()]
        columns[f"{side}_id"] = ids
        columns[f"{side}_hex"] = [token.hex() for token in tokens]
        columns[f"{side}_text"] = [cli.shown(token) for token in tokens]
    candidates = {name: recorded.pop(name) for name in list(recorded) if name[:5] == "cand_"}
    columns |= recorded
    columns["bytes_per_token"] = bytes_per_token(trace.corpus_bytes, trace.corpus_tokens)
    return columns | candidates


def _kind_of_log(name: str) -> Literal["csv", "parquet"]:
    """The form of a merge log by its name; CommandError where it cannot be written."""
    suffix = Path(name).suffix.lower()
    if name == STDIO or suffix == ".csv":
        return "csv"
    if suffix != ".parquet":
        raise CommandError(f"{name}: a merge log's name must end in .csv or .parquet", 2)
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise CommandError(
            f"{name}: Parquet needs the package pyarrow; install it or write a .csv file"
        ) from None
    return "parquet"


def _write_log(file: cli.OutputFile, kind: str, columns: dict[str, Any]) -> None:
    """Write a merge log; in CSV (UTF-8) texts stand in quotes and numbers do not."""
    if kind == "parquet":
        import pyarrow
        import pyarrow.parquet

        packed = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(columns), packed)
        file.write(packed.getvalue())
        return
    rows = zip(*(c if isinstance(c, list) else c.tolist() for c in columns.values()), strict=True)
    table = itertools.chain([columns], rows)
    while some := list(itertools.islice(table, 4096)):
        text = io.StringIO()
        csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerows(some)
        file.write(text.getvalue().encode("utf-8"))


# --------------------------------------------------------------------------- running

COMMANDS = {
    "train": train, "encode": encode, "decode": decode, "inspect": inspect, "trace": trace,
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors are told in one line."""
    try:
        status = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has enough. What is still buffered goes nowhere.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return 1
    return status


def _run(argv: Sequence[str] | None) -> int:
    try:
        args = parser().parse_args(argv)
        COMMANDS[args.command](args)
    except SystemExit as err:
        return int(err.code or 0)
    except CommandError as err:
        note(str(err))
        return err.status
    except KeyboardInterrupt:
        note("stopped")
        return 128 + signal.SIGINT
    except BrokenPipeError:
        raise
    except OSError as err:
        note(_os_error(err))
    except ValueError as err:
        note(_in_options(err))
    except MemoryError:
        note("there is not enough memory; use less text or a smaller vocabulary")
    else:
        return 0
    return 1


def _os_error(err: OSError) -> str:
    advice = {
        FileNotFoundError: "there is no such file; check the name",
        IsADirectoryError: "this is a folder; name a file",
        NotADirectoryError: "a part of the path is no folder; check the name",
        PermissionError: "access is not permitted; check the permissions",
    }
    what = advice.get(type(err), err.strerror or str(err))
    return f"{os.fsdecode(err.filename)}: {what}" if err.filename else what


def _in_options(err: ValueError) -> str:
    """The engine's message, with options as they are spelled here."""
    message = str(err).replace('errors="replace" or "ignore"', "--errors replace or ignore")
    for name in ("vocab_size", "special_tokens", "min_pair_count", "top_k", "max_token_bytes"):
        option = "--special" if name == "special_tokens" else f"--{name.replace('_', '-')}"
        message = message.replace(name, option)
    return message


def run() -> NoReturn:
    """The program: `main` with signals and streams set up for a process of its own."""
    caught: list[int] = []

    def stop(number: int, _frame: object) -> None:
        caught.append(number)
        if len(caught) > 1:
            # Clearing up may wait for a thread that waits for input: no more waiting.
            cli.discard(cli.unfinished)
            os._exit(128 + number)
        cli.stop.set()
        raise KeyboardInterrupt

    # Also where a shell started it with SIGINT ignored: a script can then still stop it cleanly.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    status = main()
    if caught:
        # A plain exit would wait for threads.
        sys.stderr.flush()
        os._exit(128 + caught[0])
    sys.exit(status)


if __name__ == "__main__":
    run()
