//! What belongs next to the calibrated share, on a terminal.

use super::tables::{table, these_pairs};
use crate::output::{BAD, DIM, NOTE, data, paint, safe, safe_line};
use aske_evidence::{Caveats, FinalQuestion, Severity, Share, few_pairs};
use aske_report::number::{or_dash, percent, percent_of, percent_range};
use aske_session::Outcome;

/// Prints the outcomes of so many pairs, and what belongs next to them. Without `caveats`, only the outcomes.
pub(crate) fn outcomes(shares: &[Share], pairs: usize, caveats: Option<&Caveats>) {
    data(super::tables::outcomes(shares, pairs));
    if let Some(caveats) = caveats {
        final_questions(caveats, pairs);
        if let Some(text) = &caveats.few_pairs {
            data(format_args!("\n{text}"));
        }
        findings(caveats);
    }
    let calibrated = shares.iter().find(|share| share.outcome == Outcome::Calibrated);
    if let Some(interval) = calibrated.and_then(|share| share.across_samples) {
        let range = percent_range(Some(interval));
        data(paint(DIM, format_args!("\nthe paper's interval, 95% across samples: {range} calibrated")));
    }
}

/// The calibrated share by the origin of the final question, if some repeat a probe.
fn final_questions(caveats: &Caveats, pairs: usize) {
    if caveats.reused.calibrated.of == 0 {
        return;
    }
    let audited = caveats.reused.audit.is_some() || caveats.new.audit.is_some();
    let few = few_pairs(pairs);
    let over = if few { these_pairs(pairs) } else { "95% over pairs" };
    let mut header = vec!["final question", "sessions", "calibrated", over];
    if audited {
        header.extend(["on fresh draws", "real separation"]);
    }
    let mut shown = table(&header, &(1..header.len()).collect::<Vec<_>>());
    for (name, FinalQuestion { calibrated, audit }) in
        [("repeats a probe", caveats.reused), ("new", caveats.new)]
    {
        let interval = if few { calibrated.these_pairs } else { calibrated.over_pairs };
        let mut row = vec![
            name.to_owned(),
            calibrated.of.to_string(),
            percent_of(calibrated.sessions, calibrated.of),
            percent_range(interval),
        ];
        if audited {
            row.push(or_dash(audit, |audit| percent(audit.calibrated.value)));
            row.push(or_dash(audit, |audit| percent(audit.separation.value)));
        }
        shown.add_row(row);
    }
    data(format_args!("\n{shown}"));
}

/// The validity checks above their limit.
fn findings(caveats: &Caveats) {
    for (at, finding) in caveats.findings.iter().enumerate() {
        let style = if finding.severity == Severity::Problem { BAD } else { NOTE };
        let before = if at == 0 { "\n" } else { "" };
        let kind = paint(style.bold(), format_args!("{}:", finding.severity.as_str()));
        data(format_args!("{before}{kind} {}: {}", safe(finding.check), safe_line(&finding.text)));
    }
}
