"""The Train page without a browser: what it says, starts, keeps and refuses."""

from __future__ import annotations

import gzip
import io
import json
import threading
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from bpe_core.trainer import Trainer
from ui import limits, samples, words
from ui.session import state
from ui.session.jobs import Places, TrainingJob
from ui.train import corpus_picker, downloads, setup

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "<script>alert(1)</script> $x$ **b** :red[r] `c` <b>low</b> low lower lowest\n"


@pytest.fixture
def app() -> AppTest:
    """The app as a new visitor finds it once its built-in tokenizer is there."""
    at = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120).run()
    state.built_in().wait()
    return quiet(at.run())


def quiet(at: AppTest) -> AppTest:
    """Fail if the last run raised."""
    assert not at.exception, at.exception[0].value
    return at


def captions(at: AppTest) -> str:
    return "\n".join(c.value for c in at.caption)


def errors(at: AppTest) -> str:
    return "\n".join(e.value.replace("\\", "") for e in at.error)


def progress(at: AppTest) -> str:
    """What the progress bar says."""
    return at.get("progress")[0].proto.text


def sent_to_player(at: AppTest) -> dict:
    """What the page sends to the merge player, without the columns."""
    (player,) = at.get("bidi_component")
    return json.loads(player.proto.mixed.json)


def paste(at: AppTest, text: str) -> AppTest:
    at.selectbox(key="corpus_source").set_value(corpus_picker.PASTE).run()
    return quiet(at.text_area(key="corpus_text").set_value(text).run())


def train(at: AppTest) -> AppTest:
    """Press Train, wait for the job, and look again."""
    quiet(at.button(key="train").click().run())
    if "job" in at.session_state:
        at.session_state["job"].join()
    return quiet(at.run())


def trained(at: AppTest) -> list[state.Trained]:
    """This visitor's own tokenizers, newest first."""
    return at.session_state.get("trained") or []


# -- opening ----------------------------------------------------------------------------------


def test_opens_with_a_trained_sample(app: AppTest) -> None:
    assert [t.name for t in trained(app)] == []
    built_in = state.built_in().wait()
    assert built_in.tokenizer.vocab_size == samples.first().vocab_size
    assert words.literal(built_in.name) in captions(app)
    assert len(app.get("bidi_component")) == 1
    assert len(app.get("download_button")) == 3  # the merge log; the tokenizer has a dialog
    assert app.button(key="export_open").label == "Take it home…"


def test_the_size_is_shown_as_a_sum(app: AppTest) -> None:
    app.text_area(key="special_tokens").set_value("").run()
    app.number_input(key="vocab_size_exact").set_value(476).run()
    assert "**476** = 256 bytes + 0 special + 220 merges" in captions(quiet(app))
    app.select_slider(key="vocab_size").set_value(2000).run()
    assert "**2,000** = 256 bytes + 0 special + 1,744 merges" in captions(quiet(app))


def test_a_sample_suggests_settings_until_the_visitor_has_his_own(app: AppTest) -> None:
    chinese = samples.by_id()["chinese"]
    app.selectbox(key="corpus_source").set_value("chinese").run()
    assert app.select_slider(key="vocab_size").value == chinese.vocab_size
    assert app.text_area(key="special_tokens").value == "\n".join(chinese.special_tokens)
    app.select_slider(key="vocab_size").set_value(300).run()
    app.selectbox(key="corpus_source").set_value("chat").run()
    assert app.select_slider(key="vocab_size").value == 300


def test_special_tokens_raise_the_smallest_size(app: AppTest) -> None:
    app.text_area(key="special_tokens").set_value("<|a|>\n<|b|>").run()
    app.session_state["vocab_size"] = 256
    quiet(app.run())
    assert app.select_slider(key="vocab_size").options[0] == "258"
    assert "**258** = 256 bytes + 2 special + 0 merges" in captions(app)


@pytest.mark.parametrize("sent", [-1, 0, 255, 10**9, 1.5])
def test_a_size_no_browser_offers_is_brought_into_bounds(app: AppTest, sent: object) -> None:
    app.session_state["vocab_size"] = sent
    quiet(app.run())
    assert 256 <= app.session_state["vocab_size"] <= 50_257


def test_an_exact_size_moves_the_slider(app: AppTest) -> None:
    app.number_input(key="vocab_size_exact").set_value(12_345).run()
    assert app.select_slider(key="vocab_size").value == 12_345


# -- training ---------------------------------------------------------------------------------


def test_a_pasted_text_is_trained_letter_for_letter(app: AppTest) -> None:
    app = train(paste(app, HOSTILE * 3))
    (result,) = trained(app)
    assert result.text == HOSTILE * 3
    assert result.tokenizer.decode(result.tokenizer.encode(result.text)) == result.text
    assert state.built_in().wait().key != result.key
    assert not app.error


def test_text_running_out_of_pairs_is_explained(app: AppTest) -> None:
    app = train(paste(app, "ab"))
    (result,) = trained(app)
    assert result.stop_reason == "no_pairs"
    assert result.tokenizer.merges == [(b"a", b"b")]
    assert "Training ended early" in captions(app)
    assert f"1 merge of {trained(app)[0].settings.n_merges:,}" in captions(app)


def test_one_letter_has_nothing_to_merge(app: AppTest) -> None:
    app = train(paste(app, "a"))
    assert trained(app)[0].tokenizer.merges == []
    assert "Training ended early" in captions(app)


def test_rules_of_the_more_panel_reach_the_trainer(app: AppTest) -> None:
    app.text_area(key="special_tokens").set_value("<|x|>")
    app.selectbox(key="tie_break").set_value("lowest_ids")
    app.selectbox(key="byte_order").set_value("gpt2")
    app.number_input(key="min_pair_count").set_value(2)
    app.number_input(key="max_token_bytes").set_value(3)
    app.selectbox(key="pattern").set_value("whitespace")
    app = train(paste(app, "a<|x|>b" * 50))
    assert trained(app)[0].settings == Trainer(
        1000, ("<|x|>",), "whitespace", "lowest_ids", "gpt2", min_pair_count=2, max_token_bytes=3
    )
    assert trained(app)[0].tokenizer.merges == [(b"b", b"a")]


def test_a_held_out_share_has_its_curve(app: AppTest) -> None:
    app.select_slider(key="held_out_share").set_value(20)
    app = train(app)
    (result,) = trained(app)
    counts = result.held_out_counts
    assert counts is not None
    assert counts.shape == (result.tokenizer.n_merges + 1,)
    n_special = result.held_out.count("<|endoftext|>")
    assert n_special > 0
    assert counts[0] == len(result.held_out.encode()) - n_special * len("<|endoftext|>")
    assert counts[-1] == result.tokenizer.count_tokens(result.held_out) - n_special
    assert "were held out" in captions(app)


def test_an_earlier_training_can_be_shown_again(app: AppTest) -> None:
    app = train(paste(app, "low low lower"))
    newest = trained(app)[0]
    choice = app.selectbox(key=f"shown_{newest.key}")
    assert choice.value == newest.key
    built_in = state.built_in().wait()
    choice.set_value(built_in.key).run()
    assert words.literal(built_in.name) in captions(quiet(app))


def test_no_two_trainings_share_a_name(app: AppTest) -> None:
    for _ in range(3):
        app = train(app)
    names = [t.name for t in [*trained(app), state.built_in().wait()]]
    assert len(set(names)) == 4
    assert words.literal(names[0]) in captions(app)


def test_only_some_trainings_are_kept(app: AppTest) -> None:
    app = paste(app, "low low lower")
    for _ in range(state.KEPT + 1):
        app = train(app)
    assert len(trained(app)) == state.KEPT


def test_one_visitor_sees_nothing_of_another(app: AppTest) -> None:
    app = train(paste(app, "a secret of the first visitor"))
    assert len(trained(app)) == 1
    other = quiet(AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=60).run())
    assert trained(other) == []
    assert "secret" not in str(other)


def test_a_click_on_stop_is_answered_before_the_result_is_drawn(app: AppTest) -> None:
    merged, going_on = threading.Event(), threading.Event()
    one = job(" ".join(f"{i * i:b}" for i in range(20_000)), size=50_000)
    merge, stop = one._merge, one.stop

    def merge_a_little(run) -> None:
        one._n_merges = run.advance(25)
        merged.set()
        going_on.wait()
        merge(run)

    def stop_at_once() -> None:
        stop()
        going_on.set()
        one.join()

    one._merge, one.stop = merge_a_little, stop_at_once  # type: ignore[method-assign]
    one.start()
    merged.wait()
    app.session_state["job"] = one
    assert "Merging: 25 of" in progress(quiet(app.run()))

    quiet(app.button(key="stop").click().run())
    assert not one.running
    assert progress(app) == "Stopped after 25 merges; what was learned is kept."
    assert "stop" not in [b.key for b in app.button]
    assert sent_to_player(app)["live"]
    assert "Stopped before the end" not in captions(app)

    quiet(app.run())
    assert "Stopped before the end" in captions(app)
    assert not sent_to_player(app)["live"]
    assert not app.get("progress")
    assert len(trained(app)[0].trace) == 25


# -- refusals ---------------------------------------------------------------------------------


def test_no_text_is_refused_with_a_sentence(app: AppTest) -> None:
    app = paste(app, "")
    app.button(key="train").click().run()
    assert "no text yet" in errors(quiet(app))
    assert trained(app) == []


def test_a_special_token_given_twice_is_refused(app: AppTest) -> None:
    app.text_area(key="special_tokens").set_value("<|x|>\n<|x|>").run()
    assert "'<|x|>' is listed twice" in errors(quiet(app))
    app.button(key="train").click().run()
    assert "job" not in quiet(app).session_state


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(", "no valid regular expression"),
        ("", "pattern"),
        ("(a|aa)+$", "too long"),
        ("o200", "the nearest are 'o200k'"),
    ],
)
def test_a_pattern_that_does_not_work_is_refused(app: AppTest, pattern: str, said: str) -> None:
    app = paste(app, "a" * 60 + "b")
    app.selectbox(key="pattern").set_value(setup.CUSTOM).run()
    app.text_input(key="custom_pattern").set_value(pattern).run()
    assert said in errors(quiet(app))
    app.button(key="train").click().run()
    assert "job" not in quiet(app).session_state


def test_what_a_pattern_leaves_out_is_told(app: AppTest) -> None:
    app = paste(app, "low, lower")
    app.selectbox(key="pattern").set_value(setup.CUSTOM).run()
    app.text_input(key="custom_pattern").set_value("[a-z]+").run()
    assert "does not match 2 of these 10 characters" in captions(quiet(app))
    app.text_input(key="custom_pattern").set_value("[a-z]+|[^a-z]").run()
    assert "does not match" not in captions(quiet(app))


# -- what survives ----------------------------------------------------------------------------


def test_a_page_change_keeps_text_settings_and_result(app: AppTest) -> None:
    app.select_slider(key="vocab_size").set_value(300).run()
    app.text_area(key="special_tokens").set_value("<|x|>").run()
    app = train(paste(app, HOSTILE))
    kept = trained(app)
    app.switch_page("../pages/compare.py").run()
    app.switch_page("../pages/train.py").run()
    assert trained(quiet(app)) == kept
    assert app.selectbox(key="corpus_source").value == corpus_picker.PASTE
    assert app.text_area(key="corpus_text").value == HOSTILE
    assert app.select_slider(key="vocab_size").value == 300
    assert app.text_area(key="special_tokens").value == "<|x|>"


def test_what_was_learned_elsewhere_is_brought_in(app: AppTest) -> None:
    app = paste(app, HOSTILE)
    app.button(key="train").click().run()
    app.session_state["job"].join()
    app.switch_page("../pages/compare.py").run()
    assert len(trained(quiet(app))) == 1


# -- files ------------------------------------------------------------------------------------


def upload(at: AppTest, *files: tuple[str, bytes]) -> AppTest:
    at.selectbox(key="corpus_source").set_value(corpus_picker.UPLOAD).run()
    for name, data in files:
        turn = at.session_state["corpus_upload_turn"]
        at.file_uploader(key=f"corpus_upload_{turn}").upload(name, data)
    return quiet(at.run())


def test_each_file_says_what_was_done_to_it(app: AppTest) -> None:
    app = upload(
        app,
        ("tools *new*.txt", "hi\n".encode("utf-16")),
        ("bad.bin", b"abc \xff\xfe abc\n"),
        ("marked.md", b"\xef\xbb\xbfhello"),
        ("packed.gz", gzip.compress(b"packed\n")),
        ("wide.txt", "wide\n".encode("utf-32")),
        ("plain.csv", b"a,b"),
    )
    said = captions(app).replace("\\", "")
    assert "tools *new*.txt" in said
    assert "UTF-16" in said
    assert "UTF-32" in said
    assert "It was a gzip file and was unpacked" in said
    assert "2 bytes that are not UTF-8 were replaced" in said
    assert "byte order mark" in said
    app = train(app)
    assert trained(app)[0].text == "hi\nabc \ufffd\ufffd abc\nhello\npacked\nwide\na,b"
    assert "\0" not in trained(app)[0].text


def test_a_gzip_file_is_unpacked_up_to_the_limit(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "TEXT_TOTAL_MB", 1)
    app = upload(app, ("bomb.gz", gzip.compress(bytes(1 << 24))))
    assert [len(f.data) for f in app.session_state["corpus_files"]] == [1_000_000]
    assert "only the first 1,000,000 bytes" in captions(app)


def test_files_stay_over_a_page_change_and_can_be_removed(app: AppTest) -> None:
    app = upload(app, ("one.txt", b"one"), ("two.txt", b"two"))
    app.switch_page("../pages/compare.py").run()
    app.switch_page("../pages/train.py").run()
    first = app.session_state["corpus_files"][0]
    app.button(key=f"remove_{first.id}").click().run()
    assert [f.name for f in quiet(app).session_state["corpus_files"]] == ["two.txt"]


def test_files_over_the_limit_are_named(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TEXT_TOTAL_MB", 1)
    app = upload(app, ("small.txt", b"small"), ("large.txt", b"x" * 1_000_000))
    assert [f.name for f in app.session_state["corpus_files"]] == ["small.txt"]
    assert "large.txt" in [t.value for t in app.text]


# -- downloads --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample() -> state.Trained:
    result = Trainer(300, ("<|x|>",)).train("low lower lowest, néw <|x|> néwer \0" * 5)
    return state.Trained(
        "key", "Sample", result.tokenizer, result.trace, "", "", Trainer(300), "vocab_size", "paste"
    )


def test_the_merge_log_is_the_same_in_three_formats(sample: state.Trained) -> None:
    log = downloads.merge_log(sample)
    assert len(log) == sample.tokenizer.n_merges
    lefts, rights = map(list, zip(*sample.tokenizer.merges, strict=True))
    assert [bytes.fromhex(digits) for digits in log.left_hex] == lefts
    assert [bytes.fromhex(digits) for digits in log.right_hex] == rights
    csv = pd.read_csv(io.BytesIO(downloads.as_csv(sample)), dtype={"left_hex": str})
    assert csv.left_hex.tolist() == log.left_hex.tolist()
    parquet = pd.read_parquet(io.BytesIO(downloads.as_parquet(sample)))
    pd.testing.assert_frame_equal(parquet, log)
    rows = json.loads(downloads.as_json(sample))
    assert [r["pair_count"] for r in rows] == log.pair_count.tolist()


def test_a_merge_log_in_csv_holds_any_character() -> None:
    result = Trainer(300).train('\0\0 b\r\r b\r ,, ""')
    trained = state.Trained(
        "key", "Sample", result.tokenizer, result.trace, "", "", Trainer(300), "vocab_size", "paste"
    )
    written = downloads.as_csv(trained).decode("utf-8")
    assert ",\0\0," in written
    csv = pd.read_csv(io.StringIO(written.replace("\0", "0"), newline=""))
    assert csv.new_text.tolist() == [
        t.replace("\0", "0") for t in downloads.merge_log(trained).new_text
    ]


# -- jobs -------------------------------------------------------------------------------------


def job(text: str = HOSTILE * 50, size: int = 400, **options) -> TrainingJob:
    return TrainingJob(Trainer(size), lambda: (text, ""), places=Places(1), **options)


def test_a_job_learns_what_the_trainer_learns() -> None:
    one = job()
    one.start()
    one.join()
    assert one.outcome is not None
    assert one.outcome.tokenizer.merges == Trainer(400).train(HOSTILE * 50).tokenizer.merges
    assert one.progress().phase == "ended"


def test_a_stopped_job_keeps_what_it_learned() -> None:
    read, going_on = threading.Event(), threading.Event()
    one = job(" ".join(f"{i * i:b}" for i in range(60_000)), size=50_000)
    advance = one._merge

    def until_told(run) -> None:
        run.advance(25)
        read.set()
        going_on.wait()
        advance(run)

    one._merge = until_told  # type: ignore[method-assign]
    one.start()
    read.wait()
    one.stop()
    assert one.asked_to_stop
    going_on.set()
    one.join()
    assert one.outcome is not None
    assert one.outcome.stop_reason == "stopped"
    assert len(one.outcome.trace) == one.outcome.tokenizer.n_merges == 25


def test_a_stop_while_counting_ends_the_job_without_a_result() -> None:
    one = job()
    read = one._read

    def stop_then_read() -> tuple[str, str]:
        one.stop()
        return read()

    one._read = stop_then_read
    one.start()
    one.join()
    assert one.outcome is None
    assert "before the first merge" in (one.problem or "")


def test_jobs_wait_for_a_free_place() -> None:
    reading, go = threading.Event(), threading.Event()
    places = Places(1)

    def slow() -> tuple[str, str]:
        reading.set()
        go.wait()
        return HOSTILE, ""

    first = TrainingJob(Trainer(300), slow, places=places)
    second = TrainingJob(Trainer(300), lambda: (HOSTILE, ""), places=places)
    third = TrainingJob(Trainer(300), lambda: (HOSTILE, ""), places=places)
    first.start()
    reading.wait()
    second.start()
    third.start()
    assert second.progress().phase == third.progress().phase == "waiting"
    assert places.busy == 1
    third.stop()
    third.join()
    assert third.outcome is None
    go.set()
    second.join()
    assert second.outcome is not None
    assert (places.busy, places.waiting) == (0, 0)


def test_a_failing_reader_gives_one_sentence() -> None:
    def broken() -> tuple[str, str]:
        raise OSError("disk gone")

    one = TrainingJob(Trainer(300), broken, places=Places(1))
    one.start()
    one.join()
    assert one.outcome is None
    assert "OSError" in (one.problem or "")
    assert "Traceback" not in (one.problem or "")


# -- texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
def test_set_aside_takes_its_share_of_whole_lines(share: float) -> None:
    lines = [f"line {i} {'x' * (i % 37)}\n" for i in range(2000)]
    kept, aside = corpus_picker.set_aside("".join(lines), share)
    assert sorted((kept + aside).splitlines(True)) == sorted(lines)
    assert abs(len(aside) / len("".join(lines)) - share) < 0.005


@pytest.mark.parametrize("text", ["", "a", "one line of some words", "a\n", "\n\n\n", "a\nb"])
def test_set_aside_loses_nothing(text: str) -> None:
    kept, aside = corpus_picker.set_aside(text, 0.2)
    assert sorted(kept + aside) == sorted(text)


def test_every_sample_is_there_and_is_utf_8() -> None:
    for sample in samples.by_id().values():
        assert sample.n_bytes == len(sample.read().encode())
        assert sample.about
        assert Trainer(sample.vocab_size, sample.special_tokens).n_merges > 0
