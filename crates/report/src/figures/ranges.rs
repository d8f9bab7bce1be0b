//! Values with their intervals, one below the other, as bars or dots.

use crate::draw::{Drawing, Figure, Scale, around, px, text_width, ticks};
use crate::sections::table;
use crate::text::label;
use aske_stats::Interval;
use maud::{Markup, html};

const TOP: f64 = 10.0;
/// Maximum characters of a name.
const MAX_NAME: usize = 56;

/// One row of the figure.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) value: f64,
    /// The interval.
    pub(crate) interval: Option<Interval>,
    /// The text on the right.
    pub(crate) note: String,
    /// Drawn hollow, for values that are not significant.
    pub(crate) hollow: bool,
    /// The CSS class that sets its colour.
    pub(crate) class: &'static str,
}

impl Row {
    /// A filled row with one interval, in the colour of calibrated sessions.
    pub(crate) fn new(name: impl Into<String>, value: f64, interval: Option<Interval>, note: String) -> Self {
        Self { name: name.into(), value, interval, note, hollow: false, class: "o-calibrated" }
    }
}

/// How the values are drawn.
pub(crate) struct Axis<'a> {
    /// The name of the quantity.
    pub(crate) name: &'a str,
    /// Bars from zero instead of dots.
    pub(crate) bars: bool,
    /// Include zero and mark it with a line.
    pub(crate) zero: bool,
    /// Formats a tick.
    pub(crate) tick: fn(f64) -> String,
}

impl<'a> Axis<'a> {
    /// Bars of shares, in percent.
    pub(crate) fn shares(name: &'a str) -> Self {
        Self { name, bars: true, zero: false, tick: |value| format!("{:.0}%", 100.0 * value) }
    }
}

/// A figure of rows over an axis, with the columns and rows of its table.
pub(crate) fn ranges_figure(
    id: &str,
    title: &str,
    caption: Markup,
    (rows, axis): (&[Row], &Axis<'_>),
    (columns, numbers): (&[&str], &[Vec<Markup>]),
) -> Markup {
    let values: Vec<String> = rows.iter().map(|row| format!("{} {}", row.name, row.note)).collect();
    let desc = format!("{}: {}.", axis.name, values.join(", "));
    let numbers = table(title, columns, numbers);
    Figure { id, title, desc: &desc, caption, drawing: ranges(rows, axis), numbers }.show()
}

fn ranges(rows: &[Row], axis: &Axis<'_>) -> Drawing {
    let ends = rows.iter().flat_map(|row| {
        row.interval.into_iter().flat_map(|interval| [interval.low, interval.high]).chain([row.value])
    });
    let mut values = around(ends, axis.zero || axis.bars);
    if axis.bars {
        // Bars are shares: the margin, or an interval by Student's t, must not pass 100%.
        values = [0.0, values[1].min(1.0)];
    }
    let names: Vec<String> = rows.iter().map(|row| label(&row.name, MAX_NAME)).collect();
    let left = text_width(names.iter().map(String::as_str)) + 16.0;
    let right = text_width(rows.iter().map(|row| row.note.as_str())) + 24.0;
    let (step, width) = (if axis.bars { 36.0 } else { 24.0 }, left + 420.0 + right);
    let scale = Scale { values, range: [left, width - right] };
    let floor = TOP + step * rows.len() as f64 + 4.0;
    let body = html! {
        @for tick in ticks(values[0], values[1]) {
            line.grid x1=(px(scale.at(tick))) x2=(px(scale.at(tick))) y1=(px(TOP)) y2=(px(floor)) {}
            text.tick x=(px(scale.at(tick))) y=(px(floor + 15.0)) text-anchor="middle" { ((axis.tick)(tick)) }
        }
        @if axis.zero {
            line.zero x1=(px(scale.at(0.0))) x2=(px(scale.at(0.0))) y1=(px(TOP)) y2=(px(floor)) {}
        }
        @for (at, (row, name)) in rows.iter().zip(&names).enumerate() {
            @let middle = TOP + step * (at as f64 + 0.5);
            g class=(row.class) {
                text.name x=(px(left - 10.0)) y=(px(middle + 4.0)) text-anchor="end" { (name) }
                (mark(row, middle, scale, axis.bars))
                text.note x=(px(width - right + 14.0)) y=(px(middle + 4.0)) { (row.note) }
            }
        }
        text.axis x=(px(f64::midpoint(left, width - right))) y=(px(floor + 33.0)) text-anchor="middle" { (axis.name) }
    };
    Drawing { width, height: floor + 42.0, body }
}

fn mark(row: &Row, middle: f64, scale: Scale, bar: bool) -> Markup {
    html! {
        @if bar {
            rect.bar x=(px(scale.at(0.0))) y=(px(middle - 11.0)) height="22"
                width=(px(scale.at(row.value) - scale.at(0.0))) {}
        }
        @if let Some(interval) = row.interval { (whisker(interval, middle, scale)) }
        @if !bar {
            circle.dot.hollow[row.hollow] cx=(px(scale.at(row.value))) cy=(px(middle)) r="4.5" {}
        }
    }
}

fn whisker(interval: Interval, y: f64, scale: Scale) -> Markup {
    let [low, high] = [interval.low, interval.high].map(|end| scale.at(end));
    let path =
        format!("M{0} {2}V{3}M{0} {4}H{1}M{1} {2}V{3}", px(low), px(high), px(y - 3.0), px(y + 3.0), px(y));
    html! { path.whisker d=(path) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_of_shares_ends_at_100_percent() {
        // Student's t over two samples: 0.4 and 0.6 give 0.5 ± 12.7 × 0.1.
        let across = Interval { low: -0.77, high: 1.77 };
        let row = Row::new("asker", 0.5, Some(across), "50.0%".to_owned());
        let drawn = ranges(&[row], &Axis::shares("calibrated sessions")).body.into_string();
        assert!(drawn.contains(">100%<") && !drawn.contains(">120%<"), "{drawn}");
    }
}
