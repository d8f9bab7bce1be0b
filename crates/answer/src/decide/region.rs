//! Sets of real numbers as sorted disjoint intervals.

use super::comparator::Comparator;
use super::polynomial;
use super::truth::Truth;
use super::value::names_of;
use crate::answer::{Answer, Numbers, Relation, RelationOp};
use aske_algebra::expr::{Constant, Expr, Function, Rational, Symbol};
use aske_algebra::verdict::Method;
use std::cmp::Ordering;

/// One end of a piece. An infinite end is never closed.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) at: Expr,
    pub(crate) closed: bool,
}

/// All numbers between two ends; a single number where both are the same and closed.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) from: End,
    pub(crate) to: End,
}

/// Pieces in order, none touching the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region(pub(crate) Vec<Piece>);

/// More pieces than this are not compared.
const MAX_PIECES: usize = 4096;

impl Comparator<'_> {
    /// Both as sets of real numbers, where at least one of them is surely such a set.
    pub(crate) fn as_regions(self, a: &Answer, b: &Answer) -> Truth {
        if !is_surely_set(a) && !is_surely_set(b) {
            return Truth::No(Method::Kind);
        }
        let counts = |answer: &Answer| match answer {
            Answer::Where(_, numbers, _) | Answer::Numbers(numbers) => *numbers != Numbers::Reals,
            Answer::Intersection(parts) => parts
                .iter()
                .any(|part| matches!(part, Answer::Numbers(numbers) if *numbers != Numbers::Reals)),
            _ => false,
        };
        if counts(a) || counts(b) {
            return self.as_integers(a, b);
        }
        let (mut name_a, mut name_b) = (None, None);
        let (Some(region_a), Some(region_b)) = (self.region(a, &mut name_a), self.region(b, &mut name_b))
        else {
            let unsolved =
                is_inequality(a) && is_inequality(b) && (is_transcendental(a) || is_transcendental(b));
            return if self.fuel.left() == 0 || unsolved { Truth::Unknown } else { Truth::No(Method::Kind) };
        };
        // `1<x<2` and `1<y<2` are two statements.
        if let (Some(a), Some(b)) = (&name_a, &name_b)
            && a != b
        {
            return Truth::No(Method::Kind);
        }
        self.same_region(&region_a, &region_b)
    }

    fn same_region(self, a: &Region, b: &Region) -> Truth {
        if a.0.len() != b.0.len() {
            return Truth::No(Method::Exact);
        }
        Truth::all(
            a.0.iter()
                .zip(&b.0)
                .map(|(a, b)| self.same_end(&a.from, &b.from).and(|| self.same_end(&a.to, &b.to))),
        )
    }

    /// Two functions by cases, of which one has a case for all other numbers; none where a condition is not a set.
    pub(crate) fn same_cases(self, a: &[Answer], b: &[Answer]) -> Option<Truth> {
        let is_rest = |row: &Answer| matches!(row, Answer::Tuple(row) if matches!(row.last(), Some(Answer::Text(word)) if matches!(word.as_str(), "otherwise" | "else")));
        if !a.iter().chain(b).any(is_rest) {
            return None;
        }
        let mut name = None;
        let mut cases = |rows: &[Answer]| {
            let (mut cases, mut covered) = (Vec::new(), Vec::new());
            for row in rows {
                let Answer::Tuple(parts) = row else { return None };
                let [value, condition] = parts.as_slice() else { return None };
                let region = if is_rest(row) {
                    self.complement(&self.joined(covered.clone())?)?
                } else {
                    self.region(condition, &mut name)?
                };
                covered.extend(region.0.iter().cloned());
                cases.push((value.clone(), region));
            }
            Some(cases)
        };
        let (a, b) = (cases(a)?, cases(b)?);
        let partner = |region: &Region| b.iter().find(|(_, other)| self.same_region(region, other).is_yes());
        let all = a.iter().map(|(value, region)| match partner(region) {
            Some((other, _)) if a.len() == b.len() => self.same(value, other),
            _ => Truth::Unknown,
        });
        Some(Truth::all(all))
    }

    fn same_end(self, a: &End, b: &End) -> Truth {
        if a.closed == b.closed { self.same_value(&a.at, &b.at) } else { Truth::No(Method::Exact) }
    }

    /// The set of real numbers that an answer describes, and of which name it speaks.
    pub(crate) fn region(self, answer: &Answer, name: &mut Option<Symbol>) -> Option<Region> {
        self.fuel.spend(100).ok()?;
        match answer {
            Answer::Numbers(Numbers::Reals) => Some(Region(vec![all()])),
            Answer::Interval(i) => self.piece(&i.from, i.from_closed, &i.to, i.to_closed),
            Answer::Tuple(ends) | Answer::List(ends) => match ends.as_slice() {
                [Answer::Value(from), Answer::Value(to)] if self.policy.pair_as_interval => {
                    let closed = matches!(answer, Answer::List(_));
                    self.piece(from, closed, to, closed)
                }
                _ => None,
            },
            Answer::Value(value) => self.points(std::slice::from_ref(&Answer::Value(value.clone()))),
            Answer::Set(values) | Answer::Bare(values)
                if values.iter().all(|v| matches!(v, Answer::Value(_))) =>
            {
                self.points(values)
            }
            Answer::Union(parts) | Answer::Any(parts) => {
                let mut pieces = Vec::new();
                for part in parts {
                    pieces.extend(self.region(part, name)?.0);
                }
                self.joined(pieces)
            }
            Answer::Bare(parts) if parts.iter().all(is_surely_set) => {
                // Inequalities side by side hold together where they can; intervals side by side are a union.
                let together = if parts.iter().all(|part| matches!(part, Answer::Relation(_))) {
                    self.common(parts, name)?
                } else {
                    Region::default()
                };
                if together.0.is_empty() {
                    self.region(&Answer::Union(parts.clone()), name)
                } else {
                    Some(together)
                }
            }
            Answer::Intersection(parts) | Answer::All(parts) => self.common(parts, name),
            Answer::Minus(from, without) => {
                let from = self.region(from, name)?;
                let outside = self.complement(&self.region(without, name)?)?;
                self.cut(&from, &outside)
            }
            Answer::Where(variable, Numbers::Reals, condition) => {
                self.region(condition, &mut Some(variable.clone()))
            }
            Answer::Relation(relation) => self.solved(relation, name),
            _ => None,
        }
    }

    fn common(self, parts: &[Answer], name: &mut Option<Symbol>) -> Option<Region> {
        let mut total = Region(vec![all()]);
        for part in parts {
            let part = self.region(part, name)?;
            total = self.cut(&total, &part)?;
        }
        Some(total)
    }

    fn points(self, values: &[Answer]) -> Option<Region> {
        let mut pieces = Vec::new();
        for value in values {
            let Answer::Value(at) = value else { return None };
            self.order(at, &Expr::int(0))?;
            let end = End { at: at.clone(), closed: true };
            pieces.push(Piece { from: end.clone(), to: end });
        }
        self.joined(pieces)
    }

    /// One interval; `None` where its ends are the wrong way round.
    fn piece(self, from: &Expr, from_closed: bool, to: &Expr, to_closed: bool) -> Option<Region> {
        let open_at_infinity =
            |at: &Expr, closed: bool| End { at: at.clone(), closed: closed && !is_infinite(at) };
        let piece = Piece { from: open_at_infinity(from, from_closed), to: open_at_infinity(to, to_closed) };
        Some(match self.order(from, to)? {
            Ordering::Less => Region(vec![piece]),
            Ordering::Equal if piece.from.closed && piece.to.closed => Region(vec![piece]),
            _ => Region::default(),
        })
    }

    /// Pieces put in order, with those that touch made one.
    fn joined(self, mut pieces: Vec<Piece>) -> Option<Region> {
        if pieces.len() > MAX_PIECES {
            return None;
        }
        let mut clear = true;
        pieces.sort_by(|a, b| {
            self.order(&a.from.at, &b.from.at).map_or_else(
                || {
                    clear = false;
                    Ordering::Equal
                },
                |order| order.then(b.from.closed.cmp(&a.from.closed)),
            )
        });
        if !clear {
            return None;
        }
        let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let Some(last) = out.last_mut() else {
                out.push(piece);
                continue;
            };
            let touches = match self.order(&piece.from.at, &last.to.at)? {
                Ordering::Less => true,
                Ordering::Equal => piece.from.closed || last.to.closed,
                Ordering::Greater => false,
            };
            if !touches {
                out.push(piece);
                continue;
            }
            match self.order(&piece.to.at, &last.to.at)? {
                Ordering::Greater => last.to = piece.to,
                Ordering::Equal => last.to.closed |= piece.to.closed,
                Ordering::Less => {}
            }
        }
        Some(Region(out))
    }

    /// What two regions share.
    fn cut(self, a: &Region, b: &Region) -> Option<Region> {
        if a.0.len().saturating_mul(b.0.len()) > MAX_PIECES * 4 {
            return None;
        }
        let mut out = Vec::new();
        for x in &a.0 {
            for y in &b.0 {
                self.fuel.spend(20).ok()?;
                let from = match self.order(&x.from.at, &y.from.at)? {
                    Ordering::Greater => x.from.clone(),
                    Ordering::Less => y.from.clone(),
                    Ordering::Equal => End { at: x.from.at.clone(), closed: x.from.closed && y.from.closed },
                };
                let to = match self.order(&x.to.at, &y.to.at)? {
                    Ordering::Less => x.to.clone(),
                    Ordering::Greater => y.to.clone(),
                    Ordering::Equal => End { at: x.to.at.clone(), closed: x.to.closed && y.to.closed },
                };
                match self.order(&from.at, &to.at)? {
                    Ordering::Less => out.push(Piece { from, to }),
                    Ordering::Equal if from.closed && to.closed => out.push(Piece { from, to }),
                    _ => {}
                }
            }
        }
        self.joined(out)
    }

    fn complement(self, region: &Region) -> Option<Region> {
        let mut out = Vec::new();
        let mut from = End { at: infinity(true), closed: false };
        for piece in &region.0 {
            let to =
                End { at: piece.from.at.clone(), closed: !piece.from.closed && !is_infinite(&piece.from.at) };
            if !is_infinite(&piece.from.at) {
                out.push(Piece { from, to });
            }
            from = End { at: piece.to.at.clone(), closed: !piece.to.closed && !is_infinite(&piece.to.at) };
        }
        if !is_infinite(&from.at) || region.0.is_empty() {
            out.push(Piece { from, to: End { at: infinity(false), closed: false } });
        }
        self.joined(out)
    }

    /// The numbers for which a relation in one name holds.
    fn solved(self, relation: &Relation, name: &mut Option<Symbol>) -> Option<Region> {
        if let [RelationOp::In | RelationOp::NotIn] = relation.signs.as_slice() {
            let known = relation.sides[0].as_name()?;
            speaks_of(name, &known)?;
            let set = self.region(&relation.sides[1], name)?;
            return if relation.signs[0] == RelationOp::In { Some(set) } else { self.complement(&set) };
        }
        let mut total = Region(vec![all()]);
        for (at, sign) in relation.signs.iter().enumerate() {
            let (Answer::Value(left), Answer::Value(right)) = (&relation.sides[at], &relation.sides[at + 1])
            else {
                return None;
            };
            let step = self.step(left, *sign, right, name)?;
            total = self.cut(&total, &step)?;
        }
        Some(total)
    }

    /// One inequality in one name.
    fn step(self, left: &Expr, sign: RelationOp, right: &Expr, name: &mut Option<Symbol>) -> Option<Region> {
        let names = names_of(left, right);
        let [variable] = names.as_slice() else { return None };
        speaks_of(name, variable)?;
        let alone = |expr: &Expr| matches!(expr, Expr::Symbol(known) if known == variable);
        if alone(left) && !right.has_symbol(variable) {
            return self.ray(sign, right);
        }
        if alone(right) && !left.has_symbol(variable) {
            return self.ray(sign.flipped(), left);
        }
        // |linear| against a number.
        for (absolute, bound, sign) in [(left, right, sign), (right, left, sign.flipped())] {
            if let Expr::Call(Function::Abs, inside) = absolute
                && !bound.has_symbol(variable)
            {
                let below =
                    self.polynomial(&inside[0], sign.flipped(), &bound.clone().negated(), variable)?;
                let above = self.polynomial(&inside[0], sign, bound, variable)?;
                return match sign {
                    RelationOp::Less | RelationOp::LessEqual => self.cut(&below, &above),
                    RelationOp::Greater | RelationOp::GreaterEqual | RelationOp::Equal => {
                        self.joined(below.0.into_iter().chain(above.0).collect())
                    }
                    _ => None,
                };
            }
        }
        self.polynomial(left, sign, right, variable)
    }

    /// `left sign right` where the difference is a polynomial of degree one or two with rational coefficients.
    fn polynomial(self, left: &Expr, sign: RelationOp, right: &Expr, variable: &Symbol) -> Option<Region> {
        let coefficients = polynomial::coefficients(&left.clone().minus(right.clone()), variable)?;
        match coefficients.as_slice() {
            [constant, slope] => {
                let root = Expr::Number(-constant.clone() / slope);
                let sign = if *slope < Rational::ZERO { sign.flipped() } else { sign };
                self.ray(sign, &root)
            }
            [c, b, a] => {
                // With a leading coefficient of 1: x² + bx + c.
                let sign = if *a < Rational::ZERO { sign.flipped() } else { sign };
                let (b, c) = (b / a, c / a);
                let half = -b / Rational::from(2_u8);
                let discriminant = &half * &half - c;
                if discriminant < Rational::ZERO {
                    return match sign {
                        RelationOp::Greater | RelationOp::GreaterEqual | RelationOp::NotEqual => {
                            Some(Region(vec![all()]))
                        }
                        RelationOp::Less | RelationOp::LessEqual | RelationOp::Equal => {
                            Some(Region::default())
                        }
                        _ => None,
                    };
                }
                let width = Expr::Number(discriminant.clone()).root(Expr::int(2));
                let middle = Expr::Number(half);
                let root = |side: Expr| {
                    if discriminant.is_zero() { middle.clone() } else { middle.clone().plus(side) }
                };
                let (low, high) = (root(width.clone().negated()), root(width));
                let closed = sign.includes_equal();
                match sign {
                    RelationOp::Less | RelationOp::LessEqual => self.piece(&low, closed, &high, closed),
                    RelationOp::Greater | RelationOp::GreaterEqual => {
                        let below =
                            self.ray(if closed { RelationOp::LessEqual } else { RelationOp::Less }, &low)?;
                        let above = self.ray(
                            if closed { RelationOp::GreaterEqual } else { RelationOp::Greater },
                            &high,
                        )?;
                        self.joined(below.0.into_iter().chain(above.0).collect())
                    }
                    RelationOp::Equal => self.points(&[Answer::Value(low), Answer::Value(high)]),
                    RelationOp::NotEqual => {
                        self.complement(&self.points(&[Answer::Value(low), Answer::Value(high)])?)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// All numbers that stand so to a bound.
    fn ray(self, sign: RelationOp, bound: &Expr) -> Option<Region> {
        let closed = sign.includes_equal();
        match sign {
            RelationOp::Greater | RelationOp::GreaterEqual => {
                self.piece(bound, closed, &infinity(false), false)
            }
            RelationOp::Less | RelationOp::LessEqual => self.piece(&infinity(true), false, bound, closed),
            RelationOp::Equal => self.points(&[Answer::Value(bound.clone())]),
            RelationOp::NotEqual => self.complement(&self.points(&[Answer::Value(bound.clone())])?),
            _ => None,
        }
    }
}

/// Notes of which name a statement speaks; `None` where it speaks of another.
fn speaks_of(name: &mut Option<Symbol>, of: &Symbol) -> Option<()> {
    match name {
        Some(known) if known != of => None,
        _ => {
            *name = Some(of.clone());
            Some(())
        }
    }
}

/// Whether an answer is made of inequalities.
fn is_inequality(answer: &Answer) -> bool {
    match answer {
        Answer::Relation(relation) => relation.signs.iter().all(|sign| sign.is_order()),
        Answer::Any(parts) | Answer::All(parts) | Answer::Bare(parts) => parts.iter().all(is_inequality),
        _ => false,
    }
}

/// Whether an answer is one inequality in one name that is not solved here: of quotients, roots and functions.
fn is_transcendental(answer: &Answer) -> bool {
    let Answer::Relation(relation) = answer else { return false };
    let hard = |part: &Expr| match part {
        Expr::Call(..) => !super::value::is_closed(part),
        Expr::Power(base, exponent) => {
            let whole =
                matches!(&**exponent, Expr::Number(power) if power.is_int() && *power > Rational::ZERO);
            !whole && !super::value::is_closed(base)
        }
        _ => false,
    };
    relation.free_symbols().len() == 1
        && relation.signs.len() == 1
        && relation.sides.iter().any(|side| matches!(side, Answer::Value(value) if value.any(&hard)))
}

/// Whether an answer is a set of numbers by its notation alone.
fn is_surely_set(answer: &Answer) -> bool {
    match answer {
        Answer::Interval(_)
        | Answer::Union(_)
        | Answer::Intersection(_)
        | Answer::Minus(..)
        | Answer::Where(..)
        | Answer::Numbers(_) => true,
        Answer::Relation(relation) => {
            relation.signs.iter().all(|sign| sign.is_order() || *sign == RelationOp::NotEqual)
                || matches!(relation.signs.as_slice(), [RelationOp::In | RelationOp::NotIn])
                    && is_surely_set(&relation.sides[1])
        }
        Answer::Any(parts) | Answer::All(parts) | Answer::Bare(parts) => {
            !parts.is_empty() && parts.iter().all(is_surely_set)
        }
        // An end at infinity makes an interval of a pair.
        Answer::Tuple(ends) | Answer::List(ends) => {
            matches!(ends.as_slice(), [Answer::Value(from), Answer::Value(to)] if is_infinite(from) || is_infinite(to))
        }
        _ => false,
    }
}

fn infinity(negative: bool) -> Expr {
    let infinity = Expr::Constant(Constant::Infinity);
    if negative { infinity.negated() } else { infinity }
}

fn is_infinite(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(Constant::Infinity) => true,
        Expr::Product(parts) => parts.len() == 2 && is_infinite(&parts[1]),
        _ => false,
    }
}

fn all() -> Piece {
    Piece { from: End { at: infinity(true), closed: false }, to: End { at: infinity(false), closed: false } }
}
