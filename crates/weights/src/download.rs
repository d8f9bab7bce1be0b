//! Downloads the files of a repository into a staging folder.

use crate::cache::remove_dir;
use crate::client::HubClient;
use crate::fetch::{fetch, length};
use crate::hub::RemoteFile;
use crate::{PullError, PullEvent, PullOptions, space};
use std::cell::Cell;
use std::fs;
use std::path::Path;

/// Downloads and verifies files under their names. Files of an earlier, interrupted download are kept or resumed.
pub(crate) async fn download(
    files: &[RemoteFile],
    staging: &Path,
    client: &HubClient,
    options: &PullOptions,
    on_event: &dyn Fn(PullEvent),
) -> Result<(), PullError> {
    let paths = |name: &str| (staging.join(name), staging.join(format!("{name}.part")));
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    let present = files.iter().map(|file| {
        let (path, part) = paths(&file.name);
        length(&path).max(length(&part)).min(file.bytes)
    });
    space::check(staging, total - present.sum::<u64>(), options)?;
    on_event(PullEvent::Total(total));
    let finished = Cell::new(0);
    for file in files {
        let (path, part) = paths(&file.name);
        let io = |error| PullError::io(&path, error);
        if !(path.exists() && file.digest.of(&path).await.map_err(io)? == file.digest.text()) {
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(|error| PullError::io(parent, error))?;
            }
            let on_bytes = |bytes| on_event(PullEvent::Downloaded(finished.get() + bytes));
            fetch(client, file, &part, &on_bytes).await?;
            fs::rename(&part, &path).map_err(io)?;
        }
        finished.set(finished.get() + file.bytes);
        on_event(PullEvent::Downloaded(finished.get()));
    }
    Ok(())
}

/// Keeps the staging folder of a failed download so that it can be resumed, unless the disk is full or it is empty.
pub(crate) fn cleanup(staging: &Path, error: PullError) -> PullError {
    if matches!(error, PullError::DiskFull { .. })
        && let Err(error) = remove_dir(staging)
    {
        return error;
    }
    // Fails unless the folder is empty.
    let _ = fs::remove_dir(staging);
    error
}
