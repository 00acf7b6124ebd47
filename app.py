"""Mergescope: watch a tokenizer being built, merge by merge.

Run it with ``streamlit run app.py``. The pages are listed in ``ui/main.py``; the HTTP routes that
the token editor calls are in ``ui/server/api.py``.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui.server import api

app = st.App(Path(__file__).resolve().parent / "ui" / "main.py", routes=api.routes)
