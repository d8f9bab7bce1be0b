//! One server: started, waited for, and started again when it ends.

use crate::command::arguments;
use crate::error::{Cause, diagnose};
use crate::http::{is_ready, warm_up};
use crate::keeper::{Event, Shared, Told};
use crate::log::{last_lines, length, since};
use crate::plan::Server;
use crate::process::{Identity, MARK, end_group};
use crate::state::Condition;
use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

/// Servers listen for this machine alone.
const HOST: &str = "127.0.0.1";
/// Lines of a log in an error.
const LINES: usize = 12;
/// A start that runs out of memory is tried so often: what ended before it may take a moment to leave.
const MEMORY_TRIES: u32 = 2;

/// What to start, and where.
pub(crate) struct Launch {
    pub(crate) server: Server,
    pub(crate) gpus: Vec<usize>,
    pub(crate) log: PathBuf,
}

/// Keeps a server until it is told to stop, or gives it up.
pub(crate) async fn keep(
    shared: Arc<Shared>,
    launch: Launch,
    told: watch::Sender<Told>,
    mut stop: watch::Receiver<bool>,
) {
    let name = &launch.server.model.name;
    let options = &shared.options;
    let (mut ends, mut memory) = (0, 0);
    loop {
        let from = length(&launch.log);
        let mut once = Once { shared: &shared, launch: &launch, told: &told, child: None, ready: None };
        let cause = tokio::select! {
            cause = once.live(from) => Some(cause),
            _ = stop.wait_for(|stop| *stop) => None,
        };
        let steady = once.ready.is_some_and(|ready| ready.elapsed() >= options.steady);
        once.end().await;
        let Some(cause) = cause else { return };
        ends = if steady { 1 } else { ends + 1 };
        memory += u32::from(cause == Cause::Memory);
        if cause.is_lasting() || memory >= MEMORY_TRIES || ends > options.restarts {
            let cause = match cause {
                Cause::Ended(last) if ends > 1 => Cause::Again { times: ends, last },
                cause => cause,
            };
            shared.note(name, |server| server.condition = Condition::Failed);
            shared.tell(Event::GivenUp(name.clone(), cause.clone()));
            let tail = last_lines(&since(&launch.log, from), LINES);
            let _ = told.send(Told::Failed(cause, tail));
            return;
        }
        let pause = options.pause.saturating_mul(1 << (ends - 1).min(16)).min(options.longest_pause);
        shared.note(name, |server| {
            server.condition = Condition::Waiting;
            server.restarts += 1;
        });
        let milliseconds = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        shared.tell(Event::Ended(name.clone(), cause, milliseconds));
        tokio::select! {
            () = sleep(pause) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

/// One life of a server.
struct Once<'a> {
    shared: &'a Shared,
    launch: &'a Launch,
    told: &'a watch::Sender<Told>,
    child: Option<(Child, u32)>,
    ready: Option<Instant>,
}

impl Once<'_> {
    /// From its start to its end, which is told.
    async fn live(&mut self, from: u64) -> Cause {
        let name = &self.launch.server.model.name;
        // In the order of their numbers, so that two servers never wait for each other.
        let mut held = Vec::new();
        for gpu in &self.launch.gpus {
            held.push(self.shared.gpus[*gpu].lock().await);
        }
        let port = self.launch.server.port;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            return Cause::Port(port);
        }
        self.shared.tell(Event::Starting(name.clone(), self.launch.gpus.clone()));
        let (child, pid) = match self.spawn() {
            Ok(child) => self.child.insert(child),
            Err(cause) => return cause,
        };
        let process = Identity::of(*pid);
        self.shared.note(name, |server| {
            server.process = process;
            server.condition = Condition::Starting;
        });
        let began = Instant::now();
        let within = self.shared.options.ready_within;
        let first = tokio::select! {
            ended = child.wait() => Err(self.cause(from, ended.ok())),
            first = timeout(within, answer(self.launch, self.shared.options.poll)) => match first {
                Ok(Ok(())) => Ok(()),
                Ok(Err(what)) => Err(Cause::Mute(what)),
                Err(_) => Err(Cause::Late(within.as_secs())),
            },
        };
        if let Err(cause) = first {
            return cause;
        }
        drop(held);
        self.ready = Some(Instant::now());
        self.shared.note(name, |server| server.condition = Condition::Ready);
        self.shared.tell(Event::Ready(name.clone(), began.elapsed().as_secs()));
        let _ = self.told.send(Told::Ready);
        let ended = match &mut self.child {
            Some((child, _)) => child.wait().await.ok(),
            None => None,
        };
        self.cause(from, ended)
    }

    fn spawn(&self) -> Result<(Child, u32), Cause> {
        let program = &self.shared.options.program;
        let failed =
            |error: std::io::Error| Cause::Program { program: program.clone(), what: error.to_string() };
        let log = File::options().create(true).append(true).open(&self.launch.log).map_err(failed)?;
        let gpus: Vec<String> = self.launch.gpus.iter().map(ToString::to_string).collect();
        let child = Command::new(program)
            .args(arguments(&self.launch.server, HOST))
            .env("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
            .env("CUDA_VISIBLE_DEVICES", gpus.join(","))
            .env(MARK, &self.shared.mark)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let pid = child.id().unwrap_or_default();
        Ok((child, pid))
    }

    fn cause(&self, from: u64, status: Option<ExitStatus>) -> Cause {
        let ended = status.map_or_else(|| "an unknown status".to_owned(), |status| status.to_string());
        diagnose(&since(&self.launch.log, from), status.and_then(|status| status.code()), ended)
    }

    /// Ends what is left of it.
    async fn end(self) {
        let Some((mut child, pid)) = self.child else { return };
        let grace = self.shared.options.grace;
        // The leader must be noticed while its group ends, or it would seem to be there.
        let ((), _) = tokio::join!(end_group(pid, grace), timeout(grace * 2, child.wait()));
        self.shared.note(&self.launch.server.model.name, |server| server.process = None);
    }
}

/// Waits until the server is ready and has answered once.
async fn answer(launch: &Launch, poll: Duration) -> Result<(), String> {
    let Server { port, model, .. } = &launch.server;
    while !is_ready(*port).await {
        sleep(poll).await;
    }
    let mut said = String::new();
    for _ in 0..3 {
        match warm_up(*port, &model.hub, Duration::from_mins(5)).await {
            Ok(()) => return Ok(()),
            Err(what) => said = what,
        }
        sleep(poll).await;
    }
    Err(said)
}
