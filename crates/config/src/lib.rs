//! Configuration: one TOML schema, layers with origins, validation and the built-in files.
//!
//! Defaults < built-in files < your file < environment < flags. Depends on `chat`, `model` and `session`.
//!
//! ```
//! use aske_config::Layers;
//! let layers = Layers::load(Some("paper-bench"), std::iter::empty(), &[]).unwrap();
//! let settings = layers.settings().unwrap();
//! assert_eq!((settings.solvers.len(), settings.protocol.rounds), (20, 4));
//! ```

mod builtin;
mod environment;
mod error;
mod eval;
mod layers;
mod named;
mod pack;
mod providers;
mod renamed;
mod sampling;
mod schema;
mod secret;
mod settings;
mod suggest;
mod train;

pub use builtin::{config_names, load_script};
pub use error::ConfigError;
pub use layers::{ConfigSource, Layers, Origin};
pub use named::is_bare_url;
pub use pack::load_pack;
pub use providers::ProviderSection;
pub use sampling::check as check_sampling;
pub use schema::{
    AnswerComparison, AskerSection, BoundarySection, CheckSection, Config, DifficultySection,
    EquivalenceSection, EvalSection, MeasureSection, ModelSection, OneOrMany, Order, PolicyLoss,
    ProtocolSection, ProviderKind, RunSection, SamplerKind, ScaleRewards, SetSection, TrackerKind,
    TrainSection, VllmSection, WatchSection,
};
pub use secret::is_env_var_name;
pub use settings::{MODEL_FOLDER_HINT, PROVIDER_HINT, RoleSettings, Settings, is_valid_name, sanitize_name};
pub use suggest::{closest, did_you_mean};
