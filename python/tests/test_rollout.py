"""Whole rollouts in Rust against a real server."""

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import aske_env
import pytest

from conftest import CONFIG, start


def expected(rollout: dict[str, Any]) -> str:
    """The outcome by the rule itself, from the answers alone: they are plain whole numbers."""
    last = rollout["record"]["turns"][-1]
    if last["question"] is None:
        return "no_question"
    (check,) = rollout["record"]["check"]
    right = [solved["answer"] == check for solved in last["solved"]]
    return ("too_hard", "calibrated", "too_easy")[sum(right)]


def test_rollouts_are_scored_by_the_rule(server: str, config: str) -> None:
    environment = aske_env.Environment(config)
    pairs = environment.pairs()
    assert pairs == ["solver-50:solver-90", "solver-20:solver-90", "solver-20:solver-50"]

    async def run() -> list[dict[str, Any]]:
        return await asyncio.gather(
            *(environment.rollout(pairs[n % 3], n, url=server, model="asker") for n in range(120))
        )

    rollouts = asyncio.run(run())
    assert [rollout["outcome"] for rollout in rollouts] == [expected(rollout) for rollout in rollouts]
    assert len({rollout["outcome"] for rollout in rollouts}) >= 3, "the server plays every kind of session"
    assert {rollout["record"]["sample"] for rollout in rollouts} == set(range(120))


def test_no_rollout_is_lost_if_some_calls_fail(tmp_path: Path) -> None:
    process, url = start("--faults", "0.1", "--fault-seed", "3", "--only-fault", "429", "--pad-words", "5")
    try:
        path = tmp_path / "aske.toml"
        path.write_text(CONFIG.format(url=url))
        environment = aske_env.Environment(str(path))

        async def run() -> list[dict[str, Any]]:
            calls = (environment.rollout("solver-20:solver-90", n, url=url, model="asker") for n in range(20))
            return await asyncio.gather(*calls)

        assert len(asyncio.run(run())) == 20
    finally:
        process.terminate()
        process.wait()


def test_an_unreachable_solver_is_a_failure_not_a_score(server: str, config: str) -> None:
    options = ['models.solver-20.url="http://127.0.0.1:9/v1"', "models.solver-20.limits.attempts=1"]
    environment = aske_env.Environment(config, options)

    async def run() -> None:
        await environment.rollout("solver-20:solver-50", url=server, model="asker")

    with pytest.raises(aske_env.RolloutFailure, match="solver-20"):
        asyncio.run(run())


def test_an_unreachable_history_is_a_failure_not_a_score(server: str, config: str) -> None:
    # The test server has no such route.
    environment = aske_env.Environment(config, diversity_url=server)

    async def run() -> None:
        await environment.rollout("solver-20:solver-50", url=server, model="asker")

    with pytest.raises(aske_env.RolloutFailure, match="diversity"):
        asyncio.run(run())
    with pytest.raises(ValueError, match="diversity_url"):
        aske_env.Environment(config, diversity_url="nowhere")


def test_self_judging_is_greedy_and_sends_the_cache_salt(server: str, config: str) -> None:
    seen: list[tuple[str, str, dict[str, Any]]] = []

    class Policy(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append((self.headers["Authorization"], self.headers["X-Team"], body))
            reply = {"choices": [{"message": {"content": r"\boxed{5}"}, "finish_reason": "stop"}]}
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None: ...

    judge = ThreadingHTTPServer(("127.0.0.1", 0), Policy)
    threading.Thread(target=judge.serve_forever, daemon=True).start()
    options = ['check.model="asker"', "check.sampling.temperature=0.0"]
    environment = aske_env.Environment(config, options)
    assert environment.self_judged

    async def run() -> dict[str, Any]:
        return await environment.rollout(
            "solver-20:solver-90",
            url=server,
            model="asker",
            judge_url=f"http://127.0.0.1:{judge.server_port}/v1",
            judge_key="secret",
            cache_salt="7",
            headers={"X-Team": "asker"},
            # Those of the connection are not replaced.
            judge_headers={"X-Team": "judge", "Content-Length": "1", "Host": "elsewhere"},
        )

    rollout = asyncio.run(run())
    judge.shutdown()
    assert rollout["record"]["check"] == ["5"]
    ((key, team, body),) = seen
    assert team == "judge"
    assert (key, body["model"], body["temperature"], body["cache_salt"]) == ("Bearer secret", "asker", 0.0, "7")
    assert rollout["question"] in body["messages"][-1]["content"]


def test_configuration_errors_have_a_hint(config: str) -> None:
    with pytest.raises(ValueError, match="hint:"):
        aske_env.Environment("no-such-configuration")
    with pytest.raises(ValueError, match="expected KEY=VALUE"):
        aske_env.Environment(config, ["rounds"])
    with pytest.raises(ValueError, match="inside the program"):
        aske_env.Environment("local")
    with pytest.raises(ValueError, match="equivalence"):
        aske_env.Environment("paper-bench")
