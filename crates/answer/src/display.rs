//! Expressions and answers written out for people.

use crate::answer::{Answer, Numbers, Sign};
use crate::tree::{Constant, Expr, Function, Over, Rational};
use std::fmt::{self, Display, Formatter};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(value) | Self::Decimal(value) => write!(f, "{value}"),
            Self::Constant(constant) => f.write_str(match constant {
                Constant::Pi => "π",
                Constant::E => "e",
                Constant::I => "i",
                Constant::Infinity => "∞",
                Constant::EulerGamma => "γ",
            }),
            Self::Symbol(name) => f.write_str(name),
            Self::Sum(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    match negative(part) {
                        Some(positive) if at > 0 => write!(f, " - {}", Bracketed(&positive, 2))?,
                        _ if at > 0 => write!(f, " + {part}")?,
                        _ => write!(f, "{part}")?,
                    }
                }
                Ok(())
            }
            Self::Product(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    if let (0, Self::Number(value), true) = (at, part, parts.len() > 1)
                        && *value == -Rational::ONE
                    {
                        f.write_str("-")?;
                        continue;
                    }
                    let first = at == 0 || (at == 1 && parts[0] == Self::int(-1));
                    match part {
                        Self::Power(base, exponent) if **exponent == Self::int(-1) => {
                            write!(f, "{}/{}", if first { "1" } else { "" }, Bracketed(base, 3))?;
                        }
                        _ => write!(f, "{}{}", if first { "" } else { "·" }, Bracketed(part, 2))?,
                    }
                }
                Ok(())
            }
            Self::Power(base, exponent) => match &**exponent {
                Self::Number(half) if *half == Rational::from_parts(1.into(), 2_u8.into()) => {
                    write!(f, "√{}", Bracketed(base, 4))
                }
                _ => write!(f, "{}^{}", Bracketed(base, 4), Bracketed(exponent, 4)),
            },
            Self::Call(Function::Abs, parts) if parts.len() == 1 => write!(f, "|{}|", parts[0]),
            Self::Call(Function::Factorial, parts) if parts.len() == 1 => {
                write!(f, "{}!", Bracketed(&parts[0], 4))
            }
            Self::Call(function, parts) => {
                write!(f, "{}({})", format!("{function:?}").to_lowercase(), Joined(parts))
            }
            Self::Apply(name, parts) => write!(f, "{name}({})", Joined(parts)),
            Self::Bind(bind) => {
                let (variable, body) = (&bind.variable, &bind.body);
                match &bind.over {
                    Over::Sum(a, b) => write!(f, "sum({variable} from {a} to {b}: {body})"),
                    Over::Product(a, b) => write!(f, "product({variable} from {a} to {b}: {body})"),
                    Over::Integral(a, b) => write!(f, "integral({variable} from {a} to {b}: {body})"),
                    Over::Antiderivative => write!(f, "integral({variable}: {body})"),
                    Over::Limit(to, _) => write!(f, "limit({variable} to {to}: {body})"),
                    Over::Derivative(order) => write!(f, "derivative({variable}, {order}: {body})"),
                }
            }
        }
    }
}

/// The part without its minus sign, where it has one.
fn negative(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Number(value) if *value < Rational::ZERO => Some(Expr::Number(-value.clone())),
        Expr::Product(parts) if parts.first() == Some(&Expr::int(-1)) => match &parts[1..] {
            [one] => Some(one.clone()),
            rest => Some(Expr::Product(rest.to_vec())),
        },
        _ => None,
    }
}

/// An expression in brackets where it binds less than its surroundings.
struct Bracketed<'a>(&'a Expr, u8);

impl Display for Bracketed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let binds = match self.0 {
            Expr::Sum(_) => 1,
            Expr::Product(_) => 2,
            Expr::Number(value) | Expr::Decimal(value) if *value < Rational::ZERO => 1,
            Expr::Number(value) | Expr::Decimal(value) if !value.is_int() => 2,
            Expr::Power(..) => 3,
            _ => 5,
        };
        if binds < self.1 { write!(f, "({})", self.0) } else { write!(f, "{}", self.0) }
    }
}

struct Joined<'a, T>(&'a [T]);

impl<T: Display> Display for Joined<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            write!(f, "{}{part}", if at > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl Display for Numbers {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reals => "ℝ",
            Self::Integers => "ℤ",
            Self::Naturals => "ℕ",
            Self::FromZero => "ℕ₀",
            Self::Positive => "ℤ⁺",
            Self::Rationals => "ℚ",
            Self::Complexes => "ℂ",
        })
    }
}

impl Display for Sign {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::Near => "≈",
            Self::Unequal => "≠",
            Self::Less => "<",
            Self::AtMost => "≤",
            Self::More => ">",
            Self::AtLeast => "≥",
            Self::In => "∈",
            Self::NotIn => "∉",
        })
    }
}

impl Answer {
    /// The kind of answer, for people.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Value(Expr::Number(_) | Expr::Decimal(_)) => "number",
            Self::Value(_) => "expression",
            Self::Percent(_) => "percent",
            Self::Quantity(..) => "quantity",
            Self::Ratio(_, _) => "ratio",
            Self::Tuple(_) => "tuple",
            Self::List(_) => "list",
            Self::Bare(_) => "comma list",
            Self::Set(_) => "set",
            Self::Interval(_) => "interval",
            Self::Union(_) | Self::Intersection(_) | Self::Minus(..) | Self::Where(..) | Self::Numbers(_) => {
                "set of numbers"
            }
            Self::Family(..) => "family",
            Self::Congruence(_) => "congruence",
            Self::Gloss(..) => "number with a gloss",
            Self::Date(_) => "date",
            Self::Cycles { .. } => "permutation",
            Self::Letters(_) => "letters",
            Self::Relation(_) => "relation",
            Self::Any(_) => "alternatives",
            Self::All(_) => "system",
            Self::Matrix(_) => "matrix",
            Self::Choice(..) => "choice",
            Self::Text(_) | Self::Opaque(_) => "text",
            Self::Dots => "dots",
        }
    }
}

impl Display for Answer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let between = |f: &mut Formatter<'_>, parts: &[Self], between: &str| {
            for (at, part) in parts.iter().enumerate() {
                write!(f, "{}{part}", if at > 0 { between } else { "" })?;
            }
            Ok(())
        };
        match self {
            Self::Value(expr) => write!(f, "{expr}"),
            Self::Percent(expr) => write!(f, "{expr}%"),
            Self::Quantity(expr, unit) => write!(f, "{expr} {unit}"),
            Self::Ratio(parts, clock) => match (parts.as_slice(), clock) {
                ([], Some(clock)) => write!(f, "{:02}:{:02}", clock.minutes / 60, clock.minutes % 60),
                (parts, _) => {
                    for (at, part) in parts.iter().enumerate() {
                        write!(f, "{}{part}", if at > 0 { " : " } else { "" })?;
                    }
                    Ok(())
                }
            },
            Self::Tuple(parts) => write!(f, "({})", Joined(parts)),
            Self::List(parts) => write!(f, "[{}]", Joined(parts)),
            Self::Bare(parts) => write!(f, "{}", Joined(parts)),
            Self::Set(parts) => write!(f, "{{{}}}", Joined(parts)),
            Self::Interval(i) => {
                let (open, close) =
                    (if i.from_closed { '[' } else { '(' }, if i.to_closed { ']' } else { ')' });
                write!(f, "{open}{}, {}{close}", i.from, i.to)
            }
            Self::Union(parts) => between(f, parts, " ∪ "),
            Self::Intersection(parts) => between(f, parts, " ∩ "),
            Self::Minus(from, without) => write!(f, "{from} ∖ {without}"),
            Self::Where(name, numbers, condition) => write!(f, "{{{name} in {numbers} with {condition}}}"),
            Self::Family(inner, letters) => {
                write!(f, "{inner}")?;
                letters.iter().try_for_each(|(name, numbers)| write!(f, " for {name} in {numbers}"))
            }
            Self::Numbers(numbers) => write!(f, "{numbers}"),
            Self::Gloss(number, gloss) => write!(f, "{number} ({gloss})"),
            Self::Congruence(congruence) => {
                if let Some(left) = &congruence.left {
                    write!(f, "{left} ≡ ")?;
                }
                write!(f, "{} (mod {})", Joined(&congruence.residues), congruence.modulus)
            }
            Self::Date(date) => {
                if let Some(year) = date.year {
                    write!(f, "{year}-")?;
                }
                write!(f, "{:02}-{:02}", date.month, date.day)
            }
            Self::Cycles { cycles, .. } => cycles.iter().try_for_each(|cycle| {
                let numbers: Vec<String> = cycle.iter().map(ToString::to_string).collect();
                write!(f, "({})", numbers.join(" "))
            }),
            Self::Letters(letters) => f.write_str(letters),
            Self::Opaque(opaque) => write!(f, "“{}”", opaque.spelling),
            Self::Relation(relation) => {
                for (at, side) in relation.sides.iter().enumerate() {
                    if at > 0 {
                        write!(f, " {} ", relation.signs[at - 1])?;
                    }
                    write!(f, "{side}")?;
                }
                Ok(())
            }
            Self::Any(parts) => between(f, parts, " or "),
            Self::All(parts) => between(f, parts, " and "),
            Self::Matrix(rows) => {
                f.write_str("[")?;
                for (at, row) in rows.iter().enumerate() {
                    write!(f, "{}{}", if at > 0 { "; " } else { "" }, Joined(row))?;
                }
                f.write_str("]")
            }
            Self::Choice(letter, None) => write!(f, "option {letter}"),
            Self::Choice(letter, Some(beside)) => write!(f, "option {letter} ({beside})"),
            Self::Text(text) => write!(f, "“{text}”"),
            Self::Dots => f.write_str("…"),
        }
    }
}

impl Display for crate::units::Unit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.factor != Rational::ONE {
            write!(f, "× {} ", self.factor)?;
        }
        for (at, (name, exponent)) in self.bases.iter().enumerate() {
            write!(f, "{}{name}", if at > 0 { "·" } else { "" })?;
            if *exponent != 1 {
                write!(f, "^{exponent}")?;
            }
        }
        Ok(())
    }
}
