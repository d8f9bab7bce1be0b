//! JSON lines.

use super::RawRow;
use crate::DataError;
use aske_chat::plain_parse_error;
use serde_json::Value;

/// Reads JSON lines; errors refer to the text by `name`.
pub(crate) fn rows(text: &str, name: &str) -> Result<Vec<RawRow>, DataError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    lines.map(|(line, number)| row(line, format!("{name}:{number}"))).collect()
}

fn row(line: &str, location: String) -> Result<RawRow, DataError> {
    const HINT: &str = "each line is one JSON object; fix or remove this one";
    match serde_json::from_str(line) {
        Ok(Value::Object(fields)) => Ok(RawRow { location, fields }),
        Ok(_) => Err(DataError::new(location, "malformed row: not a JSON object", HINT)),
        Err(error) => {
            Err(DataError::new(location, format!("malformed row: {}", plain_parse_error(error)), HINT))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_line_and_empty_lines_are_skipped() {
        let found = rows("\u{feff}{\"a\": 1}\n\n{\"a\": \"x\\ny\"}\n", "f.jsonl").unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[1].location.as_str(), &found[1].fields["a"]), ("f.jsonl:3", &Value::from("x\ny")));
    }

    #[test]
    fn a_malformed_row_is_named_by_its_line() {
        for (text, location, what) in [
            ("{\"a\": 1}\n{\"a\": 1\n", "f:2", "ends too early"),
            ("[1]\n", "f:1", "not a JSON object"),
            ("{\"a\": 1}{}\n", "f:1", "more text after its end, at column 9"),
        ] {
            let error = rows(text, "f").unwrap_err();
            assert_eq!(error.location, location);
            assert!(error.message.contains(what), "{error}");
        }
    }
}
