"""A running app and a browser page for the tests in this folder.

One server and one tab serve the whole session. Each visit is a new visitor to the app, and what a
test left in the tab (storage, size, appearance, routes, permissions) is cleared before the next, so
tests share nothing but the scripts that the tab has loaded already: that halves the time of a
visit. Without a browser the tests are skipped, but not in CI, where a missing browser is a mistake.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAYER_APP = Path(__file__).parent / "apps" / "merge_player_app.py"
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


@contextmanager
def serve(script: Path, log: Path) -> Iterator[str]:
    """Serve a Streamlit script on a free port; give its address once it answers."""
    url = f"http://127.0.0.1:{(port := _free_port())}"
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
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
def app_url(browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of an app that serves this checkout."""
    with serve(ROOT / "app.py", tmp_path_factory.mktemp("app") / "log.txt") as url:
        yield url


@pytest.fixture(scope="session")
def player_url(browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a page with nothing but the merge player."""
    with serve(PLAYER_APP, tmp_path_factory.mktemp("player") / "log.txt") as url:
        yield url


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


def open_tab(browser, problems: list[str]):
    """Open a tab in a context of its own that writes down what goes wrong in it."""
    tab = browser.new_context(reduced_motion="reduce").new_page()
    tab.set_default_timeout(20_000)
    tab.set_default_navigation_timeout(FIRST_LIMIT)
    tab.on("pageerror", lambda error: problems.append(f"error: {error}"))
    # No page of the app opens a dialog; a script in a text that is shown might.
    tab.on(
        "dialog", lambda dialog: (problems.append(f"dialog: {dialog.message}"), dialog.dismiss())
    )
    return tab


@pytest.fixture(scope="session")
def shared_tab(browser):
    """The tab that tests use one after the other, and the list of what went wrong in it."""
    problems: list[str] = []
    return open_tab(browser, problems), problems


def _leave(tab) -> None:
    """End the visit and clear what it left in the tab."""
    tab.unroute_all(behavior="ignoreErrors")
    address = urlsplit(tab.url)
    if address.netloc:
        tab.goto(f"{address.scheme}://{address.netloc}/_stcore/health")
        tab.evaluate("sessionStorage.clear(); localStorage.clear()")
        tab.goto("about:blank")
    tab.context.clear_cookies()
    tab.context.clear_permissions()
    tab.mouse.move(0, 0)


@pytest.fixture
def new_page(browser, shared_tab):
    """Make pages; an error or a dialog in any of them fails the test.

    The first one of a test is the session's tab, unless it asks for one ``alone``; others have
    contexts of their own.
    """
    tab, problems = shared_tab
    used, others = [], []

    def make(
        *,
        width: int = 1280,
        height: int = 900,
        scheme: str = "light",
        permissions: Sequence[str] = (),
        alone: bool = False,
    ):
        if alone or used:
            others.append(page := open_tab(browser, problems))
        else:
            used.append(page := tab)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.context.grant_permissions(permissions)
        return page

    yield make
    for page in others:
        page.context.close()
    if used:
        _leave(tab)
    found = "\n".join(problems)
    problems.clear()
    assert not found, "in the page:\n" + found


@pytest.fixture
def page(new_page):
    """A page of 1280 by 900 in the light appearance."""
    return new_page()
