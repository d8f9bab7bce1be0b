"""A real server with scripted models, on a real socket."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Where the programs were built; `ASKE` and `ASKE_TESTSERVER` name them one by one.
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug"
ASKE = os.environ.get("ASKE", str(BUILT / "aske"))
TEST_SERVER = os.environ.get("ASKE_TESTSERVER", str(BUILT / "aske-testserver"))
CONFIG = """
[protocol]
rounds = 3
asker_tokens = 4000
asker_final_tokens = 4000
# Each call sends its own seed: the server's replies follow from the request alone.
[asker]
model = "asker"
sampling = {{ seed = true }}
[boundary]
sampling = {{ seed = true }}
solvers = ["solver-90", "solver-50", "solver-20"]
[check]
model = "check"
draws = 1
[models.asker]
provider = "openai"
url = "{url}"
[models.solver-90]
provider = "openai"
url = "{url}"
[models.solver-50]
provider = "openai"
url = "{url}"
[models.solver-20]
provider = "openai"
url = "{url}"
[models.check]
provider = "openai"
url = "{url}"
"""


def start(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    """Starts the test server; gives its process and address."""
    process = subprocess.Popen([TEST_SERVER, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]


@pytest.fixture
def history(config: str, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """`aske serve env`: its address, and the file of all questions."""
    state, run = tmp_path / "state", tmp_path / "run"
    arguments = ["--config", config, "-o", "train.embedder=ngram", "--port", "0", "--state", state, "--run", run]
    process = subprocess.Popen([ASKE, "serve", "env", *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process.stdout.readline().strip(), state / "questions.jsonl"
    process.terminate()
    process.wait()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    process, url = start("--pad-words", "20")
    yield url
    process.terminate()
    process.wait()


@pytest.fixture
def config(server: str, tmp_path: Path) -> str:
    """A configuration whose models all live on the test server."""
    path = tmp_path / "aske.toml"
    path.write_text(CONFIG.format(url=server))
    return str(path)
