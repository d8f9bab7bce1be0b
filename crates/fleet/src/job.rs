//! Scheduler files for a plan: `aske fleet job`.

mod kubernetes;
mod slurm;

pub use kubernetes::{KubernetesOptions, kubernetes};
pub use slurm::{SlurmOptions, slurm};

use crate::command::arguments;
use crate::plan::{Placement, Plan};
use std::fmt::Write as _;

/// GPUs connected by shared servers, and the servers on them in their start order.
struct Group {
    gpus: Vec<usize>,
    servers: Vec<Placement>,
}

/// Groups the servers of the first phase by the GPUs they share.
fn groups(plan: &Plan) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for placed in plan.running(0) {
        let (joined, apart): (Vec<Group>, Vec<Group>) =
            groups.into_iter().partition(|group| group.gpus.iter().any(|gpu| placed.gpus.contains(gpu)));
        let mut group = Group { gpus: placed.gpus.clone(), servers: Vec::new() };
        for other in joined {
            group.gpus.extend(other.gpus);
            group.servers.extend(other.servers);
        }
        group.servers.push(placed);
        group.gpus.sort_unstable();
        group.gpus.dedup();
        groups = apart;
        groups.push(group);
    }
    groups.sort_by_key(|group| group.gpus.clone());
    groups
}

/// A shell function that starts a server and returns when it is ready.
const SERVE: &str = r#"serve() {  # NAME PORT GPUS arguments…
  local name=$1 port=$2 gpus=$3; shift 3
  CUDA_VISIBLE_DEVICES=$gpus "${VLLM:-vllm}" "$@" > "$logs/$name.log" 2>&1 &
  local pid=$!
  until python3 -c "import urllib.request as r; r.urlopen('http://127.0.0.1:$port/health', timeout=5)" 2> /dev/null; do
    kill -0 "$pid" 2> /dev/null || { echo "$name exited while starting:"; tail -n 20 "$logs/$name.log"; return 1; } >&2
    sleep "${POLL:-5}"
  done
  echo "$name is ready on port $port"
}
"#;

/// The lines that start a group's servers one after another, as a server measures free memory when it starts. They exit
/// with the first server that fails.
fn start(plan: &Plan, group: &Group, gpu: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for placed in &group.servers {
        let server = &plan.servers[placed.server];
        let gpus = placed.gpus.iter().map(|number| gpu(*number)).collect::<Vec<_>>().join(",");
        let words: Vec<String> = arguments(server, "0.0.0.0").iter().map(|word| shell(word)).collect();
        let name = shell(&server.model.name);
        let _ = writeln!(text, "serve {name} {} \"{gpus}\" {} || exit 1", server.port, words.join(" "));
    }
    text
}

/// Quotes a word for the shell.
fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Indents every line.
fn indented(text: &str, by: usize) -> String {
    text.lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{:by$}{line}\n", "") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(shell("Qwen/Qwen3-8B"), "Qwen/Qwen3-8B");
        assert_eq!(shell(r#"{"image":0}"#), r#"'{"image":0}'"#);
        assert_eq!(shell("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(shell(""), "''");
    }
}
