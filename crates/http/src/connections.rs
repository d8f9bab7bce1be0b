//! All open connections: limited in number; idle and slow ones are closed to make room for new ones.

use crate::Limits;
use crate::connection::Connection;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// All open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    open: Mutex<HashMap<u64, Arc<Connection>>>,
    limits: Limits,
}

/// A registered connection; dropping it removes it.
#[derive(Debug)]
pub(crate) struct Registration {
    all: Arc<Connections>,
    id: u64,
    pub(crate) connection: Arc<Connection>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.all.open.lock().remove(&self.id);
    }
}

impl Connections {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { open: Mutex::default(), limits })
    }

    /// Registers a new connection. At the limit, those that have waited longest for their clients are closed first; none
    /// is returned only if every client is waiting for a response.
    pub(crate) fn register(self: &Arc<Self>, id: u64) -> Option<Registration> {
        let full = self.open.lock().len() >= self.limits.max_connections;
        if full && !self.evict_idle() {
            return None;
        }
        let connection = Arc::new(Connection::new());
        self.open.lock().insert(id, Arc::clone(&connection));
        Some(Registration { all: Arc::clone(self), id, connection })
    }

    fn evict_idle(&self) -> bool {
        let mut open = self.open.lock();
        let mut idle: Vec<_> = open
            .iter()
            .filter_map(|(id, connection)| Some((connection.idle_since(&self.limits)?, *id)))
            .collect();
        // One sixteenth at a time, so that a flood does not cause a scan of all connections for each new one.
        let count = (self.limits.max_connections / 16).max(1).min(idle.len());
        if count > 0 && count < idle.len() {
            idle.select_nth_unstable(count - 1);
        }
        for (_, id) in &idle[..count] {
            if let Some(connection) = open.remove(id) {
                connection.close();
            }
        }
        tracing::debug!(count, "connection limit reached: closed idle connections");
        count > 0
    }

    /// Closes connections that have exceeded a timeout.
    pub(crate) fn close_overdue(&self) {
        for (id, connection) in &*self.open.lock() {
            if let Some(phase) = connection.overdue(&self.limits) {
                tracing::debug!(id, ?phase, "closed slow connection");
                connection.close();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Phase;
    use std::time::Duration;

    fn full_at(max_connections: usize) -> Arc<Connections> {
        Connections::new(Limits { max_connections, ..Limits::default() })
    }

    async fn is_closing(one: &Registration) -> bool {
        tokio::time::timeout(Duration::from_millis(1), one.connection.closing()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_has_waited_longest_for_its_client_makes_room() {
        let connections = full_at(3);
        let (first, second, third) = (
            connections.register(1).unwrap(),
            connections.register(2).unwrap(),
            connections.register(3).unwrap(),
        );
        first.connection.enter(Phase::Response);
        tokio::time::advance(Duration::from_millis(10)).await;
        third.connection.bytes_received();
        let fourth = connections.register(4).unwrap();
        assert!(is_closing(&second).await, "it has sent nothing for longest");
        assert!(!is_closing(&first).await && !is_closing(&third).await);
        third.connection.enter(Phase::Response);
        fourth.connection.enter(Phase::Response);
        assert!(connections.register(5).is_none(), "every client waits for an answer");
        // A client that does not read its answer loses its place after the grace.
        first.connection.write_polled(false);
        assert!(connections.register(5).is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(connections.register(5).is_some() && is_closing(&first).await);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_clients_are_closed_in_time() {
        let connections = full_at(9);
        let limits = Limits::default();
        let (head, idle, answered, stalled) = (
            connections.register(1).unwrap(),
            connections.register(2).unwrap(),
            connections.register(3).unwrap(),
            connections.register(4).unwrap(),
        );
        head.connection.bytes_received();
        idle.connection.enter(Phase::Response);
        idle.connection.enter(Phase::Idle);
        answered.connection.enter(Phase::Response);
        stalled.connection.enter(Phase::Response);
        stalled.connection.write_polled(false);
        tokio::time::advance(limits.header_timeout + Duration::from_secs(1)).await;
        connections.close_overdue();
        assert!(is_closing(&head).await && !is_closing(&idle).await && !is_closing(&stalled).await);
        tokio::time::advance(limits.write_timeout).await;
        connections.close_overdue();
        assert!(is_closing(&stalled).await && !is_closing(&idle).await);
        tokio::time::advance(limits.idle_timeout).await;
        connections.close_overdue();
        assert!(is_closing(&idle).await && !is_closing(&answered).await);
    }
}
