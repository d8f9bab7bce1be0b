//! The files of a dataset, from the hub into the cache.

use crate::cache::{Cache, clear};
use crate::download::{download, leave};
use crate::http::Http;
use crate::{Event, Options, PullError, hub};
use std::fs;
use std::path::{Path, PathBuf};

/// More than this is no benchmark.
const MOST_BYTES: u64 = 512 << 20;

/// The folder of a dataset's files, if it was pulled before; inside, they have their names in the repository.
pub fn find_dataset(cache: &Cache, repo: &str) -> Option<PathBuf> {
    Some(cache.root().join(name(repo))).filter(|folder| folder.is_dir())
}

/// Pulls those files of a dataset on the hub that `choose` takes of all their names, unless they are here; `what` it
/// looks for. Each is resumed where it broke and verified, and they appear only together, beside what an earlier pull
/// brought.
pub async fn pull_dataset(
    repo: &str,
    choose: impl Fn(&[&str]) -> Vec<String>,
    what: &str,
    cache: &Cache,
    options: &Options,
    tell: &dyn Fn(Event),
) -> Result<PathBuf, PullError> {
    let name = name(repo);
    let _lock = cache.lock(&name, || tell(Event::Waiting)).await?;
    if let Some(folder) = find_dataset(cache, repo) {
        let here = names_in(&folder, "");
        if !choose(&here.iter().map(String::as_str).collect::<Vec<_>>()).is_empty() {
            return Ok(folder);
        }
    }
    let http = Http::new(options)?;
    let files = hub::list_dataset(&http, &options.hub, repo, &choose, what).await?;
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    if total > MOST_BYTES {
        let why = format!("{} MB are too many for a benchmark", total >> 20);
        return Err(PullError::Answer { address: repo.to_owned(), why });
    }
    let (work, folder) = (cache.work(&name), cache.root().join(&name));
    fs::create_dir_all(&work).map_err(|error| PullError::io(&work, error))?;
    download(&files, &work, &http, options, tell).await.map_err(|error| leave(&work, error))?;
    keep(&folder, &work)?;
    fs::rename(&work, &folder).map_err(|error| PullError::io(&folder, error))?;
    Ok(folder)
}

/// The names of the files in a folder and below, with `/` between folders.
fn names_in(folder: &Path, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.flat_map(|entry| {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() { names_in(&entry.path(), &format!("{name}/")) } else { vec![name] }
    });
    names.collect()
}

/// Takes over the files of an earlier pull that this one did not want.
fn keep(earlier: &Path, work: &Path) -> Result<(), PullError> {
    for entry in fs::read_dir(earlier).into_iter().flatten().flatten() {
        let (from, into) = (entry.path(), work.join(entry.file_name()));
        if from.is_dir() && into.is_dir() {
            keep(&from, &into)?;
        } else if !into.exists() {
            fs::rename(&from, &into).map_err(|error| PullError::io(&into, error))?;
        }
    }
    clear(earlier)
}

/// The name of a dataset's folder; no model has one with these marks.
fn name(repo: &str) -> String {
    format!("datasets--{}", repo.replace('/', "--"))
}
