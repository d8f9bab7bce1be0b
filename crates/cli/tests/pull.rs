//! `aske models pull`, `catalogue` and `remove`: what is said, with which status. No test here reaches a network.

mod common;

use common::{Ran, World, finish, start};
use insta::assert_snapshot;
use std::fs;

/// The program with a cache in its folder and servers that nobody runs.
fn aske(world: &World, arguments: &[&str]) -> Ran {
    let mut command = world.command(&[&["models"], arguments].concat());
    command
        .env("ASKE_CACHE", world.path("cache"))
        .env("HF_ENDPOINT", "http://127.0.0.1:1")
        .env("HF_TOKEN", "hf_verysecret");
    finish(start(&mut command))
}

#[test]
fn the_catalogue_tells_what_is_here() {
    let world = World::new();
    let models = aske(&world, &["catalogue", "--json"]).ended(0).json();
    let models = models.as_array().cloned().unwrap_or_default();
    assert_eq!(models.len(), 21);
    assert!(models.iter().all(|model| model["path"].is_null()));
    let table = aske(&world, &["catalogue"]).ended(0).stdout;
    assert!(table.contains("Qwen/Qwen3.5-27B") && !table.contains("downloaded"), "{table}");
}

#[test]
fn names_that_are_none_are_corrected() {
    let world = World::new();
    assert_snapshot!(aske(&world, &["pull", "SmolLM2-135M"]).ended(2).stderr, @r"
    error: `SmolLM2-135M` is not in the catalogue
    hint: did you mean `smollm2-135m-instruct`? `aske models catalogue` lists all
    ");
}

#[test]
fn a_hub_that_cannot_be_reached_is_named_without_secrets() {
    let world = World::new();
    let failed = aske(&world, &["pull", "gemma-3-270m"]).ended(1);
    assert!(failed.stdout.is_empty());
    assert!(
        failed.stderr.starts_with("error: http://127.0.0.1:1/api/models/hugginllam/"),
        "{}",
        failed.stderr
    );
    assert!(failed.stderr.contains("\nhint: run the same command to resume"), "{}", failed.stderr);
    assert!(!failed.stderr.contains("verysecret"));
}

#[test]
fn a_hub_address_that_is_no_url_is_refused_without_showing_it() {
    let world = World::new();
    let mut command = world.command(&["models", "pull", "gemma-3-270m"]);
    command.env("ASKE_CACHE", world.path("cache")).env("HF_ENDPOINT", "me:verysecret");
    assert_snapshot!(finish(start(&mut command)).ended(2).stderr, @r"
    error: HF_ENDPOINT is not an http or https URL
    hint: a hub's address looks like https://example.org
    ");
}

#[test]
fn what_was_under_way_can_be_removed() -> std::io::Result<()> {
    let world = World::new();
    let work = world.path("cache").join(".pulling/gemma-3-270m");
    fs::create_dir_all(&work)?;
    fs::write(work.join("gemma-3-270m-q4_k_m.gguf.part"), "GGUF")?;
    assert_eq!(aske(&world, &["remove", "gemma-3-270m"]).ended(0).stderr, "gemma-3-270m is removed\n");
    assert!(!work.exists());
    assert_eq!(
        aske(&world, &["remove", "gemma-3-270m"]).ended(0).stderr,
        "gemma-3-270m was not downloaded\n"
    );
    Ok(())
}

/// `aske models` without a subcommand is as before, whatever the cache is called.
#[test]
fn configured_models_are_still_listed() {
    let listed = aske(&World::new(), &["--json"]).ended(0).json();
    assert!(listed.as_array().is_some_and(|models| models.iter().any(|model| model["model"] == "nano-1m")));
}
