//! Receives new requests between two steps of an engine.

use std::sync::mpsc::{Receiver, TryRecvError};

/// Passes all waiting jobs to `take`, which returns whether there is work; blocks while idle. Returns false once all
/// senders are gone and there is no work.
pub(crate) fn receive_jobs<J>(inbox: &Receiver<J>, mut idle: bool, mut take: impl FnMut(J) -> bool) -> bool {
    loop {
        let job = if idle { inbox.recv().map_err(|_| TryRecvError::Disconnected) } else { inbox.try_recv() };
        match job {
            Ok(job) => idle &= !take(job),
            Err(TryRecvError::Empty) => return true,
            Err(TryRecvError::Disconnected) => return !idle,
        }
    }
}
