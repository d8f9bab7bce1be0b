//! The shipped asker as a policy: what it samples is what it learns from.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use aske_chat::{Message, Trace};
use aske_config::{Layers, ModelSection, PolicyLoss, ProviderKind, TrainSection};
use aske_model::{Request, Sampling};
use aske_session::{Grade, Outcome, Session, Transcript};
use aske_train::reinforce::{Rollout, TokenSequence, load_policy, pack_batches, token_sequences};
use aske_train::{LearnError, Loss, Objective, Policy};

const CISPO: Loss = Loss::Cispo { low: 0.75, high: 3.0 };

fn asker(plan: &TrainSection) -> Box<dyn Policy> {
    let section = ModelSection {
        provider: Some(ProviderKind::Local),
        path: Some("builtin:nano-asker".to_owned()),
        ..ModelSection::default()
    };
    load_policy(&section, plan).unwrap()
}

/// The asker's first turn, sampled with so many seeds.
fn sampled(policy: &dyn Policy, count: u32) -> Vec<(Vec<Message>, Trace)> {
    let layers = Layers::load(Some("nano-train"), std::iter::empty(), &[]).unwrap();
    let settings = layers.settings().unwrap();
    let session = Session::new(settings.protocol.clone(), settings.pack.clone(), settings.domain);
    let aske_session::Need::Calls(calls) = session.need() else { unreachable!() };
    let messages = calls[0].messages.clone();
    let provider = policy.serve(0).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let one = |seed| {
        let sampling = Sampling { temperature: Some(1.0), ..Sampling::default() };
        let request = Request { messages: messages.clone(), max_tokens: 200, sampling, seed, client: None };
        let reply = runtime.block_on(provider.attempt(&request)).unwrap();
        (messages.clone(), reply.trace.unwrap())
    };
    (0..count).map(one).collect()
}

fn rollout(turns: Vec<(Vec<Message>, Trace)>) -> Rollout {
    let grade = Grade::new(Outcome::Calibrated, None);
    Rollout { name: "a:b/0".to_owned(), transcript: Transcript::default(), grade, turns }
}

#[test]
fn log_probabilities_of_sampling_and_of_learning_agree() {
    let mut policy = asker(&TrainSection::default());
    let turns = sampled(policy.as_ref(), 12);
    let each: Vec<(Vec<TokenSequence>, f64)> = turns
        .into_iter()
        .zip([1.0, -1.0].into_iter().cycle())
        .map(|(turn, advantage)| {
            (token_sequences(&rollout(vec![turn]), |messages| policy.prompt(messages)).unwrap(), advantage)
        })
        .collect();
    let objective = Objective::new(PolicyLoss::Cispo, None, None, None);
    let learnt = pack_batches(&each, objective, 0);
    // A rate of nought scores and changes nothing.
    let stats = policy.step(&learnt, CISPO, 0.0, f64::INFINITY).unwrap();
    println!("{stats:?}");
    assert!(stats.tokens > 200);
    // 1e-3 is what is asked for; both sides compute in single precision, so it is far less.
    assert!(stats.mean_abs_log_ratio < 1e-4 && (stats.mean_ratio - 1.0).abs() < 1e-4, "{stats:?}");
    // Filled up together, the same tokens give the same.
    let together = policy.step(&pack_batches(&each, objective, 4_000), CISPO, 0.0, f64::INFINITY).unwrap();
    assert!(pack_batches(&each, objective, 4_000).len() < learnt.len());
    assert!(
        (together.loss - stats.loss).abs() < 1e-6 && together.tokens == stats.tokens,
        "{together:?} {stats:?}"
    );
}

#[test]
fn a_rewarded_reply_becomes_likelier_and_a_punished_one_rarer() {
    let mut policy = asker(&TrainSection::default());
    let turns = sampled(policy.as_ref(), 2);
    let each: Vec<(Vec<TokenSequence>, f64)> = turns
        .into_iter()
        .zip([1.0, -1.0])
        .map(|(turn, advantage)| {
            (token_sequences(&rollout(vec![turn]), |messages| policy.prompt(messages)).unwrap(), advantage)
        })
        .collect();
    let objective = Objective::new(PolicyLoss::Cispo, None, None, None);
    for _ in 0..3 {
        policy.step(&pack_batches(&each, objective, 0), CISPO, 1e-4, f64::INFINITY).unwrap();
    }
    let now = |policy: &mut dyn Policy, rows: &[TokenSequence]| {
        let alone = pack_batches(&[(rows.to_vec(), 1.0)], objective, 0);
        policy.step(&alone, Loss::Surrogate { low: 1.0, high: 1e9 }, 0.0, f64::INFINITY).unwrap().mean_ratio
    };
    let (liked, disliked) = (now(policy.as_mut(), &each[0].0), now(policy.as_mut(), &each[1].0));
    assert!(liked > 1.001 && disliked < 0.999, "{liked} {disliked}");
}

#[test]
fn turns_share_a_row_while_the_conversation_goes_on_and_not_when_it_was_changed() {
    let policy = asker(&TrainSection::default());
    let turn = |messages: &[Message], tokens: &[u32]| {
        (
            messages.to_vec(),
            Trace { tokens: tokens.to_vec(), logprobs: vec![-0.5; tokens.len()], ..Trace::default() },
        )
    };
    let ask = |text: &str| Message::user(text);
    let reply = policy.prompt(&[ask("a"), Message::assistant("What is 1 + 1?")]).unwrap();
    let first = policy.prompt(&[ask("a")]).unwrap();
    // Of the longer prompt, what follows the shorter one: the reply, its end, and the next reply's beginning.
    let own = &reply[first.len()..reply.len() - 1];
    let second = [ask("a"), Message::assistant("What is 1 + 1?"), ask("b")];
    let together = rollout(vec![turn(&[ask("a")], own), turn(&second, &[9, 1])]);
    let made = token_sequences(&together, |messages| policy.prompt(messages)).unwrap();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].num_sampled(), own.len() + 2);
    assert_eq!(made[0].tokens, [policy.prompt(&second).unwrap(), vec![9, 1]].concat());
    assert!(
        made[0].old_logprobs[..first.len()].iter().all(|before| before.is_nan()),
        "nobody learns a prompt"
    );
    // Written otherwise than a tokenizer would: each turn stands after exactly what was seen.
    let odd: Vec<u32> = own.iter().rev().copied().collect();
    let apart = rollout(vec![turn(&[ask("a")], &odd), turn(&second, &[9, 1])]);
    let made = token_sequences(&apart, |messages| policy.prompt(messages)).unwrap();
    assert_eq!(made.len(), 2);
    assert_eq!((made[0].num_sampled(), made[1].num_sampled()), (odd.len(), 2));
    assert_eq!(made[1].tokens, [policy.prompt(&second).unwrap(), vec![9, 1]].concat());
}

#[test]
fn every_token_weighs_the_same_or_every_rollout_does() {
    let row = |own: usize| TokenSequence {
        tokens: vec![3; own + 1],
        old_logprobs: [vec![f32::NAN], vec![-1.0; own]].concat(),
    };
    let each = [(vec![row(3)], 1.0), (vec![row(1), row(6)], -0.5)];
    let sum = |loss: PolicyLoss| {
        let made = pack_batches(&each, Objective::new(loss, None, None, None), 0);
        made.iter().map(|batch| batch.weights.iter().sum::<f32>()).collect::<Vec<f32>>()
    };
    let near =
        |found: Vec<f32>, wanted: [f32; 3]| found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6);
    // Ten tokens: 3 of weight 1/10, then 1 and 6 of −0.5/10.
    assert!(near(sum(PolicyLoss::Cispo), [0.3, -0.05, -0.3]));
    // Two rollouts: half for each, spread over its own tokens.
    assert!(near(sum(PolicyLoss::Grpo), [0.5, -0.25 / 7.0, -0.25 * 6.0 / 7.0]));
}

#[test]
fn only_a_model_in_this_process_can_learn() {
    let section = ModelSection { provider: Some(ProviderKind::Openai), ..ModelSection::default() };
    assert!(matches!(load_policy(&section, &TrainSection::default()), Err(LearnError::Untrainable(_))));
}
