//! The networks that ship inside the program.

use aske_model::{Checkpoint, CheckpointError};
use include_dir::{Dir, include_dir};

static WEIGHTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/weights");

/// The boundary solvers that ship, the smallest first.
pub const SOLVERS: [&str; 7] =
    ["nano-15k", "nano-40k", "nano-100k", "nano-250k", "nano-500k", "nano-1m", "nano-2m"];

/// The cross-check solver that ships; stronger than every boundary solver.
pub const CHECK: &str = "nano-check";

/// The asker that ships; it solves too.
pub const ASKER: &str = "nano-asker";

/// The asker that training starts from: it solves, it knows the form of a session, and it asks well now and then.
pub const NOVICE: &str = "nano-novice";

/// Every network that ships.
pub fn networks() -> impl Iterator<Item = &'static str> {
    SOLVERS.into_iter().chain([CHECK, ASKER, NOVICE])
}

/// Why a shipped network cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// None has this name.
    #[error("no network called `{0}` ships")]
    Unknown(String),
    /// Its files do not fit together.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// The files of a shipped network, by name, as other programs expect them in one folder.
pub fn files(name: &str) -> Result<[(&'static str, &'static [u8]); 4], WorldError> {
    let find = |path: String| {
        WEIGHTS
            .get_file(path)
            .map(include_dir::File::contents)
            .ok_or_else(|| WorldError::Unknown(name.to_owned()))
    };
    Ok([
        ("config.json", find(format!("{name}/config.json"))?),
        ("model.safetensors", find(format!("{name}/model.safetensors"))?),
        ("tokenizer.json", find("tokenizer.json".to_owned())?),
        ("tokenizer_config.json", find("tokenizer_config.json".to_owned())?),
    ])
}

/// A shipped network, ready to start.
pub fn checkpoint(name: &str) -> Result<Checkpoint, WorldError> {
    let [(_, config), (_, weights), (_, tokenizer), (_, tokenizer_config)] = files(name)?;
    Ok(Checkpoint::from_bytes(config, weights, tokenizer, tokenizer_config)?)
}
