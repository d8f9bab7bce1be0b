//! Where the policy's replies are sampled: in this process, or by vLLM servers that receive its weights after every update.

use std::path::PathBuf;
use std::time::Duration;

use aske_model::{HttpClient, Local, Provider, VllmServers};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::TrainError;
use super::checkpoint::io_error;
use crate::files::WEIGHTS;
use crate::{LearnError, Policy};

/// Samples the policy of a training run.
pub enum PolicyServer {
    /// With the CPU engine, from a snapshot of the weights.
    InProcess,
    /// By vLLM servers.
    Vllm(VllmPolicyServer),
}

/// vLLM servers whose weights are replaced after every update.
///
/// The weights pass through a folder that trainer and servers share, in memory (`/dev/shm`) where they are on one machine.
/// A server that was started from that folder has the right weights after a restart, too.
pub struct VllmPolicyServer {
    http: HttpClient,
    urls: Vec<String>,
    folder: PathBuf,
    chat_template_kwargs: Map<String, Value>,
    /// How long a server may take to come up.
    startup_timeout: Duration,
    /// Known once the first weights are written.
    servers: Mutex<Option<VllmServers>>,
}

impl PolicyServer {
    /// Serves the current weights of the policy as this version. No reply of an earlier version may be outstanding.
    pub(super) async fn serve(
        &self,
        policy: &dyn Policy,
        version: u64,
    ) -> Result<Box<dyn Provider>, TrainError> {
        match self {
            Self::InProcess => Ok(policy.serve(version)?),
            Self::Vllm(server) => server.serve(policy, version).await,
        }
    }

    /// Removes the weights that were passed to servers.
    pub fn clean_up(&self) {
        if let Self::Vllm(server) = self {
            // What is left is replaced by the next training in this folder.
            let _ = std::fs::remove_dir_all(&server.folder);
        }
    }

    /// Whether a server was restarted unnoticed, so that replies since [`PolicyServer::serve`] may come from other weights.
    pub(super) async fn lost_weights(&self) -> bool {
        match self {
            Self::InProcess => false,
            Self::Vllm(server) => {
                let servers = server.servers.lock().clone();
                match servers {
                    Some(servers) => servers.replaced().await > 0,
                    None => false,
                }
            }
        }
    }
}

impl VllmPolicyServer {
    /// Servers at these addresses, which read weights from `folder`.
    pub fn new(
        urls: Vec<String>,
        folder: PathBuf,
        chat_template_kwargs: Map<String, Value>,
        startup_timeout: Duration,
    ) -> Result<Self, LearnError> {
        let http = HttpClient::new(1).map_err(|error| LearnError::library("HTTP", error))?;
        Ok(Self { http, urls, folder, chat_template_kwargs, startup_timeout, servers: Mutex::default() })
    }

    /// Writes the weights of a policy where servers find them when they start.
    pub fn publish(&self, policy: &dyn Policy) -> Result<(), TrainError> {
        let draft = self.folder.join("next");
        std::fs::create_dir_all(&draft).map_err(io_error(&draft))?;
        policy.export(&draft)?;
        // The weights last: with them the new version is complete.
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&draft).map_err(io_error(&draft))? {
            names.push(entry.map_err(io_error(&draft))?.file_name());
        }
        names.sort_by_key(|name| name == WEIGHTS);
        for name in names {
            let (from, to) = (draft.join(&name), self.folder.join(&name));
            std::fs::rename(&from, &to).map_err(io_error(&to))?;
        }
        Ok(())
    }

    /// The servers, once they are up.
    async fn servers(&self) -> Result<VllmServers, TrainError> {
        let known = self.servers.lock().clone();
        if let Some(servers) = known {
            return Ok(servers);
        }
        let kwargs = self.chat_template_kwargs.clone();
        let servers =
            VllmServers::open(&self.http, &self.urls, &self.folder, kwargs, self.startup_timeout).await;
        let servers = servers.map_err(TrainError::Sampler)?;
        *self.servers.lock() = Some(servers.clone());
        Ok(servers)
    }

    async fn serve(&self, policy: &dyn Policy, version: u64) -> Result<Box<dyn Provider>, TrainError> {
        self.publish(policy)?;
        let servers = self.servers().await?;
        servers.load_weights(&self.folder, self.startup_timeout).await.map_err(TrainError::Sampler)?;
        Ok(Box::new(Local::new(servers).traced(version)))
    }
}
