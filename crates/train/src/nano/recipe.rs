//! The recipe: shape, data and hyperparameters of every nano network.

use super::tokenizer::model_config;
use aske_model::LlamaConfig;
use aske_nano::{Family, TeacherKind};

/// How one network is trained.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// Its name.
    pub name: &'static str,
    /// The conversations that teach it to ask; `None` for a network that only answers.
    pub teaching: Option<TeacherKind>,
    /// Hidden size, layers, intermediate size, heads, key-value heads, head size.
    shape: [usize; 6],
    /// Optimiser steps.
    pub steps: u64,
    /// Questions per batch.
    pub rows: usize,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Question families it rarely sees.
    pub neglected: &'static [Family],
    /// Seed of its initialization and its data.
    pub seed: u64,
}

impl Recipe {
    /// Its architecture.
    pub fn config(&self) -> LlamaConfig {
        model_config(self.shape)
    }

    /// The recipe of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        RECIPE.iter().find(|recipe| recipe.name == name)
    }
}

use Family::{Count, Fraction, Gcd, Linear, Order, Percent, Power, Remainder, Sequence, Series, System};

/// Every network, the smallest solver first; then the cross-check solver, the asker and the novice.
pub const RECIPE: &[Recipe] = &[
    solver("nano-15k", [24, 2, 40, 2, 1, 12], 5_000, 4e-3, &[System, Series, Fraction], 1),
    solver("nano-40k", [40, 2, 88, 2, 1, 20], 5_000, 3e-3, &[Remainder, Gcd, Percent], 2),
    solver("nano-100k", [64, 2, 160, 4, 2, 16], 5_000, 2.5e-3, &[Linear, System, Sequence], 3),
    solver("nano-250k", [96, 3, 192, 4, 2, 24], 3_000, 2e-3, &[Fraction, Power, Count], 4),
    solver("nano-500k", [128, 3, 288, 4, 2, 32], 3_000, 2e-3, &[Gcd, Series, Order], 5),
    solver("nano-1m", [160, 4, 368, 5, 1, 32], 3_000, 1.5e-3, &[Percent, Fraction], 6),
    solver("nano-2m", [192, 4, 512, 6, 2, 32], 3_000, 1.5e-3, &[], 7),
    Recipe { rows: 1024, ..solver("nano-check", [256, 4, 640, 8, 2, 32], 17_000, 1.2e-3, &[], 8) },
    Recipe {
        teaching: Some(TeacherKind::Good),
        rows: 768,
        ..solver("nano-asker", [192, 5, 512, 6, 2, 32], 9_000, 1.5e-3, &[], 9)
    },
    Recipe {
        teaching: Some(TeacherKind::Mixed),
        rows: 768,
        ..solver("nano-novice", [192, 4, 512, 6, 2, 32], 9_000, 1.5e-3, &[], 10)
    },
];

const fn solver(
    name: &'static str,
    shape: [usize; 6],
    steps: u64,
    learning_rate: f64,
    neglected: &'static [Family],
    seed: u64,
) -> Recipe {
    Recipe { name, teaching: None, shape, steps, rows: 512, learning_rate, neglected, seed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solvers_span_more_than_a_hundredfold_and_all_fit_in_20_megabytes() {
        let sizes: Vec<usize> = RECIPE.iter().map(|recipe| recipe.config().parameters()).collect();
        assert!(sizes[..7].is_sorted());
        assert!(sizes[6] > 100 * sizes[0], "{sizes:?}");
        // Two bytes a parameter.
        assert!(sizes.iter().sum::<usize>() * 2 < 20_000_000, "{sizes:?}");
        assert!(sizes.iter().all(|size| size * 2 < 9_000_000), "{sizes:?}");
    }

    #[test]
    fn the_recipe_makes_the_networks_that_ship() {
        assert!(RECIPE.iter().map(|recipe| recipe.name).eq(aske_nano::networks()));
        for recipe in RECIPE {
            let [(_, config), ..] = aske_nano::files(recipe.name).unwrap();
            let shipped: LlamaConfig = serde_json::from_slice(config).unwrap();
            assert_eq!(shipped, recipe.config(), "{}", recipe.name);
        }
    }
}
