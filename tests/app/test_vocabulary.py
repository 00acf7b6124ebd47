"""The Vocabulary page without a browser: list, filters, biography, health, overlap, links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bpe_core import Tokenizer, Trainer, formats
from bpe_core.analysis.replay import TokenUse
from bpe_core.analysis.vocabulary import KINDS, Vocabulary
from tests.engine import oracle
from ui.components.token_editor import Picked
from ui.instruments import biography
from ui.server import published
from ui.session import state
from ui.session.state import Trained
from ui.vocabulary import facts, health, life, listing, panel, query
from ui.vocabulary.query import DESCENDS_FIRST, Query

ROOT = Path(__file__).resolve().parents[2]
PAGE = "../pages/vocabulary.py"
EOT = "<|endoftext|>"
TEXT = f"the low lower lowest newer newest 机器学习 机器 кот кота{EOT} " * 5
HOSTILE = "<img src=x onerror=alert(1)> $x$ **b** :red[r] "
BYTES = {i: bytes([i]) for i in range(256)}


def wrapped(tokenizer: Tokenizer, text: str, name: str, **more: Any) -> Trained:
    """A tokenizer as it stands on a visitor's shelf."""
    return Trained(
        key=published.publish(tokenizer),
        name=name,
        tokenizer=tokenizer,
        text=text,
        held_out="",
        settings=Trainer(256),
        stop_reason="vocab_size",
        source="paste",
        **{"trace": None, **more},
    )


def made(text: str = TEXT, size: int = 290, name: str = "Mine") -> Trained:
    result = Trainer(size, (EOT,)).train(text)
    return wrapped(result.tokenizer, text, name, trace=result.trace)


def imported() -> Trained:
    """Gaps in the ids, entries that no merge makes, no text of its own."""
    vocab = BYTES | {300: b"ab", 302: b"cd", 500: b"\xe6\x9c", 510: b" \xe6"}
    merges = [(b"a", b"b"), (b"\xe6", b"\x9c"), (b" ", b"\xe6")]
    return wrapped(Tokenizer.from_vocab(vocab, merges, {EOT: 9000}), "", "ImportedTokenizer")


def quiet(at: AppTest) -> AppTest:
    """Fail if the last run raised."""
    assert not at.exception, at.exception[0].value
    return at


def open_page(*known: Trained, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
    if known:
        at.session_state["trained"] = list(known)
    at.run()
    state.built_in().wait()
    for name, value in query.items():
        at.query_params[name] = value
    return quiet(at.switch_page(PAGE).run())


@pytest.fixture(scope="module")
def mine() -> Trained:
    return made()


@pytest.fixture
def app(mine: Trained) -> AppTest:
    return open_page(mine)


def sent(at: AppTest, name: str, place: int = 0) -> dict[str, Any]:
    """What the page sends to one of its components."""
    found = [e.proto for e in at.get("bidi_component") if e.proto.component_name == name]
    return json.loads(found[place].json)


def listed(at: AppTest) -> list[int]:
    return [row[0] for row in sent(at, "token_table")["rows"]]


def heading(at: AppTest) -> str:
    return next(c.value for c in at.caption if "entries" in c.value)


def ask(at: AppTest, **values: Any) -> AppTest:
    """Do what a press in a component does: its callback changes these values."""
    for name, value in values.items():
        at.session_state[f"vocab_{name}"] = value
    return quiet(at.run())


# -- the page ---------------------------------------------------------------------------------


def test_it_opens_with_the_first_merges_and_a_biography(mine: Trained) -> None:
    at = open_page()
    table = sent(at, "token_table")
    merged = [int(i) for i in state.built_in().wait().tokenizer.merge_ids[:20, 2]]
    assert listed(at) == merged
    assert table["total"] == 1000
    assert table["selected"] == sent(at, "token_card")["token"]["id"]
    assert heading(at) == "All **1,000** entries of this vocabulary."
    assert "Choose one to see which entries both have" in "\n".join(c.value for c in at.caption)


def test_a_page_is_sent_and_no_more(app: AppTest, mine: Trained) -> None:
    assert len(listed(app)) == listing.PER_PAGE
    pages = sent(app, "token_table")["pages"]
    seen = [i for page in (pages - 2, pages - 1) for i in listed(ask(app, page=page))]
    order = [int(i) for i in mine.tokenizer.merge_ids[:, 2]]
    order += [i for i in mine.tokenizer.vocab if i not in order]
    assert seen == order[(pages - 2) * listing.PER_PAGE :]
    assert listed(ask(app, page=10**6)) == listed(ask(app, page=pages - 1))


def test_searching_by_text_hex_and_id(app: AppTest, mine: Trained) -> None:
    vocab = mine.tokenizer.vocab
    app.text_input(key="vocab_search").set_value("low")
    found = listed(quiet(app.run()))
    assert sorted(found) == sorted(i for i, token in vocab.items() if b"low" in token)
    assert f"**{len(found)}** of 290 entries: with the text “low”" in heading(app)
    app.segmented_control(key="vocab_where").set_value("hex")
    app.text_input(key="vocab_search").set_value("E6 9c")
    found = listed(quiet(app.run()))
    assert sorted(found) == sorted(i for i, token in vocab.items() if b"\xe6\x9c" in token)
    app.segmented_control(key="vocab_where").set_value("id")
    app.text_input(key="vocab_search").set_value("260, 5-7 99999")
    assert sorted(listed(quiet(app.run()))) == [5, 6, 7, 260]


@pytest.mark.parametrize(("where", "words"), [("hex", "E2 zz"), ("id", "12 x"), ("id", "³")])
def test_words_that_cannot_be_read_are_explained(app: AppTest, where: str, words: str) -> None:
    app.segmented_control(key="vocab_where").set_value(where)
    app.text_input(key="vocab_search").set_value(words)
    table = sent(quiet(app.run()), "token_table")
    assert table["rows"] == []
    assert "; write" in table["empty"]
    app.text_input(key="vocab_search").set_value("")
    assert len(listed(quiet(app.run()))) == listing.PER_PAGE


def test_filters_join_and_show_all_clears_them(app: AppTest, mine: Trained) -> None:
    vocab = mine.tokenizer.vocab
    births = mine.tokenizer.birth_ranks
    app.selectbox(key="vocab_kind").set_value("Latin")
    app.slider(key="vocab_length").set_value((2, 3))
    app.slider(key="vocab_birth").set_value((2, 20))
    found = listed(quiet(app.run()))
    assert found
    assert all(2 <= len(vocab[i]) <= 3 and 1 <= births[i] <= 19 for i in found)
    assert "Latin" in heading(app)
    assert "2 to 3 bytes" in heading(app)
    app.button(key="vocab_clear").click()
    assert heading(quiet(app.run())) == "All **290** entries of this vocabulary."
    app.segmented_control(key="vocab_special").set_value("only special")
    assert listed(quiet(app.run())) == [256]
    app.text_input(key="vocab_search").set_value("no such token")
    assert "No token matches" in sent(quiet(app.run()), "token_table")["empty"]


def test_any_words_are_shown_letter_for_letter(mine: Trained) -> None:
    at = open_page(made(HOSTILE * 9, 280, HOSTILE), mine)
    at.text_input(key="vocab_search").set_value("<img src=x onerror=")
    quiet(at.run())
    assert r"“\<img·src\=x·onerror\=”".replace(r"\=", "=") in heading(at)
    html = "\n".join(block.proto.body for block in at.get("html"))
    assert "<img" not in html


# -- biography -----------------------------------------------------------------------------------


def test_a_link_opens_a_biography_and_the_address_follows(mine: Trained) -> None:
    at = open_page(mine, token="260")
    assert sent(at, "token_card")["token"]["id"] == 260
    assert sent(at, "token_life")["id"] == 260
    del at.query_params["token"]
    ask(at, token="261")
    assert sent(at, "token_card")["token"]["id"] == 261
    assert at.query_params["token"] in ("261", ["261"])


@pytest.mark.parametrize("asked", ["99999", "-1", "abc", "²", "9" * 30, ""])
def test_a_link_to_no_token_says_so(mine: Trained, asked: str) -> None:
    at = open_page(mine, token=asked)
    assert sent(at, "token_card")["token"] is None
    assert "ids go up to 289" in sent(at, "token_card")["empty"]


def test_another_tokenizer_closes_the_biography_of_the_first(mine: Trained) -> None:
    at = open_page(mine, imported(), token="260")
    ask(at, page=3, part_of=257)
    other = at.session_state["trained"][1]
    at.selectbox(key="tokenizer").set_value(other.key)
    quiet(at.run())
    assert sent(at, "token_card")["token"]["id"] == 300
    assert heading(at) == "All **261** entries of this vocabulary."


def test_every_kind_of_entry_has_a_life(mine: Trained) -> None:
    at = open_page(imported())
    for token_id in (0, 97, 300, 302, 500, 510, 9000):
        told = sent(ask(at, token=str(token_id)), "token_life")
        assert told["id"] == token_id
        assert told["use"]["sentence"]
        assert told["contexts"]["sentence"]
    assert "special" in told["use"]["sentence"]
    assert "Children's stories" in sent(ask(at, token="302"), "token_life")["use"]["sentence"]


def test_a_life_says_what_the_text_says(mine: Trained) -> None:
    tokenizer, text = mine.tokenizer, mine.text.encode()
    for token_id, token in tokenizer.vocab.items():
        told = life.life(mine, token_id)
        uses = tokenizer.encode(mine.text).count(token_id)
        places = told["contexts"]["places"]
        if uses:
            assert len(places) == min(uses, life.PLACES)
        for place in places:
            assert place["token"].encode("latin-1") == token
            assert "".join(place.values()).encode("latin-1") in text
        if "steps" in told["use"]:
            assert told["use"]["counts"][-1] == uses
            assert told["use"]["most"] == max(told["use"]["counts"])
            assert len(places) > 0
        children = {
            int(new)
            for left, right, new in tokenizer.merge_ids.tolist()
            if token_id in (left, right)
        }
        assert told["children"]["n"] == len(children)
        assert {child["id"] for child in told["children"]["first"]} <= children
        assert biography.children(tokenizer, token_id, 1000)[0] == len(children)


def test_a_tokenizer_without_history_still_has_biographies() -> None:
    whole = oracle.remade(
        Tokenizer.from_vocab(BYTES | {300: b" low"}, []), ignore_merges={b" low": 300}
    )
    told = life.life(wrapped(whole, TEXT, "Whole"), 300)
    assert "cannot be told" in told["use"]["sentence"]
    assert told["contexts"]["places"]


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([0, 1, 1], "Born at merge 1 with 1 place; no later merge has taken any of them."),
        ([0, 2, 5, 1], "most often (5) after merge 2; later merges took 4 of them"),
        ([9, 0], "There from the start with 9 places; merge 1 took the last of them"),
        ([0, 3, 0, 0], "Born at merge 1 with 3 places; merge 2 took the last of them"),
    ],
)
def test_use_is_told_in_one_sentence(counts: list[int], says: str) -> None:
    assert says in life.use_sentence(TokenUse(np.array(counts)))


# -- health, scripts, overlap --------------------------------------------------------------------


def test_health_rows_count_what_they_list(app: AppTest, mine: Trained) -> None:
    rows = {row["key"]: row for row in sent(app, "tally_table")["rows"]}
    assert list(rows) == list(health.ROWS)
    for key in health.LISTED:
        table = sent(ask(app, health=key), "token_table")
        assert f"{table['total']:,}" == rows[key]["numbers"][0]
        shown = [row["key"] for row in sent(app, "tally_table")["rows"] if row["on"]]
        assert shown == [key]
    unused = set(mine.tokenizer.vocab) - set(mine.tokenizer.encode(mine.text))
    assert rows["unused"]["numbers"] == [str(len(unused))]
    longest = max(map(len, mine.tokenizer.vocab.values()))
    assert rows["longest"]["numbers"] == [f"{longest} bytes"]
    at = ask(app, health=None, sort=("bytes", True))
    assert len(bytes(sent(at, "token_table")["rows"][0][1], "latin-1")) == longest


def test_scripts_count_what_they_list(app: AppTest) -> None:
    for row in sent(app, "tally_table", 1)["rows"]:
        table = sent(ask(app, kind=row["key"]), "token_table")
        assert f"{table['total']:,}" == row["numbers"][0]
    assert any("Chinese characters:" in c.value for c in app.caption)


def test_the_overlap_of_two_tokenizers(mine: Trained) -> None:
    other = made("the lowest moon over the old town " * 5, 280, "Other")
    at = open_page(mine, other)
    mine_tokens = set(mine.tokenizer.vocab.values())
    other_tokens = set(other.tokenizer.vocab.values())
    at.selectbox(key="vocab_other").set_value(other.key)
    quiet(at.run())
    for part, expected in {
        "shared": mine_tokens & other_tokens,
        "here": mine_tokens - other_tokens,
        "there": other_tokens - mine_tokens,
    }.items():
        table = sent(ask(at, part=part, part_page=0), "token_table", 1)
        assert table["total"] == len(expected)
        assert {row[1].encode("latin-1") for row in table["rows"]} <= expected
        counts = {r["key"]: r["numbers"][0] for r in sent(at, "tally_table", 2)["rows"]}
        assert counts[part] == str(len(expected))


def test_the_file_is_the_decoded_vocabulary(mine: Trained) -> None:
    vocabulary = Vocabulary.of(mine.tokenizer)
    entries = json.loads(health.as_json(vocabulary))
    assert entries == list(vocabulary.decoded())
    assert {bytes.fromhex(e["hex"]) for e in entries if e["text"] is None} == {
        token
        for token, whole in zip(vocabulary.tokens, ~vocabulary.splits, strict=True)
        if not whole
    }
    rows = np.array([5, 280])
    assert json.loads(health.as_json(vocabulary, rows)) == [entries[5], entries[280]]


# -- order -----------------------------------------------------------------------------------


@pytest.mark.parametrize("column", DESCENDS_FIRST)
def test_sorting_is_total_and_keeps_unborn_entries_last(mine: Trained, column: str) -> None:
    vocabulary = facts.entries(mine)
    uses = facts.uses(mine)
    everything = query.matches(vocabulary, Query(), merge_ids=mine.tokenizer.merge_ids)
    keys = {
        "token": lambda row: vocabulary.tokens[row],
        "hex": lambda row: vocabulary.tokens[row],
        "id": lambda row: vocabulary.ids[row],
        "merge": lambda row: vocabulary.births[row],
        "bytes": lambda row: len(vocabulary.tokens[row]),
        "uses": lambda row: uses[row],
        "kind": lambda row: KINDS[vocabulary.kind[row]],
    }
    for down in (False, True):
        rows = vocabulary.in_order(everything, column, down=down, uses=uses)
        assert sorted(rows.tolist()) == list(range(len(vocabulary)))
        if column == "merge":
            n = len(mine.tokenizer.merge_ids)
            assert (vocabulary.births[rows[n:]] < 0).all()
            rows = rows[:n]
        values = [keys[column](row) for row in rows.tolist()]
        assert values == sorted(values, reverse=down)


def test_pressing_a_column_again_turns_the_order_round(app: AppTest) -> None:
    first = listed(ask(app, sort=("uses", True)))
    assert sent(app, "token_table")["sort"] == ["uses", True]
    assert listed(ask(app, sort=("uses", False))) != first


# -- large, and doors ------------------------------------------------------------------------


def test_a_hundred_thousand_tokens_are_one_page_at_a_time(mine: Trained) -> None:
    folder = ROOT.parent / "shared" / "tiktoken_cache"
    if not folder.is_dir():
        pytest.skip("the shared test data (../shared) is not here")
    data = (folder / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").read_bytes()
    tokenizer = formats.loads_tiktoken(data, pattern="cl100k", special_tokens={EOT: 100257})
    at = open_page(wrapped(tokenizer, "", "cl100k"), mine)
    assert "**100,257** entries" in heading(at)
    at.text_input(key="vocab_search").set_value(" the")
    quiet(at.run())
    table = sent(at, "token_table")
    assert table["total"] == sum(b" the" in token for token in tokenizer.vocab.values())
    assert len(table["rows"]) == listing.PER_PAGE
    assert sum(len(e.proto.json) for e in at.get("bidi_component")) < 60_000
    told = sent(ask(at, token="279"), "token_life")  # " the"
    assert told["use"]["counts"][-1] > 100
    assert len(told["use"]["steps"]) < 400


def test_other_pages_open_the_biography(mine: Trained) -> None:
    at = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
    at.session_state["trained"] = [mine]
    at.session_state["merge_player"] = {"player_id": mine.key, "step": 3}
    state.built_in().wait()
    quiet(at.run())
    assert at.button(key="to_vocabulary").label == "Biography of the token of merge 3"
    at.button(key="to_vocabulary").click()
    quiet(at.run())
    assert sent(at, "token_card")["token"]["rank"] == 3
    assert at.selectbox(key="tokenizer").value == mine.key


def test_the_token_of_a_card_is_linked(mine: Trained) -> None:
    at = open_page(mine)
    at.switch_page("../pages/tokens.py")
    at.session_state["vocab_link"] = "270"
    at.session_state["tokens_picked"] = Picked(270, 0, "lower", 0)
    at.session_state["tokens_shown"] = 270
    quiet(at.run())
    at.session_state["tokens_shown"] = 270  # the first look at a tokenizer closes the card
    (link,) = [e.proto for e in quiet(at.run()).get("page_link")]
    assert link.page == "vocabulary"
    assert link.query_string == "token=270"
    assert "vocab_link" not in at.session_state


def test_the_first_biography_is_of_the_token_in_most_merges(mine: Trained) -> None:
    shown = panel.first_choice(mine.tokenizer)
    rows = mine.tokenizer.merge_ids.tolist()
    n = {new: sum((left, right).count(new) for left, right, _ in rows) for *_, new in rows}
    assert n[shown] == max(n.values())
    assert panel.first_choice(Trainer(256).train("").tokenizer) == 0


def test_a_well_known_vocabulary_is_browsed_and_compared(app: AppTest, monkeypatch) -> None:
    cache = ROOT.parent / "shared" / "tiktoken_cache"
    if not cache.is_dir():
        pytest.skip("the shared test data (../shared) is not here")
    pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
    at = app
    at.selectbox(key="vocab_other").select("gpt2").run()
    assert not at.exception
    counts = sent(at, "tally_table", 2)
    assert [row["name"] for row in counts["rows"]] == ["In both", "Only here", "Only there"]
    at.selectbox(key="tokenizer").select("gpt2").run()
    assert not at.exception
    assert heading(at) == "All **50,257** entries of this vocabulary."
