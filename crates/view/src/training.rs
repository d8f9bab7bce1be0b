//! The folder of a training: its seeds with their metrics, and the table of measurements before and after.

use crate::dialogue;
use aske_bench::{Group, PairOrder, PairSchedule, Selection, selected_pairs};
use aske_config::TrainSection;
use aske_evidence::Run;
use aske_record::Manifest;
use aske_train::reinforce::{StepMetrics, read_metrics};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Points of a curve at most; of longer trainings every n-th step is sent.
const MAX_POINTS: usize = 1000;
/// Seeds that are shown at most.
const MAX_SEEDS: usize = 64;
/// Bytes of the longest files that are read.
const MAX_METRICS: u64 = 64 << 20;
const MAX_RESULT: u64 = 4 << 20;
/// The last step whose rollouts can be listed.
const MAX_STEP: u64 = 1_000_000;

/// A seed of a training.
pub(crate) struct Seed {
    pub(crate) number: u64,
    pub(crate) path: PathBuf,
}

/// The seeds in the folder of a training, by number.
pub(crate) fn seeds(root: &Path) -> Vec<Seed> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut seeds: Vec<Seed> = entries
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.strip_prefix("seed-")?.parse().ok()?;
            entry.path().join("run.toml").is_file().then(|| Seed { number, path: entry.path() })
        })
        .collect();
    seeds.sort_by_key(|seed| seed.number);
    seeds.truncate(MAX_SEEDS);
    seeds
}

/// The curves of a seed: a list of values for every metric, and what could not be read.
pub(crate) fn curves(seed: &Seed) -> Value {
    let (mut steps, trouble) = match metrics(&seed.path) {
        Ok(read) => read,
        Err(trouble) => (Vec::new(), Some(trouble)),
    };
    let section = section(&seed.path);
    let last = steps.last().map(|line| line.step);
    let every = steps.len().div_ceil(MAX_POINTS).max(1);
    let count = steps.len();
    let mut place = 0..count;
    steps.retain(|_| place.next().is_some_and(|at| at.is_multiple_of(every) || at + 1 == count));
    json!({
        "seed": seed.number,
        "step": last,
        "planned": section.as_ref().ok().map(|section| section.steps),
        "columns": columns(&steps),
        // Every n-th step is in the columns.
        "every": every,
        "limits": section.as_ref().ok().map(limits),
        "trouble": trouble.or(section.err()),
    })
}

/// The values of every metric by step.
fn columns(steps: &[StepMetrics]) -> Map<String, Value> {
    let mut columns: Map<String, Value> = Map::new();
    for step in steps {
        let Ok(Value::Object(step)) = serde_json::to_value(step) else { continue };
        for (name, value) in step {
            let column = columns.entry(name).or_insert_with(|| json!([]));
            if let Value::Array(values) = column {
                values.push(value);
            }
        }
    }
    columns
}

/// The limits of the watch by metric, without those that are off.
fn limits(section: &TrainSection) -> Value {
    let watch = &section.watch;
    let limits = [
        ("distinct", watch.min_distinct),
        ("valid", watch.min_valid),
        ("agreement", watch.min_agreement),
        ("truth", watch.min_agreement),
        ("entropy", watch.min_entropy),
    ];
    let on = limits.into_iter().filter(|(_, limit)| *limit > 0.0);
    on.map(|(name, limit)| (name.to_owned(), json!(limit))).collect::<Map<String, Value>>().into()
}

fn section(seed: &Path) -> Result<TrainSection, String> {
    let manifest = Manifest::require(seed).map_err(|error| error.to_string())?;
    let layers = dialogue::layers(manifest.config, &seed.join("run.toml"))?;
    Ok(layers.config().train.clone())
}

/// The metrics of a seed, and why the rest of the file could not be read.
fn metrics(seed: &Path) -> Result<(Vec<StepMetrics>, Option<String>), String> {
    let path = seed.join("metrics.jsonl");
    check(&path, MAX_METRICS)?;
    let steps = read_metrics(seed).map_err(|error| error.to_string())?;
    let lines = lines(&path);
    let trouble = (lines > steps.len()).then(|| {
        let number = steps.len() + 1;
        format!("line {number} of {lines} in {} cannot be read: the curves end before it", path.display())
    });
    Ok((steps, trouble))
}

/// Complete lines of a file.
fn lines(path: &Path) -> usize {
    let Ok(file) = File::open(path) else { return 0 };
    let mut reader = BufReader::new(file.take(MAX_METRICS));
    let (mut lines, mut line) = (0, Vec::new());
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return lines,
            Ok(_) => lines += usize::from(line.ends_with(b"\n")),
        }
    }
}

/// Refuses what is no file, which could block, or too long a one. A missing file is none.
fn check(path: &Path, most: u64) -> Result<(), String> {
    match std::fs::metadata(path) {
        Ok(file) if !file.is_file() => Err(format!("{} is not a file", path.display())),
        Ok(file) if file.len() > most => Err(format!("{} is longer than {} MB", path.display(), most >> 20)),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// The table of measurements that `aske train` has written, if there is one.
pub(crate) fn result(root: &Path) -> Value {
    let path = root.join("result.json");
    if check(&path, MAX_RESULT).is_err() {
        return Value::Null;
    }
    let read = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    read.filter(Value::is_array).unwrap_or_default()
}

/// The planned sessions of a step, counted from 1.
pub(crate) fn groups(run: &Run, step: u64) -> Result<Vec<Group>, String> {
    let layers = dialogue::layers(run.manifest.config.clone(), &run.path.join("run.toml"))?;
    let section = &layers.config().train;
    section.check().map_err(|error| error.to_string())?;
    if step == 0 || step > MAX_STEP.min(section.steps) {
        return Err(format!("there is no step {step} in this training of {} steps", section.steps));
    }
    let settings = dialogue::settings_of(&layers)?;
    let pairs = selected_pairs(&settings, &Selection::default()).map_err(|error| error.to_string())?;
    let order = match run.manifest.identity.0.get("train.pairs") {
        None => PairOrder::Shuffled,
        Some(name) => PairOrder::from_name(name)
            .ok_or_else(|| format!("this version does not know the order of pairs {name:?}"))?,
    };
    let schedule = PairSchedule::new(pairs, settings.run.seed, section.groups, section.group_size);
    Ok(schedule.with_order(order).step(step - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(metrics: &str) -> (tempfile::TempDir, Seed) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seed-3");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("metrics.jsonl"), metrics).unwrap();
        (folder, Seed { number: 3, path })
    }

    #[test]
    fn a_damaged_line_ends_the_curves_and_is_named() {
        let (_folder, seed) =
            seed("{\"step\":1,\"reward\":0.5}\n{\"step\":2,\"reward\":null}\n{\"step\":3}\n");
        let found = curves(&seed);
        assert_eq!(found["columns"]["reward"], json!([0.5]));
        assert!(found["trouble"].as_str().unwrap().starts_with("line 2 of 3 in"), "{found}");
    }

    #[test]
    fn a_line_that_is_being_written_is_no_damage() {
        let (_folder, seed) = seed("{\"step\":1}\n{\"step\":2,\"rew");
        let (steps, trouble) = metrics(&seed.path).unwrap();
        assert_eq!((steps.len(), trouble), (1, None));
    }

    #[test]
    fn a_long_training_is_thinned_and_keeps_its_last_step() {
        let lines = (1..=2501).map(|step| format!("{{\"step\":{step}}}\n")).collect::<Vec<_>>().concat();
        let (_folder, seed) = seed(&lines);
        let found = curves(&seed);
        let steps = found["columns"]["step"].as_array().unwrap();
        assert!(steps.len() <= MAX_POINTS + 1, "{}", steps.len());
        assert_eq!(
            (&found["every"], steps[1].as_u64(), steps.last().unwrap()),
            (&json!(3), Some(4), &json!(2501))
        );
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        let (_folder, seed) = seed("");
        std::fs::remove_file(seed.path.join("metrics.jsonl")).unwrap();
        std::fs::create_dir(seed.path.join("metrics.jsonl")).unwrap();
        assert!(metrics(&seed.path).unwrap_err().ends_with("is not a file"));
    }
}
