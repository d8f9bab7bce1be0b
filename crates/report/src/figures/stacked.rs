//! Stacked bars of outcomes, one for each asker.

use crate::draw::{Drawing, Figure, Scale, px, text_width};
use crate::number::{percent, points};
use crate::sections::table;
use crate::text::label;
use aske_session::Outcome;
use maud::{Markup, html};

const BAR: f64 = 30.0;
const ROW: f64 = 46.0;
const TOP: f64 = 34.0;
/// Maximum characters of a name.
const MAX_NAME: usize = 30;

/// One bar.
pub(crate) struct Bar {
    pub(crate) name: String,
    /// Shares by outcome.
    pub(crate) shares: [f64; 5],
}

/// A figure of bars, with the columns and rows of its table.
pub(crate) fn stacked_figure(
    id: &str,
    title: &str,
    caption: Markup,
    bars: &[Bar],
    (columns, rows): (&[&str], &[Vec<Markup>]),
) -> Markup {
    let describe = |bar: &Bar| {
        let parts = Outcome::ALL.into_iter().zip(bar.shares);
        let parts = parts.map(|(outcome, share)| format!("{} {}", outcome.as_str(), percent(share)));
        format!("{}: {}.", bar.name, parts.collect::<Vec<_>>().join(", "))
    };
    let desc = bars.iter().map(describe).collect::<Vec<_>>().join(" ");
    let numbers = table(title, columns, rows);
    Figure { id, title, desc: &desc, caption, drawing: stacked(bars), numbers }.show()
}

fn stacked(bars: &[Bar]) -> Drawing {
    let names: Vec<String> = bars.iter().map(|bar| label(&bar.name, MAX_NAME)).collect();
    let left = text_width(names.iter().map(String::as_str)) + 14.0;
    let width = left + 630.0;
    let scale = Scale { values: [0.0, 1.0], range: [left, width - 24.0] };
    let height = TOP + ROW * bars.len() as f64 + 26.0;
    let floor = height - 24.0;
    let body = html! {
        (legend(left))
        @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
            line.grid x1=(px(scale.at(tick))) x2=(px(scale.at(tick))) y1=(px(TOP)) y2=(px(floor)) {}
            text.tick x=(px(scale.at(tick))) y=(px(floor + 15.0)) text-anchor="middle" { (format!("{:.0}%", tick * 100.0)) }
        }
        @for (row, (bar, name)) in bars.iter().zip(&names).enumerate() {
            @let top = TOP + ROW * row as f64 + (ROW - BAR) / 2.0;
            text.name x=(px(left - 8.0)) y=(px(top + BAR / 2.0 + 4.0)) text-anchor="end" { (name) }
            (segments(bar, top, scale))
        }
    };
    Drawing { width, height, body }
}

fn segments(bar: &Bar, top: f64, scale: Scale) -> Markup {
    let mut from = 0.0;
    let parts = Outcome::ALL.into_iter().zip(bar.shares).map(|(outcome, share)| {
        let start = from;
        from += share;
        (outcome, share, [scale.at(start), scale.at(from)])
    });
    let parts: Vec<_> = parts.filter(|(_, share, _)| *share > 0.0).collect();
    html! {
        @for (outcome, share, [start, end]) in parts {
            @let wide = end - start;
            g class={ "o-" (outcome.as_str()) } {
                rect.seg x=(px(start)) y=(px(top)) width=(px(wide)) height=(px(BAR)) {
                    title { (outcome.as_str()) ": " (percent(share)) }
                }
                @if wide > 30.0 {
                    text.in x=(px(start + wide / 2.0)) y=(px(top + BAR / 2.0 + 4.0)) text-anchor="middle" {
                        (points(share))
                    }
                }
            }
        }
    }
}

fn legend(left: f64) -> Markup {
    let mut at = left;
    let places = Outcome::ALL.map(|outcome| {
        let start = at;
        at += 34.0 + 6.4 * outcome.as_str().len() as f64;
        start
    });
    html! {
        @for (outcome, at) in Outcome::ALL.into_iter().zip(places) {
            g class={ "o-" (outcome.as_str()) } {
                rect.seg x=(px(at)) y="6" width="14" height="14" {}
                text.key x=(px(at + 20.0)) y="17" { (outcome.as_str()) }
            }
        }
    }
}
