//! What all requests of a server share.

use crate::budget::Budget;
use crate::connection::{Connection, Phase};
use crate::{Limits, Workers};
use std::sync::Arc;

/// Limits and budgets of a server, for the requests of one connection. Routes get it as an `Extension`.
#[derive(Clone, Debug)]
pub struct ServerState {
    pub(crate) limits: Limits,
    pub(crate) bodies: Arc<Budget>,
    pub(crate) responses: Arc<Budget>,
    pub(crate) connection: Option<Arc<Connection>>,
    /// Worker threads for blocking work.
    pub workers: Arc<Workers>,
}

impl Default for ServerState {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl ServerState {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            bodies: Budget::new(limits.total_body_bytes, limits.grace),
            responses: Budget::new(limits.total_response_bytes, limits.grace),
            limits,
            connection: None,
            workers: Arc::default(),
        }
    }

    /// The same state for the requests of one connection.
    pub(crate) fn with_connection(&self, connection: &Arc<Connection>) -> Arc<Self> {
        Arc::new(Self { connection: Some(Arc::clone(connection)), ..self.clone() })
    }

    pub(crate) fn enter(&self, phase: Phase) {
        if let Some(connection) = &self.connection {
            connection.enter(phase);
        }
    }
}
