//! What can go wrong with running servers.

use std::io;
use std::path::PathBuf;

/// Why a fleet cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A file of the fleet cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A fleet runs from this folder already.
    #[error("{folder}: a fleet runs from this folder already (process {pid})")]
    Running {
        /// The folder.
        folder: PathBuf,
        /// The process that keeps it.
        pid: u32,
    },
    /// Servers of an earlier fleet are still there.
    #[error("{folder}: servers of an earlier fleet are still running: {servers}")]
    Left {
        /// The folder.
        folder: PathBuf,
        /// Their names.
        servers: String,
    },
    /// A server does not come up.
    #[error("`{name}` does not serve: {cause}{}", quoted(.tail))]
    Server {
        /// The model.
        name: String,
        /// What happened.
        cause: Cause,
        /// The end of its log.
        tail: String,
        /// Its log.
        log: PathBuf,
    },
}

/// What became of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// There is no such program.
    #[error("cannot start {program}: {what}")]
    Program {
        /// The program.
        program: PathBuf,
        /// What the system said.
        what: String,
    },
    /// Another program listens on its port.
    #[error("port {0} is taken by another program")]
    Port(u16),
    /// It does not know an argument.
    #[error("it refuses its arguments")]
    Arguments,
    /// There is not enough memory on its GPU.
    #[error("its GPU has too little free memory")]
    Memory,
    /// The model may not be downloaded.
    #[error("the hub does not give it the model")]
    Access,
    /// It ended.
    #[error("it ended with {0}")]
    Ended(String),
    /// It ended again and again.
    #[error("it ended {times} times, last with {last}")]
    Again {
        /// How often.
        times: u32,
        /// How the last time.
        last: String,
    },
    /// It does not get ready.
    #[error("it was not ready within {0} seconds")]
    Late(u64),
    /// It is ready but answers nothing.
    #[error("it is ready, but its first answer failed: {0}")]
    Mute(String),
}

impl Cause {
    /// Trying again would end the same way.
    pub(crate) fn is_lasting(&self) -> bool {
        !matches!(self, Self::Ended(_) | Self::Memory)
    }
}

impl FleetError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File { .. } => None,
            Self::Running { .. } => Some("`aske fleet down` stops it; --folder names another folder".to_owned()),
            Self::Left { .. } => Some("`aske fleet down` stops them".to_owned()),
            Self::Server { name, cause, log, .. } => Some(match cause {
                Cause::Program { .. } => {
                    "install vLLM (`uv pip install vllm`), or name it with --vllm PATH".to_owned()
                }
                Cause::Port(_) => "end that program, or choose other ports with --port".to_owned(),
                Cause::Arguments => {
                    "the installed vLLM may be older or newer than its flags; see the log, and --flag".to_owned()
                }
                Cause::Memory => {
                    "see `nvidia-smi` for who else is there; or plan with fewer --sequences, --quantisation fp8 or the \
                     GPU's true size in --gpus"
                        .to_owned()
                }
                Cause::Access => {
                    format!("accept the licence of `{name}` on its hub page and set HF_TOKEN")
                }
                Cause::Late(_) => {
                    format!("a download may take longer: --ready-minutes; the log is {}", log.display())
                }
                Cause::Mute(_) => {
                    format!("a model without a chat template cannot answer; the log is {}", log.display())
                }
                Cause::Ended(_) | Cause::Again { .. } => format!("its log is {}", log.display()),
            }),
        }
    }
}

/// Lines of a log under a message.
fn quoted(tail: &str) -> String {
    tail.lines().flat_map(|line| ["\n  | ", line]).collect()
}

/// The cause, by what a server wrote before it ended.
pub(crate) fn diagnose(log: &str, code: Option<i32>, ended: String) -> Cause {
    const MEMORY: [&str; 4] = [
        "out of memory",
        "free memory on device",
        "no available memory for the cache blocks",
        "available kv cache memory",
    ];
    const ACCESS: [&str; 4] = ["gated repo", "401 client error", "403 client error", "repository not found"];
    let log = log.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| log.contains(word));
    if says(&MEMORY) {
        Cause::Memory
    } else if says(&ACCESS) {
        Cause::Access
    } else if code == Some(2) && says(&["usage:", "unrecognized argument", "error: argument"]) {
        Cause::Arguments
    } else {
        Cause::Ended(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_tells_the_cause() {
        let cause = |log: &str, code| diagnose(log, Some(code), "status 1".to_owned());
        assert_eq!(cause("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate", 1), Cause::Memory);
        // The message of vllm/v1/worker/gpu_worker.py.
        let free = "ValueError: Free memory on device (59.32/79.15 GiB) on startup is less than desired";
        assert_eq!(cause(free, 1), Cause::Memory);
        assert_eq!(cause("OSError: You are trying to access a gated repo.", 1), Cause::Access);
        assert_eq!(cause("vllm: error: unrecognized arguments: --x", 2), Cause::Arguments);
        assert_eq!(cause("Segmentation fault", 1), Cause::Ended("status 1".to_owned()));
    }
}
