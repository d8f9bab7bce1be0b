//! What the program answers to realistic mistakes: `data/mistakes.sh` lists them, `data/mistakes.txt` has the answers.
//!
//! `UPDATE=1` writes the answers again. `ASKE_PROGRAM` names another program, and `TRANSCRIPT` another file.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot run the program has failed")]

mod common;

use aske_testkit::{RawServer, response};
use common::{World, finish, server, start};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A mistake: what it is, and its shell commands in order.
#[derive(Debug)]
struct Mistake {
    title: String,
    steps: Vec<Step>,
}

#[derive(Debug)]
enum Step {
    /// Must succeed; its output is not shown.
    Prepare(String),
    /// Its output and exit status are shown.
    Show(String),
}

/// Reads the list: a title after `#`, preparations after `%`, commands after `$`.
fn mistakes(text: &str) -> Vec<Mistake> {
    let mut all: Vec<Mistake> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("#!")) {
        let (kind, rest) = line.split_at(2);
        let rest = rest.to_owned();
        match kind {
            "# " => all.push(Mistake { title: rest, steps: Vec::new() }),
            "% " => all.last_mut().unwrap().steps.push(Step::Prepare(rest)),
            "$ " => all.last_mut().unwrap().steps.push(Step::Show(rest)),
            _ => panic!("neither title, preparation nor command: {line}"),
        }
    }
    all
}

/// The servers that the commands name in braces.
struct Servers {
    addresses: Vec<(&'static str, String)>,
    /// They stop when they are dropped.
    _running: (aske_testkit::TestServer, aske_testkit::TestServer, Vec<RawServer>),
}

impl Servers {
    fn start() -> Self {
        let (good, slow) = (server(0), server(60_000));
        let error = |status, body: &'static str| {
            RawServer::start(move |_| response(status, "Content-Type: application/json\r\n", body.as_bytes()))
        };
        let denied = error(401, r#"{"error":{"message":"Incorrect API key provided"}}"#);
        let unknown = error(404, r#"{"error":{"message":"The model `gpt-6` does not exist"}}"#);
        let page =
            RawServer::start(|_| response(200, "Content-Type: text/html\r\n", b"<html>Welcome</html>"));
        let addresses = vec![
            ("{good}", good.url()),
            ("{slow}", slow.url()),
            ("{denied}", denied.url()),
            ("{unknown}", unknown.url()),
            ("{page}", page.url()),
            ("{port}", good.url().trim_end_matches("/v1").rsplit(':').next().unwrap().to_owned()),
        ];
        Self { addresses, _running: (good, slow, vec![denied, unknown, page]) }
    }

    fn fill(&self, text: &str) -> String {
        self.addresses.iter().fold(text.to_owned(), |text, (name, address)| text.replace(name, address))
    }

    /// Replaces what differs from run to run.
    fn normalise(&self, text: &str, world: &Path) -> String {
        let folder = world.canonicalize().unwrap();
        let mut text =
            text.replace(&*folder.to_string_lossy(), "{here}").replace(&*world.to_string_lossy(), "{here}");
        for (name, address) in &self.addresses {
            text = text.replace(address, name);
            if let Some(host) = address.strip_prefix("http://") {
                text = text.replace(host.trim_end_matches("/v1"), &format!("{name} host"));
            }
        }
        text.lines().map(|line| durations(line.trim_end())).collect::<Vec<_>>().join("\n")
    }
}

/// Replaces numbers of seconds and of calls per second.
fn durations(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let unit = |word: &str| ["s", "ms", "s,", "calls/s", "seconds", "second"].contains(&word);
    let number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let at = |(index, word): (usize, &&str)| {
        let timed = number(word) && words.get(index + 1).is_some_and(|next| unit(next));
        if timed { "N".to_owned() } else { (*word).to_owned() }
    };
    words.iter().enumerate().map(at).collect::<Vec<_>>().join(" ")
}

/// A shell in the folder of the test, with the program first in its path.
fn shell(world: &World, script: &str) -> Command {
    let program = world.command(&[]);
    let mut shell = Command::new("sh");
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(world.path("bin")).chain(std::env::split_paths(&path));
    shell
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env("HF_HUB_OFFLINE", "1")
        .env_remove("COLUMNS");
    shell.env("HOME", world.path("home")).env("LC_ALL", "C.UTF-8");
    shell.args(["-c", script]).current_dir(world.path("")).stdin(Stdio::null());
    shell
}

/// The folder with the program under its own name, and a way to run it without the rights of root.
fn programs(world: &World) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    std::fs::create_dir(world.path("bin")).unwrap();
    std::fs::create_dir(world.path("home")).unwrap();
    let program = std::env::var_os("ASKE_PROGRAM")
        .map_or_else(|| assert_cmd::cargo::cargo_bin!("aske").to_owned(), PathBuf::from);
    symlink(program, world.path("bin/aske")).unwrap();
    let drop_rights = "#!/bin/sh\nif [ \"$(id -u)\" = 0 ]; then exec setpriv --reuid 65534 --clear-groups \"$@\"; fi\nexec \"$@\"\n";
    std::fs::write(world.path("bin/unprivileged"), drop_rights).unwrap();
    for name in ["", "bin", "bin/unprivileged"] {
        std::fs::set_permissions(world.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

#[cfg(target_os = "linux")]
#[test]
fn every_mistake_gets_its_answer() {
    let list = mistakes(&std::fs::read_to_string(data("mistakes.sh")).unwrap());
    assert!(list.len() >= 45, "{} mistakes", list.len());
    let (world, servers) = (World::new(), Servers::start());
    programs(&world);
    let mut transcript = String::new();
    for Mistake { title, steps } in &list {
        // Writing to a string cannot fail.
        let _ = writeln!(transcript, "# {title}");
        for step in steps {
            match step {
                Step::Prepare(command) => {
                    let ran = finish(start(&mut shell(&world, &servers.fill(command))));
                    assert_eq!(ran.code, Some(0), "{title}: {command}: {ran}");
                }
                Step::Show(command) => {
                    let script = format!("exec 2>&1; {}", servers.fill(command));
                    let ran = finish(start(&mut shell(&world, &script)));
                    let said = servers.normalise(&ran.stdout, &world.path(""));
                    let status = ran.code.unwrap_or(-1);
                    let _ = writeln!(transcript, "$ {command}\n{said}\n[exit {status}]");
                }
            }
        }
        transcript.push('\n');
    }
    let file = std::env::var_os("TRANSCRIPT").map_or_else(|| data("mistakes.txt"), PathBuf::from);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&file, &transcript).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&file).unwrap();
    let (mut expected, mut found) = (expected.split("\n\n"), transcript.split("\n\n"));
    loop {
        match (expected.next(), found.next()) {
            (None, None) => break,
            (expected, found) => assert_eq!(found, expected, "UPDATE=1 writes the answers again"),
        }
    }
}
