"""Colors and the few page rules that ``.streamlit/config.toml`` cannot say.

Belongs here: the palette for charts drawn from Python, the style sheet of the frame (header, page
width, large type). Does not belong here: the look of a component, which lives beside its code.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from ui.session import keys

#: Eight hues, in the order in which series and token colors use them.
HUES = (
    "#4f7df0",
    "#2fae76",
    "#e0932c",
    "#b065d8",
    "#e0586b",
    "#22a7b8",
    "#9aa520",
    "#c77f4a",
)


@dataclass(frozen=True)
class Colors:
    """The named colors of one appearance, as CSS hex strings."""

    background: str
    card: str
    text: str
    muted: str
    border: str
    accent: str
    inset: str


LIGHT = Colors("#faf9f6", "#ffffff", "#1d2127", "#6a7079", "#e6e3db", "#2f5bea", "#f3f1ec")
DARK = Colors("#121418", "#191c22", "#e8e6e1", "#9aa0aa", "#2a2e37", "#7d9bff", "#20242c")


# Keyed containers (.st-key-...) and test ids are the stable hooks; generated class names are not.
# Shades are mixed from the inherited text color, so they hold in both appearances, also in panels
# that stand outside the app's own element. light-dark() follows the color-scheme of that element.
_FRAME = """
:root { --ms-muted: color-mix(in srgb, currentColor 70%, transparent);
        --ms-border: color-mix(in srgb, currentColor 14%, transparent);
        --ms-inset: color-mix(in srgb, currentColor 6%, transparent);
        --ms-card: light-dark(#ffffff, #191c22);
        --ms-accent: light-dark(#2f5bea, #7d9bff); --ms-text: light-dark(#1d2127, #e8e6e1);
        --ms-mono: "Source Code Pro", "DejaVu Sans Mono", monospace; }
[data-testid="stHeader"] { border-bottom: 1px solid var(--ms-border); }
:is(div, a, button):has(> img[data-testid="stHeaderLogo"]) { display: flex; align-items: center; }
:is(div, a, button):has(> img[data-testid="stHeaderLogo"])::after { content: "Mergescope";
  font-weight: 650; font-size: 1.06rem; margin: 0 .75rem 0 .6rem; color: var(--ms-text); }
[data-testid="stTopNavLink"] { border-radius: 0; }
[data-testid="stTopNavLink"], [data-testid="stTopNavLink"]:hover { background: none; }
[data-testid="stTopNavLink"] p { color: var(--ms-muted); font-size: .97rem; }
[data-testid="stTopNavLink"]:hover p { color: var(--ms-text); }
[data-testid="stTopNavLink"][aria-current="page"] p { color: var(--ms-text); font-weight: 600;
  box-shadow: 0 2px 0 var(--ms-accent); }
[data-testid="stMainBlockContainer"] { max-width: 1264px; margin-inline: auto;
  padding-left: clamp(1rem, 3.75vw, 3rem); padding-right: clamp(1rem, 3.75vw, 3rem); }
[data-testid="stCaptionContainer"] { color: inherit; opacity: 1; }
[data-testid="stCaptionContainer"] p { color: var(--ms-muted); }
.st-key-size_sum p strong { color: var(--ms-text); }
.st-key-large_type_switch { position: fixed; top: .62rem; right: 3.6rem; z-index: 999991;
  width: auto; }
/* A page that looks at a training every moment is not "busy"; nothing of it may fade or flicker. */
[data-testid="stStatusWidget"] { display: none; }
.st-key-merge_player[data-stale="true"], .st-key-training [data-stale="true"] {
  opacity: 1 !important; transition: none !important; }
.ms-cut { font: .85rem/2 var(--ms-mono); white-space: pre-wrap; overflow-wrap: anywhere;
  max-height: 12rem; overflow: auto; }
.ms-piece { background: var(--ms-inset); border: 1px solid var(--ms-border); border-radius: 4px;
  padding: 0 2px; margin-right: 2px; display: inline-block; max-width: 100%; line-height: 1.5; }
dl.ms-gloss.ms-gloss { display: grid; grid-template-columns: minmax(8rem, 1fr) minmax(8rem, 1fr);
  gap: .25rem 1rem; margin: 0; padding: 0; font-size: .88rem; }
.ms-gloss dt { margin: 0; padding: 0; }
.ms-gloss code { font-family: var(--ms-mono); white-space: pre-wrap; overflow-wrap: anywhere; }
.ms-gloss dd { margin: 0; color: var(--ms-muted); }
.st-key-corpus_files { gap: 0; }
.st-key-decode_card { background: var(--ms-card); }
[data-testid="stBaseButton-primary"], [data-testid="stBaseButton-primary"]:hover {
  color: light-dark(#ffffff, #0d1020); font-weight: 600; }
[data-testid="stProgressBarTrack"] { background: var(--ms-inset); }
.st-key-size_sum { margin-top: -1.1rem; }
@media (min-width: 641px) { .st-key-setup_buttons { margin-top: 1.78rem; } }
@media (max-width: 480px) {
  :is(div, a, button):has(> img[data-testid="stHeaderLogo"])::after { font-size: 1rem;
    margin: 0 0 0 .4rem; } }
"""

# Every size of Streamlit and of the components is in rem, so one number enlarges all of it.
_LARGE = "html { font-size: 125%; } [data-testid='stMainBlockContainer'] { max-width: 1500px; }"


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
    st.html(f"<style>{_FRAME}{_LARGE if is_large() else ''}</style>")
