//! Keys and passwords: whatever a server says and wherever they were written, they are shown and stored nowhere.
#![expect(clippy::unwrap_used, reason = "a test that cannot read what was written has failed")]

mod common;

use aske_testkit::{RawServer, RecordedRequest, chunked, response};
use common::{Config, Ran, World, finish, server, start};
use std::path::Path;

/// A key whose other spellings differ from it.
const KEY: &str = "sk-test/AB+cd=0123456789";

/// The key as servers and proxies repeat it: in a URL, in JSON by PHP, by Go, in base64 alone and behind a user name
/// (python3: `base64.b64encode(b"user:" + key)`), and cut short.
const SPELLINGS: [&str; 7] = [
    KEY,
    "sk-test%2FAB%2Bcd%3D0123456789",
    "sk-test%2fAB%2bcd%3d0123456789",
    r"sk-test\/AB+cd=0123456789",
    "c2stdGVzdC9BQitjZD0wMTIzNDU2Nzg5",
    "dXNlcjpzay10ZXN0L0FCK2NkPTAxMjM0NTY3ODk=",
    "sk-test/AB+cd=01234567",
];

/// What nobody may find anywhere: parts that every spelling above has some of.
const TRACES: [&str; 5] = ["AB+cd=0123", "AB%2Bcd", "AB%2bcd", "L0FCK2NkPTAxMjM0", "QitjZD0wMTIzNDU2"];

fn is_clean(text: &[u8]) -> bool {
    !TRACES.iter().any(|trace| text.windows(trace.len()).any(|part| part == trace.as_bytes()))
}

fn assert_clean(world: &World, ran: &Ran) {
    assert!(is_clean(ran.stdout.as_bytes()) && is_clean(ran.stderr.as_bytes()), "{ran}");
    assert_clean_folder(&world.path("."));
}

/// Looks into every file but the configuration.
fn assert_clean_folder(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_clean_folder(&path);
        } else if !path.ends_with("aske.toml") {
            assert!(is_clean(&std::fs::read(&path).unwrap()), "{}", path.display());
        }
    }
}

/// Runs the program with the key in its environment.
fn with_key(world: &World, arguments: &[&str]) -> Ran {
    finish(start(world.command(arguments).env("KEY_OF_THE_TEST", KEY)))
}

fn config(server: &RawServer) -> Config {
    let dummy = common::server(0);
    let keys = "api_key_env = \"KEY_OF_THE_TEST\"".to_owned();
    let limits = "attempts = 1".to_owned();
    Config { urls: vec![server.url()], keys, limits, samples: 1, ..Config::new(&dummy, &[30, 60]) }
}

/// A good reply that repeats the key in every field.
fn echo(seen: &RecordedRequest) -> Vec<u8> {
    let text = match seen.model().as_str() {
        "asker" => "#Reasoning#\nr\n#Draft#\nd\n#Question#\nWhat is 2 + 2? ",
        _ => "#Summary#\nI added.\n\\boxed{4} ",
    };
    let all = SPELLINGS.join(" and ");
    let body = serde_json::json!({
        "id": KEY, "model": KEY, "system_fingerprint": KEY,
        "choices": [{
            "message": {
                "role": KEY, "content": format!("{text}{all}"), "reasoning_content": format!("I was given {all}"),
                "refusal": KEY, "tool_calls": [{"id": KEY, "function": {"name": KEY, "arguments": KEY}}],
            },
            "finish_reason": KEY,
        }],
        "usage": {"prompt_tokens": KEY},
        "warning": KEY,
    });
    // Every chunk ends somewhere in the key.
    chunked(body.to_string().as_bytes(), 11)
}

#[test]
fn a_good_reply_that_repeats_the_key_is_stored_without_it() {
    let server = RawServer::start(echo);
    let world = World::with(&config(&server));
    let ran = with_key(&world, &["bench", "--run", "run"]).ended(0);
    let seen = server.requests();
    assert!(!seen.is_empty() && seen.iter().all(|seen| seen.head.contains(KEY)), "the key was sent");
    assert_clean(&world, &ran);
    let replies = world.folder("run").replies();
    assert_eq!(world.folder("run").stored(), seen.len() as u64);
    for reply in replies.values() {
        assert!(
            reply.contains("#Question#\nWhat is 2 + 2? ***") || reply.contains("\\boxed{4} ***"),
            "{reply}"
        );
    }
    for arguments in
        [&["report", "run", "--html", "report.html"][..], &["export", "run", "--out", "exported"]]
    {
        assert_clean(&world, &world.run(arguments));
    }
}

#[test]
fn a_bad_reply_that_repeats_the_key_is_shown_without_it() {
    let all = SPELLINGS.join(" and ");
    let bodies = [
        (401, serde_json::json!({ "error": { "message": all } }).to_string()),
        (400, serde_json::json!({ "detail": { "you sent": KEY } }).to_string().replace('/', "\\/")),
        (500, format!("<h1>No: {all}</h1>")),
        (200, serde_json::json!({ "error": { "message": all, "code": 400 } }).to_string()),
        (200, serde_json::json!({ "choices": [], "you sent": all }).to_string()),
        (200, format!("{{\"choices\": \"{all}")),
        // Cut at 300 characters, in the middle of the key.
        (400, serde_json::json!({ "error": format!("{}{KEY}", "x".repeat(288)) }).to_string()),
    ];
    for (status, body) in bodies {
        let headers = format!("x-request: {KEY}\r\nwww-authenticate: {KEY}\r\nretry-after: {KEY}\r\n");
        let server = RawServer::start(move |_| response(status, &headers, body.as_bytes()));
        let world = World::with(&config(&server));
        for arguments in
            [&["bench", "--run", "run"][..], &["bench", "--run", "run", "--json"], &["models", "asker"]]
        {
            let ran = with_key(&world, arguments);
            assert_eq!(ran.code == Some(0), status == 200 && arguments[0] == "models", "{ran}");
            assert_clean(&world, &ran);
        }
    }
}

/// Texts that are keys, or may be.
const PASTED: [&str; 6] = [
    "sk-proj-abcdefghijklmnop1234",
    "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345",
    "AIzaSyA1234567890abcdefghijklmnopqrstu",
    "a0123456789abcdef0123456789abcde",
    "AKIAIOSFODNN7EXAMPLE",
    "hunter2",
];

#[test]
fn a_key_in_place_of_the_name_of_its_variable_is_never_printed() {
    for pasted in PASTED {
        let server = server(0);
        let keys = format!("api_key_env = \"{pasted}\"");
        let world = World::with(&Config { keys, ..Config::new(&server, &[30, 60]) });
        let over = format!("models.asker.api_key_env={pasted}");
        for arguments in [
            &["bench"][..],
            &["bench", "-o", &over],
            &["bench", "-o", &format!("{over}=x")],
            &["bench", "--dry-run"],
            &["ask"],
            &["config"],
            &["config", "--json"],
            &["config", "models", "-o", &over],
            &["models"],
            &["models", "--json"],
            &["models", "asker"],
            &["models", "asker", "--json"],
        ] {
            let ran = world.run(arguments);
            assert!(!ran.stdout.contains(pasted) && !ran.stderr.contains(pasted), "{arguments:?}: {ran}");
            if let ["bench" | "ask"] | ["bench", "-o", ..] = arguments {
                assert_eq!(ran.code, Some(2), "{ran}");
                assert!(ran.stderr.contains("hint: "), "{ran}");
            }
        }
        for wrong in ["models.asker.sampling", "models.asker.limits.concurrency", "models"] {
            let ran = world.expect(2, &["bench", "-o", &format!("{wrong}={pasted}")]);
            assert!(pasted == "hunter2" || !ran.stderr.contains(pasted), "{ran}");
        }
        let ran = world.expect(2, &["bench"]);
        assert!(ran.stderr.starts_with("error: models.asker.api_key_env: "), "{ran}");
        assert!(ran.stderr.contains("the name of an environment variable"), "{ran}");
        assert!(ran.stderr.contains("export "), "{ran}");
        assert!(!world.path("runs").exists(), "nothing was begun");
    }
}

#[test]
fn a_variable_of_any_name_that_is_set_holds_a_key() {
    let server = server(0);
    let keys = "api_key_env = \"my_key\"".to_owned();
    let world = World::with(&Config { keys, samples: 1, ..Config::new(&server, &[30, 60]) });
    finish(start(world.command(&["bench", "--run", "run"]).env("my_key", KEY))).ended(0);
    assert_clean_folder(&world.path("run"));
}

/// The table is merged into every request and stored with the run.
#[test]
fn a_key_in_the_extra_body_is_refused_before_anything_is_stored() {
    for extra in [
        "api_key = \"hunter2\"",
        "headers = { Authorization = \"Bearer hunter2\" }",
        "user = \"sk-test/AB+cd=0123456789\"",
    ] {
        let server = server(0);
        let keys = format!("extra_body = {{ {extra} }}");
        let world = World::with(&Config { keys, samples: 1, ..Config::new(&server, &[30, 60]) });
        let ran = world.expect(2, &["bench", "--run", "run"]);
        assert!(ran.stderr.contains(".extra_body.") && ran.stderr.contains("`api_key_env`"), "{ran}");
        assert!(!ran.stderr.contains("hunter2"), "{ran}");
        assert_clean(&world, &ran);
        assert!(!world.path("run").exists() && server.stats().requests == 0, "{ran}");
    }
    let server = server(0);
    let keys = "extra_body = { prompt_cache_key = \"nightly\", tokenizer = \"fast\" }".to_owned();
    let world = World::with(&Config { keys, samples: 1, ..Config::new(&server, &[30, 60]) });
    world.expect(0, &["bench", "--run", "run"]);
    assert!(world.read("run/run.toml").contains("nightly"));
}

#[test]
fn addresses_are_shown_without_users_passwords_and_queries() {
    let world = World::new();
    world.write(
        "aske.toml",
        "[models.a]\nurl = \"https://user:hunter2@host:8000/v1\"\n\
         [models.b]\nurl = [\"https://host/v1?key=hunter2\", \"http://user:hun/te?r2@host/v1\", \"user:hunter2@host/v1\"]\n\
         [models.c]\nurl = \"https://host/v1#token=hunter2\"\n\
         [models.c.extra_body]\napi_key = \"hunter2\"\ntop_k = 3\n",
    );
    let over = "models.d.url=https://user:hunter2@host/v1?key=hunter2";
    for arguments in [&["config", "models"][..], &["config", "-o", over], &["config", "--json", "-o", over]] {
        let ran = world.expect(0, arguments);
        for part in ["hunter2", "user:", "hun/te", "key=h", "token="] {
            assert!(!ran.stdout.contains(part) && !ran.stderr.contains(part), "{part}: {ran}");
        }
        assert!(ran.stdout.contains("https://***@host:8000/v1"), "{ran}");
        assert!(ran.stdout.contains("https://host/v1?***"), "{ran}");
    }
    let typo = world.expect(2, &["bench", "-o", "models.d.ulr=https://user:hunter2@host/v1"]);
    assert!(!typo.stderr.contains("hunter2") && typo.stderr.contains("unknown key `ulr`"), "{typo}");
    let unnamed = world.expect(2, &["eval", "https://user:hunter2@host/v1?key=hunter2"]);
    assert!(!unnamed.stderr.contains("hunter2") && unnamed.stderr.contains("hint: "), "{unnamed}");
    let named = world.run(&["eval", "https://user:hunter2@host/v1#m", "--limit", "1"]);
    assert!(!named.stderr.contains("hunter2") && named.stderr.contains("hint: "), "{named}");
}
