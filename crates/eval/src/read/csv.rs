//! Comma-separated values: a header, quotes around what holds commas or line breaks, a doubled quote for a quote
//! (RFC 4180).

use super::Row;
use crate::DataError;
use serde_json::{Map, Value};

const HINT: &str =
    "put quotes around fields with commas, quotes or line breaks, and double the quotes inside";

pub(super) fn rows(text: &str, name: &str) -> Result<Vec<Row>, DataError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut records = records(text, name)?.into_iter();
    let Some((_, header)) = records.next() else { return Ok(Vec::new()) };
    let row = |(line, fields): (usize, Vec<String>)| {
        let place = format!("{name}:{line}");
        if fields.len() != header.len() {
            let what = format!("malformed row: {} fields, and the header has {}", fields.len(), header.len());
            return Err(DataError::at(place, what, HINT));
        }
        let fields: Map<String, Value> =
            header.iter().cloned().zip(fields.into_iter().map(Value::String)).collect();
        Ok(Row { place, fields })
    };
    records.map(row).collect()
}

/// Every record with the line on which it begins; empty lines are none.
fn records(text: &str, name: &str) -> Result<Vec<(usize, Vec<String>)>, DataError> {
    let mut found = Vec::new();
    let (mut fields, mut field) = (Vec::new(), String::new());
    let (mut line, mut begun) = (1, 1);
    // Inside of quotes; and whether this field had any, for then nothing may follow them.
    let (mut quoted, mut closed) = (false, false);
    let wrong = |line: usize, what: &str| {
        Err(DataError::at(format!("{name}:{line}"), format!("malformed row: {what}"), HINT))
    };
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted => (quoted, closed) = (false, true),
            _ if quoted => field.push(c),
            '"' if field.is_empty() && !closed => quoted = true,
            '"' => return wrong(begun, "a quote within a field"),
            '\r' if chars.peek() == Some(&'\n') => {}
            ',' => {
                fields.push(std::mem::take(&mut field));
                closed = false;
            }
            '\n' => {
                let is_empty = fields.is_empty() && field.is_empty() && !closed;
                fields.push(std::mem::take(&mut field));
                let record = std::mem::take(&mut fields);
                if !is_empty {
                    found.push((begun, record));
                }
                (begun, closed) = (line, false);
            }
            _ if closed => return wrong(begun, "text after a closing quote"),
            _ => field.push(c),
        }
    }
    if quoted {
        return wrong(begun, "a quote that never closes");
    }
    if !fields.is_empty() || !field.is_empty() || closed {
        fields.push(field);
        found.push((begun, fields));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_commas_and_line_breaks_are_read() {
        let text = "id,problem,answer\r\n1,\"a, \"\"b\"\"\nc\",\"\"\r\n\r\n2,x,y";
        let found = rows(text, "f.csv").unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].fields["problem"], "a, \"b\"\nc");
        assert_eq!((found[0].place.as_str(), &found[0].fields["answer"]), ("f.csv:2", &Value::from("")));
        assert_eq!(found[1].place, "f.csv:5");
    }

    #[test]
    fn a_malformed_row_is_named_by_the_line_on_which_it_begins() {
        for (text, place) in [
            ("a,b\n1,2\n3\n", "f:3"),
            ("a,b\n1,\"2\n3,4\n", "f:2"),
            ("a,b\n1,\"2\"x\n", "f:2"),
            ("a,b\n\"x\ny\",2\n1,2,3\n", "f:4"),
            ("a,b\n1,x\"y\"\n", "f:2"),
        ] {
            assert_eq!(rows(text, "f").unwrap_err().place, place, "{text:?}");
        }
        assert!(rows("", "f").unwrap().is_empty());
        assert!(rows("a,b\n", "f").unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_read(table in prop::collection::vec(prop::collection::vec("[a-z\",\n\r é]{0,6}", 3), 1..6)) {
            let quoted = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
            let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",");
            let text = format!("x,y,z\n{}\n", table.iter().map(line).collect::<Vec<_>>().join("\r\n"));
            let found = rows(&text, "f").unwrap();
            prop_assert_eq!(found.len(), table.len());
            for (row, written) in found.iter().zip(&table) {
                for (name, value) in ["x", "y", "z"].iter().zip(written) {
                    prop_assert_eq!(&row.fields[*name], value);
                }
            }
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[a,\"\n\r]{0,40}") {
            let _ = rows(&text, "f");
        }
    }
}
