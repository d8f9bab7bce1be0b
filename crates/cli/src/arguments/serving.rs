//! Arguments of commands that serve checkpoint folders with vLLM.

use aske_fleet::Gpus;
use clap::Args;
use std::path::PathBuf;

/// How checkpoint folders are served that this program does not run itself.
#[derive(Clone, Debug, Args)]
pub(crate) struct Serving {
    /// Serve checkpoint folders with vLLM on these GPUs, such as 1x80 [default: only those that this program cannot run, on the GPUs it finds]
    #[arg(long, value_name = "COUNTxGB")]
    pub(crate) gpus: Option<Gpus>,
    /// The vLLM program that serves checkpoint folders
    #[arg(long, value_name = "PATH", default_value = "vllm")]
    pub(crate) vllm: PathBuf,
    /// An extra flag of vLLM, such as --vllm-flag=--enforce-eager; may be repeated
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub(crate) vllm_flag: Vec<String>,
}
