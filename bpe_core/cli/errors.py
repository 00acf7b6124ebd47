"""Errors of the command line: each is told in one line.

Belongs here: the error a command ends with, and other errors in its words. Does not belong here:
where they are caught (`main.py`).
"""

from __future__ import annotations

import os


class CommandError(Exception):
    """An error told in one line; `status` is the exit code: 1, or 2 for wrong usage."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def of_system(err: OSError) -> str:
    """An error of the system, with what to do."""
    advice = {
        FileNotFoundError: "there is no such file; check the name",
        IsADirectoryError: "this is a folder; name a file",
        NotADirectoryError: "a part of the path is no folder; check the name",
        PermissionError: "access is not permitted; check the permissions",
    }
    what = advice.get(type(err), err.strerror or str(err))
    return f"{os.fsdecode(err.filename)}: {what}" if err.filename else what


def of_engine(err: ValueError) -> str:
    """The engine's message, with options as they are spelled here."""
    message = str(err).replace('errors="replace" or "ignore"', "--errors replace or ignore")
    for name in ("vocab_size", "special_tokens", "min_pair_count", "top_k", "max_token_bytes"):
        option = "--special" if name == "special_tokens" else f"--{name.replace('_', '-')}"
        message = message.replace(name, option)
    return message
