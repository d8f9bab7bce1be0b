from collections.abc import Coroutine, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, final

from ._types import GivenReply, Place, Reply, Result, Rollout, Rules, Sampling

__version__: str

@final
class Parsed:
    """An answer for `verify`. Falsy if nothing in it was read as mathematics."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...
    @property
    def text(self) -> str: ...
    @property
    def readings(self) -> list[str]: ...
    def __len__(self) -> int: ...

def parse(text: str, *, rules: Rules | None = None, order: Sequence[Place] | None = None) -> Parsed:
    """Parses an answer, or finds it in a reply: in the first of the places in `order` that has one.

    Without an answer it is the text itself. Rules that are named here hold in `verify`; `"math-verify"` finds what
    math-verify finds, in its own order.
    """

def extract(reply: str, *, word: bool = False) -> str | None:
    """The last boxed answer of a reply; with `word`, its last word if it has no box."""

def verify(gold: str | Parsed, target: str | Parsed, *, rules: Rules | None = None) -> bool:
    """Whether two answers are equal, by the rules given here or to `parse`, else `"aske"`. Undecided counts as different."""

def verify_batch(
    golds: Sequence[str | Parsed],
    targets: Sequence[str | Parsed],
    *,
    rules: Rules | None = None,
    threads: int | None = None,
) -> list[bool]:
    """Verifies many pairs in parallel, on all cores or on `threads` threads."""

@final
class Expression:
    """An expression that math-verify's rules parsed; `aske_env.math_verify.parse` returns it."""

    def __new__(cls, kind: str, texts: Sequence[tuple[str, bool]]) -> Expression: ...
    def __getnewargs__(self) -> tuple[str, list[tuple[str, bool]]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    @property
    def is_undefined(self) -> bool: ...

def math_verify_parse(
    text: str, configs: Sequence[tuple[Any, ...]], fallback: bool, first_match: bool
) -> list[Expression | str] | None:
    """What math-verify finds in a text; `None` if the work exceeds its limits."""

def math_verify_verify(
    gold: list[Any], target: list[Any], float_rounding: int, numeric_precision: int, strict: bool, set_relation: bool
) -> bool | None:
    """Whether some of both are equal; `None` if that is undecided."""

@final
class Call:
    """A call that a session needs: send the messages and feed the reply back."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...
    @property
    def role(self) -> Literal["asker", "one", "two", "check"]: ...
    @property
    def turn(self) -> int: ...
    @property
    def draw(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def messages(self) -> list[dict[str, str]]: ...

@final
class Session:
    """One session, from the first probing turn to the grade. It makes no calls itself."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...
    def calls(self) -> list[Call]:
        """The calls that are needed next, in any order; empty when the session is done."""
    @property
    def done(self) -> bool: ...
    def feed(self, call: Call, content: str, finish_reason: str = "stop") -> None:
        """Feeds the reply to a needed call."""
    def result(self, novelty: float = 0.0) -> Result:
        """Outcome, right solvers and reward of a finished session."""

@final
class Episode:
    """One session whose asker is the trainer."""

    @property
    def pair(self) -> str: ...
    @property
    def sample(self) -> int: ...
    @property
    def need(self) -> Literal["ask", "judge", "retry", "done"]:
        """What `step` is to be called with.

        `ask`: the asker's reply to `messages`; `judge`: `draws` answers of the policy to `messages`, at temperature 0; `retry`:
        nothing, since an earlier step failed or was cancelled; `done`: the episode is over.
        """
    @property
    def done(self) -> bool: ...
    @property
    def turn(self) -> int | None: ...
    @property
    def messages(self) -> list[dict[str, str]]: ...
    @property
    def max_tokens(self) -> int | None: ...
    @property
    def draws(self) -> int: ...
    @property
    def rollout(self) -> Rollout:
        """The finished rollout, like that of `Environment.rollout`."""
    def step(self, reply: str | GivenReply | list[str | GivenReply] | None = None) -> Coroutine[Any, Any, bool]:
        """Submits the needed reply, and makes the calls of all other models up to the next one.

        Returns whether the episode is over. Raises `RolloutFailure` if infrastructure failed; `step()` then continues.
        """

@final
class Environment:
    """Ask-E with the boundary solvers of a configuration. Create one per process and share it between rollouts."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...
    def __new__(
        cls,
        config: str | PathLike[str] | Mapping[str, Any] = "paper-train",
        options: Sequence[str] | Mapping[str, Any] = (),
        diversity_url: str | None = None,
        folder: str | PathLike[str] | None = None,
    ) -> Self: ...
    def pairs(self, *, shuffled: bool = False) -> list[str]:
        """Every pair of boundary solvers, as `a:b`, in the order of the configuration or `shuffled` as in `aske train`."""
    @property
    def seed(self) -> int:
        """The seed of the run, which determines the order of pairs, which solver is Model 1, and every draw."""
    @property
    def self_judged(self) -> bool:
        """Whether the policy is its own cross-check solver."""
    @property
    def asker_tokens(self) -> tuple[int, int]:
        """Token limits of the asker's probing turns and of its final turn."""
    def session(self) -> Session:
        """A session whose calls you make yourself."""
    def rollout(
        self,
        pair: str,
        sample: int | None = None,
        *,
        url: str | None = None,
        model: str | None = None,
        key: str | None = None,
        judge_url: str | None = None,
        judge_key: str | None = None,
        cache_salt: str | None = None,
        sampling: Sampling | None = None,
        headers: Mapping[str, str] | None = None,
        judge_headers: Mapping[str, str] | None = None,
    ) -> Coroutine[Any, Any, Rollout]:
        """Runs one session with the asker at `url`, or the configured one, and all other models as configured.

        Raises `RolloutFailure` if infrastructure failed.
        """
    def group(
        self,
        pair: str,
        size: int,
        first: int | None = None,
        *,
        url: str | None = None,
        model: str | None = None,
        key: str | None = None,
        judge_url: str | None = None,
        judge_key: str | None = None,
        cache_salt: str | None = None,
        sampling: Sampling | None = None,
        headers: Mapping[str, str] | None = None,
        judge_headers: Mapping[str, str] | None = None,
    ) -> Coroutine[Any, Any, list[Rollout]]:
        """Runs `size` sessions of one pair: its samples from `first`, or the next ones.

        Returns the finished rollouts, without those that failed; raises `RolloutFailure` if all failed.
        """
    def episode(
        self,
        pair: str,
        sample: int | None = None,
        *,
        model: str | None = None,
        judge_url: str | None = None,
        judge_key: str | None = None,
        cache_salt: str | None = None,
        sampling: Sampling | None = None,
        judge_headers: Mapping[str, str] | None = None,
    ) -> Episode:
        """A session whose asker is the caller: `await episode.step(reply)`."""
    def score_diversity(self, rollouts: Sequence[Rollout]) -> None:
        """Sets novelty, diversity reward and total of these rollouts, in place.

        Their final questions are compared with each other and with those of earlier calls.
        """
    def save_run(self, folder: str | PathLike[str], rollouts: Iterable[Rollout]) -> int:
        """Writes finished rollouts to a run folder, which is created or continued; returns how many are new in it."""

def export_nano(name: str, folder: str | PathLike[str]) -> Path:
    """Writes a bundled network as a folder that transformers and vLLM load; returns the folder."""

@final
class Table:
    """A table for any Arrow reader: `pyarrow.table(t)`, `polars.DataFrame(t)`."""

    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def load_run(
    *folders: str | PathLike[str],
    kind: Literal["sessions", "questions", "answers", "grades", "evals"] = "sessions",
    calibrated: bool = False,
) -> Table:
    """One table of one or more runs."""
