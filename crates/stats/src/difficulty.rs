//! The difficulty of a question.

use crate::interval::{Estimate, Interval};

/// Points of the grid, an odd number for Simpson's rule.
const POINTS: usize = 4001;

/// The posterior mean (EAP; Bock and Mislevy, 1982) of a question's difficulty b in logits, from (ability, right, draws)
/// of the solvers that answered it.
///
/// P(right) = σ(ability − b) with a N(mean, sd²) prior on b. The value is the posterior mean, the interval
/// runs from the 2.5% to the 97.5% quantile, both on a grid of 4,001 points over the region with posterior mass.
pub fn difficulty(responses: &[(f64, u32, u32)], prior: (f64, f64)) -> Estimate {
    let (mean, sd) = prior;
    let log = |b: f64| {
        let answers: f64 = responses
            .iter()
            .map(|&(ability, right, draws)| {
                // ln σ(x) = −ln(1 + e⁻ˣ), and ln(1 − σ(x)) = ln σ(−x)
                let x = ability - b;
                f64::from(right) * log_sigmoid(x) + f64::from(draws.saturating_sub(right)) * log_sigmoid(-x)
            })
            .sum();
        answers - ((b - mean) / sd).powi(2) / 2.0
    };
    // A coarse grid finds the region with posterior mass, a fine grid covers it.
    let wide = grid(mean - 12.0 * sd, mean + 12.0 * sd);
    let top = wide.iter().map(|b| log(*b)).fold(f64::NEG_INFINITY, f64::max);
    let step = wide[1] - wide[0];
    let near = |b: &&f64| log(**b) > top - 30.0;
    let low = wide.iter().find(near).map_or(wide[0], |b| b - step);
    let high = wide.iter().rev().find(near).map_or(wide[POINTS - 1], |b| b + step);
    let fine = grid(low, high);
    let top = fine.iter().map(|b| log(*b)).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = fine.iter().map(|b| (log(*b) - top).exp()).collect();
    let total: f64 = weights.iter().sum();
    let value = fine.iter().zip(&weights).map(|(b, weight)| b * weight).sum::<f64>() / total;
    let interval = Interval { low: quantile(&fine, &weights, 0.025), high: quantile(&fine, &weights, 0.975) };
    Estimate { value, interval }
}

fn log_sigmoid(x: f64) -> f64 {
    // Stable for large |x|.
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}

fn grid(low: f64, high: f64) -> Vec<f64> {
    let step = (high - low) / (POINTS - 1) as f64;
    (0..POINTS).map(|i| low + step * i as f64).collect()
}

/// The `p` quantile.
fn quantile(grid: &[f64], weights: &[f64], p: f64) -> f64 {
    let areas: Vec<f64> = (0..grid.len() - 1).map(|place| area(weights, place)).collect();
    let target = p * areas.iter().sum::<f64>();
    let mut sum = 0.0;
    for (place, area) in areas.into_iter().enumerate() {
        if sum + area >= target {
            // The part x of this step with wx + (v − w)x²/2 = rest, for a weight that runs from w to v.
            let (w, v, rest) = (weights[place], weights[place + 1], target - sum);
            let x = 2.0 * rest / (w + (w * w + 2.0 * (v - w) * rest).max(0.0).sqrt());
            return grid[place] + (grid[place + 1] - grid[place]) * x.clamp(0.0, 1.0);
        }
        sum += area;
    }
    grid[grid.len() - 1]
}

/// The area over one step, under the parabola through it and its neighbour: two steps together are Simpson's
/// rule.
fn area(weights: &[f64], place: usize) -> f64 {
    let (w, v) = (weights[place], weights[place + 1]);
    let other = if place.is_multiple_of(2) {
        (5.0 * w + 8.0 * v - weights[place + 2]) / 12.0
    } else {
        (8.0 * w + 5.0 * v - weights[place - 1]) / 12.0
    };
    other.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_answers_the_prior_speaks() {
        let prior = difficulty(&[], (0.5, 2.0));
        assert!((prior.value - 0.5).abs() < 1e-9);
        assert!((prior.half_width() - 2.0 * 1.959_964).abs() < 1e-4, "{prior:?}");
    }

    #[test]
    fn a_question_that_strong_solvers_miss_is_hard() {
        let hard = difficulty(&[(2.0, 0, 8), (1.0, 0, 8)], (0.0, 2.0));
        let easy = difficulty(&[(-2.0, 8, 8), (-1.0, 8, 8)], (0.0, 2.0));
        assert!(hard.interval.low > 1.0 && (hard.value + easy.value).abs() < 1e-6);
    }
}
