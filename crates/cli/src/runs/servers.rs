//! vLLM servers for checkpoint folders that this program does not run itself, for the time of a run.

use crate::arguments::Serving;
use crate::commands::fleet::models::{self, Role};
use crate::commands::fleet::up;
use crate::error::CliError;
use crate::output::{note, safe};
use crate::runs::named::check_local_servers;
use crate::runs::progress::Spinner;
use crate::runtime::shutdown_signal;
use aske_bench::ModelRegistry;
use aske_config::{ModelSection, OneOrMany, ProviderKind, Settings};
use aske_fleet::{
    FleetError, FleetState, Gpus, Model, Plan, PlanError, SearchBudget, ServerError, Supervisor,
    SupervisorOptions, down, last_lines, read_log,
};
use aske_model::Checkpoint;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What to do instead of serving a folder here.
const ELSEWHERE: &str =
    "or serve it elsewhere with `vllm serve FOLDER` and name its address instead of the folder";
/// How long servers of a killed run may take to stop.
const GRACE: Duration = Duration::from_secs(10);
/// How often a server that exits is restarted.
const RESTARTS: u32 = 2;
/// How long a server may take to become ready.
const READY_MINUTES: f64 = 30.0;

/// How a command serves its checkpoint folders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hosting<'a> {
    pub(crate) serving: &'a Serving,
    /// The maximum tokens of an answer of `aske eval`; none for sessions.
    pub(crate) answer_tokens: Option<u32>,
    /// With --gpus: also starts servers for models whose url is on this machine.
    pub(crate) with_fleet: bool,
}

impl<'a> Hosting<'a> {
    /// For sessions.
    pub(crate) fn of(serving: &'a Serving) -> Self {
        Self { serving, answer_tokens: None, with_fleet: false }
    }
}

/// The servers that a run needs. Nothing runs before [`during`].
#[derive(Debug)]
pub(crate) struct Servers {
    models: Vec<Model>,
    /// Why each folder is served, by model.
    reasons: BTreeMap<String, String>,
    serving: Serving,
    first_port: u16,
}

impl Servers {
    /// The servers for these settings; `None` if this program runs every model itself or reaches its server.
    pub(crate) fn find(settings: &Settings, hosting: Hosting<'_>) -> Result<Option<Self>, CliError> {
        let Hosting { serving, answer_tokens, with_fleet } = hosting;
        let reasons = served_folders(settings, serving.gpus.is_some());
        let with_fleet = with_fleet && serving.gpus.is_some();
        let lengths = |role| match (role, answer_tokens) {
            (Role::Asker | Role::Check, Some(tokens)) => Some(tokens.saturating_add(models::PROMPT_TOKENS)),
            _ => None,
        };
        let hub = |name: &str, section: &ModelSection| {
            let folder = reasons.get(name).map(|_| folder(section));
            folder.or_else(|| (with_fleet && models::is_here(section)).then(|| models::hub(name, section)))
        };
        let mut found = models::placed(settings, hub, lengths, None)?;
        if found.is_empty() {
            return Ok(None);
        }
        for model in found.iter_mut().filter(|model| reasons.contains_key(&model.name)) {
            if let Some(context) = model.max_context() {
                if let Some(tokens) =
                    answer_tokens.filter(|tokens| *tokens >= context && settings.asker.model == model.name)
                {
                    return Err(CliError::usage(
                        format!(
                            "{}: answers of {tokens} tokens do not fit into a context of {context}",
                            model.name
                        ),
                        format!("limit them with --tokens, such as --tokens {}", context / 4 * 3),
                    ));
                }
                model.length = model.length.min(context);
            }
            // A folder's own sampling defaults would replace those of the run.
            model.flags.extend(["--generation-config".to_owned(), "vllm".to_owned()]);
            model.flags.extend(serving.vllm_flag.iter().cloned());
        }
        let first_port = free_ports(u16::try_from(found.len()).unwrap_or(u16::MAX))?;
        Ok(Some(Self { models: found, reasons, serving: serving.clone(), first_port }))
    }

    /// The settings with the models on these servers. Only the identity of a run and its configuration are made from the
    /// others.
    fn install(&self, settings: &Settings) -> Settings {
        let mut settings = settings.clone();
        let restart = options(&self.serving, Path::new("")).longest_restart().as_secs_f64();
        for (port, model) in (self.first_port..).zip(&self.models) {
            for name in std::iter::once(&model.name).chain(&model.aliases) {
                let Some(section) = settings.models.get_mut(name) else { continue };
                section.provider = Some(ProviderKind::Openai);
                section.url = OneOrMany::One(format!("http://{}:{port}/v1", Ipv4Addr::LOCALHOST));
                section.model = Some(model.hub.clone());
                section.limits.reconnect_s =
                    Some(section.limits.reconnect_s.unwrap_or_default().max(restart));
            }
        }
        settings
    }

    /// The models of these settings, on these servers if there are any. Fails before a new run folder is created if vLLM
    /// cannot be started, a key is missing, or a server of this machine does not respond.
    pub(crate) fn registry(
        servers: Option<&Self>,
        settings: &Settings,
        run: &Path,
    ) -> Result<ModelRegistry, CliError> {
        let is_new = !run.join("run.toml").exists();
        let models = match servers {
            None => ModelRegistry::new(settings)?,
            Some(servers) => {
                if is_new {
                    servers.plan()?;
                }
                ModelRegistry::new(&servers.install(settings))?
            }
        };
        if is_new {
            check_local_servers(settings)?;
        }
        Ok(models)
    }

    /// The plan; fails if vLLM is not installed, there is no GPU or it is too small.
    fn plan(&self) -> Result<Plan, CliError> {
        if !is_program(&self.serving.vllm) {
            return Err(CliError {
                message: self.because(&format!("`{}` is not installed", self.serving.vllm.display())),
                hint: Some(format!(
                    "install vLLM (`uv pip install vllm`) or give its path with --vllm; {ELSEWHERE}"
                )),
                exit: crate::error::Exit::Usage,
            });
        }
        let Some(gpus) = self.serving.gpus.or_else(Gpus::detect) else {
            return Err(CliError::usage(
                self.because("`nvidia-smi` finds no GPU"),
                format!(
                    "say what vLLM may use with --gpus COUNTxGB, such as 1x80; main memory for a vLLM that runs on the \
                     CPU; {ELSEWHERE}"
                ),
            ));
        };
        // Fewer full-length sequences at once need less memory; vLLM queues the others.
        let mut models = self.models.clone();
        loop {
            match Plan::new(&models, &[], gpus, &[], self.first_port, SearchBudget::default()) {
                Ok(plan) if plan.at_once() => return Ok(plan),
                Ok(_) | Err(PlanError::TooLarge { .. } | PlanError::ResidentsTooLarge(_))
                    if models.iter().any(|model| model.sequences > 1) =>
                {
                    for model in &mut models {
                        model.sequences = model.sequences.div_ceil(2);
                    }
                }
                Ok(_) => {
                    return Err(CliError::usage(
                        format!("the checkpoints do not fit on {gpus} together"),
                        format!("give more GPUs with --gpus, {ELSEWHERE}"),
                    ));
                }
                Err(error) => {
                    let message = error.to_string();
                    return Err(CliError::usage(message, format!("give more GPUs with --gpus, {ELSEWHERE}")));
                }
            }
        }
    }

    /// Why vLLM is needed, and what is wrong.
    fn because(&self, wrong: &str) -> String {
        let reasons: Vec<&str> = self.reasons.values().map(String::as_str).collect();
        let reasons = reasons.join("; ");
        if reasons.is_empty() {
            wrong.to_owned()
        } else {
            format!("{reasons}, so vLLM has to serve it, and {wrong}")
        }
    }

    /// The models on these servers.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.models.iter().map(|model| model.name.as_str()).collect()
    }

    /// Says what a dry run would start.
    pub(crate) fn announce(&self) {
        for model in &self.models {
            note(format_args!("vLLM would serve {} from {}", model.name, safe(&model.hub)));
        }
    }

    /// Starts the servers and waits until they are ready.
    async fn start(&self, run: &Path) -> Result<Supervisor, CliError> {
        let plan = self.plan()?;
        let options = options(&self.serving, run);
        stop_earlier(&options.folder).await?;
        note(format_args!(
            "vLLM serves {} here; its log is in {}",
            self.names().join(", "),
            options.folder.join("logs").display()
        ));
        let loading = Loading::new(options.folder.clone());
        let mut supervisor = Supervisor::open(plan, options, up::report)?;
        let entered = tokio::select! {
            entered = supervisor.enter(0) => entered.map_err(explained),
            () = shutdown_signal() => Err(CliError::interrupted()),
            never = loading.show_forever() => match never {},
        };
        drop(loading);
        match entered {
            Ok(()) => Ok(supervisor),
            Err(error) => {
                supervisor.close().await;
                Err(error)
            }
        }
    }
}

/// Does `work` while these servers run in the folder of a run, and stops them however it ends.
pub(crate) async fn during<T>(
    servers: Option<&Servers>,
    run: &Path,
    work: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    let Some(servers) = servers else { return work.await };
    let supervisor = servers.start(run).await?;
    // Calls to a server that is being restarted wait for it; one that has failed for good ends the work.
    let done = tokio::select! {
        done = work => done,
        error = supervisor.any_failed() => Err(explained(error)),
    };
    supervisor.close().await;
    done
}

/// Stops servers that a killed run has left. Those of a run that goes on are an error when the supervisor is opened.
pub(crate) async fn stop_earlier(folder: &Path) -> Result<(), CliError> {
    if FleetState::read(folder)?.is_some_and(|state| !state.supervisor.is_alive()) {
        down(folder, GRACE).await?;
    }
    Ok(())
}

/// The models in checkpoint folders that are served, each with the reason.
fn served_folders(settings: &Settings, forced: bool) -> BTreeMap<String, String> {
    let reason = |section: &ModelSection| {
        let path = section.path.as_deref().filter(|path| !path.starts_with("builtin:"))?;
        if section.provider != Some(ProviderKind::Local) {
            return None;
        }
        match Checkpoint::unsupported(Path::new(path)) {
            Some(error) => Some(error.to_string()),
            None => forced.then(|| format!("{path} is served on the GPUs of --gpus")),
        }
    };
    let models = settings.models.iter();
    models.filter_map(|(name, section)| Some((name.clone(), reason(section)?))).collect()
}

/// The folder of a checkpoint, absolute.
fn folder(section: &ModelSection) -> String {
    let path = PathBuf::from(section.path.as_deref().unwrap_or_default());
    std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned()
}

fn options(serving: &Serving, run: &Path) -> SupervisorOptions {
    SupervisorOptions {
        program: serving.vllm.clone(),
        folder: run.join("servers"),
        ready_within: Duration::from_secs_f64(READY_MINUTES * 60.0),
        restarts: RESTARTS,
        kill_on_exit: true,
        ..SupervisorOptions::default()
    }
}

/// Whether a program exists, in a folder or in PATH.
fn is_program(program: &Path) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The first of so many consecutive ports that nobody listens on.
fn free_ports(count: u16) -> Result<u16, CliError> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    for _ in 0..100 {
        let first = bind(0).and_then(|listener| listener.local_addr()).map_err(CliError::failure)?.port();
        if first.checked_add(count).is_some_and(|end| (first..end).all(|port| bind(port).is_ok())) {
            return Ok(first);
        }
    }
    Err(CliError::failure("found no free ports for vLLM"))
}

/// A failure of these servers, with hints for commands other than `aske fleet`.
fn explained(error: FleetError) -> CliError {
    let hint = match &error {
        FleetError::Server { source, log, .. } => match source {
            ServerError::Spawn { .. } => Some(format!("give the path of vLLM with --vllm, {ELSEWHERE}")),
            ServerError::InvalidArguments => Some(
                "the installed vLLM may not support these flags; see the log, and --vllm-flag".to_owned(),
            ),
            ServerError::OutOfMemory => Some(
                "see `nvidia-smi` for other processes, or give the actual size of the GPU with --gpus"
                    .to_owned(),
            ),
            ServerError::ModelNotFound => {
                Some("the folder needs config.json, weights as safetensors and a tokenizer".to_owned())
            }
            ServerError::ContextTooLong => Some("set smaller token limits".to_owned()),
            ServerError::UnsupportedModel => Some(format!(
                "another version of vLLM may serve it, or a flag (--vllm-flag); the log is {}",
                log.display()
            )),
            ServerError::NotReady(_) => Some(format!("the log is {}", log.display())),
            _ => None,
        },
        _ => None,
    };
    let mut error = CliError::from(error);
    error.hint = hint.or(error.hint);
    error
}

/// Shows that servers are loading: the last line of their logs, and for how long.
struct Loading {
    folder: PathBuf,
    began: Instant,
    spinner: Spinner,
}

impl Loading {
    fn new(folder: PathBuf) -> Self {
        Self { folder, began: Instant::now(), spinner: Spinner::new() }
    }

    async fn show_forever(&self) -> Infallible {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.spinner.set(|| {
                let state = FleetState::read(&self.folder).ok().flatten();
                let logs = state.map(|state| state.servers).unwrap_or_default();
                let line = |log: &Path| read_log(log, 0).ok().map(|(text, _)| last_lines(&text, 1));
                let last = logs.iter().rev().find_map(|server| line(&server.log)).unwrap_or_default();
                let last: String = safe(last.trim()).chars().take(100).collect();
                format!("loading, {} s: {last}", self.began.elapsed().as_secs())
            });
        }
    }
}
