"""The options of the command line, with their help.

Belongs here: what can be typed, and what `--help` says. Does not belong here: what the commands
do (`commands.py`).
"""

from __future__ import annotations

import argparse
import os
from typing import Any, NoReturn

from bpe_core import __version__
from bpe_core.model import BYTE_ORDERS
from bpe_core.patterns import PATTERNS
from bpe_core.trainer import TIE_BREAKS

from .files import STDIO
from .ids import IDS_KINDS
from .tokenizers import TOKENIZER_KINDS


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def _text(argument: str) -> str:
    """An argument's text as UTF-8, whatever the locale took it for."""
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeEncodeError:
        return argument
    except UnicodeDecodeError:
        raise argparse.ArgumentTypeError("it is not UTF-8 text") from None


def _whole(argument: str) -> int:
    try:
        return int(argument)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{argument!r} is not a whole number") from None


def _count(argument: str) -> int:
    number = _whole(argument)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{argument} is less than 0")
    return number


def _positive(argument: str) -> int:
    number = _whole(argument)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{argument} is less than 1")
    return number


# fmt: off


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; `command` of what it parses is the name of one."""
    top = _Parser(
        prog="mergescope",
        description="Train byte-level BPE tokenizers, turn text into ids and back.",
        epilog=_EXAMPLES["mergescope"],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"mergescope {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, about: str) -> Any:
        return commands.add_parser(
            name, help=about, description=about[0].upper() + about[1:] + ".",
            epilog=_EXAMPLES[name], formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    sub = command("train", "train a tokenizer on text files and write it into a folder")
    _add_training(sub)
    sub.add_argument("--out", metavar="DIR", required=True,
                     help="folder to write into, made where it is missing; files are replaced")
    sub.add_argument("--format", action="append", choices=TOKENIZER_KINDS,
                     help="what to write: native (bpe-SIZE.json), gpt2 (vocab.json and "
                          "merges.txt), tiktoken (a rank file and a Python file that loads it) or "
                          "hf (tokenizer.json); can be repeated (default: native and gpt2)")
    sub.add_argument("--trace", metavar="FILE",
                     help="also write the merge log, as .csv or .parquet (default: none)")

    sub = command("encode", "turn text files into ids")
    _add_files(sub, "text")
    _add_tokenizer(sub)
    sub.add_argument("-o", "--output", metavar="FILE", default=STDIO,
                     help="file for the ids: .npy, .bin (raw little-endian) or .txt "
                          "(default: -, standard output, as text, one line a file)")
    _add_ids(sub)
    either = sub.add_mutually_exclusive_group()
    either.add_argument("--allow-special", metavar="TOKEN", type=_text, action="append", default=[],
                     help="recognize this special token and take the others as ordinary text; "
                          "can be repeated (default: all are recognized)")
    either.add_argument("--no-special", action="store_true",
                     help="take special tokens in the text as ordinary text")
    sub.add_argument("--append", metavar="TOKEN", type=_text,
                     help="special token to add after each file (default: none)")
    _add_errors(sub)
    _add_quiet(sub)

    sub = command("decode", "turn ids back into text")
    _add_files(sub, "ids (.npy, .bin, .txt)")
    _add_tokenizer(sub)
    sub.add_argument("-o", "--output", metavar="FILE", default=STDIO,
                     help="file for the text, UTF-8 (default: -, standard output)")
    _add_ids(sub)
    sub.add_argument("--errors", choices=("replace", "ignore", "strict"), default="replace",
                     help="what to do with bytes of tokens that make no UTF-8 "
                          "(default: %(default)s)")

    sub = command("inspect", "print numbers, tokens and merges of a tokenizer")
    sub.add_argument("tokenizer", metavar="TOKENIZER", help=_TOKENIZER)
    _add_gpt2(sub)
    sub.add_argument("--merges", metavar="N", type=_count, default=5,
                     help="how many of the first and of the last merges (default: %(default)s)")
    sub.add_argument("--longest", metavar="N", type=_count, default=5,
                     help="how many of the longest tokens (default: %(default)s)")
    sub.add_argument("--token", metavar="ID", type=_whole, action="append", default=[],
                     help="tell about this token; can be repeated (default: none)")
    sub.add_argument("--json", action="store_true", help="print JSON (default: text)")

    sub = command("trace", "train on text files and write the log of merges")
    _add_training(sub)
    sub.add_argument("-o", "--output", metavar="FILE", default=STDIO,
                     help="file to write, .csv or .parquet (default: -, standard output, as CSV)")
    return top


_TOKENIZER = (
    "a native file, tokenizer.json, a .tiktoken file, vocab.json with merges.txt beside it, a "
    "folder that holds a native file or vocab.json, or a well-known name such as gpt-4o or "
    "owner/name"
)


def _add_files(sub: Any, what: str) -> None:
    sub.add_argument("files", metavar="FILE", nargs="+", help=f"{what}; - is standard input")


def _add_training(sub: Any) -> None:
    _add_files(sub, "text to train on, each file a document")
    sub.add_argument("--vocab-size", metavar="N", type=_whole, required=True,
                     help="entries of the vocabulary: 256 bytes, special tokens and merges")
    sub.add_argument("--special", metavar="TOKEN", type=_text, action="append", default=[],
                     help="special token, a border in the text; can be repeated (default: none)")
    sub.add_argument("--pattern", metavar="PATTERN", type=_text, default="gpt2",
                     help=f"how text is cut first: {', '.join(map(repr, PATTERNS))}, an encoding "
                          "or a model that cuts so, such as cl100k_base, or a regular expression "
                          "(default: %(default)s)")
    sub.add_argument("--tie-break", choices=TIE_BREAKS, default=TIE_BREAKS[0],
                     help="which of the pairs with one count comes first (default: %(default)s)")
    sub.add_argument("--byte-order", choices=tuple(BYTE_ORDERS), default="plain",
                     help="ids of the bytes: their values, or GPT-2's (default: %(default)s)")
    sub.add_argument("--min-pair-count", metavar="N", type=_whole, default=1,
                     help="stop where no pair occurs as often (default: %(default)s)")
    sub.add_argument("--max-token-bytes", metavar="N", type=_whole,
                     help="longest token that may be made, in bytes (default: no limit)")
    sub.add_argument("--top-k", metavar="N", type=_whole, default=10,
                     help="best pairs that the merge log holds a merge (default: %(default)s)")
    sub.add_argument("--workers", metavar="N", type=_positive,
                     help="threads that count (default: one a processor)")
    _add_errors(sub)
    _add_quiet(sub)


def _add_tokenizer(sub: Any) -> None:
    sub.add_argument("-t", "--tokenizer", metavar="TOKENIZER", required=True, help=_TOKENIZER)
    _add_gpt2(sub)


def _add_gpt2(sub: Any) -> None:
    sub.add_argument("--special", metavar="TOKEN", type=_text, action="append", default=[],
                     help="special token of a vocab.json or .tiktoken file, which do not say; can "
                          "be repeated (default: none)")
    sub.add_argument("--pattern", metavar="PATTERN", type=_text,
                     help="pattern of a vocab.json (default: gpt2) or .tiktoken file, which do not "
                          "say")


def _add_ids(sub: Any) -> None:
    sub.add_argument("--ids", choices=IDS_KINDS,
                     help="how ids are kept (default: by the file's name; text in a stream)")
    sub.add_argument("--dtype", choices=("auto", "uint16", "uint32"), default="auto",
                     help="type of raw ids; auto: uint16 where all ids of the vocabulary are "
                          "below 65536, else uint32 (default: %(default)s)")


def _add_errors(sub: Any) -> None:
    sub.add_argument("--errors", choices=("replace", "ignore", "strict"), default="replace",
                     help="what to do with bytes that are no text (default: %(default)s)")


def _add_quiet(sub: Any) -> None:
    sub.add_argument("-q", "--quiet", action="store_true",
                     help="no progress and no numbers at the end")


# fmt: on

_EXAMPLES = {
    "mergescope": """\
examples:
  mergescope train corpus.txt --vocab-size 10000 --special '<|endoftext|>' --out bpe
  mergescope encode corpus.txt -t bpe -o ids.npy
  mergescope decode ids.npy -t bpe
  mergescope inspect bpe
  mergescope trace corpus.txt --vocab-size 1000 -o merges.csv

Each command has its own help: mergescope train --help. Text is read as UTF-8, or as UTF-16 or
UTF-32 where it begins so, and a gzip file is unpacked. Exit codes: 0 done, 1 an error, 2 wrong
usage, 130 stopped.""",
    "train": """\
examples:
  mergescope train a.txt b.txt --vocab-size 10000 --special '<|endoftext|>' --out bpe
  mergescope train corpus.txt.gz --vocab-size 32000 --out bpe --format native
  mergescope train corpus.txt --vocab-size 5000 --out bpe --trace merges.parquet""",
    "encode": """\
examples:
  mergescope encode corpus.txt -t bpe -o ids.npy
  mergescope encode *.txt -t bpe --append '<|endoftext|>' -o ids.bin
  echo 'low lower' | mergescope encode - -t bpe
  mergescope encode a.txt -t vocab.json --special '<|endoftext|>' --ids bin > ids.bin

Read .npy with numpy.load(name, mmap_mode="r") and .bin with numpy.memmap(name, "<u2") or
"<u4"; the last line says which. The text is streamed, so it may be larger than memory.""",
    "decode": """\
examples:
  mergescope decode ids.npy -t bpe -o text.txt
  echo 72 105 | mergescope decode - -t bpe
  mergescope decode ids.bin -t bpe | head""",
    "inspect": """\
examples:
  mergescope inspect bpe --merges 20
  mergescope inspect bpe/bpe-10000.json --token 300 --token 301
  mergescope inspect vocab.json --special '<|endoftext|>' --json""",
    "trace": """\
examples:
  mergescope trace corpus.txt --vocab-size 1000 -o merges.csv
  mergescope trace corpus.txt --vocab-size 1000 --top-k 0 | head

One row a merge: its rank; id, bytes in hex and text of both parts and of the new token; how
often the pair occurred; places merged; tokens of the text after it; how many pairs there were
and shared the best count; bytes per token; then the best pairs before the merge.""",
}
