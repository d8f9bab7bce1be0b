"""The answer engine from Python."""

from concurrent.futures import ThreadPoolExecutor

import aske_env
import pytest

PAIRS = [
    (r"\frac{1}{2}", "0.5", True),
    (r"2\sqrt{3}", r"\sqrt{12}", True),
    ("x^2 - 1", "(x-1)(x+1)", True),
    (r"\{1, 2\}", r"\{2, 1\}", True),
    ("3", "4", False),
    ("(1, 2)", "(2, 1)", False),
    (r"\pi", "3.14", False),
]


@pytest.mark.parametrize(("gold", "target", "equal"), PAIRS)
def test_verdicts(gold: str, target: str, equal: bool) -> None:
    assert aske_env.verify(gold, target) is equal
    assert aske_env.verify(aske_env.parse(gold), aske_env.parse(rf"So it is \boxed{{{target}}}.")) is equal


def test_verdicts_do_not_depend_on_threads_or_batching() -> None:
    numbers = [(str(n % 97), rf"\frac{{{n * 3}}}{{3}}") for n in range(2000)]
    alone = [aske_env.verify(gold, target) for gold, target in numbers]
    assert sum(alone) == 97  # n % 97 == n for the first 97 numbers only
    with ThreadPoolExecutor(16) as pool:
        threaded = list(pool.map(lambda pair: aske_env.verify(*pair), numbers))
    golds, targets = zip(*numbers, strict=True)
    assert threaded == alone == aske_env.verify_batch(golds, targets) == aske_env.verify_batch(golds, targets, threads=3)


def test_extract_returns_the_last_box_and_a_word_only_on_request() -> None:
    assert aske_env.extract(r"\boxed{1}, no: \boxed{ 2 }") == "2"
    assert aske_env.extract("it is 7") is None
    assert aske_env.extract("it is 7", word=True) == "7"


def test_a_parsed_answer_shows_its_readings() -> None:
    parsed = aske_env.parse(r"\boxed{\frac{1}{2}}")
    assert parsed.text == r"\frac{1}{2}" and len(parsed) == len(parsed.readings) > 0


UNBOXED = [
    ("The answer is 5.", "5"),
    ("So we get $5$.", "$5$"),
    ("The answer is not 6 but 7.", "7"),
    ("She sold 48 + 24 = 72 clips.", "72 clips"),
    ("I don't know.", "I don't know."),
]


@pytest.mark.parametrize(("reply", "answer"), UNBOXED)
def test_parse_finds_the_answer_of_a_reply_without_a_box(reply: str, answer: str) -> None:
    assert aske_env.parse(reply).text == answer


def test_the_order_of_places_is_configurable() -> None:
    reply = "The answer is 5, as $2+4=6$."
    assert aske_env.verify("5", aske_env.parse(reply))
    assert aske_env.parse(reply, order=["formula"]).text == "6"
    assert aske_env.parse(reply, order=["box"]).text == reply
    with pytest.raises(ValueError, match="unknown place"):
        aske_env.parse(reply, order=["guess"])  # type: ignore[list-item]


def test_rules_given_to_parse_hold_in_verify() -> None:
    parsed = [aske_env.parse(text, rules="math-verify") for text in ("$(1,2)$", "$\\{1, 2\\}$")]
    assert aske_env.verify(*parsed) and not aske_env.verify("(1,2)", r"\{1, 2\}")
    assert aske_env.verify(*parsed, rules="math-verify") and aske_env.verify_batch(parsed[:1], parsed[1:]) == [True]
    with pytest.raises(ValueError, match="different rules"):
        aske_env.verify(*parsed, rules="aske")


def test_odd_strings() -> None:
    class Text(str):
        pass

    assert aske_env.verify(Text("0.5"), aske_env.parse(Text(r"\boxed{1/2}")))
    assert aske_env.parse("\ud800 5").text and aske_env.extract("\udfff") is None
    for wrong in (None, b"5", float("nan"), ["5"]):
        with pytest.raises(TypeError):
            aske_env.verify(wrong, "5")  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            aske_env.parse(wrong)  # type: ignore[arg-type]


def test_invalid_arguments_raise() -> None:
    with pytest.raises(TypeError, match="an answer must be a str"):
        aske_env.verify(1, "1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one of"):
        aske_env.verify("1", "1", rules="lenient")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 golds and 1 targets"):
        aske_env.verify_batch(["1", "2"], ["1"])
