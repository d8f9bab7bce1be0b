//! A map of pairs: one cell for each pair, with solver size increasing upward and leftward.

use crate::draw::{Drawing, px, text_width};
use crate::text::label;
use maud::{Markup, html};

/// Maximum characters of a name.
const MAX_NAME: usize = 24;
const TOP: f64 = 8.0;

/// The cell of one pair.
pub(crate) struct Cell {
    /// Indices of the smaller and the larger solver.
    pub(crate) pair: [usize; 2],
    /// The CSS class that sets its colour.
    pub(crate) class: &'static str,
    /// Opacity of the colour, from 0 to 1.
    pub(crate) strength: f64,
    /// The text in the cell.
    pub(crate) text: String,
    /// A smaller text below it.
    pub(crate) small: Option<String>,
    /// Whether it has a border.
    pub(crate) boxed: bool,
}

/// The key to the colours.
pub(crate) struct Key<'k> {
    /// Swatches: class, strength and label.
    pub(crate) swatches: Vec<(&'static str, f64, &'k str)>,
    /// The label of a border.
    pub(crate) boxed: Option<&'k str>,
}

/// The map. Rows are the smaller solvers, columns the larger ones.
pub(crate) fn triangle(solvers: &[&str], cells: &[Cell], key: &Key<'_>) -> Drawing {
    let names: Vec<String> = solvers.iter().map(|name| label(name, MAX_NAME)).collect();
    let across = solvers.len().saturating_sub(1).max(1) as f64;
    let size = (456.0 / across).clamp(23.0, 58.0);
    let names_width = text_width(names.iter().map(String::as_str)) * 0.93;
    let left = names_width + 30.0;
    let bottom = names_width + 22.0;
    let whole = size * across;
    let floor = TOP + whole;
    // The key is in the empty corner; a small map has none and is made wider.
    let right = left + whole.max(2.0 * size + 190.0);
    let x = |larger: usize| left + size * (solvers.len() - 1 - larger) as f64;
    let y = |smaller: usize| floor - size * (smaller + 1) as f64;
    let body = html! {
        @for (index, name) in names.iter().enumerate() {
            @if index + 1 < names.len() {
                text.solver x=(px(left - 6.0)) y=(px(y(index) + size / 2.0 + 4.0)) text-anchor="end" { (name) }
            }
            @if index > 0 {
                @let middle = x(index) + size / 2.0 + 4.0;
                text.solver text-anchor="end"
                    transform={ "translate(" (px(middle)) " " (px(floor + 8.0)) ")rotate(-90)" } { (name) }
            }
        }
        @for cell in cells.iter().filter(|cell| cell.pair[0] < cell.pair[1] && cell.pair[1] < solvers.len()) {
            (draw(cell, x(cell.pair[1]), y(cell.pair[0]), size))
        }
        (arrows(left, floor, bottom, whole))
        (legend(key, right, TOP))
    };
    Drawing { width: right + 6.0, height: floor + bottom + 8.0, body }
}

fn draw(cell: &Cell, x: f64, y: f64, size: f64) -> Markup {
    let strong = cell.strength > 0.66;
    let drop = if cell.small.is_some() { -0.5 } else { 3.6 };
    html! {
        rect class={ "cell " (cell.class) } x=(px(x)) y=(px(y)) width=(px(size - 1.0)) height=(px(size - 1.0))
            fill-opacity=(format!("{:.2}", 0.05 + 0.95 * cell.strength.clamp(0.0, 1.0))) {}
        @if cell.boxed {
            rect.boxed x=(px(x + 1.0)) y=(px(y + 1.0)) width=(px(size - 3.0)) height=(px(size - 3.0)) {}
        }
        @if !cell.text.is_empty() {
            text.value.strong[strong] x=(px(x + (size - 1.0) / 2.0)) y=(px(y + size / 2.0 + drop)) { (cell.text) }
        }
        @if let Some(small) = &cell.small {
            text.n.strong[strong] x=(px(x + (size - 1.0) / 2.0)) y=(px(y + size / 2.0 + 8.9)) { (small) }
        }
    }
}

/// Arrows that point to larger solvers.
fn arrows(left: f64, floor: f64, below: f64, side: f64) -> Markup {
    let bottom = floor + below;
    let up = format!("M10 {}V{}m-4 7l4 -7l4 7", px(floor - 4.0), px(floor - side * 0.5));
    let along = format!("M{} {2}H{}m7 -4l-7 4l7 4", px(left + side - 4.0), px(left + side * 0.5), px(bottom));
    html! {
        path.arrow d=(up) {}
        path.arrow d=(along) {}
        text.axis transform={ "translate(14 " (px(floor - side * 0.5 - 8.0)) ")rotate(-90)" } { "larger" }
        text.axis x=(px(left + side * 0.5 - 8.0)) y=(px(bottom + 4.0)) text-anchor="end" { "larger" }
    }
}

fn legend(key: &Key<'_>, right: f64, top: f64) -> Markup {
    html! {
        @for (row, (class, strength, name)) in key.swatches.iter().enumerate() {
            @let y = top + 19.0 * row as f64;
            rect class={ "cell " (class) } x=(px(right - 15.0)) y=(px(y)) width="14" height="14"
                fill-opacity=(format!("{:.2}", 0.05 + 0.95 * strength)) {}
            text.key x=(px(right - 22.0)) y=(px(y + 11.0)) text-anchor="end" { (name) }
        }
        @if let Some(name) = key.boxed {
            @let y = top + 19.0 * key.swatches.len() as f64;
            rect.boxed x=(px(right - 14.0)) y=(px(y + 1.0)) width="12" height="12" {}
            text.key x=(px(right - 22.0)) y=(px(y + 11.0)) text-anchor="end" { (name) }
        }
    }
}
