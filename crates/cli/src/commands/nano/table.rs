//! `aske nano table`: the accuracy of each network.

use super::{check_names, is_selected, pack};
use crate::arguments::NanoTable;
use crate::display::tables::{Table, table};
use crate::error::{CliError, Exit};
use crate::output::data;
use crate::runs::progress::Bar;
use crate::runtime::{Interrupt, block_on};
use aske_model::{Checkpoint, EngineOptions, Halt};
use aske_nano::{
    AccuracyTable, Family, NetworkAccuracy, SOLVERS, TAUGHT_LEVELS, checkpoint, measure_accuracy, networks,
};

pub(crate) fn run(arguments: &NanoTable) -> Result<Exit, CliError> {
    check_names(&arguments.only)?;
    let builtin = AccuracyTable::shipped().map_err(CliError::failure)?;
    let shown = if arguments.measure { measured(arguments)? } else { builtin.clone() };
    let rows = shown.rows.into_iter().filter(|row| is_selected(&arguments.only, &row.name)).collect();
    let shown = AccuracyTable { rows, ..shown };
    if arguments.json {
        data(serde_json::to_string(&shown).unwrap_or_default());
        return Ok(Exit::Done);
    }
    data(as_table(&shown, arguments.levels));
    data(summary(&shown));
    if arguments.measure && arguments.weights.is_none() {
        data(difference(&shown, &builtin));
    }
    Ok(Exit::Done)
}

fn measured(arguments: &NanoTable) -> Result<AccuracyTable, CliError> {
    let [_, suffix] = pack()?.solver_suffixes();
    let names: Vec<&str> = networks().filter(|name| is_selected(&arguments.only, name)).collect();
    let cells = Family::ALL.len() as u64 * u64::from(TAUGHT_LEVELS);
    let bar = Bar::new(names.len() as u64 * cells * u64::from(arguments.questions), "questions");
    let mut rows = Vec::new();
    for name in names {
        bar.set_message(name.to_owned());
        let loaded = match &arguments.weights {
            Some(folder) if !folder.join(name).is_dir() => continue,
            Some(folder) => Checkpoint::from_folder(&folder.join(name)).map_err(CliError::failure)?,
            None => checkpoint(name).map_err(CliError::failure)?,
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let options = EngineOptions { threads, ..EngineOptions::default() };
        let engine = loaded.start(&options).map_err(CliError::failure)?;
        let (halt, interrupt) = (Halt::default(), Interrupt::default());
        let measured = measure_accuracy(name, &engine, &suffix, arguments.questions, || bar.inc(1));
        rows.push(block_on(&halt, &interrupt, measured)?.map_err(|error| CliError::failure(error.message))?);
    }
    drop(bar);
    if rows.is_empty() {
        let folder = arguments.weights.clone().unwrap_or_default();
        return Err(CliError::usage(
            format!("{} contains none of the networks", folder.display()),
            "name a folder written by `aske nano train` or `aske nano export`",
        ));
    }
    Ok(AccuracyTable { questions: arguments.questions, rows })
}

fn as_table(shown: &AccuracyTable, levels: bool) -> Table {
    let mut header = vec!["% right".to_owned()];
    header.extend(shown.rows.iter().map(|row| row.name.clone()));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header, &(1..header.len()).collect::<Vec<_>>());
    let line = |name: String, share: &dyn Fn(&NetworkAccuracy) -> f64| {
        let shares = shown.rows.iter().map(|row| format!("{:.0}", 100.0 * share(row)));
        std::iter::once(name).chain(shares).collect::<Vec<_>>()
    };
    for family in Family::ALL {
        table.add_row(line(family.to_string(), &|row| row.family(*family, shown.questions)));
        if levels {
            for level in 0..TAUGHT_LEVELS as usize {
                let share = |row: &NetworkAccuracy| {
                    let right = row.right.get(family.index()).and_then(|levels| levels.get(level));
                    f64::from(right.copied().unwrap_or(0)) / f64::from(shown.questions.max(1))
                };
                table.add_row(line(format!("  level {}", level + 1), &share));
            }
        }
    }
    table.add_row(line("all".to_owned(), &|row| row.overall(shown.questions)));
    table
}

/// How accuracy correlates with size, and where it does not.
fn summary(shown: &AccuracyTable) -> String {
    let solvers: Vec<&NetworkAccuracy> =
        shown.rows.iter().filter(|row| SOLVERS.contains(&row.name.as_str())).collect();
    let sizes: Vec<f64> = solvers.iter().map(|row| row.parameters as f64).collect();
    let overall: Vec<f64> = solvers.iter().map(|row| row.overall(shown.questions)).collect();
    let swapped: Vec<String> =
        Family::ALL.iter().filter_map(|family| swap(&solvers, *family, shown.questions)).collect();
    if solvers.len() < 2 {
        return String::new();
    }
    let correlation = aske_stats::rank_correlation(&sizes, &overall);
    let mut lines = vec![
        format!("\nrank correlation of size and share right, {} solvers: {correlation:.2}", solvers.len()),
        format!("families in which a smaller solver is ahead by 10 points or more: {}", swapped.len()),
    ];
    lines.extend(swapped.into_iter().map(|line| format!("  {line}")));
    lines.join("\n")
}

/// The largest lead of a smaller solver over a larger one in a family.
fn swap(solvers: &[&NetworkAccuracy], family: Family, questions: u32) -> Option<String> {
    let pairs = solvers
        .iter()
        .enumerate()
        .flat_map(|(i, small)| solvers[i + 1..].iter().map(move |large| (small, large)));
    let lead = |(small, large): &(&&NetworkAccuracy, &&NetworkAccuracy)| {
        small.family(family, questions) - large.family(family, questions)
    };
    let (small, large) = pairs.max_by(|a, b| lead(a).total_cmp(&lead(b)))?;
    let shares = [small, large].map(|row| 100.0 * row.family(family, questions));
    (shares[0] - shares[1] >= 10.0).then(|| {
        format!("{family}: {} {:.0}% against {} {:.0}%", small.name, shares[0], large.name, shares[1])
    })
}

/// How a measured table differs from the built-in one.
fn difference(shown: &AccuracyTable, builtin: &AccuracyTable) -> String {
    if shown.questions != builtin.questions {
        return format!(
            "the built-in table has {} questions per cell: compare with --questions {0}",
            builtin.questions
        );
    }
    let cells = shown.rows.iter().filter_map(|row| Some((row, builtin.row(&row.name)?)));
    let differ = cells.map(|(row, other)| {
        let pairs = row.right.iter().flatten().zip(other.right.iter().flatten());
        pairs.map(|(one, two)| one.abs_diff(*two)).sum::<u32>()
    });
    format!("answers graded differently than in the built-in table: {}", differ.sum::<u32>())
}
