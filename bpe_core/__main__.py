"""`python -m bpe_core`: the command line, see `bpe_core.cli`."""

from __future__ import annotations

from .cli.main import main, run

__all__ = ["main", "run"]

if __name__ == "__main__":
    run()
