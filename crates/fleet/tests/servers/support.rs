//! A folder for a fleet of stand-ins.

use aske_fleet::{FleetError, Model, Plan, SearchBudget, ServerEvent, Supervisor, SupervisorOptions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) struct World {
    folder: TempDir,
    pub(crate) events_seen: Arc<Mutex<Vec<ServerEvent>>>,
}

/// A model whose stand-in behaves as its name says.
pub(crate) fn model(hub: &str) -> Model {
    Model { params: Some(1.0), ..Model::solver(hub, &format!("test/{hub}")) }
}

/// Ports that nobody listens on.
fn free_ports(count: u16) -> u16 {
    let free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    loop {
        let first = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        if first < u16::MAX - count && (first..first + count).all(free) {
            return first;
        }
    }
}

pub(crate) fn plan(models: &[Model], gpus: &str) -> Plan {
    let count = u16::try_from(models.len()).unwrap();
    Plan::new(models, &[], gpus.parse().unwrap(), &[], free_ports(count), SearchBudget::default()).unwrap()
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), events_seen: Arc::default() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program that runs the stand-in with this folder.
    pub(crate) fn program(&self) -> PathBuf {
        let path = self.path("vllm");
        if !path.exists() {
            let stand_in = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vllm");
            let text = format!(
                "#!/bin/sh\nSTAND_IN='{}' exec python3 -B '{stand_in}' \"$@\"\n",
                self.folder.path().display()
            );
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        path
    }

    /// Everything in small times.
    pub(crate) fn options(&self) -> SupervisorOptions {
        SupervisorOptions {
            program: self.program(),
            folder: self.path("fleet"),
            ready_within: PATIENCE,
            restarts: 2,
            pause: Duration::from_millis(50),
            max_pause: Duration::from_millis(80),
            grace: Duration::from_secs(10),
            poll: Duration::from_millis(50),
            ..SupervisorOptions::default()
        }
    }

    pub(crate) fn supervisor(
        &self,
        plan: Plan,
        options: SupervisorOptions,
    ) -> Result<Supervisor, FleetError> {
        let told = Arc::clone(&self.events_seen);
        Supervisor::open(plan, options, move |event| told.lock().unwrap().push(event))
    }

    /// Starts the first phase; where it fails, everything is stopped again.
    pub(crate) async fn up(
        &self,
        models: &[Model],
        options: SupervisorOptions,
    ) -> Result<Supervisor, FleetError> {
        let mut supervisor = self.supervisor(plan(models, "1x141"), options)?;
        match supervisor.enter(0).await {
            Ok(()) => Ok(supervisor),
            Err(error) => {
                supervisor.close().await;
                Err(error)
            }
        }
    }

    /// What stand-ins noted, as JSON.
    pub(crate) fn events(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.path("events.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn count(&self, what: &str, hub: &str) -> usize {
        self.events()
            .iter()
            .filter(|event| event["what"] == what && event["hub"] == format!("test/{hub}"))
            .count()
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, what: &str, mut so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !so() {
            assert!(began.elapsed() < PATIENCE, "{what}: {:?}", self.events_seen.lock().unwrap());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Nothing that a stand-in noted still runs.
    pub(crate) fn nothing_runs(&self) {
        assert_eq!(self.running(), Vec::<String>::new());
    }

    /// The processes that stand-ins noted and that still run.
    pub(crate) fn running(&self) -> Vec<String> {
        let lives = |pid: &String| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
        };
        let pid = |event: serde_json::Value| {
            let child =
                event["what"].as_str().and_then(|what| what.strip_prefix("child ")).map(str::to_owned);
            child.unwrap_or_else(|| event["pid"].to_string())
        };
        self.events().into_iter().map(pid).filter(lives).collect()
    }
}
