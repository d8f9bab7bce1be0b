//! The models' abilities, within statistical bounds, and their purity.

use serde_json::{Value, json};

use super::*;

fn request(body: Value) -> ChatRequest {
    serde_json::from_value(body).unwrap()
}

fn ask(model: &str, prompt: &str, seed: u64) -> Completion {
    let body = json!({ "model": model, "seed": seed, "messages": [{ "role": "user", "content": prompt }] });
    complete(&request(body), 120).unwrap()
}

fn boxed(content: &str) -> u64 {
    let (_, rest) = content.split_once("\\boxed{").unwrap();
    rest.split_once('}').unwrap().0.parse().unwrap()
}

/// Whether a count is within six standard deviations of a binomial's mean.
fn plausible(count: usize, n: u64, p: f64) -> bool {
    let (n, count) = (n as f64, count as f64);
    (count - n * p).abs() <= 6.0 * (n * p * (1.0 - p)).sqrt()
}

#[test]
fn replies_are_a_function_of_the_request() {
    for model in ["asker", "solver-50", "check", "equiv"] {
        assert_eq!(ask(model, "What is 4 + 5?", 1), ask(model, "What is 4 + 5?", 1));
    }
    assert_ne!(ask("asker", "Go", 1), ask("asker", "Go", 2));
    assert_ne!(ask("asker", "Go", 1), ask("asker", "Go on", 1));
    assert_ne!(ask("asker", "Go", 1), ask("asker-b", "Go", 1));
}

#[test]
fn solvers_are_as_able_as_their_names() {
    let n = 4_000;
    for ability in [0, 5, 50, 95, 100] {
        let model = format!("solver-{ability:02}");
        let answers: Vec<u64> =
            (0..n).map(|seed| boxed(&ask(&model, "What is 417 + 268?", seed).content)).collect();
        assert!(answers.iter().all(|answer| [685, 686, 695].contains(answer)));
        let right = answers.iter().filter(|answer| **answer == 685).count();
        assert!(plausible(right, n, f64::from(ability) / 100.0), "{model}: {right} of {n}");
    }
}

#[test]
fn the_check_is_off_by_one_now_and_then() {
    let n = 20_000;
    let replies: Vec<Completion> = (0..n).map(|seed| ask("check", "What is 41 + 1?", seed)).collect();
    assert!(replies.iter().all(|reply| reply.content.contains("\n#Summary#\n\\boxed{4")));
    let wrong = replies.iter().filter(|reply| boxed(&reply.content) == 43).count();
    assert!(plausible(wrong, n, 0.01), "{wrong} of {n}");
}

#[test]
fn askers_fail_at_their_rates_and_vary_in_size() {
    let n = 20_000;
    let replies: Vec<Completion> = (0..n).map(|seed| ask("asker", "Go", seed)).collect();
    let cut = replies.iter().filter(|reply| reply.finish == Finish::Length).count();
    assert!(plausible(cut, n, 0.01), "{cut} of {n}");
    let questions: Vec<&str> =
        replies.iter().filter_map(|reply| Some(reply.content.split_once("#Question#\n")?.1)).collect();
    assert!(plausible(questions.len(), n, 0.97), "{} of {n}", questions.len());
    for digits in 1..=6 {
        // `What is A + B?` is 12 characters and the digits.
        let count = questions.iter().filter(|question| question.len() == 12 + 2 * digits).count();
        assert!(plausible(count, n, 0.97 / 6.0), "{digits} digits: {count} of {n}");
    }
}

#[test]
fn a_perfect_solver_solves_what_the_asker_asks() {
    for seed in 0..200 {
        let content = ask("asker", "Go", seed).content;
        if let Some((_, question)) = content.split_once("#Question#\n") {
            let mut numbers =
                question.split(|c: char| !c.is_ascii_digit()).filter_map(|s| s.parse::<u64>().ok());
            let sum = numbers.next().unwrap() + numbers.next().unwrap();
            assert_eq!(boxed(&ask("solver-100", question, seed).content), sum);
        }
    }
}

#[test]
fn a_summary_comes_when_asked_for() {
    let with =
        |messages: Value| complete(&request(json!({ "model": "solver-100", "messages": messages })), 3);
    let asked = json!([
        { "role": "system", "content": "End with #Summary#." },
        { "role": "user", "content": [{ "type": "text", "text": "What is 1 + 1?" }] },
    ]);
    assert!(with(asked).unwrap().content.contains("\n#Summary#\n\\boxed{2}\n"));
    let earlier = json!([
        { "role": "user", "content": "End with #Summary#." },
        { "role": "assistant", "content": null },
        { "role": "user", "content": "Hello" },
    ]);
    let reply = with(earlier).unwrap().content;
    assert!(reply.ends_with("\n\\boxed{0}") && !reply.contains('#'), "{reply}");
}

#[test]
fn token_limits_cut_replies() {
    let limited = |field: &str, limit: u64| {
        let body = json!({ "model": "solver-100", field: limit, "messages": [] });
        complete(&request(body), 120).unwrap()
    };
    let cut = limited("max_tokens", 40);
    assert_eq!((cut.finish, cut.tokens_out), (Finish::Length, 40));
    assert_eq!(limited("max_completion_tokens", 0).content, "");
    assert_eq!(limited("max_completion_tokens", 1_000).finish, Finish::Stop);
}

#[test]
fn other_models_do_not_exist() {
    for model in ["gpt", "solver", "solver-101", "solver-x", ""] {
        assert_eq!(complete(&request(json!({ "model": model, "messages": [] })), 1), None, "{model}");
    }
}

#[test]
fn padding_has_the_length_asked_for() {
    let body = json!({ "model": "solver-100", "messages": [] });
    let words = |pad| complete(&request(body.clone()), pad).unwrap().content.split_whitespace().count();
    assert_eq!((words(0), words(120)), (1, 121));
}
