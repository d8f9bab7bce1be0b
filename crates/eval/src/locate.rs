//! Finds datasets: built in, in files, in the Hugging Face cache or in Ask-E's own cache.

use crate::dataset::name_of;
use crate::declaration::SHIPPED;
use crate::{DataError, Dataset, Declaration};
use aske_config::did_you_mean;
use aske_weights::{Cache, HubCache, RepoKind, find_dataset};
use std::path::{Path, PathBuf};

/// The paper's suite of four datasets.
const PAPER: &str = "paper";

/// Where datasets of the hub are searched.
#[derive(Clone, Debug, Default)]
pub struct SearchPaths {
    /// The Hugging Face cache.
    pub hub_cache: Option<HubCache>,
    /// Ask-E's own cache.
    pub own: Option<Cache>,
}

impl SearchPaths {
    /// The default paths: `$HF_HUB_CACHE`, `$HF_HOME/hub` or `~/.cache/huggingface/hub`, and `$ASKE_CACHE`.
    pub fn from_env() -> Self {
        Self { hub_cache: HubCache::open(), own: Cache::open().ok() }
    }

    /// The files of a dataset, if all of them are on this machine.
    pub fn find(&self, declaration: &Declaration) -> Option<Vec<PathBuf>> {
        let repo = declaration.hub.as_deref()?;
        let snapshots =
            self.hub_cache.iter().flat_map(|cache| cache.repo(RepoKind::Dataset, repo).snapshots());
        let own = self.own.iter().filter_map(|cache| find_dataset(cache, repo));
        snapshots.chain(own).find_map(|folder| files_in(&folder, declaration))
    }
}

/// The files of a declaration in a folder, in order; `None` if one is missing.
fn files_in(folder: &Path, declaration: &Declaration) -> Option<Vec<PathBuf>> {
    let chosen = choose(&declaration.files, |pattern| matching_files(folder, pattern))?;
    Some(chosen.into_iter().map(|name| folder.join(name)).collect())
}

/// Resolves file patterns with `matching`, which lists the names for one pattern; `None` if one is missing.
fn choose(files: &[String], matching: impl Fn(&str) -> Vec<String>) -> Option<Vec<String>> {
    let mut chosen = Vec::new();
    for file in files {
        let mut found = file.split('|').map(&matching).find(|found| !found.is_empty())?;
        found.sort();
        chosen.extend(found);
    }
    Some(chosen)
}

/// Selects the files of a declaration among the names in a repository; empty if one is missing.
pub fn select_files(declaration: &Declaration) -> impl Fn(&[&str]) -> Vec<String> + '_ {
    |names: &[&str]| {
        let matching = |pattern: &str| {
            let names = names.iter().filter(|name| matches(pattern, name));
            names.map(|name| (*name).to_owned()).collect()
        };
        choose(&declaration.files, matching).unwrap_or_default()
    }
}

/// Whether a name matches a pattern, in which `*` matches any characters but `/`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(tail) = name.strip_prefix(before) else { return false };
    let within = tail.find('/').unwrap_or(tail.len());
    (0..=within).any(|at| tail.is_char_boundary(at) && matches(rest, &tail[at..]))
}

/// The files in a folder that match a pattern, as paths with `/`. Only reads folders that the pattern names.
fn matching_files(folder: &Path, pattern: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for part in pattern.split('/') {
        let below = |prefix: &String| {
            if !part.contains('*') {
                return vec![format!("{prefix}{part}/")];
            }
            let entries = std::fs::read_dir(folder.join(prefix)).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            names.filter(|name| matches(part, name)).map(|name| format!("{prefix}{name}/")).collect()
        };
        found = found.iter().flat_map(below).collect();
    }
    let names = found.iter().map(|name| name.trim_end_matches('/').to_owned());
    names.filter(|name| folder.join(name).is_file()).collect()
}

/// Where a dataset is.
#[derive(Clone, Debug)]
pub enum DatasetSource {
    /// Built in.
    Shipped(Declaration),
    /// In these files.
    Files(Declaration, Vec<PathBuf>),
    /// On the hub only.
    Absent(Declaration),
}

impl DatasetSource {
    /// The declaration.
    pub fn declaration(&self) -> &Declaration {
        match self {
            Self::Shipped(declaration) | Self::Files(declaration, _) | Self::Absent(declaration) => {
                declaration
            }
        }
    }

    /// Reads the dataset.
    pub fn read(self) -> Result<Dataset, DataError> {
        match self {
            Self::Shipped(declaration) => Dataset::shipped(declaration),
            Self::Files(declaration, files) => Dataset::read(declaration, files),
            Self::Absent(declaration) => Err(not_found(&declaration)),
        }
    }
}

/// The error for a dataset that is not on this machine.
pub fn not_found(declaration: &Declaration) -> DataError {
    let (name, hub) = (&declaration.name, declaration.hub.as_deref().unwrap_or_default());
    DataError::new(
        name,
        "not on this machine",
        format!("`hf download --repo-type dataset {hub}` downloads it; or name a file: --data {name}=FILE"),
    )
}

/// Resolves a `--data` argument: `paper`, a built-in dataset, `NAME=FILE,…`, a file of problems, or a .toml declaration.
pub fn find(text: &str, paths: &SearchPaths) -> Result<Vec<DatasetSource>, DataError> {
    let known = Declaration::builtin()?;
    if text == PAPER {
        return Ok(Declaration::paper()?
            .into_iter()
            .map(|declaration| located(declaration, paths))
            .collect());
    }
    if let Some(declaration) = known.iter().find(|declaration| declaration.name == text) {
        return Ok(vec![located(declaration.clone(), paths)]);
    }
    if let Some((name, files)) = text.split_once('=')
        && let Some(declaration) = known.iter().find(|declaration| declaration.name == name)
    {
        let files = files.split(',').map(PathBuf::from).collect();
        return Ok(vec![DatasetSource::Files(declaration.clone(), files)]);
    }
    let path = Path::new(text);
    if path.extension().is_some_and(|ending| ending == "toml") {
        return declared(path, paths).map(|source| vec![source]);
    }
    if path.is_file() || path.extension().is_some() {
        return Ok(vec![DatasetSource::Files(Declaration::plain(&name_of(path)), vec![path.to_owned()])]);
    }
    let names: Vec<&str> = known.iter().map(|declaration| declaration.name.as_str()).chain([PAPER]).collect();
    let otherwise = format!("name a .jsonl, .csv, .parquet or .toml file, or one of {}", names.join(", "));
    let hint = did_you_mean(text, names.iter().copied(), otherwise);
    Err(DataError::new("--data", format!("unknown dataset `{text}`"), hint))
}

/// Locates a declared dataset.
fn located(declaration: Declaration, paths: &SearchPaths) -> DatasetSource {
    if declaration.name == SHIPPED {
        return DatasetSource::Shipped(declaration);
    }
    match paths.find(&declaration) {
        Some(files) => DatasetSource::Files(declaration, files),
        None => DatasetSource::Absent(declaration),
    }
}

/// Locates a dataset that a .toml file declares; its files are next to it or on the hub.
fn declared(path: &Path, paths: &SearchPaths) -> Result<DatasetSource, DataError> {
    let text = std::fs::read_to_string(path).map_err(|error| DataError::io(path, &error))?;
    let declaration = Declaration::parse(&text, &path.display().to_string())?;
    if declaration.hub.is_some() {
        return Ok(located(declaration, paths));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let found = files_in(listed, &declaration);
    let files = found.ok_or_else(|| {
        let what = format!("no {} next to it", declaration.files.join(", "));
        DataError::new(path.display().to_string(), what, "name files in the folder of the declaration")
    })?;
    let files = files.iter().map(|file| folder.join(file.strip_prefix(listed).unwrap_or(file))).collect();
    Ok(DatasetSource::Files(declaration, files))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_chat::Hint;

    fn put(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name, fits) in [
            ("a.csv", "a.csv", true),
            ("a.csv", "b/a.csv", false),
            ("*.parquet", "data/train-0.parquet", false),
            ("*/*.parquet", "data/train-0.parquet", true),
            ("data/train-*.parquet", "data/train-00000-of-00001.parquet", true),
            ("data/train-*.parquet", "data/test-0.parquet", false),
            ("*é*", "aéb", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn the_snapshot_of_main_comes_first_and_a_missing_part_makes_it_incomplete() {
        let cache = tempfile::tempdir().unwrap();
        let repo = cache.path().join("datasets--opencompass--AIME2025");
        put(&repo, "refs/main", "bbb\n");
        for (snapshot, file) in [
            ("aaa", "aime2025-I.jsonl"),
            ("aaa", "aime2025-II.jsonl"),
            ("bbb", "aime2025-II.jsonl"),
            ("bbb", "aime2025-I.jsonl"),
            ("bbb", "README.md"),
            ("ccc", "aime2025-I.jsonl"),
        ] {
            put(&repo, &format!("snapshots/{snapshot}/{file}"), "{\"question\": \"q\", \"answer\": 7}\n");
        }
        let paths = SearchPaths { hub_cache: Some(HubCache::at(cache.path())), own: None };
        let source = find("aime-2025", &paths).unwrap().remove(0);
        let DatasetSource::Files(_, files) = &source else { panic!("{source:?}") };
        let names: Vec<_> = files.iter().map(|file| file.strip_prefix(&repo).unwrap().to_owned()).collect();
        assert_eq!(
            names,
            ["snapshots/bbb/aime2025-I.jsonl", "snapshots/bbb/aime2025-II.jsonl"].map(PathBuf::from),
            "part I first, of the right snapshot"
        );
        let read = source.read().unwrap();
        let ids: Vec<&str> = read.problems.iter().map(|problem| problem.id.as_str()).collect();
        assert_eq!(ids, ["1", "2"], "counted over both files");
        assert!(matches!(find("math-500", &paths).unwrap()[0], DatasetSource::Absent(_)));
        assert_eq!(find("paper", &paths).unwrap().len(), 4);
    }

    #[test]
    fn a_declaration_names_files_beside_it_and_a_plain_file_is_a_dataset() {
        let folder = tempfile::tempdir().unwrap();
        put(
            folder.path(),
            "d/mine.toml",
            "name = \"mine\"\nfiles = [\"p.csv\"]\n[columns]\nproblem = \"text\"\n",
        );
        put(folder.path(), "d/p.csv", "text,answer\nWhat?,4\n");
        // A run next to the declaration is not one of its files.
        put(folder.path(), "d/stars.toml", "name = \"stars\"\nfiles = [\"*.jsonl\", \"in/*/p-*.jsonl\"]\n");
        put(folder.path(), "d/runs/eval-m/grades/standard.jsonl", "");
        for name in ["d/one.jsonl", "d/in/a/p-2.jsonl", "d/in/b/p-1.jsonl"] {
            put(folder.path(), name, &format!("{{\"question\": \"{name}\", \"answer\": \"x\"}}\n"));
        }
        put(folder.path(), "my set.jsonl", "{\"question\": \"q\", \"answer\": \"x\"}\n");
        let at = |name: &str| folder.path().join(name).display().to_string();
        let none = SearchPaths::default();
        let read = |name: &str| find(&at(name), &none).unwrap().remove(0).read().unwrap();
        let mine = read("d/mine.toml");
        assert_eq!((mine.declaration.name.as_str(), mine.problems[0].answer.as_str()), ("mine", "4"));
        let stars = read("d/stars.toml");
        let questions: Vec<&str> = stars.problems.iter().map(|problem| problem.question.as_str()).collect();
        assert_eq!(questions, ["d/one.jsonl", "d/in/a/p-2.jsonl", "d/in/b/p-1.jsonl"]);
        assert_eq!(read("my set.jsonl").declaration.name, "my-set");
        let error = find("ladderr", &none).unwrap_err();
        assert_eq!(error.hint().as_deref(), Some("did you mean `ladder`?"));
        let named = format!("aime-2025={}", at("my set.jsonl"));
        let error = find(&named, &none).unwrap().remove(0).read().unwrap_err();
        assert!(error.message.contains("not an integer from 0 to 999"), "{error}");
    }
}
