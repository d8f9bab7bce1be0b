//! Why a server exited, from its log.
//!
//! vLLM prints a traceback in the process that failed, often twice, and then tracebacks of its other processes that only
//! notice the failure. Its processes write to one log, so lines are told apart by their prefix, such as
//! `(EngineCore pid=7) ERROR 07-01 09:30:00 [core.py:1330]`. The cause is the last traceback that is not such a
//! consequence; what else the log mentions is not an error.

use crate::error::ServerError;
use crate::log::last_lines;
use std::collections::HashMap;

/// Why a server exited, and the lines of its log that say so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnosis {
    pub(crate) error: ServerError,
    pub(crate) lines: String,
}

/// Log lines shown in an error.
const MAX_LINES: usize = 12;
/// Lines of one exception's message; the first ones say what happened.
const MAX_MESSAGE_LINES: usize = 6;
/// Characters of a shown line. vLLM lists hundreds of supported architectures in one.
const MAX_LINE_CHARS: usize = 600;

/// Phrases in the exceptions of processes that only notice the failure of another one, or are ended because of it.
const CONSEQUENCES: &[&str] = &[
    "engine core initialization failed",
    "see root cause above",
    "see stack trace",
    "stack trace above for the root cause",
    "enginedeaderror",
    "cancellederror",
    "keyboardinterrupt",
    "systemexit",
    "brokenpipeerror",
    "contextterminated",
];

/// Lines of failures that print no traceback.
const WITHOUT_TRACEBACK: &[&str] = &[
    "vllm: error: ",
    "vllm serve: error: ",
    "Fatal Python error: ",
    "terminate called after throwing",
    "Segmentation fault",
    "!!!!!!! Segfault",
];

const OFFLINE: &[&str] = &[
    "couldn't connect to",
    "connectionerror",
    "connecterror",
    "max retries exceeded",
    "timed out",
    "name resolution",
    "name or service not known",
    "500 server error",
    "502 server error",
    "503 server error",
    "504 server error",
    "429 client error",
];
const MEMORY: &[&str] = &[
    "out of memory",
    "outofmemoryerror",
    "cudaerrormemoryallocation",
    "not enough gpu memory",
    "can't allocate memory",
    "no available memory for the cache blocks",
    "is less than desired gpu memory utilization",
    "is larger than the available kv cache memory",
];
const CONTEXT: &[&str] = &["is greater than the derived max_model_len"];
const MISSING: &[&str] = &[
    "repository not found",
    "repositorynotfounderror",
    "revisionnotfounderror",
    "invalid repository id or local directory",
    "repo id must",
    "is not a valid model identifier",
    "is not a local folder",
    "does not appear to have a file named",
    "could not detect config format",
    "cannot find any model weights",
];
const ACCESS: &[&str] = &["gated repo", "gatedrepoerror", "401 client error", "403 client error"];
const UNSUPPORTED: &[&str] = &[
    "are not supported for now",
    "is not supported anymore",
    "is not supported in-tree anymore",
    "failed to be inspected",
    "has no vllm implementation",
    "does not recognize this architecture",
    "unrecognized model in",
    "is not a valid json file",
    "trust_remote_code=true",
    "trust-remote-code",
];
const ARGUMENTS: &[&str] =
    &["validation error for", "validation errors for", "vllm: error: ", "vllm serve: error: "];

/// The cause of an exit with this log and exit status.
///
/// A server that was ready has a model and arguments that work, so its exit is never one that a restart would repeat.
pub(crate) fn diagnose(log: &str, exit: String, was_ready: bool) -> Diagnosis {
    let Some(cause) = Failure::cause(failures(log)) else {
        return Diagnosis { error: ServerError::Exited(exit), lines: shown(&last_lines(log, MAX_LINES)) };
    };
    let error = cause.classify().filter(|error| !was_ready || *error == ServerError::OutOfMemory);
    Diagnosis {
        error: error.unwrap_or(ServerError::Exited(exit)),
        lines: shown(&last_lines(&cause.exceptions.join("\n"), MAX_LINES)),
    }
}

/// A traceback with the exceptions that led to it, the first one first; or a line that stands alone.
#[derive(Debug, Default)]
struct Failure {
    exceptions: Vec<String>,
    /// Whether Python ignored it, as it does in destructors at exit.
    ignored: bool,
}

impl Failure {
    /// The last one that is not a consequence of another one, or the last one.
    fn cause(mut failures: Vec<Self>) -> Option<Self> {
        failures.retain(|failure| !failure.ignored && !failure.exceptions.is_empty());
        let cause = failures.iter().rposition(|failure| !failure.is_consequence());
        cause.or(failures.len().checked_sub(1)).map(|at| failures.swap_remove(at))
    }

    fn is_consequence(&self) -> bool {
        self.exceptions.last().is_some_and(|exception| contains(exception, CONSEQUENCES))
    }

    /// The error that a restart would repeat, if it is one of those.
    fn classify(&self) -> Option<ServerError> {
        let of = |phrases: &[&str]| self.exceptions.iter().any(|exception| contains(exception, phrases));
        // Without a connection, a model on the hub is not found either.
        if of(OFFLINE) {
            return None;
        }
        [
            (MEMORY, ServerError::OutOfMemory),
            (CONTEXT, ServerError::ContextTooLong),
            // The hub's answer to a wrong name without a token is 401.
            (MISSING, ServerError::ModelNotFound),
            (ACCESS, ServerError::AccessDenied),
            (UNSUPPORTED, ServerError::UnsupportedModel),
            (ARGUMENTS, ServerError::InvalidArguments),
        ]
        .into_iter()
        .find(|(phrases, _)| of(phrases))
        .map(|(_, error)| error)
    }
}

fn contains(text: &str, phrases: &[&str]) -> bool {
    let text = text.to_lowercase();
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// What the lines of one process are part of.
#[derive(Debug, Default)]
struct Stream {
    /// The failure that is being read, by index.
    current: Option<usize>,
    part: TracebackPart,
    /// Whether the next traceback continues the current failure.
    chained: bool,
    /// Whether Python announced that it ignores the next traceback.
    ignoring: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum TracebackPart {
    #[default]
    Other,
    /// The frames of a traceback; the next line that is not indented is the exception.
    Frames,
    /// The lines of an exception's message that follow its first one.
    Message(usize),
}

/// The failures of a log, in the order in which they end.
fn failures(log: &str) -> Vec<Failure> {
    let mut failures: Vec<Failure> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    let mut streams: HashMap<(&str, &str), Stream> = HashMap::new();
    for (at, line) in log.lines().enumerate() {
        let (process, record, text) = split(line);
        let stream = streams.entry((process, record)).or_default();
        if text == "Traceback (most recent call last):" {
            let continues = std::mem::take(&mut stream.chained);
            if !continues || stream.current.is_none() {
                stream.current = Some(failures.len());
                failures.push(Failure { exceptions: Vec::new(), ignored: stream.ignoring });
                ends.push(at);
            }
            stream.ignoring = false;
            stream.part = TracebackPart::Frames;
        } else if text.starts_with("The above exception was the direct cause")
            || text.starts_with("During handling of the above exception")
        {
            stream.chained = true;
            stream.part = TracebackPart::Other;
        } else if text.starts_with("Exception ignored in") {
            stream.ignoring = true;
            stream.part = TracebackPart::Other;
        } else if text.trim().is_empty() {
            if stream.part != TracebackPart::Frames {
                stream.part = TracebackPart::Other;
            }
        } else if let (TracebackPart::Frames, Some(current)) = (&stream.part, stream.current) {
            if !text.starts_with(char::is_whitespace) {
                failures[current].exceptions.push(text.to_owned());
                ends[current] = at;
                stream.part = TracebackPart::Message(1);
            }
        } else if let (TracebackPart::Message(lines), Some(current)) = (&mut stream.part, stream.current) {
            *lines += 1;
            if *lines <= MAX_MESSAGE_LINES
                && let Some(exception) = failures[current].exceptions.last_mut()
            {
                *exception += "\n";
                *exception += text;
            }
        } else if WITHOUT_TRACEBACK.iter().any(|start| text.starts_with(start)) {
            failures.push(Failure { exceptions: vec![text.to_owned()], ignored: false });
            ends.push(at);
        }
    }
    let mut ordered: Vec<(usize, Failure)> = ends.into_iter().zip(failures).collect();
    ordered.sort_by_key(|(end, _)| *end);
    ordered.into_iter().map(|(_, failure)| failure).collect()
}

/// The process that wrote a line, its log record (level, time and place) and its text; both are empty without a prefix.
fn split(line: &str) -> (&str, &str, &str) {
    let line = line.trim_end_matches('\r');
    let process = line.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    let (process, line) = match process {
        Some((process, rest)) if process.contains(" pid=") => (process, rest),
        _ => ("", line),
    };
    let is_record = |head: &str| {
        ["DEBUG ", "INFO ", "WARNING ", "ERROR ", "CRITICAL "].iter().any(|level| head.starts_with(level))
            && head.contains(" [")
    };
    match line.find("] ").map(|end| line.split_at(end + 2)) {
        Some((record, text)) if is_record(record) => (process, record, text),
        _ => (process, "", line),
    }
}

/// Lines of a usable width.
fn shown(text: &str) -> String {
    let shorten = |line: &str| match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    text.lines().map(shorten).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
