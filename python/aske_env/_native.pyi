from collections.abc import Awaitable, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, final

__version__: str

Rules = Literal["aske", "math-verify", "paper"]
Place = Literal["box", "statement", "conclusion", "formula", "number"]
Outcome = Literal["calibrated", "too_easy", "too_hard", "no_question", "bad_cross_check"]

class RolloutFailure(RuntimeError):
    """A rollout that failed because of infrastructure: drop it, never score it."""

class Reward(TypedDict):
    calibration: float
    format: float
    diversity: float

class Result(TypedDict):
    """The grade and the reward of a session."""

    outcome: Outcome
    right: list[bool] | None
    question: str | None
    novelty: float
    reward: Reward
    total: float

class Rollout(Result):
    """A finished rollout: the result, and its lines for a run folder."""

    record: dict[str, Any]
    grade: dict[str, Any]
    asker_s: float
    solvers_s: float

@final
class Parsed:
    """An answer for `verify`. Falsy if nothing in it was read as mathematics."""

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

    def __init__(
        self, config: str = "paper-train", options: Sequence[str] = (), diversity_url: str | None = None
    ) -> None: ...
    def pairs(self) -> list[str]:
        """Every pair of boundary solvers, as `a:b`."""
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
    kind: Literal["sessions", "questions", "answers", "grades"] = "sessions",
    calibrated: bool = False,
) -> Table:
    """One table of one or more runs."""
