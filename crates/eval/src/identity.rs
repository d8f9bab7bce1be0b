//! The identity of an evaluation: data, sampling, protocol and judge.

use crate::{Dataset, Grading};
use aske_bench::{checker_identity, role_identity};
use aske_config::{EvalSection, ModelSection, Settings};
use aske_record::{EVAL, Manifest};
use std::collections::BTreeMap;
use std::path::Path;

/// What must not change when a folder is resumed. Samples, limits and further datasets may be added later.
pub fn identity(
    section: &EvalSection,
    settings: &Settings,
    datasets: &[Dataset],
) -> BTreeMap<String, String> {
    let model = settings.models.get(&settings.asker.model);
    let instruction = model.and_then(|model| section.instruction_for(model)).unwrap_or("of the dataset");
    let mut keys = BTreeMap::from(
        [
            (EVAL, format!("1, {} tokens", section.max_tokens)),
            ("instruction", instruction.to_owned()),
            ("model", role_identity(&settings.asker)),
            ("template", model.map(template).unwrap_or_default()),
            ("seed", settings.run.seed.to_string()),
        ]
        .map(|(key, value)| (key.to_owned(), value)),
    );
    let data = datasets.iter().map(|data| (format!("data.{}", data.declaration.name), data.fingerprint()));
    keys.extend(data);
    if let Some((role, tokens)) = &settings.equivalence {
        let judge = checker_identity(role, *tokens);
        let judged = datasets.iter().filter(|data| data.declaration.grading == Grading::Judge);
        keys.extend(judged.map(|data| (format!("judge.{}", data.declaration.name), judge.clone())));
    }
    keys
}

/// The arguments of the model's chat template.
fn template(model: &ModelSection) -> String {
    model.extra_body.get("chat_template_kwargs").map(ToString::to_string).unwrap_or_default()
}

/// The datasets that are graded by a judge in a folder, each with the judge.
pub fn judged<'m>(there: &'m Manifest, datasets: &[Dataset]) -> Vec<(&'m str, &'m str)> {
    let named = |name: &str| datasets.iter().any(|data| data.declaration.name == name);
    let judges =
        there.identity.0.iter().filter_map(|(key, judge)| Some((key.strip_prefix("judge.")?, &**judge)));
    judges.filter(|(name, _)| named(name)).collect()
}

/// The fingerprints of a run's datasets, by name.
pub fn fingerprints(manifest: &Manifest) -> BTreeMap<&str, &str> {
    let keys = manifest.identity.0.iter();
    keys.filter_map(|(key, value)| Some((key.strip_prefix("data.")?, value.as_str()))).collect()
}

/// A checksum of a file, as weights can change under the same name.
pub fn file_hash(path: &Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path)?)?;
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

/// How two evaluations differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Datasets with the same name but different problems.
    pub data: Vec<String>,
    /// Differences in the protocol.
    pub protocol: Vec<String>,
}

/// How two evaluations differ, apart from the model and the seed.
pub fn differences(base: &Manifest, other: &Manifest) -> Differences {
    let (there, here) = (fingerprints(base), fingerprints(other));
    let changed = there.iter().filter(|(name, print)| here.get(*name).is_some_and(|other| other != *print));
    let data = changed.map(|(name, print)| format!("{name} is {print} and {}", here[name])).collect();
    let value = |manifest: &Manifest, key: &str| {
        let value = manifest.identity.0.get(key).cloned().unwrap_or_default();
        // A role is a model name and its sampling; models differ on purpose.
        if key == "model" {
            value.split_once(' ').map_or(value.clone(), |(_, rest)| rest.to_owned())
        } else {
            value
        }
    };
    let judges = there.keys().filter(|name| here.contains_key(*name)).map(|name| format!("judge.{name}"));
    let mut keys: Vec<(String, &str)> =
        [(EVAL, "protocol"), ("instruction", "instruction"), ("model", "sampling"), ("template", "template")]
            .map(|(key, name)| (key.to_owned(), name))
            .to_vec();
    keys.extend(judges.map(|key| (key, "judge")));
    let protocol = keys.into_iter().filter_map(|(key, name)| {
        let shown = |value: String| if value.is_empty() { "none".to_owned() } else { value };
        let (base, other) = (shown(value(base, &key)), shown(value(other, &key)));
        (base != other).then(|| format!("another {name}: {other}, and {base} for the base"))
    });
    Differences { data, protocol: protocol.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_record::Identity;

    fn manifest(keys: &[(&str, &str)]) -> Manifest {
        let keys = keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Manifest::new("0", Identity(keys), toml::Table::new())
    }

    #[test]
    fn different_problems_and_sampling_are_reported_different_models_and_seeds_are_not() {
        let base =
            manifest(&[("eval", "1"), ("model", "a {}"), ("seed", "0"), ("data.x", "1"), ("data.y", "1")]);
        let same = manifest(&[("eval", "1"), ("model", "b {}"), ("seed", "7"), ("data.x", "1")]);
        assert_eq!(differences(&base, &same), Differences::default());
        let other = manifest(&[("eval", "1"), ("model", "b {\"t\":1}"), ("data.x", "2")]);
        let found = differences(&base, &other);
        assert_eq!((found.data.len(), found.protocol.len()), (1, 1));
        assert!(found.protocol[0].contains("another sampling"), "{found:?}");
        let other = manifest(&[
            ("eval", "1"),
            ("model", "b {}"),
            ("template", "{ enable_thinking = true }"),
            ("data.x", "1"),
            ("judge.x", "g"),
            ("judge.z", "g"),
        ]);
        let found = differences(&base, &other).protocol;
        assert_eq!(
            found,
            [
                "another template: { enable_thinking = true }, and none for the base",
                "another judge: g, and none for the base"
            ]
        );
        assert!(base.is_eval() && !manifest(&[("asker", "x")]).is_eval());
    }
}
