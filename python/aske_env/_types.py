"""The dictionaries that the engine takes and returns."""

from collections.abc import Sequence
from typing import Any, Literal, Required, TypedDict

Rules = Literal["aske", "math-verify", "paper"]
Place = Literal["box", "statement", "conclusion", "formula", "number"]
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


class Usage(TypedDict):
    """Tokens of a call."""

    prompt: int
    cached: int
    completion: int
    reasoning: int


class Reply(TypedDict):
    """A reply of a model."""

    model: str
    content: str
    reasoning: str | None
    finish_reason: Literal["stop", "length", "filtered", "other"]
    answer: str | None
    token_ids: list[int] | None
    logprobs: list[float] | None
    prompt_token_ids: list[int] | None
    usage: Usage
    usd: float
    latency_s: float
    attempts: int
    request: str


class Turn(TypedDict):
    """A turn of the asker, and the solvers' replies to its question."""

    turn: int
    question: str | None
    reply: Reply | None
    solvers: list[Reply]


class Sampling(TypedDict, total=False):
    """Sampling of the asker, by the names of OpenAI's interface."""

    temperature: float
    top_p: float
    top_k: int
    min_p: float
    presence_penalty: float
    frequency_penalty: float
    repetition_penalty: float
    stop: list[str]
    ignore_eos: bool
    reasoning_effort: str
    logprobs: bool
    seed: bool
    max_tokens: int
    extra_body: dict[str, Any]


class GivenReply(TypedDict, total=False):
    """A reply that a trainer submits."""

    content: Required[str]
    finish_reason: str
    reasoning: str | None
    token_ids: Sequence[int] | None
    logprobs: Sequence[float] | None
    prompt_token_ids: Sequence[int] | None


class Rollout(Result):
    """A finished rollout: the result, everything that was said, and its lines for a run folder."""

    pair: str
    sample: int
    reference: str | None
    messages: list[dict[str, str]]
    turns: list[Turn]
    check: list[Reply]
    sampling: Sampling
    record: dict[str, Any]
    grade: dict[str, Any]
    asker_s: float
    solvers_s: float
