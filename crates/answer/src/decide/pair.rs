//! The table of kinds: how an answer of one kind stands to an answer of another.

use super::judge::Judge;
use super::shape::{assigned, claim, numbered, plain};
use super::truth::Truth;
use super::value::is_closed;
use crate::answer::{Answer, Clock, Relation, Sign};
use crate::compare::Method;
use crate::text;
use crate::tree::{Constant, Expr, Function, Rational};
use crate::units::{self, Unit};
use dashu_int::IBig;

/// Kinds that are never the same.
const NEVER: Truth = Truth::No(Method::Kind);

impl Judge<'_> {
    /// Whether two answers are the same; the order of the two does not matter.
    pub(crate) fn same(self, a: &Answer, b: &Answer) -> Truth {
        if let (Answer::Value(a), Answer::Value(b)) = (a, b) {
            return self.same_value(a, b);
        }
        if self.fuel.spend(30).is_err() {
            return Truth::Open;
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
                [above, below] if self.policy.ratio_as_quotient && !clock.is_some_and(|c| c.told) => {
                    self.same_value(&above.clone().over(below.clone()), value)
                }
                _ => NEVER,
            },
            (A::Tuple(a), A::Tuple(b)) | (A::List(a), A::List(b)) => self.in_order(a, b),
            // Two numbers in round and in square brackets are two intervals.
            (A::Tuple(a), A::List(b)) if a.len() != 2 => self.in_order(a, b),
            (A::Tuple(a) | A::List(a), A::Bare(b)) if self.policy.list_as_tuple => self.in_order(a, b),
            (A::Bare(a), A::Bare(b)) => self.in_any_order(a, b),
            (A::Set(a), A::Set(b)) => self.as_sets(a, b),
            (A::Set(a), A::Bare(b)) if self.policy.list_as_set => self.as_sets(a, b),
            (A::Set(one), other)
                if one.len() == 1 && !matches!(other, A::Set(_) | A::Tuple(_) | A::List(_)) =>
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
            (A::Matrix(rows), A::Value(_)) => match rows.as_slice() {
                [row] if row.len() == 1 => self.same(&row[0], b),
                _ => NEVER,
            },
            (A::Choice(a, _), A::Choice(b, _)) => Truth::of(a == b, Method::Letter),
            (A::Choice(letter, content), other) => {
                let named = match other {
                    A::Value(Expr::Symbol(name)) => {
                        Truth::of(name.eq_ignore_ascii_case(&letter.to_string()), Method::Letter)
                    }
                    _ => NEVER,
                };
                named.or(|| match content {
                    Some(content) if self.policy.choice_by_content => self.same(content, other),
                    _ => NEVER,
                })
            }
            (A::Text(a), A::Text(b)) => {
                let (a, b) = (text::fold(a), text::fold(b));
                Truth::of(a == b || text::is_no_solution(&a) && text::is_no_solution(&b), Method::Text)
            }
            (A::Text(word), A::Set(none)) if none.is_empty() => {
                Truth::of(text::is_no_solution(&text::fold(word)), Method::NoSolution)
            }
            (A::Dots, A::Dots) => Truth::Yes(Method::Text),
            (A::Reals, A::Reals) => Truth::Yes(Method::Exact),
            (A::Relation(a), A::Relation(b)) => self.same_relation(a, b),
            (A::Relation(relation), other) => self.relation_and_other(relation, other),
            (A::All(a), A::All(b)) => self.in_any_order(a, b),
            // `x_1=2, x_2=9`: the solutions of one unknown, numbered.
            (A::All(parts), A::Set(values) | A::Bare(values)) if numbered(parts) => match assigned(parts) {
                Some((written, _)) => self.as_sets(&written, values),
                None => NEVER,
            },
            (A::All(parts), A::Tuple(values) | A::Bare(values)) => match assigned(parts) {
                Some((written, by_name)) => {
                    self.in_order(&written, values).or(|| self.in_order(&by_name, values))
                }
                None => NEVER,
            },
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

    /// What a relation says against an answer that is none.
    fn relation_and_other(self, relation: &Relation, other: &Answer) -> Truth {
        if !self.policy.assignment_as_value {
            return NEVER;
        }
        if let Some(claim) = claim(relation) {
            return self.same(&claim.value, other);
        }
        // `\pi \approx 3.14` gives the exact value; `2 + 3 = 5` gives 5, if it is so.
        let [.., before, last] = relation.sides.as_slice() else { return NEVER };
        if relation.signs == [Sign::Near] {
            return self.same(before, other);
        }
        let equal = relation.signs.iter().all(|sign| *sign == Sign::Equal);
        let reckons = matches!((before, last), (Answer::Value(before), Answer::Value(last)) if is_closed(before) && is_closed(last));
        if equal && reckons && self.same(before, last).is_yes() { self.same(last, other) } else { NEVER }
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
        if unit_a.bases != unit_b.bases {
            return NEVER;
        }
        let scaled = |value: &Expr, unit: &Unit| value.clone().times(Expr::Number(unit.factor.clone()));
        self.same_value(&scaled(a, unit_a), &scaled(b, unit_b))
    }

    fn quantity_and_value(self, a: &Expr, unit: &Unit, b: &Expr) -> Truth {
        // `5 m` against `5 cm`: a letter that names a unit is one where the other side has one.
        if let Expr::Product(parts) = b
            && let [rest @ .., Expr::Symbol(letter)] = parts.as_slice()
            && !rest.is_empty()
            && let Some(other) = units::read(letter).filter(|other| other.bases == unit.bases)
        {
            let rest = if rest.len() == 1 { rest[0].clone() } else { Expr::Product(rest.to_vec()) };
            return self.same_quantity(a, unit, &rest, &other);
        }
        let optional = if unit.is_degree() { self.policy.degree_optional } else { self.policy.unit_optional };
        let plain = if optional { self.same_value(a, b) } else { NEVER };
        plain.or(|| {
            if unit.is_degree() && is_angle(b) {
                self.same_value(&a.clone().times(degree_in_radians()), b)
            } else {
                NEVER
            }
        })
    }

    fn same_ratio(self, a: &[Expr], clock_a: Option<Clock>, b: &[Expr], clock_b: Option<Clock>) -> Truth {
        if let (Some(a), Some(b)) = (clock_a, clock_b) {
            let day = if a.told == b.told { 1440 } else { 720 };
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
