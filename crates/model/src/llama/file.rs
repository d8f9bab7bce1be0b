//! A GGUF file, opened.

use super::memory::{self, Shape};
use super::text::Text;
use super::{LlamaError, LlamaOptions};
use crate::engine::Tongue;
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
    pub(super) text: Text,
    pub(super) path: PathBuf,
    bytes: u64,
}

/// What every GGUF file begins with.
const MAGIC: &[u8; 4] = b"GGUF";

impl Gguf {
    /// Opens a file. `given` are values for its chat template, such as `enable_thinking`.
    pub fn open(path: &Path, gpu_layers: u32, given: Map<String, Value>) -> Result<Self, LlamaError> {
        let io = |source| LlamaError::Io { path: path.to_owned(), source };
        let wrong = |problem: &str| LlamaError::File { path: path.to_owned(), problem: problem.to_owned() };
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
        let text = Text::new(&model, given).map_err(|problem| wrong(&problem))?;
        Ok(Self { model, text, path: path.to_owned(), bytes })
    }

    /// Parameters of the network.
    pub fn parameters(&self) -> u64 {
        self.model.n_params()
    }

    /// Whether what is needed fits into the memory.
    pub(super) fn fits(&self, options: &LlamaOptions, batch: u64) -> Result<(), LlamaError> {
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
            // Layers on a GPU have memory of their own, which llama.cpp looks after.
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

impl Tongue for Gguf {
    fn is_end(&self, token: u32) -> bool {
        self.text.is_end(token)
    }

    fn decode(&self, tokens: &[u32]) -> String {
        self.text.decode(&self.model, tokens)
    }
}

/// llama.cpp, started once in this process and silent.
pub(super) fn backend() -> Result<&'static LlamaBackend, LlamaError> {
    static BACKEND: OnceLock<Result<LlamaBackend, String>> = OnceLock::new();
    let backend = BACKEND.get_or_init(|| {
        send_logs_to_tracing(LogOptions::default().with_logs_enabled(false));
        LlamaBackend::init().map_err(|error| error.to_string())
    });
    backend.as_ref().map_err(|error| LlamaError::Backend(error.clone()))
}
