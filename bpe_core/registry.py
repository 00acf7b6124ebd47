"""The older name of `known`: importing this gives that module itself."""

import sys

from . import known
from .known import *  # noqa: F403 - for those who only read this: type checkers and editors

sys.modules[__name__] = known
