//! The metrics of a step under the tags that trackers show them by.

use crate::reinforce::StepMetrics;

/// A metric of a step.
type Scalar = fn(&StepMetrics) -> Option<f64>;

/// Every metric by its tag. Trackers group tags by what precedes the slash.
const SCALARS: [(&str, Scalar); 32] = [
    ("reward/mean", |step| Some(step.reward)),
    ("reward/calibration", |step| Some(step.reward_calibration)),
    ("reward/format", |step| Some(step.reward_format)),
    ("reward/diversity", |step| Some(step.reward_diversity)),
    ("outcome/calibrated", |step| Some(step.calibrated)),
    ("outcome/too_easy", |step| Some(step.too_easy)),
    ("outcome/too_hard", |step| Some(step.too_hard)),
    ("outcome/no_question", |step| Some(step.no_question)),
    ("outcome/bad_cross_check", |step| step.bad_cross_check),
    ("watch/fixed_calibrated", |step| step.fixed_calibrated),
    ("watch/agreement", |step| step.agreement),
    ("watch/oracle_agreement", |step| step.truth),
    ("watch/distinct", |step| Some(step.distinct)),
    ("watch/valid", |step| Some(step.valid)),
    ("watch/novelty", |step| Some(step.novelty)),
    ("watch/entropy", |step| Some(step.entropy)),
    ("rollouts/used", |step| Some(step.rollouts as f64)),
    ("rollouts/failures", |step| Some(step.failures as f64)),
    ("rollouts/overlong", |step| Some(step.overlong as f64)),
    ("rollouts/truncated_turns", |step| Some(step.truncated as f64)),
    ("tokens/sampled", |step| Some(step.tokens as f64)),
    ("tokens/total", |step| Some(step.read as f64)),
    ("loss/policy", |step| Some(step.loss)),
    ("loss/importance_ratio", |step| Some(step.ratio)),
    ("loss/clip_fraction", |step| Some(step.clipped)),
    ("loss/abs_log_ratio", |step| Some(step.drift)),
    ("optimizer/grad_norm", |step| Some(step.gradient_norm)),
    ("optimizer/learning_rate", |step| Some(step.rate)),
    ("time/serving_s", |step| Some(step.serving_s)),
    ("time/sampling_s", |step| Some(step.sampling_s)),
    ("time/learning_s", |step| Some(step.learning_s)),
    ("time/step_s", |step| Some(step.step_s)),
];

/// The metrics that were measured.
pub(super) fn scalars(step: &StepMetrics) -> Vec<(&'static str, f64)> {
    SCALARS.iter().filter_map(|(tag, scalar)| Some((*tag, scalar(step)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value};
    use std::collections::BTreeSet;

    #[test]
    fn every_metric_has_a_tag_of_its_own() {
        let Ok(Value::Object(fields)) = serde_json::to_value(StepMetrics::default()) else { unreachable!() };
        let numbered: Map<String, Value> =
            fields.keys().zip(1_u64..).map(|(field, number)| (field.clone(), number.into())).collect();
        let step: StepMetrics = serde_json::from_value(Value::Object(numbered.clone())).unwrap();
        let shown: BTreeSet<u64> =
            scalars(&step).iter().map(|(_, value)| format!("{value}").parse().unwrap()).collect();
        // The step and the time of an event are not scalars.
        let scalar = |(field, _): &(&String, &Value)| !["step", "unix_time_s"].contains(&field.as_str());
        let wanted = numbered.iter().filter(scalar).map(|(_, number)| number.as_u64().unwrap()).collect();
        assert_eq!(shown, wanted);
        assert_eq!(SCALARS.map(|(tag, _)| tag).iter().collect::<BTreeSet<_>>().len(), SCALARS.len());
    }
}
