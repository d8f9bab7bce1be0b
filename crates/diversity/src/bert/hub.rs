//! Finds the files of an embedding model: a folder, or a repository in the Hugging Face cache.

use crate::EmbedError;
use aske_weights::{HubCache, RepoKind};
use std::path::{Path, PathBuf};

/// The folder of this path, or the snapshot of this repository's branch `main`.
pub(crate) fn find(name: &str, cache: Option<&HubCache>) -> Result<PathBuf, EmbedError> {
    if Path::new(name).is_dir() {
        return Ok(PathBuf::from(name));
    }
    let not_found =
        |reason: String, hint: String| Err(EmbedError::NotFound { name: name.to_owned(), reason, hint });
    if !is_repo_name(name) {
        let hint = "`ngram` needs no files; a repository's name looks like `BAAI/bge-small-en-v1.5`";
        return not_found("no such folder".to_owned(), hint.to_owned());
    }
    let hint = format!("`hf download {name}` downloads it; `ngram` needs no files");
    let Some(cache) = cache else {
        return not_found("no such folder, and this machine has no Hugging Face cache".to_owned(), hint);
    };
    let repo = cache.repo(RepoKind::Model, name);
    match (repo.main(), repo.main_ref()) {
        (Some(snapshot), _) => Ok(snapshot),
        (None, main) if main.is_file() => not_found(format!("{} names no snapshot", main.display()), hint),
        (None, main) => not_found(format!("no such folder, and no {}", main.display()), hint),
    }
}

/// Whether a name is `owner/model`, or `model` as for some old repositories.
fn is_repo_name(name: &str) -> bool {
    let is_plain = |part: &str| {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(allowed)
    };
    name.split('/').count() <= 2 && name.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_chat::Hint;

    #[test]
    fn a_hub_name_leads_to_the_snapshot_of_its_main_branch() {
        let home = tempfile::tempdir().unwrap();
        let model = home.path().join("models--BAAI--bge-small-en-v1.5");
        let snapshot = model.join("snapshots/5c38ec7c");
        std::fs::create_dir_all(&snapshot).unwrap();
        std::fs::create_dir_all(model.join("refs")).unwrap();
        let cache = HubCache::at(home.path());
        let look = || find("BAAI/bge-small-en-v1.5", Some(&cache));

        let error = look().unwrap_err();
        let hint = error.hint().unwrap();
        assert!(
            hint.starts_with("`hf download BAAI/bge-small-en-v1.5`") && hint.contains("`ngram`"),
            "{hint}"
        );
        std::fs::write(model.join("refs/main"), "5c38ec7c\n").unwrap();
        assert_eq!(look().unwrap(), snapshot);
        for elsewhere in ["../../..", "", "6d"] {
            std::fs::write(model.join("refs/main"), elsewhere).unwrap();
            assert!(look().unwrap_err().to_string().contains("names no snapshot"), "{elsewhere}");
        }
    }

    #[test]
    fn what_is_no_repository_name_is_not_looked_up() {
        for name in ["", "a/b/c", "../a", "a/..", "/a", "a b", "ä"] {
            assert!(!is_repo_name(name), "{name}");
            let error = find(name, Some(&HubCache::at("b"))).unwrap_err();
            assert!(error.to_string().contains("no such folder") && error.hint().is_some(), "{error}");
        }
        assert!(is_repo_name("BAAI/bge-small-en-v1.5") && is_repo_name("gpt2"));
    }
}
