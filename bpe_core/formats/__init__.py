"""Tokenizer files: pure loads and dumps, text or bytes in, text or bytes out.

| module | format |
| --- | --- |
| `native` | the native JSON file: everything that makes a tokenizer up |
| `gpt2` | GPT-2's vocab.json and merges.txt |
| `tiktoken` | tiktoken's rank files, and the Python that reads one |
| `huggingface` | Hugging Face's tokenizer.json of the byte-level BPE family |
| `common` | what they share; `regexes`: patterns in the dialects of other engines |

A bad file raises `FormatError`, which names the format, the place and what was expected;
nothing is half loaded. `obstacles` tells before a download why a format cannot hold a
tokenizer. Does not belong here: opening files (`Tokenizer.save`, `load`, `from_files`) and
fetching well-known ones (`registry`).
"""

from __future__ import annotations

from typing import Literal

from bpe_core.tokenizer import Tokenizer

from .common import FormatError, from_characters, to_characters
from .gpt2 import dumps_gpt2, gpt2_obstacles, loads_gpt2
from .huggingface import Imported, dumps_hf, hf_obstacles, loads_hf, read_hf
from .native import NATIVE_NAME, NATIVE_VERSION, dumps_native, loads_native
from .tiktoken import dumps_tiktoken, loads_tiktoken, tiktoken_obstacles, tiktoken_snippet

__all__ = [
    "NATIVE_NAME", "NATIVE_VERSION", "Format", "FormatError", "Imported", "dumps_gpt2", "dumps_hf",
    "dumps_native", "dumps_tiktoken", "from_characters", "loads_gpt2", "loads_hf", "loads_native",
    "loads_tiktoken", "obstacles", "read_hf", "tiktoken_snippet", "to_characters",
]  # fmt: skip

Format = Literal["native", "gpt2", "tiktoken", "hf"]
_OBSTACLES = {"gpt2": gpt2_obstacles, "tiktoken": tiktoken_obstacles, "hf": hf_obstacles}


def obstacles(tokenizer: Tokenizer, format_name: Format) -> list[str]:
    """Why the format cannot hold the tokenizer, a sentence each; [] where it can.

    Exact: with no obstacle, what the format's own library reads gives the same ids. May take
    a second for a vocabulary of 200,000.

    >>> tokenizer = Tokenizer.from_vocab({i: bytes([i]) for i in range(256)} | {256: b"xyz"}, [])
    >>> obstacles(tokenizer, "native"), len(obstacles(tokenizer, "tiktoken"))
    ([], 1)
    """
    return [] if format_name == "native" else list(_OBSTACLES[format_name](tokenizer))
