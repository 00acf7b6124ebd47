"""Why a tokenizer has one vocabulary size only, in words.

Does not belong here: the sizes themselves (``bpe_core.analysis.sizes``).
"""

from __future__ import annotations

from bpe_core.analysis import sizes
from bpe_core.tokenizer import Tokenizer


def why_fixed(tokenizer: Tokenizer) -> str | None:
    """Why the merges cannot be replayed one by one, as a sentence; None if they can.

    >>> from bpe_core import Trainer
    >>> why_fixed(Trainer(258).train("abab").tokenizer) is None
    True
    """
    if sizes.has_smaller_sizes(tokenizer):
        return None
    late = tokenizer.model.out_of_order
    if late is not None:
        return (
            f"Its merges are not listed in the order in which they were learned (merge {late + 1:,}"
            " uses a token that a later one makes), so smaller sizes cannot be shown."
        )
    return (
        "It takes words that are entries themselves whole, without merging, so smaller sizes "
        "cannot be shown."
    )
