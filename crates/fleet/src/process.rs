//! Identifies and terminates processes.
//!
//! Process ids are reused, so a process is identified by its id and start time, and the orphans of a process group by a
//! variable in their environment.

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

/// The environment variable that identifies the processes of a fleet.
pub(crate) const TAG_VARIABLE: &str = "FLEET_SERVER";

/// How often a terminating group is polled.
const POLL: Duration = Duration::from_millis(50);

/// A process, distinct from later ones with the same id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// The process id.
    pub pid: u32,
    /// The start time, in the system's format.
    #[serde(rename = "began")]
    pub started: String,
}

impl ProcessIdentity {
    /// The running process with this id.
    pub fn of(pid: u32) -> Option<Self> {
        let started = if has_proc() { from_proc(pid) } else { from_ps(pid) };
        started.map(|started| Self { pid, started })
    }

    /// This process.
    pub(crate) fn own() -> Self {
        let pid = std::process::id();
        Self::of(pid).unwrap_or(Self { pid, started: String::new() })
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Sends SIGTERM if it still runs.
    pub fn terminate(&self) {
        if self.is_alive()
            && let Some(pid) = to_pid(self.pid)
        {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

fn to_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// The fields of `/proc/PID/stat` after the name: state, parent, group and so on.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// The start time of a process, in ticks since boot; none for a zombie.
fn from_proc(pid: u32) -> Option<String> {
    let stat = stat(pid).filter(|stat| is_running(stat))?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{} {}", boot.trim(), stat.get(19)?))
}

fn is_running(stat: &[String]) -> bool {
    stat.first().is_some_and(|state| !matches!(state.as_str(), "Z" | "X"))
}

fn from_ps(pid: u32) -> Option<String> {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=,lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let (state, started) = text.split_once(char::is_whitespace)?;
    (!state.starts_with('Z')).then(|| started.trim().to_owned())
}

/// The running members of a process group; none without `/proc`.
fn members(group: u32) -> Option<Vec<u32>> {
    let folders = std::fs::read_dir("/proc").ok()?;
    let pids = folders.flatten().filter_map(|folder| folder.file_name().to_str()?.parse().ok());
    let belongs = |pid: &u32| {
        stat(*pid)
            .is_some_and(|stat| is_running(&stat) && stat.get(2).and_then(|g| g.parse().ok()) == Some(group))
    };
    has_proc().then(|| pids.filter(belongs).collect())
}

fn is_empty(group: u32) -> bool {
    match members(group) {
        Some(members) => members.is_empty(),
        None => to_pid(group).is_none_or(|pid| test_kill_process_group(pid).is_err()),
    }
}

/// Terminates a process group: SIGTERM, and SIGKILL after `grace`.
pub(crate) async fn terminate_group(group: u32, grace: Duration) {
    for signal in [Signal::TERM, Signal::KILL] {
        if is_empty(group) {
            return;
        }
        if let Some(pid) = to_pid(group) {
            let _ = kill_process_group(pid, signal);
        }
        let began = Instant::now();
        while began.elapsed() < grace && !is_empty(group) {
            sleep(POLL).await;
        }
    }
}

/// Ends a process group when this process ends, however that happens: a shell waits for the end of a pipe that only this
/// process writes to.
pub(crate) struct KillOnExit(Child);

impl KillOnExit {
    pub(crate) const PROGRAM: &str = "sh";

    /// Watches over a process group; a group that ignores SIGTERM gets SIGKILL after `grace`.
    pub(crate) fn new(group: u32, grace: Duration) -> std::io::Result<Self> {
        let script = "trap '' HUP INT TERM\nread -r line\nkill -TERM \"-$1\" || exit\nsleep \"$2\"\nkill -KILL \"-$1\"";
        let seconds = grace.as_secs().max(1).to_string();
        Command::new(Self::PROGRAM)
            .args(["-c", script, Self::PROGRAM, &group.to_string(), &seconds])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map(Self)
    }

    /// Ends the shell that waits, as the group has ended.
    pub(crate) async fn disarm(mut self) {
        let _ = self.0.kill().await;
    }
}

/// Whether processes with this tag are left in the group of a leader that has exited.
pub(crate) fn has_orphans(group: u32, tag: &str) -> bool {
    let expected = format!("{TAG_VARIABLE}={tag}");
    members(group).unwrap_or_default().iter().any(|pid| {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == expected.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_its_beginning() {
        let own = ProcessIdentity::own();
        assert!(own.is_alive() && !own.started.is_empty());
        assert!(!ProcessIdentity { started: "another time".to_owned(), ..own }.is_alive());
    }

    #[test]
    fn one_that_has_ended_is_gone_even_before_it_is_noticed() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while ProcessIdentity::of(child.id()).is_some() && std::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(ProcessIdentity::of(child.id()), None);
        child.wait().unwrap();
    }
}
