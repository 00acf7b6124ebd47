"""The older name of `analysis.curves`: importing this gives that module itself."""

import sys

from .analysis import curves
from .analysis.curves import *  # noqa: F403 - for type checkers and editors

sys.modules[__name__] = curves
