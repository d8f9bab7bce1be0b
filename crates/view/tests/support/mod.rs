//! Small runs, and a client that says exactly what it is told to.
#![allow(dead_code, reason = "each test uses a part")]

use aske_chat::Finish;
use aske_http::{Access, ServerOptions};
use aske_record::{GradeLine, Identity, Manifest, PairId, Record, RunDir, SCHEMA, SessionRecord};
use aske_session::{Grade, GradingRules, Outcome, SolverAnswer, Transcript, Turn};
use aske_view::serve;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

/// A run with these solvers, smallest first.
pub(crate) fn open(path: &Path) -> RunDir {
    let config = toml_table();
    RunDir::open(path, &Manifest::new("0.1.0", Identity::default(), config)).unwrap()
}

fn toml_table() -> toml::Table {
    toml::from_str(
        "asker.model = 'asker'\nboundary.solvers = ['tiny', 'middle', 'large']\ncheck.model = 'check'\n\
         models.tiny.params = 1.5\nmodels.middle.params = 7.0",
    )
    .unwrap()
}

/// Adds a session with a grade, where there is an outcome.
pub(crate) fn add(run: &RunDir, names: [&str; 2], sample: u32, question: &str, right: Option<[bool; 2]>) {
    let solved = |right: bool| SolverAnswer {
        answer: Some(if right { "42" } else { "41" }.into()),
        finish: Finish::Stop,
    };
    let both = right.unwrap_or([false, false]).map(solved);
    let turn = |question: &str| Turn {
        question: Some(question.to_owned()),
        cut: false,
        error: None,
        missing: vec![],
        solved: Some(both.clone()),
    };
    let record = SessionRecord {
        schema: SCHEMA,
        pair: PairId::new(names[0], names[1]).unwrap(),
        sample,
        asker: "asker".into(),
        solvers: names.map(str::to_owned),
        transcript: Transcript {
            turns: vec![turn("Probe?"), turn(question)],
            check: vec![Some("42".into()); 3],
        },
        used: std::collections::BTreeMap::default(),
    };
    let name = record.id().to_string();
    run.add_record(&Record::Session(record)).unwrap();
    if let Some(right) = right {
        let grade = Grade {
            outcome: Outcome::of(right),
            right: Some(right),
            undecided: false,
            promoted: false,
            folded: false,
        };
        run.add_grade(&GradeLine {
            schema: SCHEMA,
            record: name,
            grade,
            check: None,
            rules: GradingRules::default(),
        })
        .unwrap();
    }
}

/// A viewer that ends with its test.
pub(crate) struct Viewer {
    pub(crate) address: SocketAddr,
    pub(crate) end: Option<oneshot::Sender<()>>,
    pub(crate) task: tokio::task::JoinHandle<Result<(), aske_view::ViewError>>,
}

/// Any free port, for this machine alone.
pub(crate) fn local() -> ServerOptions {
    ServerOptions::new(([127, 0, 0, 1], 0).into(), Access::open())
}

pub(crate) async fn start(runs: Vec<PathBuf>) -> Viewer {
    let (told, ready) = oneshot::channel();
    let (end, ended) = oneshot::channel::<()>();
    let until = async { drop(ended.await) };
    let tell = |server: &aske_http::Server| told.send(server.address()).unwrap();
    let task = tokio::spawn(serve(runs, local(), tell, until));
    Viewer { address: ready.await.unwrap(), end: Some(end), task }
}

/// What came back.
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Said {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Viewer {
    /// Sends these very lines.
    pub(crate) async fn send(&self, request: &str) -> Said {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&all[..end]).to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Said { status, head, body: all[end + 4..].to_vec() }
    }

    pub(crate) async fn get(&self, path: &str) -> Said {
        let host = self.address;
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")).await
    }
}
