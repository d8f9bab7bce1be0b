//! The requests of a session, rebuilt from its stored replies by the protocol itself.
//!
//! Run folders store every reply with the hash of its request, not the request. The session is replayed with the settings
//! in `run.toml`, and each rebuilt request is compared with the stored hash.

use aske_chat::{Message, Reply};
use aske_config::{Layers, RoleSettings, Settings};
use aske_evidence::Run;
use aske_model::{Request, Sampling};
use aske_record::{Replies, RunError, SessionRecord, StoredCall};
use aske_session::{
    AnswerPair, Call, Need, Role, Seed, Session, Slot, Transcript, Verdicts, grade, read_verdict,
};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Bytes of the longest prompt file that is read, and the most files of a pack.
const MAX_PROMPT_BYTES: u64 = 1 << 20;
const MAX_PROMPTS: usize = 200;

/// A request that was rebuilt.
pub(crate) struct Rebuilt {
    pub(crate) slot: Slot,
    /// The model's name in the configuration.
    pub(crate) model: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) max_tokens: u32,
    pub(crate) sampling: Option<Sampling>,
    pub(crate) seed: u32,
    /// Whether the stored hash is that of this request; `None` if no reply is stored.
    pub(crate) exact: Option<bool>,
}

/// A request to the equivalence checker, with its reply and verdict.
pub(crate) struct Verdict {
    pub(crate) pair: AnswerPair,
    pub(crate) request: Rebuilt,
    pub(crate) call: StoredCall,
    pub(crate) equal: Option<bool>,
}

/// The configuration in `run.toml`.
pub(crate) fn layers(stored: toml::Table, path: &Path) -> Result<Layers, String> {
    Layers::of_run(stored, path, None, std::iter::empty(), &[]).map_err(|error| error.to_string())
}

/// The settings of a run.
pub(crate) fn settings(run: &Run) -> Result<Settings, String> {
    let layers = layers(run.manifest.config.clone(), &run.path.join("run.toml"))?;
    let mut settings = settings_of(&layers)?;
    if run.manifest.identity.0.contains_key("train") {
        settings.protocol.asker_total_tokens = Some(layers.config().train.max_sample_tokens as u64);
    }
    Ok(settings)
}

/// The settings of a configuration.
pub(crate) fn settings_of(layers: &Layers) -> Result<Settings, String> {
    if let Some(prompts) = &layers.config().protocol.prompts
        && !prompts.starts_with("builtin:")
    {
        check_pack(Path::new(prompts))?;
    }
    layers.settings().map_err(|error| error.to_string())
}

/// Refuses what is no folder of small text files: a run folder from somewhere else may name any path.
fn check_pack(folder: &Path) -> Result<(), String> {
    let unreadable = |error: std::io::Error| format!("prompts in {}: {error}", folder.display());
    for (count, entry) in std::fs::read_dir(folder).map_err(unreadable)?.enumerate() {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "txt") {
            let file = std::fs::metadata(&path).map_err(unreadable)?;
            if !file.is_file() || file.len() > MAX_PROMPT_BYTES || count > MAX_PROMPTS {
                return Err(format!("{} is not a folder of prompts", folder.display()));
            }
        }
    }
    Ok(())
}

/// Replays a session; returns its requests in order, up to the first whose reply is not stored.
pub(crate) fn rebuild(
    settings: &Settings,
    record: &SessionRecord,
    replies: &HashMap<Slot, StoredCall>,
) -> Vec<Rebuilt> {
    let (name, seed) = (record.id().to_string(), Seed(settings.run.seed));
    let mut session = Session::new(settings.protocol.clone(), Arc::clone(&settings.pack), settings.domain);
    let mut rebuilt = Vec::new();
    while let Need::Calls(calls) = session.need() {
        let mut complete = true;
        for call in calls {
            let slot = call.slot;
            let stored = replies.get(&slot);
            rebuilt.push(request(seed, &name, call, role(settings, record, slot.role), stored));
            let fed = stored.map(|stored| session.feed(slot, stored.reply.clone()));
            complete &= matches!(fed, Some(Ok(())));
        }
        if !complete {
            break;
        }
    }
    rebuilt
}

fn role(settings: &Settings, record: &SessionRecord, role: Role) -> (String, Option<Sampling>) {
    let known = |role: &RoleSettings| (role.model.clone(), Some(role.sampling.clone()));
    match role {
        Role::Asker => known(&settings.asker),
        Role::Solver(side) => {
            let name = &record.solvers[side.index()];
            let solver = settings.solvers.iter().find(|solver| solver.model == *name);
            solver.map_or_else(|| (name.clone(), None), known)
        }
        Role::Check | Role::Panel | Role::Equivalence => known(&settings.check),
    }
}

fn request(
    seed: Seed,
    record: &str,
    call: Call,
    (model, sampling): (String, Option<Sampling>),
    stored: Option<&StoredCall>,
) -> Rebuilt {
    let Call { slot, messages, max_tokens } = call;
    let seed = seed.of_call(record, slot);
    let request =
        Request { messages, max_tokens, sampling: sampling.clone().unwrap_or_default(), seed, client: None };
    let exact = stored.map(|stored| stored.request == request.hash(&model).0);
    Rebuilt { slot, model, messages: request.messages, max_tokens, sampling, seed, exact }
}

/// The verdicts of the equivalence checker that the grade of a session rests on, as far as they are stored.
pub(crate) fn verdicts(
    settings: &Settings,
    transcript: &Transcript,
    replies: &Replies,
) -> Result<Vec<Verdict>, RunError> {
    let Some((checker, tokens)) = &settings.equivalence else { return Ok(Vec::new()) };
    let seed = Seed(settings.run.seed);
    let (mut known, mut found, mut asked) = (Verdicts::new(), Vec::new(), HashSet::new());
    let answers = transcript.answers();
    while let Err(missing) = grade(&answers, &settings.domain, Some(&known)) {
        let before = known.len();
        for pair in missing {
            if !asked.insert(pair.clone()) {
                continue;
            }
            let record = aske_bench::record_name("equivalence", &[&pair.reference, &pair.candidate]);
            let mut draws: Vec<(Slot, StoredCall)> = replies.of_record(&record)?.into_iter().collect();
            draws.sort_by_key(|(slot, _)| *slot);
            for (slot, call) in draws {
                let messages = settings.pack.equivalence(&pair.reference, &pair.candidate);
                let call_again = Call { slot, messages, max_tokens: *tokens };
                let role = (checker.model.clone(), Some(checker.sampling.clone()));
                let request = request(seed, &record, call_again, role, Some(&call));
                let whole = call.reply.finish != aske_chat::Finish::Length;
                let equal = read_verdict(&call.reply.content).filter(|_| whole);
                if let Some(equal) = equal {
                    known.insert(pair.clone(), equal);
                }
                found.push(Verdict { pair: pair.clone(), request, call, equal });
            }
        }
        if known.len() == before {
            break;
        }
    }
    Ok(found)
}

/// The messages of a benchmark's problem: the instruction whose request has the stored hash, if one of the known ones has.
pub(crate) fn eval_messages(
    run: &Run,
    record: &aske_record::EvalRecord,
    stored: &StoredCall,
) -> Result<Option<Rebuilt>, String> {
    let layers = layers(run.manifest.config.clone(), &run.path.join("run.toml"))?;
    let config = layers.config();
    let (role, section) = layers
        .extra_role("MODEL", &record.model, &config.eval.sampling)
        .map_err(|error| error.to_string())?;
    let slot = Slot::first(0, Role::Panel);
    let (seed, max_tokens) = (Seed(config.run.seed), config.eval.max_tokens);
    let instructions = aske_eval::instructions(&record.dataset, config.eval.instruction_for(&section));
    let mut rebuilt = instructions.into_iter().map(|instruction| {
        let messages = aske_eval::problem_messages(&record.question, &instruction);
        let role = (role.model.clone(), Some(role.sampling.clone()));
        request(seed, &record.id(), Call { slot, messages, max_tokens }, role, Some(stored))
    });
    Ok(rebuilt.find(|rebuilt| rebuilt.exact == Some(true)))
}

/// The reply of a call with its thinking in the same text, as the model wrote it.
pub(crate) fn whole(reply: &Reply) -> String {
    match reply.reasoning.as_deref().filter(|text| !text.is_empty()) {
        Some(reasoning) => format!("{reasoning}\n\n{}", reply.content),
        None => reply.content.clone(),
    }
}
