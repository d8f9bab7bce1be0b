//! Language models: HTTP endpoints, checkpoints and GGUF files run in this process, and scripts.
//!
//! A [`Provider`] makes one attempt at a request; a [`Model`] adds retries, rate limits, deadlines and cost. Depends on
//! `chat` and `kernels`.
//!
//! ```
//! use aske_model::{Halt, Limits, Model, Request, Scripted};
//! let script = Scripted::parse(r#"{"reply": "\\boxed{4}"}"#).unwrap();
//! let model = Model::new("demo", Box::new(script), Limits::default(), None);
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! let done = runtime.block_on(model.complete(&Request::user("What is 2 + 2?"), &Halt::default())).unwrap();
//! assert_eq!(done.reply.content, "\\boxed{4}");
//! ```

mod concurrency;
mod engine;
mod error;
mod halt;
mod limits;
#[cfg(feature = "llama")]
mod llama;
mod model;
mod openai;
mod rate;
mod redact;
mod request;
mod sampling;
mod scripted;
mod waiting;

pub use engine::{
    ChatTokenizer, Checkpoint, CheckpointError, Engine, EngineOptions, Generation, GenerationRequest,
    Generator, LlamaConfig, Local, widen_heads,
};
pub use error::{ErrorCause, ModelError, ProviderError};
pub use halt::Halt;
pub use limits::Limits;
#[cfg(feature = "llama")]
pub use llama::{Gguf, Llama, LlamaError, LlamaOptions};
pub use model::{Completion, Model, Provider};
pub use openai::{Endpoint, EndpointError, HttpClient, JsonService, OpenAi, TokensField, VllmServers};
pub use redact::{looks_like_key, redact_text, redact_url};
pub use request::{Request, RequestHash};
pub use sampling::Sampling;
pub use scripted::{ScriptError, Scripted};
pub use waiting::Waiting;
