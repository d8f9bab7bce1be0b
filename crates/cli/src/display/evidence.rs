//! Evidence of runs on a terminal.

use super::caveats;
use super::tables::{Table, adaptive, table, used};
use crate::output::{BAD, BOLD, DIM, data, hint, note, paint, safe, safe_line};
use aske_evidence::{
    AuditEvidence, Comparison, Evidence, PairCell, RunEvidence, SessionCounts, Validity, Verdict, checks,
    few_pairs,
};
use aske_report::number::{counted, or_dash, percent, percent_of, percent_range};
use aske_session::Outcome;
use aske_stats::Estimate;

/// Prints everything.
pub(crate) fn all(evidence: &Evidence) {
    for run in &evidence.runs {
        headline(run);
        data("");
        caveats::outcomes(&run.outcomes, run.cells.len(), Some(&run.caveats));
        if run.cells.len() > 1 {
            data("");
            print(&map(run));
        }
        direction(run);
    }
    audits(evidence);
    comparisons(evidence);
    abilities(evidence);
    regrades(evidence);
    baselines(evidence);
    difficulties(evidence);
    for run in &evidence.runs {
        validity(run, &run.validity);
        data(format_args!("\n{}", used(&run.used)));
    }
    note(paint(DIM, "`aske report --html FILE` draws this; `aske view` shows every session"));
}

/// The evidence with the folder's name in place of an asker's if that asker has several runs.
pub(crate) fn with_distinct_names(mut evidence: Evidence) -> Evidence {
    let askers: Vec<String> = evidence.runs.iter().map(|run| run.asker.clone()).collect();
    for run in &mut evidence.runs {
        if askers.iter().filter(|asker| **asker == run.asker).count() > 1 {
            run.asker.clone_from(&run.name);
        }
    }
    evidence
}

/// Prints a heading, with names from folders that may come from someone else.
fn heading(text: impl std::fmt::Display) {
    data(format_args!("\n{}", paint(BOLD, safe_line(&text.to_string()))));
}

/// Prints a table, without control characters in names.
fn print(table: &Table) {
    data(safe(&table.to_string()));
}

/// `31.0 points (28.1 to 33.9)`.
pub(crate) fn points(estimate: Estimate) -> String {
    let Estimate { value, interval } = estimate;
    format!("{:+.1} ({:+.1} to {:+.1})", 100.0 * value, 100.0 * interval.low, 100.0 * interval.high)
}

pub(crate) fn share(estimate: Estimate) -> String {
    format!("{} ({})", percent(estimate.value), percent_range(Some(estimate.interval)))
}

fn headline(run: &RunEvidence) {
    let calibrated = run.outcomes.iter().find(|share| share.outcome == Outcome::Calibrated);
    // If pairs were sampled, only the weighted estimate represents all of them.
    let (rate, over) = match run.sampling {
        Some(sampling) => (percent(sampling.rate.value), Some(sampling.rate.interval)),
        None => calibrated.map_or_else(
            || (percent_of(0, 0), None),
            |share| (percent_of(share.sessions, share.of), share.over_pairs),
        ),
    };
    let pairs = run.cells.len();
    let these =
        calibrated.filter(|_| few_pairs(pairs) && run.sampling.is_none()).and_then(|share| share.these_pairs);
    let intervals = match (these, over) {
        (Some(these), Some(over)) => {
            format!(
                " (95%: {} on these {pairs} pairs, {} over pairs)",
                percent_range(Some(these)),
                percent_range(Some(over))
            )
        }
        (Some(these), None) => format!(" (95%: {} on this pair)", percent_range(Some(these))),
        (None, Some(over)) => format!(" (95%: {}, over {pairs} pairs)", percent_range(Some(over))),
        (None, None) => String::new(),
    };
    let grader = if run.grader == aske_record::STANDARD {
        String::new()
    } else {
        format!(", graded by {}", run.grader)
    };
    heading(format_args!(
        "{}: {rate} calibrated{intervals}, {}{grader}",
        run.asker,
        counted(run.sessions, "session")
    ));
    if let Some(estimate) = &run.sampling {
        data(adaptive(estimate));
    }
    missing(run);
}

/// Notes what is missing in the folder.
fn missing(run: &RunEvidence) {
    let SessionCounts { planned, records, graded, lost, begun } = run.held;
    let path = safe(&run.path);
    if let Some(message) = &run.replies_error {
        note(format_args!("{} {}", paint(BAD.bold(), "stored replies cannot be read:"), safe(message)));
        note("so calls, tokens and cost below are unknown");
    }
    if planned.is_none_or(|planned| planned <= records) && lost == 0 && begun == 0 && graded == records {
        return;
    }
    let planned = planned.map(|planned| format!("{planned} planned, ")).unwrap_or_default();
    note(format_args!("sessions: {planned}{records} with a record, {graded} of them graded"));
    if lost > 0 {
        let (are, their) = if lost == 1 { ("is", "its record is") } else { ("are", "their records are") };
        note(format_args!("{lost} more {are} graded, but {their} missing: not counted"));
    }
    if begun > 0 {
        let have = if begun == 1 { "has" } else { "have" };
        note(format_args!("{begun} more {have} stored replies but neither a record nor a grade"));
    }
    if lost > 0 {
        hint(format_args!(
            "`aske repair {path}` rebuilds records from stored replies, without calling a model"
        ));
    } else if run.held.planned.is_some_and(|planned| planned > records) {
        hint(format_args!(
            "`aske bench --run {path}`, with --config if it was started with one, continues; stored replies are reused"
        ));
    }
}

/// The calibrated share of every pair in percent, the smallest solver first.
fn map(run: &RunEvidence) -> Table {
    let size = run.solvers.len();
    let numbers: Vec<String> = (1..=size).map(|number| number.to_string()).collect();
    let mut header = vec!["% calibrated", ""];
    header.extend(numbers.iter().map(String::as_str));
    let mut shown = table(&header, &(1..size + 2).collect::<Vec<_>>());
    let cell = |one: usize, two: usize| {
        let pair = [one.min(two), one.max(two)];
        let found: Option<&PairCell> = run.cells.iter().find(|cell| cell.pair == pair);
        found.map_or_else(
            || if one == two { "·".to_owned() } else { String::new() },
            |cell| format!("{:.0}", 100.0 * cell.share(Outcome::Calibrated)),
        )
    };
    for (index, solver) in run.solvers.iter().enumerate() {
        let mut row = vec![solver.name.clone(), (index + 1).to_string()];
        row.extend((0..=index).map(|other| cell(index, other)));
        shown.add_row(row);
    }
    shown
}

fn direction(run: &RunEvidence) {
    let weaker = run.direction.weaker;
    if weaker.of == 0 {
        return;
    }
    let mut text = format!(
        "the weaker solver is the one that is right in {} of {} calibrated sessions ({})",
        weaker.hits,
        weaker.of,
        percent(weaker.rate)
    );
    let separated = run.direction.separated;
    if separated.of > 0 {
        let more = format!(
            "; in clearly separated pairs in {} of {} ({})",
            separated.hits,
            separated.of,
            percent(separated.rate)
        );
        text.push_str(&more);
    }
    data(format_args!("\n{text}"));
}

/// Prints the audits: how much of the outcome is skill, how much luck.
pub(crate) fn audits(evidence: &Evidence) {
    let audited: Vec<_> = evidence.runs.iter().filter_map(|run| Some((run, run.audit.as_ref()?))).collect();
    if audited.is_empty() {
        return;
    }
    heading("luck against skill: final questions solved again");
    let askers: Vec<&str> = audited.iter().map(|(run, _)| run.asker.as_str()).collect();
    let header: Vec<&str> = ["with 95% intervals"].into_iter().chain(askers).collect();
    let mut shown = table(&header, &(1..header.len()).collect::<Vec<_>>());
    let mut row = |name: &str, value: &dyn Fn(&AuditEvidence) -> String| {
        shown.add_row([name.to_owned()].into_iter().chain(audited.iter().map(|(_, audit)| value(audit))));
    };
    let maybe = |estimate: Option<Estimate>| or_dash(estimate, share);
    row("sessions × draws", &|audit| format!("{} × {}", audit.estimates.sessions, audit.draws));
    row("exactly one right, on fresh draws", &|audit| share(audit.estimates.calibrated));
    row("  real separation, (p−q)²", &|audit| share(audit.estimates.separation));
    row("  sampling noise, p(1−p) + q(1−q)", &|audit| share(audit.estimates.noise));
    row("larger minus smaller solver, points", &|audit| points(audit.estimates.gap));
    row("a calibrated session is so again", &|audit| maybe(audit.estimates.again));
    row("control: a solver against itself (= noise)", &|audit| share(audit.estimates.same));
    row("control: two solvers of another pair", &|audit| maybe(audit.estimates.shuffled));
    print(&shown);
}

fn comparisons(evidence: &Evidence) {
    if evidence.comparisons.is_empty() {
        return;
    }
    heading("askers on the same pairs and samples, in points");
    let header = ["first", "second", "sessions", "first − second", "p (Holm)", "detectable (80%)", "verdict"];
    let mut shown = table(&header, &[2, 3, 4, 5]);
    for Comparison { runs, paired, p_holm, verdict } in &evidence.comparisons {
        let [first, second] = runs.map(|run| evidence.runs[run].asker.clone());
        let words = match verdict {
            Verdict::First => format!("{first} is better"),
            Verdict::Second => format!("{second} is better"),
            Verdict::Tied => "tied".to_owned(),
        };
        shown.add_row([
            first,
            second,
            paired.sessions.to_string(),
            points(paired.difference),
            p_value(*p_holm),
            format!("{:.1}", 100.0 * paired.smallest),
            words,
        ]);
    }
    print(&shown);
}

fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("= {p:.3}") }
}

fn abilities(evidence: &Evidence) {
    let Some(ability) = &evidence.ability else { return };
    heading("ability of the solvers, in logits");
    let mut shown = table(&["solver", "ability", "95%", "fit"], &[1, 2, 3]);
    let logits = |estimate: &Estimate| {
        let Estimate { value, interval } = estimate;
        [format!("{value:+.2}"), format!("{:+.2} to {:+.2}", interval.low, interval.high)]
    };
    for (index, name) in ability.solvers.iter().enumerate() {
        let [value, range] =
            ability.abilities.ability[index].as_ref().map_or_else(|| ["–".to_owned(), String::new()], logits);
        let fit = ability.abilities.fit[index].map_or_else(String::new, |fit| format!("{fit:.2}"));
        shown.add_row([name.clone(), value, range, fit]);
    }
    print(&shown);
    if let Some(p) = ability.abilities.p {
        let words = if p < 0.05 { "one scale does not tell all" } else { "one scale fits" };
        data(format_args!("{words} (p = {p:.3}); a fit near 1 is as expected"));
    }
    let Some(skills) = &ability.skills else { return };
    heading("skill of the askers, in logits");
    let mut shown = table(&["asker", "skill", "95%"], &[1, 2]);
    for (run, skill) in evidence.runs.iter().zip(&skills.askers) {
        let [value, range] = skill.as_ref().map_or_else(|| ["–".to_owned(), String::new()], logits);
        shown.add_row([run.asker.clone(), value, range]);
    }
    print(&shown);
}

/// Prints the grades of other cross-check solvers.
pub(crate) fn regrades(evidence: &Evidence) {
    if evidence.regrades.is_empty() {
        return;
    }
    heading("other cross-check solvers");
    let header = ["asker", "grader", "sessions", "own", "regraded", "shift in points", "outcomes changed"];
    let mut shown = table(&header, &[2, 3, 4, 5, 6]);
    for run in &evidence.runs {
        for regrade in &run.regrades {
            let shift = or_dash(regrade.shift, |shift| points(shift.difference));
            shown.add_row([
                run.asker.clone(),
                regrade.grader.clone(),
                regrade.sessions.to_string(),
                percent(regrade.calibrated[0]),
                percent(regrade.calibrated[1]),
                shift,
                regrade.changed.to_string(),
            ]);
        }
    }
    print(&shown);
    for ranks in evidence.regrades.iter().filter(|ranks| ranks.runs > 1) {
        let words = if ranks.same_order { "the ranking is the same" } else { "the ranking changes" };
        data(format_args!(
            "{}: {words} over {} askers; the largest shift is {:.1} points",
            safe_line(&ranks.grader),
            ranks.runs,
            100.0 * ranks.largest_shift
        ));
    }
}

/// Prints the outcomes of questions without probing.
pub(crate) fn baselines(evidence: &Evidence) {
    for run in &evidence.runs {
        let Some(baseline) = &run.baseline else { continue };
        heading(format_args!(
            "{} without probing: {}, every pair",
            run.asker,
            counted(baseline.questions, "question")
        ));
        let mut shown = table(&["outcome", "share", "95% over questions", "with probing"], &[1, 2, 3]);
        for (share, probed) in baseline.outcomes.iter().zip(&run.outcomes) {
            shown.add_row([
                share.outcome.to_string(),
                percent_of(share.sessions, share.of),
                percent_range(share.over_pairs),
                percent_of(probed.sessions, probed.of),
            ]);
        }
        print(&shown);
    }
}

/// Prints how often a solver fails on easy and hard targets.
pub(crate) fn difficulties(evidence: &Evidence) {
    for run in &evidence.runs {
        for difficulty in &run.difficulty {
            heading(format_args!("{}: how often {} fails", run.asker, difficulty.solver));
            let mut shown = table(&["target", "questions", "fails", "95%"], &[1, 2, 3]);
            for target in &difficulty.targets {
                shown.add_row([
                    target.pair.clone(),
                    target.failed.of.to_string(),
                    percent_of(target.failed.hits, target.failed.of),
                    percent_range(target.failed.interval),
                ]);
            }
            print(&shown);
            if let (Some(difference), Some(p)) = (difficulty.difference, difficulty.p) {
                data(format_args!("hard minus easy: {} points, p {}", points(difference), p_value(p)));
            }
        }
    }
}

fn validity(run: &RunEvidence, validity: &Validity) {
    heading(format_args!("{}: can the numbers be trusted?", run.asker));
    let mut shown = table(&["check", "", "number", "share", "for example"], &[2, 3]);
    for check in checks(run) {
        shown.add_row([
            check.name.to_owned(),
            check.severity().as_str().to_owned(),
            format!("{} of {}", check.hits, check.of),
            percent_of(check.hits, check.of),
            check.examples.first().cloned().unwrap_or_default(),
        ]);
    }
    print(&shown);
    let cut: Vec<String> = validity
        .solvers
        .iter()
        .filter(|solver| solver.truncated > 0)
        .map(|solver| format!("{} {}", safe_line(&solver.name), percent_of(solver.truncated, solver.replies)))
        .collect();
    if cut.is_empty() {
        data("no solver's reply was cut at its token limit");
    } else {
        data(format_args!("replies cut at the token limit: {}", cut.join(", ")));
        hint("raise protocol.solver_final_tokens if a solver is truncated often");
    }
}
