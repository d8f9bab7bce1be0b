//! Errors of running servers.

use aske_chat::Hint;
use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

/// Why a fleet cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A file of the fleet cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A fleet already runs from this folder.
    #[error("{folder}: a fleet already runs from this folder (process {pid})")]
    AlreadyRunning {
        /// The folder.
        folder: PathBuf,
        /// Its supervisor.
        pid: u32,
    },
    /// Servers of an earlier fleet are still running.
    #[error("{folder}: servers of an earlier fleet are still running: {servers}")]
    OrphanedServers {
        /// The folder.
        folder: PathBuf,
        /// Their names.
        servers: String,
    },
    /// The HTTP client cannot be created.
    #[error("cannot create an HTTP client: {0}")]
    Client(#[source] reqwest::Error),
    /// A server failed.
    #[error("`{name}` failed: {source}{}", quoted(.tail))]
    Server {
        /// The model.
        name: String,
        /// What happened.
        source: ServerError,
        /// The end of its log.
        tail: String,
        /// Its log.
        log: PathBuf,
    },
}

/// Why a server failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// The program cannot be started.
    #[error("cannot start {program}: {reason}")]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The system's error.
        reason: String,
    },
    /// Another program listens on its port.
    #[error("port {0} is in use by another program")]
    PortInUse(u16),
    /// It rejected its arguments.
    #[error("it rejected its arguments")]
    InvalidArguments,
    /// There is not enough memory on its GPU.
    #[error("not enough free GPU memory")]
    OutOfMemory,
    /// The model cannot be downloaded.
    #[error("the hub denied access to the model")]
    AccessDenied,
    /// It exited.
    #[error("it exited with {0}")]
    Exited(String),
    /// It kept exiting.
    #[error("it exited {times} times, last with {last}")]
    CrashLoop {
        /// How often.
        times: u32,
        /// The last exit status.
        last: String,
    },
    /// It did not become ready.
    #[error("it was not ready within {0} seconds")]
    NotReady(u64),
    /// It is ready but returns no completion.
    #[error("it is ready, but its first completion failed: {0}")]
    NoCompletion(String),
}

impl ServerError {
    /// Whether a restart would fail again.
    pub(crate) fn is_permanent(&self) -> bool {
        !matches!(self, Self::Exited(_) | Self::OutOfMemory)
    }
}

impl Hint for FleetError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::File { .. } | Self::Client(_) => return None,
            Self::AlreadyRunning { .. } => {
                "`aske fleet down` stops it; --folder selects another folder".into()
            }
            Self::OrphanedServers { .. } => "`aske fleet down` stops them".into(),
            Self::Server { name, source, log, .. } => match source {
                ServerError::Spawn { .. } => {
                    "install vLLM (`uv pip install vllm`), or give its path with --vllm".into()
                }
                ServerError::PortInUse(_) => "end that program, or choose other ports with --port".into(),
                ServerError::InvalidArguments => {
                    "the installed vLLM may not support these flags; see the log, and --flag".into()
                }
                ServerError::OutOfMemory => {
                    "see `nvidia-smi` for other processes; or plan with fewer --sequences, \
                                             --quantisation fp8 or the GPU's actual size in --gpus"
                        .into()
                }
                ServerError::AccessDenied => {
                    format!("accept the licence of `{name}` on its hub page and set HF_TOKEN").into()
                }
                ServerError::NotReady(_) => {
                    format!("a download may take longer: --ready-minutes; the log is {}", log.display())
                        .into()
                }
                ServerError::NoCompletion(_) => {
                    format!("a model without a chat template cannot chat; the log is {}", log.display())
                        .into()
                }
                ServerError::Exited(_) | ServerError::CrashLoop { .. } => {
                    format!("the log is {}", log.display()).into()
                }
            },
        })
    }
}

/// Log lines under a message.
fn quoted(tail: &str) -> String {
    tail.lines().flat_map(|line| ["\n  | ", line]).collect()
}

/// The error that a server's log shows.
pub(crate) fn diagnose(log: &str, code: Option<i32>, exit: String) -> ServerError {
    const MEMORY: [&str; 4] = [
        "out of memory",
        "free memory on device",
        "no available memory for the cache blocks",
        "available kv cache memory",
    ];
    const ACCESS: [&str; 4] = ["gated repo", "401 client error", "403 client error", "repository not found"];
    let log = log.to_lowercase();
    let contains = |phrases: &[&str]| phrases.iter().any(|phrase| log.contains(phrase));
    if contains(&MEMORY) {
        ServerError::OutOfMemory
    } else if contains(&ACCESS) {
        ServerError::AccessDenied
    } else if code == Some(2) && contains(&["usage:", "unrecognized argument", "error: argument"]) {
        ServerError::InvalidArguments
    } else {
        ServerError::Exited(exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_tells_the_cause() {
        let cause = |log: &str, code| diagnose(log, Some(code), "status 1".to_owned());
        assert_eq!(
            cause("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate", 1),
            ServerError::OutOfMemory
        );
        // The message of vllm/v1/worker/gpu_worker.py.
        let free = "ValueError: Free memory on device (59.32/79.15 GiB) on startup is less than desired";
        assert_eq!(cause(free, 1), ServerError::OutOfMemory);
        assert_eq!(cause("OSError: You are trying to access a gated repo.", 1), ServerError::AccessDenied);
        assert_eq!(cause("vllm: error: unrecognized arguments: --x", 2), ServerError::InvalidArguments);
        assert_eq!(cause("Segmentation fault", 1), ServerError::Exited("status 1".to_owned()));
    }
}
