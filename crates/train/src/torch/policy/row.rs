//! One request on its way through the worker.

use aske_chat::Finish;
use aske_model::{ChatTokenizer, ErrorCause, ProviderError};
use tokio::sync::oneshot;

use super::choose::{Choice, Rules};

/// What is to be written, and who waits for it.
pub(super) struct Job {
    pub(super) prompt: Vec<u32>,
    /// Tokens to write at most.
    pub(super) most: usize,
    pub(super) rules: Rules,
    pub(super) seed: u64,
    pub(super) stop: Vec<String>,
    pub(super) answer: oneshot::Sender<Result<Written, ProviderError>>,
}

/// What was written.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) tokens: Vec<u32>,
    pub(super) logprobs: Vec<f32>,
    pub(super) finish: Finish,
}

/// A request that is being served.
pub(super) struct Row {
    job: Job,
    written: Written,
    random: fastrand::Rng,
    end: Option<Result<Finish, ProviderError>>,
}

impl Row {
    pub(super) fn new(job: Job) -> Self {
        let random = fastrand::Rng::with_seed(job.seed);
        let end = (job.most == 0).then_some(Ok(Finish::Length));
        let written = Written { tokens: Vec::new(), logprobs: Vec::new(), finish: Finish::Other };
        Self { job, written, random, end }
    }

    pub(super) fn prompt(&self) -> &[u32] {
        &self.job.prompt
    }

    pub(super) fn rules(&self) -> Rules {
        self.job.rules
    }

    /// Nobody waits for it any more.
    pub(super) fn is_abandoned(&self) -> bool {
        self.job.answer.is_closed()
    }

    pub(super) fn is_done(&self) -> bool {
        self.end.is_some()
    }

    /// The longest it can become.
    pub(super) fn most(&self) -> usize {
        self.job.prompt.len() + self.job.most
    }

    /// The place of its last token, which is to be read next.
    pub(super) fn place(&self) -> usize {
        (self.job.prompt.len() + self.written.tokens.len()).saturating_sub(1)
    }

    /// Its last token.
    pub(super) fn last(&self) -> u32 {
        self.written.tokens.last().or(self.job.prompt.last()).copied().unwrap_or_default()
    }

    /// Where its next choice falls, from 0 up to 1: the seed and the number of choices decide.
    pub(super) fn point(&mut self) -> f64 {
        self.random.f64()
    }

    /// Takes the next token.
    pub(super) fn write(&mut self, choice: Choice, vocabulary: &ChatTokenizer) {
        if !choice.logprob.is_finite() {
            let problem = "the network's output is no number; are its weights sound?";
            self.end = Some(Err(ProviderError::new(ErrorCause::Rejected, problem)));
            return;
        }
        self.written.tokens.push(choice.token);
        self.written.logprobs.push(choice.logprob);
        if vocabulary.ends().contains(&choice.token) || self.meets_stop(vocabulary) {
            self.end = Some(Ok(Finish::Stop));
        } else if self.written.tokens.len() >= self.job.most {
            self.end = Some(Ok(Finish::Length));
        }
    }

    /// A stop string ends in the last token. Looks back as far as one can begin.
    fn meets_stop(&self, vocabulary: &ChatTokenizer) -> bool {
        let Some(longest) = self.job.stop.iter().map(String::len).max() else { return false };
        let tokens = &self.written.tokens;
        // Tokens without a text of their own are rare; a few more make up for them.
        let text = vocabulary.decode(&tokens[tokens.len().saturating_sub(longest + 16)..]);
        self.job.stop.iter().any(|stop| text.contains(stop.as_str()))
    }

    /// Gives the answer to whoever waits; nobody may be waiting any more.
    pub(super) fn finish(self) {
        let Self { job, mut written, end, .. } = self;
        let _ = job.answer.send(end.unwrap_or(Ok(Finish::Other)).map(|finish| {
            written.finish = finish;
            written
        }));
    }

    /// Tells whoever waits what went wrong.
    pub(super) fn fail(self, message: &str) {
        let _ = self.job.answer.send(Err(ProviderError::new(ErrorCause::Server, message)));
    }
}
