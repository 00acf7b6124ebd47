"""Texts on which tokenizers are compared: real ones, nasty ones and generated ones."""

from __future__ import annotations

import gzip
from pathlib import Path

from hypothesis import strategies as st

from bpe_core.formats import NASTY_TEXTS

# Tables of letters differ between versions of Unicode: only characters that this Python knows are
# compared with libraries that bring their own tables.
assigned = st.characters(exclude_categories=["Cn", "Cs", "Co"])

BITS = [
    "'s", "'S", "'ll", "'RE", "'ſ", " the", "The", "THe", "  ", "\n", "\r\n", "\t", " ", "\u3000",
    "\u00a0", "\u2028", "\u0085", "\x00", "12", "12345", "½", "٣", "!", " ?!", "//\n", "é", "e\u0301",
    "ß", "ﬀ", "İ", "中文", "한국", "\u1112\u1161\u11ab", "日本", "ひらがな", "🙃", "👨‍👩‍👧", "नमस्ते",
    "i'm", "don't", "<|x|>", "<", ">", "_", "-", "a b", "\ufeff", "\u200d", "\u212a", "\u037e", "Ⅷ", "ǅ",
]  # fmt: skip
mixed = st.lists(st.sampled_from(BITS) | st.text(assigned, max_size=3), max_size=20).map(
    "".join
) | st.text(assigned, max_size=50)

NASTY = NASTY_TEXTS


SAMPLES = Path(__file__).resolve().parents[2] / "sample_corpora"


def sample_texts() -> list[str]:
    """Stretches of the sample corpora, some 300 KB: stories, code, chats, sixteen languages."""
    whole = [path.read_text(encoding="utf-8") for path in sorted(SAMPLES.glob("*.txt"))]
    return [text[start : start + 8_000] for text in whole for start in range(0, len(text), 8_000)]


def sample_german() -> str:
    """The German passages of the sample corpora, some 2 KB."""
    passages = (SAMPLES / "languages.txt").read_text(encoding="utf-8").split("\n\n")
    return "\n".join(p.split("\n", 1)[1] for p in passages if p.startswith("# German"))


def real_texts(shared: Path) -> list[str]:
    """Whole texts and stretches of them, in many languages, some 300 KB."""
    names = ["address.txt", "german.txt", "special_token_trailing_newlines.txt"]
    texts = [(shared / "cs336" / name).read_text(encoding="utf-8") for name in names]
    texts.append((shared / "cs336" / "tinystories_sample.txt").read_text(encoding="utf-8")[:30_000])
    for name in ("udhr_all", "debdocs_multi", "kjv"):
        with gzip.open(shared / "corpora" / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
            text = file.read(4_000_000)
        texts += [text[start : start + 8_000] for start in range(0, len(text), 500_000)]
    return texts
