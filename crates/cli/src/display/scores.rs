//! Scores of evaluations on a terminal.

use super::tables::table;
use crate::output::{BOLD, GOOD, data, note, paint, safe};
use aske_eval::{Grid, Scores, tables};
use aske_report::number::counted;

/// Mark the start and end of bold text: zero-width characters, so that columns stay aligned.
const MARKS: [char; 2] = ['\u{2062}', '\u{2063}'];

/// Prints the tables of a run.
pub(crate) fn show(scores: &Scores) {
    let model = if scores.model.is_empty() { "no samples yet" } else { &scores.model };
    data(format_args!("{}\n", paint(BOLD, safe(model))));
    data(grid(&tables::scores(scores)));
    if let Some(levels) = tables::levels(scores) {
        data(format_args!("\n{}", grid(&levels)));
    }
    for dataset in scores.datasets.iter().filter(|dataset| dataset.undecided > 0) {
        let (count, title) = (dataset.undecided, safe(&dataset.title));
        note(format_args!(
            "{title}: {} too long or too deep to compare, counted as wrong",
            counted(count, "answer")
        ));
    }
}

/// A grid as a table; bold cells are also green, for terminals without bold text.
pub(crate) fn grid(grid: &Grid) -> String {
    let plain = |text: &str| safe(text).replace(MARKS, "");
    let header: Vec<String> = grid.header.iter().map(|name| plain(name)).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let numbers: Vec<usize> = (grid.texts..header.len()).collect();
    let mut shown = table(&header, &numbers);
    for row in &grid.rows {
        shown.add_row(row.iter().map(|cell| {
            let text = plain(&cell.text);
            if cell.bold { format!("{}{text}{}", MARKS[0], MARKS[1]) } else { text }
        }));
    }
    let style = GOOD.bold();
    shown.to_string().replace(MARKS[0], &style.to_string()).replace(MARKS[1], &format!("{style:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_eval::Cell;

    #[test]
    fn bold_cells_keep_their_column_aligned() {
        let rows = vec![vec!["a".into(), Cell::new("58.33%", true)], vec!["b".into(), "6.25%".into()]];
        let header = vec!["x".to_owned(), "y".to_owned()];
        let shown = grid(&Grid { header, texts: 1, rows, ..Grid::default() });
        let style = GOOD.bold();
        assert!(shown.contains(&format!("{style}58.33%{style:#}")), "{shown:?}");
        let plain = shown.replace(&style.to_string(), "").replace(&format!("{style:#}"), "");
        let widths: Vec<usize> = plain.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{plain}");
    }
}
