//! A disk that is full, or would be.

use crate::world::{World, bytes};
use aske_chat::Hint;
use aske_weights::PullError;

#[tokio::test]
async fn a_pull_that_has_no_room_does_not_begin() {
    let mut world = World::new().await;
    let (model, file) = world.hub_file(&bytes(300_000, 41));
    world.options.free = |_| Ok(Some(64 << 20));
    let error = world.pull(&model).await.unwrap_err();
    assert!(error.to_string().ends_with("not enough space: 68 MB needed, 67 MB free"), "{error}");
    assert!(error.hint().unwrap().contains("ASKE_CACHE"));
    assert!(world.server.ranges(&file).is_empty());
    assert_eq!(world.left(), [""; 0]);
}

/// `/dev/full` answers every write as a full disk does.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_disk_that_becomes_full_leaves_nothing() {
    use std::{fs, os::unix::fs::symlink};

    let world = World::new().await;
    let content = bytes(300_000, 43);
    let (model, _) = world.hub_file(&content);
    fs::create_dir_all(world.staging(&model, "")).unwrap();
    symlink("/dev/full", world.staging(&model, "a.gguf.part")).unwrap();
    let error = world.pull(&model).await.unwrap_err();
    assert!(error.to_string().ends_with("a.gguf.part: the disk is full"), "{error}");
    assert!(error.hint().unwrap().contains("free some space"));
    assert_eq!(world.left(), [""; 0]);
    assert!(!world.staging(&model, "").exists());
    // With room again, it goes well.
    let path = world.pull(&model).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), content);
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_is_named() {
    let world = World::new().await;
    let (model, _) = world.hub_file(&bytes(3_000, 44));
    std::fs::write(world.cache.root(), "not a folder").unwrap();
    let error = world.pull(&model).await.unwrap_err();
    assert!(matches!(error, PullError::Io { .. }), "{error}");
    assert!(error.hint().unwrap().contains("ASKE_CACHE"));
}
