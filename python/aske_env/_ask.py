"""One session, from two names."""

import json
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from . import _coroutine
from ._native import Environment

if TYPE_CHECKING:
    from ._types import Rollout, Sampling


def ask(
    one: str,
    two: str,
    *,
    asker: str | None = None,
    check: str | None = None,
    config: str | PathLike[str] | Mapping[str, Any] = "nano",
    options: Sequence[str] | Mapping[str, Any] = (),
    sample: int | None = None,
    sampling: "Sampling | None" = None,
    folder: str | PathLike[str] | None = None,
) -> "Rollout":
    """Runs one session and returns it, like `aske ask`. Models are named like there: a bundled model, `PROVIDER/MODEL`,
    `URL#MODEL` or a path; by default the asker and the cross-check solver are those of `config`, the nano world."""
    chosen = {"boundary.solvers": [one, two], "asker.model": asker, "check.model": check}
    settings = [f"{key}={json.dumps(value)}" for key, value in chosen.items() if value is not None]
    if isinstance(options, Mapping):
        options = [f"{key}={json.dumps(value)}" for key, value in options.items()]
    environment = Environment(config, [*options, *settings], folder=folder)
    return _coroutine.wait(environment.rollout(environment.pairs()[0], sample, sampling=sampling))
