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
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a page waits for rows that are being computed.
const MAX_WAIT: Duration = Duration::from_millis(150);
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

    fn sort(&self, entries: &mut [Arc<Entry>]) {
        let mut keyed: BTreeMap<&str, Key> = BTreeMap::new();
        let all = entries.to_vec();
        for entry in &all {
            keyed.insert(&entry.found.id, self.key(entry));
        }
        entries.sort_by(|one, two| {
            let [a, b] = [one, two].map(|entry| &keyed[entry.found.id.as_str()]);
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
    let filter = Filter::parse(&mut request.params)?;
    let Paging { offset, limit } = Paging::parse(&mut request.params)?;
    request.params.end()?;
    request.runs.refresh_if_due().await?;
    let page = |runs: &RunStore| {
        let mut shown: Vec<Arc<Entry>> =
            runs.entries().iter().filter(|entry| filter.matches(entry)).cloned().collect();
        filter.sort(&mut shown);
        let total = shown.len();
        (total, shown.into_iter().skip(offset).take(limit).collect::<Vec<_>>())
    };
    let until = Instant::now() + MAX_WAIT;
    while !page(&request.runs).1.iter().all(|entry| entry.is_ready()) && Instant::now() < until {
        sleep(Duration::from_millis(5)).await;
    }
    let version = request.runs.version();
    let (total, shown) = page(&request.runs);
    let entries = request.runs.entries();
    let reading = entries.iter().filter(|entry| !entry.is_ready()).count();
    let all = entries.len();
    let cost = Cost { read_bytes: all.saturating_mul(64), response_bytes: limit * ROW_BYTES };
    let respond = move || {
        let rows = shown.iter().map(|entry| {
            let mut row = entry.row();
            // Lists of many solvers belong to the page of the run.
            row.as_object_mut().map(|row| row.remove("solvers"));
            row
        });
        let rows: Vec<Value> = rows.collect();
        Ok(
            json!({ "version": version, "total": total, "all": all, "reading": reading, "offset": offset, "rows": rows }),
        )
    };
    request.respond(cost, respond).await
}
