//! `aske fleet status`, `logs` and `down`.

use crate::arguments::{FleetFolder, FleetLogs, FleetStatus};
use crate::live::{runtime, until_signal};
use crate::output::{NAME, data, note, paint, safe};
use crate::problem::{Exit, Problem};
use crate::tables::table;
use aske_config::closest;
use aske_fleet::{
    FleetState, ProcessIdentity, ServerState, ServerStatus, down as stop, last_lines, read_log,
};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// How long a server may take to end.
const GRACE: Duration = Duration::from_secs(30);
/// How often logs are looked at.
const LOOK: Duration = Duration::from_millis(500);

pub(super) fn down(arguments: &FleetFolder) -> Result<Exit, Problem> {
    let stopped = runtime()?.block_on(stop(&arguments.folder, GRACE))?;
    if stopped.is_empty() {
        note(format_args!("nothing runs from {}", arguments.folder.display()));
    } else {
        note(format_args!("stopped: {}", stopped.join(", ")));
    }
    Ok(Exit::Done)
}

fn read(folder: &Path) -> Result<FleetState, Problem> {
    FleetState::read(folder)?.ok_or_else(|| {
        Problem::usage(
            format!("nothing runs from {}", folder.display()),
            "`aske fleet up` starts servers; --folder names another folder",
        )
    })
}

/// What became of a server, also when its keeper cannot tell any more.
fn condition(server: &ServerState) -> &'static str {
    let lives = server.process.as_ref().is_some_and(ProcessIdentity::is_alive);
    match server.status {
        ServerStatus::Ready | ServerStatus::Starting if !lives => "gone",
        condition => condition.label(),
    }
}

pub(super) fn status(arguments: &FleetStatus) -> Result<Exit, Problem> {
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
            note("nobody keeps these servers any more; `aske fleet down` stops what is left");
        }
    }
    let fine = kept && state.servers.iter().all(|server| condition(server) == "ready");
    Ok(if fine { Exit::Done } else { Exit::Failures })
}

pub(super) fn logs(arguments: &FleetLogs) -> Result<Exit, Problem> {
    let state = read(&arguments.folder.folder)?;
    let known = || state.servers.iter().map(|server| server.name.as_str());
    for name in &arguments.names {
        if !known().any(|known| known == name) {
            let hint = match closest(name, known()) {
                Some(likely) => format!("did you mean `{likely}`?"),
                None => "`aske fleet status` shows who runs".to_owned(),
            };
            return Err(Problem::usage(format!("no server of this fleet is `{name}`"), hint));
        }
    }
    let wanted: Vec<&ServerState> = state
        .servers
        .iter()
        .filter(|server| arguments.names.is_empty() || arguments.names.contains(&server.name))
        .collect();
    let mut ends = Vec::new();
    for server in &wanted {
        let (text, end) = read_log(&server.log, 0).unwrap_or_default();
        say(server, &last_lines(&text, arguments.lines), wanted.len() > 1);
        ends.push(end);
    }
    if arguments.follow {
        until_signal(async {
            loop {
                tokio::time::sleep(LOOK).await;
                for (server, end) in wanted.iter().zip(&mut ends) {
                    // A line that is not complete yet waits for its end.
                    let Ok((text, _)) = read_log(&server.log, *end) else { continue };
                    let Some((complete, _)) = text.rsplit_once('\n') else { continue };
                    *end += complete.len() as u64 + 1;
                    say(server, complete, wanted.len() > 1);
                }
            }
        })?;
    }
    Ok(Exit::Done)
}

fn say(server: &ServerState, text: &str, with_name: bool) {
    for line in text.lines() {
        if with_name {
            data(format_args!("{} {}", paint(NAME, &server.name), safe(line)));
        } else {
            data(safe(line));
        }
    }
}
