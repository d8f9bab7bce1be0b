"""Ask-E as a verifiers environment (v1 API): a task for each pair of boundary solvers, played in this process.

The asker's turns go to the endpoint that verifiers intercepts, so that its tokens are recorded. Everybody else is called
by the engine itself, with its own pools, retries, limits and deadlines.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.clients import ModelContext
from verifiers.v1.configs.client import resolve_api_key
from verifiers.v1.envs.single_agent import SingleAgentEnv, SingleAgentEnvConfig
from verifiers.v1.runtimes import ProgramResult, Runtime

from ._native import Environment

__all__ = ["AskeEnv", "AskeHarness", "AskeTaskset"]

logger = logging.getLogger(__name__)
OUTCOMES = ("calibrated", "too_easy", "too_hard", "no_question", "bad_cross_check")


class AskeTasksetConfig(vf.TasksetConfig):
    """Where the boundary solvers are, and how a session goes."""

    config: str = "paper-train"
    """A configuration that ships with Ask-E, or the path of a TOML file."""
    options: list[str] = []
    """`KEY=VALUE` over that configuration, such as `protocol.rounds=2`."""
    diversity_url: str | None = None
    """Where `aske serve env` keeps the questions of all workers. Without it a new question earns nothing extra."""


class PairData(vf.TaskData):
    """A pair of boundary solvers, and what the harness needs to reach them."""

    pair: str
    config: str
    options: tuple[str, ...] = ()
    diversity_url: str | None = None


class AskeTask(vf.Task[PairData]):
    """Ask a question that exactly one of the two solves."""

    @property
    def key(self) -> str:
        return self.data.pair

    @vf.reward
    async def ask_e(self, trace: vf.Trace) -> dict[str, float]:
        """The paper's reward in its parts."""
        return dict(finished(trace)["reward"])

    @vf.metric
    async def session(self, trace: vf.Trace) -> dict[str, float]:
        """The outcome, as one flag for each, and where the time went."""
        result = finished(trace)
        flags = {name: float(result["outcome"] == name) for name in OUTCOMES}
        return flags | {name: float(result[name]) for name in ("novelty", "asker_s", "solvers_s")}


class AskeTaskset(vf.Taskset[AskeTask, AskeTasksetConfig]):
    """One task for each pair of boundary solvers, in the order of `run.seed`."""

    def load(self) -> Iterator[AskeTask]:
        where = dict(
            config=self.config.config, options=tuple(self.config.options), diversity_url=self.config.diversity_url
        )
        environment = environment_of(**where)
        first = environment.session().calls()[0].messages[-1]["content"]
        pairs = environment.pairs()
        random.Random(environment.seed).shuffle(pairs)
        for pair in pairs:
            data = PairData(name=pair, prompt=first, pair=pair, **where)
            yield AskeTask(data, self.config.task)


class AskeHarnessConfig(vf.HarnessConfig):
    """Nothing to set: the taskset says all."""

    id: str = "aske-env"


class AskeHarness(vf.Harness[AskeHarnessConfig]):
    """Plays a session in this process."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: ModelContext,
        trace: vf.Trace,
        runtime: Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: PairData,
    ) -> ProgramResult:
        if data.system_prompt is not None:
            raise ValueError("Ask-E has prompts of its own; name another pack with options = ['protocol.prompts=FOLDER']")
        environment = environment_of(data.config, tuple(data.options), data.diversity_url)
        mind_the_budget(ctx.sampling.max_tokens, environment.asker_tokens)
        trace.info["aske"] = await environment.rollout(
            data.pair,
            sample_of(trace.id),
            url=endpoint,
            key=secret,
            model=ctx.model,
            judge_url=ctx.client.base_url,
            judge_key=resolve_api_key(ctx.client),
            cache_salt=getattr(ctx.sampling, "cache_salt", None),
        )
        return ProgramResult(exit_code=0, stdout="", stderr="")


class AskeEnvConfig(SingleAgentEnvConfig):
    """One seat: the asker. It runs nothing but this process, so it needs no container and no tunnel."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class AskeEnv(SingleAgentEnv, vf.Env[AskeEnvConfig]):
    """The asker on a pair of boundary solvers."""


@lru_cache
def environment_of(config: str, options: tuple[str, ...], diversity_url: str | None) -> Environment:
    """The environment of a configuration, one for this process."""
    return Environment(config, list(options), diversity_url)


@lru_cache
def mind_the_budget(limit: int | None, budgets: tuple[int, int]) -> None:
    """A limit of the trainer replaces the budget of every turn; that deserves a word, once."""
    if limit is not None and limit not in budgets:
        logger.warning("max_tokens=%d stands in for the session's budgets of %s; leave it unset to keep them", limit, budgets)


def sample_of(trace: str) -> int:
    """A number for a trace: rollouts of one pair have draws of their own, and take turns as Model 1."""
    return int(trace[:8], 16)


def finished(trace: vf.Trace) -> dict[str, Any]:
    """The result of the session; a trace without one was stopped from outside, and has no score."""
    if "aske" not in trace.info:
        raise ValueError(f"the session did not finish ({trace.stop_condition}): raise the limit that stopped it")
    return trace.info["aske"]
