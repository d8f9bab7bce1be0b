"""Every block of code in the README runs, in the order of the file and in one working directory.

The addresses and the policy of the examples are replaced by those of a test server. A block with prompts is a doctest.
"""

import ast
import asyncio
import doctest
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from conftest import ASKE, CONFIG

README = Path(__file__).resolve().parents[1] / "README.md"
# Commands that do not run here, with the reason.
SKIPPED = {
    "pip install": "packages are installed before the tests",
    "maturin build": "the wheel that is tested was built this way",
}


class Block(NamedTuple):
    line: int
    language: str
    code: str


class World(NamedTuple):
    folder: Path
    url: str
    names: dict[str, Any]

    def replaced(self, code: str) -> str:
        return code.replace("http://localhost:8000/v1", self.url).replace("my-policy", "asker-policy")


def blocks(text: str) -> Iterator[Block]:
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(text[: found.start()].count("\n") + 2, found[1], found[2])


BLOCKS = list(blocks(README.read_text()))


@pytest.fixture(scope="module")
def world(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A folder with the configuration and the run that the examples name."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "aske.toml").write_text(CONFIG.format(url=server))
    command = [ASKE, "bench", "--config", "nano", "--samples", "1", "--limit", "6", "--run", "runs/nano-nano-asker"]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield World(folder, server, {"__name__": "readme"})


def test_only_known_languages_are_used() -> None:
    assert {block.language for block in BLOCKS} <= {"python", "sh", "toml", "text"}
    assert {"python", "sh"} <= {block.language for block in BLOCKS}


@pytest.mark.parametrize(
    "block", [pytest.param(one, id=f"line-{one.line}") for one in BLOCKS if one.language == "python"]
)
def test_python(world: World, block: Block) -> None:
    code = world.replaced(block.code)
    if ">>> " in code:
        test = doctest.DocTestParser().get_doctest(code, world.names, "README", str(README), block.line)
        output: list[str] = []
        # The names of a block are used by those below.
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=output.append, clear_globs=False)
        world.names.update(test.globs)
        assert result.attempted > 0 and result.failed == 0, "".join(output)
        return
    for package in re.findall(r"^(?:import|from) (.+?)(?: import .*)?$", code, re.MULTILINE):
        for name in package.split(", "):
            pytest.importorskip(name)
    # Lines are counted from the start of the file, so that errors point into it.
    tree = ast.increment_lineno(ast.parse(code, str(README)), block.line - 1)
    run = eval(compile(tree, str(README), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), world.names)
    if inspect.iscoroutine(run):
        asyncio.run(run)


def commands(block: Block) -> list[str]:
    """The commands of a block that run here."""
    joined = block.code.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return [line for line in lines if not any(line.startswith(skipped) for skipped in SKIPPED)]


@pytest.mark.parametrize(
    "block", [pytest.param(one, id=f"line-{one.line}") for one in BLOCKS if one.language == "sh" and commands(one)]
)
def test_shell(world: World, block: Block) -> None:
    tools = os.pathsep.join([str(Path(sys.executable).parent), str(Path(ASKE).parent), os.environ["PATH"]])
    for command in commands(block):
        if command.startswith("vf-eval"):
            pytest.importorskip("verifiers")
            assert "--no-push" in command, "an example does not upload anything"
        done = subprocess.run(
            ["bash", "-ec", world.replaced(command)],
            cwd=world.folder,
            env={**os.environ, "PATH": tools},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
