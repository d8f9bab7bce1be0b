//! The JSON API of the environment, one file per group of routes.

mod body;
mod diversity;
mod health;
mod reward;
mod sessions;
mod steps;

use crate::Environment;
use aske_http::ApiError;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::{MethodRouter, delete, get, post};
use std::sync::Arc;

pub(crate) use body::JsonBody;

/// The state of every route.
type EnvironmentState = axum::extract::State<Arc<Environment>>;

/// Every route: method, path and handler.
fn table() -> [(&'static str, &'static str, MethodRouter<Arc<Environment>>); 9] {
    [
        ("get", "/healthz", get(health::health)),
        ("get", "/openapi.json", get(health::openapi)),
        ("get", "/v1/pairs", get(sessions::pairs)),
        ("post", "/v1/sessions", post(sessions::create)),
        ("delete", "/v1/sessions/{session}", delete(sessions::close)),
        ("post", "/v1/sessions/{session}/step", post(steps::step)),
        ("post", "/v1/sessions/{session}/judge", post(steps::judge)),
        ("get", "/v1/sessions/{session}/reward", get(reward::reward)),
        ("post", "/v1/diversity", post(diversity::diversity)),
    ]
}

/// All routes.
pub(crate) fn routes() -> Router<Arc<Environment>> {
    const HINT: &str = "GET /openapi.json describes every route";
    let not_found = async || ApiError::not_found("this route does not exist").with_hint(HINT);
    let wrong_method = async || {
        let error = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this route does not support the method");
        error.with_hint(HINT)
    };
    let routes =
        table().into_iter().fold(Router::new(), |router, (_, path, handler)| router.route(path, handler));
    routes.fallback(not_found).method_not_allowed_fallback(wrong_method)
}

#[cfg(test)]
mod tests {
    use super::{health, table};
    use serde_json::Value;
    use std::collections::BTreeSet;

    #[test]
    fn the_description_names_every_route_and_no_other() {
        let document: Value = serde_json::from_str(health::OPENAPI).unwrap();
        let described: BTreeSet<(String, String)> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, methods)| {
                methods.as_object().unwrap().keys().map(|method| (method.clone(), path.clone()))
            })
            .collect();
        let there = table().map(|(method, path, _)| (method.to_owned(), path.to_owned()));
        assert_eq!(described, BTreeSet::from(there));
        assert_eq!(document["openapi"], "3.1.0");
    }

    #[test]
    fn every_reference_of_the_description_leads_somewhere() {
        let document: Value = serde_json::from_str(health::OPENAPI).unwrap();
        let mut open = vec![&document];
        let mut references = 0;
        while let Some(value) = open.pop() {
            if let Some(name) = value.get("$ref").and_then(Value::as_str) {
                assert!(document.pointer(name.trim_start_matches('#')).is_some(), "{name}");
                references += 1;
            }
            match value {
                Value::Object(map) => open.extend(map.values()),
                Value::Array(list) => open.extend(list),
                _ => {}
            }
        }
        assert!(references > 10);
    }
}
