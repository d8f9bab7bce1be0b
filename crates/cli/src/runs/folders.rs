//! Run folders: where they are by default, and opening them for a configuration.

use super::named::weights;
use crate::error::CliError;
use aske_bench::manifest;
use aske_config::{Layers, Settings};
use aske_record::{Manifest, RunDir};
use std::path::{Path, PathBuf};

/// `runs/CONFIG-ASKER`, so that the same command finds its folder again.
pub(crate) fn default_folder(layers: &Layers, settings: &Settings) -> PathBuf {
    Path::new("runs").join(format!("{}-{}", layers.name(), settings.asker.model))
}

/// The first `runs/PREFIX-N` that does not exist, and N.
pub(crate) fn next_free(prefix: &str) -> (PathBuf, u32) {
    (1..u32::MAX)
        .map(|number| (PathBuf::from(format!("runs/{prefix}-{number}")), number))
        .find(|(path, _)| !path.exists())
        .unwrap_or_default()
}

/// The given folders, or every run in `runs/` except single sessions of `aske ask`.
pub(crate) fn given_or_all(given: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    if !given.is_empty() {
        return Ok(given.to_vec());
    }
    let entries = std::fs::read_dir("runs").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_run(path)).collect();
    found.sort();
    if found.is_empty() {
        return Err(CliError::usage(
            "there is no run in runs/",
            "name a run folder, or create one with `aske bench`",
        ));
    }
    Ok(found)
}

fn is_run(path: &Path) -> bool {
    let single = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ask-"));
    path.join("run.toml").is_file() && !single
}

/// What `run.toml` says about a run with these settings.
pub(crate) fn run_manifest(layers: &Layers, settings: &Settings) -> Manifest {
    manifest(env!("CARGO_PKG_VERSION"), layers, settings)
}

/// The same of a benchmark, with the checksums of its checkpoint folders.
pub(crate) fn bench_manifest(layers: &Layers, settings: &Settings) -> Manifest {
    let mut manifest = run_manifest(layers, settings);
    let models = settings.models.iter();
    let weights =
        models.filter_map(|(name, model)| Some((format!("models.{name} weights"), weights(model)?)));
    manifest.identity.0.extend(weights);
    manifest
}

/// Opens or creates the folder of a run with these settings.
pub(crate) fn open(path: &Path, layers: &Layers, settings: &Settings) -> Result<RunDir, CliError> {
    open_with(path, &run_manifest(layers, settings))
}

/// Opens or creates the folder of the run that the manifest describes.
pub(crate) fn open_with(path: &Path, manifest: &Manifest) -> Result<RunDir, CliError> {
    let folder = RunDir::open(path, manifest)?;
    let finished = folder.grades().len();
    if finished > 0 {
        tracing::info!(run = %path.display(), finished, "resuming a run");
    }
    Ok(folder)
}

/// Opens the folder of an existing run for further work.
pub(crate) fn reopen(path: &Path, layers: &Layers, settings: &Settings) -> Result<RunDir, CliError> {
    Ok(RunDir::reopen(path, &run_manifest(layers, settings))?)
}
