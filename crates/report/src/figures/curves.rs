//! Curves over the steps of a training, as a drawing that stands by itself.

use crate::draw::{Drawing, Scale, px, ticks};
use crate::text::label;
use maud::{Markup, PreEscaped, html};
use std::fmt::Write as _;

const LEFT: f64 = 46.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = 14.0;
const HIGH: f64 = 200.0;
const WIDE: f64 = 330.0;
const LONGEST: usize = 44;
/// A bold line is the mean of so many steps; the steps themselves are faint.
const SMOOTH: usize = 5;

/// A drawing has no page around it, so it brings its colours along.
const STYLE: &str = "\
svg{background:#fdfcf9;font-family:system-ui,-apple-system,'Segoe UI','Noto Sans',Arial,sans-serif}\
text{fill:#1d1d1b;font-size:12px}.tick,.axis{font-size:11.5px;fill:#5c5a54}.title{font-weight:600;font-size:13px}\
.grid{stroke:#dcd8ce}path{fill:none;stroke-linejoin:round}.raw{stroke-width:1;opacity:.3}.mean{stroke-width:2.2}\
.c0{stroke:#0b5f97}.c1{stroke:#a8430b}.c2{stroke:#4f7d2c}.c3{stroke:#7a3f86}.c4{stroke:#6f6f6f}\
@media(prefers-color-scheme:dark){svg{background:#16171a}text{fill:#e7e4dc}.tick,.axis{fill:#a9a59b}\
.grid{stroke:#393a3f}.c0{stroke:#58b0ee}.c1{stroke:#ee8a55}.c2{stroke:#9ccf74}.c3{stroke:#cf8fd0}.c4{stroke:#a9a59b}}";

/// Shares that belong together, over the steps.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What they are.
    pub title: String,
    /// Each curve: its name, and its steps with their shares.
    pub series: Vec<(String, Vec<(u64, f64)>)>,
}

/// An SVG file: the panels beside each other.
pub fn curves(title: &str, panels: &[Panel]) -> String {
    let drawings: Vec<Drawing> = panels.iter().map(panel).collect();
    let width: f64 = drawings.iter().map(|drawing| drawing.width).sum();
    let height = drawings.iter().map(|drawing| drawing.height).fold(0.0, f64::max);
    let places = drawings.iter().scan(0.0, |at, drawing| {
        let place = *at;
        *at += drawing.width;
        Some((place, &drawing.body))
    });
    let drawn = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (px(width)) " " (px(height)) }
            width=(px(width)) height=(px(height)) role="img" {
            title { (title) }
            style { (PreEscaped(STYLE)) }
            @for (place, body) in places { g transform={ "translate(" (px(place)) " 0)" } { (body) } }
        }
    };
    drawn.into_string()
}

fn panel(panel: &Panel) -> Drawing {
    let steps = panel.series.iter().flat_map(|(_, points)| points.iter().map(|(step, _)| *step as f64));
    let last = steps.fold(1.0, f64::max);
    let (floor, width) = (TOP + HIGH, LEFT + WIDE + RIGHT);
    let across = Scale { values: [0.0, last], place: [LEFT, LEFT + WIDE] };
    let up = Scale { values: [0.0, 1.0], place: [floor, TOP] };
    let body = html! {
        text.title x=(px(LEFT)) y="20" { (label(&panel.title, LONGEST)) }
        @for tick in ticks(0.0, 1.0) {
            line.grid x1=(px(LEFT)) x2=(px(LEFT + WIDE)) y1=(px(up.at(tick))) y2=(px(up.at(tick))) {}
            text.tick x=(px(LEFT - 6.0)) y=(px(up.at(tick) + 4.0)) text-anchor="end" { (format!("{:.0}%", 100.0 * tick)) }
        }
        @for tick in ticks(0.0, last) {
            text.tick x=(px(across.at(tick))) y=(px(floor + 16.0)) text-anchor="middle" { (tick) }
        }
        text.axis x=(px(LEFT + WIDE / 2.0)) y=(px(floor + 33.0)) text-anchor="middle" { "step" }
        @for (at, (name, points)) in panel.series.iter().enumerate() {
            @let y = floor + 52.0 + 17.0 * at as f64;
            g class={ "c" (at % 5) } {
                (line(points.iter().copied(), across, up, "raw"))
                (line(means(points), across, up, "mean"))
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
        let drawn = curves("t", &[panel.clone(), panel]);
        assert!(drawn.contains("&lt;b&gt;") && drawn.contains("one &amp; two") && !drawn.contains("<b>"));
        // Each panel: a raw line, a smooth one, and its sign below.
        assert_eq!(drawn.matches("<path").count(), 6);
        assert!(curves("t", &[Panel { title: String::new(), series: Vec::new() }]).starts_with("<svg"));
    }
}
