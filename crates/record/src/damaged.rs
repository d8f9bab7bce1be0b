//! Moves damaged lines of a run folder into separate files, so that the rest can be read.

use crate::run::{graders, lock};
use crate::{GradeLine, LineSpan, Manifest, Record, RunError, files, read_draws, scan_lines};
use aske_chat::plain_parse_error;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tracing::warn;

/// The folder in a run folder that damaged lines are moved to.
const DAMAGED: &str = "damaged";

/// Damaged lines that were moved out of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedLines {
    /// The file they were in.
    pub file: PathBuf,
    /// Where they are now.
    pub kept: PathBuf,
    /// Number of lines.
    pub lines: usize,
}

/// Moves every line of `records.jsonl` and `grades/*.jsonl` that cannot be read into a file under `damaged/`.
///
/// The lines are on the disk there before the file without them takes the old one's place, so a crash at any moment
/// loses none. A last line that only lacks its end is kept. Refuses a folder that another process writes to.
pub fn set_aside(folder: &Path) -> Result<Vec<DamagedLines>, RunError> {
    Manifest::require(folder)?;
    let _lock = lock(folder)?;
    // Draws cannot be rebuilt: a damaged one is an error.
    read_draws(folder)?;
    let mut moved = Vec::new();
    moved.extend(clean::<Record>(folder, Path::new("records.jsonl"))?);
    for name in graders(folder)?.keys() {
        moved.extend(clean::<GradeLine>(folder, &Path::new("grades").join(format!("{name}.jsonl")))?);
    }
    Ok(moved)
}

fn clean<T: DeserializeOwned>(folder: &Path, name: &Path) -> Result<Option<DamagedLines>, RunError> {
    let path = folder.join(name);
    let Some(mut file) = files::open(&path)? else { return Ok(None) };
    let read = |line: &[u8], place| Ok(parse::<T>(line).is_err().then_some(place));
    let (found, end) = scan_lines(&path, 0, read)?;
    let mut damaged: Vec<LineSpan> = found.into_iter().flatten().collect();
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(end)).and_then(|_| file.read_to_end(&mut tail)).map_err(RunError::io(&path))?;
    let whole = parse::<T>(&tail).is_ok();
    if !whole && !tail.trim_ascii().is_empty() {
        damaged.push(LineSpan { offset: end, length: tail.len() });
    }
    if damaged.is_empty() && tail.is_empty() {
        return Ok(None);
    }
    let kept = folder.join(DAMAGED).join(name);
    keep(&path, &kept, &damaged)?;
    rewrite(&path, &damaged, whole)?;
    let lines = damaged.len();
    if lines > 0 {
        warn!(file = %path.display(), lines, kept = %kept.display(), "set damaged lines aside");
    }
    Ok((lines > 0).then_some(DamagedLines { file: path, kept, lines }))
}

/// Adds the lines at these places to a file; one that is there already was kept before a crash.
fn keep(from: &Path, into: &Path, places: &[LineSpan]) -> Result<(), RunError> {
    if places.is_empty() {
        return Ok(());
    }
    if let Some(folder) = into.parent() {
        std::fs::create_dir_all(folder).map_err(RunError::io(folder))?;
    }
    let mut file = files::open_with(into, OpenOptions::new().create(true).append(true).read(true))?;
    let mut before = Vec::new();
    file.read_to_end(&mut before).map_err(RunError::io(into))?;
    let known: HashSet<&[u8]> = before.split(|byte| *byte == b'\n').collect();
    let mut new = Vec::new();
    if !before.is_empty() && before.last() != Some(&b'\n') {
        new.push(b'\n');
    }
    for place in places {
        let line = crate::read_line_at(from, *place)?;
        if !known.contains(line.as_slice()) {
            new.extend_from_slice(&line);
            new.push(b'\n');
        }
    }
    file.write_all(&new).and_then(|()| file.sync_all()).map_err(RunError::io(into))
}

/// Rewrites the file without the lines at these positions, and replaces the old one atomically.
fn rewrite(path: &Path, without: &[LineSpan], end_missing: bool) -> Result<(), RunError> {
    let path = &std::fs::canonicalize(path).map_err(RunError::io(path))?;
    let fresh = path.with_extension("jsonl.new");
    let write = || {
        let mut old = File::open(path)?;
        let new = File::create(&fresh)?;
        new.set_permissions(old.metadata()?.permissions())?;
        let (mut new, mut at) = (BufWriter::new(new), 0);
        for place in without {
            std::io::copy(&mut (&old).take(place.offset - at), &mut new)?;
            at = place.offset + place.length as u64 + 1;
            old.seek(SeekFrom::Start(at))?;
        }
        std::io::copy(&mut old, &mut new)?;
        if end_missing {
            new.write_all(b"\n")?;
        }
        new.into_inner()?.sync_all()?;
        std::fs::rename(&fresh, path)?;
        // The new name is on the disk too, where the system can say so.
        path.parent().map_or(Ok(()), |folder| File::open(folder).and_then(|folder| folder.sync_all()))
    };
    write().map_err(RunError::io(path))
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    serde_json::from_slice(line).map_err(plain_parse_error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, RunDir};
    use aske_session::{Grade, GradingRules, Outcome};

    fn grade(record: &str) -> String {
        let grade = Grade::new(Outcome::TooEasy, None);
        serde_json::to_string(&GradeLine::new(record.to_owned(), grade, GradingRules::default())).unwrap()
    }

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let manifest = Manifest::new("0", Identity::default(), toml::Table::new());
        drop(RunDir::open(folder.path(), &manifest).unwrap());
        folder
    }

    #[test]
    fn what_cannot_be_read_is_moved_byte_for_byte_and_the_rest_stays() {
        let folder = folder();
        let path = folder.path().join("grades/standard.jsonl");
        let [a, b, c] = ["a:b/0", "a:b/1", "a:b/2"].map(grade);
        let bad: [&[u8]; 3] = [b"{\"schema\":1,\xff", b"\0\0\0", b"{\"schema\": 1, \"rec"];
        let joined = |parts: &[&[u8]]| parts.join(&b'\n');
        std::fs::write(&path, joined(&[a.as_bytes(), bad[0], b.as_bytes(), bad[1], c.as_bytes(), bad[2]]))
            .unwrap();
        let moved = set_aside(folder.path()).unwrap();
        assert_eq!(moved.len(), 1);
        assert_eq!((moved[0].lines, &moved[0].file), (3, &path));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{a}\n{b}\n{c}\n"));
        let kept = [joined(&bad), b"\n".to_vec()].concat();
        assert_eq!(std::fs::read(&moved[0].kept).unwrap(), kept);
        assert!(set_aside(folder.path()).unwrap().is_empty(), "nothing is left to do");
        // A crash after the lines were kept and before the file was written anew: they are kept once.
        std::fs::write(&path, joined(&[bad[0], a.as_bytes(), b"again\n"])).unwrap();
        set_aside(folder.path()).unwrap();
        assert_eq!(std::fs::read(&moved[0].kept).unwrap(), [kept.as_slice(), b"again\n"].concat());
    }

    #[test]
    fn a_last_line_that_only_lacks_its_end_stays() {
        let folder = folder();
        let path = folder.path().join("grades/standard.jsonl");
        let [a, b] = ["a:b/0", "a:b/1"].map(grade);
        std::fs::write(&path, format!("{a}\n{b}")).unwrap();
        assert!(set_aside(folder.path()).unwrap().is_empty());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{a}\n{b}\n"));
    }
}
