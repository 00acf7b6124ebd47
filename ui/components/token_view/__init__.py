"""The token view: a short text cut into colored tokens, to be looked at beside other cuts of it.

Belongs here: what the view is sent. Several views with the same ``group`` on a page highlight
together: pointing at a token in one rings what covers the same bytes in the others. Which tokens
there are comes from the engine; the browser draws.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from bpe_core.analysis.alignment import Cut
from bpe_core.text import utf8
from ui.components.mount import component

_mount = component("token_view", html='<div class="tv"></div>')


def token_view(
    key: str,
    *,
    text: str,
    cut: Cut,
    hues: np.ndarray,
    marked: np.ndarray,
    group: str,
    name: str,
) -> None:
    """Draw one cut of ``text``, which may be only the beginning of the text that was cut.

    hues uint8[n] (0 to 7), marked bool[n] (to be underlined). ``name`` is what screen readers
    call the view. Raises ValueError if the tokens do not cover the text.
    """
    covered = int(cut.ends[-1]) if len(cut.ends) else 0
    data = utf8(text)
    if covered != len(data):
        raise ValueError(f"the tokens end at byte {covered}, the text at byte {len(data)}")
    tokens = pd.DataFrame(
        {
            "id": np.asarray(cut.ids, np.uint32),
            "end": np.asarray(cut.ends, np.uint32),
            "hue": np.asarray(hues, np.uint8),
            "flags": (np.asarray(marked) + 2 * np.asarray(cut.special)).astype(np.uint8),
        }
    )
    _mount(
        key=key,
        data={
            "text": data.decode(),  # surrogates as the engine counts them
            "tokens": tokens,
            "n_tokens": cut.n_tokens,
            "n_bytes": cut.n_bytes,
            "group": group,
            "name": name,
        },
    )
