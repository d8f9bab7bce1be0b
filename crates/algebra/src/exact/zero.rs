//! Zero tests of canonical forms.

use std::collections::BTreeMap;

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Kernel, Kind, UNIT},
    poly::{Id, Mono, Poly},
};
use crate::expr::Rational;

/// The result of a zero test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZeroTest {
    Zero,
    NonZero,
    Unknown,
}

impl Field<'_> {
    /// Decides whether a form is zero.
    pub(super) fn decide(&mut self, p: &Poly) -> Res<ZeroTest> {
        if p.is_empty() {
            return Ok(ZeroTest::Zero);
        }
        if p.as_rational().is_some() {
            return Ok(ZeroTest::NonZero);
        }
        self.fuel.spend(4 * p.len() as u64)?;
        match self.flat(p) {
            Err(FormError::Large) => Ok(ZeroTest::Unknown),
            Err(stop) => Err(stop),
            Ok((p, _)) if p.is_empty() => Ok(ZeroTest::Zero),
            Ok((p, basis)) => {
                if self.non_zero(&p, basis) {
                    Ok(ZeroTest::NonZero)
                } else {
                    self.by_conjugates(&p)
                }
            }
        }
    }

    /// Without common factors and denominators, and expanded; zero stays zero and
    /// non-zero stays non-zero. The flag tells that roots of unity are in terms of a basis.
    pub(super) fn flat(&mut self, p: &Poly) -> Res<(Poly, bool)> {
        let mut current = p.clone();
        for _ in 0..4 {
            let without_least_powers = self.without_least_powers(&current)?;
            let next = self.expanded(&without_least_powers)?;
            if next == current {
                break;
            }
            current = next;
        }
        self.cyclotomic(&current)
    }

    /// Multiplied with kernel powers so that the least whole exponent of every base is zero.
    fn without_least_powers(&self, p: &Poly) -> Res<Poly> {
        let least = self.least_powers(p, |kernel| matches!(kernel, Kernel::Base(_) | Kernel::Prime(..)));
        if least.is_one() {
            return Ok(p.clone());
        }
        self.mul(p, &Poly::term(least.inverse()?, Rational::ONE))
    }

    /// A proof that a flat form is not zero: some coefficient, over free and transcendental kernels, is a
    /// non-zero combination of a basis, and no other kernel could cancel it.
    fn non_zero(&self, p: &Poly, basis: bool) -> bool {
        let kernels = p.kernels();
        let kinds: BTreeMap<Id, Kind> =
            kernels.iter().map(|id| (*id, self.table.properties(*id).kind)).collect();
        let transcendental = kinds.values().filter(|kind| **kind == Kind::Transcendental).count();
        if transcendental > 1 || kinds.values().any(|kind| *kind == Kind::Other) {
            return false;
        }
        let free = |kind: Option<&Kind>| matches!(kind, Some(Kind::Free | Kind::Transcendental));
        let mut groups: BTreeMap<Mono, Vec<&Mono>> = BTreeMap::new();
        for (mono, _) in &p.0 {
            let key = Mono(mono.0.iter().filter(|(id, _)| free(kinds.get(id))).copied().collect());
            groups.entry(key).or_default().push(mono);
        }
        groups.values().any(|monos| {
            let roots = || monos.iter().flat_map(|m| m.0.iter().filter(|(id, _)| !free(kinds.get(id))));
            let known = roots().all(|(id, _)| kinds.get(id) == Some(&Kind::Root));
            let real = roots().all(|(id, _)| *id != UNIT);
            let square = roots().all(|(id, e)| *id == UNIT || e.den() == 2);
            let proper = roots().all(|(_, e)| *e >= Q::ZERO && *e < Q::ONE);
            // Real roots of primes are independent over the rationals; with roots of unity, square roots are.
            let positive_power = monos.len() == 1 && known;
            positive_power || (known && proper && basis && (real || square))
        })
    }
}
