"""Our environment under the real verifiers: in this process, and over its server and client."""

import asyncio
import json
import multiprocessing
import subprocess
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

vf = pytest.importorskip("verifiers.v1")

from verifiers.v1.clients import ModelContext  # noqa: E402
from verifiers.v1.configs.client import EvalClientConfig  # noqa: E402
from verifiers.v1.serve import EnvClient, env_config_data, serve_env  # noqa: E402
from verifiers.v1.types import SamplingConfig  # noqa: E402
from verifiers.v1.utils.loaders import load_environment, resolve_env_config  # noqa: E402

from conftest import ASKE  # noqa: E402
from test_rollout import expected  # noqa: E402

ROLLOUTS = 400
AT_ONCE = 128
PAIRS = ["solver-20:solver-50", "solver-20:solver-90", "solver-50:solver-90"]


def environment(config: str, *options: str, diversity_url: str | None = None) -> Any:
    taskset = {"id": "aske-env", "config": config, "options": list(options), "diversity_url": diversity_url}
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
        # Novelty is paid on top of a reward above nought, once as much: train.diversity_coef is 1.
        new = max(pay, 0.0) * trace.metrics["novelty"]
        assert trace.reward == pytest.approx(pay - 0.05 * missing + new)
        # Every asker turn went through the interception: three probing turns and the final one.
        assert trace.num_turns == len(result["record"]["turns"]) == 4


def test_rollouts_in_this_process(server: str, config: str) -> None:
    env = load_environment(environment(config))
    ctx = ModelContext(model="asker", client=EvalClientConfig(base_url=server, api_key_var="NO_KEY"))

    async def run() -> list[Any]:
        gate = asyncio.Semaphore(AT_ONCE)
        tasks = list(env.taskset)
        assert sorted(task.data.pair for task in tasks) == PAIRS
        slots = [slot for n in range(ROLLOUTS) for slot in env.slots(tasks[n % len(tasks)])]
        async with env.serving():
            episodes = await asyncio.gather(*(env.run_slot(slot, ctx, gate) for slot in slots))
        return [trace for episode in episodes for trace in episode.traces]

    check(asyncio.run(run()))


def test_the_seed_determines_the_order_of_pairs(config: str) -> None:
    def order(seed: int) -> list[str]:
        return [task.data.pair for task in load_environment(environment(config, f"run.seed={seed}")).taskset]

    orders = [order(seed) for seed in range(8)]
    assert all(sorted(pairs) == PAIRS for pairs in orders)
    assert len(set(map(tuple, orders))) > 2 and order(3) == orders[3]


def test_the_order_of_pairs_is_that_of_the_program(tmp_path: Path) -> None:
    seed, steps = 5, 8
    # Steps of one group, without probing turns or measurements.
    train = [f"train.steps={steps}", "train.groups=1", "train.group_size=2", "protocol.rounds=0"]
    command = [ASKE, "train", "--config", "nano-train", "--no-measure", "--seeds", str(seed), "--run", tmp_path / "run"]
    for option in train:
        command += ["-o", option]
    subprocess.run(command, check=True, cwd=tmp_path, capture_output=True)
    lines = (tmp_path / "run" / f"seed-{seed}" / "records.jsonl").read_text().splitlines()
    visited = list(dict.fromkeys(json.loads(line)["pair"] for line in lines))
    assert len(visited) == steps
    # The same solvers, served elsewhere: the order does not depend on where.
    solvers = ["nano-15k", "nano-40k", "nano-100k", "nano-250k", "nano-500k", "nano-1m", "nano-2m"]
    (tmp_path / "served.toml").write_text(
        "".join(
            f'[models.{name}]\nprovider = "openai"\nurl = "http://127.0.0.1:9/v1"\n' for name in [*solvers, "policy"]
        )
        + f'[asker]\nmodel = "policy"\n[check]\nmodel = "policy"\n[boundary]\nsolvers = {json.dumps(solvers)}\n'
    )
    env = load_environment(environment(str(tmp_path / "served.toml"), f"run.seed={seed}"))
    assert [task.data.pair for task in env.taskset][:steps] == visited


def test_headers_of_the_client_reach_the_asker_and_the_self_judge(
    server: str, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[float, str | None, str | None]] = []

    class Policy(BaseHTTPRequestHandler):
        """Passes requests on to the test server."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((json.loads(body).get("temperature"), self.headers["X-Team"], self.headers["X-Token"]))
            request = urllib.request.Request(f"{server}/chat/completions", body, {"Content-Type": "application/json"})
            with urllib.request.urlopen(request) as response:
                data = response.read()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None: ...

    policy = ThreadingHTTPServer(("127.0.0.1", 0), Policy)
    threading.Thread(target=policy.serve_forever, daemon=True).start()
    monkeypatch.setenv("TEAM_TOKEN", "token-1")
    client = EvalClientConfig(
        base_url=f"http://127.0.0.1:{policy.server_port}/v1",
        api_key_var="NO_KEY",
        headers={"X-Team": "team-1"},
        headers_from_env={"X-Token": "TEAM_TOKEN"},
    )
    options = ['check.model="asker"', "check.sampling.temperature=0.0", "asker.sampling.temperature=1.0"]
    env = load_environment(environment(config, *options))

    async def run() -> list[Any]:
        tasks = list(env.taskset)
        slots = [slot for n in range(12) for slot in env.slots(tasks[n % len(tasks)])]
        async with env.serving():
            ctx = ModelContext(model="asker", client=client)
            episodes = await asyncio.gather(*(env.run_slot(slot, ctx, None) for slot in slots))
        return [trace for episode in episodes for trace in episode.traces]

    traces = asyncio.run(run())
    policy.shutdown()
    assert all(trace.ok for trace in traces), [trace.errors for trace in traces]
    assert {(team, token) for _, team, token in seen} == {("team-1", "token-1")}
    judged = [temperature for temperature, *_ in seen if temperature == 0.0]
    asked = sum(trace.info["aske"]["question"] is not None for trace in traces)
    assert len(judged) == asked > 0


def test_rollouts_through_server_and_client(server: str, config: str, history: tuple[str, Path]) -> None:
    diversity_url, questions = history
    env = environment(config, diversity_url=diversity_url)
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

        traces = asyncio.run(run())
    finally:
        process.terminate()
        process.join(30)
    check(traces)
    # Both workers have asked into one history: every question is there, once, with the novelty that was paid.
    told = [(line["questions"][0], line["novelty"][0]) for line in map(json.loads, questions.read_text().splitlines())]
    results = [trace.info["aske"] for trace in traces]
    paid = [(result["question"], result["novelty"]) for result in results if result["question"]]
    assert sorted(question for question, _ in told) == sorted(question for question, _ in paid)
    assert sorted(novelty for _, novelty in told) == pytest.approx(sorted(novelty for _, novelty in paid))
    assert sum(novelty == 1.0 for _, novelty in told) == 1, "the first question alone has nothing to compare with"


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
