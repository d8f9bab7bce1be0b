//! Solvers, askers and pairs on scales of their own.

use super::{cell, run_name, table};
use crate::draw::Figure;
use crate::figures::ranges::{Axis, Row, ranges};
use crate::number::{count, fixed, p_value};
use crate::text::plain;
use aske_evidence::{Ability, Evidence, Skills};
use aske_stats::Estimate;
use maud::{Markup, html};

/// Pairs in the figure.
const PAIRS: usize = 15;
/// A solver whose outfit is above this answers less regularly than its ability says.
const ODD: f64 = 1.3;

pub(super) fn ability(evidence: &Evidence) -> Option<Markup> {
    let ability = evidence.ability.as_ref()?;
    Some(html! {
        p {
            "A logit is a difference in log odds: of two solvers one logit apart, the better one is the one that is right "
            "in 73% of the sessions in which exactly one is. 0 is the mean."
        }
        (solvers(ability))
        p { (fit_words(ability.abilities.p, "The one scale for all solvers")) " " (odd(ability)) }
        @if let Some(skills) = &ability.skills { (askers(evidence, skills)) }
    })
}

fn solvers(ability: &Ability) -> Markup {
    let fits = ability.abilities.fit.iter().copied().chain(std::iter::repeat(None));
    let known: Vec<(&str, Estimate, Option<f64>)> = ability
        .solvers
        .iter()
        .zip(&ability.abilities.ability)
        .zip(fits)
        .filter_map(|((name, estimate), fit)| Some((name.as_str(), (*estimate)?, fit)))
        .collect();
    let rows: Vec<Row> = known.iter().map(|(name, estimate, _)| dot(name, estimate)).collect();
    let numbers: Vec<Vec<Markup>> = known
        .iter()
        .map(|(name, estimate, fit)| {
            let fit = fit.map_or_else(|| "–".to_owned(), |fit| fixed(fit, 2));
            vec![cell(name), cell(fixed(estimate.value, 2)), cell(logits(estimate)), cell(fit)]
        })
        .collect();
    let caption = html! {
        "Smallest at the top. From " (count(ability.abilities.items)) " final questions that some but not all solvers "
        "got right, by conditional likelihood: which questions an asker chose does not shift it. Lines are 95%."
    };
    Figure {
        id: "f-solvers",
        title: "Ability of the solvers",
        desc: &described(&rows),
        caption,
        drawing: ranges(&rows, &axis("ability, logits")),
        numbers: table("Ability of the solvers", &["solver", "logits", "95%", "outfit (1 fits)"], &numbers),
    }
    .show()
}

fn askers(evidence: &Evidence, skills: &Skills) -> Markup {
    let named: Vec<(String, Estimate)> = skills
        .askers
        .iter()
        .enumerate()
        .filter_map(|(place, estimate)| Some((run_name(evidence, place), (*estimate)?)))
        .collect();
    let hardest = &skills.pairs[..PAIRS.min(skills.pairs.len())];
    let pairs: Vec<Row> =
        hardest.iter().map(|(name, estimate)| dot(&name.replace(':', " : "), estimate)).collect();
    let rows: Vec<Row> = named.iter().map(|(name, estimate)| dot(name, estimate)).collect();
    let numbers = |rows: &[(String, Estimate)], first: &str, title: &str| {
        let rows: Vec<Vec<Markup>> = rows
            .iter()
            .map(|(name, estimate)| vec![cell(name), cell(fixed(estimate.value, 2)), cell(logits(estimate))])
            .collect();
        table(title, &[first, "logits", "95%"], &rows)
    };
    html! {
        (Figure {
            id: "f-askers",
            title: "Skill of the askers",
            desc: &described(&rows),
            caption: html! { "With pairs held equal. One logit more multiplies the odds of a calibrated question by 2.7 on every pair. Lines are 95%." },
            drawing: ranges(&rows, &axis("skill, logits")),
            numbers: numbers(&named, "asker", "Skill of the askers"),
        }.show())
        @if !pairs.is_empty() {
            (Figure {
                id: "f-hardest",
                title: "Hardest pairs",
                desc: &described(&pairs),
                caption: html! { "The " (pairs.len()) " pairs, of " (skills.pairs.len()) ", that askers find hardest to tell apart with a question, on the scale of the skills; 0 is an average pair." },
                drawing: ranges(&pairs, &axis("hardness, logits")),
                numbers: numbers(hardest, "pair", "Hardest pairs"),
            }.show())
        }
        p { (fit_words(skills.fit, "One number for each asker and each pair")) }
    }
}

fn fit_words(p: Option<f64>, what: &str) -> String {
    match p {
        None => format!("{what}: too little data to check whether it fits."),
        Some(p) if p >= 0.05 => format!("{what} fits the data (p = {}).", p_value(p)),
        Some(p) if p >= 0.001 => {
            format!(
                "{what} fits only roughly (p = {}): read it as an order, not as exact distances.",
                p_value(p)
            )
        }
        Some(p) => format!(
            "{what} does not fit (p {}): who is ahead depends on the questions, so read it as a summary only.",
            p_value(p)
        ),
    }
}

fn odd(ability: &Ability) -> Markup {
    let odd: Vec<&str> = ability
        .solvers
        .iter()
        .zip(&ability.abilities.fit)
        .filter_map(|(name, fit)| fit.filter(|fit| *fit > ODD).map(|_| name.as_str()))
        .collect();
    html! {
        @if !odd.is_empty() {
            "Less regular than their place on it says (outfit above " (ODD) "): "
            @for (place, name) in odd.iter().enumerate() { @if place > 0 { ", " } bdi { (plain(name)) } }
            "."
        }
    }
}

fn dot(name: &str, estimate: &Estimate) -> Row {
    Row {
        name: name.to_owned(),
        value: estimate.value,
        interval: Some(estimate.interval),
        second: None,
        note: fixed(estimate.value, 2),
        hollow: false,
        class: "o-calibrated",
    }
}

fn axis(name: &str) -> Axis<'_> {
    Axis { name, bars: false, zero: true, tick: |value| fixed(value, 1) }
}

fn logits(estimate: &Estimate) -> String {
    format!("{} to {}", fixed(estimate.interval.low, 2), fixed(estimate.interval.high, 2))
}

fn described(rows: &[Row]) -> String {
    let rows: Vec<String> = rows.iter().map(|row| format!("{} {}", row.name, row.note)).collect();
    format!("In logits: {}.", rows.join(", "))
}
