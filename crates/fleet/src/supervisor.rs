//! Runs the servers of a plan: starts them phase by phase, waits until they are ready, and stops them.

use crate::error::{FleetError, ServerError};
use crate::plan::{Placement, Plan};
use crate::process::{ProcessIdentity, has_orphans};
use crate::server::{LaunchSpec, supervise};
use crate::state::{FleetState, ServerState, ServerStatus};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How servers are started and restarted.
#[derive(Clone, Debug)]
pub struct SupervisorOptions {
    /// The vLLM program.
    pub program: PathBuf,
    /// The folder of the state file and the logs.
    pub folder: PathBuf,
    /// How long a server may take to become ready.
    pub ready_within: Duration,
    /// How often a server that exits is restarted.
    pub restarts: u32,
    /// The pause before the first restart; it doubles each time.
    pub pause: Duration,
    /// The longest pause.
    pub max_pause: Duration,
    /// After running this long, a server's restarts are counted from zero.
    pub stable_after: Duration,
    /// How long a server may take to stop.
    pub grace: Duration,
    /// How often a starting server is polled.
    pub poll: Duration,
    /// Whether servers also end when this process is killed. `aske fleet up` leaves them to `aske fleet down`.
    pub kill_on_exit: bool,
}

impl Default for SupervisorOptions {
    fn default() -> Self {
        Self {
            program: "vllm".into(),
            folder: "fleet".into(),
            ready_within: Duration::from_mins(30),
            restarts: 5,
            pause: Duration::from_secs(2),
            max_pause: Duration::from_mins(2),
            stable_after: Duration::from_mins(10),
            grace: Duration::from_secs(30),
            poll: Duration::from_secs(1),
            kill_on_exit: false,
        }
    }
}

impl SupervisorOptions {
    /// The longest time from the exit of a server until it is ready again or has failed for good.
    pub fn longest_restart(&self) -> Duration {
        self.max_pause.saturating_add(self.ready_within)
    }
}

/// A change of a server, with its model's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// It starts on these GPUs.
    Starting(String, Vec<usize>),
    /// It is ready after this many seconds.
    Ready(String, u64),
    /// It exited and is restarted after this many milliseconds.
    Exited(String, ServerError, u64),
    /// It failed for good.
    Failed(String, ServerError),
    /// It was stopped.
    Stopped(String),
}

/// State shared by all servers.
pub(crate) struct Shared {
    pub(crate) options: SupervisorOptions,
    pub(crate) client: reqwest::Client,
    pub(crate) tag: String,
    /// Locked while a server starts, because it measures the free memory.
    pub(crate) gpus: Vec<tokio::sync::Mutex<()>>,
    /// Notified when a server has failed for good.
    pub(crate) failure: tokio::sync::Notify,
    state: Mutex<FleetState>,
    on_event: Box<dyn Fn(ServerEvent) + Send + Sync>,
}

impl Shared {
    pub(crate) fn emit(&self, event: ServerEvent) {
        (self.on_event)(event);
    }

    /// Updates the state of a server. A failure to write the file is ignored, as the next update writes it again.
    pub(crate) fn update(&self, name: &str, change: impl FnOnce(&mut ServerState)) {
        let mut state = self.state.lock();
        if let Some(server) = state.servers.iter_mut().find(|server| server.name == name) {
            change(server);
        }
        let _ = state.write(&self.options.folder);
    }
}

/// Whether a server can be used.
#[derive(Clone, Debug)]
pub(crate) enum Readiness {
    Pending,
    Ready,
    /// Failed for good, with the end of its log.
    Failed(ServerError, String),
}

struct ServerHandle {
    stop: watch::Sender<bool>,
    readiness: watch::Receiver<Readiness>,
    task: JoinHandle<()>,
    gpus: Vec<usize>,
    log: PathBuf,
}

/// Runs the servers of a plan.
pub struct Supervisor {
    shared: Arc<Shared>,
    plan: Plan,
    servers: BTreeMap<usize, ServerHandle>,
}

impl Supervisor {
    /// Creates a supervisor for a folder, in which no other fleet may be running.
    pub fn open(
        plan: Plan,
        options: SupervisorOptions,
        on_event: impl Fn(ServerEvent) + Send + Sync + 'static,
    ) -> Result<Self, FleetError> {
        let folder = options.folder.clone();
        if let Some(state) = FleetState::read(&folder)? {
            if state.supervisor.is_alive() {
                return Err(FleetError::AlreadyRunning { folder, pid: state.supervisor.pid });
            }
            let is_alive = |server: &&ServerState| {
                server.process.as_ref().is_some_and(|p| p.is_alive() || has_orphans(p.pid, &state.tag))
            };
            let alive: Vec<&str> =
                state.servers.iter().filter(is_alive).map(|server| server.name.as_str()).collect();
            if !alive.is_empty() {
                return Err(FleetError::OrphanedServers { folder, servers: alive.join(", ") });
            }
        }
        let client = aske_http_client::builder().no_proxy().build().map_err(FleetError::Client)?;
        let logs = folder.join("logs");
        std::fs::create_dir_all(&logs).map_err(|source| FleetError::File { path: logs, source })?;
        let supervisor = ProcessIdentity::own();
        let tag = format!("{} {}", supervisor.pid, supervisor.started).replace(' ', "-");
        let state = FleetState { supervisor, tag: tag.clone(), servers: Vec::new() };
        state.write(&folder)?;
        let gpus = (0..plan.gpus.count).map(|_| tokio::sync::Mutex::new(())).collect();
        let on_event = Box::new(on_event);
        let failure = tokio::sync::Notify::new();
        let shared = Shared { options, client, tag, gpus, failure, state: Mutex::new(state), on_event };
        Ok(Self { shared: Arc::new(shared), plan, servers: BTreeMap::new() })
    }

    /// Enters a phase of the plan: stops servers that are not in it, starts the missing ones, and waits until all are
    /// ready.
    pub async fn enter(&mut self, phase: usize) -> Result<(), FleetError> {
        let placements = self.plan.running(phase);
        let stays = |server: &usize, handle: &ServerHandle| {
            placements.iter().any(|placement| placement.server == *server && placement.gpus == handle.gpus)
        };
        let leaving: Vec<usize> = self
            .servers
            .iter()
            .filter(|(server, handle)| !stays(server, handle))
            .map(|(server, _)| *server)
            .collect();
        self.stop(&leaving).await;
        for placement in &placements {
            if !self.servers.contains_key(&placement.server) {
                self.start(placement);
            }
        }
        for placement in &placements {
            self.ready(placement.server).await?;
        }
        Ok(())
    }

    fn start(&mut self, placement: &Placement) {
        let server = self.plan.servers[placement.server].clone();
        let log =
            self.shared.options.folder.join("logs").join(format!("{}.log", file_name(&server.model.name)));
        let state = ServerState {
            name: server.model.name.clone(),
            hub: server.model.hub.clone(),
            port: server.port,
            gpus: placement.gpus.clone(),
            process: None,
            status: ServerStatus::Queued,
            restarts: 0,
            log: log.clone(),
        };
        {
            let mut all = self.shared.state.lock();
            all.servers.retain(|other| other.name != state.name);
            all.servers.push(state);
        }
        let (stop, stopped) = watch::channel(false);
        let (sender, readiness) = watch::channel(Readiness::Pending);
        let spec = LaunchSpec { server, gpus: placement.gpus.clone(), log: log.clone() };
        let task = tokio::spawn(supervise(Arc::clone(&self.shared), spec, sender, stopped));
        let gpus = placement.gpus.clone();
        self.servers.insert(placement.server, ServerHandle { stop, readiness, task, gpus, log });
    }

    /// Waits until a server is ready or has failed for good; also one that is being restarted.
    async fn ready(&self, server: usize) -> Result<(), FleetError> {
        let Some(handle) = self.servers.get(&server) else { return Ok(()) };
        let mut readiness = handle.readiness.clone();
        let settled = readiness.wait_for(|readiness| !matches!(readiness, Readiness::Pending)).await;
        let settled = settled.map_or(Readiness::Ready, |readiness| readiness.clone());
        match settled {
            Readiness::Failed(source, tail) => Err(self.failure(server, handle, source, tail)),
            Readiness::Pending | Readiness::Ready => Ok(()),
        }
    }

    /// Waits until a server fails for good, and returns why.
    pub async fn any_failed(&self) -> FleetError {
        loop {
            // Listens before it looks, so that a failure in between is not missed.
            let failure = self.shared.failure.notified();
            for (server, handle) in &self.servers {
                if let Readiness::Failed(source, tail) = &*handle.readiness.borrow() {
                    return self.failure(*server, handle, source.clone(), tail.clone());
                }
            }
            failure.await;
        }
    }

    fn failure(&self, server: usize, handle: &ServerHandle, source: ServerError, tail: String) -> FleetError {
        let name = self.plan.servers[server].model.name.clone();
        FleetError::Server { name, source, tail, log: handle.log.clone() }
    }

    /// The servers that have failed for good.
    pub fn failed(&self) -> Vec<&str> {
        let failed = |handle: &ServerHandle| matches!(*handle.readiness.borrow(), Readiness::Failed(..));
        let name = |server: &usize| self.plan.servers[*server].model.name.as_str();
        self.servers.iter().filter(|(_, handle)| failed(handle)).map(|(server, _)| name(server)).collect()
    }

    /// Waits until all servers have failed for good.
    pub async fn all_failed(&mut self) {
        for handle in self.servers.values_mut() {
            let _ = handle.readiness.wait_for(|readiness| matches!(readiness, Readiness::Failed(..))).await;
        }
    }

    async fn stop(&mut self, servers: &[usize]) {
        let stopped: Vec<(usize, ServerHandle)> =
            servers.iter().filter_map(|server| self.servers.remove_entry(server)).collect();
        for (_, handle) in &stopped {
            let _ = handle.stop.send(true);
        }
        for (server, handle) in stopped {
            let _ = handle.task.await;
            let name = &self.plan.servers[server].model.name;
            {
                let mut all = self.shared.state.lock();
                all.servers.retain(|other| other.name != *name);
                let _ = all.write(&self.shared.options.folder);
            }
            self.shared.emit(ServerEvent::Stopped(name.clone()));
        }
    }

    /// Stops all servers.
    pub async fn close(mut self) {
        let all: Vec<usize> = self.servers.keys().copied().collect();
        self.stop(&all).await;
        FleetState::remove(&self.shared.options.folder);
    }
}

/// A model's name as a file name.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}
