"""The dictionaries that the engine returns."""

from typing import Any, Literal, TypedDict

Rules = Literal["aske", "math-verify", "paper"]
Outcome = Literal["calibrated", "too_easy", "too_hard", "no_question", "bad_cross_check"]


class Reward(TypedDict):
    """The reward of a session in its parts."""

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
