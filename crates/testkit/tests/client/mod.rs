//! A plain blocking HTTP client on a raw socket.
#![allow(dead_code, reason = "each test file uses a part")]
#![expect(clippy::unwrap_used, reason = "a test that cannot reach its server has failed")]

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use aske_testkit::TestServer;
use serde_json::{Value, json};

/// A chat request's body.
pub(crate) fn body(model: &str, prompt: &str, seed: u64) -> String {
    json!({ "model": model, "messages": [{ "role": "user", "content": prompt }], "seed": seed }).to_string()
}

/// One keep-alive connection.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    /// The bearer key to send.
    pub(crate) key: Option<&'static str>,
}

/// A reply read in full.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Client {
    /// Connects to a server.
    pub(crate) fn new(server: &TestServer) -> Self {
        Self::connect(server.address())
    }

    /// Connects to an address.
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream), key: None }
    }

    /// Sends a chat request and reads its reply.
    pub(crate) fn chat(&mut self, body: &str) -> io::Result<Reply> {
        self.send_chat(body)?;
        self.read()
    }

    /// Sends a chat request.
    pub(crate) fn send_chat(&mut self, body: &str) -> io::Result<()> {
        let key = self.key.map(|key| format!("authorization: Bearer {key}\r\n")).unwrap_or_default();
        let length = body.len();
        let head =
            format!("POST /v1/chat/completions HTTP/1.1\r\nhost: test\r\n{key}content-length: {length}");
        self.stream.get_mut().write_all(format!("{head}\r\n\r\n{body}").as_bytes())
    }

    /// Asks for a path.
    pub(crate) fn get(&mut self, path: &str) -> io::Result<Reply> {
        self.stream.get_mut().write_all(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").as_bytes())?;
        self.read()
    }

    /// Reads whatever comes until the server closes.
    pub(crate) fn read_to_end(&mut self) -> io::Result<String> {
        let mut text = String::new();
        self.stream.read_to_string(&mut text)?;
        Ok(text)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }

    fn read(&mut self) -> io::Result<Reply> {
        let status = self.line()?.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut reply = Reply { status, headers, body: String::new() };
        let length = reply.header("content-length").unwrap().parse().unwrap();
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        reply.body = String::from_utf8(bytes).unwrap();
        Ok(reply)
    }
}

impl Reply {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        &self.body
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}
