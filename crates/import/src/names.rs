//! Names of models as a configuration can hold them.

use std::collections::{BTreeMap, HashMap};

/// Model names, each with the one it had in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    plain: HashMap<String, String>,
    original: BTreeMap<String, String>,
}

/// A model: its name in the run, and the one it had in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// As the file writes it.
    pub original: String,
}

impl Names {
    /// The name of a model in the run; two that differ in the file differ here too.
    pub(crate) fn of(&mut self, original: &str) -> String {
        if let Some(name) = self.plain.get(original) {
            return name.clone();
        }
        let plain: String = original.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
        let tries = (2..).map(|number| format!("{plain}-{number}"));
        let free = |name: &String| !self.original.contains_key(name);
        let name = std::iter::once(plain.clone()).chain(tries).find(free).unwrap_or(plain);
        self.plain.insert(original.to_owned(), name.clone());
        self.original.insert(name.clone(), original.to_owned());
        name
    }

    /// A model by its name in the run.
    pub(crate) fn named(&self, name: &str) -> Named {
        let original = self.original.get(name).map_or(name, String::as_str);
        Named { name: name.to_owned(), original: original.to_owned() }
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_stay_different() {
        let mut names = Names::default();
        assert_eq!(names.of("Qwen/Qwen3-4B"), "Qwen-Qwen3-4B");
        assert_eq!(names.of("Qwen:Qwen3-4B"), "Qwen-Qwen3-4B-2");
        assert_eq!(names.of("Qwen/Qwen3-4B"), "Qwen-Qwen3-4B");
        assert_eq!(names.named("Qwen-Qwen3-4B-2").original, "Qwen:Qwen3-4B");
    }
}
