//! Scores and comparisons as tables.

use crate::compare::{ComparisonRow, ModelComparison};
use crate::grid::{Cell, Grid};
use crate::score::{DatasetScore, Rate, Score, Scores};
use aske_report::number::{or_dash, p_value, percent, percent_range, signed, signed_range};
use aske_stats::PairedComparison;

/// Shown if there is no number.
const NONE: &str = "–";

/// What bold means in the table of a comparison.
pub const BOLD: &str = "Bold is significantly above the baseline: p < 0.05 by problem, after Holm's correction over the rows \
                        for the mean, and over rows and models for single models.";

/// avg@n and pass@k of a run, for some k that every problem has.
pub fn scores(scores: &Scores) -> Grid {
    let (fewest, average) = labels(scores);
    let shown = ks(fewest);
    let mut header: Vec<String> =
        ["Dataset", "problems", "samples", &average, "95%"].map(str::to_owned).to_vec();
    header.extend(shown.iter().map(|k| format!("pass@{k}")));
    header.extend(["95%", "capped", "no box", "tokens"].map(str::to_owned));
    let row = |title: &str, score: &Score, rest: [String; 3]| {
        let mut row: Vec<Cell> = vec![
            title.into(),
            score.problems.to_string().into(),
            score.samples.to_string().into(),
            rate(score.average).into(),
            interval(score.average).into(),
        ];
        row.extend(shown.iter().map(|k| rate(pass(score, *k)).into()));
        row.push(interval(pass(score, fewest)).into());
        row.extend(rest.map(Cell::from));
        row
    };
    let of = |dataset: &DatasetScore| {
        let share = |count: u64| percent(count as f64 / dataset.score.samples.max(1) as f64);
        let rest = [share(dataset.capped), share(dataset.unboxed), format!("{:.0}", dataset.tokens)];
        row(&dataset.title, &dataset.score, rest)
    };
    let mut rows: Vec<Vec<Cell>> = scores.datasets.iter().map(of).collect();
    rows.extend(scores.pooled.iter().map(|pooled| row("All problems", pooled, [NONE; 3].map(str::to_owned))));
    let caption = format!("{}: {average} and pass@k; intervals are by problem", scores.model);
    Grid { caption, header, texts: 1, rows, group: 0 }
}

/// Scores by level, for datasets with levels.
pub fn levels(scores: &Scores) -> Option<Grid> {
    let leveled: Vec<&DatasetScore> =
        scores.datasets.iter().filter(|dataset| dataset.levels.len() > 1).collect();
    let (fewest, average) = labels(scores);
    let rows = leveled.iter().flat_map(|dataset| {
        dataset.levels.iter().map(|(level, score)| {
            let last = pass(score, fewest);
            [
                format!("{}, level {level}", dataset.title),
                score.problems.to_string(),
                rate(score.average),
                interval(score.average),
                rate(last),
                interval(last),
            ]
            .map(Cell::from)
            .to_vec()
        })
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    let header = ["Level", "problems", &average, "95%", &format!("pass@{fewest}"), "95%"];
    (!rows.is_empty()).then(|| Grid {
        caption: "By level".to_owned(),
        header: header.map(str::to_owned).to_vec(),
        texts: 1,
        rows,
        group: 0,
    })
}

/// The k that every problem has, and the label of the mean: `avg@8` if all have 8 samples.
fn labels(scores: &Scores) -> (u32, String) {
    let counts = || scores.datasets.iter().map(|dataset| &dataset.score);
    let fewest = counts().map(|score| score.fewest).min().unwrap_or(0);
    let most = counts().map(|score| score.most).max().unwrap_or(0);
    (fewest, if fewest == most { format!("avg@{most}") } else { "avg".to_owned() })
}

fn pass(score: &Score, k: u32) -> Option<Rate> {
    score.pass.get(k.checked_sub(1)? as usize).copied()
}

/// pass@k of runs, for every k.
pub fn every_k(runs: &[(String, Scores)]) -> Grid {
    let lines =
        || runs.iter().flat_map(|(name, scores)| scores.datasets.iter().map(move |data| (name, data)));
    let most = lines().map(|(_, dataset)| dataset.score.pass.len()).max().unwrap_or(0);
    let row = |(name, dataset): (&String, &DatasetScore)| {
        let mut row: Vec<Cell> = vec![name.as_str().into(), dataset.title.as_str().into()];
        row.extend((0..most).map(|k| rate(dataset.score.pass.get(k).copied()).into()));
        row
    };
    let mut header = vec!["Run".to_owned(), "Dataset".to_owned()];
    header.extend((1..=most).map(|k| format!("pass@{k}")));
    Grid { caption: "pass@k".to_owned(), header, texts: 2, rows: lines().map(row).collect(), group: 0 }
}

/// The paper's table: the base model, the mean of the trained ones and each of them; what is significantly above the base is bold.
pub fn comparison(found: &ModelComparison) -> Grid {
    let seeds = found.trained.len();
    let mut header = vec!["Dataset".to_owned(), "Metric".to_owned(), "n".to_owned(), "Baseline".to_owned()];
    if seeds > 1 {
        header.extend([format!("Mean of {seeds}"), "± SD".to_owned()]);
    }
    header.extend(found.trained.iter().cloned());
    let rows = found.lines.iter().map(|line| {
        let mut row: Vec<Cell> = vec![
            line.title.as_str().into(),
            line.metric.name(line.k).into(),
            line.problems.to_string().into(),
            precise(line.base).into(),
        ];
        if seeds > 1 {
            row.push(Cell::new(precise(line.mean), line.mean_is_better()));
            row.push(line.spread.map_or(NONE.to_owned(), |spread| format!("{:.2}", 100.0 * spread)).into());
        }
        let trained = line.trained.iter().enumerate();
        row.extend(trained.map(|(at, value)| Cell::new(precise(*value), line.is_better(at))));
        row
    });
    let mut caption = format!("Accuracy before ({}) and after training. {BOLD}", found.base);
    for note in found.notes() {
        caption += " ";
        caption += &note;
    }
    Grid { caption, header, texts: 2, rows: rows.collect(), group: 2 }
}

/// The change with its interval, p-value and smallest detectable change.
pub fn changes(found: &ModelComparison) -> Grid {
    let header = ["Dataset", "Metric", "n", "change", "95% by problem", "p", "p (Holm)", "smallest visible"];
    let row = |line: &ComparisonRow| {
        let of = |show: fn(&PairedComparison) -> String| line.change.as_ref().map_or(NONE.to_owned(), show);
        [
            line.title.clone(),
            line.metric.name(line.k),
            line.problems.to_string(),
            signed(line.mean - line.base),
            of(|change| signed_range(change.difference.interval)),
            of(|change| p_value(change.p)),
            or_dash(line.p_holm, p_value),
            of(|change| format!("{:.1}", 100.0 * change.smallest)),
        ]
        .map(Cell::from)
        .to_vec()
    };
    Grid {
        caption: "The change in percentage points on the same problems: sign-flip test by problem, its p-value after \
                  Holm's correction over the rows, and the smallest true change that it would see with 80% power"
            .to_owned(),
        header: header.map(str::to_owned).to_vec(),
        texts: 2,
        rows: found.lines.iter().map(row).collect(),
        group: 2,
    }
}

/// The k to show up to n: powers of two, and n.
fn ks(most: u32) -> Vec<u32> {
    let mut ks: Vec<u32> = (0..32).map(|power| 1 << power).take_while(|k| *k < most).collect();
    ks.extend((most > 0).then_some(most));
    ks
}

/// `57.22%`, as in the paper's table.
fn precise(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

fn rate(rate: Option<Rate>) -> String {
    or_dash(rate, |rate| percent(rate.value))
}

fn interval(rate: Option<Rate>) -> String {
    percent_range(rate.and_then(|rate| rate.interval))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{ComparedRun, compare};
    use crate::score::tests::run;

    #[test]
    fn the_columns_are_those_of_the_papers_table_and_bold_is_what_beats_the_base() {
        let names: Vec<String> = (0..16).map(|i| i.to_string()).collect();
        let with = |right: fn(usize) -> u32| -> Vec<(&str, u32)> {
            names.iter().enumerate().map(|(i, name)| (name.as_str(), right(i))).collect()
        };
        let base = run("aime-2025", 8, &with(|i| if i % 2 == 0 { 4 } else { 0 }));
        // One is better on every problem; the other on half of them, and worse on the others.
        let better = run("aime-2025", 8, &with(|i| if i % 2 == 0 { 8 } else { 2 }));
        let mixed = run("aime-2025", 8, &with(|i| if i % 2 == 0 { 3 } else { 2 }));
        let trained = [
            ComparedRun { name: "seed 0", records: &better },
            ComparedRun { name: "seed 1", records: &mixed },
        ];
        let found = compare(ComparedRun { name: "base", records: &base }, &trained).unwrap();
        let grid = comparison(&found);
        assert_eq!(
            grid.header,
            ["Dataset", "Metric", "n", "Baseline", "Mean of 2", "± SD", "seed 0", "seed 1"]
        );
        let shown: Vec<(&str, bool)> =
            grid.rows[1].iter().map(|cell| (cell.text.as_str(), cell.bold)).collect();
        assert_eq!(
            shown,
            [
                ("AIME 2025", false),
                ("avg@8", false),
                ("16", false),
                ("25.00%", false),
                ("46.88%", true),
                // statistics.stdev([62.5, 31.25])
                ("22.10", false),
                ("62.50%", true),
                ("31.25%", false),
            ]
        );
        assert_eq!(changes(&found).rows[1][3].text, "+21.9");
    }

    #[test]
    fn some_k_are_shown_and_levels_where_there_are_some() {
        assert_eq!((ks(8), ks(6), ks(1), ks(0)), (vec![1, 2, 4, 8], vec![1, 2, 4, 6], vec![1], vec![]));
        let found = crate::scores(&run("x", 2, &[("a", 1), ("bb", 2)]));
        let levels = levels(&found).unwrap();
        assert_eq!(levels.rows.len(), 2);
        assert_eq!(scores(&found).header.len(), scores(&found).rows[0].len());
    }
}
