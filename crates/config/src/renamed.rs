//! Keys that were renamed. Old names are still read from files, the environment, flags and run folders.

use std::borrow::{Borrow, Cow};
use std::hash::Hash;
use toml::de::{DeString, DeTable, DeValue};
use toml::map::Map;
use toml::{Spanned, Table, Value};

/// The old path of each renamed key and its new name. `*` stands for any name of a table.
const RENAMED: [(&str, &str); 30] = [
    ("equivalence.tokens", "max_tokens"),
    ("eval.tokens", "max_tokens"),
    ("eval.judge.tokens", "max_tokens"),
    ("eval.template", "chat_template_kwargs"),
    ("train.clip_low", "clip_ratio_low"),
    ("train.clip_high", "clip_ratio_high"),
    ("train.warm_up", "warmup_steps"),
    ("train.betas", "adam_betas"),
    ("train.epsilon", "adam_eps"),
    ("train.decay", "weight_decay"),
    ("train.clip_gradient", "max_grad_norm"),
    ("train.stop_gradient", "stop_grad_norm"),
    ("train.untie_head", "untie_lm_head"),
    ("train.recompute", "gradient_checkpointing"),
    ("train.alpha", "diversity_coef"),
    ("train.neighbours", "num_neighbors"),
    ("train.buffer", "buffer_size"),
    ("train.train_tokens", "max_train_tokens"),
    ("train.sample_tokens", "max_sample_tokens"),
    ("train.micro_tokens", "micro_batch_tokens"),
    ("train.keep", "keep_checkpoints"),
    ("train.watch.questions", "max_questions"),
    ("train.watch.distinct", "min_distinct"),
    ("train.watch.valid", "min_valid"),
    ("train.watch.agreement", "min_agreement"),
    ("train.watch.entropy", "min_entropy"),
    ("train.measure.exam", "exam_questions"),
    ("models.*.extra", "extra_body"),
    ("models.*.context", "context_length"),
    ("models.*.batch", "batch_size"),
];

/// A key that a layer gave under its old name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OldKey {
    pub(crate) old: String,
    pub(crate) new: String,
}

/// A TOML table that keys can be renamed in: plain, or with the position of every key.
pub(crate) trait Keys: Sized {
    type Key: Ord + Hash + Borrow<str>;
    fn entries(&mut self) -> Option<&mut Map<Self::Key, Self>>;
    fn renamed(old: Self::Key, new: &'static str) -> Self::Key;
}

impl Keys for Value {
    type Key = String;
    fn entries(&mut self) -> Option<&mut Table> {
        self.as_table_mut()
    }
    fn renamed(_: String, new: &'static str) -> String {
        new.to_owned()
    }
}

impl<'i> Keys for Spanned<DeValue<'i>> {
    type Key = Spanned<DeString<'i>>;
    fn entries(&mut self) -> Option<&mut DeTable<'i>> {
        match self.get_mut() {
            DeValue::Table(table) => Some(table),
            _ => None,
        }
    }
    fn renamed(old: Self::Key, new: &'static str) -> Self::Key {
        Spanned::new(old.span(), Cow::Borrowed(new))
    }
}

/// Gives every key its current name; returns those that had an old one. Where a table has both names, the old one stays,
/// and is then rejected as unknown.
pub(crate) fn update<V: Keys>(table: &mut Map<V::Key, V>) -> Vec<OldKey> {
    let mut found = Vec::new();
    for (path, new) in RENAMED {
        let parts: Vec<&str> = path.split('.').collect();
        rename(table, &parts, new, &mut Vec::new(), &mut found);
    }
    found
}

fn rename<V: Keys>(
    table: &mut Map<V::Key, V>,
    path: &[&str],
    new: &'static str,
    above: &mut Vec<String>,
    found: &mut Vec<OldKey>,
) {
    match path {
        [] => {}
        [old] => {
            if !table.contains_key(new)
                && let Some((key, value)) = table.remove_entry(*old)
            {
                table.insert(V::renamed(key, new), value);
                let full =
                    |name: &str| above.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(".");
                found.push(OldKey { old: full(old), new: full(new) });
            }
        }
        [section, rest @ ..] => {
            for (name, value) in table.iter_mut() {
                let name: &str = name.borrow();
                if (*section == "*" || name == *section)
                    && let Some(inner) = value.entries()
                {
                    above.push(name.to_owned());
                    rename(inner, rest, new, above, found);
                    above.pop();
                }
            }
        }
    }
}

/// A section as JSON with the keys that it had before any was renamed, in the order of the schema.
pub(crate) fn with_old_names(section: &str, value: serde_json::Value) -> serde_json::Value {
    let serde_json::Value::Object(keys) = value else { return value };
    let old_name = |name: &str| {
        RENAMED.iter().find_map(|(path, new)| {
            let (parent, old) = path.rsplit_once('.')?;
            (parent == section && *new == name).then_some(old)
        })
    };
    let entries = keys.into_iter().map(|(name, value)| {
        let value = with_old_names(&format!("{section}.{name}"), value);
        (old_name(&name).map_or(name.clone(), str::to_owned), value)
    });
    serde_json::Value::Object(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_become_new_ones_and_are_reported() {
        let mut table: Table =
            toml::from_str("[train]\ndecay = 1\n[models.a]\nextra = {}\n[models.\"b.c\"]\ncontext = 2")
                .unwrap();
        let found = update(&mut table);
        let keys: Vec<&str> = found.iter().map(|key| key.new.as_str()).collect();
        assert_eq!(keys, ["train.weight_decay", "models.a.extra_body", "models.b.c.context_length"]);
        assert_eq!(table["train"]["weight_decay"].as_integer(), Some(1));
        assert_eq!(update(&mut table), []);
    }

    #[test]
    fn every_new_name_is_a_key_of_the_schema_and_no_old_one_is() {
        for (path, new) in RENAMED {
            let path = path.replace('*', "m");
            let (section, old) = path.rsplit_once('.').unwrap();
            let parses = |key: &str| {
                let error =
                    toml::from_str::<crate::Config>(&format!("[{section}]\n{key} = {{ x = 1 }}\n")).err();
                error.is_none_or(|error| !error.message().starts_with("unknown field"))
            };
            assert!(parses(new) && !parses(old), "{path}");
        }
    }
}
