//! The Hugging Face cache of this machine, in the layout of `huggingface_hub`. Read by `eval` (datasets) and `diversity`
//! (embedding models); nothing is written there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder of the Hugging Face cache that holds repositories.
#[derive(Clone, Debug)]
pub struct HubCache {
    root: PathBuf,
}

/// The kind of a repository on the hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepoKind {
    /// A model.
    Model,
    /// A dataset.
    Dataset,
}

/// A repository in the cache; it need not exist.
#[derive(Clone, Debug)]
pub struct CachedRepo {
    folder: PathBuf,
}

impl HubCache {
    /// The cache where `huggingface_hub` has it: `$HF_HUB_CACHE`, else `hub` in `$HF_HOME`, else `huggingface/hub` in
    /// `$XDG_CACHE_HOME` or `~/.cache`.
    pub fn open() -> Option<Self> {
        Self::from_variables(|name| std::env::var_os(name))
    }

    /// The cache in this folder.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = || variable("HOME").or_else(|| variable("USERPROFILE")).map(|home| home.join(".cache"));
        let root = variable("HF_HUB_CACHE")
            .or_else(|| variable("HF_HOME").map(|folder| folder.join("hub")))
            .or_else(|| Some(variable("XDG_CACHE_HOME").or_else(home)?.join("huggingface").join("hub")))?;
        Some(Self { root })
    }

    /// The repository of this name, such as `BAAI/bge-small-en-v1.5`.
    pub fn repo(&self, kind: RepoKind, name: &str) -> CachedRepo {
        let prefix = match kind {
            RepoKind::Model => "models",
            RepoKind::Dataset => "datasets",
        };
        CachedRepo { folder: self.root.join(format!("{prefix}--{}", name.replace('/', "--"))) }
    }
}

impl CachedRepo {
    /// The file that names the commit of the branch `main`.
    pub fn main_ref(&self) -> PathBuf {
        self.folder.join("refs").join("main")
    }

    /// The snapshot of the branch `main`.
    pub fn main(&self) -> Option<PathBuf> {
        let commit = std::fs::read_to_string(self.main_ref()).ok()?;
        self.snapshots().into_iter().find(|path| is_named(path, commit.trim()))
    }

    /// All snapshots: that of the branch `main` first, the others by name.
    pub fn snapshots(&self) -> Vec<PathBuf> {
        let commit = std::fs::read_to_string(self.main_ref()).unwrap_or_default();
        let entries = std::fs::read_dir(self.folder.join("snapshots")).into_iter().flatten().flatten();
        let mut snapshots: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        snapshots.sort_by_key(|path| (!is_named(path, commit.trim()), path.clone()));
        snapshots
    }
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|file_name| file_name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_where_huggingface_hub_has_it() {
        let all = [("HF_HUB_CACHE", "a"), ("HF_HOME", "b"), ("XDG_CACHE_HOME", "c"), ("HOME", "d")];
        let root = |set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            HubCache::from_variables(value).map(|cache| cache.root)
        };
        assert_eq!(root(&all), Some(PathBuf::from("a")));
        assert_eq!(root(&all[1..]), Some(PathBuf::from("b/hub")));
        assert_eq!(root(&all[2..]), Some(PathBuf::from("c/huggingface/hub")));
        assert_eq!(root(&all[3..]), Some(PathBuf::from("d/.cache/huggingface/hub")));
        assert_eq!(root(&[("HF_HUB_CACHE", "")]), None, "an empty variable counts as unset");
    }

    #[test]
    fn main_is_found_through_its_ref_and_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let repo = HubCache::at(folder.path()).repo(RepoKind::Model, "owner/name");
        let at = |name: &str| folder.path().join("models--owner--name").join(name);
        for snapshot in ["aaa", "bbb"] {
            std::fs::create_dir_all(at("snapshots").join(snapshot)).unwrap();
        }
        assert_eq!(repo.main(), None);
        std::fs::create_dir_all(at("refs")).unwrap();
        std::fs::write(at("refs/main"), "bbb\n").unwrap();
        assert_eq!(repo.main(), Some(at("snapshots/bbb")));
        assert_eq!(repo.snapshots(), [at("snapshots/bbb"), at("snapshots/aaa")]);
        for outside in ["../..", "", "ccc"] {
            std::fs::write(at("refs/main"), outside).unwrap();
            assert_eq!(repo.main(), None, "{outside}");
        }
    }
}
