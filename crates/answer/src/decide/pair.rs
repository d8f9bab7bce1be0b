//! Comparison of two answers by their kinds.

use super::comparator::Comparator;
use super::domain::renamed;
use super::shape::{Assignments, assignment, assignments, by_name, named_ratio, numbered, plain};
use super::truth::Truth;
use super::value::is_closed;
use crate::answer::{Answer, Clock, Relation, RelationOp};
use crate::read::{dates, wording};
use crate::text;
use crate::units::{self, Unit};
use crate::vocabulary;
use aske_algebra::approx::{self, Point};
use aske_algebra::expr::{Constant, Expr, Function, Rational};
use aske_algebra::verdict::Method;
use dashu_int::IBig;

/// Kinds that are never the same.
const NEVER: Truth = Truth::No(Method::Kind);

impl Comparator<'_> {
    /// Whether two answers are the same; the order of the two does not matter.
    pub(crate) fn same(self, a: &Answer, b: &Answer) -> Truth {
        if let Some((p, q)) = counted_by(a).zip(counted_by(b)).filter(|(p, q)| p != q) {
            let letter = |name| [(name, crate::answer::Numbers::Integers)];
            return self.same_family(a, &letter(p), b, &letter(q));
        }
        if let (Answer::Value(a), Answer::Value(b)) = (a, b) {
            return self.same_value(a, b).or(|| match (measured(a), measured(b)) {
                // `2 h` and `7200 s`
                (Some((a, unit_a)), Some((b, unit_b))) if unit_a.bases == unit_b.bases => {
                    self.same_quantity(&a, &unit_a, &b, &unit_b)
                }
                _ => NEVER,
            });
        }
        if self.fuel.spend(30).is_err() {
            return Truth::Unknown;
        }
        // `(x,y,z,w)=(1,2,3,4)` gives its tuple in the order of its names.
        for (relation, tuple) in [(a, b), (b, a)] {
            if let (Answer::Relation(relation), Answer::Tuple(values)) = (relation, tuple)
                && let [Answer::Tuple(names), Answer::Tuple(theirs)] = relation.sides.as_slice()
                && relation.signs == [RelationOp::Equal]
                && names.iter().all(|name| name.as_name().is_some())
            {
                return self.in_order(&by_name(names, theirs), values);
            }
        }
        let (a, b) = (&plain(a), &plain(b));
        self.pair(a, b)
            .or(|| if rank(a) == rank(b) { NEVER } else { self.pair(b, a) })
            .or(|| self.as_regions(a, b))
    }

    /// One direction of the table.
    #[expect(clippy::match_same_arms, reason = "each row of the table reads alone")]
    fn pair(self, a: &Answer, b: &Answer) -> Truth {
        use Answer as A;
        match (a, b) {
            (A::Value(a), A::Value(b)) => self.same_value(a, b),
            // A gloss that says something else may be a factor.
            (A::Gloss(number, gloss), other) => match self.same(number, gloss) {
                Truth::Yes(_) => self.same(number, other),
                _ => Truth::Unknown,
            },
            (A::Percent(a), A::Percent(b)) => self.same_value(a, b),
            (A::Percent(percent), A::Value(value)) => {
                let hundredth = self.same_value(&percent.clone().over(Expr::int(100)), value);
                hundredth.or(|| {
                    if self.policy.percent_as_number { self.same_value(percent, value) } else { NEVER }
                })
            }
            (A::Quantity(a, unit_a), A::Quantity(b, unit_b)) => self.same_quantity(a, unit_a, b, unit_b),
            (A::Quantity(a, unit), A::Value(b)) => self.quantity_and_value(a, unit, b),
            (A::Ratio(a, clock_a), A::Ratio(b, clock_b)) => self.same_ratio(a, *clock_a, b, *clock_b),
            (A::Ratio(parts, clock), A::Value(value)) => match parts.as_slice() {
                [above, below] if self.policy.ratio_as_quotient && !clock.is_some_and(|c| c.has_meridiem) => {
                    self.same_value(&above.clone().over(below.clone()), value)
                }
                _ => NEVER,
            },
            (A::Tuple(x), A::Tuple(y)) => self.in_order(x, y).or(|| match (parameter(x), parameter(y)) {
                // Points of a line, whose parameter ranges over all numbers.
                (Some(name), Some(other)) => self.same_line(a, &renamed(b, &other, &name), &name),
                _ => NEVER,
            }),
            (A::List(a), A::List(b)) => self.in_order(a, b),
            // Two numbers in round and in square brackets are two intervals.
            (A::Tuple(a), A::List(b)) if a.len() != 2 => self.in_order(a, b),
            (A::Tuple(a) | A::List(a), A::Bare(b)) if self.policy.list_as_tuple => self.in_order(a, b),
            (A::Bare(a), A::Bare(b)) => match self.in_any_order(a, b) {
                Truth::Yes(_) if !self.in_order(a, b).is_yes() => reordered(a),
                other => other,
            },
            (A::Set(a), A::Set(b)) => self.as_sets(a, b),
            (A::Set(a), A::Bare(b)) if self.policy.list_as_set => self.as_sets(a, b),
            // `1/2 or 0.5`: one value, written twice.
            (A::Set(values), A::Value(_)) if matches!(values.as_slice(), [first, second] if self.same(first, second).is_yes()) => {
                self.same(&values[0], b)
            }
            // The set of one value is that value; nested sets are not.
            (A::Set(one), other)
                if one.len() == 1
                    && !matches!(other, A::Set(_) | A::Tuple(_) | A::List(_))
                    && !matches!(one[0], A::Set(_) | A::Numbers(_) | A::Text(_))
                    // `\\{x\\}` may be the fractional part of x.
                    && !matches!(&one[0], A::Value(value) if !is_closed(value)) =>
            {
                self.same(&one[0], other)
            }
            (A::Matrix(a), A::Matrix(b)) => {
                if a.len() == b.len() {
                    Truth::all(a.iter().zip(b).map(|(a, b)| self.in_order(a, b)))
                } else {
                    NEVER
                }
            }
            (A::Matrix(a), A::List(b) | A::Tuple(b))
                if a.len() == b.len() && b.iter().all(|row| matches!(row, A::List(_) | A::Tuple(_))) =>
            {
                Truth::all(a.iter().zip(b).map(|(a, b)| match b {
                    A::List(b) | A::Tuple(b) => self.in_order(a, b),
                    _ => NEVER,
                }))
            }
            (A::Matrix(rows), A::Tuple(entries) | A::List(entries) | A::Bare(entries))
                if self.policy.column_as_tuple =>
            {
                match rows.as_slice() {
                    [row] => self.in_order(row, entries),
                    _ if rows.iter().all(|row| row.len() == 1) => {
                        let column: Vec<Answer> = rows.iter().map(|row| row[0].clone()).collect();
                        self.in_order(&column, entries)
                    }
                    _ => NEVER,
                }
            }
            (A::Matrix(rows), A::Value(value)) => match (rows.as_slice(), diagonal(value, rows.len())) {
                ([row], _) if row.len() == 1 => self.same(&row[0], b),
                // `I_2`, `\operatorname{diag}(1, 2)`
                (rows, Some(entries)) if rows.iter().all(|row| row.len() == rows.len()) => {
                    let zero = Answer::Value(Expr::int(0));
                    let cells = rows
                        .iter()
                        .enumerate()
                        .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, cell)| (i, j, cell)));
                    Truth::all(
                        cells.map(|(i, j, cell)| self.same(cell, if i == j { &entries[i] } else { &zero })),
                    )
                }
                _ => NEVER,
            },
            // `P(1, 2)`: a point with its name.
            (A::Tuple(entries), A::Value(Expr::Apply(name, arguments)))
                if matches!(
                    name.as_str(),
                    "A" | "D" | "K" | "L" | "M" | "O" | "P" | "Q" | "R" | "S" | "T"
                ) =>
            {
                let arguments: Vec<Answer> = arguments.iter().cloned().map(A::Value).collect();
                self.in_order(entries, &arguments)
            }
            _ => self.pair_of_words(a, b),
        }
    }

    /// The rows of the table for options, words, letters and dates.
    fn pair_of_words(self, a: &Answer, b: &Answer) -> Truth {
        use Answer as A;
        match (a, b) {
            (A::Choice(a, content_a), A::Choice(b, content_b)) => match (content_a, content_b) {
                _ if a != b => Truth::No(Method::Letter),
                // The same letter before another value is another answer.
                (Some(a), Some(b)) => match self.same(a, b) {
                    Truth::Yes(_) => Truth::Yes(Method::Letter),
                    Truth::No(_)
                        if matches!(
                            (&**a, &**b),
                            (A::Text(_) | A::Opaque(_), _) | (_, A::Text(_) | A::Opaque(_))
                        ) =>
                    {
                        Truth::Unknown
                    }
                    other => other,
                },
                (Some(content), None) | (None, Some(content)) => beside(content),
                (None, None) => Truth::Yes(Method::Letter),
            },
            // `No, it is not` against `no`.
            (A::Choice(said @ (wording::YES | wording::NO), _), A::Text(word)) => {
                Truth::of(text::fold(word) == if *said == wording::YES { "yes" } else { "no" }, Method::Text)
            }
            (A::Choice(letter, content), other) => {
                let named = match other {
                    A::Value(value)
                        if matches!(value, Expr::Symbol(name) if name.eq_ignore_ascii_case(&letter.to_string()))
                            || *letter == 'E' && *value == Expr::Constant(Constant::E) =>
                    {
                        content.as_ref().map_or(Truth::Yes(Method::Letter), |content| beside(content))
                    }
                    _ => NEVER,
                };
                named.or(|| match content {
                    Some(content) if self.policy.choice_by_content => self.same(content, other),
                    _ => NEVER,
                })
            }
            (A::Text(a), A::Text(b)) => {
                if text::essence(a) == text::essence(b)
                    || text::both_no_solution(a, b)
                    || text::adds_only_a_noun(a, b)
                {
                    Truth::Yes(Method::Text)
                } else if text::extends(a, b) {
                    Truth::Unknown
                } else {
                    Truth::No(Method::Text)
                }
            }
            (A::Text(word), A::Set(none)) if none.is_empty() => {
                Truth::of(vocabulary::is_no_solution(&text::fold(word)), Method::NoSolution)
            }
            (A::Text(text), A::Value(Expr::Constant(Constant::Infinity))) => {
                Truth::of(matches!(text::essence(text).as_str(), "infinite" | "infinity"), Method::Text)
            }
            (A::Text(month), A::Letters(short))
                if dates::month(month).is_some() && dates::month(month) == dates::month(short) =>
            {
                Truth::Yes(Method::Text)
            }
            (A::Text(numeral), A::Value(number @ Expr::Number(_))) => letters_and_value(numeral, number),
            (A::Text(text), A::Letters(letters)) => {
                Truth::of(text::words(text) == text::words(letters), Method::Text)
            }
            (A::Letters(a), A::Letters(b)) => same_letters(a, b),
            // `HTH` and `H, T, H`; `TFT` and `true, false, true`.
            (A::Letters(letters), A::Bare(parts)) if initials(parts).is_some() => match initials(parts) {
                Some(initials) if initials == *letters => Truth::Yes(Method::Text),
                Some(initials) if sorted_letters(&initials) == sorted_letters(letters) => Truth::Unknown,
                _ => NEVER,
            },
            (A::Letters(letters), A::Value(value)) => letters_and_value(letters, value),
            // The same tokens in another order are the same answer only where an operator commutes.
            (A::Opaque(a), A::Opaque(b))
                if a.bag == b.bag && a.spelling != b.spelling && a.has_commutative_operator() =>
            {
                Truth::Unknown
            }
            // Terms before dots may be written in other ways.
            (A::Opaque(a), A::Opaque(b))
                if a.spelling != b.spelling && [a, b].iter().all(|one| one.spelling.contains("+ \\dots")) =>
            {
                Truth::Unknown
            }
            (A::Opaque(a), A::Opaque(b)) => Truth::of(a.spelling == b.spelling, Method::Text),
            // `1 + 2 + \cdots + n`: what dots leave out is not known.
            (A::Opaque(opaque), A::Value(_)) if opaque.spelling.contains("+ \\dots") => Truth::Unknown,
            (A::Cycles { cycles: a, disjoint: true }, A::Cycles { cycles: b, disjoint: true }) => {
                Truth::of(a == b, Method::Exact)
            }
            // Which cycle acts first is a matter of convention.
            (A::Cycles { cycles: a, .. }, A::Cycles { cycles: b, .. }) => {
                if a == b {
                    Truth::Yes(Method::Exact)
                } else {
                    Truth::Unknown
                }
            }
            (A::Date(a), A::Date(b)) => Truth::of(a == b, Method::Exact),
            _ => self.pair_of_statements(a, b),
        }
    }

    /// The rows of the table for relations, systems, families and sets of numbers.
    #[expect(clippy::match_same_arms, reason = "each row of the table reads alone")]
    fn pair_of_statements(self, a: &Answer, b: &Answer) -> Truth {
        use Answer as A;
        match (a, b) {
            (A::Congruence(a), A::Congruence(b)) => self.same_congruence(a, b),
            (A::Bare(parts) | A::All(parts), A::Congruence(b)) => match self.combined(parts) {
                Some(a) => self.same_congruence(&a, b),
                None => NEVER,
            },
            (A::Congruence(a), A::Value(value)) => self.congruence_and_value(a, value),
            // `n is odd` and `odd`
            (A::Congruence(a), A::Text(word)) if a.modulus == Expr::int(2) => {
                let parity = match text::words(word).as_str() {
                    "even" => 0,
                    "odd" => 1,
                    _ => return NEVER,
                };
                Truth::of(a.residues == [Expr::int(parity)], Method::Text)
            }
            (A::Family(a, letters_a), A::Family(b, letters_b)) => {
                self.same_family(a, letters_a, b, letters_b)
            }
            (A::Family(a, letters), A::Congruence(b)) => self.family_and_congruence(a, letters, b),
            (A::Family(a, letters), other) => self.family_and_other(a, letters, other),
            (A::Dots, A::Dots) => Truth::Yes(Method::Text),
            (A::Numbers(a), A::Numbers(b)) => Truth::of(a == b, Method::Exact),
            (A::Union(a), A::Union(b)) | (A::Intersection(a), A::Intersection(b)) => self.in_any_order(a, b),
            (A::Minus(a, without_a), A::Minus(b, without_b)) => {
                self.same(a, b).and(|| self.same(without_a, without_b))
            }
            (A::Relation(a), A::Relation(b)) => self.same_relation(a, b),
            (A::Relation(relation), other) => self.relation_and_other(relation, other),
            (A::All(a), A::All(b)) => self.same_cases(a, b).unwrap_or_else(|| self.in_any_order(a, b)),
            // `x_1=2, x_2=9`: the solutions of one unknown, numbered.
            (A::All(parts), A::Set(values) | A::Bare(values)) if numbered(parts) => {
                match assignments(parts) {
                    Some(Assignments { written, .. }) => self.as_sets(&written, values),
                    None => NEVER,
                }
            }
            (A::All(_), A::Matrix(rows))
                if self.policy.column_as_tuple && rows.iter().all(|row| row.len() == 1) =>
            {
                self.same(a, &A::Tuple(rows.iter().map(|row| row[0].clone()).collect()))
            }
            (A::All(parts), A::Tuple(values) | A::Bare(values)) => match assignments(parts) {
                Some(Assignments { by_name, in_usual_order: true, .. }) => self.in_order(&by_name, values),
                // Which of the values comes first is not known.
                Some(Assignments { written, .. }) => match self.in_any_order(&written, values) {
                    Truth::Yes(_) => Truth::Unknown,
                    other => other,
                },
                None => NEVER,
            },
            // `x = y, y = z` and `x = y = z`
            (A::All(parts), A::Relation(chain))
                if chain.signs.len() > 1 && parts.len() == chain.signs.len() =>
            {
                let links =
                    chain.sides.windows(2).zip(&chain.signs).map(|(sides, sign)| {
                        A::Relation(Relation { sides: sides.to_vec(), signs: vec![*sign] })
                    });
                self.in_any_order(parts, &links.collect::<Vec<_>>())
            }
            (A::Any(a), A::Any(b)) => self.in_any_order(a, b),
            (A::Interval(a), A::Interval(b)) => {
                if (a.from_closed, a.to_closed) == (b.from_closed, b.to_closed) {
                    self.same_value(&a.from, &b.from).and(|| self.same_value(&a.to, &b.to))
                } else {
                    NEVER
                }
            }
            _ => NEVER,
        }
    }

    /// What a relation says against an answer of another kind.
    fn relation_and_other(self, relation: &Relation, other: &Answer) -> Truth {
        if let Some(ratio) = named_ratio(relation) {
            return self.same(&ratio, other);
        }
        // A family is compared with the relation itself.
        if !self.policy.assignment_as_value || matches!(other, Answer::Family(..)) {
            return NEVER;
        }
        let [.., before, last] = relation.sides.as_slice() else { return NEVER };
        if let Some(assignment) = assignment(relation) {
            // `x = 5 ≈ 7` contradicts itself.
            let rounded = relation.signs.len() > 1 && relation.signs.last() == Some(&RelationOp::Approx);
            return if rounded && !self.is_near(before, last) {
                NEVER
            } else {
                self.same(&assignment.value, other)
            };
        }
        // `\pi \approx 3.14` gives the exact value; `2 + 3 = 5` gives 5, if it is so.
        if relation.signs == [RelationOp::Approx] {
            let written = |side: &Answer| {
                matches!(
                    side,
                    Answer::Value(Expr::Number(_) | Expr::Decimal(_))
                        | Answer::Percent(Expr::Number(_) | Expr::Decimal(_))
                )
            };
            let exact = !written(before) || written(last);
            return if exact && self.is_near(before, last) { self.same(before, other) } else { NEVER };
        }
        let equal = relation.signs.iter().all(|sign| *sign == RelationOp::Equal);
        // `\lim_{x\to0} f(x) = 5`, `AB/CD = 2`: the left side names what the right side is.
        if relation.signs == [RelationOp::Equal]
            && matches!((before, last), (Answer::Value(left), Answer::Value(right)) if is_named_quantity(left) && is_closed(right))
        {
            return self.same(last, other);
        }
        let reckons = matches!((before, last), (Answer::Value(before), Answer::Value(last)) if is_closed(before) && is_closed(last));
        if equal && reckons && self.same(before, last).is_yes() { self.same(last, other) } else { NEVER }
    }

    /// Whether two sides of `≈` are numbers that may be called so: within a tenth.
    fn is_near(self, a: &Answer, b: &Answer) -> bool {
        let number = |answer: &Answer| match answer {
            Answer::Value(value) | Answer::Percent(value) if is_closed(value) => {
                let value = approx::evaluate(value, &Point::none(), 53, self.fuel).ok()?.to_f64();
                Some(if matches!(answer, Answer::Percent(_)) { value / 100.0 } else { value })
            }
            _ => None,
        };
        match (number(a), number(b)) {
            (Some(a), Some(b)) => (a - b).abs() <= 0.1 * a.abs().max(b.abs()),
            _ => !matches!((a, b), (Answer::Value(a), Answer::Value(b)) if is_closed(a) && is_closed(b)),
        }
    }

    fn same_quantity(self, a: &Expr, unit_a: &Unit, b: &Expr, unit_b: &Unit) -> Truth {
        if unit_a == unit_b {
            return self.same_value(a, b);
        }
        if !self.policy.unit_conversion {
            return NEVER;
        }
        let angle = |unit: &Unit| match unit.bases.as_slice() {
            [(name, 1)] if name == "degree" => Some(degree_in_radians()),
            [(name, 1)] if name == "radian" => Some(Expr::int(1)),
            _ => None,
        };
        if let (Some(in_a), Some(in_b)) = (angle(unit_a), angle(unit_b)) {
            return self.same_value(&a.clone().times(in_a), &b.clone().times(in_b));
        }
        if let (Some(in_a), Some(in_b)) = (kelvins(a, unit_a), kelvins(b, unit_b)) {
            return self.same_value(&in_a, &in_b);
        }
        if unit_a.bases != unit_b.bases {
            return NEVER;
        }
        let scaled = |value: &Expr, unit: &Unit| value.clone().times(Expr::Number(unit.factor.clone()));
        self.same_value(&scaled(a, unit_a), &scaled(b, unit_b))
    }

    fn quantity_and_value(self, a: &Expr, unit: &Unit, b: &Expr) -> Truth {
        // `5 m` against `5 cm`: letters that name a unit are one where the other side has one.
        if let Some((value, other)) = measured(b) {
            return self.same_quantity(a, unit, &value, &other);
        }
        let optional = if unit.is_degree() { self.policy.degree_optional } else { self.policy.unit_optional };
        let plain = if optional { self.same_value(a, b) } else { NEVER };
        plain.or(|| {
            if unit.is_degree() && (is_angle(b) || matches!(b, Expr::Decimal(_))) {
                self.same_value(&a.clone().times(degree_in_radians()), b)
            } else {
                NEVER
            }
        })
    }

    fn same_ratio(self, a: &[Expr], clock_a: Option<Clock>, b: &[Expr], clock_b: Option<Clock>) -> Truth {
        if let (Some(a), Some(b)) = (clock_a, clock_b) {
            // `0:30` and `18:00` are times of the 24-hour clock; `6:00` may be in the morning or in the evening.
            let known = |clock: Clock| clock.has_meridiem || !(60..13 * 60).contains(&clock.minutes);
            let day = if known(a) == known(b) || a.has_meridiem == b.has_meridiem { 1440 } else { 720 };
            return Truth::of(a.minutes % day == b.minutes % day, Method::Exact);
        }
        let ([first_a, ..], [first_b, ..]) = (a, b) else { return NEVER };
        if a.len() != b.len() {
            return NEVER;
        }
        Truth::all(a.iter().zip(b).skip(1).map(|(x, y)| {
            self.same_value(&x.clone().times(first_b.clone()), &y.clone().times(first_a.clone()))
        }))
    }
}

/// Whether the content beside an option's letter is its value, and not words that may change the choice.
fn beside(content: &Answer) -> Truth {
    match content {
        Answer::Opaque(_) | Answer::Choice(..) | Answer::Bare(_) | Answer::Any(_) => Truth::Unknown,
        Answer::Text(text)
            if text.split_whitespace().any(|word| vocabulary::is_function_word(&word.to_lowercase())) =>
        {
            Truth::Unknown
        }
        Answer::Text(text)
            if text.split_whitespace().any(|word| matches!(word, "is" | "are" | "and" | "or")) =>
        {
            Truth::Unknown
        }
        _ => Truth::Yes(Method::Letter),
    }
}

/// Whether an expression stands for an unknown quantity as a whole: a limit, sum or integral of an unknown function, or
/// a quotient of two names.
fn is_named_quantity(expr: &Expr) -> bool {
    let name = |part: &Expr| matches!(part, Expr::Symbol(_));
    let names = |expr: &Expr| {
        name(expr) || matches!(expr, Expr::Product(parts) if parts.len() <= 3 && parts.iter().all(name))
    };
    match expr {
        Expr::Bind(bind) => bind.body.any(&|part| {
            matches!(part, Expr::Apply(..)) || matches!(part, Expr::Symbol(name) if name.contains('_'))
        }),
        Expr::Product(parts) => match parts.as_slice() {
            [above @ .., Expr::Power(below, exponent)] => {
                **exponent == Expr::int(-1) && above.len() <= 3 && above.iter().all(name) && names(below)
            }
            _ => false,
        },
        _ => false,
    }
}

/// What two lists with the same elements in another order are. A list that goes on is a sequence, and truth values answer
/// one question after the other. Where an element is repeated, or is in words, the order may matter.
fn reordered(list: &[Answer]) -> Truth {
    let truth_value = |part: &Answer| match part {
        Answer::Text(word) => {
            matches!(text::fold(word).as_str(), "true" | "false" | "yes" | "no" | "correct" | "incorrect")
        }
        Answer::Value(Expr::Symbol(letter)) => matches!(letter.as_str(), "T" | "F"),
        _ => false,
    };
    let in_words = |part: &Answer| match part {
        Answer::Text(_) | Answer::Opaque(_) => true,
        Answer::Letters(letters) => letters.contains(char::is_lowercase),
        _ => false,
    };
    if list.contains(&Answer::Dots) || list.iter().all(truth_value) {
        Truth::No(Method::Kind)
    } else if repeats(list) || list.iter().any(in_words) {
        Truth::Unknown
    } else {
        Truth::Yes(Method::Exact)
    }
}

/// Whether an element stands twice in a list.
fn repeats(list: &[Answer]) -> bool {
    list.len() <= 64 && (1..list.len()).any(|at| list[..at].contains(&list[at]))
}

/// The letter that counts turns in an angle: `30^\circ + 180^\circ k`, `\pi/6 + 2\pi n`.
fn counted_by(answer: &Answer) -> Option<aske_algebra::expr::Symbol> {
    let value = match answer {
        Answer::Quantity(value, unit) if unit.is_degree() => value,
        Answer::Value(value @ Expr::Sum(_)) if value.any(&|part| *part == Expr::Constant(Constant::Pi)) => {
            value
        }
        _ => return None,
    };
    let mut names = aske_algebra::exact::free_symbols(value);
    let name = names.pop_first().filter(|_| names.is_empty())?;
    matches!(name.as_str(), "k" | "n" | "m").then_some(name)
}

/// The letter of a tuple that describes a line: its only one, usually a parameter.
fn parameter(entries: &[Answer]) -> Option<aske_algebra::expr::Symbol> {
    let mut names = std::collections::BTreeSet::new();
    for entry in entries {
        let Answer::Value(value) = entry else { return None };
        names.extend(aske_algebra::exact::free_symbols(value));
    }
    let name = names.pop_first().filter(|_| names.is_empty())?;
    matches!(name.as_str(), "t" | "s" | "r" | "lambda" | "mu").then_some(name)
}

/// The diagonal of a matrix that is given by name.
fn diagonal(value: &Expr, size: usize) -> Option<Vec<Answer>> {
    match value {
        Expr::Symbol(name) if name.strip_prefix("I_").is_some_and(|order| order == size.to_string()) => {
            Some(vec![Answer::Value(Expr::int(1)); size])
        }
        Expr::Apply(name, entries) if name == "diag" && entries.len() == size => {
            Some(entries.iter().cloned().map(Answer::Value).collect())
        }
        _ => None,
    }
}

/// A product whose letters are symbols of units, as a quantity: `10·m/s`.
fn measured(expr: &Expr) -> Option<(Expr, Unit)> {
    let Expr::Product(parts) = expr else { return None };
    let mut unit = Unit::none();
    let mut rest = Vec::new();
    for part in parts {
        let (mut base, mut power) = (part, 1);
        while let Expr::Power(inner, exponent) = base {
            let Expr::Number(exponent) = &**exponent else { return None };
            (base, power) = (inner, power * whole(exponent)?);
        }
        match base {
            Expr::Symbol(letter) => unit = unit.times(&units::read(letter.as_str())?, power),
            _ => rest.push(part.clone()),
        }
    }
    if unit.is_none() || rest.is_empty() || !rest.iter().all(is_closed) {
        return None;
    }
    Some((if rest.len() == 1 { rest.remove(0) } else { Expr::Product(rest) }, unit))
}

/// A temperature in kelvins.
fn kelvins(value: &Expr, unit: &Unit) -> Option<Expr> {
    let number = |above: i64, below: u64| Expr::Number(Rational::from_parts(IBig::from(above), below.into()));
    let [(name, 1)] = unit.bases.as_slice() else { return None };
    match name.as_str() {
        "kelvin" => Some(value.clone().times(Expr::Number(unit.factor.clone()))),
        "celsius" => Some(value.clone().plus(number(27_315, 100))),
        "fahrenheit" => Some(value.clone().plus(number(45_967, 100)).times(number(5, 9))),
        _ => None,
    }
}

/// A small integer.
fn whole(value: &Rational) -> Option<i32> {
    i32::try_from(value.is_int().then(|| value.floor())?).ok()
}

/// Two strings of letters. Two letters in the other order may be a product as well.
fn same_letters(a: &str, b: &str) -> Truth {
    if text::words(a) == text::words(b) {
        return Truth::Yes(Method::Text);
    }
    // `GMm` and `GmM` may be one product.
    let mixed = |text: &str| text.contains(char::is_lowercase) && text.contains(char::is_uppercase);
    let swapped = a.chars().count() == 2 && a.chars().rev().eq(b.chars())
        || mixed(a) && sorted_letters(a) == sorted_letters(b);
    match (roman(a), roman(b)) {
        (Some(a), Some(b)) => Truth::of(a == b, Method::Text),
        _ if swapped => Truth::Unknown,
        _ => Truth::No(Method::Text),
    }
}

/// The number that a Roman numeral of two letters or more means. One without I, V or X is none: `CD` is a segment.
fn roman(text: &str) -> Option<u32> {
    let upper = text.to_ascii_uppercase();
    let cased = upper == text || !text.contains(char::is_uppercase);
    if !(2..16).contains(&text.len()) || !cased || !upper.contains(['I', 'V', 'X']) {
        return None;
    }
    let (mut total, mut behind) = (0, 0);
    for c in upper.chars().rev() {
        let value = [1, 5, 10, 50, 100, 500, 1000]["IVXLCDM".find(c)?];
        match value < behind {
            true if value * 10 < behind => return None,
            true => total -= value,
            false => (total, behind) = (total + value, value),
        }
    }
    Some(total)
}

/// A string of letters against an expression: the same where it is their product, written in the same order.
fn letters_and_value(letters: &str, value: &Expr) -> Truth {
    let mut factors = String::new();
    match value {
        Expr::Product(parts) => {
            for part in parts {
                match part {
                    Expr::Symbol(name) => factors.push_str(name),
                    _ => return NEVER,
                }
            }
        }
        Expr::Symbol(name) => factors.push_str(name),
        Expr::Number(number) => {
            return Truth::of(roman(letters).is_some_and(|value| *number == value.into()), Method::Text);
        }
        _ => return NEVER,
    }
    if factors == letters {
        return Truth::Yes(Method::Text);
    }
    if sorted_letters(&factors) == sorted_letters(letters) { Truth::Unknown } else { NEVER }
}

/// The letters that a list gives one by one: `H, T, H`, `(A), (C)`, `true, false`.
fn initials(parts: &[Answer]) -> Option<String> {
    let initial = |part: &Answer| match part {
        Answer::Value(Expr::Symbol(name)) if name.len() == 1 => name.chars().next(),
        Answer::Choice(letter, None) => Some(*letter),
        Answer::Text(word) => match text::fold(word).as_str() {
            "true" => Some('T'),
            "false" => Some('F'),
            _ => None,
        },
        _ => None,
    };
    parts.iter().map(initial).collect()
}

fn sorted_letters(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().collect();
    letters.sort_unstable();
    letters
}

/// π/180.
fn degree_in_radians() -> Expr {
    Expr::Number(Rational::from_parts(IBig::ONE, 180_u8.into())).times(Expr::Constant(Constant::Pi))
}

/// Whether a number is likely an angle in radians: a multiple of π, or what an inverse function gives.
fn is_angle(expr: &Expr) -> bool {
    use Function as F;
    expr.any(&|part| {
        matches!(
            part,
            Expr::Constant(Constant::Pi)
                | Expr::Call(F::Arcsin | F::Arccos | F::Arctan | F::Arccot | F::Arcsec | F::Arccsc, _)
        )
    })
}

/// Kinds by number: two answers of one kind need no second look with sides changed.
fn rank(answer: &Answer) -> std::mem::Discriminant<Answer> {
    std::mem::discriminant(answer)
}
