//! Matrices and determinants.

use super::{Parse, ParseError, Parser};
use crate::token::Tok;
use crate::tree::Matrix;
use aske_algebra::expr::Expr;
use aske_algebra::fuel::Fuel;

impl Parser<'_> {
    /// Rows up to the end of the environment.
    pub(super) fn matrix(&mut self, end: Tok) -> Parse<Matrix> {
        self.at += 1;
        let mut entries = Vec::new();
        let mut columns = None;
        loop {
            let row = self.separated(Tok::Column, |parser| Self::scalar(parser.unbarred()?))?;
            if *columns.get_or_insert(row.len()) != row.len() {
                return Err(ParseError::Syntax);
            }
            entries.extend(row);
            // The last row may end as the others do.
            let last = self.eat(end);
            if !last {
                self.expect(Tok::Row)?;
            }
            if last || self.eat(end) {
                return Ok(Matrix { columns: columns.unwrap_or(1), entries });
            }
        }
    }
}

pub(super) fn transposed(matrix: &Matrix) -> Matrix {
    let rows = matrix.entries.len() / matrix.columns.max(1);
    let entry = |at: usize| matrix.entries[(at % rows) * matrix.columns + at / rows].clone();
    Matrix { columns: rows, entries: (0..matrix.entries.len()).map(entry).collect() }
}

/// The determinant of a small matrix, by expansion along the first row.
pub(super) fn determinant(matrix: &Matrix, fuel: &Fuel) -> Parse<Expr> {
    let size = matrix.columns;
    if size * size != matrix.entries.len() || size > 6 {
        return Err(ParseError::Syntax);
    }
    let columns: Vec<usize> = (0..size).collect();
    minor(matrix, 0, &columns, fuel)
}

fn minor(matrix: &Matrix, row: usize, columns: &[usize], fuel: &Fuel) -> Parse<Expr> {
    fuel.spend(20)?;
    if let [one] = columns {
        return Ok(matrix.entries[row * matrix.columns + one].clone());
    }
    let mut terms = Vec::with_capacity(columns.len());
    for (index, column) in columns.iter().enumerate() {
        let rest: Vec<usize> = columns.iter().copied().filter(|other| other != column).collect();
        let entry = matrix.entries[row * matrix.columns + column].clone();
        let entry = if index % 2 == 1 { entry.negated() } else { entry };
        terms.push(entry.times(minor(matrix, row + 1, &rest, fuel)?));
    }
    let sum = Expr::Sum(terms);
    // A determinant of numbers is computed at once.
    match aske_algebra::approx::evaluate(&sum, &aske_algebra::approx::Point::none(), 53, fuel) {
        Ok(aske_algebra::approx::Value::Exact(value)) if !sum.has_decimal() => Ok(Expr::Number(value)),
        _ => Ok(sum),
    }
}
