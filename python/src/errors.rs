//! Errors as the exceptions of the package.

use aske_chat::Hint;
use aske_config::ConfigError;
use aske_model::{ErrorCause, ModelError};
use pyo3::prelude::*;
use std::borrow::Cow;

mod python {
    //! The exceptions, which are written in Python so that they have fields and can be pickled.
    pyo3::import_exception!(aske_env._errors, ConfigError);
    pyo3::import_exception!(aske_env._errors, RolloutFailure);
}

/// A configuration that cannot be used.
pub(crate) fn config_error(error: &ConfigError) -> PyErr {
    let hint = error.hint().map(Cow::into_owned);
    python::ConfigError::new_err((error.to_string(), hint))
}

/// An argument that cannot be used.
pub(crate) fn value_error(error: &impl Hint) -> PyErr {
    python::ConfigError::new_err((error.to_string(), error.hint().map(Cow::into_owned)))
}

/// The message of an error, and its hint on a second line.
pub(crate) fn with_hint(error: &impl Hint) -> String {
    // What a flag of the program does, an argument does here.
    let hint = error.hint().map(|hint| format!("\nhint: {}", hint.replace(" with --run", "")));
    format!("{error}{}", hint.unwrap_or_default())
}

/// A rollout that failed for a reason other than a call.
pub(crate) fn rollout_failure(message: &str) -> PyErr {
    python::RolloutFailure::new_err((message.to_owned(),))
}

/// A rollout with a call that failed after all attempts. The configuration does not name the `urls` of the model, if there are any.
pub(crate) fn model_failure(error: &ModelError, urls: &[String]) -> PyErr {
    let hint = match error.cause {
        ErrorCause::Network if !urls.is_empty() => {
            Some(format!("is the server at {} up?", urls.join(" and ")))
        }
        _ => error.hint().map(Cow::into_owned),
    };
    let cause = error.cause.as_str();
    python::RolloutFailure::new_err((error.to_string(), cause, error.model.clone(), error.attempts, hint))
}
