"""Checks the answers of ladder.jsonl, which lies beside this file.

Every answer is worked out here from the conditions of its problem, by trying all cases or with sympy, and only then
compared with the answer in the file. The form of the file is checked too.

It needs Python 3.11 or later and sympy (`pip install sympy`); run this file with Python, from any folder. It prints
how many answers agree, and exits with 1 unless all do and the file is in order.
"""

import json
import random
import re
import sys
from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, count, pairwise, permutations, product
from math import gcd, isqrt, prod
from pathlib import Path

import sympy as sp
from sympy.calculus.util import function_range, maximum

FILE = Path(__file__).with_name("ladder.jsonl")
KEYS = ["id", "level", "subject", "problem", "answer", "kind"]
SUBJECTS = {
    "arithmetic", "algebra", "number theory", "combinatorics", "geometry", "probability", "sequences", "calculus",
}

R, S = sp.Rational, sp.sqrt
x, y, z, k, r, t = sp.symbols("x y z k r t", real=True)
n = sp.Symbol("n", positive=True)
NAMES = {"x": x, "n": n, "e": sp.E, "pi": sp.pi, "oo": sp.oo, "sqrt": sp.sqrt, "log": sp.log}

# What each problem's conditions lead to, by id. A number or an expression stands for itself, a tuple for an ordered
# tuple, a sympy set for a set or an interval, a dict for the values of an expression in n.
SOLUTIONS = {}


def solves(name):
    def keep(function):
        SOLUTIONS[name] = function
        return function

    return keep


# Tools.


def only(values):
    """The single one of these values."""
    (value,) = values
    return value


def first(condition, start=1):
    return next(i for i in count(start) if condition(i))


def holds(relation, unknown=x):
    """The real numbers for which an inequality holds."""
    return sp.solve_univariate_inequality(relation, unknown, relational=False)


def triangle(a, b, c):
    """A triangle ABC with BC = a, CA = b, AB = c."""
    foot = R(a * a + c * c - b * b, 2 * a)
    return sp.Triangle(sp.Point(foot, S(c * c - foot * foot)), sp.Point(0, 0), sp.Point(a, 0))


def chance(outcomes, event):
    """The share of equally likely outcomes."""
    outcomes = list(outcomes)
    return R(sum(map(event, outcomes)), len(outcomes))


def digits(number):
    return sum(map(int, str(number)))


# Level 1.

SOLUTIONS["l1-01"] = lambda: R(42, 100) * 50
SOLUTIONS["l1-02"] = lambda: len([*range(38), *range(85)])
SOLUTIONS["l1-03"] = lambda: R(3, 4) + R(5, 6)
SOLUTIONS["l1-04"] = lambda: range(11, 1000, 6)[9]
SOLUTIONS["l1-05"] = lambda: sum(118 for _ in range(7))
SOLUTIONS["l1-06"] = lambda: max(d for d in range(1, 64) if 72 % d == 63 % d == 0)
SOLUTIONS["l1-07"] = lambda: only(i for i in range(100) if 9 * i + 13 == 76)
SOLUTIONS["l1-08"] = lambda: only(i for i in range(13) if (724 - i) % 13 == 0)
SOLUTIONS["l1-09"] = lambda: only(i for i in range(506) if i - (505 - i) == 75)
SOLUTIONS["l1-10"] = lambda: sum(i % 19 == 0 for i in range(1, 2579))
SOLUTIONS["l1-11"] = lambda: len(list(product(range(4), range(7), range(3))))
SOLUTIONS["l1-12"] = lambda: sp.expand((x - 6) * (x + 11))
SOLUTIONS["l1-13"] = lambda: sp.integrate(2 * sp.pi * r, (r, 0, 7))
SOLUTIONS["l1-14"] = lambda: chance("r" * 5 + "b" * 8 + "g" * 7, lambda marble: marble != "b")
SOLUTIONS["l1-15"] = lambda: holds(3 * x - 7 < 11)
SOLUTIONS["l1-16"] = lambda: sp.diff(4 * x**3 - 9 * x, x)
SOLUTIONS["l1-17"] = lambda: S(72)
SOLUTIONS["l1-18"] = lambda: sp.FiniteSet(*(d for d in range(1, 46) if 45 % d == 0))
SOLUTIONS["l1-19"] = lambda: tuple(sp.Point(-3, 8).midpoint(sp.Point(7, 1)))
SOLUTIONS["l1-20"] = lambda: 6 - 19

# Level 2.

SOLUTIONS["l2-01"] = lambda: sum(24 for _ in [*range(15), *range(8)]) - 17
SOLUTIONS["l2-02"] = lambda: only(sp.linsolve([2 * x + 3 * y - 4, 5 * x - y - 27], x, y))
SOLUTIONS["l2-03"] = lambda: sp.Point(6, 0).distance(sp.Point(0, 10))
SOLUTIONS["l2-04"] = lambda: 80 * R(115, 100) * R(75, 100)
SOLUTIONS["l2-05"] = lambda: chance(product(range(1, 7), repeat=2), lambda roll: sum(roll) % 5 == 0)
SOLUTIONS["l2-06"] = lambda: sum(i % 8 == i % 12 == i % 30 == 0 for i in range(1, 1001))
SOLUTIONS["l2-07"] = lambda: (x**2 - 9) / (x**2 + 7 * x + 12)
SOLUTIONS["l2-09"] = lambda: sum(len(set(str(i)) & set("13579")) == 3 for i in range(100, 1000))
SOLUTIONS["l2-10"] = lambda: only(sp.solve(2 * x + 3 * x + 7 * x - 180)) * 7
SOLUTIONS["l2-11"] = lambda: sp.FiniteSet(*(i for i in range(-100, 101) if i * i - 3 * i - 28 == 0))
SOLUTIONS["l2-12"] = lambda: holds(sp.Abs(2 * x - 5) <= 9)
SOLUTIONS["l2-13"] = lambda: sp.diff(x**3 - 5 * x**2 + 2 * x, x).subs(x, 4)
SOLUTIONS["l2-14"] = lambda: R(5, 6) / 4 + R(1, 8)
SOLUTIONS["l2-15"] = lambda: sp.Circle((0, 0), 6).area - sp.Polygon((6, 0), (0, 6), (-6, 0), (0, -6)).area
SOLUTIONS["l2-16"] = lambda: (7**34 + 3**21) % 10
SOLUTIONS["l2-17"] = lambda: sp.interpolate([(2, -1), (6, 5)], x)
SOLUTIONS["l2-18"] = lambda: only(both for both in range(18) if 21 + 17 - both + 5 == 34)
SOLUTIONS["l2-19"] = lambda: R(30 + 30) / (R(30, 20) + R(30, 12))
SOLUTIONS["l2-20"] = lambda: sp.expand((x**2 + 1).subs(x, 2 * x - 3))


@solves("l2-08")
def _():
    start, step = only(sp.linsolve([x + 3 * y - 19, x + 8 * y - 54], x, y))
    return start + 14 * step


# Level 3.

SOLUTIONS["l3-01"] = lambda: sum(root**3 for root in sp.roots(z**2 - 7 * z + 4, z))
SOLUTIONS["l3-02"] = lambda: abs(triangle(13, 20, 21).area)
SOLUTIONS["l3-03"] = lambda: chance(combinations("w" * 7 + "b" * 5, 4), lambda drawn: drawn.count("w") == 2)
SOLUTIONS["l3-04"] = lambda: first(lambda i: (i % 7, i % 9, i % 11) == (3, 5, 2))
SOLUTIONS["l3-05"] = lambda: maximum(x * sp.exp(-3 * x), x)
SOLUTIONS["l3-06"] = lambda: 12**2 / (1 - only(sp.solve(12 / (1 - r) - 20, r)) ** 2)
SOLUTIONS["l3-07"] = lambda: holds((x - 1) / (x + 4) >= 2)
SOLUTIONS["l3-09"] = lambda: sum("OO" not in "".join(word) for word in set(permutations("TTTOOA")))
SOLUTIONS["l3-10"] = lambda: only(i for i in sp.solve(z * (z - 6) - 2**4, z) if i > 6)
SOLUTIONS["l3-11"] = lambda: sp.rem(x**5 - 3 * x**3 + 2, x**2 - x - 2, x)
SOLUTIONS["l3-12"] = lambda: sp.solveset(2 * sp.sin(x) ** 2 + sp.cos(x) - 1, x, sp.Interval.Ropen(0, 2 * sp.pi))
SOLUTIONS["l3-13"] = lambda: sum(3960 % d == d % 6 == 0 for d in range(1, 3961))
SOLUTIONS["l3-16"] = lambda: sum(R(abs(i - j), 64) for i, j in product(range(1, 9), repeat=2))
SOLUTIONS["l3-18"] = lambda: S(14 - 6 * S(5))
SOLUTIONS["l3-19"] = lambda: sum("".join(c).count("t") in (2, 3) for c in combinations("t" * 6 + "p" * 5, 4))
SOLUTIONS["l3-20"] = lambda: holds(sp.discriminant(x**2 + k * x + k + 8, x) > 0, k)


@solves("l3-08")
def _():
    a, b = sp.Point(0, 0), sp.Point(6, 0)
    c = sp.Point(10 * sp.cos(sp.pi * 2 / 3), 10 * sp.sin(sp.pi * 2 / 3))
    return sp.Line(b, c).distance(a)


@solves("l3-14")
def _():
    left, right = sorted(sp.solve(x**2 - 2 * x - 3))
    return sp.integrate(2 * x + 3 - x**2, (x, left, right))


@solves("l3-15")
def _():
    circle = sp.Circle(x**2 + y**2 - 10 * x + 4 * y - 7)
    point = sp.Point(11, 6)
    touching = circle.tangent_lines(point)[0].projection(circle.center)
    return point.distance(touching)


@solves("l3-17")
def _():
    term, place = 2, 1
    while term <= 1_000_000:
        term, place = 3 * term - 2, place + 1
    return place


# Level 4.

SOLUTIONS["l4-01"] = lambda: sum((i * i + i) % 15 == 0 for i in range(1, 501))
SOLUTIONS["l4-03"] = lambda: sp.minimal_polynomial(S(3) + S(7), x)
SOLUTIONS["l4-06"] = lambda: (3**100 + 5**100) % 77
SOLUTIONS["l4-07"] = lambda: {i: sum(R(1, (2 * j - 1) * (2 * j + 3)) for j in range(1, i + 1)) for i in range(1, 9)}
SOLUTIONS["l4-08"] = lambda: sum(i for i in range(1, 400) for j in range(1, i) if i * i - j * j == 315)
SOLUTIONS["l4-11"] = lambda: sp.FiniteSet(*sp.solve(S(3 * x + 1) - S(x - 4) - 3, x))
SOLUTIONS["l4-14"] = lambda: sum(root**3 for root in sp.Poly(z**3 - 4 * z**2 - 3 * z + 7).nroots(n=40))
SOLUTIONS["l4-16"] = lambda: sp.integrate(x**2 * sp.atan(x), (x, 0, 1))
SOLUTIONS["l4-17"] = lambda: sp.Plane((2, 0, 0), (0, 3, 0), (0, 0, 6)).distance(sp.Point3D(0, 0, 0))
SOLUTIONS["l4-18"] = lambda: function_range((x**2 - x + 4) / (x**2 + x + 4), x, sp.S.Reals)


@solves("l4-02")
def _():
    @lru_cache(None)
    def paths(i, j):
        if min(i, j) < 0 or (i, j) in [(2, 2), (4, 3)]:
            return 0
        return 1 if i == j == 0 else paths(i - 1, j) + paths(i, j - 1)

    return paths(6, 5)


@solves("l4-04")
def _():
    shape = triangle(7, 8, 9)
    return shape.incenter.distance(shape.circumcenter)


@solves("l4-05")
def _():
    return chance(product("ht", repeat=7), lambda tosses: not re.search("hhh|ttt", "".join(tosses)))


@solves("l4-09")
def _():
    a, b, c, d = map(sp.Point, [(0, 0), (14, 0), (14, 14), (0, 14)])
    f = c + (d - c) / 3
    return abs(sp.Triangle(a, b, only(sp.Segment(a, b.midpoint(c)).intersection(sp.Segment(b, f)))).area)


@solves("l4-10")
def _():
    sides = [(a, b, 24 - a - b) for a in range(1, 23) for b in range(1, 24 - a)]
    return sum(2 * max(three) < 24 for three in sides)


@solves("l4-12")
def _():
    number = prod(range(1, 61))
    return first(lambda zeros: number % 12**zeros) - 1


@solves("l4-13")
def _():
    # The width of the strip at height y bends only at multiples of 1/2, so that trapezoids add up to its area.
    widths = [max(0, min(3, 2 * h + 1) - max(0, 2 * h - 1)) for h in (R(i, 2) for i in range(7))]
    return sum((one + two) / 4 for one, two in pairwise(widths)) / 9


@solves("l4-15")
def _():
    terms = [5, 9]
    while len(terms) < 400:
        terms.append(terms[-1] - terms[-2] + 2)
    return sum(terms)


@solves("l4-19")
def _():
    sets = ([i for i in range(12) if mask >> i & 1] for mask in range(2**12))
    return sum(not any(i + 2 in chosen for i in chosen) for chosen in sets)


@solves("l4-20")
def _():
    # From (x + 1)(y + 1) = 24 neither number is beyond 25.
    pairs = [(i, j) for i in range(-25, 26) for j in range(i + 1, 26)]
    return only((i, j) for i, j in pairs if i + j + i * j == 23 and i * j * (i + j) == 120)


# Level 5.

SOLUTIONS["l5-01"] = lambda: sum(digits(2 * i) == digits(i) for i in range(1, 1000))
SOLUTIONS["l5-07"] = lambda: sum((i * i + i * j + j * j) % 49 == 0 for i, j in product(range(1, 99), repeat=2))


@solves("l5-02")
def _():
    rings = (ring for ring in product(range(3), repeat=12) if all(ring[i] != ring[i - 1] for i in range(12)))
    return len({min(ring[i:] + ring[:i] for i in range(12)) for ring in rings})


@solves("l5-03")
def _():
    a, b, c = triangle(25, 26, 17).vertices
    circle = sp.Circle(b.midpoint(c), R(25, 2))
    p = only(point for point in circle.intersection(sp.Segment(a, b)) if point != b)
    q = only(point for point in circle.intersection(sp.Segment(a, c)) if point != c)
    return abs(sp.Triangle(a, p, q).area)


@solves("l5-04")
def _():
    points = list(product(range(3), repeat=2))
    steps = {point: sp.Symbol("s%d%d" % point) for point in points}
    steps[2, 2] = sp.Integer(0)
    equations = []
    for i, j in points[:-1]:
        beside = [steps[p] for p in [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)] if p in steps]
        equations.append(steps[i, j] - 1 - sum(beside) / len(beside))
    return sp.solve(equations)[steps[0, 0]]


@solves("l5-05")
def _():
    # A second difference lowers the degree by two.
    factors = sp.symbols("c:8")
    whole = sum(factor * x**i for i, factor in enumerate(factors))
    difference = whole.subs(x, x + 1) - 2 * whole + whole.subs(x, x - 1) - 20 * x**3 - 12 * x**2
    conditions = [*sp.Poly(difference, x).coeffs(), whole.subs(x, 0) - 1, whole.subs(x, 1) - 1]
    return whole.subs(sp.solve(conditions, factors))


@solves("l5-06")
def _():
    term, place = 5, 1
    while term <= 5000:
        term, place = term + isqrt(term), place + 1
    return place


@solves("l5-08")
def _():
    top = (0, 0, S(6**2 - 2 * 3**2))
    side = sp.Plane((3, 3, 0), (3, -3, 0), top)
    radii = sp.solve(side.distance(sp.Point3D(0, 0, 0)) * (top[2] - r) / top[2] - r, r)
    return only(radii)


@solves("l5-09")
def _():
    # As floor(x) is at most x, x^2 - 4x + 1 is at most 0, and x is between 0 and 4.
    found = [root for i in range(4) for root in sp.solve(x**2 - 3 * x - i + 1) if sp.floor(root) == i]
    return sp.FiniteSet(*found)


@solves("l5-10")
def _():
    return sum(all(0 < abs(p - i) <= 2 for i, p in enumerate(row)) for row in permutations(range(8)))


@solves("l5-11")
def _():
    return chance(permutations(range(8)), lambda cards: sum(max(cards[: i + 1]) == cards[i] for i in range(8)) == 2)


@solves("l5-12")
def _():
    # Both divide their least common multiple, which is at most 720 + 720, as the divisor divides the difference.
    pairs = product(range(1, 1441), repeat=2)
    return sum(i * j // (shared := gcd(i, j)) - shared == 720 for i, j in pairs)


@solves("l5-13")
def _():
    limit = sp.integrate(1 / (1 + 3 * x**2), (x, 0, 1))
    assert abs(sum(1e4 / (1e8 + 3 * i * i) for i in range(1, 10_001)) - limit) < 1e-4
    return limit


@solves("l5-14")
def _():
    # One chord is sqrt(t), the other sqrt(36 - t) away from the centre; the area is half the product of their lengths.
    square = 4 * (11**2 - t) * (11**2 - (36 - t))
    return S(maximum(square, t, sp.Interval(0, 36)))


@solves("l5-15")
def _():
    # The three are the roots of a cubic; with all else fixed, the product is largest where two of them meet.
    pairs = R(6**2 - 20, 2)
    products = sp.solve(sp.discriminant(t**3 - 6 * t**2 + pairs * t - z, t), z)
    return sp.Max(*products)


@solves("l5-16")
def _():
    @lru_cache(None)
    def ways(free):
        if not free:
            return 1
        column, row = min(free)
        squares = (frozenset(product(range(column, column + s), range(row, row + s))) for s in (1, 2, 3))
        return sum(ways(free - square) for square in squares if square <= free)

    return ways(frozenset(product(range(9), range(3))))


@solves("l5-17")
def _():
    found, total = [], Fraction(14, 31)
    for a in range(3, 7):
        rest = total - Fraction(1, a)
        for b in range(a + 1, int(2 / rest) + 1):
            last = rest - Fraction(1, b)
            if last > 0 and last.numerator == 1 and last.denominator > b:
                found.append((a, b, last.denominator))
    return only(found)


@solves("l5-18")
def _():
    # For given x and z, y lies above xz and below the smaller one of x/z and z/x.
    a, c = sp.symbols("a c", positive=True)
    inner = sp.integrate(a / c - a * c, (a, 0, c)) + sp.integrate(c / a - a * c, (a, c, 1))
    return sp.integrate(sp.expand(inner), (c, 0, 1))


@solves("l5-19")
def _():
    values = {1: R(3)}
    for i in range(1, 6):
        values[i + 1] = (values[i] ** 2 + 4) / (2 * values[i])
    return values


@solves("l5-20")
def _():
    total = sum(1 / (2 - sp.exp(2 * sp.pi * sp.I * i / 7).evalf(50)) for i in range(1, 7))
    value = Fraction(str(sp.re(total))).limit_denominator(10_000)
    assert abs(total - R(value.numerator, value.denominator)) < 1e-40
    return value.numerator + value.denominator


# Reading and comparing.


def read(text):
    """The sympy expression that a LaTeX expression stands for."""
    text = text.replace("\\left", "").replace("\\right", "").replace("\\pi", " pi ").replace("\\infty", " oo ")
    text = re.sub(r"\\ln (\d+)", r"log(\1)", text)
    before = None
    while before != text:
        before = text
        text = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
        text = re.sub(r"\\sqrt\{([^{}]*)\}", r" sqrt(\1)", text)
        text = re.sub(r"\^\{([^{}]*)\}", r"^(\1)", text)
    text = re.sub(r"(\d|\)|pi)\s*(?=[a-z(])", r"\1*", text.strip())
    return sp.sympify(text.replace("^", "**"), locals=NAMES)


def items(text):
    """The parts between the commas of a bracketed list."""
    inner = text.replace("\\left", "").replace("\\right", "").replace("\\{", "(").replace("\\}", ")")
    return [read(part) for part in inner.strip()[1:-1].split(",")]


def interval(text):
    plain = text.replace("\\left", "").replace("\\right", "").strip()
    return sp.Interval(*items(plain), left_open=plain[0] == "(", right_open=plain[-1] == ")")


def same(one, two):
    """Whether two expressions agree at random values of their variables."""
    difference = sp.sympify(one) - sp.sympify(two)
    for seed in range(5):
        draw = random.Random(seed)
        values = {s: R(draw.randint(11, 29), 10) for s in sorted(difference.free_symbols, key=str)}
        if abs(sp.N(difference.subs(values), 30)) > 1e-9:
            return False
    return True


def agrees(answer, found):
    """Whether an answer of the file is what was found here."""
    if isinstance(found, dict):
        return all(same(read(answer).subs(n, place), value) for place, value in found.items())
    if isinstance(found, (tuple, sp.Tuple)):
        parts = items(answer)
        return len(parts) == len(found) and all(map(same, parts, found))
    if isinstance(found, sp.FiniteSet):
        parts = items(answer)
        return len(parts) == len(found) and all(any(same(part, one) for part in parts) for one in found)
    if isinstance(found, sp.Set):
        return sp.Union(*map(interval, answer.split("\\cup"))) == found
    return same(read(answer.removeprefix("y = ")), found)


def faults(rows):
    """What is wrong with the form of the file."""
    for row in rows:
        name = row.get("id")
        if list(row) != KEYS:
            yield f"{name}: the keys are {list(row)}"
            continue
        if not re.fullmatch(rf"l{row['level']}-\d\d", name):
            yield f"{name}: the id does not fit the level"
        if row["subject"] not in SUBJECTS:
            yield f"{name}: no such subject: {row['subject']}"
        if row["kind"] != ("integer" if re.fullmatch(r"0|[1-9]\d{0,2}", row["answer"]) else "free"):
            yield f"{name}: the kind does not fit the answer"
        if row["problem"].count("$") % 2:
            yield f"{name}: a dollar sign is missing"
    for key in ("id", "problem"):
        for text, times in Counter(row.get(key) for row in rows).items():
            if times > 1:
                yield f"{key} {times} times: {text}"
    levels = Counter(row.get("level") for row in rows)
    if levels != dict.fromkeys(range(1, 6), 20):
        yield f"rows of each level: {dict(levels)}"
    for name in sorted(SOLUTIONS.keys() ^ {row.get("id") for row in rows}):
        yield f"{name}: only in the file, or only here"


def main():
    rows = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    wrong = list(faults(rows))
    right = 0
    for row in rows if not wrong else []:
        found = SOLUTIONS[row["id"]]()
        if agrees(row["answer"], found):
            right += 1
        else:
            wrong.append(f"{row['id']}: the file says {row['answer']}, but it is {found}")
    print(*wrong, f"{right} of {len(rows)} answers agree", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
