//! `aske fleet up`: starts servers and keeps them running.

use super::{plan, show};
use crate::arguments::{Configuration, FleetRun, FleetUp};
use crate::error::{CliError, Exit};
use crate::output::{BAD, GOOD, NOTE, data, note, paint};
use crate::runtime::{runtime, shutdown_signal};
use crate::shell::command;
use aske_fleet::{
    FleetState, Plan, ServerEvent, ServerStatus, Supervisor, SupervisorOptions, endpoints, last_lines,
    read_log,
};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(super) fn run(arguments: &FleetUp) -> Result<Exit, CliError> {
    let plan = plan(&arguments.planning)?;
    if !plan.at_once() {
        return Err(CliError::usage(
            show::summary(&plan),
            "or use fewer --sequences, --quantisation fp8, fewer --solvers or more --gpus",
        ));
    }
    if arguments.detach {
        return detached(arguments, plan.servers.len());
    }
    let options = options(&arguments.run)?;
    write_endpoints(&plan, &arguments.planning.configuration, &arguments.run.endpoints, &options)?;
    runtime()?.block_on(async {
        let mut supervisor = Supervisor::open(plan, options, report)?;
        let up = tokio::select! {
            up = supervisor.enter(0) => Some(up),
            () = shutdown_signal() => None,
        };
        match up {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                supervisor.close().await;
                return Err(error.into());
            }
            None => {
                supervisor.close().await;
                return Ok(Exit::Interrupted);
            }
        }
        data(arguments.run.endpoints.display());
        note(format_args!("all servers are ready; stop them with Ctrl-C or `{}`", down(&arguments.run)));
        note(next(arguments));
        tokio::select! {
            () = supervisor.all_failed() => note("every server has failed"),
            () = shutdown_signal() => {}
        }
        let exit = if supervisor.failed().is_empty() { Exit::Done } else { Exit::Failures };
        supervisor.close().await;
        Ok(exit)
    })
}

/// The command that stops these servers.
fn down(run: &FleetRun) -> String {
    let mut words = vec!["aske".to_owned(), "fleet".to_owned(), "down".to_owned()];
    if run.folder != Path::new("fleet") {
        words.extend(["--folder".to_owned(), run.folder.display().to_string()]);
    }
    command(words)
}

/// The benchmark on these servers, with the flags that chose them.
fn next(arguments: &FleetUp) -> String {
    let endpoints = arguments.run.endpoints.display().to_string();
    let configuration = Configuration { config: Some(endpoints), ..arguments.planning.configuration.clone() };
    let words = ["aske".to_owned(), "bench".to_owned()].into_iter().chain(configuration.words());
    format!("next: `{}`", command(words))
}

/// How to run the servers.
pub(crate) fn options(run: &FleetRun) -> Result<SupervisorOptions, CliError> {
    if !(run.ready_minutes > 0.0 && run.ready_minutes < 1e6) {
        return Err(CliError::usage(
            format!("--ready-minutes {}: not a usable time", run.ready_minutes),
            "give a number of minutes above 0",
        ));
    }
    Ok(SupervisorOptions {
        program: run.vllm.clone(),
        folder: run.folder.clone(),
        ready_within: Duration::from_secs_f64(run.ready_minutes * 60.0),
        restarts: run.restarts,
        ..SupervisorOptions::default()
    })
}

/// Prints what happens to a server.
pub(crate) fn report(event: ServerEvent) {
    match event {
        ServerEvent::Starting(name, gpus) => {
            let gpus: Vec<String> = gpus.iter().map(ToString::to_string).collect();
            note(format_args!("starting {name} on GPU {}", gpus.join(",")));
        }
        ServerEvent::Ready(name, seconds) => {
            note(format_args!("{} {name} after {seconds} s", paint(GOOD, "ready")));
        }
        ServerEvent::Exited(name, cause, pause) => {
            let seconds = pause as f64 / 1000.0;
            note(format_args!("{} {name}: {cause}; restarting in {seconds} s", paint(NOTE, "exited")));
        }
        ServerEvent::Failed(name, cause) => note(format_args!("{} {name}: {cause}", paint(BAD, "failed"))),
        ServerEvent::Stopped(name) => note(format_args!("stopped {name}")),
    }
}

/// Writes a configuration with the URLs of the servers that extends the given one.
pub(super) fn write_endpoints(
    plan: &Plan,
    from: &Configuration,
    to: &Path,
    options: &SupervisorOptions,
) -> Result<(), CliError> {
    let named = from.config.clone().or_else(|| std::env::var("ASKE_CONFIG").ok());
    let default = || Path::new("aske.toml").exists().then(|| "aske.toml".to_owned());
    let base = named.or_else(default).unwrap_or_else(|| "nano".to_owned());
    // Relative paths in a configuration are relative to its file.
    let base = match std::fs::canonicalize(&base) {
        Ok(path) if path.is_file() => {
            if std::fs::canonicalize(to).is_ok_and(|to| to == path) {
                return Err(CliError::usage(
                    format!("{} would extend itself", to.display()),
                    "name the configuration it was made from, or another file with --endpoints",
                ));
            }
            path.display().to_string()
        }
        _ => base,
    };
    std::fs::write(to, endpoints(plan, &[base], "127.0.0.1", options.longest_restart()))
        .map_err(|error| CliError::failure(format_args!("{}: {error}", to.display())))
}

/// Starts this program again in the background and waits until all servers are ready.
fn detached(arguments: &FleetUp, servers: usize) -> Result<Exit, CliError> {
    let folder = &arguments.run.folder;
    let path = folder.join("keeper.log");
    let log = || {
        std::fs::create_dir_all(folder)?;
        File::create(&path)
    };
    let log = log().map_err(|error| CliError::failure(format_args!("{}: {error}", path.display())))?;
    let again = log.try_clone().map_err(CliError::failure)?;
    let mut command = Command::new(std::env::current_exe().map_err(CliError::failure)?);
    command.args(std::env::args_os().skip(1).filter(|argument| argument != "--detach"));
    command.stdin(Stdio::null()).stdout(log).stderr(again);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut supervisor = command.spawn().map_err(CliError::failure)?;
    loop {
        if let Some(ended) = supervisor.try_wait().map_err(CliError::failure)? {
            let text = read_log(&path, 0).map(|(text, _)| text).unwrap_or_default();
            // The log ends with the error and its hint, as that process printed them.
            note(last_lines(&text, 30));
            return Ok(if ended.code() == Some(2) { Exit::Usage } else { Exit::Failures });
        }
        let state = FleetState::read(folder)?.filter(|state| state.supervisor.pid == supervisor.id());
        let ready = |state: &FleetState| {
            state.servers.len() == servers && state.servers.iter().all(|s| s.status == ServerStatus::Ready)
        };
        if state.as_ref().is_some_and(ready) {
            data(arguments.run.endpoints.display());
            note(format_args!("all servers are ready; stop them with `{}`", down(&arguments.run)));
            note(next(arguments));
            return Ok(Exit::Done);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
