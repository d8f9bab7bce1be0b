//! `aske nano train`: every network of the nano world, from its seed.

use super::{check_names, is_selected, pack, write};
use crate::arguments::NanoTrain;
use crate::error::{CliError, Exit};
use crate::output::{DIM, note, paint};
use aske_nano::{SessionGenerator, TeacherKind};
use aske_train::Weights;
use aske_train::nano::{NanoTokenizer, RECIPE, RecipeTrainer, tokenizer_config, train_tokenizer};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub(crate) fn run(arguments: &NanoTrain) -> Result<Exit, CliError> {
    check_names(&arguments.only)?;
    if arguments.device != "cpu" && !cfg!(feature = "torch") {
        return Err(CliError::usage(
            format!("this program cannot train on `{}`", arguments.device),
            "`--device cpu`, or build with `--features torch`: crates/train/README.md says how",
        ));
    }
    let pack = Arc::new(pack()?);
    let generator = |teacher| SessionGenerator::new(teacher, pack.clone());
    let out = &arguments.out;
    let words = out.join("tokenizer.json");
    let vocabulary = match std::fs::read_to_string(&words) {
        Ok(there) => there,
        Err(_) if arguments.new_vocabulary => {
            train_tokenizer(&generator(TeacherKind::Good)).map_err(CliError::failure)?
        }
        Err(_) => bundled_vocabulary()?,
    };
    let tokenizer = NanoTokenizer::new(vocabulary.as_bytes()).map_err(CliError::failure)?;
    write(&words, vocabulary.as_bytes())?;
    write(&out.join("tokenizer_config.json"), tokenizer_config().as_bytes())?;
    let trainer = RecipeTrainer {
        device: arguments.device.clone(),
        threads: arguments.threads,
        steps: arguments.steps,
    };
    for recipe in RECIPE.iter().filter(|recipe| is_selected(&arguments.only, recipe.name)) {
        let begun = Instant::now();
        let generator = generator(recipe.teaching.unwrap_or(TeacherKind::Good));
        let folder = out.join(recipe.name);
        let config = serde_json::to_string_pretty(&recipe.config()).unwrap_or_default();
        write(&folder.join("config.json"), format!("{config}\n").as_bytes())?;
        write(&folder.join("tokenizer.json"), vocabulary.as_bytes())?;
        write(&folder.join("tokenizer_config.json"), tokenizer_config().as_bytes())?;
        let file = folder.join("model.safetensors");
        let mut saving = Ok(());
        let weights =
            trainer.train(recipe, &tokenizer, &generator, pack.solver_suffixes(), |steps, now, policy| {
                note(format_args!(
                    "{} {}/{steps} · loss {:.4} · {}",
                    recipe.name,
                    now.step,
                    now.loss,
                    paint(
                        DIM,
                        format_args!(
                            "{:.0} tokens/s, {} s",
                            now.tokens_per_second,
                            begun.elapsed().as_secs()
                        )
                    ),
                ));
                if now.step % SAVED_EVERY == 0 {
                    saving = save(&file, &policy.weights()?);
                }
                Ok(if saving.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            });
        saving?;
        save(&file, &weights.map_err(CliError::failure)?)?;
        note(format_args!(
            "{}: {} parameters, in {}",
            recipe.name,
            recipe.config().parameters(),
            folder.display()
        ));
    }
    Ok(Exit::Done)
}

/// Steps between two saved copies of the weights, so that an interrupted training is not lost.
const SAVED_EVERY: u64 = 1_000;

fn save(file: &Path, weights: &Weights) -> Result<(), CliError> {
    write(file, &weights.to_safetensors(true).map_err(CliError::failure)?)
}

/// The vocabulary of the bundled networks.
fn bundled_vocabulary() -> Result<String, CliError> {
    let [_, _, (_, words), _] = aske_nano::files(aske_nano::CHECK).map_err(CliError::failure)?;
    Ok(String::from_utf8_lossy(words).into_owned())
}
