"""Pickles, copies, exceptions and arguments."""

import copy
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import aske_env
import pytest

from conftest import ASKE, CONFIG
from test_session import OPTIONS, TURN


def copies(value: Any) -> list[Any]:
    """The value after each way of copying it."""
    pickles = [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]
    return [*pickles, copy.copy(value), copy.deepcopy(value)]


def test_parsed_answers() -> None:
    # The text of the first is a box again.
    for text in (r"\boxed{\boxed{3}}", r"\boxed{\frac{1}{2}}", "no mathematics, but: *!", ""):
        for rules in ("aske", "math-verify", "paper"):
            parsed = aske_env.parse(text, rules=rules)  # type: ignore[arg-type]
            for again in copies(parsed):
                assert (again.text, again.readings) == (parsed.text, parsed.readings)


def test_environments_and_pairs(config: str, tmp_path: Path) -> None:
    environment = aske_env.Environment(os.path.relpath(config), ["run.seed=7", "models.solver-20.limits.attempts=2"])
    for again in copies(environment):
        assert (again.pairs(), again.seed) == (environment.pairs(), 7)
        assert again.session().calls()[0].messages == environment.session().calls()[0].messages
    assert copies(environment.pairs()) == [environment.pairs()] * len(copies(environment.pairs()))
    # Found again from another folder, and by another process.
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).pairs())"
    out = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(environment), cwd=tmp_path, capture_output=True, check=True
    )
    assert out.stdout.decode().strip() == str(environment.pairs())


def test_a_pickle_contains_no_secret(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOLVER_KEY", "sk-secret-0123456789")
    environment = aske_env.Environment(config, {"models.solver-20.api_key_env": "SOLVER_KEY"})
    for value in (environment, environment.session()):
        assert b"secret" not in pickle.dumps(value) and "secret" not in repr(value)


def test_sessions_and_calls_at_every_stage() -> None:
    session = aske_env.Environment("paper-train", [*OPTIONS, "protocol.rounds=1"]).session()
    answers = {"one": "3", "two": "4", "check": "3"}
    while calls := session.calls():
        for again in copies(session):
            assert [str(call) for call in again.calls()] == [str(call) for call in calls]
            assert [call.messages for call in again.calls()] == [call.messages for call in calls]
        for call in calls:
            content = TURN.format(call.turn) if call.role == "asker" else rf"\boxed{{{answers[call.role]}}}"
            # A copied call feeds a copied session, and the original is not changed.
            for again, own in zip(copies(session), copies(call), strict=True):
                again.feed(own, content)
                with pytest.raises(ValueError, match="did not ask"):
                    again.feed(own, content)
            session.feed(call, content)
    assert all(again.result() == session.result() for again in copies(session))


def test_a_session_of_another_protocol_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "aske.toml"
    path.write_text('extends = "paper-train"\n[protocol]\nrounds = 2')
    stored = pickle.dumps(aske_env.Environment(path).session())
    path.write_text('extends = "paper-train"\n[protocol]\nrounds = 3')
    with pytest.raises(ValueError, match="have changed"):
        pickle.loads(stored)


def test_exceptions() -> None:
    failure = aske_env.RolloutFailure("model `a`: network: refused", "network", "a", 3, "start it")
    for again in copies(failure):
        assert type(again) is aske_env.RolloutFailure and str(again) == str(failure)
        assert (again.cause, again.model, again.attempts, again.hint) == ("network", "a", 3, "start it")
    assert str(failure) == "model `a`: network: refused\nhint: start it"
    assert f"{type(failure).__module__}.{type(failure).__qualname__}" == "aske_env.RolloutFailure"
    plain = aske_env.RolloutFailure("broken")
    assert (str(plain), plain.cause, plain.model, plain.attempts, plain.hint) == ("broken", None, None, None, None)
    with pytest.raises(aske_env.ConfigError, match="no such configuration") as caught:
        aske_env.Environment("no-such-configuration")
    for again in copies(caught.value):
        assert isinstance(again, ValueError) and again.hint == caught.value.hint is not None
        assert str(again).endswith(f"\nhint: {again.hint}")


def test_a_path_and_a_dictionary_are_configurations(config: str) -> None:
    import tomllib

    text = Path(config).read_text()
    pairs = aske_env.Environment(config).pairs()
    assert aske_env.Environment(Path(config)).pairs() == pairs
    table = tomllib.loads(text)
    assert aske_env.Environment(table).pairs() == pairs
    assert aske_env.Environment(table | {"run": {"seed": 3}}, {"run.seed": 4}).seed == 4
    assert aske_env.Environment({"extends": config, "run": {"seed": 3}}).seed == 3
    assert aske_env.Environment({"extends": Path(config), "run": {"seed": 3}}).seed == 3
    for again in copies(aske_env.Environment(table, {"run.seed": 5, "boundary.solvers": ["solver-20", "solver-50"]})):
        assert (again.seed, again.pairs()) == (5, ["solver-20:solver-50"])
    with pytest.raises(aske_env.ConfigError, match="unknown key `ronds`"):
        aske_env.Environment(table | {"protocol": {"ronds": 3}})
    for wrong in (3, b"\xff", ["a"], {"run": None}, {"run": {"seed": object()}}):
        with pytest.raises((TypeError, ValueError)):
            aske_env.Environment(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="list"):
        aske_env.Environment(config, "run.seed=3")


def test_variables_that_set_nothing_are_warnings(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKE_HOME", "sk-secret-0123456789")
    monkeypatch.setenv("ASKE_RUN_SAMPELS", "sk-secret-0123456789")
    monkeypatch.setenv("ASKE_RUN_SEED", "9")
    with pytest.warns(UserWarning) as caught:
        environment = aske_env.Environment(config)
    assert environment.seed == 9
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2 and "ASKE_HOME" in messages[0] and "did you mean `samples`" in messages[1]
    assert "secret" not in str(messages) and caught[0].filename == __file__
    monkeypatch.setenv("ASKE_RUN_SEED", "many")
    with warnings.catch_warnings(), pytest.raises(aske_env.ConfigError, match="ASKE_RUN_SEED"):
        warnings.simplefilter("ignore")
        aske_env.Environment(config)


def test_variables_that_are_not_text_are_skipped(config: str) -> None:
    code = "import sys, aske_env; print(aske_env.Environment(sys.argv[1]).seed)"
    environment = {**os.environb, b"ASKE_X\xff": b"1", b"ASKE_Y": b"\xff", b"\xff": b"\xff"}
    out = subprocess.run([sys.executable, "-W", "error", "-c", code, config], env=environment, capture_output=True)
    assert (out.returncode, out.stdout.strip(), out.stderr) == (0, b"0", b"")


def test_a_refused_port_fails_within_seconds_with_the_words_of_the_program(tmp_path: Path) -> None:
    import asyncio
    import socket
    import time

    # A port that nothing listens on: bound, and never put to use.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        path = tmp_path / "aske.toml"
        path.write_text(CONFIG.format(url=url))
        environment = aske_env.Environment(path)

        async def play(options: dict[str, Any]) -> aske_env.RolloutFailure:
            with pytest.raises(aske_env.RolloutFailure) as caught:
                await environment.rollout("solver-20:solver-90", url=url, model="asker", **options)
            return caught.value

        begun = time.monotonic()
        failure = asyncio.run(play({}))
        assert time.monotonic() - begun < 5
        assert (failure.cause, failure.model, failure.attempts) == ("network", "asker", 3)
        # Where the policy is served is an argument here, and not in the configuration.
        assert failure.hint == f"is the server at {url} up?"

        told = subprocess.run(
            [ASKE, "bench", "--config", path, "--run", tmp_path / "run"], capture_output=True, text=True, check=False
        )
        assert told.returncode != 0
        assert failure.message in told.stderr
