//! Servers that are kept running.

use crate::error::{Cause, FleetError};
use crate::plan::{Placed, Plan};
use crate::process::{Identity, left_behind};
use crate::server::{Launch, keep};
use crate::state::{Condition, ServerState, State};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How servers are started and kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program.
    pub program: PathBuf,
    /// Where the state and the logs are.
    pub folder: PathBuf,
    /// How long a server may take until it answers.
    pub ready_within: Duration,
    /// How often one that ends is started again.
    pub restarts: u32,
    /// The pause before the first restart; it doubles each time.
    pub pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// A server that has answered for so long begins to count anew.
    pub steady: Duration,
    /// How long a server may take to end.
    pub grace: Duration,
    /// How often a server is asked whether it is ready.
    pub poll: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            program: "vllm".into(),
            folder: "fleet".into(),
            ready_within: Duration::from_mins(30),
            restarts: 5,
            pause: Duration::from_secs(2),
            longest_pause: Duration::from_mins(2),
            steady: Duration::from_mins(10),
            grace: Duration::from_secs(30),
            poll: Duration::from_secs(1),
        }
    }
}

/// Something that a person wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A server is started on its GPUs.
    Starting(String, Vec<usize>),
    /// It answers, after so many seconds.
    Ready(String, u64),
    /// It ended and is started again after so many milliseconds.
    Ended(String, Cause, u64),
    /// It is given up.
    GivenUp(String, Cause),
    /// It was stopped.
    Stopped(String),
}

/// What all servers share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) mark: String,
    /// Held while a server starts: it measures what is free.
    pub(crate) gpus: Vec<tokio::sync::Mutex<()>>,
    state: Mutex<State>,
    tell: Box<dyn Fn(Event) + Send + Sync>,
}

impl Shared {
    pub(crate) fn tell(&self, event: Event) {
        (self.tell)(event);
    }

    /// Changes what is known of a server. A state that cannot be written is tried again with the next change.
    pub(crate) fn note(&self, name: &str, change: impl FnOnce(&mut ServerState)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = state.servers.iter_mut().find(|server| server.name == name) {
            change(server);
        }
        let _ = state.write(&self.options.folder);
    }
}

/// How a server is, for those who wait for it.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Coming,
    Ready,
    Failed(Cause, String),
}

struct Kept {
    stop: watch::Sender<bool>,
    told: watch::Receiver<Told>,
    task: JoinHandle<()>,
    gpus: Vec<usize>,
    log: PathBuf,
}

/// Keeps the servers of a plan.
pub struct Keeper {
    shared: Arc<Shared>,
    plan: Plan,
    kept: BTreeMap<usize, Kept>,
}

impl Keeper {
    /// Takes over a folder in which no fleet runs.
    pub fn open(
        plan: Plan,
        options: Options,
        tell: impl Fn(Event) + Send + Sync + 'static,
    ) -> Result<Self, FleetError> {
        let folder = options.folder.clone();
        if let Some(state) = State::read(&folder)? {
            if state.keeper.lives() {
                return Err(FleetError::Running { folder, pid: state.keeper.pid });
            }
            let lives = |server: &&ServerState| {
                server.process.as_ref().is_some_and(|p| p.lives() || left_behind(p.pid, &state.mark))
            };
            let left: Vec<&str> =
                state.servers.iter().filter(lives).map(|server| server.name.as_str()).collect();
            if !left.is_empty() {
                return Err(FleetError::Left { folder, servers: left.join(", ") });
            }
        }
        let logs = folder.join("logs");
        std::fs::create_dir_all(&logs).map_err(|source| FleetError::File { path: logs, source })?;
        let keeper = Identity::own();
        let mark = format!("{} {}", keeper.pid, keeper.began).replace(' ', "-");
        let state = State { keeper, mark: mark.clone(), servers: Vec::new() };
        state.write(&folder)?;
        let gpus = (0..plan.gpus.count).map(|_| tokio::sync::Mutex::new(())).collect();
        let shared = Shared { options, mark, gpus, state: Mutex::new(state), tell: Box::new(tell) };
        Ok(Self { shared: Arc::new(shared), plan, kept: BTreeMap::new() })
    }

    /// Goes to a phase of the plan: stops what is not in it, starts what is missing, and waits until all answer.
    pub async fn enter(&mut self, phase: usize) -> Result<(), FleetError> {
        let wanted = self.plan.running(phase);
        let stays = |server: &usize, kept: &Kept| {
            wanted.iter().any(|placed| placed.server == *server && placed.gpus == kept.gpus)
        };
        let leaving: Vec<usize> = self
            .kept
            .iter()
            .filter(|(server, kept)| !stays(server, kept))
            .map(|(server, _)| *server)
            .collect();
        self.stop(&leaving).await;
        for placed in &wanted {
            if !self.kept.contains_key(&placed.server) {
                self.start(placed);
            }
        }
        for placed in &wanted {
            self.ready(placed.server).await?;
        }
        Ok(())
    }

    fn start(&mut self, placed: &Placed) {
        let server = self.plan.servers[placed.server].clone();
        let log =
            self.shared.options.folder.join("logs").join(format!("{}.log", file_name(&server.model.name)));
        let state = ServerState {
            name: server.model.name.clone(),
            hub: server.model.hub.clone(),
            port: server.port,
            gpus: placed.gpus.clone(),
            process: None,
            condition: Condition::Queued,
            restarts: 0,
            log: log.clone(),
        };
        {
            let mut all = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
            all.servers.retain(|other| other.name != state.name);
            all.servers.push(state);
        }
        let (stop, stopped) = watch::channel(false);
        let (told, receiver) = watch::channel(Told::Coming);
        let launch = Launch { server, gpus: placed.gpus.clone(), log: log.clone() };
        let task = tokio::spawn(keep(Arc::clone(&self.shared), launch, told, stopped));
        let gpus = placed.gpus.clone();
        self.kept.insert(placed.server, Kept { stop, told: receiver, task, gpus, log });
    }

    /// Waits until a server answers or is given up.
    async fn ready(&mut self, server: usize) -> Result<(), FleetError> {
        let name = self.plan.servers[server].model.name.clone();
        let Some(kept) = self.kept.get_mut(&server) else { return Ok(()) };
        let told = kept.told.wait_for(|told| !matches!(told, Told::Coming)).await;
        let told = told.map_or(Told::Ready, |told| told.clone());
        match told {
            Told::Failed(cause, tail) => Err(FleetError::Server { name, cause, tail, log: kept.log.clone() }),
            Told::Coming | Told::Ready => Ok(()),
        }
    }

    /// The servers that were given up.
    pub fn failed(&self) -> Vec<&str> {
        let failed = |kept: &Kept| matches!(*kept.told.borrow(), Told::Failed(..));
        let name = |server: &usize| self.plan.servers[*server].model.name.as_str();
        self.kept.iter().filter(|(_, kept)| failed(kept)).map(|(server, _)| name(server)).collect()
    }

    /// Waits until no server is left that is not given up.
    pub async fn all_failed(&mut self) {
        for kept in self.kept.values_mut() {
            let _ = kept.told.wait_for(|told| matches!(told, Told::Failed(..))).await;
        }
    }

    async fn stop(&mut self, servers: &[usize]) {
        let stopped: Vec<(usize, Kept)> =
            servers.iter().filter_map(|server| self.kept.remove_entry(server)).collect();
        for (_, kept) in &stopped {
            let _ = kept.stop.send(true);
        }
        for (server, kept) in stopped {
            let _ = kept.task.await;
            let name = &self.plan.servers[server].model.name;
            {
                let mut all = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
                all.servers.retain(|other| other.name != *name);
                let _ = all.write(&self.shared.options.folder);
            }
            self.shared.tell(Event::Stopped(name.clone()));
        }
    }

    /// Stops every server.
    pub async fn close(mut self) {
        let all: Vec<usize> = self.kept.keys().copied().collect();
        self.stop(&all).await;
        State::remove(&self.shared.options.folder);
    }
}

/// A model's name as the name of a file.
fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}
