"""Tokenizer files: pure loads and dumps, text or bytes in, text or bytes out.

| module | format |
| --- | --- |
| `native` | the native JSON file: everything that makes a tokenizer up |
| `gpt2` | GPT-2's vocab.json and merges.txt |
| `tiktoken` | tiktoken's rank files, and the Python that reads one |
| `huggingface` | Hugging Face's tokenizer.json of the byte-level BPE family |
| `huggingface_parts` | the parts of that file, read one by one |
| `record` | what a format is: `FormatRecord`, one for each of them |
| `files` | all of them: which format files are of (`sniff`), reading and writing whole sets |
| `proof` | proving an export |
| `others` | files that stand beside tokenizers, or in their place |
| `common` | what they share |
| `canonical` | the merges of a list that encoding ever does |
| `regexes` | patterns in the dialects of other engines |

A new format is one file with a `RECORD`, and that record's name in the list in `files`; `loads`,
`dumps`, `obstacles`, `remarks` and `prove` then know it. What to ask of a file or a format:
`sniff(content)` says which file of which format a content is, and whether that format holds its
pattern and special tokens (`.format.holds_settings`); `FORMATS[name]` has its title, the names of
its files and their extensions.

A bad file raises `FormatError`, which names the format, the place and what was expected;
nothing is half loaded. `obstacles` tells before a download why a format cannot hold a
tokenizer. Does not belong here: opening files (`Tokenizer.save`, `load`, `from_files`) and
fetching well-known ones (`known`).
"""

from __future__ import annotations

from .common import FormatError, from_characters, to_characters
from .files import FORMATS, Format, FoundFile, dumps, loads, obstacles, remarks, sniff
from .gpt2 import dumps_gpt2, loads_gpt2
from .huggingface import dumps_hf, loads_hf, read_hf
from .native import NATIVE_NAME, NATIVE_VERSION, dumps_native, loads_native
from .proof import NASTY_TEXTS, Proof, prove
from .record import FormatRecord, LoadedTokenizer
from .tiktoken import dumps_tiktoken, loads_tiktoken, tiktoken_snippet

Imported = LoadedTokenizer  # what it was called before

__all__ = [
    "FORMATS", "NASTY_TEXTS", "NATIVE_NAME", "NATIVE_VERSION", "Format", "FormatError",
    "FormatRecord", "FoundFile", "Imported", "LoadedTokenizer", "Proof", "dumps", "dumps_gpt2",
    "dumps_hf", "dumps_native", "dumps_tiktoken", "from_characters", "loads", "loads_gpt2",
    "loads_hf", "loads_native", "loads_tiktoken", "obstacles", "prove", "read_hf", "remarks",
    "sniff", "tiktoken_snippet", "to_characters",
]  # fmt: skip
