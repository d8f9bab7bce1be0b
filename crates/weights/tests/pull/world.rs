//! A server, a cache, and models to pull from one into the other.

use crate::server::Server;
use aske_weights::{Cache, Catalogue, Model, PullError, PullEvent, PullOptions, pull};
use ring::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// The commit of every repository here.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) cache: Cache,
    pub(crate) options: PullOptions,
    _folder: TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        let server = Server::start().await;
        let folder = tempfile::tempdir().unwrap();
        let options = options(&server.url, None);
        Self { cache: Cache::at(folder.path().join("cache")), server, options, _folder: folder }
    }

    pub(crate) async fn pull(&self, model: &Model) -> Result<PathBuf, PullError> {
        pull(model, &self.cache, &self.options, &|_| {}).await
    }

    pub(crate) async fn events(&self, model: &Model) -> (Result<PathBuf, PullError>, Vec<PullEvent>) {
        let events = std::cell::RefCell::new(Vec::new());
        let pulled = pull(model, &self.cache, &self.options, &|event| events.borrow_mut().push(event)).await;
        (pulled, events.into_inner())
    }

    /// A file in the model's staging folder.
    pub(crate) fn staging(&self, model: &Model, name: &str) -> PathBuf {
        self.cache.root().join(".pulling").join(&model.name).join(name)
    }

    /// All files in the cache but locks, by their names.
    pub(crate) fn left(&self) -> Vec<String> {
        let mut names = Vec::new();
        walk(self.cache.root(), &mut names);
        names.sort();
        names
    }

    /// A model that is one file on the hub, and the path of that file there.
    pub(crate) fn hub_file(&self, content: &[u8]) -> (Model, String) {
        self.hub_repository(&[("a.gguf", content)]);
        let model = one_model(&format!(
            "file = {{ name = 'a.gguf', bytes = {}, sha256 = '{}' }}\nhub = {{ repo = 'owner/name' }}",
            content.len(),
            sha256(content)
        ));
        (model, format!("/owner/name/resolve/{COMMIT}/a.gguf"))
    }

    /// A repository on the hub; what is long is stored as the hub stores what is large.
    pub(crate) fn hub_repository(&self, files: &[(&str, &[u8])]) -> Model {
        self.offer_files("models", "", files);
        one_model("gigabytes = 0.1\nhub = { repo = 'owner/name' }")
    }

    /// A repository of this kind on the hub, with its files below this folder.
    pub(crate) fn offer_files(&self, kind: &str, below: &str, files: &[(&str, &[u8])]) {
        let mut siblings = Vec::new();
        for (name, content) in files {
            let blob = [format!("blob {}\0", content.len()).as_bytes(), content].concat();
            let mut sibling = json!({
                "rfilename": name,
                "size": content.len(),
                "blobId": hex(&SHA1_FOR_LEGACY_USE_ONLY, &blob),
            });
            if content.len() > 1000 {
                sibling["lfs"] =
                    json!({ "sha256": sha256(content), "size": content.len(), "pointerSize": 134 });
            }
            siblings.push(sibling);
            let path = format!("{below}/owner/name/resolve/{COMMIT}/{name}");
            self.server.serve(&path, "application/octet-stream", content.to_vec());
        }
        let listing = json!({ "id": "owner/name", "sha": COMMIT, "siblings": siblings }).to_string();
        let page = format!("/api/{kind}/owner/name/revision/main?blobs=true");
        self.server.serve(&page, "application/json; charset=utf-8", listing);
    }
}

pub(crate) fn one_model(keys: &str) -> Model {
    let text = format!("[[model]]\nname = 'tiny'\nparams = 0.1\nlicence = 'MIT'\n{keys}");
    Catalogue::parse(&text).unwrap().models.remove(0)
}

pub(crate) fn options(hub: &str, token: Option<&str>) -> PullOptions {
    let mut options = PullOptions::new(hub, token).unwrap();
    (options.attempts, options.pause) = (3, Duration::from_millis(1));
    options
}

/// Bytes that do not repeat.
pub(crate) fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(count).collect()
}

pub(crate) fn sha256(content: &[u8]) -> String {
    hex(&SHA256, content)
}

fn hex(algorithm: &'static Algorithm, content: &[u8]) -> String {
    let mut text = String::new();
    for byte in digest(algorithm, content).as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn walk(folder: &Path, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, names);
        } else if path.extension().is_none_or(|extension| extension != "lock") {
            names.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
}
