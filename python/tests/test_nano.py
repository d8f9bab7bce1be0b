"""The nano world in this process, without a server."""

import asyncio
import json
import subprocess
from pathlib import Path

import aske_env
import pytest

from test_folders import ASKE

NAMES = ("nano-40k", "nano-1m")


def test_one_session_is_that_of_the_program(tmp_path: Path) -> None:
    rollout = aske_env.ask(*NAMES, sample=2)
    assert rollout["record"]["asker"] == "nano-asker"
    command = [ASKE, "bench", "--pairs", ":".join(NAMES), "--samples", "3", "--run", tmp_path / "run"]
    subprocess.run(command, check=True, capture_output=True)
    records = [json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text().splitlines()]
    (expected,) = [record for record in records if record["sample"] == 2]
    for part in ("solvers", "turns", "check"):
        assert rollout["record"][part] == expected[part], part


def test_other_askers_and_folders(tmp_path: Path) -> None:
    for asker in ("fixed", "staircase", "nano-novice"):
        rollout = aske_env.ask(*NAMES, asker=asker, check="nano-2m", options=["protocol.rounds=1"], folder=tmp_path / asker)
        assert (rollout["record"]["asker"], rollout["check"][0]["model"]) == (asker, "nano-2m")
        assert len(aske_env.load_run(tmp_path / asker)) == 1

    async def within_a_loop() -> str:
        return aske_env.ask(*NAMES, options=["protocol.rounds=0"])["pair"]

    assert asyncio.run(within_a_loop()) == "nano-1m:nano-40k"
    for wrong in (("nano-40k", "nano-40k"), ("nano-40k", "nobody"), ("nano-40k", "")):
        with pytest.raises(ValueError):
            aske_env.ask(*wrong)


def test_a_network_is_exported_for_other_programs(tmp_path: Path) -> None:
    folder = aske_env.export_nano("nano-novice", tmp_path / "novice")
    assert sorted(path.name for path in Path(folder).iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    # The exported network is the bundled one: the same session.
    options = ["protocol.rounds=1"]
    asker = [f'models.nano-novice.path="{folder}"']
    bundled, exported = (aske_env.ask(*NAMES, asker="nano-novice", options=options + more) for more in ([], asker))
    assert exported["messages"] == bundled["messages"]
    with pytest.raises(ValueError, match="use one of nano-15k"):
        aske_env.export_nano("novice", tmp_path / "other")
    with pytest.raises(OSError):
        aske_env.export_nano("nano-15k", tmp_path / "novice" / "config.json")
