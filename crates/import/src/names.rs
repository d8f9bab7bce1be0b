//! Maps model names in files to names that are valid in a configuration.

use std::collections::{BTreeMap, HashMap};

/// Names of models in the run and in the files.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelNames {
    plain: HashMap<String, String>,
    original: BTreeMap<String, String>,
}

/// The name of a model in the run and in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName {
    /// In the run: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// In the file.
    pub original: String,
}

impl ModelNames {
    /// The name of a model in the run; different names stay different.
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
    pub(crate) fn named(&self, name: &str) -> ModelName {
        let original = self.original.get(name).map_or(name, String::as_str);
        ModelName { name: name.to_owned(), original: original.to_owned() }
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
        let mut names = ModelNames::default();
        assert_eq!(names.of("Qwen/Qwen3-4B"), "Qwen-Qwen3-4B");
        assert_eq!(names.of("Qwen:Qwen3-4B"), "Qwen-Qwen3-4B-2");
        assert_eq!(names.of("Qwen/Qwen3-4B"), "Qwen-Qwen3-4B");
        assert_eq!(names.named("Qwen-Qwen3-4B-2").original, "Qwen:Qwen3-4B");
    }
}
