"""`aske_env.math_verify` in the place of math-verify."""

import copy
import importlib.util
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import aske_env
import math_verify_calls
import pytest
from aske_env.math_verify import (
    ExprExtractionConfig,
    LatexExtractionConfig,
    StringExtractionConfig,
    math_metric,
    parse,
    verify,
)
from aske_env.math_verify.errors import TimeoutException

# math-verify raises a SympifyError for digits of other scripts, which no answer of a model has shown yet.
EXPLAINED = 1


@pytest.mark.skipif(importlib.util.find_spec("math_verify") is None, reason="math-verify is not installed")
def test_a_thousand_calls_agree_with_math_verify() -> None:
    import aske_env.math_verify as ours
    import math_verify as theirs

    kinds, differences = math_verify_calls.compare(theirs, ours)
    assert kinds.total() == 1000
    assert len(differences) <= EXPLAINED, differences


def test_rules_of_parse_find_what_math_verify_finds() -> None:
    replies = math_verify_calls.lines("unboxed.jsonl")
    for reply in replies:
        gold, text = f"${reply['gold']}$", reply["reply"]
        parsed = aske_env.parse(gold, rules="math-verify"), aske_env.parse(text, rules="math-verify")
        assert aske_env.verify(*parsed) is verify(parse(gold), parse(text)), reply


def test_results_are_lists() -> None:
    found = parse(r"So it is $\frac12$.")
    assert len(found) == 2 and found and str(found[0]) == found[1] == r"\frac{1}{2}"
    assert verify(found + parse("$3$"), parse("$3$")) and not verify([], found)
    assert parse("no answer") == [] == parse(None)  # type: ignore[arg-type]
    assert found[0] == parse(r"\boxed{\frac{1}{2}}")[0] and parse("$5$")[0] == 5


def test_configurations_are_positional_and_hashable() -> None:
    assert parse("$1$, \\boxed{2}", [LatexExtractionConfig(True, 0)])[1] == "2"
    assert parse("$1$, 2", (ExprExtractionConfig(),), "no_fallback", "first_match", 5, True)[0] == 2
    assert parse("The answer is B.", [StringExtractionConfig(("B",), True, False)]) == ["B", "B"]
    with pytest.raises(TypeError, match="unhashable"):
        parse("B", [StringExtractionConfig(strings=["B"])], raise_on_error=True)  # type: ignore[arg-type]


def test_expressions_pickle_and_copy() -> None:
    for text in (r"$\frac12$ and $3$", "1 + 2*3", "-5.50%", r"\boxed{x<3}"):
        found = parse(text)
        assert found and pickle.loads(pickle.dumps(found)) == found == copy.deepcopy(found)
        assert len({found[0], pickle.loads(pickle.dumps(found[0]))}) == 1


def test_every_thread_may_verify() -> None:
    def one(n: int) -> bool:
        return verify(parse(f"${n}$", parsing_timeout=5), parse(f"\\boxed{{\\frac{{{2 * n}}}{{2}}}}"), timeout_seconds=5)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(200)))


def test_the_bound_on_work_counts_as_a_timeout() -> None:
    text = "$" + "(" * 9000 + "1" + ")" * 9000 + "$"
    assert parse(text) == []
    with pytest.raises(TimeoutException):
        parse(text, raise_on_error=True)
    assert not issubclass(TimeoutException, Exception)


HOSTILE = [
    "x" * 1_000_000,
    "$" * 1_000_000,
    "$a" * 300_000,
    "\\boxed{" * 100_000,
    "answer " * 100_000,
    "final answer is " * 50_000,
    "answer: 1 = " * 50_000,
    "\\frac{1}{2}, " * 50_000,
    "1,234 " * 100_000,
    "$\\boxed{1" * 20_000,
    "(1+" * 100_000,
    "[ " * 200_000,
    "\\(" * 200_000,
    "\ud800$5$\udfff",
    "\u202e$5$\u0000",
    "𝟝 ٣ ½ ⅷ",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_end(text: str) -> None:
    """Each within the time of one test, without a crash."""
    found = parse(text)
    verify(found, found)
    aske_env.verify(aske_env.parse(text), "5")
    aske_env.verify(aske_env.parse(text, rules="math-verify"), "5")


def test_a_metric_over_lists() -> None:
    assert math_metric()(["5"], ["it is 4", "it is 5"]) == (1.0, (["5", "5"], ["4", "4", "5", "5"]))
    with pytest.raises(ValueError, match="No gold targets"):
        math_metric()(["none"], ["5"])


def run(code: str) -> str:
    """Runs Python in a process of its own, with math-verify replaced."""
    code = f"import aske_env.math_verify\naske_env.math_verify.install()\n{code}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_install_replaces_the_import() -> None:
    code = """
from math_verify import parse, verify
from math_verify.errors import TimeoutException
from math_verify.grader import verify as other
from math_verify.metric import math_metric
from math_verify.parser import LatexExtractionConfig
print(verify is other, verify(parse("$5$"), parse("the answer is 5")), parse.__module__)
"""
    assert run(code) == "True True aske_env.math_verify.parser"


@pytest.mark.skipif(importlib.util.find_spec("verifiers") is None, reason="verifiers is not installed")
def test_verifiers_scores_with_it() -> None:
    """With math-verify 0.9.0 the same call gives the same scores."""
    code = r"""
from verifiers.v1.utils import score
cases = [("1/2", r"\boxed{0.5}"), ("5", r"<think>6</think> So \boxed{5}."), ("5", "5"), ("5", r"\boxed{6}"), ("5", None)]
print(score.parse.__module__, [score.verify_boxed_math_answer(reply, gold) for gold, reply in cases])
"""
    assert run(code) == "aske_env.math_verify.parser [1.0, 1.0, 0.0, 0.0, 0.0]"


@pytest.mark.skipif(importlib.util.find_spec("trl") is None, reason="TRL is not installed")
def test_trl_scores_with_it() -> None:
    code = r"""
from trl.rewards import accuracy_reward
replies = [r"My answer is \boxed{\frac{1}{3}}", r"\boxed{\frac{1}{2}}", "no box", r"\boxed{3}"]
golds = [r"\frac{1}{3}", r"\frac{1}{3}", r"\frac{1}{3}", "no number"]
print(accuracy_reward([[{"content": reply}] for reply in replies], golds))
"""
    assert run(code) == "[1.0, 0.0, 0.0, None]"


