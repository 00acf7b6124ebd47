"""Running a command: `main` for one call, `run` for a process of its own.

Belongs here: exit codes, signals and streams. Exit codes: 0 done, 1 an error, 2 wrong usage, 130
stopped by Ctrl-C. Does not belong here: what each command does (`commands.py`).
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

from . import errors, files, terminal
from .commands import COMMANDS
from .errors import CommandError
from .options import parser
from .terminal import note


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
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: note(str(message))
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
        note(errors.of_system(err))
    except ValueError as err:
        note(errors.of_engine(err))
    except MemoryError:
        note("there is not enough memory; use less text or a smaller vocabulary")
    else:
        return 0
    return 1


def run() -> NoReturn:
    """The program: `main` with signals and streams set up for a process of its own."""
    caught: list[int] = []

    def stop(number: int, _frame: object) -> None:
        caught.append(number)
        if len(caught) > 1:
            # Clearing up may wait for a thread that waits for input: no more waiting.
            files.discard(files.unfinished)
            os._exit(128 + number)
        terminal.stop.set()
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
