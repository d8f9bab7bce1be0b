//! What math-verify finds in a text: `parse`, with its configuration.

mod boxed;
mod patterns;

use crate::arithmetic;
use crate::extract::{LimitError, parsed};
use crate::normalise::normalise_with;
use crate::tree::{Value, is_complex_infinity, number, percent};
use aske_algebra::fuel::Fuel;
use aske_algebra::verdict::MAX_BYTES;
use fancy_regex::Captures;
use patterns::{JOINED, Pattern};
use std::hash::{Hash, Hasher};

pub use boxed::Boxes;

/// Texts longer than this are not parsed.
const LONGEST: usize = 1 << 20;
/// Work for one text.
const FUEL: u64 = 4_000_000;

/// The steps of normalisation, as in latex2sympy2_extended's `NormalizationConfig`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the options of the original")]
pub struct Normalisation {
    /// Replaces commands.
    pub basic_latex: bool,
    /// Removes units.
    pub units: bool,
    /// Adds missing braces.
    pub malformed_operators: bool,
    /// Rewrites `.5` and `0.5`.
    pub nits: bool,
    /// Which boxes count.
    pub boxed: Boxes,
    /// Keeps the last side of a chain of equations.
    pub equations: bool,
}

impl Normalisation {
    /// That of `LatexExtractionConfig()`.
    pub const LATEX: Self = Self {
        basic_latex: true,
        units: true,
        malformed_operators: true,
        nits: true,
        boxed: Boxes::All,
        equations: false,
    };
}

/// A kind of answer to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Formulas between delimiters, and boxes.
    Latex {
        /// Formulas that no words announce count too.
        anchorless: bool,
        /// The priority of boxes; negative: boxes do not count.
        boxed_priority: i64,
        /// How formulas are normalised.
        normalisation: Normalisation,
    },
    /// Numbers and arithmetic in plain text.
    Expression {
        /// Numbers that no words announce count too.
        anchorless: bool,
    },
    /// One of these words.
    Words {
        /// The words.
        words: Vec<String>,
        /// Words that nothing announces count too.
        anchorless: bool,
        /// The word is given in lower case.
        lowercase: bool,
    },
}

impl Target {
    /// Formulas and numbers, as `parse` looks for without a configuration.
    pub fn usual() -> [Self; 2] {
        let normalisation = Normalisation::LATEX;
        [
            Self::Latex { anchorless: true, boxed_priority: 50, normalisation },
            Self::Expression { anchorless: true },
        ]
    }
}

/// How much of what is found is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// The text of the first match follows what was parsed.
    pub fallback: bool,
    /// Only the first match is tried.
    pub first_match: bool,
}

impl Default for Mode {
    fn default() -> Self {
        Self { fallback: true, first_match: false }
    }
}

/// Where an expression comes from; enough to parse it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Normalised LaTeX of one formula or several, each with a percent sign behind it or not.
    Latex(Vec<(String, bool)>),
    /// Arithmetic in plain text.
    Arithmetic(String),
    /// A number, with a percent sign behind it or not.
    Number(String, bool),
}

/// A parsed expression.
#[derive(Clone, Debug)]
pub struct Expression {
    pub(crate) value: Value,
    source: Source,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Hash for Expression {
    fn hash<H: Hasher>(&self, state: &mut H) {
        format!("{:?}", self.value).hash(state);
    }
}

impl Expression {
    /// Parses the source; `None` if it is not an expression or exceeds the limits.
    pub fn new(source: Source) -> Option<Self> {
        Self::within(source, &Fuel::new(FUEL)).ok().flatten()
    }

    fn within(source: Source, fuel: &Fuel) -> Result<Option<Self>, LimitError> {
        let value = match &source {
            Source::Latex(formulas) => latex(formulas, fuel)?,
            Source::Arithmetic(text) => arithmetic::parse(&text.replace('\n', " ")).map(Value::Expr),
            Source::Number(text, false) => number(text).map(Value::Expr),
            Source::Number(text, true) => number(text).map(percent).map(Value::Expr),
        };
        Ok(value.map(|value| Self { value, source }))
    }

    /// Whether it is a division by zero.
    pub fn is_undefined(&self) -> bool {
        self.value.expr().is_some_and(is_complex_infinity)
    }

    /// Where it comes from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The text that was parsed.
    pub fn text(&self) -> String {
        let shown = |(text, percent): &(String, bool)| format!("{text}{}", if *percent { "%" } else { "" });
        match &self.source {
            Source::Latex(formulas) if formulas.len() > 1 => {
                format!("{{{}}}", formulas.iter().map(shown).collect::<Vec<_>>().join(", "))
            }
            Source::Latex(formulas) => formulas.iter().map(shown).collect(),
            Source::Arithmetic(text) => text.clone(),
            Source::Number(text, percent) => shown(&(text.clone(), *percent)),
        }
    }
}

/// One formula, or the set of several.
fn latex(formulas: &[(String, bool)], fuel: &Fuel) -> Result<Option<Value>, LimitError> {
    let mut values = Vec::with_capacity(formulas.len());
    for (text, is_percent) in formulas {
        match (formula(text, fuel)?, is_percent) {
            (Some(value), false) => values.push(value),
            (Some(Value::Expr(expr)), true) => values.push(Value::Expr(percent(expr))),
            _ => return Ok(None),
        }
    }
    if values.len() < 2 {
        return Ok(values.pop());
    }
    let elements = values.into_iter().flat_map(|value| match value {
        Value::Set(elements) => elements,
        other => vec![other],
    });
    Ok(Some(Value::Set(elements.collect())))
}

fn formula(text: &str, fuel: &Fuel) -> Result<Option<Value>, LimitError> {
    // As text it may still be equal.
    if text.len() > MAX_BYTES { Ok(None) } else { parsed(text, fuel) }
}

/// One result of `parse`.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A parsed expression.
    Expression(Box<Expression>),
    /// A word, or text that was not parsed.
    Text(String),
}

/// Finds the answer in a text.
///
/// # Errors
/// The text, or the search in it, exceeds the limits; math-verify would exceed its time.
pub fn parse(text: &str, targets: &[Target], mode: Mode) -> Result<Vec<Item>, LimitError> {
    if text.len() > LONGEST {
        return Err(LimitError);
    }
    let fuel = Fuel::new(FUEL);
    let words: Vec<Vec<Pattern>> = targets.iter().map(own_patterns).collect();
    let mut patterns: Vec<(i64, &Pattern, &Target)> = Vec::new();
    for (target, words) in targets.iter().zip(&words) {
        patterns.extend(of_target(target, words).map(|(priority, pattern)| (priority, pattern, target)));
    }
    patterns.sort_by_key(|(priority, ..)| *priority);
    let has_answer = text.as_bytes().windows(6).any(|part| part.eq_ignore_ascii_case(b"answer"));
    let (mut found, mut first_text, mut matched) = (Vec::new(), None, false);
    for group in patterns.chunk_by(|(a, ..), (b, ..)| a == b) {
        let mut candidates = Vec::new();
        for (_, pattern, target) in group {
            if !pattern.may_match(text, has_answer) {
                continue;
            }
            for captures in pattern.regex.captures_iter(text) {
                let captures = captures.map_err(|_| LimitError)?;
                if let Some(whole) = captures.get(0) {
                    candidates.push((whole.end(), whole.start(), captures, *target));
                }
            }
        }
        candidates.sort_by(|(end, start, ..), (other_end, other_start, ..)| {
            other_end.cmp(end).then(start.cmp(other_start))
        });
        for (end, start, captures, target) in &candidates {
            fuel.spend(50 + (end - start) as u64).map_err(|_| LimitError)?;
            let (item, text) = extract(captures, target, &fuel)?;
            matched = true;
            if !text.is_empty() && first_text.is_none() {
                first_text = Some(text);
            }
            if let Some(item) = item {
                found.push(item);
                break;
            }
            if mode.first_match {
                break;
            }
        }
        if !found.is_empty() || (matched && mode.first_match) {
            break;
        }
    }
    found.extend(first_text.filter(|_| mode.fallback).map(Item::Text));
    Ok(found)
}

/// The patterns that depend on a target.
fn own_patterns(target: &Target) -> Vec<Pattern> {
    match target {
        Target::Words { words, anchorless, .. } => patterns::words(words, *anchorless),
        _ => Vec::new(),
    }
}

/// The patterns of a target with their priorities.
fn of_target<'p>(target: &Target, own: &'p [Pattern]) -> Box<dyn Iterator<Item = (i64, &'p Pattern)> + 'p> {
    let anchored = |all: &'p [Pattern], anchorless: bool| {
        all.iter().filter(move |p| anchorless || p.priority < 300).map(|p| (p.priority, p))
    };
    match *target {
        Target::Latex { anchorless, boxed_priority, .. } => {
            let boxes = if boxed_priority < 0 { &[] } else { patterns::boxed() };
            Box::new(
                anchored(patterns::latex(), anchorless).chain(boxes.iter().map(move |p| (boxed_priority, p))),
            )
        }
        Target::Expression { anchorless } => Box::new(anchored(patterns::expression(), anchorless)),
        Target::Words { .. } => Box::new(anchored(own, true)),
    }
}

/// What a match gives, and its text.
fn extract(
    captures: &Captures<'_>,
    target: &Target,
    fuel: &Fuel,
) -> Result<(Option<Item>, String), LimitError> {
    match target {
        Target::Latex { normalisation, .. } => formulas(captures, *normalisation, fuel),
        Target::Expression { .. } => plain(captures, fuel),
        Target::Words { lowercase, .. } => {
            let word = captures.name("key").map_or("", |found| found.as_str());
            let item = if *lowercase { word.to_lowercase() } else { word.to_owned() };
            Ok((Some(Item::Text(item)), word.to_owned()))
        }
    }
}

fn formulas(
    captures: &Captures<'_>,
    normalisation: Normalisation,
    fuel: &Fuel,
) -> Result<(Option<Item>, String), LimitError> {
    let mut formulas = Vec::new();
    if let Some(boxed) = captures.name("box") {
        formulas
            .push((normalised(boxed.as_str(), Normalisation { boxed: Boxes::Last, ..normalisation }), false));
    }
    for index in 0..JOINED {
        let content = "abcdef".chars().find_map(|kind| captures.name(&format!("g{index}_{kind}")));
        if let Some(content) = content {
            let percent = captures.name(&format!("g{index}_percent")).is_some();
            formulas.push((normalised(content.as_str(), normalisation), percent));
        }
    }
    let text = formulas.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(" and ");
    let first = formulas.first().cloned();
    if let Some(all) = Expression::within(Source::Latex(formulas), fuel)? {
        return Ok((Some(Item::Expression(Box::new(all))), text));
    }
    // Where one of several does not parse, the first counts alone.
    let Some(first) = first else { return Ok((None, String::new())) };
    let text = first.0.clone();
    let one = Expression::within(Source::Latex(vec![first]), fuel)?;
    Ok((one.map(|one| Item::Expression(Box::new(one))), text))
}

fn normalised(text: &str, normalisation: Normalisation) -> String {
    normalise_with(&boxed::contents(text, normalisation.boxed), normalisation)
}

/// A number or arithmetic.
fn plain(captures: &Captures<'_>, fuel: &Fuel) -> Result<(Option<Item>, String), LimitError> {
    let group = |names: &[&str]| {
        let all = names.iter().filter_map(|name| captures.name(name)).map(|found| found.as_str());
        all.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
    };
    let whole = group(&["integer1", "integer2", "integer3"]);
    let part = group(&["decimal1", "decimal2", "decimal3"]);
    let (source, text) = if whole.is_empty() && part.is_empty() {
        let text = group(&["expr"]).to_owned();
        (Source::Arithmetic(text.clone()), text)
    } else {
        let whole = whole.replace([',', ' '], "");
        let whole = whole.trim_start_matches('0');
        let text = format!("{}{}", if whole.is_empty() { "0" } else { whole }, part.replace(',', "."));
        (Source::Number(text.clone(), captures.name("percent").is_some()), text)
    };
    let found = Expression::within(source, fuel)?;
    Ok((found.map(|found| Item::Expression(Box::new(found))), text))
}
