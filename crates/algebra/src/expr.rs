//! The expression tree: built by the readers, evaluated by [`crate::approx`], put in canonical form by [`crate::exact`].

pub mod display;

use dashu_int::IBig;
use dashu_ratio::RBig;
use smol_str::SmolStr;

/// An exact rational number, always in lowest terms.
pub type Rational = RBig;

/// The name of a variable or of an unknown function.
pub type Symbol = SmolStr;

/// A mathematical expression.
///
/// Subtraction is a sum with a product by −1, division a product with a power of −1, a root a power with
/// a fraction, `\exp x` a power of e, and a logarithm to another base a quotient of natural ones.
/// A negative real base with a rational exponent of odd denominator means the real root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expr {
    /// An exact rational number.
    Number(Rational),
    /// A number written with a decimal point: its exact value.
    Decimal(Rational),
    /// π, e, i or infinity.
    Constant(Constant),
    /// A variable.
    Symbol(Symbol),
    /// The sum of all parts; never nested in another sum by the constructors.
    Sum(Vec<Expr>),
    /// The product of all parts.
    Product(Vec<Expr>),
    /// A base and its exponent.
    Power(Box<Expr>, Box<Expr>),
    /// A known function of its arguments.
    Call(Function, Vec<Expr>),
    /// A function that has only a name, as `f(x)`.
    Apply(Symbol, Vec<Expr>),
    /// A sum, product, integral, limit or derivative over a variable.
    Bind(Box<Bind>),
}

/// A constant with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constant {
    /// π.
    Pi,
    /// The base of the natural logarithm.
    E,
    /// The imaginary unit.
    I,
    /// Positive infinity.
    Infinity,
    /// Euler's constant γ (0.5772…), in math-verify's readings only.
    EulerGamma,
}

macro_rules! functions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A function whose meaning is known. One argument unless stated otherwise.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the names are the functions'")]
        pub enum Function { $($(#[$doc])* $variant,)* }

        impl Function {
            /// Its usual name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// The function of this name.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

functions! {
    Sin = "sin",
    Cos = "cos",
    Tan = "tan",
    Cot = "cot",
    Sec = "sec",
    Csc = "csc",
    Arcsin = "arcsin",
    Arccos = "arccos",
    Arctan = "arctan",
    Arccot = "arccot",
    Arcsec = "arcsec",
    Arccsc = "arccsc",
    Sinh = "sinh",
    Cosh = "cosh",
    Tanh = "tanh",
    Coth = "coth",
    Sech = "sech",
    Csch = "csch",
    Arsinh = "arsinh",
    Arcosh = "arcosh",
    Artanh = "artanh",
    /// The natural logarithm.
    Ln = "ln",
    Abs = "abs",
    Sign = "sign",
    Floor = "floor",
    Ceil = "ceil",
    /// Two arguments or more.
    Gcd = "gcd",
    /// Two arguments or more.
    Lcm = "lcm",
    /// One argument or more.
    Max = "max",
    /// One argument or more.
    Min = "min",
    Factorial = "factorial",
    DoubleFactorial = "doublefactorial",
    Gamma = "gamma",
    /// `n` choose `k`: two arguments.
    Binomial = "binomial",
    /// The remainder of the first by the second, with the sign of the second.
    Mod = "mod",
    Re = "re",
    Im = "im",
    Conjugate = "conjugate",
    Arg = "arg",
}

impl Function {
    /// The function that `f^{-1}` means, where that is not a power.
    pub fn inverse(self) -> Option<Self> {
        Some(match self {
            Self::Sin => Self::Arcsin,
            Self::Cos => Self::Arccos,
            Self::Tan => Self::Arctan,
            Self::Cot => Self::Arccot,
            Self::Sec => Self::Arcsec,
            Self::Csc => Self::Arccsc,
            Self::Sinh => Self::Arsinh,
            Self::Cosh => Self::Arcosh,
            Self::Tanh => Self::Artanh,
            _ => return None,
        })
    }
}

/// An operator with a bound variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bind {
    /// Which operator, and over what.
    pub over: Over,
    /// The bound variable.
    pub variable: Symbol,
    /// What is summed, integrated, …
    pub body: Expr,
}

/// What a bound variable ranges over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Over {
    /// All integers from the first to the second, added.
    Sum(Expr, Expr),
    /// All integers from the first to the second, multiplied.
    Product(Expr, Expr),
    /// The integral between two bounds.
    Integral(Expr, Expr),
    /// An integral without bounds.
    Antiderivative,
    /// The limit towards a point, from one side if given.
    Limit(Expr, Option<Side>),
    /// The derivative of this order.
    Derivative(u8),
}

impl Over {
    /// The bounds or the point.
    pub fn bounds_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Sum(a, b) | Self::Product(a, b) | Self::Integral(a, b) => vec![a, b],
            Self::Limit(a, _) => vec![a],
            Self::Antiderivative | Self::Derivative(_) => Vec::new(),
        }
    }

    /// The bounds or the point.
    pub fn bounds(&self) -> Vec<&Expr> {
        match self {
            Self::Sum(a, b) | Self::Product(a, b) | Self::Integral(a, b) => vec![a, b],
            Self::Limit(a, _) => vec![a],
            Self::Antiderivative | Self::Derivative(_) => Vec::new(),
        }
    }
}

/// The side a limit is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// From smaller values.
    Below,
    /// From larger values.
    Above,
}

impl Expr {
    /// An integer.
    pub fn int(value: i64) -> Self {
        Self::Number(RBig::from(value))
    }

    /// An integer of any size.
    pub fn integer(value: IBig) -> Self {
        Self::Number(RBig::from(value))
    }

    /// A variable.
    pub fn symbol(name: &str) -> Self {
        Self::Symbol(SmolStr::new(name))
    }

    /// The sum of two expressions, flat.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::Sum(join(self, other, |e| match e {
            Self::Sum(parts) => Ok(parts),
            other => Err(other),
        }))
    }

    /// The difference of two expressions.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.plus(other.negated())
    }

    /// The expression with its sign changed.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Number(value) => Self::Number(-value),
            Self::Decimal(value) => Self::Decimal(-value),
            other => Self::int(-1).times(other),
        }
    }

    /// The product of two expressions, flat.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self::Product(join(self, other, |e| match e {
            Self::Product(parts) => Ok(parts),
            other => Err(other),
        }))
    }

    /// One expression divided by another; two integers give an exact fraction.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        if let (Self::Number(a), Self::Number(b)) = (&self, &other)
            && !b.is_zero()
        {
            return Self::Number(a / b);
        }
        self.times(other.power(Self::int(-1)))
    }

    /// One expression to the power of another.
    #[must_use]
    pub fn power(self, exponent: Self) -> Self {
        Self::Power(Box::new(self), Box::new(exponent))
    }

    /// The root of a given degree.
    #[must_use]
    pub fn root(self, degree: Self) -> Self {
        self.power(Self::int(1).over(degree))
    }

    /// A known function of one argument.
    pub fn call(function: Function, argument: Self) -> Self {
        Self::Call(function, vec![argument])
    }

    /// The direct parts of the expression.
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Number(_) | Self::Decimal(_) | Self::Constant(_) | Self::Symbol(_) => Vec::new(),
            Self::Sum(parts) | Self::Product(parts) | Self::Call(_, parts) | Self::Apply(_, parts) => {
                parts.iter().collect()
            }
            Self::Power(base, exponent) => vec![base, exponent],
            Self::Bind(bind) => std::iter::once(&bind.body).chain(bind.over.bounds()).collect(),
        }
    }

    /// The number of nodes of the tree.
    pub fn size(&self) -> u64 {
        1 + self.children().into_iter().map(Self::size).sum::<u64>()
    }

    /// Whether this expression or any part of it passes a test.
    pub fn any(&self, pass: &impl Fn(&Self) -> bool) -> bool {
        pass(self)
            || match self {
                Self::Sum(parts) | Self::Product(parts) | Self::Call(_, parts) | Self::Apply(_, parts) => {
                    parts.iter().any(|part| part.any(pass))
                }
                Self::Power(base, exponent) => base.any(pass) || exponent.any(pass),
                _ => self.children().into_iter().any(|part| part.any(pass)),
            }
    }

    /// The expression with every part directly below it replaced.
    #[must_use]
    pub fn map(&self, mut replace: impl FnMut(&Self) -> Self) -> Self {
        let mut all = |parts: &[Self]| parts.iter().map(&mut replace).collect();
        match self {
            Self::Number(_) | Self::Decimal(_) | Self::Constant(_) | Self::Symbol(_) => self.clone(),
            Self::Sum(parts) => Self::Sum(all(parts)),
            Self::Product(parts) => Self::Product(all(parts)),
            Self::Call(function, parts) => Self::Call(*function, all(parts)),
            Self::Apply(name, parts) => Self::Apply(name.clone(), all(parts)),
            Self::Power(base, exponent) => {
                let base = replace(base);
                base.power(replace(exponent))
            }
            Self::Bind(bind) => {
                let mut bind = bind.clone();
                for part in bind.over.bounds_mut() {
                    *part = replace(part);
                }
                bind.body = replace(&bind.body);
                Self::Bind(bind)
            }
        }
    }

    /// Whether a number in it was written with a decimal point.
    pub fn has_decimal(&self) -> bool {
        self.any(&|part| matches!(part, Self::Decimal(_)))
    }

    /// Whether the imaginary unit occurs in it.
    pub fn has_i(&self) -> bool {
        self.any(&|part| matches!(part, Self::Constant(Constant::I)))
    }

    /// Whether a variable of this name occurs in it, bound or not.
    pub fn has_symbol(&self, name: &str) -> bool {
        self.any(&|part| matches!(part, Self::Symbol(known) if known == name))
    }
}

fn join(a: Expr, b: Expr, flat: impl Fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    let mut parts = flat(a).unwrap_or_else(|one| vec![one]);
    match flat(b) {
        Ok(more) => parts.extend(more),
        Err(one) => parts.push(one),
    }
    parts
}
