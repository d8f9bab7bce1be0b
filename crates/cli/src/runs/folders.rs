//! Run folders: where they are by default, and opening them for a configuration.

use super::named::weights;
use crate::error::CliError;
use crate::output::{note, note_once, safe};
use aske_bench::manifest;
use aske_config::{Layers, ModelSection, Settings};
use aske_record::{Difference, Manifest, RunDir, listed_differences};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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

/// The folder that a command works in.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    /// The usual folder if it holds another experiment, and how that one differs.
    other: Option<(PathBuf, Vec<Difference>)>,
}

impl Place {
    /// The folder that the user names.
    pub(crate) fn named(path: &Path) -> Self {
        Self { path: path.to_owned(), other: None }
    }

    /// The usual folder, or if that one holds another experiment, the first of `NAME-2`, `NAME-3`, … that does not.
    /// `differences` compares a folder with the experiment; `None` where there is no run.
    pub(crate) fn find(
        usual: PathBuf,
        differences: impl Fn(&Path) -> Result<Option<Vec<Difference>>, CliError>,
    ) -> Result<Self, CliError> {
        let found = match differences(&usual)? {
            Some(found) if !found.is_empty() => found,
            _ => return Ok(Self { path: usual, other: None }),
        };
        let mut path = usual.clone();
        for number in 2..u32::MAX {
            path = PathBuf::from(format!("{}-{number}", usual.display()));
            let is_same = || matches!(differences(&path), Ok(Some(found)) if found.is_empty());
            if path.symlink_metadata().is_err() || is_same() {
                break;
            }
        }
        Ok(Self { path, other: Some((usual, found)) })
    }

    /// The folder of the experiment that a manifest describes.
    pub(crate) fn of(usual: PathBuf, manifest: impl Fn() -> Manifest) -> Result<Self, CliError> {
        Self::find(usual, |path| {
            let there = Manifest::read(path)?;
            Ok(there.map(|there| there.identity.differences(&manifest().identity)))
        })
    }

    /// Says why the folder is not the usual one. Where models cost money, a new folder needs `--new`.
    pub(crate) fn announce(&self, settings: &Settings, new: bool) -> Result<(), CliError> {
        let Some((usual, differences)) = &self.other else { return Ok(()) };
        let path = self.path.display();
        let listed = listed_differences(differences, ["in the folder", "now"]);
        let holds = format!("{} holds another experiment:{}", usual.display(), safe(&listed));
        let costs = |model: &ModelSection| model.price.is_some_and(|price| price.input + price.output > 0.0);
        if !new && !self.path.exists() && settings.models.values().any(costs) {
            return Err(CliError::usage(
                holds,
                format!(
                    "`--new` pays for a new run, in {path}; to continue the other one, restore its values"
                ),
            ));
        }
        note_once(format_args!("{holds}\nso this run goes into {path}"));
        Ok(())
    }
}

/// The given folders, or every run in `runs/` except single sessions of `aske ask`.
pub(crate) fn given_or_all(given: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    given_or(given, || below(Path::new("runs"), 1).into_iter().filter(|path| !is_single(path)).collect())
}

/// The given folders, or every run in `runs/`, also single sessions and those within trainings.
pub(crate) fn given_or_any(given: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    given_or(given, || below(Path::new("runs"), 3))
}

/// The given folders, or the benchmark in `runs/` that was written last, which is named on stderr.
pub(crate) fn given_or_latest(given: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let latest = || {
        let runs = below(Path::new("runs"), 1).into_iter().filter(|path| !is_single(path));
        let benchmarks =
            runs.filter(|path| Manifest::read(path).is_ok_and(|run| run.is_some_and(|run| !run.is_eval())));
        benchmarks.max_by_key(|path| written(path)).into_iter().collect()
    };
    let found = given_or(given, latest)?;
    if let ([], [latest]) = (given, found.as_slice()) {
        note(format_args!("the latest run: {}", latest.display()));
    }
    Ok(found)
}

fn given_or(given: &[PathBuf], find: impl Fn() -> Vec<PathBuf>) -> Result<Vec<PathBuf>, CliError> {
    let found = if given.is_empty() { find() } else { given.to_vec() };
    if found.is_empty() {
        let other = below(Path::new("runs"), 3).into_iter().next_back();
        let such_as = other.map_or_else(String::new, |path| format!(", such as {}", path.display()));
        return Err(CliError::usage(
            "there is no benchmark in runs/",
            format!("name a run folder{such_as}, or create one with `aske bench`"),
        ));
    }
    Ok(found)
}

/// The run folders in a folder, and in its folders down to this depth, by name.
fn below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let runs = folders.into_iter().flat_map(|path| {
        let inner = if depth > 1 { below(&path, depth - 1) } else { Vec::new() };
        let own = path.join("run.toml").is_file().then_some(path);
        own.into_iter().chain(inner)
    });
    runs.collect()
}

/// Whether this is a single session of `aske ask`.
fn is_single(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ask-"))
}

/// When a run was written last.
fn written(path: &Path) -> Option<SystemTime> {
    let changed = |name| std::fs::metadata(path.join(name)).and_then(|file| file.modified()).ok();
    changed("records.jsonl").max(changed("run.toml"))
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
