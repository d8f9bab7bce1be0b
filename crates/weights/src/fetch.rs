//! One file over HTTP: resumed where it broke, never longer than expected, verified.

use crate::PullError;
use crate::digest::Digest;
use crate::http::{Fault, Http, Site, broke, refused, useless};
use reqwest::header::{CONTENT_RANGE, HeaderMap, RANGE};
use reqwest::{StatusCode, Url};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// A file that is wanted.
pub(crate) struct Wanted<'w> {
    /// What it is called in errors.
    pub(crate) name: &'w str,
    pub(crate) site: &'w Site,
    pub(crate) url: &'w Url,
    /// Where it goes; what is there already is gone on with.
    pub(crate) into: &'w Path,
    /// Its length, where it is known.
    pub(crate) bytes: Option<u64>,
    /// More than this is refused.
    pub(crate) most: u64,
    pub(crate) digest: Option<&'w Digest>,
}

impl Wanted<'_> {
    /// Fetches the rest of it and verifies the whole. `at` is told how long it is by now. A file with the wrong checksum
    /// is removed; if a part of it was from an earlier time, it is fetched anew once.
    pub(crate) async fn fetch(&self, http: &Http, at: &dyn Fn(u64)) -> Result<(), PullError> {
        loop {
            let resumed = length(self.into) > 0;
            self.fetch_rest(http, at).await?;
            let Some(digest) = self.digest else { return Ok(()) };
            let found = digest.of(self.into).await.map_err(|error| PullError::io(self.into, error))?;
            if found == digest.text() {
                return Ok(());
            }
            remove(self.into)?;
            if !resumed {
                return Err(PullError::Checksum {
                    what: self.name.to_owned(),
                    expected: digest.text().to_owned(),
                    found,
                });
            }
        }
    }

    async fn fetch_rest(&self, http: &Http, at: &dyn Fn(u64)) -> Result<(), PullError> {
        let mut patience = http.patience(self.url);
        if length(self.into) > self.bytes.unwrap_or(self.most) {
            remove(self.into)?;
        }
        loop {
            let had = length(self.into);
            if self.bytes == Some(had) {
                return Ok(());
            }
            let fault = match self.attempt(http, had, at).await {
                Ok(()) => match self.bytes {
                    Some(bytes) if length(self.into) < bytes => {
                        let came = length(self.into);
                        Fault::Passing(format!("the file ended early, after {came} of {bytes} bytes"))
                    }
                    _ => return Ok(()),
                },
                Err(fault) => fault,
            };
            if length(self.into) > had {
                patience.restore();
            }
            patience.bear(fault).await?;
        }
    }

    async fn attempt(&self, http: &Http, had: u64, at: &dyn Fn(u64)) -> Result<(), Fault> {
        let mut request = http.get(self.site, self.url);
        if had > 0 {
            request = request.header(RANGE, format!("bytes={had}-"));
        }
        let mut response = request.send().await.map_err(|error| broke(self.url, error))?;
        let range = range(response.headers());
        let mut length = match (response.status(), range) {
            (StatusCode::PARTIAL_CONTENT, Some(Range { from: Some(from), .. })) if from == had => had,
            // The server does not resume: from the beginning.
            (StatusCode::OK, _) => 0,
            // There is no more of it.
            (StatusCode::RANGE_NOT_SATISFIABLE, Some(Range { whole: Some(whole), .. })) if whole == had => {
                return Ok(());
            }
            (StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE, _) => {
                remove(self.into).map_err(Fault::Lasting)?;
                return Err(Fault::Passing("the server sends another part than was asked for".to_owned()));
            }
            (status, _) => return Err(refused(self.url, status)),
        };
        let failed = |error| Fault::Lasting(PullError::io(self.into, error));
        let mut options = File::options();
        let mut file = if length == 0 {
            options.write(true).create(true).truncate(true).open(self.into)
        } else {
            options.append(true).open(self.into)
        }
        .map_err(failed)?;
        while let Some(chunk) = response.chunk().await.map_err(|error| broke(self.url, error))? {
            length += chunk.len() as u64;
            if length > self.bytes.unwrap_or(self.most) {
                drop(file);
                remove(self.into).map_err(Fault::Lasting)?;
                return Err(useless(self.url, "the file is longer than it should be"));
            }
            file.write_all(&chunk).map_err(failed)?;
            at(length);
        }
        file.sync_all().map_err(failed)
    }
}

/// What `Content-Range` says.
struct Range {
    from: Option<u64>,
    whole: Option<u64>,
}

/// `bytes 5-9/10`, or `bytes */10`.
fn range(headers: &HeaderMap) -> Option<Range> {
    let text = headers.get(CONTENT_RANGE)?.to_str().ok()?.strip_prefix("bytes ")?;
    let (part, whole) = text.split_once('/')?;
    Some(Range {
        from: part.split_once('-').and_then(|(from, _)| from.parse().ok()),
        whole: whole.parse().ok(),
    })
}

/// The length of a file; of none, nothing.
pub(crate) fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), PullError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(PullError::io(path, error)),
        _ => Ok(()),
    }
}
