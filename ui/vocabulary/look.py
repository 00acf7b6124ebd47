"""The look of the Vocabulary page that no component brings, as HTML with no markup but ours.

Belongs here: the style sheet, and the row of numbers. Does not belong here: names or tokens a
visitor could have chosen.
"""

from __future__ import annotations

import numpy as np

from bpe_core.analysis.vocabulary import Vocabulary
from ui.session.state import Trained

#: Once a page.
STYLE = """<style>
dl.voc.voc { display: flex; flex-wrap: wrap; gap: .4rem 2.6rem; margin: 0; padding: 0; }
.voc div { display: flex; flex-direction: column-reverse; }
.voc dt { font-size: .94rem; color: var(--ms-muted); margin: 0; padding: 0; font-weight: 400; }
.voc dd { margin: 0; font-size: 1.56rem; line-height: 1.2; font-weight: 650;
  font-variant-numeric: tabular-nums; }
.st-key-vocab_heading { min-height: 2.5rem; }
.st-key-vocab_biography > [data-testid="stElementContainer"]:first-child { min-height: 2.5rem;
  display: flex; align-items: center; }
@media (max-width: 640px) {
  dl.voc.voc { gap: .4rem 1.3rem; } .voc dd { font-size: 1.2rem; } .voc dt { font-size: .84rem; } }
</style>"""


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
