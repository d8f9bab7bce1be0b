//! A batch script for Slurm.

use super::{SERVE, groups, indented, shell, start};
use crate::plan::Plan;
use std::fmt::Write as _;

/// Settings of a Slurm job.
#[derive(Clone, Debug)]
pub struct SlurmOptions {
    /// The partition, if one must be given.
    pub partition: Option<String>,
    /// The time limit, in Slurm's format.
    pub time: String,
    /// The command that runs the benchmark, for a plan with several phases.
    pub bench: Vec<String>,
}

/// CPUs per GPU, or per server if there are more of them.
const CPUS: usize = 4;

/// A script that runs all servers of the plan on one node until one of them exits.
pub fn slurm(plan: &Plan, options: &SlurmOptions) -> String {
    let gpus = plan.gpus.count;
    let cpus = CPUS * gpus.max(plan.running(0).len());
    let mut text = format!(
        "#!/bin/bash\n#SBATCH --job-name=aske-fleet\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n\
         #SBATCH --gpus-per-node={gpus}\n#SBATCH --cpus-per-task={cpus}\n#SBATCH --mem=0\n\
         #SBATCH --time={}\n#SBATCH --output=aske-fleet-%j.log\n",
        options.time
    );
    if let Some(partition) = &options.partition {
        let _ = writeln!(text, "#SBATCH --partition={partition}");
    }
    let _ = writeln!(text, "# {} models on {} GPUs of {} GB.", plan.servers.len(), gpus, plan.gpus.gb);
    text += "set -euo pipefail\n";
    if !plan.at_once() {
        let words: Vec<String> = options.bench.iter().map(|word| shell(word)).collect();
        let _ = writeln!(text, "# Not all fit at once: {} phases, {} loads.", plan.phases.len(), plan.loads);
        let _ = writeln!(text, "exec {}", words.join(" "));
        return text;
    }
    text += "logs=fleet/logs\nmkdir -p \"$logs\"\n";
    text += "IFS=, read -ra gpu <<< \"${CUDA_VISIBLE_DEVICES:-$(seq -s, 0 ";
    let _ = writeln!(text, "{})}}\"", gpus - 1);
    text += "trap 'trap - TERM; kill 0' EXIT  # stops the servers with the job\n\n";
    text += SERVE;
    for group in groups(plan) {
        let lines = start(plan, &group, |number| format!("${{gpu[{number}]}}"));
        let _ = write!(text, "\n(\n{}  wait -n\n) &\n", indented(&lines, 2));
    }
    text += "\nwait -n || true\necho 'a server has exited; ending the job' >&2\nexit 1\n";
    text
}
