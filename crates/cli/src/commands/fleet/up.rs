//! `aske fleet up`: servers that are kept until somebody ends them.

use super::{plan, show};
use crate::arguments::{Configuration, FleetRun, FleetUp};
use crate::live::{runtime, wait_for_signal};
use crate::output::{BAD, GOOD, NOTE, data, note, paint};
use crate::problem::{Exit, Problem};
use aske_fleet::{
    FleetState, Plan, ServerEvent, ServerStatus, Supervisor, SupervisorOptions, endpoints, last_lines,
    read_log,
};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(super) fn run(arguments: &FleetUp) -> Result<Exit, Problem> {
    let plan = plan(&arguments.planning)?;
    if !plan.at_once() {
        return Err(Problem::usage(
            show::summary(&plan),
            "or plan with fewer --sequences, --quantisation fp8, fewer --solvers or more --gpus",
        ));
    }
    if arguments.detach {
        return detached(arguments, plan.servers.len());
    }
    write_endpoints(&plan, &arguments.planning.configuration, &arguments.run.endpoints)?;
    runtime()?.block_on(async {
        let mut keeper = open(plan, &arguments.run)?;
        let up = tokio::select! {
            up = keeper.enter(0) => Some(up),
            () = wait_for_signal() => None,
        };
        match up {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                keeper.close().await;
                return Err(error.into());
            }
            None => {
                keeper.close().await;
                return Ok(Exit::Interrupted);
            }
        }
        data(arguments.run.endpoints.display());
        note("all servers answer; Ctrl-C or `aske fleet down` stops them");
        tokio::select! {
            () = keeper.all_failed() => note("no server is left"),
            () = wait_for_signal() => {}
        }
        let exit = if keeper.failed().is_empty() { Exit::Done } else { Exit::Failures };
        keeper.close().await;
        Ok(exit)
    })
}

/// A keeper that tells what happens.
pub(super) fn open(plan: Plan, run: &FleetRun) -> Result<Supervisor, Problem> {
    if !(run.ready_minutes > 0.0 && run.ready_minutes < 1e6) {
        return Err(Problem::usage(
            format!("--ready-minutes {}: no server can keep to it", run.ready_minutes),
            "name a number of minutes above 0",
        ));
    }
    let options = SupervisorOptions {
        program: run.vllm.clone(),
        folder: run.folder.clone(),
        ready_within: Duration::from_secs_f64(run.ready_minutes * 60.0),
        restarts: run.restarts,
        ..SupervisorOptions::default()
    };
    Ok(Supervisor::open(plan, options, tell)?)
}

fn tell(event: ServerEvent) {
    match event {
        ServerEvent::Starting(name, gpus) => {
            let gpus: Vec<String> = gpus.iter().map(ToString::to_string).collect();
            note(format_args!("{name} starts on GPU {}", gpus.join(",")));
        }
        ServerEvent::Ready(name, seconds) => {
            note(format_args!("{} {name} after {seconds} s", paint(GOOD, "ready")));
        }
        ServerEvent::Exited(name, cause, pause) => {
            let seconds = pause as f64 / 1000.0;
            note(format_args!("{} {name}: {cause}; again in {seconds} s", paint(NOTE, "ended")));
        }
        ServerEvent::Failed(name, cause) => note(format_args!("{} {name}: {cause}", paint(BAD, "given up"))),
        ServerEvent::Stopped(name) => note(format_args!("{name} is stopped")),
    }
}

/// Writes where the servers answer, on top of the configuration that was asked for.
pub(super) fn write_endpoints(plan: &Plan, from: &Configuration, to: &Path) -> Result<(), Problem> {
    let failed = |what: String| Problem {
        message: format!("{}: {what}", to.display()),
        hint: None,
        exit: Exit::Failures,
    };
    let named = from.config.clone().or_else(|| std::env::var("ASKE_CONFIG").ok());
    let usual = || Path::new("aske.toml").exists().then(|| "aske.toml".to_owned());
    let base = named.or_else(usual).unwrap_or_else(|| "nano".to_owned());
    // A path is read from beside the file that names it.
    let base = match std::fs::canonicalize(&base) {
        Ok(path) if path.is_file() => {
            if std::fs::canonicalize(to).is_ok_and(|to| to == path) {
                return Err(Problem::usage(
                    format!("{} would extend itself", to.display()),
                    "name the configuration it was made of, or another file with --endpoints",
                ));
            }
            path.display().to_string()
        }
        _ => base,
    };
    std::fs::write(to, endpoints(plan, &[base], "127.0.0.1")).map_err(|error| failed(error.to_string()))
}

/// Starts this program again behind the scenes, and waits until all servers answer.
fn detached(arguments: &FleetUp, servers: usize) -> Result<Exit, Problem> {
    let failed = |what: String| Problem { message: what, hint: None, exit: Exit::Failures };
    let folder = &arguments.run.folder;
    let path = folder.join("keeper.log");
    let log = || {
        std::fs::create_dir_all(folder)?;
        File::create(&path)
    };
    let log = log().map_err(|error| failed(format!("{}: {error}", path.display())))?;
    let again = log.try_clone().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(std::env::current_exe().map_err(|error| failed(error.to_string()))?);
    command.args(std::env::args_os().skip(1).filter(|argument| argument != "--detach"));
    command.stdin(Stdio::null()).stdout(log).stderr(again);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut keeper = command.spawn().map_err(|error| failed(error.to_string()))?;
    loop {
        if let Some(ended) = keeper.try_wait().map_err(|error| failed(error.to_string()))? {
            let text = read_log(&path, 0).map(|(text, _)| text).unwrap_or_default();
            let text = last_lines(&text, 30);
            let exit = if ended.code() == Some(2) { Exit::Usage } else { Exit::Failures };
            let (message, hint) = match text.rsplit_once("hint: ") {
                Some((message, hint)) => (message.trim_end().to_owned(), Some(hint.to_owned())),
                None => (text, None),
            };
            let message = message.rsplit_once("error: ").map_or(message.clone(), |(_, said)| said.to_owned());
            return Err(Problem { message, hint, exit });
        }
        let state = FleetState::read(folder)?.filter(|state| state.supervisor.pid == keeper.id());
        let ready = |state: &FleetState| {
            state.servers.len() == servers && state.servers.iter().all(|s| s.status == ServerStatus::Ready)
        };
        if state.as_ref().is_some_and(ready) {
            data(arguments.run.endpoints.display());
            note("all servers answer; `aske fleet down` stops them");
            return Ok(Exit::Done);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
