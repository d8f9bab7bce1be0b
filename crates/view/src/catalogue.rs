//! Finds the runs below the given folders and gives each an id that does not depend on the others.

use std::collections::{BTreeMap, HashSet};
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};

/// How deep runs are looked for.
const MAX_DEPTH: usize = 8;
/// Folders that are looked into at most.
const MAX_FOLDERS: usize = 100_000;
/// Folders within a run or a training that hold no runs.
const INNER: [&str; 9] = [
    "grades",
    "damaged",
    "checkpoints",
    "trained",
    "tensorboard",
    "diversity",
    "node_modules",
    "__pycache__",
    "target",
];

/// A folder that is shown as a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The folder below the given one, which names it in links.
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// The id of the training that it belongs to.
    pub(crate) part_of: Option<String>,
    /// Whether it is a training: the folder of its seeds, without a `run.toml` of its own.
    pub(crate) training: bool,
    /// Why it cannot be shown.
    pub(crate) broken: Option<String>,
}

/// A given folder, with the beginning of the ids of its runs.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    path: PathBuf,
    label: String,
}

/// The given folders with their labels.
pub(crate) fn roots(given: &[PathBuf]) -> Vec<Root> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut shown: Vec<&PathBuf> = Vec::new();
    for path in given {
        if !paths.contains(&absolute(path)) {
            paths.push(absolute(path));
            shown.push(path);
        }
    }
    let alone = paths.len() == 1 && !is_run(&paths[0]);
    let label = |path: &PathBuf| if alone { String::new() } else { unique_end(path, &paths) };
    paths.iter().zip(shown).map(|(path, shown)| Root { path: shown.clone(), label: label(path) }).collect()
}

/// An absolute path without `.` and `..`.
fn absolute(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut normal = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

/// The names of a path's folders.
fn names(path: &Path) -> Vec<String> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    };
    path.components().filter_map(name).collect()
}

/// The shortest end of a path that is the end of no other one.
fn unique_end(path: &Path, all: &[PathBuf]) -> String {
    let own = names(path);
    let end = |count: usize| &own[own.len() - count..];
    let unique = |count: &usize| all.iter().filter(|other| names(other).ends_with(end(*count))).count() < 2;
    end((1..own.len()).find(unique).unwrap_or(own.len())).join("/")
}

/// Whether the only given folder is this run itself.
pub(crate) fn is_single(roots: &[Root], run: &Found) -> bool {
    matches!(roots, [root] if root.path == run.path)
}

fn is_run(path: &Path) -> bool {
    ["run.toml", "records.jsonl", "calls.sqlite"].into_iter().any(|file| path.join(file).exists())
}

/// Every run below the given folders, in their order and by name.
pub(crate) fn find(roots: &[Root]) -> Vec<Found> {
    let mut search = Search { found: Vec::new(), seen: HashSet::new(), folders: 0 };
    for root in roots {
        search.folder(&root.path, &root.label, None, 0);
    }
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for found in &mut search.found {
        if found.id.contains(char::REPLACEMENT_CHARACTER) || taken.contains_key(&found.id) {
            found.id = format!("{}~{}", found.id, hash(&found.path));
        }
        *taken.entry(found.id.clone()).or_default() += 1;
    }
    search.found.retain(|found| taken[&found.id] == 1);
    search.found
}

/// Six digits that name a path.
fn hash(path: &Path) -> String {
    let digits = blake3::hash(absolute(path).as_os_str().as_encoded_bytes()).to_hex();
    digits[..6].to_owned()
}

struct Search {
    found: Vec<Found>,
    /// Folders that were looked into, so that links do not lead in circles.
    seen: HashSet<PathBuf>,
    folders: usize,
}

impl Search {
    fn folder(&mut self, path: &Path, id: &str, part_of: Option<&str>, depth: usize) {
        self.folders += 1;
        if self.folders > MAX_FOLDERS
            || !self.seen.insert(path.canonicalize().unwrap_or_else(|_| path.into()))
        {
            return;
        }
        let mut add = |training, broken| {
            let id = if id.is_empty() {
                names(&absolute(path)).pop().unwrap_or_else(|| "run".to_owned())
            } else {
                id.to_owned()
            };
            let part_of = part_of.map(str::to_owned);
            self.found.push(Found { id, path: path.to_owned(), part_of, training, broken });
        };
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => return add(false, Some(format!("{}: {error}", path.display()))),
        };
        let (mut folders, mut manifest, mut remains) = (Vec::new(), false, None);
        for entry in entries.flatten() {
            let name = entry.file_name();
            let text = name.to_string_lossy().into_owned();
            match text.as_str() {
                "run.toml" => manifest = true,
                "records.jsonl" | "calls.sqlite" => remains = Some(text),
                hidden if hidden.starts_with('.') || INNER.contains(&hidden) => {}
                _ if is_folder(&entry) => folders.push((text, entry.path())),
                _ => {}
            }
        }
        let is_seed = |(name, path): &(String, PathBuf)| {
            name.strip_prefix("seed-").is_some_and(|seed| seed.parse::<u64>().is_ok())
                && path.join("run.toml").exists()
        };
        let training = !manifest && folders.iter().any(is_seed);
        if manifest || training {
            add(training, None);
        } else if let Some(file) = remains {
            let hint = "it has no run.toml; restore the file from a copy";
            add(false, Some(format!("{} holds {file}, but {hint}", path.display())));
        }
        if depth == MAX_DEPTH {
            return;
        }
        folders.sort();
        let parent = training.then(|| {
            if id.is_empty() { names(&absolute(path)).pop().unwrap_or_default() } else { id.to_owned() }
        });
        for (name, inner) in folders {
            let inner_id = if id.is_empty() { name } else { format!("{id}/{name}") };
            self.folder(&inner, &inner_id, parent.as_deref(), depth + 1);
        }
    }
}

/// Whether it is a folder, or a link to one.
fn is_folder(entry: &std::fs::DirEntry) -> bool {
    let follow = || std::fs::metadata(entry.path()).is_ok_and(|found| found.is_dir());
    entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_symlink() && follow())
}

/// The runs that a link could mean that was made by a viewer started with other folders: their paths end with it. It is
/// never one of them for certain, because the run that was meant may be gone.
pub(crate) fn candidates<'f>(all: impl Iterator<Item = &'f Found>, link: &str) -> Vec<&'f Found> {
    let wanted: Vec<&str> = link.split('/').collect();
    if wanted.iter().any(|name| ["", ".", ".."].contains(name)) {
        return Vec::new();
    }
    let ends = |found: &&Found| {
        let names = names(&absolute(&found.path));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.ends_with(&wanted)
    };
    all.filter(ends).collect()
}

/// The folders in a folder, by name.
pub(crate) fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.filter(is_folder).map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// When and how large the files of a run were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(Vec<Option<(u64, std::time::SystemTime)>>);

/// Files whose change is news.
const WATCHED: [&str; 7] = [
    "run.toml",
    "records.jsonl",
    "grades/standard.jsonl",
    "calls.sqlite",
    "calls.sqlite-wal",
    "metrics.jsonl",
    "result.json",
];

impl Stamp {
    /// Of a folder; of a training also of its seeds.
    pub(crate) fn of(found: &Found) -> Self {
        let stamp = |found: Metadata| Some((found.len(), found.modified().ok()?));
        let of_file = |path: PathBuf| std::fs::metadata(path).ok().and_then(stamp);
        let mut stamps = WATCHED.map(|file| of_file(found.path.join(file))).to_vec();
        if found.training {
            let seeds = folders(&found.path).into_iter();
            stamps.extend(seeds.map(|seed| of_file(seed.join("metrics.jsonl"))));
        }
        Self(stamps)
    }

    fn times(&self) -> impl Iterator<Item = std::time::SystemTime> {
        self.0.iter().flatten().map(|(_, time)| *time)
    }

    /// When any of the files was written last.
    pub(crate) fn written(&self) -> Option<std::time::SystemTime> {
        self.times().max()
    }

    /// The earliest time at which one of the files was written last.
    pub(crate) fn first_written(&self) -> Option<std::time::SystemTime> {
        self.times().min()
    }

    /// Whether the records and grades are the same.
    pub(crate) fn same_records(&self, other: &Self) -> bool {
        self.0.get(..3) == other.0.get(..3)
    }

    /// Whether the configuration is the same.
    pub(crate) fn same_manifest(&self, other: &Self) -> bool {
        self.0.first() == other.0.first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(folder: &Path, runs: &[&str]) {
        for run in runs {
            std::fs::create_dir_all(folder.join(run)).unwrap();
            std::fs::write(folder.join(run).join("run.toml"), "").unwrap();
        }
    }

    fn ids(given: &[PathBuf]) -> Vec<String> {
        find(&roots(given)).into_iter().map(|found| found.id).collect()
    }

    #[test]
    fn ids_are_paths_below_the_given_folder_and_stay_when_folders_come() {
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        make(&runs, &["b", "train/seed-0", "train/before"]);
        let given = [runs.clone()];
        assert_eq!(ids(&given), ["b", "train", "train/before", "train/seed-0"]);
        make(&runs, &["a", "deep/er/b"]);
        assert_eq!(ids(&given), ["a", "b", "deep/er/b", "train", "train/before", "train/seed-0"]);
        let found = find(&roots(&given));
        assert!(found[3].training && found[4].part_of.as_deref() == Some("train"));
        assert_eq!(found[1].part_of, None);
    }

    #[test]
    fn given_runs_have_their_names_and_as_many_folders_as_tell_them_apart() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), &["x/seed-0", "y/seed-0", "z"]);
        let given: Vec<PathBuf> = ["x/seed-0", "y/seed-0", "z"].map(|name| folder.path().join(name)).to_vec();
        assert_eq!(ids(&given), ["x/seed-0", "y/seed-0", "z"]);
        assert_eq!(ids(&given[2..]), ["z"]);
        assert_eq!(
            ids(&[folder.path().join("x"), folder.path().join("y")]),
            ["x", "x/seed-0", "y", "y/seed-0"]
        );
    }

    #[test]
    fn a_link_from_a_viewer_that_was_started_elsewhere_has_candidates() {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), &["runs/train/seed-0", "runs/other/seed-0", "runs/z"]);
        let all = find(&roots(&[folder.path().join("runs")]));
        let could_be = |link: &str| {
            let found = candidates(all.iter(), link);
            found.into_iter().map(|found| found.id.as_str()).collect::<Vec<_>>()
        };
        assert_eq!((could_be("runs/z"), could_be("z")), (vec!["z"], vec!["z"]));
        assert_eq!(could_be("seed-0"), ["other/seed-0", "train/seed-0"]);
        for none in ["elsewhere/z", "../z", "other/../z", "/z", "none", "", "/etc/passwd"] {
            assert!(could_be(none).is_empty(), "{none}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn loops_of_links_end_and_odd_names_are_told_apart() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        make(folder.path(), &["a", "<script>", "x~y"]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("a/loop")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("nowhere"), folder.path().join("dangling")).unwrap();
        for byte in [b"\xff", b"\xfe"] {
            let odd = folder.path().join(std::ffi::OsStr::from_bytes(byte));
            std::fs::create_dir(&odd).unwrap();
            make(&odd, &["."]);
        }
        let found = ids(&[folder.path().to_owned()]);
        assert_eq!(found.len(), 5, "{found:?}");
        let unique: HashSet<&String> = found.iter().collect();
        assert_eq!(unique.len(), 5, "{found:?}");
    }

    #[test]
    fn what_is_left_of_a_run_is_a_row_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("lost")).unwrap();
        std::fs::write(folder.path().join("lost/records.jsonl"), "").unwrap();
        let found = find(&roots(&[folder.path().to_owned()]));
        assert!(found[0].broken.as_deref().unwrap().contains("no run.toml"), "{found:?}");
    }
}
