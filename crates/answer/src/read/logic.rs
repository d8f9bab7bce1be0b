//! Propositional formulas (`p \to q`, `\neg p \lor q`) and set algebra (`A \cup (B \cap C)`, `A \setminus B`, `A^c`).
//! Two formulas are the same where their truth tables are.

use super::token::{Tok, Token};
use crate::answer::{Answer, Opaque};
use smol_str::SmolStr;

/// Variables of one formula.
const MAX_VARIABLES: usize = 5;
/// Tokens of one formula.
const MAX_TOKENS: usize = 40;

/// Reads a formula of letters and connectives as its truth table.
pub(crate) fn read(tokens: &[Token]) -> Option<Answer> {
    const CONNECTIVES: &[&str] = &["to", "implies", "iff", "neg", "lor", "land", "cup", "cap", "setminus"];
    let connective = |t: &Token| CONNECTIVES.iter().any(|name| t.is_cmd(name));
    let negated = tokens.first().is_some_and(|t| t.is_cmd("sim"));
    if tokens.len() > MAX_TOKENS || !(negated || tokens.iter().any(connective)) {
        return None;
    }
    let mut names: Vec<char> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match &token.tok {
            Tok::Op('^') | Tok::Letter('c')
                if complement(&tokens[at - usize::from(!token.is_op('^') && at > 0)..]) => {}
            Tok::Letter(name) => names.push(*name),
            Tok::Op('(' | ')') => {}
            Tok::Cmd(name) if name == "sim" => {}
            _ if connective(token) => {}
            _ => return None,
        }
    }
    names.sort_unstable();
    names.dedup();
    if names.is_empty() || names.len() > MAX_VARIABLES {
        return None;
    }
    let mut table = String::new();
    for row in 0..1_u32 << names.len() {
        let mut formula = Formula { tokens, at: 0, names: &names, row };
        table.push(if formula.equivalence()? { 'T' } else { 'F' });
        if formula.at != tokens.len() {
            return None;
        }
    }
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let spelling = SmolStr::new(format!("truth table of {}: {table}", names.join(", ")));
    Some(Answer::Opaque(Opaque { bag: spelling.clone(), spelling }))
}

/// Whether tokens begin with `^c`, the complement of a set.
fn complement(tokens: &[Token]) -> bool {
    matches!(tokens, [caret, Token { tok: Tok::Letter('c'), .. }, ..] if caret.is_op('^'))
}

/// A formula and the row of its truth table that is computed.
struct Formula<'a> {
    tokens: &'a [Token],
    at: usize,
    names: &'a [char],
    row: u32,
}

impl Formula<'_> {
    fn take(&mut self, commands: &[&str]) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| commands.iter().any(|name| t.is_cmd(name)));
        self.at += usize::from(found);
        found
    }

    fn equivalence(&mut self) -> Option<bool> {
        let mut value = self.implication()?;
        while self.take(&["iff"]) {
            value = value == self.implication()?;
        }
        Some(value)
    }

    /// Implications are read from the right: `p \to (q \to r)`.
    fn implication(&mut self) -> Option<bool> {
        let premise = self.disjunction()?;
        if !self.take(&["to", "implies"]) {
            return Some(premise);
        }
        let conclusion = self.implication()?;
        Some(!premise || conclusion)
    }

    fn disjunction(&mut self) -> Option<bool> {
        let mut value = self.conjunction()?;
        while self.take(&["lor", "cup"]) {
            value |= self.conjunction()?;
        }
        Some(value)
    }

    fn conjunction(&mut self) -> Option<bool> {
        let mut value = self.negation()?;
        loop {
            if self.take(&["land", "cap"]) {
                value &= self.negation()?;
            } else if self.take(&["setminus"]) {
                value &= !self.negation()?;
            } else {
                return Some(value);
            }
        }
    }

    fn negation(&mut self) -> Option<bool> {
        if self.take(&["neg", "sim"]) {
            return self.negation().map(|value| !value);
        }
        let mut value = self.atom()?;
        while complement(&self.tokens[self.at..]) {
            self.at += 2;
            value = !value;
        }
        Some(value)
    }

    fn atom(&mut self) -> Option<bool> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match token.tok {
            Tok::Letter(name) => {
                let at = self.names.iter().position(|known| *known == name)?;
                Some(self.row >> at & 1 == 1)
            }
            Tok::Op('(') => {
                let value = self.equivalence()?;
                self.at += 1;
                self.tokens.get(self.at - 1).is_some_and(|t| t.is_op(')')).then_some(value)
            }
            _ => None,
        }
    }
}
