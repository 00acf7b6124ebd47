"""The look of the Vocabulary page that no component brings, as HTML with no markup but ours.

Belongs here: the style sheet, and the row of numbers. Does not belong here: names or tokens a
visitor could have chosen.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bpe_core.analysis.vocabulary import Vocabulary
from ui.components.mount import style_sheet
from ui.session.state import Trained

#: Once a page.
STYLE = style_sheet(Path(__file__).with_name("vocabulary.css"))


def numbers(trained: Trained, vocabulary: Vocabulary) -> str:
    """The row of numbers: entries, merges, special tokens, sizes."""
    sizes = vocabulary.sizes
    shown = {
        "entries": f"{len(vocabulary):,}",
        "merges": f"{trained.tokenizer.n_merges:,}",
        "special": f"{np.count_nonzero(vocabulary.special):,}",
        "bytes on average": f"{sizes.mean():.1f}",
        "bytes at most": f"{sizes.max():,}",
    }
    facts = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in shown.items())
    return f'<dl class="voc" data-testid="vocabulary-numbers">{facts}</dl>'
