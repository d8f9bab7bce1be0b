//! Datasets from the hub.

use crate::server::Behaviour;
use crate::world::{COMMIT, World, bytes};
use aske_weights::{PullError, find_dataset, pull_dataset};
use std::fs;
use std::path::PathBuf;

async fn pulled(world: &World) -> Result<PathBuf, PullError> {
    ending(world, ".parquet").await
}

async fn ending(world: &World, ending: &str) -> Result<PathBuf, PullError> {
    let fitting = |names: &[&str]| {
        names.iter().filter(|name| name.ends_with(ending)).map(|name| (*name).to_owned()).collect()
    };
    pull_dataset("owner/name", fitting, &format!("*{ending}"), &world.cache, &world.options, &|_| {}).await
}

#[tokio::test]
async fn the_chosen_files_are_pulled_once_into_their_folders_and_no_name_leads_outside() {
    let world = World::new().await;
    let (one, two) = (bytes(200_000, 31), bytes(100_000, 32));
    let files: [(&str, &[u8]); 4] =
        [("README.md", b"#"), ("data/a.parquet", &one), ("data/b.parquet", &two), ("../c.parquet", b"x")];
    world.offer_files("datasets", "/datasets", &files);
    assert!(find_dataset(&world.cache, "owner/name").is_none());
    // Interrupted at the second file: nothing is in place, and complete files are not downloaded again.
    let second = format!("/datasets/owner/name/resolve/{COMMIT}/data/b.parquet");
    world.server.set(&second, Behaviour::Status { times: 3, status: 500 });
    pulled(&world).await.unwrap_err();
    assert!(find_dataset(&world.cache, "owner/name").is_none());
    world.server.requests();

    let folder = pulled(&world).await.unwrap();
    assert_eq!(world.server.requests().len(), 2, "the listing and the second file");
    assert_eq!(fs::read(folder.join("data/a.parquet")).unwrap(), one);
    assert_eq!(fs::read(folder.join("data/b.parquet")).unwrap(), two);
    assert_eq!(find_dataset(&world.cache, "owner/name"), Some(folder.clone()));
    assert!(!folder.join("../c.parquet").exists());
    assert_eq!(pulled(&world).await.unwrap(), folder);
    assert!(world.server.requests().is_empty(), "nothing is downloaded again");
    // Another declaration wants another file of the same repository: it comes beside the others.
    assert_eq!(ending(&world, ".md").await.unwrap(), folder);
    assert_eq!(world.server.requests().len(), 2, "the listing and the file");
    for name in ["README.md", "data/a.parquet", "data/b.parquet"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
}

#[tokio::test]
async fn a_repository_without_such_files_and_a_wrong_checksum_are_named() {
    let world = World::new().await;
    world.offer_files("datasets", "/datasets", &[("README.md", b"#")]);
    let error = pulled(&world).await.unwrap_err();
    assert!(error.to_string().ends_with("owner/name has no *.parquet"), "{error}");
    world.offer_files("datasets", "/datasets", &[("a.parquet", b"abc")]);
    let file = format!("/datasets/owner/name/resolve/{COMMIT}/a.parquet");
    world.server.serve(&file, "application/octet-stream", "abd");
    let error = pulled(&world).await.unwrap_err();
    assert!(error.to_string().starts_with("a.parquet has the wrong checksum"), "{error}");
}
