//! `aske convert`: a GGUF file as a folder for training.

use crate::arguments::Convert;
use crate::error::{CliError, Exit};
use crate::output::data;
use aske_train::{LearnError, convert_gguf};

pub(crate) fn run(arguments: &Convert) -> Result<Exit, CliError> {
    let Convert { file, folder, half } = arguments;
    if folder.join("config.json").exists() {
        let message = format!("{} already contains a checkpoint", folder.display());
        return Err(CliError::usage(message, "name a new folder"));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        CliError::usage(format!("{}: {error}", folder.display()), "name a folder that can be written")
    })?;
    convert_gguf(file, folder, *half).map_err(|error| {
        let hint = match error {
            LearnError::File { .. } => "name a GGUF file, and a folder that can be written",
            _ => "Llama, Qwen2 and Qwen3 with a byte-level tokenizer can be read",
        };
        CliError::usage(error.to_string(), hint)
    })?;
    data(folder.display());
    Ok(Exit::Done)
}
