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
        /// The lines of its log that name the cause, or its last lines.
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
    /// `CUDA_VISIBLE_DEVICES` hides one of its GPUs.
    #[error("CUDA_VISIBLE_DEVICES is `{visible}`, which has no GPU {gpu}")]
    HiddenGpu {
        /// The index of the GPU among the visible ones.
        gpu: usize,
        /// The value of the variable.
        visible: String,
    },
    /// It rejected its arguments.
    #[error("it rejected its arguments")]
    InvalidArguments,
    /// There is not enough memory on its GPU.
    #[error("not enough free GPU memory")]
    OutOfMemory,
    /// The model cannot be downloaded.
    #[error("the hub denied access to the model")]
    AccessDenied,
    /// There is no such model, or its folder is not complete.
    #[error("its model was not found")]
    ModelNotFound,
    /// Its sequences are longer than the model's context.
    #[error("its sequences are longer than the model's context")]
    ContextTooLong,
    /// The installed vLLM cannot serve the model.
    #[error("vLLM cannot serve its model")]
    UnsupportedModel,
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
                ServerError::HiddenGpu { .. } => {
                    "GPUs are counted among the visible ones: plan for as many with --gpus, or unset the variable".into()
                }
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
                ServerError::ModelNotFound => format!(
                    "`model` in [models.{name}] names a repository on the hub, or a folder with config.json and weights \
                     as safetensors; a private repository needs HF_TOKEN"
                )
                .into(),
                ServerError::ContextTooLong => {
                    "give the model's context with --length, or smaller token budgets in [protocol]".into()
                }
                ServerError::UnsupportedModel => format!(
                    "another version of vLLM may serve it, or a flag (--flag); the log is {}",
                    log.display()
                )
                .into(),
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
