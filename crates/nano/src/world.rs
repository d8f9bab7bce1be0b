//! The bundled networks.

use aske_model::{Checkpoint, CheckpointError};
use include_dir::{Dir, include_dir};

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

/// Loads a bundled network.
pub fn checkpoint(name: &str) -> Result<Checkpoint, BundledModelError> {
    let [(_, config), (_, weights), (_, tokenizer), (_, tokenizer_config)] = files(name)?;
    Ok(Checkpoint::from_bytes(config, weights, tokenizer, tokenizer_config)?)
}
