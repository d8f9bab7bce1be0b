//! Errors as the exceptions of the package.

use aske_chat::Hint;
use aske_config::ConfigError;
use aske_model::{ErrorCause, ModelError};
use pyo3::prelude::*;
use std::borrow::Cow;
use std::error::Error;

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

/// A rollout that failed. `policy` is the name of the policy and where it is called, which is not in the configuration.
pub(crate) fn rollout_failure(
    error: &(dyn Error + Send + Sync + 'static),
    policy: (&str, &[String]),
) -> PyErr {
    let Some(ModelError { cause, model, attempts, .. }) = error.downcast_ref() else {
        return python::RolloutFailure::new_err((error.to_string(),));
    };
    let hint = match cause {
        ErrorCause::Network if *model == policy.0 => {
            Some(format!("is the server at {} up?", policy.1.join(" and ")))
        }
        _ => error.downcast_ref::<ModelError>().and_then(Hint::hint).map(Cow::into_owned),
    };
    let cause = ErrorCause::as_str(*cause);
    python::RolloutFailure::new_err((error.to_string(), cause, model.clone(), *attempts, hint))
}
