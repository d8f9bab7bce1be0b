//! Grids on a terminal.

use crate::output::{BOLD, GOOD, data, paint, safe};
use crate::tables::table;
use aske_eval::{Grid, Scores, tables};

/// The tables of a run.
pub(crate) fn scores(scores: &Scores) {
    let model = if scores.model.is_empty() { "no samples yet" } else { &scores.model };
    data(format_args!("{}\n", paint(BOLD, safe(model))));
    data(grid(&tables::scores(scores)));
    if let Some(levels) = tables::levels(scores) {
        data(format_args!("\n{}", grid(&levels)));
    }
}

/// A grid as a table; what is bold is also green, for terminals that show no bold.
pub(super) fn grid(grid: &Grid) -> comfy_table::Table {
    let header: Vec<String> = grid.header.iter().map(|name| safe(name)).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let numbers: Vec<usize> = (grid.texts..header.len()).collect();
    let mut shown = table(&header, &numbers);
    for row in &grid.rows {
        shown.add_row(row.iter().map(|cell| {
            let text = safe(&cell.text);
            if cell.bold { paint(GOOD.bold(), text) } else { text }
        }));
    }
    shown
}
