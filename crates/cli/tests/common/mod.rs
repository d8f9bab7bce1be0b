//! The program in a folder of its own, against test servers.
#![allow(dead_code, reason = "each test file uses a part")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot run the program has failed")]

pub(crate) mod datasets;

use aske_testkit::{Stats, TestServer, TestServerOptions};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything here takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// An empty folder in which the program runs.
pub(crate) struct World(TempDir);

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// A new, empty folder.
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A new folder with this `aske.toml`.
    pub(crate) fn with(config: &Config) -> Self {
        let world = Self::new();
        world.write("aske.toml", &config.text());
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program with these arguments, nothing of ours in its environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("aske"));
        for (name, _) in std::env::vars_os() {
            let upper = name.to_string_lossy().to_uppercase();
            if upper.starts_with("ASKE_") || upper.ends_with("_PROXY") || upper.contains("COLOR") {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        finish(self.start(arguments))
    }

    /// Runs the program to its end, which must be this.
    pub(crate) fn expect(&self, code: i32, arguments: &[&str]) -> Ran {
        self.run(arguments).ended(code)
    }

    /// Starts the program with its output caught.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        start(&mut self.command(arguments))
    }

    /// The run folder of this name.
    pub(crate) fn folder(&self, name: &str) -> Folder {
        Folder(self.path(name))
    }
}

/// Starts a command with its output caught.
pub(crate) fn start(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for a command to end.
pub(crate) fn finish(child: Child) -> Ran {
    let id = child.id();
    let (sender, output) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = output.recv_timeout(PATIENCE) else {
        signal("KILL", id);
        panic!("the program did not end within {PATIENCE:?}");
    };
    let Output { status, stdout, stderr } = output.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// Sends a signal to a process; says whether there still was one.
pub(crate) fn signal(name: &str, id: u32) -> bool {
    let mut kill = Command::new("sh");
    kill.args(["-c", &format!("kill -{name} {id}")]).stderr(Stdio::null());
    kill.status().unwrap().success()
}

/// Waits until something is so.
pub(crate) fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The server's counts once nothing is in flight.
pub(crate) fn settled(server: &TestServer) -> Stats {
    wait_until("the server is at rest", || server.stats().in_flight == 0);
    server.stats()
}

/// A server that waits this long before each answer.
pub(crate) fn server(latency_ms: u64) -> TestServer {
    TestServer::start(TestServerOptions {
        latency: Duration::from_millis(latency_ms),
        ..TestServerOptions::default()
    })
}

impl Ran {
    /// Checks the exit status.
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// What was printed, as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, stdout, stderr } = self;
        write!(f, "status {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

/// A configuration: an asker, a cross-check and these solvers, all on test servers.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The addresses.
    pub(crate) urls: Vec<String>,
    pub(crate) asker: String,
    pub(crate) solvers: Vec<String>,
    pub(crate) rounds: u32,
    pub(crate) samples: u32,
    /// Sessions in flight at most.
    pub(crate) concurrency: u32,
    /// `limits` of every model, as TOML.
    pub(crate) limits: String,
    /// More keys of every model, as TOML.
    pub(crate) keys: String,
    /// The equivalence checker.
    pub(crate) equivalence: Option<String>,
}

impl Config {
    /// One round, two samples, the models at their default limits.
    pub(crate) fn new(server: &TestServer, solvers: &[u32]) -> Self {
        Self {
            urls: vec![server.url()],
            asker: "asker".to_owned(),
            solvers: solvers.iter().map(|ability| format!("solver-{ability}")).collect(),
            rounds: 1,
            samples: 2,
            concurrency: 16,
            limits: String::new(),
            keys: String::new(),
            equivalence: None,
        }
    }

    /// Sessions of the whole plan.
    pub(crate) fn sessions(&self) -> usize {
        self.solvers.len() * (self.solvers.len() - 1) / 2 * self.samples as usize
    }

    pub(crate) fn text(&self) -> String {
        let Self { urls, asker, solvers, rounds, samples, concurrency, .. } = self;
        // Writing to a string cannot fail.
        let mut text = format!(
            "[protocol]\nrounds = {rounds}\n[asker]\nmodel = \"{asker}\"\n[boundary]\nsolvers = {solvers:?}\n\
             [check]\nmodel = \"check\"\n[run]\nsamples = {samples}\nconcurrency = {concurrency}\n"
        );
        if let Some(model) = &self.equivalence {
            let _ = write!(text, "[equivalence]\nmodel = \"{model}\"\n");
        }
        let names = [asker.as_str(), "check"].into_iter().chain(solvers.iter().map(String::as_str));
        for name in names.chain(self.equivalence.as_deref().filter(|name| *name != "check")) {
            let _ = write!(
                text,
                "[models.{name}]\nprovider = \"openai\"\nurl = {urls:?}\nsampling = {{ seed = true }}\n\
                 limits = {{ {} }}\n{}\n",
                self.limits, self.keys
            );
        }
        text
    }
}

/// Where a stored reply belongs: record, turn, role, draw.
pub(crate) type Place = (String, u32, String, u32);

/// A run folder as it lies on the disk.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The finished sessions, each there once.
    pub(crate) fn records(&self) -> BTreeMap<String, Value> {
        by_name(lines(&self.0.join("records.jsonl")), |line| {
            format!("{}/{}", line["pair"].as_str().unwrap(), line["sample"])
        })
    }

    /// The grades, one for each record.
    pub(crate) fn grades(&self) -> BTreeMap<String, Value> {
        let lines = lines(&self.0.join("grades/standard.jsonl"));
        by_name(lines, |line| line["record"].as_str().unwrap().to_owned())
    }

    /// Every stored reply to a record's call.
    pub(crate) fn replies(&self) -> BTreeMap<Place, String> {
        let mut replies = self.all_replies();
        replies.retain(|(record, ..), _| !record.starts_with("probe/"));
        replies
    }

    /// The number of replies to the probes before each start.
    pub(crate) fn probes(&self) -> u64 {
        self.stored() - self.replies().len() as u64
    }

    /// Every stored reply, read from a copy, so that the folder is left as its writer left it.
    fn all_replies(&self) -> BTreeMap<Place, String> {
        let copy = TempDir::new().unwrap();
        for name in ["calls.sqlite", "calls.sqlite-wal"] {
            if self.0.join(name).exists() {
                std::fs::copy(self.0.join(name), copy.path().join(name)).unwrap();
            }
        }
        let store = rusqlite::Connection::open(copy.path().join("calls.sqlite")).unwrap();
        let there = "SELECT count(*) FROM sqlite_schema WHERE name = 'replies'";
        if store.query_row(there, [], |row| row.get::<_, u32>(0)).unwrap() == 0 {
            return BTreeMap::new();
        }
        let mut rows = store.prepare("SELECT record, turn, role, draw, content FROM replies").unwrap();
        let found =
            rows.query_map([], |row| Ok(((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?), row.get(4)?)));
        found.unwrap().collect::<Result<_, _>>().unwrap()
    }

    /// The number of stored replies, those to probes included.
    pub(crate) fn stored(&self) -> u64 {
        self.all_replies().len() as u64
    }

    /// Every file in it.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn by_name(lines: Vec<Value>, name: impl Fn(&Value) -> String) -> BTreeMap<String, Value> {
    let mut named = BTreeMap::new();
    for line in lines {
        let name = name(&line);
        assert!(named.insert(name.clone(), line).is_none(), "{name} is there twice");
    }
    named
}
