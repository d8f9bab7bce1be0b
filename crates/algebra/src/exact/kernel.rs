//! Kernels: the generators that canonical forms are polynomials in, numbered per call.

use std::collections::BTreeMap;

use dashu_int::UBig;

use super::poly::{Id, Mono, Poly};
use crate::expr::{Expr, Function, Side, Symbol};

/// A generator of the polynomials; equal kernels get the same number in a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kernel {
    /// e^{iπ}: its exponent r stands for the root of unity e^{iπr}, kept in [0, 1).
    Unit,
    Pi,
    EulerGamma,
    Infinity,
    /// A variable.
    Symbol(Symbol),
    /// The bound variable of the operator at this depth.
    Bound(u32),
    /// An integer above one under a root, a prime where trial division could tell; true when proved prime.
    Prime(UBig, bool),
    /// e to a monomial; the rational factor of the exponent is the kernel's own exponent.
    Exp(Mono),
    /// The natural logarithm.
    Ln(Poly),
    /// The absolute value of a real argument.
    Abs(Poly),
    /// A primitive polynomial under a root, in a denominator, or in a power too large to expand.
    Base(Poly),
    /// A power with an unknown exponent.
    Power(Poly, Poly),
    /// A known function of normalised arguments.
    Call(Function, Vec<Poly>),
    /// An unknown function of normalised arguments.
    Apply(Symbol, Vec<Poly>),
    /// A sum, product, integral or limit: which, its bounds, and its body in a `Bound` kernel.
    Bind(Binder, Vec<Poly>, Poly),
    /// An expression that is not analysed: equal only to the same expression.
    Opaque(Expr),
}

impl Kernel {
    /// The polynomials it is made of.
    fn parts(&self) -> impl Iterator<Item = &Poly> {
        let (one, other, list): (_, _, &[Poly]) = match self {
            Self::Ln(p) | Self::Abs(p) | Self::Base(p) => (Some(p), None, &[]),
            Self::Power(a, b) => (Some(a), Some(b), &[]),
            Self::Call(_, args) | Self::Apply(_, args) => (None, None, args),
            Self::Bind(_, bounds, body) => (Some(body), None, bounds),
            _ => (None, None, &[]),
        };
        one.into_iter().chain(other).chain(list)
    }

    /// How many terms it holds, each word of a coefficient counted as one.
    pub(super) fn terms(&self) -> u64 {
        self.parts().map(|p| p.len() as u64 + p.words()).sum::<u64>().max(1)
    }
}

/// The operators that can stay unevaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binder {
    Sum,
    Product,
    Integral,
    Antiderivative,
    /// From this side, or from both.
    Limit(Option<Side>),
}

/// The number of `Kernel::Unit` in every table.
pub(super) const UNIT: Id = 0;
/// The number of `Kernel::Pi` in every table.
pub(super) const PI: Id = 1;

/// All kernels of one call.
#[derive(Clone, Debug)]
pub(super) struct Table {
    kernels: Vec<Kernel>,
    index: BTreeMap<Kernel, Id>,
    properties: Vec<KernelProperties>,
}

/// The properties of a kernel, computed once when it is interned, since kernels contain kernels.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelProperties {
    /// Powers reduce on multiplication: roots of unity and of numbers.
    pub(super) reduces: bool,
    /// Real wherever defined. The letters z and w may be complex.
    pub(super) real: bool,
    /// The depths of the bound variables inside, as bits; all bits for depths beyond.
    pub(super) bound: u64,
    /// A rational function of bound variables alone.
    pub(super) rational: bool,
    pub(super) kind: Kind,
}

/// The kind of a kernel, for proofs that a form is not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A root of unity or of a prime: part of a basis over the rationals.
    Root,
    /// Algebraic, with nothing else known.
    Algebraic,
    /// A variable.
    Free,
    /// π or a power of e: free as long as only one of them occurs.
    Transcendental,
    Other,
}

impl Table {
    pub(super) fn new() -> Self {
        let mut table = Self { kernels: Vec::new(), index: BTreeMap::new(), properties: Vec::new() };
        table.intern(Kernel::Unit);
        table.intern(Kernel::Pi);
        table
    }

    pub(super) fn intern(&mut self, kernel: Kernel) -> Id {
        if let Some(id) = self.index.get(&kernel) {
            return *id;
        }
        let id = Id::try_from(self.kernels.len()).unwrap_or(Id::MAX);
        let properties = self.properties_of(&kernel);
        self.properties.push(properties);
        self.index.insert(kernel.clone(), id);
        self.kernels.push(kernel);
        id
    }

    pub(super) fn get(&self, id: Id) -> &Kernel {
        // Ids come from `intern` alone, so the fallback is never used.
        self.kernels.get(id as usize).unwrap_or(&Kernel::Unit)
    }

    pub(super) fn len(&self) -> usize {
        self.kernels.len()
    }

    pub(super) fn properties(&self, id: Id) -> KernelProperties {
        const NONE: KernelProperties = KernelProperties {
            reduces: false,
            real: false,
            bound: u64::MAX,
            rational: false,
            kind: Kind::Other,
        };
        self.properties.get(id as usize).copied().unwrap_or(NONE)
    }

    pub(super) fn reduces(&self, id: Id) -> bool {
        self.properties(id).reduces
    }

    fn properties_of(&self, kernel: &Kernel) -> KernelProperties {
        KernelProperties {
            reduces: matches!(kernel, Kernel::Unit | Kernel::Prime(..)),
            real: self.is_real(kernel),
            bound: self.bound_in(kernel),
            rational: match kernel {
                Kernel::Bound(_) => true,
                Kernel::Base(inner) => self.rational(inner),
                _ => false,
            },
            kind: self.kind_of(kernel),
        }
    }

    fn is_real(&self, kernel: &Kernel) -> bool {
        match kernel {
            Kernel::Pi
            | Kernel::EulerGamma
            | Kernel::Prime(..)
            | Kernel::Abs(_)
            | Kernel::Bound(_)
            | Kernel::Call(Function::Re | Function::Im | Function::Arg | Function::Abs, _) => true,
            Kernel::Symbol(name) => !matches!(name.as_str(), "z" | "w" | "\\omega" | "omega" | "ω"),
            Kernel::Exp(mono) => self.real_mono(mono),
            Kernel::Ln(_) | Kernel::Base(_) | Kernel::Call(..) | Kernel::Bind(..) => {
                kernel.parts().all(|p| self.real(p))
            }
            Kernel::Unit | Kernel::Infinity | Kernel::Power(..) | Kernel::Apply(..) | Kernel::Opaque(_) => {
                false
            }
        }
    }

    pub(super) fn real_mono(&self, mono: &Mono) -> bool {
        mono.0.iter().all(|(id, _)| self.properties(*id).real)
    }

    pub(super) fn real(&self, p: &Poly) -> bool {
        p.0.iter().all(|(m, _)| self.real_mono(m))
    }

    fn bound_in(&self, kernel: &Kernel) -> u64 {
        match kernel {
            Kernel::Bound(depth) => 1u64.checked_shl(*depth).unwrap_or(u64::MAX),
            Kernel::Exp(mono) => self.bound_mono(mono),
            _ => kernel.parts().fold(0, |all, p| all | self.bound(p)),
        }
    }

    pub(super) fn bound_mono(&self, mono: &Mono) -> u64 {
        mono.0.iter().fold(0, |all, (id, _)| all | self.properties(*id).bound)
    }

    /// The bound variables a form mentions, at any depth.
    pub(super) fn bound(&self, p: &Poly) -> u64 {
        p.0.iter().fold(0, |all, (m, _)| all | self.bound_mono(m))
    }

    fn rational(&self, p: &Poly) -> bool {
        p.0.iter().all(|(m, _)| m.0.iter().all(|(id, e)| e.is_int() && self.properties(*id).rational))
    }

    fn kind_of(&self, kernel: &Kernel) -> Kind {
        let algebraic = |p: &Poly| {
            p.kernels().iter().all(|id| matches!(self.properties(*id).kind, Kind::Root | Kind::Algebraic))
        };
        match kernel {
            Kernel::Unit | Kernel::Prime(_, true) => Kind::Root,
            Kernel::Prime(_, false) => Kind::Algebraic,
            Kernel::Symbol(_) => Kind::Free,
            Kernel::Pi => Kind::Transcendental,
            Kernel::Exp(mono) if mono.is_one() => Kind::Transcendental,
            Kernel::Base(p) if algebraic(p) => Kind::Algebraic,
            Kernel::Call(function, args) if rational_call(*function, args) => Kind::Algebraic,
            Kernel::Bind(Binder::Sum | Binder::Product, bounds, body)
                if bounds.iter().all(|b| b.as_rational().is_some()) && self.rational(body) =>
            {
                Kind::Algebraic
            }
            _ => Kind::Other,
        }
    }
}

/// A function that takes rational numbers to rational numbers.
fn rational_call(function: Function, args: &[Poly]) -> bool {
    use Function::{Abs, Binomial, Ceil, DoubleFactorial, Factorial, Floor, Gcd, Lcm, Max, Min, Mod, Sign};
    let whole = || args.iter().all(|a| a.as_rational().is_some_and(|v| v.is_int()));
    match function {
        Abs | Sign | Floor | Ceil | Max | Min | Mod => args.iter().all(|a| a.as_rational().is_some()),
        Factorial | DoubleFactorial | Binomial | Gcd | Lcm => whole(),
        _ => false,
    }
}
