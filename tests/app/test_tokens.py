"""The Tokens page without a browser: its widgets, the token card, the decode box, links."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bpe_core import Tokenizer, Trainer
from ui.components.token_editor import COLORS, DRAWN_BYTES, Picked
from ui.instruments import biography
from ui.server import encoding, published
from ui.session import state
from ui.tokens import decode_box, setup
from ui.tokens.examples import EXAMPLES

ROOT = Path(__file__).resolve().parents[2]
PAGE = "../pages/tokens.py"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def app() -> AppTest:
    """The app on the Tokens page, as a new visitor finds it."""
    return open_tokens()


def open_tokens(**query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120)
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    state.built_in().wait()
    at.run()
    return quiet(at.switch_page(PAGE).run())


def quiet(at: AppTest) -> AppTest:
    """Fail if the last run raised."""
    assert not at.exception, at.exception[0].value
    return at


def sent(at: AppTest, name: str) -> dict[str, Any]:
    """What the page sends to one of its components."""
    found = [e.proto for e in at.get("bidi_component") if e.proto.component_name == name]
    assert len(found) == 1
    return json.loads(found[0].json)


def editor(at: AppTest) -> dict[str, Any]:
    return sent(at, "token_editor")


def card(at: AppTest) -> dict[str, Any]:
    return sent(at, "token_card")


def click_token(at: AppTest, text: str, token: int, tokenizer: Tokenizer) -> AppTest:
    """Do what a click on one token of ``text`` does."""
    found = tokenizer.tokens(text)[token]
    at.session_state["tokens_picked"] = Picked(found.id, found.start, text, found.start)
    at.session_state["tokens_shown"] = found.id
    return quiet(at.run())


def said(at: AppTest) -> str:
    return "\n".join(e.value.replace("\\", "") for e in [*at.error, *at.caption])


def with_special_tokens() -> state.Trained:
    settings = Trainer(280, ("<|endoftext|>",))
    result = settings.train("low lower lowest newer newest " * 4)
    return state.Trained(
        key=published.publish(result.tokenizer),
        name="Mine",
        tokenizer=result.tokenizer,
        trace=result.trace,
        text="low lower lowest",
        held_out="",
        settings=settings,
        stop_reason=result.stop_reason,
        source="paste",
    )


# -- the setup row ----------------------------------------------------------------------------


def test_it_opens_with_a_text_to_look_at(app: AppTest) -> None:
    built_in = state.built_in().wait()
    data = editor(app)
    assert data["tokenizer"] == built_in.key
    assert built_in.text.startswith(data["text"])
    assert 300 < len(data["text"]) <= setup.OPENING
    assert data["merges"] == built_in.tokenizer.n_merges
    assert data["special"] == "recognize"
    assert data["color"] == "position"
    assert data["limit"] == DRAWN_BYTES
    assert published.lookup(data["tokenizer"]) is built_in.tokenizer


def test_the_vocabulary_size_sets_the_number_of_merges(app: AppTest) -> None:
    tokenizer = state.built_in().wait().tokenizer
    slider = app.slider(key="tokens_vocab")
    assert (slider.min, slider.max) == (256 + len(tokenizer.special_tokens), tokenizer.vocab_size)
    slider.set_value(slider.min + 20)
    assert editor(quiet(app.run()))["merges"] == 20
    assert f"of {tokenizer.vocab_size:,}, with 20 of" in said(app)


@pytest.mark.parametrize("policy", encoding.POLICIES)
def test_what_special_tokens_become_is_a_choice(app: AppTest, policy: str) -> None:
    app.segmented_control(key="special_policy").set_value(policy)
    assert editor(quiet(app.run()))["special"] == policy


@pytest.mark.parametrize("name", COLORS)
def test_colors(app: AppTest, name: str) -> None:
    app.selectbox(key="token_colors").set_value(name)
    assert editor(quiet(app.run()))["color"] == COLORS[name]


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_replaces_the_text_and_can_be_chosen_again(app: AppTest, name: str) -> None:
    before = editor(app)["epoch"]
    for i in (1, 2):
        app.selectbox(key="examples").set_value(name)
        data = editor(quiet(app.run()))
        assert (data["text"], data["epoch"]) == (EXAMPLES[name], before + i)
        assert app.selectbox(key="examples").value is None


def test_a_new_tokenizer_chooses_itself_and_others_stay_reachable(app: AppTest) -> None:
    built_in = state.built_in().wait()
    app.slider(key="tokens_vocab").set_value(300).run()
    click_token(app, "the clock", 0, built_in.tokenizer)
    mine = with_special_tokens()
    app.session_state["trained"] = [mine]
    assert editor(quiet(app.run()))["tokenizer"] == mine.key
    assert card(app)["token"] is None  # the id would be another token's
    assert app.slider(key="tokens_vocab").value == mine.tokenizer.vocab_size
    app.selectbox(key="tokenizer").set_value(built_in.key)
    assert editor(quiet(app.run()))["tokenizer"] == built_in.key
    assert editor(quiet(app.run()))["tokenizer"] == built_in.key


def test_a_tokenizer_without_merges_has_no_slider(app: AppTest) -> None:
    mine = with_special_tokens()
    bare = state.Trained(
        **{**vars(mine), "key": "bare", "tokenizer": mine.tokenizer.truncated(0), "trace": None}
    )
    app.session_state["trained"] = [bare]
    quiet(app.run())
    assert not app.slider
    assert "every byte is a token" in said(app)
    assert editor(app)["merges"] == 0


def test_a_tokenizer_that_made_room_is_published_again(app: AppTest) -> None:
    key = editor(app)["tokenizer"]
    published._shelf.clear()
    app.run()
    assert published.lookup(key) is state.built_in().wait().tokenizer


def test_a_page_change_keeps_every_choice(app: AppTest) -> None:
    app.slider(key="tokens_vocab").set_value(400)
    app.segmented_control(key="special_policy").set_value("treat as text")
    app.selectbox(key="token_colors").set_value("by token")
    app.text_input(key="decode_ids").set_value("72 105")
    quiet(app.run())
    click_token(app, "the clock", 0, state.built_in().wait().tokenizer)
    before = editor(app), card(app)
    quiet(app.switch_page("../pages/train.py").run())
    quiet(app.switch_page(PAGE).run())
    assert (editor(app), card(app)) == before
    assert app.text_input(key="decode_ids").value == "72 105"
    assert app.slider(key="tokens_vocab").value == 400


# -- links ------------------------------------------------------------------------------------


def test_a_link_brings_its_text_and_policy_once() -> None:
    at = open_tokens(text="hello <|endoftext|>", special="treat as text")
    data = editor(at)
    assert (data["text"], data["linked"]) == ("hello <|endoftext|>", True)
    assert data["special"] == "treat as text"
    at.segmented_control(key="special_policy").set_value("refuse")
    assert editor(quiet(at.run()))["special"] == "refuse"


def test_a_link_with_nonsense_is_harmless() -> None:
    at = open_tokens(text="x" * 5000 + HOSTILE, special="maybe")
    data = editor(at)
    assert len(data["text"]) == setup.LONGEST_LINK
    assert data["special"] == "recognize"


# -- the token card ---------------------------------------------------------------------------


def test_without_a_click_the_card_says_what_to_do(app: AppTest) -> None:
    data = card(app)
    assert data["token"] is None
    assert data["empty"].startswith("Click a token")


def test_a_clicked_token_shows_where_it_comes_from(app: AppTest) -> None:
    trained = state.built_in().wait()
    tokenizer, text = trained.tokenizer, "once upon a time"
    token = tokenizer.tokens(text)[-1]
    click_token(app, text, -1, tokenizer)
    data = card(app)["token"]
    rank = int(tokenizer.birth_ranks[token.id])
    left, right, _ = tokenizer.merge_ids[rank].tolist()
    assert data["id"] == token.id
    assert data["bytes"].encode("latin-1") == tokenizer.token_bytes(token.id)
    assert data["rank"] == rank + 1
    assert [part["id"] for part in data["tree"]["parts"]] == [left, right]
    assert trained.trace is not None
    assert data["counted"] == trained.trace.pair_count[rank]
    story = card(app)["pretoken"]
    assert story["steps"][-1]["parts"] == story["tokens"]


def test_a_token_the_size_leaves_out_is_explained(app: AppTest) -> None:
    tokenizer = state.built_in().wait().tokenizer
    click_token(app, " " + tokenizer.token_bytes(len(tokenizer.vocab) - 1).decode(), -1, tokenizer)
    app.session_state["tokens_shown"] = len(tokenizer.vocab) - 1
    app.slider(key="tokens_vocab").set_value(300)
    quiet(app.run())
    assert card(app)["token"] is None
    assert "not in a vocabulary of this size" in card(app)["empty"]


def test_a_special_token_has_no_pretoken(app: AppTest) -> None:
    mine = with_special_tokens()
    app.session_state["trained"] = [mine]
    app.run()
    text = "low<|endoftext|>low"
    click_token(app, text, 1, mine.tokenizer)
    assert card(app)["token"]["kind"] == "special"
    assert card(app)["pretoken"] is None
    app.segmented_control(key="special_policy").set_value("treat as text")
    assert card(quiet(app.run()))["pretoken"]["bytes"] == "<|"


# -- the fallback without the HTTP route --------------------------------------------------------


def test_without_the_route_the_page_itself_answers(app: AppTest) -> None:
    tokenizer = state.built_in().wait().tokenizer
    assert editor(app)["answer"] is None
    app.session_state["token_editor"] = {"doc": {"seq": 7, "text": "low lower"}}
    answer = editor(quiet(app.run()))["answer"]
    data = base64.b64decode(answer["bytes"])
    assert answer["seq"] == 7
    assert data == encoding.answer(tokenizer, "low lower", limit=DRAWN_BYTES)
    assert np.frombuffer(data, "<u4", 1, 64)[0] == tokenizer.encode("low lower")[0]


def test_without_the_route_errors_are_sentences_too(app: AppTest) -> None:
    app.session_state["trained"] = [with_special_tokens()]
    app.run()
    app.segmented_control(key="special_policy").set_value("refuse").run()
    app.session_state["token_editor"] = {"doc": {"seq": 1, "text": "a<|endoftext|>"}}
    assert "refused" in editor(quiet(app.run()))["answer"]["error"]
    app.session_state["token_editor"] = {"doc": {"seq": 2, "text": "a" * 4_000_001}}
    assert "4 MB" in editor(quiet(app.run()))["answer"]["error"]


# -- the decode box ---------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["72 105", "[72, 105]", " 72,\n105 ;", "(72)(105)"])
def test_ids_become_text(app: AppTest, typed: str) -> None:
    app.text_input(key="decode_ids").set_value(typed)
    assert [c.value for c in quiet(app.run()).code] == ["Hi"]


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("72 x 105", "Item 2, x, is not a number"),
        ("72 1.5", "Item 2, 1.5, is not a number"),
        ("True", "Item 1, True, is not a number"),
        ("999999", "Item 1: 999999 is not an id of this vocabulary"),
        ("72 -1", "Item 2: -1 is not an id"),
        ("9" * 300, "is not an id"),
        (HOSTILE, "Item 1, <img, is not a number"),
    ],
)
def test_what_is_no_id_is_named(app: AppTest, typed: str, says: str) -> None:
    app.text_input(key="decode_ids").set_value(typed)
    assert says in said(quiet(app.run()))
    assert not app.code


def test_a_size_without_the_id_refuses_it(app: AppTest) -> None:
    app.text_input(key="decode_ids").set_value("500").run()
    assert app.code
    app.slider(key="tokens_vocab").set_value(300)
    assert "500 is not an id of this vocabulary of 300 entries" in said(quiet(app.run()))


def test_part_of_a_character_is_explained(app: AppTest) -> None:
    app.text_input(key="decode_ids").set_value("240 159")
    assert quiet(app.run()).code[0].value == "\ufffd"
    assert "no whole character" in said(app)
    app.text_input(key="decode_ids").set_value("239 191 189")
    assert "no whole character" not in said(quiet(app.run()))


def test_decoding_undoes_encoding() -> None:
    tokenizer = with_special_tokens().tokenizer
    for text in [*EXAMPLES.values(), HOSTILE, "hello !", " ."]:
        ids = decode_box.read_ids(str(tokenizer.encode(text)), tokenizer)
        assert tokenizer.decode(ids) == text


# -- biographies --------------------------------------------------------------------------------


def test_every_token_has_a_biography_whose_tree_spells_it() -> None:
    tokenizer = with_special_tokens().tokenizer

    def leaves(node: dict[str, Any]) -> str:
        return "".join(map(leaves, node["parts"])) if "parts" in node else node["bytes"]

    for token_id, data in tokenizer.vocab.items():
        about = biography.token_biography(tokenizer, token_id)
        assert about["bytes"].encode("latin-1") == data
        assert about["kind"] == (
            "byte" if token_id < 256 else "special" if token_id == 256 else "merge"
        )
        if about["kind"] == "merge":
            assert leaves(about["tree"]) == about["bytes"]
            assert about["tree"]["rank"] == about["rank"]
    with pytest.raises(KeyError, match="99999"):
        biography.token_biography(tokenizer, 99999)


def test_steps_end_in_the_tokens_and_join_one_pair_each() -> None:
    tokenizer = with_special_tokens().tokenizer
    for word in ("lowest", " newest", "lowlow", "x", "", "lower" * 12, "机器"):
        story = biography.pretoken_story(tokenizer, word)
        parts = list(word.encode().decode("latin-1"))
        for step in story["steps"]:
            at = step["at"]
            assert step["parts"] == [*parts[:at], parts[at] + parts[at + 1], *parts[at + 2 :]]
            parts = step["parts"]
        assert parts == story["tokens"]
        assert story["n_tokens"] == len(tokenizer.encode(word))
        ranks = [step["rank"] for step in story["steps"]]
        assert ranks == sorted(ranks)
        assert "".join(story["greedy"]) == story["bytes"]


def test_a_very_long_pretoken_has_no_list_of_steps() -> None:
    story = biography.pretoken_story(with_special_tokens().tokenizer, "low" * 500)
    assert story["steps"] is None
    assert story["size"] == 1500
    assert len(story["bytes"]) < 200


def test_longest_match_is_another_cut() -> None:
    vocab = dict(enumerate([*(bytes([i]) for i in range(256)), b"bc", b"ab", b"<x>"]))
    tokenizer = Tokenizer.from_vocab(vocab, [(b"b", b"c"), (b"a", b"b")], ["<x>"])
    story = biography.pretoken_story(tokenizer, "abc")
    assert (story["greedy"], story["tokens"]) == (["ab", "c"], ["a", "bc"])
    assert not story["same"]
    assert biography.pretoken_story(tokenizer, "bca")["same"]


# -- texts ------------------------------------------------------------------------------------


def test_examples_hold_what_they_are_for() -> None:
    assert "\t" in EXAMPLES["White space"]
    assert {"\u00a0", "\u202f", "\u200b"} <= set(EXAMPLES["White space"])
    assert "e\u0301" in EXAMPLES["Emoji and accents"]
    assert re.search("[\u0600-\u06ff]", EXAMPLES["Many scripts"])
    assert "<|endoftext|>" in EXAMPLES["Special tokens"]
    assert not any("\r" in text for text in EXAMPLES.values())


def test_the_component_never_writes_html() -> None:
    folder = ROOT / "ui" / "components"
    for path in [*folder.glob("token_editor/*.js"), *folder.glob("token_card/*.js")]:
        source = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", source), (
            path
        )
