//! Writes the configuration with the addresses of a fleet's servers.

use crate::plan::Plan;
use std::fmt::Write as _;
use std::time::Duration;
use toml::Value;

/// A configuration file that extends others and sets the URL of each model of the plan. Calls wait this long for a server
/// that is being restarted.
pub fn endpoints(plan: &Plan, extends: &[String], host: &str, restart: Duration) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let mut text = "# Written by `aske fleet`: the addresses of its servers.\n".to_owned();
    let bases: Vec<String> = extends.iter().map(|base| quoted(base)).collect();
    if !bases.is_empty() {
        let _ = writeln!(text, "extends = [{}]", bases.join(", "));
    }
    for server in &plan.servers {
        for name in std::iter::once(&server.model.name).chain(&server.model.aliases) {
            let url = quoted(&format!("http://{host}:{}/v1", server.port));
            let reconnect = restart.as_secs();
            let _ =
                write!(text, "\n[models.{}]\nurl = {url}\nlimits.reconnect_s = {reconnect}\n", quoted(name));
        }
    }
    text
}
