//! Comparisons and scores as web pages, and the figure of seeds.

use crate::compare::{Metric, ModelComparison};
use crate::score::{DatasetScore, Scores};
use crate::tables;
use aske_report::number::signed;
use aske_report::{Bars, Frame, Group, Panel, Section, XAxis, bars, curves, label};
use maud::{Markup, PreEscaped, html};

/// The figure: bars for the base model and the mean of the trained ones, whiskers of one standard deviation, a dot for
/// each trained model, and the change in points above.
pub fn figure(found: &ModelComparison) -> String {
    let panels = Metric::BOTH.map(|metric| {
        let lines = found.lines.iter().filter(|line| line.metric == metric);
        let groups = lines.map(|line| Group {
            name: line.title.clone(),
            before: line.base,
            after: line.mean,
            spread: line.spread,
            dots: line.trained.clone(),
            change: signed(line.mean - line.base),
        });
        let title = found
            .lines
            .iter()
            .map(|line| metric.name(line.k))
            .reduce(|one, other| if one == other { one } else { metric.name("k") });
        Bars { title: title.unwrap_or_default(), groups: groups.collect() }
    });
    let after = match found.trained.as_slice() {
        [one] => label(one, 60),
        several => format!("mean of {}, ± one SD", several.len()),
    };
    bars("Before and after training, by benchmark", [&found.base, &after], &panels)
}

/// pass@k over k: one panel per dataset, one curve per run.
fn pass_curves(runs: &[(String, Scores)]) -> String {
    let curve =
        |dataset: &DatasetScore| (1..).zip(&dataset.score.pass).map(|(k, rate)| (k, rate.value)).collect();
    let mut panels: Vec<Panel> = Vec::new();
    for (name, scores) in runs {
        for dataset in &scores.datasets {
            let line = (name.clone(), curve(dataset));
            match panels.iter_mut().find(|panel| panel.title == dataset.title) {
                Some(panel) => panel.series.push(line),
                None => panels.push(Panel { title: dataset.title.clone(), series: vec![line] }),
            }
        }
    }
    curves("pass@k over k", XAxis::Points("k"), &panels)
}

/// Embeds an SVG figure in a page. Our figures escape every name.
fn embed(drawing: &str) -> Markup {
    html! { figure { div.scroll tabindex="0" role="group" aria-label="Figure" { (PreEscaped(drawing)) } } }
}

/// The page of a comparison, with its figure.
pub fn comparison(found: &ModelComparison) -> String {
    let sections = [
        Section { id: "table", heading: "Before and after", body: tables::comparison(found).html() },
        Section {
            id: "change",
            heading: "Is it more than chance?",
            body: html! {
                p.read {
                    "Every problem is compared with itself. A change smaller than the last column would most likely be \
                     missed by a study of this size."
                }
                (tables::changes(found).html())
            },
        },
        Section { id: "figure", heading: "By benchmark", body: embed(&figure(found)) },
    ];
    let names: Vec<&str> =
        std::iter::once(found.base.as_str()).chain(found.trained.iter().map(String::as_str)).collect();
    let frame = Frame {
        title: "Ask-E: downstream benchmarks",
        kicker: "Ask-E evaluation",
        heading: "Does asking teach answering?",
        names: &names,
        command: "aske eval compare",
    };
    frame.around(&sections)
}

/// The page of the scores of runs.
pub fn scores(runs: &[(String, Scores)]) -> String {
    let tables = html! {
        @for (name, scores) in runs {
            h3 { (label(name, 120)) }
            (tables::scores(scores).html())
            @if let Some(levels) = tables::levels(scores) { (levels.html()) }
        }
    };
    let every = html! {
        p.read { "The chance that at least one of k answers to a problem is right." }
        (embed(&pass_curves(runs)))
        details.numbers { summary { "The numbers" } (tables::every_k(runs).html()) }
    };
    let names: Vec<&str> = runs.iter().map(|(_, scores)| scores.model.as_str()).collect();
    let frame = Frame {
        title: "Ask-E: downstream benchmarks",
        kicker: "Ask-E evaluation",
        heading: "How well do they answer?",
        names: &names,
        command: "aske report --html",
    };
    frame.around(&[
        Section { id: "scores", heading: "Scores", body: tables },
        Section { id: "pass", heading: "pass@k for every k", body: every },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{ComparedRun, compare};
    use crate::score::tests::run;

    #[test]
    fn a_page_has_both_tables_and_the_figure_and_escapes_names() {
        let names: Vec<String> = (0..12).map(|i| i.to_string()).collect();
        let with =
            |right: u32| run("x", 2, &names.iter().map(|name| (name.as_str(), right)).collect::<Vec<_>>());
        let (base, after) = (with(0), with(1));
        let found = compare(
            ComparedRun { name: "<base>", records: &base },
            &[ComparedRun { name: "one", records: &after }, ComparedRun { name: "two", records: &base }],
        );
        let page = comparison(&found.unwrap());
        assert!(page.contains("&lt;base&gt;") && !page.contains("<base>"));
        assert!(page.contains("<svg class=\"bars\"") && page.matches("<circle").count() == 4);
        assert!(page.contains("<b>50.00%</b>") && page.contains("smallest visible"), "{page}");
        let page = scores(&[("runs/<x>".to_owned(), crate::scores(&after))]);
        assert!(page.contains("runs/&lt;x&gt;") && !page.contains("<x>"));
        assert!(page.contains("<svg class=\"curves\"") && page.contains("50.0%"), "{page}");
    }
}
