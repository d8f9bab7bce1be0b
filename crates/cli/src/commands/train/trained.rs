//! Writes the folder `trained`, and moves measurements of earlier weights out of the way.

use super::{seed_folder, train_error};
use crate::error::CliError;
use crate::output::note;
use aske_train::{LearnError, Policy};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Result};
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
    let failed =
        |path: &Path, error: std::io::Error| train_error(&LearnError::file(path, error).into(), None);
    remove(&draft).and_then(|()| std::fs::create_dir_all(&draft)).map_err(|error| failed(&draft, error))?;
    policy.export(&draft).map_err(|error| train_error(&error.into(), None))?;
    let measured = measured(root, seed);
    if measured.exists() {
        let same = same(&draft.join(WEIGHTS), &trained.join(WEIGHTS));
        if !same.map_err(|error| failed(&trained, error))? {
            let aside = free(&measured);
            std::fs::rename(&measured, &aside).map_err(|error| failed(&measured, error))?;
            note(format_args!(
                "the weights have changed; the earlier measurement is now in {}",
                aside.display()
            ));
        }
    }
    remove(&trained).and_then(|()| std::fs::rename(&draft, &trained)).map_err(|error| failed(&trained, error))
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
    let open = |path: &Path| match File::open(path) {
        Ok(file) => Ok(Some(BufReader::with_capacity(1 << 20, file))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    };
    let (Some(mut one), Some(mut other)) = (open(one)?, open(other)?) else { return Ok(false) };
    loop {
        let (here, there) = (one.fill_buf()?, other.fill_buf()?);
        let length = here.len().min(there.len());
        if here[..length] != there[..length] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(here.len() == there.len());
        }
        one.consume(length);
        other.consume(length);
    }
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
