//! Ending a fleet from another process.

use crate::error::FleetError;
use crate::process::{end_group, left_behind};
use crate::state::State;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Stops what a fleet has started, and nothing else. Gives the names of its servers.
pub async fn down(folder: &Path, grace: Duration) -> Result<Vec<String>, FleetError> {
    let Some(before) = State::read(folder)? else { return Ok(Vec::new()) };
    // The keeper first, or it would start again what ends.
    before.keeper.ask_to_end();
    let began = Instant::now();
    while before.keeper.lives() && began.elapsed() < grace * 3 {
        sleep(Duration::from_millis(100)).await;
    }
    let state = State::read(folder)?;
    for server in state.iter().flat_map(|state| &state.servers) {
        if let Some(process) = &server.process
            && (process.lives() || left_behind(process.pid, &before.mark))
        {
            end_group(process.pid, grace).await;
        }
    }
    State::remove(folder);
    Ok(before.servers.into_iter().map(|server| server.name).collect())
}
