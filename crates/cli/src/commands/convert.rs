//! `aske convert`: a GGUF file as a folder that can be trained.

use crate::arguments::Convert;
use crate::output::data;
use crate::problem::{Exit, Problem};
use aske_train::{LearnError, convert_gguf};

pub(crate) fn run(arguments: &Convert) -> Result<Exit, Problem> {
    let Convert { file, folder, half } = arguments;
    if folder.join("config.json").exists() {
        let message = format!("{} holds a checkpoint already", folder.display());
        return Err(Problem::usage(message, "name a new folder"));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Problem::usage(format!("{}: {error}", folder.display()), "name a folder that can be written")
    })?;
    convert_gguf(file, folder, *half).map_err(|error| {
        let hint = match error {
            LearnError::File { .. } => "name a GGUF file, and a folder that can be written",
            _ => "Llama, Qwen2 and Qwen3 with a byte-level tokenizer can be read",
        };
        Problem::usage(error.to_string(), hint)
    })?;
    data(folder.display());
    Ok(Exit::Done)
}
