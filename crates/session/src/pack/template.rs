//! Text with `{{name}}` placeholders.

/// A text cut at its placeholders.
#[derive(Clone, Debug)]
pub(super) struct Template {
    /// The text as written.
    pub(super) source: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Placeholder { name: String, line: usize },
}

impl Template {
    /// Reads a template; white space at both ends is not part of it. `{{…}}` around anything but a lower-case
    /// name is plain text, so that LaTeX needs no escapes.
    pub(super) fn parse(source: &str) -> Self {
        let source = source.trim().replace("\r\n", "\n");
        let mut pieces = Vec::new();
        let (mut text, mut rest, mut line) = (String::new(), source.as_str(), 1);
        while let Some(at) = rest.find("{{") {
            let (before, inside) = (&rest[..at], &rest[at + 2..]);
            line += before.matches('\n').count();
            text.push_str(before);
            let name = inside.split_once("}}").map(|(name, _)| name).filter(|name| is_name(name.trim()));
            if let Some(name) = name {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Placeholder { name: name.trim().to_owned(), line });
                rest = &inside[name.len() + 2..];
            } else {
                text.push_str("{{");
                rest = inside;
            }
        }
        text.push_str(rest);
        pieces.push(Piece::Text(text));
        Self { source, pieces }
    }

    /// Each placeholder and its line.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = (&str, usize)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Placeholder { name, line } => Some((name.as_str(), *line)),
            Piece::Text(_) => None,
        })
    }

    /// The text with every placeholder replaced.
    pub(super) fn render<'v>(&self, value: impl Fn(&str) -> &'v str) -> String {
        let mut out = String::with_capacity(self.source.len());
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Placeholder { name, .. } => out.push_str(value(name)),
            }
        }
        out
    }

    /// The values of the placeholders in a text that was rendered from this template: the inverse of
    /// [`Self::render`]. If a value contains the text that follows its placeholder, the first occurrence counts.
    pub(super) fn capture<'t>(&self, text: &'t str) -> Option<Vec<(&str, &'t str)>> {
        let mut found = Vec::new();
        let (mut rest, mut open) = (text, None);
        for piece in &self.pieces {
            match piece {
                Piece::Placeholder { name, .. } => open = Some(name.as_str()),
                Piece::Text(words) => {
                    let at = if open.is_some() { rest.find(words.as_str()) } else { Some(0) };
                    let (value, after) = rest.split_at(at?);
                    rest = after.strip_prefix(words.as_str())?;
                    found.extend(open.take().map(|name| (name, value)));
                }
            }
        }
        Some(found)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_and_latex_is_left_alone() {
        let template = Template::parse("a {{x}}\n\\boxed{answer} {{ y }} {{Not}} {{1 2}} }} {{");
        assert_eq!(template.placeholders().collect::<Vec<_>>(), [("x", 1), ("y", 2)]);
        let text = template.render(|name| if name == "x" { "X" } else { "Y" });
        assert_eq!(template.capture(&text), Some(vec![("x", "X"), ("y", "Y")]));
        assert_eq!(template.capture("b X"), None);
        assert_eq!(text, "a X\n\\boxed{answer} Y {{Not}} {{1 2}} }} {{");
    }
}
