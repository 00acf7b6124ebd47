"""What runs on every visit: the frame of the page, then the page.

Belongs here: the list of pages, the header, once-per-process preparations. A page's own content
lives in ``pages/``, one script per screen.
"""

from __future__ import annotations

import gc
from pathlib import Path

import streamlit as st

from ui import theme
from ui.instruments import waiting
from ui.session import state

ROOT = Path(__file__).resolve().parents[1]
ASSETS = ROOT / "ui" / "assets"


@st.cache_resource
def freeze_imports() -> None:
    """Keep the collector from walking the imported modules again and again."""
    gc.collect()
    gc.freeze()


def page(name: str, title: str, *, default: bool = False) -> st.Page:
    """Describe the page in ``pages/<name>.py``, which answers at ``/<name>``."""
    return st.Page(
        ROOT / "pages" / f"{name}.py",
        title=title,
        url_path=None if default else name,
        default=default,
    )


st.set_page_config(page_title="Mergescope", page_icon=str(ASSETS / "icon.svg"), layout="wide")
chosen = st.navigation(
    [
        page("train", "Train", default=True),
        page("tokens", "Tokens"),
        page("compare", "Compare"),
        page("vocabulary", "Vocabulary"),
    ],
    position="top",
)
st.logo(ASSETS / "mark.svg", size="small")
theme.large_type_switch()
theme.apply()

state.bring_in()
freeze_imports()
if chosen.url_path and not state.built_in().ready:
    waiting.wait_for_engine()  # Train says so itself; the others need a tokenizer first
else:
    chosen.run()
