"""Ask-E for Python: verify answers, run whole rollouts, load run folders, train with verifiers.

>>> import aske_env
>>> aske_env.verify(r"\\frac{1}{2}", "0.5")
True
"""

from importlib.util import find_spec
from typing import Any

from ._ask import ask
from ._native import (
    Call,
    Environment,
    Episode,
    Parsed,
    RolloutFailure,
    Session,
    Table,
    __version__,
    export_nano,
    extract,
    load_run,
    parse,
    verify,
    verify_batch,
)

__all__ = [
    "Call",
    "Environment",
    "Episode",
    "Parsed",
    "RolloutFailure",
    "Session",
    "Table",
    "__version__",
    "ask",
    "export_nano",
    "extract",
    "load_run",
    "parse",
    "verify",
    "verify_batch",
]

# Entry points for verifiers under the id `aske-env`; imported on first use.
_VERIFIERS = ("AskeEnv", "AskeHarness", "AskeTaskset")
if find_spec("verifiers") is not None:
    __all__ += _VERIFIERS


def __getattr__(name: str) -> Any:
    if name in _VERIFIERS:
        from . import verifiers_env

        return getattr(verifiers_env, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
