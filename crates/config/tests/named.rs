//! Models that are named by a path, an address or their provider instead of a section.
#![expect(clippy::unwrap_used, reason = "a test that cannot load its configuration has failed")]

use aske_chat::Hint;
use aske_config::{Layers, ModelSection, ProviderKind};
use std::path::Path;

/// The nano configuration with these keys and variables.
fn layers(overrides: &[&str], variables: &[(&str, &str)]) -> Layers {
    let flags: Vec<_> = overrides.iter().map(|text| Layers::parse_override(text).unwrap()).collect();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Layers::load(Some("nano"), variables, &flags).unwrap()
}

/// The name and the section that a word gets.
fn named(word: &str) -> (String, ModelSection) {
    let mut layers = layers(&[], &[]);
    let name = layers.name_model(word).unwrap();
    let section = layers.config().models[&name].clone();
    (name, section)
}

fn hint(word: &str) -> String {
    let error = layers(&[], &[]).name_model(word).unwrap_err();
    format!("{error}; {}", error.hint().unwrap_or_default())
}

fn checkpoint(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    for file in ["config.json", "model.safetensors"] {
        std::fs::write(folder.join(file), "x").unwrap();
    }
}

#[test]
fn names_of_providers_may_have_slashes_and_colons() {
    for (word, name, model, url) in [
        ("openai/gpt-5", "openai-gpt-5", "gpt-5", "https://api.openai.com/v1"),
        (
            "openrouter/meta-llama/llama-3.3-70b-instruct:free",
            "openrouter-meta-llama-llama-3.3-70b-instruct-free",
            "meta-llama/llama-3.3-70b-instruct:free",
            "https://openrouter.ai/api/v1",
        ),
        ("ollama/qwen3:0.6b", "ollama-qwen3-0.6b", "qwen3:0.6b", "http://localhost:11434/v1"),
        (
            "gemini/gemini-2.5-flash",
            "google-gemini-2.5-flash",
            "gemini-2.5-flash",
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
    ] {
        let (given, section) = named(word);
        assert_eq!((given.as_str(), section.model.as_deref()), (name, Some(model)), "{word}");
        assert_eq!(section.url.to_vec(), [url], "{word}");
        assert_eq!(section.provider, Some(ProviderKind::Openai));
        assert!(aske_config::is_valid_name(&given));
    }
    let (_, ollama) = named("ollama/qwen3:0.6b");
    assert_eq!(ollama.start.as_deref(), Some("ollama serve"));
    assert_eq!(ollama.pull.as_deref(), Some("ollama pull qwen3:0.6b"));
    assert_eq!((ollama.api_key_env, ollama.price), (None, None));
    let (_, openai) = named("openai/gpt-5");
    assert_eq!(openai.api_key_env.as_deref(), Some("OPENAI_API_KEY"));
    assert!(openai.price.is_some());
}

#[test]
fn a_configured_model_wins_then_a_path_then_an_address_then_a_provider() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small");
    checkpoint(&path);
    let path = path.to_string_lossy().into_owned();
    assert_eq!(named("nano-asker").0, "nano-asker");
    let (name, section) = named(&path);
    assert_eq!((name.as_str(), section.provider), ("small", Some(ProviderKind::Local)));
    // A section of the same name wins over the folder.
    let key = format!("models.\"{path}\".provider=fixed");
    let mut configured = layers(&[&key], &[]);
    assert_eq!(configured.name_model(&path).unwrap(), path);
    // A folder wins over a provider: tests run in the folder of the crate.
    assert!(
        hint("src/named.rs").contains("neither a GGUF file nor a checkpoint folder"),
        "{}",
        hint("src/named.rs")
    );
    let provider = layers(&["providers.src.url=http://localhost:1/v1"], &[]).name_model("src/none");
    assert_eq!(provider.unwrap(), "src-none");
    assert_eq!(named("http://localhost:8000/v1#Qwen/Qwen3-4B").0, "Qwen3-4B");
}

#[test]
fn every_reference_of_a_configuration_may_name_a_provider() {
    let layers = layers(
        &[
            "asker.model=openai/gpt-5",
            "check.model=google/gemini-2.5-flash",
            "boundary.solvers=[\"ollama/a\", \"ollama/b:1\"]",
            "equivalence.model=groq/openai/gpt-oss-120b",
            "eval.judge.model=anthropic/claude-opus-5",
            "difficulty.solver=vllm/org/m",
            "train.watch.model=deepseek/deepseek-v4-pro",
        ],
        &[],
    );
    let settings = layers.settings().unwrap();
    assert_eq!(settings.asker.model, "openai-gpt-5");
    assert_eq!(settings.check.model, "google-gemini-2.5-flash");
    let solvers: Vec<&str> = settings.solvers.iter().map(|solver| solver.model.as_str()).collect();
    assert_eq!(solvers, ["ollama-a", "ollama-b-1"]);
    assert_eq!(settings.equivalence.unwrap().0.model, "groq-openai-gpt-oss-120b");
    let config = layers.config();
    assert_eq!(config.eval.judge.model.as_deref(), Some("anthropic-claude-opus-5"));
    assert_eq!(config.difficulty.solver.as_deref(), Some("vllm-org-m"));
    assert_eq!(config.train.watch.model.as_deref(), Some("deepseek-deepseek-v4-pro"));
    let origin = layers.values().into_iter().find(|(key, ..)| key == "models.openai-gpt-5.url").unwrap().2;
    assert_eq!(origin.to_string(), "openai/gpt-5");
    assert!(!layers.values().iter().any(|(key, ..)| key.starts_with("providers.")), "the bundled ones");
    // What is stored can be read without the table of providers.
    let stored = layers.stored();
    assert!(!stored.contains_key("providers"));
    assert_eq!(stored["models"]["openai-gpt-5"]["api_key_env"].as_str(), Some("OPENAI_API_KEY"));
}

#[test]
fn a_configuration_extends_and_overrides_the_providers() {
    let mut layers = layers(
        &[
            "providers.openai.url=http://localhost:9/v1",
            "providers.openai.models.\"gpt-5\".price={ input = 1.0, output = 2.0 }",
            "providers.mine.url=http://gpu-1:8000/v1",
            "providers.mine.api_key_env=MY_KEY",
            "providers.mine.defaults.sampling.temperature=0.3",
        ],
        &[("MY_KEY", "secret")],
    );
    let name = layers.name_model("openai/gpt-5").unwrap();
    let openai = &layers.config().models[&name];
    assert_eq!(openai.url.to_vec(), ["http://localhost:9/v1"]);
    assert!((openai.price.unwrap().input - 1.0).abs() < 1e-12);
    assert_eq!(openai.price.unwrap().cached_input, Some(0.125), "keys are merged");
    let name = layers.name_model("mine/m").unwrap();
    let mine = &layers.config().models[&name];
    assert_eq!((mine.api_key_env.as_deref(), mine.sampling.temperature), (Some("MY_KEY"), Some(0.3)));
    assert!(!format!("{layers:?}").contains("secret"));
    let (flag, key, value) = Layers::parse_override("providers.mine.defaults.ulr=x").unwrap();
    let error = Layers::load(Some("nano"), std::iter::empty(), &[(flag, key, value)]).unwrap_err();
    assert!(error.to_string().contains("unknown key `ulr`"), "{error}");
}

#[test]
fn the_environment_replaces_addresses() {
    let mut layers = layers(&[], &[("OLLAMA_HOST", "0.0.0.0:9999"), ("OPENAI_BASE_URL", "http://proxy/v1/")]);
    let ollama = layers.name_model("ollama/m").unwrap();
    assert_eq!(layers.config().models[&ollama].url.to_vec(), ["http://127.0.0.1:9999/v1"]);
    let openai = layers.name_model("openai/m").unwrap();
    assert_eq!(layers.config().models[&openai].url.to_vec(), ["http://proxy/v1"]);
}

#[test]
fn two_models_never_share_a_name() {
    let layers = layers(
        &["boundary.solvers=[\"http://a:1/v1#m\", \"http://b:2/v1#m\", \"ollama/x:y\", \"ollama/x-y\"]"],
        &[],
    );
    let names = &layers.config().boundary.solvers;
    assert_eq!(names[..2], ["m-a-1", "m-b-2"]);
    assert!(names[2] != names[3] && names[2].starts_with("ollama-x-y-"), "{names:?}");
    // The name of a configured model is not taken over, and its key is not sent elsewhere.
    let mut configured = self::layers(
        &["models.m.provider=openai", "models.m.url=http://a:1/v1", "models.m.api_key_env=KEY"],
        &[],
    );
    let other = configured.name_model("http://b:2/v1#m").unwrap();
    assert_eq!((other.as_str(), configured.config().models[&other].api_key_env.as_ref()), ("m-b-2", None));
    assert_eq!(configured.name_model("http://a:1/v1#m").unwrap(), "m", "the same model");
}

#[test]
fn keys_of_a_named_model_can_be_overridden() {
    let mut layers = layers(
        &["models.openai-gpt-5.price={ input = 9.0, output = 9.0 }", "models.m.limits.attempts=1"],
        &[],
    );
    let name = layers.name_model("openai/gpt-5").unwrap();
    let section = &layers.config().models[&name];
    assert!((section.price.unwrap().input - 9.0).abs() < 1e-12);
    assert_eq!(section.model.as_deref(), Some("gpt-5"));
    let name = layers.name_model("http://a/v1#m").unwrap();
    assert_eq!((name.as_str(), layers.config().models[&name].limits.attempts), ("m", 1));
}

#[test]
fn the_short_names_of_overridden_models_stay_known() {
    let folder = tempfile::tempdir().unwrap();
    checkpoint(&folder.path().join("models/small"));
    let file = folder.path().join("my.toml");
    let text = "extends = \"nano\"\n[asker]\nmodel = \"models/small\"\n[boundary]\nsolvers = [\"ollama/a\", \"ollama/b\"]\n";
    std::fs::write(&file, text).unwrap();
    let (flag, key, value) = Layers::parse_override("boundary.solvers=[\"ollama-b\", \"ollama-a\"]").unwrap();
    let layers = Layers::load(file.to_str(), std::iter::empty(), &[(flag, key, value)]).unwrap();
    let settings = layers.settings().unwrap();
    assert_eq!(settings.solvers[0].model, "ollama-b");
    // A path is relative to its file.
    assert_eq!(settings.asker.model, "small");
}

#[test]
fn an_address_alone_is_named_later() {
    let mut layers = layers(&["asker.model=http://localhost:8000/v1"], &[]);
    assert!(layers.settings().unwrap_err().to_string().contains("which model of this server?"));
    assert_eq!(layers.bare_urls().into_iter().collect::<Vec<_>>(), ["http://localhost:8000/v1"]);
    layers.name_served("http://localhost:8000/v1", "org/m").unwrap();
    assert_eq!(layers.settings().unwrap().asker.model, "m");
    assert!(layers.bare_urls().is_empty());
    // The address of a provider has its key.
    let (_, section) = named("https://api.openai.com/v1#gpt-4.1");
    assert_eq!(section.api_key_env.as_deref(), Some("OPENAI_API_KEY"));
}

#[test]
fn what_names_no_model_is_explained() {
    for (word, expected) in [
        ("nano-askr", "unknown model `nano-askr`; did you mean `nano-asker`?"),
        ("gpt-5", "unknown model `gpt-5`; name its provider: openai/gpt-5"),
        ("claude-opus-9", "name its provider: anthropic/claude-opus-9"),
        ("qwen3:0.6b", "name its provider: ollama/qwen3:0.6b"),
        ("opnai/gpt-5", "unknown provider `opnai`, and no such folder; did you mean `openai`?"),
        (
            "meta-llama/Llama-3.2-3B",
            "openrouter/meta-llama/Llama-3.2-3B or, on your own server, vllm/meta-llama/Llama-3.2-3B",
        ),
        ("openai/", "which model of openai?; append its name: openai/NAME"),
        ("none.gguf", "none.gguf: no such file or folder"),
        ("./models/none", "./models/none: no such file or folder"),
        ("src", "src: no checkpoint in this folder"),
        (
            "http://localhost:8000/v1",
            "which model of this server?; append its name: http://localhost:8000/v1#NAME",
        ),
    ] {
        let said = hint(word);
        assert!(said.contains(expected), "{word}: {said}");
    }
    assert!(!hint("https://user:hunter2@host/v1?key=hunter2").contains("hunter2"));
}

#[test]
fn a_checkpoint_of_a_training_is_asked_like_the_model_it_was_trained_from() {
    let folder = tempfile::tempdir().unwrap();
    let seed = folder.path().join("my-train/seed-3");
    let run = "[config]\nasker.model = 'start'\n[config.models.start]\nprovider = 'local'\npath = 'builtin:start'\n\
               params = 1.0\ninstruction = 'Go.'\nsampling.temperature = 0.7\n";
    assert!(hint(&folder.path().to_string_lossy()).contains("no checkpoint"), "none yet");
    for place in ["trained", "checkpoints/step-000005"] {
        checkpoint(&seed.join(place));
    }
    std::fs::write(seed.join("run.toml"), run).unwrap();
    for (place, name) in [
        ("", "my-train-seed-3"),
        ("trained", "my-train-seed-3"),
        ("checkpoints/step-000005", "my-train-seed-3-step-000005"),
    ] {
        let (given, section) = named(&seed.join(place).to_string_lossy());
        assert_eq!((given.as_str(), section.instruction.as_deref()), (name, Some("Go.")));
        assert_eq!((section.sampling.temperature, section.params), (Some(0.7), None));
        assert!(Path::new(&section.path.unwrap()).join("model.safetensors").is_file());
    }
}
