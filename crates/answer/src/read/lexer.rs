//! The lexer. It never fails: unknown text becomes a token token.

use super::names::{self, Meaning};
use super::notation::{Ambiguities, Notation};
use super::number::{self, Position};
use super::token::{Tok, Token};
use super::unicode;
use smol_str::SmolStr;

/// The tokens of an answer.
pub(crate) fn tokens(text: &str, notation: Notation, ambiguities: &Ambiguities) -> Vec<Token> {
    let plain = plain(text);
    let commands = plain.contains('\\');
    let lonely_dollar = plain.contains('$') && plain.matches('$').count() == plain.matches("\\$").count() + 1;
    let rows = commands && plain.contains("\\begin");
    let vectors = commands
        && ["\\vec", "\\mathbf", "\\boldsymbol", "\\bm", "\\overrightarrow", "\\hat", "\\nabla", "\\oint"]
            .iter()
            .any(|style| plain.contains(style));
    let mut lexer = Lexer {
        rest: &plain,
        styles: 0,
        out: Vec::new(),
        spaced: false,
        depth: 0,
        lonely_dollar,
        rows,
        vectors,
        notation,
        ambiguities,
    };
    while lexer.step() {
        if lexer.out.len() > MAX_TOKENS {
            lexer.push(Tok::TooLong);
            break;
        }
    }
    lexer.out
}

/// Unicode mathematics written as LaTeX.
pub(crate) fn plain(text: &str) -> String {
    const HTML: &[(&str, &str)] = &[
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&le;", "\\le "),
        ("&ge;", "\\ge "),
        ("&amp;", "&"),
        ("<sup>", "^{"),
        ("</sup>", "}"),
        ("<sub>", "_{"),
        ("</sub>", "}"),
    ];
    let text = if text.contains("&lt;") || text.contains('&') && text.contains(';') || text.contains("</su") {
        &HTML.iter().fold(text.to_owned(), |text, (html, plain)| text.replace(html, plain))
    } else {
        text
    };
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        type Script = fn(char) -> Option<char>;
        let scripts: [(Script, &str); 2] = [(unicode::superscript, "^{"), (unicode::subscript, "_{")];
        if let Some((script, mark)) = scripts.into_iter().find(|(script, _)| script(c).is_some()) {
            out.push_str(mark);
            out.extend(script(c));
            while let Some(more) = chars.peek().and_then(|&next| script(next)) {
                out.push(more);
                chars.next();
            }
            out.push('}');
            continue;
        }
        // Numbers of items in circles, one behind the other, are a list.
        if let Some(number) = unicode::circled(c) {
            out.push_str(if out.ends_with(')') { ", (" } else { "(" });
            out.push_str(&number.to_string());
            out.push(')');
            continue;
        }
        let c = unicode::half_width(c);
        if c == 'Ω' && ohms(&mut out) {
            continue;
        }
        // Micrometres behind a number.
        if matches!(c, 'μ' | 'µ')
            && out.trim_end().ends_with(|c: char| c.is_ascii_digit())
            && let Some(unit) = chars.next_if(|unit| matches!(unit, 'm' | 's' | 'g' | 'A' | 'V' | 'L'))
        {
            out.extend(["\\text{μ", unit.encode_utf8(&mut [0; 4]), "}"]);
            continue;
        }
        match unicode::latex(c) {
            // A bare radical sign takes all of the number or name that follows.
            Some("\\sqrt ") => {
                out.push_str("\\sqrt");
                let run: String =
                    std::iter::from_fn(|| chars.next_if(|n| n.is_ascii_digit() || *n == '.')).collect();
                if run.is_empty() {
                    out.push(' ');
                } else {
                    out.push('{');
                    out.push_str(&run);
                    out.push('}');
                }
            }
            Some(latex) => out.push_str(latex),
            None => out.push(c),
        }
    }
    out
}

/// Writes the sign for ohms behind a number, with the power of ten before it.
fn ohms(out: &mut String) -> bool {
    let text = out.trim_end();
    let prefix = text.chars().next_back().filter(|c| matches!(c, 'k' | 'M' | 'm'));
    let number = prefix.map_or(text, |prefix| text[..text.len() - prefix.len_utf8()].trim_end());
    if !number.ends_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    out.truncate(number.len());
    out.push_str("\\text{");
    out.extend(prefix);
    out.push_str("Ω}");
    true
}

/// Words of one answer.
const MAX_TOKENS: usize = 8_000;

/// Styles inside styles, beyond which nothing is read.
const MAX_STYLES: u32 = 20;

/// `dx`, and `xdx`: letters that end in a differential.
fn is_differential(word: &str) -> bool {
    let end = word.as_bytes();
    matches!(end, [.., b'd', b'x' | b'y' | b'z' | b't' | b'u' | b'v' | b'r' | b's']) && end.len() <= 4
}

/// A function and the letter behind it: `sinx`, `lnx`.
fn run_together(word: &str) -> Option<(&'static str, char)> {
    ["sin", "cos", "tan", "ln", "log"].into_iter().find_map(|name| {
        let rest = word.strip_prefix(name)?;
        let letter = rest.chars().next().filter(|_| rest.len() == 1)?;
        matches!(letter, 'x' | 'y' | 'z' | 't').then_some((name, letter))
    })
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct Lexer<'a> {
    rest: &'a str,
    out: Vec<Token>,
    spaced: bool,
    /// How many brackets are open that make a comma a separator.
    depth: i32,
    /// How many styles stand inside each other here.
    styles: u32,
    /// There is one dollar sign: money, not a delimiter.
    lonely_dollar: bool,
    /// There are environments, so `\\` ends a row.
    rows: bool,
    /// There are vectors, so `\times` may be their cross product.
    vectors: bool,
    notation: Notation,
    ambiguities: &'a Ambiguities,
}

impl<'a> Lexer<'a> {
    fn push(&mut self, tok: Tok) {
        let token = Token { tok, spaced: std::mem::take(&mut self.spaced) };
        self.depth =
            (self.depth + if token.is_op('{') || token.is_op('}') { 0 } else { token.nesting() }).max(0);
        self.out.push(token);
    }

    fn cmd(&mut self, name: &str) {
        self.push(Tok::Cmd(SmolStr::new(name)));
    }

    /// Reads one token; false at the end.
    fn step(&mut self) -> bool {
        let Some(c) = self.rest.chars().next() else { return false };
        if unicode::is_space(c) {
            self.rest = &self.rest[c.len_utf8()..];
            self.spaced = true;
            return true;
        }
        let place = match self.out.last() {
            Some(last) if last.is_op('_') || last.is_op('^') => Position::Script,
            _ if self.depth > 0 => Position::Bracketed,
            _ => Position::Open,
        };
        // `\sin^22x` is the square of `\sin 2x`.
        if let ([.., Token { tok: Tok::Cmd(_), .. }, _], Position::Script) = (self.out.as_slice(), place)
            && self.rest.starts_with(|c: char| c.is_ascii_digit())
            && self.rest[1..].starts_with(|c: char| c.is_ascii_digit())
            && self.out.last().is_some_and(|t| t.is_op('^'))
            && let Some((number, length)) =
                number::leading(&self.rest[..1], self.notation, place, self.ambiguities)
        {
            self.rest = &self.rest[length..];
            self.push(number);
            return true;
        }
        if let Some((number, length)) = number::leading(self.rest, self.notation, place, self.ambiguities) {
            self.rest = &self.rest[length..];
            self.push(number);
            return true;
        }
        if c == '\\' {
            self.rest = &self.rest[1..];
            self.command();
            return true;
        }
        if c.is_alphabetic() {
            self.word();
            return true;
        }
        for (text, name) in [("<=", "le"), (">=", "ge"), ("=>", "implies"), ("->", "to"), ("...", "dots")] {
            if let Some(rest) = self.rest.strip_prefix(text) {
                self.rest = rest;
                self.cmd(name);
                return true;
            }
        }
        if self.spaced
            && let Some(rest) = self.rest.strip_prefix("!=")
        {
            self.rest = rest;
            self.cmd("ne");
            return true;
        }
        // A dash between numbers, not two signs.
        if let Some(rest) = self.rest.strip_prefix("--")
            && matches!(self.out.last(), Some(Token { tok: Tok::Num(_), .. }))
            && !self.spaced
        {
            self.rest = rest;
            self.push(Tok::Op('?'));
            return true;
        }
        for text in ["+/-", "+-"] {
            if let Some(rest) = self.rest.strip_prefix(text) {
                self.rest = rest;
                self.cmd("pm");
                return true;
            }
        }
        for (text, op) in [("**", '^'), ("==", '=')] {
            if let Some(rest) = self.rest.strip_prefix(text) {
                self.rest = rest;
                self.push(Tok::Op(op));
                return true;
            }
        }
        // Struck out, as in Markdown: not part of the answer, so the whole is not understood.
        if let Some(rest) = self.rest.strip_prefix("~~") {
            self.rest = rest;
            self.cmd("sout");
            return true;
        }
        self.rest = &self.rest[c.len_utf8()..];
        match c {
            '$' if self.lonely_dollar => self.cmd("dollar"),
            '$' | '"' | '`' | '“' | '”' => {}
            '~' => self.spaced = true,
            // Braces around an operator only change the space around it.
            '{' if self.rest.starts_with([',', ':', '-', '/']) && self.rest[1..].starts_with('}') => {
                let op = self.rest.chars().next().unwrap_or_default();
                self.rest = &self.rest[2..];
                self.push(Tok::Op(op));
            }
            _ => self.push(Tok::Op(c)),
        }
        true
    }

    /// A run of letters: one letter, a known name, or a token.
    fn word(&mut self) {
        for (half, name) in [("a.m", "am"), ("p.m", "pm")] {
            if self.rest.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(half)) {
                self.rest = &self.rest[3..];
                self.push(Tok::Text(SmolStr::new_static(name)));
                return;
            }
        }
        let end = self.rest.find(|c: char| !c.is_alphabetic()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let mut chars = word.chars();
        match (chars.next(), chars.next()) {
            // `(1,2) U (3,4)`
            (Some('U'), None)
                if self.out.last().is_some_and(|t| t.is_op(')') || t.is_op(']'))
                    && self.rest.trim_start().starts_with(['(', '[']) =>
            {
                self.cmd("cup");
            }
            (Some('x' | 'X'), None) if self.is_times_ten() => self.push(Tok::Op('*')),
            (Some(letter), None) => self.push(Tok::Letter(letter)),
            _ => match names::plain_word(word) {
                Some(name) => self.cmd(name),
                None if word == "to" => self.push(Tok::Op(':')),
                // `triangle ABC`
                None if matches!(word, "triangle" | "angle")
                    && rest.trim_start().chars().take(3).filter(char::is_ascii_uppercase).count() == 3 =>
                {
                    self.cmd(word);
                }
                // `sinx`
                None if let Some((name, letter)) = run_together(word) => {
                    self.cmd(name);
                    self.push(Tok::Letter(letter));
                }
                None if is_differential(word) => {
                    word.chars().for_each(|letter| self.push(Tok::Letter(letter)));
                }
                None => self.push(Tok::Word(SmolStr::new(word))),
            },
        }
    }

    /// Whether the letter x that was just read is the sign of multiplication in `3 x 10^8`.
    fn is_times_ten(&self) -> bool {
        let behind_number = matches!(self.out.last(), Some(Token { tok: Tok::Num(_), .. }));
        let next = self.rest.trim_start();
        let power =
            next.strip_prefix("10").map(str::trim_start).is_some_and(|rest| rest.starts_with(['^', '*']));
        let between =
            self.spaced && self.rest.starts_with(' ') && next.starts_with(|c: char| c.is_ascii_digit());
        behind_number && (power || between)
    }

    /// What follows a backslash.
    fn command(&mut self) {
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let (name, after) = self.rest.split_at(end);
        if name.is_empty() {
            self.escape();
            return;
        }
        self.rest = after;
        match names::command(name) {
            // `f^\prime` and `f^{\prime}` are `f'`.
            Meaning::Op('\'') => {
                let braced = self.rest.starts_with('}');
                match self.out.as_slice() {
                    [.., caret, open] if braced && caret.is_op('^') && open.is_op('{') => {
                        self.out.truncate(self.out.len() - 2);
                        self.rest = &self.rest[1..];
                    }
                    [.., caret] if caret.is_op('^') => drop(self.out.pop()),
                    _ => {}
                }
                self.push(Tok::Op('\''));
            }
            Meaning::Op(op) => self.push(Tok::Op(op)),
            Meaning::Letter(letter) => self.push(Tok::Letter(letter)),
            Meaning::Name("times") => self.times(),
            // `\\not=`
            Meaning::Other if name == "not" && self.rest.trim_start().starts_with('=') => {
                self.rest = &self.rest.trim_start()[1..];
                self.cmd("ne");
            }
            Meaning::Show if name == "underline" && self.rest.starts_with('{') => {
                let content = self.argument();
                let letters = content.chars().count() > 1 && content.chars().all(char::is_alphabetic);
                if letters { self.text(content) } else { self.again(content) }
            }
            Meaning::Name(name) => self.cmd(name),
            Meaning::Space => self.spaced = true,
            Meaning::Nothing => {
                // `\left.` opens with nothing.
                if name.ends_with("eft") || name.ends_with("ight") {
                    self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
                }
            }
            Meaning::Text => {
                let spaced = self.spaced;
                let text = self.argument();
                self.spaced = spaced;
                if text.trim_start().starts_with("\\boxed") && self.styles <= MAX_STYLES {
                    self.styles += 1;
                    self.again(text);
                    self.styles -= 1;
                } else {
                    self.text(text);
                }
            }
            Meaning::Style if self.styles > MAX_STYLES => {
                self.rest = "";
                self.push(Tok::TooLong);
            }
            Meaning::Style => {
                let content = self.argument();
                self.styled(name, content);
            }
            Meaning::Show => {
                if name.ends_with("color") || name == "colorbox" {
                    self.argument();
                }
            }
            Meaning::Hide => {
                self.argument();
            }
            Meaning::Other if name == "lbrace" => self.push(Tok::SetOpen),
            Meaning::Other if name == "rbrace" => self.push(Tok::SetClose),
            Meaning::Other => self.other(name),
        }
    }

    /// A product, unless it may be that of two vectors.
    fn times(&mut self) {
        let number = self.rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if self.vectors && !number {
            self.cmd("times");
        } else {
            self.push(Tok::Op('*'));
        }
    }

    fn other(&mut self, name: &str) {
        if name == "begin" || name == "end" {
            self.cmd(name);
            let environment = self.argument();
            self.push(Tok::Text(SmolStr::new(environment.trim_end_matches('*'))));
            if name == "begin" && environment == "array" {
                self.argument();
            }
            return;
        }
        if name == "Omega" && matches!(self.out.last(), Some(Token { tok: Tok::Num(_), .. })) {
            self.push(Tok::Text(SmolStr::new_static("Ω")));
            return;
        }
        if names::GREEK.contains(&name) {
            self.cmd(name);
            return;
        }
        // A name run together with letters (`\cdotx`), or a token that only looks like a command.
        match names::plain_word(name) {
            Some(known) => self.cmd(known),
            // What a macro does with its arguments is not known.
            None => self.cmd(name),
        }
    }

    /// A backslash before something that is not a letter.
    fn escape(&mut self) {
        let Some(c) = self.rest.chars().next() else { return };
        self.rest = &self.rest[c.len_utf8()..];
        match c {
            '{' => self.push(Tok::SetOpen),
            '}' => self.push(Tok::SetClose),
            '\\' => {
                let command =
                    self.rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '{' | '}' | '%'));
                if command && !self.rows {
                    // A doubled backslash stands for one.
                    self.command();
                } else {
                    self.push(Tok::Row);
                    // `\\[2pt]` adds space between rows.
                    if let Some((space, rest)) =
                        self.rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
                        && ["pt", "ex", "em", "mm", "cm"].iter().any(|unit| space.ends_with(unit))
                    {
                        self.rest = rest;
                    }
                }
            }
            '%' => self.push(Tok::Op('%')),
            '$' => self.cmd("dollar"),
            '|' => self.push(Tok::Op('|')),
            '!' | '(' | ')' | '[' | ']' => {}
            '\'' => self.push(Tok::Op('\'')),
            '&' | '#' | '_' => self.push(Tok::Op('?')),
            _ => self.spaced = true,
        }
    }

    /// The braced argument that follows, or the next character where there is no brace.
    fn argument(&mut self) -> &'a str {
        let rest = self.rest.trim_start();
        let Some(inside) = rest.strip_prefix('{') else {
            let length = rest.chars().next().map_or(0, char::len_utf8);
            // `\hat\imath`: a command is one token.
            let length = rest.strip_prefix('\\').map_or(length, |name| {
                1 + name.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(name.len())
            });
            self.rest = &rest[length..];
            return &rest[..length];
        };
        let mut depth = 1;
        let mut escaped = false;
        for (at, c) in inside.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '{' => depth += 1,
                '}' => {
                    depth -= 1;
                    if depth == 0 {
                        self.rest = &inside[at + 1..];
                        return &inside[..at];
                    }
                }
                _ => {}
            }
        }
        self.rest = "";
        inside
    }

    /// Text set as text; a connective is a command.
    fn text(&mut self, text: &str) {
        let spaced = text.starts_with(' ');
        let text = ["^{", "\\,", "\\;", "\\cdot"]
            .into_iter()
            .zip(["^", " ", " ", " "])
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        let text = text.replace(['{', '}', '$', '~'], " ").replace("\\ ", " ").replace('\\', " ");
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.spaced |= spaced;
        match words.as_str() {
            "" | "." => self.spaced = true,
            "and" | "&" => self.cmd("and"),
            "mod" => self.cmd("mod"),
            "cis" => self.cmd("cis"),
            "choose" => self.cmd("choose"),
            "or" => self.cmd("or"),
            "," => self.push(Tok::Op(',')),
            "to" | ":" => self.push(Tok::Op(':')),
            // A function's name, or digits before a base.
            name if self.rest.trim_start().starts_with(['(', '_']) || self.rest.starts_with("\\left(") => {
                if let Some(known) = names::plain_word(name) {
                    self.cmd(known);
                } else if name.len() == 1 && self.rest.starts_with('(')
                    || name.chars().all(|c| c.is_ascii_alphanumeric()) && self.rest.starts_with('_')
                {
                    self.again(name);
                } else {
                    self.push(Tok::Text(SmolStr::new(name)));
                }
            }
            _ => self.push(Tok::Text(SmolStr::new(words))),
        }
    }

    /// Reads what stood in an argument as if it stood alone.
    fn again(&mut self, content: &str) {
        let mut inner = Lexer { rest: content, out: Vec::new(), spaced: self.spaced, ..*self };
        while inner.step() {}
        let found = inner.out;
        self.spaced = false;
        self.out.extend(found);
    }

    /// A name in a style of its own.
    fn styled(&mut self, style: &str, content: &'a str) {
        let trimmed = content.trim();
        let name = trimmed.trim_start_matches('\\');
        let vector = matches!(style, "mathbf" | "hat" | "vec" | "boldsymbol" | "bm" | "bold" | "widehat");
        match (style, name) {
            ("mathbb" | "mathbf" | "bold", "R") => self.cmd("reals"),
            ("mathbb" | "mathbf" | "bold", "N") => self.cmd("naturals"),
            ("mathbb" | "mathbf" | "bold", "Z") => self.cmd("integers"),
            ("mathbb" | "mathbf" | "bold", "Q") => self.cmd("rationals"),
            ("mathbb" | "mathbf" | "bold", "C") => self.cmd("complexes"),
            (_, "i" | "imath") if vector => self.cmd("unit_i"),
            (_, "j" | "jmath") if vector => self.cmd("unit_j"),
            (_, "k") if vector => self.cmd("unit_k"),
            // A vector is not the letter under its arrow, nor a blackboard letter the plain one.
            ("vec" | "overrightarrow", _) if name.chars().all(char::is_alphanumeric) => {
                self.cmd(&format!("vec {name}"));
            }
            // `\mathbb{P}(A)` and `\mathbb{E}[X]` are written directly as well.
            ("mathbb" | "mathcal" | "mathscr" | "mathfrak", _)
                if name.len() == 1 && !self.rest.trim_start().starts_with(['(', '[']) =>
            {
                self.cmd(&format!("{} {name}", style.replace("scr", "cal")));
            }
            // An estimate is not what it estimates.
            ("hat" | "widehat", _) if name.chars().all(char::is_alphanumeric) => {
                self.cmd(&format!("hat {name}"));
            }
            _ => {
                let mut chars = trimmed.chars();
                match (chars.next(), chars.next()) {
                    (None, _) => {}
                    // Behind a number, a roman letter is a unit.
                    (
                        Some('m' | 'g' | 's' | 'h' | 'L' | 'N' | 'J' | 'W' | 'V' | 'A' | 'K' | 'C' | 'F'),
                        None,
                    ) if style == "mathrm"
                        && self
                            .out
                            .last()
                            .is_some_and(|t| matches!(t.tok, Tok::Num(_) | Tok::Op(')' | '}'))) =>
                    {
                        self.push(Tok::Text(SmolStr::new(trimmed)));
                    }
                    (Some(letter), None) if letter.is_alphabetic() => self.push(Tok::Letter(letter)),
                    _ if self.rest.starts_with('_') && trimmed.chars().all(|c| c.is_ascii_alphanumeric()) => {
                        self.again(trimmed);
                    }
                    _ if trimmed.chars().all(char::is_alphabetic) => {
                        match (names::command(name), names::plain_word(name)) {
                            (_, Some(known)) if style != "mathrm" || known != "min" => self.cmd(known),
                            (Meaning::Name(known), None) if style == "operatorname" => self.cmd(known),
                            _ => self.push(Tok::Text(SmolStr::new(trimmed))),
                        }
                    }
                    _ if trimmed.starts_with(|c: char| c.is_ascii_digit() || c == '\\' || c == '-') => {
                        // A number or formula in another style: read it as it stands.
                        let (rest, spaced) = (self.rest, self.spaced);
                        self.push(Tok::Op('{'));
                        self.rest = content;
                        self.styles += 1;
                        while self.step() {}
                        self.styles -= 1;
                        self.rest = rest;
                        self.spaced = spaced;
                        self.push(Tok::Op('}'));
                    }
                    _ => self.text(content),
                }
            }
        }
    }
}
