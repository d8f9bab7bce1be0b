//! Pairs of bars, before and after, with whiskers and a dot for each seed.

use crate::draw::{Drawing, Scale, levels, px, sheet, text_width, top_of};
use crate::text::label;
use maud::{Markup, html};

const LEFT: f64 = 46.0;
const TOP: f64 = 58.0;
const RIGHT: f64 = 14.0;
const HIGH: f64 = 210.0;
const BAR: f64 = 26.0;
const MIN_GROUP_WIDTH: f64 = 92.0;
/// Maximum characters of a label.
const MAX_LABEL: usize = 24;
/// Maximum width of a row of panels.
const MAX_WIDTH: f64 = 1000.0;

/// The style of the standalone file.
const STYLE: &str = "\
svg.bars{background:#fdfcf9;font-family:system-ui,-apple-system,'Segoe UI','Noto Sans',Arial,sans-serif}\
.bars text{fill:#1d1d1b;font-size:12px}.bars .tick{font-size:11.5px;fill:#5c5a54}\
.bars .title{font-weight:600;font-size:13px}.bars .grid{stroke:#dcd8ce}.bars .before{fill:#b9b3a6}\
.bars .after{fill:#6ea3c8}.bars .whisker{stroke:#1d1d1b;stroke-width:1.4;fill:none}\
.bars .dot{fill:#0b5f97;stroke:#fdfcf9;stroke-width:1}.bars .change{font-weight:600}\
@media(prefers-color-scheme:dark){svg.bars{background:#16171a}.bars text{fill:#e7e4dc}.bars .tick{fill:#a9a59b}\
.bars .grid{stroke:#393a3f}.bars .before{fill:#6c6860}.bars .after{fill:#2c6d9c}.bars .whisker{stroke:#e7e4dc}\
.bars .dot{fill:#84bfe8;stroke:#16171a}}";

/// One group: a share before, and shares after.
#[derive(Clone, Debug)]
pub struct Group {
    /// The name.
    pub name: String,
    /// The share before.
    pub before: f64,
    /// The mean share after.
    pub after: f64,
    /// Half of the length of the whiskers.
    pub spread: Option<f64>,
    /// Every share after.
    pub dots: Vec<f64>,
    /// The text above it.
    pub change: String,
}

/// One panel of groups.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The title.
    pub title: String,
    /// The groups.
    pub groups: Vec<Group>,
}

impl Group {
    /// The highest value in the group.
    fn highest(&self) -> f64 {
        let shares = self.dots.iter().copied().chain([self.before, self.after + self.spread.unwrap_or(0.0)]);
        shares.filter(|share| share.is_finite()).fold(0.0, f64::max)
    }
}

/// An SVG file with panels on one scale; `key` labels the two bars.
pub fn bars(title: &str, key: [&str; 2], panels: &[Bars]) -> String {
    let top = top_of(panels.iter().flat_map(|bars| &bars.groups).map(Group::highest));
    let drawings: Vec<Drawing> = panels.iter().map(|bars| panel(bars, key, top)).collect();
    sheet("bars", title, STYLE, &drawings, MAX_WIDTH)
}

fn panel(bars: &Bars, key: [&str; 2], top: f64) -> Drawing {
    let names: Vec<String> = bars.groups.iter().map(|group| label(&group.name, MAX_LABEL)).collect();
    let wide = text_width(names.iter().map(String::as_str)).max(MIN_GROUP_WIDTH - 16.0) + 16.0;
    let (floor, across) = (TOP + HIGH, wide * bars.groups.len().max(1) as f64);
    let up = Scale { values: [0.0, top], range: [floor, TOP] };
    let keys = [key[0], key[1]].map(|name| label(name, MAX_LABEL));
    let second = LEFT + 34.0 + text_width(std::iter::once(keys[0].as_str()));
    let end = second + 18.0 + text_width(std::iter::once(keys[1].as_str()));
    let body = html! {
        text.title x=(px(LEFT)) y="20" { (label(&bars.title, 80)) }
        rect.before x=(px(LEFT)) y="30" width="12" height="10" {}
        text.tick x=(px(LEFT + 18.0)) y="39" { (keys[0]) }
        rect.after x=(px(second)) y="30" width="12" height="10" {}
        text.tick x=(px(second + 18.0)) y="39" { (keys[1]) }
        (levels(top, up, [LEFT, LEFT + across]))
        @for (at, (group, name)) in bars.groups.iter().zip(&names).enumerate() {
            (pair(group, name, LEFT + wide * (at as f64 + 0.5), up, floor))
        }
    };
    Drawing { width: (LEFT + across + RIGHT).max(end + RIGHT), height: floor + 30.0, body }
}

/// One group, centred at `middle`.
fn pair(group: &Group, name: &str, middle: f64, up: Scale, floor: f64) -> Markup {
    let bar = |class: &str, x: f64, share: f64| {
        let top = up.at(share);
        html! { rect class=(class) x=(px(x)) y=(px(top)) width=(px(BAR)) height=(px(floor - top)) {} }
    };
    let right = middle + 2.0 + BAR / 2.0;
    let step = 6.0_f64.min((BAR - 8.0) / group.dots.len().max(1) as f64);
    let first = right - step * (group.dots.len() as f64 - 1.0) / 2.0;
    html! {
        (bar("before", middle - 2.0 - BAR, group.before))
        (bar("after", middle + 2.0, group.after))
        @if let Some(spread) = group.spread {
            @let (low, high) = (up.at(group.after - spread), up.at(group.after + spread));
            path.whisker d={ "M" (px(right)) " " (px(low)) "V" (px(high)) "M" (px(right - 5.0)) " " (px(low)) "h10M" (px(right - 5.0)) " " (px(high)) "h10" } {}
        }
        @for (at, share) in group.dots.iter().enumerate() {
            circle.dot cx=(px(first + step * at as f64)) cy=(px(up.at(*share))) r="3.2" {}
        }
        text.change x=(px(middle)) y=(px(up.at(group.highest()) - 8.0)) text-anchor="middle" { (label(&group.change, MAX_LABEL)) }
        text x=(px(middle)) y=(px(floor + 17.0)) text-anchor="middle" { (name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_has_two_bars_its_dots_and_its_whisker() {
        let group = |name: &str, dots: Vec<f64>, spread| Group {
            name: name.to_owned(),
            before: 0.5,
            after: 0.6,
            spread,
            dots,
            change: "+10.0".to_owned(),
        };
        let panel = Bars {
            title: "avg@8".to_owned(),
            groups: vec![group("a<b", vec![0.55, 0.65], Some(0.07)), group("c", vec![f64::NAN], None)],
        };
        let drawn = bars("t & u", ["before", "after"], &[panel.clone(), panel]);
        assert!(drawn.contains("a&lt;b") && drawn.contains("t &amp; u") && !drawn.contains("NaN"));
        // Two groups and a key, in two panels.
        assert_eq!(drawn.matches("<rect").count(), 2 * (2 * 2 + 2));
        assert_eq!((drawn.matches("<circle").count(), drawn.matches("<path").count()), (6, 2));
        assert!(bars("t", ["a", "b"], &[Bars { title: String::new(), groups: vec![] }]).starts_with("<svg"));
    }
}
