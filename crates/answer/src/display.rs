//! `Display` for answers.

use crate::answer::{Answer, Numbers};
use aske_algebra::expr::display::Joined;
use aske_algebra::expr::{Expr, Rational};
use std::fmt::{self, Display, Formatter};

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

impl Answer {
    /// The kind of answer, for display.
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
