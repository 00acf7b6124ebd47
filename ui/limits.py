"""How much a visitor may give the server, in one place.

Belongs here: limits on texts and files. What a tokenizer may hold is checked in
``ui/tokenizers/importing.py``, the length of one request in ``ui/server/api.py``.
"""

from __future__ import annotations

#: Characters of a pasted text. A paste travels with every click, so files are for more.
PASTE_CHARACTERS = 2_000_000

#: One text file, and all of a visitor's text files together. ``server.maxUploadSize`` in
#: ``.streamlit/config.toml`` is the larger of the limits for one file.
TEXT_FILE_MB = 50
TEXT_TOTAL_MB = 100

#: One file of a tokenizer, and how many files make one.
TOKENIZER_FILE_MB = 30
TOKENIZER_FILES = 8
