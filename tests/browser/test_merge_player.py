"""The merge player in a browser: what it draws is what the engine says, at every step.

It is driven on a page of its own (`apps/merge_player_app.py`); how the Train page uses it stands in
`test_train.py`.
"""

from __future__ import annotations

import itertools
import re

import pytest

from bpe_core import Trainer, TrainingResult
from tests.browser.apps.merge_player_app import HOLD, JUMP, MARKER, TEXTS

pytestmark = pytest.mark.browser


@pytest.fixture
def show(new_page, player_url):
    """Open the player with a query and wait until it is drawn."""

    def open_player(query: str = "", page=None):
        page = page or new_page()
        page.goto(f"{player_url}/?{query}")
        page.get_by_test_id("play").wait_for()
        return page

    return open_player


def train(name: str, n: int = 60) -> TrainingResult:
    return Trainer(vocab_size=257 + n, special_tokens=(MARKER,)).train(TEXTS[name])


def step_of(page) -> int:
    return int(page.get_by_test_id("step").inner_text().replace(",", ""))


def expect_step(page, step: int) -> None:
    page.get_by_test_id("step").get_by_text(f"{step:,}", exact=True).wait_for()


def python_step(page, step: int) -> None:
    page.get_by_text(f"python: step {step},").wait_for()


def go_to(page, step: int) -> None:
    page.get_by_test_id("scrub").fill(str(step))
    expect_step(page, step)
    python_step(page, step)


def drawn(page) -> list[dict]:
    """The pieces of the text as drawn, in order."""
    return page.get_by_test_id("token").evaluate_all(
        """nodes => nodes.map(n => ({id: +n.dataset.id, start: +n.dataset.start, end: +n.dataset.end,
             tokens: +(n.dataset.tokens ?? 1), text: n.textContent, style: n.className}))"""
    )


def test_the_text_is_cut_as_the_engine_cuts_it_at_that_step(show):
    page, complete = show("text=story"), train("story").tokenizer
    go_to(page, 30)
    for step in (0, 60, 1, 59, 17):  # far and near, forward and back
        go_to(page, step)
        expected = complete.truncated(step).tokens(TEXTS["story"])
        pieces = drawn(page)
        assert [(p["id"], p["start"], p["end"]) for p in pieces] == [
            (t.id, t.start, t.end) for t in expected
        ]
        assert "".join(p["text"] for p in pieces) == TEXTS["story"]


def test_no_script_breaks_the_drawing(show):
    page, complete = show("text=scripts"), train("scripts").tokenizer
    go_to(page, 5)
    for step in (0, 25, 60):
        go_to(page, step)
        pieces, text = drawn(page), TEXTS["scripts"]
        ends = [p["end"] for p in pieces]
        assert [p["start"] for p in pieces] == [0, *ends[:-1]]
        assert ends[-1] == len(text.encode())
        assert "".join(p["text"] for p in pieces) == text
        assert "\ufffd" not in page.get_by_test_id("merge-card").inner_text()
        assert sum(p["tokens"] for p in pieces) == complete.truncated(step).count_tokens(text)
        for p in pieces:
            if p["tokens"] == 1:
                assert text.encode()[p["start"] : p["end"]].decode() == p["text"]


@pytest.mark.slow
def test_neighbors_never_share_a_color(show):
    page = show("text=long&n=100&step=40")
    for step in (40, 3, 77):
        go_to(page, step)
        hues = [re.search(r"\bc\d", p["style"]).group() for p in drawn(page)]
        assert all(a != b for a, b in itertools.pairwise(hues))


def test_markup_in_the_text_is_only_text(show):
    page = show("text=markup&n=10&step=10")
    expect_step(page, 10)
    assert "".join(p["text"] for p in drawn(page)) == TEXTS["markup"]
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "run"


def test_special_tokens_are_drawn_whole_and_never_merge(show):
    page = show("text=special&step=0")
    special = [p for p in drawn(page) if p["text"] == MARKER]
    assert len(special) == 2
    assert all(p["id"] == 256 and "special" in p["style"] for p in special)


def test_keys_move_and_play(show):
    page = show("text=story&step=10")
    expect_step(page, 10)
    page.get_by_test_id("play").focus()
    page.keyboard.press("ArrowRight")
    expect_step(page, 11)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect_step(page, 9)
    page.keyboard.press("End")
    expect_step(page, 60)
    page.keyboard.press("Home")
    expect_step(page, 0)
    page.get_by_test_id("scrub").focus()
    page.keyboard.press("ArrowRight")
    expect_step(page, 1)
    for _ in range(9):
        page.keyboard.press("+")
    assert page.get_by_test_id("speed").input_value() == "1000"
    page.keyboard.press("-")
    page.keyboard.press("Space")
    expect_step(page, 60)
    page.get_by_role("button", name="Play").wait_for()
    python_step(page, 60)


def test_a_step_shows_the_pair_before_it_fuses(show, page):
    page.emulate_media(reduced_motion="no-preference")
    show("text=story&step=0", page)
    trace = train("story").trace
    left, right, new = trace.left[0], trace.right[0], trace.new[0]
    # The first phase is over soon, so it is read in the same breath as the click.
    lit = page.get_by_test_id("forward").evaluate(
        """button => { button.click(); const ids = (name) =>
             [...button.getRootNode().querySelectorAll(name)].map(n => +n.dataset.id);
             return [ids('.t.pl'), ids('.t.pr'), ids('.t.new')]; }"""
    )
    assert lit == [[left] * trace.pair_count[0], [right] * trace.pair_count[0], []]
    expect_step(page, 1)
    fused = page.locator("[data-testid=token].new")
    fused.first.wait_for()
    assert fused.first.get_attribute("data-id") == str(new)
    assert fused.count() == trace.merged[0]


def test_pausing_rests_at_a_whole_step(show, page):
    page.emulate_media(reduced_motion="no-preference")
    show("text=story&step=0", page)
    for _ in range(3):
        page.get_by_test_id("play").click()
        page.locator("[data-testid=token].pl").first.wait_for()
        page.get_by_test_id("play").click()
        page.locator("[data-testid=token].new").first.wait_for()
        step = step_of(page)
        python_step(page, step)
        assert step_of(page) == step
        assert page.locator("[data-testid=token].pl").count() == 0
        cut = train("story").tokenizer.truncated(step).tokens(TEXTS["story"])
        assert [p["start"] for p in drawn(page)] == [t.start for t in cut]


def test_hovering_a_pair_lights_every_place_it_stands(show):
    page = show("text=long&n=100&step=30")
    expect_step(page, 30)
    trace = train("long", 100).trace
    for i in (0, 3, 9):
        page.get_by_test_id("candidate").nth(i).hover()
        page.get_by_test_id("status").get_by_text(f"{trace.cand_count[30][i]} places").wait_for()
    page.get_by_test_id("step").hover()
    page.get_by_test_id("status").get_by_text(f"{trace.merged[29]} places").wait_for()


def test_the_head_names_places_replacements_and_the_rule(show):
    page = show("text=runs&n=6&step=1")
    card = page.get_by_test_id("merge-card")
    trace = train("runs", 6).trace
    assert trace.pair_count[0] == 8
    assert trace.merged[0] == 4
    card.get_by_text("8 places, 4 replaced, 4 tokens saved").wait_for()
    card.get_by_text("highest count of").wait_for()
    go_to(page, 2)
    card.get_by_text("tied with 1 other, greater bytes win").wait_for()


def test_curve_and_log_are_one_with_the_step(show):
    page = show("text=long&n=100")
    log = page.get_by_test_id("log")
    log.get_by_role("row").nth(4).click()
    expect_step(page, 5)
    page.get_by_text("python: step 5, jump {'step': 5, 'from': 'log'}").wait_for()
    assert page.locator("[data-testid=log] .row.on").get_attribute("data-step") == "5"
    log.focus()
    page.keyboard.press("ArrowDown")
    expect_step(page, 6)
    curve = page.get_by_test_id("curve")
    box = curve.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    step = step_of(page)
    assert 50 < step < 90
    python_step(page, step)
    assert curve.get_attribute("aria-valuenow") == str(step)
    assert page.locator("[data-testid=log] .row.on").get_attribute("data-step") == str(step)
    trace = train("long", 100).trace
    value = trace.corpus_bytes / trace.corpus_tokens[step - 1]
    page.get_by_test_id("curve-reading").get_by_text(f"{value:.2f} bytes per token").wait_for()


def test_the_log_filters_by_text(show):
    page = show("text=long&n=100")
    page.get_by_test_id("log-filter").fill("lantern")
    tokens = train("long", 100).tokenizer
    parts = [(a, b) for a, b in tokens.merges]
    hits = [k + 1 for k, (a, b) in enumerate(parts) if b"lantern" in a + b]
    page.get_by_test_id("log-total").get_by_text(f"{len(hits)} of {len(parts)}").wait_for()
    page.get_by_test_id("log").get_by_role("row").first.click()
    expect_step(page, hits[0])
    page.get_by_test_id("log-filter").press("Escape")
    page.get_by_test_id("log-total").get_by_text("of").wait_for(state="detached")
    page.get_by_test_id("log-filter").press_sequentially("crk ")
    assert page.get_by_test_id("log-filter").input_value() == "crk "
    assert step_of(page) == hits[0]
    assert page.get_by_role("dialog").count() == 0


def test_python_can_jump_and_a_visit_elsewhere_loses_nothing(show):
    page = show("text=story&step=7")
    expect_step(page, 7)
    page.get_by_role("button", name=f"Jump to {JUMP}").click()
    expect_step(page, JUMP)
    go_to(page, 33)
    page.get_by_test_id("color-mode").select_option("brackets")
    page.locator(".st-key-elsewhere label").click()
    page.get_by_text("The player is not on this page.").wait_for()
    page.locator(".st-key-elsewhere label").click()
    expect_step(page, 33)
    assert page.get_by_test_id("color-mode").input_value() == "brackets"
    assert "bracket" in drawn(page)[0]["style"]


@pytest.mark.slow
def test_live_merges_are_followed_until_the_visitor_looks_back(show):
    page = show("text=long&n=400&live=40")
    follow = page.get_by_test_id("follow")
    expect_step(page, HOLD)
    assert not follow.is_visible()
    page.get_by_test_id("scrub").fill("4")
    expect_step(page, 4)
    follow.wait_for()
    partial = train("long", 400).tokenizer.truncated(4).tokens(TEXTS["long"])
    assert [(p["id"], p["start"]) for p in drawn(page)] == [(t.id, t.start) for t in partial]
    follow.click()
    expect_step(page, HOLD)
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("Training ended here").wait_for(timeout=60_000)
    result = train("long", 400)
    expect_step(page, len(result.trace))
    python_step(page, len(result.trace))
    complete = result.tokenizer.tokens(TEXTS["long"])
    assert [(p["id"], p["start"]) for p in drawn(page)] == [(t.id, t.start) for t in complete]
    go_to(page, 50)
    assert len(drawn(page)) == result.tokenizer.truncated(50).count_tokens(TEXTS["long"])


def test_nothing_to_play_is_said_and_not_broken(show):
    for name in ("empty", "one"):
        page = show(f"text={name}")
        expect_step(page, 0)
        assert page.get_by_test_id("play").is_disabled()
        page.get_by_text("Training ended here: no pair is left to merge.").wait_for()
        assert len(drawn(page)) == len(TEXTS[name])


def test_the_cut_of_the_text_is_told(show):
    page = show("text=long&total=182000&n=10")
    kilo = len(TEXTS["long"].encode()) / 1000
    note = f"First {kilo:.1f} kB of 182 kB shown; counts are for the whole text."
    assert page.get_by_test_id("cut-note").inner_text() == note


def test_blanks_have_marks_and_a_legend(show):
    page = show("text=scripts&n=1")
    page.get_by_test_id("marks").click()
    legend = page.get_by_test_id("legend").inner_text()
    for mark in ("space", "tab", "no-break space", "zero-width space", "line break"):
        assert mark in legend
    marks = (
        page.get_by_test_id("token")
        .locator("i")
        .evaluate_all("nodes => nodes.map(n => n.dataset.m)")
    )
    assert {"·", "→", "°", "ZWSP", "↵", "NUL", "RLO"} <= set(marks)


CONTRAST = """(node) => {
  const root = node.getRootNode().querySelector('.mp'), style = getComputedStyle(root);
  const x = document.createElement('canvas').getContext('2d');
  const color = (over, under) => { x.fillStyle = under; x.fillRect(0, 0, 1, 1); x.fillStyle = over; x.fillRect(0, 0, 1, 1);
    return [...x.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const light = (c) => c.map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const ratio = (a, b) => { const [p, q] = [light(a), light(b)]; return (Math.max(p, q) + .05) / (Math.min(p, q) + .05); };
  const get = (name) => style.getPropertyValue(name).trim(), card = get('--card'), worst = {};
  const text = root.querySelector('.text');
  for (const name of ['c0','c1','c2','c3','c4','c5','c6','c7','a0','a1','a2','a3','a4','a5','a6','a7','raw','special']) {
    const probe = document.createElement('span'); probe.className = 't ' + name; text.append(probe);
    const back = getComputedStyle(probe).backgroundColor; probe.remove();
    const ground = color(back, card);
    worst[name] = Math.min(ratio(color(get('--text'), card), ground), ratio(color(get('--mark'), card), ground));
  }
  worst.muted = ratio(color(get('--muted'), card), color(card, card));
  worst.chip = ratio(color(get('--muted'), card), color(get('--inset'), card));
  return worst;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_color_can_be_read(show, new_page, scheme):
    page = show("text=story&step=20", new_page(scheme=scheme))
    expect_step(page, 20)
    worst = page.get_by_test_id("step").evaluate(CONTRAST)
    assert {name: round(v, 2) for name, v in worst.items() if v < 4.5} == {}
    theme = page.get_by_test_id("step").evaluate(
        "node => node.getRootNode().querySelector('.mp').dataset.theme"
    )
    assert theme == scheme


@pytest.mark.parametrize("query", ["text=long&n=100&step=50", "text=scripts&step=30&large"])
def test_it_fits_a_phone(show, new_page, query):
    page = show(query, new_page(width=390, height=844))
    page.get_by_test_id("log").scroll_into_view_if_needed()
    wide = page.evaluate("document.scrollingElement.scrollWidth")
    assert wide <= 390
    inner = page.get_by_test_id("step").evaluate(
        """node => [...node.getRootNode().querySelectorAll('.card, .head, .ctl, .cands')]
             .filter(n => n.scrollWidth > n.clientWidth + 1).map(n => n.className)"""
    )
    assert inner == []
