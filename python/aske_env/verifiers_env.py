"""Ask-E as a verifiers environment (v1 API): one task for each pair of boundary solvers, run in this process.

The asker's turns go to the endpoint that verifiers intercepts, so that its tokens are recorded. All other models are
called by the engine itself, with its own connection pools, retries, limits and timeouts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.clients import ModelContext
from verifiers.v1.configs.client import resolve_api_key, resolve_headers
from verifiers.v1.envs.single_agent import SingleAgentEnv, SingleAgentEnvConfig
from verifiers.v1.runtimes import ProgramResult, Runtime

from ._native import Environment

__all__ = ["AskeEnv", "AskeHarness", "AskeTaskset"]

logger = logging.getLogger(__name__)
OUTCOMES = ("calibrated", "too_easy", "too_hard", "no_question", "bad_cross_check")


class AskeTasksetConfig(vf.TasksetConfig):
    """The boundary solvers and the protocol."""

    config: str = "paper-train"
    """A bundled configuration, or the path of a TOML file."""
    options: list[str] = []
    """Overrides of that configuration as `KEY=VALUE`, such as `protocol.rounds=2`."""
    diversity_url: str | None = None
    """The address of `aske serve env`, which keeps the history of questions. Without it there is no diversity reward."""


class PairData(vf.TaskData):
    """A pair of boundary solvers, and the settings of the harness."""

    pair: str
    config: str
    options: tuple[str, ...] = ()
    diversity_url: str | None = None


class AskeTask(vf.Task[PairData]):
    """Ask a question that exactly one of the two solvers answers correctly."""

    @property
    def key(self) -> str:
        return self.data.pair

    @vf.reward
    async def ask_e(self, trace: vf.Trace) -> dict[str, float]:
        """The paper's reward in its parts."""
        return dict(finished(trace)["reward"])

    @vf.metric
    async def session(self, trace: vf.Trace) -> dict[str, float]:
        """A flag for each outcome, novelty and timings."""
        result = finished(trace)
        flags = {name: float(result["outcome"] == name) for name in OUTCOMES}
        return flags | {name: float(result[name]) for name in ("novelty", "asker_s", "solvers_s")}


class AskeTaskset(vf.Taskset[AskeTask, AskeTasksetConfig]):
    """One task for each pair of boundary solvers, in the order of the first epoch of `aske train` with this `run.seed`."""

    def load(self) -> Iterator[AskeTask]:
        where = dict(
            config=self.config.config, options=tuple(self.config.options), diversity_url=self.config.diversity_url
        )
        environment = environment_of(**where)
        first = environment.session().calls()[0].messages[-1]["content"]
        for pair in environment.pairs(shuffled=True):
            data = PairData(name=pair, prompt=first, pair=pair, **where)
            yield AskeTask(data, self.config.task)


class AskeHarnessConfig(vf.HarnessConfig):
    """No settings: the taskset has them all."""

    id: str = "aske-env"


class AskeHarness(vf.Harness[AskeHarnessConfig]):
    """Runs a session in this process."""

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
            raise ValueError("Ask-E has its own prompts; choose another prompt pack with options = ['protocol.prompts=FOLDER']")
        environment = environment_of(data.config, tuple(data.options), data.diversity_url)
        warn_about_max_tokens(ctx.sampling.max_tokens, environment.asker_tokens)
        trace.info["aske"] = await environment.rollout(
            data.pair,
            sample_of(trace.id),
            url=endpoint,
            key=secret,
            model=ctx.model,
            judge_url=ctx.client.base_url,
            judge_key=resolve_api_key(ctx.client),
            judge_headers=resolve_headers(ctx.client),
            cache_salt=getattr(ctx.sampling, "cache_salt", None),
        )
        return ProgramResult(exit_code=0, stdout="", stderr="")


class AskeEnvConfig(SingleAgentEnvConfig):
    """One agent, the asker. It runs in this process and needs no container or tunnel."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class AskeEnv(SingleAgentEnv, vf.Env[AskeEnvConfig]):
    """The asker on a pair of boundary solvers."""


@lru_cache
def environment_of(config: str, options: tuple[str, ...], diversity_url: str | None) -> Environment:
    """The environment of a configuration, shared within this process."""
    return Environment(config, list(options), diversity_url)


@lru_cache
def warn_about_max_tokens(limit: int | None, budgets: tuple[int, int]) -> None:
    """Warns once if the trainer's token limit replaces the limits of the protocol."""
    if limit is not None and limit not in budgets:
        logger.warning("max_tokens=%d replaces the protocol's token limits %s; leave it unset to keep them", limit, budgets)


def sample_of(trace: str) -> int:
    """A sample number for a trace, so that rollouts of one pair differ in their draws and in which solver is Model 1."""
    return int(trace[:8], 16)


def finished(trace: vf.Trace) -> dict[str, Any]:
    """The result of the session; a trace without one was stopped from outside and has no score."""
    if "aske" not in trace.info:
        raise ValueError(f"the session did not finish ({trace.stop_condition}): raise the limit that stopped it")
    return trace.info["aske"]
