//! `Display` for canonical forms.

use std::fmt::{self, Write as _};

use super::{
    exponent::Q,
    kernel::{Binder, Kernel, Table, UNIT},
    poly::{Id, Mono, Poly},
};
use crate::expr::Rational;

/// The longest text one form is shown as; the rest is an ellipsis.
const LENGTH: usize = 2_000;

pub(super) fn poly(table: &Table, p: &Poly) -> String {
    let mut out = String::new();
    // Writing to a string does not fail; the limit is what ends it early.
    let _ = write_poly(&mut out, table, p);
    if out.len() > LENGTH {
        out.truncate((0..=LENGTH).rev().find(|at| out.is_char_boundary(*at)).unwrap_or(0));
        out.push('…');
    }
    out
}

fn write_poly(out: &mut String, table: &Table, p: &Poly) -> fmt::Result {
    if p.is_empty() {
        return out.write_char('0');
    }
    for (at, (mono, value)) in p.0.iter().enumerate() {
        if out.len() > LENGTH {
            return Ok(());
        }
        let negative = *value < Rational::ZERO;
        let size = if negative { -value.clone() } else { value.clone() };
        out.write_str(match (at, negative) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        })?;
        write_term(out, table, mono, &size)?;
    }
    Ok(())
}

fn write_term(out: &mut String, table: &Table, mono: &Mono, size: &Rational) -> fmt::Result {
    use dashu_int::ops::BitTest;
    let long = size.numerator().bit_len() + size.denominator().bit_len() > 4_000;
    let mut first = true;
    if !size.is_one() || mono.is_one() {
        if long {
            out.write_str("(a long number)")?;
        } else {
            write!(out, "{size}")?;
        }
        first = false;
    }
    for (id, exponent) in &mono.0 {
        if !first {
            out.write_char('*')?;
        }
        first = false;
        write_power(out, table, *id, *exponent)?;
    }
    Ok(())
}

fn write_power(out: &mut String, table: &Table, id: Id, exponent: Q) -> fmt::Result {
    if out.len() > LENGTH {
        return Ok(());
    }
    if id == UNIT {
        return if exponent == Q::HALF {
            out.write_char('i')
        } else {
            write!(out, "e^(iπ*{})", exponent.to_rational())
        };
    }
    if let Kernel::Exp(mono) = table.get(id) {
        out.write_str("e^(")?;
        write_term(out, table, mono, &exponent.to_rational())?;
        return out.write_char(')');
    }
    if exponent == Q::HALF {
        out.write_str("sqrt(")?;
        write_kernel(out, table, id)?;
        return out.write_char(')');
    }
    if matches!(table.get(id), Kernel::Base(_)) {
        out.write_char('(')?;
        write_kernel(out, table, id)?;
        out.write_char(')')?;
    } else {
        write_kernel(out, table, id)?;
    }
    match exponent {
        Q::ONE => Ok(()),
        e if e.is_int() && e.num() > 0 => write!(out, "^{}", e.num()),
        e => write!(out, "^({})", e.to_rational()),
    }
}

fn write_kernel(out: &mut String, table: &Table, id: Id) -> fmt::Result {
    if out.len() > LENGTH {
        return Ok(());
    }
    match table.get(id) {
        Kernel::Unit => out.write_str("e^(iπ)"),
        Kernel::Pi => out.write_char('π'),
        Kernel::EulerGamma => out.write_char('γ'),
        Kernel::Infinity => out.write_char('∞'),
        Kernel::Symbol(name) => out.write_str(name),
        Kernel::Bound(depth) => write!(out, "k{depth}"),
        Kernel::Prime(value, _) => write!(out, "{value}"),
        Kernel::Exp(_) => out.write_str("exp"),
        Kernel::Ln(p) => write_call(out, table, "ln", std::slice::from_ref(p)),
        Kernel::Abs(p) => write_call(out, table, "abs", std::slice::from_ref(p)),
        Kernel::Base(p) => write_poly(out, table, p),
        Kernel::Power(a, b) => write_call(out, table, "pow", &[a.clone(), b.clone()]),
        Kernel::Call(function, args) => write_call(out, table, function.name(), args),
        Kernel::Apply(name, args) => write_call(out, table, name, args),
        Kernel::Bind(binder, bounds, body) => {
            let name = match binder {
                Binder::Sum => "sum",
                Binder::Product => "product",
                Binder::Integral | Binder::Antiderivative => "integral",
                Binder::Limit(_) => "limit",
            };
            let args: Vec<Poly> = [body].into_iter().chain(bounds).cloned().collect();
            write_call(out, table, name, &args)
        }
        Kernel::Opaque(_) => out.write_str("(unevaluated)"),
    }
}

fn write_call(out: &mut String, table: &Table, name: &str, args: &[Poly]) -> fmt::Result {
    out.write_str(name)?;
    out.write_char('(')?;
    for (at, arg) in args.iter().enumerate() {
        if at > 0 {
            out.write_str(", ")?;
        }
        write_poly(out, table, arg)?;
    }
    out.write_char(')')
}
