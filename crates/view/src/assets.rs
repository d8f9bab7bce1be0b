//! The page's files, compiled into the program.

use crate::runs::RunStore;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use std::sync::Arc;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PAGE: &str = "text/html; charset=utf-8";

macro_rules! files {
    ($($path:literal $kind:ident $file:literal,)*) => {
        [$(($path, $kind, include_str!(concat!("../../../web/", $file)))),*]
    };
}

const FILES: [(&str, &str, &str); 30] = files! {
    "/" PAGE "index.html",
    "/style.css" STYLE "style.css",
    "/session.css" STYLE "session.css",
    "/app.js" SCRIPT "app.js",
    "/api.js" SCRIPT "api.js",
    "/compare.js" SCRIPT "compare.js",
    "/dom.js" SCRIPT "dom.js",
    "/eval.js" SCRIPT "eval.js",
    "/home.css" STYLE "home.css",
    "/home.js" SCRIPT "home.js",
    "/panels.css" STYLE "panels.css",
    "/analysis.js" SCRIPT "analysis.js",
    "/calls.js" SCRIPT "calls.js",
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

/// A route for every file.
pub(crate) fn routes() -> Router<Arc<RunStore>> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, body)| {
        router.route(path, get(async move || ([(CONTENT_TYPE, kind)], body)))
    })
}
