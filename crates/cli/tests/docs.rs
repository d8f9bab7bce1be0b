//! Documentation that names crates and files agrees with the workspace.
#![expect(clippy::unwrap_used, reason = "a test that cannot read the documentation has failed")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The crates in a workspace by the name of their folder: description, and dependencies within the workspace.
fn crates() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let folder = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        manifest.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned()
    };
    let packages = metadata["packages"].as_array().unwrap();
    let folders: BTreeMap<&str, String> =
        packages.iter().map(|package| (package["name"].as_str().unwrap(), folder(package))).collect();
    let dependencies = |package: &Value| {
        let used = package["dependencies"].as_array().unwrap().iter();
        let used = used.filter(|dependency| dependency["kind"] != "dev");
        used.filter_map(|dependency| folders.get(dependency["name"].as_str()?).cloned()).collect()
    };
    let described = |package: &Value| package["description"].as_str().unwrap_or_default().to_owned();
    packages.iter().map(|package| (folder(package), (described(package), dependencies(package)))).collect()
}

/// The texts between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_table_of_crates_agrees_with_cargo_metadata() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let section = text.split("## Crates").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut crates = crates();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [name, purpose, may_use] = cells[..] else { panic!("not three cells: {row}") };
        let name = name.trim_matches('`').trim_end_matches('/');
        let (description, used) = crates.remove(name).unwrap_or_else(|| panic!("no crate is called {name}"));
        assert!(!purpose.is_empty() && !description.is_empty(), "{name} has no description");
        let allowed: BTreeSet<String> = quoted(may_use).map(str::to_owned).collect();
        let forbidden: Vec<&String> = used.difference(&allowed).collect();
        assert!(forbidden.is_empty(), "{name} uses {forbidden:?}, which the table does not allow");
        let unused: Vec<&String> = allowed.difference(&used).collect();
        assert!(unused.is_empty(), "{name} does not use {unused:?}, which the table lists");
    }
    assert!(crates.is_empty(), "not in the table: {:?}", crates.keys());
}

#[test]
fn every_file_on_the_architecture_page_exists() {
    let text = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let folders = ["crates/", "web/", "python/", "scripts/", "docs/", "configs/", "benches/", "fuzz/"];
    let files: BTreeSet<&str> =
        quoted(&text).filter(|name| folders.iter().any(|folder| name.starts_with(folder))).collect();
    assert!(files.len() > 40, "the page names {} files", files.len());
    let missing: Vec<&&str> = files.iter().filter(|file| !root().join(file).exists()).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
