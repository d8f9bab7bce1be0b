//! Applications of unknown functions, replaced by variables.

use super::comparator::Comparator;
use super::truth::Truth;
use aske_algebra::expr::{Expr, Symbol};
use smol_str::SmolStr;
use std::borrow::Cow;

/// Applications that two expressions may have.
const MAX_APPLICATIONS: usize = 64;

/// The applications seen so far; each is replaced by a variable.
#[derive(Default)]
struct Applications {
    applications: Vec<(Symbol, Vec<Expr>)>,
    /// Whether two arguments could neither be distinguished nor proved equal.
    unclear: bool,
}

impl Comparator<'_> {
    /// Both expressions with a variable for every application of an unknown function: one variable for all with the same
    /// arguments. `None` where it is not seen whether arguments are the same.
    pub(crate) fn without_applications<'a>(
        self,
        a: &'a Expr,
        b: &'a Expr,
    ) -> Option<(Cow<'a, Expr>, Cow<'a, Expr>)> {
        let applies = |expr: &Expr| expr.any(&|part| matches!(part, Expr::Apply(..)));
        if !applies(a) && !applies(b) {
            return Some((Cow::Borrowed(a), Cow::Borrowed(b)));
        }
        let mut seen = Applications::default();
        let (a, b) = (self.replaced(a, &mut seen), self.replaced(b, &mut seen));
        (!seen.unclear).then(|| (Cow::Owned(a), Cow::Owned(b)))
    }

    fn replaced(self, expr: &Expr, seen: &mut Applications) -> Expr {
        let all = |parts: &[Expr], seen: &mut Applications| {
            parts.iter().map(|part| self.replaced(part, seen)).collect::<Vec<_>>()
        };
        match expr {
            Expr::Apply(name, arguments) => {
                let arguments = all(arguments, seen);
                let at = self.position(name, arguments, seen);
                Expr::Symbol(SmolStr::new(format!("{name}(#{at})")))
            }
            Expr::Sum(parts) => Expr::Sum(all(parts, seen)),
            Expr::Product(parts) => Expr::Product(all(parts, seen)),
            Expr::Call(function, parts) => Expr::Call(*function, all(parts, seen)),
            Expr::Power(base, exponent) => self.replaced(base, seen).power(self.replaced(exponent, seen)),
            other => other.clone(),
        }
    }

    /// Where an application stands among those that are seen.
    fn position(self, name: &Symbol, arguments: Vec<Expr>, seen: &mut Applications) -> usize {
        for (at, (other, theirs)) in seen.applications.iter().enumerate() {
            if other != name || theirs.len() != arguments.len() {
                continue;
            }
            let same = Truth::all(arguments.iter().zip(theirs).map(|(a, b)| self.same_value(a, b)));
            match same {
                Truth::Yes(_) => return at,
                Truth::No(_) => {}
                Truth::Unknown => seen.unclear = true,
            }
        }
        seen.applications.push((name.clone(), arguments));
        seen.unclear |= seen.applications.len() > MAX_APPLICATIONS;
        seen.applications.len() - 1
    }
}
