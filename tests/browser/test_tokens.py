"""The Tokens page in a real browser: typing, colors, ids, marks, long and hostile texts."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest

from bpe_core import Tokenizer, Trainer
from tests.browser.conftest import open_tab
from ui import samples

pytestmark = pytest.mark.browser

FIRST = 120_000  # milliseconds; the first visit may have to compile the engine
EOT = "<|endoftext|>"
HOSTILE = (
    "<img src=x onerror=window.hit=1> <script>window.hit=1</script> $x^2$ :red[r] &amp;\n"
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>"
)
MANY_SCRIPTS = (
    "e\u0301 🙃 👨‍👩‍👧 🇫🇷\nनमस्ते दुनिया\nمرحبا بالعالم and English\nשלום\n机器学习模型\ni ⭢ j"
)
BLANKS = "a  b\t\n\u00a0c zero\u200bwidth, nar\u202frow, bom\ufeff, nul\x00, soft\u00adhyphen\n\n\n  end  "

SHADOW = """(() => { const host = document.querySelector('.st-key-token_editor');
  for (const e of host.querySelectorAll('*')) if (e.shadowRoot) return e.shadowRoot; })()"""


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """The tokenizer the app opens with."""
    sample = samples.first()
    return Trainer(sample.vocab_size, sample.special_tokens).train(sample.read()).tokenizer


@pytest.fixture(scope="module")
def standing_visit(browser, app_url):
    """A visit to the page, and the list of what went wrong in it."""
    problems: list[str] = []
    tab = open_tab(browser, problems)
    tab.set_viewport_size({"width": 1280, "height": 900})
    yield open_tokens(tab, app_url), problems
    tab.context.close()


@pytest.fixture
def standing(standing_visit):
    """The page of one visit, for tests that replace the text and leave all settings as they are."""
    page, problems = standing_visit
    page.mouse.move(5, 5)
    yield page
    found = "\n".join(problems)
    problems.clear()
    assert not found, "in the page:\n" + found


def open_tokens(page, url: str, text: str | None = None):
    page.goto(f"{url}/tokens")
    settle(page, FIRST)
    if text is not None:
        write(page, text)
    return page


def settle(page, timeout: float = 20_000) -> None:
    """Wait until the colors belong to the text."""
    page.locator(".te[data-state=ready]").wait_for(timeout=timeout)


def area(page):
    return page.get_by_test_id("editor-text")


def write(page, text: str):
    """Replace the text, as by a paste; ``fill`` would enter it line by line."""
    area(page).evaluate(
        "(e, t) => { e.value = t; e.dispatchEvent(new InputEvent('input')); }", text
    )
    settle(page, 60_000)
    return page


def in_editor(page, body: str, arg=None):
    """Run JavaScript with ``root``, the component's shadow root, and ``arg``."""
    return page.evaluate(f"arg => {{ const root = {SHADOW}; {body} }}", arg)


def drawn(page) -> list[dict]:
    """The tokens as they are drawn: ids, place in bytes, text, color."""
    return in_editor(
        page,
        """return [...root.querySelectorAll('[data-testid=token]')].map(e => ({
             ids: e.dataset.id.split(' ').map(Number), start: +e.dataset.start, end: +e.dataset.end,
             text: e.textContent, color: getComputedStyle(e).backgroundColor,
             ink: getComputedStyle(e).color }));""",
    )


def listed(page) -> list[int]:
    text = in_editor(page, "return root.querySelector('.list').textContent")
    return [int(word) for word in text.split()]


def number(page, name: str) -> int:
    return int(page.get_by_test_id(name).get_attribute("data-value"))


def check(page, tokenizer: Tokenizer, text: str) -> list[dict]:
    """Compare what is drawn with the engine, token by token."""
    tokens = drawn(page)
    assert [i for token in tokens for i in token["ids"]] == tokenizer.encode(text)
    ends = [token.end for token in tokenizer.tokens(text)]
    assert [token["end"] for token in tokens] == [
        e for e in ends if e in {t["end"] for t in tokens}
    ]
    data = text.encode()
    for i, token in enumerate(tokens):
        assert token["start"] == (tokens[i - 1]["end"] if i else 0)
        spelled = data[token["start"] : token["end"]].decode()
        assert token["text"] == spelled.split("\n")[0]
    assert tokens[-1]["end"] == len(data) if tokens else not data
    assert listed(page) == tokenizer.encode(text)
    return tokens


def luminance(color: str) -> float:
    if color.startswith("color(srgb"):
        channels = [float(v) for v in re.findall(r"[\d.]+", color.removeprefix("color(srgb"))[:3]]
    else:
        channels = [int(v) / 255 for v in re.findall(r"\d+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def middle(page, locator) -> tuple[float, float]:
    """A place on the first row of an element that may be broken over two rows."""
    box = locator.evaluate("e => { const r = [...e.getClientRects()].at(-1); return r.toJSON(); }")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def choose(page, key: str, option: str) -> None:
    page.locator(f".st-key-{key} input").click()
    page.get_by_role("option", name=option).click()


# -- typing -----------------------------------------------------------------------------------


def test_it_opens_with_colored_text(page, app_url, tokenizer) -> None:
    open_tokens(page, app_url)
    text = area(page).input_value()
    assert len(text) > 300
    check(page, tokenizer, text)
    assert number(page, "token-count") == len(tokenizer.encode(text))
    assert page.get_by_test_id("stException").count() == 0


def test_typing_recolors_and_keeps_caret_and_undo(standing, tokenizer) -> None:
    page = write(standing, "the old clock in the hall")
    area(page).focus()
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.type("very ", delay=10)
    settle(page)
    check(page, tokenizer, "the very old clock in the hall")
    assert area(page).evaluate("e => [e.selectionStart, e.selectionEnd]") == [9, 9]
    page.keyboard.press("Control+z")
    settle(page)
    check(page, tokenizer, "the old clock in the hall")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    settle(page)
    assert drawn(page) == listed(page) == []
    assert number(page, "token-count") == 0
    assert page.get_by_test_id("bytes-per-token").inner_text() == "–"


def test_random_edits_leave_exactly_the_engines_tokens(standing, tokenizer) -> None:
    page = write(standing, "")
    rng = random.Random(20)
    pieces = [*MANY_SCRIPTS.split(" "), *BLANKS.split("b"), EOT, HOSTILE, "\n", " the", "x" * 300]
    text = ""
    for _ in range(25):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice([0, 0, 1, 5, 60]))
        new = "".join(rng.choices(pieces, k=rng.choice([0, 1, 1, 3])))
        text = text[:start] + new + text[end:]
        units = [len(part.encode("utf-16-le")) // 2 for part in (text[:start], new)]
        old_end = len(text[start + len(new) :].encode("utf-16-le")) // 2
        area(page).evaluate(
            """(e, [start, tail, piece]) => {
                 e.setRangeText(piece, start, e.value.length - tail, 'end');
                 e.dispatchEvent(new InputEvent('input')); }""",
            [units[0], old_end, new],
        )
        settle(page)
        assert area(page).input_value() == text
        tokens = drawn(page)
        assert [i for t in tokens for i in t["ids"]] == tokenizer.encode(text) == listed(page)
        colors = [t["color"] for t in tokens]
        assert all(a != b for a, b in pairwise(colors))


def test_text_that_is_being_composed_is_left_alone(standing, tokenizer) -> None:
    page = write(standing, "ab")
    area(page).focus()
    page.keyboard.press("End")
    ime = page.context.new_cdp_session(page)
    for part in ("n", "ni", "にほ"):
        ime.send(
            "Input.imeSetComposition",
            {"text": part, "selectionStart": len(part), "selectionEnd": len(part)},
        )
        settle(page)
        assert area(page).input_value() == "ab" + part
    ime.send("Input.insertText", {"text": "日本"})
    settle(page)
    assert area(page).input_value() == "ab日本"
    check(page, tokenizer, "ab日本")
    page.keyboard.type("c")
    settle(page)
    check(page, tokenizer, "ab日本c")


def test_an_answer_that_comes_late_is_dropped(page, app_url, tokenizer) -> None:
    open_tokens(page, app_url, "")
    waiting = []

    def delay(route):
        if route.request.post_data == "slow":
            waiting.append(route)  # answered below, after the newer text
        else:
            route.continue_()

    page.route("**/api/encode*", delay)
    with page.expect_request("**/api/encode*"):
        area(page).fill("slow")
    area(page).fill("slow and newer")
    settle(page)
    for route in waiting:
        route.continue_()
    page.wait_for_timeout(200)
    assert len(waiting) == 1
    check(page, tokenizer, "slow and newer")


@pytest.mark.parametrize("width", [1280, 390])
def test_colors_lie_under_their_letters(new_page, app_url, width) -> None:
    page = open_tokens(new_page(width=width), app_url)
    long_word = "word" * 60
    for text in (MANY_SCRIPTS, BLANKS, f"{long_word} {long_word}\n" * 3, "a b " * 400, "\n" * 40):
        write(page, text)
        heights = in_editor(
            page,
            """const paint = root.querySelector('.paint'), area = root.querySelector('textarea');
               const before = area.style.height; area.style.height = '0';
               const sizes = [paint.scrollHeight, area.scrollHeight];
               area.style.height = before; return sizes;""",
        )
        assert abs(heights[0] - heights[1]) <= 1


# -- ids, hovering, clicking -------------------------------------------------------------------


def test_a_token_and_its_id_light_together_both_ways(standing) -> None:
    page = write(standing, "the old clock in the hall")
    token = page.get_by_test_id("token").nth(2)
    page.mouse.move(*middle(page, token))
    page.locator(".id.hot").wait_for()
    assert page.locator(".id.hot").inner_text() == token.get_attribute("data-id")
    assert "token 3 of" in page.get_by_test_id("about").inner_text()
    page.locator(".id").nth(4).hover()
    page.locator(".t.hot").nth(0).wait_for()
    lit = page.locator(".t.hot")
    assert lit.get_attribute("data-start") == page.get_by_test_id("token").nth(4).get_attribute(
        "data-start"
    )
    page.mouse.move(5, 5)
    assert page.locator(".hot").count() == 0


def test_hovering_brings_the_other_side_into_view(standing) -> None:
    text = "\n".join(f"line {i} of the old clock" for i in range(400))
    page = write(standing, text)
    in_editor(page, "const b = root.querySelector('.text-box'); b.scrollTop = b.scrollHeight;")
    page.wait_for_timeout(300)
    box = page.locator(".text-box").bounding_box()
    page.mouse.move(box["x"] + 60, box["y"] + box["height"] - 20)
    page.locator(".id.hot").wait_for()
    lit, pane = page.locator(".id.hot").bounding_box(), page.locator(".list-box").bounding_box()
    assert pane["y"] <= lit["y"] <= pane["y"] + pane["height"]


def test_the_keyboard_walks_through_ids_and_text(standing) -> None:
    page = write(standing, "the old clock in the hall")
    page.get_by_test_id("ids").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert "token 3 of" in page.get_by_test_id("about").inner_text()
    page.keyboard.press("Enter")
    token_id = page.locator(".id").nth(2).inner_text()
    page.get_by_test_id("bio-id").filter(has_text=re.compile(f"^{token_id}$")).wait_for()
    area(page).focus()
    page.keyboard.press("Home")
    assert "token 1 of" in page.get_by_test_id("about").inner_text()


def test_a_click_shows_the_biography_and_its_parts(standing, tokenizer) -> None:
    page = write(standing, "once upon a time there was a clock")
    token = page.get_by_test_id("token").filter(has_text=re.compile("^ there$|^ time$")).first
    page.mouse.click(*middle(page, token))
    token_id = int(token.get_attribute("data-id"))
    page.get_by_test_id("bio-id").filter(has_text=re.compile(f"^{token_id}$")).wait_for()
    rank = int(tokenizer.birth_ranks[token_id])
    assert page.get_by_test_id("bio-merge").inner_text() == str(rank + 1)
    data = tokenizer.token_bytes(token_id)
    assert page.get_by_test_id("bio-bytes").inner_text() == data.hex(" ").upper()
    assert page.get_by_test_id("merge-steps").locator("li").count() == len(data)
    assert page.get_by_test_id("longest-match").is_visible()
    left = int(tokenizer.merge_ids[rank][0])
    page.get_by_test_id("bio-from").locator(f"[data-id='{left}']").click()
    page.get_by_test_id("bio-id").filter(has_text=re.compile(f"^{left}$")).wait_for()
    assert area(page).input_value().startswith("once upon")


def test_ids_can_be_copied(new_page, app_url, tokenizer) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    open_tokens(page, app_url, "the old clock")
    ids = tokenizer.encode("the old clock")
    for name, copied in (
        ("separated by blanks", " ".join(map(str, ids))),
        ("as a list in brackets", str(ids)),
        ("one per line", "\n".join(map(str, ids))),
    ):
        page.get_by_test_id("copy-ids").locator("summary").click()
        page.get_by_role("button", name=name).click()
        page.get_by_text(f"copied {len(ids)}").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == copied
        page.wait_for_timeout(50)


# -- settings ---------------------------------------------------------------------------------


def test_the_vocabulary_size_recuts_the_text(page, app_url, tokenizer) -> None:
    text = "once upon a time there was a clock"
    open_tokens(page, app_url, text)
    before = number(page, "token-count")
    slider = page.locator(".st-key-tokens_vocab input[type=range]")
    slider.focus()
    slider.press("Home")
    page.locator(f"[data-testid=token-count][data-value='{len(text)}']").wait_for()
    check(page, tokenizer.truncated(0), text)
    slider.press("End")
    page.locator(f"[data-testid=token-count][data-value='{before}']").wait_for()
    check(page, tokenizer, text)


def test_special_tokens_follow_the_policy(page, app_url, tokenizer) -> None:
    text = f"see {EOT} here"
    open_tokens(page, app_url, text)
    assert number(page, "special-count") == 1
    check(page, tokenizer, text)
    control = page.locator(".st-key-special_policy")
    control.get_by_text("treat as text").click()
    page.locator("[data-testid=special-count][data-value='0']").wait_for()
    as_text = tokenizer.encode(text, allowed_special=set())
    assert [i for token in drawn(page) for i in token["ids"]] == as_text
    control.get_by_text("refuse").click()
    notice = page.get_by_test_id("editor-notice")
    notice.filter(has_text="special tokens are refused").wait_for()
    assert area(page).input_value() == text
    assert drawn(page) == []
    write(page, "no marker")
    notice.wait_for(state="hidden")
    check(page, tokenizer, "no marker")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_color_is_readable_and_differs_from_its_neighbors(new_page, app_url, scheme) -> None:
    page = open_tokens(new_page(scheme=scheme), app_url)
    text = "the the the the old clock, aaaa bbbb 1234 the the\nmouse named Pip Pip Pip " * 4
    for mode in ("by position", "by token", "by merge age"):
        choose(page, "token_colors", mode)
        page.locator(f".te[data-color={mode.split()[-1]}]").wait_for()
        write(page, text + mode)
        tokens = drawn(page)
        assert len({token["color"] for token in tokens}) > 5
        for left, right in pairwise(tokens):
            assert left["color"] != right["color"]
        for color, ink in {(token["color"], token["ink"]) for token in tokens}:
            assert contrast(color, ink) >= 4.5
    choose(page, "token_colors", "no color")
    page.locator(".te[data-color=none]").wait_for()
    assert {token["color"] for token in drawn(page)} == {"rgba(0, 0, 0, 0)"}
    image = in_editor(
        page, "return getComputedStyle(root.querySelector('.t')).backgroundImage.split('linear')"
    )
    assert len(image) == 7  # six strokes make a pair of brackets


def test_one_token_has_one_hue_by_token(page, app_url) -> None:
    open_tokens(page, app_url, "the clock and the clock and the clock")
    choose(page, "token_colors", "by token")
    page.locator(".te[data-color=token]").wait_for()
    hues = in_editor(
        page,
        """const found = {}; for (const e of root.querySelectorAll('[data-testid=token]'))
             (found[e.dataset.id] ??= new Set()).add(e.className.match(/c\\d/)[0]);
           return Object.values(found).map(set => set.size);""",
    )
    assert set(hues) == {1}


# -- unusual text -----------------------------------------------------------------------------


def test_hostile_text_is_shown_as_text(standing, tokenizer) -> None:
    page = write(standing, HOSTILE)
    check(page, tokenizer, HOSTILE)
    page.mouse.click(*middle(page, page.get_by_test_id("token").first))
    page.get_by_test_id("bio-id").wait_for()
    page.locator(".st-key-decode_ids input").fill("<img src=x onerror=window.hit=1>")
    page.get_by_text("is not a number").wait_for()
    assert page.evaluate("window.hit") is None
    assert in_editor(page, "return root.querySelectorAll('img, script, iframe').length") == 0


def test_a_character_in_several_tokens_is_drawn_once_and_opens(standing, tokenizer) -> None:
    page = write(standing, MANY_SCRIPTS)
    tokens = check(page, tokenizer, MANY_SCRIPTS)
    assert "\ufffd" not in in_editor(page, "return root.querySelector('.te').textContent")
    texts = [token["text"] for token in tokens]
    for character in ("e\u0301", "👨‍👩‍👧", "🇫🇷", "स्ते"):
        assert any(character in text for text in texts)
        split = page.get_by_test_id("token").filter(has_text=character).first
        ids = split.get_attribute("data-id").split()
        assert split.get_attribute("data-n") == str(len(ids))
        page.mouse.click(*middle(page, split))
        panel = page.get_by_test_id("opened-character")
        panel.filter(has_text=f"is {len(ids)} tokens").wait_for()
        assert panel.locator(".token button").all_inner_texts() == ids
        data = split.inner_text().encode()
        assert panel.locator(".byte").all_inner_texts() == [f"{b:02X}" for b in data]
        page.keyboard.press("Escape")
        panel.wait_for(state="hidden")
    write(page, "\ufffd")
    assert drawn(page)[0]["text"] == "\ufffd"


def test_blanks_are_told_apart(standing, tokenizer) -> None:
    page = write(standing, BLANKS)
    check(page, tokenizer, BLANKS)
    page.get_by_test_id("marks-always").check()
    signs = in_editor(
        page,
        """const found = {}; for (const e of root.querySelectorAll('.paint .mark'))
             found[e.textContent] = getComputedStyle(e, '::before').content;
           return found;""",
    )
    assert set(signs) >= {"\t", "\u00a0", "\u200b", "\u202f", "\ufeff", "\x00", "\u00ad"}
    assert len(set(signs.values())) == len(signs)
    legend = page.get_by_test_id("legend").inner_text()
    for name in ("space", "tab", "line break", "no-break space", "zero-width space"):
        assert name in legend
    lines = in_editor(page, "return root.querySelectorAll('.paint > .ln').length")
    assert lines == BLANKS.count("\n") + 1
    page.get_by_test_id("marks-always").uncheck()
    hidden = "return getComputedStyle(root.querySelector('.paint .mark'), '::before').content"
    assert in_editor(page, hidden) == "none"
    blank = page.get_by_test_id("token").nth(1)
    page.mouse.move(*middle(page, blank))
    page.locator(".t.hot").wait_for()
    lit = "return getComputedStyle(root.querySelector('.t.hot'), '::before').content"
    assert in_editor(page, lit) == '"·"'


def test_a_megabyte_is_counted_whole_and_drawn_in_part(standing, tokenizer) -> None:
    page, line = (
        standing,
        "the old clock in the hall said tick and the mouse said nothing at all, 机器学习\n",
    )
    text = line * (1_000_000 // len(line.encode()) + 1)
    write(page, text)
    assert number(page, "byte-count") == len(text.encode())
    assert number(page, "token-count") == tokenizer.count_tokens(text)
    notice = page.get_by_test_id("editor-notice").inner_text()
    assert "count the whole text" in notice
    assert f"of {len(text.encode()):,} bytes" in notice
    assert len(in_editor(page, "return root.querySelector('.te').outerHTML")) < 2_000_000
    assert area(page).input_value() == text
    room = in_editor(
        page,
        "const a = root.querySelector('textarea'); return [a.clientHeight, a.scrollHeight];",
    )
    assert room[0] >= room[1] - 1  # all of it can be scrolled to


LONG = {
    "one long word": "a" * 300_000,
    "many lines": "\n".join(f"line {i}" for i in range(20_000)),
    "no blanks": "机器学习模型" * 2334,
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", LONG)
def test_long_texts_of_other_shapes_can_be_pasted_and_undone(
    new_page, app_url, tokenizer, shape
) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    open_tokens(page, app_url, "before")
    text = LONG[shape]
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    area(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
    settle(page, 60_000)
    assert number(page, "token-count") == tokenizer.count_tokens(text)
    assert len(in_editor(page, "return root.querySelector('.te').outerHTML")) < 2_000_000
    page.keyboard.press("Control+z")
    settle(page)
    assert area(page).input_value() == "before"
    page.keyboard.press("Control+v")
    page.keyboard.press("Control+Home")
    page.keyboard.type("b")
    settle(page, 60_000)
    assert number(page, "byte-count") == len(text.encode()) + 1


def test_scrolling_draws_what_comes_into_view(standing, tokenizer) -> None:
    text = "\n".join(f"line {i} of the old clock in the hall" for i in range(2000))
    page = write(standing, text)
    assert len(drawn(page)) < 4000
    ids = {token.end: token.id for token in tokenizer.tokens(text)}
    for part in (1.0, 0.4, 0.0):
        in_editor(
            page,
            "const b = root.querySelector('.text-box'); b.scrollTop = arg * b.scrollHeight;",
            part,
        )
        page.wait_for_timeout(300)
        tokens = drawn(page)
        assert all(ids[token["end"]] == token["ids"][-1] for token in tokens)
        seen = "".join(token["text"] for token in tokens)
        assert f"line {round(part * 1999)} of" in seen


# -- what stays -------------------------------------------------------------------------------


def test_the_text_survives_a_page_change_and_a_reload(page, app_url, tokenizer) -> None:
    open_tokens(page, app_url, "kept <b>text</b>")
    token = page.get_by_test_id("token").first
    page.mouse.click(*middle(page, token))
    page.get_by_test_id("bio-id").wait_for()
    for name in ("Compare", "Tokens"):
        page.get_by_test_id("stTopNavLink").filter(has_text=name).click()
        page.wait_for_url(f"**/{name.lower()}")
    settle(page)
    assert area(page).input_value() == "kept <b>text</b>"
    check(page, tokenizer, "kept <b>text</b>")
    assert page.get_by_test_id("bio-id").inner_text() == token.get_attribute("data-id")
    page.reload()
    settle(page, FIRST)
    assert area(page).input_value() == "kept <b>text</b>"


def test_an_example_can_be_undone(page, app_url) -> None:
    open_tokens(page, app_url, "my own words")
    choose(page, "examples", "Code")
    page.wait_for_function(f"() => {SHADOW}.querySelector('textarea').value.startsWith('def')")
    settle(page)
    area(page).focus()
    page.keyboard.press("Control+z")
    settle(page)
    assert area(page).input_value() == "my own words"


def test_a_link_carries_a_short_text(new_page, app_url) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    text = f"é 🙃 & <b> {EOT} + %20"
    open_tokens(page, app_url, text)
    page.get_by_test_id("copy-link").click()
    page.get_by_text("link copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    other = new_page()
    other.goto(link)
    settle(other, FIRST)
    assert area(other).input_value() == text
    area(page).focus()
    page.keyboard.type("x")
    assert "text=" not in page.url
    write(page, "long " * 1000)
    page.get_by_test_id("copy-link").click()
    page.get_by_text("only up to 1,000 characters").wait_for()
    assert "text=" not in page.url


# -- when something is missing ------------------------------------------------------------------


def test_without_the_route_the_page_colors_the_text_itself(page, app_url, tokenizer) -> None:
    page.route("**/api/encode*", lambda route: route.abort())
    open_tokens(page, app_url)
    for text in ("the old clock", "the old clock in", MANY_SCRIPTS):
        write(page, text)
        check(page, tokenizer, text)
    slider = page.locator(".st-key-tokens_vocab input[type=range]")
    slider.focus()
    slider.press("Home")
    page.locator(f"[data-testid=token-count][data-value='{len(MANY_SCRIPTS.encode())}']").wait_for()
    assert area(page).input_value() == MANY_SCRIPTS


def test_problems_are_sentences_and_the_text_stays(page, app_url, tokenizer) -> None:
    open_tokens(page, app_url, "the old clock")
    notice = page.get_by_test_id("editor-notice")
    answers = [(503, "The engine is getting ready."), (404, "No such tokenizer.")]

    def answer(route):
        if answers:
            status, sentence = answers.pop(0)
            route.fulfill(status=status, json={"error": sentence})
        else:
            route.continue_()

    page.route("**/api/encode*", answer)
    area(page).fill("the old clock in")
    notice.filter(has_text="getting ready").wait_for()
    settle(page)  # it asks again by itself
    assert not answers
    check(page, tokenizer, "the old clock in")
    assert notice.is_hidden()
    answers += [(413, "This text is too long.")]
    area(page).fill("the old clock in the")
    notice.filter(has_text="too long").wait_for()
    assert area(page).input_value() == "the old clock in the"
    assert page.get_by_test_id("token-count").inner_text() == "–"
    write(page, "the old clock in the hall")
    check(page, tokenizer, "the old clock in the hall")


def test_it_fits_a_narrow_screen(new_page, app_url) -> None:
    page = open_tokens(new_page(width=390, height=844), app_url)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.mouse.click(*middle(page, page.get_by_test_id("token").nth(2)))
    page.get_by_test_id("bio-id").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
