//! Zero tests across one square root: A + B√N is zero when A² = B²N and the other sign is ruled out.

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::Kernel,
    poly::{Id, Poly},
    zero::ZeroTest,
};

impl Field<'_> {
    /// Decides a flat form with nested square roots by its conjugates.
    pub(super) fn by_conjugates(&mut self, p: &Poly) -> Res<ZeroTest> {
        if self.depth > 200 || p.len() > 60 {
            return Ok(ZeroTest::Unknown);
        }
        let Some(id) = self.nested_root(p) else { return Ok(ZeroTest::Unknown) };
        let Kernel::Base(radicand) = self.table.get(id).clone() else { return Ok(ZeroTest::Unknown) };
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
            Err(FormError::Large) => return Ok(ZeroTest::Unknown),
            other => other?,
        };
        // Every round removes one root; the depth counter bounds the rounds.
        self.depth += 40;
        let answer = self.decide(&norm);
        self.depth -= 40;
        match answer? {
            ZeroTest::Zero => {
                let other = self.difference(&a, &self.mul(&b, &Poly::kernel(id, Q::HALF))?)?;
                let apart = self.region(&other).is_some_and(|region| region.excludes_zero());
                Ok(if apart { ZeroTest::Zero } else { ZeroTest::Unknown })
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
