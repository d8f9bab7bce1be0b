//! Downloads one file: resumed after a failure, never longer than expected, verified.

use crate::PullError;
use crate::client::{AttemptError, HubClient, bad_response, connection_error, status_error};
use crate::hub::RemoteFile;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_RANGE, HeaderMap, RANGE};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// Downloads the missing rest of a file to `path` and verifies the whole file; `on_bytes` receives its length so far.
///
/// A file with the wrong checksum is removed. If a part of it came from an earlier download, it is downloaded again once.
pub(crate) async fn fetch(
    client: &HubClient,
    file: &RemoteFile,
    path: &Path,
    on_bytes: &dyn Fn(u64),
) -> Result<(), PullError> {
    loop {
        let resumed = length(path) > 0;
        fetch_rest(client, file, path, on_bytes).await?;
        let found = file.digest.of(path).await.map_err(|error| PullError::io(path, error))?;
        if found == file.digest.text() {
            return Ok(());
        }
        remove(path)?;
        if !resumed {
            return Err(PullError::Checksum {
                file: file.name.clone(),
                expected: file.digest.text().to_owned(),
                found,
            });
        }
    }
}

async fn fetch_rest(
    client: &HubClient,
    file: &RemoteFile,
    path: &Path,
    on_bytes: &dyn Fn(u64),
) -> Result<(), PullError> {
    let mut retries = client.retries(&file.url);
    if length(path) > file.bytes {
        remove(path)?;
    }
    loop {
        let before = length(path);
        if before == file.bytes {
            return Ok(());
        }
        let result = attempt(client, file, path, before, on_bytes).await;
        let after = length(path);
        let error = match result {
            Ok(()) if after >= file.bytes => return Ok(()),
            Ok(()) => {
                AttemptError::Transient(format!("the file ended after {after} of {} bytes", file.bytes))
            }
            Err(error) => error,
        };
        if after > before {
            retries.reset();
        }
        retries.wait(error).await?;
    }
}

async fn attempt(
    client: &HubClient,
    file: &RemoteFile,
    path: &Path,
    offset: u64,
    on_bytes: &dyn Fn(u64),
) -> Result<(), AttemptError> {
    let url = &file.url;
    let mut request = client.get(url);
    if offset > 0 {
        request = request.header(RANGE, format!("bytes={offset}-"));
    }
    let mut response = request.send().await.map_err(|error| connection_error(url, error))?;
    let range = content_range(response.headers());
    let mut length = match (response.status(), range) {
        (StatusCode::PARTIAL_CONTENT, Some(ContentRange { start: Some(start), .. })) if start == offset => {
            offset
        }
        // The server does not support ranges: start again.
        (StatusCode::OK, _) => 0,
        // The file is already complete.
        (StatusCode::RANGE_NOT_SATISFIABLE, Some(ContentRange { total: Some(total), .. }))
            if total == offset =>
        {
            return Ok(());
        }
        (StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE, _) => {
            remove(path).map_err(AttemptError::Permanent)?;
            return Err(AttemptError::Transient("the server sent another range than requested".to_owned()));
        }
        (status, _) => return Err(status_error(url, status)),
    };
    let failed = |error| AttemptError::Permanent(PullError::io(path, error));
    let mut options = File::options();
    let mut output = if length == 0 {
        options.write(true).create(true).truncate(true).open(path)
    } else {
        options.append(true).open(path)
    }
    .map_err(failed)?;
    while let Some(chunk) = response.chunk().await.map_err(|error| connection_error(url, error))? {
        length += chunk.len() as u64;
        if length > file.bytes {
            drop(output);
            remove(path).map_err(AttemptError::Permanent)?;
            return Err(bad_response(url, "the file is longer than expected"));
        }
        output.write_all(&chunk).map_err(failed)?;
        on_bytes(length);
    }
    output.sync_all().map_err(failed)
}

/// A `Content-Range` header.
struct ContentRange {
    start: Option<u64>,
    total: Option<u64>,
}

/// Parses `bytes 5-9/10` or `bytes */10`.
fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes ")?;
    let (range, total) = text.split_once('/')?;
    Some(ContentRange {
        start: range.split_once('-').and_then(|(start, _)| start.parse().ok()),
        total: total.parse().ok(),
    })
}

/// The length of a file; 0 if it does not exist.
pub(crate) fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Removes a file if it exists.
fn remove(path: &Path) -> Result<(), PullError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(PullError::io(path, error)),
        _ => Ok(()),
    }
}
