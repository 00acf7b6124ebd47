"""The Vocabulary page in a real browser: search, keyboard, address, files, a narrow screen."""

from __future__ import annotations

import json

import pytest

from bpe_core import Tokenizer, Trainer
from ui import samples

pytestmark = pytest.mark.browser

FIRST = 120_000  # milliseconds; the first visit may have to compile the engine


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """The tokenizer the app opens with."""
    sample = samples.first()
    return Trainer(sample.vocab_size, sample.special_tokens).train(sample.read()).tokenizer


def open_page(page, url: str, query: str = ""):
    page.goto(f"{url}/vocabulary{query}")
    page.get_by_test_id("token-life").wait_for(timeout=FIRST)
    return page


def listed(page) -> list[int]:
    rows = page.get_by_test_id("token-row").evaluate_all("rows => rows.map(r => r.dataset.id)")
    return [int(i) for i in rows]


def opened(page, token_id: int) -> None:
    """Wait until the biography of an id is shown."""
    page.locator(f"[data-testid=bio-id]:text-is('{token_id}')").wait_for()


def test_find_a_token_by_keyboard_and_take_the_list_along(page, app_url, tokenizer) -> None:
    open_page(page, app_url)
    page.locator(".st-key-vocab_search input").fill(" the")
    page.locator(".st-key-vocab_heading").filter(has_text="with the text “·the”").wait_for()
    wanted = [i for i, token in tokenizer.vocab.items() if b" the" in token]
    wanted.sort(key=lambda i: tokenizer.birth_ranks[i])
    assert listed(page) == wanted[:20]

    page.get_by_test_id("token-row").first.locator("button").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    opened(page, wanted[1])
    page.wait_for_url(f"**/vocabulary?token={wanted[1]}")
    marked = page.locator("[data-testid=contexts] mark").all_inner_texts()
    assert set(marked) == {tokenizer.vocab[wanted[1]].decode()}
    assert "Born at merge" in page.get_by_test_id("use-chart").get_attribute("aria-label")
    assert page.evaluate("document.activeElement !== document.body")

    with page.expect_download() as download:
        page.locator(".st-key-vocab_json_listed button").click()
    entries = json.loads(download.value.path().read_bytes())
    assert [entry["id"] for entry in entries] == wanted
    page.reload()
    opened(page, wanted[1])
    assert page.get_by_test_id("stException").count() == 0


def test_pages_orders_and_tables_change_the_list(page, app_url, tokenizer) -> None:
    open_page(page, app_url)
    ranks = tokenizer.birth_ranks
    born = sorted((i for i in tokenizer.vocab if ranks[i] >= 0), key=lambda i: ranks[i])
    page.get_by_role("button", name="Next page").click()
    page.locator(f"[data-testid=token-row][data-id='{born[20]}']").wait_for()
    assert listed(page) == born[20:40]
    page.get_by_role("button", name="bytes", exact=True).click()
    longest = max(tokenizer.vocab.items(), key=lambda entry: (len(entry[1]), -entry[0]))[0]
    page.locator(f"[data-testid=token-row][data-id='{longest}']").wait_for()
    assert listed(page)[0] == longest
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("bytes")

    row = page.get_by_role("button", name="Split a character")
    row.click()
    page.locator(".st-key-vocab_heading").filter(has_text="splitting a character").wait_for()
    assert page.locator(".st-key-vocab_heading").inner_text().startswith("128 of")
    assert page.get_by_test_id("token-table").is_visible()
    page.locator(".st-key-vocab_clear button").click()
    page.locator(".st-key-vocab_heading").filter(has_text="All 1,000").wait_for()


def test_the_player_opens_a_biography_and_it_fits_a_narrow_screen(
    new_page, app_url, tokenizer
) -> None:
    page = new_page(width=390, height=844)
    page.goto(app_url)
    page.locator(".st-key-to_vocabulary button").click(timeout=FIRST)
    page.wait_for_url("**/vocabulary?token=*")
    opened(page, int(page.url.split("=")[1]))
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    row = page.get_by_test_id("token-row").first
    row.locator("button").click()
    opened(page, int(tokenizer.merge_ids[0, 2]))
    page.wait_for_function(
        "document.querySelector('.st-key-vocab_biography').getBoundingClientRect().top < 300"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
