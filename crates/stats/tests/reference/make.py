"""Computes values.json: inputs and expected outputs for tests/reference.rs, by other programs.

Requirements: python 3.11 or later, numpy, scipy 1.17, statsmodels 0.15 (pip install numpy scipy statsmodels).
Run: python make.py > values.json

Nothing here shares code or algorithms with the crate where that can be helped: conditional likelihoods enumerate
subsets, U-statistics average over pairs of draws, posteriors are integrated by quadrature.
"""

import itertools
import json

import numpy as np
import statsmodels.api as sm
from scipy import integrate, optimize, special, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

rng = np.random.default_rng(7)
values = {}


def case(name, given, want):
    values.setdefault(name, []).append({"given": given, "want": want})


# Intervals of one and two proportions, and of a mean.
for hits, total in [(0, 10), (1, 7), (10, 10), (3, 40), (853, 1900)]:
    case("wilson", [hits, total], list(proportion_confint(hits, total, method="wilson")))
for x in ([0.40, 0.45, 0.50, 0.47], [0.0, 1.0], list(rng.normal(3, 2, 15))):
    interval = stats.t.interval(0.95, len(x) - 1, loc=np.mean(x), scale=stats.sem(x))
    case("mean_interval", list(x), list(interval))
for table in [(56, 70, 48, 80), (9, 10, 3, 10), (0, 10, 0, 20), (10, 10, 0, 20), (120, 300, 100, 310)]:
    interval = confint_proportions_2indep(*table, method="newcomb", compare="diff")
    case("newcombe", list(table), [table[0] / table[1] - table[2] / table[3], *interval])

# Exact tests.
for a, n, b, m in [(1, 9, 11, 14), (0, 5, 5, 5), (8, 10, 1, 6), (40, 100, 55, 110), (3, 7, 3, 7), (300, 900, 352, 1000)]:
    case("fisher", [a, n, b, m], stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue)
for p in ([0.01, 0.04, 0.03, 0.005], [0.5, 0.9, 0.2], [0.001, 0.001, 0.02, 0.7, 0.049, 0.3]):
    case("holm", p, list(multipletests(p, method="holm")[1]))


def flips(clusters):
    """Sign flips of the clusters' sums, every pattern once; the statistic is the mean over its robust error."""
    totals = np.array([sum(cluster) for cluster in clusters], dtype=float)
    counts = np.array([len(cluster) for cluster in clusters], dtype=float)

    def studentised(sums, axis=-1):
        r = sums.sum(axis=axis, keepdims=True) / counts.sum()
        t = np.squeeze(r, axis) / np.sqrt(((sums - r * counts) ** 2).sum(axis=axis))
        return np.round(t, 9)  # patterns that tie do so up to rounding

    test = stats.permutation_test(
        (totals,), studentised, permutation_type="samples", n_resamples=np.inf, alternative="greater", vectorized=True
    )
    # Both tails: |t| at least as large. Mirrored patterns pair up.
    distribution = np.abs(test.null_distribution)
    return np.mean(distribution >= abs(test.statistic))


for clusters in (
    [[1, 0, 1], [0, -1], [1], [1, 1, 0, 0], [0], [-1, 1, 1]],
    [[1], [1], [1], [1], [1], [-1], [0], [1]],
    [list(map(int, rng.choice([-1, 0, 1], size=rng.integers(1, 6), p=[0.15, 0.5, 0.35]))) for _ in range(12)],
    [[0.5, 0.25], [-0.75], [0.1, 0.7], [0.2], [0.9], [-0.05], [0.35]],
):
    totals = [sum(cluster) for cluster in clusters]
    count = sum(map(len, clusters))
    mean = sum(totals) / count
    # Cluster-robust standard error of a mean: OLS on a constant, with the small-sample factor m/(m−1) alone.
    groups = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
    ols = sm.OLS(np.concatenate(clusters), np.ones(count)).fit()
    robust = ols.get_robustcov_results("cluster", groups=groups, use_correction=False)
    error = robust.bse[0] * np.sqrt(len(clusters) / (len(clusters) - 1))
    smallest = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * error
    # Fewer than six clusters that differ are never significant, so their smallest change is none that can be seen.
    seen = next(n for n in range(1, 20) if stats.binomtest(n, n).pvalue <= 0.05)
    smallest = max(smallest, seen * min(abs(total) for total in totals if total) / count)
    case("paired", clusters, {"difference": mean, "p": flips(clusters), "smallest": smallest})

# Rank agreement.
for one, two in (
    ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]),
    ([0.1, 0.4, 0.3, 0.3], [2, 2, 1, 9]),
    (list(rng.normal(size=20)), list(rng.integers(0, 5, 20).astype(float))),
):
    case("kendall", [list(one), list(two)], stats.kendalltau(one, two).statistic)
    case("spearman", [list(one), list(two)], stats.spearmanr(one, two).statistic)


# The audit's terms: averages over all pairs of distinct draws.
def terms(right, draws):
    a, b = ([1] * x + [0] * (k - x) for x, k in zip(right, draws))
    within = [np.mean([x != y for x, y in itertools.permutations(list_, 2)]) for list_ in (a, b)]
    both = [np.mean([x * y for x, y in itertools.permutations(list_, 2)]) for list_ in (a, b)]
    cross = np.mean([x * y for x, y in itertools.product(a, b)])
    calibrated = np.mean([x != y for x, y in itertools.product(a, b)])
    return {
        "calibrated": calibrated,
        "separation": sum(both) - 2 * cross,
        "noise": sum(within) / 2,
        "gap": np.mean(b) - np.mean(a),
        "same": np.mean(within),
    }


for right, draws in [([0, 0], [2, 2]), ([1, 2], [2, 2]), ([3, 1], [5, 4]), ([0, 6], [3, 6]), ([2, 5], [8, 8])]:
    case("terms", [right, draws], terms(right, draws))

# Abilities, given how many of an item's responses are right: every subset of that size is enumerated.
PRIOR = 3.0


def conditional(persons, responses, prior=PRIOR):
    items = {}
    for person, item, right in responses:
        items.setdefault(item, []).append((person, right))

    def minus(theta):
        height = -np.sum(theta**2) / (2 * prior**2)
        for answers in items.values():
            total = sum(right for _, right in answers)
            scores = np.array([theta[person] for person, _ in answers])
            seen = sum(theta[person] for person, right in answers if right)
            subsets = [sum(scores[list(s)]) for s in itertools.combinations(range(len(answers)), total)]
            height += seen - special.logsumexp(subsets)
        return -height

    best = optimize.minimize(minus, np.zeros(persons), method="BFGS", options={"gtol": 1e-9}).x
    best = optimize.minimize(minus, best, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 40000}).x
    step = 1e-4
    unit = np.eye(persons) * step
    hessian = np.array(
        [
            [
                (minus(best + a + b) - minus(best + a - b) - minus(best - a + b) + minus(best - a - b)) / (4 * step**2)
                for b in unit
            ]
            for a in unit
        ]
    )
    centre = np.eye(persons) - 1 / persons
    errors = np.sqrt(np.diag(centre @ np.linalg.inv(hessian) @ centre))
    likelihood = -(minus(best) - np.sum(best**2) / (2 * prior**2))
    return best - best.mean(), errors, -2 * likelihood


def answers(abilities, items, size):
    responses = []
    for item in range(items):
        hard = rng.normal()
        for person in rng.choice(len(abilities), size=size, replace=False):
            responses.append([int(person), item, bool(rng.random() < special.expit(abilities[person] - hard))])
    return responses


for abilities, items, size in [([1.0, 0.2, -0.4, -0.8], 60, 2), ([1.5, 0.0, -1.5], 25, 3), ([0.5, 0.3, 0, -0.3, -0.5], 30, 4)]:
    responses = answers(abilities, items, size)
    ability, errors, deviance = conditional(len(abilities), responses)
    case(
        "conditional",
        {"persons": len(abilities), "responses": responses},
        {"ability": list(ability), "error": list(errors), "deviance": deviance},
    )

# With two solvers a question and many questions the prior hardly counts: Bradley and Terry's model by statsmodels.
responses = answers([0.8, 0.1, -0.2, -0.7], 6000, 2)
items = {}
for person, item, right in responses:
    items.setdefault(item, []).append((person, right))
design, wins = [], []
for (a, right), (b, other) in items.values():
    if right != other:
        row = np.zeros(4)
        row[a], row[b] = 1, -1
        design.append(row[1:] - row[0])  # abilities sum to zero
        wins.append(int(right))
logit = sm.Logit(wins, np.array(design)).fit(disp=0, method="newton", tol=1e-12)
whole = np.array([[-1, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
errors = np.sqrt(np.diag(whole @ logit.cov_params() @ whole.T))
table = np.zeros((4, 4), dtype=int)
for (a, right), (b, other) in items.values():
    if right != other:
        table[(a, b) if right else (b, a)] += 1
case("bradley_terry", table.tolist(), {"ability": list(whole @ logit.params), "error": list(errors)})


# Rows against columns: the penalised likelihood at any spread, and the Laplace approximation over it.
def crossed(rows, columns, cells):
    cells = np.array(cells)
    row, column, hits, total = cells.T
    design = np.zeros((len(cells), rows + columns))
    design[np.arange(len(cells)), row] = 1
    design[np.arange(len(cells)), rows + column] = -1
    centre = np.eye(rows) - 1 / rows
    penalty = np.zeros((rows + columns,) * 2)
    penalty[:rows, :rows] = centre / 3.0**2 + np.ones((rows, rows)) / rows**2 / 10.0**2

    def at(spread):
        whole = penalty.copy()
        whole[rows:, rows:] = np.eye(columns) / spread**2

        def minus(x):
            eta = design @ x
            return -(hits @ eta - total @ np.logaddexp(0, eta)) + x @ whole @ x / 2

        def slope(x):
            return -design.T @ (hits - total * special.expit(design @ x)) + whole @ x

        best = optimize.minimize(minus, np.zeros(rows + columns), jac=slope, method="BFGS", options={"gtol": 1e-8}).x
        p = special.expit(design @ best)
        hessian = design.T @ ((total * p * (1 - p))[:, None] * design) + whole
        best = best - np.linalg.solve(hessian, slope(best))
        support = -minus(best) - (columns - 1) * np.log(spread) - np.linalg.slogdet(hessian)[1] / 2
        return best, hessian, support

    log = optimize.minimize_scalar(lambda log: -at(np.exp(log))[2], bounds=(-3.5, 1.7), method="bounded", options={"xatol": 1e-7})
    spread = float(np.exp(log.x))
    best, hessian, _ = at(spread)
    covariance = np.linalg.inv(hessian)
    # The spread is an estimate: (dx / d ln spread)² / curvature, by differences over ±0.2.
    (less, _, below), (_, _, here), (more, _, above) = (at(spread * np.exp(step)) for step in (-0.2, 0.0, 0.2))
    variance = 1 / max((2 * here - below - above) / 0.2**2, 1.0)
    extra = ((more - less) / 0.4) ** 2 * variance
    ones = np.ones(rows) / rows
    return {
        "spread": spread,
        "intercept": [best[:rows].mean(), np.sqrt(ones @ covariance[:rows, :rows] @ ones)],
        "skill": list(best[:rows] - best[:rows].mean()),
        "skill_error": list(np.sqrt(np.diag(centre @ covariance[:rows, :rows] @ centre))),
        "hardness": list(best[rows:]),
        "hardness_error": list(np.sqrt(np.diag(covariance[rows:, rows:]) + extra[rows:])),
    }


def sessions(rows, columns, least, most):
    skill, hard = rng.normal(0, 0.7, rows), rng.normal(0, 0.9, columns)
    cells = []
    for i in range(rows):
        for j in range(columns):
            total = int(rng.integers(least, most + 1))
            cells.append([i, j, int(rng.binomial(total, special.expit(skill[i] - hard[j] - 0.2))), total])
    return cells


for rows, columns, least, most in [(3, 8, 4, 12), (4, 15, 1, 5)]:
    cells = sessions(rows, columns, least, most)
    case("crossed", {"rows": rows, "columns": columns, "cells": cells}, crossed(rows, columns, cells))

# Rich data: fixed effects of rows and columns by statsmodels' GLM, which the priors hardly move.
cells = sessions(3, 5, 3000, 4000)
row, column, hits, total = np.array(cells).T
design = np.column_stack([row == 1, row == 2] + [column == j for j in range(5)]).astype(float)
glm = sm.GLM(np.column_stack([hits, total - hits]), design, family=sm.families.Binomial()).fit()
skill = np.array([0.0, *glm.params[:2]])
hard = -glm.params[2:]
case(
    "crossed_rich",
    {"rows": 3, "columns": 5, "cells": cells},
    {"skill": list(skill - skill.mean()), "hardness": list(hard - hard.mean())},
)

# A question's difficulty, by quadrature.
for responses, (mean, sd) in [
    ([[0.0, 3, 8], [1.2, 6, 8]], (0.0, 2.0)),
    ([[0.5, 0, 4]], (0.3, 1.5)),
    ([[-1.0, 40, 60], [0.4, 55, 60], [2.0, 60, 60]], (0.0, 3.0)),
    ([[2.0, 10, 10]], (0.0, 10.0)),
]:

    def log(b):
        height = -(((b - mean) / sd) ** 2) / 2
        for ability, right, draws in responses:
            height += right * -np.logaddexp(0, b - ability) + (draws - right) * -np.logaddexp(0, ability - b)
        return height

    mode = optimize.minimize_scalar(lambda b: -log(b)).x
    top = log(mode)

    def area(low, high, weight=lambda b: 1.0):
        pieces = np.linspace(low, high, 41)
        return sum(
            integrate.quad(lambda b: weight(b) * np.exp(log(b) - top), a, b, epsabs=1e-13)[0]
            for a, b in zip(pieces, pieces[1:])
        )

    ends = (mode - 10 * sd, mode + 10 * sd)
    whole = area(*ends)
    quantile = lambda p: optimize.brentq(lambda b: area(ends[0], b) / whole - p, *ends, xtol=1e-9)
    case(
        "difficulty",
        {"responses": responses, "prior": [mean, sd]},
        [area(*ends, weight=lambda b: b) / whole, quantile(0.025), quantile(0.975)],
    )

# One case a line.
lists = ["%s: [\n  %s\n ]" % (json.dumps(name), ",\n  ".join(json.dumps(one, default=float) for one in cases)) for name, cases in values.items()]
print("{\n %s\n}" % ",\n ".join(lists))
