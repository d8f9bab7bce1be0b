//! Where the files of an embedder are: a folder, or the Hugging Face cache.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::EmbedError;

/// The folder that is meant: itself, or the snapshot in the cache that `refs/main` of this name points to.
///
/// The cache is where huggingface_hub has it: `HF_HUB_CACHE`, else `hub` in `HF_HOME`, else
/// `huggingface/hub` in `XDG_CACHE_HOME` or `~/.cache`.
pub(crate) fn find(name: &str, variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, EmbedError> {
    if Path::new(name).is_dir() {
        return Ok(PathBuf::from(name));
    }
    let missing =
        |reason: String, hint: String| Err(EmbedError::NotFound { name: name.to_owned(), reason, hint });
    if !is_hub_name(name) {
        let hint = "`ngram` needs no files; a hub name looks like `BAAI/bge-small-en-v1.5`";
        return missing("there is no such folder".to_owned(), hint.to_owned());
    }
    let hint = format!("`hf download {name}` gets it; `ngram` needs no files");
    let Some(cache) = cache(variable) else {
        return missing("no such folder, and this machine has no Hugging Face cache".to_owned(), hint);
    };
    let model = cache.join(format!("models--{}", name.replace('/', "--")));
    let main = model.join("refs").join("main");
    let Ok(revision) = std::fs::read_to_string(&main) else {
        return missing(format!("no such folder, and no {}", main.display()), hint);
    };
    let snapshot = model.join("snapshots").join(revision.trim());
    if !is_plain(revision.trim()) || !snapshot.is_dir() {
        return missing(format!("{} names no snapshot beside it", main.display()), hint);
    }
    Ok(snapshot)
}

fn cache(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || set("HOME").or_else(|| set("USERPROFILE")).map(|home| home.join(".cache"));
    set("HF_HUB_CACHE")
        .or_else(|| set("HF_HOME").map(|folder| folder.join("hub")))
        .or_else(|| set("XDG_CACHE_HOME").or_else(home).map(|folder| folder.join("huggingface").join("hub")))
}

/// `owner/model`, or `model` alone as some old ones are called.
fn is_hub_name(name: &str) -> bool {
    name.split('/').count() <= 2 && name.split('/').all(is_plain)
}

/// One part of a path that leads nowhere else.
fn is_plain(part: &str) -> bool {
    let known = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    !part.is_empty() && !part.starts_with('.') && part.chars().all(known)
}

#[cfg(test)]
mod tests {
    use super::{cache, find, is_hub_name};
    use std::ffi::OsString;
    use std::path::PathBuf;

    fn with<'a>(set: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    }

    #[test]
    fn the_cache_is_where_huggingface_hub_has_it() {
        let all = [("HF_HUB_CACHE", "a"), ("HF_HOME", "b"), ("XDG_CACHE_HOME", "c"), ("HOME", "d")];
        assert_eq!(cache(with(&all)), Some(PathBuf::from("a")));
        assert_eq!(cache(with(&all[1..])), Some(PathBuf::from("b/hub")));
        assert_eq!(cache(with(&all[2..])), Some(PathBuf::from("c/huggingface/hub")));
        assert_eq!(cache(with(&all[3..])), Some(PathBuf::from("d/.cache/huggingface/hub")));
        assert_eq!(cache(with(&[("HF_HUB_CACHE", "")])), None, "an empty variable is none");
    }

    #[test]
    fn a_hub_name_leads_to_the_snapshot_of_its_main_branch() {
        let home = tempfile::tempdir().unwrap();
        let model = home.path().join("hub/models--BAAI--bge-small-en-v1.5");
        let snapshot = model.join("snapshots/5c38ec7c");
        std::fs::create_dir_all(&snapshot).unwrap();
        std::fs::create_dir_all(model.join("refs")).unwrap();
        let path = home.path().to_str().unwrap();
        let look = || find("BAAI/bge-small-en-v1.5", with(&[("HF_HOME", path)]));

        let message = look().unwrap_err().to_string();
        assert!(message.contains("hint: `hf download BAAI/bge-small-en-v1.5`"), "{message}");
        assert!(message.contains("`ngram`"), "{message}");
        std::fs::write(model.join("refs/main"), "5c38ec7c\n").unwrap();
        assert_eq!(look().unwrap(), snapshot);
        for elsewhere in ["../../..", "", "6d"] {
            std::fs::write(model.join("refs/main"), elsewhere).unwrap();
            assert!(look().unwrap_err().to_string().contains("names no snapshot"), "{elsewhere}");
        }
    }

    #[test]
    fn what_is_no_hub_name_is_not_looked_up() {
        for name in ["", "a/b/c", "../a", "a/..", "/a", "a b", "ä"] {
            assert!(!is_hub_name(name), "{name}");
            let message = find(name, with(&[("HF_HOME", "b")])).unwrap_err().to_string();
            assert!(message.contains("no such folder") && message.contains("hint: "), "{message}");
        }
        assert!(is_hub_name("BAAI/bge-small-en-v1.5") && is_hub_name("gpt2"));
    }
}
