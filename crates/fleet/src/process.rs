//! Processes: which they are, and how they end.
//!
//! A number alone does not name a process, because numbers come back. A process is known by its number and the moment it
//! began; a group of processes by its leader, or by the mark in the environment of those it left behind.

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The environment variable that marks every process of a fleet.
pub(crate) const MARK: &str = "FLEET_SERVER";

/// How often a group is looked at while it ends.
const LOOK: Duration = Duration::from_millis(50);

/// A process, and no other that gets its number later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number.
    pub pid: u32,
    /// When it began, in the system's own words.
    pub began: String,
}

impl Identity {
    /// The living process with this number.
    pub fn of(pid: u32) -> Option<Self> {
        let began = if has_proc() { from_proc(pid) } else { from_ps(pid) };
        began.map(|began| Self { pid, began })
    }

    /// The process of this program.
    pub(crate) fn own() -> Self {
        let pid = std::process::id();
        Self::of(pid).unwrap_or(Self { pid, began: String::new() })
    }

    /// It still runs.
    pub fn lives(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Asks it to end, and nobody else.
    pub fn ask_to_end(&self) {
        if self.lives()
            && let Some(pid) = number(self.pid)
        {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// State, parent, group and so on of a process: what follows its name in `/proc/PID/stat`.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// The moment a process began, in ticks since the machine did; nothing for one that has ended and waits to be noticed.
fn from_proc(pid: u32) -> Option<String> {
    let stat = stat(pid).filter(|stat| lives(stat))?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{} {}", boot.trim(), stat.get(19)?))
}

fn lives(stat: &[String]) -> bool {
    stat.first().is_some_and(|state| !matches!(state.as_str(), "Z" | "X"))
}

fn from_ps(pid: u32) -> Option<String> {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=,lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let (state, began) = text.split_once(char::is_whitespace)?;
    (!state.starts_with('Z')).then(|| began.trim().to_owned())
}

/// The living members of a group; nothing where the system does not tell.
fn members(group: u32) -> Option<Vec<u32>> {
    let folders = std::fs::read_dir("/proc").ok()?;
    let numbers = folders.flatten().filter_map(|folder| folder.file_name().to_str()?.parse().ok());
    let belongs = |pid: &u32| {
        stat(*pid).is_some_and(|stat| lives(&stat) && stat.get(2).and_then(|g| g.parse().ok()) == Some(group))
    };
    has_proc().then(|| numbers.filter(belongs).collect())
}

fn is_empty(group: u32) -> bool {
    match members(group) {
        Some(members) => members.is_empty(),
        None => number(group).is_none_or(|pid| test_kill_process_group(pid).is_err()),
    }
}

/// Ends a group of processes that is known to be ours: politely, and after `grace` without asking.
pub(crate) async fn end_group(group: u32, grace: Duration) {
    for signal in [Signal::TERM, Signal::KILL] {
        if is_empty(group) {
            return;
        }
        if let Some(pid) = number(group) {
            let _ = kill_process_group(pid, signal);
        }
        let began = Instant::now();
        while began.elapsed() < grace && !is_empty(group) {
            sleep(LOOK).await;
        }
    }
}

/// What a leader that is gone has left behind in its group, told from strangers by the mark.
pub(crate) fn left_behind(group: u32, mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    members(group).unwrap_or_default().iter().any(|pid| {
        std::fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_its_beginning() {
        let own = Identity::own();
        assert!(own.lives() && !own.began.is_empty());
        assert!(!Identity { began: "another time".to_owned(), ..own }.lives());
    }

    #[test]
    fn one_that_has_ended_is_gone_even_before_it_is_noticed() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while Identity::of(child.id()).is_some() && std::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(Identity::of(child.id()), None);
        child.wait().unwrap();
    }
}
