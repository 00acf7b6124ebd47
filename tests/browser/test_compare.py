"""The Compare page in a real browser: what is seen, pointed at, and kept."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.browser

HOSTILE = (
    "<script>window.hit=1</script><img src=x onerror=window.hit=1> $x^2$ **b** :red[r] `c` "
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe> low lower"
)
FIRST = 120_000  # milliseconds; the first visit may have to compile the engine


def open_compare(page, url: str):
    page.goto(f"{url}/compare")
    page.locator(".st-key-compare_language_chart .main-svg").first.wait_for(timeout=FIRST)
    column(page, 3).get_by_test_id("token").first.wait_for()
    return page


def column(page, i: int):
    return page.locator(f".st-key-compare_cut_{i}")


def write(page, text: str) -> None:
    box = page.locator(".st-key-compare_text textarea")
    box.fill(text)
    box.press("Control+Enter")


def shown(page, i: int) -> str:
    """The text of a column as it is drawn, without marks and numbers."""
    return page.evaluate(
        """i => [...document.querySelectorAll(`.st-key-compare_cut_${i} *`)]
            .map(e => e.shadowRoot).find(Boolean)
            .querySelector('.box').textContent""",
        i,
    )


def marked_size(page) -> int:
    heading = page.locator(".st-key-compare_card_curves h5").inner_text()
    return int(re.search(r"at ([\d,]+) entries", heading)[1].replace(",", ""))


def wait_for_size_other_than(page, size: int) -> int:
    page.wait_for_function(
        "old => !document.querySelector('.st-key-compare_card_curves h5').innerText.includes(old)",
        arg=f"at {size:,} entries",
    )
    return marked_size(page)


@pytest.mark.slow
def test_a_click_in_the_chart_moves_the_marked_size(page, app_url: str) -> None:
    open_compare(page, app_url)
    before = marked_size(page)
    plot = page.locator(".st-key-compare_chart .nsewdrag").first
    box = plot.bounding_box()
    plot.click(position={"x": box["width"] * 0.8, "y": box["height"] * 0.5})
    right = wait_for_size_other_than(page, before)
    plot = page.locator(".st-key-compare_chart .nsewdrag").first
    plot.click(position={"x": box["width"] * 0.2, "y": box["height"] * 0.5})
    left = wait_for_size_other_than(page, right)
    assert left < before < right
    assert page.get_by_test_id("stException").count() == 0


def test_pointing_at_a_token_lights_the_same_place_in_every_column(page, app_url: str) -> None:
    open_compare(page, app_url)
    token = column(page, 3).get_by_test_id("token").nth(4)
    start, end = (int(token.get_attribute(f"data-{side}")) for side in ("start", "end"))
    token.hover()
    for i in range(4):
        lit = column(page, i).locator(".t.hot")
        lit.first.wait_for()
        spans = [
            (int(lit.nth(j).get_attribute("data-start")), int(lit.nth(j).get_attribute("data-end")))
            for j in range(lit.count())
        ]
        assert spans[0][0] == start
        assert spans[-1][1] == end
        assert column(page, i).locator(".says .chip").count() >= 1
    page.mouse.move(5, 5)
    column(page, 0).locator(".t.hot").first.wait_for(state="detached")


def test_the_keyboard_walks_through_the_tokens(page, app_url: str) -> None:
    open_compare(page, app_url)
    box = column(page, 1).locator(".box")
    box.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    lit = column(page, 1).locator(".t.hot")
    third = column(page, 1).get_by_test_id("token").nth(2)
    assert lit.count() == 1
    assert lit.get_attribute("data-start") == third.get_attribute("data-start")
    page.keyboard.press("Escape")
    assert lit.count() == 0


def test_hostile_text_is_shown_letter_for_letter(page, app_url: str) -> None:
    open_compare(page, app_url)
    write(page, HOSTILE)
    column(page, 0).get_by_test_id("token").nth(len(HOSTILE) - 1).wait_for()
    for i in range(4):
        assert shown(page, i) == HOSTILE
    assert page.evaluate("window.hit") is None


def test_split_characters_are_drawn_once(page, app_url: str) -> None:
    open_compare(page, app_url)
    write(page, "a🙂e\u0301👩\u200d🚀\t\u00a0b")
    group = column(page, 0).locator(".t.split").first
    group.wait_for()
    assert group.inner_text() == "🙂"
    assert group.get_attribute("data-n") == "4"
    assert "\ufffd" not in shown(page, 0)
    assert column(page, 0).get_by_test_id("token-count").inner_text() == "23"


def test_choices_survive_a_page_change(page, app_url: str) -> None:
    open_compare(page, app_url)
    write(page, "low lower lowest")
    column(page, 0).get_by_test_id("token").nth(15).wait_for()
    page.get_by_role("radio", name="2").or_(
        page.locator(".st-key-compare_columns button", has_text="2")
    ).first.click()
    column(page, 3).wait_for(state="detached")
    nav = page.get_by_test_id("stTopNavLink")
    nav.filter(has_text="Train").click()
    page.locator(".st-key-train button").wait_for()
    nav.filter(has_text="Compare").click()
    column(page, 1).get_by_test_id("token").first.wait_for()
    assert page.locator(".st-key-compare_text textarea").input_value() == "low lower lowest"
    assert column(page, 2).count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_never_scrolls_sideways(new_page, app_url: str, width: int) -> None:
    page = open_compare(new_page(width=width), app_url)
    write(page, "x" * 300 + " " + "机" * 100)
    column(page, 0).get_by_test_id("token").nth(399).wait_for()
    wide, visible = page.evaluate(
        "(m => [m.scrollWidth, m.clientWidth])(document.querySelector('[data-testid=stMain]'))"
    )
    assert wide <= visible
    lefts = [column(page, i).bounding_box()["x"] for i in range(4)]
    assert len(set(lefts)) == (1 if width == 390 else 4)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_on_token_colors_is_readable(new_page, app_url: str, scheme: str) -> None:
    page = open_compare(new_page(scheme=scheme), app_url)
    contrasts = page.evaluate(
        """() => {
          const root = [...document.querySelectorAll('.st-key-compare_cut_0 *')]
            .map(e => e.shadowRoot).find(Boolean);
          const pen = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
          const light = color => {
            pen.fillStyle = color; pen.fillRect(0, 0, 1, 1);
            const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map(v => v / 255)
              .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
            return .2126 * r + .7152 * g + .0722 * b;
          };
          return [...Array(8).keys()].map(i => {
            const token = root.querySelector('.c' + i), style = getComputedStyle(token);
            const pair = [light(style.color), light(style.backgroundColor)].sort((a, b) => b - a);
            return (pair[0] + .05) / (pair[1] + .05);
          });
        }"""
    )
    assert len(contrasts) == 8
    assert min(contrasts) >= 4.5
