//! The viewer as static files: the same page, and for every request that it makes the response of the API.
//!
//! Pages without a server may load neither modules nor data with `fetch`, so the page is one classic script and every
//! response is a script of its own, which the page adds when it needs it. Responses are texts in such a script, never code:
//! it calls one function with two string literals of printable ASCII.

use crate::runs::RunStore;
use crate::{ViewError, api, assets, classic};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tower::ServiceExt;

/// What `encodeURIComponent` escapes.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');
/// Rows of a page of a list, and samples of a problem, as the page requests them.
const PAGE: u64 = 100;
const SAMPLES: u64 = 20;
/// Runs that are compared with each other at most.
const MAX_COMPARED: usize = 8;
/// Steps of a seed whose rollouts are written at most.
const MAX_STEPS: u64 = 100_000;
/// The time between two requests for a list that is not complete.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// Bytes of the longest response.
const MAX_RESPONSE: usize = 1 << 30;

/// What the page may load and do. Without a server there is no header to say so.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; \
     img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
     trusted-types aske-mathml aske-chunk";

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BundleSummary {
    /// Runs, trainings and their parts.
    pub runs: usize,
    /// Files.
    pub files: usize,
    /// Bytes of all files.
    pub bytes: u64,
}

/// Writes the runs below some folders as static files. The folder must be new or empty; it appears when all of it is
/// written. `progress` is called with the number of files so far.
pub async fn bundle(
    runs: Vec<PathBuf>,
    into: &Path,
    progress: impl FnMut(usize),
) -> Result<BundleSummary, ViewError> {
    if runs.is_empty() {
        return Err(ViewError::NoRuns);
    }
    let draft = Draft::new(into)?;
    let (end, ending) = watch::channel(false);
    let store = spawn_blocking(move || RunStore::open(&runs, ending))
        .await
        .map_err(aske_http::WorkerError::from)??;
    let mut writer = Writer {
        routes: api::routes().with_state(store),
        folder: draft.folder.join("data"),
        names: HashMap::new(),
        summary: BundleSummary::default(),
        progress,
    };
    write_page(&mut writer, &draft.folder)?;
    writer.all().await?;
    end.send_replace(true);
    let summary = writer.summary;
    draft.finish()?;
    Ok(summary)
}

/// The folder before it is complete, which is removed unless it is finished.
struct Draft {
    into: PathBuf,
    folder: PathBuf,
}

impl Draft {
    fn new(into: &Path) -> Result<Self, ViewError> {
        let occupied = match std::fs::read_dir(into) {
            Ok(mut entries) => entries.next().is_some(),
            // A link that leads nowhere is in the way, too.
            Err(error) => error.kind() != std::io::ErrorKind::NotFound || into.is_symlink(),
        };
        if occupied {
            return Err(ViewError::Occupied(into.to_owned()));
        }
        // An empty folder may be named `.` or by a link: what it is called itself is replaced.
        let into = std::fs::canonicalize(into)
            .or_else(|_| std::path::absolute(into))
            .map_err(ViewError::write(into))?;
        let name = into.file_name().ok_or_else(|| ViewError::Occupied(into.clone()))?;
        let name = format!(".{}.partial-{}", name.to_string_lossy(), std::process::id());
        let folder = into.with_file_name(name);
        std::fs::create_dir_all(folder.join("data")).map_err(ViewError::write(&folder))?;
        Ok(Self { into, folder })
    }

    fn finish(self) -> Result<(), ViewError> {
        if self.into.exists() {
            std::fs::remove_dir(&self.into).map_err(ViewError::write(&self.into))?;
        }
        std::fs::rename(&self.folder, &self.into).map_err(ViewError::write(&self.into))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename there is nothing left.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn write_page<P: FnMut(usize)>(writer: &mut Writer<P>, folder: &Path) -> Result<(), ViewError> {
    for (name, style) in assets::styles() {
        writer.write(&folder.join(name), style.as_bytes())?;
    }
    let script = classic::script(&assets::modules(), "app.js").map_err(ViewError::Page)?;
    let script = format!("globalThis.askeBundle = {{ compared: {MAX_COMPARED} }};\n{script}");
    writer.write(&folder.join("app.js"), script.as_bytes())?;
    writer.write(&folder.join("index.html"), page()?.as_bytes())
}

/// The page, with its policy, a classic script and a note.
fn page() -> Result<String, ViewError> {
    let policy = format!(
        "<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{CONTENT_SECURITY_POLICY}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">"
    );
    let note = format!(
        "<p class=\"copy-note quiet\">A static copy written by <code>aske view --bundle</code> {}. Search covers names and the \
         first 300 characters of questions.</p>\n<main",
        env!("CARGO_PKG_VERSION")
    );
    let mut page = assets::PAGE_SOURCE.to_owned();
    for (from, to) in [
        ("<meta charset=\"utf-8\">", policy.as_str()),
        ("<script type=\"module\" src=\"app.js\">", "<script defer src=\"app.js\">"),
        ("<main", note.as_str()),
        (", which is served from this machine", ""),
    ] {
        if !page.contains(from) {
            return Err(ViewError::Page(format!("index.html has no {from}")));
        }
        page = page.replacen(from, to, 1);
    }
    Ok(page)
}

struct Writer<P> {
    routes: Router,
    folder: PathBuf,
    /// Requests by the name of their file, so that two of them never share one.
    names: HashMap<String, String>,
    summary: BundleSummary,
    progress: P,
}

type Query<'q> = &'q [(&'q str, &'q str)];

impl<P: FnMut(usize)> Writer<P> {
    /// Every response that the page can need.
    async fn all(&mut self) -> Result<(), ViewError> {
        // Waits until all rows have their numbers.
        let rows = loop {
            let (_, listed) = self.get("runs", &[]).await?;
            let rows = listed["runs"].as_array().cloned().unwrap_or_default();
            if rows.iter().all(|row| row["state"] != "reading") {
                break rows;
            }
        };
        self.summary.runs = rows.len();
        self.pages("home", &[("parts", "true")], PAGE).await?;
        for row in &rows {
            self.run(row).await?;
        }
        let of_kind = |eval: bool| {
            let sound = rows.iter().filter(|row| row["state"] == "ready" && row["kind"] != "training");
            let kind = sound.filter(move |row| (row["kind"] == "evaluation") == eval);
            kind.filter_map(|row| row["id"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        for (route, ids) in [("compare", of_kind(false)), ("eval-compare", of_kind(true))] {
            if ids.len() > MAX_COMPARED {
                continue;
            }
            for first in &ids {
                for second in ids.iter().filter(|second| *second != first) {
                    self.pages(route, &[("first", first), ("second", second)], PAGE).await?;
                    if route == "compare" {
                        self.save("evidence", &[("run", first), ("run", second)]).await?;
                    }
                }
            }
        }
        // Measurements of a training are compared on its page.
        for row in rows.iter().filter(|row| row["kind"] == "training") {
            let Some(id) = row["id"].as_str() else { continue };
            let (_, training) = self.get("training", &[("run", id)]).await?;
            let measured = training["measurements"].as_array().cloned().unwrap_or_default();
            let run = |one: &Value| one["run"].as_str().map(str::to_owned);
            let Some(before) = measured.first().filter(|one| one["seed"].is_null()).and_then(run) else {
                continue;
            };
            for after in measured.iter().skip(1).filter_map(run) {
                self.pages("compare", &[("first", &before), ("second", &after)], PAGE).await?;
            }
        }
        Ok(())
    }

    async fn run(&mut self, row: &Value) -> Result<(), ViewError> {
        let Some(id) = row["id"].as_str() else { return Ok(()) };
        let run = [("run", id)];
        self.save("run", &run).await?;
        if row["state"] == "broken" {
            return Ok(());
        }
        match row["kind"].as_str() {
            Some("training") => {
                let training = self.save("training", &run).await?;
                self.rollouts(&training).await?;
            }
            Some("evaluation") => self.evaluation(id).await?,
            _ => {
                for route in RUN_ROUTES {
                    self.save(route, &run).await?;
                }
                for name in self.pages("sessions", &run, PAGE).await? {
                    let Some(name) = name["name"].as_str() else { continue };
                    for route in ["session", "requests", "raw"] {
                        self.save(route, &[("run", id), ("name", name)]).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The rollouts of all steps of a training.
    async fn rollouts(&mut self, training: &Value) -> Result<(), ViewError> {
        for seed in training["seeds"].as_array().into_iter().flatten() {
            let (Some(run), Some(steps)) = (seed["run"].as_str(), seed["step"].as_u64()) else { continue };
            for step in 1..=steps.min(MAX_STEPS) {
                self.save("rollouts", &[("run", run), ("step", &step.to_string())]).await?;
            }
        }
        Ok(())
    }

    async fn evaluation(&mut self, id: &str) -> Result<(), ViewError> {
        for route in ["scores", "configuration", "calls"] {
            self.save(route, &[("run", id)]).await?;
        }
        for row in self.pages("evals", &[("run", id)], PAGE).await? {
            let (Some(dataset), Some(problem)) = (row["dataset"].as_str(), row["problem"].as_str()) else {
                continue;
            };
            let query = [("run", id), ("dataset", dataset), ("problem", problem)];
            for sample in self.pages("eval", &query, SAMPLES).await? {
                let number = sample["number"].to_string();
                let [run, dataset, problem] = query;
                self.save("eval-call", &[run, dataset, problem, ("sample", &number)]).await?;
            }
        }
        Ok(())
    }

    /// All pages of a list; returns their rows.
    async fn pages(&mut self, route: &str, query: Query<'_>, size: u64) -> Result<Vec<Value>, ViewError> {
        let (mut rows, mut offset) = (Vec::new(), 0);
        loop {
            let (at, limit) = (offset.to_string(), size.to_string());
            let mut query = query.to_vec();
            query.extend([("offset", at.as_str()), ("limit", limit.as_str())]);
            let page = self.save(route, &query).await?;
            let found = page["rows"].as_array().or_else(|| page["samples"].as_array()).cloned();
            let found = found.unwrap_or_default();
            let total = page["matching"].as_u64().or_else(|| page["total"].as_u64()).unwrap_or_default();
            offset += size;
            let done = found.is_empty() || offset >= total;
            rows.extend(found);
            if done {
                return Ok(rows);
            }
        }
    }

    /// The status and the JSON of a response.
    async fn get(&self, route: &str, query: Query<'_>) -> Result<(bool, Value), ViewError> {
        let (found, body) = self.fetch(&format!("/api/{}", key(route, query))).await?;
        Ok((found, serde_json::from_slice(&body).unwrap_or_default()))
    }

    async fn fetch(&self, address: &str) -> Result<(bool, bytes::Bytes), ViewError> {
        let failed = |error: &dyn std::fmt::Display| ViewError::Page(format!("{address}: {error}"));
        let request = Request::get(address).body(Body::empty()).map_err(|error| failed(&error))?;
        let response = self.routes.clone().oneshot(request).await.map_err(|error| failed(&error))?;
        let found = response.status().is_success();
        let body = to_bytes(response.into_body(), MAX_RESPONSE).await.map_err(|error| failed(&error))?;
        Ok((found, body))
    }

    /// Writes a response, be it an error, and the full texts that it links to.
    async fn save(&mut self, route: &str, query: Query<'_>) -> Result<Value, ViewError> {
        let key = key(route, query);
        let (found, json, value) = loop {
            let (found, body) = self.fetch(&format!("/api/{key}")).await?;
            let json = String::from_utf8_lossy(&body).into_owned();
            let value: Value = serde_json::from_str(&json).unwrap_or_default();
            // The list of a large run begins before all of its records are read.
            if value["complete"] != false {
                break (found, json, value);
            }
            sleep(RETRY_INTERVAL).await;
        };
        let chunk = format!("askeChunk({}, {}, {found});\n", literal(&key), literal(&json));
        let name = self.name(&key, "js")?;
        self.write(&self.folder.join(name), chunk.as_bytes())?;
        let mut links = Vec::new();
        full_texts(&value, &mut links);
        for link in links {
            let (found, text) = self.fetch(&link).await?;
            if found {
                let name = self.name(&link, "txt")?;
                self.write(&self.folder.join(name), &text)?;
            }
        }
        Ok(value)
    }

    /// The name of a file, from the hash of its request.
    fn name(&mut self, key: &str, ending: &str) -> Result<String, ViewError> {
        let name = format!("{:016x}.{ending}", fnv(key));
        match self.names.insert(name.clone(), key.to_owned()) {
            Some(other) if other != key => Err(ViewError::Page(format!("{key} and {other} have one hash"))),
            _ => Ok(name),
        }
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), ViewError> {
        std::fs::write(path, bytes).map_err(ViewError::write(path))?;
        self.summary.files += 1;
        self.summary.bytes += bytes.len() as u64;
        (self.progress)(self.summary.files);
        Ok(())
    }
}

/// Routes about a run of sessions, with no parameter but the run.
const RUN_ROUTES: [&str; 3] = ["evidence", "configuration", "calls"];

/// A request as the page names it: parameters by name, without empty ones and an offset of 0.
fn key(route: &str, query: Query<'_>) -> String {
    let mut query: Vec<_> = query
        .iter()
        .filter(|(name, value)| !value.is_empty() && (*name, *value) != ("offset", "0"))
        .collect();
    // Of equal names the order counts: it is that of compared runs.
    query.sort_by_key(|(name, _)| *name);
    let mut key = format!("{route}?");
    for (at, (name, value)) in query.into_iter().enumerate() {
        let and = if at > 0 { "&" } else { "" };
        let _ = write!(key, "{and}{name}={}", utf8_percent_encode(value, RESERVED));
    }
    key
}

/// FNV-1a with 64 bits.
fn fnv(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A text as a string literal of printable ASCII, in which no character has a meaning to HTML.
fn literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + text.len() / 8);
    literal.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            ' '..='~' if !matches!(c, '<' | '>' | '&' | '\'') => literal.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(literal, "\\u{unit:04x}");
                }
            }
        }
    }
    literal.push('"');
    literal
}

/// The addresses of full texts in a response.
fn full_texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "full" && text.starts_with("/api/text?") => {
                        found.push(text.clone());
                    }
                    Value::Array(all) if name == "full" => {
                        found.extend(
                            all.iter()
                                .filter_map(Value::as_str)
                                .filter(|text| text.starts_with("/api/text?"))
                                .map(str::to_owned),
                        );
                    }
                    _ => full_texts(value, found),
                }
            }
        }
        Value::Array(all) => all.iter().for_each(|value| full_texts(value, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_literal_whatever_is_in_it() {
        let text = "</script><!-- \u{2028}\u{2029} \u{202e} é 😀 \" \\ ' & \n\0";
        let shown = literal(text);
        assert!(
            shown.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && !shown.contains(['<', '>', '&', '\''])
        );
        // It is JSON, too.
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
    }

    #[test]
    fn requests_have_one_name() {
        assert_eq!(
            key("sessions", &[("run", "a/b c"), ("limit", "100"), ("offset", "0"), ("q", "")]),
            "sessions?limit=100&run=a%2Fb%20c"
        );
        // FNV-1a of "foobar" in its authors' test vectors, draft-eastlake-fnv.
        assert_eq!(fnv("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_page_has_its_policy_and_a_classic_script() {
        let page = page().unwrap();
        assert!(page.contains("Content-Security-Policy") && !page.contains("type=\"module\""), "{page}");
        assert!(page.find("Content-Security-Policy").unwrap() < page.find("<link").unwrap());
    }
}
