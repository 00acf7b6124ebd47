"""A tokenizer brought in by upload and taken home again, in a real browser."""

from __future__ import annotations

import pytest

from bpe_core import Trainer, formats

pytestmark = pytest.mark.browser

FIRST = 120_000  # milliseconds; the first visit may have to compile the engine
STORY = "the low lower lowest mouse looked at the newest widest moon\n" * 40


def test_upload_colors_and_the_way_home(page, app_url: str) -> None:
    tokenizer = Trainer(280, ["<|x|>"], pattern="cl100k").train(STORY).tokenizer
    content = formats.dumps(tokenizer, "hf")["tokenizer.json"]
    page.goto(f"{app_url}/tokens?text=the+low+moon+%3C%7Cx%7C%3E")
    page.get_by_test_id("token").first.wait_for(timeout=FIRST)

    page.get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog")
    dialog.locator("input[type=file]").set_input_files(
        {"name": "mine.json", "mimeType": "application/json", "buffer": content}
    )
    dialog.get_by_role("button", name="Import", exact=True).click()
    dialog.wait_for(state="hidden")
    page.get_by_text("280 entries, 23 merges, pattern cl100k, 1 special token").wait_for()

    expected = tokenizer.encode("the low moon <|x|>")
    tokens = page.get_by_test_id("token")
    page.wait_for_function(
        """n => { const host = document.querySelector('.st-key-token_editor');
          for (const e of host.querySelectorAll('*')) if (e.shadowRoot)
            return e.shadowRoot.querySelectorAll('[data-testid=token]').length === n; }""",
        arg=len(expected),
    )
    ids = [int(tokens.nth(i).get_attribute("data-id")) for i in range(len(expected))]
    assert ids == expected

    page.get_by_role("button", name="Take it home…").click()
    page.get_by_text("ids equal").wait_for()
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download tokenizer.json").click()
    again = formats.loads_hf(download.value.path().read_bytes())
    assert again.encode(STORY + "<|x|>") == tokenizer.encode(STORY + "<|x|>")
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert page.get_by_test_id("stException").count() == 0
