from collections.abc import Awaitable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Self, final

from ._types import Result, Rollout, Rules

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

def parse(text: str, *, rules: Rules = "aske") -> Parsed:
    """Parses an answer: the last box of a longer text, or the text itself."""

def extract(reply: str, *, word: bool = False) -> str | None:
    """The last boxed answer of a reply; with `word`, its last word if it has no box."""

def verify(gold: str | Parsed, target: str | Parsed, *, rules: Rules = "aske") -> bool:
    """Whether two answers are equal. Undecided counts as different."""

def verify_batch(
    golds: Sequence[str | Parsed],
    targets: Sequence[str | Parsed],
    *,
    rules: Rules = "aske",
    threads: int | None = None,
) -> list[bool]:
    """Verifies many pairs in parallel, on all cores or on `threads` threads."""

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
class Environment:
    """Ask-E with the boundary solvers of a configuration. Create one per process and share it between rollouts."""

    def __copy__(self) -> Self: ...
    def __deepcopy__(self, _memo: object, /) -> Self: ...
    def __new__(
        cls,
        config: str | PathLike[str] | Mapping[str, Any] = "paper-train",
        options: Sequence[str] | Mapping[str, Any] = (),
        diversity_url: str | None = None,
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
        sample: int = 0,
        *,
        url: str,
        model: str,
        key: str | None = None,
        judge_url: str | None = None,
        judge_key: str | None = None,
        cache_salt: str | None = None,
        headers: Mapping[str, str] | None = None,
        judge_headers: Mapping[str, str] | None = None,
    ) -> Awaitable[Rollout]:
        """Runs one session with the asker at `url` and all other models as configured.

        Raises `RolloutFailure` if infrastructure failed.
        """

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
