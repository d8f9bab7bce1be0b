//! How fast a run's log is read: `scan FOLDER [ROUNDS]`.
#![expect(clippy::print_stdout, reason = "a program that prints what it measured")]

use aske_evidence::Run;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a run folder")?);
    let rounds: u32 = arguments.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let bytes = std::fs::metadata(folder.join("records.jsonl"))?.len();
    let mut seconds: Vec<f64> = Vec::new();
    let mut sessions = 0;
    for _ in 0..rounds.max(1) {
        let begun = Instant::now();
        sessions = Run::read(&folder, None)?.sessions.len();
        seconds.push(begun.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let median = seconds[seconds.len() / 2];
    let rate = bytes as f64 / 1e6 / median;
    println!(
        "{sessions} sessions, {:.1} MB, median {:.0} ms, {rate:.0} MB/s",
        bytes as f64 / 1e6,
        1e3 * median
    );
    Ok(())
}
