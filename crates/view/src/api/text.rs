//! `/api/text`: one reply in full, as plain text.

use crate::params::Params;
use crate::problem::Problem;
use crate::reply::Http;
use crate::runs::{Runs, Shelves};
use aske_record::Replies;
use aske_session::{Role, Side, Slot};
use axum::Extension;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use std::fmt::Write;
use std::sync::Arc;

/// Where the reply in this place can be read in full.
pub(super) fn address(run: usize, record: &str, slot: Slot) -> String {
    let mut name = String::with_capacity(record.len());
    for byte in record.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            name.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(name, "%{byte:02X}");
        }
    }
    let Slot { turn, role, draw } = slot;
    format!("/api/text?run={run}&name={name}&turn={turn}&role={role}&draw={draw}")
}

pub(crate) async fn answer(
    State(runs): State<Arc<Runs>>,
    Extension(http): Http,
    mut params: Params,
) -> Result<Response, Problem> {
    let run: usize = params.number("run", 0)?;
    let name = params.text("name")?.ok_or_else(|| Problem::bad("`name` is needed: which record?"))?;
    let roles = [Role::Asker, Role::Check, Role::Panel, Role::Equivalence];
    let role = params.choice("role", roles.into_iter().chain(Side::BOTH.map(Role::Solver)))?;
    let role = role.ok_or_else(|| Problem::bad("`role` is needed: whose reply?"))?;
    let slot = Slot { turn: params.number("turn", 0)?, role, draw: params.number("draw", 0)? };
    params.end()?;
    let measure = move |shelves: &Shelves| {
        let path = shelves.get(run)?.run.path.clone();
        let bytes = Replies::open(&path)?.bytes(&name)?;
        Ok((usize::try_from(bytes).unwrap_or(usize::MAX), path, name))
    };
    let (bytes, path, name) = runs.measure(&http, measure).await?;
    let text = move || {
        let text = Replies::open(&path)?.text(&name, slot)?;
        text.map(Bytes::from).ok_or_else(|| Problem::missing("this run has no such reply"))
    };
    let body = http.body(bytes, bytes, text).await?;
    Ok(([(CONTENT_TYPE, "text/plain; charset=utf-8")], body).into_response())
}
