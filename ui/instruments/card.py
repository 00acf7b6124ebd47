"""The token card: where a token comes from, and how the pre-token around it was cut.

Belongs here: asking for what the card shows, from a tokenizer, an id and a place in a text. Does
not belong here: which token is open, and the component itself (``ui/components/token_card``).
"""

from __future__ import annotations

from collections.abc import Callable

from bpe_core.analysis import lineage
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainer import MergeTrace
from ui.components.token_card import token_card
from ui.components.token_editor import Picked
from ui.instruments import biography
from ui.server.encoding import refusable
from ui.session import keys
from ui.theme import is_large


def empty(sentence: str, key: str = keys.TOKEN_CARD) -> None:
    """Draw a card without a token, which says ``sentence``."""
    token_card(None, empty=sentence, large=is_large(), key=key)


def of_token(
    tokenizer: Tokenizer,
    token_id: int,
    trace: MergeTrace | None,
    on_go: Callable[[int], None],
    key: str = keys.TOKEN_CARD,
) -> None:
    """Draw the biography of a token; KeyError names an id that is not in the vocabulary.

    ``on_go`` is called with the id of a part that is pressed.
    """
    about = biography.token_biography(tokenizer, token_id, trace)
    token_card(about, large=is_large(), on_go=on_go, key=key)


def of_click(
    tokenizer: Tokenizer,
    token_id: int,
    trace: MergeTrace | None,
    picked: Picked,
    policy: str,
    on_go: Callable[[int], None],
    key: str = keys.TOKEN_CARD,
) -> None:
    """Draw the biography of a token and the story of the pre-token that was clicked.

    ``token_id`` is the token that ``picked`` names or one it was made of; ``policy`` is what
    special tokens do in that text. KeyError as in `of_token`.
    """
    about = biography.token_biography(tokenizer, token_id, trace)
    story = _story(tokenizer, picked, recognized=policy == "recognize")
    token_card(about, story, large=is_large(), on_go=on_go, key=key)


def _story(tokenizer: Tokenizer, picked: Picked, *, recognized: bool) -> dict[str, object] | None:
    """How the clicked pre-token was cut; None where a special token was found as a whole."""
    specials = tokenizer.special_tokens
    pretoken = lineage.pretoken_at(
        tokenizer, picked.context, picked.offset, special_tokens=recognized
    )
    # What is in no list of special tokens to refuse is an added token, always recognized.
    added = set(specials) - set(refusable(tokenizer))
    is_special = (recognized and pretoken in specials) or picked.id in map(specials.get, added)
    return None if pretoken is None or is_special else biography.pretoken_story(tokenizer, pretoken)
