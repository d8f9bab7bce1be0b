//! All connections: at most so many, and none that holds a place without using it while others wait.

use crate::Limits;
use crate::connection::Connection;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// All open connections.
#[derive(Debug)]
pub(crate) struct Table {
    connections: Mutex<HashMap<u64, Arc<Connection>>>,
    limits: Limits,
}

/// A connection's place; dropping it frees the place.
#[derive(Debug)]
pub(crate) struct Place {
    table: Arc<Table>,
    number: u64,
    pub(crate) connection: Arc<Connection>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.table.connections().remove(&self.number);
    }
}

impl Table {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { connections: Mutex::default(), limits })
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u64, Arc<Connection>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a new connection. Where there is none, those that have waited longest for their clients are closed, some
    /// at a time; there is no place only where every client is waiting for an answer.
    pub(crate) fn place(self: &Arc<Self>, number: u64) -> Option<Place> {
        if self.connections().len() >= self.limits.connections && !self.make_room() {
            return None;
        }
        let connection = Arc::new(Connection::new());
        self.connections().insert(number, Arc::clone(&connection));
        Some(Place { table: Arc::clone(self), number, connection })
    }

    fn make_room(&self) -> bool {
        let mut connections = self.connections();
        let mut idle: Vec<_> = connections
            .iter()
            .filter_map(|(number, connection)| Some((connection.idle_since(&self.limits)?, *number)))
            .collect();
        // One sixteenth at a time, so that a flood does not have everyone looked at for every connection.
        let most = (self.limits.connections / 16).max(1).min(idle.len());
        if most > 0 && most < idle.len() {
            idle.select_nth_unstable(most - 1);
        }
        for (_, number) in &idle[..most] {
            if let Some(connection) = connections.remove(number) {
                connection.close();
            }
        }
        most > 0
    }

    /// Closes connections that take longer than they may.
    pub(crate) fn close_overdue(&self) {
        let connections = self.connections();
        connections.values().filter(|one| one.is_overdue(&self.limits)).for_each(|one| one.close());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn table(connections: usize) -> Arc<Table> {
        Table::new(Limits { connections, ..Limits::default() })
    }

    async fn is_closing(place: &Place) -> bool {
        tokio::time::timeout(Duration::from_millis(1), place.connection.closing()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_has_waited_longest_for_its_client_makes_room() {
        let table = table(3);
        let (first, second, third) =
            (table.place(1).unwrap(), table.place(2).unwrap(), table.place(3).unwrap());
        first.connection.answering();
        tokio::time::advance(Duration::from_millis(10)).await;
        third.connection.received();
        let fourth = table.place(4).unwrap();
        assert!(is_closing(&second).await, "it has sent nothing for longest");
        assert!(!is_closing(&first).await && !is_closing(&third).await);
        third.connection.answering();
        fourth.connection.answering();
        assert!(table.place(5).is_none(), "every client waits for an answer");
        // A client that does not read its answer loses its place after the grace.
        first.connection.sent(false);
        assert!(table.place(5).is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(table.place(5).is_some() && is_closing(&first).await);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_clients_are_closed_in_time() {
        let table = table(9);
        let limits = Limits::default();
        let (head, idle, answered, stalled) = (
            table.place(1).unwrap(),
            table.place(2).unwrap(),
            table.place(3).unwrap(),
            table.place(4).unwrap(),
        );
        head.connection.received();
        idle.connection.answering();
        idle.connection.answered();
        answered.connection.answering();
        stalled.connection.answering();
        stalled.connection.sent(false);
        tokio::time::advance(limits.head + Duration::from_secs(1)).await;
        table.close_overdue();
        assert!(is_closing(&head).await && !is_closing(&idle).await && !is_closing(&stalled).await);
        tokio::time::advance(limits.stall).await;
        table.close_overdue();
        assert!(is_closing(&stalled).await && !is_closing(&idle).await);
        tokio::time::advance(limits.idle).await;
        table.close_overdue();
        assert!(is_closing(&idle).await && !is_closing(&answered).await);
    }
}
