//! How two experiments differ, value by value.

use crate::Identity;
use crate::manifest::{COMPARISON, EVAL, OPTIONAL_PREFIXES};
use aske_session::comparison_family;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Differences that are listed; further ones are counted.
const LISTED: usize = 8;

/// The parts of a model's identity, by their keys in the configuration.
const MODEL_PARTS: [&str; 5] = ["model", "omit", "fold_system", "extra_body", "script"];

/// A value that two experiments do not have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The configuration key, or what the value is.
    pub name: String,
    /// The value of one.
    pub there: String,
    /// The value of the other.
    pub here: String,
}

impl Identity {
    /// The values that contradict each other.
    pub fn differences(&self, here: &Self) -> Vec<Difference> {
        let keys: BTreeSet<_> = self.0.keys().chain(here.0.keys()).collect();
        let contradict = |key: &str| match (self.0.get(key), here.0.get(key)) {
            (Some(there), Some(here)) if key == COMPARISON => {
                comparison_family(there) != comparison_family(here)
            }
            (None, _) | (_, None) => !OPTIONAL_PREFIXES.iter().any(|part| key.starts_with(part)),
            (there, here) => there != here,
        };
        let keys = keys.into_iter().filter(|key| contradict(key));
        keys.flat_map(|key| compared(key, self.0.get(key), here.0.get(key))).collect()
    }
}

/// The differences as lines; `places` say where the values are, such as `in the folder` and `now`.
pub fn listed(differences: &[Difference], places: [&str; 2]) -> String {
    let [first, second] = places;
    let line = |Difference { name, there, here }: &Difference| {
        format!("\n  {name}: {there} {first}, {here} {second}")
    };
    let more = differences.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| format!("\n  … and {more} more"));
    differences.iter().take(LISTED).map(line).chain(more).collect()
}

/// The values within a key that differ.
fn compared(key: &str, there: Option<&String>, here: Option<&String>) -> Vec<Difference> {
    let [there, here] = [there, here].map(|value| value.map(|value| parts(key, value)).unwrap_or_default());
    let names: BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    let value = |side: &BTreeMap<String, String>, name: &str| {
        side.get(name).cloned().unwrap_or_else(|| "not set".to_owned())
    };
    let all = names.into_iter().map(|name| Difference {
        name: name.clone(),
        there: value(&there, name),
        here: value(&here, name),
    });
    all.filter(|difference| difference.there != difference.here).collect()
}

/// The values of a key: the fields of JSON objects by name, other text as it is.
fn parts(key: &str, text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if text == "none" {
        found.insert(format!("{key}.model"), text.to_owned());
        return found;
    }
    if let Some((version, tokens)) = text.split_once(", ").filter(|_| key == EVAL) {
        found.insert(format!("{key}.version"), version.to_owned());
        found.insert(format!("{key}.max_tokens"), tokens.to_owned());
        return found;
    }
    // The name of a model, its sampling, and possibly a token limit.
    let (name, object) = text.find('{').map_or((text, ""), |at| text.split_at(at));
    let end = object.rfind('}').map_or(0, |at| at + 1);
    let (object, rest) = object.split_at(end);
    match serde_json::from_str::<Value>(text).or_else(|_| serde_json::from_str(object)) {
        Ok(Value::Array(values)) if key.starts_with("models.") && values.len() == MODEL_PARTS.len() => {
            for (part, value) in MODEL_PARTS.iter().zip(&values) {
                flatten(&format!("{key}.{part}"), value, &mut found);
            }
        }
        Ok(value @ Value::Object(_)) if name.is_empty() => flatten(within(key), &value, &mut found),
        Ok(value @ Value::Object(_)) => {
            found.insert(format!("{key}.model"), name.trim().to_owned());
            flatten(&format!("{key}.sampling"), &value, &mut found);
            if !rest.trim().is_empty() {
                found.insert(
                    format!("{key}.max_tokens"),
                    rest.trim().trim_start_matches("within ").to_owned(),
                );
            }
        }
        _ => {
            found.insert(key.to_owned(), shown(text));
        }
    }
    found
}

/// What stands before the names of a key's fields: nothing where they are known by their own names.
fn within(key: &str) -> &str {
    if key == "protocol" { "" } else { key }
}

fn flatten(name: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
                flatten(&name, value, found);
            }
        }
        Value::String(text) => drop(found.insert(name.to_owned(), shown(text))),
        Value::Null => {}
        other => drop(found.insert(name.to_owned(), other.to_string())),
    }
}

/// Checksums are shown by their beginning.
fn shown(text: &str) -> String {
    let checksum = text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if checksum { format!("{}…", &text[..8]) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(keys: &[(&str, &str)]) -> Identity {
        Identity(keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn each_value_that_differs_is_named() {
        let there = identity(&[
            ("asker", r#"one {"temperature":0.7}"#),
            ("equivalence", "judge {} within 4000 tokens"),
            ("models.a", r#"["a",[],false,{},null]"#),
            ("models.b", r#"["b",[],false,{},null]"#),
            ("prompts", "a0a53d76e09c564da97ed3bcc3cee5b5a2696092294e5444aae503dd9a1117e2"),
            ("protocol", r#"{"rounds":4,"check_draws":3}"#),
            ("seed", "4"),
        ]);
        let here = identity(&[
            ("asker", r#"two {"temperature":0.7,"top_p":0.9}"#),
            ("equivalence", "none"),
            ("models.a", r#"["org/a",[],false,{"think":true},null]"#),
            ("prompts", "b0a53d76e09c564da97ed3bcc3cee5b5a2696092294e5444aae503dd9a1117e2"),
            ("protocol", r#"{"rounds":2,"check_draws":3}"#),
            ("seed", "4"),
        ]);
        let text = listed(&there.differences(&here), ["in the folder", "now"]);
        let lines: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "asker.model: one in the folder, two now",
                "asker.sampling.top_p: not set in the folder, 0.9 now",
                "equivalence.max_tokens: 4000 tokens in the folder, not set now",
                "equivalence.model: judge in the folder, none now",
                "models.a.extra_body.think: not set in the folder, true now",
                "models.a.model: a in the folder, org/a now",
                "prompts: a0a53d76… in the folder, b0a53d76… now",
                "rounds: 4 in the folder, 2 now",
            ]
        );
        assert_eq!(there.differences(&there), []);
    }

    #[test]
    fn a_long_list_is_counted() {
        let name = |number: usize| format!("key {number}");
        let side = |value: &str| Identity((0..12).map(|number| (name(number), value.to_owned())).collect());
        let text = listed(&side("1").differences(&side("2")), ["in a", "in b"]);
        assert_eq!(text.lines().count(), 1 + LISTED + 1);
        assert!(text.ends_with("… and 4 more"), "{text}");
    }
}
