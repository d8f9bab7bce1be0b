//! `Display` for expressions.

use super::{Constant, Expr, Function, Over, Rational};
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
                write!(f, "{}({})", function.name(), Joined(parts))
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

/// The items of a list with commas between them.
pub struct Joined<'a, T>(pub &'a [T]);

impl<T: Display> Display for Joined<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, part) in self.0.iter().enumerate() {
            write!(f, "{}{part}", if at > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}
