//! What an engine is asked, as it comes in between two steps.

use std::sync::mpsc::{Receiver, TryRecvError};

/// Takes what was asked; an idle engine waits for it. `take` says whether there is work now. False once nobody can ask
/// any more and there is no work.
pub(crate) fn arrivals<J>(inbox: &Receiver<J>, mut idle: bool, mut take: impl FnMut(J) -> bool) -> bool {
    loop {
        let job = if idle { inbox.recv().map_err(|_| TryRecvError::Disconnected) } else { inbox.try_recv() };
        match job {
            Ok(job) => idle &= !take(job),
            Err(TryRecvError::Empty) => return true,
            Err(TryRecvError::Disconnected) => return !idle,
        }
    }
}
