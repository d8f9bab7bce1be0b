"""Ask-E for Python: verify answers, run whole rollouts, load run folders, train with verifiers.

>>> import aske_env
>>> aske_env.verify(r"\\frac{1}{2}", "0.5")
True
"""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ._ask import ask
from ._errors import ConfigError, RolloutFailure
from ._native import (
    Call,
    Environment,
    Episode,
    Parsed,
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
from ._types import Result, Reward, Rollout

__all__ = [
    "Call",
    "ConfigError",
    "Environment",
    "Episode",
    "Parsed",
    "Result",
    "Reward",
    "Rollout",
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
if TYPE_CHECKING or find_spec("verifiers") is not None:
    __all__ += ["AskeEnv", "AskeHarness", "AskeTaskset"]

if TYPE_CHECKING:
    from .verifiers_env import AskeEnv, AskeHarness, AskeTaskset
else:

    def __getattr__(name: str) -> object:
        if name in ("AskeEnv", "AskeHarness", "AskeTaskset"):
            from . import verifiers_env

            return getattr(verifiers_env, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
