"""The session machine, fed by hand."""

import aske_env
import pytest

OPTIONS = ['boundary.set="small"']
TURN = "#Observation#\nnone\n#Understanding#\nnone\n#Draft#\nnone\n#Question#\nWhat is {} + 1?"


def play(answers: dict[str, str], rounds: int = 1) -> aske_env.Session:
    """A session whose solvers always answer the same."""
    session = aske_env.Environment("paper-train", OPTIONS + [f"protocol.rounds={rounds}"]).session()
    while calls := session.calls():
        for call in calls:
            said = TURN.format(call.turn) if call.role == "asker" else rf"\boxed{{{answers[call.role]}}}"
            session.feed(call, said)
    return session




@pytest.mark.parametrize(
    ("answers", "outcome", "calibration"),
    [
        # The reward of each outcome is the paper's.
        ({"one": "3", "two": "4", "check": "3"}, "calibrated", 1.0),
        ({"one": "3", "two": "3", "check": "3"}, "too_easy", 0.2),
        ({"one": "4", "two": "5", "check": "3"}, "too_hard", -0.2),
    ],
)
def test_outcomes_and_rewards(answers: dict[str, str], outcome: str, calibration: float) -> None:
    result = play(answers).result(novelty=0.5)
    assert (result["outcome"], result["reward"]["calibration"]) == (outcome, calibration)
    # The bonus counts only where calibration pays.
    assert result["reward"]["diversity"] == pytest.approx(0.5 * max(calibration, 0.0))
    assert result["question"] == "What is 2 + 1?"
    assert result["total"] == pytest.approx(sum(result["reward"].values()))


def test_a_session_lists_its_calls_and_rejects_other_replies() -> None:
    session = aske_env.Environment("paper-train", OPTIONS).session()
    (call,) = session.calls()
    assert (call.role, call.turn, call.max_tokens) == ("asker", 1, 4000)  # the paper's training dialogue
    assert [message["role"] for message in call.messages] == ["system", "user"]
    with pytest.raises(ValueError, match="not done"):
        session.result()
    session.feed(call, TURN.format(7))
    with pytest.raises(ValueError, match="did not ask"):
        session.feed(call, "again")
    assert sorted(call.role for call in session.calls()) == ["one", "two"]
