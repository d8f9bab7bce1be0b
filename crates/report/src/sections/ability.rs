//! Solvers, askers and pairs on scales of their own.

use super::{cell, run_name};
use crate::figures::ranges::{Axis, Row, ranges_figure};
use crate::number::{count, fixed, or_dash, p_value};
use crate::text::plain;
use aske_evidence::{Ability, Evidence, Skills};
use aske_stats::Estimate;
use maud::{Markup, html};

/// Pairs in the figure.
const PAIRS: usize = 15;
/// A solver with a larger outfit answers less regularly than its ability predicts.
const MAX_OUTFIT: f64 = 1.3;

pub(super) fn ability(evidence: &Evidence) -> Option<Markup> {
    let ability = evidence.ability.as_ref()?;
    Some(html! {
        p {
            "A logit is a difference in log odds: of two solvers one logit apart, the better one is the one that is right "
            "in 73% of the sessions in which exactly one is. 0 is the mean."
        }
        (solvers(ability))
        p { (fit_sentence(ability.abilities.p, "The one scale for all solvers")) " " (irregular(ability)) }
        @if let Some(skills) = &ability.skills { (askers(evidence, skills)) }
    })
}

fn solvers(ability: &Ability) -> Markup {
    let fits = ability.abilities.fit.iter().copied().chain(std::iter::repeat(None));
    let mut rows = Vec::new();
    let mut numbers = Vec::new();
    for ((name, estimate), fit) in ability.solvers.iter().zip(&ability.abilities.ability).zip(fits) {
        let Some(estimate) = estimate else { continue };
        rows.push(dot(name, estimate));
        let mut row = logits(name, estimate);
        row.push(cell(or_dash(fit, |fit| fixed(fit, 2))));
        numbers.push(row);
    }
    let caption = html! {
        "Smallest at the top. From " (count(ability.abilities.items)) " final questions that some but not all solvers "
        "got right, by conditional likelihood: the choice of questions does not shift it. Lines are 95%."
    };
    let columns = ["solver", "logits", "95%", "outfit (1 fits)"];
    let drawn = (rows.as_slice(), &axis("ability, logits"));
    ranges_figure("f-solvers", "Ability of the solvers", caption, drawn, (&columns, &numbers))
}

fn askers(evidence: &Evidence, skills: &Skills) -> Markup {
    let named = skills.askers.iter().enumerate();
    let named: Vec<(String, Estimate)> =
        named.filter_map(|(index, estimate)| Some((run_name(evidence, index), (*estimate)?))).collect();
    let hardest = &skills.pairs[..PAIRS.min(skills.pairs.len())];
    let hardest: Vec<(String, Estimate)> =
        hardest.iter().map(|(name, estimate)| (name.replace(':', " : "), *estimate)).collect();
    let figure = |id, title, caption, all: &[(String, Estimate)], scale, first| {
        let rows: Vec<Row> = all.iter().map(|(name, estimate)| dot(name, estimate)).collect();
        let numbers: Vec<_> = all.iter().map(|(name, estimate)| logits(name, estimate)).collect();
        ranges_figure(id, title, caption, (&rows, &axis(scale)), (&[first, "logits", "95%"], &numbers))
    };
    let skill = html! {
        "With pairs held equal. One logit more multiplies the odds of a calibrated question by 2.7 on every pair. Lines are "
        "95%."
    };
    let hardness = html! {
        "The " (hardest.len()) " pairs, of " (skills.pairs.len()) ", that askers find hardest to separate with a question, "
        "on the scale of the skills; 0 is an average pair."
    };
    html! {
        (figure("f-askers", "Skill of the askers", skill, &named, "skill, logits", "asker"))
        @if !hardest.is_empty() {
            (figure("f-hardest", "Hardest pairs", hardness, &hardest, "hardness, logits", "pair"))
        }
        p { (fit_sentence(skills.fit, "One number for each asker and each pair")) }
    }
}

fn fit_sentence(p: Option<f64>, what: &str) -> String {
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
            "{what} does not fit (p {}): the order depends on the questions, so read it as a summary only.",
            p_value(p)
        ),
    }
}

fn irregular(ability: &Ability) -> Markup {
    let fits = ability.solvers.iter().zip(&ability.abilities.fit);
    let irregular: Vec<&str> =
        fits.filter_map(|(name, fit)| fit.filter(|fit| *fit > MAX_OUTFIT).map(|_| name.as_str())).collect();
    html! {
        @if !irregular.is_empty() {
            "Less regular than their ability predicts (outfit above " (MAX_OUTFIT) "): "
            @for (index, name) in irregular.iter().enumerate() { @if index > 0 { ", " } bdi { (plain(name)) } }
            "."
        }
    }
}

fn dot(name: &str, estimate: &Estimate) -> Row {
    Row::new(name, estimate.value, Some(estimate.interval), fixed(estimate.value, 2))
}

fn axis(name: &str) -> Axis<'_> {
    Axis { name, bars: false, zero: true, tick: |value| fixed(value, 1) }
}

/// A row of numbers: name, value and interval.
fn logits(name: &str, estimate: &Estimate) -> Vec<Markup> {
    let Estimate { value, interval } = estimate;
    let interval = format!("{} to {}", fixed(interval.low, 2), fixed(interval.high, 2));
    vec![cell(name), cell(fixed(*value, 2)), cell(interval)]
}
