//! `aske baseline`: questions without probing.

use crate::arguments::Baseline;
use crate::display::evidence;
use crate::error::{CliError, Exit};
use crate::runs::folders::given_or_latest;
use crate::runs::panels::run_for_each;
use aske_bench::baseline_panels;
use aske_config::Settings;
use aske_record::RunDir;

pub(crate) fn run(arguments: &Baseline) -> Result<Exit, CliError> {
    let models = |settings: &Settings| settings.models.keys().cloned().collect();
    let panels = |settings: &Settings, _: &RunDir| Ok(baseline_panels(settings, arguments.questions));
    let runs = given_or_latest(&arguments.runs)?;
    run_for_each(&runs, &arguments.on_run, "baseline", models, panels, evidence::baselines)
}
