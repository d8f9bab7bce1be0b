//! The table of grades, of every grader.

use crate::Table;
use crate::bank::BankEntry;
use aske_evidence::Run;
use aske_session::Grade;

pub(crate) fn table(runs: &[Run], bank: &[BankEntry<'_>]) -> Table {
    let mut rows: Vec<(&Run, &str, String, &Grade, bool)> = Vec::new();
    for entry in bank {
        let run = &runs[entry.run];
        let name = run.name(entry.session);
        let swapped = entry.session.swapped;
        for (grader, grades) in &run.others {
            if let Some(line) = grades.get(&name) {
                rows.push((run, grader, name.clone(), &line.grade, swapped));
            }
        }
        if let Some(grade) = &entry.session.grade {
            rows.push((run, &run.grader, name, grade, swapped));
        }
    }
    let right = |side: usize| {
        rows.iter().map(move |(_, _, _, grade, swapped)| {
            grade.right.map(|right| right[if *swapped { 1 - side } else { side }])
        })
    };
    let mut table = Table::default();
    table.text("run", rows.iter().map(|(run, ..)| Some(run.folder())));
    table.text("grader", rows.iter().map(|(_, grader, ..)| Some(*grader)));
    table.text("session", rows.iter().map(|(_, _, name, ..)| Some(name.clone())));
    table.text("outcome", rows.iter().map(|(_, _, _, grade, _)| Some(grade.outcome.as_str())));
    table.flag("smaller_right", right(0));
    table.flag("larger_right", right(1));
    table.flag("promoted", rows.iter().map(|(_, _, _, grade, _)| Some(grade.promoted)));
    table.flag("folded", rows.iter().map(|(_, _, _, grade, _)| Some(grade.folded)));
    table.flag("undecided", rows.iter().map(|(_, _, _, grade, _)| Some(grade.undecided)));
    table
}
