"""The files of an export, and the proof that they give the same ids when read back.

Belongs here: which texts are compared, how long that takes, keeping the results. The comparison
itself is `bpe_core.formats.prove`. Does not belong here: widgets (``export_dialog``).
"""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import streamlit as st

from bpe_core import formats
from bpe_core.formats import Format
from bpe_core.tokenizer import Tokenizer
from ui import samples
from ui.session.state import Trained

#: The most characters of the training text that are compared, and of each piece of it.
MOST_TEXT = 4_000_000
_PIECE = 100_000

#: Entries up to which the proof is made at once; a larger vocabulary takes some seconds.
AT_ONCE = 10_000
_ENTRIES_A_SECOND = 6_000

_places = threading.Semaphore(2)  # proofs at the same time, of all visitors

# A fixed time stamp, so that the same tokenizer always gives the same file.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Export:
    """What a format says of a tokenizer: obstacles (then nothing else counts) and remarks."""

    obstacles: list[str]
    remarks: list[str]


@dataclass(frozen=True)
class Proved:
    """The files of an export after the comparison, with what was compared."""

    files: dict[str, bytes]
    proof: formats.Proof
    texts: str

    @property
    def sentence(self) -> str:
        """The result in words."""
        if self.proof.differing:
            n = len(self.proof.differing)
            return (
                f"Reloaded, but {n:,} of {self.proof.n_texts:,} texts got other ids, first "
                f"{self.proof.differing[0]!r:.80}; so there is no download. Please report this."
            )
        return (
            f"Reloaded, {self.proof.n_ids:,} ids equal: {self.texts}, the text of every token, "
            "and strings at which tokenizers go wrong."
        )


@st.cache_data(max_entries=128, show_spinner=False)
def export(key: str, merges: int, format_name: Format, _tokenizer: Tokenizer) -> Export:
    """What is to know before a download."""
    found = formats.obstacles(_tokenizer, format_name)
    return Export(found, [] if found else formats.remarks(_tokenizer, format_name))


@st.cache_data(max_entries=12, show_spinner=False)
def prove(
    key: str, merges: int, format_name: Format, _tokenizer: Tokenizer, _trained: Trained
) -> Proved:
    """Write the files, read them back, and compare the ids."""
    with _places:
        proof = formats.prove(_tokenizer, format_name, texts(_trained))
    return Proved(formats.dumps(_tokenizer, format_name), proof, _texts_in_words(_trained))


def texts(trained: Trained) -> Iterator[str]:
    """Give what the tokenizer was trained on and what was held out, or else the sample texts."""
    if not trained.text:
        for sample in samples.by_id().values():
            yield from pieces(sample.read())
        return
    yield from pieces(trained.text[:MOST_TEXT])
    yield from pieces(trained.held_out[:MOST_TEXT])


def pieces(text: str) -> Iterator[str]:
    """Cut a text into pieces that are quick to compare, behind a line break where there is one.

    >>> [len(piece) for piece in pieces("a line\\n" * 30_000)]
    [99995, 99995, 10010]
    """
    start = 0
    while start < len(text):
        stop = start + _PIECE
        if stop < len(text):
            stop = text.rfind("\n", start, stop) + 1 or stop
        yield text[start:stop]
        start = stop


def _texts_in_words(trained: Trained) -> str:
    if not trained.text:
        return "the sample texts"
    part = f"the first {MOST_TEXT:,} characters of " if len(trained.text) > MOST_TEXT else ""
    held_out = " and the held-out text" if trained.held_out else ""
    return f"{part}the training text{held_out}"


def seconds(tokenizer: Tokenizer) -> float:
    """About how long a proof takes."""
    return tokenizer.vocab_size / _ENTRIES_A_SECOND


def download(proved: Proved, n_entries: int) -> tuple[str, bytes, str]:
    """Name, content and media type of the one file to download."""
    if len(proved.files) == 1:
        name, content = next(iter(proved.files.items()))
        return name, content, "application/json"
    return f"tokenizer-{n_entries}.zip", zipped(proved.files), "application/zip"


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Several files in one zip file, the same bytes for the same files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
