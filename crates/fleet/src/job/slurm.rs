//! A batch script for Slurm.

use super::{SERVE, groups, indented, shell, start};
use crate::plan::Plan;
use std::fmt::Write as _;

/// What the plan does not tell.
#[derive(Clone, Debug)]
pub struct Slurm {
    /// The partition, where one must be named.
    pub partition: Option<String>,
    /// How long the job may take, as Slurm writes it.
    pub time: String,
    /// What runs the benchmark phase by phase, for a plan that has phases.
    pub bench: Vec<String>,
}

/// Processors for each GPU, and for each server on it.
const PROCESSORS: usize = 4;

/// The script: one node, all servers of the plan, until one of them ends.
pub fn slurm(plan: &Plan, options: &Slurm) -> String {
    let gpus = plan.gpus.count;
    let processors = PROCESSORS * gpus.max(plan.running(0).len());
    let mut text = format!(
        "#!/bin/bash\n#SBATCH --job-name=aske-fleet\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n\
         #SBATCH --gpus-per-node={gpus}\n#SBATCH --cpus-per-task={processors}\n#SBATCH --mem=0\n\
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
    text += "trap 'trap - TERM; kill 0' EXIT  # what was started here ends with the job\n\n";
    text += SERVE;
    for group in groups(plan) {
        let lines = start(plan, &group, |number| format!("${{gpu[{number}]}}"));
        let _ =
            write!(text, "\n(\n{}  wait -n\n) &\n", indented(&lines, 2).replace("\n  wait", " &&\n  wait"));
    }
    text += "\nwait -n || true\necho 'a server has ended, and the job with it' >&2\nexit 1\n";
    text
}
