//! Plain arithmetic in programming-language syntax: `1/2 + 3*(4 - 5)^2`.

use super::tree::number;
use aske_algebra::expr::Expr;

/// The deepest nesting of brackets.
const DEPTH: u32 = 60;

/// The unevaluated expression; `None` if the text is not arithmetic.
pub(super) fn parse(text: &str) -> Option<Expr> {
    let mut reader = Reader { rest: text.trim(), depth: 0 };
    let found = reader.sum()?;
    reader.rest.is_empty().then_some(found)
}

struct Reader<'t> {
    rest: &'t str,
    depth: u32,
}

impl Reader<'_> {
    fn eat(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Option<Expr> {
        if self.depth > DEPTH {
            return None;
        }
        self.depth += 1;
        let mut left = self.product()?;
        loop {
            if self.eat("+") {
                left = left.plus(self.product()?);
            } else if self.eat("-") {
                left = left.minus(self.product()?);
            } else {
                break;
            }
        }
        self.depth -= 1;
        Some(left)
    }

    fn product(&mut self) -> Option<Expr> {
        let mut left = self.signed()?;
        loop {
            if self.eat("*") {
                left = left.times(self.signed()?);
            } else if self.eat("/") {
                left = left.times(self.signed()?.power(Expr::int(-1)));
            } else {
                return Some(left);
            }
        }
    }

    fn signed(&mut self) -> Option<Expr> {
        let mut minus = 0_u32;
        loop {
            if self.eat("-") {
                minus += 1;
            } else if !self.eat("+") {
                break;
            }
        }
        let base = self.atom()?;
        let value = if self.eat("^") || self.eat("**") {
            self.depth += 1;
            if self.depth > DEPTH {
                return None;
            }
            let exponent = self.signed()?;
            self.depth -= 1;
            base.power(exponent)
        } else {
            base
        };
        Some(if minus % 2 == 1 { value.negated() } else { value })
    }

    fn atom(&mut self) -> Option<Expr> {
        if self.eat("(") {
            let inside = self.sum()?;
            return self.eat(")").then_some(inside);
        }
        let length = self.rest.bytes().take_while(|c| c.is_ascii_digit() || *c == b'.').count();
        let (digits, rest) = self.rest.split_at(length);
        if digits.is_empty() || digits == "." || digits.bytes().filter(|c| *c == b'.').count() > 1 {
            return None;
        }
        // No leading zeros before another digit.
        if !digits.contains('.') && digits.starts_with('0') && digits.bytes().any(|c| c != b'0') {
            return None;
        }
        self.rest = rest.trim_start();
        number(digits)
    }
}
