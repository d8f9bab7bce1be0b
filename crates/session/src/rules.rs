//! The rules by which a grade was made, stored with it.

use crate::Domain;
use aske_answer::Rules;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The rules by which a grade was made. A grade by other rules than the current ones is made again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradingRules {
    /// The name of the comparison, with its version. None in domains other than mathematics, and in grades of versions
    /// that did not store it: these used the comparison named in the folder's `run.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Cow<'static, str>>,
    /// How the equivalence checker was asked. None without a checker, and in grades of versions that put both answers in
    /// alphabetical order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checker: Option<CheckerRule>,
}

/// How answer pairs are presented to the equivalence checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckerRule {
    /// The cross-check answer is the reference; between two cross-check answers, the earlier.
    Roles,
}

impl GradingRules {
    /// The current rules of a domain, with or without an equivalence checker.
    pub fn current(domain: &Domain, checker: bool) -> Self {
        let comparison = match domain {
            Domain::Math { rules } => Some(Cow::Borrowed(rules.name())),
            _ => None,
        };
        Self { comparison, checker: checker.then_some(CheckerRule::Roles) }
    }
}

/// The name of a comparison without its version: `aske` for `aske-2`.
pub fn comparison_family(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((family, version)) if version.bytes().all(|c| c.is_ascii_digit()) => family,
        _ => name,
    }
}

/// The current version of a comparison that may be an earlier one.
pub fn current_comparison(name: &str) -> Option<&'static str> {
    Rules::NAMES.into_iter().find(|current| comparison_family(current) == comparison_family(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_belong_to_one_family() {
        assert_eq!(comparison_family("aske-2"), "aske");
        assert_eq!(comparison_family("math-verify-1"), "math-verify");
        assert_eq!(comparison_family("math-verify"), "math-verify");
        assert_eq!(current_comparison("aske-1"), Some(Rules::default().name()));
        assert_eq!(current_comparison("paper-2"), Some(Rules::Paper.name()));
        assert_eq!(current_comparison("other-2"), None);
    }
}
