//! Curves of shares, over the steps of a training or the answers to a problem, as a drawing that stands by itself.

use crate::draw::{Drawing, Scale, levels, px, sheet, ticks, top_of};
use crate::text::label;
use maud::{Markup, html};
use std::fmt::Write as _;

const LEFT: f64 = 46.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = 14.0;
const HIGH: f64 = 200.0;
const WIDE: f64 = 330.0;
const LONGEST: usize = 44;
/// Panels stand beside each other up to this width.
const WIDEST: f64 = 1000.0;
/// A bold line over steps is the mean of so many; the steps themselves are faint.
const SMOOTH: usize = 5;

/// A drawing has no page around it, so it brings its colours along.
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

/// Shares that belong together.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What they are.
    pub title: String,
    /// Each curve: its name, and its places with their shares.
    pub series: Vec<(String, Vec<(u64, f64)>)>,
}

/// What curves run over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Steps of a training: noisy, so their means are drawn over them; all panels from 0 to 100%.
    Steps,
    /// Whole numbers under this name: every point counts; each panel on its own scale.
    Points(&'static str),
}

/// An SVG file: the panels beside each other.
pub fn curves(title: &str, over: Over, panels: &[Panel]) -> String {
    let drawings: Vec<Drawing> = panels.iter().map(|one| panel(one, over)).collect();
    sheet("curves", title, STYLE, &drawings, WIDEST)
}

fn panel(panel: &Panel, over: Over) -> Drawing {
    let points = || panel.series.iter().flat_map(|(_, points)| points);
    let last = points().map(|(step, _)| *step as f64).fold(1.0, f64::max);
    let (first, top, axis) = match over {
        Over::Steps => (0.0, 1.0, "step"),
        Over::Points(axis) => (f64::min(1.0, last - 1.0), top_of(points().map(|(_, share)| *share)), axis),
    };
    let (floor, width) = (TOP + HIGH, LEFT + WIDE + RIGHT);
    let across = Scale { values: [first, last], place: [LEFT, LEFT + WIDE] };
    let up = Scale { values: [0.0, top], place: [floor, TOP] };
    let body = html! {
        text.title x=(px(LEFT)) y="20" { (label(&panel.title, LONGEST)) }
        (levels(top, up, [LEFT, LEFT + WIDE]))
        @for tick in ticks(first, last).into_iter().filter(|tick| tick.fract() == 0.0) {
            text.tick x=(px(across.at(tick))) y=(px(floor + 16.0)) text-anchor="middle" { (tick) }
        }
        text.axis x=(px(LEFT + WIDE / 2.0)) y=(px(floor + 33.0)) text-anchor="middle" { (axis) }
        @for (at, (name, points)) in panel.series.iter().enumerate() {
            @let y = floor + 52.0 + 17.0 * at as f64;
            g class={ "c" (at % 5) } {
                @if over == Over::Steps {
                    (line(points.iter().copied(), across, up, "raw"))
                    (line(means(points), across, up, "mean"))
                } @else {
                    (line(points.iter().copied(), across, up, "mean"))
                    (dots(points, across, up))
                }
                path.mean d={ "M" (px(LEFT)) " " (px(y - 4.0)) "h18" } {}
            }
            text x=(px(LEFT + 25.0)) y=(px(y)) { (label(name, LONGEST)) }
        }
    };
    Drawing { width, height: floor + 52.0 + 17.0 * panel.series.len() as f64, body }
}

/// The mean of each step and those before it.
fn means(points: &[(u64, f64)]) -> impl Iterator<Item = (u64, f64)> {
    points.iter().enumerate().map(|(at, (step, _))| {
        let these = &points[(at + 1).saturating_sub(SMOOTH)..=at];
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

/// Every point by itself: a line of no length with round ends.
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
        let drawn = curves("t", Over::Steps, &[panel.clone(), panel.clone()]);
        assert!(drawn.contains("&lt;b&gt;") && drawn.contains("one &amp; two") && !drawn.contains("<b>"));
        // Each panel: a raw line, a smooth one, and its sign below.
        assert_eq!(drawn.matches("<path").count(), 6);
        let drawn = curves("t", Over::Points("k"), &[panel]);
        // A line, its points, and its sign below.
        assert_eq!((drawn.matches("<path").count(), drawn.matches("h0").count()), (3, 8), "{drawn}");
        assert!(drawn.contains(">k</text>") && drawn.contains(">1</text>") && !drawn.contains(">0</text>"));
        let empty = Panel { title: String::new(), series: Vec::new() };
        assert!(curves("t", Over::Steps, std::slice::from_ref(&empty)).starts_with("<svg"));
        assert!(!curves("t", Over::Points("k"), &[empty]).contains("NaN"));
    }
}
