"""Tokenizer files: pure loads and dumps, text or bytes in, text or bytes out.

| module | format |
| --- | --- |
| `native` | the native JSON file: everything that makes a tokenizer up |
| `gpt2` | GPT-2's vocab.json and merges.txt |
| `tiktoken` | tiktoken's rank files, and the Python that reads one |
| `huggingface` | Hugging Face's tokenizer.json of the byte-level BPE family |
| `proof` | all of them: the files of a format, which format files are of, proving an export |
| `common` | what they share; `regexes`: patterns in the dialects of other engines |

A bad file raises `FormatError`, which names the format, the place and what was expected;
nothing is half loaded. `obstacles` tells before a download why a format cannot hold a
tokenizer. Does not belong here: opening files (`Tokenizer.save`, `load`, `from_files`) and
fetching well-known ones (`known`).
"""

from __future__ import annotations

from .common import FormatError, from_characters, to_characters
from .gpt2 import dumps_gpt2, loads_gpt2
from .huggingface import Imported, dumps_hf, loads_hf, read_hf
from .native import NATIVE_NAME, NATIVE_VERSION, dumps_native, loads_native
from .proof import NASTY_TEXTS, Format, Proof, dumps, loads, obstacles, prove, remarks
from .tiktoken import dumps_tiktoken, loads_tiktoken, tiktoken_snippet

__all__ = [
    "NASTY_TEXTS", "NATIVE_NAME", "NATIVE_VERSION", "Format", "FormatError", "Imported", "Proof",
    "dumps", "dumps_gpt2", "dumps_hf", "dumps_native", "dumps_tiktoken", "from_characters",
    "loads", "loads_gpt2", "loads_hf", "loads_native", "loads_tiktoken", "obstacles", "prove",
    "read_hf", "remarks", "tiktoken_snippet", "to_characters",
]  # fmt: skip
