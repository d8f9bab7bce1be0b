//! Numbers, symbols and their subscripts.

use super::{Parse, ParseError, Parser};
use crate::table;
use crate::token::{Bracket, Tok};
use crate::tree::{Value, number, number_without_zeros, percent, symbol};
use aske_algebra::expr::{Constant, Expr};

impl Parser<'_> {
    pub(super) fn atom(&mut self) -> Parse<Expr> {
        let at = self.at;
        let text = self.text_of(at);
        match self.peek() {
            Tok::Letter | Tok::Named | Tok::Accent => self.name(),
            Tok::Infinity => {
                self.at += 1;
                Ok(Expr::Constant(Constant::Infinity))
            }
            Tok::Number => {
                self.at += 1;
                if self.peek() == Tok::Under {
                    self.subscript()?;
                }
                let value = if text.contains('.') { number(text) } else { number_without_zeros(text) };
                value.ok_or(ParseError::Syntax)
            }
            Tok::Scientific => {
                self.at += 1;
                number(text).ok_or(ParseError::Syntax)
            }
            Tok::Percent => {
                self.at += 1;
                let digits = text.trim_end_matches('%').trim_end_matches('\\').trim_end();
                Ok(percent(number(digits).ok_or(ParseError::Syntax)?))
            }
            Tok::BigE => {
                self.at += 1;
                Ok(symbol("e", self.real))
            }
            Tok::Differential => {
                self.at += 1;
                Ok(symbol(&format!("d{}", differential_name(text)), self.real))
            }
            Tok::Gamma => {
                self.at += 1;
                Ok(Expr::Constant(Constant::EulerGamma))
            }
            _ => Err(ParseError::Syntax),
        }
    }

    /// A symbol with its subscript, and its power if that belongs to the name.
    fn name(&mut self) -> Parse<Expr> {
        let tok = self.peek();
        let text = self.text_of(self.at);
        self.at += 1;
        let mut exponent = None;
        let mut subscript = String::new();
        if self.peek() == Tok::Under {
            subscript = self.subscript()?;
        }
        if self.peek() == Tok::Caret && self.raises_here() {
            self.at += 1;
            exponent = Some(self.exponent()?);
            if subscript.is_empty() && self.peek() == Tok::Under {
                subscript = self.subscript()?;
            }
        }
        if tok == Tok::Letter && text == "I" {
            return Ok(Expr::Constant(Constant::I));
        }
        if tok == Tok::Letter && subscript.is_empty() && exponent.is_none() && self.real {
            let mut letter = [0; 4];
            let lower = text.chars().next().map_or(' ', |c| c.to_ascii_lowercase());
            return Ok(Expr::symbol(lower.encode_utf8(&mut letter)));
        }
        let base = match tok {
            Tok::Accent => accent_name(text),
            _ => text.trim().to_owned(),
        };
        let name = named(&format!("{}{subscript}", base.trim()), self.real);
        Ok(match exponent {
            Some(exponent) => name.power(exponent),
            None => name,
        })
    }

    /// Whether the power belongs to the symbol: it is not the side of a limit.
    fn raises_here(&self) -> bool {
        match self.tok(self.at + 1) {
            Tok::Open(Bracket::Brace) => {
                !(matches!(self.tok(self.at + 2), Tok::Add | Tok::Sub)
                    && self.tok(self.at + 3) == Tok::Close(Bracket::Brace))
            }
            _ => true,
        }
    }

    /// The subscript as it is added to a name.
    pub(super) fn subscript(&mut self) -> Parse<String> {
        self.expect(Tok::Under)?;
        let start = self.at;
        let text = if self.peek() == Tok::Open(Bracket::Brace) {
            self.at += 1;
            self.separated(Tok::Comma, |parser| parser.nested(Self::expression))?;
            self.close(Bracket::Brace)?;
            self.joined(start + 1, self.at - 1)
        } else {
            self.nested(Self::atom)?;
            self.joined(start, self.at)
        };
        let text = text.trim();
        Ok(if text.chars().count() > 1 { format!("_{{{text}}}") } else { format!("_{text}") })
    }

    /// Where a subscript or a power that begins here ends, by its shape alone.
    pub(super) fn skip_script(&self, from: usize) -> Option<usize> {
        match self.tok(from) {
            Tok::Open(Bracket::Brace) => self.partner(from).map(|end| end + 1),
            _ => self.skip_atom(from),
        }
    }

    /// Where an atom that begins here ends, by its shape alone.
    pub(super) fn skip_atom(&self, from: usize) -> Option<usize> {
        match self.tok(from) {
            Tok::Letter | Tok::Named | Tok::Accent => {
                let mut at = from + 1;
                let (mut under, mut over) = (false, false);
                loop {
                    match self.tok(at) {
                        Tok::Under if !under => under = true,
                        Tok::Caret if !over => over = true,
                        _ => return Some(at),
                    }
                    at = self.skip_script(at + 1)?;
                }
            }
            Tok::Number if self.tok(from + 1) == Tok::Under => self.skip_script(from + 2),
            Tok::Number
            | Tok::Infinity
            | Tok::Scientific
            | Tok::Percent
            | Tok::BigE
            | Tok::Differential
            | Tok::Gamma => Some(from + 1),
            _ => None,
        }
    }

    /// A symbol, or a tuple of them in brackets: the left side of a membership.
    pub(super) fn names(&mut self) -> Parse<Value> {
        if self.peek() != Tok::Open(Bracket::Paren) {
            return self.name().map(Value::Expr);
        }
        self.at += 1;
        let mut names = self.separated(Tok::Comma, |parser| parser.name().map(Value::Expr))?;
        self.close(Bracket::Paren)?;
        Ok(match names.len() {
            1 => names.swap_remove(0),
            _ => Value::Tuple(names),
        })
    }
}

/// The variable of `dx`.
pub(super) fn differential_name(text: &str) -> &str {
    let name = text.get(1..).unwrap_or_default().trim_start();
    name.strip_prefix('\\').unwrap_or(name)
}

/// A symbol, or the constant of its name.
fn named(name: &str, real: bool) -> Expr {
    let mut letters = name.chars();
    let greek = match (letters.next(), letters.next()) {
        (Some(one), None) => table::greek(one),
        _ => None,
    };
    let name = greek.unwrap_or(name.strip_prefix('\\').unwrap_or(name)).to_lowercase();
    match name.as_str() {
        "pi" => Expr::Constant(Constant::Pi),
        "gamma" => Expr::Constant(Constant::EulerGamma),
        _ => symbol(&name, real),
    }
}

/// `\text{no solution}` is `nosolution`, `\overline{AB}` is `bar{AB}`.
fn accent_name(text: &str) -> String {
    let (command, inside) = text.split_once('{').unwrap_or((text, ""));
    let inside = inside.strip_suffix('}').unwrap_or(inside).replace(' ', "");
    let kind = match command.strip_prefix('\\').unwrap_or(command) {
        "bar" | "overline" => "bar",
        "vec" | "overrightarrow" => "vec",
        "tilde" | "widetilde" => "tilde",
        text if text.contains("text") || text.contains("mbox") => return inside.replace(['(', ')'], ""),
        math if math.contains("math") => "math",
        other => other,
    };
    format!("{kind}{{{inside}}}")
}
