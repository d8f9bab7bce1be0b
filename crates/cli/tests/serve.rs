//! The environment as trainers meet it: the program, and the client of `examples/trl_aske.py`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{World, finish, signal, start};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};

/// Two small solvers; the policy judges itself.
const ENV: [&str; 8] = ["serve", "env", "--port", "0", "--run", "run", "--solvers", "nano-15k,nano-40k"];

/// Plays episodes with fixed replies through the example's client, and prints what they were worth.
const TRAINER: &str = r##"
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("trl_aske", sys.argv[1])
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
environment = example.AskE(sys.argv[2], tries=2)

def generate(places, conversations, max_tokens, temperature):
    assert places == [0] and conversations[0][-1]["role"] == "user" and max_tokens > 0
    if temperature is None:
        return [("#Reasoning#\nr\n#Draft#\nd\n#Question#\nWhat is 2 + 3?", "stop")]
    assert temperature == 0.0
    return [("\\boxed{5}", "stop")]

told = []
for step, pair in enumerate([environment.pairs()[0], None]):
    (session,) = environment.play([pair], generate)
    novelty = environment.novelty(step, [environment.reward(session)["question"]])[0]
    told.append({"novelty": novelty} | environment.reward(session, novelty))
    environment.close(session)
    try:
        environment.reward(session)
        raise SystemExit("a closed session has a reward")
    except RuntimeError as error:
        assert not isinstance(error, example.Failure) and "create another" in str(error), error
print(json.dumps(told))
"##;

/// The address that the program prints first.
fn address(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn train(url: &str) -> Vec<Value> {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/trl_aske.py");
    let ran = Command::new("python3").args(["-B", "-c", TRAINER, example, url]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).unwrap()
}

#[test]
fn the_example_trains_against_the_program_also_after_a_restart() {
    let world = World::new();
    for start in 0..2 {
        let mut server = world.start(&ENV);
        let told = train(&address(&mut server));
        for (episode, told) in told.iter().enumerate() {
            let number = |value: &Value| value.as_f64().unwrap();
            let reward = &told["reward"];
            // By the paper: 1, 0.2 or -0.2; all sections are there; the bonus is gated, and alpha is 1.
            let calibration = match told["outcome"].as_str().unwrap() {
                "calibrated" => 1.0,
                "too_easy" => 0.2,
                _ => -0.2,
            };
            let diversity = number(&told["novelty"]) * f64::max(calibration, 0.0);
            assert!((number(&reward["calibration"]) - calibration).abs() < 1e-9, "{told}");
            assert!((number(&reward["diversity"]) - diversity).abs() < 1e-9, "{told}");
            assert!((number(&told["total"]) - calibration - diversity).abs() < 1e-9, "{told}");
            assert_eq!(
                (told["check"][0].as_str(), told["sample"].as_u64()),
                (Some("5"), Some(2 * start + episode as u64))
            );
            // Only the very first question was new.
            let new = if start == 0 && episode == 0 { 1.0 } else { 0.0 };
            assert!((number(&told["novelty"]) - new).abs() < 1e-6, "{told}");
        }
        assert!(signal("TERM", server.id()));
        finish(server).ended(0);
    }
    let folder = world.folder("run");
    assert_eq!((folder.records().len(), folder.grades().len()), (4, 4));
    let report = world.expect(0, &["report", "run"]);
    assert!(report.stdout.contains("nano-novice"), "{report}");
}

#[test]
fn a_token_is_required_beyond_loopback_and_the_client_sends_it() {
    let world = World::new();
    let token = "0123456789abcdef0123456789abcdef";
    let mut server = start(world.command(&ENV).args(["--host", "0.0.0.0"]).env("ASKE_TOKEN", token));
    let url = address(&mut server).replace("0.0.0.0", "127.0.0.1");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/trl_aske.py");
    let pairs = |how: &str, token: Option<&str>| {
        let program = format!(
            "import importlib.util, sys\n\
             spec = importlib.util.spec_from_file_location('trl_aske', sys.argv[1])\n\
             example = importlib.util.module_from_spec(spec)\n\
             spec.loader.exec_module(example)\n\
             print(example.AskE(sys.argv[2], tries=1{how}).pairs())"
        );
        let mut python = Command::new("python3");
        python.args(["-B", "-c", &program, example, &url]).env_remove("ASKE_TOKEN");
        python.envs(token.map(|token| ("ASKE_TOKEN", token)));
        python.output().unwrap()
    };
    let refused = pairs("", None);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.contains("a token is required"), "{said}");
    assert!(!pairs("", Some("0123456789abcdef")).status.success());
    assert!(pairs("", Some(token)).status.success(), "from the environment");
    assert!(pairs(&format!(", token='{token}'"), None).status.success(), "as an argument");
    assert!(signal("TERM", server.id()));
    let ended = finish(server).ended(0);
    assert!(!ended.stderr.contains(token) && !ended.stdout.contains(token), "{ended}");
}

#[test]
fn a_token_that_was_not_given_is_generated_and_printed_once() {
    let world = World::new();
    let mut server = start(world.command(&ENV).args(["--host", "0.0.0.0"]));
    address(&mut server);
    assert!(signal("TERM", server.id()));
    let ended = finish(server).ended(0);
    let token = ended.stderr.lines().find_map(|line| line.strip_prefix("token: ")).unwrap();
    assert!(token.len() == 64 && ended.stderr.matches(token).count() == 1, "{ended}");
    let ran = world.command(&ENV).env("ASKE_TOKEN", "short").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.code() == Some(2) && said.contains("hint: ") && !said.contains("short "), "{said}");
}

/// The reply of `nano-1m` to a question, at temperature 0.
fn chat(url: &str, question: &str) -> String {
    let host = url.trim_start_matches("http://").trim_end_matches("/v1");
    let messages = serde_json::json!([{ "role": "user", "content": question }]);
    let body = serde_json::json!({ "model": "nano-1m", "temperature": 0, "messages": messages }).to_string();
    let mut stream = TcpStream::connect(host).unwrap();
    let head = format!("POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    let kind = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{kind}{body}").as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (_, body) = response.split_once("\r\n\r\n").unwrap();
    let reply: Value = serde_json::from_str(body).unwrap();
    reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_nano_model_is_served_with_the_instruction_it_was_trained_with() {
    let world = World::new();
    let models = ["serve", "models", "nano-1m", "--port", "0"];
    for (arguments, right) in
        [(&models[..], true), (&[&models[..], &["--no-instruction"]].concat()[..], false)]
    {
        let mut server = world.start(arguments);
        let url = address(&mut server);
        let answer = |question: &str| chat(&url, question).ends_with("\\boxed{4}");
        assert_eq!(answer("What is 2 + 2?"), right);
        assert!(answer("What is 2 + 2?\n\nWork, \\boxed{}."), "a request with its own instruction");
        assert!(signal("TERM", server.id()));
        finish(server).ended(0);
    }
}

#[test]
fn what_cannot_be_served_is_said_before_anything_starts() {
    let world = World::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = world.expect(2, &["serve", "env", "--port", &port, "--solvers", "nano-15k,nano-40k"]);
    assert!(ran.stderr.contains("cannot listen") && ran.stderr.contains("hint: "), "{ran}");
    let ran = world.expect(2, &["serve", "env", "-o", "train.embedder=none/there"]);
    assert!(ran.stderr.contains("no embedder `none/there`") && ran.stderr.contains("hint: "), "{ran}");
    let ran = world.expect(2, &["serve", "env", "--solvers", "nano-15k,nano-40"]);
    assert!(ran.stderr.contains("did you mean `nano-40k`?"), "{ran}");
}
