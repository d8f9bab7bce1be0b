//! The table of samples of evaluations.

use crate::Table;
use aske_evidence::Run;
use aske_record::EvalRecord;

pub(crate) fn table(runs: &[Run]) -> Table {
    let rows: Vec<(&Run, &EvalRecord)> =
        runs.iter().flat_map(|run| run.evals.iter().map(move |sample| (run, sample))).collect();
    let samples = || rows.iter().map(|(_, sample)| *sample);
    let mut table = Table::default();
    table.text("run", rows.iter().map(|(run, _)| Some(run.folder())));
    table.text("model", samples().map(|sample| Some(sample.model.clone())));
    table.text("dataset", samples().map(|sample| Some(sample.dataset.clone())));
    table.text("problem", samples().map(|sample| Some(sample.problem.clone())));
    table.whole("sample", samples().map(|sample| Some(sample.sample.into())));
    table.whole("level", samples().map(|sample| sample.level.map(u64::from)));
    table.text("question", samples().map(|sample| Some(sample.question.clone())));
    table.text("reference", samples().map(|sample| Some(sample.reference.clone())));
    table.text("answer", samples().map(|sample| sample.solved.answer.clone()));
    table.flag("correct", samples().map(|sample| Some(sample.right)));
    table.text("decided_by", samples().map(|sample| Some(sample.by.clone())));
    table.flag("boxed", samples().map(|sample| Some(sample.boxed)));
    table.flag("capped", samples().map(|sample| Some(sample.is_capped())));
    table.whole("tokens", samples().map(|sample| Some(sample.completion_tokens())));
    table
}
