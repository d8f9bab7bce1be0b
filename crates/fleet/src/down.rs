//! Stops a fleet from another process: `aske fleet down`.

use crate::error::FleetError;
use crate::process::{has_orphans, terminate_group};
use crate::state::FleetState;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Stops the supervisor and servers of a fleet; returns the names of its servers.
pub async fn down(folder: &Path, grace: Duration) -> Result<Vec<String>, FleetError> {
    let Some(before) = FleetState::read(folder)? else { return Ok(Vec::new()) };
    // The supervisor first, or it would restart the servers.
    before.supervisor.terminate();
    let began = Instant::now();
    while before.supervisor.is_alive() && began.elapsed() < grace * 3 {
        sleep(Duration::from_millis(100)).await;
    }
    let state = FleetState::read(folder)?;
    for server in state.iter().flat_map(|state| &state.servers) {
        if let Some(process) = &server.process
            && (process.is_alive() || has_orphans(process.pid, &before.tag))
        {
            terminate_group(process.pid, grace).await;
        }
    }
    FleetState::remove(folder);
    Ok(before.servers.into_iter().map(|server| server.name).collect())
}
