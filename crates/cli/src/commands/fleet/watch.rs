//! `aske fleet status`, `logs` and `down`.

use crate::arguments::{FleetFolder, FleetLogs, FleetStatus};
use crate::display::tables::table;
use crate::error::{CliError, Exit};
use crate::output::{NAME, data, note, paint, safe};
use crate::runtime::{runtime, until_signal};
use aske_config::did_you_mean;
use aske_fleet::{
    FleetState, ProcessIdentity, ServerState, ServerStatus, down as stop, last_lines, read_log,
};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// How long a server may take to exit.
const GRACE: Duration = Duration::from_secs(30);
/// How often logs are polled.
const POLL: Duration = Duration::from_millis(500);

pub(super) fn down(arguments: &FleetFolder) -> Result<Exit, CliError> {
    let stopped = runtime()?.block_on(stop(&arguments.folder, GRACE))?;
    if stopped.is_empty() {
        note(format_args!("nothing runs from {}", arguments.folder.display()));
    } else {
        note(format_args!("stopped: {}", stopped.join(", ")));
    }
    Ok(Exit::Done)
}

fn read(folder: &Path) -> Result<FleetState, CliError> {
    FleetState::read(folder)?.ok_or_else(|| {
        CliError::usage(
            format!("nothing runs from {}", folder.display()),
            "`aske fleet up` starts servers; --folder names another folder",
        )
    })
}

/// The state of a server, also if its keeper no longer runs.
fn condition(server: &ServerState) -> &'static str {
    let lives = server.process.as_ref().is_some_and(ProcessIdentity::is_alive);
    match server.status {
        ServerStatus::Ready | ServerStatus::Starting if !lives => "gone",
        condition => condition.label(),
    }
}

pub(super) fn status(arguments: &FleetStatus) -> Result<Exit, CliError> {
    let state = read(&arguments.folder.folder)?;
    let kept = state.supervisor.is_alive();
    if arguments.json {
        let server = |server: &ServerState| {
            let mut shown = json!(server);
            shown["condition"] = json!(condition(server));
            shown
        };
        let servers: Vec<_> = state.servers.iter().map(server).collect();
        data(json!({ "keeper": state.supervisor.pid, "kept": kept, "servers": servers }));
    } else {
        let mut table = table(&["model", "GPU", "port", "state", "restarts", "process"], &[2, 4, 5]);
        for server in &state.servers {
            let gpus: Vec<String> = server.gpus.iter().map(ToString::to_string).collect();
            table.add_row([
                server.name.clone(),
                gpus.join(","),
                server.port.to_string(),
                condition(server).to_owned(),
                server.restarts.to_string(),
                server.process.as_ref().map_or_else(String::new, |process| process.pid.to_string()),
            ]);
        }
        data(table);
        if !kept {
            note("the process that kept these servers is gone; stop them with `aske fleet down`");
        }
    }
    let fine = kept && state.servers.iter().all(|server| condition(server) == "ready");
    Ok(if fine { Exit::Done } else { Exit::Failures })
}

pub(super) fn logs(arguments: &FleetLogs) -> Result<Exit, CliError> {
    let state = read(&arguments.folder.folder)?;
    let known = || state.servers.iter().map(|server| server.name.as_str());
    for name in &arguments.names {
        if !known().any(|known| known == name) {
            let hint = did_you_mean(name, known(), "`aske fleet status` lists the servers");
            return Err(CliError::usage(format!("no server of this fleet is `{name}`"), hint));
        }
    }
    let selected: Vec<&ServerState> = state
        .servers
        .iter()
        .filter(|server| arguments.names.is_empty() || arguments.names.contains(&server.name))
        .collect();
    let mut ends = Vec::new();
    for server in &selected {
        let (text, end) = read_log(&server.log, 0).unwrap_or_default();
        print_log(server, &last_lines(&text, arguments.lines), selected.len() > 1);
        ends.push(end);
    }
    if arguments.follow {
        until_signal(async {
            loop {
                tokio::time::sleep(POLL).await;
                for (server, end) in selected.iter().zip(&mut ends) {
                    // Incomplete lines are printed later.
                    let Ok((text, _)) = read_log(&server.log, *end) else { continue };
                    let Some((complete, _)) = text.rsplit_once('\n') else { continue };
                    *end += complete.len() as u64 + 1;
                    print_log(server, complete, selected.len() > 1);
                }
            }
        })?;
    }
    Ok(Exit::Done)
}

fn print_log(server: &ServerState, text: &str, with_name: bool) {
    for line in text.lines() {
        if with_name {
            data(format_args!("{} {}", paint(NAME, &server.name), safe(line)));
        } else {
            data(safe(line));
        }
    }
}
