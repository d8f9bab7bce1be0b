//! `aske fleet plan`: memory by server, and the phases.

use super::plan;
use crate::arguments::FleetPlan;
use crate::display::tables::{Table, table};
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use aske_fleet::{GB, Plan, Server};
use aske_report::number::counted;

pub(super) fn run(arguments: &FleetPlan) -> Result<Exit, CliError> {
    let plan = plan(&arguments.planning)?;
    if arguments.json {
        data(serde_json::to_value(&plan).unwrap_or_default());
        return Ok(Exit::Done);
    }
    data(memory(&plan));
    if plan.at_once() {
        data(format_args!("\n{}", gpus(&plan)));
    } else {
        data(format_args!("\n{}\n", phases(&plan)));
        note(summary(&plan));
    }
    if plan.servers.iter().any(|server| server.memory.estimated) {
        note("* the KV cache is estimated from the size of the model, as its shape is unknown");
    }
    for server in &plan.servers {
        if let Some(reason) = server.model.folder.as_ref().and_then(|folder| folder.unknown_cache()) {
            note(format_args!("models.{}: {reason}", server.model.name));
        }
    }
    Ok(Exit::Done)
}

/// The number of phases and loads, against the lower bound.
pub(super) fn summary(plan: &Plan) -> String {
    format!(
        "not all fit on {} at once: {}, {} (no order has fewer than {}); `aske fleet bench` follows them",
        plan.gpus,
        counted(plan.phases.len(), "phase"),
        counted(plan.loads, "load"),
        plan.bound
    )
}

fn gb(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / GB as f64)
}

fn numbers(gpus: &[usize]) -> String {
    gpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn memory(plan: &Plan) -> Table {
    let header = [
        "model",
        "GPU",
        "port",
        "tokens",
        "held",
        "weights GB",
        "cache GB",
        "overhead GB",
        "on each GB",
        "share",
    ];
    let mut table = table(&header, &[2, 3, 4, 5, 6, 7, 8, 9]);
    let running = if plan.at_once() { plan.running(0) } else { Vec::new() };
    for (at, server) in plan.servers.iter().enumerate() {
        let placed = running.iter().find(|placed| placed.server == at);
        let Server { model, memory, share, port, tensor_parallel } = server;
        let star = if memory.estimated { "*" } else { "" };
        table.add_row([
            model.name.clone(),
            placed.map_or_else(|| "by phase".to_owned(), |placed| numbers(&placed.gpus)),
            port.to_string(),
            model.length.to_string(),
            model.sequences.to_string(),
            gb(memory.weights),
            gb(memory.cache) + star,
            gb(memory.overhead),
            gb(memory.per_gpu(*tensor_parallel as u64)),
            format!("{:.1}%", f64::from(*share) / 10.0),
        ]);
    }
    table
}

/// Memory used on each GPU.
fn gpus(plan: &Plan) -> Table {
    let mut table = table(&["GPU", "servers", "taken GB", "of GB", "share"], &[0, 1, 2, 3, 4]);
    let running = plan.running(0);
    for (gpu, taken) in plan.used(0).iter().enumerate() {
        let servers = running.iter().filter(|placed| placed.gpus.contains(&gpu)).count();
        table.add_row([
            gpu.to_string(),
            servers.to_string(),
            format!("{:.1}", f64::from(*taken) * f64::from(plan.gpus.gb) / 1000.0),
            plan.gpus.gb.to_string(),
            format!("{:.1}%", f64::from(*taken) / 10.0),
        ]);
    }
    table
}

fn phases(plan: &Plan) -> Table {
    let mut table = table(&["phase", "stop", "start", "pairs", "fullest GPU"], &[0, 3, 4]);
    let name = |server: usize| plan.servers[server].model.name.as_str();
    for (at, phase) in plan.phases.iter().enumerate() {
        let stop: Vec<&str> = phase.stop.iter().map(|server| name(*server)).collect();
        let start: Vec<&str> = phase.start.iter().map(|placed| name(placed.server)).collect();
        let fullest = plan.used(at).into_iter().max().unwrap_or_default();
        table.add_row([
            (at + 1).to_string(),
            stop.join(" "),
            start.join(" "),
            phase.pairs.len().to_string(),
            format!("{:.1}%", f64::from(fullest) / 10.0),
        ]);
    }
    table
}
