"""Colors for the charts drawn from Python, the frame's style sheet, and large type.

Belongs here: what of the look Python has to know. The colors themselves are written in
``components/shared/palette.css``, the rules in ``frame.css``. Does not belong here: the look of a
component, which lives beside its code.
"""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st

from ui.components.mount import style_sheet
from ui.session import keys

_FOLDER = Path(__file__).parent
_PALETTE = (_FOLDER / "components" / "shared" / "palette.css").read_text("utf-8")

#: Every color by its name in the palette, as "#rrggbb".
PALETTE: dict[str, str] = dict(re.findall(r"--ms-([\w-]+):\s*(#[0-9a-f]{6});", _PALETTE))

#: Eight hues, in the order in which series and token colors use them.
HUES = tuple(PALETTE[f"hue-{i}"] for i in range(8))

#: For lines and marks in charts, on light and dark alike.
NEUTRAL = PALETTE["neutral"]

_FRAME = style_sheet(_FOLDER / "frame.css")
_LARGE = style_sheet(_FOLDER / "frame_large.css")


def faded(color: str, share: float) -> str:
    """Return a color of the palette at ``share`` of its strength.

    >>> faded("#" + "00" * 3, 0.5)
    'rgba(0,0,0,0.5)'
    """
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:g})"


def is_large() -> bool:
    """Return whether this visitor asked for large type."""
    return bool(st.session_state.get(keys.LARGE_TYPE))


def large_type_switch() -> None:
    """Draw the "Aa" that enlarges everything; it stands in the header of every page."""
    st.button(
        "Aa",
        key=keys.LARGE_TYPE_SWITCH,
        help="Usual type again" if is_large() else "Large type, for a projector",
        type="secondary" if is_large() else "tertiary",
        on_click=_toggle,
    )


def _toggle() -> None:
    st.session_state[keys.LARGE_TYPE] = not is_large()


def apply() -> None:
    """Put the style sheet of the frame on the page."""
    put_styles(_FRAME + _LARGE if is_large() else _FRAME)


def put_styles(css: str) -> None:
    """Put a style sheet on the page, for instance ``style_sheet(Path("some.css"))``."""
    st.html(f"<style>{css}</style>")
