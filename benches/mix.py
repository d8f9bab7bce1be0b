#!/usr/bin/env python3
"""A generated mix of answer pairs, about 150 for each kind of answer.

Every pair is {"kind", "gold", "pred", "label"}: two answers as they are found
inside \\boxed{...}, and whether they are the same answer.  The labels follow
from how a pair is built (both sides are written from the same value, or from
values known to differ), under the policy of the project: a percent equals its
number and its fraction, a unit equals none but not another unit, a decimal
equals an exact value when it agrees to 6 decimals and 4 significant digits,
a bare list equals a tuple in order and a set in any order, `x=5` equals 5.

The generator is deterministic: one seed for each kind, nothing but the
standard library, and no dependence on hash order.
"""

import argparse
import json
import math
import random
import sys
from fractions import Fraction as F

SEED = 20240917
PER_KIND = 150
UNEQUAL = 0.44

KINDS = {}
# Kinds in which gold and pred may be the same string.
SAME_TEXT = {"string_fallback", "text", "choice", "base_subscript", "infinity", "ratio_time"}


def kind(f):
    KINDS[f.__name__] = f
    return f


# ---------------------------------------------------------------- writing numbers


def near(r, n):
    """An integer that is not n, but could be mistaken for it."""
    while True:
        s = str(abs(n))
        way = r.randrange(7)
        if way == 0:
            m = n + r.choice([-1, 1])
        elif way == 1:
            m = -n
        elif way == 2:
            m = n + r.choice([-10, -2, 2, 10])
        elif way == 3 and len(s) > 1:
            i = r.randrange(len(s) - 1)
            m = int(s[:i] + s[i + 1] + s[i] + s[i + 2:])
        elif way == 4 and len(s) > 1:
            i = r.randrange(len(s))
            m = int(s[:i] + r.choice("0123456789") + s[i + 1:])
        elif way == 5:
            m = n * 2
        else:
            m = n + r.randint(3, 30)
        if m != n:
            return m


def nz(r, lo, hi):
    while True:
        n = r.randint(lo, hi)
        if n:
            return n


def commas(n, sep=","):
    s = f"{abs(n):,}".replace(",", sep)
    return "-" + s if n < 0 else s


def frac(r, a, b, brace_less=True):
    """a/b in one of the ways it is written; a and b are integers, b > 0."""
    sign, n = ("-", -a) if a < 0 else ("", a)
    ways = ["f", "f", "f", "d", "t", "/", "sp"]
    if brace_less and n < 10 and b < 10:
        ways += ["12", "12", "1 2"]
    if brace_less and n < 10:
        ways += ["1{}"]
    if a < 0:
        ways += ["in"]
    way = r.choice(ways)
    if way == "f":
        return f"{sign}\\frac{{{n}}}{{{b}}}"
    if way == "d":
        return f"{sign}\\dfrac{{{n}}}{{{b}}}"
    if way == "t":
        return f"{sign}\\tfrac{{{n}}}{{{b}}}"
    if way == "/":
        return f"{sign}{n}/{b}"
    if way == "sp":
        return f"{sign}\\frac{{ {n} }}{{ {b} }}" if r.random() < 0.5 else f"{sign} \\frac{{{n}}}{{{b}}}"
    if way == "12":
        return f"{sign}\\frac{n}{b}"
    if way == "1 2":
        return f"{sign}\\frac {n} {b}"
    if way == "1{}":
        return f"{sign}\\frac{n}{{{b}}}"
    return f"\\frac{{{a}}}{{{b}}}"


def rat(r, q, brace_less=True):
    """A rational number written as an integer or as a fraction."""
    q = F(q)
    if q.denominator == 1:
        return str(q.numerator)
    return frac(r, q.numerator, q.denominator, brace_less)


def plain(q):
    q = F(q)
    if q.denominator == 1:
        return str(q.numerator)
    s = "-" if q < 0 else ""
    return f"{s}\\frac{{{abs(q.numerator)}}}{{{q.denominator}}}"


def some_rat(r, top=12, bottom=9):
    while True:
        q = F(nz(r, -top, top), r.randint(2, bottom))
        if q.denominator > 1:
            return q


def other_rat(r, q):
    while True:
        way = r.randrange(5)
        if way == 0:
            p = -q
        elif way == 1 and q:
            p = 1 / q
        elif way == 2:
            p = F(near(r, q.numerator), q.denominator)
        elif way == 3:
            p = F(q.numerator, q.denominator + r.choice([1, 2]))
        else:
            p = q + r.choice([-1, 1])
        if p != q:
            return p


def par(r, s):
    """Brackets around s."""
    return r.choice(["({})", "({})", "\\left({}\\right)", "( {} )"]).format(s)


def sq(r, n):
    s = str(n)
    if len(s) == 1:
        return r.choice(["\\sqrt{%s}", "\\sqrt{%s}", "\\sqrt%s", "\\sqrt %s"]) % s
    return "\\sqrt{%s}" % s


def join(terms):
    """Write a sum of (coefficient, body); an empty body is a number."""
    out = ""
    for c, body in terms:
        c = F(c)
        if c == 0:
            continue
        mag = abs(c)
        if body and mag == 1:
            t = body
        else:
            t = plain(mag) + body
        if out:
            out += ("+" if c > 0 else "-") + t
        else:
            out = ("-" if c < 0 else "") + t
    return out or "0"


def power(v, k):
    if k == 0:
        return ""
    if k == 1:
        return v
    return f"{v}^{k}" if k < 10 else f"{v}^{{{k}}}"


def poly(c, v="x"):
    """A polynomial from its coefficients, highest first."""
    n = len(c) - 1
    return join([(a, power(v, n - i)) for i, a in enumerate(c)])


def pmul(a, b):
    out = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return out


def spaced(r, s):
    """The same with spaces around the signs."""
    if r.random() < 0.5:
        return s
    out = ""
    for i, ch in enumerate(s):
        if ch in "+-=" and i and s[i - 1] not in "{(,^[ =+-<>":
            out += f" {ch} "
        else:
            out += ch
    return out


def shuffled(r, xs):
    xs = list(xs)
    r.shuffle(xs)
    return xs


def other_order(r, xs):
    ys = list(xs)
    while ys == list(xs):
        r.shuffle(ys)
    return ys


def sci_digits(x, n):
    return f"{x:.{n}f}"


# ---------------------------------------------------------------- numbers


@kind
def integer(r, same):
    n = nz(r, -10**r.randint(1, 4), 10**r.randint(2, 9))
    m = n if same else near(r, n)

    def show(k):
        s = str(k)
        ways = [s, s, f"{{{s}}}", f" {s} ", f"{s}."]
        if abs(k) > 999:
            ways += [commas(k)] * 3 + [commas(k, "{,}")] * 3 + [commas(k, ",\\!"), commas(k, "\\,"), commas(k, " ")]
        if k > 0:
            ways += [f"+{s}", f"0{s}"]
            d = next((d for d in (7, 5, 4, 3, 2) if k % d == 0 and k > d), 0)
            if d:
                ways += [f"{d}\\cdot {k // d}", f"{d} \\times {k // d}"]
        else:
            ways += [f"-{{{-k}}}", f"- {-k}", f"({s})"]
        return r.choice(ways)

    return str(n), show(m)


@kind
def decimal(r, same):
    places = r.randint(1, 5)
    n = nz(r, -10 ** r.randint(2, 6), 10 ** r.randint(2, 8))
    if n % 10 == 0:
        n += 1
    m = n if same else near(r, n)

    def show(k, p):
        sign = "-" if k < 0 else ""
        a = abs(k)
        whole, rest = divmod(a, 10**p)
        rest = str(rest).zfill(p)
        ways = [f"{sign}{whole}.{rest}", f"{sign}{whole}.{rest}", f"{sign}{whole}.{rest}{'0' * r.randint(1, 3)}"]
        if whole == 0:
            ways += [f"{sign}.{rest}"] * 2
        if whole > 999:
            ways += [f"{sign}{commas(whole)}.{rest}", f"{sign}{commas(whole, '{,}')}.{rest}"]
        if r.random() < 0.15:
            ways = [f"{{{sign}{whole}.{rest}}}"]
        return r.choice(ways)

    p2 = places if same or m == 10 * n or r.random() < 0.8 else places + 1
    return show(n, places), show(m, p2)


@kind
def decimal_vs_exact(r, same):
    way = r.randrange(6)
    if r.random() < 0.06:
        d, w = r.randint(1, 8), r.choice([0, 0, 1, 2, 5])
        q = w + F(d, 9)
        return f"{w}.\\overline{{{d}}}", rat(r, q if same else other_rat(r, q))
    if way <= 1:
        b = r.choice([3, 6, 7, 9, 11, 12, 13, 17, 21, 37])
        a = nz(r, -3 * b, 5 * b)
        while a % b == 0 or 10000 % F(a, b).denominator == 0:
            a += 1
        q = F(a, b)
        exact, x = rat(r, q), a / b
    elif way == 2:
        m = r.choice([2, 3, 5, 6, 7, 10, 11, 13])
        k = r.randint(1, 9)
        exact = (str(k) if k > 1 else "") + sq(r, m)
        x = k * math.sqrt(m)
    elif way == 3:
        k, d = r.randint(1, 9), r.randint(2, 7)
        exact, x = f"\\frac{{{k}\\pi}}{{{d}}}", k * math.pi / d
    elif way == 4:
        q = F(nz(r, -99, 99), r.choice([2, 4, 5, 8, 16, 20, 25, 40, 125]))
        exact = rat(r, q)
        s = str(float(q))
        if same:
            return exact, r.choice([s, s + "0" if "." in s else s])
        t = F(s) + r.choice([F(1, 10), F(1, 100), F(-1, 10), F(1, 1000)])
        return exact, str(float(t))
    else:
        a, m = r.randint(1, 9), r.choice([2, 3, 5, 7])
        exact, x = f"\\frac{{{a}+\\sqrt{{{m}}}}}{{2}}", (a + math.sqrt(m)) / 2
    if same:
        n = r.choice([6, 6, 7, 8, 10])
        s = sci_digits(x, n)
        if r.random() < 0.1:
            return exact, f"{exact} \\approx {sci_digits(x, r.randint(2, 4))}"
        return exact, s
    way = r.randrange(5)
    if way == 0:
        return exact, sci_digits(x, r.randint(1, 4))
    if way == 1:
        return exact, sci_digits(x + r.choice([-1, 1]) * 10 ** -r.randint(2, 5), 6)
    if way == 2:
        return exact, sci_digits(-x, 6)
    if way == 3:
        n = r.randint(3, 9) * 100003
        tiny = sci_digits(1 / n, 6)
        return f"\\frac{{1}}{{{n}}}", tiny if r.random() < 0.5 else "0"
    return exact, sci_digits(x * r.choice([2, 0.5, 10]), 6)


@kind
def fraction(r, same):
    q = some_rat(r, r.choice([9, 30, 200]), r.choice([9, 20, 99]))
    p = q if same else other_rat(r, q)

    def show(q):
        a, b = q.numerator, q.denominator
        k = r.choice([1, 1, 1, 2, 3, 10])
        s = "-" if a < 0 else ""
        ways = [frac(r, a * k, b * k)] * 6
        ways += [f"{s}{{{abs(a)} \\over {b}}}", f"{s}({abs(a)}/{b})", f"{{{a}}}/{{{b}}}", f"{a} / {b}", f"{a} \\div {b}" if a > 0 else f"\\frac{{{a}}}{{{b}}}",
                 f"\\frac{{{-a}}}{{-{b}}}", f"\\left(\\frac{{{a}}}{{{b}}}\\right)", f"\\displaystyle {s}\\frac{{{abs(a)}}}{{{b}}}", f"{s}\\cfrac{{{abs(a)}}}{{{b}}}"]
        return r.choice(ways)

    return (rat(r, q) if r.random() < 0.5 else show(q)), show(p)


@kind
def mixed_number(r, same):
    b = r.randint(2, 12)
    a = r.randint(1, b - 1)
    w = r.randint(1, 40)
    g = math.gcd(a, b)
    a, b = a // g, b // g
    neg = r.random() < 0.25
    s = "-" if neg else ""
    q = (w + F(a, b)) * (-1 if neg else 1)
    mixed = r.choice([
        f"{s}{w}\\frac{{{a}}}{{{b}}}", f"{s}{w}\\frac{{{a}}}{{{b}}}", f"{s}{w} \\frac{{{a}}}{{{b}}}", f"{s}{w}\\dfrac{{{a}}}{{{b}}}",
        f"{s}{w}\\tfrac{{{a}}}{{{b}}}", f"{s}{w}\\,\\frac{{{a}}}{{{b}}}", f"{s}{w} {a}/{b}",
        f"{s}{w}\\frac{{{a}}}{{{b}}}" if max(a, b) > 9 else f"{s}{w}\\frac{a}{b}",
        f"{s}{w}\\ \\frac{{{a}}}{{{b}}}"])
    if same:
        p = q
    else:
        p = r.choice([F(w * a, b) * (-1 if neg else 1), other_rat(r, q), q + r.choice([-1, 1]), F(a, b) - w if neg else w - F(a, b), F(w + a, b)])
        if p == q:
            p = q + 1
    ways = [rat(r, p)] * 4
    if 10000 % p.denominator == 0:
        ways += [str(float(p))] * 2
    pw, pa = divmod(abs(p), 1)
    if pw and pa:
        ways += [f"{'-' if p < 0 else ''}{pw}\\frac{{{pa.numerator}}}{{{pa.denominator}}}"] * 2
    return mixed, r.choice(ways)


@kind
def percent(r, same):
    style = r.randrange(4)
    if style == 0:
        n = F(r.randint(1, 150))
    elif style == 1:
        n = F(r.randint(1, 999), 10)
    elif style == 2:
        n = F(r.randint(1, 39), 4)
    else:
        n = F(r.choice([5, 10, 20, 25, 30, 40, 50, 60, 75, 80, 90, 100, 125, 150, 200]))
    num = str(int(n)) if n.denominator == 1 else str(float(n))

    def pct(num):
        return r.choice([f"{num}\\%", f"{num}\\%", f"{num} \\%", f"{num}\\,\\%", f"{num}\\text{{ percent}}", f"{num} percent", f"{num}%", f"{num}\\text{{\\%}}"])

    if same:
        way = r.randrange(5)
        if way == 0:
            return pct(num), num
        if way == 1:
            v = n / 100
            return pct(num), str(float(v))
        if way == 2 and n.denominator == 1:
            v = n / 100
            return pct(num), rat(r, v)
        if way == 3 and r.random() < 0.25:
            w = r.randint(1, 90)
            return f"{w}\\frac{{1}}{{3}}\\%", plain(F(3 * w + 1, 300))
        return pct(num), pct(num) if r.random() < 0.8 else pct(num + (".0" if n.denominator == 1 else "0"))
    m = F(near(r, int(n * 100)), 100)
    while m in (n, n / 100, n * 100):
        m += F(1, 2)
    wrong = str(int(m)) if m.denominator == 1 else str(float(m))
    way = r.randrange(5)
    if way == 0:
        return pct(num), pct(wrong)
    if way == 1:
        return pct(num), wrong
    if way == 2:
        return pct(num), str(float(n / 10))
    if way == 3:
        return pct(num), str(float(n / 1000)) if n > 1 else pct(wrong)
    return pct(num), rat(r, m / 100) if m.denominator == 1 else pct(wrong)


@kind
def scientific(r, same):
    digits = r.choice([1, 1, 2, 3])
    d = r.randint(1, 9) if digits == 1 else r.randint(10 ** (digits - 1) + 1, 10**digits - 1)
    if digits > 1 and d % 10 == 0:
        d += 1
    e = r.choice([-6, -5, -4, -3, -2, 2, 3, 4, 5, 6, 7, 8, 9, 12, 23])
    e10 = e - (digits - 1)

    def mant(d):
        s = str(d)
        return s if len(s) == 1 else f"{s[0]}.{s[1:]}"

    def show(d, e):
        ee = r.choice([f"{{{e}}}", f"{{{e}}}", str(e)]) if 0 <= e < 10 else f"{{{e}}}"
        return mant(d) + r.choice([f"\\times10^{ee}", f" \\times 10^{ee}", f"\\cdot 10^{ee}", f" \\cdot 10^{ee}", f"\\times 10^{ee}"])

    def value(d, e):
        q = F(d) * F(10) ** (e - len(str(d)) + 1)
        if q.denominator == 1:
            n = q.numerator
            return r.choice([str(n), str(n), commas(n), commas(n, "{,}")]) if n < 10**13 else str(n)
        return f"{float(q):.{max(0, -(e - len(str(d)) + 1))}f}"

    if same:
        d2, e2 = d, e
    else:
        way = r.randrange(3)
        d2, e2 = d, e
        if way == 0:
            e2 = e + r.choice([-1, 1])
        elif way == 1:
            d2 = d + 1 if (d + 1) % 10 else d - 1
            if d2 == 0:
                d2 = 2
        else:
            d2, e2 = d, -e
    if len(str(d2)) != len(str(d)):
        d2, e2 = d, e + 1
    way = r.randrange(8)
    left = show(d, e)
    if way < 4:
        return left, value(d2, e2)
    if way == 4:
        return left, r.choice([f"{mant(d2)}e{e2}", f"{mant(d2)}E{e2}", f"{mant(d2)}\\mathrm{{e}}{e2}"])
    if way == 5:
        return left, f"{d2}0 \\times 10^{{{e2 - len(str(d2))}}}"
    if way == 6:
        return left, f"{mant(d2)}\\times{{10}}^{{{e2}}}"
    return left, show(d2, e2)


@kind
def radical(r, same):
    way = r.randrange(9)
    m = r.choice([2, 3, 5, 6, 7, 10, 11, 13, 15])
    k = r.randint(2, 12)
    c = lambda k: "" if k == 1 else str(k)
    if r.random() < 0.04:
        n = r.choice([3, 5])
        b = r.randint(2, 6)
        return f"\\sqrt[{n}]{{-{b**n}}}", str(-b if same else r.choice([b, -b - 1]))
    if r.random() < 0.04:
        return f"{k}√{m}", f"{k if same else k + 1}{sq(r, m)}"
    if way == 0:
        k2 = k if same else near(r, k)
        return sq(r, k * k * m), c(k2) + sq(r, m)
    if way == 1:
        a = r.randint(1, 9)
        left = f"\\frac{{{a}}}{{{sq(r, m)}}}"
        if same:
            return left, r.choice([f"\\frac{{{c(a)}\\sqrt{{{m}}}}}{{{m}}}", f"{c(a)}\\sqrt{{{m}}}/{m}", f"\\frac{{{a}}}{{{m}}}\\sqrt{{{m}}}"])
        return left, r.choice([f"\\frac{{\\sqrt{{{m}}}}}{{{a * m + 1}}}", f"{c(a)}\\sqrt{{{m}}}", f"-\\frac{{{c(a)}\\sqrt{{{m}}}}}{{{m}}}", f"\\frac{{{a}}}{{{m}}}"])
    if way == 2:
        a, b = r.sample([2, 3, 5, 7, 11, 13], 2)
        left = f"\\sqrt{{{a + b}+2\\sqrt{{{a * b}}}}}"
        right = r.choice([f"{sq(r, a)}+{sq(r, b)}", f"{sq(r, b)} + {sq(r, a)}"])
        if not same:
            right = r.choice([f"\\sqrt{{{a}}}-\\sqrt{{{b}}}", f"\\sqrt{{{a + b}}}", f"\\sqrt{{{a}}}+\\sqrt{{{b + 1}}}", f"1+\\sqrt{{{a * b}}}"])
        return left, right
    if way == 3:
        a, b = r.randint(1, 9), r.randint(1, 9)
        left = f"{a}+{c(b)}{sq(r, m)}"
        if same:
            return left, r.choice([f"{c(b)}\\sqrt{{{m}}}+{a}", f"{a} + \\sqrt{{{b * b * m}}}", f"\\frac{{{2 * a}+{2 * b}\\sqrt{{{m}}}}}{{2}}"])
        return left, r.choice([f"{a}-{c(b)}\\sqrt{{{m}}}", f"{a + b}\\sqrt{{{m}}}", f"{b}+{c(a)}\\sqrt{{{m}}}" if a != b else f"{a}\\sqrt{{{m}}}", f"\\frac{{{a}+{c(b)}\\sqrt{{{m}}}}}{{2}}"])
    if way == 4:
        n = r.choice([3, 3, 4, 5])
        b = r.randint(2, 5)
        j = r.choice([2, 3, 5])
        left = f"\\sqrt[{n}]{{{b**n * j}}}"
        if same:
            return left, r.choice([f"{b}\\sqrt[{n}]{{{j}}}", f"{b}\\cdot {j}^{{1/{n}}}", f"{b} \\cdot \\sqrt[{n}]{j}"])
        return left, r.choice([f"{b + 1}\\sqrt[{n}]{{{j}}}", f"{b}\\sqrt{{{j}}}", f"{b}\\sqrt[{n + 1}]{{{j}}}", f"{b * j}"])
    if way == 5:
        a = r.randint(1, 5)
        n = m - a * a
        if n == 0:
            a += 1
            n = m - a * a
        left = f"\\frac{{1}}{{\\sqrt{{{m}}}+{a}}}"
        num = f"\\sqrt{{{m}}}-{a}" if n > 0 else f"{a}-\\sqrt{{{m}}}"
        if same:
            return left, num if abs(n) == 1 else f"\\frac{{{num}}}{{{abs(n)}}}"
        return left, r.choice([f"\\frac{{\\sqrt{{{m}}}+{a}}}{{{abs(n) + 1}}}", f"\\frac{{{num}}}{{{abs(n) + 2}}}", f"\\sqrt{{{m}}}+{a}"])
    if way == 6:
        a, b = r.randint(2, 9), r.randint(2, 9)
        left = f"\\sqrt{{\\frac{{{a}}}{{{b}}}}}"
        if same:
            return left, r.choice([f"\\frac{{\\sqrt{{{a}}}}}{{\\sqrt{{{b}}}}}", f"\\frac{{\\sqrt{{{a * b}}}}}{{{b}}}"])
        return left, r.choice([f"\\frac{{\\sqrt{{{a * b}}}}}{{{b + 1}}}", f"\\frac{{{a}}}{{{b}}}" if a != b else "2", f"\\sqrt{{{a * b + 1}}}"])
    if way == 7:
        if r.random() < 0.4 or not same:
            k2 = k if same else k + r.choice([-1, 1])
            return f"\\sqrt{{{k * k}}}", str(k2)
        return f"{k}\\sqrt{{{m}}}", f"{k} \\cdot {m}^{{{r.choice(['1/2', '0.5', chr(92) + 'frac{1}{2}'])}}}"
    a, b = r.randint(2, 7), r.randint(2, 7)
    left = f"{a}\\sqrt{{{m}}}+{b}\\sqrt{{{m}}}"
    t = a + b if same else near(r, a + b)
    return left, f"{c(t)}{sq(r, m)}"


@kind
def constants(r, same):
    way = r.randrange(6)
    if way <= 2:
        q = F(r.randint(1, 40), r.randint(1, 12)) * r.choice([1, 1, 1, -1])
        p = q if same else other_rat(r, q)

        def show(q):
            a, b = q.numerator, q.denominator
            s, n = ("-", -a) if a < 0 else ("", a)
            c = "" if n == 1 else str(n)
            if b == 1:
                return r.choice([f"{s}{c}\\pi", f"{s}{c} \\pi", f"{s}\\pi\\cdot {n}", f"{s}{n}\\cdot\\pi", f"{s}{c}π"])
            ways = [f"{s}\\frac{{{c}\\pi}}{{{b}}}", f"{s}\\frac{{{n}}}{{{b}}}\\pi", f"{s}{c}\\pi/{b}", f"{s}\\dfrac{{{c}\\pi}}{{{b}}}", f"{s}\\pi \\cdot \\frac{{{n}}}{{{b}}}"]
            if n < 10 and b < 10 and n > 1:
                ways.append(f"{s}\\frac{n}{b}\\pi")
            if b in (2, 4, 5, 8):
                ways.append(f"{float(q)}\\pi")
            if n == 1 and b < 10 and r.random() < 0.3:
                ways = [f"{s}\\frac\\pi{b}", f"{s}\\frac{{\\pi}}{b}"]
            return r.choice(ways)

        if not same and r.random() < 0.2:
            return show(q), str(float(f"{float(q) * math.pi:.2f}"))
        return show(q), show(p)
    if way == 3:
        k = r.choice([1, 1, 2, 3, 4, 5, -1, -2])
        left = "e" if k == 1 else (f"e^{k}" if k > 1 else f"e^{{{k}}}")
        k2 = k if same else k + r.choice([-1, 1, 2])
        if k2 == 0:
            k2 = 4
        right = r.choice([f"\\exp({k2})", f"e^{{{k2}}}", f"\\mathrm{{e}}^{{{k2}}}", f"\\frac{{1}}{{e^{{{-k2}}}}}", f"\\exp\\left({k2}\\right)"])
        a = r.randint(1, 9)
        return (f"{a}{left}", f"{a}{right}") if a > 1 else (left, right)
    if way == 4:
        a, b = r.randint(1, 9), r.randint(1, 9)
        left = f"{a}-\\frac{{{b}}}{{e}}"
        if same:
            return left, r.choice([f"{a}-{b}e^{{-1}}", f"\\frac{{{a}e-{b}}}{{e}}", f"-\\frac{{{b}}}{{e}}+{a}"])
        return left, r.choice([f"{a}+\\frac{{{b}}}{{e}}", f"\\frac{{{a}-{b}}}{{e}}", f"{a}-{b}e", f"{a + 1}-\\frac{{{b}}}{{e}}"])
    a, b = r.randint(1, 12), r.randint(1, 12)
    left = f"{a}\\pi+{b}" if a > 1 else f"\\pi+{b}"
    if same:
        return left, r.choice([f"{b}+{a}\\pi", f"{b} + {a} \\pi", f"\\frac{{{2 * a}\\pi+{2 * b}}}{{2}}"])
    return left, r.choice([f"{a}\\pi-{b}", f"{b}\\pi+{a}" if a != b else f"{2 * a}\\pi", f"{a + b}\\pi", f"{a}+{b}\\pi" if a != b else "1", f"{a + 1}\\pi+{b}"])


@kind
def power_factorial_binomial(r, same):
    way = r.randrange(9)
    if way == 0:
        b, k = r.randint(2, 12), r.randint(2, 10)
        v = b**k
        return r.choice([f"{b}^{{{k}}}", f"{b}^{{{k}}}", f"{{{b}}}^{{{k}}}", f"{b} ^ {{{k}}}"]), str(v if same else near(r, v)) if r.random() < 0.7 or not same else commas(v)
    if way == 1:
        n = r.randint(3, 12)
        v = math.factorial(n)
        if same:
            return f"{n}!", r.choice([str(v), f"{n}\\cdot {n - 1}!", f"{n} \\times {n - 1}!", commas(v)])
        return f"{n}!", r.choice([str(near(r, v)), f"{n - 1}!", f"{n + 1}!", f"{n}"])
    if way == 2:
        n = r.randint(4, 14)
        k = r.randint(1, n - 1)
        v = math.comb(n, k)
        left = r.choice([f"\\binom{{{n}}}{{{k}}}", f"\\dbinom{{{n}}}{{{k}}}", f"{{{n} \\choose {k}}}", f"\\tbinom{{{n}}}{{{k}}}"])
        if n < 10 and r.random() < 0.2:
            left = f"\\binom{n}{k}"
        if same:
            return left, r.choice([str(v), str(v), f"\\binom{{{n}}}{{{n - k}}}", f"\\frac{{{n}!}}{{{k}!{n - k}!}}", f"\\frac{{{n}!}}{{{k}! \\cdot {n - k}!}}"])
        other = f"\\frac{{{n}!}}{{{k + 1}!}}" if math.factorial(n - k) != k + 1 else f"\\frac{{{n}!}}{{{k}!}}"
        return left, r.choice([str(near(r, v)), other, str(math.perm(n, k) if k > 1 else v + 1)])
    if way == 3:
        v = r.choice("nkm")
        k = r.randint(1, 4)
        b = r.randint(2, 5)
        left = f"{b}^{{{v}+{k}}}"
        if same:
            return left, r.choice([f"{b**k}\\cdot {b}^{v}", f"{b**k} \\cdot {b}^{{{v}}}", f"{b}^{{{k}+{v}}}"])
        return left, r.choice([f"{b**k + 1}\\cdot {b}^{v}", f"{b}^{{{v}-{k}}}", f"{b}^{v}+{k}", f"{b}^{{{v}+{k + 1}}}", f"{b}^{v}+{b}^{{{k}}}"])
    if way == 4:
        v = r.choice("nkm")
        if same:
            return r.choice([(f"{v}!", f"{v}\\cdot({v}-1)!"), (f"\\frac{{({v}+1)!}}{{{v}!}}", f"{v}+1"), (f"\\frac{{{v}!}}{{({v}-2)!}}", f"{v}({v}-1)"), (f"\\binom{{{v}}}{{2}}", f"\\frac{{{v}({v}-1)}}{{2}}"), (f"({v}+1)!", f"({v}+1){v}!"),
                             (f"\\binom{{{v}}}{{1}}", v), (f"\\frac{{({v}+2)!}}{{({v}+1)!}}", f"{v}+2"), (f"\\binom{{2{v}}}{{{v}}}", f"\\frac{{(2{v})!}}{{({v}!)^2}}")])
        return r.choice([(f"{v}!", f"({v}-1)!"), (f"\\frac{{({v}+1)!}}{{{v}!}}", f"{v}"), (f"\\binom{{{v}}}{{2}}", f"\\frac{{{v}({v}+1)}}{{2}}"), (f"2^{v}", f"{v}^2"), (f"({v}+1)!", f"{v}!+1"), (f"\\binom{{2{v}}}{{{v}}}", f"\\frac{{(2{v})!}}{{{v}!}}"),
                         (f"\\binom{{{v}}}{{3}}", f"\\frac{{{v}({v}-1)({v}-2)}}{{3}}"), (f"2^{{{v}}}-1", f"2^{{{v}-1}}")])
    if way == 5:
        b, k = r.randint(2, 9), r.randint(20, 60)
        d = r.choice([0, 1, -1])
        left = f"{b}^{{{k}}}" + ("" if d == 0 else f"{d:+d}")
        right = b**k + d if same else b**k + d + r.choice([-1, 1, 2])
        return left, str(right)
    if way == 6:
        b, k = r.randint(2, 9), r.randint(1, 6)
        v = b**k
        if same:
            return f"{b}^{{-{k}}}", r.choice([f"\\frac{{1}}{{{v}}}", f"1/{v}", f"\\frac{{1}}{{{b}^{{{k}}}}}"])
        return f"{b}^{{-{k}}}", r.choice([f"-{v}", f"\\frac{{1}}{{{v + 1}}}", f"-\\frac{{1}}{{{v}}}", f"{v}"])
    if way == 7:
        b, k = r.choice([(4, 2), (9, 2), (8, 3), (27, 3), (16, 4), (25, 2), (32, 5), (64, 3), (125, 3)])
        n = r.randint(1, 3)
        root = round(b ** (1 / k))
        v = root**n
        left = r.choice([f"{b}^{{{n}/{k}}}", f"{b}^{{\\frac{{{n}}}{{{k}}}}}"])
        return left, str(v if same else near(r, v))
    b, i, j = r.randint(2, 9), r.randint(2, 9), r.randint(2, 9)
    t = i + j if same else r.choice([i * j if i * j != i + j else i, i + j + 1, i - j])
    return f"{b}^{{{i}}} \\cdot {b}^{{{j}}}", f"{b}^{{{t}}}"


@kind
def log_trig(r, same):
    way = r.randrange(10)
    if way == 0:
        b, k = r.randint(2, 9), r.randint(2, 5)
        left = r.choice([f"\\log_{b} {b**k}", f"\\log_{{{b}}} {b**k}", f"\\log_{{{b}}}{{{b**k}}}", f"\\log_{b}({b**k})"])
        return left, str(k if same else k + r.choice([-1, 1]))
    if way == 1:
        a, b = r.randint(2, 12), r.randint(2, 12)
        f = r.choice(["\\ln", "\\ln", "\\log"])
        t = a * b if same else r.choice([a + b if a + b != a * b else a, a * b + 1])
        return f"{f} {a} + {f} {b}" if r.random() < 0.5 else f"{f}({a})+{f}({b})", f"{f} {t}"
    if way == 2:
        a, k = r.randint(2, 12), r.randint(2, 5)
        left = f"{k}\\ln {a}"
        return left, f"\\ln {a**k + (0 if same else r.choice([-1, 1, 2, 10]))}"
    if way == 3:
        a, b = r.sample([2, 3, 5, 7, 10, 12], 2)
        left = f"\\log_{{{a}}} {b}"
        if same:
            return left, r.choice([f"\\frac{{\\ln {b}}}{{\\ln {a}}}", f"\\frac{{\\log {b}}}{{\\log {a}}}", f"\\frac{{1}}{{\\log_{{{b}}} {a}}}"])
        return left, r.choice([f"\\frac{{\\ln {a}}}{{\\ln {b}}}", f"\\log_{{{b}}} {a}", f"\\ln {b} - \\ln {a}"])
    if way == 4:
        table = {"\\sin": [("\\frac{\\pi}{6}", "\\frac{1}{2}"), ("\\frac{\\pi}{4}", "\\frac{\\sqrt{2}}{2}"), ("\\frac{\\pi}{3}", "\\frac{\\sqrt{3}}{2}"), ("\\frac{\\pi}{2}", "1"), ("\\pi", "0"), ("\\frac{5\\pi}{6}", "\\frac12")],
                 "\\cos": [("\\frac{\\pi}{6}", "\\frac{\\sqrt3}{2}"), ("\\frac{\\pi}{3}", "\\frac{1}{2}"), ("\\frac{2\\pi}{3}", "-\\frac{1}{2}"), ("\\pi", "-1"), ("\\frac{\\pi}{4}", "\\frac{1}{\\sqrt{2}}"), ("\\frac{\\pi}{5}", "\\frac{1+\\sqrt{5}}{4}")],
                 "\\tan": [("\\frac{\\pi}{4}", "1"), ("\\frac{\\pi}{3}", "\\sqrt{3}"), ("\\frac{\\pi}{6}", "\\frac{\\sqrt{3}}{3}"), ("\\frac{3\\pi}{4}", "-1")]}
        f = r.choice(sorted(table))
        arg, val = r.choice(table[f])
        left = r.choice([f"{f}{arg}", f"{f} {arg}", f"{f}({arg})", f"{f}\\left({arg}\\right)"])
        if same:
            return left, val
        return left, r.choice([v for a, v in table[f] if v != val and not (f == "\\sin" and {v, val} <= {"\\frac{1}{2}", "\\frac12"})] + ["2"])
    if way == 5:
        v = r.choice(["x", "y", "\\theta", "t", "\\alpha"])
        eq = [(f"\\sin^2 {v}+\\cos^2 {v}", "1"), (f"\\sec^2 {v}", f"\\tan^2 {v}+1"), (f"\\sin 2{v}" if v[0] != "\\" else f"\\sin(2{v})", f"2\\sin {v}\\cos {v}"), (f"\\cos(2{v})", f"1-2\\sin^2 {v}"), (f"\\cos(2{v})", f"2\\cos^2 {v}-1"),
              (f"\\frac{{\\sin {v}}}{{\\cos {v}}}", f"\\tan {v}"), (f"\\csc^2 {v}-1", f"\\cot^2 {v}"), (f"\\tan {v}\\cot {v}", "1"), (f"1-\\cos^2 {v}", f"\\sin^2 {v}"), (f"\\frac{{1}}{{\\sec {v}}}", f"\\cos {v}")]
        ne = [(f"\\sin^2 {v}-\\cos^2 {v}", "1"), (f"\\sec^2 {v}", f"\\tan^2 {v}-1"), (f"\\sin(2{v})", f"2\\sin {v}"), (f"\\cos(2{v})", f"1-2\\cos^2 {v}"), (f"\\sin {v}", f"\\cos {v}"), (f"\\sin^2 {v}", f"\\sin({v}^2)"), (f"2\\sin {v}", f"\\sin {v}"),
              (f"\\frac{{\\sin {v}}}{{\\cos {v}}}", f"\\cot {v}"), (f"\\sin {v}+\\cos {v}", f"\\sin {v}-\\cos {v}")]
        return r.choice(eq if same else ne)
    if way == 6:
        if same:
            return r.choice([("\\arctan 1", "\\frac{\\pi}{4}"), ("\\arcsin\\frac{1}{2}", "\\frac{\\pi}{6}"), ("\\arccos 0", "\\frac{\\pi}{2}"), ("\\tan^{-1} 1", "\\frac{\\pi}{4}"), ("\\sin^{-1}(1)", "\\frac{\\pi}{2}"), ("\\arctan\\sqrt{3}", "\\frac{\\pi}{3}"),
                             ("\\arctan\\frac12+\\arctan\\frac13", "\\frac{\\pi}{4}"), ("\\arccos\\left(-\\frac12\\right)", "\\frac{2\\pi}{3}"), ("\\arccos(-1)", "\\pi")])
        return r.choice([("\\arctan 1", "\\frac{\\pi}{3}"), ("\\arcsin\\frac{1}{2}", "\\frac{\\pi}{3}"), ("\\arccos 0", "0"), ("\\tan^{-1} 1", "\\frac{1}{\\tan 1}"), ("\\arctan 2", "\\frac{\\pi}{3}"), ("\\arccos\\frac13", "\\arcsin\\frac13"), ("\\arctan 3", "\\arctan 4")])
    if way == 7:
        a = r.randint(2, 9)
        k = r.randint(1, 4)
        left = r.choice([f"e^{{{k}\\ln {a}}}", f"\\exp({k}\\ln {a})"]) if k > 1 else f"e^{{\\ln {a}}}"
        v = a**k
        return left, str(v if same else near(r, v))
    if way == 8:
        k = r.randint(1, 6)
        left = r.choice([f"\\log_{{10}} {10**k}", f"\\log {10**k}", f"\\lg {10**k}" if r.random() < 0.2 else f"\\log({10**k})"])
        return left, str(k if same else k + r.choice([-1, 1]))
    a, b = r.randint(2, 12), r.randint(2, 12)
    while a == b:
        b = r.randint(2, 12)
    g = math.gcd(a, b)
    left = f"\\ln {a}-\\ln {b}"
    if same:
        return left, r.choice([f"\\ln\\frac{{{a // g}}}{{{b // g}}}", f"\\ln\\left(\\frac{{{a}}}{{{b}}}\\right)", f"-\\ln\\frac{{{b}}}{{{a}}}"])
    return left, r.choice([f"\\ln\\frac{{{b}}}{{{a}}}", f"\\frac{{\\ln {a}}}{{\\ln {b}}}", f"\\ln {abs(a - b) + 1}" if F(a, b) != abs(a - b) + 1 else "7"])


@kind
def floor_abs_gcd(r, same):
    way = r.randrange(6)
    pick = lambda v: str(v if same else near(r, v))
    if way == 0:
        a, b = r.randint(10, 400), r.randint(2, 19)
        if r.random() < 0.2:
            a = -a
        left = r.choice([f"\\lfloor \\frac{{{a}}}{{{b}}} \\rfloor", f"\\left\\lfloor\\frac{{{a}}}{{{b}}}\\right\\rfloor", f"\\lfloor {a}/{b} \\rfloor"])
        return left, pick(a // b)
    if way == 1:
        x = r.randint(-500, 1500)
        s = f"{x / 100:.2f}" if x % 100 else f"{x // 100}.5"
        v = F(s)
        if r.random() < 0.5:
            return f"\\lfloor {s} \\rfloor", pick(math.floor(v))
        return f"\\lceil {s} \\rceil", pick(math.ceil(v))
    if way == 2:
        n = r.randint(2, 500)
        if r.random() < 0.5:
            return f"\\lfloor \\sqrt{{{n}}} \\rfloor", pick(math.isqrt(n))
        k = r.randint(1, 9)
        v = math.ceil(k * math.pi)
        return f"\\lceil {k}\\pi \\rceil" if k > 1 else "\\lceil\\pi\\rceil", pick(v)
    if way == 3:
        q = F(nz(r, -99, -1), r.randint(1, 9))
        left = r.choice([f"|{plain(q)}|", f"\\left|{plain(q)}\\right|", f"\\lvert {plain(q)} \\rvert", f"|{q.numerator}/{q.denominator}|" if q.denominator > 1 else f"|{q}|"])
        p = -q if same else r.choice([q, other_rat(r, -q)])
        if r.random() < 0.2:
            a, b = r.randint(1, 20), r.randint(21, 50)
            return f"|{a}-{b}|", str(b - a if same else r.choice([a - b, a + b]))
        return left, rat(r, p)
    if way == 4:
        a, b = r.randint(2, 12) * r.randint(2, 9), r.randint(2, 12) * r.randint(2, 9)
        if r.random() < 0.5:
            return r.choice([f"\\gcd({a},{b})", f"\\gcd({a}, {b})", f"\\gcd\\left({a},{b}\\right)"]), pick(math.gcd(a, b))
        return r.choice([f"\\operatorname{{lcm}}({a},{b})", f"\\text{{lcm}}({a},{b})", f"\\lcm({a},{b})"]), pick(math.lcm(a, b))
    xs = [r.randint(-50, 99) for _ in range(r.choice([2, 2, 3]))]
    if r.random() < 0.5:
        return f"\\max({','.join(map(str, xs))})", pick(max(xs))
    return f"\\min({', '.join(map(str, xs))})", pick(min(xs))


@kind
def sum_integral_limit(r, same):
    way = r.randrange(10)
    if way == 0:
        v = r.choice("ki")
        n = r.choice("nmN")
        f, val, wrong = r.choice([(v, f"\\frac{{{n}({n}+1)}}{{2}}", f"\\frac{{{n}({n}-1)}}{{2}}"), (f"{v}^2", f"\\frac{{{n}({n}+1)(2{n}+1)}}{{6}}", f"\\frac{{{n}({n}+1)(2{n}+1)}}{{3}}"), (f"2^{v}", f"2^{{{n}+1}}-2", f"2^{n}-1"), ("1", n, f"{n}+1"),
                                  (f"(2{v}-1)", f"{n}^2", f"{n}^2+{n}"), (f"{v}^3", f"\\frac{{{n}^2({n}+1)^2}}{{4}}", f"\\frac{{{n}({n}+1)}}{{4}}"), (f"2{v}", f"{n}^2+{n}", f"{n}^2")])
        return f"\\sum_{{{v}=1}}^{{{n}}} {f}", val if same else wrong
    if way == 1:
        n, p = r.randint(3, 20), r.choice([1, 2, 3])
        a = r.choice([0, 1, 1, 2])
        v = sum(k**p for k in range(a, n + 1))
        f = "k" if p == 1 else f"k^{p}"
        return r.choice([f"\\sum_{{k={a}}}^{{{n}}} {f}", f"\\sum_{{k={a}}}^{{{n}}}{f}"]), str(v if same else near(r, v))
    if way == 2:
        n = r.randint(2, 7)
        a = r.choice([1, 2])
        v = math.prod(range(a, n + 1))
        return f"\\prod_{{k={a}}}^{{{n}}} k", str(v if same else v + r.choice([-1, 1, n])) if r.random() < 0.7 or not same else f"{n}!"
    if way in (3, 4):
        n = r.randint(1, 6)
        c = r.randint(1, 6)
        lo, hi = r.choice([(0, 1), (0, 2), (1, 2), (0, 3), (-1, 1), (1, 3), (-1, 2)])
        q = F(c * (hi ** (n + 1) - lo ** (n + 1)), n + 1)
        body = f"{'' if c == 1 else c}{power('x', n)}"
        left = r.choice([f"\\int_{{{lo}}}^{{{hi}}} {body}\\,dx", f"\\int_{{{lo}}}^{{{hi}}} {body} dx", f"\\int_{{{lo}}}^{{{hi}}} {body} \\, dx"])
        return left, rat(r, q if same else other_rat(r, q) if q else F(1))
    if way == 5:
        if same:
            return r.choice([("\\int_0^{\\pi} \\sin x\\,dx", "2"), ("\\int_0^1 e^x dx", "e-1"), ("\\int_1^e \\frac{1}{x} dx", "1"), ("\\int_1^2 \\frac{1}{x}\\,dx", "\\ln 2"), ("\\int_0^{\\frac{\\pi}{2}} \\cos x dx", "1"), ("\\int_0^1 \\sqrt{x}\\,dx", "\\frac{2}{3}")])
        return r.choice([("\\int_0^{\\pi} \\sin x\\,dx", "0"), ("\\int_0^1 e^x dx", "e"), ("\\int_1^e \\frac{1}{x} dx", "e-1"), ("\\int_1^2 \\frac{1}{x}\\,dx", "\\frac12"), ("\\int_0^1 \\sqrt{x}\\,dx", "\\frac{3}{2}")])
    if way == 6:
        k = r.randint(1, 9)
        c = "" if k == 1 else str(k)
        left, val = r.choice([(f"\\lim_{{x\\to 0}}\\frac{{\\sin {c}x}}{{x}}", F(k)), (f"\\lim_{{x\\to 0}} \\frac{{\\sin({c}x)}}{{x}}", F(k)), (f"\\lim_{{x \\to {k}}} \\frac{{x^2-{k * k}}}{{x-{k}}}", F(2 * k)), (f"\\lim_{{x\\to\\infty}}\\frac{{{c}x+1}}{{2x-3}}", F(k, 2)),
                              (f"\\lim_{{n\\to\\infty}} \\frac{{{c}n^2}}{{n^2+1}}", F(k)), (f"\\lim_{{x\\to {k}}} (x^2+1)", F(k * k + 1)), (f"\\lim_{{x \\to 0}} \\frac{{e^{{{c}x}}-1}}{{x}}", F(k))])
        return left, rat(r, val if same else other_rat(r, val))
    if way == 7:
        n = r.randint(2, 7)
        c = r.randint(2, 6)
        left = r.choice([f"\\frac{{d}}{{dx}} ({c}x^{n})", f"\\frac{{d}}{{dx}}\\left({c}x^{n}\\right)", f"\\frac{{d}}{{dx}} {c}x^{n}"])
        if same:
            return left, f"{c * n}{power('x', n - 1)}"
        return left, r.choice([f"{c}{power('x', n - 1)}", f"{c * n}{power('x', n)}", f"{c * n + 1}{power('x', n - 1)}"])
    if way == 8:
        a, q = r.randint(1, 9), r.choice([2, 3, 4, 5])
        v = F(a) / (1 - F(1, q))
        left = f"\\sum_{{k=0}}^{{\\infty}} \\frac{{{a}}}{{{q}^k}}"
        return left, rat(r, v if same else other_rat(r, v))
    n = r.randint(1, 5)
    q = F(1, n + 1)
    if same:
        return f"\\int x^{n}\\,dx" if n > 1 else "\\int x\\,dx", r.choice([f"\\frac{{x^{{{n + 1}}}}}{{{n + 1}}}", f"\\frac{{1}}{{{n + 1}}}x^{{{n + 1}}}"])
    return f"\\int x^{n}\\,dx" if n > 1 else "\\int x\\,dx", r.choice([f"\\frac{{x^{{{n + 1}}}}}{{{n + 2}}}", f"{n}x^{{{n}}}", f"x^{{{n + 1}}}"])


# ---------------------------------------------------------------- expressions


@kind
def polynomial(r, same):
    v = r.choice(["x", "x", "x", "t", "n", "a", "y", "z"])
    way = r.randrange(9)
    if r.random() < 0.04:
        a, b = nz(r, -9, 9), nz(r, -9, 9)
        return poly([1, a, b], v), poly([1, a, b if same else near(r, b)], v).replace("^2", "²")
    if way <= 2:
        p = [nz(r, -5, 5) if r.random() < 0.5 else 1, nz(r, -9, 9)]
        q = [1, nz(r, -9, 9)]
        parts = [p, q]
        if way == 2:
            parts.append([1, nz(r, -4, 4)])
        c = [1]
        for f in parts:
            c = pmul(c, f)
        left = "".join(f"({poly(f, v)})" for f in shuffled(r, parts))
        if not same:
            c = list(c)
            i = r.randrange(len(c))
            c[i] = near(r, c[i])
        return spaced(r, left), spaced(r, poly(c, v))
    if way == 3:
        a, k = nz(r, -5, 5), r.choice([2, 2, 3, 4])
        c = [1]
        for _ in range(k):
            c = pmul(c, [1, a])
        left = r.choice([f"({poly([1, a], v)})^{k}", f"\\left({poly([1, a], v)}\\right)^{{{k}}}"])
        if not same:
            c = r.choice([[1] + [0] * (k - 1) + [a**k], c[:-1] + [c[-1] + 1], [1, -c[1]] + c[2:]])
        return left, spaced(r, poly(c, v))
    if way == 4:
        a, b = nz(r, -7, 7), nz(r, -7, 7)
        while a == b:
            b = nz(r, -7, 7)
        left = f"\\frac{{1}}{{{poly([1, a], v)}}}+\\frac{{1}}{{{poly([1, b], v)}}}"
        if same:
            return left, f"\\frac{{{poly([2, a + b], v)}}}{{({poly([1, a], v)})({poly([1, b], v)})}}"
        return left, r.choice([f"\\frac{{2}}{{{poly([2, a + b], v)}}}", f"\\frac{{{poly([2, a - b], v)}}}{{({poly([1, a], v)})({poly([1, b], v)})}}", f"\\frac{{2}}{{({poly([1, a], v)})({poly([1, b], v)})}}"])
    if way == 5:
        a, b = nz(r, -7, 7), nz(r, -7, 7)
        num = pmul([1, a], [1, b])
        left = f"\\frac{{{poly(num, v)}}}{{{poly([1, a], v)}}}"
        return left, spaced(r, poly([1, b if same else near(r, b)], v))
    if way == 6:
        u, w = r.sample(["x", "y", "a", "b", "m", "n"], 2)
        a, b, c, d = (nz(r, -4, 4) for _ in range(4))
        left = f"({join([(a, u), (b, w)])})({join([(c, u), (d, w)])})"
        e = [a * c, a * d + b * c, b * d]
        if not same:
            i = r.randrange(3)
            e[i] = near(r, e[i])
        return left, join(shuffled(r, [(e[0], u + "^2"), (e[1], u + w), (e[2], w + "^2")]))
    if way == 7:
        c = [nz(r, -9, 9) for _ in range(r.choice([3, 4]))]
        n = len(c) - 1
        terms = [(a, power(v, n - i)) for i, a in enumerate(c)]
        left = join(terms)
        if not same:
            i = r.randrange(len(terms))
            terms[i] = (near(r, terms[i][0]), terms[i][1])
        return left, spaced(r, join(other_order(r, terms)))
    q = some_rat(r)
    b = nz(r, -9, 9)
    left = join([(q, v), (b, "")])
    if same:
        t = q * 1
        num = join([(t.numerator, v), (b * t.denominator, "")])
        return left, r.choice([f"\\frac{{{num}}}{{{t.denominator}}}", f"({num})/{t.denominator}", join([(b, ""), (q, v)])])
    return left, r.choice([join([(q, v), (-b, "")]), join([(other_rat(r, q), v), (b, "")]), f"\\frac{{{join([(q.numerator, v), (b, '')])}}}{{{q.denominator}}}", join([(q, v + "^2"), (b, "")])])


@kind
def variables(r, same):
    names = ["x", "y", "z", "a", "b", "c", "n", "k", "m", "t", "p", "q", "r"]
    u, w, z = r.sample(names, 3)
    way = r.randrange(8)
    a, b = r.randint(2, 9), nz(r, -9, 9)
    if way == 0:
        left = join([(a, u), (b, "")])
        return left, join([(b, ""), (a, u)]) if same else join([(a, w), (b, "")])
    if way == 1:
        left = join([(a, u), (b, w)])
        return left, join([(b, w), (a, u)]) if same else join([(a, w), (b, u)]) if a != b else join([(a, u), (b, z)])
    if way == 2:
        left = f"{u}_{1}+{u}_{2}"
        return left, r.choice([f"{u}_2+{u}_1", f"{u}_{{1}}+{u}_{{2}}"]) if same else r.choice([f"{u}_1+{u}_3", f"{u}_1-{u}_2", f"{w}_1+{w}_2"])
    if way == 3:
        g, h = r.sample(["\\alpha", "\\beta", "\\theta", "\\lambda", "\\mu", "\\omega", "\\phi", "\\sigma"], 2)
        left = f"{a}{g}{h}" if r.random() < 0.5 else f"{g}{h}"
        return left, left.replace(g + h, f"{h}{g}") if same else r.choice([left.replace(h, f" {w}"), f"{g}+{h}", f"{g}{h}^2"])
    if way == 4:
        f = r.choice("fgh")
        if same:
            return f"{f}({u})+{b if b > 0 else -b}", f"{b if b > 0 else -b}+{f}({u})"
        return f"{f}({u})", r.choice([f"{f}({w})", f"{f}({u}+1)", f"{a}{f}({u})"])
    if way == 5:
        if same:
            return f"{u}{w}{z}", r.choice([f"{w}{z}{u}", f"{u} {w} {z}", f"{z}\\cdot {u}\\cdot {w}"])
        return f"{a}{u}", r.choice([str(a), f"{a}{w}", f"{u}^{a}", f"{a}+{u}", f"{a}{u}{w}"])
    if way == 6:
        e = r.randint(2, 5)
        left = f"{u}^{e}{w}"
        return left, r.choice([f"{w}{u}^{{{e}}}", f"{w}\\cdot {u}^{e}", f"{u}^{{{e}}} {w}"]) if same else r.choice([f"{u}{w}^{e}", f"{u}^{{{e + 1}}}{w}", f"({u}{w})^{e}"])
    left = f"\\frac{{{u}}}{{{w}+{z}}}"
    return left, r.choice([f"\\frac{{{u}}}{{{z}+{w}}}", f"{u}/({w}+{z})", f"{u}({w}+{z})^{{-1}}"]) if same else r.choice([f"{u}/{w}+{z}", f"\\frac{{{w}}}{{{u}+{z}}}", f"\\frac{{{u}}}{{{w}}}+\\frac{{{u}}}{{{z}}}"])


WORDS = ["Monday", "Tuesday", "Friday", "red", "blue", "green", "even", "odd", "north", "south", "circle", "square", "triangle", "ellipse", "hyperbola", "parabola", "Alice", "Robert", "Maria", "yes", "no",
         "increasing", "decreasing", "convergent", "divergent", "linear", "prime", "composite", "positive", "negative", "left", "right", "cylinder", "isosceles", "scalene", "Venus", "Saturn", "March", "October", "both", "neither", "line", "point", "sphere", "rational", "acute", "obtuse", "Kate", "Peter"]
PHRASES = ["no solution", "all real numbers", "the second player", "right triangle", "not a function", "does not exist", "bounded above", "first player wins", "two circles", "cannot be determined", "one solution", "skew lines", "strictly increasing"]


def textual(r, w):
    return r.choice([f"\\text{{{w}}}", f"\\text{{{w}}}", f"\\textbf{{{w}}}", f"\\mathrm{{{w}}}", f"\\mbox{{{w}}}", f"\\text{{ {w} }}", f"\\textit{{{w}}}", f"\\textrm{{{w}}}"])


@kind
def text(r, same):
    w = r.choice(WORDS + PHRASES)
    if same:
        way = r.randrange(5)
        if way == 0:
            return f"\\text{{{w}}}", w
        if way == 1:
            return f"\\text{{{w}}}", textual(r, w.capitalize() if r.random() < 0.5 else w.upper())
        if way == 2:
            return f"\\text{{{w}}}", f"\\text{{{w}.}}" if r.random() < 0.3 else f"\\text{{{w}}}."
        if way == 3:
            return textual(r, w), w.lower()
        return textual(r, w), textual(r, w)
    way = r.randrange(5)
    none = ["no solution", "does not exist", "cannot be determined"]
    v = r.choice([x for x in WORDS + PHRASES if x.lower() != w.lower() and not (x in none and w in none)])
    if way == 0:
        v = "".join(other_order(r, w)) if len(set(w)) > 1 else v
        if v.lower() == w.lower():
            v = w + "s"
        return f"\\text{{{w}}}", f"\\text{{{v}}}"
    if way == 1:
        return textual(r, w), v
    if way == 2:
        return textual(r, w), textual(r, f"not {w}")
    if way == 3:
        return textual(r, w), str(r.randint(0, 20))
    return textual(r, w), textual(r, v)


UNITS = [["cm", "m", "km", "mm"], ["kg", "g"], ["hours", "minutes", "seconds", "days"], ["miles"], ["dollars"], ["cents"], ["inches", "feet"], ["apples"], ["students"], ["square units"], ["units"], ["km/h"], ["mph"], ["liters"], ["cm^2"], ["m^2"], ["square feet"], ["cubic meters"], ["years"], ["points"], ["books"]]
EXACT = [("m", "cm", 100), ("km", "m", 1000), ("cm", "mm", 10), ("kg", "g", 1000), ("hours", "minutes", 60), ("minutes", "seconds", 60), ("feet", "inches", 12), ("days", "hours", 24)]


def quantity(r, n, u):
    if u.endswith("^2"):
        b = u[:-2]
        return r.choice([f"{n}\\text{{ {b}}}^2", f"{n} \\text{{ {b}}}^2", f"{n}\\mbox{{ {b}}}^2", f"{n}\\ \\text{{{b}}}^2", f"{n} \\, \\text{{{b}}}^2", f"{n}\\mathrm{{~{b}}}^2" if r.random() < 0.3 else f"{n}\\,\\mathrm{{{b}}}^2"])
    ways = [f"{n}\\text{{ {u}}}", f"{n}\\text{{ {u}}}", f"{n} \\text{{ {u}}}", f"{n}\\ \\text{{{u}}}", f"{n}\\,\\text{{{u}}}", f"{n} \\, \\mathrm{{{u}}}", f"{n}\\mbox{{ {u}}}", f"{n} \\text{{{u}}}"]
    if u == "dollars":
        ways += [f"\\${n}"] * 4
    if r.random() < 0.15:
        ways = [f"{n} {u}"]
    return r.choice(ways)


@kind
def units(r, same):
    group = r.choice(UNITS)
    u = r.choice(group)
    n = r.choice([str(r.randint(1, 500)), str(r.randint(1, 500)), f"{r.randint(1, 99)}.{r.randint(1, 9)}", plain(some_rat(r).__abs__()), f"{r.randint(2, 9)}\\sqrt{{{r.choice([2, 3, 5])}}}", f"{r.randint(2, 40)}\\pi"])
    if same:
        way = r.randrange(5)
        if way <= 2:
            return quantity(r, n, u), n
        if way == 3:
            return quantity(r, n, u), quantity(r, n, u)
        big, small, f = r.choice(EXACT)
        k = r.randint(1, 30)
        return quantity(r, k, big), quantity(r, k * f, small)
    way = r.randrange(5)
    k = r.randint(2, 400)
    if way == 0:
        return quantity(r, k, u), str(near(r, k))
    if way == 1:
        return quantity(r, k, u), quantity(r, near(r, k), u)
    if way == 2:
        g1, g2 = r.sample([g for g in UNITS if "units" not in g[0]], 2)
        return quantity(r, k, r.choice(g1[:1])), quantity(r, k, r.choice(g2[:1]))
    if way == 3:
        big, small, f = r.choice(EXACT)
        return quantity(r, k, big), quantity(r, k, small)
    return quantity(r, n, u), f"-{n}" if r.random() < 0.5 else f"2\\cdot {n}"


@kind
def degrees(r, same):
    n = r.choice([str(r.randint(1, 360)), str(r.randint(1, 360)), str(15 * r.randint(1, 24)), f"{r.randint(1, 179)}.5"])

    def deg(n):
        return r.choice([f"{n}^\\circ", f"{n}^{{\\circ}}", f"{n}^\\circ", f"{n}^{{\\circ}}", f"{n} ^\\circ", f"{n}\\text{{ degrees}}", f"{n}°", f"{n} degrees", f"{n}^{{\\circ}} ", f"{n}\\degree", f"{n}^\\text{{o}}"] if r.random() < 0.6 else [f"{n}^\\circ", f"{n}^{{\\circ}}"])

    if r.random() < 0.12:
        f, a, v = r.choice([("\\sin", 30, "\\frac{1}{2}"), ("\\cos", 60, "\\frac{1}{2}"), ("\\tan", 45, "1"), ("\\sin", 90, "1"), ("\\cos", 180, "-1"), ("\\sin", 60, "\\frac{\\sqrt{3}}{2}"), ("\\cos", 0, "1"), ("\\sin", 45, "\\frac{\\sqrt{2}}{2}"), ("\\tan", 60, "\\sqrt{3}")])
        left = r.choice([f"{f} {a}^\\circ", f"{f}({a}^\\circ)", f"{f} {a}^{{\\circ}}"])
        return left, v if same else r.choice([f"-{v}" if v[0] != "-" else v[1:], "0", "2"])
    if same:
        return deg(n), n if r.random() < 0.5 else deg(n)
    m = str(near(r, int(float(n))))
    if float(m) == float(n):
        m = str(int(float(n)) + 3)
    way = r.randrange(3)
    if way == 0:
        return deg(n), m
    if way == 1:
        return deg(n), deg(m)
    return deg(n), r.choice([f"-{n}", f"{n}\\pi", str(180 - int(float(n))) if float(n) != 90 and "." not in n else m])


@kind
def ratio_time(r, same):
    way = r.randrange(6)
    if way <= 2:
        a, b = r.randint(1, 20), r.randint(1, 20)
        g = math.gcd(a, b)
        a, b = a // g, b // g
        k = r.choice([1, 2, 3, 5])
        left = r.choice([f"{a}:{b}", f"{a} : {b}", f"{a}{{:}}{b}" if r.random() < 0.2 else f"{a}:{b}"])
        if same:
            return left, r.choice([f"{a * k}:{b * k}", f"{a * k} : {b * k}", frac(r, a, b), f"{a}\\colon {b}" if r.random() < 0.3 else f"{a} : {b}", f"\\frac{{{a}}}{{{b}}}", f"{a} \\text{{ to }} {b}" if r.random() < 0.3 else f"{a * k}:{b * k}"])
        c, d = r.choice([(b, a), (a + 1, b), (a, b + 1), (a, b + 2)])
        if c * b == d * a:
            c = c + 7
        return left, r.choice([f"{c}:{d}", f"{c} : {d}", f"\\frac{{{c}}}{{{d}}}"])
    if way == 3:
        a, b, c = (r.randint(1, 9) for _ in range(3))
        k = r.choice([1, 2, 3])
        left = f"{a}:{b}:{c}"
        if same:
            return left, r.choice([f"{a * k}:{b * k}:{c * k}", f"{a} : {b} : {c}"])
        return left, r.choice([f"{c}:{b}:{a}" if a != c else f"{a}:{b}:{c + 1}", f"{a}:{b + 1}:{c}", f"{a + 1}:{b}:{c}"])
    h, m = r.randint(1, 12), r.choice([0, 15, 30, 45, r.randint(1, 59)])
    t = f"{h}:{m:02d}"
    if same:
        ap = r.choice(["AM", "PM"])
        other = {"AM": ["a.m.", "AM", "am"], "PM": ["p.m.", "PM", "pm"]}[ap]
        return r.choice([(t, f"{h} : {m:02d}"), (t, t), (f"{t}\\text{{ {ap}}}", f"{t} \\text{{ {r.choice(other)}}}"), (f"{t}\\text{{ {ap}}}", f"{t}\\,\\text{{{r.choice(other)}}}"), (f"{h}{{:}}{m:02d}", t)])
    m2 = (m + r.choice([5, 10, 15, 30])) % 60
    h2 = h % 12 + 1
    return t, r.choice([f"{h2}:{m:02d}", f"{h}:{m2:02d}", f"{h2}:{m2:02d}", f"{h + m / 60}" if m in (15, 30, 45) else f"{h2}:{m2:02d}"])


# ---------------------------------------------------------------- collections


def elem(r):
    """One element of a tuple or a set: its text in two ways, and its value."""
    way = r.randrange(8)
    if way <= 4:
        n = r.randint(-12, 30)
        return str(n), str(n), float(n)
    if way == 5:
        q = some_rat(r)
        return plain(q), rat(r, q), float(q)
    if way == 6:
        m, k = r.choice([2, 3, 5, 7]), r.randint(1, 5)
        return (str(k) if k > 1 else "") + f"\\sqrt{{{m}}}", r.choice([f"\\sqrt{{{k * k * m}}}", (str(k) if k > 1 else "") + f"\\sqrt{{{m}}}"]), k * math.sqrt(m)
    q = F(r.randint(1, 9), r.choice([1, 2, 3, 4]))
    n = "" if q.numerator == 1 else str(q.numerator)
    s = f"{n}\\pi" if q.denominator == 1 else f"\\frac{{{n}\\pi}}{{{q.denominator}}}"
    return s, s if q.denominator == 1 else f"{plain(q)}\\pi", float(q) * math.pi


def elems(r, n):
    """n elements with different values."""
    out = []
    while len(out) < n:
        e = elem(r)
        if all(abs(e[2] - o[2]) > 1e-9 for o in out):
            out.append(e)
    return out


def change(r, es):
    """The same elements with one of them replaced by another value."""
    es = list(es)
    i = r.randrange(len(es))
    while True:
        n = elem(r)
        if r.random() < 0.4 and abs(es[i][2]) > 1e-9:
            s = es[i][0]
            s = s[1:] if s.startswith("-") else "-" + s
            n = (s, s, -es[i][2])
        if all(abs(n[2] - o[2]) > 1e-9 for o in es):
            break
    es[i] = n
    return es


def tup(r, ss):
    sep = r.choice([",", ", ", ",\\ ", ", "])
    return r.choice(["({})", "({})", "({})", "\\left({}\\right)", "\\left( {} \\right)", "\\bigl({}\\bigr)" if r.random() < 0.15 else "({})"]).format(sep.join(ss))


def braces(r, ss):
    sep = r.choice([",", ", ", ", "])
    return r.choice(["\\{{{}\\}}", "\\{{{}\\}}", "\\left\\{{{}\\right\\}}", "\\{{ {} \\}}"]).format(sep.join(ss))


def bare(r, ss):
    way = r.randrange(6)
    if way == 0 and len(ss) > 1:
        return ", ".join(ss[:-1]) + r.choice([" \\text{ and } ", " and ", ", and ", "\\text{ and }"]) + ss[-1]
    if way == 1 and len(ss) == 2:
        return ss[0] + r.choice([" \\text{ or } ", " or ", "\\text{ or }"]) + ss[1]
    if way == 2 and r.random() < 0.4:
        return "; ".join(ss)
    return r.choice([",", ", ", ", ", ",\\ ", ",\\,"]).join(ss)


@kind
def tuple(r, same):
    n = r.choice([2, 2, 2, 3, 3, 4])
    es = elems(r, n)
    left = tup(r, [e[0] for e in es])
    if same:
        ss = [e[1] for e in es]
        way = r.randrange(8)
        if way <= 3:
            return left, tup(r, ss)
        if way == 4:
            names = ["x", "y", "z", "w"][:n]
            return left, f"({','.join(names)})=" + tup(r, ss)
        if way == 5:
            return left, "\\begin{pmatrix}" + "\\\\".join(ss) + "\\end{pmatrix}"
        if way == 6:
            return left, r.choice(["\\langle {} \\rangle", "\\left\\langle {} \\right\\rangle"]).format(", ".join(ss))
        return left, ", ".join(ss)
    way = r.randrange(4)
    if way == 0:
        return left, tup(r, [e[1] for e in other_order(r, es)])
    if way == 1 and n > 2:
        return left, tup(r, [e[1] for e in es[:-1]])
    if way == 2:
        es2 = change(r, es)
        return left, tup(r, [e[1] for e in es2])
    es2 = change(r, es)
    return left, ", ".join(e[1] for e in es2) if r.random() < 0.4 else tup(r, [e[1] for e in es2])


@kind
def set_list(r, same):
    n = r.choice([2, 2, 3, 3, 4, 5])
    es = elems(r, n)
    a = [e[0] for e in es]
    forms = [(braces, bare), (braces, braces), (bare, bare), (braces, bare)]
    f, g = r.choice(forms)
    if same:
        b = [e[1] for e in shuffled(r, es)]
        return f(r, a), g(r, b)
    way = r.randrange(5)
    if way == 0:
        return f(r, a), g(r, [e[1] for e in shuffled(r, es[:-1])])
    if way == 1:
        extra = elems(r, 1)[0]
        while any(abs(extra[2] - e[2]) < 1e-9 for e in es):
            extra = elems(r, 1)[0]
        return f(r, a), g(r, [e[1] for e in shuffled(r, es + [extra])])
    if way == 2 and n == 2:
        return braces(r, a), f"[{a[0]},{a[1]}]"
    if way == 3:
        return f(r, a), es[0][0]
    return f(r, a), g(r, [e[1] for e in shuffled(r, change(r, es))])


@kind
def plus_minus(r, same):
    way = r.randrange(4)
    e = elem(r)
    while e[2] <= 0:
        e = elem(r)
    s, t = e[0], e[1]
    both = lambda x: r.choice([[x, "-" + x], ["-" + x, x]])
    wrap = r.choice([bare, bare, braces])
    if way <= 1:
        left = r.choice([f"\\pm {s}", f"\\pm{s}", f"x = \\pm {s}", f"\\pm {s}"])
        if same:
            return left, wrap(r, both(t)) if r.random() < 0.8 else r.choice([f"\\mp {t}", f"± {t}", f"x=\\pm {t}"])
        f = elem(r)
        while abs(abs(f[2]) - e[2]) < 1e-9 or f[2] <= 0:
            f = elem(r)
        return left, r.choice([t, "-" + t, wrap(r, both(f[1])), f"\\pm {f[0]}", wrap(r, [t, "-" + f[1]])])
    a = r.randint(1, 12)
    m = r.choice([2, 3, 5, 7, 11])
    b = r.randint(1, 5)
    rt = ("" if b == 1 else str(b)) + f"\\sqrt{{{m}}}"
    den = r.choice([1, 1, 2, 3])
    body = lambda sg, a=a, rt=rt: f"{a}{sg}{rt}" if den == 1 else f"\\frac{{{a}{sg}{rt}}}{{{den}}}"
    left = r.choice([body("\\pm"), body(" \\pm "), "x=" + body("\\pm ")])
    if same:
        return left, wrap(r, shuffled(r, [body("+"), body("-")])) if den == 1 or r.random() < 0.6 else body("\\mp ")
    return left, r.choice([body("+"), body("-"), wrap(r, [body("+", a + 1), body("-", a + 1)]), wrap(r, [body("+"), body("-", a + 1)]), body("\\pm", a + 1), body("\\pm ", a, f"{b + 1}\\sqrt{{{m}}}")])


@kind
def list_of_tuples(r, same):
    n = r.choice([2, 2, 3])
    size = r.choice([2, 2, 2, 3])
    ts = [elems(r, size) for _ in range(n)]
    while len({tuple_key(t) for t in ts}) < n:
        ts = [elems(r, size) for _ in range(n)]
    show = lambda ts, i: [tup(r, [e[i] for e in t]) for t in ts]
    a = show(ts, 0)
    f = r.choice([lambda r, s: ", ".join(s), lambda r, s: ",".join(s), lambda r, s: braces(r, s), bare])
    if same:
        return ", ".join(a) if r.random() < 0.7 else ",".join(a), f(r, show(shuffled(r, ts), 1))
    way = r.randrange(4)
    ts2 = [list(t) for t in ts]
    if way == 0:
        i = r.randrange(n)
        ts2[i] = other_order(r, ts2[i])
    elif way == 1:
        i = r.randrange(n)
        ts2[i] = change(r, ts2[i])
    elif way == 2:
        ts2 = ts2[:-1]
    else:
        i = r.randrange(size)
        ts2[0][i], ts2[1][i] = ts2[1][i], ts2[0][i]
    if {tuple_key(t) for t in ts2} == {tuple_key(t) for t in ts}:
        ts2 = ts2[:-1] if len(ts2) == n else [change(r, ts2[0])] + ts2[1:]
    return ", ".join(a), f(r, show(shuffled(r, ts2), 1))


def tuple_key(t):
    return ",".join(f"{e[2]:.9f}" for e in t)


def iv(r, lo, hi, lo_open, hi_open, big=None):
    left, right = ("(" if lo_open else "["), (")" if hi_open else "]")
    sep = r.choice([",", ", "])
    if (r.random() < 0.3) if big is None else big:
        return f"\\left{left}{lo}{sep}{hi}\\right{right}"
    return f"{left}{lo}{sep}{hi}{right}"


@kind
def interval(r, same):
    cuts = sorted(r.sample(range(-12, 25), 4))
    a, b, c, d = cuts
    if r.random() < 0.3:
        k = r.choice([2, 3, 4])
        cs = sorted({F(x, k) for x in cuts})
        if len(cs) == 4:
            a, b, c, d = map(plain, cs)
    cup = lambda: r.choice(["\\cup", " \\cup ", " \\cup "])
    inf = "\\infty"
    way = r.randrange(9)
    o1, o2 = r.random() < 0.5, r.random() < 0.5
    pinf = r.choice(["\\infty", "+\\infty", "\\infty"])
    if way == 0:
        left = iv(r, a, b, o1, o2)
        if same:
            if o1 and o2 and r.random() < 0.15:
                return left, f"]{a},{b}["
            return left, iv(r, a, b, o1, o2)
        return left, r.choice([iv(r, a, b, not o1, o2), iv(r, a, b, o1, not o2), iv(r, a, c, o1, o2), iv(r, c, d, o1, o2)])
    if way == 1:
        if r.random() < 0.5:
            left = iv(r, a, inf, o1, True)
            return left, iv(r, a, pinf, o1, True) if same else r.choice([iv(r, a, inf, not o1, True), iv(r, "-\\infty", a, True, o1), iv(r, b, inf, o1, True)])
        left = iv(r, "-\\infty", a, True, o1)
        return left, iv(r, "-\\infty", a, True, o1, True) if same else r.choice([iv(r, "-\\infty", a, True, not o1), iv(r, a, inf, o1, True), iv(r, "-\\infty", b, True, o1)])
    if way in (2, 3):
        p, q = iv(r, "-\\infty", a, True, o1), iv(r, b, inf, o2, True)
        left = p + cup() + q
        if same:
            return left, r.choice([iv(r, b, pinf, o2, True) + cup() + iv(r, "-\\infty", a, True, o1), iv(r, "-\\infty", a, True, o1) + "\\cup" + iv(r, b, pinf, o2, True), f"\\mathbb{{R}} \\setminus {iv(r, a, b, not o1, not o2)}" if r.random() < 0.5 else p + " or " + q if r.random() < 0.3 else p + " \\cup " + iv(r, b, pinf, o2, True)])
        return left, r.choice([iv(r, "-\\infty", a, True, not o1) + cup() + q, p, iv(r, a, b, o1, o2), p + cup() + iv(r, c, inf, o2, True), iv(r, "-\\infty", inf, True, True), p + "\\cap" + q])
    if way == 4:
        left = iv(r, "-\\infty", a, True, True) + cup() + iv(r, a, b, True, o2)
        if same:
            return left, r.choice([iv(r, "-\\infty", b, True, o2) + f" \\setminus \\{{{a}\\}}", iv(r, a, b, True, o2) + " \\cup " + iv(r, "-\\infty", a, True, True)])
        return left, r.choice([iv(r, "-\\infty", b, True, o2), iv(r, "-\\infty", b, True, not o2) + f" \\setminus \\{{{a}\\}}", iv(r, "-\\infty", b, True, o2) + f" \\setminus \\{{{b}\\}}"if not o2 else iv(r, "-\\infty", c, True, o2) + f" \\setminus \\{{{a}\\}}"])
    if way == 5:
        left = iv(r, a, c, o1, o2) + " \\cap " + iv(r, b, d, o1, o2)
        return left, iv(r, b, c, o1, o2) if same else r.choice([iv(r, a, d, o1, o2), iv(r, b, c, not o1, o2), iv(r, b, d, o1, o2)])
    if way == 6:
        left = iv(r, a, b, o1, False) + cup() + iv(r, b, c, True, o2)
        return left, iv(r, a, c, o1, o2) if same else r.choice([iv(r, a, c, not o1, o2), iv(r, b, c, o1, o2), iv(r, a, d, o1, o2)])
    if way == 7:
        left = iv(r, a, b, o1, o2) + cup() + iv(r, c, d, o1, o2)
        return left, iv(r, c, d, o1, o2) + cup() + iv(r, a, b, o1, o2) if same else r.choice([iv(r, a, d, o1, o2), iv(r, a, b, not o1, o2) + cup() + iv(r, c, d, o1, o2), iv(r, a, b, o1, o2) + cup() + iv(r, c, d, o1, not o2)])
    left = r.choice(["\\mathbb{R}", "(-\\infty,\\infty)", "(-\\infty, +\\infty)"])
    if same:
        x = r.randint(-9, 9)
        return f"\\mathbb{{R}}\\setminus\\{{{x}\\}}", f"(-\\infty,{x})\\cup({x},{pinf})"
    return left, r.choice([iv(r, a, inf, o1, True), f"\\mathbb{{R}}\\setminus\\{{{a}\\}}", iv(r, a, b, o1, o2), "\\emptyset"])


@kind
def membership(r, same):
    v = r.choice(["x", "x", "y", "a", "t", "n", "m", "k"])
    inn = r.choice([" \\in ", "\\in", " \\in "])
    if r.random() < 0.55:
        n = r.choice([1, 2, 2, 3, 4])
        es = elems(r, n)
        left = v + inn + braces(r, [e[0] for e in es])
        if same:
            ss = [e[1] for e in shuffled(r, es)]
            way = r.randrange(4)
            if way == 0:
                return left, braces(r, ss)
            if way == 1:
                return left, ", ".join(ss)
            if way == 2:
                return left, v + "\\in" + braces(r, ss)
            return left, v + r.choice([" = ", "="]) + ", ".join(ss)
        es2 = r.choice([change(r, es), es[:-1] or change(r, es)])
        ss = [e[1] for e in shuffled(r, es2)]
        return left, r.choice([braces(r, ss), ", ".join(ss), v + "\\in" + braces(r, ss)])
    a, b, c = sorted(r.sample(range(-12, 25), 3))
    o1, o2 = r.random() < 0.5, r.random() < 0.5
    kind = r.randrange(3)

    def show(a, b, o1, o2):
        if kind == 0:
            return iv(r, a, b, o1, o2)
        if kind == 1:
            return iv(r, "-\\infty", a, True, o1) + " \\cup " + iv(r, b, "\\infty", o2, True)
        return iv(r, a, r.choice(["\\infty", "+\\infty"]), o1, True)

    left = v + inn + show(a, b, o1, o2)
    if same:
        way = r.randrange(4)
        lt = lambda o: "<" if o else r.choice(["\\le ", "\\leq "])
        if way == 0 and kind == 0:
            return left, f"{a}{lt(o1)}{v}{lt(o2)}{b}"
        if way == 0 and kind == 2:
            return left, f"{v}{'>' if o1 else chr(92) + 'ge '}{a}"
        return left, show(a, b, o1, o2) if way < 3 else v + " \\in " + show(a, b, o1, o2)
    wrong = r.choice([(a, b, not o1, o2), (a, c, o1, o2) if kind != 2 else (b, c, o1, o2), (a - 1, b, o1, o2)])
    return left, show(*wrong) if r.random() < 0.7 else v + "\\in" + show(*wrong)


# ---------------------------------------------------------------- relations


LE, GE = ["\\le", "\\leq", "\\leqslant"], ["\\ge", "\\geq", "\\geqslant"]


def rel(r, op):
    s = {"<": "<", ">": ">", "<=": r.choice(LE[:2] * 3 + LE), ">=": r.choice(GE[:2] * 3 + GE)}[op]
    if s in "<>":
        return r.choice([s, f" {s} ", s, "\\lt " if s == "<" and r.random() < 0.3 else s])
    if r.random() < 0.06:
        return {"<=": "≤", ">=": "≥"}[op]
    return r.choice([f"{s} ", f" {s} "])


FLIP = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
LOOSE = {"<": "<=", ">": ">=", "<=": "<", ">=": ">"}


@kind
def inequality(r, same):
    v = r.choice(["x", "x", "x", "a", "y", "k", "m", "t"])
    op = r.choice(["<", ">", "<=", ">="])
    q = F(r.randint(-15, 20)) if r.random() < 0.75 else some_rat(r)
    n = plain(q)
    way = r.randrange(8)
    if way <= 1:
        left = f"{v}{rel(r, op)}{n}"
        if same:
            k = r.randint(2, 5)
            return left, r.choice([f"{n}{rel(r, FLIP[op])}{v}", f"{n}{rel(r, FLIP[op])}{v}", f"{v}{rel(r, op)}{rat(r, q)}", f"{k}{v}{rel(r, op)}{plain(q * k)}" if r.random() < 0.4 else f"{v}{rel(r, op)} {n}", f"-{v}{rel(r, FLIP[op])}{plain(-q)}" if r.random() < 0.4 else f"{v} {rel(r, op)} {n}"])
        return left, r.choice([f"{v}{rel(r, LOOSE[op])}{n}", f"{v}{rel(r, FLIP[op])}{n}", f"{v}{rel(r, op)}{plain(other_rat(r, q))}", f"{n}{rel(r, op)}{v}", f"{v}={n}", n])
    if way == 2:
        left = f"{v}{rel(r, op)}{n}"
        o = op in "<>"
        lo = op in (">", ">=")
        right = (lambda o, n=n: iv(r, n, "\\infty", o, True)) if lo else (lambda o, n=n: iv(r, "-\\infty", n, True, o))
        if same:
            return left, right(o)
        return left, r.choice([right(not o), right(o, plain(q + 1)), (iv(r, "-\\infty", n, True, o) if lo else iv(r, n, "\\infty", o, True))])
    a, b, c = sorted(r.sample(range(-15, 25), 3))
    o1, o2 = r.random() < 0.5, r.random() < 0.5
    op1, op2 = "<" if o1 else "<=", "<" if o2 else "<="
    chain = f"{a}{rel(r, op1)}{v}{rel(r, op2)}{b}"
    if way in (3, 4):
        if same:
            return chain, iv(r, a, b, o1, o2) if r.random() < 0.8 else f"{v} \\in {iv(r, a, b, o1, o2)}"
        return chain, r.choice([iv(r, a, b, not o1, o2), iv(r, a, b, o1, not o2), iv(r, a, c, o1, o2), iv(r, a - 1, b, o1, o2)])
    if way == 5:
        if same:
            return chain, r.choice([f"{b}{rel(r, FLIP[op2])}{v}{rel(r, FLIP[op1])}{a}", f"{a} {rel(r, op1)} {v} {rel(r, op2)} {b}", f"{v}{rel(r, FLIP[op1])}{a} \\text{{ and }} {v}{rel(r, op2)}{b}" if r.random() < 0.4 else f"{a}{rel(r, op1)}{v}{rel(r, op2)}{b}"])
        return chain, r.choice([f"{a}{rel(r, LOOSE[op1])}{v}{rel(r, op2)}{b}", f"{a}{rel(r, op1)}{v}{rel(r, op2)}{c}", f"{v}{rel(r, op2)}{b}", f"{a - 1}{rel(r, op1)}{v}{rel(r, op2)}{b}"])
    if way == 6:
        lo, hi = ("<" if o1 else "<="), (">" if o2 else ">=")
        left = r.choice([f"{v}{rel(r, lo)}{a} \\text{{ or }} {v}{rel(r, hi)}{b}", f"{v}{rel(r, lo)}{a} or {v}{rel(r, hi)}{b}"])
        if same:
            return left, r.choice([f"{v}{rel(r, hi)}{b} \\text{{ or }} {v}{rel(r, lo)}{a}", iv(r, "-\\infty", a, True, o1) + "\\cup" + iv(r, b, "\\infty", o2, True), f"{v}{rel(r, lo)}{a} \\text{{ or }} {v}{rel(r, hi)}{b}"])
        return left, r.choice([f"{v}{rel(r, LOOSE[lo])}{a} \\text{{ or }} {v}{rel(r, hi)}{b}", iv(r, a, b, o1, o2), f"{v}{rel(r, lo)}{a}", f"{a}<{v}<{b}"])
    u = "y" if v != "y" else "x"
    k, b2 = r.randint(1, 6), nz(r, -9, 9)
    left = f"{u}{rel(r, op)}{join([(k, v), (b2, '')])}"
    if same:
        return left, r.choice([f"{join([(k, v), (b2, '')])}{rel(r, FLIP[op])}{u}", f"{u}-{join([(k, v)])}{rel(r, op)}{b2}"])
    return left, r.choice([f"{u}{rel(r, op)}{join([(k, v), (-b2, '')])}", f"{u}{rel(r, LOOSE[op])}{join([(k, v), (b2, '')])}", f"{u}{rel(r, FLIP[op])}{join([(k, v), (b2, '')])}"])


@kind
def equation(r, same):
    way = r.randrange(7)
    if way <= 2:
        a, b, c = nz(r, -7, 9), nz(r, -7, 9), r.randint(-12, 15)
        left = join([(a, "x"), (b, "y")]) + f"={c}"
        k = r.choice([2, 3, -1])
        if same:
            return left, r.choice([f"y={join([(F(-a, b), 'x'), (F(c, b), '')])}", join([(a, "x"), (b, "y"), (-c, "")]) + "=0", join([(k * a, "x"), (k * b, "y")]) + f"={k * c}", f"{c}={join([(b, 'y'), (a, 'x')])}" if c else join([(b, "y"), (a, "x")]) + "=0"])
        c2 = near(r, c)
        return left, r.choice([f"y={join([(F(a, b), 'x'), (F(c, b), '')])}", join([(a, "x"), (b, "y")]) + f"={c2}", join([(a, "x"), (-b, "y")]) + f"={c}", join([(k * a, "x"), (k * b, "y")]) + f"={c}" if c else join([(a + 1, "x"), (b, "y")]) + "=0", str(c)])
    if way == 3:
        h, k, q = r.randint(-6, 6), r.randint(-6, 6), r.randint(2, 7)
        sqr = lambda v, s: f"{v}^2" if s == 0 else f"({v}{-s:+d})^2"
        left = f"{sqr('x', h)}+{sqr('y', k)}={q * q}"
        full = lambda e: join([(1, "x^2"), (1, "y^2"), (-2 * h, "x"), (-2 * k, "y"), (h * h + k * k - q * q + e, "")])
        if same:
            return left, r.choice([full(0) + "=0", f"{sqr('y', k)}+{sqr('x', h)}={q * q}", spaced(r, left) if r.random() < 0.5 else full(0) + "=0"])
        return left, r.choice([full(1) + "=0", f"{sqr('x', h)}+{sqr('y', k)}={q}", f"{sqr('x', -h if h else 1)}+{sqr('y', k)}={q * q}", f"{sqr('x', h)}-{sqr('y', k)}={q * q}"])
    if way == 4:
        p, q = r.sample(range(-9, 10), 2)
        c = pmul([1, -p], [1, -q])
        left = poly(c, "x") + "=0"
        if same:
            k = r.choice([2, 3, -1])
            return left, r.choice([f"({poly([1, -p])})({poly([1, -q])})=0" if p and q else left + " ", poly([k * x for x in c]) + "=0", f"{poly([1, c[1], 0])}={-c[2]}"])
        c2 = list(c)
        i = r.choice([1, 2])
        c2[i] = near(r, c2[i])
        return left, r.choice([poly(c2) + "=0", poly(c) + "=1", poly(c), "0"])
    if way == 5:
        a, b = r.sample([1, 2, 3, 4, 5, 6], 2)
        left = f"\\frac{{x^2}}{{{a * a}}}+\\frac{{y^2}}{{{b * b}}}=1"
        if same:
            return left, r.choice([f"\\frac{{y^2}}{{{b * b}}}+\\frac{{x^2}}{{{a * a}}}=1", join([(b * b, "x^2"), (a * a, "y^2")]) + f"={a * a * b * b}", f"1=\\frac{{x^2}}{{{a * a}}}+\\frac{{y^2}}{{{b * b}}}"])
        return left, r.choice([f"\\frac{{x^2}}{{{b * b}}}+\\frac{{y^2}}{{{a * a}}}=1", f"\\frac{{x^2}}{{{a * a}}}-\\frac{{y^2}}{{{b * b}}}=1", f"\\frac{{x^2}}{{{a}}}+\\frac{{y^2}}{{{b * b}}}=1" if a > 1 else "1"])
    a, b = nz(r, -5, 5), nz(r, -9, 9)
    left = f"y={join([(a, 'x^2'), (b, '')])}"
    if same:
        return left, r.choice([f"{join([(a, 'x^2'), (b, '')])}=y", f"y={join([(b, ''), (a, 'x^2')])}", f"y-{b}={join([(a, 'x^2')])}" if b > 0 else f"y+{-b}={join([(a, 'x^2')])}"])
    return left, r.choice([f"y={join([(-a, 'x^2'), (b, '')])}", f"x={join([(a, 'y^2'), (b, '')])}", f"y={join([(a, 'x^2'), (-b, '')])}", f"y={join([(a, 'x'), (b, '')])}"])


@kind
def assignment(r, same):
    v, w = r.sample(["x", "y", "a", "b", "n", "k", "m", "t", "r", "p"], 2)
    e = elem(r)
    s, t = e[0], e[1]
    eqs = r.choice(["=", " = ", "="])
    way = r.randrange(9)
    if way <= 2:
        left = f"{v}{eqs}{s}"
        if same:
            return left, r.choice([t, t, t, f"{v} = {t}", f"{t}={v}" if r.random() < 0.6 else t])
        f = change(r, [e])[0]
        return left, r.choice([f[1], f"{v}={f[1]}", f"{w}={t}", f"{w}={t}"])
    if way == 3:
        f = change(r, [e])[0]
        left = r.choice([f"{v}={s},{w}={f[0]}", f"{v} = {s}, {w} = {f[0]}", f"{v}={s} \\text{{ and }} {w}={f[0]}"])
        if same:
            return left, r.choice([f"{w}={f[1]},{v}={t}", f"{w} = {f[1]}, {v} = {t}", f"({v},{w})=({t},{f[1]})" if r.random() < 0.4 else f"{v}={t}, {w}={f[1]}"])
        return left, r.choice([f"{v}={f[1]},{w}={t}", f"{v}={t}", f"{v}={t}, {w}={other_num(r, f)}"])
    if way in (4, 5):
        a, b = nz(r, -9, 9), nz(r, -9, 9)
        z = "x"
        body = r.choice([[(a, z), (b, "")], [(a, z + "^2"), (b, z)], [(a, z + "^2"), (b, "")]])
        head = r.choice(["y", "y", "f(x)", "g(x)"])
        left = f"{head}{eqs}{join(body)}"
        if same:
            return left, r.choice([join(body), join(body[::-1]), f"{head}={join(body[::-1])}"])
        i = r.randrange(2)
        bad = list(body)
        bad[i] = (near(r, int(bad[i][0])), bad[i][1])
        return left, r.choice([join(bad), f"{head}={join(bad)}", join(body).replace("x", "t")])
    f = change(r, [e])[0]
    if way == 6:
        left = r.choice([f"{v}={s},{f[0]}", f"{v} = {s}, {f[0]}", f"{v}={s} \\text{{ or }} {f[0]}"])
        if same:
            return left, r.choice([f"{v}={f[1]},{t}", f"\\{{{t},{f[1]}\\}}", f"{f[1]},{t}", f"{v}={t} \\text{{ or }} {v}={f[1]}"])
        g = other_num(r, f)
        return left, r.choice([f"{v}={t},{g}", f"\\{{{t},{g}\\}}", t, f"{v}={t}"])
    if way == 7:
        left = r.choice([f"{v}={s} \\text{{ or }} {v}={f[0]}", f"{v}={s}, {v}={f[0]}", f"{v} = {s} or {v} = {f[0]}"])
        if same:
            return left, r.choice([f"{v}={f[1]} \\text{{ or }} {v}={t}", f"{f[1]}, {t}", f"{t}, {f[1]}"])
        return left, r.choice([f"{v}={t}", f"{v}={t} \\text{{ or }} {v}={other_num(r, f)}", f"{t}, {other_num(r, f)}"])
    sub = r.choice([f"{v}_1", f"{v}_{{1}}", f"\\angle {v.upper()}{w.upper()}C", f"{v.upper()}{w.upper()}", f"f({r.randint(1, 9)})", f"P({v.upper()})", f"\\alpha", f"S_{{{r.randint(2, 30)}}}", f"|{v.upper()}{w.upper()}|"])
    return f"{sub}{eqs}{s}", t if same else change(r, [e])[0][1]


def other_num(r, e):
    while True:
        n = r.randint(-40, 60)
        if abs(n - e[2]) > 1e-9:
            return str(n)


@kind
def equation_chain(r, same):
    a, b = r.randint(2, 30), r.randint(2, 30)
    op, v = r.choice([("+", a + b), ("\\cdot ", a * b), ("-", a - b), ("\\times ", a * b)])
    name = r.choice(["x", "S", "A", "n", "f(2)", "P(A)", "a_5", "y", "N", "T", "m"])
    way = r.randrange(8)
    bad = near(r, v)
    if way == 0:
        c = f"{name}={a}{op}{b}={v}"
        return c, str(v if same else bad)
    if way == 1:
        c = f"{name} = {a}{op}{b} = {v if same else bad}"
        return str(v), c
    if way == 2:
        c = f"{a}{op}{b}={v}"
        if same:
            return str(v), c
        return r.choice([(c, str(bad)), (str(bad), c)])
    if way == 3:
        w = r.choice(["a+b", "x+2y", "m+n", "a+b+c", "p+q", "ab+1"])
        if same and r.random() < 0.5:
            k = r.randint(1, v - 1) if v > 1 else 1
            return str(v), f"{name}={w}={k}+{v - k}={v}" if v > k else f"{name}={w}={v + k}-{k}={v}"
        return (str(v), f"{w}={v}" if r.random() < 0.3 else f"{w}={a}{op}{b}={bad}") if not same else (str(v), f"{w}={a}{op}{b}={v}" if r.random() < 0.4 else f"{name}={a}{op}{b}={v}")
    if way == 4:
        q = F(a, b)
        p = q if same else other_rat(r, q)
        k = r.choice([2, 3])
        return rat(r, p), f"{name}=\\frac{{{a * k}}}{{{b * k}}}=\\frac{{{q.numerator}}}{{{q.denominator}}}" if q.denominator > 1 else f"{name}=\\frac{{{a * k}}}{{{b * k}}}={q}"
    if way == 5:
        k, m = r.randint(2, 9), r.choice([2, 3, 5, 7])
        left = f"{name}=\\sqrt{{{k * k * m}}}={k}\\sqrt{{{m}}}"
        return (f"{k if same else k + 1}\\sqrt{{{m}}}", left) if r.random() < 0.5 else (left, f"{k if same else k + 1}\\sqrt{{{m}}}")
    if way == 6:
        return f"{name}={a}{op}{b}={v}", f"{name}={v if same else bad}"
    p = r.randint(1, 5)
    q = r.randint(1, 9)
    left = f"y=({poly([1, p])})^2{-q:+d}={poly([1, 2 * p, p * p - q])}"
    e = 0 if same else r.choice([1, -1, 2])
    return left, r.choice([poly([1, 2 * p, p * p - q + e]), f"y={poly([1, 2 * p, p * p - q + e])}"])


# ---------------------------------------------------------------- matrices, complex, the rest


@kind
def matrix(r, same):
    rows, cols = r.choice([(2, 2), (2, 2), (2, 2), (2, 1), (3, 1), (3, 3), (1, 3), (2, 3)])
    m = [elems(r, cols) for _ in range(rows)]
    envs = ["pmatrix", "pmatrix", "bmatrix", "bmatrix"]

    def show(m, i, env=None):
        env = env or r.choice(envs)
        row = r.choice([" \\\\ ", "\\\\", " \\\\ "])
        col = r.choice([" & ", "&"])
        body = row.join(col.join(e[i] for e in x) for x in m)
        if r.random() < 0.08:
            return f"\\left(\\begin{{array}}{{{'c' * len(m[0])}}}{body}\\end{{array}}\\right)"
        if r.random() < 0.05:
            return f"\\left[\\begin{{matrix}}{body}\\end{{matrix}}\\right]"
        return f"\\begin{{{env}}}{body}\\end{{{env}}}" if r.random() < 0.6 else f"\\begin{{{env}}} {body} \\end{{{env}}}"

    left = show(m, 0)
    if same:
        way = r.randrange(5)
        if way == 0 and cols == 1:
            return left, tup(r, [x[0][1] for x in m])
        if way == 1 and r.random() < 0.5:
            k = r.randint(2, 4)
            ints = [[r.randint(-5, 9) for _ in range(2)] for _ in range(2)]
            pm = lambda f: "\\begin{pmatrix}" + "\\\\".join("&".join(str(f(x)) for x in row) for row in ints) + "\\end{pmatrix}"
            return pm(lambda x: k * x), f"{k}{pm(lambda x: x)}"
        return left, show(m, 1)
    way = r.randrange(4)
    if way == 0 and (rows, cols) != (1, 1):
        t = [[m[i][j] for i in range(rows)] for j in range(cols)]
        if all(abs(t[i][j][2] - m[i][j][2]) < 1e-9 for i in range(min(rows, cols)) for j in range(min(rows, cols))) and rows == cols:
            way = 1
        else:
            return left, show(t, 1)
    if way == 1 and rows > 1:
        return left, show([change(r, m[0])] + m[1:], 1)
    if way == 2 and rows > 1 and tuple_key(m[0]) != tuple_key(m[1]):
        return left, show([m[1], m[0]] + m[2:], 1)
    i = r.randrange(rows)
    m2 = list(m)
    m2[i] = change(r, m[i])
    return left, show(m2, 1)


@kind
def complex(r, same):
    a, b, c, d = (nz(r, -7, 7) for _ in range(4))
    z = lambda a, b: join([(a, ""), (b, "i")])
    way = r.randrange(9)
    if way <= 2:
        left = z(a, b)
        if same:
            return left, r.choice([join([(b, "i"), (a, "")]), spaced(r, left) + " ", f"{a}+({b})i", f"{a} {'+' if b > 0 else '-'} {abs(b)}\\cdot i" if abs(b) > 1 else join([(b, "i"), (a, "")]), join([(a, ""), (b, "\\mathrm{i}")])])
        return left, r.choice([z(a, -b), z(b, a) if a != b else z(a, -b), z(-a, b), z(a + 1, b), str(a), z(a, b + 1 or 5)])
    if way == 3:
        left = f"({z(a, b)})^2"
        x, y = a * a - b * b, 2 * a * b
        return left, z(x, y) if same else r.choice([z(a * a + b * b, y), z(x, -y), z(x + 1, y)])
    if way == 4:
        left = f"({z(a, b)})({z(c, d)})"
        x, y = a * c - b * d, a * d + b * c
        return left, z(x, y) if same else r.choice([z(a * c + b * d, y), z(x, y + 1), z(x - 1, y), z(-x if x else 1, y)])
    if way == 5:
        p, q, h = r.choice([(3, 4, 5), (5, 12, 13), (6, 8, 10), (8, 15, 17), (7, 24, 25)])
        left = r.choice([f"|{p}+{q}i|", f"|{q}-{p}i|", f"\\left|{p}-{q}i\\right|"])
        return left, str(h if same else near(r, h))
    if way == 6:
        k = r.randint(2, 30)
        val = ["1", "i", "-1", "-i"]
        return f"i^{{{k}}}" if k > 9 else f"i^{k}", val[k % 4 if same else (k + r.randint(1, 3)) % 4]
    if way == 7:
        n = a * a + b * b
        left = f"\\frac{{1}}{{{z(a, b)}}}"
        x, y = F(a, n), F(-b, n)
        wr = lambda x, y: r.choice([join([(x, ""), (y, "i")]), f"\\frac{{{z(a, -b if y == F(-b, n) else b)}}}{{{n}}}"])
        return left, wr(x, y) if same else wr(x, -y)
    if same:
        return r.choice([("e^{i\\pi}", "-1"), (f"{abs(a) + 1}e^{{i\\pi}}", str(-abs(a) - 1)), ("e^{i\\pi/2}", "i"), (f"\\sqrt{{-{a * a}}}", f"{abs(a)}i"), (f"{abs(a)}\\pm {abs(b)}i", f"{abs(a)}+{abs(b)}i, {abs(a)}-{abs(b)}i"), (f"\\overline{{{z(a, b)}}}", z(a, -b)), ("\\cos\\pi+i\\sin\\pi", "-1"), (f"{a}i^2", str(-a))])
    return r.choice([("e^{i\\pi}", "1"), (f"{abs(a) + 1}e^{{i\\pi}}", str(abs(a) + 1)), (f"\\sqrt{{-{a * a}}}", f"{abs(a)}"), (f"{abs(a)}\\pm {abs(b)}i", f"{abs(a)}+{abs(b)}i"), (f"\\overline{{{z(a, b)}}}", z(a, b)), (f"{a}i", str(a)), (f"{a}i^2", str(a))])


@kind
def infinity(r, same):
    inf = ["\\infty", "+\\infty", "\\infty ", "{\\infty}", "∞", "infinity", "\\text{infinity}", "\\infty."]
    w = [6, 5, 1, 2, 1, 1, 1, 1]
    pick = lambda: r.choices(inf, w)[0]
    way = r.randrange(6)
    n = r.randint(-20, 40)
    if same:
        if way == 0:
            return "\\infty", pick()
        if way == 1:
            return "-\\infty", r.choice(["-\\infty", "- \\infty", "-{\\infty}", "-∞", "(-\\infty)", "-infinity", "-\\infty "])
        if way == 2:
            k = r.randint(1, 9)
            return r.choice([f"\\lim_{{x\\to\\infty}} x^{k}" if k > 1 else "\\lim_{x\\to\\infty} x", f"\\lim_{{x\\to 0^{{+}}}} \\frac{{{k}}}{{x}}", f"\\lim_{{n\\to\\infty}} {k + 1}^n", f"\\lim_{{x\\to\\infty}} \\frac{{x^2}}{{x+{k}}}"]), r.choice(["\\infty", "+\\infty"])
        if way == 3:
            return f"({n},\\infty)", r.choice([f"({n},+\\infty)", f"({n}, +\\infty)", f"\\left({n},\\infty\\right)"])
        if way == 4:
            return f"[{n}, \\infty)", r.choice([f"[{n},+\\infty)", f"\\left[{n},\\infty\\right)", f"[{n}, \\infty )"])
        v = r.choice("xyzLMtab")
        return r.choice([f"{v} = \\infty", f"{v}=+\\infty", f"{v}=\\infty"]), r.choice(["\\infty", "+\\infty", "\\infty"])
    if way == 0:
        return pick(), r.choice(["-\\infty", "-\\infty", "0", str(n), "-{\\infty}"])
    if way == 1:
        return r.choice(["\\infty", "+\\infty", "-\\infty"]), str(n * 10 ** r.randint(0, 6))
    if way == 2:
        k = r.randint(1, 9)
        return r.choice([f"\\lim_{{x\\to\\infty}} \\frac{{1}}{{x+{k}}}", f"\\lim_{{x\\to\\infty}} \\frac{{{k}x}}{{x+1}}", f"\\lim_{{x\\to -\\infty}} {k}x"]), r.choice(["\\infty", "+\\infty"])
    if way == 3:
        return f"({n},\\infty)", r.choice([f"(-\\infty,{n})", f"[{n},\\infty)", f"({n + 1},+\\infty)"])
    if way == 4:
        return r.choice(["\\infty", "+\\infty"]), r.choice([f"\\frac{{1}}{{{abs(n) + 1}}}", f"{abs(n) + 2}^{{100}}", "x", f"{abs(n) + 1}x", f"x^{{{abs(n) + 2}}}"])
    return f"(-\\infty,{n}]", r.choice([f"(-\\infty,{n})", f"[{n},\\infty)", f"(-\\infty,{n - 1}]"])


DIG = "0123456789ABCDEF"


def in_base(n, b):
    s = ""
    while n:
        n, d = divmod(n, b)
        s = DIG[d] + s
    return s or "0"


@kind
def base_subscript(r, same):
    b = r.choice([2, 2, 3, 4, 5, 6, 7, 8, 9, 9, 12, 16])
    n = r.randint(b + 1, b**4)
    s = in_base(n, b)

    def show(s, b):
        if any(ch in "ABCDEF" for ch in s):
            return r.choice([f"{s}_{{{b}}}", f"\\text{{{s}}}_{{{b}}}", f"\\mathrm{{{s}}}_{{{b}}}"])
        ways = [f"{s}_{{{b}}}", f"{s}_{{{b}}}", f"{s}_ {b}" if b < 10 else f"{s}_{{{b}}}"]
        if b < 10:
            ways += [f"{s}_{b}"] * 3
        if r.random() < 0.15:
            ways = [f"({s})_{{{b}}}", f"({s})_{b}" if b < 10 else f"({s})_{{{b}}}", f"{s}_{{\\text{{{ {2: 'two', 3: 'three', 4: 'four', 5: 'five', 6: 'six', 7: 'seven', 8: 'eight', 9: 'nine', 12: 'twelve', 16: 'sixteen'}[b]}}}}}"]
        return r.choice(ways)

    left = show(s, b)
    if same:
        way = r.randrange(5)
        if way <= 1:
            return left, show(s, b)
        if way == 2:
            return left, str(n)
        if way == 3:
            c = r.choice([x for x in (2, 3, 4, 5, 7, 8, 9) if x != b])
            return left, show(in_base(n, c), c)
        return left, f"{n}_{{10}}"
    m = n + r.choice([-1, 1, b, 2])
    way = r.randrange(5)
    if way == 0:
        return left, show(in_base(m, b), b)
    if way == 1 and s.isdigit():
        return left, s
    if way == 2:
        c = r.choice([x for x in (5, 6, 7, 8, 9) if x != b])
        if s.isdigit() and max(map(int, s)) < c:
            return left, show(s, c)
    if way == 3:
        return left, str(m)
    return left, show(in_base(m, b), b)


@kind
def choice(r, same):
    a = r.choice("ABCDE")
    b = r.choice([x for x in "ABCDE" if x != a])
    val = r.choice([str(r.randint(-20, 99)), plain(some_rat(r)), f"{r.randint(2, 9)}\\sqrt{{{r.choice([2, 3, 5])}}}", f"{r.randint(2, 9)}\\pi"])

    def show(c, v=None):
        if v is None:
            return r.choice([c, f"\\text{{{c}}}", f"({c})", f"\\text{{({c})}}", f"\\textbf{{({c})}}", f"\\mathrm{{{c}}}", f"\\textbf{{{c}}}", f"{c}.", f"\\mathbf{{{c}}}", f"\\mathrm{{({c})}}", f"\\text{{{c})}}", f"\\text{{ {c} }}"])
        return r.choice([f"\\text{{({c}) }}{v}", f"\\textbf{{({c})}}\\ {v}", f"({c}) {v}", f"\\text{{{c}. }}{v}", f"\\textbf{{({c}) }}{v}", f"{c}) {v}", f"\\text{{({c})}} {v}", f"{c}: {v}", f"{c}. {v}", f"\\mathrm{{({c})}} {v}"])

    if same:
        way = r.randrange(5)
        if way == 0:
            return a, show(a)
        if way == 1:
            return a, show(a, val)
        if way == 2:
            return show(a, val), show(a, val)
        return show(a), show(a)
    way = r.randrange(5)
    if way == 0:
        return a, show(b, val)
    if way == 1:
        return show(a, val), show(b, str(r.randint(100, 200)))
    if way == 2:
        return show(a), f"{r.choice('ABCDE')}, {b}" if r.random() < 0.3 else show(b)
    if way == 3:
        return a, str(r.randint(1, 9))
    return show(a), show(b)


@kind
def string_fallback(r, same):
    v, w = r.sample(["x", "y", "n", "k", "m", "a", "b", "p"], 2)
    n, m, k = r.randint(2, 30), r.randint(2, 30), r.randint(2, 9)
    up = lambda: "".join(r.sample("ABCDEFGHPQR", 3))
    t1, t2 = up(), up()
    forms = [
        (lambda v, n, m: f"{v} \\equiv {n} \\pmod{{{m + 31}}}"),
        (lambda v, n, m: f"\\{{{v} \\mid {v} > {n}\\}}"),
        (lambda v, n, m: f"\\{{{v} : {v} \\ge {n} \\text{{ and }} {v} \\ne {m + 31}\\}}"),
        (lambda v, n, m: f"1, {n}, \\ldots, {v}"),
        (lambda v, n, m: f"\\begin{{cases}} {v}+{w}={n} \\\\ {v}-{w}={m} \\end{{cases}}"),
        (lambda v, n, m: f"f({v}) = \\begin{{cases}} {n} & {v}<0 \\\\ {m} & {v}\\ge 0 \\end{{cases}}"),
        (lambda v, n, m: f"\\text{{There are }} {n} \\text{{ ways and }} {m} \\text{{ cases}}"),
        (lambda v, n, m: f"\\forall {v} > {n}"),
        (lambda v, n, m: f"{n} \\to {m}"),
        (lambda v, n, m: f"{v} \\mapsto {n}{v}+{m}"),
        (lambda v, n, m: f"\\triangle {t1} \\cong \\triangle {t2}" if n % 2 else f"\\triangle {t1} \\sim \\triangle {t2}"),
        (lambda v, n, m: f"\\overline{{{t1[:2]}}} \\parallel \\overline{{{t2[:2]}}}" if n % 2 else f"\\overline{{{t1[:2]}}} \\perp \\overline{{{t2[:2]}}}"),
        (lambda v, n, m: f"{n} + {m}\\sqrt"),
        (lambda v, n, m: f"\\frac{{{n}}}{{{m}"),
        (lambda v, n, m: f"{v} \\neq {n}, {v} \\in \\mathbb{{Z}}"),
        (lambda v, n, m: f"{v} = {n}k + {m}, k \\in \\mathbb{{Z}}"),
        (lambda v, n, m: f"{n}\\heartsuit {m} \\&"),
        (lambda v, n, m: f"a_n = {n} a_{{n-1}} + {m}, \\; a_1 = {k}"),
        (lambda v, n, m: f"{n} \\mid {v}^2 - {m}"),
        (lambda v, n, m: f"O({v}^{{{n}}} \\log {v}) @ {m}"),
    ]
    f = r.choice(forms)
    left = f(v, n, m)
    if same:
        way = r.randrange(3)
        if way == 0:
            return left, left
        if way == 1:
            out = left.replace(", ", ",", 1) if ", " in left else left.replace(" ", "  ", 1)
            return left, out
        return left, " " + left + " "
    n2, m2 = r.choice([(n + 1, m), (n, m + 1), (n + 1, m + 1)])
    right = f(v, n2, m2)
    if right == left or r.random() < 0.15:
        right = r.choice(forms[:6])(w, n + 1, m + 2)
    return left, right


# ---------------------------------------------------------------- the mix


def generate(per_kind=PER_KIND):
    """The whole mix, in a fixed order."""
    out = []
    for name, make in KINDS.items():
        r = random.Random(f"{SEED}:{name}")
        quota = {False: round(per_kind * UNEQUAL), True: per_kind - round(per_kind * UNEQUAL)}
        seen = set()
        tries = 0
        while quota[True] or quota[False]:
            tries += 1
            if tries > per_kind * 400:
                raise RuntimeError(f"{name}: too few different pairs")
            same = quota[False] == 0 or (quota[True] > 0 and r.random() < 1 - UNEQUAL)
            gold, pred = make(r, same)
            if r.random() < 0.5:
                gold, pred = pred, gold
            if not gold.strip() or not pred.strip() or (gold, pred) in seen:
                continue
            if gold == pred and name not in SAME_TEXT:
                continue
            seen.add((gold, pred))
            quota[same] -= 1
            out.append({"kind": name, "gold": gold, "pred": pred, "label": same})
    return out


def main():
    p = argparse.ArgumentParser(description="Write the mix of answer pairs as JSON lines.")
    p.add_argument("--out", default="-", help="file to write, - for standard output")
    p.add_argument("--per-kind", type=int, default=PER_KIND, help="pairs of each kind")
    a = p.parse_args()
    f = sys.stdout if a.out == "-" else open(a.out, "w", encoding="utf-8")
    for pair in generate(a.per_kind):
        f.write(json.dumps(pair, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
