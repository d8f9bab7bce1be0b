//! `aske baseline`: questions without probing.

use crate::arguments::Baseline;
use crate::evidence;
use crate::panels::on_run;
use crate::problem::{Exit, Problem};
use aske_bench::baseline_panels;
use aske_config::Settings;
use aske_record::RunDir;

pub(crate) fn run(arguments: &Baseline) -> Result<Exit, Problem> {
    let models = |settings: &Settings| settings.models.keys().cloned().collect();
    let panels = |settings: &Settings, _: &RunDir| Ok(baseline_panels(settings, arguments.questions));
    on_run(&arguments.runs, &arguments.on_run, "baseline", models, panels, evidence::baselines)
}
