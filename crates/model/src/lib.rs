//! One type for every language model, and one place for retries, limits and cost.
//!
//! A [`Provider`] makes a single attempt; a [`Model`] wraps one with everything that must happen around an
//! attempt. May use `chat`, and nothing else of ours.
//!
//! ```
//! use aske_model::{Halt, Limits, Model, Request, Scripted};
//! let script = Scripted::parse(r#"{"reply": "\\boxed{4}"}"#).unwrap();
//! let model = Model::new("demo", Box::new(script), Limits::default(), None);
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! let done = runtime.block_on(model.complete(&Request::user("What is 2 + 2?"), &Halt::default())).unwrap();
//! assert_eq!(done.reply.content, "\\boxed{4}");
//! ```

mod engine;
mod error;
mod gate;
mod halt;
mod limits;
#[cfg(feature = "llama")]
mod llama;
mod model;
mod openai;
mod pace;
mod redact;
mod request;
mod sampling;
mod scripted;

pub use engine::{
    ChatTokenizer, Checkpoint, CheckpointError, CheckpointErrorKind, Engine, EngineOptions, Generation,
    GenerationRequest, Generator, LlamaConfig, Local,
};
pub use error::{ErrorCause, ModelError, ProviderError};
pub use halt::Halt;
pub use limits::Limits;
#[cfg(feature = "llama")]
pub use llama::{Gguf, Llama, LlamaError, LlamaOptions};
pub use model::{Completion, Model, Provider};
pub use openai::{Endpoint, EndpointError, HttpClient, JsonService, OpenAi, TokensField};
pub use redact::{looks_like_key, redact_text, redact_url};
pub use request::{Request, RequestHash};
pub use sampling::Sampling;
pub use scripted::{ScriptError, Scripted};
