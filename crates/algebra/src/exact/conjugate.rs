//! Zero tests across one square root: A + B√N is zero when A² = B²N and the other sign is ruled out.

use super::{
    exponent::Q,
    field::{Field, Res, Stop},
    kernel::Kernel,
    poly::{Id, Poly},
    zero::Answer,
};

impl Field<'_> {
    /// Decides a flat form with nested square roots by its conjugates.
    pub(super) fn by_conjugates(&mut self, p: &Poly) -> Res<Answer> {
        if self.depth > 200 || p.len() > 60 {
            return Ok(Answer::Unknown);
        }
        let Some(id) = self.nested_root(p) else { return Ok(Answer::Unknown) };
        let Kernel::Base(radicand) = self.table.get(id).clone() else { return Ok(Answer::Unknown) };
        self.fuel.spend(50)?;
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for (mono, value) in &p.0 {
            if mono.exponent(id).is_zero() {
                without.push((mono.clone(), value.clone()));
            } else {
                with.push((mono.without(id), value.clone()));
            }
        }
        let (a, b) = (Poly::collect(without), Poly::collect(with));
        let norm = (|| {
            let left = self.mul(&a, &a)?;
            let right = self.mul(&self.mul(&b, &b)?, &radicand)?;
            self.difference(&left, &right)
        })();
        let norm = match norm {
            Err(Stop::Large) => return Ok(Answer::Unknown),
            other => other?,
        };
        // Every round removes one root; the depth counter bounds the rounds.
        self.depth += 40;
        let answer = self.decide(&norm);
        self.depth -= 40;
        match answer? {
            Answer::Zero => {
                let other = self.difference(&a, &self.mul(&b, &Poly::kernel(id, Q::HALF))?)?;
                let apart = self.region(&other).is_some_and(|r| r.re.excludes_zero() || r.im.excludes_zero());
                Ok(if apart { Answer::Zero } else { Answer::Unknown })
            }
            other => Ok(other),
        }
    }

    /// The newest kernel that is a square root of a polynomial and occurs as nothing else.
    fn nested_root(&self, p: &Poly) -> Option<Id> {
        p.kernels().into_iter().rev().find(|id| {
            matches!(self.table.get(*id), Kernel::Base(_))
                && p.0.iter().all(|(m, _)| matches!(m.exponent(*id), Q::ZERO | Q::HALF))
        })
    }
}
