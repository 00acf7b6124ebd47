"""A page with nothing but the merge player, for its browser tests.

The query string chooses what is shown: `text` (a name in TEXTS), `n` (merges asked for), `step`,
`live` (a training that goes on by so many merges every 0.2 s, and waits at HOLD for the button).
"""

from __future__ import annotations

import streamlit as st

from bpe_core import Trainer, TrainingResult, TrainingRun
from ui.components.merge_player import merge_player

MARKER = "<|stop|>"
JUMP = 21
HOLD = 40
STORY = (
    "The otter opened the little shop at the harbor before the others were awake. "
    "She sold lanterns, letters and loose rope.\n"
    "In the evening the otter closed the little shop, counted the lanterns again, and let the "
    "others tell her what the water had been like.\n"
)
TEXTS = {
    "story": STORY,
    "long": "".join(f"{i} {STORY}\n\n" for i in range(1, 30)),
    "markup": "<img src=x onerror=\"document.title='run'\"> &amp; <b>x</b>\n" * 3,
    "scripts": (
        "👨‍👩‍👧 नमस्ते السلام عليكم 机器学习模型机器学习\na  b\tc\u00a0d\u200be\x00f\u202eg\u202c\n"
    )
    * 2,
    "special": f"one{MARKER}two one{MARKER}two one",
    "runs": "aaaaa aaaaa bb",
    "one": "a",
    "empty": "",
}


@st.cache_resource
def trained(name: str, trainer: Trainer) -> TrainingResult:
    return trainer.train(TEXTS[name])


def show(name: str, result: TrainingResult, *, live: bool = False) -> None:
    query, tokenizer, text = st.query_params, result.tokenizer, TEXTS[name]
    jumps = st.session_state.get("jumps", 0)
    state = merge_player(
        "merge_player",
        player_id=f"{name} {goal()}",
        text=text,
        join_ranks=tokenizer.join_ranks(text),
        byte_ids=tokenizer.byte_ids,
        special_tokens=tokenizer.special_tokens,
        trace=result.trace,
        goal=goal(),
        pretokens=tokenizer.pretokens(text),
        total_bytes=int(query.get("total", len(text.encode()))),
        live=live,
        stop_reason=None if live else result.stop_reason,
        step=JUMP if jumps else int(query["step"]) if "step" in query else None,
        step_nonce=jumps,
        large="large" in query,
    )
    st.text(f"python: step {state.step}, jump {state.jump}")


def goal() -> int:
    return int(st.query_params.get("n", 60))


@st.fragment
def finished(name: str, result: TrainingResult) -> None:
    show(name, result)


@st.fragment(run_every=0.2)
def training(name: str, run: TrainingRun) -> None:
    pace = int(st.query_params["live"])
    run.advance(pace if "released" in st.session_state else min(pace, HOLD - run.n_merges))
    if run.done:
        st.rerun()
    show(name, run.result(), live=True)


def main() -> None:
    st.set_page_config(layout="wide")
    name = st.query_params.get("text", "story")
    trainer = Trainer(vocab_size=257 + goal(), special_tokens=(MARKER,))
    if st.button(f"Jump to {JUMP}", key="jump"):
        st.session_state.jumps = st.session_state.get("jumps", 0) + 1
    if st.button("Go on", key="go_on"):
        st.session_state.released = True
    if st.toggle("Elsewhere", key="elsewhere"):
        st.text("The player is not on this page.")
    elif "live" in st.query_params:
        if "run" not in st.session_state:
            st.session_state.run = trainer.start(TEXTS[name])
        run = st.session_state.run
        if run.done:
            finished(name, run.result())
        else:
            training(name, run)
    else:
        finished(name, trained(name, trainer))


if __name__ == "__main__":
    main()
