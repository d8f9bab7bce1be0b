//! The grammar: tokens into a parsed answer, by recursive descent.

mod atom;
mod element;
mod expression;
mod function;
mod integral;
mod matrix;
mod operator;
mod sets;

use super::lexer;
use super::token::{Bracket, Tok, Token};
use super::tree::{Value, number_without_zeros};
use aske_algebra::expr::{Expr, Function};
use aske_algebra::fuel::{Fuel, OutOfFuel};

/// The deepest nesting of brackets.
const DEPTH: u32 = 120;

/// Why there is no parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParseError {
    /// The text does not belong to the grammar.
    Syntax,
    /// The text belongs to the grammar, but has no value.
    Refused,
    /// The text is nested too deeply, or the fuel is spent.
    Bounds,
}

impl From<OutOfFuel> for ParseError {
    fn from(_: OutOfFuel) -> Self {
        Self::Bounds
    }
}

type Parse<T> = Result<T, ParseError>;

/// Parses a normalised text.
pub(super) fn parse(text: &str, real: bool, fuel: &Fuel) -> Parse<Value> {
    parse_at(text, real, fuel, 0)
}

/// Parses a text that is nested in another at this depth.
fn parse_at(text: &str, real: bool, fuel: &Fuel, depth: u32) -> Parse<Value> {
    let tokens = lexer::tokens(text).ok_or(ParseError::Syntax)?;
    let partner = partners(&tokens);
    let tokens = &tokens;
    Parser { text, tokens, partner, at: 0, depth, real, fuel, differential: None, barred: false }.math()
}

struct Parser<'p> {
    text: &'p str,
    tokens: &'p [Token],
    /// For each bracket the position of its partner, or its own without one.
    partner: Vec<u32>,
    at: usize,
    depth: u32,
    real: bool,
    fuel: &'p Fuel,
    /// The differential that ends the current integrand.
    differential: Option<usize>,
    /// Between `|` and `|`, where the next bar closes.
    barred: bool,
}

impl<'p> Parser<'p> {
    fn peek(&self) -> Tok {
        self.tok(self.at)
    }

    fn tok(&self, at: usize) -> Tok {
        self.tokens.get(at).map_or(Tok::End, |token| token.tok)
    }

    /// The text of one token.
    fn text_of(&self, at: usize) -> &'p str {
        self.tokens.get(at).and_then(|t| self.text.get(t.start as usize..t.end as usize)).unwrap_or_default()
    }

    /// The texts of several tokens, without the white space between them.
    fn joined(&self, from: usize, to: usize) -> String {
        (from..to).map(|at| self.text_of(at)).collect()
    }

    fn eat(&mut self, tok: Tok) -> bool {
        let found = self.peek() == tok;
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, tok: Tok) -> Parse<()> {
        if self.eat(tok) { Ok(()) } else { Err(ParseError::Syntax) }
    }

    /// One item or more, with separators between them.
    fn separated<T>(&mut self, separator: Tok, item: impl Fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(separator) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn open(&mut self, bracket: Bracket) -> Parse<()> {
        self.expect(Tok::Open(bracket))
    }

    fn close(&mut self, bracket: Bracket) -> Parse<()> {
        self.expect(Tok::Close(bracket))
    }

    /// The partner of the bracket at a place.
    fn partner(&self, at: usize) -> Option<usize> {
        self.partner.get(at).map(|other| *other as usize).filter(|other| *other != at)
    }

    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.fuel.spend(4)?;
        if self.depth >= DEPTH {
            return Err(ParseError::Bounds);
        }
        self.depth += 1;
        let found = inside(self);
        self.depth -= 1;
        found
    }

    /// `{ expression }`.
    fn braced(&mut self) -> Parse<Value> {
        self.open(Bracket::Brace)?;
        let found = self.unbarred()?;
        self.close(Bracket::Brace)?;
        Ok(found)
    }

    /// An expression in brackets of its own.
    fn unbarred(&mut self) -> Parse<Value> {
        let outer = (std::mem::take(&mut self.barred), self.differential.take());
        let found = self.expression();
        (self.barred, self.differential) = outer;
        found
    }

    /// `| expression |`.
    fn bars(&mut self, bar: Tok) -> Parse<Value> {
        self.at += 1;
        let outer = std::mem::replace(&mut self.barred, true);
        let found = self.nested(Self::expression);
        self.barred = outer;
        let inside = Self::scalar(found?)?;
        self.expect(bar)?;
        Ok(Value::Expr(Expr::call(Function::Abs, inside)))
    }

    /// The power at this position, if there is one.
    fn superscript(&mut self) -> Parse<Option<Expr>> {
        if self.eat(Tok::Caret) { self.exponent().map(Some) } else { Ok(None) }
    }

    /// A text inside this one, read as an answer of its own.
    fn inner_scalar(&self, text: &str) -> Parse<Expr> {
        Self::scalar(parse_at(text, self.real, self.fuel, self.depth)?)
    }

    fn scalar(value: Value) -> Parse<Expr> {
        match value {
            Value::Expr(expr) => Ok(expr),
            _ => Err(ParseError::Syntax),
        }
    }
}

/// For each bracket its partner. Round and square brackets may close each other, as intervals do.
fn partners(tokens: &[Token]) -> Vec<u32> {
    let short = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    let mut partner: Vec<u32> = (0..tokens.len()).map(short).collect();
    let mut open: Vec<(usize, Bracket)> = Vec::new();
    let round = |bracket| {
        use Bracket::{Group, Paren, ParenVisual, Square, SquareCommand};
        matches!(bracket, Paren | ParenVisual | Group | Square | SquareCommand)
    };
    for (at, token) in tokens.iter().enumerate() {
        match token.tok {
            Tok::Open(bracket) => open.push((at, bracket)),
            Tok::Close(bracket) => {
                if let Some((from, kind)) = open.last().copied()
                    && (kind == bracket || (round(kind) && round(bracket)))
                {
                    open.pop();
                    partner[from] = short(at);
                    partner[at] = short(from);
                }
            }
            _ => {}
        }
    }
    partner
}

/// One number with separators between its thousands.
fn with_separators(text: &str) -> Option<Expr> {
    let body = text.trim();
    let digits = body.strip_prefix('-').unwrap_or(body);
    let (whole, part) = digits.split_once('.').map_or((digits, None), |(whole, part)| (whole, Some(part)));
    let all = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let mut count = 0;
    for group in groups {
        if group.len() != 3 || !all(group) {
            return None;
        }
        count += 1;
    }
    if count == 0 || first.len() > 3 || !all(first) || part.is_some_and(|part| !all(part)) {
        return None;
    }
    // A leading zero makes the comma a decimal point.
    let plain = if body.starts_with('0') { body.replace(',', ".") } else { body.replace(',', "") };
    number_without_zeros(&plain)
}
