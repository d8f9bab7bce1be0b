//! Curves of shares over training steps or over k, as a standalone SVG file.

use crate::draw::{Drawing, Scale, levels, px, sheet, ticks, top_of};
use crate::text::label;
use maud::{Markup, html};
use std::fmt::Write as _;

const LEFT: f64 = 46.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = 14.0;
const HIGH: f64 = 200.0;
const WIDE: f64 = 330.0;
/// Maximum characters of a label.
const MAX_LABEL: usize = 44;
/// Maximum width of a row of panels.
const MAX_WIDTH: f64 = 1000.0;
/// Steps in the moving average, drawn bold over the faint values.
const WINDOW: usize = 5;

/// The style of the standalone file.
const STYLE: &str = "\
svg.curves{background:#fdfcf9;font-family:system-ui,-apple-system,'Segoe UI','Noto Sans',Arial,sans-serif}\
.curves text{fill:#1d1d1b;font-size:12px}.curves .tick,.curves .axis{font-size:11.5px;fill:#5c5a54}\
.curves .title{font-weight:600;font-size:13px}.curves .grid{stroke:#dcd8ce}\
.curves path{fill:none;stroke-linejoin:round;stroke-linecap:round}.curves .raw{stroke-width:1;opacity:.3}\
.curves .mean{stroke-width:2.2}.curves .dots{stroke-width:5}\
.curves .c0{stroke:#0b5f97}.curves .c1{stroke:#a8430b}.curves .c2{stroke:#4f7d2c}.curves .c3{stroke:#7a3f86}\
.curves .c4{stroke:#6f6f6f}\
@media(prefers-color-scheme:dark){svg.curves{background:#16171a}.curves text{fill:#e7e4dc}\
.curves .tick,.curves .axis{fill:#a9a59b}.curves .grid{stroke:#393a3f}.curves .c0{stroke:#58b0ee}\
.curves .c1{stroke:#ee8a55}.curves .c2{stroke:#9ccf74}.curves .c3{stroke:#cf8fd0}.curves .c4{stroke:#a9a59b}}";

/// One panel of curves.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The title.
    pub title: String,
    /// Each curve: its name and its points.
    pub series: Vec<(String, Vec<(u64, f64)>)>,
}

/// The x axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XAxis {
    /// Training steps: drawn with a moving average, from 0 to 100%.
    Steps,
    /// Integers with this label: drawn as points, each panel on its own scale.
    Points(&'static str),
}

/// An SVG file with all panels.
pub fn curves(title: &str, axis: XAxis, panels: &[Panel]) -> String {
    let drawings: Vec<Drawing> = panels.iter().map(|one| panel(one, axis)).collect();
    sheet("curves", title, STYLE, &drawings, MAX_WIDTH)
}

fn panel(panel: &Panel, axis: XAxis) -> Drawing {
    let points = || panel.series.iter().flat_map(|(_, points)| points);
    let last = points().map(|(step, _)| *step as f64).fold(1.0, f64::max);
    let (first, top, axis_label) = match axis {
        XAxis::Steps => (0.0, 1.0, "step"),
        XAxis::Points(axis) => (f64::min(1.0, last - 1.0), top_of(points().map(|(_, share)| *share)), axis),
    };
    let (floor, width) = (TOP + HIGH, LEFT + WIDE + RIGHT);
    let across = Scale { values: [first, last], range: [LEFT, LEFT + WIDE] };
    let up = Scale { values: [0.0, top], range: [floor, TOP] };
    let body = html! {
        text.title x=(px(LEFT)) y="20" { (label(&panel.title, MAX_LABEL)) }
        (levels(top, up, [LEFT, LEFT + WIDE]))
        @for tick in ticks(first, last).into_iter().filter(|tick| tick.fract() == 0.0) {
            text.tick x=(px(across.at(tick))) y=(px(floor + 16.0)) text-anchor="middle" { (tick) }
        }
        text.axis x=(px(LEFT + WIDE / 2.0)) y=(px(floor + 33.0)) text-anchor="middle" { (axis_label) }
        @for (at, (name, points)) in panel.series.iter().enumerate() {
            @let y = floor + 52.0 + 17.0 * at as f64;
            g class={ "c" (at % 5) } {
                @if axis == XAxis::Steps {
                    (line(points.iter().copied(), across, up, "raw"))
                    (line(means(points), across, up, "mean"))
                } @else {
                    (line(points.iter().copied(), across, up, "mean"))
                    (dots(points, across, up))
                }
                path.mean d={ "M" (px(LEFT)) " " (px(y - 4.0)) "h18" } {}
            }
            text x=(px(LEFT + 25.0)) y=(px(y)) { (label(name, MAX_LABEL)) }
        }
    };
    Drawing { width, height: floor + 52.0 + 17.0 * panel.series.len() as f64, body }
}

/// The moving average over each point and those before it.
fn means(points: &[(u64, f64)]) -> impl Iterator<Item = (u64, f64)> {
    points.iter().enumerate().map(|(at, (step, _))| {
        let these = &points[(at + 1).saturating_sub(WINDOW)..=at];
        (*step, these.iter().map(|(_, share)| share).sum::<f64>() / these.len() as f64)
    })
}

fn line(points: impl Iterator<Item = (u64, f64)>, across: Scale, up: Scale, class: &str) -> Markup {
    let mut path = String::new();
    for (step, share) in points {
        path.push(if path.is_empty() { 'M' } else { 'L' });
        let _ = write!(path, "{} {}", px(across.at(step as f64)), px(up.at(share)));
    }
    html! { path class=(class) d=(path) {} }
}

/// Every point as a line of zero length with round ends.
fn dots(points: &[(u64, f64)], across: Scale, up: Scale) -> Markup {
    let mut path = String::new();
    for (place, share) in points {
        let _ = write!(path, "M{} {}h0", px(across.at(*place as f64)), px(up.at(*share)));
    }
    html! { path.dots d=(path) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_its_points_and_the_mean_of_five_steps() {
        let points: Vec<(u64, f64)> = (1..=8).map(|step| (step, step as f64 / 10.0)).collect();
        let smooth: Vec<(u64, f64)> = means(&points).collect();
        assert_eq!(smooth.len(), 8);
        // (0.4 + … + 0.8) / 5, and (0.1 + 0.2) / 2 while there are fewer.
        assert!((smooth[7].1 - 0.6).abs() < 1e-12 && (smooth[1].1 - 0.15).abs() < 1e-12);
        let panel = Panel { title: "<b>".to_owned(), series: vec![("one & two".to_owned(), points)] };
        let drawn = curves("t", XAxis::Steps, &[panel.clone(), panel.clone()]);
        assert!(drawn.contains("&lt;b&gt;") && drawn.contains("one &amp; two") && !drawn.contains("<b>"));
        // Each panel: a raw line, a smooth one, and its sign below.
        assert_eq!(drawn.matches("<path").count(), 6);
        let drawn = curves("t", XAxis::Points("k"), &[panel]);
        // A line, its points, and its sign below.
        assert_eq!((drawn.matches("<path").count(), drawn.matches("h0").count()), (3, 8), "{drawn}");
        assert!(drawn.contains(">k</text>") && drawn.contains(">1</text>") && !drawn.contains(">0</text>"));
        let empty = Panel { title: String::new(), series: Vec::new() };
        assert!(curves("t", XAxis::Steps, std::slice::from_ref(&empty)).starts_with("<svg"));
        assert!(!curves("t", XAxis::Points("k"), &[empty]).contains("NaN"));
    }
}
