//! The laws of equality, on answers made up from small numbers and polynomials and written in many notations.
//!
//! Whether two polynomials are the same is decided here by their coefficients, apart from the crate's own ways.

use aske_answer::{Comparison, Rules, Verdict, compare};
use dashu_ratio::RBig;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;

/// The same cases in every run.
fn laws(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(3),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

// ---- Expressions ----

#[derive(Clone, Debug)]
enum Term {
    Int(i64),
    Frac(i64, i64),
    Name(char),
    Root(u32),
    Pi,
    Sum(Vec<Term>),
    Product(Vec<Term>),
    Power(Box<Term>, u32),
}

use Term::{Frac, Int, Name, Pi, Power, Product, Root, Sum};

/// Coefficients by the exponents of x, y and z.
type Polynomial = BTreeMap<[u32; 3], RBig>;

fn polynomial(term: &Term) -> Polynomial {
    let constant = |value: RBig| Polynomial::from([([0; 3], value)]);
    let times = |a: &Polynomial, b: &Polynomial| {
        let mut out = Polynomial::new();
        for (p, u) in a {
            for (q, v) in b {
                *out.entry(std::array::from_fn(|i| p[i] + q[i])).or_default() += u * v;
            }
        }
        out
    };
    let mut value = match term {
        Int(n) => constant(RBig::from(*n)),
        Frac(a, b) => constant(RBig::from(*a) / RBig::from(*b)),
        Name(name) => Polynomial::from([(['x', 'y', 'z'].map(|c| u32::from(c == *name)), RBig::ONE)]),
        Sum(parts) => parts.iter().fold(Polynomial::new(), |mut sum, part| {
            for (monomial, coefficient) in polynomial(part) {
                *sum.entry(monomial).or_default() += coefficient;
            }
            sum
        }),
        Product(parts) => parts.iter().fold(constant(RBig::ONE), |all, part| times(&all, &polynomial(part))),
        Power(base, n) => (0..*n).fold(constant(RBig::ONE), |all, _| times(&all, &polynomial(base))),
        Root(_) | Pi => unreachable!("no polynomial"),
    };
    value.retain(|_, coefficient| *coefficient != RBig::ZERO);
    value
}

/// The polynomial written out, term by term.
fn expanded(value: &Polynomial) -> Term {
    let terms = value.iter().map(|(exponents, coefficient)| {
        let numerator = i64::try_from(coefficient.numerator().clone()).unwrap_or(i64::MAX);
        let denominator = i64::try_from(coefficient.denominator().clone()).unwrap_or(i64::MAX);
        let number = if denominator == 1 { Int(numerator) } else { Frac(numerator, denominator) };
        let names = ['x', 'y', 'z'].into_iter().zip(exponents).filter(|(_, n)| **n > 0);
        let names = names.map(|(name, n)| if *n == 1 { Name(name) } else { Power(Name(name).into(), *n) });
        let factors: Vec<Term> = std::iter::once(number).chain(names).collect();
        if factors.len() == 1 { factors[0].clone() } else { Product(factors) }
    });
    let terms: Vec<Term> = terms.collect();
    if terms.is_empty() { Int(0) } else { Sum(terms) }
}

// ---- Notation ----

/// How an answer is written.
#[derive(Clone, Copy, Debug)]
struct Style {
    /// `\frac{1}{2}`, `\dfrac{1}{2}`, `\frac12` where it can be, `1/2`.
    fraction: &'static str,
    /// The sign of multiplication; nothing where it can be left out.
    times: &'static str,
    /// `x^2`, `x^{2}`, `x²`.
    power: &'static str,
    brackets: [&'static str; 2],
    /// Around + and − and after a comma.
    gap: &'static str,
}

fn style() -> impl Strategy<Value = Style> {
    (
        select(vec!["\\frac", "\\dfrac", "brace-less", "/"]),
        select(vec!["", "\\cdot ", " \\times ", "*", "·"]),
        select(vec!["^", "^{", "²"]),
        select(vec![["(", ")"], ["\\left(", "\\right)"], ["\\bigl( ", " \\bigr)"]]),
        select(vec!["", " ", "  ", "\\, "]),
    )
        .prop_map(|(fraction, times, power, brackets, gap)| Style {
            fraction,
            times,
            power,
            brackets,
            gap,
        })
}

impl Style {
    fn value(self, term: &Term) -> String {
        let (negative, text) = self.signed(term);
        if negative { format!("-{text}") } else { text }
    }

    /// Whether a minus sign stands before it, and what follows.
    fn signed(self, term: &Term) -> (bool, String) {
        match term {
            Int(n) => (*n < 0, n.unsigned_abs().to_string()),
            Frac(a, b) => (*a < 0, self.fraction(a.abs(), *b)),
            Name(name) => (false, name.to_string()),
            Root(n) if *n < 10 && self.power == "^" => (false, format!("\\sqrt{n}")),
            Root(n) => (false, format!("\\sqrt{{{n}}}")),
            Pi => (false, if self.power == "²" { "π".to_owned() } else { "\\pi".to_owned() }),
            Product(parts) => self.product(parts),
            Sum(parts) => (false, self.sum(parts)),
            Power(base, n) => (false, self.power(base, *n)),
        }
    }

    fn fraction(self, a: i64, b: i64) -> String {
        match self.fraction {
            "/" => format!("{a}/{b}"),
            "brace-less" if a < 10 && b < 10 => format!("\\frac{a}{b}"),
            "brace-less" => format!("\\frac{{{a}}}{{{b}}}"),
            command => format!("{command}{{{a}}}{{{b}}}"),
        }
    }

    fn sum(self, parts: &[Term]) -> String {
        let mut text = String::new();
        for (at, part) in parts.iter().enumerate() {
            let (negative, inner) = match part {
                Sum(_) => (false, self.factor(part)),
                _ => self.signed(part),
            };
            match (at, negative) {
                (0, false) => {}
                (0, true) => text.push('-'),
                (_, minus) => {
                    text.push_str(self.gap);
                    text.push(if minus { '-' } else { '+' });
                    text.push_str(self.gap);
                }
            }
            text.push_str(&inner);
        }
        text
    }

    /// A product, and whether a minus sign stands before it; the sign of multiplication is left out where
    /// nothing else could be meant.
    fn product(self, parts: &[Term]) -> (bool, String) {
        let (negative, first) = match parts.first() {
            Some(number @ Frac(..)) if self.fraction == "/" => {
                let (negative, text) = self.signed(number);
                (negative, self.bracketed(&text))
            }
            Some(number @ (Int(_) | Frac(..))) => self.signed(number),
            Some(first) => (false, self.factor(first)),
            None => (false, "1".to_owned()),
        };
        let text = parts.iter().skip(1).map(|part| self.factor(part)).fold(first, |left, right| {
            // `3\frac12` is a mixed number, `2 3` is none, and `\pi x` needs its space.
            let digit = right.starts_with(|c: char| c.is_ascii_digit());
            let mixed = right.starts_with("\\frac") || right.starts_with("\\dfrac");
            match self.times {
                "" if digit || mixed => format!("{left}\\cdot {right}"),
                "" if left.ends_with("\\pi") => format!("{left} {right}"),
                times => format!("{left}{times}{right}"),
            }
        });
        (negative, text)
    }

    fn power(self, base: &Term, n: u32) -> String {
        const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
        let plain = matches!(base, Name(_)) || matches!(base, Int(n) if *n >= 0);
        let base = if plain { self.value(base) } else { self.bracketed(&self.value(base)) };
        match self.power {
            "^" if n < 10 => format!("{base}^{n}"),
            "²" => base + &n.to_string().bytes().map(|b| RAISED[usize::from(b - b'0')]).collect::<String>(),
            _ => format!("{base}^{{{n}}}"),
        }
    }

    fn bracketed(self, text: &str) -> String {
        format!("{}{text}{}", self.brackets[0], self.brackets[1])
    }

    /// A part of a product, bracketed where it must be.
    fn factor(self, term: &Term) -> String {
        let text = self.value(term);
        let slashed = matches!(term, Frac(..)) && self.fraction == "/";
        let open = matches!(term, Sum(_) | Product(_)) || slashed || text.starts_with('-');
        if open { self.bracketed(&text) } else { text }
    }

    fn joined(self, parts: &[Term], between: &str) -> String {
        parts.iter().map(|part| self.value(part)).collect::<Vec<_>>().join(between)
    }

    fn answer(self, answer: &Answer) -> String {
        let comma = format!(",{}", self.gap);
        let [open, close] = self.brackets.map(|bracket| bracket.replace(['(', ')', ' '], ""));
        match answer {
            Answer::Value(term) => self.value(term),
            Answer::Bare(parts) => self.joined(parts, ", "),
            Answer::Tuple(parts) => self.bracketed(&self.joined(parts, &comma)),
            Answer::List(parts) => format!("{open}[{}{close}]", self.joined(parts, &comma)),
            Answer::Set(parts) => format!("{open}\\{{{}{close}\\}}", self.joined(parts, &comma)),
            Answer::Interval(ends, [below, above]) => {
                let (left, right) = (if *below { '[' } else { '(' }, if *above { ']' } else { ')' });
                format!("{open}{left}{}{close}{right}", self.joined(ends, &comma))
            }
            Answer::Matrix(rows) => {
                let frame = if self.fraction == "/" { "bmatrix" } else { "pmatrix" };
                let rows = rows.iter().map(|row| self.joined(row, " & ")).collect::<Vec<_>>().join(" \\\\ ");
                format!("\\begin{{{frame}}}{rows}\\end{{{frame}}}")
            }
            Answer::Equation(left, right) => {
                format!("{}{gap}={gap}{}", self.value(left), self.value(right), gap = self.gap)
            }
        }
    }
}

// ---- Answers ----

#[derive(Clone, Debug)]
enum Answer {
    Value(Term),
    Bare(Vec<Term>),
    Tuple(Vec<Term>),
    List(Vec<Term>),
    Set(Vec<Term>),
    Interval([Term; 2], [bool; 2]),
    Matrix(Vec<Vec<Term>>),
    Equation(Term, Term),
}

/// Numbers between −20 and 20.
fn number() -> impl Strategy<Value = Term> {
    prop_oneof![
        3 => (-20_i64..=20).prop_map(Int),
        2 => (-20_i64..=20, 2_i64..=20).prop_map(|(a, b)| Frac(a, b)),
    ]
}

/// Polynomials with brackets and powers in them.
fn term() -> impl Strategy<Value = Term> {
    let leaf = prop_oneof![2 => number(), 3 => select(vec!['x', 'y', 'z']).prop_map(Name)];
    leaf.prop_recursive(2, 10, 3, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 2..=3).prop_map(Sum),
            3 => prop::collection::vec(inner.clone(), 2..=2).prop_map(Product),
            2 => (inner, 2_u32..=3).prop_map(|(base, n)| Power(base.into(), n)),
        ]
    })
}

/// `a + b√p + cπ`, where no part is zero.
fn closed() -> impl Strategy<Value = Vec<Term>> {
    let coefficient = || number().prop_filter("not zero", |term| !polynomial(term).is_empty());
    (coefficient(), coefficient(), coefficient(), select(vec![2, 3, 5, 7, 13]))
        .prop_map(|(a, b, c, p)| vec![a, Product(vec![b, Root(p)]), Product(vec![c, Pi])])
}

fn numbers(count: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<Term>> {
    prop::collection::vec(number(), count)
}

fn answer() -> impl Strategy<Value = Answer> {
    let grid = (1_usize..=3, 1_usize..=3).prop_flat_map(|(rows, columns)| {
        prop::collection::vec(prop::collection::vec(number(), columns), rows)
    });
    let interval = (-20_i64..=0, 1_i64..=20, any::<[bool; 2]>());
    prop_oneof![
        3 => term().prop_map(Answer::Value),
        2 => closed().prop_map(|parts| Answer::Value(Sum(parts))),
        1 => number().prop_map(Answer::Value),
        2 => numbers(2..=4).prop_map(Answer::Bare),
        2 => numbers(2..=4).prop_map(Answer::Tuple),
        1 => numbers(3..=4).prop_map(Answer::List),
        2 => numbers(1..=4).prop_map(Answer::Set),
        2 => interval.prop_map(|(from, to, closed)| Answer::Interval([Int(from), Int(to)], closed)),
        2 => grid.prop_map(Answer::Matrix),
        2 => (term(), term()).prop_map(|(left, right)| Answer::Equation(left, right)),
    ]
}

/// Things in one order and in another.
fn with_shuffled(parts: impl Strategy<Value = Vec<Term>>) -> impl Strategy<Value = (Vec<Term>, Vec<Term>)> {
    parts.prop_flat_map(|parts| (Just(parts.clone()), Just(parts).prop_shuffle()))
}

/// The coefficients of linear factors `ax + by + c`.
fn factors() -> impl Strategy<Value = Vec<[i64; 3]>> {
    let factor = (1_i64..=4, -3_i64..=3, -9_i64..=9).prop_map(|(a, b, c)| [a, b, c]);
    prop::collection::vec(factor, 2..=3)
}

fn multiplied(factors: &[[i64; 3]]) -> Term {
    let linear = |[a, b, c]: &[i64; 3]| {
        Sum(vec![Product(vec![Int(*a), Name('x')]), Product(vec![Int(*b), Name('y')]), Int(*c)])
    };
    Product(factors.iter().map(linear).collect())
}

/// A number that no generator makes.
const STRANGER: Term = Int(31);

fn verdict(a: &str, b: &str) -> Verdict {
    compare(a, b).verdict
}

/// The verdict on two texts, both ways round.
macro_rules! assert_verdict {
    ($a:expr, $b:expr, $expected:expr) => {{
        let (a, b): (&str, &str) = (&$a, &$b);
        prop_assert_eq!(verdict(a, b), $expected, "{}   against   {}", a, b);
        prop_assert_eq!(verdict(b, a), $expected, "{}   against   {}", b, a);
    }};
}

use Verdict::{Different, Equal};

proptest! {
    #![proptest_config(laws(1000))]

    #[test]
    fn an_answer_equals_itself(answer in answer(), style in style()) {
        let text = style.answer(&answer);
        assert_verdict!(text, text, Equal);
    }

    #[test]
    fn an_answer_equals_itself_in_another_notation(answer in answer(), one in style(), other in style()) {
        assert_verdict!(one.answer(&answer), other.answer(&answer), Equal);
    }

    #[test]
    fn it_does_not_matter_which_comes_first(a in answer(), b in answer(), one in style(), other in style()) {
        let (a, b) = (one.answer(&a), other.answer(&b));
        prop_assert_eq!(verdict(&a, &b), verdict(&b, &a), "{}   against   {}", a, b);
    }

    #[test]
    fn the_same_question_has_the_same_verdict(a in answer(), b in answer(), style in style()) {
        let (a, b) = (style.answer(&a), style.answer(&b));
        for rules in [Rules::default(), Rules::MathVerify] {
            let first: Comparison = rules.compare(&a, &b);
            prop_assert_eq!(first, rules.compare(&a, &b), "{}   against   {}", a, b);
        }
    }

    #[test]
    fn dressing_changes_nothing(
        answer in answer(),
        one in style(),
        other in style(),
        dress in select(vec![
            ["$", "$"],
            ["$$", "$$"],
            ["\\(", "\\)"],
            ["\\[ ", " \\]"],
            ["\\boxed{", "}"],
            ["$\\boxed{", "}$"],
            ["", "."],
            ["$", "$."],
            [" ", "\\, "],
            ["\\displaystyle ", ""],
            ["\\text{ }", "\\text{ }"],
            ["\n", "\\quad"],
        ]),
    ) {
        let dressed = format!("{}{}{}", dress[0], other.answer(&answer), dress[1]);
        assert_verdict!(one.answer(&answer), dressed, Equal);
    }

    #[test]
    fn polynomials_are_the_same_where_their_coefficients_are(a in term(), b in term(), style in style()) {
        let same = polynomial(&a) == polynomial(&b);
        assert_verdict!(style.value(&a), style.value(&b), if same { Equal } else { Different });
    }

    #[test]
    fn any_expression_equals_its_expansion(term in term(), one in style(), other in style()) {
        assert_verdict!(one.value(&term), other.value(&expanded(&polynomial(&term))), Equal);
    }

    #[test]
    fn factors_equal_their_product(factors in factors(), one in style(), other in style()) {
        let product = multiplied(&factors);
        assert_verdict!(one.value(&product), other.value(&expanded(&polynomial(&product))), Equal);
    }

    #[test]
    fn a_changed_factor_is_noticed(
        factors in factors(),
        (at, place, delta) in (any::<Index>(), 0_usize..3, 1_i64..=9),
        one in style(),
        other in style(),
    ) {
        let whole = polynomial(&multiplied(&factors));
        let mut changed = factors;
        let at = at.index(changed.len());
        changed[at][place] += delta;
        prop_assert_ne!(&whole, &polynomial(&multiplied(&changed)));
        assert_verdict!(one.value(&expanded(&whole)), other.value(&multiplied(&changed)), Different);
    }

    #[test]
    fn a_changed_coefficient_sign_or_exponent_is_noticed(
        term in term(),
        (at, how) in (any::<Index>(), 0_u8..3),
        one in style(),
        other in style(),
    ) {
        let mut value = polynomial(&term);
        prop_assume!(!value.is_empty());
        let at = at.index(value.len());
        let (exponents, coefficient) = value.iter().nth(at).map(|(e, c)| (*e, c.clone())).unwrap();
        match how {
            0 => drop(value.insert(exponents, &coefficient + RBig::ONE)),
            1 => drop(value.insert(exponents, -coefficient)),
            _ => {
                value.remove(&exponents);
                *value.entry([exponents[0] + 1, exponents[1], exponents[2]]).or_default() += coefficient;
            }
        }
        value.retain(|_, coefficient| *coefficient != RBig::ZERO);
        assert_verdict!(one.value(&term), other.value(&expanded(&value)), Different);
    }

    #[test]
    fn sums_and_products_may_be_reordered(
        (parts, shuffled) in with_shuffled(prop::collection::vec(term(), 2..=4)),
        (one, other) in (style(), style()),
        sum in any::<bool>(),
    ) {
        let whole = if sum { Sum } else { Product };
        assert_verdict!(one.value(&whole(parts)), other.value(&whole(shuffled)), Equal);
    }

    #[test]
    fn roots_and_pi_may_be_reordered_but_not_changed(
        (parts, shuffled) in with_shuffled(closed()),
        at in 0_usize..3,
        (one, other) in (style(), style()),
    ) {
        let text = one.value(&Sum(parts));
        assert_verdict!(text, other.value(&Sum(shuffled.clone())), Equal);
        let mut changed = shuffled;
        match &mut changed[at] {
            Product(factors) => factors[0] = STRANGER,
            number => *number = STRANGER,
        }
        assert_verdict!(text, other.value(&Sum(changed)), Different);
    }

    #[test]
    fn decimals_equal_their_fractions(
        digits in -9999_i64..=9999,
        (places, zeros) in (1_usize..=3, 0_usize..=3),
        style in style(),
    ) {
        let scale = [1, 10, 100, 1000][places];
        let decimal = |n: i64| {
            let sign = if n < 0 { "-" } else { "" };
            format!("{sign}{}.{:0places$}{}", n.abs() / scale, n.abs() % scale, "0".repeat(zeros))
        };
        let exact = style.value(&Frac(digits, scale));
        assert_verdict!(decimal(digits), exact, Equal);
        assert_verdict!(decimal(digits + 1), exact, Different);
        assert_verdict!(decimal(digits), decimal(-digits - 1), Different);
    }

    #[test]
    fn thousands_may_be_grouped(
        n in 1000_i64..=999_999_999,
        mark in select(vec![",", "{,}", "\\,", " ", "\u{2009}", ",\\!"]),
        sign in select(vec!["", "-"]),
    ) {
        let plain = n.to_string();
        let mut grouped = String::new();
        for (at, digit) in plain.chars().enumerate() {
            if at > 0 && (plain.len() - at) % 3 == 0 {
                grouped.push_str(mark);
            }
            grouped.push(digit);
        }
        let grouped = format!("{sign}{grouped}");
        assert_verdict!(format!("{sign}{plain}"), grouped, Equal);
        assert_verdict!(format!("{sign}{}", n + 1), grouped, Different);
    }

    #[test]
    fn sets_have_no_order_and_tuples_have(
        (parts, shuffled) in with_shuffled(
            subsequence((-20_i64..=20).collect::<Vec<_>>(), 2..=5)
                .prop_map(|parts| parts.into_iter().map(Int).collect())
        ),
        (one, other) in (style(), style()),
    ) {
        let moved = parts.iter().zip(&shuffled).any(|(a, b)| polynomial(a) != polynomial(b));
        let ordered = if moved { Different } else { Equal };
        let first = |kind: fn(Vec<Term>) -> Answer| one.answer(&kind(parts.clone()));
        let second = |kind: fn(Vec<Term>) -> Answer| other.answer(&kind(shuffled.clone()));
        assert_verdict!(first(Answer::Set), second(Answer::Set), Equal);
        assert_verdict!(first(Answer::Set), second(Answer::Bare), Equal);
        assert_verdict!(first(Answer::Bare), second(Answer::Bare), Equal);
        assert_verdict!(first(Answer::Tuple), second(Answer::Tuple), ordered);
        assert_verdict!(first(Answer::Tuple), second(Answer::Bare), ordered);
        assert_verdict!(first(Answer::List), second(Answer::List), ordered);
        assert_verdict!(first(Answer::Set), second(Answer::Tuple), Different);
        assert_verdict!(first(Answer::Set), second(Answer::List), Different);
    }

    #[test]
    fn a_changed_missing_or_added_element_is_noticed(
        parts in numbers(2..=5),
        (at, how) in (any::<Index>(), 0_u8..3),
        kind in select(vec![
            Answer::Set as fn(Vec<Term>) -> Answer, Answer::Tuple, Answer::List, Answer::Bare,
        ]),
        (one, other) in (style(), style()),
    ) {
        let mut changed = parts.clone();
        let at = at.index(parts.len());
        match how {
            0 => changed[at] = STRANGER,
            1 => changed.insert(at, STRANGER),
            _ => {
                let gone = polynomial(&changed.remove(at));
                prop_assume!(changed.iter().all(|other| polynomial(other) != gone));
            }
        }
        assert_verdict!(one.answer(&kind(parts)), other.answer(&kind(changed)), Different);
    }

    #[test]
    fn the_ends_of_an_interval_and_their_brackets_matter(
        (from, to) in (-20_i64..=0, 1_i64..=20),
        (ends, other_ends) in any::<([bool; 2], [bool; 2])>(),
        (one, other) in (style(), style()),
    ) {
        let interval = |from, to, ends| Answer::Interval([Int(from), Int(to)], ends);
        let text = one.answer(&interval(from, to, ends));
        let expected = if ends == other_ends { Equal } else { Different };
        assert_verdict!(text, other.answer(&interval(from, to, other_ends)), expected);
        assert_verdict!(text, other.answer(&interval(from - 1, to, ends)), Different);
        assert_verdict!(text, other.answer(&interval(from, to + 1, ends)), Different);
        let between = |[below, above]: [bool; 2]| {
            let sign = |closed| if closed { "\\le" } else { "<" };
            format!("{from} {} x {} {to}", sign(below), sign(above))
        };
        assert_verdict!(text, between(ends), Equal);
        assert_verdict!(text, between([!ends[0], ends[1]]), Different);
    }

    #[test]
    fn a_changed_entry_of_a_matrix_is_noticed(
        rows in prop::collection::vec(prop::collection::vec(number(), 2), 2..=3),
        (row, column) in (any::<Index>(), 0_usize..2),
        (one, other) in (style(), style()),
    ) {
        let mut changed = rows.clone();
        let row = row.index(changed.len());
        changed[row][column] = STRANGER;
        assert_verdict!(one.answer(&Answer::Matrix(rows)), other.answer(&Answer::Matrix(changed)), Different);
    }

    #[test]
    fn an_equation_stands_for_its_multiples(
        factors in factors(),
        factor in 2_i64..=9,
        (one, other) in (style(), style()),
    ) {
        let term = multiplied(&factors);
        let value = polynomial(&term);
        let multiple = value.iter().map(|(e, c)| (*e, c * RBig::from(-factor))).collect();
        let multiple = Answer::Equation(expanded(&multiple), Int(0));
        let text = one.answer(&Answer::Equation(term.clone(), Int(0)));
        assert_verdict!(text, other.answer(&multiple), Equal);
        assert_verdict!(text, other.answer(&Answer::Equation(term, Int(1))), Different);
    }

    #[test]
    fn an_assignment_stands_for_its_value(
        value in closed(),
        at in 0_usize..3,
        (one, other) in (style(), style()),
    ) {
        let text = format!("x = {}", one.value(&Sum(value.clone())));
        assert_verdict!(text, other.value(&Sum(value.clone())), Equal);
        let mut changed = value;
        changed[at] = Sum(vec![changed[at].clone(), Int(1)]);
        assert_verdict!(text, other.value(&Sum(changed)), Different);
    }
}
