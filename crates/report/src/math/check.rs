//! Copies MathML, keeping only allowed elements and attributes.

use std::fmt::Write;

/// Presentation elements, none of which can load, link to or run anything.
const ELEMENTS: [&str; 24] = [
    "math",
    "mfrac",
    "mi",
    "mmultiscripts",
    "mn",
    "mo",
    "mover",
    "mpadded",
    "mphantom",
    "mprescripts",
    "mroot",
    "mrow",
    "mspace",
    "msqrt",
    "mstyle",
    "msub",
    "msubsup",
    "msup",
    "mtable",
    "mtd",
    "mtext",
    "mtr",
    "munder",
    "munderover",
];
/// Maximum nesting depth.
const MAX_DEPTH: usize = 120;
/// Maximum length in em, so that no space reaches beyond the formula.
const MAX_EM: f64 = 8.0;

/// A copy of the element; none if it contains anything that is not allowed.
pub(super) fn checked(mathml: &str) -> Option<String> {
    let mut out = String::with_capacity(mathml.len());
    let mut open: Vec<&str> = Vec::new();
    let mut rest = mathml;
    loop {
        rest = text(rest, &mut out, open.is_empty())?;
        if let Some(after) = rest.strip_prefix("</") {
            let (name, after) = after.split_once('>')?;
            if open.pop() != Some(name) {
                return None;
            }
            write!(out, "</{name}>").ok()?;
            rest = after;
        } else {
            let after = rest.strip_prefix('<')?;
            let (tag, after) = after.split_once('>')?;
            let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag.trim_end(), true));
            let name = tag.split(' ').next().filter(|name| ELEMENTS.contains(name))?;
            if (name == "math") != open.is_empty() || open.len() >= MAX_DEPTH {
                return None;
            }
            write!(out, "<{name}").ok()?;
            attributes(&tag[name.len()..], &mut out)?;
            out.push('>');
            if empty {
                write!(out, "</{name}>").ok()?;
            } else {
                open.push(name);
            }
            rest = after;
        }
        if open.is_empty() {
            return rest.is_empty().then_some(out);
        }
    }
}

/// Copies text up to the next tag. No text is allowed outside the root element.
fn text<'m>(mathml: &'m str, out: &mut String, outside: bool) -> Option<&'m str> {
    let mut rest = mathml;
    loop {
        let end = rest.find(['<', '&', '>']).unwrap_or(rest.len());
        if outside && end > 0 {
            return None;
        }
        out.push_str(&rest[..end]);
        rest = &rest[end..];
        // The renderer does not escape the relations `<` and `>`.
        let tag =
            rest.starts_with("</") || rest[1.min(rest.len())..].starts_with(|c: char| c.is_ascii_lowercase());
        match rest.as_bytes().first()? {
            b'<' if tag => return Some(rest),
            b'<' => {
                out.push_str("&lt;");
                rest = &rest[1..];
            }
            b'>' => {
                out.push_str("&gt;");
                rest = &rest[1..];
            }
            _ => {
                let entity = ["&lt;", "&gt;", "&amp;", "&quot;", "&nbsp;", "&#39;", "&#x27;"];
                let known = entity.into_iter().find(|entity| rest.starts_with(entity));
                out.push_str(known.unwrap_or("&amp;"));
                rest = &rest[known.map_or(1, str::len)..];
            }
        }
    }
}

/// Copies known attributes with values in bounds; drops styles and colours.
fn attributes(text: &str, out: &mut String) -> Option<()> {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"")?;
        let (value, after) = after.split_once('"')?;
        if !name.bytes().all(|byte| byte.is_ascii_lowercase()) || name.starts_with("on") {
            return None;
        }
        if allowed(name, value) {
            write!(out, " {name}=\"{value}\"").ok()?;
        } else if name != "style" && name != "class" && !length(name) {
            return None;
        }
        rest = after.trim_start();
    }
    Some(())
}

fn length(name: &str) -> bool {
    ["width", "height", "depth", "lspace", "rspace", "linethickness", "minsize", "maxsize"].contains(&name)
}

fn allowed(name: &str, value: &str) -> bool {
    let truth = ["true", "false"].contains(&value);
    match name {
        "display" => ["inline", "block"].contains(&value),
        "mathvariant" => value == "normal",
        "scriptlevel" => ["0", "1", "2"].contains(&value),
        "displaystyle" | "stretchy" | "symmetric" | "largeop" | "movablelimits" | "accent"
        | "accentunder" | "fence" | "separator" => truth,
        "class" => value.split(' ').all(|class| {
            let ours = class == "small" || class.starts_with("menv-") || class.starts_with("cell-");
            ours && class.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        }),
        _ => length(name) && em(value).is_some_and(|em| (-1.0..=MAX_EM).contains(&em)),
    }
}

/// An approximate length in em.
fn em(value: &str) -> Option<f64> {
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let number: f64 = value[..value.len() - unit.len()].parse().ok()?;
    let scale = match unit {
        "em" => 1.0,
        "ex" => 0.5,
        "rem" | "pc" => 1.2,
        "px" | "pt" => 0.1,
        "mm" => 0.3,
        "cm" => 3.0,
        "in" => 7.0,
        "" if number == 0.0 => 1.0,
        _ => return None,
    };
    Some(number * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_mathml_passes_unchanged() {
        let good = "<math display=\"block\"><mfrac><mi>a</mi><mn>2</mn></mfrac><mo>&lt;</mo><mspace width=\"1em\"></mspace></math>";
        assert_eq!(checked(good).as_deref(), Some(good));
    }

    #[test]
    fn bare_relations_are_escaped_and_missing_spaces_added() {
        let bare = "<math display=\"inline\"><mo><</mo><mo>></mo><mo stretchy=\"true\"minsize=\"1.2em\">(</mo></math>";
        let repaired = "<math display=\"inline\"><mo>&lt;</mo><mo>&gt;</mo><mo stretchy=\"true\" minsize=\"1.2em\">(</mo></math>";
        assert_eq!(checked(bare).as_deref(), Some(repaired));
    }

    #[test]
    fn what_is_not_allowed_is_refused() {
        for bad in [
            "",
            "x",
            "<math>",
            "<math></mi></math>",
            "<math><mi></math></mi>",
            "<math></math><math></math>",
            "<math></math>x",
            "x<math></math>",
            "<math><script>alert(1)</script></math>",
            "<mi>a</mi>",
            "<math><mtext><img src=\"x\"></mtext></math>",
            "<math><mi href=\"javascript:x\">a</mi></math>",
            "<math onclick=\"x\"></math>",
            "<math><mi onclick=x>a</mi></math>",
            "<math><math></math></math>",
            "<math><annotation>x</annotation></math>",
            "<math><merror></merror></math>",
            "<math display=\"x\"></math>",
            "<math><maction actiontype=\"statusline#http://x\"></maction></math>",
        ] {
            assert_eq!(checked(bad), None, "{bad}");
        }
        let deep = format!("<math>{}{}</math>", "<mrow>".repeat(500), "</mrow>".repeat(500));
        assert_eq!(checked(&deep), None);
    }

    #[test]
    fn styles_and_far_spaces_are_left_out() {
        let styled = "<math><mi style=\"color: rgb(1 2 3); background: url(x)\" class=\"evil\">a</mi><mspace width=\"-900em\"></mspace></math>";
        assert_eq!(checked(styled).as_deref(), Some("<math><mi>a</mi><mspace></mspace></math>"));
    }
}
