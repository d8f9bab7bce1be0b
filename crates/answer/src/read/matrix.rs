//! Environments: matrices with a factor before them, determinants, systems.

use super::kinds::answer;
use super::parser::{Context, Read, ReadError, expression};
use super::split;
use super::token::{Tok, Token};
use crate::answer::Answer;
use aske_algebra::expr::Expr;

/// Determinants of more rows than this are not written out.
const MAX_ROWS: usize = 5;

/// A matrix, a multiple of one, a determinant, or a system in `cases`.
pub(crate) fn environment(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    // A brace that only opens stands before a system.
    let system = matches!(tokens, [open, begin, ..] if open.tok == Tok::SetOpen && begin.is_cmd("begin"));
    let tokens = if system { &tokens[1..] } else { tokens };
    let Some(start) = split::find_opening(tokens, |t| t.is_cmd("begin")) else { return Ok(None) };
    let (factor, rest) = tokens.split_at(start);
    let [_, Token { tok: Tok::Text(name), .. }, inside @ .., end, Token { tok: Tok::Text(closing), .. }] =
        rest
    else {
        return Ok(None);
    };
    if !end.is_cmd("end") || name != closing || inside.iter().any(|t| t.is_cmd("begin")) {
        return Ok(None);
    }
    let rows: Vec<&[Token]> = inside.split(|t| t.tok == Tok::Row).filter(|row| !row.is_empty()).collect();
    match name.as_str() {
        "cases" | "aligned" | "align" | "gathered" | "equation" | "array"
            if factor.is_empty() && (system || name != "array") =>
        {
            let mut all = Vec::new();
            for row in rows {
                all.push(case(row, context, level)?);
            }
            Ok(Some(if all.len() == 1 { all.remove(0) } else { Answer::All(all) }))
        }
        "vmatrix" | "pmatrix" | "bmatrix" | "matrix" | "array"
            if name == "vmatrix" || factor.last().is_some_and(|t| t.is_cmd("det")) =>
        {
            let factor = if name == "vmatrix" { factor } else { &factor[..factor.len() - 1] };
            let entries = entries(&rows, context, level)?
                .into_iter()
                .map(|row| row.into_iter().map(value).collect())
                .collect::<Read<Vec<Vec<_>>>>()?;
            if entries.len() != entries[0].len() || entries.len() > MAX_ROWS {
                return Err(ReadError::Syntax);
            }
            let determinant = determinant(&entries);
            Ok(Some(Answer::Value(match scale(factor, context)? {
                Some(factor) => factor.times(determinant),
                None => determinant,
            })))
        }
        "pmatrix" | "bmatrix" | "matrix" | "Bmatrix" | "smallmatrix" | "array" | "psmallmatrix"
        | "bsmallmatrix" => {
            let mut entries = entries(&rows, context, level)?;
            if let Some(factor) = scale(factor, context)? {
                for entry in entries.iter_mut().flatten() {
                    let Answer::Value(value) = entry else { return Err(ReadError::Syntax) };
                    *value = factor.clone().times(value.clone());
                }
            }
            Ok(Some(Answer::Matrix(entries)))
        }
        _ => Ok(None),
    }
}

/// A row of a system, or a value and the condition under which it holds.
fn case(row: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    if let Some(at) = row.iter().position(|t| t.is_op('&'))
        && let [first, ..] = &row[at + 1..]
        && !is_sign(first)
    {
        let condition: Vec<Token> = row[at + 1..]
            .iter()
            .filter(|t| !matches!(&t.tok, Tok::Text(word) if is_if(word)))
            .cloned()
            .collect();
        let value = answer(&row[..at], context, level + 1)?;
        let condition = answer(&condition, context, level + 1)
            .unwrap_or_else(|_| Answer::Text(split::spell(&row[at + 1..])));
        return Ok(Answer::Tuple(vec![value, condition]));
    }
    let row: Vec<Token> = row.iter().filter(|t| !t.is_op('&')).cloned().collect();
    answer(&row, context, level + 1)
}

fn is_if(word: &str) -> bool {
    matches!(word.to_ascii_lowercase().as_str(), "if" | "when" | "for" | "where" | "," | "if,")
}

fn is_sign(token: &Token) -> bool {
    matches!(&token.tok, Tok::Op('=' | '<' | '>' | '+' | '-'))
        || ["le", "ge", "ne", "approx"].iter().any(|name| token.is_cmd(name))
}

/// The number before a matrix.
fn scale(factor: &[Token], context: Context<'_>) -> Read<Option<Expr>> {
    match factor {
        [] => Ok(None),
        [minus] if minus.is_op('-') => Ok(Some(Expr::int(-1))),
        [front @ .., times] if times.is_op('*') => expression(front, context).map(Some),
        _ => expression(factor, context).map(Some),
    }
}

fn entries(rows: &[&[Token]], context: Context<'_>, level: u32) -> Read<Vec<Vec<Answer>>> {
    let mut matrix = Vec::with_capacity(rows.len());
    for row in rows {
        let entries = split::at(row, |t| t.is_op('&'));
        matrix.push(
            entries.into_iter().map(|entry| answer(entry, context, level + 1)).collect::<Read<Vec<_>>>()?,
        );
    }
    let width = matrix.first().map_or(0, Vec::len);
    if width == 0 || matrix.iter().any(|row: &Vec<Answer>| row.len() != width) {
        return Err(ReadError::Syntax);
    }
    Ok(matrix)
}

fn value(entry: Answer) -> Read<Expr> {
    match entry {
        Answer::Value(value) => Ok(value),
        _ => Err(ReadError::Syntax),
    }
}

/// Expansion along the first row.
fn determinant(rows: &[Vec<Expr>]) -> Expr {
    if let [row] = rows {
        return row[0].clone();
    }
    let minor = |column: usize| -> Vec<Vec<Expr>> {
        rows[1..]
            .iter()
            .map(|row| {
                row.iter().enumerate().filter(|(at, _)| *at != column).map(|(_, e)| e.clone()).collect()
            })
            .collect()
    };
    let terms = rows[0].iter().enumerate().map(|(column, entry)| {
        let term = entry.clone().times(determinant(&minor(column)));
        if column % 2 == 1 { term.negated() } else { term }
    });
    Expr::Sum(terms.collect())
}
