//! Comparison of residue classes, sets of integers and families with an integer parameter.

use super::comparator::Comparator;
use super::region::Region;
use super::shape::{assignment, definition};
use super::truth::Truth;
use super::value::is_closed;
use crate::answer::{Answer, Congruence, Numbers, Relation};
use aske_algebra::approx::{self, Point, Value};
use aske_algebra::exact;
use aske_algebra::expr::{Constant, Expr, Function, Rational, Symbol};
use aske_algebra::verdict::Method;
use dashu_int::IBig;
use std::collections::BTreeSet;

/// Integers from one to another; no end where it is unbounded.
type Run = (Option<IBig>, Option<IBig>);

/// The largest modulus to which residues are written out, and the most residues.
const MAX_MODULUS: i64 = 120;
const MAX_RESIDUES: usize = 64;

/// More points than this are not compared as integers.
const MAX_POINTS: usize = 2_000;

impl Comparator<'_> {
    /// The same residues to the same modulus.
    pub(crate) fn same_congruence(self, a: &Congruence, b: &Congruence) -> Truth {
        let modulus = self.same_value(&a.modulus, &b.modulus);
        let left = match (&a.left, &b.left) {
            (Some(a), Some(b)) => self.same_value(a, b),
            _ => Truth::Yes(Method::Exact),
        };
        if left.is_yes()
            && let (Some(a), Some(b)) = (self.classes(a), self.classes(b))
        {
            return Truth::of(same_classes(&a, &b), Method::Exact);
        }
        let same = modulus.and(|| left);
        if !same.is_yes() {
            // `2x ≡ 4 (mod 6)` may say the same as `x ≡ 2 (mod 3)`.
            let names = |c: &Congruence| matches!(&c.left, None | Some(Expr::Symbol(_)));
            return if names(a) && names(b) { same } else { Truth::Unknown };
        }
        let among = |one: &Expr, others: &[Expr]| {
            others.iter().fold(Truth::No(Method::Exact), |found, other| {
                found.or(|| self.divides(&a.modulus, &one.clone().minus(other.clone())))
            })
        };
        let all = |from: &[Expr], to: &[Expr]| Truth::all(from.iter().map(|one| among(one, to)));
        all(&a.residues, &b.residues).and(|| all(&b.residues, &a.residues))
    }

    /// Congruences of one unknown that hold together, as one.
    pub(crate) fn combined(self, parts: &[Answer]) -> Option<Congruence> {
        let mut total: Option<(Option<Expr>, Classes)> = None;
        for part in parts {
            let Answer::Congruence(part) = part else { return None };
            let classes = self.classes(part)?;
            total = Some(match total {
                None => (part.left.clone(), classes),
                Some((left, all)) if left == part.left => (left, all.both(&classes)?),
                Some(_) => return None,
            });
        }
        let (left, all) = total.filter(|(_, all)| !all.residues.is_empty())?;
        let residues = all.residues.into_iter().map(Expr::int).collect();
        Some(Congruence { left, residues, modulus: Expr::int(all.modulus) })
    }

    /// The residues of a congruence and its modulus, where they are integers of a moderate size.
    pub(crate) fn classes(self, congruence: &Congruence) -> Option<Classes> {
        let whole = |expr: &Expr| match self.rational(expr)? {
            value if value.is_int() => i64::try_from(value.floor()).ok(),
            _ => None,
        };
        let modulus = whole(&congruence.modulus)?;
        if !(1..=MAX_MODULUS).contains(&modulus) || congruence.residues.len() > MAX_RESIDUES {
            return None;
        }
        let residues = congruence.residues.iter().map(|one| Some(whole(one)?.rem_euclid(modulus)));
        Some(Classes { modulus, residues: residues.collect::<Option<_>>()? })
    }

    /// A residue class is not a number, unless the modulus was left out.
    pub(crate) fn congruence_and_value(self, congruence: &Congruence, value: &Expr) -> Truth {
        match congruence.residues.as_slice() {
            [one] if self.same_value(one, value).is_yes() => Truth::Unknown,
            _ => Truth::No(Method::Kind),
        }
    }

    fn divides(self, modulus: &Expr, difference: &Expr) -> Truth {
        match self.rational(&difference.clone().over(modulus.clone())) {
            Some(quotient) => Truth::of(quotient.is_int(), Method::Exact),
            None => Truth::Unknown,
        }
    }

    /// The rational number that an expression is.
    pub(crate) fn rational(self, expr: &Expr) -> Option<Rational> {
        self.fuel.half(|fuel| exact::canonical_form(expr, fuel)).ok()?.as_rational()
    }

    /// Two answers with letters that range over numbers; which letters does not matter.
    pub(crate) fn same_family(
        self,
        a: &Answer,
        letters_a: &[(Symbol, Numbers)],
        b: &Answer,
        letters_b: &[(Symbol, Numbers)],
    ) -> Truth {
        match (letters_a, letters_b) {
            ([(name_a, numbers_a)], [(name_b, numbers_b)]) => {
                if numbers_a != numbers_b {
                    let natural =
                        |n: &Numbers| matches!(n, Numbers::Naturals | Numbers::FromZero | Numbers::Positive);
                    return if natural(numbers_a) && natural(numbers_b) {
                        Truth::Unknown
                    } else {
                        Truth::No(Method::Kind)
                    };
                }
                let b = renamed(b, name_b, name_a);
                let straight = self.same(a, &b);
                if *numbers_a == Numbers::Reals {
                    return straight.or(|| self.same_line(a, &b, name_a));
                }
                if *numbers_a != Numbers::Integers {
                    return straight;
                }
                straight
                    .or(|| self.same_progression(a, &b, name_a))
                    .or(|| self.shifted(a, &b, name_a))
                    .or(|| self.same_progressions(a, &b, name_a))
            }
            _ if letters_a == letters_b => self.same(a, b),
            _ => Truth::Unknown,
        }
    }

    /// The same family with its letter counted from another number, or downwards.
    fn shifted(self, a: &Answer, b: &Answer, name: &Symbol) -> Truth {
        let letter = || Expr::Symbol(name.clone());
        let counted = (1..=3).flat_map(|by| {
            let up = letter().plus(Expr::int(by));
            let down = letter().plus(Expr::int(-by));
            [up.clone(), down.clone(), up.negated(), down.negated()]
        });
        let yes = std::iter::once(letter().negated())
            .chain(counted)
            .map(|by| self.same(a, &substituted(b, name, &by)))
            .find(|truth| truth.is_yes());
        yes.unwrap_or(Truth::No(Method::Kind))
    }

    /// `start + step·k` for all integers k: the same where the steps are the same and the starts differ by steps.
    fn same_progression(self, a: &Answer, b: &Answer, name: &Symbol) -> Truth {
        let (Some(a), Some(b)) = (single_value(a), single_value(b)) else { return Truth::No(Method::Kind) };
        let at = |expr: &Expr, k: i64| exact::substitute(expr, name, &Expr::int(k));
        let step = |expr: &Expr| at(expr, 1).minus(at(expr, 0));
        for expr in [&a, &b] {
            // Linear in k: the next step is as long.
            let next = at(expr, 2).minus(at(expr, 1));
            if !self.same_value(&next, &step(expr)).is_yes() || !is_closed(&step(expr)) {
                return Truth::Unknown;
            }
        }
        let ratio = self.rational(&step(&a).over(step(&b)));
        let offset = self.rational(&at(&a, 0).minus(at(&b, 0)).over(step(&a)));
        match (ratio, offset) {
            (Some(ratio), Some(offset)) => {
                let same = ratio == Rational::ONE || ratio == -Rational::ONE;
                Truth::of(same && offset.is_int(), Method::Exact)
            }
            _ => Truth::Unknown,
        }
    }

    /// Several progressions over all integers: the same where they have the same residues to a common step.
    fn same_progressions(self, a: &Answer, b: &Answer, name: &Symbol) -> Truth {
        const NO: Truth = Truth::No(Method::Kind);
        let (Some(a), Some(b)) = (values(a), values(b)) else { return NO };
        if a.len() + b.len() < 3 && !a.iter().chain(&b).any(|one| alternates(one, name)) {
            return NO;
        }
        let (Some(a), Some(b)) = (self.progressions(&a, name), self.progressions(&b, name)) else {
            return NO;
        };
        let unit = &a[0].1;
        let ratio =
            |step: &Expr| self.rational(&step.clone().over(unit.clone())).filter(|ratio| !ratio.is_zero());
        let Some(ratios) = a.iter().chain(&b).map(|(_, step)| ratio(step)).collect::<Option<Vec<_>>>() else {
            return Truth::Unknown;
        };
        // All steps as whole multiples of one, and their common multiple.
        let small = |value: IBig| i64::try_from(value).ok().filter(|value| *value <= MAX_MODULUS);
        let Some(below) = ratios.iter().try_fold(1_i64, |all, one| {
            small(IBig::from(one.denominator().clone()))
                .map(|below| common(all, below))
                .filter(|all| *all <= MAX_MODULUS)
        }) else {
            return Truth::Unknown;
        };
        let whole = |one: &Rational| {
            let multiple = (one * Rational::from(below)).floor();
            small(if multiple < IBig::ZERO { -multiple } else { multiple })
        };
        let Some(steps) = ratios.iter().map(whole).collect::<Option<Vec<_>>>() else { return Truth::Unknown };
        let all = steps.iter().fold(1, |all, step| common(all, *step));
        if all > MAX_MODULUS {
            return Truth::Unknown;
        }
        let period = unit.clone().times(Expr::Number(Rational::from(all) / Rational::from(below)));
        let residues = |progressions: &[(Expr, Expr)], steps: &[i64]| -> Vec<Expr> {
            let turns = |(one, step): (&(Expr, Expr), &i64)| {
                let (start, by) = one.clone();
                (0..all / step)
                    .map(move |turn| start.clone().plus(by.clone().times(Expr::int(turn))))
                    .collect::<Vec<_>>()
            };
            progressions.iter().zip(steps).flat_map(turns).collect()
        };
        let (in_a, in_b) = (residues(&a, &steps[..a.len()]), residues(&b, &steps[a.len()..]));
        if in_a.len().max(in_b.len()) > MAX_RESIDUES {
            return Truth::Unknown;
        }
        let among = |one: &Expr, others: &[Expr]| {
            others.iter().fold(Truth::No(Method::Exact), |found, other| {
                found.or(|| self.divides(&period, &one.clone().minus(other.clone())))
            })
        };
        let every = |from: &[Expr], to: &[Expr]| Truth::all(from.iter().map(|one| among(one, to)));
        every(&in_a, &in_b).and(|| every(&in_b, &in_a))
    }

    /// The start and the step of every value that is linear in a letter; of `(-1)^k a + bk`, those of even and of odd k.
    fn progressions(self, values: &[Expr], name: &Symbol) -> Option<Vec<(Expr, Expr)>> {
        let mut found = Vec::new();
        for value in values {
            let twice = |odd: i64| {
                let k = Expr::Symbol(name.clone()).times(Expr::int(2)).plus(Expr::int(odd));
                exact::substitute(value, name, &k)
            };
            let parts = if alternates(value, name) { vec![twice(0), twice(1)] } else { vec![value.clone()] };
            for part in parts {
                let at = |k: i64| exact::substitute(&part, name, &Expr::int(k));
                let step = at(1).minus(at(0));
                let linear = is_closed(&step)
                    && self.same_value(&at(2).minus(at(1)), &step).is_yes()
                    && self.same_value(&at(-3).minus(at(-4)), &step).is_yes();
                if !linear {
                    return None;
                }
                found.push((at(0), step));
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Two lines with a real parameter: the same where their directions are parallel, and so is the way from one to the
    /// other.
    pub(crate) fn same_line(self, a: &Answer, b: &Answer, name: &Symbol) -> Truth {
        const NO: Truth = Truth::No(Method::Kind);
        let (Answer::Tuple(a), Answer::Tuple(b)) = (a, b) else { return NO };
        if a.len() != b.len() {
            return NO;
        }
        let line = |entries: &[Answer]| {
            let mut found = Vec::with_capacity(entries.len());
            for entry in entries {
                let Answer::Value(entry) = entry else { return None };
                let at = |t: i64| exact::substitute(entry, name, &Expr::int(t));
                let step = at(1).minus(at(0));
                if !is_closed(&step)
                    || !is_closed(&at(0))
                    || !self.same_value(&at(2).minus(at(1)), &step).is_yes()
                {
                    return None;
                }
                found.push((at(0), step));
            }
            Some(found)
        };
        let (Some(a), Some(b)) = (line(a), line(b)) else { return NO };
        let moves = |line: &[(Expr, Expr)]| {
            !Truth::all(line.iter().map(|(_, step)| self.same_value(step, &Expr::int(0)))).is_yes()
        };
        if !moves(&a) || !moves(&b) {
            return NO;
        }
        let between = a.iter().zip(&b).map(|(a, b)| a.0.clone().minus(b.0.clone())).collect::<Vec<_>>();
        let parallel =
            |one: &dyn Fn(usize) -> Expr| {
                let pairs = (0..a.len()).flat_map(|i| (i + 1..a.len()).map(move |j| (i, j)));
                Truth::all(pairs.map(|(i, j)| {
                    self.same_value(&one(i).times(a[j].1.clone()), &one(j).times(a[i].1.clone()))
                }))
            };
        parallel(&|at| b[at].1.clone()).and(|| parallel(&|at| between[at].clone()))
    }

    /// `x = 12k + 5` for all integers k, against a congruence.
    pub(crate) fn family_and_congruence(
        self,
        a: &Answer,
        letters: &[(Symbol, Numbers)],
        b: &Congruence,
    ) -> Truth {
        let ([(name, Numbers::Integers)], Some(value)) = (letters, single_value(a)) else {
            return Truth::No(Method::Kind);
        };
        let at = |k: i64| exact::substitute(&value, name, &Expr::int(k));
        let step = at(1).minus(at(0));
        if !self.same_value(&at(2).minus(at(1)), &step).is_yes() {
            return Truth::Unknown;
        }
        let left = match a {
            Answer::Relation(relation) => {
                assignment(relation).map(|assignment| Expr::Symbol(assignment.name))
            }
            _ => None,
        };
        let modulus = Expr::call(Function::Abs, step);
        self.same_congruence(&Congruence { left, residues: vec![at(0)], modulus }, b)
    }

    /// `2\pi k` is understood to count by k, where k is not said to be an integer.
    pub(crate) fn family_and_other(self, a: &Answer, letters: &[(Symbol, Numbers)], other: &Answer) -> Truth {
        let defines = matches!(a, Answer::Relation(relation) if definition(relation).is_some());
        let counts = letters.iter().all(|(name, numbers)| {
            matches!(numbers, Numbers::Integers | Numbers::Reals) && speaks_of(other, name)
        });
        // `2^n` may be meant for the same numbers as `2^n, n \ge 1`.
        if !counts && !defines && letters.iter().all(|(name, _)| speaks_of(other, name)) {
            return match self.same(a, other) {
                Truth::Yes(_) => Truth::Unknown,
                other => other,
            };
        }
        // A function is defined on the numbers of the problem, whether that is said or not.
        if counts || defines {
            return self.same(a, other);
        }
        // `2\pi k` against `2\pi n, n \in \mathbb{Z}`: the other letter counts too.
        let mut names = letters_of(other);
        let (Some(name), [(_, numbers)]) = (names.pop_first().filter(|_| names.is_empty()), letters) else {
            return Truth::No(Method::Kind);
        };
        let usual = match numbers {
            Numbers::Integers => matches!(name.as_str(), "n" | "k" | "m"),
            Numbers::Reals => matches!(name.as_str(), "t" | "s" | "r" | "lambda" | "mu"),
            _ => false,
        };
        if usual { self.same_family(a, letters, other, &[(name, *numbers)]) } else { Truth::No(Method::Kind) }
    }

    /// Both as sets of integers.
    pub(crate) fn as_integers(self, a: &Answer, b: &Answer) -> Truth {
        let (Some(a), Some(b)) = (self.integers(a), self.integers(b)) else {
            return if self.fuel.left() == 0 { Truth::Unknown } else { Truth::No(Method::Kind) };
        };
        let same = a.iter().any(|one| b.contains(one));
        Truth::of(same, Method::Exact)
    }

    /// The runs of integers that an answer may stand for: two where it is open whether zero is natural.
    fn integers(self, answer: &Answer) -> Option<Vec<Vec<Run>>> {
        match answer {
            Answer::Where(name, numbers, condition) => {
                let region = self.region(condition, &mut Some(name.clone()))?;
                let runs = self.runs(&region)?;
                Some(starts(*numbers)?.into_iter().map(|from| from_on(&runs, from.as_ref())).collect())
            }
            Answer::Intersection(parts) => {
                let (sets, numbers): (Vec<&Answer>, Vec<&Answer>) =
                    parts.iter().partition(|part| !matches!(part, Answer::Numbers(_)));
                let [Answer::Numbers(numbers)] = numbers.as_slice() else { return None };
                let sets = Answer::Intersection(sets.into_iter().cloned().collect());
                let runs = self.runs(&self.region(&sets, &mut None)?)?;
                Some(starts(*numbers)?.into_iter().map(|from| from_on(&runs, from.as_ref())).collect())
            }
            Answer::Numbers(numbers) => Some(
                starts(*numbers)?.into_iter().map(|from| from_on(&[(None, None)], from.as_ref())).collect(),
            ),
            Answer::Value(_) => Some(vec![points(std::slice::from_ref(answer))?]),
            Answer::Set(values) | Answer::Bare(values) => Some(vec![points(values)?]),
            Answer::Relation(relation) => {
                let assignment = assignment(relation)?;
                self.integers(&assignment.value)
            }
            _ => None,
        }
    }

    /// The integers of a set of real numbers.
    fn runs(self, region: &Region) -> Option<Vec<Run>> {
        let mut runs = Vec::new();
        for piece in &region.0 {
            let from = self.whole_end(&piece.from.at, piece.from.closed, true)?;
            let to = self.whole_end(&piece.to.at, piece.to.closed, false)?;
            if !matches!((&from, &to), (Some(from), Some(to)) if from > to) {
                runs.push((from, to));
            }
        }
        Some(joined(runs))
    }

    /// The first integer behind an end, or the last before it; nothing inside where the end is infinite.
    #[expect(clippy::option_option, reason = "no end, and an end that could not be found, are two things")]
    fn whole_end(self, at: &Expr, closed: bool, lower: bool) -> Option<Option<IBig>> {
        if at.any(&|part| matches!(part, Expr::Constant(Constant::Infinity))) {
            return Some(None);
        }
        let (below, above) = match approx::refine(at, &Point::none(), 40, 128, self.fuel).ok()? {
            Value::Exact(value) => {
                let whole = value.is_int();
                let (below, above) = (value.floor(), value.ceil());
                let (below, above): (IBig, IBig) = match (lower, whole && !closed) {
                    (true, true) => (below, above + IBig::ONE),
                    (false, true) => (below - IBig::ONE, above),
                    _ => (below, above),
                };
                (below, above)
            }
            // The end is no rational number that could be seen: it lies strictly between two integers.
            other => {
                let (low, high) = other.to_f64_bounds();
                let (below, above) = (low.floor(), high.ceil());
                #[expect(clippy::float_cmp, reason = "whole numbers")]
                let clear = above - below == 1.0 && below < low && high < above && below.abs() < 1e15;
                if !clear {
                    return None;
                }
                #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
                (IBig::from(below as i64), IBig::from(above as i64))
            }
        };
        Some(Some(if lower { above } else { below }))
    }
}

/// Some residues to a modulus.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    pub(crate) modulus: i64,
    pub(crate) residues: BTreeSet<i64>,
}

impl Classes {
    /// The same numbers to a multiple of the modulus.
    fn to(&self, modulus: i64) -> BTreeSet<i64> {
        (0..modulus / self.modulus)
            .flat_map(|turn| self.residues.iter().map(move |residue| residue + turn * self.modulus))
            .collect()
    }

    /// The numbers that are in both.
    pub(crate) fn both(&self, other: &Self) -> Option<Self> {
        let modulus = common(self.modulus, other.modulus);
        let residues = self.to(modulus).intersection(&other.to(modulus)).copied().collect();
        (modulus <= MAX_MODULUS * MAX_MODULUS).then_some(Self { modulus, residues })
    }
}

fn same_classes(a: &Classes, b: &Classes) -> bool {
    let modulus = common(a.modulus, b.modulus);
    a.to(modulus) == b.to(modulus)
}

fn common(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

/// Where a set of integers begins; none for one unbounded below.
fn starts(numbers: Numbers) -> Option<Vec<Option<IBig>>> {
    Some(match numbers {
        Numbers::Integers => vec![None],
        Numbers::Naturals => vec![Some(IBig::ZERO), Some(IBig::ONE)],
        Numbers::FromZero => vec![Some(IBig::ZERO)],
        Numbers::Positive => vec![Some(IBig::ONE)],
        Numbers::Reals | Numbers::Rationals | Numbers::Complexes => return None,
    })
}

/// The part of some runs that does not lie before `from`.
fn from_on(runs: &[Run], from: Option<&IBig>) -> Vec<Run> {
    let Some(from) = from else { return runs.to_vec() };
    runs.iter()
        .filter(|(_, to)| to.as_ref().is_none_or(|to| to >= from))
        .map(|(first, to)| {
            let first = first.as_ref().filter(|first| *first > from).unwrap_or(from);
            (Some(first.clone()), to.clone())
        })
        .collect()
}

/// Runs that follow each other made one; they are in order.
fn joined(runs: Vec<Run>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::with_capacity(runs.len());
    for run in runs {
        match (out.last_mut(), &run.0) {
            (Some((_, Some(end))), Some(start)) if *start <= &*end + IBig::ONE => {
                if let Some((_, last)) = out.last_mut() {
                    *last = match (last.take(), run.1) {
                        (Some(a), Some(b)) => Some(a.max(b)),
                        _ => None,
                    };
                }
            }
            _ => out.push(run),
        }
    }
    out
}

/// Integers that were listed.
fn points(values: &[Answer]) -> Option<Vec<Run>> {
    if values.len() > MAX_POINTS {
        return None;
    }
    let mut found = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Answer::Value(Expr::Number(value)) if value.is_int() => found.push(value.floor()),
            _ => return None,
        }
    }
    found.sort_unstable();
    Some(joined(found.into_iter().map(|at| (Some(at.clone()), Some(at))).collect()))
}

/// The expression that an answer gives, named or not.
fn single_value(answer: &Answer) -> Option<Expr> {
    match answer {
        Answer::Value(value) | Answer::Quantity(value, _) => Some(value.clone()),
        Answer::Relation(relation) => match assignment(relation)?.value {
            Answer::Value(value) | Answer::Quantity(value, _) => Some(value),
            _ => None,
        },
        _ => None,
    }
}

/// The expressions that an answer lists, named or not.
fn values(answer: &Answer) -> Option<Vec<Expr>> {
    match answer {
        Answer::Bare(parts) | Answer::Set(parts) | Answer::Any(parts) => {
            let name = |part: &Answer| match part {
                Answer::Relation(relation) => assignment(relation).map(|assignment| assignment.name),
                _ => None,
            };
            // Values of two names are a point.
            let names: BTreeSet<Symbol> = parts.iter().filter_map(name).collect();
            if names.len() > 1 {
                return None;
            }
            let mut all = Vec::new();
            for part in parts {
                all.extend(values(part)?);
            }
            Some(all)
        }
        Answer::Relation(relation) => values(&assignment(relation)?.value),
        other => Some(vec![single_value(other)?]),
    }
}

/// Whether a power of −1 with a letter in its exponent stands in an expression.
fn alternates(expr: &Expr, name: &Symbol) -> bool {
    expr.any(&|part| matches!(part, Expr::Power(base, exponent) if **base == Expr::int(-1) && exponent.has_symbol(name)))
}

/// Whether a letter stands in an answer.
fn speaks_of(answer: &Answer, name: &str) -> bool {
    letters_of(answer).contains(name)
}

/// The letters in the values of an answer, without the names of what it gives.
fn letters_of(answer: &Answer) -> BTreeSet<Symbol> {
    match answer {
        Answer::Value(value) | Answer::Quantity(value, _) => exact::free_symbols(value),
        Answer::Relation(relation) => {
            let named = |side: &Answer| match side {
                Answer::Tuple(names) => names.iter().all(|name| name.as_name().is_some()),
                side => side.as_name().is_some(),
            };
            let skipped = usize::from(relation.sides.first().is_some_and(named));
            relation.sides.iter().skip(skipped).flat_map(letters_of).collect()
        }
        Answer::Bare(parts)
        | Answer::Set(parts)
        | Answer::Any(parts)
        | Answer::All(parts)
        | Answer::Tuple(parts) => parts.iter().flat_map(letters_of).collect(),
        _ => BTreeSet::new(),
    }
}

/// The answer with another name for a letter.
pub(crate) fn renamed(answer: &Answer, from: &Symbol, to: &Symbol) -> Answer {
    substituted(answer, from, &Expr::Symbol(to.clone()))
}

/// The answer with an expression for a letter.
fn substituted(answer: &Answer, from: &Symbol, to: &Expr) -> Answer {
    let all = |parts: &[Answer]| parts.iter().map(|part| substituted(part, from, to)).collect();
    match answer {
        Answer::Value(value) => Answer::Value(exact::substitute(value, from, to)),
        Answer::Relation(relation) => {
            Answer::Relation(Relation { sides: all(&relation.sides), signs: relation.signs.clone() })
        }
        Answer::Quantity(value, unit) => Answer::Quantity(exact::substitute(value, from, to), unit.clone()),
        Answer::Bare(parts) => Answer::Bare(all(parts)),
        Answer::Set(parts) => Answer::Set(all(parts)),
        Answer::Any(parts) => Answer::Any(all(parts)),
        Answer::All(parts) => Answer::All(all(parts)),
        Answer::Tuple(parts) => Answer::Tuple(all(parts)),
        other => other.clone(),
    }
}
