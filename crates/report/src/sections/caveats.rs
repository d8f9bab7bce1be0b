//! What belongs next to the calibrated share: reused final questions, few pairs, checks above their limit.

use super::{cell, scroll, table};
use crate::number::{count, or_dash, percent, percent_of, range};
use crate::text::plain;
use aske_evidence::{Caveats, FinalQuestion, few_pairs};
use maud::{Markup, html};

pub(super) fn caveats(caveats: &Caveats, pairs: usize) -> Markup {
    html! {
        @if let Some(text) = &caveats.few_pairs { p.luck { (text) } }
        @if caveats.reused.calibrated.of > 0 { (final_questions(caveats, few_pairs(pairs))) }
        @if !caveats.findings.is_empty() {
            ul.findings {
                @for finding in &caveats.findings {
                    li {
                        @let severity = finding.severity.as_str();
                        span class={ "verdict " (severity) } { (severity) } " "
                        b { (finding.check) } ": " (plain(&finding.text)) "."
                    }
                }
            }
            p.read { a href="#validity" { "Validity" } " lists every check with its limits and example sessions." }
        }
    }
}

fn final_questions(caveats: &Caveats, few: bool) -> Markup {
    let audited = caveats.reused.audit.is_some() || caveats.new.audit.is_some();
    let interval = if few { "95% these pairs" } else { "95% over pairs" };
    let mut columns = vec!["final question", "sessions", "calibrated", interval];
    if audited {
        columns.extend(["on fresh draws", "real separation"]);
    }
    let row = |(name, FinalQuestion { calibrated, audit }): (&str, FinalQuestion)| {
        let mut row = vec![
            cell(name),
            cell(count(calibrated.of)),
            cell(percent_of(calibrated.sessions, calibrated.of)),
            cell(or_dash(if few { calibrated.these_pairs } else { calibrated.over_pairs }, range)),
        ];
        if audited {
            row.push(cell(or_dash(audit, |audit| percent(audit.calibrated.value))));
            row.push(cell(or_dash(audit, |audit| percent(audit.separation.value))));
        }
        row
    };
    let rows: Vec<Vec<Markup>> =
        [("repeats a probe", caveats.reused), ("new", caveats.new)].into_iter().map(row).collect();
    scroll("By final question", &table("Calibrated share by the final question", &columns, &rows))
}
