"""What a trainer does: rollouts with tokens, groups, stepped episodes, the diversity reward."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import aske_env
import pytest

from conftest import CONFIG, start

PAIR = "nano-1m:nano-40k"
TURN = "#Reasoning#\nr\n#Draft#\nd\n#Question#\nCompute {} + 1."
# Two rounds, and the policy as its own cross-check solver.
SELF_JUDGED = "nano-train"
CHECKED = ("nano-train", ["check.model=nano-check", "check.draws=2"])


@pytest.fixture(scope="module")
def nano() -> aske_env.Environment:
    return aske_env.Environment(*CHECKED)


@pytest.fixture
def policy() -> Iterator[Callable[[dict[str, Any]], tuple[str, list[dict[str, Any]]]]]:
    """Starts a server whose choices and top-level fields are given; returns its address and the requests it gets."""
    servers = []

    def serve(answer: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
        seen: list[dict[str, Any]] = []

        class Policy(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None: ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Policy)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1", seen

    yield serve
    for server in servers:
        server.shutdown()


def choice(**more: Any) -> dict[str, Any]:
    return {"message": {"content": TURN.format(4)}, "finish_reason": "stop"} | more


def test_a_rollout_is_a_coroutine_that_tasks_groups_and_timeouts_accept(nano: aske_env.Environment) -> None:
    assert asyncio.iscoroutine(coroutine := nano.rollout(PAIR))
    assert asyncio.run(coroutine)["pair"] == PAIR, "made outside of a loop"

    async def run() -> list[Any]:
        task = asyncio.create_task(nano.rollout(PAIR))
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(nano.rollout(PAIR)) for _ in range(3)]
        gathered = await asyncio.gather(nano.rollout(PAIR), nano.rollout(PAIR))
        return [await task, *(task.result() for task in tasks), *gathered]

    samples = [rollout["sample"] for rollout in asyncio.run(run())]
    assert len(set(samples)) == 6, "each is the next sample of the pair"

    async def too_long() -> None:
        await asyncio.wait_for(nano.rollout(PAIR), 0.001)

    with pytest.raises(TimeoutError):
        asyncio.run(too_long())


def test_a_rollout_has_what_a_trainer_needs(nano: aske_env.Environment) -> None:
    rollout = asyncio.run(nano.rollout(PAIR, 3, sampling={"logprobs": True, "temperature": 0.9}))
    assert json.loads(json.dumps(rollout)) == rollout, "plain data"
    assert rollout["sampling"] == {"temperature": 0.9, "logprobs": True}
    assert rollout["record"]["kind"] == "session"
    messages, turns = rollout["messages"], rollout["turns"]
    assert [message["role"] for message in messages] == ["system", *["user", "assistant"] * len(turns)]
    for turn in turns:
        reply = turn["reply"]
        assert messages[2 * turn["turn"]]["content"] == reply["content"]
        assert len(reply["token_ids"]) == len(reply["logprobs"]) == reply["usage"]["completion"]
        assert len(reply["prompt_token_ids"]) == reply["usage"]["prompt"]
        assert all(logprob <= 0 for logprob in reply["logprobs"])
        assert [solver["model"] for solver in turn["solvers"]] == rollout["record"]["solvers"]
        assert all(solver["token_ids"] is None for solver in turn["solvers"]), "not requested"
    if rollout["right"] is not None:
        assert rollout["reference"] == rollout["check"][0]["answer"]
        answers = [solver["answer"] == rollout["reference"] for solver in turns[-1]["solvers"]]
        assert answers == rollout["right"]
    assert rollout["total"] == pytest.approx(sum(rollout["reward"].values()))


def test_sampling_is_of_one_rollout_and_sent_to_the_asker_alone(nano: aske_env.Environment, policy: Any) -> None:
    url, seen = policy({"choices": [choice()]})
    sampling = {"temperature": 0.3, "top_p": 0.5, "max_tokens": 77, "stop": ["X"], "extra_body": {"return_token_ids": True}}
    rollout = asyncio.run(nano.rollout(PAIR, url=url, model="m", sampling=sampling))
    expected = {"model": "m", "temperature": 0.3, "top_p": 0.5, "max_tokens": 77, "stop": ["X"], "return_token_ids": True}
    assert all({key: body.get(key) for key in expected} == expected for body in seen) and len(seen) == 3
    assert rollout["sampling"] == sampling
    asyncio.run(nano.rollout(PAIR, url=url, model="m"))
    assert (seen[-1]["temperature"], seen[-1]["max_tokens"]) == (1.0, 400), "the configuration's"


@pytest.mark.parametrize(
    ("more", "top", "expected"),
    [
        ({}, {}, (None, None, None)),
        ({"logprobs": {"content": [{"token": "a", "logprob": -0.5}]}}, {}, (None, [-0.5], None)),  # OpenAI
        (
            {"logprobs": {"content": [{"token": "a", "logprob": -0.5}]}, "token_ids": [7]},
            {"prompt_token_ids": [1, 2]},
            ([7], [-0.5], [1, 2]),
        ),  # vLLM
        ({"logprobs": "many", "token_ids": {"a": 1}}, {"prompt_token_ids": [-1]}, (None, None, None)),
    ],
)
def test_tokens_are_those_that_the_endpoint_gives(
    nano: aske_env.Environment, policy: Any, more: Any, top: Any, expected: Any
) -> None:
    url, seen = policy({"choices": [choice(**more)]} | top)
    rollout = asyncio.run(nano.rollout(PAIR, url=url, model="m", sampling={"logprobs": True}))
    assert all(body["logprobs"] is True for body in seen)
    for turn in rollout["turns"]:
        assert tuple(turn["reply"][key] for key in ("token_ids", "logprobs", "prompt_token_ids")) == expected


def test_a_stepped_episode_is_the_rollout_of_the_same_replies(nano: aske_env.Environment, policy: Any) -> None:
    url, _ = policy({"choices": [choice()]})
    rollout = asyncio.run(nano.rollout(PAIR, 7, url=url, model="m"))

    async def step() -> dict[str, Any]:
        episode = nano.episode(PAIR, 7)
        turns = []
        while not episode.done:
            assert (episode.need, episode.draws, episode.max_tokens) == ("ask", 1, 400)
            turns.append((episode.turn, len(episode.messages)))
            over = await episode.step({"content": TURN.format(4), "token_ids": [1, 2], "logprobs": [-1.0, -0.5]})
            assert over is episode.done
        assert turns == [(1, 2), (2, 4), (3, 6)]
        assert episode.need == "done"
        return episode.rollout

    stepped = asyncio.run(step())
    assert stepped["turns"][0]["reply"]["token_ids"] == [1, 2]
    for part in ("outcome", "reward", "question", "right", "reference", "messages", "grade"):
        assert stepped[part] == rollout[part], part
    assert stepped["record"]["turns"] == rollout["record"]["turns"]


def test_the_trainer_judges_if_the_policy_is_its_own_cross_check_solver() -> None:
    environment = aske_env.Environment(SELF_JUDGED)

    async def run() -> dict[str, Any]:
        episode = environment.episode(PAIR)
        for _ in range(3):
            await episode.step(TURN.format(4))
        assert (episode.need, episode.draws, episode.done) == ("judge", 1, False)
        assert "Compute 4 + 1." in episode.messages[-1]["content"]
        await episode.step([r"\boxed{5}"])
        return episode.rollout

    rollout = asyncio.run(run())
    assert (rollout["reference"], rollout["check"][0]["model"]) == ("5", "nano-novice")


def test_wrong_steps_say_what_is_wrong_and_change_nothing(nano: aske_env.Environment) -> None:
    episode = nano.episode(PAIR)

    def step(*reply: Any) -> Any:
        async def run() -> Any:
            return await episode.step(*reply)

        return asyncio.run(run())

    for reply in (3, b"x", ("a",), object()):
        with pytest.raises(TypeError, match="a reply must be a str or a dict"):
            step(reply)
    for reply, words in (
        (None, "needs the reply of the asker to turn 1"),
        ([], "0 replies were given, and 1 are needed"),
        (["a", "b"], "2 replies were given"),
        ({}, 'needs "content"'),
        ({"content": "a", "tokens": [1]}, 'no "tokens"'),
        ({"content": "a", "token_ids": [1], "logprobs": []}, None),
        ("x" * (5 << 20), "bytes"),
        ({"content": "a", "token_ids": [1], "logprobs": [0.0, 0.0]}, "1 token_ids and 2 logprobs"),
        ("\ud800", "surrogates"),
    ):
        if words is not None:
            with pytest.raises(ValueError, match=words):
                step(reply)
            assert episode.turn == 1
    with pytest.raises(ValueError, match="not over"):
        episode.rollout
    for _ in range(3):
        step(TURN.format(4))
    with pytest.raises(ValueError, match="over"):
        step("again")
    assert step() is True and episode.rollout is episode.rollout
    for stranger in ("nobody", "nano-check"):
        with pytest.raises(ValueError, match="no boundary solver"):
            nano.episode(f"nano-40k:{stranger}")
    with pytest.raises(ValueError, match="is not a pair"):
        nano.episode("nano-40k")


def test_a_failed_or_cancelled_step_continues_where_it_was(server: str, config: str) -> None:
    # The third solver is not reachable.
    broken = ['models.solver-20.url="http://127.0.0.1:9/v1"', "models.solver-20.limits.attempts=1"]
    environment = aske_env.Environment(config, broken)

    async def failed() -> None:
        episode = environment.episode("solver-20:solver-50")
        for reply in (("question",), (), ("question",)):
            with pytest.raises(aske_env.RolloutFailure, match="solver-20"):
                await episode.step(*[TURN.format(1) for _ in reply])
            assert (episode.need, episode.done, episode.messages) == ("retry", False, [])
        with pytest.raises(ValueError, match="another reply"):
            await episode.step("another one")

    asyncio.run(failed())
    slow = aske_env.Environment(*CHECKED)

    async def cancelled() -> dict[str, Any]:
        episode = slow.episode(PAIR, 0)
        task = asyncio.create_task(episode.step(TURN.format(4)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        while not episode.done:
            await (episode.step() if episode.need == "retry" else episode.step(TURN.format(4)))
        return episode.rollout

    async def whole() -> dict[str, Any]:
        episode = slow.episode(PAIR, 0)
        while not episode.done:
            await episode.step(TURN.format(4))
        return episode.rollout

    assert asyncio.run(cancelled())["record"]["turns"] == asyncio.run(whole())["record"]["turns"]


def test_two_steps_at_once_are_refused(tmp_path: Path) -> None:
    process, url = start("--latency-ms", "500")
    try:
        (tmp_path / "aske.toml").write_text(CONFIG.format(url=url))
        environment = aske_env.Environment(str(tmp_path / "aske.toml"))

        async def run() -> list[Any]:
            episode = environment.episode("solver-20:solver-50")
            steps = (episode.step(TURN.format(4)) for _ in range(2))
            return await asyncio.gather(*steps, return_exceptions=True)

        errors = [str(one) for one in asyncio.run(run()) if isinstance(one, ValueError)]
        assert len(errors) == 1 and "in progress" in errors[0]
    finally:
        process.terminate()
        process.wait()


def test_a_group_is_several_samples_and_diversity_is_over_the_batch(nano: aske_env.Environment) -> None:
    group = asyncio.run(nano.group(PAIR, 4, 100))
    assert [rollout["sample"] for rollout in group] == [100, 101, 102, 103]
    # The same question twice in a batch: the cosine of the nearest is 1, so with these two alone the novelty is 0.
    environment = aske_env.Environment(*CHECKED)
    twice = [json.loads(json.dumps(group[0])) for _ in range(2)]
    environment.score_diversity(twice)
    assert [rollout["novelty"] for rollout in twice] == pytest.approx([0.0, 0.0], abs=1e-6)
    # Another environment has another history; the first question ever is wholly new.
    (alone,) = asyncio.run(nano.group(PAIR, 1, 100))
    nano.score_diversity([alone])
    assert alone["novelty"] == 1.0
    calibration = alone["reward"]["calibration"]
    assert alone["reward"]["diversity"] == pytest.approx(max(calibration, 0.0))  # diversity_coef is 1
    assert alone["total"] == pytest.approx(sum(alone["reward"].values()))
    nano.score_diversity([alone])
    assert alone["novelty"] == pytest.approx(0.0, abs=1e-6), "asked before"
    nano.score_diversity([])
    with pytest.raises(ValueError, match="question"):
        nano.score_diversity([{}])


def test_a_group_loses_its_failed_rollouts_only(server: str, config: str) -> None:
    broken = ['models.solver-20.url="http://127.0.0.1:9/v1"', "models.solver-20.limits.attempts=1"]
    environment = aske_env.Environment(config, broken)
    rollouts = asyncio.run(environment.group("solver-50:solver-90", 3, url=server, model="asker"))
    assert len(rollouts) == 3
    with pytest.raises(aske_env.RolloutFailure, match="solver-20"):
        asyncio.run(environment.group("solver-20:solver-50", 3, url=server, model="asker"))


def test_wrong_sampling_and_addresses_are_named(nano: aske_env.Environment) -> None:
    for sampling, words in (
        ({"temprature": 1}, "temprature"),
        ({"temperature": -1}, "temperature"),
        ({"temperature": float("nan")}, "sampling"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"extra_body": {"a": 1}}, "extra_body needs `url`"),
        (["temperature"], "must be a dictionary"),
        ({"temperature": object()}, "sampling"),
    ):
        with pytest.raises(ValueError, match=words):
            nano.rollout(PAIR, sampling=sampling)
    with pytest.raises(ValueError, match="need `model`"):
        nano.rollout(PAIR, url="http://127.0.0.1:9/v1")
    with pytest.raises(ValueError, match="needs `url`"):
        nano.rollout(PAIR, model="m")
