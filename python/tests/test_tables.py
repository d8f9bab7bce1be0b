"""Run folders as Arrow tables."""

import subprocess
from pathlib import Path

import aske_env
import pyarrow
import pytest

from conftest import ASKE


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the nano world, made by the program."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    subprocess.run([ASKE, "bench", "--samples", "1", "--limit", "6", "--run", folder], check=True, cwd=folder.parent)
    return folder


def test_every_table_converts_to_arrow(run: Path) -> None:
    for kind, least in (("sessions", 6), ("answers", 12), ("grades", 6), ("questions", 1)):
        table = aske_env.load_run(run, kind=kind)
        arrow = pyarrow.table(table)
        assert arrow.num_rows == len(table) >= least, kind
        assert arrow.column_names == table.column_names
    outcomes = pyarrow.table(aske_env.load_run(run))["outcome"].to_pylist()
    calibrated = aske_env.load_run(run, calibrated=True)
    assert len(calibrated) == outcomes.count("calibrated")


def test_a_folder_that_is_not_a_run_raises(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        aske_env.load_run(tmp_path / "none")
    with pytest.raises(ValueError, match="one of sessions"):
        aske_env.load_run(tmp_path, kind="rows")  # type: ignore[arg-type]
