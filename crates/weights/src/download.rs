//! The files of a repository, into the folder where they are put together.

use crate::cache::clear;
use crate::fetch::{Wanted, length};
use crate::http::Http;
use crate::hub::Listed;
use crate::{Event, Options, PullError, space};
use std::cell::Cell;
use std::fs;
use std::path::Path;

/// Fetches files of the hub under their names, unless there is too little room. What an earlier pull finished is kept,
/// what it left of another is gone on with, and every file is verified.
pub(crate) async fn download(
    files: &[Listed],
    work: &Path,
    http: &Http,
    options: &Options,
    tell: &dyn Fn(Event),
) -> Result<(), PullError> {
    let place = |name: &str| (work.join(name), work.join(format!("{name}.part")));
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    let here = files.iter().map(|file| {
        let (whole, part) = place(&file.name);
        length(&whole).max(length(&part)).min(file.bytes)
    });
    space::check(work, total - here.sum::<u64>(), options)?;
    tell(Event::Size(total));
    let before = Cell::new(0);
    for file in files {
        let (whole, part) = place(&file.name);
        let io = |error| PullError::io(&whole, error);
        if !(whole.exists() && file.digest.of(&whole).await.map_err(io)? == file.digest.text()) {
            if let Some(parent) = whole.parent() {
                fs::create_dir_all(parent).map_err(|error| PullError::io(parent, error))?;
            }
            let wanted = Wanted {
                name: &file.name,
                site: &options.hub,
                url: &file.url,
                into: &part,
                bytes: Some(file.bytes),
                most: file.bytes,
                digest: Some(&file.digest),
            };
            wanted.fetch(http, &|bytes| tell(Event::At(before.get() + bytes))).await?;
            fs::rename(&part, &whole).map_err(io)?;
        }
        before.set(before.get() + file.bytes);
        tell(Event::At(before.get()));
    }
    Ok(())
}

/// Leaves what can be gone on with; on a full disk that is nothing.
pub(crate) fn leave(work: &Path, error: PullError) -> PullError {
    if matches!(error, PullError::DiskFull { .. })
        && let Err(error) = clear(work)
    {
        return error;
    }
    // An empty folder is nothing to go on with.
    let _ = fs::remove_dir(work);
    error
}
