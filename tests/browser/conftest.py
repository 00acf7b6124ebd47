"""A running app and a browser page for the tests in this folder.

One server serves the whole session; each test gets a browser context of its own, so nothing of
one test is left for the next. Without a browser the tests are skipped, but not in CI, where a
missing browser is a mistake.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[2]
BROWSER_FLAGS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
)
START_LIMIT = 60.0  # seconds until a server that does not answer counts as broken
FIRST_LIMIT = 120_000  # milliseconds; the very first visit may have to compile the engine


def _missing(what: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"{what}; in CI the browser tests must run")
    pytest.skip(what)


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url + "/_stcore/health", timeout=1) as answer:
            return answer.read() == b"ok"
    except (OSError, urllib.error.URLError):
        return False


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of an app that serves this checkout on a free port."""
    url = f"http://127.0.0.1:{(port := _free_port())}"
    log = tmp_path_factory.mktemp("server") / "log.txt"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    with log.open("w") as sink:
        server = subprocess.Popen(command, cwd=ROOT, stdout=sink, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + START_LIMIT
        while not _answers(url):
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail("the server did not start:\n" + log.read_text())
            time.sleep(0.05)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            server.kill()


@pytest.fixture(scope="session")
def browser():
    """One Chromium for the session: the system's, or the one Playwright brought."""
    try:
        from playwright import sync_api
    except ImportError:
        _missing("Playwright is not installed")
    system = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    with sync_api.sync_playwright() as playwright:
        try:
            chromium = playwright.chromium.launch(executable_path=system, args=BROWSER_FLAGS)
        except sync_api.Error as err:
            _missing(f"no browser to run: {str(err).splitlines()[0]}")
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser):
    """Make pages in contexts of their own; an error in any of them fails the test."""
    contexts, errors = [], []

    def make(*, width: int = 1280, height: int = 900, scheme: str = "light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            reduced_motion="reduce",
            **options,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.set_default_navigation_timeout(FIRST_LIMIT)
        page.on("pageerror", lambda error: errors.append(str(error)))
        return page

    yield make
    for context in contexts:
        context.close()
    assert not errors, "errors in the page:\n" + "\n".join(errors)


@pytest.fixture
def page(new_page):
    """A page of 1280 by 900 in the light appearance."""
    return new_page()
