//! Every statistic against numbers from scipy and statsmodels.
//!
//! `reference/values.json` holds inputs and expected outputs; `reference/make.py` computes it.

#![expect(clippy::unwrap_used, reason = "a number that is missing ends its test")]

use aske_stats::{
    Cell, Estimate, Interval, Response, audit_terms, crossed, difficulty, fisher, holm, kendall,
    mean_interval, newcombe, paired, rank_correlation, rasch, wilson,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The quantile that turns half a normal interval into a standard error.
const Z: f64 = 1.959_963_984_540_054;

#[derive(Deserialize)]
struct Case<G, W> {
    given: G,
    want: W,
}

/// The cases of one statistic.
fn cases<G: DeserializeOwned, W: DeserializeOwned>(name: &str) -> Vec<Case<G, W>> {
    let all: Value = serde_json::from_str(include_str!("reference/values.json")).unwrap();
    let cases: Vec<Case<G, W>> = serde_json::from_value(all[name].clone()).unwrap();
    assert!(!cases.is_empty());
    cases
}

#[track_caller]
fn close(got: f64, want: f64, within: f64) {
    assert!((got - want).abs() <= within * (1.0 + want.abs()), "got {got}, want {want}");
}

#[track_caller]
fn ends(got: Option<Interval>, want: [f64; 2], within: f64) {
    let got = got.unwrap();
    close(got.low, want[0], within);
    close(got.high, want[1], within);
}

/// Values and standard errors of a list of normal estimates.
#[track_caller]
fn normals(got: &[Option<Estimate>], values: &[f64], errors: &[f64], within: f64) {
    assert_eq!((got.len(), errors.len()), (values.len(), values.len()));
    for ((got, value), error) in got.iter().zip(values).zip(errors) {
        let got = got.unwrap();
        close(got.value, *value, within);
        close(got.half_width() / Z, *error, within);
    }
}

#[track_caller]
fn lists(got: &[f64], want: &[f64], within: f64) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        close(*got, *want, within);
    }
}

#[test]
fn intervals() {
    for case in cases::<(u64, u64), [f64; 2]>("wilson") {
        ends(wilson(case.given.0, case.given.1), case.want, 1e-12);
    }
    for case in cases::<Vec<f64>, [f64; 2]>("mean_interval") {
        ends(mean_interval(&case.given), case.want, 1e-8);
    }
    for Case { given: [a, n, b, m], want: [value, low, high] } in cases::<[u64; 4], [f64; 3]>("newcombe") {
        let got = newcombe(a, n, b, m).unwrap();
        close(got.value, value, 1e-12);
        ends(Some(got.interval), [low, high], 1e-12);
    }
}

#[test]
fn exact_tests() {
    for Case { given: [a, n, b, m], want } in cases::<[u64; 4], f64>("fisher") {
        close(fisher(a, n, b, m), want, 1e-10);
    }
    for case in cases::<Vec<f64>, Vec<f64>>("holm") {
        lists(&holm(&case.given), &case.want, 1e-12);
    }
}

#[test]
fn paired_differences() {
    #[derive(Deserialize)]
    struct Want {
        difference: f64,
        p: f64,
        smallest: f64,
    }
    for case in cases::<Vec<Vec<f64>>, Want>("paired") {
        let got = paired(&case.given, 1).unwrap();
        close(got.difference.value, case.want.difference, 1e-12);
        close(got.p, case.want.p, 1e-12);
        close(got.smallest, case.want.smallest, 1e-9);
    }
}

#[test]
fn rank_agreement() {
    for case in cases::<[Vec<f64>; 2], f64>("kendall") {
        close(kendall(&case.given[0], &case.given[1]), case.want, 1e-12);
    }
    for case in cases::<[Vec<f64>; 2], f64>("spearman") {
        close(rank_correlation(&case.given[0], &case.given[1]), case.want, 1e-12);
    }
}

#[test]
fn terms_of_the_audit() {
    for case in cases::<[[u32; 2]; 2], aske_stats::AuditTerms>("terms") {
        let (got, want) = (audit_terms(case.given[0], case.given[1]).unwrap(), case.want);
        close(got.calibrated, want.calibrated, 1e-12);
        close(got.separation, want.separation, 1e-12);
        close(got.noise, want.noise, 1e-12);
        close(got.gap, want.gap, 1e-12);
        close(got.same, want.same, 1e-12);
    }
}

#[test]
fn abilities() {
    #[derive(Deserialize)]
    struct Given {
        persons: usize,
        responses: Vec<(usize, usize, bool)>,
    }
    #[derive(Deserialize)]
    struct Want {
        ability: Vec<f64>,
        error: Vec<f64>,
        deviance: f64,
    }
    for Case { given, want } in cases::<Given, Want>("conditional") {
        let responses: Vec<Response> = given
            .responses
            .into_iter()
            .map(|(person, item, right)| Response { person, item, right })
            .collect();
        let got = rasch(given.persons, &responses).unwrap();
        // The other side has its standard errors from differences of the likelihood.
        normals(&got.ability, &want.ability, &want.error, 1e-5);
        close(got.deviance, want.deviance, 1e-6);
    }
}

#[test]
fn abilities_are_bradley_terrys() {
    #[derive(Deserialize)]
    struct Want {
        ability: Vec<f64>,
        error: Vec<f64>,
    }
    for Case { given: table, want } in cases::<Vec<Vec<usize>>, Want>("bradley_terry") {
        let mut responses = Vec::new();
        for (winner, row) in table.iter().enumerate() {
            for (loser, wins) in row.iter().enumerate() {
                for _ in 0..*wins {
                    let item = responses.len();
                    responses.push(Response { person: winner, item, right: true });
                    responses.push(Response { person: loser, item, right: false });
                }
            }
        }
        let got = rasch(table.len(), &responses).unwrap();
        // The weak prior moves them in the fourth digit.
        normals(&got.ability, &want.ability, &want.error, 5e-4);
    }
}

#[derive(Deserialize)]
struct Grid {
    rows: usize,
    columns: usize,
    cells: Vec<(usize, usize, u32, u32)>,
}

impl Grid {
    fn fit(&self) -> aske_stats::CrossedFit {
        let cell = |&(row, column, hits, total): &(usize, usize, u32, u32)| Cell { row, column, hits, total };
        crossed(self.rows, self.columns, &self.cells.iter().map(cell).collect::<Vec<Cell>>()).unwrap()
    }
}

#[test]
fn skill_against_hardness() {
    #[derive(Deserialize)]
    struct Want {
        spread: f64,
        intercept: [f64; 2],
        skill: Vec<f64>,
        skill_error: Vec<f64>,
        hardness: Vec<f64>,
        hardness_error: Vec<f64>,
    }
    for Case { given, want } in cases::<Grid, Want>("crossed") {
        let got = given.fit();
        close(got.spread, want.spread, 1e-4);
        normals(&[Some(got.intercept)], &want.intercept[..1], &want.intercept[1..], 1e-4);
        normals(&got.skill, &want.skill, &want.skill_error, 1e-4);
        normals(&got.hardness, &want.hardness, &want.hardness_error, 1e-4);
    }
}

#[test]
fn rich_data_need_no_prior() {
    #[derive(Deserialize)]
    struct Want {
        skill: Vec<f64>,
        hardness: Vec<f64>,
    }
    for Case { given, want } in cases::<Grid, Want>("crossed_rich") {
        let got = given.fit();
        let values =
            |list: &[Option<Estimate>]| list.iter().map(|one| one.unwrap().value).collect::<Vec<f64>>();
        lists(&values(&got.skill), &want.skill, 2e-3);
        let hardness = values(&got.hardness);
        let mean = hardness.iter().sum::<f64>() / hardness.len() as f64;
        let centred: Vec<f64> = hardness.iter().map(|value| value - mean).collect();
        lists(&centred, &want.hardness, 2e-3);
    }
}

#[test]
fn difficulty_of_a_question() {
    #[derive(Deserialize)]
    struct Given {
        responses: Vec<(f64, u32, u32)>,
        prior: (f64, f64),
    }
    for Case { given, want: [value, low, high] } in cases::<Given, [f64; 3]>("difficulty") {
        let got = difficulty(&given.responses, given.prior);
        close(got.value, value, 1e-5);
        ends(Some(got.interval), [low, high], 1e-5);
    }
}
