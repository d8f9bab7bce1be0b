//! `aske fleet job`: the plan as a file for a scheduler.

use super::{plan, show};
use crate::arguments::{FleetJob, Scheduler};
use crate::error::{CliError, Exit};
use crate::output::raw;
use aske_fleet::{KubernetesOptions, SlurmOptions, kubernetes, slurm};

pub(super) fn run(arguments: &FleetJob) -> Result<Exit, CliError> {
    let plan = plan(&arguments.planning)?;
    let text = match arguments.scheduler {
        Scheduler::Slurm => {
            let bench = std::iter::once("aske".to_owned()).chain(bench_command()).collect();
            slurm(
                &plan,
                &SlurmOptions { partition: arguments.partition.clone(), time: arguments.time.clone(), bench },
            )
        }
        Scheduler::Kubernetes => {
            let wanted =
                KubernetesOptions { image: arguments.image.clone(), namespace: arguments.namespace.clone() };
            kubernetes(&plan, &wanted).ok_or_else(|| {
                CliError::usage(
                    show::summary(&plan),
                    "deployments run all servers at once: plan more GPUs, or run `aske fleet bench` in your own pod",
                )
            })?
        }
    };
    raw(text.as_bytes());
    Ok(Exit::Done)
}

/// `fleet bench` with the arguments of this command, except those of the job itself.
fn bench_command() -> Vec<String> {
    const JOB: [&str; 4] = ["--partition", "--time", "--image", "--namespace"];
    let mut words = vec!["fleet".to_owned(), "bench".to_owned()];
    let mut given =
        std::env::args().skip(1).filter(|word| !matches!(word.as_str(), "fleet" | "job" | "slurm"));
    while let Some(word) = given.next() {
        if JOB.contains(&word.as_str()) {
            given.next();
        } else if !JOB.iter().any(|job| word.starts_with(&format!("{job}="))) {
            words.push(word);
        }
    }
    words
}
