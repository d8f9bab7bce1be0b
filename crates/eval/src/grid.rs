//! A table that can be written as Markdown, LaTeX or HTML; the CLI draws it on a terminal.

use maud::{Markup, html};
use std::fmt::Write as _;

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// Whether it is bold.
    pub bold: bool,
}

impl Cell {
    /// A cell.
    pub fn new(text: impl Into<String>, bold: bool) -> Self {
        Self { text: text.into(), bold }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, false)
    }
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// The caption.
    pub caption: String,
    /// Column names.
    pub header: Vec<String>,
    /// Number of text columns on the left; the others are numbers, aligned right.
    pub texts: usize,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
    /// Rows between two horizontal rules.
    pub group: usize,
}

impl Grid {
    /// The table in Markdown, with the caption below.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.header.iter().map(|name| markdown(name)).collect());
        let rule = |column: usize| if column < self.texts { "---" } else { "---:" }.to_owned();
        text += &line((0..self.header.len()).map(rule).collect());
        for row in &self.rows {
            let cell = |cell: &Cell| {
                let text = markdown(&cell.text);
                if cell.bold { format!("**{text}**") } else { text }
            };
            text += &line(row.iter().map(cell).collect());
        }
        text + &format!("\n*{}*\n", markdown(&self.caption))
    }

    /// The table in LaTeX with booktabs.
    pub fn latex(&self) -> String {
        let columns: String =
            (0..self.header.len()).map(|column| if column < self.texts { 'l' } else { 'c' }).collect();
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let mut text = format!(
            "\\begin{{table}}[h]\n\\centering\n\\small\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
        );
        text += &line(self.header.iter().map(|name| format!("\\textbf{{{}}}", latex(name))).collect());
        text += "\\midrule\n";
        for (place, row) in self.rows.iter().enumerate() {
            if place > 0 && self.group > 0 && place % self.group == 0 {
                text += "\\midrule\n";
            }
            let cell = |cell: &Cell| {
                let text = latex(&cell.text);
                if cell.bold { format!("\\textbf{{{text}}}") } else { text }
            };
            text += &line(row.iter().map(cell).collect());
        }
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\\bottomrule\n\\end{{tabular}}\n\\caption{{{}}}\n\\end{{table}}\n",
            latex(&self.caption)
        );
        text
    }

    /// The class of a column in HTML.
    fn number(&self, column: usize) -> Option<&'static str> {
        (self.texts <= column).then_some("number")
    }

    /// The table in HTML.
    pub fn html(&self) -> Markup {
        html! {
            div.scroll tabindex="0" role="group" aria-label=(self.caption) {
                table {
                    caption { (self.caption) }
                    thead {
                        tr { @for (place, name) in self.header.iter().enumerate() { th class=[self.number(place)] scope="col" { (name) } } }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                @for (place, cell) in row.iter().enumerate() {
                                    @if place == 0 { th scope="row" { (cell.text) } }
                                    @else if cell.bold { td class=[self.number(place)] { b { (cell.text) } } }
                                    @else { td class=[self.number(place)] { (cell.text) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Escapes text for Markdown.
fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '<' | '[' | ']' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Escapes text for LaTeX.
fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '<' | '>' => out.extend(['$', c, '$']),
            '–' => out.push_str("--"),
            '−' => out.push_str("$-$"),
            '±' => out.push_str("$\\pm$"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid {
            caption: "50% of_it".into(),
            header: vec!["Dataset".into(), "n".into(), "a|b".into()],
            texts: 1,
            rows: vec![
                vec!["A & B_1".into(), "30".into(), Cell::new("58.33%", true)],
                vec!["<i>".into(), "4".into(), "−1.0".into()],
            ],
            group: 1,
        }
    }

    #[test]
    fn markdown_is_aligned_escaped_and_bold() {
        assert_eq!(
            grid().markdown(),
            "| Dataset | n | a\\|b |\n| --- | ---: | ---: |\n| A & B\\_1 | 30 | **58.33%** |\n| \\<i> | 4 | −1.0 |\n\n*50% of\\_it*\n"
        );
    }

    #[test]
    fn latex_has_the_rules_of_booktabs_and_no_open_marks() {
        let text = grid().latex();
        assert!(
            text.contains("\\begin{tabular}{lcc}\n\\toprule\n\\textbf{Dataset} & \\textbf{n} & "),
            "{text}"
        );
        assert!(text.contains("A \\& B\\_1 & 30 & \\textbf{58.33\\%} \\\\\n\\midrule\n"), "{text}");
        assert!(text.contains("$<$i$>$ & 4 & $-$1.0 \\\\"), "{text}");
        assert!(text.ends_with("\\caption{50\\% of\\_it}\n\\end{table}\n"), "{text}");
    }

    #[test]
    fn html_is_escaped() {
        let text = grid().html().into_string();
        assert!(
            text.contains("<th scope=\"row\">&lt;i&gt;</th>")
                && text.contains("<td class=\"number\"><b>58.33%</b></td>")
                && text.contains("<th scope=\"col\">Dataset</th>"),
            "{text}"
        );
    }
}
