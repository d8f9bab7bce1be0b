"""Calls of math-verify in the shapes in which verifiers, TRL and users make them, and what each gives.

`python math_verify_calls.py` prints how many of them agree between math-verify and `aske_env.math_verify`.
"""

import importlib
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "crates/answer/tests/data"
COUNT = 1000

Call = tuple[str, Callable[[ModuleType], Any]]


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def calls() -> list[Call]:
    """The calls: 350 of verifiers, 230 of TRL, 200 on replies without a box, wrong types, and the rest with options."""
    choose = random.Random(25)
    pairs = choose.sample(lines("mix.jsonl"), 580)
    replies = choose.sample(lines("unboxed.jsonl"), 200)
    out: list[Call] = [("verifiers", verifiers(pair["gold"], pair["pred"])) for pair in pairs[:350]]
    out += [("trl", trl(pair["gold"], pair["pred"], index)) for index, pair in enumerate(pairs[350:])]
    out += [("unboxed", unboxed(reply["gold"], reply["reply"])) for reply in replies]
    out += mistakes()
    out += islice(options(choose, pairs, replies), COUNT - len(out))
    return out


def verifiers(gold: str, pred: str) -> Callable[[ModuleType], Any]:
    """`verify_boxed_math_answer` of 0.4.0 and `verify_response` of 0.3.1."""

    def call(peer: ModuleType) -> Any:
        parsed = peer.parse(f"\\boxed{{{gold}}}", parsing_timeout=5)
        response = peer.parse(f"\\boxed{{{pred}}}", parsing_timeout=5)
        return float(peer.verify(parsed, response, timeout_seconds=5)), shape(parsed), shape(response)

    return call


def trl(gold: str, pred: str, index: int) -> Callable[[ModuleType], Any]:
    """`accuracy_reward` of 1.16."""
    shapes = ("My answer is \\boxed{{{}}}", "${}$ is what I get.", "The final answer is ${}$. I hope it is correct.", "{}")
    solution = ("${}$", "\\boxed{{{}}}", "{}", "Thus $${}$$")[index % 4].format(gold)
    content = shapes[index % 3 if index % 7 else 3].format(pred)

    def call(peer: ModuleType) -> Any:
        from latex2sympy2_extended import NormalizationConfig

        parsed = peer.parse(solution, parsing_timeout=10)
        if len(parsed) == 0:
            return None
        answer = peer.parse(
            content,
            extraction_config=[
                peer.LatexExtractionConfig(
                    normalization_config=NormalizationConfig(units=True),
                    boxed_match_priority=0,
                    try_extract_without_anchor=False,
                )
            ],
            extraction_mode="first_match",
            parsing_timeout=10,
        )
        return float(peer.verify(parsed, answer, timeout_seconds=5)), bool(str(answer)), shape(answer)

    return call


def unboxed(gold: str, reply: str) -> Callable[[ModuleType], Any]:
    def call(peer: ModuleType) -> Any:
        parsed, found = peer.parse(f"${gold}$"), peer.parse(reply)
        return peer.verify(parsed, found), shape(found)

    return call


def options(choose: random.Random, pairs: list[dict[str, Any]], replies: list[dict[str, Any]]) -> Iterator[Call]:
    """Configurations, modes, positional arguments, lists put together, precision and strictness."""
    while True:
        pair, reply = choose.choice(pairs), choose.choice(replies)
        text = choose.choice([reply["reply"], f"final answer is $9$, \\boxed{{{pair['pred']}}}", f"Answer: ${pair['pred']}$"])
        kind, priority = choose.randrange(6), choose.choice([-1, 0, 50, 100, 300])
        fallback, mode = choose.choice(["no_fallback", "first_match"]), choose.choice(["first_match", "any_match"])
        anchorless, digits = choose.random() < 0.5, choose.choice([0, 2, 6, 10])

        def call(
            peer: ModuleType,
            pair: Any = pair,
            text: str = text,
            kind: int = kind,
            priority: int = priority,
            fallback: str = fallback,
            mode: str = mode,
            anchorless: bool = anchorless,
            digits: int = digits,
        ) -> Any:
            latex = peer.LatexExtractionConfig(anchorless, priority)
            plain = peer.ExprExtractionConfig(anchorless)
            words = peer.StringExtractionConfig(("A", "B", "C", "yes", "5"), anchorless)
            gold = peer.parse(f"${pair['gold']}$")
            if kind == 5:
                near = peer.parse("$0.33334$"), peer.parse("$0.33329$")
                return peer.verify(*near, digits), peer.verify(gold, peer.parse(f"${pair['pred']}$"), digits, 10)
            configs = ([latex], (plain, latex), [words], [words, latex, plain], [latex, plain])[kind]
            found = peer.parse(text, configs, fallback, mode, 5, True)
            both = gold + found
            return shape(found), peer.verify(gold, found), peer.verify(both, both), len(both), bool(found)

        yield "options", call


ODD = [None, 5, 5.0, float("nan"), b"5", True, [], (), {}, ["5"], ("5",), "", " ", "5", "x", "\x00", "½", "٣", "\ud800", object]


def mistakes() -> Iterator[Call]:
    """Wrong types, empty and odd arguments, and what raises."""

    def parse(value: Any, **more: Any) -> Call:
        return "mistakes", lambda peer: shape(peer.parse(value, **more))

    def verify(gold: Any, target: Any, **more: Any) -> Call:
        return "mistakes", lambda peer: peer.verify(gold, target, **more)

    yield from (parse(value) for value in ODD)
    yield from (parse(value, raise_on_error=True) for value in ODD)
    yield from (verify(value, "5") for value in ODD)
    yield from (verify(value, value) for value in ODD)
    yield "mistakes", lambda peer: shape(peer.parse("$5$", peer.LatexExtractionConfig()))
    yield "mistakes", lambda peer: shape(peer.parse("$5$", peer.LatexExtractionConfig(), raise_on_error=True))
    yield "mistakes", lambda peer: shape(peer.parse("A", [peer.StringExtractionConfig(strings=["A"])], raise_on_error=True))
    yield "mistakes", lambda peer: shape(peer.parse("A", [peer.StringExtractionConfig(strings=["A"])]))
    yield "mistakes", lambda peer: shape(peer.parse("$5$", [None], raise_on_error=True))
    yield "mistakes", lambda peer: peer.verify(peer.parse("$5$"), peer.parse("$5$"), timeout_seconds="5")
    yield "mistakes", lambda peer: peer.verify(peer.parse(r"$\frac{1}{0}$"), peer.parse("$5$"), raise_on_error=True)
    yield "mistakes", lambda peer: peer.verify(peer.parse(r"$\frac{1}{0}$"), peer.parse("$5$"))
    yield "mistakes", lambda peer: peer.math_metric()(["5"], ["the answer is 5"])[0]
    yield "mistakes", lambda peer: peer.math_metric()(["no"], ["the answer is 5"])[0]
    for gold, target in [("$f(x)$", "$f(y)$"), ("$x+1$", "$y+1$"), ("$x=1$", "$y=1$"), ("$(1,2)$", "$\\{1,2\\}$")]:
        for strict in (True, False):
            yield "mistakes", lambda peer, g=gold, t=target, s=strict: peer.verify(peer.parse(g), peer.parse(t), strict=s)
    for gold, target in [("$(1,2)$", "$1<x<2$"), ("$1<x<2$", "$(1,2)$"), ("$(1,\\infty)$", "$x>1$")]:
        for allow in (True, False):
            yield (
                "mistakes",
                lambda peer, g=gold, t=target, a=allow: peer.verify(
                    peer.parse(g), peer.parse(t), allow_set_relation_comp=a
                ),
            )


def shape(found: list[Any]) -> list[Any]:
    """The texts of a result, and a mark for each expression."""
    assert isinstance(found, list)
    return [item if isinstance(item, str) else "…" for item in found]


def outcome(call: Callable[[ModuleType], Any], peer: ModuleType) -> Any:
    """What a call gives: its result, or the type of its exception."""
    try:
        return call(peer)
    except (Exception, importlib.import_module(peer.__name__ + ".errors").TimeoutException) as error:  # noqa: BLE001
        return type(error).__name__


def compare(theirs: ModuleType, ours: ModuleType) -> tuple[Counter[str], list[str]]:
    """How many calls of each kind there are, and those that differ."""
    kinds: Counter[str] = Counter()
    differences = []
    for index, (kind, call) in enumerate(calls()):
        kinds[kind] += 1
        expected, found = outcome(call, theirs), outcome(call, ours)
        if expected != found:
            differences.append(f"{index} {kind}: math-verify {expected!r}, aske_env {found!r}")
    return kinds, differences


if __name__ == "__main__":
    kinds, differences = compare(importlib.import_module("math_verify"), importlib.import_module("aske_env.math_verify"))
    print(*differences, sep="\n", file=sys.stderr)
    print(f"{kinds.total()} calls {dict(kinds)}: {kinds.total() - len(differences)} agree")
