//! A GGUF file, opened.

use super::memory::{self, Shape};
use super::tokenizer::GgufTokenizer;
use super::{LlamaError, LlamaOptions};
use crate::engine::Detokenizer;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::{LogOptions, send_logs_to_tracing};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A GGUF file whose weights are mapped into memory.
pub struct Gguf {
    pub(super) model: LlamaModel,
    pub(super) tokenizer: GgufTokenizer,
    pub(super) path: PathBuf,
    bytes: u64,
}

/// The first bytes of every GGUF file.
const MAGIC: &[u8; 4] = b"GGUF";

impl Gguf {
    /// Opens a file. `variables` are set in its chat template, such as `enable_thinking`.
    pub fn open(path: &Path, gpu_layers: u32, variables: Map<String, Value>) -> Result<Self, LlamaError> {
        let io = |source| LlamaError::Io { path: path.to_owned(), source };
        let wrong = |message: &str| LlamaError::File { path: path.to_owned(), message: message.to_owned() };
        let mut magic = [0; 4];
        let mut file = File::open(path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        if file.read_exact(&mut magic).is_err() || magic != *MAGIC {
            return Err(wrong("not a GGUF file"));
        }
        let free = memory::free().unwrap_or(u64::MAX);
        if gpu_layers == 0 && bytes > free {
            return Err(LlamaError::Memory {
                path: path.to_owned(),
                weights: bytes,
                cache: 0,
                context: 0,
                free,
            });
        }
        let parameters = LlamaModelParams::default().with_n_gpu_layers(gpu_layers);
        let model = LlamaModel::load_from_file(backend()?, path, &parameters).map_err(|_| {
            wrong("llama.cpp cannot read it: broken, cut short, or of an architecture it does not know")
        })?;
        let tokenizer = GgufTokenizer::new(&model, variables).map_err(|message| wrong(&message))?;
        Ok(Self { model, tokenizer, path: path.to_owned(), bytes })
    }

    /// Parameters of the network.
    pub fn parameters(&self) -> u64 {
        self.model.n_params()
    }

    /// Checks that weights and KV cache fit into memory.
    pub(super) fn check_memory(&self, options: &LlamaOptions, batch: u64) -> Result<(), LlamaError> {
        let number = |value: i32| u64::try_from(value).unwrap_or(0);
        let shape = Shape {
            layers: self.model.n_layer().into(),
            heads: self.model.n_head().into(),
            heads_kv: self.model.n_head_kv().into(),
            width: number(self.model.n_embd()),
            vocabulary: number(self.model.n_vocab()),
        };
        let cache = shape.cache(options.context.into(), options.batch as u64, batch);
        match memory::free() {
            // llama.cpp checks the memory of layers on a GPU.
            Some(free) if options.gpu_layers == 0 && self.bytes + cache > free => Err(LlamaError::Memory {
                path: self.path.clone(),
                weights: self.bytes,
                cache,
                context: options.context,
                free,
            }),
            _ => Ok(()),
        }
    }
}

impl Detokenizer for Gguf {
    fn is_end(&self, token: u32) -> bool {
        self.tokenizer.is_end(token)
    }

    fn decode(&self, tokens: &[u32]) -> String {
        self.tokenizer.decode(&self.model, tokens)
    }
}

/// Starts llama.cpp once per process, without its logs.
pub(super) fn backend() -> Result<&'static LlamaBackend, LlamaError> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    let backend = BACKEND.get_or_init(|| {
        send_logs_to_tracing(LogOptions::default().with_logs_enabled(false));
        LlamaBackend::init().map_err(|error| error.to_string())
    });
    backend.as_ref().map_err(|error| LlamaError::Backend(error.clone()))
}
