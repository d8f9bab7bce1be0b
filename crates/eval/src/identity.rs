//! What makes an evaluation this one: the data, the model's sampling, the protocol and the judge.

use crate::Dataset;
use aske_bench::role_text;
use aske_config::{EvalSection, Settings};
use aske_record::Manifest;
use std::collections::BTreeMap;
use std::path::Path;

/// The key that only evaluations have.
const PROTOCOL: &str = "eval";

/// What must stay the same for a folder to be gone on with. Samples, limits and further datasets may come later.
pub fn identity(
    section: &EvalSection,
    settings: &Settings,
    datasets: &[Dataset],
) -> BTreeMap<String, String> {
    let instruction = section.instruction.as_deref().unwrap_or("of the dataset");
    let judge = settings.equivalence.as_ref().map_or_else(
        || "none".to_owned(),
        |(role, tokens)| format!("{} within {tokens} tokens", role_text(role)),
    );
    let mut keys = BTreeMap::from(
        [
            (PROTOCOL, format!("1, {} tokens", section.tokens)),
            ("instruction", instruction.to_owned()),
            ("model", role_text(&settings.asker)),
            ("judge", judge),
            ("seed", settings.run.seed.to_string()),
        ]
        .map(|(key, value)| (key.to_owned(), value)),
    );
    let data = datasets.iter().map(|data| (format!("data.{}", data.declaration.name), data.fingerprint()));
    keys.extend(data);
    keys
}

/// Whether a run folder is one of an evaluation.
pub fn is_eval(manifest: &Manifest) -> bool {
    manifest.identity.0.contains_key(PROTOCOL)
}

/// The fingerprints of a run's datasets, by name.
pub fn fingerprints(manifest: &Manifest) -> BTreeMap<&str, &str> {
    let keys = manifest.identity.0.iter();
    keys.filter_map(|(key, value)| Some((key.strip_prefix("data.")?, value.as_str()))).collect()
}

/// A checksum of a file: weights change while their name stays.
pub fn file_hash(path: &Path) -> std::io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path)?)?;
    Ok(hasher.finalize().to_hex()[..32].to_owned())
}

/// Where two evaluations are not alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Datasets of one name with other problems.
    pub data: Vec<String>,
    /// What was asked otherwise.
    pub protocol: Vec<String>,
}

/// Where two evaluations are not alike, the model and the seed apart.
pub fn differences(base: &Manifest, other: &Manifest) -> Differences {
    let (there, here) = (fingerprints(base), fingerprints(other));
    let changed = there.iter().filter(|(name, print)| here.get(*name).is_some_and(|other| other != *print));
    let data = changed.map(|(name, print)| format!("{name} is {print}, and {}", here[name])).collect();
    let value = |manifest: &Manifest, key: &str| {
        let value = manifest.identity.0.get(key).cloned().unwrap_or_default();
        // A role is a model's name and its sampling; the name is what is compared.
        if key == "model" {
            value.split_once(' ').map_or(value.clone(), |(_, rest)| rest.to_owned())
        } else {
            value
        }
    };
    let protocol =
        [(PROTOCOL, "protocol"), ("instruction", "instruction"), ("model", "sampling"), ("judge", "judge")]
            .into_iter()
            .filter_map(|(key, name)| {
                let (base, other) = (value(base, key), value(other, key));
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
    fn other_problems_and_other_sampling_are_told_another_model_and_seed_are_not() {
        let base =
            manifest(&[("eval", "1"), ("model", "a {}"), ("seed", "0"), ("data.x", "1"), ("data.y", "1")]);
        let same = manifest(&[("eval", "1"), ("model", "b {}"), ("seed", "7"), ("data.x", "1")]);
        assert_eq!(differences(&base, &same), Differences::default());
        let other = manifest(&[("eval", "1"), ("model", "b {\"t\":1}"), ("data.x", "2")]);
        let found = differences(&base, &other);
        assert_eq!((found.data.len(), found.protocol.len()), (1, 1));
        assert!(found.protocol[0].contains("another sampling"), "{found:?}");
        assert!(is_eval(&base) && !is_eval(&manifest(&[("asker", "x")])));
    }
}
