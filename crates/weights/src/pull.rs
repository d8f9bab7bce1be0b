//! Downloads a model of the catalogue from the hub into the cache. Called by `aske models pull`.

use crate::cache::Cache;
use crate::client::HubClient;
use crate::digest::{self, Digest};
use crate::download::{cleanup, download};
use crate::{Model, PullError, PullOptions, hub};
use std::fs;
use std::path::{Path, PathBuf};

/// Progress of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullEvent {
    /// Waiting for another process that downloads the same model.
    Waiting,
    /// The model is in the cache, and its checksum is being verified.
    Verifying,
    /// The model in the cache is corrupt, and is downloaded again.
    Corrupt,
    /// Bytes to download.
    Total(u64),
    /// Bytes downloaded so far.
    Downloaded(u64),
}

/// Downloads a model unless it is in the cache and intact; returns the path of its file, or of a repository's folder.
pub async fn pull(
    model: &Model,
    cache: &Cache,
    options: &PullOptions,
    on_event: &dyn Fn(PullEvent),
) -> Result<PathBuf, PullError> {
    let _lock = cache.lock(&model.name, || on_event(PullEvent::Waiting)).await?;
    if cache.find(model).is_some() {
        on_event(PullEvent::Verifying);
        if let Some(path) = cache.verified(model).await? {
            return Ok(path);
        }
        on_event(PullEvent::Corrupt);
    }
    let staging = cache.staging(&model.name);
    fs::create_dir_all(&staging).map_err(|error| PullError::io(&staging, error))?;
    let files = pull_files(model, &staging, options, on_event).await;
    files
        .and_then(|checksums| cache.install(model, &checksums))
        .map_err(|error| cleanup(&staging, error).in_repo(&model.hub.repo))
}

/// Downloads the files of a model; returns their names and sha256.
async fn pull_files(
    model: &Model,
    staging: &Path,
    options: &PullOptions,
    on_event: &dyn Fn(PullEvent),
) -> Result<Vec<(String, String)>, PullError> {
    let client = HubClient::new(options)?;
    let only = model.file.as_ref();
    let files = hub::list_model(&client, &model.hub, only.map(|file| file.name.as_str())).await?;
    if let (Some(only), [listed]) = (only, &files[..])
        && listed.digest != Digest::sha256(&only.sha256)
    {
        return Err(PullError::HubFileChanged {
            file: only.name.clone(),
            expected: only.sha256.clone(),
            found: listed.digest.text().to_owned(),
        });
    }

    download(&files, staging, &client, options, on_event).await?;
    let mut checksums = Vec::new();
    for file in &files {
        let path = staging.join(&file.name);
        let sha256 = match &file.digest {
            Digest::Sha256(sha256) => sha256.clone(),
            Digest::GitBlob(_) => digest::sha256(&path).await.map_err(|error| PullError::io(&path, error))?,
        };
        checksums.push((file.name.clone(), sha256));
    }
    Ok(checksums)
}
