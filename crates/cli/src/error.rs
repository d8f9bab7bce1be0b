//! The error that ends a command, and the exit status of the program.

use crate::output::safe;
use aske_chat::Hint;
use aske_export::ExportError;
use aske_fleet::FleetError;
use aske_import::ImportError;
use aske_record::RunError;
use aske_train::LearnError;
use aske_train::reinforce::TrainError;
use aske_weights::PullError;
use std::borrow::Cow;
use std::error::Error;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything is done.
    Done,
    /// The command finished, but something failed; for `verify`, the answers differ.
    Failures,
    /// The arguments or the configuration are wrong.
    Usage,
    /// A budget is used up.
    Budget,
    /// `verify` could not decide.
    Undecided,
    /// Stopped by a signal.
    Interrupted,
}

impl Exit {
    /// The exit status of the process.
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

/// Why a command failed: the message, what to do next, and the exit status.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) exit: Exit,
}

impl CliError {
    /// An error in the arguments or in the files they name.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), exit: Exit::Usage }
    }

    /// A failure that no other argument would have avoided.
    pub(crate) fn failure(message: impl std::fmt::Display) -> Self {
        Self { message: message.to_string(), hint: None, exit: Exit::Failures }
    }

    /// The same with one more hint.
    pub(crate) fn and_hint(mut self, more: Option<String>) -> Self {
        let hints: Vec<String> = self.hint.into_iter().chain(more).collect();
        self.hint = (!hints.is_empty()).then(|| hints.join("; "));
        self
    }

    /// The work was stopped by a signal before it could finish.
    pub(crate) fn interrupted() -> Self {
        Self { message: "interrupted".to_owned(), hint: None, exit: Exit::Interrupted }
    }
}

/// Every library error that reaches the user carries its own hint.
impl<E: Hint + 'static> From<E> for CliError {
    fn from(error: E) -> Self {
        let hint = error.hint().map(Cow::into_owned);
        Self { message: safe(&error.to_string()), hint, exit: exit_of(&error) }
    }
}

/// Errors that other arguments could have avoided are wrong usage; failures of the environment are not.
fn exit_of(error: &(dyn Error + 'static)) -> Exit {
    if let Some(ImportError::Run(error)) = error.downcast_ref() {
        return exit_of(error);
    }
    if let Some(ExportError::Run(error)) = error.downcast_ref() {
        return exit_of(error);
    }
    if let Some(error) = error.downcast_ref() {
        return match error {
            TrainError::Learn(error) => exit_of(error),
            TrainError::Embed(_) | TrainError::FewerSteps { .. } => Exit::Usage,
            _ => Exit::Failures,
        };
    }
    let learning = error
        .downcast_ref()
        .is_some_and(|error| !matches!(error, LearnError::Untrainable(_) | LearnError::Device(_)));
    let disk = matches!(error.downcast_ref(), Some(RunError::Io { .. } | RunError::Sqlite { .. }));
    let server = error.downcast_ref().is_some_and(|error| {
        !matches!(error, FleetError::AlreadyRunning { .. } | FleetError::OrphanedServers { .. })
    });
    if disk || server || learning || error.is::<PullError>() { Exit::Failures } else { Exit::Usage }
}
