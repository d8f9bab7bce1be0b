"""Answers of replies without a box: Ask-E and math-verify against labels.

    python benches/unboxed.py [blind | SOLUTIONS]

Without an argument: the 314 labelled replies of `crates/answer/tests/data/unboxed.jsonl`, which the search was improved
with. `blind`: the 300 of `unboxed_blind.jsonl`, which it was not. SOLUTIONS is
`grade_school_math/data/example_model_solutions.jsonl` of github.com/openai/grade-school-math: solutions by four models,
of which the last line, with the answer, is taken away; right is a solution whose answer is the reference.

Needs the wheel and math-verify.
"""

import json
import logging
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import aske_env
import math_verify

DATA = Path(__file__).resolve().parents[1] / "crates/answer/tests/data"
MODELS = ("6b_finetuning", "175b_finetuning", "6b_verification", "175b_verification")


def labelled(name: str) -> Iterator[tuple[str, str, bool]]:
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        reply = json.loads(line)
        yield reply["gold"], reply["reply"], reply["label"] == "right"


def solutions(path: str) -> Iterator[tuple[str, str, bool]]:
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        problem = json.loads(line)
        gold = problem["ground_truth"].rpartition("\nA:")[2].strip().replace(",", "")
        for model in MODELS:
            body, _, answer = problem[model]["solution"].rpartition("\nA:")
            body = re.sub(r"<<[^>]*>>", "", body).strip()
            if body:
                yield gold, body, answer.strip().replace(",", "") == gold


def ours(gold: str, reply: str) -> bool:
    return aske_env.verify(gold, aske_env.parse(reply))


def reproduced(gold: str, reply: str) -> bool:
    parse = aske_env.parse
    return aske_env.verify(parse(f"${gold}$", rules="math-verify"), parse(reply, rules="math-verify"))


def original(gold: str, reply: str) -> bool:
    return math_verify.verify(math_verify.parse(f"${gold}$"), math_verify.parse(reply))


def main() -> None:
    logging.disable(logging.WARNING)
    match sys.argv[1:]:
        case []:
            cases = list(labelled("unboxed.jsonl"))
        case ["blind"]:
            cases = list(labelled("unboxed_blind.jsonl"))
        case [path, *_]:
            cases = list(solutions(path))
    print(f"{len(cases)} replies, {sum(right for *_, right in cases)} right")
    for judge in (ours, reproduced, original):
        counts = Counter((right, judge(gold, reply)) for gold, reply, right in cases)
        as_labelled = counts[True, True] + counts[False, False]
        print(
            f"{judge.__name__:>10}: {as_labelled} as labelled ({as_labelled / len(cases):.1%}), "
            f"{counts[True, False]} right ones missed, {counts[False, True]} others accepted"
        )


if __name__ == "__main__":
    main()
