"""Colors are written once, style sheets stand in files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ui import theme

ROOT = Path(__file__).resolve().parents[2]
PALETTE = ROOT / "ui" / "components" / "shared" / "palette.css"

# What Streamlit calls a color, and the palette's name of it, in both appearances.
CONFIG = {
    "primaryColor": "accent",
    "backgroundColor": "background",
    "secondaryBackgroundColor": "field",
    "textColor": "text",
    "borderColor": "border",
    "linkColor": "accent",
    "codeTextColor": "text",
    "codeBackgroundColor": "inset",
    "grayColor": "gray",
    "dataframeBorderColor": "border",
}
CONFIG_HUES = {"blue": 0, "green": 1, "orange": 2, "violet": 3, "red": 4, "yellow": 6}
FRAME_HEADS = {"light": "background", "dark": "card"}


def sources(*kinds: str) -> list[Path]:
    folders = (ROOT / "ui", ROOT / "pages")
    found = [path for folder in folders for kind in kinds for path in folder.rglob(f"*.{kind}")]
    return [path for path in found if "node_modules" not in path.parts] + [ROOT / "app.py"]


@pytest.mark.parametrize("appearance", ["light", "dark"])
def test_the_config_has_the_colors_of_the_palette(appearance: str) -> None:
    tomllib = pytest.importorskip("tomllib")
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    expected = {
        **{key: theme.PALETTE[f"{appearance}-{name}"] for key, name in CONFIG.items()},
        **{f"{name}Color": theme.HUES[i] for name, i in CONFIG_HUES.items()},
        "chartCategoricalColors": list(theme.HUES),
        "dataframeHeaderBackgroundColor": theme.PALETTE[f"{appearance}-{FRAME_HEADS[appearance]}"],
    }
    colors = {k: v for k, v in config["theme"][appearance].items() if "#" in str(v)}
    assert colors == expected


def test_colors_are_written_in_the_palette_only() -> None:
    digits = r"(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})"
    color = re.compile(rf"(?<![&\w])#{digits}\b|\b(?:rgb|hsl)a?\((?!\{{)(?!0[ ,]0[ ,]0)")
    found = [
        f"{path.relative_to(ROOT)}, line {number}: {line.strip()}"
        for path in sources("py", "css", "js", "html")
        if path != PALETTE
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if color.search(line)
    ]
    assert found == []


def test_every_name_of_a_color_is_in_the_palette() -> None:
    written = re.findall(r"--ms-([\w-]+):", PALETTE.read_text("utf-8"))
    assert written == list(theme.PALETTE)
    named = re.compile(r"var\(--ms-((?:light|dark|hue)-[\w-]+)\)")
    used = {name for path in sources("css") for name in named.findall(path.read_text("utf-8"))}
    assert used <= set(written)
