//! The cache of downloaded models and datasets: one folder each, which appears only when complete and verified.
//!
//! ```text
//! NAME/FILE             a model
//! NAME/SHA256SUMS       the checksums of a repository's files
//! .pulling/NAME/        the staging folder of a download; renamed to NAME/ at the end
//! .pulling/NAME.lock    locked during the download
//! ```

use crate::{Model, PullError, digest};
use std::env;
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

const STAGING: &str = ".pulling";
const CHECKSUMS: &str = "SHA256SUMS";

/// How often the lock of another download is tried.
const LOCK_POLL: Duration = Duration::from_millis(200);

/// The folder of downloaded models.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache in `$ASKE_CACHE`, or `aske/models` in the user's cache folder.
    pub fn open() -> Result<Self, PullError> {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(root) = variable("ASKE_CACHE") {
            return Ok(Self { root });
        }
        let caches = match env::consts::OS {
            "windows" => variable("LOCALAPPDATA"),
            "macos" => env::home_dir().map(|home| home.join("Library/Caches")),
            _ => variable("XDG_CACHE_HOME").or_else(|| env::home_dir().map(|home| home.join(".cache"))),
        };
        Ok(Self { root: caches.ok_or(PullError::NoCacheFolder)?.join("aske").join("models") })
    }

    /// The cache in this folder, which need not exist.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The cache's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of a downloaded model, or its folder if it is a repository.
    pub fn find(&self, model: &Model) -> Option<PathBuf> {
        let folder = self.root.join(&model.name);
        match &model.file {
            Some(file) => {
                let path = folder.join(&file.name);
                fs::metadata(&path).is_ok_and(|found| found.len() == file.bytes).then_some(path)
            }
            None => folder.join(CHECKSUMS).is_file().then_some(folder),
        }
    }

    /// Removes a model and its staging folder; returns whether there was one. Waits for a running download to end.
    pub async fn remove(&self, model: &Model) -> Result<bool, PullError> {
        if !self.root.is_dir() {
            return Ok(false);
        }
        let _lock = self.lock(&model.name, || {}).await?;
        let (folder, staging) = (self.root.join(&model.name), self.staging(&model.name));
        let existed = folder.exists() || staging.exists();
        remove_dir(&staging)?;
        if folder.exists() {
            // Atomic, so that a partly removed model is never found.
            fs::rename(&folder, &staging).map_err(|error| PullError::io(&folder, error))?;
            remove_dir(&staging)?;
        }
        Ok(existed)
    }

    /// The staging folder for this name.
    pub(crate) fn staging(&self, name: &str) -> PathBuf {
        self.root.join(STAGING).join(name)
    }

    /// Locks downloads of this name. `on_wait` is called if another process holds the lock.
    pub(crate) async fn lock(&self, name: &str, on_wait: impl FnOnce()) -> Result<File, PullError> {
        let folder = self.root.join(STAGING);
        fs::create_dir_all(&folder).map_err(|error| PullError::io(&folder, error))?;
        let path = folder.join(format!("{name}.lock"));
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|error| PullError::io(&path, error))?;
        let mut on_wait = Some(on_wait);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => {
                    if let Some(on_wait) = on_wait.take() {
                        on_wait();
                    }
                    tokio::time::sleep(LOCK_POLL).await;
                }
                Err(TryLockError::Error(error)) => return Err(PullError::io(&path, error)),
            }
        }
    }

    /// The path of a downloaded model if all its checksums are right.
    pub(crate) async fn verified(&self, model: &Model) -> Result<Option<PathBuf>, PullError> {
        let Some(path) = self.find(model) else { return Ok(None) };
        let folder = self.root.join(&model.name);
        let expected = match &model.file {
            Some(file) => format!("{}  {}", file.sha256, file.name),
            None => {
                fs::read_to_string(folder.join(CHECKSUMS)).map_err(|error| PullError::io(&path, error))?
            }
        };
        for line in expected.lines() {
            let Some((sha256, name)) = line.split_once("  ") else { return Ok(None) };
            if !digest::sha256(&folder.join(name)).await.is_ok_and(|found| found == sha256) {
                return Ok(None);
            }
        }
        Ok(Some(path))
    }

    /// Moves a model from its staging folder into the cache, with the checksums of a repository's files.
    pub(crate) fn install(
        &self,
        model: &Model,
        checksums: &[(String, String)],
    ) -> Result<PathBuf, PullError> {
        let (staging, folder) = (self.staging(&model.name), self.root.join(&model.name));
        if model.file.is_none() {
            let mut text = String::new();
            for (name, sha256) in checksums {
                let _ = writeln!(text, "{sha256}  {name}");
            }
            let path = staging.join(CHECKSUMS);
            fs::write(&path, text).map_err(|error| PullError::io(&path, error))?;
        }
        remove_dir(&folder)?;
        fs::rename(&staging, &folder).map_err(|error| PullError::io(&folder, error))?;
        Ok(model.file.as_ref().map_or_else(|| folder.clone(), |file| folder.join(&file.name)))
    }
}

/// Removes a folder and its contents if it exists.
pub(crate) fn remove_dir(folder: &Path) -> Result<(), PullError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(PullError::io(folder, error)),
        _ => Ok(()),
    }
}
