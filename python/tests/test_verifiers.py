"""Our environment under the real verifiers: in this process, and over its server and client."""

import asyncio
import multiprocessing
from typing import Any

import pytest

vf = pytest.importorskip("verifiers.v1")

from verifiers.v1.clients import ModelContext  # noqa: E402
from verifiers.v1.configs.client import EvalClientConfig  # noqa: E402
from verifiers.v1.serve import EnvClient, env_config_data, serve_env  # noqa: E402
from verifiers.v1.types import SamplingConfig  # noqa: E402
from verifiers.v1.utils.loaders import load_environment, resolve_env_config  # noqa: E402

from test_rollout import expected  # noqa: E402

ROLLOUTS = 400
AT_ONCE = 128


def environment(config: str, *options: str) -> Any:
    taskset = {"id": "aske-env", "config": config, "options": list(options)}
    return resolve_env_config({"taskset": taskset})


def check(traces: list[Any]) -> None:
    """Every trace is scored, and scored as the rule says."""
    assert len(traces) == ROLLOUTS
    for trace in traces:
        assert trace.ok, trace.errors
        result = trace.info["aske"]
        outcome = expected(result)
        assert trace.metrics[outcome] == 1.0 and result["outcome"] == outcome
        pay = {"calibrated": 1.0, "too_easy": 0.2}.get(outcome, -0.2)
        assert trace.rewards["calibration"].score == pay
        missing = sum(bool(turn.get("missing")) for turn in result["record"]["turns"])
        assert trace.reward == pytest.approx(pay - 0.05 * missing)
        # Every asker turn went through the interception: three probing turns and the final one.
        assert trace.num_turns == len(result["record"]["turns"]) == 4


def test_in_this_process(server: str, config: str) -> None:
    env = load_environment(environment(config))
    ctx = ModelContext(model="asker", client=EvalClientConfig(base_url=server, api_key_var="NO_KEY"))

    async def run() -> list[Any]:
        gate = asyncio.Semaphore(AT_ONCE)
        tasks = list(env.taskset)
        assert [task.data.pair for task in tasks] == ["solver-50:solver-90", "solver-20:solver-90", "solver-20:solver-50"]
        slots = [slot for n in range(ROLLOUTS) for slot in env.slots(tasks[n % len(tasks)])]
        async with env.serving():
            episodes = await asyncio.gather(*(env.run_slot(slot, ctx, gate) for slot in slots))
        return [trace for episode in episodes for trace in episode.traces]

    check(asyncio.run(run()))


def test_over_the_server_and_its_client(server: str, config: str) -> None:
    env = environment(config)
    spawn = multiprocessing.get_context("spawn")
    addresses = spawn.Queue()
    kwargs = {
        "max_workers": 2,
        "elastic": False,
        "address": "tcp://127.0.0.1:0",
        "address_queue": addresses,
        "config_data": env_config_data(env),
    }
    process = spawn.Process(target=serve_env, kwargs=kwargs)
    process.start()
    try:
        address = addresses.get(timeout=120)
        tasks = [task.data.model_dump(mode="json") for task in load_environment(env).taskset]
        client_config = EvalClientConfig(base_url=server, api_key_var="NO_KEY")

        async def run() -> list[Any]:
            client = EnvClient(address)
            gate = asyncio.Semaphore(AT_ONCE)

            async def one(n: int) -> Any:
                async with gate:
                    return await client.run(client_config, "asker", SamplingConfig(), tasks[n % len(tasks)])

            episodes = await asyncio.gather(*(one(n) for n in range(ROLLOUTS)))
            return [trace for episode in episodes for trace in episode.traces]

        check(asyncio.run(run()))
    finally:
        process.terminate()
        process.join(30)


def test_infrastructure_failure_fails_the_episode_and_scores_nothing(server: str, config: str) -> None:
    options = ['models.solver-20.url="http://127.0.0.1:9/v1"', "models.solver-20.limits.attempts=1"]
    env = load_environment(environment(config, *options))
    ctx = ModelContext(model="asker", client=EvalClientConfig(base_url=server, api_key_var="NO_KEY"))

    async def run() -> Any:
        (slot,) = env.slots(next(task for task in env.taskset if task.data.pair == "solver-20:solver-50"))
        async with env.serving():
            return await env.run_slot(slot, ctx)

    (trace,) = asyncio.run(run()).traces
    assert not trace.ok and "solver-20" in trace.last_error.message
    assert all(reward is None for reward in trace.rewards.values())
