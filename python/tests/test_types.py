"""The types of the package, as type checkers see them and as they are."""

import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

pytest.importorskip("mypy")
SETTINGS = Path(__file__).resolve().parents[1] / "pyproject.toml"

USE = """
import asyncio
from pathlib import Path
from typing import assert_type
import aske_env
from aske_env import ConfigError, Environment, Parsed, Rollout, RolloutFailure, Table, load_run, parse, verify_batch

async def play(environment: Environment) -> Rollout:
    try:
        return await environment.rollout("a:b", url="http://h/v1", model="m", headers={"X-Team": "t"})
    except RolloutFailure as failure:
        assert_type(failure.cause, str | None)
        assert_type(failure.attempts, int | None)
        raise

environment = Environment(Path("aske.toml"), {"run.seed": 3})
environment = Environment({"run": {"seed": 3}}, ["run.seed=3"])
rollout = asyncio.run(play(environment))
assert_type(rollout["reward"]["calibration"], float)
assert_type(parse("1"), Parsed)
assert_type(verify_batch(["1"], [parse("1")]), list[bool])
assert_type(load_run("runs/a", Path("runs/b"), kind="evals"), Table)
"""
WRONG = {
    "aske_env.no_such_function()": "attr-defined",
    "aske_env.Environment(3)": "arg-type",
    'aske_env.load_run("a", kind="rows")': "arg-type",
    'aske_env.verify("1", "1", rules="lenient")': "arg-type",
    'aske_env.parse("1").text = "2"': "misc",
}


def check(folder: Path, module: str, *arguments: str | Path) -> tuple[int, str]:
    """Runs a checker outside of the source tree, so that it finds the installed package."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def mypy(folder: Path, *arguments: str | Path) -> tuple[int, str]:
    return check(folder, "mypy", "--config-file", SETTINGS, "--no-incremental", *arguments)


def test_the_stubs_match_the_runtime(tmp_path: Path) -> None:
    # Modules that are written in Python have no stubs. The list of names in the native module is made by its compiler.
    (tmp_path / "allowed").write_text(r"aske_env\.((prime_rl|verifiers_env|_types)(\..*)?|_native\.__all__)")
    options = ["--allowlist", "allowed", "--ignore-unused-allowlist"]
    arguments = ["--mypy-config-file", SETTINGS, *options, "aske_env"]
    code, out = check(tmp_path, "mypy.stubtest", *arguments)
    assert code == 0, out


def test_the_package_and_code_that_uses_it_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(USE)
    for arguments in (["use.py"], ["-p", "aske_env"]):
        code, out = mypy(tmp_path, *arguments)
        assert code == 0, out


def test_wrong_code_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text("\n".join(["import aske_env", *WRONG]))
    _, out = mypy(tmp_path, "wrong.py")
    for line, kind in enumerate(WRONG.values(), start=2):
        assert any(f"wrong.py:{line}: error" in found and kind in found for found in out.splitlines()), out


def test_the_wheel_has_the_texts_of_its_licences() -> None:
    metadata = distribution("aske-env").metadata
    assert sorted(metadata.get_all("License-File")) == ["LICENSE-APACHE", "LICENSE-MIT"]
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        text = distribution("aske-env").read_text(f"licenses/{name}")
        assert text == (SETTINGS.parents[1] / name).read_text() and len(text) > 500
