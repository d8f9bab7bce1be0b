//! `aske fleet job`: the plan as a file for a scheduler.

use super::{plan, show};
use crate::arguments::{FleetJob, Scheduler};
use crate::output::raw;
use crate::problem::{Exit, Problem};
use aske_fleet::{KubernetesOptions, SlurmOptions, kubernetes, slurm};

pub(super) fn run(arguments: &FleetJob) -> Result<Exit, Problem> {
    let plan = plan(&arguments.planning)?;
    let text = match arguments.scheduler {
        Scheduler::Slurm => {
            let bench = std::iter::once("aske".to_owned()).chain(bench()).collect();
            slurm(
                &plan,
                &SlurmOptions { partition: arguments.partition.clone(), time: arguments.time.clone(), bench },
            )
        }
        Scheduler::Kubernetes => {
            let wanted =
                KubernetesOptions { image: arguments.image.clone(), namespace: arguments.namespace.clone() };
            kubernetes(&plan, &wanted).ok_or_else(|| {
                Problem::usage(
                    show::summary(&plan),
                    "deployments run all servers at once: plan more GPUs, or run `aske fleet bench` in a pod of yours",
                )
            })?
        }
    };
    raw(text.as_bytes());
    Ok(Exit::Done)
}

/// `fleet bench` with the arguments that this command was given, less those of the job itself.
fn bench() -> Vec<String> {
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
