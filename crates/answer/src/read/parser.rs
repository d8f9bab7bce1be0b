//! Recursive-descent parser of expressions.

use super::notation::{Ambiguities, Notation};
use super::token::{Num, Tok, Token};
use aske_algebra::expr::{Constant, Expr, Function, Symbol};
use aske_algebra::fuel::{Fuel, OutOfFuel};
use smol_str::SmolStr;

/// Why tokens could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// A syntax error.
    Syntax,
    /// It is too deep or too long to be read within bounds.
    Bounds,
}

impl From<OutOfFuel> for ReadError {
    fn from(_: OutOfFuel) -> Self {
        Self::Bounds
    }
}

pub(crate) type Read<T> = Result<T, ReadError>;

/// Brackets inside brackets, beyond which nothing is read.
const MAX_DEPTH: u32 = 120;

/// Exponents, factorials and other marks behind one another.
const MAX_MARKS: u32 = 24;

/// The name under which `x^\circ` stands until it is known what the degrees are of.
pub(crate) const DEGREES: &str = "°";

/// What every part of the reader needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) notation: Notation,
    pub(crate) ambiguities: &'a Ambiguities,
    pub(crate) fuel: &'a Fuel,
}

/// Reads one expression out of tokens.
pub(crate) struct Parser<'a> {
    pub(crate) tokens: &'a [Token],
    pub(crate) at: usize,
    pub(crate) depth: u32,
    /// Variables bound by a sum or an integral around this place.
    pub(crate) bound: Vec<Symbol>,
    /// Absolute-value bars that are open.
    pub(crate) bars: u32,
    pub(crate) context: Context<'a>,
}

/// Reads all the tokens as one expression.
pub(crate) fn expression(tokens: &[Token], context: Context<'_>) -> Read<Expr> {
    let product = |t: &Token, behind_number: bool| match &t.tok {
        // A unit that does not stand behind a number is none.
        Tok::Word(word) => {
            super::words::is_product(word, t.spaced) || !behind_number && crate::units::is_abbreviation(word)
        }
        _ => false,
    };
    let named = |at: usize| match &tokens[at].tok {
        Tok::Text(word) => {
            super::words::is_function(word) && tokens.get(at + 1).is_some_and(|t| t.is_op('(') && !t.spaced)
        }
        _ => false,
    };
    if !tokens.iter().any(|t| matches!(t.tok, Tok::Word(_))) && !(0..tokens.len()).any(named) {
        return Parser::new(tokens, context).group_of(tokens);
    }
    // Letters run together are factors, each with its own exponent; before a bracket they may name a function.
    let mut letters = Vec::with_capacity(tokens.len() + 8);
    for (at, token) in tokens.iter().enumerate() {
        let bracket = tokens.get(at + 1).is_some_and(|t| (t.is_op('(') || t.is_op('[')) && !t.spaced);
        match &token.tok {
            Tok::Word(word) if bracket && super::words::is_function(word) => letters.push(token.clone()),
            Tok::Text(word) if named(at) => {
                letters.push(Token { tok: Tok::Word(word.clone()), spaced: token.spaced });
            }
            Tok::Word(word) if product(token, at > 0 && matches!(tokens[at - 1].tok, Tok::Num(_))) => {
                let factors = word.chars().enumerate();
                letters.extend(
                    factors.map(|(at, c)| Token { tok: Tok::Letter(c), spaced: token.spaced && at == 0 }),
                );
            }
            _ => letters.push(token.clone()),
        }
    }
    Parser::new(&letters, context).group_of(&letters)
}

impl<'a> Parser<'a> {
    pub(crate) fn new(tokens: &'a [Token], context: Context<'a>) -> Self {
        Self { tokens, at: 0, depth: 0, bound: Vec::new(), bars: 0, context }
    }

    /// A parser of some of the tokens, in the same surroundings.
    pub(crate) fn within(&self, tokens: &'a [Token]) -> Self {
        Self {
            tokens,
            at: 0,
            depth: self.depth + 1,
            bound: self.bound.clone(),
            bars: 0,
            context: self.context,
        }
    }

    /// One expression and nothing after it.
    pub(crate) fn whole(&mut self) -> Read<Expr> {
        let expr = self.sum()?;
        if self.at == self.tokens.len() { Ok(expr) } else { Err(ReadError::Syntax) }
    }

    pub(crate) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at)
    }

    pub(crate) fn next_is(&self, op: char) -> bool {
        self.peek().is_some_and(|t| t.is_op(op))
    }

    pub(crate) fn take(&mut self, op: char) -> bool {
        let taken = self.next_is(op);
        self.at += usize::from(taken);
        taken
    }

    pub(crate) fn expect(&mut self, op: char) -> Read<()> {
        if self.take(op) { Ok(()) } else { Err(ReadError::Syntax) }
    }

    pub(crate) fn take_cmd(&mut self, name: &str) -> bool {
        let taken = self.peek().is_some_and(|t| t.is_cmd(name));
        self.at += usize::from(taken);
        taken
    }

    /// Runs `read` one level deeper.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.context.fuel.spend(10)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ReadError::Bounds);
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Terms added and subtracted.
    pub(crate) fn sum(&mut self) -> Read<Expr> {
        self.deeper(|p| {
            let mut total = p.term()?;
            let mut parts = Vec::new();
            loop {
                let negative = match p.peek().map(|t| &t.tok) {
                    Some(Tok::Op('+')) => false,
                    Some(Tok::Op('-')) => true,
                    _ => break,
                };
                p.at += 1;
                let term = p.term()?;
                parts.push(if negative { term.negated() } else { term });
            }
            if !parts.is_empty() {
                parts.insert(0, total);
                total = Expr::Sum(parts);
            }
            Ok(total)
        })
    }

    /// Factors multiplied and divided.
    pub(crate) fn term(&mut self) -> Read<Expr> {
        let mut total = self.signed()?;
        loop {
            self.context.fuel.spend(2)?;
            match self.peek().map(|t| &t.tok) {
                Some(Tok::Op('*')) => {
                    self.at += 1;
                    total = total.times(self.signed()?);
                }
                Some(Tok::Op('/')) => {
                    self.at += 1;
                    total = self.quotient(total)?;
                }
                Some(Tok::Cmd(name)) if name == "mod" => {
                    self.at += 1;
                    let modulus = self.signed()?;
                    total = Expr::Call(Function::Mod, vec![total, modulus]);
                }
                _ => return Ok(total),
            }
        }
    }

    /// What follows a slash: one factor, or a whole product of them where the notation is read so.
    fn quotient(&mut self, above: Expr) -> Read<Expr> {
        if self.context.notation.long_slash {
            return Ok(above.over(self.signed()?));
        }
        let negative = self.signs()?;
        let below = self.power()?;
        let below = if negative { below.negated() } else { below };
        let mut total = above.over(below);
        if self.starts_factor() {
            self.context.ambiguities.slash.set(true);
            total = total.times(self.product()?);
        }
        Ok(total)
    }

    /// Signs one behind the other: true where they make a minus.
    fn signs(&mut self) -> Read<bool> {
        let mut negative = false;
        while let Some(Tok::Op(sign @ ('+' | '-'))) = self.peek().map(|t| &t.tok) {
            negative ^= *sign == '-';
            self.at += 1;
            self.context.fuel.spend(1)?;
        }
        Ok(negative)
    }

    /// A product with signs before it.
    pub(crate) fn signed(&mut self) -> Read<Expr> {
        let negative = self.signs()?;
        let product = self.product()?;
        Ok(if negative { product.negated() } else { product })
    }

    /// Factors written side by side.
    pub(crate) fn product(&mut self) -> Read<Expr> {
        if let Some(mixed) = self.mixed_number() {
            return self.more_factors(mixed);
        }
        if self.is_plain_derivative() {
            return Err(ReadError::Syntax);
        }
        let first = self.power()?;
        self.more_factors(first)
    }

    fn more_factors(&mut self, first: Expr) -> Read<Expr> {
        let mut factors = vec![first];
        while self.starts_factor() {
            self.context.fuel.spend(2)?;
            factors.push(self.power()?);
        }
        Ok(if factors.len() == 1 { factors.remove(0) } else { Expr::Product(factors) })
    }

    /// Whether the next token begins another factor of a product.
    pub(crate) fn starts_factor(&self) -> bool {
        let Some(token) = self.peek() else { return false };
        match &token.tok {
            // `5{6}` prints 56.
            Tok::Op('{') if self.is_digits_beside_digits() => false,
            Tok::Letter(_) | Tok::Op('(' | '{' | '[') => true,
            Tok::Op('|') => self.bars == 0,
            // Two numbers side by side are not a product, but `x2` and `5!\,3` are.
            // `5 m2` is not a product either.
            Tok::Num(_) if self.is_behind_unit_letter() => false,
            Tok::Num(_) => {
                self.at > 0
                    && !matches!(self.tokens[self.at - 1].tok, Tok::Num(_))
                    && !self.is_digits_beside_digits()
            }
            Tok::Cmd(name) => super::functions::is_atom(name),
            _ => false,
        }
    }

    /// Whether a number stands directly behind a letter that stands behind a number.
    fn is_behind_unit_letter(&self) -> bool {
        let digits = |at: usize| matches!(self.tokens[at].tok, Tok::Num(_));
        self.at > 1
            && !self.tokens[self.at].spaced
            && matches!(self.tokens[self.at - 1].tok, Tok::Letter(_))
            && digits(self.at - 2)
    }

    /// Whether digits stand here, in braces or not, directly behind other digits in braces or not.
    fn is_digits_beside_digits(&self) -> bool {
        let digits = |tokens: &[Token]| match tokens {
            [Token { tok: Tok::Num(_), .. }, ..] => true,
            [open, Token { tok: Tok::Num(_), .. }, close, ..] => open.is_op('{') && close.is_op('}'),
            _ => false,
        };
        let before = match &self.tokens[..self.at] {
            [.., Token { tok: Tok::Num(_), .. }] => true,
            // Braces behind a script, a fraction or a root are its argument.
            [front @ .., open, Token { tok: Tok::Num(_), .. }, close]
                if open.is_op('{') && close.is_op('}') =>
            {
                !front.last().is_some_and(|t| matches!(&t.tok, Tok::Op('^' | '_' | '}' | ']') | Tok::Cmd(_)))
            }
            _ => false,
        };
        before && digits(&self.tokens[self.at..])
    }

    /// `3\frac12` and `3 1/2`: a integer and a fraction of integers, added.
    fn mixed_number(&mut self) -> Option<Expr> {
        let Some(Token { tok: Tok::Num(Num { value: whole, digits: Some(_), .. }), .. }) = self.peek() else {
            return None;
        };
        if self.at > 0 && matches!(self.tokens[self.at - 1].tok, Tok::Op('^' | '_' | '/')) {
            return None;
        }
        let rest = &self.tokens[self.at + 1..];
        if rest.first().is_some_and(|t| t.is_cmd("frac")) {
            let (start, whole) = (self.at, whole.clone());
            self.at += 2;
            let fraction = self.fraction();
            let plain = self.tokens[start + 2..self.at].iter().all(|t| {
                t.is_op('{') || t.is_op('}') || matches!(&t.tok, Tok::Num(num) if num.digits.is_some())
            });
            if let (Ok(Expr::Number(fraction)), true, false) = (fraction, plain, self.next_is('^')) {
                return Some(Expr::Number(whole + fraction));
            }
            self.at = start;
            return None;
        }
        if let [Token { tok: Tok::Num(above), spaced: true }, slash, Token { tok: Tok::Num(below), .. }, ..] =
            rest
            && slash.is_op('/')
            && above.digits.is_some()
            && below.digits.is_some()
            && above.value < below.value
            && !above.value.is_zero()
        {
            let value = whole.clone() + above.value.clone() / below.value.clone();
            self.at += 4;
            return Some(Expr::Number(value));
        }
        None
    }

    /// A base with its exponents, factorials and other marks behind it.
    pub(crate) fn power(&mut self) -> Read<Expr> {
        self.deeper(|p| {
            let mut base = p.atom()?;
            for mark in 0.. {
                p.context.fuel.spend(1)?;
                // Every mark makes the tree one level deeper.
                if mark > MAX_MARKS {
                    return Err(ReadError::Bounds);
                }
                match p.peek().map(|t| &t.tok) {
                    Some(Tok::Op('^')) => {
                        p.at += 1;
                        if p.degrees() {
                            base = Expr::Apply(SmolStr::new_static(DEGREES), vec![base]);
                        } else {
                            let exponent = match (&base, &p.tokens[p.at..]) {
                                (Expr::Symbol(_), [Token { tok: Tok::Num(num), .. }, script, ..])
                                    if script.is_op('_') =>
                                {
                                    p.at += 1;
                                    Expr::Number(num.value.clone())
                                }
                                _ => p.exponent()?,
                            };
                            // `x^2_1` is `x_1^2`.
                            if let Expr::Symbol(name) = &base
                                && !name.contains('_')
                                && let Some(subscript) = p.subscript()?
                            {
                                base = Expr::symbol(&format!("{name}_{subscript}"));
                            }
                            base = combinations(&base, &exponent).unwrap_or_else(|| base.power(exponent));
                        }
                    }
                    // Behind a number it means degrees; elsewhere one function after another.
                    Some(Tok::Cmd(name))
                        if name == "circ" && matches!(base, Expr::Number(_) | Expr::Decimal(_)) =>
                    {
                        p.at += 1;
                        base = Expr::Apply(SmolStr::new_static(DEGREES), vec![base]);
                    }
                    Some(Tok::Op('!')) => {
                        p.at += 1;
                        let double = p.next_is('!') && !p.peek().is_some_and(|t| t.spaced);
                        p.at += usize::from(double);
                        base = Expr::call(
                            if double { Function::DoubleFactorial } else { Function::Factorial },
                            base,
                        );
                    }
                    Some(Tok::Op('\'')) => {
                        let Expr::Symbol(name) = &base else { return Err(ReadError::Syntax) };
                        let name = SmolStr::new(format!("{name}'"));
                        p.at += 1;
                        if p.next_is('(') && !p.peek().is_some_and(|t| t.spaced) {
                            base = p.application(name)?;
                        } else {
                            base = Expr::Symbol(name);
                        }
                    }
                    Some(Tok::Op('%')) => {
                        p.at += 1;
                        base = base.over(Expr::int(100));
                    }
                    _ => break,
                }
            }
            Ok(base)
        })
    }

    /// `\circ` or `{\circ}` after a caret.
    fn degrees(&mut self) -> bool {
        // A raised o is meant for the ring.
        let ring = |t: &Token| {
            t.is_cmd("circ") || matches!(&t.tok, Tok::Text(o) if o == "o") || t.tok == Tok::Letter('o')
        };
        if self.peek().is_some_and(ring) {
            self.at += 1;
            return true;
        }
        if let [open, mark, close, ..] = &self.tokens[self.at..]
            && open.is_op('{')
            && ring(mark)
            && close.is_op('}')
        {
            self.at += 3;
            return true;
        }
        false
    }

    /// What a caret raises to: a group, a signed number, a letter, a command with its arguments.
    pub(crate) fn exponent(&mut self) -> Read<Expr> {
        self.deeper(|p| {
            let negative = p.take('-');
            if !negative {
                p.take('+');
            }
            let exponent = if p.next_is('{') { p.group()? } else { p.atom()? };
            // A tower without braces: 2^3^2.
            let exponent = if p.next_is('^') {
                p.at += 1;
                if p.degrees() {
                    return Err(ReadError::Syntax);
                }
                exponent.power(p.exponent()?)
            } else {
                exponent
            };
            Ok(if negative { exponent.negated() } else { exponent })
        })
    }

    /// The tokens of a braced group, without its braces.
    pub(crate) fn braced(&mut self) -> Read<&'a [Token]> {
        if !self.next_is('{') {
            return Err(ReadError::Syntax);
        }
        let end = super::split::closing(self.tokens, self.at).ok_or(ReadError::Syntax)?;
        let inside = &self.tokens[self.at + 1..end];
        self.context.fuel.spend(2 * inside.len() as u64)?;
        self.at = end + 1;
        Ok(inside)
    }

    /// A braced group: an expression, or two with `\over` or `\choose` between them.
    pub(crate) fn group(&mut self) -> Read<Expr> {
        let inside = self.braced()?;
        self.group_of(inside)
    }

    fn group_of(&mut self, inside: &'a [Token]) -> Read<Expr> {
        for name in ["over", "choose"] {
            if let Some(at) = super::split::find(inside, |t| t.is_cmd(name)) {
                let above = self.within(&inside[..at]).bounded()?;
                let below = self.within(&inside[at + 1..]).bounded()?;
                return Ok(if name == "over" {
                    above.over(below)
                } else {
                    Expr::Call(Function::Binomial, vec![above, below])
                });
            }
        }
        self.within(inside).bounded()
    }

    /// A whole expression, unless too deep.
    pub(crate) fn bounded(&mut self) -> Read<Expr> {
        if self.depth > MAX_DEPTH { Err(ReadError::Bounds) } else { self.whole() }
    }

    /// A function's or fraction's argument: a braced group, or the next token.
    pub(crate) fn argument(&mut self) -> Read<Expr> {
        if self.next_is('{') {
            return self.group();
        }
        self.deeper(Self::atom)
    }

    /// A letter: a constant, a function of a name, or a variable with its subscript.
    pub(crate) fn letter(&mut self, letter: char) -> Read<Expr> {
        self.at += 1;
        let mut name = SmolStr::new(letter.encode_utf8(&mut [0; 4]));
        let subscript = self.subscript()?;
        if let Some(subscript) = &subscript {
            name = SmolStr::new(format!("{name}_{subscript}"));
        }
        if let Some(order) = self.derivative_order(letter) {
            let name = SmolStr::new(format!("{name}{order}"));
            return if self.next_is('(') { self.application(name) } else { Ok(Expr::Symbol(name)) };
        }
        let bound = self.bound.contains(&name);
        if matches!(letter, 'f' | 'g' | 'h')
            && let [caret, open, minus, one, close, bracket, ..] = &self.tokens[self.at..]
            && (caret.is_op('^')
                && open.is_op('{')
                && minus.is_op('-')
                && close.is_op('}')
                && bracket.is_op('('))
            && matches!(&one.tok, Tok::Num(num) if num.value == aske_algebra::expr::Rational::ONE)
        {
            self.at += 5;
            return self.application(SmolStr::new(format!("{name}⁻¹")));
        }
        match letter {
            'e' if subscript.is_none() && !bound => return Ok(Expr::Constant(Constant::E)),
            'i' if subscript.is_none() && !bound && self.context.notation.imaginary => {
                return Ok(Expr::Constant(Constant::I));
            }
            _ => {}
        }
        if !bound && (self.next_is('(') || self.next_is('[')) && self.is_function(letter) {
            return self.application(name);
        }
        Ok(Expr::Symbol(name))
    }

    /// `^{(3)}` behind the name of a function: the mark of its derivative of that order.
    fn derivative_order(&mut self, letter: char) -> Option<String> {
        if !matches!(letter, 'f' | 'g' | 'h' | 'y') {
            return None;
        }
        let [caret, brace, open, order, close, end, ..] = &self.tokens[self.at..] else { return None };
        let bracketed = open.is_op('(') && close.is_op(')');
        if !caret.is_op('^') || !brace.is_op('{') || !bracketed || !end.is_op('}') {
            return None;
        }
        self.at += 6;
        let order = super::split::spell(std::slice::from_ref(order));
        Some(match order.parse::<usize>() {
            Ok(order @ 1..=3) => "'".repeat(order),
            _ => format!("^({order})"),
        })
    }

    /// Whether the letter before this bracket names a function of what is in it, and is not a factor.
    ///
    /// f, g and h always do. `E[X^2]` does: square brackets do not group factors. `P(A|B)`, `C(5,2)`, `T(n)` and
    /// `N(5)` do by what is in the bracket; `N(N-1)`, `x(x+1)` and `P(1+r)` are products.
    fn is_function(&self, letter: char) -> bool {
        let square = self.next_is('[');
        if matches!(letter, 'f' | 'g' | 'h' | 'F' | 'G' | 'H') && !square {
            return true;
        }
        let Some(end) = super::split::closing(self.tokens, self.at) else { return false };
        let inside = &self.tokens[self.at + 1..end];
        let names = |token: &Token| matches!(token.tok, Tok::Letter(name) if name != letter);
        if !letter.is_uppercase() {
            // One letter an argument: `a(bc)` is a product. Alone before its bracket, as before an equals sign.
            let plain = inside.iter().enumerate().all(|(at, token)| match token.tok {
                Tok::Letter(name) => at % 2 == 0 && name != letter,
                Tok::Op(',') => at % 2 == 1,
                _ => false,
            });
            return !square
                && self.at == 1
                && letter.is_alphabetic()
                && plain
                && end + 1 == self.tokens.len();
        }
        let comma = super::split::find(inside, |t| t.is_op(',')).is_some();
        let single = matches!(inside, [one] if names(one) || matches!(one.tok, Tok::Num(_)));
        let event = |token: &Token| {
            matches!(token.tok, Tok::Letter(c) if c.is_uppercase() && c != letter)
                || matches!(token.tok, Tok::Op('|' | '=' | '<' | '>'))
                || matches!(&token.tok, Tok::Cmd(name) if matches!(name.as_str(), "mid" | "cap" | "cup" | "le" | "ge"))
        };
        square || comma || single || matches!(letter, 'P' | 'E' | 'V') && inside.iter().any(event)
    }

    /// A function of a name and what stands in the bracket behind it. Arguments that are not expressions (`A|B`)
    /// are part of the name.
    pub(crate) fn application(&mut self, name: Symbol) -> Read<Expr> {
        let end = super::split::closing(self.tokens, self.at).ok_or(ReadError::Syntax)?;
        let inside = &self.tokens[self.at + 1..end];
        let open = self.at;
        self.at = end + 1;
        let arguments = super::split::at(inside, |t| t.is_op(','))
            .into_iter()
            .map(|part| self.within(part).bounded())
            .collect::<Read<Vec<_>>>();
        match arguments {
            Ok(arguments) => {
                let counted = counted(&name, &arguments);
                self.context.ambiguities.point.set(counted.is_some() && name == "P");
                let counted = counted.filter(|_| name != "P" || !self.context.notation.points);
                Ok(counted.unwrap_or(Expr::Apply(name, arguments)))
            }
            Err(ReadError::Syntax) => {
                let inside = super::opaque::spelling(&self.tokens[open + 1..end]);
                Ok(Expr::symbol(&format!("{name}({inside})")))
            }
            Err(ReadError::Bounds) => Err(ReadError::Bounds),
        }
    }

    /// `_2`, `_{n+1}`: the tokens of the subscript run together.
    pub(crate) fn subscript(&mut self) -> Read<Option<SmolStr>> {
        if !self.next_is('_') {
            return Ok(None);
        }
        self.at += 1;
        let words = if self.next_is('{') {
            self.braced()?
        } else {
            let one = self.tokens.get(self.at..=self.at).ok_or(ReadError::Syntax)?;
            self.at += 1;
            one
        };
        // `x_{\max}` and `x_{\text{max}}` are one name, and so are `x_{1+n}` and `x_{n+1}`.
        let name = match words {
            [Token { tok: Tok::Num(_), .. }, plus, letter @ Token { tok: Tok::Letter(_), .. }]
                if plus.is_op('+') =>
            {
                super::split::spell(&[letter.clone(), plus.clone(), words[0].clone()])
            }
            _ => super::split::spell(words),
        };
        Ok(Some(name.replace('\\', "").into()))
    }
}

/// `C_{10}^3` and `C_n^2`: combinations.
fn combinations(base: &Expr, exponent: &Expr) -> Option<Expr> {
    let Expr::Symbol(name) = base else { return None };
    let of = name.strip_prefix("C_")?;
    let of = match (of.parse::<i64>(), exponent) {
        (Ok(of), Expr::Number(taken))
            if taken.is_int() && *taken < aske_algebra::expr::Rational::from(of) =>
        {
            Expr::int(of)
        }
        (Err(_), Expr::Number(_) | Expr::Symbol(_)) if matches!(of, "n" | "m" | "N") => Expr::symbol(of),
        _ => return None,
    };
    Some(Expr::Call(Function::Binomial, vec![of, exponent.clone()]))
}

/// `C(5,2)` and `P(5,2)`: combinations and permutations of integers.
pub(crate) fn counted(name: &str, arguments: &[Expr]) -> Option<Expr> {
    if let ("C", [_, _]) = (name, arguments) {
        return Some(Expr::Call(Function::Binomial, arguments.to_vec()));
    }
    let [Expr::Number(of), Expr::Number(taken)] = arguments else { return None };
    if !of.is_int() || !taken.is_int() || *taken < aske_algebra::expr::Rational::ZERO || of < taken {
        return None;
    }
    match name {
        "P" => {
            let left = Expr::Number(of - taken);
            let factorial = |value: Expr| Expr::call(Function::Factorial, value);
            Some(factorial(arguments[0].clone()).over(factorial(left)))
        }
        _ => None,
    }
}
