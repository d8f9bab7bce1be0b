"""Rollouts in run folders: written as they are played, or afterwards."""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import aske_env
import pyarrow
import pytest

from conftest import ROOT

ASKE = os.environ.get("ASKE", str(ROOT / "target/debug/aske"))
PAIR = "nano-1m:nano-40k"
CONFIG = ("nano", ["protocol.rounds=1"])


def aske(*arguments: object) -> str:
    """The output of the program."""
    return subprocess.run([ASKE, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def group(environment: aske_env.Environment, size: int = 4, **more: Any) -> list[Any]:
    return asyncio.run(environment.group(PAIR, size, 0, **more))


def content(rollout: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on the clock."""
    return {key: value for key, value in rollout.items() if key not in ("asker_s", "solvers_s")}


def test_saved_rollouts_are_a_run_that_the_program_reads(tmp_path: Path) -> None:
    environment = aske_env.Environment(*CONFIG)
    rollouts = group(environment)
    for rollout in rollouts:
        rollout["advantage"] = object()  # a trainer's own
    folder = tmp_path / "run"
    assert environment.save_run(folder, rollouts) == 4
    assert lines(folder) == [rollout["record"] for rollout in rollouts]
    report = json.loads(aske("report", folder, "--json"))
    (run,) = report["runs"]
    counts = {outcome["outcome"]: outcome["sessions"] for outcome in run["outcomes"]}
    outcomes = [rollout["outcome"] for rollout in rollouts]
    assert {name: count for name, count in counts.items() if count} == {name: outcomes.count(name) for name in outcomes}
    aske("regrade", folder, "--check", "nano-2m")
    table = pyarrow.table(aske_env.load_run(folder))
    assert table["pair"].to_pylist() == [PAIR] * 4
    assert table["outcome"].to_pylist() == outcomes
    # The benchmark of the same configuration continues it, and asks for none of its replies again.
    aske("bench", "--config", "nano", "-o", "protocol.rounds=1", "--pairs", PAIR, "--samples", "5", "--run", folder)
    assert [line["sample"] for line in lines(folder)] == [0, 1, 2, 3, 4]


def test_saving_again_adds_what_is_new(tmp_path: Path) -> None:
    environment = aske_env.Environment(*CONFIG)
    rollouts, folder = group(environment), tmp_path / "run"
    assert environment.save_run(folder, iter(rollouts[:2])) == 2
    assert environment.save_run(folder, [*rollouts, rollouts[0]]) == 2
    assert environment.save_run(str(folder), rollouts) == 0
    assert len(lines(folder)) == 4
    # Through JSON, as from another process.
    assert environment.save_run(folder, json.loads(json.dumps(rollouts))) == 0


def test_a_rollout_that_does_not_belong_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    environment = aske_env.Environment(*CONFIG)
    (rollout,) = group(environment, 1)
    folder = tmp_path / "run"

    def changed(**more: Any) -> list[Any]:
        return [json.loads(json.dumps(rollout)) | more]

    forged = changed()
    forged[0]["turns"][0]["reply"]["content"] = "#Question#\nWhat is 1 + 1?"
    for rollouts, words in (
        (forged, "another request"),  # The solvers were asked another question.
        (changed(sample=9), "another request"),
        (changed(pair="nano-40k:nano-2m"), "another request"),
        (changed(pair="a:b"), "no boundary solver"),
        (changed(turns=[]), "is missing"),
        (changed(check=[]), "is missing"),
        (changed(turns="no"), "not a rollout"),
        ([{"pair": PAIR}], 'not a rollout: it has no "sample"'),
        ([None], "not a rollout"),
        ([rollout["record"]], "not a rollout"),
    ):
        with pytest.raises(ValueError, match=words):
            environment.save_run(folder, [rollout, *rollouts])
    other = aske_env.Environment("nano", ["protocol.rounds=1", "run.seed=1"])
    with pytest.raises(ValueError, match="answers another request"):
        other.save_run(folder, [rollout])
    with pytest.raises(TypeError):
        environment.save_run(folder, None)
    assert not folder.exists()


def test_two_rollouts_of_one_sample_are_not_mixed_up(tmp_path: Path) -> None:
    environment = aske_env.Environment(*CONFIG)
    (first,) = group(environment, 1)

    async def stepped() -> Any:
        episode = environment.episode(PAIR, 0)
        while not episode.done:
            await episode.step("#Question#\nWhat is 1 + 1?")
        return episode.rollout

    second = asyncio.run(stepped())
    with pytest.raises(ValueError, match="with other replies"):
        environment.save_run(tmp_path / "run", [first, second])
    environment.save_run(tmp_path / "run", [first])
    with pytest.raises(ValueError, match="in the folder already, with other replies"):
        environment.save_run(tmp_path / "run", [second])


def test_a_folder_of_another_configuration_is_refused(tmp_path: Path) -> None:
    aske_env.Environment(*CONFIG, folder=tmp_path / "run")
    for options in ([], ["protocol.rounds=1", "run.seed=1"], ["protocol.rounds=1", "asker.model=fixed"]):
        with pytest.raises(OSError, match="holds another experiment"):
            aske_env.Environment("nano", options, folder=tmp_path / "run")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        aske_env.Environment(*CONFIG, folder=tmp_path / "file")
    with pytest.raises(ValueError, match="is empty"):
        aske_env.Environment(*CONFIG, folder="")


def test_an_environment_with_a_folder_plays_each_session_once(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    sampling = {"logprobs": True}
    environment = aske_env.Environment(*CONFIG, folder=folder)
    with pytest.raises(OSError, match="in use"):
        aske_env.Environment(*CONFIG, folder=folder)
    first = group(environment, sampling=sampling)
    assert environment.save_run(folder, first) == 0, "its own folder"
    assert asyncio.run(environment.rollout(PAIR))["sample"] == 4
    del environment
    environment = aske_env.Environment(*CONFIG, folder=folder)
    again = group(environment, sampling=sampling)
    assert [content(one) for one in again] == [content(one) for one in first], "also the tokens"
    assert len(lines(folder)) == 5
    assert asyncio.run(environment.rollout(PAIR))["sample"] == 5, "the next one that is not there"
    with pytest.raises(OSError, match="answers another request"):
        group(environment, sampling={"temperature": 0.1})


def test_a_sample_is_in_progress_once(tmp_path: Path) -> None:
    environment = aske_env.Environment(*CONFIG, folder=tmp_path / "run")
    episode = environment.episode(PAIR, 0)
    with pytest.raises(ValueError, match="in progress"):
        environment.episode(PAIR, 0)
    assert environment.episode(PAIR).sample == 1
    del episode
    assert environment.episode(PAIR, 0).sample == 0


def test_an_episode_continues_after_a_restart(tmp_path: Path) -> None:
    def environment() -> aske_env.Environment:
        return aske_env.Environment(*CONFIG, folder=tmp_path / "run")

    async def step(episode: aske_env.Episode, reply: Any) -> None:
        await episode.step(reply)

    episode = environment().episode(PAIR, 0)
    asyncio.run(step(episode, {"content": "#Question#\nWhat is 1 + 1?", "token_ids": [5]}))
    messages = episode.messages
    del episode
    opened = environment()
    assert opened.episode(PAIR).sample == 1, "a new episode is not an old one"
    episode = opened.episode(PAIR, 0)
    assert (episode.turn, episode.messages) == (2, messages)
    asyncio.run(step(episode, "#Question#\nWhat is 1 + 2?"))
    rollout = episode.rollout
    assert [turn["reply"]["token_ids"] for turn in rollout["turns"]] == [[5], None]
    del episode, opened
    assert content(environment().episode(PAIR, 0).rollout) == content(rollout)


WORK = """
import asyncio, sys, aske_env
environment = aske_env.Environment("nano", ["protocol.rounds=1"], folder=sys.argv[1])
async def main():
    rollouts = await asyncio.gather(*(environment.rollout(pair, sample) for sample in range(4) for pair in environment.pairs()))
    print(len(rollouts))
asyncio.run(main())
"""

SAVE = """
import json, sys, aske_env
environment = aske_env.Environment("nano", ["protocol.rounds=1"])
rollouts = json.load(open(sys.argv[2]))
print("ready", flush=True)
print(environment.save_run(sys.argv[1], rollouts))
"""


def killed(code: str, folder: Path, after: float, *more: object) -> None:
    """Starts a process and kills it this long after its first output, or after its start if it prints none."""
    process = subprocess.Popen([sys.executable, "-c", code, folder, *more], stdout=subprocess.PIPE, text=True)
    if code is SAVE:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()


def stored(folder: Path) -> int:
    with sqlite3.connect(folder / "calls.sqlite") as database:
        return database.execute("SELECT count(*) FROM calls").fetchone()[0]


def test_killed_rollouts_continue_with_the_replies_that_are_stored(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for after in (1.5, 2.5):
        killed(WORK, folder, after)
    before = stored(folder) if (folder / "calls.sqlite").exists() else 0
    done = subprocess.run([sys.executable, "-c", WORK, folder], check=True, capture_output=True, text=True)
    assert done.stdout == "84\n"
    names = [(line["pair"], line["sample"]) for line in lines(folder)]
    assert len(names) == len(set(names)) == 84
    assert stored(folder) > before
    assert json.loads(aske("report", folder, "--json"))["runs"][0]["ungraded"] == 0


def test_killed_saving_continues(tmp_path: Path) -> None:
    environment = aske_env.Environment(*CONFIG)

    async def play() -> list[Any]:
        return await asyncio.gather(*(environment.group(pair, 6) for pair in environment.pairs()))

    rollouts = sum(asyncio.run(play()), [])
    (tmp_path / "rollouts.json").write_text(json.dumps(rollouts))
    for number, after in enumerate((0.005, 0.02, 0.04, 0.08)):
        folder = tmp_path / f"run-{number}"
        killed(SAVE, folder, after, tmp_path / "rollouts.json")
        environment.save_run(folder, rollouts)
        assert {(line["pair"], line["sample"]) for line in lines(folder)} == {(r["pair"], r["sample"]) for r in rollouts}
        assert len(lines(folder)) == len(rollouts)
        assert json.loads(aske("report", folder, "--json"))["runs"][0]["ungraded"] == 0


def test_one_folder_given_twice_is_refused(tmp_path: Path) -> None:
    environment = aske_env.Environment(*CONFIG)
    environment.save_run(tmp_path / "run", group(environment, 1))
    (tmp_path / "link").symlink_to(tmp_path / "run")
    for again in (tmp_path / "run", tmp_path / "x" / ".." / "run", tmp_path / "link"):
        (tmp_path / "x").mkdir(exist_ok=True)
        with pytest.raises(ValueError, match="given twice"):
            aske_env.load_run(tmp_path / "run", again)
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    assert len(aske_env.load_run(tmp_path / "run", tmp_path / "copy")) == 2


def test_a_finished_episode_frees_its_session(tmp_path: Path) -> None:
    async def play() -> None:
        environment = aske_env.Environment("nano", ["protocol.rounds=1"], folder=tmp_path / "run")
        episode = environment.episode(PAIR, 0)
        while not await episode.step("#Question#\nWhat is 2 + 3?"):
            pass
        again = await environment.rollout(PAIR, 0)
        assert again["outcome"] == episode.rollout["outcome"]

    asyncio.run(play())


def test_figures_out_of_range_are_not_saved(tmp_path: Path) -> None:
    environment = aske_env.Environment("nano", ["protocol.rounds=1"])
    rollout = asyncio.run(environment.rollout(PAIR))
    for name, value in (("usd", -1.0), ("latency_s", -1.0)):
        reply = {**rollout["turns"][0]["reply"], name: value}
        turns = [{**rollout["turns"][0], "reply": reply}, *rollout["turns"][1:]]
        with pytest.raises(ValueError, match="out of range"):
            environment.save_run(tmp_path / "run", [{**rollout, "turns": turns}])
