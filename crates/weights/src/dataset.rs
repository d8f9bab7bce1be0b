//! The files of a dataset, from the hub into the cache.

use crate::cache::Cache;
use crate::fetch::Wanted;
use crate::http::Http;
use crate::{Event, Options, PullError, hub, space};
use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

/// More than this is no benchmark.
const MOST_BYTES: u64 = 512 << 20;

/// The folder of a dataset's files, if it was pulled before; inside, they have their names in the repository.
pub fn find_dataset(cache: &Cache, repo: &str) -> Option<PathBuf> {
    Some(cache.root().join(name(repo))).filter(|folder| folder.is_dir())
}

/// Pulls those files of a dataset on the hub that `choose` takes of all their names, unless they are here; `what` it
/// looks for. Each is resumed where it broke and verified, and the folder appears only when it is whole.
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
        return Ok(folder);
    }
    let (http, site) = (Http::new(options)?, &options.hub);
    let files = hub::list_dataset(&http, site, repo, choose, what).await?;
    let total: u64 = files.iter().map(|file| file.bytes).sum();
    if total > MOST_BYTES {
        let why = format!("{} MB are too many for a benchmark", total >> 20);
        return Err(PullError::Answer { address: repo.to_owned(), why });
    }
    let (work, folder) = (cache.work(&name), cache.root().join(&name));
    fs::create_dir_all(&work).map_err(|error| PullError::io(&work, error))?;
    space::check(&work, total, options)?;
    tell(Event::Size(total));
    let before = Cell::new(0);
    for file in &files {
        let into = work.join(&file.name);
        if let Some(parent) = into.parent() {
            fs::create_dir_all(parent).map_err(|error| PullError::io(parent, error))?;
        }
        let (bytes, digest) = (Some(file.bytes), Some(&file.digest));
        let wanted =
            Wanted { name: &file.name, site, url: &file.url, into: &into, bytes, most: file.bytes, digest };
        wanted.fetch(&http, &|bytes| tell(Event::At(before.get() + bytes))).await?;
        before.set(before.get() + file.bytes);
    }
    fs::rename(&work, &folder).map_err(|error| PullError::io(&folder, error))?;
    Ok(folder)
}

/// The name of a dataset's folder; no model has one with these marks.
fn name(repo: &str) -> String {
    format!("datasets--{}", repo.replace('/', "--"))
}
