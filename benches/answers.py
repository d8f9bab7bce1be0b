#!/usr/bin/env python3
"""Compare `aske verify` with math-verify on one generated mix of answers.

One run does both sides on this machine: it generates the mix (mix.py), runs
math-verify 0.9.0 over it in this process, runs `aske verify --jsonl` with its
default policies and with `--compat math-verify`, and prints for each kind

  n         pairs of the kind
  aske      share of the labels that aske gives with its default policies
  m-v       share of the labels that math-verify gives
  compat    share of math-verify's verdicts that aske gives in compat mode

then the totals, the throughput of both sides on one thread (reading and
comparing; neither side's start-up counts), and every pair on which compat
mode and math-verify disagree, with who is right by the label.

With --hostile it feeds aske inputs made to be slow or large instead, each
against itself, against a slightly changed copy and against "1", one process
for each input, and reports the slowest comparison and the peak memory.

math-verify is timed over the mix once, aske over the mix repeated; a fixed cost
of either outside its own loop does not count.

Needs math-verify==0.9.0, latex2sympy2_extended==1.11.0, sympy==1.14.0 and
antlr4-python3-runtime==4.13.2 from PyPI; --hostile needs only the standard library.
"""

import argparse
import collections
import json
import logging
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

LIMIT = 64 * 1024  # bytes of a hostile input, except those that test the length limit
MODES = ("default", "math-verify", "paper")  # of hostile inputs


# ---------------------------------------------------------------- running aske


def build():
    """Builds aske for release; returns its path."""
    cmd = ["cargo", "build", "--release", "--bin", "aske", "--message-format=json-render-diagnostics"]
    out = subprocess.run(cmd, cwd=HERE.parent, stdout=subprocess.PIPE, text=True)
    if out.returncode:
        sys.exit("cargo could not build aske; name a binary with --aske")
    for line in out.stdout.splitlines():
        msg = json.loads(line) if line.startswith("{") else {}
        if msg.get("executable") and msg.get("target", {}).get("name") == "aske":
            return msg["executable"]
    sys.exit("cargo built no binary called aske; name one with --aske")


# A process counts as peak memory what its parent held when it was started, so
# aske is started by a small interpreter and not by this one.
STARTER = """
import json, os, sys
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as f:
    json.dump([os.waitstatus_to_exitcode(status), usage.ru_maxrss], f)
"""


def run_child(cmd, timeout):
    """Runs a command; returns status, stdout, stderr, seconds and peak memory in MB."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.NamedTemporaryFile("r") as usage:
        t = time.perf_counter()
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", STARTER, usage.name, *map(str, cmd)], stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        try:
            child.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        seconds = time.perf_counter() - t
        out.seek(0)
        err.seek(0)
        text = usage.read()
        status, peak = json.loads(text) if text else ("stopped", 0)
        return {
            "status": status,
            "out": out.read().decode("utf-8", "replace"),
            "err": err.read().decode("utf-8", "replace"),
            "seconds": seconds,
            "peak_mb": peak / (1024 * 1024 if sys.platform == "darwin" else 1024),
        }


def timing(errors):
    """The last JSON line with a number of pairs on standard error."""
    for line in reversed(errors.splitlines()):
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if "pairs" in found:
                return found
    return None


def write_pairs(path, pairs, times=1):
    lines = "".join(json.dumps({"gold": p["gold"], "pred": p["pred"]}, ensure_ascii=False) + "\n" for p in pairs)
    with open(path, "w", encoding="utf-8") as f:
        for _ in range(times):
            f.write(lines)


def aske_verdicts(aske, path, n, compat, timeout):
    cmd = [aske, "verify", "--jsonl", str(path)] + (["--compat", "math-verify"] if compat else [])
    got = run_child(cmd, timeout)
    lines = [json.loads(x) for x in got["out"].splitlines() if x.strip()]
    if len(lines) != n:
        sys.exit(f"{' '.join(cmd)}: {len(lines)} verdicts for {n} pairs, status {got['status']}\n{got['err'][-2000:]}")
    return lines


def aske_speed(aske, path, compat, timeout):
    cmd = [aske, "verify", "--jsonl", str(path), "--timing"] + (["--compat", "math-verify"] if compat else [])
    got = run_child(cmd, timeout)
    t = timing(got["err"])
    if t is None:
        sys.exit(f"{' '.join(cmd)}: no timing line, status {got['status']}\n{got['err'][-2000:]}")
    t["pairs_per_s"] = t["pairs"] / t["seconds"] if t["seconds"] else float("inf")
    t["process_seconds"] = got["seconds"]
    t["peak_mb"] = got["peak_mb"]
    return t


# ---------------------------------------------------------------- running math-verify


def math_verify_verdicts(pairs):
    try:
        from math_verify import parse, verify
    except ImportError:
        sys.exit("math-verify is not installed: pip install math-verify==0.9.0 latex2sympy2_extended==1.11.0 sympy==1.14.0 antlr4-python3-runtime==4.13.2")
    logging.disable(logging.CRITICAL)

    def one(gold, pred):
        return bool(verify(parse("\\boxed{" + gold + "}"), parse("\\boxed{" + pred + "}")))

    one("\\frac{1}{2}+x", "x+0.5")  # compile its regular expressions and its parser tables first
    out = []
    start = time.perf_counter()
    for i, p in enumerate(pairs):
        out.append(one(p["gold"], p["pred"]))
        if i % 500 == 499:
            print(f"math-verify: {i + 1} of {len(pairs)}", file=sys.stderr, flush=True)
    return out, time.perf_counter() - start


# ---------------------------------------------------------------- the mix


def percent(a, n):
    return f"{100 * a / n:6.2f}" if n else "     -"


def compare(a):
    import mix

    pairs = mix.generate()
    if a.sample:
        pairs = random.Random(1).sample(pairs, min(a.sample, len(pairs)))
        pairs.sort(key=lambda p: list(mix.KINDS).index(p["kind"]))
    n = len(pairs)
    aske = a.aske or build()

    with tempfile.TemporaryDirectory() as tmp:
        once, many = pathlib.Path(tmp) / "mix.jsonl", pathlib.Path(tmp) / "many.jsonl"
        write_pairs(once, pairs)
        write_pairs(many, pairs, a.repeat)
        default = aske_verdicts(aske, once, n, False, a.timeout)
        compat = aske_verdicts(aske, once, n, True, a.timeout)
        speed = {"default": aske_speed(aske, many, False, a.timeout), "compat": aske_speed(aske, many, True, a.timeout)}
    theirs, their_seconds = math_verify_verdicts(pairs)
    their_rate = n / their_seconds

    count = collections.defaultdict(collections.Counter)
    disagree = []
    for p, d, c, v in zip(pairs, default, compat, theirs):
        for k in (p["kind"], "all"):
            row = count[k]
            row["n"] += 1
            row["unequal"] += not p["label"]
            row["aske"] += d["equal"] == p["label"]
            row["undecided"] += d["equal"] is None
            row["false_equal"] += d["equal"] is True and not p["label"]
            row["math_verify"] += v == p["label"]
            row["math_verify_false_equal"] += v and not p["label"]
            row["compat"] += c["equal"] == v
        if c["equal"] != v:
            right = "math-verify" if v == p["label"] else "compat" if c["equal"] == p["label"] else "neither"
            disagree.append({**p, "math_verify": v, "compat": c["equal"], "method": c.get("method"), "right": right})

    total = count.pop("all")
    print(f"{'kind':26} {'n':>5} {'unequal':>8} {'aske':>7} {'m-v':>7} {'compat':>7}")
    for k, row in list(count.items()) + [("all", total)]:
        print(f"{k:26} {row['n']:5} {percent(row['unequal'], row['n']):>8} {percent(row['aske'], row['n']):>7} {percent(row['math_verify'], row['n']):>7} {percent(row['compat'], row['n']):>7}")
    print()
    print(f"labels: aske {total['aske']} of {n}, {total['false_equal']} false equal, {total['undecided']} undecided; math-verify {total['math_verify']}, {total['math_verify_false_equal']} false equal")
    print(f"compat mode gives math-verify's verdict on {total['compat']} of {n} ({percent(total['compat'], n).strip()}%)")
    worst = min(count.items(), key=lambda kv: kv[1]["compat"] / kv[1]["n"])
    print(f"worst kind in compat mode: {worst[0]}, {percent(worst[1]['compat'], worst[1]['n']).strip()}%")
    print()
    print("throughput, one thread, reading and comparing:")
    print(f"  math-verify     {their_rate:12.1f} pairs/s  ({n} pairs in {their_seconds:.1f} s)")
    for mode, t in speed.items():
        print(f"  aske {mode:10} {t['pairs_per_s']:12.0f} pairs/s  {t['pairs_per_s'] / their_rate:8.0f} times;  p50 {t['p50_us']:.1f} us, p99 {t['p99_us']:.1f} us, max {t['max_us']:.1f} us;  whole process {t['process_seconds']:.2f} s for {t['pairs']} pairs, peak {t['peak_mb']:.0f} MB")
    if disagree:
        by = collections.Counter(d["right"] for d in disagree)
        print()
        print(f"{len(disagree)} pairs on which compat mode and math-verify disagree (right by the label: " + ", ".join(f"{k} {c}" for k, c in sorted(by.items())) + "):")
        for d in disagree:
            print(f"  {d['kind']}: {d['gold']} | {d['pred']}   compat {d['compat']}, math-verify {d['math_verify']}; right: {d['right']}")

    if a.write:
        rows = [{**p, "math_verify": v} for p, v in zip(pairs, theirs)]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        pathlib.Path(a.write).write_text(text, encoding="utf-8")

    if a.json:
        report = {
            "pairs": n,
            "kinds": {k: dict(r) for k, r in count.items()},
            "total": dict(total),
            "speed": {**speed, "math_verify": {"pairs": n, "seconds": their_seconds, "pairs_per_s": their_rate}, "ratio": {m: t["pairs_per_s"] / their_rate for m, t in speed.items()}},
            "disagreements": disagree,
        }
        pathlib.Path(a.json).write_text(json.dumps(report, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    if a.check:
        bad = []
        if total["compat"] < 0.98 * n:
            bad.append("compat mode is under 98%")
        bad += [f"compat mode is under 90% on {k}" for k, r in count.items() if r["compat"] < 0.9 * r["n"]]
        for mode, t in speed.items():
            if t["pairs_per_s"] < 500 * their_rate:
                bad.append(f"{mode} mode is under 500 times math-verify's throughput")
            if t["p99_us"] >= 1000:
                bad.append(f"{mode} mode has a p99 of 1 ms or more")
        for b in bad:
            print(f"not met: {b}")
        return 1 if bad else 0
    return 0


# ---------------------------------------------------------------- hostile inputs


def fit(make, n):
    """make(n), with n halved until it fits the limit."""
    while len(make(n).encode()) > LIMIT:
        n //= 2
    return make(n)


def nest(left, core, right, n):
    return fit(lambda k: left * k + core + right * k, n)


def hostile():
    """Named hostile inputs, each of at most 64 KB."""
    r = random.Random(7)
    num = lambda n: "".join(r.choice("123456789") for _ in range(n))
    letters = "abcdfghjklmnopqrstuvwxyz"
    j = lambda sep, f, n: fit(lambda k: sep.join(f(i) for i in range(1, k + 1)), n)
    primes = [p for p in range(2, 20000) if all(p % q for q in range(2, int(p**0.5) + 1))]
    rows = lambda n, m, f: "\\\\".join("&".join(str(f(i, k)) for k in range(m)) for i in range(n))
    cases = {
        "tower of four nines": "9^{9^{9^9}}",
        "tower of 1,000 twos": nest("2^{", "2", "}", 1000),
        "tower of variables": nest("x^{", "x", "}", 3000),
        "tower in a denominator": "\\frac{1}{9^{9^{9^9}}}",
        "difference of towers": "9^{9^{9^9}}-9^{9^{9^9}}+1",
        "5,000 braces": nest("{", "1", "}", 5000),
        "30,000 braces": nest("{", "1", "}", 30000),
        "5,000 open braces": "{" * 5000 + "1",
        "5,000 closing braces": "1" + "}" * 5000,
        "60,000 open brackets": "(" * 60000,
        "60,000 closing brackets": ")" * 60000,
        "30,000 bracket pairs": nest("(", "1", ")", 30000),
        "mixed brackets": fit(lambda n: "([{" * n + "1" + "])}" * n, 9000),
        "\\left without \\right": nest("\\left(", "x", "", 8000),
        "\\right without \\left": nest("", "x", "\\right)", 8000),
        "deep \\left and \\right": nest("\\left(", "x+1", "\\right)", 4000),
        "10,000 letters": "x" * 10000,
        "10,000 different letters": "".join(letters[(i * i + 3 * i) % len(letters)] for i in range(10000)),
        "60,000 letters": "".join(r.choice(letters) for _ in range(60000)),
        "2,000-element set": "\\{" + ",".join(str(i * 7919 % 10007) for i in range(2000)) + "\\}",
        "2,000-element set of fractions": "\\{" + j(",", lambda i: f"\\frac{{{i}}}{{{i + 1}}}", 2000) + "\\}",
        "2,000-element set of radicals": "\\{" + j(",", lambda i: f"\\sqrt{{{i}}}", 2000) + "\\}",
        "1,000-element set of polynomials": "\\{" + j(",", lambda i: f"(x+{i})^2", 1000) + "\\}",
        "set of equal elements": "\\{" + j(",", lambda i: f"\\sqrt{{{i * i}}}-{i}", 2000) + "\\}",
        "nested sets": nest("\\{", "1", "\\}", 10000),
        "nested tuples": nest("(1,", "2", ")", 10000),
        "list of 1,500 tuples": j(",", lambda i: f"({i * 31 % 1009},{i * 17 % 997},\\frac{{{i}}}{{7}})", 1500),
        "30,000 commas": "," * 30000,
        "20,000 ones and commas": ",".join("1" * 20000),
        "30,000 semicolons": ";" * 30000,
        "nested sums": nest("\\sum_{k=1}^{10}", "k", "", 2000),
        "nested sums of large bounds": nest("\\sum_{k=1}^{n}", "k", "", 3000),
        "nested sums over different variables": "".join(f"\\sum_{{{v}=1}}^{{1000}}" for v in letters) + "abc",
        "long sum": "\\sum_{k=1}^{10^{9}}\\frac{1}{k^2}",
        "longer sum": "\\sum_{k=1}^{10^{100}}k^{100}",
        "nested products": nest("\\prod_{k=1}^{100}", "k", "", 2000),
        "long product": "\\prod_{k=1}^{10^{8}}\\left(1+\\frac{1}{k}\\right)",
        "nested integrals": nest("\\int_0^1", "x", "dx", 3000),
        "hard integral": "\\int_0^1 e^{-x^2}\\sin(x^3)\\ln(1+x)\\,dx",
        "nested limits": nest("\\lim_{x\\to 0}", "\\frac{\\sin x}{x}", "", 3000),
        "nested derivatives": nest("\\frac{d}{dx}", "x^{100}", "", 3000),
        "nested square roots": nest("\\sqrt{", "2", "}", 8000),
        "nested square roots of sums": nest("\\sqrt{2+", "2", "}", 6000),
        "nested cube roots": nest("\\sqrt[3]{1+", "x", "}", 5000),
        "root of a huge index": "\\sqrt[10^{50}]{2^{10^{50}}}",
        "bare roots": "\\sqrt" * 10000,
        "sum of 1,500 square roots": j("+", lambda i: f"\\sqrt{{{primes[i]}}}", 1500),
        "product of sums of square roots": j("", lambda i: f"(\\sqrt{{{primes[i]}}}+\\sqrt{{{primes[i + 1]}}})", 60),
        "alternating square roots": j("", lambda i: f"+\\sqrt{{{i}}}-\\sqrt{{{i + 1}}}", 1200),
        "nested factorials": nest("(", "5", ")!", 6000),
        "20,000 factorial signs": "9" + "!" * 20000,
        "factorial of a million": "1000000!",
        "quotient of factorials": "\\frac{1000000!}{999999!}",
        "large binomial": "\\binom{1000000}{500000}",
        "2 to a million": "2^{1000000}-1",
        "10 to a trillion": "10^{1000000000000}+1",
        "64 KB of digits": num(LIMIT),
        "64 KB of digits in a base": num(60000).replace("9", "1").replace("8", "2").replace("7", "3") + "_{7}",
        "decimal of 60,000 places": "0." + num(60000),
        "repeating decimal of 30,000 places": "0.\\overline{" + num(30000) + "}",
        "fraction of 30,000 digits": "\\frac{" + num(30000) + "}{" + num(30000) + "}",
        "product of two 30,000-digit numbers": num(30000) + "\\cdot " + num(30000),
        "power of a long number": num(20000) + "^{1000}",
        "thousands separators": "1" + ",000" * 16000,
        "100th power of a trinomial": "(a+b+c)^{100}",
        "60th power of six letters": "(a+b+c+d+f+g)^{60}",
        "100,000th power": "(x+1)^{100000}",
        "power of a power": nest("(", "x+1", ")^{9}", 8000),
        "product of 2,000 factors": j("", lambda i: f"(x+{i})", 2000),
        "product of 500 factors in two letters": j("", lambda i: f"(x^{i}+{i}y)", 500),
        "product of differences of 24 letters": "".join(f"({a}-{b})" for i, a in enumerate(letters) for b in letters[i + 1:]),
        "3,000-term sum": j("+", lambda i: f"{i}x^{{{i}}}", 3000),
        "3,000-term sum of different variables": j("+", lambda i: f"x_{{{i}}}", 3000),
        "3,000-term sum of fractions": j("+", lambda i: f"\\frac{{1}}{{{i}}}", 3000),
        "sum of fractions over primes": j("+", lambda i: f"\\frac{{{i}}}{{{primes[i]}}}", 2000),
        "sum of rational functions": j("+", lambda i: f"\\frac{{1}}{{x+{i}}}", 1500),
        "terms in three letters": j("+", lambda i: f"{i}a^{{{i % 37}}}b^{{{i % 41}}}c^{{{i % 43}}}", 2000),
        "deep fractions": fit(lambda n: "\\frac{1}{" * n + "x" + "}" * n, 5000),
        "deep numerators": fit(lambda n: "\\frac{" * n + "x" + "}{2}" * n, 5000),
        "continued fraction": nest("1+\\frac{1}{", "x", "}", 4000),
        "continued fraction of numbers": nest("2+\\frac{1}{", "3", "}", 4000),
        "bare fractions": "\\frac" * 10000,
        "slashes": "1" + "/2" * 20000,
        "\\over": fit(lambda n: "{1\\over" * n + "2" + "}" * n, 5000),
        "many \\pm": "1" + "\\pm 1" * 8000,
        "list of \\pm": j(",", lambda i: f"\\pm {i}", 5000),
        "nested \\pm": nest("\\pm(", "1", ")", 8000),
        "\\pm in a polynomial": j("+", lambda i: f"(x\\pm {i})", 3000),
        "60 by 60 matrix": "\\begin{pmatrix}" + rows(60, 60, lambda i, k: i * k % 97) + "\\end{pmatrix}",
        "row of 10,000": "\\begin{pmatrix}" + rows(1, 10000, lambda i, k: k % 10) + "\\end{pmatrix}",
        "matrix of polynomials": "\\begin{bmatrix}" + rows(20, 20, lambda i, k: f"(x+{i})^{{{k}}}") + "\\end{bmatrix}",
        "60 by 60 determinant": "\\begin{vmatrix}" + rows(60, 60, lambda i, k: (i * i + 3 * k + i * k) % 89) + "\\end{vmatrix}",
        "determinant of letters": "\\begin{vmatrix}" + rows(12, 12, lambda i, k: f"x_{{{i},{k}}}") + "\\end{vmatrix}",
        "power of a matrix": "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}^{100000}",
        "nested matrices": fit(lambda n: "\\begin{pmatrix}" * n + "1" + "\\end{pmatrix}" * n, 2000),
        "union of 2,000 intervals": j("\\cup", lambda i: f"({2 * i},{2 * i + 1}]", 2000),
        "intersection of 2,000 intervals": j("\\cap", lambda i: f"(-{i},{i})", 2000),
        "2,000 overlapping intervals": j("\\cup", lambda i: f"[{i * 7919 % 2003},{i * 7919 % 2003 + 3})", 2000),
        "complements": j("\\setminus", lambda i: f"(-{i},{i})", 2000),
        "nested complements": nest("(\\mathbb{R}\\setminus", "\\{0\\}", ")", 3000),
        "chain of 5,000 equalities": "x" + "=x" * 5000,
        "chain of numbers": j("=", lambda i: f"{i}-{i}", 4000),
        "chain of inequalities": j("<", lambda i: f"x_{{{i}}}", 4000),
        "chain of numbers in order": j("<", str, 8000),
        "1,000 inequalities": j(" \\text{ or } ", lambda i: f"{i}<x<{i + 1}", 1000),
        "1,000 inequalities with and": j(" \\text{ and } ", lambda i: f"x>{i}", 1000),
        "inequality of high degree": "(x^{100}-1)(x^{99}-2)(x^{98}-3)>0",
        "equation of high degree": "x^{1000}-x^{999}+x^{998}-2=0",
        "system of 1,000 equations": j(",", lambda i: f"x_{{{i}}}+x_{{{i + 1}}}={i}", 1000),
        "cases": "\\begin{cases}" + j("\\\\", lambda i: f"x_{{{i}}}={i}", 2000) + "\\end{cases}",
        "set-builder": "\\{x\\mid " + j("\\text{ and }", lambda i: f"x\\ne {i}", 2000) + "\\}",
        "nested functions": nest("\\sin(", "x", ")", 8000),
        "nested functions without brackets": nest("\\sin", " x", "", 10000),
        "nested logarithms": nest("\\log_2", " 16", "", 8000),
        "nested exponentials": nest("e^{", "1", "}", 8000),
        "sine of a large multiple": "\\sin(10000x)",
        "high power of a cosine": "\\cos^{1000}x+\\sin^{1000}x",
        "sine of a huge number": "\\sin(10^{1000})",
        "almost an integer": "e^{\\pi\\sqrt{163}}",
        "almost zero": "\\sin(2017\\sqrt[5]{2})+1-10^{-1000}",
        "floor of a huge number": "\\lfloor 10^{10000}\\pi\\rfloor",
        "nested floors": nest("\\lfloor", "x", "\\rfloor", 4000),
        "nested calls": nest("f(", "x", ")", 20000),
        "nested subscripts": nest("a_{", "1", "}", 15000),
        "10,000 bars": "|" * 10000,
        "nested absolute values": nest("\\left|", "x", "\\right|", 4000),
        "50,000 minus signs": "-" * 50000 + "1",
        "20,000 alternating signs": "+-" * 20000 + "1",
        "10,000 carets": "^" * 10000,
        "carets and digits": "2" + "^2" * 20000,
        "10,000 underscores": "_" * 10000,
        "20,000 percent signs": "5" + "\\%" * 20000,
        "60,000 dollars": "$" * 60000,
        "60,000 backslashes": "\\" * 60000,
        "60,000 spaces": " " * 60000,
        "thin spaces between digits": "1" + "\\,1" * 16000,
        "commands that do not exist": j("", lambda i: f"\\q{letters[i % 24]}{letters[i * 5 % 24]}", 12000),
        "nested \\text": nest("\\text{", "a", "}", 9000),
        "unclosed \\text": "\\text{" + "a b " * 16000,
        "9,000 words": " ".join("".join(r.choice(letters) for _ in range(5)) for _ in range(9000)),
        "many units": "5" + "\\text{ cm}" * 6000,
        "ratio of 10,000 parts": ":".join(str(i % 9 + 1) for i in range(10000)),
        "gcd of 5,000 numbers": "\\gcd(" + j(",", lambda i: str(i * 30030), 5000) + ")",
        "maximum of 5,000 roots": "\\max(" + j(",", lambda i: f"\\sqrt{{{i}}}", 5000) + ")",
        "huge power of i": "i^{10^{50}}",
        "10,000th power of a complex number": "(1+2i)^{10000}",
        "product of complex numbers": j("", lambda i: f"({i}+i)", 3000),
        "cancelling huge powers": "x^{10^{100}}-x^{10^{100}}+1",
        "mixed numbers": "1" + "\\frac{1}{2}" * 5000,
        "unicode fractions": "½" * 30000,
        "unicode roots": "√" * 20000 + "2",
        "unicode superscripts": "x" + "²³" * 10000,
        "combining marks": "x" + "\u0301" * 20000,
        "four-byte characters": "\U0001d465" * 16000,
        "control characters": "\u0001\u0000\u0007" * 15000,
        "60,000 capitals": "HT" * 30000,
        "12,000 cycles": "(1 2)" * 12000,
        "one long cycle": "(" + " ".join(str(i) for i in range(1, 12000)) + ")",
        "15,000 applications": "f(x)" * 15000,
        "6,000 different applications": "".join(f"f(x+{i})+" for i in range(6000)) + "1",
        "products of capitals": "+".join("A" + "C" * (i % 5) + "B" for i in range(5000)),
        "number words": "two hundred and " * 4000,
        "2,500 congruences": fit(lambda n: ", ".join(f"x\\equiv {i} \\pmod{{{i + 1}}}" for i in range(n)), 2500),
        "8,000 residues": "x\\equiv " + ",".join(str(i) for i in range(8000)) + "\\pmod{7}",
        "4,000 conditions": ", ".join("k\\in\\mathbb{Z}" for _ in range(4000)),
        "integers of a huge range": "\\{x\\in\\mathbb{Z}: 0<x<10^{40}\\}",
        "lists with dots": ",".join(f"{i},{i + 1},\\ldots,{i + 900}" for i in range(1500)),
        "5,000 implications": fit(lambda n: "x=1\\implies " * n + "x=1", 5000),
        "hexadecimal number": "0x" + "F" * 60000,
        "4 MB of digits": "7" * (4 << 20),
        "4 MB of words": "ab cd " * 700000,
        "4 MB of commas": "," * (4 << 20),
        "everything unbalanced": fit(lambda n: "\\frac{(\\sqrt[{|\\left[\\{\\begin{pmatrix}&\\\\" * n, 2000),
        "alternating environments": fit(lambda n: "\\begin{cases}\\begin{pmatrix}" * n + "1" + "\\end{cases}\\end{pmatrix}" * n, 900),
    }
    for k, s in cases.items():
        if len(s.encode()) > LIMIT and not k.startswith("4 MB"):
            raise ValueError(f"{k}: {len(s.encode())} bytes")
    return cases


def nudge(s):
    """A copy of s with one digit, or else one letter, changed."""
    for i in range(len(s) - 1, -1, -1):
        if s[i].isascii() and s[i].isdigit():
            return s[:i] + str((int(s[i]) + 1) % 10) + s[i + 1:]
    for i in range(len(s) - 1, -1, -1):
        if s[i].isascii() and s[i].isalpha() and (i == 0 or not s[i - 1].isascii() or not s[i - 1].isalpha()) and "\\" not in s[max(0, i - 1):i]:
            return s[:i] + ("b" if s[i] == "a" else "a") + s[i + 1:]
    return s[:-1] if len(s.encode()) >= LIMIT else s + "1"


def hostile_run(a):
    aske = a.aske or build()
    rows, failures = [], []
    with tempfile.TemporaryDirectory() as tmp:
        for name, s in hostile().items():
            path = pathlib.Path(tmp) / "hostile.jsonl"
            changed = nudge(s)
            lines = [("itself", s, s), ("changed", s, changed), ("changed", changed, s), ("one", s, "1"), ("one", "1", s)]
            write_pairs(path, [{"gold": g, "pred": p} for _, g, p in lines])
            for mode in MODES:
                cmd = [aske, "verify", "--jsonl", str(path), "--timing"] + ([] if mode == "default" else ["--compat", mode])
                got = run_child(cmd, a.timeout)
                t = timing(got["err"])
                verdicts = []
                for x in got["out"].splitlines():
                    try:
                        verdicts.append(json.loads(x)["equal"])
                    except (ValueError, KeyError, TypeError):
                        verdicts.append("?")
                row = {"name": name, "mode": mode, "bytes": len(s.encode()), "status": got["status"], "max_us": t["max_us"] if t else None, "process_seconds": got["seconds"], "peak_mb": got["peak_mb"], "verdicts": verdicts}
                rows.append(row)
                where = f"{name} ({mode})"
                if t is None or len(verdicts) != len(lines):
                    failures.append(f"{where}: status {got['status']}, {len(verdicts)} verdicts of {len(lines)}, {'no' if t is None else 'a'} timing line")
                    continue
                if t["max_us"] > 1000 * a.limit_ms:
                    failures.append(f"{where}: {t['max_us'] / 1000:.1f} ms for one comparison")
                if got["peak_mb"] > a.limit_mb:
                    failures.append(f"{where}: peak {got['peak_mb']:.0f} MB")
                # An answer without content is the same as nothing, itself included.
                if verdicts[0] is False and mode == "default" and s.strip("$ "):
                    failures.append(f"{where}: differs from itself")
                if mode == "default" and (verdicts[1] != verdicts[2] or verdicts[3] != verdicts[4]):
                    failures.append(f"{where}: not symmetric: {verdicts}")
    timed = sorted((x for x in rows if x["max_us"] is not None), key=lambda x: -x["max_us"])
    print(f"{len(rows) // len(MODES)} hostile inputs, 5 comparisons each, in the modes {', '.join(MODES)}")
    print(f"{'slowest':44} {'mode':11} {'bytes':>7} {'max ms':>9} {'peak MB':>8}  verdicts (itself, changed twice, one twice)")
    show = {True: "=", False: "/", None: "?"}
    for x in timed[: a.top]:
        print(f"{x['name']:44} {x['mode']:11} {x['bytes']:7} {x['max_us'] / 1000:9.2f} {x['peak_mb']:8.1f}  {' '.join(show.get(v, '!') for v in x['verdicts'])}")
    if timed:
        big = max(rows, key=lambda x: x["peak_mb"])
        print(f"slowest comparison {timed[0]['max_us'] / 1000:.2f} ms ({timed[0]['name']}, {timed[0]['mode']}); peak memory {big['peak_mb']:.1f} MB ({big['name']}, {big['mode']})")
    undecided = sum(v is None for x in rows if x["mode"] == "default" for v in x["verdicts"])
    print(f"undecided in default mode: {undecided} of {5 * (len(rows) // len(MODES))}")
    for f in failures:
        print(f"not met: {f}")
    if a.json:
        pathlib.Path(a.json).write_text(json.dumps({"hostile": rows, "not_met": failures}, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 1 if failures else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--aske", help="the binary to run (default: build it with cargo)")
    p.add_argument("--sample", type=int, metavar="N", help="use N pairs of the mix only")
    p.add_argument("--repeat", type=int, default=20, metavar="K", help="times the mix is repeated to time aske (default 20)")
    p.add_argument("--write", metavar="FILE", help="write the pairs with math-verify's verdicts here, for the tests")
    p.add_argument("--json", metavar="FILE", help="write the report here as JSON")
    p.add_argument("--check", action="store_true", help="fail under 98%% agreement, 90%% for a kind, 500 times the throughput, or a p99 of 1 ms")
    p.add_argument("--hostile", action="store_true", help="run the hostile inputs instead")
    p.add_argument("--limit-ms", type=float, default=50, help="longest comparison of a hostile input (default 50)")
    p.add_argument("--limit-mb", type=float, default=64, help="most memory on a hostile input (default 64)")
    p.add_argument("--top", type=int, default=15, help="slowest hostile inputs to show (default 15)")
    p.add_argument("--timeout", type=float, default=600, help="seconds before a run of aske is stopped (default 600)")
    a = p.parse_args()
    sys.exit(hostile_run(a) if a.hostile else compare(a))


if __name__ == "__main__":
    main()
