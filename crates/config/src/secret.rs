//! Masks secrets in configurations that are shown or stored: API keys, passwords and queries of addresses.

use aske_model::{looks_like_key, redact_url};
use toml::{Table, Value};

const MASK: &str = "***";

/// Words in the names of keys below `extra_body` whose values are secrets.
const SECRETS: [&str; 10] = [
    "key",
    "apikey",
    "token",
    "secret",
    "password",
    "passwd",
    "auth",
    "authorization",
    "credential",
    "credentials",
];

/// Request fields whose names look like those of secrets.
const PUBLIC: [&str; 4] = ["prompt_cache_key", "bos_token", "eos_token", "pad_token"];

/// Whether this is the name of an environment variable, not a key by mistake: a variable of this name is set, or the text
/// consists of capital letters, digits and underscores and does not look random.
pub fn is_env_var_name(name: &str) -> bool {
    let usual = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let named = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && name.chars().all(usual);
    (named && !looks_like_key(name)) || (!name.is_empty() && std::env::var_os(name).is_some())
}

/// A value with secrets masked.
pub(crate) fn shown(key: &str, value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(shown_text(key, text)),
        Value::Array(values) => Value::Array(values.iter().map(|value| shown(key, value)).collect()),
        Value::Table(table) => {
            let inner =
                |(name, value): (&String, &Value)| (name.clone(), shown(&format!("{key}.{name}"), value));
            Value::Table(table.iter().map(inner).collect())
        }
        other => other.clone(),
    }
}

fn shown_text(key: &str, text: &str) -> String {
    let last = key.rsplit('.').next().unwrap_or_default();
    let free = [".extra_body.", ".extra."].iter().any(|table| key.contains(table));
    let secret = free && is_secret_name(last);
    let last = last.to_lowercase();
    match last.as_str() {
        "api_key_env" if !is_env_var_name(text) => MASK.to_owned(),
        "api_key_env" => text.to_owned(),
        "url" => redact_url(text),
        _ if text.contains("://") => redact_url(text),
        _ if secret || looks_like_key(text) => MASK.to_owned(),
        _ => text.to_owned(),
    }
}

/// Whether a field of this name holds a secret: `api_key`, `accessToken`, `X-Auth`.
fn is_secret_name(name: &str) -> bool {
    let mut words = String::with_capacity(name.len() + 4);
    let mut lower_before = false;
    for c in name.chars() {
        if c.is_uppercase() && lower_before {
            words.push('_');
        }
        lower_before = c.is_lowercase();
        words.extend(c.to_lowercase());
    }
    let secret = |word: &str| SECRETS.contains(&word.trim_end_matches(|c: char| c.is_ascii_digit()));
    !PUBLIC.contains(&words.as_str()) && words.split(|c: char| !c.is_alphanumeric()).any(secret)
}

/// The first key in a table below `key` whose value is a secret.
pub(crate) fn first_secret(key: &str, table: &Table) -> Option<String> {
    table.iter().find_map(|(name, value)| {
        let key = format!("{key}.{name}");
        match value {
            Value::Table(inner) => first_secret(&key, inner),
            value => (shown(&key, value) != *value).then_some(key),
        }
    })
}

/// Masks secrets in a configuration that is to be stored: users, passwords and queries of URLs, and API keys that were
/// written where the name of their variable belongs.
pub(crate) fn redact(config: &mut Table) {
    let Some(Value::Table(models)) = config.get_mut("models") else { return };
    for (_, model) in models.iter_mut() {
        for key in ["url", "api_key_env"] {
            if let Some(value) = model.get_mut(key) {
                *value = shown(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_told_from_a_key() {
        for name in ["OPENAI_API_KEY", "_KEY2", "PATH"] {
            assert!(is_env_var_name(name), "{name}");
        }
        for key in ["sk-abc", "hunter2", "", "9_KEY", "MY KEY", "A=B", "AKIAIOSFODNN7EXAMPLE", "my_key"] {
            assert!(!is_env_var_name(key), "{key}");
        }
    }

    #[test]
    fn fields_of_requests_are_told_from_secrets() {
        for name in ["api_key", "apikey", "x-api-key", "API_KEY2", "accessToken", "auth", "client_secret"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["tokenizer", "prompt_cache_key", "eos_token", "author", "keyword", "top_k", "keywords"] {
            assert!(!is_secret_name(name), "{name}");
        }
        let table: Table = toml::from_str(
            "chat_template_kwargs = { enable_thinking = false }\nmax_tokens_key = 3\n\
             a = [{ b = \"c\" }]\nstop = [\"</s>\"]\nprompt_cache_key = \"run 1\"\n",
        )
        .unwrap();
        assert_eq!(first_secret("models.m.extra_body", &table), None);
        for (text, key) in [
            ("api_key = \"hunter2\"", "api_key"),
            ("headers = { Authorization = \"Basic x\" }", "headers.Authorization"),
            ("a = 1\nb = [{ token = \"hunter2\" }]", "b"),
            ("user = \"sk-abcdefghijklmnop\"", "user"),
            ("proxy = \"http://user:hunter2@host\"", "proxy"),
        ] {
            let table: Table = toml::from_str(text).unwrap();
            let expected = format!("models.m.extra_body.{key}");
            assert_eq!(first_secret("models.m.extra_body", &table), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_stored_holds_no_secret_and_everything_else() {
        let text = "[run]\nseed = 3\n[models.a]\nurl = \"http://localhost/v1\"\napi_key_env = \"A_KEY\"\n\
                    [models.b]\nurl = [\"https://u:hunter2@h/v1\", \"https://h/v1?k=hunter2\"]\napi_key_env = \"hunter2\"\n";
        let mut config: Table = toml::from_str(text).unwrap();
        let before = config.clone();
        redact(&mut config);
        assert_eq!((&config["run"], &config["models"]["a"]), (&before["run"], &before["models"]["a"]));
        let b = &config["models"]["b"];
        assert_eq!(b["url"], Value::from(vec!["https://***@h/v1", "https://h/v1?***"]));
        assert_eq!(b["api_key_env"].as_str(), Some(MASK));
    }
}
