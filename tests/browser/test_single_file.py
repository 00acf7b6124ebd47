"""The components outside of Streamlit: joined into one HTML file that is opened from disk."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from bpe_core import Trainer, TrainingResult
from ui.components.mount import bundle, style_sheet
from ui.components.token_editor import DRAWN_BYTES
from ui.server import encoding, wire

pytestmark = pytest.mark.browser

COMPONENTS = Path(__file__).resolve().parents[2] / "ui" / "components"
TEXT = "low lower lowest, new newer newest;\n" * 4
# A component finds its elements in a shadow root, as under Streamlit, and tells what happens.
# Columns come as Arrow tables there; here an object with the same two members will do.
PAGE = """<!doctype html><meta charset="utf-8"><style>:root {{ color-scheme: light dark; }}</style>
<div id="host"></div>
<script>
{script}
const table = (columns) => ({{
  numRows: Object.values(columns)[0].length,
  getChild: (name) => ({{ toArray: () => Int32Array.from(columns[name]) }}),
}});
const told = [];
const root = document.getElementById("host").attachShadow({{ mode: "open" }});
root.append(document.createRange().createContextualFragment({html}));
root.append(Object.assign(document.createElement("style"), {{ textContent: {css} }}));
const send = (data) => {{
  for (const name of {tables}) data[name] = table(data[name]);
  render({{
    parentElement: root, key: "alone", data,
    setStateValue: (name, value) => told.push([name, value]),
    setTriggerValue: (name, value) => told.push([name, value]),
  }});
}};
send({data});
</script>
"""


@pytest.fixture
def open_alone(page, tmp_path: Path):
    """Write a component and its data as one HTML file and open it from disk."""

    def open_file(name: str, html: str, data: dict, tables: list[str]):
        script = bundle(COMPONENTS / name / f"{name}.js", "render")
        css = style_sheet(COMPONENTS / name / f"{name}.css")
        assert "</script" not in script
        file = tmp_path / f"{name}.html"
        values = {"html": html, "css": css, "data": data, "tables": tables}
        written = {key: json.dumps(value) for key, value in values.items()}
        file.write_text(PAGE.format(script=script, **written), "utf-8")
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(file.as_uri())
        assert requests[0] == file.as_uri()
        assert not any(request.startswith("http") for request in requests)
        return page

    return open_file


COLUMNS = (
    "left", "right", "new", "pair_count", "merged", "corpus_tokens", "n_pairs", "n_tied",
)  # fmt: skip
PLAYER = (COMPONENTS / "merge_player" / "merge_player.html").read_text("utf-8")
TABLES = ["ranks", "merges", "candidates"]


def player_data(text: str, result: TrainingResult, step: int) -> dict:
    """What the player is sent, with columns as lists."""
    tokenizer, trace = result.tokenizer, result.trace
    return {
        "player_id": text,
        "text": text,
        "total_bytes": len(text.encode()),
        "byte_ids": [int(i) for i in tokenizer.byte_ids],
        "special_tokens": {},
        "initial_tokens": int(trace.initial_tokens),
        "corpus_bytes": int(trace.corpus_bytes),
        "goal": len(trace),
        "first": 0,
        "top_k": trace.cand_left.shape[1],
        "live": False,
        "stop_reason": result.stop_reason,
        "tie_break": "greatest_bytes",
        "step": step,
        "step_nonce": 0,
        "large": False,
        "ranks": {"rank": tokenizer.join_ranks(text).tolist()},
        "merges": {name: getattr(trace, name).tolist() for name in COLUMNS},
        "candidates": {
            side: getattr(trace, f"cand_{side}").reshape(-1).tolist()
            for side in ("left", "right", "count")
        },
    }


def test_the_player_plays_from_one_file(open_alone) -> None:
    result = Trainer(vocab_size=280).train(TEXT)
    page = open_alone("merge_player", PLAYER, player_data(TEXT, result, 0), TABLES)
    page.get_by_test_id("scrub").fill("9")
    page.get_by_test_id("step").get_by_text("9", exact=True).wait_for()
    drawn = page.get_by_test_id("token").evaluate_all("nodes => nodes.map(n => +n.dataset.start)")
    assert drawn == [token.start for token in result.tokenizer.truncated(9).tokens(TEXT)]
    page.wait_for_function("told.some(([name, value]) => name === 'step' && value === 9)")


def test_another_training_at_the_same_step_is_drawn_anew(open_alone) -> None:
    """Ids and counts of two trainings may be the same and yet stand for other tokens."""
    shown = []
    for text in ("abababcdcd", "efefefghgh"):
        data = player_data(text, Trainer(vocab_size=259).train(text), 2)
        if not shown:
            page = open_alone("merge_player", PLAYER, data, TABLES)
        else:
            page.evaluate("send", data)
        chips = page.get_by_test_id("merge-card").locator("button.tk")
        pairs = page.locator("[data-testid=candidate]:visible")
        shown.append(chips.all_inner_texts() + pairs.all_inner_texts())
    assert shown[0][:4] == ["c", "d", "cd", "ab\nab\n2"]
    letters = str.maketrans("abcd", "efgh")
    assert shown[1] == [chip.translate(letters) for chip in shown[0]]


def test_a_card_is_drawn_from_one_file_and_tells_what_is_pressed(open_alone) -> None:
    parts = [{"bytes": "l", "id": 108, "rank": 0}, {"bytes": "o", "id": 111, "rank": 0}]
    tree = {"bytes": "lo", "id": 256, "rank": 1, "parts": parts}
    token = {"kind": "merge", "bytes": "lo", "id": 256, "rank": 1, "counted": 12, "tree": tree}
    data = {"token": token, "pretoken": None, "empty": "", "large": False}
    page = open_alone("token_card", '<div class="tc"></div>', data, [])
    assert page.get_by_test_id("bio-bytes").inner_text() == "6C 6F"
    page.get_by_test_id("bio-from").get_by_role("button").first.click()
    assert page.evaluate("told[0][0]") == "go"
    assert page.evaluate("told[0][1].id") == 108


def test_an_editor_without_a_server_asks_and_is_answered_by_events(open_alone) -> None:
    tokenizer = Trainer(vocab_size=280).train(TEXT).tokenizer
    data = {
        "tokenizer": "alone",
        "merges": tokenizer.n_merges,
        "special": "recognize",
        "color": "position",
        "large": False,
        "text": TEXT,
        "epoch": 1,
        "linked": False,
        "session": "alone",
        "limit": DRAWN_BYTES,
        "head": list(wire.HEAD),
        "version": wire.VERSION,
        "max_bytes": 1_000_000,
        "too_long": "",
        "answer": None,
    }
    html = (COMPONENTS / "token_editor" / "token_editor.html").read_text("utf-8")
    page = open_alone("token_editor", html, data, [])
    page.wait_for_function("told.some(([name]) => name === 'doc')")
    asked = page.evaluate("told.find(([name]) => name === 'doc')[1]")
    assert asked["text"] == TEXT
    answer = encoding.answer(
        tokenizer, TEXT, merges=tokenizer.n_merges, policy="recognize", limit=DRAWN_BYTES
    )
    told = {"seq": asked["seq"], "bytes": base64.b64encode(answer).decode("ascii")}
    page.evaluate("send", {**data, "answer": told})
    tokens = page.get_by_test_id("token")
    drawn = tokens.evaluate_all("nodes => nodes.map(n => +n.dataset.id)")
    assert drawn == list(tokenizer.encode(TEXT))
    page.get_by_test_id("ids").locator(".id").nth(2).click()
    picked = page.evaluate("told.find(([name]) => name === 'pick')[1]")
    assert (picked["id"], picked["start"]) == (drawn[2], tokenizer.tokens(TEXT)[2].start)
