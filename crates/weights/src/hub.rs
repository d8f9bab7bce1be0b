//! Lists the files of a repository on the Hugging Face hub.

use crate::client::{HubClient, redacted};
use crate::digest::Digest;
use crate::{HubSource, PullError, RepoKind};
use reqwest::Url;
use serde::Deserialize;

/// Files that are downloaded beside the weights: configuration, tokenizer, licence.
const SUFFIXES: [&str; 4] = [".json", ".txt", ".model", ".jinja"];
const PREFIXES: [&str; 3] = ["LICENSE", "NOTICE", "USE_POLICY"];

/// A file of a repository at one commit.
#[derive(Debug)]
pub(crate) struct RemoteFile {
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

/// Lists the files of a model at the current commit: `only` this file, or all that are needed to run the model.
pub(crate) async fn list_model(
    client: &HubClient,
    source: &HubSource,
    only: Option<&str>,
) -> Result<Vec<RemoteFile>, PullError> {
    let select = |names: &[&str]| select_model_files(names.iter().copied(), source, only);
    list(client, RepoKind::Model, &source.repo, select, only.unwrap_or("safetensors files")).await
}

/// Lists the files of a dataset at the current commit that `select` picks; `description` names them in errors.
pub(crate) async fn list_dataset(
    client: &HubClient,
    repo: &str,
    select: impl Fn(&[&str]) -> Vec<String>,
    description: &str,
) -> Result<Vec<RemoteFile>, PullError> {
    // Files may be in folders, but no name may point outside the repository.
    let inside = |names: &[&str]| {
        let names: Vec<&str> =
            names.iter().copied().filter(|name| name.split('/').all(is_plain_name)).collect();
        select(&names)
    };
    list(client, RepoKind::Dataset, repo, inside, description).await
}

async fn list(
    client: &HubClient,
    kind: RepoKind,
    repo: &str,
    select: impl Fn(&[&str]) -> Vec<String>,
    description: &str,
) -> Result<Vec<RemoteFile>, PullError> {
    let owner_and_name = || repo.split('/');
    let (api, folder) = match kind {
        RepoKind::Model => ("models", None),
        RepoKind::Dataset => ("datasets", Some("datasets")),
    };
    let segments = ["api", api].into_iter().chain(owner_and_name()).chain(["revision", "main"]);
    let mut page = client.endpoint.url(segments);
    page.set_query(Some("blobs=true"));
    let body = client.body(&page).await?;
    let bad_response = |reason: String| PullError::BadResponse { address: redacted(&page), reason };
    let repository: Repository = serde_json::from_slice(&body)
        .map_err(|error| bad_response(format!("not a listing of the hub: {error}")))?;

    let names: Vec<&str> = repository.siblings.iter().map(|sibling| sibling.rfilename.as_str()).collect();
    let selected = select(&names);
    let mut files = Vec::new();
    for sibling in repository.siblings.iter().filter(|sibling| selected.contains(&sibling.rfilename)) {
        let name = &sibling.rfilename;
        let known = match (&sibling.lfs, &sibling.blob_id, sibling.size) {
            (Some(lfs), _, _) => Some((lfs.size, Digest::sha256(&lfs.sha256))),
            (None, Some(blob), Some(size)) => Some((size, Digest::GitBlob(blob.to_ascii_lowercase()))),
            _ => None,
        };
        let (bytes, digest) =
            known.ok_or_else(|| bad_response(format!("the hub gives no checksum for {name}")))?;
        let path = folder.into_iter().chain(owner_and_name());
        let url = client.endpoint.url(path.chain(["resolve", &repository.sha]).chain(name.split('/')));
        files.push(RemoteFile { name: name.clone(), bytes, digest, url });
    }
    if files.is_empty() {
        return Err(bad_response(format!("{repo} has no {description}")));
    }
    Ok(files)
}

fn select_model_files<'n>(
    names: impl Iterator<Item = &'n str>,
    source: &HubSource,
    only: Option<&str>,
) -> Vec<String> {
    // Files in folders are other formats of the same weights.
    let names: Vec<&str> = names.filter(|name| is_plain_name(name)).collect();
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
        SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
            || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    });
    rest.chain(weights).map(str::to_owned).collect()
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_runs_the_model_is_selected() {
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
        let select = |weights: &str, only| {
            let source = HubSource { repo: "a/b".to_owned(), weights: weights.to_owned() };
            select_model_files(repository.into_iter(), &source, only)
        };
        let usual = [
            "LICENSE",
            "config.json",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
        ];
        assert_eq!(select("model", None), usual);
        assert_eq!(select("consolidated", None), ["LICENSE", "config.json", "consolidated.safetensors"]);
        assert_eq!(select("other", None).len(), 5);
        assert_eq!(select("model", Some("README.md")), ["README.md"]);
        assert!(select("model", Some("../model.safetensors")).is_empty());
    }
}
