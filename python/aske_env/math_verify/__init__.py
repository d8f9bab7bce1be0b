"""The interface of math-verify 0.9.0, with its verdicts from the Rust engine.

Change `from math_verify import parse, verify` to `from aske_env.math_verify import parse, verify`, or call `install()`
before the import for code that is not yours, such as verifiers or TRL.

Unlike the original it works in every thread: work is bounded by counted steps instead of an alarm signal, and
`parsing_timeout` and `timeout_seconds` are accepted and ignored. Work beyond the bound counts as a timeout.
"""

import sys

from . import errors, grader, metric, parser
from .grader import verify
from .metric import math_metric
from .parser import (
    ExprExtractionConfig,
    LatexExtractionConfig,
    LatexNormalizationConfig,
    StringExtractionConfig,
    parse,
)

__all__ = [
    "ExprExtractionConfig",
    "LatexExtractionConfig",
    "LatexNormalizationConfig",
    "StringExtractionConfig",
    "install",
    "math_metric",
    "parse",
    "verify",
]


def install() -> None:
    """Makes `import math_verify` import this module. What has already imported the original keeps it.

    Only the modules that users of math-verify import are there: `errors`, `grader`, `metric` and `parser`.
    """
    # No mixture of both: other modules of the original would be found where they were imported before.
    for name in [name for name in sys.modules if name.startswith("math_verify.")]:
        del sys.modules[name]
    sys.modules["math_verify"] = sys.modules[__name__]
    for module in (errors, grader, metric, parser):
        sys.modules[f"math_verify.{module.__name__.rpartition('.')[2]}"] = module
