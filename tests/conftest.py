"""How the whole suite runs: on two workers, each with a server and a browser of its own.

Belongs here: what concerns all folders of tests. Their fixtures stand in their own conftest.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two workers for the whole suite; chosen tests run at once, and may be stepped through."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return min(2, os.cpu_count() or 1) if whole else 0


def pytest_configure(config: pytest.Config) -> None:
    """Have the kernels in their cache before workers and servers all compile them at once."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        warm_up = "import bpe_core; bpe_core.warm_up()"
        # Should it fail, the tests say so better than an error here would.
        subprocess.run([sys.executable, "-c", warm_up], cwd=ROOT, check=False)
