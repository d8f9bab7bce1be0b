//! `page RUN… > report.html`: writes the report on some runs, and the time of each step to stderr.
#![expect(clippy::print_stderr, reason = "an example that prints timings")]

use std::io::Write;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let runs = std::env::args_os()
        .skip(1)
        .map(|path| aske_evidence::Run::read(Path::new(&path), None))
        .collect::<Result<Vec<_>, _>>()?;
    eprintln!("reading   {:>9.2?}", start.elapsed());
    let start = Instant::now();
    let evidence = aske_evidence::evidence(&runs);
    eprintln!("evidence  {:>9.2?}", start.elapsed());
    let start = Instant::now();
    let page = aske_report::page(&evidence, &runs)?;
    eprintln!("page      {:>9.2?}, {} bytes", start.elapsed(), page.len());
    std::io::stdout().write_all(page.as_bytes())?;
    Ok(())
}
