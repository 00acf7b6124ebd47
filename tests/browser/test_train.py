"""The Train page in a real browser."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import numpy as np
import pytest

pytestmark = pytest.mark.browser

HOSTILE = (
    "<script>window.hit=1</script><img src=x onerror=window.hit=1> $x^2$ **b** :red[r] `c` "
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe> low low lower lowest\n"
)
FIRST = 120_000  # milliseconds; the first visit may have to compile the engine


def open_train(page, url: str):
    page.goto(url)
    page.get_by_test_id("step").wait_for(timeout=FIRST)
    return page


def choose(page, key: str, option: str) -> None:
    page.locator(f".st-key-{key} input").click()
    page.get_by_role("option", name=option).click()


def paste(page, text: str) -> None:
    choose(page, "corpus_source", "Paste a text")
    page.locator(".st-key-corpus_text textarea").fill(text)


def train(page) -> None:
    page.locator(".st-key-train button").click()


def set_size(page, size: int) -> None:
    page.locator(".st-key-more button").first.click()
    exact = page.locator(".st-key-vocab_size_exact input")
    exact.fill(str(size))
    exact.press("Enter")
    page.locator(".st-key-size_sum", has_text=f"{size:,} =").wait_for()
    page.keyboard.press("Escape")
    exact.wait_for(state="hidden")


def start_long_training(page) -> None:
    """Start a training that is still merging when a test has looked at it."""
    letters = np.random.default_rng(7).integers(ord("a"), ord("q"), (3_000_000, 10), np.uint8)
    letters[:, -1] = ord(" ")  # words of nine letters, hardly any of them twice
    letters[11::12, -1] = ord("\n")
    choose(page, "corpus_source", "Upload files")
    page.locator("input[type=file]").set_input_files(
        {"name": "words.txt", "mimeType": "text/plain", "buffer": letters.tobytes()}
    )
    page.locator(".st-key-corpus_files", has_text="words.txt").wait_for()
    set_size(page, 50_000)
    train(page)
    page.locator(".st-key-training", has_text=re.compile(r"Merging: [1-9]")).wait_for(
        timeout=60_000
    )


def results(page):
    """The sentence below the player that says what came out."""
    return page.locator("[data-testid=stCaptionContainer]", has_text="bytes per token")


def luminance(color: str) -> float:
    r, g, b = (int(v) / 255 for v in re.findall(r"\d+", color)[:3])
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (r, g, b)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def style(locator, name: str) -> str:
    return locator.evaluate(f"e => getComputedStyle(e)['{name}']")


def test_it_opens_with_something_to_play(page, app_url: str) -> None:
    open_train(page, app_url)
    before = int(page.get_by_test_id("step").inner_text().replace(",", ""))
    page.get_by_test_id("play").click()
    page.wait_for_function(
        """before => {
             const host = document.querySelector('.st-key-merge_player');
             const find = root => { for (const e of root.querySelectorAll('*')) {
               if (e.dataset.testid === 'step') return e;
               const inner = e.shadowRoot && find(e.shadowRoot); if (inner) return inner; } };
             const step = find(host); return step && +step.textContent.replace(/,/g, '') > before; }""",
        arg=before,
    )


def test_a_pasted_text_can_be_trained_and_stepped_through(page, app_url: str) -> None:
    open_train(page, app_url)
    paste(page, "low low low low low lower lower newest newest newest widest")
    set_size(page, 262)
    train(page)
    results(page).filter(has_text="Pasted text").wait_for()
    step = page.get_by_test_id("step")
    assert step.inner_text() == "0"
    card = page.get_by_test_id("merge-card")
    page.locator(".st-key-merge_player").click(position={"x": 5, "y": 5})
    seen = []
    for expected in ("1", "2", "3"):
        page.get_by_role("button", name=re.compile("next|forward|step", re.I)).first.click()
        step.get_by_text(expected, exact=True).wait_for()
        seen.append(card.inner_text())
    assert len(set(seen)) == 3


def test_a_page_change_keeps_everything(page, app_url: str) -> None:
    open_train(page, app_url)
    paste(page, HOSTILE)
    set_size(page, 280)
    train(page)
    results(page).filter(has_text="Pasted text").wait_for()
    page.get_by_test_id("stTopNav").get_by_text("Compare").click()
    page.wait_for_url("**/compare")
    page.get_by_test_id("stTopNav").get_by_text("Train").click()
    page.get_by_test_id("step").wait_for()
    assert page.locator(".st-key-corpus_text textarea").input_value() == HOSTILE
    assert "280 =" in page.locator(".st-key-size_sum").inner_text()
    assert "Pasted text" in results(page).inner_text()


def test_hostile_text_is_shown_letter_for_letter(page, app_url: str) -> None:
    open_train(page, app_url)
    choose(page, "corpus_source", "Upload files")
    page.locator("input[type=file]").set_input_files(
        {"name": "<b>*x*</b> $1$.txt", "mimeType": "text/plain", "buffer": HOSTILE.encode()}
    )
    files = page.locator(".st-key-corpus_files")
    files.get_by_text("<b>*x*</b> $1$.txt").wait_for()
    train(page)
    results(page).filter(has_text="<b>*x*</b> $1$.txt").wait_for()
    page.locator(".st-key-split button").first.click()
    cut = page.locator(".ms-cut")
    cut.wait_for()
    assert "<script>" in "".join(cut.all_inner_texts())
    assert page.evaluate("window.hit") is None
    assert page.get_by_test_id("stException").count() == 0


@pytest.mark.slow
def test_typing_goes_on_while_a_training_is_watched_and_stop_keeps_what_it_learned(
    page, app_url: str
) -> None:
    open_train(page, app_url)
    start_long_training(page)
    choose(page, "corpus_source", "Paste a text")
    area = page.locator(".st-key-corpus_text textarea")
    progress = page.locator(".st-key-training")
    area.click()
    typed = ""
    for letter in "ten":
        before = progress.inner_text()
        page.keyboard.type(letter)
        typed += letter
        page.wait_for_function(
            "before => document.querySelector('.st-key-training')?.innerText !== before", arg=before
        )
    assert progress.count() == 1, "the training ended too early for this test"
    assert area.input_value() == typed
    assert area.evaluate("e => e.getRootNode().activeElement === e")
    assert page.locator(".st-key-train button").count() == 1

    page.locator(".st-key-stop button").click()
    page.get_by_text("Stopped before the end").wait_for()
    assert page.locator(".st-key-stop").count() == 0
    assert "words.txt" in results(page).inner_text()
    page.get_by_test_id("step").wait_for()
    assert area.input_value() == typed


def test_a_download_leaves_the_page_as_it_is(page, app_url: str) -> None:
    open_train(page, app_url)
    files = []
    for _ in range(2):
        with page.expect_download() as download:
            page.locator(".st-key-downloads").get_by_role("button", name="CSV").click()
        files.append(download.value.path().read_bytes())
    assert files[0] == files[1]
    assert files[0].startswith(b"rank,left_id")
    assert page.get_by_test_id("step").is_visible()
    assert results(page).count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_appearances_can_be_read(new_page, app_url: str, scheme: str) -> None:
    page = open_train(new_page(scheme=scheme), app_url)
    ground = style(page.locator(".stApp"), "backgroundColor")
    assert (luminance(ground) > 0.5) == (scheme == "light")
    assert contrast(style(page.locator(".st-key-size_sum strong"), "color"), ground) > 4.5
    button = page.locator(".st-key-train button")
    label = style(button.locator("p"), "color")
    assert contrast(label, style(button, "backgroundColor")) > 4.5
    page.locator(".st-key-split button").first.click()
    piece = page.locator(".ms-piece").first
    panel = page.get_by_test_id("stPopoverBody")
    assert contrast(style(piece, "color"), style(panel, "backgroundColor")) > 4.5


def test_nothing_is_fetched_from_elsewhere(new_page, app_url: str) -> None:
    page, hosts = new_page(alone=True), set()  # alone: nothing is in a cache
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    open_train(page, app_url)
    page.wait_for_load_state("networkidle")
    assert hosts - {""} == {urlsplit(app_url).netloc}


def test_a_phone_needs_no_sideways_scrolling(new_page, app_url: str) -> None:
    page = open_train(new_page(width=390, height=844), app_url)
    widths = "[document.documentElement.scrollWidth, document.querySelector('.stMain').scrollWidth]"
    assert max(page.evaluate(widths)) <= 390
    for source in ("Paste a text", "Upload files"):
        choose(page, "corpus_source", source)
        page.wait_for_timeout(300)
        assert max(page.evaluate(widths)) <= 390


@pytest.mark.slow
def test_large_type_is_reachable_on_every_page(page, app_url: str) -> None:
    open_train(page, app_url)
    size = "parseFloat(getComputedStyle(document.documentElement).fontSize)"
    usual = page.evaluate(size)
    page.locator(".st-key-large_type_switch button:visible").first.click()
    page.wait_for_function(f"{size} > {usual}")
    page.get_by_test_id("stTopNav").get_by_text("Compare").click()
    page.wait_for_url("**/compare")
    page.locator(".st-key-large_type_switch button:visible").first.click()
    page.wait_for_function(f"{size} === {usual}")


def test_a_second_visitor_sees_nothing_of_the_first(new_page, app_url: str) -> None:
    first = open_train(new_page(), app_url)
    paste(first, "a secret text, a secret text")
    train(first)
    results(first).filter(has_text="Pasted text").wait_for()
    second = open_train(new_page(), app_url)
    assert "Pasted text" not in second.locator("body").inner_text()
    assert second.locator("[class*=st-key-shown]").count() == 0
