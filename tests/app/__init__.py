"""Tests of the pages without a browser, through Streamlit's AppTest."""
