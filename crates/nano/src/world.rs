//! The bundled networks.

use aske_model::{Checkpoint, CheckpointError, LlamaConfig, widen_heads};
use include_dir::{Dir, include_dir};
use std::borrow::Cow;

static WEIGHTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/weights");

/// The bundled boundary solvers, smallest first.
pub const SOLVERS: [&str; 7] =
    ["nano-15k", "nano-40k", "nano-100k", "nano-250k", "nano-500k", "nano-1m", "nano-2m"];

/// The bundled cross-check solver, stronger than every boundary solver.
pub const CHECK: &str = "nano-check";

/// The bundled asker, which can also solve.
pub const ASKER: &str = "nano-asker";

/// The initial policy of training: it solves, knows the format of a session, and sometimes asks well.
pub const NOVICE: &str = "nano-novice";

/// All bundled networks.
pub fn networks() -> impl Iterator<Item = &'static str> {
    SOLVERS.into_iter().chain([CHECK, ASKER, NOVICE])
}

/// A bundled network cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum BundledModelError {
    /// Unknown name.
    #[error("there is no bundled network `{0}`")]
    Unknown(String),
    /// Its files are inconsistent.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl aske_chat::Hint for BundledModelError {}

/// The files of a bundled network, by name.
pub fn files(name: &str) -> Result<[(&'static str, &'static [u8]); 4], BundledModelError> {
    let find = |path: String| {
        WEIGHTS
            .get_file(path)
            .map(include_dir::File::contents)
            .ok_or_else(|| BundledModelError::Unknown(name.to_owned()))
    };
    Ok([
        ("config.json", find(format!("{name}/config.json"))?),
        ("model.safetensors", find(format!("{name}/model.safetensors"))?),
        ("tokenizer.json", find("tokenizer.json".to_owned())?),
        ("tokenizer_config.json", find("tokenizer_config.json".to_owned())?),
    ])
}

/// A file of a network for other programs: its name and its contents.
pub type NetworkFile = (&'static str, Cow<'static, [u8]>);

/// The widths of attention heads that vLLM 0.32 supports on a CPU; on a GPU it supports these too.
const VLLM_HEAD_DIMS: [usize; 11] = [32, 64, 80, 96, 112, 128, 160, 192, 224, 256, 512];

/// The files of a bundled network for other programs: heads that are too narrow for vLLM are wider, and compute the same.
pub fn portable_files(name: &str) -> Result<[NetworkFile; 4], BundledModelError> {
    let mut portable = files(name)?.map(|(file, bytes)| (file, Cow::Borrowed(bytes)));
    let [config, weights, ..] = &mut portable;
    let shape: LlamaConfig = serde_json::from_slice(&config.1)
        .map_err(|error| CheckpointError { file: config.0.to_owned(), source: error.into() })?;
    let is_supported = |factor: &usize| VLLM_HEAD_DIMS.contains(&(shape.head_dim * factor));
    if let Some(factor) = [1, 4, 16].into_iter().find(is_supported).filter(|factor| *factor > 1) {
        let (wide_config, wide_weights) = widen_heads(&config.1, &weights.1, factor)?;
        (config.1, weights.1) = (wide_config.into(), wide_weights.into());
    }
    Ok(portable)
}

/// Loads a bundled network.
pub fn checkpoint(name: &str) -> Result<Checkpoint, BundledModelError> {
    let [(_, config), (_, weights), (_, tokenizer), (_, tokenizer_config)] = files(name)?;
    Ok(Checkpoint::from_bytes(config, weights, tokenizer, tokenizer_config)?)
}
