"""The commands: train, encode, decode, inspect, trace.

Belongs here: what each command does, in the order in which it is done. Does not belong here: what
can be typed (`options.py`), and errors and exit codes (`main.py`).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from bpe_core.special import Choice

from . import facts, ids, merge_log, terminal, tokenizers, training
from .errors import CommandError
from .files import STDIO, Outputs, TextInput, check_folder, size_of_inputs, title
from .terminal import ProgressLine, note


def train(args: argparse.Namespace) -> None:
    """Train on files and write the tokenizer."""
    folder = Path(args.out)
    check_folder(folder)
    kind = merge_log.kind_of_log(args.trace) if args.trace else ""
    if args.trace and Path(args.trace).absolute().parent != folder.absolute():
        check_folder(Path(args.trace).parent, may_be_made=False)
    # The runners-up cost time and stand in the merge log only.
    result, summary = training.trained(args, top_k=args.top_k if args.trace else 0)
    folder.mkdir(parents=True, exist_ok=True)
    with Outputs() as outputs:
        for form in dict.fromkeys(args.format or ("native", "gpt2")):
            for name, content in tokenizers.tokenizer_files(result.tokenizer, form).items():
                outputs.create(str(folder / name)).write(content)
        if args.trace:
            log = merge_log.columns_of(result.trace, result.tokenizer)
            merge_log.write_log(outputs.create(args.trace), kind, log)
    if not args.quiet:
        note(summary)


def trace(args: argparse.Namespace) -> None:
    """Train on files and write the merge log only."""
    kind = merge_log.kind_of_log(args.output)
    with Outputs() as outputs:
        file = outputs.create(args.output)
        result, summary = training.trained(args, top_k=args.top_k)
        merge_log.write_log(file, kind, merge_log.columns_of(result.trace, result.tokenizer))
    if not args.quiet:
        note(summary)


def encode(args: argparse.Namespace) -> None:
    """Write the ids of texts."""
    kind = ids.kind_of_ids(args.output, args.ids)
    total = size_of_inputs(args.files)
    tokenizer = tokenizers.load_tokenizer(args.tokenizer, args.special, args.pattern)
    dtype = ids.dtype_of_ids(tokenizer, args.dtype)
    for token in [*args.allow_special, *([args.append] if args.append else [])]:
        if token not in tokenizer.special_tokens:
            known = ", ".join(map(repr, tokenizer.special_tokens)) or "none"
            raise CommandError(
                f"{args.tokenizer}: {token!r} is not one of its special tokens ({known})", 2
            )
    allowed: Choice = () if args.no_special else args.allow_special or "all"
    n_bytes = replaced = 0
    with Outputs() as outputs, ProgressLine(args.quiet or args.output == STDIO) as progress:
        progress.load_engine()
        start = time.perf_counter()
        writer = ids.IdWriter(outputs.create(args.output), kind, dtype)
        for name in args.files:
            text = TextInput(name, args.errors)
            for chunk in ids.encoded(tokenizer, text, allowed):
                writer.write(chunk)
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
            f"{n_bytes:,} bytes, {terminal.ratio(n_bytes, writer.n_ids)}, "
            f"{time.perf_counter() - start:.1f} s{terminal.replaced(replaced, args.errors)}"
        )


def decode(args: argparse.Namespace) -> None:
    """Write the text of ids."""
    kinds = [ids.kind_of_ids(name, args.ids) for name in args.files]
    size_of_inputs(args.files)
    tokenizer = tokenizers.load_tokenizer(args.tokenizer, args.special, args.pattern)
    dtype = ids.dtype_of_ids(tokenizer, args.dtype)
    with Outputs() as outputs:
        file = outputs.create(args.output)
        for name, kind in zip(args.files, kinds, strict=True):
            chunks = ids.read_ids(name, kind, dtype)
            try:
                for text in ids.decoded(tokenizer, chunks, args.errors):
                    file.write(text)
            except KeyError as err:
                raise CommandError(
                    f"{title(name)}: {err.args[0]}; is it the tokenizer that encoded them"
                    f"{', and the right --dtype' * (kind == 'bin')}?"
                ) from None
            except UnicodeDecodeError as err:
                raise CommandError(
                    f"{title(name)}: the ids give no UTF-8 text (byte "
                    f"0x{err.object[err.start]:02X}: {err.reason}); use --errors replace or ignore"
                ) from None


def inspect(args: argparse.Namespace) -> None:
    """Print numbers, tokens and merges of a tokenizer."""
    tokenizer = tokenizers.load_tokenizer(args.tokenizer, args.special, args.pattern)
    try:
        found = facts.facts_of(
            tokenizer,
            args.tokenizer,
            merges=args.merges,
            longest=args.longest,
            tokens=args.token,
        )
    except KeyError as err:
        raise CommandError(f"{args.tokenizer}: {err.args[0]}") from None
    if args.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        print(facts.as_text(found))


COMMANDS = {
    "train": train, "encode": encode, "decode": decode, "inspect": inspect, "trace": trace,
}  # fmt: skip
