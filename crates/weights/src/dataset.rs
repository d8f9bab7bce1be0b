//! Downloads the files of a dataset from the hub into the cache. Called by `aske eval`.

use crate::cache::{Cache, remove_dir};
use crate::client::HubClient;
use crate::download::{cleanup, download};
use crate::{PullError, PullEvent, PullOptions, hub};
use std::fs;
use std::path::{Path, PathBuf};

/// The largest dataset that is downloaded; benchmarks are smaller.
const MAX_BYTES: u64 = 512 << 20;

/// The folder of a downloaded dataset; inside, files have their names in the repository.
pub fn find_dataset(cache: &Cache, repo: &str) -> Option<PathBuf> {
    Some(cache.root().join(folder_name(repo))).filter(|folder| folder.is_dir())
}

/// Downloads the files of a dataset that `select` picks from all its file names, unless they are in the cache.
///
/// `description` names those files in errors. Files appear in the cache together, beside those of earlier downloads.
pub async fn pull_dataset(
    repo: &str,
    select: impl Fn(&[&str]) -> Vec<String>,
    description: &str,
    cache: &Cache,
    options: &PullOptions,
    on_event: &dyn Fn(PullEvent),
) -> Result<PathBuf, PullError> {
    let name = folder_name(repo);
    let _lock = cache.lock(&name, || on_event(PullEvent::Waiting)).await?;
    if let Some(folder) = find_dataset(cache, repo) {
        let present = file_names(&folder, "");
        if !select(&present.iter().map(String::as_str).collect::<Vec<_>>()).is_empty() {
            return Ok(folder);
        }
    }
    let client = HubClient::new(options)?;
    let files = hub::list_dataset(&client, repo, &select, description).await?;
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    if total > MAX_BYTES {
        let reason = format!("{} MiB exceed the limit of {} MiB for datasets", total >> 20, MAX_BYTES >> 20);
        return Err(PullError::BadResponse { address: repo.to_owned(), reason });
    }
    let (staging, folder) = (cache.staging(&name), cache.root().join(&name));
    fs::create_dir_all(&staging).map_err(|error| PullError::io(&staging, error))?;
    let downloaded = download(&files, &staging, &client, options, on_event).await;
    downloaded.map_err(|error| cleanup(&staging, error).in_repo(&format!("datasets/{repo}")))?;
    merge(&folder, &staging)?;
    fs::rename(&staging, &folder).map_err(|error| PullError::io(&folder, error))?;
    Ok(folder)
}

/// The names of all files below a folder, with `/` between folders.
fn file_names(folder: &Path, prefix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.flat_map(|entry| {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() { file_names(&entry.path(), &format!("{name}/")) } else { vec![name] }
    });
    names.collect()
}

/// Moves the files of an earlier download that are not in the staging folder there, and removes the rest.
fn merge(earlier: &Path, staging: &Path) -> Result<(), PullError> {
    for entry in fs::read_dir(earlier).into_iter().flatten().flatten() {
        let (from, to) = (entry.path(), staging.join(entry.file_name()));
        if from.is_dir() && to.is_dir() {
            merge(&from, &to)?;
        } else if !to.exists() {
            fs::rename(&from, &to).map_err(|error| PullError::io(&to, error))?;
        }
    }
    remove_dir(earlier)
}

/// The name of a dataset's folder, which differs from every model's.
fn folder_name(repo: &str) -> String {
    format!("datasets--{}", repo.replace('/', "--"))
}
