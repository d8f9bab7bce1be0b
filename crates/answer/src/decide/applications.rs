//! Unknown functions: `f(x)` is what it is, and no more is known of it.

use super::judge::Judge;
use super::truth::Truth;
use aske_algebra::expr::{Expr, Symbol};
use smol_str::SmolStr;
use std::borrow::Cow;

/// Applications that two expressions may have.
const MAX_APPLICATIONS: usize = 64;

/// The applications met so far, each with the variable that stands for it.
#[derive(Default)]
struct Known {
    applications: Vec<(Symbol, Vec<Expr>)>,
    /// Whether two arguments could not be told apart or proved the same.
    unclear: bool,
}

impl Judge<'_> {
    /// Both expressions with a variable for every application of an unknown function: one variable for all with the same
    /// arguments. Nothing where it is not known whether arguments are the same.
    pub(crate) fn without_applications<'a>(
        self,
        a: &'a Expr,
        b: &'a Expr,
    ) -> Option<(Cow<'a, Expr>, Cow<'a, Expr>)> {
        let applies = |expr: &Expr| expr.any(&|part| matches!(part, Expr::Apply(..)));
        if !applies(a) && !applies(b) {
            return Some((Cow::Borrowed(a), Cow::Borrowed(b)));
        }
        let mut known = Known::default();
        let (a, b) = (self.replaced(a, &mut known), self.replaced(b, &mut known));
        (!known.unclear).then(|| (Cow::Owned(a), Cow::Owned(b)))
    }

    fn replaced(self, expr: &Expr, known: &mut Known) -> Expr {
        let all = |parts: &[Expr], known: &mut Known| {
            parts.iter().map(|part| self.replaced(part, known)).collect::<Vec<_>>()
        };
        match expr {
            Expr::Apply(name, arguments) => {
                let arguments = all(arguments, known);
                let at = self.position(name, arguments, known);
                Expr::Symbol(SmolStr::new(format!("{name}(#{at})")))
            }
            Expr::Sum(parts) => Expr::Sum(all(parts, known)),
            Expr::Product(parts) => Expr::Product(all(parts, known)),
            Expr::Call(function, parts) => Expr::Call(*function, all(parts, known)),
            Expr::Power(base, exponent) => self.replaced(base, known).power(self.replaced(exponent, known)),
            other => other.clone(),
        }
    }

    /// Where an application stands among those that are known.
    fn position(self, name: &Symbol, arguments: Vec<Expr>, known: &mut Known) -> usize {
        for (at, (other, theirs)) in known.applications.iter().enumerate() {
            if other != name || theirs.len() != arguments.len() {
                continue;
            }
            let same = Truth::all(arguments.iter().zip(theirs).map(|(a, b)| self.same_value(a, b)));
            match same {
                Truth::Yes(_) => return at,
                Truth::No(_) => {}
                Truth::Open => known.unclear = true,
            }
        }
        known.applications.push((name.clone(), arguments));
        known.unclear |= known.applications.len() > MAX_APPLICATIONS;
        known.applications.len() - 1
    }
}
