"""Ask-E for Python: verify answers, run whole rollouts, load run folders, train with verifiers.

>>> import aske_env
>>> aske_env.verify(r"\\frac{1}{2}", "0.5")
True
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ._errors import ConfigError, RolloutFailure
from ._native import (
    Call,
    Environment,
    Parsed,
    Session,
    Table,
    __version__,
    extract,
    load_run,
    parse,
    verify,
    verify_batch,
)
from ._types import Result, Reward, Rollout

__all__ = [
    "Call",
    "ConfigError",
    "Environment",
    "Parsed",
    "Result",
    "Reward",
    "Rollout",
    "RolloutFailure",
    "Session",
    "Table",
    "__version__",
    "extract",
    "load_run",
    "parse",
    "verify",
    "verify_batch",
]

# Entry points for verifiers under the id `aske-env`; imported on first use.
_VERIFIERS = ("AskeEnv", "AskeHarness", "AskeTaskset")
if find_spec("verifiers") is not None:
    __all__ += list(_VERIFIERS)

# Type checkers would accept any name if they saw this function.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _VERIFIERS:
            from . import verifiers_env

            return getattr(verifiers_env, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
