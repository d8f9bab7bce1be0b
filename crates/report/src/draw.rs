//! The parts of figures: frame, scales, ticks and table.

use crate::sections::scroll;
use crate::text::{label, visible};
use maud::{Markup, PreEscaped, html};

/// A drawing shrinks to this fraction of its size; on narrower screens its box scrolls.
const MIN_SCALE: f64 = 0.84;

/// A figure: a drawing with a title and a description, a caption, and its numbers as a table.
pub(crate) struct Figure<'f> {
    /// Unique in the page; letters, digits and dashes.
    pub(crate) id: &'f str,
    /// The title.
    pub(crate) title: &'f str,
    /// The description for screen readers.
    pub(crate) desc: &'f str,
    /// How to read it.
    pub(crate) caption: Markup,
    /// The drawing.
    pub(crate) drawing: Drawing,
    /// The numbers as a table.
    pub(crate) numbers: Markup,
}

/// An SVG fragment and its size.
pub(crate) struct Drawing {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) body: Markup,
}

impl Figure<'_> {
    /// Renders the figure. On a narrow screen the drawing scrolls inside its box.
    pub(crate) fn show(&self) -> Markup {
        let Drawing { width, height, body } = &self.drawing;
        let names = format!("{0}-t {0}-d", self.id);
        html! {
            figure id=(self.id) {
                div.scroll tabindex="0" role="group" aria-label=(self.title) {
                    svg viewBox={ "0 0 " (px(*width)) " " (px(*height)) } width=(px(*width)) height=(px(*height))
                        style={ "min-width:" (px(MIN_SCALE * width)) "px" }
                        role="img" aria-labelledby=(names) {
                        title id={ (self.id) "-t" } { (self.title) }
                        desc id={ (self.id) "-d" } { (visible(self.desc)) }
                        (body)
                    }
                }
                figcaption { b { (self.title) ". " } (self.caption) }
                details.numbers {
                    summary { "Numbers" }
                    (scroll(&format!("Numbers: {}", self.title), &self.numbers))
                }
            }
        }
    }
}

/// A standalone SVG file with panels in rows of at most `max_width`. The class scopes the style's rules, because the file
/// may be embedded in a page.
pub(crate) fn sheet(class: &str, title: &str, style: &str, panels: &[Drawing], max_width: f64) -> String {
    let (mut x, mut y, mut width, mut tallest) = (0.0, 0.0, 0.0_f64, 0.0_f64);
    let mut placed = Vec::new();
    for panel in panels {
        if x > 0.0 && x + panel.width > max_width {
            (x, y, tallest) = (0.0, y + tallest, 0.0);
        }
        placed.push((x, y, &panel.body));
        x += panel.width;
        (width, tallest) = (width.max(x), tallest.max(panel.height));
    }
    let height = y + tallest;
    let drawn = html! {
        svg class=(class) xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (px(width)) " " (px(height)) }
            width=(px(width)) height=(px(height)) role="img" {
            title { (label(title, 200)) }
            style { (PreEscaped(style)) }
            @for (x, y, body) in placed { g transform={ "translate(" (px(x)) " " (px(y)) ")" } { (body) } }
        }
    };
    drawn.into_string()
}

/// A round upper limit a little above these shares.
pub(crate) fn top_of(shares: impl Iterator<Item = f64>) -> f64 {
    let highest = shares.filter(|share| share.is_finite()).fold(0.0, f64::max);
    let tops = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8];
    tops.into_iter().find(|top| 1.1 * highest <= *top).unwrap_or(1.0)
}

/// Horizontal grid lines of a panel of shares, with labels.
pub(crate) fn levels(top: f64, up: Scale, [left, right]: [f64; 2]) -> Markup {
    let ticks = ticks(0.0, top);
    let digits = usize::from(ticks.iter().any(|tick| (100.0 * tick - (100.0 * tick).round()).abs() > 1e-6));
    html! {
        @for tick in ticks {
            line.grid x1=(px(left)) x2=(px(right)) y1=(px(up.at(tick))) y2=(px(up.at(tick))) {}
            text.tick x=(px(left - 6.0)) y=(px(up.at(tick) + 4.0)) text-anchor="end" {
                (format!("{:.digits$}%", 100.0 * tick))
            }
        }
    }
}

/// A coordinate with one decimal.
pub(crate) fn px(value: f64) -> String {
    let text = format!("{:.1}", if value.is_finite() { value } else { 0.0 });
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// An upper estimate of the width of the widest label at 12 px.
pub(crate) fn text_width<'l>(labels: impl Iterator<Item = &'l str>) -> f64 {
    let width = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | '\'' | '|' => 3.6,
        '-' | 'f' | 'r' | 't' | ' ' | '(' | ')' | '/' => 4.9,
        'm' | 'w' | 'M' | 'W' | '%' => 11.4,
        _ if c.is_ascii_lowercase() || c.is_ascii_digit() => 7.5,
        _ => 9.2,
    };
    labels.map(|label| label.chars().map(width).sum()).fold(0.0, f64::max)
}

/// Maps a range of values to a range of coordinates.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) values: [f64; 2],
    pub(crate) range: [f64; 2],
}

impl Scale {
    /// The coordinate of a value, clamped to the range.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let [low, high] = self.values;
        let part = ((value - low) / (high - low)).clamp(0.0, 1.0);
        let part = if part.is_finite() { part } else { 0.0 };
        self.range[0] + part * (self.range[1] - self.range[0])
    }
}

/// Round numbers within a range, at most about eight of them.
pub(crate) fn ticks(low: f64, high: f64) -> Vec<f64> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return vec![low];
    }
    let power = 10_f64.powf((span / 8.0).log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|by| by * power).find(|step| span / step <= 8.0);
    let step = step.unwrap_or(span);
    let first = (low / step - 1e-9).ceil();
    (0..12)
        .map(|tick| (first + f64::from(tick)) * step)
        .take_while(|tick| *tick <= high + 1e-9 * span)
        .collect()
}

/// A range around these values with a margin, optionally including 0.
pub(crate) fn around(values: impl Iterator<Item = f64>, zero: bool) -> [f64; 2] {
    let start = if zero { [0.0, 0.0] } else { [f64::INFINITY, f64::NEG_INFINITY] };
    let [low, high] = values
        .filter(|value| value.is_finite())
        .fold(start, |[low, high], value| [f64::min(low, value), f64::max(high, value)]);
    if low > high {
        return [0.0, 1.0];
    }
    let margin = if high > low { 0.04 * (high - low) } else { 0.05 };
    [low - margin, high + margin]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            ticks(0.0, 1.0).into_iter().map(px).collect::<Vec<_>>(),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
        assert_eq!(ticks(-3.1, 2.9), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]);
        for (low, high) in [(0.0, 0.0), (1.0, f64::NAN), (-1e9, 1e9), (0.0, 1e-12)] {
            assert!((1..=10).contains(&ticks(low, high).len()), "{low} {high}");
        }
    }

    #[test]
    fn a_top_is_round_and_above_everything() {
        let top = |share: f64| top_of([0.0, share, f64::NAN].into_iter());
        assert_eq!(
            [0.0, 0.12, 0.4, 0.75, 0.98].map(top).map(|top| format!("{top}")),
            ["0.02", "0.2", "0.5", "1", "1"]
        );
    }

    #[test]
    fn levels_say_what_they_are() {
        let up = Scale { values: [0.0, 1.0], range: [10.0, 0.0] };
        let said = |top: f64| levels(top, up, [0.0, 1.0]).into_string();
        assert!(said(0.2).contains(">2.5%<") && said(0.2).contains(">20.0%<"));
        assert!(said(0.6).contains(">10%<") && said(0.3).contains(">5%<") && said(1.0).contains(">100%<"));
    }

    #[test]
    fn panels_stand_beside_each_other_while_there_is_room() {
        let panels: Vec<Drawing> =
            [30.0, 40.0, 50.0].map(|width| Drawing { width, height: width, body: html! { "x" } }).into();
        let drawn = sheet("c", "t", "", &panels, 80.0);
        assert!(drawn.contains("viewBox=\"0 0 70 90\""), "{drawn}");
        for place in ["translate(0 0)", "translate(30 0)", "translate(0 40)"] {
            assert!(drawn.contains(place), "{drawn}");
        }
    }

    #[test]
    fn a_scale_stays_in_its_place() {
        let scale = Scale { values: [0.0, 1.0], range: [10.0, 20.0] };
        assert_eq!([scale.at(0.5), scale.at(7.0), scale.at(f64::NAN)].map(px), ["15", "20", "10"]);
        let flat = Scale { values: [1.0, 1.0], range: [10.0, 20.0] };
        assert!(flat.at(1.0).is_finite());
    }
}
