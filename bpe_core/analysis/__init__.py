"""What can be measured and said of tokenizers: all that the pages work out, for notebooks too.

`curves` (compression at every vocabulary size), `measures` (at one size), `sizes` (which sizes
there are), `replay` (a corpus after any number of merges), `vocabulary` (its entries: scripts,
health, overlap, places), `lineage` (what a token is made of, how a pre-token is cut), `alignment`
(tokens laid against the text as it was typed, and against other cuts of it).

Belongs here: arithmetic over ranks, merges and counts, on public values of the engine. Does not
belong here: encoding and training themselves, and anything drawn.

>>> from bpe_core import Trainer
>>> tokenizer = Trainer(259).train("low low lower").tokenizer
>>> measures.measures_of(tokenizer, "low lower").bytes_per_token
2.25
>>> curves.CompressionCurve.of(tokenizer, "low lower").counts.tolist()
[9, 7, 5, 4]
"""

from . import alignment, curves, lineage, measures, replay, sizes, vocabulary

__all__ = ["alignment", "curves", "lineage", "measures", "replay", "sizes", "vocabulary"]
