//! Starts one server, waits until it is ready, and restarts it when it exits.

use crate::command::arguments;
use crate::diagnosis::{Diagnosis, diagnose};
use crate::error::ServerError;
use crate::gpus::{VISIBLE_DEVICES, visible_devices};
use crate::health::{is_ready, warm_up};
use crate::log::{length, since};
use crate::plan::Server;
use crate::process::{KillOnExit, ProcessIdentity, TAG_VARIABLE, terminate_group};
use crate::state::ServerStatus;
use crate::supervisor::{Readiness, ServerEvent, Shared};
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// Servers are reachable from this machine only.
const HOST: &str = "127.0.0.1";
/// Starts that may run out of memory: the memory of a stopped server may take a moment to be freed.
const MAX_OUT_OF_MEMORY: u32 = 2;

/// A server to start, its GPUs and its log.
pub(crate) struct LaunchSpec {
    pub(crate) server: Server,
    pub(crate) gpus: Vec<usize>,
    pub(crate) log: PathBuf,
}

/// Runs a server until it is stopped or fails for good.
pub(crate) async fn supervise(
    shared: Arc<Shared>,
    spec: LaunchSpec,
    readiness: watch::Sender<Readiness>,
    mut stop: watch::Receiver<bool>,
) {
    let name = &spec.server.model.name;
    let options = &shared.options;
    let (mut exits, mut out_of_memory) = (0, 0);
    loop {
        let log_start = length(&spec.log);
        let mut attempt = Attempt {
            shared: &shared,
            spec: &spec,
            readiness: &readiness,
            log_start,
            child: None,
            kill_on_exit: None,
            ready: None,
        };
        let ended = tokio::select! {
            ended = attempt.run() => Some(ended),
            _ = stop.wait_for(|stop| *stop) => None,
        };
        let was_stable = attempt.ready.is_some_and(|ready| ready.elapsed() >= options.stable_after);
        attempt.terminate().await;
        let Some(Diagnosis { error, lines }) = ended else { return };
        if was_stable {
            (exits, out_of_memory) = (0, 0);
        }
        exits += 1;
        out_of_memory += u32::from(error == ServerError::OutOfMemory);
        if error.is_permanent() || out_of_memory >= MAX_OUT_OF_MEMORY || exits > options.restarts {
            let error = match error {
                ServerError::Exited(last) if exits > 1 => ServerError::CrashLoop { times: exits, last },
                error => error,
            };
            shared.update(name, |server| server.status = ServerStatus::Failed);
            shared.emit(ServerEvent::Failed(name.clone(), error.clone()));
            let _ = readiness.send(Readiness::Failed(error, lines));
            shared.failure.notify_waiters();
            return;
        }
        let _ = readiness.send(Readiness::Pending);
        let pause = options.pause.saturating_mul(1 << (exits - 1).min(16)).min(options.max_pause);
        shared.update(name, |server| {
            server.status = ServerStatus::Waiting;
            server.restarts += 1;
        });
        let milliseconds = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        shared.emit(ServerEvent::Exited(name.clone(), error, milliseconds));
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

/// One run of a server's process.
struct Attempt<'a> {
    shared: &'a Shared,
    spec: &'a LaunchSpec,
    readiness: &'a watch::Sender<Readiness>,
    /// The position in the log from which an exit is explained.
    log_start: u64,
    child: Option<(Child, u32)>,
    kill_on_exit: Option<KillOnExit>,
    ready: Option<Instant>,
}

impl Attempt<'_> {
    /// Runs the server; returns why it exited or could not start.
    async fn run(&mut self) -> Diagnosis {
        match self.start().await {
            Ok(()) => {}
            Err(StartError::Exited(status)) => return self.explain_exit(status),
            Err(StartError::Other(error)) => return self.explain(error),
        }
        let exited = match &mut self.child {
            Some((child, _)) => child.wait().await.ok(),
            None => None,
        };
        self.explain_exit(exited)
    }

    /// Starts the server and waits until it is ready.
    async fn start(&mut self) -> Result<(), StartError> {
        let name = &self.spec.server.model.name;
        // Locked in ascending order, so that two servers cannot deadlock.
        let mut guards = Vec::new();
        for gpu in &self.spec.gpus {
            guards.push(self.shared.gpus[*gpu].lock().await);
        }
        let port = self.spec.server.port;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            return Err(ServerError::PortInUse(port).into());
        }
        self.shared.emit(ServerEvent::Starting(name.clone(), self.spec.gpus.clone()));
        let spawned = self.spawn()?;
        let (child, pid) = self.child.insert(spawned);
        if self.shared.options.kill_on_exit {
            let program = PathBuf::from(KillOnExit::PROGRAM);
            let failed = |error: std::io::Error| ServerError::Spawn { program, reason: error.to_string() };
            self.kill_on_exit = Some(KillOnExit::new(*pid, self.shared.options.grace).map_err(failed)?);
        }
        let process = ProcessIdentity::of(*pid);
        self.shared.update(name, |server| {
            server.process = process;
            server.status = ServerStatus::Starting;
        });
        let start = Instant::now();
        let within = self.shared.options.ready_within;
        tokio::select! {
            exited = child.wait() => return Err(StartError::Exited(exited.ok())),
            first = timeout(within, wait_until_ready(self.spec, self.shared)) => match first {
                Ok(Ok(())) => {}
                Ok(Err(reason)) => return Err(ServerError::NoCompletion(reason).into()),
                Err(_) => return Err(ServerError::NotReady(within.as_secs()).into()),
            },
        }
        drop(guards);
        self.ready = Some(Instant::now());
        self.log_start = length(&self.spec.log);
        self.shared.update(name, |server| server.status = ServerStatus::Ready);
        self.shared.emit(ServerEvent::Ready(name.clone(), start.elapsed().as_secs()));
        let _ = self.readiness.send(Readiness::Ready);
        Ok(())
    }

    fn spawn(&self) -> Result<(Child, u32), ServerError> {
        let program = &self.shared.options.program;
        let failed = |error: std::io::Error| ServerError::Spawn {
            program: program.clone(),
            reason: error.to_string(),
        };
        let log = File::options().create(true).append(true).open(&self.spec.log).map_err(failed)?;
        let inherited = std::env::var(VISIBLE_DEVICES).ok();
        let devices = visible_devices(&self.spec.gpus, inherited.as_deref())
            .map_err(|gpu| ServerError::HiddenGpu { gpu, visible: inherited.clone().unwrap_or_default() })?;
        let child = Command::new(program)
            .args(arguments(&self.spec.server, HOST))
            .env("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
            .env(VISIBLE_DEVICES, devices)
            .envs(self.spec.server.model.environment.iter().map(|(name, value)| (name, value)))
            .env(TAG_VARIABLE, &self.shared.tag)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pid = child.id().unwrap_or_default();
        Ok((child, pid))
    }

    fn explain_exit(&self, status: Option<ExitStatus>) -> Diagnosis {
        let exit = status.map_or_else(|| "an unknown status".to_owned(), |status| status.to_string());
        diagnose(&since(&self.spec.log, self.log_start), exit, self.ready.is_some())
    }

    /// An error that was not found in the log, with what the log may say about it.
    fn explain(&self, error: ServerError) -> Diagnosis {
        Diagnosis { error, ..self.explain_exit(None) }
    }

    /// Terminates the process and its children.
    async fn terminate(self) {
        let Some((mut child, pid)) = self.child else { return };
        let grace = self.shared.options.grace;
        // The leader must be reaped while its group terminates, or it would count as running.
        let ((), _) = tokio::join!(terminate_group(pid, grace), timeout(grace * 2, child.wait()));
        if let Some(kill_on_exit) = self.kill_on_exit {
            kill_on_exit.disarm().await;
        }
        self.shared.update(&self.spec.server.model.name, |server| server.process = None);
    }
}

/// Why a server did not become ready.
enum StartError {
    /// It exited; its log may say why.
    Exited(Option<ExitStatus>),
    Other(ServerError),
}

impl From<ServerError> for StartError {
    fn from(error: ServerError) -> Self {
        Self::Other(error)
    }
}

/// Waits until the server is ready and has returned a completion.
async fn wait_until_ready(spec: &LaunchSpec, shared: &Shared) -> Result<(), String> {
    let Server { port, model, .. } = &spec.server;
    let (client, poll) = (&shared.client, shared.options.poll);
    while !is_ready(client, *port).await {
        sleep(poll).await;
    }
    let mut last = String::new();
    for _ in 0..3 {
        match warm_up(client, *port, &model.hub, Duration::from_mins(5)).await {
            Ok(()) => return Ok(()),
            Err(reason) => last = reason,
        }
        sleep(poll).await;
    }
    Err(last)
}
