"""Texts on which tokenizers are compared: real ones, nasty ones and generated ones."""

from __future__ import annotations

import gzip
from pathlib import Path

from hypothesis import strategies as st

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

NASTY = [
    "", " ", "  ", "\n", "\n\n", " \n \n  ", "\r\n\r\n", "\t \t", "\u00a0\u00a0", "\u3000x\u3000 ",
    "a\n \n  ", "a   b", "   a", "a   ", "\x00\x01\x7f", "\u0085\u2028\u2029", "1234567 12 1",
    "it's IT'S it'ſ we'll WE'LL 'tis", "Ünïcödé e\u0301\u0301 한국 \u1112\u1161\u11ab", "👨‍👩‍👧🏽🙃",
    "नमस्ते สวัสดี العربية עברית", "<|endoftext|>", "a<|endoftext|> <|endoftext|>b", "<|end<|endoftext|",
    "a" * 300, "ab" * 200, " " * 300 + "x", "-" * 130, "!?!?" * 40, "\n" * 70, "中" * 100,
    "for (i = 0; i < n; ++i) {\n\t\treturn x[i] /* ok */;\n\t}\r\n", "http://a.b/c?d=e&f=%20#g",
    "\ufeffhello", "x\u200dy\u200cz", "ǅ ﬀ İi ıI ß ẞ", "½ ²³ Ⅷ ٣٤ ०१२", "__init__ snake_case CamelCase HTTPServer",
]  # fmt: skip


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
