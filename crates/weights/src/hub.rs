//! The Hugging Face hub: which files a repository has.

use crate::digest::Digest;
use crate::http::{Http, Site, shown};
use crate::{HubSource, PullError};
use reqwest::Url;
use serde::Deserialize;

/// What of a repository is wanted besides weights: what it takes to run it, and its licence.
const ENDINGS: [&str; 4] = [".json", ".txt", ".model", ".jinja"];
const BEGINNINGS: [&str; 3] = ["LICENSE", "NOTICE", "USE_POLICY"];

/// A file of a repository, at one commit.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) digest: Digest,
    pub(crate) url: Url,
}

#[derive(Deserialize)]
struct Repository {
    sha: String,
    #[serde(default)]
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    blob_id: Option<String>,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    sha256: String,
    size: u64,
}

/// The wanted files of a model's repository as it is now: `only` that one, or all that it takes to run the model.
pub(crate) async fn list(
    http: &Http,
    hub: &Site,
    source: &HubSource,
    only: Option<&str>,
) -> Result<Vec<Listed>, PullError> {
    let choose = |names: &[&str]| chosen(names.iter().copied(), source, only);
    files(http, hub, Kind::Models, &source.repo, choose, only.unwrap_or("safetensors files")).await
}

/// The files of a dataset's repository as it is now that `choose` takes; `what` it looks for.
pub(crate) async fn list_dataset(
    http: &Http,
    hub: &Site,
    repo: &str,
    choose: impl Fn(&[&str]) -> Vec<String>,
    what: &str,
) -> Result<Vec<Listed>, PullError> {
    // A name in a folder is fine here, but none may lead out of the repository.
    let inside = |names: &[&str]| {
        let names: Vec<&str> = names.iter().copied().filter(|name| name.split('/').all(plain)).collect();
        choose(&names)
    };
    files(http, hub, Kind::Datasets, repo, inside, what).await
}

/// What a repository holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Models,
    Datasets,
}

async fn files(
    http: &Http,
    hub: &Site,
    kind: Kind,
    repo: &str,
    choose: impl Fn(&[&str]) -> Vec<String>,
    what: &str,
) -> Result<Vec<Listed>, PullError> {
    let owner_and_name = || repo.split('/');
    let (api, folder) = match kind {
        Kind::Models => ("models", None),
        Kind::Datasets => ("datasets", Some("datasets")),
    };
    let mut page = hub.at(["api", api].into_iter().chain(owner_and_name()).chain(["revision", "main"]));
    page.set_query(Some("blobs=true"));
    let (_, _, text) = http.text(hub, &page, "application/json").await?;
    let useless = |why: String| PullError::Answer { address: shown(&page), why };
    let repository: Repository =
        serde_json::from_str(&text).map_err(|error| useless(format!("not a listing of the hub: {error}")))?;

    let names: Vec<&str> = repository.siblings.iter().map(|sibling| sibling.rfilename.as_str()).collect();
    let chosen = choose(&names);
    let mut files = Vec::new();
    for sibling in repository.siblings.iter().filter(|sibling| chosen.contains(&sibling.rfilename)) {
        let name = &sibling.rfilename;
        let known = match (&sibling.lfs, &sibling.blob_id, sibling.size) {
            (Some(lfs), _, _) => Some((lfs.size, Digest::sha256(&lfs.sha256))),
            (None, Some(blob), Some(size)) => Some((size, Digest::GitBlob(blob.to_ascii_lowercase()))),
            _ => None,
        };
        let (bytes, digest) =
            known.ok_or_else(|| useless(format!("the hub does not tell the checksum of {name}")))?;
        let place = folder.into_iter().chain(owner_and_name());
        let url = hub.at(place.chain(["resolve", &repository.sha]).chain(name.split('/')));
        files.push(Listed { name: name.clone(), bytes, digest, url });
    }
    if files.is_empty() {
        return Err(useless(format!("{repo} has no {what}")));
    }
    Ok(files)
}

fn chosen<'n>(names: impl Iterator<Item = &'n str>, source: &HubSource, only: Option<&str>) -> Vec<String> {
    // Files in folders are other forms of the same weights; a name is never a path here.
    let names: Vec<&str> = names.filter(|name| plain(name)).collect();
    if let Some(only) = only {
        return names.into_iter().filter(|name| *name == only).map(str::to_owned).collect();
    }
    let mut weights: Vec<&str> =
        names.iter().copied().filter(|name| name.ends_with(".safetensors")).collect();
    if weights.iter().any(|name| name.starts_with(&source.weights)) {
        weights.retain(|name| name.starts_with(&source.weights));
    }
    if weights.is_empty() {
        return Vec::new();
    }
    let rest = names.into_iter().filter(|name| {
        ENDINGS.iter().any(|end| name.ends_with(end))
            || BEGINNINGS.iter().any(|begin| name.starts_with(begin))
    });
    rest.chain(weights).map(str::to_owned).collect()
}

fn plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_the_model_is_chosen_and_nothing_else() {
        let repository = [
            ".gitattributes",
            "LICENSE",
            "README.md",
            "config.json",
            "consolidated.safetensors",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "modeling.py",
            "original/model.safetensors",
            "../model.safetensors",
            "pytorch_model.bin",
        ];
        let choose = |weights: &str, only| {
            let source = HubSource { repo: "a/b".to_owned(), weights: weights.to_owned() };
            chosen(repository.into_iter(), &source, only)
        };
        let usual = [
            "LICENSE",
            "config.json",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
        ];
        assert_eq!(choose("model", None), usual);
        assert_eq!(choose("consolidated", None), ["LICENSE", "config.json", "consolidated.safetensors"]);
        assert_eq!(choose("other", None).len(), 5);
        assert_eq!(choose("model", Some("README.md")), ["README.md"]);
        assert!(choose("model", Some("../model.safetensors")).is_empty());
    }
}
