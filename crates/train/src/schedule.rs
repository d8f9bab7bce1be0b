//! How the learning rate changes over a run.

/// A linear warm-up to the peak, then half a cosine down to a floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The highest rate.
    pub peak: f64,
    /// The last rate.
    pub floor: f64,
    /// Steps until the peak.
    pub warm_up: u64,
    /// Steps until the floor, warm-up included.
    pub steps: u64,
}

impl Schedule {
    /// The rate of this step, the first being 0.
    ///
    /// The warm-up reaches the peak at step `warm_up - 1`, so that no step has a rate of nought; the floor is
    /// reached at the last step and kept.
    pub fn rate(&self, step: u64) -> f64 {
        if step < self.warm_up {
            return self.peak * (step + 1) as f64 / self.warm_up as f64;
        }
        let falling = self.steps.saturating_sub(self.warm_up).max(1) as f64;
        let gone = ((step - self.warm_up + 1) as f64 / falling).min(1.0);
        self.floor + (self.peak - self.floor) * 0.5 * (1.0 + (std::f64::consts::PI * gone).cos())
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;

    #[test]
    fn it_climbs_to_the_peak_and_falls_to_the_floor() {
        let schedule = Schedule { peak: 1.0, floor: 0.1, warm_up: 4, steps: 14 };
        let rates: Vec<f64> = (0..20).map(|step| schedule.rate(step)).collect();
        assert_eq!(rates[..4], [0.25, 0.5, 0.75, 1.0]);
        assert!(rates[3..14].windows(2).all(|pair| pair[1] < pair[0]), "{rates:?}");
        // Half of the way down a cosine is the mean of both ends.
        assert!((rates[8] - 0.55).abs() < 1e-12, "{}", rates[8]);
        assert!(rates[13..].iter().all(|rate| (rate - 0.1).abs() < 1e-12), "{rates:?}");
    }

    #[test]
    fn odd_lengths_give_finite_rates() {
        for (warm_up, steps) in [(0, 0), (0, 1), (5, 5), (9, 3)] {
            let schedule = Schedule { peak: 1e-3, floor: 1e-5, warm_up, steps };
            assert!((0..20).all(|step| (1e-5..=1e-3).contains(&schedule.rate(step))), "{schedule:?}");
        }
    }
}
