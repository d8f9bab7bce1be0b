//! An environment with scripted solvers, and a client that speaks plain HTTP.

use aske_bench::manifest;
use aske_config::Layers;
use aske_record::RunDir;
use aske_serve::{Environment, History, ServeError, SessionLimits, serve};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// The weak solver cannot do what is hard; the strong one and the check always say 42.
pub(crate) const WEAK: &str = "{\"when\":\"hard\",\"reply\":\"#Summary#\\n\\\\boxed{1}\"}\n{\"when\":\"\",\"reply\":\"#Summary#\\n\\\\boxed{42}\"}\n";
pub(crate) const STRONG: &str = "{\"reply\":\"#Summary#\\n\\\\boxed{42}\"}\n";

/// A folder with a configuration, and where everything is stored.
pub(crate) struct World(TempDir);

impl World {
    /// One probing round with the weak and the strong solver; `check` is who judges.
    pub(crate) fn new(check: &str) -> Self {
        Self::with(check, ["weak", "strong"], "")
    }

    /// The same with these solvers, and with more in the configuration.
    pub(crate) fn with(check: &str, solvers: [&str; 2], more: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("weak.jsonl"), WEAK).unwrap();
        std::fs::write(path("strong.jsonl"), STRONG).unwrap();
        let scripted = |name: &str, file: &str| {
            format!("[models.{name}]\nprovider = \"scripted\"\nscript = {:?}\n", path(file))
        };
        let config = format!(
            "[protocol]\nrounds = 1\n[asker]\nmodel = \"policy\"\n[check]\nmodel = \"{check}\"\ndraws = 1\n\
             [train]\nembedder = \"ngram\"\nalpha = 0.5\n[boundary]\nsolvers = {solvers:?}\n\
             [models.policy]\nprovider = \"openai\"\nurl = \"http://127.0.0.1:9/v1\"\n{}{}{}{more}",
            scripted("weak", "weak.jsonl"),
            scripted("strong", "strong.jsonl"),
            scripted("check", "strong.jsonl"),
        );
        std::fs::write(path("aske.toml"), config).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn layers(&self) -> Layers {
        let file = self.path().join("aske.toml");
        Layers::load(file.to_str(), std::iter::empty(), &[]).unwrap()
    }

    /// Starts an environment over this folder.
    pub(crate) async fn start(&self, sessions: usize, idle: Duration) -> Server {
        let layers = self.layers();
        let settings = layers.settings().unwrap();
        let folder = RunDir::open(&self.path().join("run"), &manifest("0", &layers, &settings)).unwrap();
        let history = History::open(&self.path().join("state"), &layers.config().train).unwrap();
        let environment =
            Environment::new(settings, folder, history, SessionLimits { sessions, idle }).unwrap();
        let (told, ready) = oneshot::channel();
        let (end, ended) = oneshot::channel::<()>();
        let http = aske_http::ServerOptions::new(([127, 0, 0, 1], 0).into(), aske_http::Access::open());
        let until = async { drop(ended.await) };
        let task =
            tokio::spawn(serve(environment, http, |server| told.send(server.address()).unwrap(), until));
        Server { address: ready.await.unwrap(), end, task }
    }

    pub(crate) async fn usual(&self) -> Server {
        self.start(64, Duration::from_mins(1)).await
    }
}

/// A running environment.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    end: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Result<(), ServeError>>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Server {
    /// Ends it, and waits until its folder is free.
    pub(crate) async fn stop(self) {
        self.end.send(()).unwrap();
        self.task.await.unwrap().unwrap();
    }

    pub(crate) async fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Said {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let (address, length) = (self.address, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             {headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Said { status, head: head.to_lowercase(), body: serde_json::from_str(body).unwrap_or_default() }
    }

    pub(crate) async fn get(&self, path: &str) -> Said {
        self.send("GET", path, "", "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Said {
        self.send("POST", path, "Content-Type: application/json\r\n", &body.to_string()).await
    }

    /// A session that has begun.
    pub(crate) async fn create(&self, wish: &Value) -> (String, Value) {
        let said = self.post("/v1/sessions", wish).await;
        assert_eq!(said.status, 201, "{said:?}");
        (said.body["session"].as_str().unwrap().to_owned(), said.body)
    }

    pub(crate) async fn step(&self, session: &str, turn: u32, content: &str) -> Said {
        let body = json!({ "turn": turn, "content": content, "finish_reason": "stop" });
        self.post(&format!("/v1/sessions/{session}/step"), &body).await
    }
}

/// An asker's reply with this question and all its sections.
pub(crate) fn asks(question: &str) -> String {
    format!("#Reasoning#\nr\n#Draft#\nd\n#Question#\n{question}")
}
