//! The methods of Python's strings and maps that chat templates call.

use minijinja::value::from_args;
use minijinja::{Error, ErrorKind, State, Value};

/// Calls a method that the template language itself does not have.
pub(super) fn method(_: &mut State, value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    let unknown = || Error::new(ErrorKind::UnknownMethod, format!("no method `{name}`"));
    let Some(text) = value.as_str() else {
        return match (name, args) {
            ("get", [key]) => Ok(some(value, key).unwrap_or_default()),
            ("get", [key, other]) => Ok(some(value, key).unwrap_or_else(|| other.clone())),
            ("items", []) => {
                let pairs = value.try_iter()?.map(|key| {
                    let item = some(value, &key).unwrap_or_default();
                    Value::from(vec![key, item])
                });
                Ok(Value::from(pairs.collect::<Vec<_>>()))
            }
            _ => Err(unknown()),
        };
    };
    match name {
        "startswith" | "endswith" => {
            let (part,): (&str,) = from_args(args)?;
            Ok(Value::from(if name == "startswith" { text.starts_with(part) } else { text.ends_with(part) }))
        }
        "strip" | "lstrip" | "rstrip" => {
            let (marks,): (Option<&str>,) = from_args(args)?;
            let taken = |mark: char| marks.map_or_else(|| mark.is_whitespace(), |marks| marks.contains(mark));
            Ok(Value::from(match name {
                "strip" => text.trim_matches(taken),
                "lstrip" => text.trim_start_matches(taken),
                _ => text.trim_end_matches(taken),
            }))
        }
        "split" => {
            let (mark,): (Option<&str>,) = from_args(args)?;
            Ok(match mark {
                Some("") => return Err(Error::new(ErrorKind::InvalidOperation, "split at nothing")),
                Some(mark) => text.split(mark).collect(),
                None => text.split_whitespace().collect(),
            })
        }
        "replace" => {
            let (old, new): (&str, &str) = from_args(args)?;
            Ok(Value::from(text.replace(old, new)))
        }
        "upper" => Ok(Value::from(text.to_uppercase())),
        "lower" => Ok(Value::from(text.to_lowercase())),
        _ => Err(unknown()),
    }
}

fn some(map: &Value, key: &Value) -> Option<Value> {
    map.get_item(key).ok().filter(|item| !item.is_undefined())
}
