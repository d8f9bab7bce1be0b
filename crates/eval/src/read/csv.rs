//! Comma-separated values with a header (RFC 4180).

use super::RawRow;
use crate::DataError;
use csv::{ReaderBuilder, StringRecord};
use serde_json::Value;

const HINT: &str =
    "put quotes around fields with commas, quotes or line breaks, and double the quotes inside";

pub(super) fn rows(text: &str, name: &str) -> Result<Vec<RawRow>, DataError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let (mut header, mut rows) = (None, Vec::new());
    let (mut line, mut start) = (1, 0);
    loop {
        let mut record = StringRecord::new();
        let malformed = |line: usize, what: String| {
            DataError::new(format!("{name}:{line}"), format!("malformed row: {what}"), HINT)
        };
        let found = reader.read_record(&mut record).map_err(|error| malformed(line, error.to_string()))?;
        if !found {
            return Ok(rows);
        }
        // The reader counts the line breaks before a record, which may be several, as part of it.
        let end = usize::try_from(reader.position().byte()).unwrap_or(text.len());
        let raw = text[start..end].trim_start_matches(['\r', '\n']);
        line += text[start..end - raw.len()].matches('\n').count();
        if !is_strict(raw, &record) {
            return Err(malformed(
                line,
                "a quote that is never closed, or text before or after quotes".into(),
            ));
        }
        match &header {
            None => header = Some(record),
            Some(header) if record.len() != header.len() => {
                let what = format!("{} fields, and the header has {}", record.len(), header.len());
                return Err(malformed(line, what));
            }
            Some(header) => {
                let fields = header.iter().zip(&record).map(|(name, value)| (name.to_owned(), value.into()));
                let fields = fields.collect::<serde_json::Map<String, Value>>();
                rows.push(RawRow { location: format!("{name}:{line}"), fields });
            }
        }
        line += raw.matches('\n').count();
        start = end;
    }
}

/// Whether a record is written as the RFC demands. The reader also accepts stray quotes, which hide wrong rows.
fn is_strict(raw: &str, record: &StringRecord) -> bool {
    let mut rest = raw.trim_end_matches(['\r', '\n']);
    for (index, field) in record.iter().enumerate() {
        if index > 0 {
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        let quoted = format!("\"{}\"", field.replace('"', "\"\""));
        let is_quoted = rest.starts_with('"');
        let after = rest.strip_prefix(if is_quoted { quoted.as_str() } else { field });
        match after {
            Some(after) if is_quoted || !field.contains('"') => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
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
        assert_eq!((found[0].location.as_str(), &found[0].fields["answer"]), ("f.csv:2", &Value::from("")));
        assert_eq!(found[1].location, "f.csv:5");
    }

    #[test]
    fn a_malformed_row_is_named_by_the_line_on_which_it_begins() {
        for (text, location) in [
            ("a,b\n1,2\n3\n", "f:3"),
            ("a,b\n1,\"2\n3,4\n", "f:2"),
            ("a,b\n1,\"2\"x\n", "f:2"),
            ("a,b\n\"x\ny\",2\n1,2,3\n", "f:4"),
            ("a,b\n1,x\"y\"\n", "f:2"),
        ] {
            assert_eq!(rows(text, "f").unwrap_err().location, location, "{text:?}");
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
