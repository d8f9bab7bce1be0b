//! Writes the folder `trained`, and moves measurements of earlier weights out of the way.

use super::seed_folder;
use crate::error::CliError;
use crate::output::note;
use aske_eval::file_hash;
use aske_train::{LearnError, Policy};
use std::io::{ErrorKind, Result};
use std::path::{Path, PathBuf};

const WEIGHTS: &str = "model.safetensors";

/// The folder of the benchmark after training with a seed.
pub(super) fn measured(root: &Path, seed: u64) -> PathBuf {
    root.join(format!("after-{seed}"))
}

/// Saves the policy trained with a seed. The folder is replaced as a whole; if the weights changed, the measurement of
/// the earlier ones is renamed.
pub(super) fn save(policy: &dyn Policy, root: &Path, seed: u64) -> std::result::Result<(), CliError> {
    let trained = seed_folder(root, seed).join("trained");
    let draft = trained.with_extension("new");
    remove(&draft)
        .and_then(|()| std::fs::create_dir_all(&draft))
        .map_err(|error| LearnError::file(&draft, error))?;
    policy.export(&draft)?;
    let measured = measured(root, seed);
    if measured.exists() {
        let same = same(&draft.join(WEIGHTS), &trained.join(WEIGHTS));
        if !same.map_err(|error| LearnError::file(&trained, error))? {
            let aside = free(&measured);
            std::fs::rename(&measured, &aside).map_err(|error| LearnError::file(&measured, error))?;
            note(format_args!(
                "the weights have changed; the earlier measurement is now in {}",
                aside.display()
            ));
        }
    }
    let replaced = remove(&trained).and_then(|()| std::fs::rename(&draft, &trained));
    Ok(replaced.map_err(|error| LearnError::file(&trained, error))?)
}

/// Removes a folder if it exists.
fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A path next to this one that does not exist.
fn free(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let first = path.with_file_name(format!("{name}-earlier"));
    let others = (2..).map(|number: u32| path.with_file_name(format!("{name}-earlier-{number}")));
    std::iter::once(first.clone()).chain(others).find(|path| !path.exists()).unwrap_or(first)
}

/// Whether both files exist and have the same contents.
fn same(one: &Path, other: &Path) -> Result<bool> {
    let hash = |path: &Path| match file_hash(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        hash => hash.map(Some),
    };
    let (one, other) = (hash(one)?, hash(other)?);
    Ok(one.is_some() && one == other)
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn files_are_the_same_to_the_last_byte() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            folder.path().join(name)
        };
        let long: Vec<u8> = (0..3_000_000_u32).map(|at| at.to_le_bytes()[0]).collect();
        let mut last = long.clone();
        last[2_999_999] ^= 1;
        let one = file("one", &long);
        assert!(same(&one, &file("two", &long)).unwrap());
        for (name, other) in
            [("last", &last[..]), ("shorter", &long[1..]), ("less", &long[..2_999_999]), ("none", b"")]
        {
            assert!(!same(&one, &file(name, other)).unwrap(), "{name}");
        }
        assert!(!same(&one, &folder.path().join("missing")).unwrap());
    }
}
