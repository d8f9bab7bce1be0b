//! Checkpoints that are damaged are named and passed over.

use crate::common::World;
use crate::{copy, metrics, tiny, weights};
use std::path::Path;

/// Makes every number of a safetensors file this one.
fn fill(path: &Path, number: f32) {
    let mut file = std::fs::read(path).unwrap();
    let header = usize::try_from(u64::from_le_bytes(file[..8].try_into().unwrap())).unwrap();
    for bytes in file[8 + header..].as_chunks_mut::<4>().0 {
        *bytes = number.to_le_bytes();
    }
    std::fs::write(path, file).unwrap();
}

/// Cuts a file in the middle.
fn cut(path: &Path) {
    let file = std::fs::read(path).unwrap();
    std::fs::write(path, &file[..file.len() / 2]).unwrap();
}

type Damage = fn(&Path);

const DAMAGES: [(&str, Damage); 11] = [
    ("weights of NaN", |folder| fill(&folder.join("model.safetensors"), f32::NAN)),
    ("an infinite weight", |folder| {
        let path = folder.join("model.safetensors");
        let mut file = std::fs::read(&path).unwrap();
        let end = file.len();
        file[end - 4..].copy_from_slice(&f32::INFINITY.to_le_bytes());
        std::fs::write(path, file).unwrap();
    }),
    ("an optimiser of NaN", |folder| fill(&folder.join("optimizer.safetensors"), f32::NAN)),
    ("an infinite optimiser", |folder| fill(&folder.join("optimizer.safetensors"), f32::NEG_INFINITY)),
    ("half the weights", |folder| cut(&folder.join("model.safetensors"))),
    ("half the optimiser", |folder| cut(&folder.join("optimizer.safetensors"))),
    ("half the buffer", |folder| cut(&folder.join("buffer.safetensors"))),
    ("half the progress", |folder| cut(&folder.join("progress.json"))),
    ("no weights", |folder| std::fs::remove_file(folder.join("model.safetensors")).unwrap()),
    ("an empty optimiser", |folder| std::fs::write(folder.join("optimizer.safetensors"), b"").unwrap()),
    ("the step of another", |folder| {
        let text = std::fs::read_to_string(folder.join("progress.json")).unwrap();
        std::fs::write(folder.join("progress.json"), text.replace("\"step\":", "\"step\":1")).unwrap();
    }),
];

#[test]
fn a_damaged_checkpoint_is_passed_over_and_named() {
    let world = World::new();
    world.expect(0, &tiny(&["--steps", "2", "--run", "whole"]));
    for (at, (what, damage)) in DAMAGES.into_iter().enumerate() {
        // The last one; and for some also all of them, so that the training begins again.
        for all in [false, true].into_iter().take(1 + usize::from(at % 5 == 0)) {
            let run = format!("x{at}{all}");
            copy(&world.path("whole"), &world.path(&run));
            let checkpoints = world.path(&format!("{run}/seed-0/checkpoints"));
            let mut folders: Vec<_> =
                std::fs::read_dir(&checkpoints).unwrap().map(|entry| entry.unwrap().path()).collect();
            folders.sort();
            let damaged = if all { &folders[..] } else { &folders[folders.len() - 1..] };
            for folder in damaged {
                damage(folder);
            }
            std::fs::remove_dir_all(world.path(&format!("{run}/seed-0/trained"))).unwrap();
            let ran = world.expect(0, &tiny(&["--steps", "2", "--run", &run]));
            assert!(ran.stderr.contains("step-000002") && ran.stderr.contains("damaged"), "{what}: {ran}");
            assert!(weights(&world, "whole") == weights(&world, &run), "{what}: {ran}");
            // The next start finds nothing to complain about.
            let again = world.expect(0, &tiny(&["--steps", "2", "--run", &run]));
            assert!(!again.stderr.contains("damaged"), "{what}: {again}");
            assert_eq!(metrics(&world, "whole"), metrics(&world, &run), "{what}: {ran}");
            assert!(!ran.stderr.contains("last good checkpoint"), "{what}: {ran}");
        }
    }
}

#[test]
fn a_start_that_holds_nan_is_refused() {
    let world = World::new();
    world.expect(0, &tiny(&["--steps", "1", "--run", "a"]));
    let folder = world.path("a/seed-0/trained");
    fill(&folder.join("model.safetensors"), f32::NAN);
    let path = format!("models.nano-novice.path={}", folder.display());
    let ran = world.run(&tiny(&["--steps", "1", "--run", "b", "-o", &path]));
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.stderr.contains("not finite") && ran.stderr.contains("hint: "), "{ran}");
    assert!(!world.path("b/seed-0/trained").exists(), "{ran}");
    assert!(!ran.stderr.contains("last good checkpoint"), "{ran}");
}
