//! What ends a command, and with which status.

use aske_bench::PlanError;
use aske_config::ConfigError;
use aske_record::RunError;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All is done.
    Done,
    /// It ran to its end, but something failed; or two answers are different.
    Failures,
    /// The arguments or the configuration are wrong.
    Usage,
    /// A budget is used up.
    Budget,
    /// A question stays open.
    Undecided,
    /// The user stopped it.
    Interrupted,
}

impl Exit {
    /// The status of the process.
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failures => 1,
            Self::Usage => 2,
            Self::Budget => 3,
            Self::Undecided => 4,
            Self::Interrupted => 130,
        }
    }

    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.status())
    }
}

/// A command that could not do its work: what happened, what to do, and the status.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) exit: Exit,
}

impl Problem {
    /// A wrong argument.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), exit: Exit::Usage }
    }
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Self {
        Self { message: error.to_string(), hint: error.hint, exit: Exit::Usage }
    }
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Self {
        Self { message: error.to_string(), hint: Some(error.hint), exit: Exit::Usage }
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        // A disk that fails while a run goes on is a failure; everything else is a wrong folder.
        let exit = match error {
            RunError::Io { .. } | RunError::Sqlite { .. } => Exit::Failures,
            _ => Exit::Usage,
        };
        Self { message: error.to_string(), hint: error.hint().map(str::to_owned), exit }
    }
}
