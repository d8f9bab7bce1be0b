//! `/api/home`: a page of the list of runs, filtered and sorted.

use super::sessions::Paging;
use crate::params::{Params, json_word};
use crate::request::{ApiRequest, Cost};
use crate::runs::{Entry, RunStore};
use crate::search::Needle;
use crate::summary::{Kind, Summary};
use aske_http::ApiError;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a page waits for rows that are being computed.
const MAX_WAIT: Duration = Duration::from_millis(150);
/// The time between two looks at whether they are there.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The approximate size of a row in bytes.
const ROW_BYTES: usize = 2 << 10;

/// The column by which runs are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Column {
    #[default]
    Written,
    Started,
    Name,
    Kind,
    Asker,
    Set,
    Sessions,
    Calibrated,
    Separation,
    Tokens,
    Cost,
}

const COLUMNS: [Column; 11] = [
    Column::Written,
    Column::Started,
    Column::Name,
    Column::Kind,
    Column::Asker,
    Column::Set,
    Column::Sessions,
    Column::Calibrated,
    Column::Separation,
    Column::Tokens,
    Column::Cost,
];

/// Which runs are listed, and in which order.
struct Filter {
    kind: Option<Kind>,
    needle: Option<Needle>,
    /// The parts of one training; without it, parts of trainings are listed below them only.
    part_of: Option<String>,
    /// Also the parts of trainings.
    parts: bool,
    live: Option<bool>,
    column: Column,
    descending: bool,
}

impl Filter {
    fn parse(params: &mut Params) -> Result<Self, ApiError> {
        let column = params.choice("sort", COLUMNS, json_word)?.unwrap_or_default();
        // The newest and the largest first; names from A to Z.
        let named = matches!(column, Column::Name | Column::Kind | Column::Asker | Column::Set);
        Ok(Self {
            kind: params.choice("kind", Kind::ALL, json_word)?,
            needle: params.text("q")?.map(|text| Needle::new(&text)),
            part_of: params.text("part_of")?,
            parts: params.choice("parts", [true, false], bool::to_string)?.unwrap_or(false),
            live: params.choice("live", [true, false], bool::to_string)?,
            column,
            descending: params.choice("desc", [true, false], bool::to_string)?.unwrap_or(!named),
        })
    }

    fn matches(&self, entry: &Entry) -> bool {
        let found = &entry.found;
        let listed = match &self.part_of {
            Some(training) => found.part_of.as_ref() == Some(training),
            None => {
                self.parts
                    || found.part_of.is_none()
                    || self.needle.is_some()
                    || self.kind == Some(Kind::Rollouts)
            }
        };
        listed
            && entry.with_summary(|summary, writing, error| {
                let kind =
                    if error.is_some() && summary.name.is_empty() { Kind::Unknown } else { summary.kind };
                let mentions = |needle: &Needle| {
                    summary.texts().into_iter().chain([found.id.as_str()]).any(|text| needle.is_in(text))
                };
                self.kind.is_none_or(|wanted| wanted == kind || found.training && wanted == Kind::Training)
                    && self.live.is_none_or(|wanted| wanted == writing)
                    && self.needle.as_ref().is_none_or(mentions)
            })
    }

    fn sort(&self, entries: &mut Vec<Arc<Entry>>) {
        let mut keyed: Vec<(Key, Arc<Entry>)> =
            entries.drain(..).map(|entry| (self.key(&entry), entry)).collect();
        keyed.sort_by(|(a, one), (b, two)| {
            let order = match (a, b) {
                // What has no value comes last in either order.
                (Key::None, Key::None) => Ordering::Equal,
                (Key::None, _) => return Ordering::Greater,
                (_, Key::None) => return Ordering::Less,
                (Key::Number(a), Key::Number(b)) => a.total_cmp(b),
                (Key::Text(a), Key::Text(b)) => a.cmp(b),
                (Key::Number(_), Key::Text(_)) => Ordering::Less,
                (Key::Text(_), Key::Number(_)) => Ordering::Greater,
            };
            let order = if self.descending { order.reverse() } else { order };
            order.then_with(|| one.found.id.cmp(&two.found.id))
        });
        entries.extend(keyed.into_iter().map(|(_, entry)| entry));
    }

    fn key(&self, entry: &Entry) -> Key {
        let number = |value: Option<f64>| value.map_or(Key::None, Key::Number);
        let text = |text: &str| if text.is_empty() { Key::None } else { Key::Text(text.to_lowercase()) };
        match self.column {
            Column::Written => return number(entry.written()),
            Column::Started => return number(entry.started()),
            Column::Name => return text(&entry.found.id),
            _ => {}
        }
        let of = |summary: &Summary| match self.column {
            Column::Kind => text(&json_word(&summary.kind)),
            Column::Asker => text(&summary.asker),
            Column::Set => text(&summary.set),
            Column::Sessions => number(Some(summary.done() as f64)),
            Column::Calibrated => number(summary.rate.as_ref().map(|rate| rate.value)),
            Column::Separation => number(summary.separation.map(|separation| separation.value)),
            Column::Tokens => number(Some(summary.tokens as f64)),
            _ => number(Some(summary.usd)),
        };
        entry.with_summary(|summary, _, _| of(summary))
    }
}

enum Key {
    Number(f64),
    Text(String),
    None,
}

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let filter = Arc::new(Filter::parse(&mut request.params)?);
    let paging = Paging::parse(&mut request.params)?;
    request.params.end()?;
    request.runs.refresh_soon();
    let until = Instant::now() + MAX_WAIT;
    loop {
        let (runs, filter) = (Arc::clone(&request.runs), Arc::clone(&filter));
        let page = request.server.workers.run(0, move || Page::of(&runs, &filter, paging)).await?;
        if page.shown.iter().all(|entry| entry.is_ready()) || Instant::now() >= until {
            let cost = Cost { read_bytes: 0, response_bytes: paging.limit * ROW_BYTES };
            return request.respond(cost, move || Ok(page.json())).await;
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// A page of the list.
struct Page {
    version: u64,
    /// Runs that match the filter.
    total: usize,
    all: usize,
    /// Runs whose numbers are not known yet.
    reading: usize,
    alone: Option<String>,
    offset: usize,
    shown: Vec<Arc<Entry>>,
}

impl Page {
    fn of(runs: &RunStore, filter: &Filter, Paging { offset, limit }: Paging) -> Self {
        let (version, entries) = (runs.version(), runs.entries());
        let mut matching: Vec<Arc<Entry>> =
            entries.iter().filter(|entry| filter.matches(entry)).cloned().collect();
        filter.sort(&mut matching);
        Self {
            version,
            total: matching.len(),
            all: entries.len(),
            reading: entries.iter().filter(|entry| !entry.is_ready()).count(),
            alone: runs.alone(),
            offset,
            shown: matching.into_iter().skip(offset).take(limit).collect(),
        }
    }

    fn json(&self) -> Value {
        let rows = self.shown.iter().map(|entry| {
            let mut row = entry.row();
            // Lists of many solvers belong to the page of the run.
            row.as_object_mut().map(|row| row.remove("solvers"));
            row
        });
        let rows: Vec<Value> = rows.collect();
        json!({
            "version": self.version,
            "total": self.total,
            "all": self.all,
            "reading": self.reading,
            "alone": self.alone,
            "offset": self.offset,
            "rows": rows,
        })
    }
}
