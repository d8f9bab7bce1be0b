//! Validates the numbers of `[train]`.

use crate::renamed::with_old_names;
use crate::{ConfigError, TrainSection};
use std::fmt::Display;

/// Rollouts in a step at most.
const ROLLOUTS: u64 = 1_000_000;
/// Whole numbers that are only limited so that no product of two of them overflows.
const MANY: u64 = 1_000_000_000;

/// Where metrics are reported; changes neither rollouts nor updates.
const TRACKER_KEYS: [&str; 5] = ["report_to", "project", "run_name", "tracker_python", "tracker_timeout_s"];

impl TrainSection {
    /// Checks that every number is in its range.
    ///
    /// The error names the key, its value and the range. NaN is in no range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_plan()?;
        self.check_optimiser()?;
        self.check_reward()?;
        self.check_watch()?;
        let measure = &self.measure;
        whole("measure.samples", measure.samples.into(), 1, MANY)?;
        whole("measure.exam_questions", measure.exam_questions.into(), 0, MANY)?;
        whole("measure.exam_samples", measure.exam_samples.into(), 1, MANY)
    }

    /// The text by which a run folder recognises its training: everything that changes the rollouts or what is learnt
    /// from them. Keys have their first names, so that folders of earlier versions are recognised.
    pub fn identity(&self) -> String {
        let default = Self::default();
        let fixed = Self {
            steps: default.steps,
            checkpoint_every: default.checkpoint_every,
            keep_checkpoints: default.keep_checkpoints,
            threads: default.threads,
            sampler: default.sampler,
            vllm: default.vllm,
            micro_batch_tokens: default.micro_batch_tokens,
            watch: default.watch,
            measure: default.measure,
            ..self.clone()
        };
        let mut value = serde_json::to_value(&fixed).unwrap_or_default();
        if let Some(keys) = value.as_object_mut() {
            // Earlier versions did not have them.
            keys.retain(|key, _| !TRACKER_KEYS.contains(&key.as_str()));
        }
        with_old_names("train", value).to_string()
    }

    fn check_plan(&self) -> Result<(), ConfigError> {
        whole("steps", self.steps, 1, MANY)?;
        whole("groups", self.groups as u64, 1, ROLLOUTS)?;
        whole("group_size", self.group_size.into(), 2, ROLLOUTS)
            .map_err(|error| error.with_hint("a rollout is rewarded against others of its pair"))?;
        let rollouts = self.groups as u64 * u64::from(self.group_size);
        if rollouts > ROLLOUTS {
            let range = format!("at most {ROLLOUTS}");
            return Err(out_of_range("groups times train.group_size", &rollouts, &range));
        }
        whole("max_train_tokens", self.max_train_tokens as u64, 1, MANY)?;
        whole("max_sample_tokens", self.max_sample_tokens as u64, 1, MANY)?;
        whole("micro_batch_tokens", self.micro_batch_tokens as u64, 0, MANY)?;
        whole("checkpoint_every", self.checkpoint_every, 1, MANY)?;
        whole("keep_checkpoints", self.keep_checkpoints as u64, 1, MANY)?;
        whole("threads", self.threads as u64, 1, 4096)?;
        whole("vllm.replicas", self.vllm.replicas as u64, 1, 64)?;
        for (key, seconds) in [
            ("vllm.startup_timeout_s", self.vllm.startup_timeout_s),
            ("tracker_timeout_s", self.tracker_timeout_s),
        ] {
            let range = "above 0 and at most 1000000000";
            number(key, seconds, |seconds| seconds > 0.0 && seconds <= MANY as f64, range)?;
        }
        Ok(())
    }

    fn check_optimiser(&self) -> Result<(), ConfigError> {
        // AdamW moves each weight by about the learning rate, so a rate above 1 replaces the weights in one step.
        number(
            "learning_rate",
            self.learning_rate,
            |rate| rate > 0.0 && rate <= 1.0,
            "above 0 and at most 1",
        )?;
        whole("warmup_steps", self.warmup_steps, 0, MANY)?;
        for (at, beta) in self.adam_betas.into_iter().enumerate() {
            // Closer to 1, single precision loses the newest gradient.
            let inside = |beta: f64| (0.0..=0.999_999).contains(&beta);
            number(&format!("adam_betas[{at}]"), beta, inside, "from 0 to 0.999999")?;
        }
        // The optimiser divides by it in single precision, where a smaller number is too close to 0.
        let inside = |epsilon: f64| (1e-20..=1.0).contains(&epsilon);
        number("adam_eps", self.adam_eps, inside, "from 1e-20 to 1")?;
        let most = 1.0 / self.learning_rate;
        let range = format!("from 0 to below 1/train.learning_rate, which is {most:?}");
        number("weight_decay", self.weight_decay, |decay| decay >= 0.0 && decay < most, &range)?;
        let inside = |longest: f64| longest >= 0.0 && longest.is_finite();
        number("max_grad_norm", self.max_grad_norm, inside, "finite and at least 0, where 0 clips nothing")?;
        let range = "above 0, where inf never stops";
        number("stop_grad_norm", self.stop_grad_norm, |longest| longest > 0.0, range)?;
        if let Some(low) = self.clip_ratio_low {
            number("clip_ratio_low", low, |low| (0.0..=1.0).contains(&low), "from 0 to 1")?;
        }
        if let Some(high) = self.clip_ratio_high {
            finite("clip_ratio_high", high)?;
        }
        whole("lora_rank", self.lora_rank as u64, 0, 65_536)?;
        let inside = |alpha: f64| alpha > 0.0 && alpha.is_finite();
        number("lora_alpha", self.lora_alpha, inside, "finite and above 0")
    }

    fn check_reward(&self) -> Result<(), ConfigError> {
        finite("diversity_coef", self.diversity_coef)?;
        whole("num_neighbors", self.num_neighbors as u64, 1, MANY)?;
        whole("buffer_size", self.buffer_size as u64, 1, MANY)
    }

    fn check_watch(&self) -> Result<(), ConfigError> {
        let watch = &self.watch;
        whole("watch.max_questions", watch.max_questions as u64, 1, MANY)?;
        finite("watch.min_distinct", watch.min_distinct)?;
        finite("watch.min_valid", watch.min_valid)?;
        finite("watch.min_agreement", watch.min_agreement)?;
        finite("watch.min_entropy", watch.min_entropy)?;
        whole("watch.patience", watch.patience, 0, MANY)
    }
}

fn whole(key: &str, value: u64, least: u64, most: u64) -> Result<(), ConfigError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(out_of_range(key, &value, &format!("from {least} to {most}")))
}

fn finite(key: &str, value: f64) -> Result<(), ConfigError> {
    number(key, value, |value| value >= 0.0 && value.is_finite(), "finite and at least 0")
}

fn number(key: &str, value: f64, inside: impl Fn(f64) -> bool, range: &str) -> Result<(), ConfigError> {
    if inside(value) { Ok(()) } else { Err(out_of_range(key, &format_args!("{value:?}"), range)) }
}

fn out_of_range(key: &str, value: &dyn Display, range: &str) -> ConfigError {
    let shown = key.split(['[', ' ']).next().unwrap_or(key);
    ConfigError::at(format!("train.{key}"), format!("is {value}, and must be {range}"))
        .with_hint(format!("`aske config train.{shown}` shows where the value comes from"))
}

#[cfg(test)]
mod tests {
    use crate::{Layers, TrainSection};

    #[test]
    fn what_ships_is_in_range() {
        TrainSection::default().check().unwrap();
        for name in crate::config_names() {
            Layers::load(Some(name), std::iter::empty(), &[]).unwrap().config().train.check().unwrap();
        }
    }

    /// `run.toml` of a folder that was written before the keys were renamed.
    #[test]
    fn folders_of_earlier_versions_are_recognised() {
        let stored = "[train]\ngroups = 1\ngroup_size = 2\nlearning_rate = 0.00005\nwarm_up = 1\nepsilon = 1e-7\n\
            decay = 0.02\nclip_gradient = 0.5\nalpha = 0.3\nembedder = \"ngram\"\nsteps = 2\nkeep = 1\n\
            [train.watch]\nagreement = 0.55\n[train.measure]\nexam = 16\n";
        let stored = toml::from_str(stored).unwrap();
        let layers = Layers::of_run(stored, "run.toml".as_ref(), None, std::iter::empty(), &[]).unwrap();
        let identity = r#"{"steps":200,"groups":1,"group_size":2,"loss":"cispo","learning_rate":0.00005,"warm_up":1,"betas":[0.9,0.999],"epsilon":1e-7,"decay":0.02,"clip_gradient":0.5,"stop_gradient":10000.0,"untie_head":true,"lora_rank":0,"lora_alpha":32.0,"recompute":true,"alpha":0.3,"neighbours":5,"buffer":5000,"embedder":"ngram","train_tokens":24576,"sample_tokens":32768,"micro_tokens":0,"checkpoint_every":10,"keep":3,"device":"cpu","threads":2,"watch":{"questions":64,"oracle":false,"distinct":0.3,"valid":0.7,"agreement":0.7,"entropy":0.0,"patience":5},"measure":{"samples":10,"exam":0,"exam_samples":8}}"#;
        assert_eq!(layers.config().train.identity(), identity);
    }

    #[test]
    fn an_error_names_the_key_the_value_and_the_range() {
        let said = |section: TrainSection| section.check().unwrap_err().to_string();
        let usual = TrainSection::default;
        assert_eq!(
            said(TrainSection { weight_decay: f64::NAN, ..usual() }),
            "train.weight_decay: is NaN, and must be from 0 to below 1/train.learning_rate, which is 1000000.0"
        );
        assert_eq!(
            said(TrainSection { adam_eps: 0.0, ..usual() }),
            "train.adam_eps: is 0.0, and must be from 1e-20 to 1"
        );
        assert_eq!(
            said(TrainSection { adam_betas: [0.9, 1.0], ..usual() }),
            "train.adam_betas[1]: is 1.0, and must be from 0 to 0.999999"
        );
        assert_eq!(
            said(TrainSection { groups: 2_000, group_size: 1_000, ..usual() }),
            "train.groups times train.group_size: is 2000000, and must be at most 1000000"
        );
    }
}
