//! `aske nano table`: how often each network is right.

use super::{failed, known, pack};
use crate::arguments::NanoTable;
use crate::live::{Interrupt, block_on};
use crate::output::data;
use crate::problem::{Exit, Problem};
use crate::tables::table;
use aske_model::{Checkpoint, EngineOptions, Halt};
use aske_nano::{Family, Row, SOLVERS, TAUGHT_LEVELS, Table, checkpoint, measure, networks};
use indicatif::{ProgressBar, ProgressStyle};

pub(crate) fn run(arguments: &NanoTable) -> Result<Exit, Problem> {
    known(&arguments.only)?;
    let shipped = Table::shipped().map_err(|error| failed(&error))?;
    let shown = if arguments.measure { measured(arguments)? } else { shipped.clone() };
    let rows = shown.rows.into_iter().filter(|row| wanted(arguments, &row.name)).collect();
    let shown = Table { rows, ..shown };
    if arguments.json {
        data(serde_json::to_string(&shown).unwrap_or_default());
        return Ok(Exit::Done);
    }
    data(as_table(&shown, arguments.levels));
    data(summary(&shown));
    if arguments.measure && arguments.weights.is_none() {
        data(difference(&shown, &shipped));
    }
    Ok(Exit::Done)
}

fn wanted(arguments: &NanoTable, name: &str) -> bool {
    arguments.only.is_empty() || arguments.only.iter().any(|wanted| wanted == name)
}

fn measured(arguments: &NanoTable) -> Result<Table, Problem> {
    let [_, suffix] = pack()?.solver_suffixes();
    let names: Vec<&str> = networks().filter(|name| wanted(arguments, name)).collect();
    let cells = Family::ALL.len() as u64 * u64::from(TAUGHT_LEVELS);
    let bar = ProgressBar::new(names.len() as u64 * cells * u64::from(arguments.questions));
    if let Ok(style) =
        ProgressStyle::with_template("{bar:28.green/dim} {human_pos}/{human_len} questions · {msg}")
    {
        bar.set_style(style.progress_chars("━━─"));
    }
    let mut rows = Vec::new();
    for name in names {
        bar.set_message(name.to_owned());
        let loaded = match &arguments.weights {
            Some(folder) if !folder.join(name).is_dir() => continue,
            Some(folder) => Checkpoint::from_folder(&folder.join(name)).map_err(|error| failed(&error))?,
            None => checkpoint(name).map_err(|error| failed(&error))?,
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let options = EngineOptions { threads, ..EngineOptions::default() };
        let engine = loaded.start(&options).map_err(|error| failed(&error))?;
        let (halt, interrupt) = (Halt::default(), Interrupt::default());
        let measured = measure(name, &engine, &suffix, arguments.questions, || bar.inc(1));
        rows.push(block_on(&halt, &interrupt, measured)?.map_err(|fault| failed(&fault.message))?);
    }
    bar.finish_and_clear();
    if rows.is_empty() {
        let folder = arguments.weights.clone().unwrap_or_default();
        return Err(Problem::usage(
            format!("{} holds none of the networks", folder.display()),
            "name a folder that `aske nano train` or `aske nano export` wrote",
        ));
    }
    Ok(Table { questions: arguments.questions, rows })
}

fn as_table(shown: &Table, levels: bool) -> comfy_table::Table {
    let mut header = vec!["% right".to_owned()];
    header.extend(shown.rows.iter().map(|row| row.name.clone()));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table(&header, &(1..header.len()).collect::<Vec<_>>());
    let line = |name: String, share: &dyn Fn(&Row) -> f64| {
        let shares = shown.rows.iter().map(|row| format!("{:.0}", 100.0 * share(row)));
        std::iter::once(name).chain(shares).collect::<Vec<_>>()
    };
    for family in Family::ALL {
        table.add_row(line(family.to_string(), &|row| row.family(*family, shown.questions)));
        if levels {
            for level in 0..TAUGHT_LEVELS as usize {
                let share = |row: &Row| {
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

/// How ability follows size, and where it does not.
fn summary(shown: &Table) -> String {
    let solvers: Vec<&Row> = shown.rows.iter().filter(|row| SOLVERS.contains(&row.name.as_str())).collect();
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
fn swap(solvers: &[&Row], family: Family, questions: u32) -> Option<String> {
    let pairs = solvers
        .iter()
        .enumerate()
        .flat_map(|(i, small)| solvers[i + 1..].iter().map(move |large| (small, large)));
    let lead =
        |(small, large): &(&&Row, &&Row)| small.family(family, questions) - large.family(family, questions);
    let (small, large) = pairs.max_by(|a, b| lead(a).total_cmp(&lead(b)))?;
    let shares = [small, large].map(|row| 100.0 * row.family(family, questions));
    (shares[0] - shares[1] >= 10.0).then(|| {
        format!("{family}: {} {:.0}% against {} {:.0}%", small.name, shares[0], large.name, shares[1])
    })
}

/// How far a measured table is from the one that ships.
fn difference(shown: &Table, shipped: &Table) -> String {
    if shown.questions != shipped.questions {
        return format!(
            "the table that ships has {} questions a cell: --questions {0} compares",
            shipped.questions
        );
    }
    let cells = shown.rows.iter().filter_map(|row| Some((row, shipped.row(&row.name)?)));
    let differ = cells.map(|(row, other)| {
        let pairs = row.right.iter().flatten().zip(other.right.iter().flatten());
        pairs.map(|(one, two)| one.abs_diff(*two)).sum::<u32>()
    });
    format!("answers graded otherwise than in the table that ships: {}", differ.sum::<u32>())
}
