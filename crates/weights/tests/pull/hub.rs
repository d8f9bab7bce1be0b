//! Models of the hub: one file, or a repository.

use crate::server::Behaviour;
use crate::world::{World, bytes, sha256};
use aske_chat::Hint;
use aske_weights::{PullError, PullEvent};
use std::fs;
use std::time::Duration;

#[tokio::test]
async fn a_file_is_pulled_once() {
    let world = World::new().await;
    let content = bytes(300_000, 1);
    let (model, file) = world.hub_file(&content);
    assert!(world.cache.find(&model).is_none());

    let (pulled, events) = world.events(&model).await;
    let path = pulled.unwrap();
    assert_eq!(fs::read(&path).unwrap(), content);
    assert_eq!(path, world.cache.root().join("tiny/a.gguf"));
    assert_eq!(world.cache.find(&model), Some(path.clone()));
    assert_eq!(
        (events[0], *events.last().unwrap()),
        (PullEvent::Total(300_000), PullEvent::Downloaded(300_000))
    );
    assert_eq!(world.server.ranges(&file), [None]);
    assert_eq!(world.left(), ["a.gguf"]);

    let (pulled, events) = world.events(&model).await;
    assert_eq!((pulled.unwrap(), &events[..]), (path, &[PullEvent::Verifying][..]));
    assert!(world.server.requests().is_empty(), "nothing is downloaded again");
}

#[tokio::test]
async fn a_broken_connection_is_gone_on_with() {
    let world = World::new().await;
    let content = bytes(300_000, 2);
    let (model, file) = world.hub_file(&content);
    // More breaks than attempts: each brings something, so none is in vain.
    world.server.set(&file, Behaviour::Breaks { times: 5, after: 50_000 });
    let path = world.pull(&model).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), content);
    let ranges = world.server.ranges(&file);
    let expected = (0..6).map(|i| (i > 0).then(|| format!("bytes={}-", 50_000 * i)));
    assert_eq!(ranges, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn an_interrupted_pull_is_gone_on_with() {
    let world = World::new().await;
    let content = bytes(300_000, 3);
    let (model, file) = world.hub_file(&content);
    world.server.set(&file, Behaviour::Hangs { after: 100_000 });
    let part = world.staging(&model, "a.gguf.part");
    let arrived = async {
        while fs::metadata(&part).map_or(0, |part| part.len()) < 100_000 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        _ = world.pull(&model) => panic!("the server never ends"),
        () = arrived => {}
    }
    assert!(world.cache.find(&model).is_none());
    assert_eq!(world.left(), ["a.gguf.part"]);

    world.server.set(&file, Behaviour::Normal);
    world.server.requests();
    let path = world.pull(&model).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), content);
    assert_eq!(world.server.ranges(&file), [Some("bytes=100000-".to_owned())]);
    assert_eq!(world.left(), ["a.gguf"]);
}

#[tokio::test]
async fn a_server_that_cannot_go_on_begins_again() {
    let world = World::new().await;
    let content = bytes(300_000, 4);
    let (model, file) = world.hub_file(&content);
    fs::create_dir_all(world.staging(&model, "")).unwrap();
    fs::write(world.staging(&model, "a.gguf.part"), &content[..70_000]).unwrap();
    world.server.set(&file, Behaviour::WithoutRange);
    let path = world.pull(&model).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), content);
    assert_eq!(world.server.ranges(&file), [Some("bytes=70000-".to_owned())]);
}

#[tokio::test]
async fn an_old_beginning_that_does_not_fit_is_fetched_anew() {
    let world = World::new().await;
    let content = bytes(300_000, 5);
    let (model, file) = world.hub_file(&content);
    fs::create_dir_all(world.staging(&model, "")).unwrap();
    for old in [bytes(70_000, 6), bytes(300_001, 6)] {
        fs::write(world.staging(&model, "a.gguf.part"), old).unwrap();
        let path = world.pull(&model).await.unwrap();
        assert_eq!(fs::read(path).unwrap(), content);
        assert_eq!(*world.server.ranges(&file).last().unwrap(), None);
        assert!(world.cache.remove(&model).await.unwrap());
        fs::create_dir_all(world.staging(&model, "")).unwrap();
    }
}

#[tokio::test]
async fn a_truncated_file_is_never_put_in_place() {
    let world = World::new().await;
    let (model, file) = world.hub_file(&bytes(300_000, 7));
    world.server.set(&file, Behaviour::Short(120_000));
    let error = world.pull(&model).await.unwrap_err();
    assert!(matches!(error, PullError::Unreachable { .. }), "{error}");
    assert!(error.hint().unwrap().starts_with("run the same command to resume"));
    assert!(world.cache.find(&model).is_none() && !world.left().contains(&"a.gguf".to_owned()));
}

#[tokio::test]
async fn a_wrong_checksum_leaves_nothing() {
    let world = World::new().await;
    let (model, file) = world.hub_file(&bytes(300_000, 8));
    let other = bytes(300_000, 9);
    world.server.serve(&file, "application/octet-stream", other.clone());
    let error = world.pull(&model).await.unwrap_err();
    let expected = &model.file.as_ref().unwrap().sha256;
    let said = format!("a.gguf has the wrong checksum: {}, expected {expected}", sha256(&other));
    assert_eq!(error.to_string(), said);
    assert_eq!(world.left(), [""; 0]);
    assert!(!world.staging(&model, "").exists());
}

#[tokio::test]
async fn a_file_that_does_not_end_is_not_read_to_its_end() {
    let world = World::new().await;
    let (model, file) = world.hub_file(&bytes(100_000, 10));
    world.server.serve(&file, "application/octet-stream", bytes(5_000_000, 10));
    let error = world.pull(&model).await.unwrap_err();
    assert!(error.to_string().ends_with("the file is longer than expected"), "{error}");
    assert_eq!(world.left(), [""; 0]);
}

#[tokio::test]
async fn another_file_on_the_hub_is_noticed_before_it_is_downloaded() {
    let world = World::new().await;
    let (model, file) = world.hub_file(&bytes(100_000, 11));
    world.hub_file(&bytes(100_000, 12));
    let error = world.pull(&model).await.unwrap_err();
    assert!(matches!(error, PullError::HubFileChanged { .. }), "{error}");
    assert!(world.server.ranges(&file).is_empty());
}

#[tokio::test]
async fn a_busy_server_is_outlasted_and_a_dead_one_named() {
    let world = World::new().await;
    let (model, file) = world.hub_file(&bytes(100_000, 13));
    world.server.set(&file, Behaviour::Status { times: 2, status: 503 });
    world.pull(&model).await.unwrap();
    world.cache.remove(&model).await.unwrap();

    world.server.set(&file, Behaviour::Status { times: 3, status: 503 });
    let error = world.pull(&model).await.unwrap_err();
    assert!(error.to_string().ends_with("a.gguf: server responded 503 Service Unavailable"), "{error}");
    world.server.set(&file, Behaviour::Status { times: 1, status: 404 });
    let error = world.pull(&model).await.unwrap_err();
    assert!(error.to_string().ends_with("server responded 404 Not Found"), "{error}");
}

#[tokio::test]
async fn two_pulls_of_one_model_wait_for_each_other() {
    let world = World::new().await;
    let content = bytes(300_000, 14);
    let (model, file) = world.hub_file(&content);
    let (one, two) = tokio::join!(world.events(&model), world.events(&model));
    assert_eq!(one.0.unwrap(), two.0.unwrap());
    assert_eq!(two.1, [PullEvent::Waiting, PullEvent::Verifying]);
    assert_eq!(world.server.ranges(&file), [None], "it is downloaded once");
}

#[tokio::test]
async fn a_file_that_broke_in_the_cache_is_pulled_anew() {
    let world = World::new().await;
    let content = bytes(300_000, 15);
    let (model, _) = world.hub_file(&content);
    let path = world.pull(&model).await.unwrap();
    let mut broken = content.clone();
    broken[1000] ^= 1;
    fs::write(&path, broken).unwrap();
    let (pulled, events) = world.events(&model).await;
    assert_eq!(fs::read(pulled.unwrap()).unwrap(), content);
    assert_eq!(events[..2], [PullEvent::Verifying, PullEvent::Corrupt]);
}

#[tokio::test]
async fn a_repository_is_pulled_whole_and_verified() {
    let world = World::new().await;
    let (one, two) = (bytes(200_000, 16), bytes(100_000, 17));
    let model = world.hub_repository(&[
        ("config.json", b"{}"),
        ("model-1.safetensors", &one),
        ("model-2.safetensors", &two),
        ("run_me.py", b"import os"),
    ]);
    // The first pull is interrupted at the last file; complete files are not downloaded again.
    let last = format!("/owner/name/resolve/{}/model-2.safetensors", crate::world::COMMIT);
    world.server.set(&last, Behaviour::Status { times: 3, status: 500 });
    world.pull(&model).await.unwrap_err();
    assert!(world.cache.find(&model).is_none());
    world.server.requests();

    let folder = world.pull(&model).await.unwrap();
    assert_eq!(world.server.requests().len(), 2, "the listing and the last file");
    assert_eq!(folder, world.cache.root().join("tiny"));
    assert_eq!(world.left(), ["SHA256SUMS", "config.json", "model-1.safetensors", "model-2.safetensors"]);
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert!(sums.contains(&format!("{}  model-1.safetensors\n", sha256(&one))), "{sums}");
    assert!(sums.contains(&format!("{}  config.json\n", sha256(b"{}"))), "{sums}");

    // Broken afterwards, and noticed.
    fs::write(folder.join("config.json"), "[]").unwrap();
    let (pulled, events) = world.events(&model).await;
    assert_eq!(fs::read(pulled.unwrap().join("config.json")).unwrap(), b"{}");
    assert!(events.contains(&PullEvent::Corrupt));
}

#[tokio::test]
async fn a_small_file_of_a_repository_is_verified_too() {
    let world = World::new().await;
    let weights = bytes(5_000, 18);
    let model = world.hub_repository(&[("config.json", b"{}"), ("model.safetensors", &weights)]);
    let config = format!("/owner/name/resolve/{}/config.json", crate::world::COMMIT);
    world.server.serve(&config, "application/json", "[]");
    let error = world.pull(&model).await.unwrap_err();
    assert!(error.to_string().starts_with("config.json has the wrong checksum"), "{error}");
    assert_eq!(world.left(), [""; 0]);
}
