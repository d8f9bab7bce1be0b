//! The folder `trained`, and what was measured of an earlier one.

use super::{folder_of, problem};
use crate::output::note;
use crate::problem::Problem;
use aske_train::{LearnError, Policy};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Result};
use std::path::{Path, PathBuf};

const WEIGHTS: &str = "model.safetensors";

/// The folder of the benchmark after training with a seed.
pub(super) fn measured(place: &Path, seed: u64) -> PathBuf {
    place.join(format!("after-{seed}"))
}

/// Saves what was learnt with a seed. The folder is replaced as a whole; where the weights change, what was measured of
/// the earlier ones makes way.
pub(super) fn save(policy: &dyn Policy, place: &Path, seed: u64) -> std::result::Result<(), Problem> {
    let trained = folder_of(place, seed).join("trained");
    let draft = trained.with_extension("new");
    let failed = |path: &Path, error: std::io::Error| {
        problem(&LearnError::File { path: path.to_owned(), message: error.to_string() }.into(), None)
    };
    remove(&draft).and_then(|()| std::fs::create_dir_all(&draft)).map_err(|error| failed(&draft, error))?;
    policy.save(&draft).map_err(|error| problem(&error.into(), None))?;
    let measured = measured(place, seed);
    if measured.exists() {
        let same = same(&draft.join(WEIGHTS), &trained.join(WEIGHTS));
        if !same.map_err(|error| failed(&trained, error))? {
            let aside = free(&measured);
            std::fs::rename(&measured, &aside).map_err(|error| failed(&measured, error))?;
            note(format_args!(
                "the weights have changed: the earlier measurement is now {}",
                aside.display()
            ));
        }
    }
    remove(&trained).and_then(|()| std::fs::rename(&draft, &trained)).map_err(|error| failed(&trained, error))
}

/// Removes a folder, where there is one.
fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A name beside this one that nothing has.
fn free(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let first = path.with_file_name(format!("{name}-earlier"));
    let others = (2..).map(|number: u32| path.with_file_name(format!("{name}-earlier-{number}")));
    std::iter::once(first.clone()).chain(others).find(|path| !path.exists()).unwrap_or(first)
}

/// Whether both files are there and hold the same.
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
