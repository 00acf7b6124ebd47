"""The Compare page without a browser: its choices, its numbers, and texts that try to break it."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bpe_core import Trainer
from bpe_core.analysis import curves as engine_curves
from bpe_core.analysis import measures as engine_measures
from bpe_core.analysis import sizes
from bpe_core.analysis.curves import CompressionCurve
from ui import samples
from ui.compare import curves, cuts, languages, measures, tables, texts
from ui.instruments import charts, size_slider
from ui.server import published
from ui.session import state
from ui.session.state import Trained

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "<img src=x onerror=alert(1)> $x$ **b** :red[r] `c` %{y} low low lower\n"
STORY = "the low lower lowest mouse looked at the newest widest moon\n" * 40


def made(text: str, size: int, *, name: str = "made", held_out: str = "", **options) -> Trained:
    """A tokenizer as a visitor's training leaves it."""
    settings = Trainer(size, **options)
    result = settings.train(text)
    counts = engine_curves.corpus_token_counts(result.tokenizer, held_out) if held_out else None
    return Trained(
        key=published.publish(result.tokenizer),
        name=f"{name} · {size:,}",
        tokenizer=result.tokenizer,
        trace=result.trace,
        text=text,
        held_out=held_out,
        settings=settings,
        stop_reason=result.stop_reason,
        source="paste",
        held_out_counts=counts,
    )


def quiet(at: AppTest) -> AppTest:
    """Fail if the last run raised."""
    assert not at.exception, at.exception[0].value
    return at


@pytest.fixture
def app() -> AppTest:
    """The Compare page of a visitor who has trained nothing yet."""
    at = AppTest.from_file(str(ROOT / "ui" / "main.py"), default_timeout=120).run()
    state.built_in().wait()
    return quiet(at.switch_page("../pages/compare.py").run())


def bring(at: AppTest, *tokenizers: Trained) -> AppTest:
    """Let the visitor come back with these tokenizers, newest first."""
    at.session_state["trained"] = list(tokenizers)
    return quiet(at.run())


def page_html(at: AppTest) -> str:
    return "\n".join(block.proto.body for block in at.get("html"))


def captions(at: AppTest) -> str:
    return "\n".join(c.value for c in at.caption)


def figures(at: AppTest) -> list[dict]:
    return [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]


def views(at: AppTest) -> list[dict]:
    """What each column of cuts was given, without the tokens themselves."""
    found = []
    for element in at.get("bidi_component"):
        data = element.proto.mixed.json
        found.append(json.loads(data))
    return found


# -- the page ---------------------------------------------------------------------------------


def test_one_tokenizer_makes_a_full_page(app: AppTest) -> None:
    assert len(app.multiselect(key="compare_texts").value) == 3
    assert len(figures(app)) == 2
    assert page_html(app).count('data-testid="reading"') == 3
    assert page_html(app).count('data-testid="measure"') == len(measures.ROWS)
    assert [v["n_tokens"] for v in views(app)] == sorted(
        (v["n_tokens"] for v in views(app)), reverse=True
    )
    assert len(views(app)) == 4
    assert "one tokenizer so far" in captions(app)


def test_a_new_tokenizer_is_chosen_by_itself_and_a_choice_stays(app: AppTest) -> None:
    first = made(STORY, 300, name="first")
    bring(app, first)
    chosen = app.multiselect(key="compare_tokenizers").value
    assert chosen == [first.key, state.built_in().wait().key]
    assert "one tokenizer so far" not in captions(app)

    quiet(app.multiselect(key="compare_tokenizers").set_value([first.key]).run())
    second = made(STORY, 280, name="second")
    bring(app, second, first)
    assert app.multiselect(key="compare_tokenizers").value == [second.key, first.key]
    quiet(app.multiselect(key="compare_tokenizers").set_value([]).run())
    assert app.multiselect(key="compare_tokenizers").value == [second.key]

    quiet(app.switch_page("../pages/train.py").run())
    quiet(app.switch_page("../pages/compare.py").run())
    assert app.multiselect(key="compare_tokenizers").value == [second.key]


def test_choices_of_a_tokenizer_that_is_gone_are_dropped(app: AppTest) -> None:
    gone, kept = made(STORY, 300, name="gone"), made(STORY, 290, name="kept")
    bring(app, kept, gone)
    quiet(app.selectbox(key="compare_column_0").set_value(gone.key).run())
    quiet(app.selectbox(key="compare_language_tokenizer").set_value(gone.key).run())
    bring(app, kept)
    assert gone.key not in app.multiselect(key="compare_tokenizers").value
    assert app.selectbox(key="compare_column_0").value == kept.key


def test_tokenizers_of_one_name_are_told_apart(app: AppTest) -> None:
    bring(app, made(STORY, 300), made(STORY, 300))
    assert app.multiselect(key="compare_tokenizers").options[:2] == [
        "made · 300 (2)",
        "made · 300 (1)",
    ]


def test_solid_is_what_was_learned_and_broken_what_was_not(app: AppTest) -> None:
    bring(app, made(STORY, 300, held_out="the lowest of the moons\n"))
    quiet(app.multiselect(key="compare_texts").set_value(["learned", "held out"]).run())
    lines = [t for t in figures(app)[0]["data"] if t["mode"] == "lines+markers"]
    dashes = {t["name"].split()[0]: t["line"]["dash"] for t in lines}
    assert dashes["A1"] == "solid"
    assert dashes["A2"] == "dash"
    assert dashes["B1"] == "solid"


def test_the_reading_follows_the_marked_size(app: AppTest) -> None:
    size = app.select_slider(key="compare_size")
    assert f"at <b>{size.value:,}</b> entries" in page_html(app)
    built_in = state.built_in().wait()
    quiet(size.set_value(512).run())
    html = page_html(app)
    assert "at <b>512</b> entries" in html
    k = sizes.merges_for(built_in.tokenizer, 512)
    exact = built_in.trace.corpus_bytes / built_in.trace.corpus_tokens[k - 1]
    assert f"<b>{exact:.2f}</b>" in html


def test_own_text(app: AppTest) -> None:
    quiet(app.multiselect(key="compare_texts").set_value([texts.OWN]).run())
    assert "no text to measure on yet" in app.info[0].value
    quiet(app.text_area(key="compare_own").set_value(HOSTILE * 50).run())
    assert not app.info
    assert page_html(app).count('data-testid="reading"') == 1
    uploader = app.file_uploader[0]
    quiet(uploader.upload("<b>x</b>$y$.txt", ("hi " * 99).encode("utf-16")).run())
    assert app.text[0].value == "<b>x</b>$y$.txt"
    assert "297 bytes" in captions(app)
    quiet(app.button(key="compare_remove").click().run())
    assert app.text_area(key="compare_own").value == HOSTILE * 50


def test_names_are_shown_letter_for_letter(app: AppTest) -> None:
    bring(app, made(STORY, 300, name="<b>low</b> $x$ %{y}"), made(STORY, 280))
    html = page_html(app)
    assert "<b>low" not in html
    assert "&lt;b&gt;low&lt;/b&gt; $x$ %{y}" in html
    names = [t.get("name", "") for t in figures(app)[0]["data"]]
    assert any("&lt;b&gt;low&lt;/b&gt; &#36;x&#36; &#37;{y}" in name for name in names)


@pytest.mark.parametrize(
    "text", [HOSTILE, "", " ", "\n\n\t", "a", "الفأرة 🙂\u200b👩\u200d🚀", "<|endoftext|>" * 3]
)
def test_any_text_can_be_cut(app: AppTest, text: str) -> None:
    quiet(app.text_area(key="compare_text").set_value(text).run())
    shown = views(app)
    built_in = state.built_in().wait().tokenizer
    assert [v["text"] for v in shown] == [text] * 4
    assert shown[-1]["n_tokens"] == built_in.count_tokens(text)


def test_a_large_text_is_counted_whole_and_drawn_in_part(app: AppTest) -> None:
    text = "a low mouse 机器 <b> " * 50_000
    quiet(app.text_area(key="compare_text").set_value(text).run())
    assert len(views(app)[0]["text"]) == cuts.DRAWN
    assert views(app)[-1]["n_tokens"] == state.built_in().wait().tokenizer.count_tokens(text)
    assert f"of {len(text):,} characters are drawn" in captions(app)


def test_examples_fill_the_text(app: AppTest) -> None:
    for name, text in cuts.EXAMPLES.items():
        quiet(app.selectbox(key="compare_example").set_value(name).run())
        assert app.text_area(key="compare_text").value == text
        assert app.selectbox(key="compare_example").value is None


def test_columns_take_any_tokenizer_and_size(app: AppTest) -> None:
    small = made(STORY, 270, name="small")
    bring(app, small)
    assert len(views(app)) == 4
    quiet(app.selectbox(key="compare_column_1").set_value(small.key).run())
    assert app.select_slider(key="compare_size_1").value <= 270
    app.session_state["compare_columns"] = 2
    quiet(app.run())
    assert len(views(app)) == 2


# -- the numbers ------------------------------------------------------------------------------


def test_curves_are_those_of_retraining_at_every_size() -> None:
    text = "".join(random.Random(1).choices("ab cd", k=600))
    unseen = "".join(random.Random(2).choices("abcd e", k=400))
    trained = made(text, 290)
    other = texts.EvalText("unseen", "unseen", False, lambda: unseen)
    counts = curves.measured(trained, other).counts
    for k in range(trained.tokenizer.n_merges + 1):
        assert counts[k] == trained.tokenizer.truncated(k).count_tokens(unseen)
    learned = texts.resolve(texts.LEARNED, "", trained, [trained])
    assert learned is not None
    assert np.array_equal(
        curves.measured(trained, learned).counts,
        engine_curves.corpus_token_counts(trained.tokenizer, text),
    )


def curve(counts: list[int], special: tuple[str, ...] = ()) -> curves.Curve:
    trained = made("ab" * 40, 256 + len(special) + len(counts) - 1, special_tokens=special)
    text = texts.EvalText("t", "t", True, str)
    numbers = CompressionCurve.of_counts(trained.tokenizer, np.array(counts))
    return curves.Curve("1", "t", trained, text, numbers, 0, 0)


def test_readings() -> None:
    line = curve([80, 40, 20, 10])
    assert line.sizes.tolist() == [256, 257, 258, 259]
    assert curves.gain(line.reading(256)) == "going on to 259 gains 700 %"
    assert curves.gain(line.reading(259)) == "the last 2 entries gained 300 %"
    assert curves.gain(line.reading(400)) == "ends at 259; the last 2 entries gained 300 %"
    assert line.reading(400).size == 259
    assert curves.gain(curve([80]).reading(256)) == "no merges"
    assert curves.gain(curve([80, 80]).reading(256)) == "going on to 257 gains nothing"
    assert curve([80, 40], ("<x>",)).sizes.tolist() == [257, 258]


def test_each_row_of_the_table_shows_its_measure() -> None:
    tokenizer = made("low low lower", 259).tokenizer  # ow, low, " low"
    found = engine_measures.measures_of(tokenizer, "low lower é")
    assert [row.write(row.value(found)) for row in measures.ROWS] == [
        "1.71", "7", "2.33", "2.7 %", f"{100 * found.evenness:.1f} %", "71.4 %", "28.6 %",
    ]  # fmt: skip
    empty = engine_measures.measures_of(tokenizer, "")
    assert all(row.write(row.value(empty)) for row in measures.ROWS)


def test_measures_at_a_size_are_those_of_the_smaller_tokenizer() -> None:
    trained = made(STORY, 300)
    text = texts.EvalText(f"t:{trained.key}", "t", False, lambda: "the unseen moon é")
    numbers = curves.measured(trained, text)
    line = curves.Curve("1", "t", trained, text, numbers, 0, 0)
    for size in (256, 275, 300):
        ((_, at, found),) = measures.at_size([line], size)
        assert at == min(size, trained.tokenizer.vocab_size)
        assert found == engine_measures.measures_of(
            sizes.at_size(trained.tokenizer, size), text.read()
        )


def test_the_best_value_is_marked_only_where_columns_share_a_text() -> None:
    trained = made(STORY, 300)
    lines = curves.curves([trained, made(STORY, 280)], {"learned": "x"}, [trained])
    assert ' best"' not in tables.measures(measures.at_size(lines, 290), 290)
    lines = curves.curves([trained, made(STORY, 280)], {f"text:{trained.key}": "x"}, [trained])
    assert ' best"' in tables.measures(measures.at_size(lines, 290), 290)


# -- cutting ---------------------------------------------------------------------


def test_one_tokenizer_is_compared_with_the_column_to_the_left() -> None:
    trained, other = made(STORY, 300), made(STORY, 280)
    text = "the low mouse"
    found = [
        cuts.cached_cut(trained.key, text, size, text, trained.tokenizer) for size in (256, 300)
    ]
    nested = cuts.differences([(trained, 256), (trained, 300)], found)
    assert "to the left" in nested.legend
    assert not nested.marked[0].any()
    assert nested.marked[1].any()
    mixed = cuts.differences([(trained, 256), (other, 280)], found)
    assert mixed.marked[0].any()


# -- charts -----------------------------------------------------------------------------------


def test_a_long_curve_is_thinned_and_keeps_its_ends() -> None:
    sizes = np.arange(256, 50_257)
    kept = charts.thinned(sizes)
    assert len(kept) <= 182
    assert kept[0] == 0
    assert kept[-1] == len(sizes) - 1
    line = charts.Line("1", "x", sizes, np.linspace(1, 5, len(sizes)), 0, 0)
    spec = charts.compression([line], 1000).to_json()
    assert len(spec) < 40_000


def test_labels_at_the_ends_do_not_overlap() -> None:
    rng = random.Random(4)
    values = [rng.random() for _ in range(16)]
    placed = charts.spread(values, 0.05)
    ordered = sorted(placed)
    assert all(b - a > 0.0499 for a, b in pairwise(ordered))
    assert sorted(range(16), key=placed.__getitem__) == sorted(range(16), key=values.__getitem__)


def test_a_curve_of_one_point_can_be_drawn() -> None:
    line = charts.Line("1", "x", np.array([256]), np.array([1.0]), 0, 0)
    assert charts.compression([line], 256).data
    assert size_slider.between(256, 256) == [256]


# -- languages --------------------------------------------------------------------------------


def test_the_passages_say_the_same_in_each_language() -> None:
    passages = languages.passages()
    assert len(passages) >= 10
    assert len({len(text.splitlines()) for text in passages.values()}) == 1


def test_costs_are_sorted_and_bytes_are_the_cost_without_merges() -> None:
    tokenizer = made(samples.by_id()["stories"].read()[:20_000], 600).tokenizer
    rows = languages.costs(tokenizer, 600)
    assert [r.tokens for r in rows] == sorted(r.tokens for r in rows)
    assert rows[0].english == "English"
    bare = languages.costs(tokenizer, 256)
    assert all(r.tokens == r.n_bytes for r in bare)
    assert languages.sentence(rows).startswith("The same passages cost")


def test_size_sliders_keep_a_valid_value() -> None:
    assert size_slider.between(257, 1000)[0] == 257
    assert size_slider.between(257, 1000)[-1] == 1000
