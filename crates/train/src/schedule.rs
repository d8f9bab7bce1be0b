//! Learning-rate schedule of supervised training.

/// Linear warm-up to the peak, then cosine decay to a floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LrSchedule {
    /// Highest learning rate.
    pub peak: f64,
    /// Final learning rate.
    pub floor: f64,
    /// Steps until the peak.
    pub warmup_steps: u64,
    /// Steps until the floor, including warm-up.
    pub steps: u64,
}

impl LrSchedule {
    /// The learning rate at this step; the first step is 0.
    ///
    /// Warm-up reaches the peak at step `warmup_steps - 1`, so no step has a learning rate of zero; the floor is reached
    /// at the last step and kept.
    pub fn learning_rate(&self, step: u64) -> f64 {
        if step < self.warmup_steps {
            return self.peak * (step + 1) as f64 / self.warmup_steps as f64;
        }
        let decay_steps = self.steps.saturating_sub(self.warmup_steps).max(1) as f64;
        let progress = ((step - self.warmup_steps + 1) as f64 / decay_steps).min(1.0);
        self.floor + (self.peak - self.floor) * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
    }
}

#[cfg(test)]
mod tests {
    use super::LrSchedule;

    #[test]
    fn it_climbs_to_the_peak_and_falls_to_the_floor() {
        let schedule = LrSchedule { peak: 1.0, floor: 0.1, warmup_steps: 4, steps: 14 };
        let rates: Vec<f64> = (0..20).map(|step| schedule.learning_rate(step)).collect();
        assert_eq!(rates[..4], [0.25, 0.5, 0.75, 1.0]);
        assert!(rates[3..14].windows(2).all(|pair| pair[1] < pair[0]), "{rates:?}");
        // Halfway through, a cosine is at the mean of both ends.
        assert!((rates[8] - 0.55).abs() < 1e-12, "{}", rates[8]);
        assert!(rates[13..].iter().all(|rate| (rate - 0.1).abs() < 1e-12), "{rates:?}");
    }

    #[test]
    fn odd_lengths_give_finite_rates() {
        for (warmup_steps, steps) in [(0, 0), (0, 1), (5, 5), (9, 3)] {
            let schedule = LrSchedule { peak: 1e-3, floor: 1e-5, warmup_steps, steps };
            assert!(
                (0..20).all(|step| (1e-5..=1e-3).contains(&schedule.learning_rate(step))),
                "{schedule:?}"
            );
        }
    }
}
