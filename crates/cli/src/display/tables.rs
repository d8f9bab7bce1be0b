//! Tables that several commands print.

use crate::runs::summary::is_price_unknown;
use aske_bench::Estimate;
use aske_config::Settings;
use aske_evidence::{Share, few_pairs};
use aske_record::RoleUsage;
use aske_report::number::{counted, percent, percent_of, percent_range};
use aske_stats::AdaptiveEstimate;
use indicatif::HumanCount;
use std::collections::BTreeMap;

pub(crate) use super::layout::{Table, table};

/// The heading of intervals for the pairs of a run only.
pub(crate) fn these_pairs(pairs: usize) -> &'static str {
    if pairs == 1 { "95% this pair" } else { "95% these pairs" }
}

/// Outcomes over so many pairs, with the interval over pairs; if they are few, also with the one for these pairs.
pub(crate) fn outcomes(shares: &[Share], pairs: usize) -> Table {
    let mut header = vec!["outcome", "sessions", "share"];
    header.extend(few_pairs(pairs).then_some(these_pairs(pairs)));
    header.extend((pairs > 1).then_some("95% over pairs"));
    let mut table = table(&header, &(1..header.len()).collect::<Vec<_>>());
    for share in shares {
        let mut row = vec![
            share.outcome.to_string(),
            HumanCount(share.sessions).to_string(),
            percent_of(share.sessions, share.of),
        ];
        row.extend(few_pairs(pairs).then(|| percent_range(share.these_pairs)));
        row.extend((pairs > 1).then(|| percent_range(share.over_pairs)));
        table.add_row(row);
    }
    table
}

/// Calls, tokens and cost by role.
pub(crate) fn used(used: &BTreeMap<String, RoleUsage>) -> Table {
    let mut table = table(&["role", "calls", "tokens read", "tokens written", "cost"], &[1, 2, 3, 4]);
    let mut total = RoleUsage::default();
    let mut row = |name: &str, used: &RoleUsage| {
        table.add_row([
            name.to_owned(),
            HumanCount(used.calls).to_string(),
            HumanCount(used.usage.prompt).to_string(),
            HumanCount(used.usage.completion).to_string(),
            used.usd.to_string(),
        ]);
    };
    for (name, shown) in [
        ("asker", "asker"),
        ("one", "solver, as Model 1"),
        ("two", "solver, as Model 2"),
        ("panel", "solver, outside of sessions"),
        ("check", "cross-check"),
        ("equivalence", "equivalence"),
        ("probe", "probe before the run"),
    ] {
        if let Some(used) = used.get(name) {
            row(shown, used);
            total.add(used);
        }
    }
    row("all", &total);
    table
}

/// The estimated cost of a plan.
pub(crate) fn estimate(estimate: &Estimate, settings: &Settings) -> Table {
    let header = ["role", "model", "calls", "tokens read", "tokens written", "cost", "cost at most"];
    let mut table = table(&header, &[2, 3, 4, 5, 6]);
    for role in &estimate.roles {
        let is_unknown = settings.models.get(&role.model).is_some_and(is_price_unknown);
        let none = if is_unknown { "price unknown" } else { "no price" };
        let usd = |usd: Option<aske_chat::Usd>| usd.map_or_else(|| none.to_owned(), |usd| usd.to_string());
        table.add_row([
            role.role.to_owned(),
            role.model.clone(),
            HumanCount(role.calls).to_string(),
            HumanCount(role.expected.prompt).to_string(),
            HumanCount(role.expected.completion).to_string(),
            usd(role.expected_usd),
            usd(role.most_usd),
        ]);
    }
    table
}

/// The estimate of an adaptive run, and the sessions it saved.
pub(crate) fn adaptive(estimate: &AdaptiveEstimate) -> String {
    let saved = |other: f64| {
        let saved = 1.0 - estimate.sessions as f64 / other.max(1.0);
        if saved >= 0.0 {
            format!("{:.0}% fewer than the {other:.0}", 100.0 * saved)
        } else {
            format!("{:.0}% more than the {other:.0}", -100.0 * saved)
        }
    };
    format!(
        "weighted estimate over pairs: {} calibrated ({}), from {}:\n  {} of simple random sampling, {} of sampling \
         every pair equally often",
        percent(estimate.rate.value),
        percent_range(Some(estimate.rate.interval)),
        counted(estimate.sessions, "session"),
        saved(estimate.uniform),
        saved(estimate.balanced),
    )
}
