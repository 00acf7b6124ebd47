"""The older name of `analysis.vocabulary`: importing this gives that module itself."""

import sys

from .analysis import vocabulary
from .analysis.vocabulary import *  # noqa: F403 - for type checkers and editors

sys.modules[__name__] = vocabulary
