//! Tables that fit the terminal.

use crate::output::width;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};
use std::collections::HashSet;
use std::fmt;

/// Columns of white space beside a cell.
const PADDING: usize = 2;
/// Text is wrapped only in columns of at least this width.
const NARROWEST_TEXT: usize = 20;
/// A word that is longer is broken.
const LONGEST_WORD: usize = 48;

/// A table that is printed as wide as the terminal at most: first text and headings are wrapped, never a number; then the
/// columns are printed in several blocks, each with the columns that tell rows apart.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    header: Vec<String>,
    /// The columns that are aligned to the right.
    numbers: Vec<usize>,
    rows: Vec<Vec<String>>,
}

/// An empty table; `numbers` are the columns to align to the right.
pub(crate) fn table(header: &[&str], numbers: &[usize]) -> Table {
    let header = header.iter().map(|name| (*name).to_owned()).collect();
    Table { header, numbers: numbers.to_vec(), rows: Vec::new() }
}

impl Table {
    /// Adds a row.
    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item: ToString>) {
        self.rows.push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }

    /// The table within so many columns of a terminal.
    fn fit(&self, width: usize) -> String {
        let all: Vec<usize> = (0..self.header.len()).collect();
        let natural = self.part(&all, 0);
        let widths = natural.column_max_content_widths();
        if widths.iter().map(|column| usize::from(*column) + PADDING).sum::<usize>() <= width {
            return trimmed(&natural);
        }
        let keys = self.keys();
        let needed = |column: usize| {
            let widest = usize::from(widths.get(column).copied().unwrap_or_default());
            self.narrowest(column, widest)
        };
        // Beside the keys there is at least so much room; a word that is longer is broken.
        let room = width.saturating_sub((0..keys).map(|key| needed(key) + PADDING).sum::<usize>() + PADDING);
        let narrowest = |column: usize| {
            let is_text = column >= keys && !self.numbers.contains(&column);
            if is_text { needed(column).min(room.max(NARROWEST_TEXT)) } else { needed(column) }
        };
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let (mut block, mut used) = (Vec::new(), 0);
        for column in all {
            let needed = narrowest(column) + PADDING;
            if block.len() > keys && used + needed > width {
                blocks.push(std::mem::replace(&mut block, (0..keys).collect()));
                used = (0..keys).map(|column| narrowest(column) + PADDING).sum();
            }
            block.push(column);
            used += needed;
        }
        blocks.push(block);
        let shown = blocks.iter().enumerate().map(|(at, columns)| {
            let mut part = self.part(columns, if at == 0 { 0 } else { keys });
            part.set_content_arrangement(ContentArrangement::Dynamic);
            part.set_width(u16::try_from(width).unwrap_or(u16::MAX));
            part.set_constraints(columns.iter().map(|column| {
                let content = u16::try_from(narrowest(*column) + PADDING).unwrap_or(u16::MAX);
                ColumnConstraint::LowerBoundary(Width::Fixed(content))
            }));
            trimmed(&part)
        });
        shown.collect::<Vec<_>>().join("\n\n")
    }

    /// How many columns at the left tell rows apart; every block has them.
    fn keys(&self) -> usize {
        let distinct = |columns: &usize| {
            let keys: HashSet<_> = self.rows.iter().map(|row| row.get(..*columns)).collect();
            keys.len() == self.rows.len()
        };
        (1..=2).find(distinct).unwrap_or(1)
    }

    /// The width below which a column is not wrapped.
    fn narrowest(&self, column: usize, widest: usize) -> usize {
        let longest_word = |text: &str| text.split_whitespace().map(|word| word.chars().count()).max();
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        if self.numbers.contains(&column) {
            let word = self.header.get(column).and_then(|name| longest_word(name)).unwrap_or_default();
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default().max(word)
        } else {
            let cells = cells.chain(self.header.get(column));
            let word = cells.filter_map(|cell| longest_word(cell)).max().unwrap_or_default();
            word.min(LONGEST_WORD).max(widest.min(NARROWEST_TEXT))
        }
    }

    /// Some of the columns; without rows that are empty apart from this many keys.
    fn part(&self, columns: &[usize], keys: usize) -> comfy_table::Table {
        let pick = |row: &[String]| {
            columns.iter().map(|column| row.get(*column).cloned().unwrap_or_default()).collect::<Vec<_>>()
        };
        let mut part = comfy_table::Table::new();
        part.load_style(presets::NOTHING).set_header(pick(&self.header));
        for row in self.rows.iter().map(|row| pick(row)) {
            if keys == 0 || row.iter().skip(keys).any(|cell| !cell.is_empty()) {
                part.add_row(row);
            }
        }
        for (at, column) in part.column_iter_mut().enumerate() {
            if self.numbers.contains(&columns[at]) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        part
    }
}

/// The lines of a table without white space at their ends.
fn trimmed(table: &comfy_table::Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fit(width()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes() -> Table {
        let header = ["outcome", "sessions", "share", "95% across samples", "95% over pairs"];
        let mut shown = table(&header, &[1, 2, 3, 4]);
        shown.add_row(["calibrated", "1,140", "66.7%", "56.4 to 76.9%", "57.0 to 75.8%"]);
        shown.add_row(["too_easy", "44", "21.0%", "15.1 to 26.8%", "14.2 to 28.8%"]);
        shown
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_number_is_broken() {
        let shown = outcomes();
        for width in [30, 40, 60, 66, 80, 120] {
            let text = shown.fit(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            for number in ["1,140", "66.7%", "56.4 to 76.9%", "57.0 to 75.8%"] {
                assert!(text.contains(number), "{width}:\n{text}");
            }
        }
        assert_eq!(shown.fit(120).lines().count(), 3);
    }

    #[test]
    fn only_a_word_that_is_wider_than_the_terminal_is_broken() {
        let mut shown = table(&["model", "served as", "size"], &[2]);
        shown.add_row(["deepseek-r1-1.5b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "1.5B"]);
        for width in [50, 60, 70, 80] {
            let text = shown.fit(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            assert_eq!(text.contains("Distill-Qwen-1.5B"), width >= 70, "{width}:\n{text}");
        }
    }

    #[test]
    fn headings_are_wrapped_before_columns_are_moved() {
        let text = outcomes().fit(64);
        assert_eq!(text.matches("outcome").count(), 1, "{text}");
        let text = outcomes().fit(40);
        assert_eq!(text.matches("calibrated").count(), 3, "{text}");
    }
}
