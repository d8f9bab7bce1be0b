//! `aske verify`: whether two answers are equal.

use crate::arguments::{Compat, Verify};
use crate::error::{CliError, Exit};
use crate::output::{BAD, DIM, GOOD, NOTE, data, note, paint, safe};
use aske_answer::{Comparison, Explanation, NotationPolicy, Reading, Rules, Verdict, explain};
use aske_chat::plain_parse_error;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) fn run(arguments: &Verify) -> Result<Exit, CliError> {
    if arguments.policies {
        return Ok(list());
    }
    let rules = match arguments.compat {
        Some(Compat::MathVerify) => Rules::MathVerify,
        Some(Compat::Paper) => Rules::Paper,
        None => Rules::Aske(policy(&arguments.policy)?),
    };
    match (&arguments.jsonl, &arguments.gold, &arguments.pred) {
        (Some(path), ..) => lines(path, &rules, arguments.timing),
        (None, Some(gold), Some(pred)) => Ok(one(gold, pred, &rules, arguments)),
        _ => Err(CliError::usage("two answers are needed", "aske verify GOLD PRED, or --jsonl FILE")),
    }
}

/// The default policy with these options changed.
fn policy(options: &[String]) -> Result<NotationPolicy, CliError> {
    let mut table = options_of(&NotationPolicy::default());
    for text in options {
        let known = || table.keys().cloned().collect::<Vec<_>>().join(", ");
        let (name, value) = text.split_once('=').ok_or_else(|| {
            CliError::usage(
                format!("--policy {text}: no value"),
                format!("NAME=VALUE, where NAME is one of {}", known()),
            )
        })?;
        if !table.contains_key(name) {
            return Err(CliError::usage(
                format!("--policy {text}: no such option"),
                format!("one of {}", known()),
            ));
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        table.insert(name.to_owned(), value);
    }
    serde_json::from_value(Value::Object(table))
        .map_err(|error| CliError::usage(format!("--policy: {error}"), "true, false, or a number of digits"))
}

fn options_of(policy: &NotationPolicy) -> Map<String, Value> {
    match serde_json::to_value(policy) {
        Ok(Value::Object(table)) => table,
        _ => Map::new(),
    }
}

fn list() -> Exit {
    for (name, value) in options_of(&NotationPolicy::default()) {
        data(format_args!("{name}={value}"));
    }
    Exit::Done
}

fn one(gold: &str, pred: &str, rules: &Rules, arguments: &Verify) -> Exit {
    let explanation = arguments.explain.then(|| explain(gold, pred, rules));
    let comparison =
        explanation.as_ref().map_or_else(|| rules.compare(gold, pred), |explained| explained.comparison);
    let (style, word, exit) = match comparison.verdict {
        Verdict::Equal => (GOOD, "equal", Exit::Done),
        Verdict::Different => (BAD, "different", Exit::Failures),
        Verdict::Undecided => (NOTE, "undecided", Exit::Undecided),
    };
    if arguments.json {
        let mut line =
            json!({"gold": gold, "pred": pred, "equal": equal(comparison), "method": comparison.method});
        if let Some(explanation) = &explanation {
            line["readings"] = json!({"gold": explanation.gold, "pred": explanation.pred});
        }
        data(line);
    } else {
        if let Some(explanation) = &explanation {
            show(explanation);
        }
        data(format_args!("{} ({})", paint(style, word), method(comparison)));
    }
    exit
}

fn show(explanation: &Explanation) {
    for (name, readings) in [("gold", &explanation.gold), ("pred", &explanation.pred)] {
        if readings.is_empty() {
            data(format_args!("{name}  {}", paint(DIM, "not parsed as mathematics: compared as text")));
        }
        for Reading { kind, read, canonical } in readings {
            let canonical = canonical
                .as_ref()
                .map(|form| format!("  {} {}", paint(DIM, "canonical"), safe(form)))
                .unwrap_or_default();
            data(format_args!("{name}  {} {}{canonical}", paint(DIM, kind), safe(read)));
        }
    }
}

fn method(comparison: Comparison) -> String {
    serde_json::to_value(comparison.method)
        .ok()
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}

fn equal(comparison: Comparison) -> Option<bool> {
    match comparison.verdict {
        Verdict::Equal => Some(true),
        Verdict::Different => Some(false),
        Verdict::Undecided => None,
    }
}

/// Hint for input that cannot be read.
const INPUT: &str = "give a file of lines {\"gold\": …, \"pred\": …}, or pipe them in";
/// Hint for lines that are not pairs.
const FORMAT: &str =
    "each line is a JSON object with the strings \"gold\" and \"pred\"; all other lines were compared";

/// Compares line by line and prints each result before reading on. A line that is not a pair gives an error with its
/// number instead of a verdict.
fn lines(path: &Path, rules: &Rules, timing: bool) -> Result<Exit, CliError> {
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        let file = File::open(path).map_err(|error| CliError::usage(format!("{name}: {error}"), INPUT))?;
        Box::new(file)
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut times = Vec::new();
    let mut first_error = None;
    let mut errors = 0_u64;
    for (line, number) in BufReader::new(input).split(b'\n').zip(1_u64..) {
        let line = line.map_err(|error| CliError::usage(format!("{name}: {error}"), INPUT))?;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let result = match pair(&line) {
            Ok((mut fields, [gold, pred])) => {
                let start = timing.then(Instant::now);
                let comparison = rules.compare(&gold, &pred);
                times.extend(start.map(|start| start.elapsed()));
                fields.insert("equal".to_owned(), json!(equal(comparison)));
                fields.insert("method".to_owned(), json!(comparison.method));
                Value::Object(fields)
            }
            Err(error) => {
                errors += 1;
                first_error.get_or_insert_with(|| format!("{name}, line {number}: {error}"));
                json!({"line": number, "error": error})
            }
        };
        match writeln!(out, "{result}") {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Exit::Done),
            Err(error) => {
                return Err(CliError::failure(format_args!("cannot write the results: {error}")));
            }
            Ok(()) => {}
        }
    }
    let _ = out.flush();
    if timing {
        note(summary(times));
    }
    match first_error {
        None => Ok(Exit::Done),
        Some(first) => {
            let more = if errors > 1 { format!(" ({errors} such lines in all)") } else { String::new() };
            Err(CliError::usage(format!("{first}{more}"), FORMAT))
        }
    }
}

/// The fields of a line, and the two answers among them.
fn pair(line: &[u8]) -> Result<(Map<String, Value>, [String; 2]), String> {
    let fields: Map<String, Value> = serde_json::from_slice(line).map_err(|error| {
        let what = plain_parse_error(&error);
        if what.ends_with("hex escape") {
            return format!("an escaped surrogate without its other half, at column {}", error.column());
        }
        what
    })?;
    let text = |key: &str| match fields.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!("\"{key}\" is {}, not a string", kind(other))),
        None => Err(format!("no \"{key}\"")),
    };
    let answers = [text("gold")?, text("pred")?];
    Ok((fields, answers))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Timings of the comparisons: count, total and quantiles.
fn summary(mut times: Vec<Duration>) -> Value {
    let total: Duration = times.iter().sum();
    times.sort_unstable();
    let micros = |quantile: usize| {
        times.get((times.len().saturating_sub(1)) * quantile / 100).map_or(0.0, |t| t.as_secs_f64() * 1e6)
    };
    json!({
        "pairs": times.len(),
        "seconds": total.as_secs_f64(),
        "p50_us": micros(50),
        "p99_us": micros(99),
        "max_us": micros(100),
    })
}
