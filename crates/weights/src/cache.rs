//! The shared cache: a folder for each model, put in place only whole and verified.
//!
//! ```text
//! NAME/FILE             a model
//! NAME/SHA256SUMS       the checksums of a repository's files
//! .pulling/NAME/        what is under way; renamed to NAME/ at the end
//! .pulling/NAME.lock    held while it is
//! ```

use crate::{Model, PullError, digest};
use std::env;
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

const UNDER_WAY: &str = ".pulling";
const SUMS: &str = "SHA256SUMS";

/// How often another pull is looked after.
const WAIT: Duration = Duration::from_millis(200);

/// Where pulled models are.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// `$ASKE_CACHE`, else `aske/models` in the user's folder for caches.
    pub fn open() -> Result<Self, PullError> {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(root) = set("ASKE_CACHE") {
            return Ok(Self { root });
        }
        let caches = match env::consts::OS {
            "windows" => set("LOCALAPPDATA"),
            "macos" => env::home_dir().map(|home| home.join("Library/Caches")),
            _ => set("XDG_CACHE_HOME").or_else(|| env::home_dir().map(|home| home.join(".cache"))),
        };
        Ok(Self { root: caches.ok_or(PullError::NoFolder)?.join("aske").join("models") })
    }

    /// In a folder, which need not exist.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of a model, or the folder of a repository, if it is here.
    pub fn find(&self, model: &Model) -> Option<PathBuf> {
        let folder = self.root.join(&model.name);
        match &model.file {
            Some(file) => {
                let path = folder.join(&file.name);
                fs::metadata(&path).is_ok_and(|found| found.len() == file.bytes).then_some(path)
            }
            None => folder.join(SUMS).is_file().then_some(folder),
        }
    }

    /// Removes a model and what was under way of it; tells whether there was any. Waits for a pull of it to end.
    pub async fn remove(&self, model: &Model) -> Result<bool, PullError> {
        if !self.root.is_dir() {
            return Ok(false);
        }
        let _lock = self.lock(&model.name, || {}).await?;
        let (folder, work) = (self.root.join(&model.name), self.work(&model.name));
        let was_here = folder.exists() || work.exists();
        clear(&work)?;
        if folder.exists() {
            // In one step: a model that is half removed must not look like one.
            fs::rename(&folder, &work).map_err(|error| PullError::io(&folder, error))?;
            clear(&work)?;
        }
        Ok(was_here)
    }

    /// Where what has this name is put together.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.root.join(UNDER_WAY).join(name)
    }

    /// Whoever has this may pull what has this name. `waiting` is called if another has it.
    pub(crate) async fn lock(&self, name: &str, waiting: impl FnOnce()) -> Result<File, PullError> {
        let folder = self.root.join(UNDER_WAY);
        fs::create_dir_all(&folder).map_err(|error| PullError::io(&folder, error))?;
        let path = folder.join(format!("{name}.lock"));
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|error| PullError::io(&path, error))?;
        let mut waiting = Some(waiting);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => {
                    if let Some(waiting) = waiting.take() {
                        waiting();
                    }
                    tokio::time::sleep(WAIT).await;
                }
                Err(TryLockError::Error(error)) => return Err(PullError::io(&path, error)),
            }
        }
    }

    /// The model, if it is here and every byte is as it should be.
    pub(crate) async fn intact(&self, model: &Model) -> Result<Option<PathBuf>, PullError> {
        let Some(path) = self.find(model) else { return Ok(None) };
        let folder = self.root.join(&model.name);
        let expected = match &model.file {
            Some(file) => format!("{}  {}", file.sha256, file.name),
            None => fs::read_to_string(folder.join(SUMS)).map_err(|error| PullError::io(&path, error))?,
        };
        for line in expected.lines() {
            let Some((sum, name)) = line.split_once("  ") else { return Ok(None) };
            if !digest::sha256(&folder.join(name)).await.is_ok_and(|found| found == sum) {
                return Ok(None);
            }
        }
        Ok(Some(path))
    }

    /// Puts a finished model in place, with the checksums of a repository's files.
    pub(crate) fn place(&self, model: &Model, sums: &[(String, String)]) -> Result<PathBuf, PullError> {
        let (work, folder) = (self.work(&model.name), self.root.join(&model.name));
        if model.file.is_none() {
            let mut text = String::new();
            for (name, sum) in sums {
                let _ = writeln!(text, "{sum}  {name}");
            }
            let path = work.join(SUMS);
            fs::write(&path, text).map_err(|error| PullError::io(&path, error))?;
        }
        clear(&folder)?;
        fs::rename(&work, &folder).map_err(|error| PullError::io(&folder, error))?;
        Ok(model.file.as_ref().map_or_else(|| folder.clone(), |file| folder.join(&file.name)))
    }
}

/// Removes a folder and all in it, if it is there.
pub(crate) fn clear(folder: &Path) -> Result<(), PullError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(PullError::io(folder, error)),
        _ => Ok(()),
    }
}
