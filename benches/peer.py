#!/usr/bin/env python3
"""Run math-verify over a file of answer pairs.

Reads JSON lines {"kind", "gold", "pred", "label"} and writes the same lines
with "math_verify": its verdict on \\boxed{gold} against \\boxed{pred} with the
default settings of `parse` and `verify`.  With --wrappings it also compares
the $...$ wrapping and reports, kind by kind, how many verdicts change.
"""

import argparse
import collections
import json
import logging
import sys
import time

BOXED = "\\boxed{%s}"
DOLLAR = "$%s$"


def load(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.strip()]


def verdict(gold, pred, wrap=BOXED):
    """math-verify's verdict, and the seconds it took."""
    from math_verify import parse, verify

    t = time.perf_counter()
    v = verify(parse(wrap.replace("%s", gold)), parse(wrap.replace("%s", pred)))
    return bool(v), time.perf_counter() - t


def verdicts(pairs, wrap=BOXED, progress=False):
    out = []
    for i, p in enumerate(pairs):
        out.append(verdict(p["gold"], p["pred"], wrap))
        if progress and i % 500 == 499:
            print(f"{i + 1} of {len(pairs)}", file=sys.stderr, flush=True)
    return out


def main():
    a = argparse.ArgumentParser(description="Run math-verify over a file of answer pairs.")
    a.add_argument("pairs", help="JSON lines with kind, gold, pred, label")
    a.add_argument("--out", help="write the pairs with math-verify's verdict here")
    a.add_argument("--wrappings", action="store_true", help="compare the $...$ wrapping with the boxed one")
    a.add_argument("--slow", type=float, default=2.0, help="name the pairs that take longer than this many seconds")
    a = a.parse_args()
    logging.disable(logging.CRITICAL)
    pairs = load(a.pairs)
    t = time.perf_counter()
    got = verdicts(pairs, progress=True)
    t = time.perf_counter() - t
    print(f"{len(pairs)} pairs in {t:.1f} s: {len(pairs) / t:.1f} pairs/s")
    for p, (_, s) in zip(pairs, got):
        if s > a.slow:
            print(f"slow {s:.1f} s: {p['kind']}: {p['gold']} | {p['pred']}")
    if a.out:
        with open(a.out, "w", encoding="utf-8") as f:
            for p, (v, _) in zip(pairs, got):
                f.write(json.dumps({**p, "math_verify": v}, ensure_ascii=False, separators=(",", ":")) + "\n")
    n, ok = collections.Counter(), collections.Counter()
    for p, (v, _) in zip(pairs, got):
        n[p["kind"]] += 1
        ok[p["kind"]] += v == p["label"]
    for k in n:
        print(f"{k:26} {n[k]:5} label accuracy {100 * ok[k] / n[k]:5.1f}%")
    print(f"{'all':26} {len(pairs):5} label accuracy {100 * sum(ok.values()) / len(pairs):5.1f}%")
    if a.wrappings:
        other = verdicts(pairs, DOLLAR)
        diff = collections.Counter()
        for p, (v, _), (w, _) in zip(pairs, got, other):
            if v != w:
                diff[p["kind"]] += 1
                print(f"boxed {v}, dollars {w}, label {p['label']}: {p['kind']}: {p['gold']} | {p['pred']}")
        print(f"the two wrappings differ on {sum(diff.values())} of {len(pairs)} pairs")
        for k, c in diff.most_common():
            print(f"{k:26} {c:5}")


if __name__ == "__main__":
    main()
