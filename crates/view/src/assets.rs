//! The page's files, compiled into the program.

use crate::runs::RunStore;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::collections::BTreeMap;
use std::sync::Arc;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PAGE: &str = "text/html; charset=utf-8";

macro_rules! files {
    ($($path:literal $kind:ident $file:literal,)*) => {
        [$(($path, $kind, include_str!(concat!("../../../web/", $file)))),*]
    };
}

const FILES: [(&str, &str, &str); 40] = files! {
    "/" PAGE "index.html",
    "/style.css" STYLE "style.css",
    "/session.css" STYLE "session.css",
    "/pages.css" STYLE "pages.css",
    "/app.js" SCRIPT "app.js",
    "/api.js" SCRIPT "api.js",
    "/bundle.js" SCRIPT "bundle.js",
    "/calls.js" SCRIPT "calls.js",
    "/eval-compare.js" SCRIPT "eval-compare.js",
    "/markdown.js" SCRIPT "markdown.js",
    "/plot.js" SCRIPT "plot.js",
    "/replay.js" SCRIPT "replay.js",
    "/svg.js" SCRIPT "svg.js",
    "/training.js" SCRIPT "training.js",
    "/verdict.js" SCRIPT "verdict.js",
    "/requests.js" SCRIPT "requests.js",
    "/compare.js" SCRIPT "compare.js",
    "/dom.js" SCRIPT "dom.js",
    "/eval.js" SCRIPT "eval.js",
    "/home.css" STYLE "home.css",
    "/home.js" SCRIPT "home.js",
    "/panels.css" STYLE "panels.css",
    "/analysis.js" SCRIPT "analysis.js",
    "/configuration.js" SCRIPT "configuration.js",
    "/panels.js" SCRIPT "panels.js",
    "/validity.js" SCRIPT "validity.js",
    "/filters.js" SCRIPT "filters.js",
    "/format.js" SCRIPT "format.js",
    "/maps.js" SCRIPT "maps.js",
    "/mathml.js" SCRIPT "mathml.js",
    "/outcome.js" SCRIPT "outcome.js",
    "/overview.js" SCRIPT "overview.js",
    "/paged-list.js" SCRIPT "paged-list.js",
    "/route.js" SCRIPT "route.js",
    "/run-summary.js" SCRIPT "run-summary.js",
    "/session.js" SCRIPT "session.js",
    "/shortcuts.js" SCRIPT "shortcuts.js",
    "/side-by-side.js" SCRIPT "side-by-side.js",
    "/text.js" SCRIPT "text.js",
    "/turn.js" SCRIPT "turn.js",
};

/// The source of the page itself.
pub(crate) const PAGE_SOURCE: &str = include_str!("../../../web/index.html");

/// The scripts, by file name.
pub(crate) fn modules() -> BTreeMap<&'static str, &'static str> {
    of_kind(SCRIPT).collect()
}

/// The style sheets, by file name.
pub(crate) fn styles() -> impl Iterator<Item = (&'static str, &'static str)> {
    of_kind(STYLE)
}

fn of_kind(kind: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let of_kind = FILES.into_iter().filter(move |(_, found, _)| *found == kind);
    of_kind.map(|(path, _, body)| (path.trim_start_matches('/'), body))
}

/// A route for every file.
pub(crate) fn routes() -> Router<Arc<RunStore>> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, body)| {
        router.route(path, get(async move || ([(CONTENT_TYPE, kind)], body)))
    })
}
