//! Parse errors in plain words.

use std::fmt::Display;

/// What a parser of TOML or JSON reports, without names of Rust types: `expected a whole number of 0 or more, found "many"`.
///
/// Lines are not repeated: they are those of the part that was parsed.
pub fn plain_parse_error(error: impl Display) -> String {
    let text = error.to_string();
    let (what, column) = match text.rsplit_once(" at line ") {
        Some((what, place)) => (what, place.rsplit_once("column ").map(|(_, column)| column)),
        None => (text.trim_end(), None),
    };
    let mut plain = message(what);
    // Only JSON has columns.
    if column.is_some() {
        plain = plain.replace("a table", "an object").replace("a list in brackets", "a list");
    }
    match column.filter(|column| *column != "0" && plain.starts_with("not valid JSON")) {
        Some(column) => format!("{plain}, at column {column}"),
        None => plain,
    }
}

fn message(text: &str) -> String {
    let after = |start| text.strip_prefix(start);
    if let Some((found, expected)) = after("invalid type: ")
        .or_else(|| after("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    {
        return format!("expected {}, found {}", wanted(expected), given(found));
    }
    if let Some(field) = after("missing field ") {
        return format!("{field} is missing");
    }
    if let Some(field) = after("duplicate field ") {
        return format!("{field} is set twice");
    }
    if let Some((name, known)) = after("unknown field ")
        .or_else(|| after("unknown variant "))
        .map(|rest| rest.split_once(", ").unwrap_or((rest, "")))
    {
        let kind = if after("unknown field").is_some() { "key" } else { "value" };
        let known = known.trim_start_matches("expected ").trim_start_matches("one of ");
        let known = if known.starts_with('`') { format!("; known are {known}") } else { String::new() };
        return format!("unknown {kind} {name}{known}");
    }
    if text.starts_with("data did not match any variant of untagged enum") {
        return "the value has none of the accepted forms".to_owned();
    }
    match text {
        "expected value" | "expected ident" => "not valid JSON".to_owned(),
        _ if text.starts_with("EOF while parsing") => "not valid JSON: it ends too early".to_owned(),
        "trailing characters" => "not valid JSON: more text after its end".to_owned(),
        "key must be a string"
        | "trailing comma"
        | "control character (\\u0000-\\u001F) found while parsing a string" => {
            format!("not valid JSON: {text}")
        }
        _ if text.starts_with("expected `") => format!("not valid JSON: {text}"),
        _ => text.to_owned(),
    }
}

/// What a type is called.
fn wanted(expected: &str) -> String {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of 0 or more".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a string" | "a borrowed string" | "string" => "text in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list in brackets".to_owned(),
        "a map" => "a table".to_owned(),
        _ if expected.starts_with("a nonzero u") => "a whole number of 1 or more".to_owned(),
        _ if expected.starts_with("struct ") || expected.starts_with("internally tagged enum") => {
            "a table".to_owned()
        }
        _ => expected.to_owned(),
    }
}

/// What a value is.
fn given(found: &str) -> String {
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        "null" | "unit value" => "nothing".to_owned(),
        _ => {
            let kinds = ["string ", "integer ", "floating point ", "boolean "];
            let value = kinds.iter().find_map(|kind| found.strip_prefix(kind)).unwrap_or(found);
            value.trim_matches('`').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_type_is_left() {
        for (said, plain) in [
            (
                r#"invalid type: string "many", expected u32"#,
                r#"expected a whole number of 0 or more, found "many""#,
            ),
            ("invalid value: integer `-3`, expected u32", "expected a whole number of 0 or more, found -3"),
            (
                "invalid type: floating point `2.5`, expected u32",
                "expected a whole number of 0 or more, found 2.5",
            ),
            ("invalid type: integer `3`, expected a string", "expected text in quotes, found 3"),
            ("invalid type: map, expected a sequence at line 1 column 8", "expected a list, found an object"),
            ("missing field `reply` at line 1 column 12", "`reply` is missing"),
            (
                "unknown field `repyl`, expected one of `reply`, `replies` at line 1 column 8",
                "unknown key `repyl`; known are `reply`, `replies`",
            ),
            (
                "EOF while parsing a string at line 1 column 12",
                "not valid JSON: it ends too early, at column 12",
            ),
            ("expected value at line 1 column 1", "not valid JSON, at column 1"),
            ("unclosed table, expected `]`", "unclosed table, expected `]`"),
        ] {
            assert_eq!(plain_parse_error(said), plain);
        }
    }
}
