//! Shapes of known models, from which their memory follows, and the flags that vLLM needs for them.
//!
//! Shapes are from each checkpoint's `config.json` (`params.json` for Ministral) on the Hugging Face hub; parameters
//! count all tensors, vision included. Other models are estimated conservatively from their number of parameters.

/// Full-attention layers and their key-value heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attention {
    layers: u64,
    kv_heads: u64,
    head_dim: u64,
}

/// Sliding-window attention layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    layers: u64,
    tokens: u64,
}

/// Recurrent layers, whose state has a fixed size per sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recurrent {
    layers: u64,
    heads: u64,
}

/// The shape of a model.
#[derive(Debug)]
pub(crate) struct ModelShape {
    /// The repository on the hub.
    pub(crate) hub: &'static str,
    /// Parameters, in billions.
    pub(crate) params: f64,
    /// Bytes per parameter as published.
    pub(crate) bytes: f64,
    attention: Attention,
    window: Option<Window>,
    recurrent: Option<Recurrent>,
    /// The longest context, in tokens.
    pub(crate) max_context: u32,
    /// Flags that vLLM needs.
    pub(crate) flags: &'static [&'static str],
}

/// Bytes per cached value: bfloat16.
pub(crate) const CACHE_BYTES: u64 = 2;
/// Tokens that a sliding-window layer caches beyond its window during prefill.
pub(crate) const PREFILL_TOKENS: u64 = 2048;
/// Bytes of a recurrent head's state: 128 × 128 in single precision.
const STATE_BYTES: u64 = 128 * 128 * 4;

impl ModelShape {
    /// The shape of a repository on the hub, if known.
    pub(crate) fn of(hub: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|shape| shape.hub.eq_ignore_ascii_case(hub))
    }

    /// Bytes of KV cache for a sequence of this length.
    pub(crate) fn cache_per_sequence(&self, tokens: u64) -> u64 {
        let Attention { layers, kv_heads, head_dim } = self.attention;
        let windowed =
            self.window.map_or(0, |window| window.layers * tokens.min(window.tokens + PREFILL_TOKENS));
        2 * kv_heads * head_dim * CACHE_BYTES * (layers * tokens + windowed)
    }

    /// Bytes of recurrent state for a sequence.
    pub(crate) fn state_per_sequence(&self) -> u64 {
        self.recurrent.map_or(0, |Recurrent { layers, heads }| layers * heads * STATE_BYTES)
    }

    /// Whether the weights are published in fewer than 16 bits.
    pub(crate) fn is_quantised(&self) -> bool {
        self.bytes < BF16
    }
}

/// Bytes of a bfloat16 parameter.
pub(crate) const BF16: f64 = 2.0;
/// Ministral 3: fp8 except embeddings and vision; 3.85 billion parameters are 4.67 GB of files, and 8.9 billion 10.4 GB.
const MINISTRAL_3B: f64 = 4.67 / 3.85;
const MINISTRAL_8B: f64 = 10.4 / 8.9;
/// gpt-oss-20b: 4-bit experts, the rest 16-bit; 20.9 billion parameters are 13.8 GB of files.
const MXFP4: f64 = 0.66;

const NONE: &[&str] = &[];
const MISTRAL: &[&str] = &[
    "--tokenizer_mode",
    "mistral",
    "--config_format",
    "mistral",
    "--load_format",
    "mistral",
    NO_IMAGES[0],
    NO_IMAGES[1],
];
/// Disables image inputs, for which vLLM would reserve memory.
const NO_IMAGES: &[&str] = &["--limit-mm-per-prompt", r#"{"image":0}"#];
const NO_IMAGES_OR_VIDEO: &[&str] = &["--limit-mm-per-prompt", r#"{"image":0,"video":0}"#];

const fn attention(layers: u64, kv_heads: u64, head_dim: u64) -> Attention {
    Attention { layers, kv_heads, head_dim }
}

const fn dense(hub: &'static str, params: f64, attention: Attention, max_context: u32) -> ModelShape {
    ModelShape {
        hub,
        params,
        bytes: BF16,
        attention,
        window: None,
        recurrent: None,
        max_context,
        flags: NONE,
    }
}

/// A hybrid: every fourth layer is full attention, the others are recurrent.
const fn hybrid(hub: &'static str, params: f64, layers: u64, heads: u64, state_heads: u64) -> ModelShape {
    ModelShape {
        hub,
        params,
        bytes: BF16,
        attention: attention(layers / 4, heads, 256),
        window: None,
        recurrent: Some(Recurrent { layers: layers - layers / 4, heads: state_heads }),
        max_context: 262_144,
        flags: NO_IMAGES_OR_VIDEO,
    }
}

const KNOWN: &[ModelShape] = &[
    dense("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", 1.78, attention(28, 2, 128), 131_072),
    dense("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", 7.62, attention(28, 4, 128), 131_072),
    dense("HuggingFaceTB/SmolLM2-135M-Instruct", 0.135, attention(30, 3, 64), 8192),
    dense("Qwen/Qwen2.5-Coder-0.5B-Instruct", 0.49, attention(24, 2, 64), 32_768),
    dense("Qwen/Qwen2.5-Coder-1.5B-Instruct", 1.54, attention(28, 2, 128), 32_768),
    dense("Qwen/Qwen3-1.7B", 2.03, attention(28, 8, 128), 40_960),
    dense("Qwen/Qwen3-4B", 4.02, attention(36, 8, 128), 40_960),
    dense("Qwen/Qwen3-8B", 8.19, attention(36, 8, 128), 40_960),
    dense("Qwen/Qwen3-14B", 14.77, attention(40, 8, 128), 40_960),
    hybrid("Qwen/Qwen3.5-2B", 2.27, 24, 2, 16),
    hybrid("Qwen/Qwen3.5-4B", 4.66, 32, 4, 32),
    hybrid("Qwen/Qwen3.5-9B", 9.65, 32, 4, 32),
    hybrid("Qwen/Qwen3.5-27B", 27.8, 64, 4, 48),
    dense("meta-llama/Llama-3.2-3B-Instruct", 3.21, attention(28, 8, 128), 131_072),
    dense("microsoft/Phi-4-mini-instruct", 3.84, attention(32, 8, 128), 131_072),
    ModelShape {
        window: Some(Window { layers: 29, tokens: 1024 }),
        flags: NO_IMAGES,
        ..dense("google/gemma-3-4b-it", 4.30, attention(5, 4, 256), 131_072)
    },
    ModelShape {
        window: Some(Window { layers: 40, tokens: 1024 }),
        flags: NO_IMAGES,
        ..dense("google/gemma-3-12b-it", 12.19, attention(8, 8, 256), 131_072)
    },
    ModelShape {
        bytes: MINISTRAL_3B,
        flags: MISTRAL,
        ..dense("mistralai/Ministral-3-3B-Instruct-2512", 3.85, attention(26, 8, 128), 262_144)
    },
    ModelShape {
        bytes: MINISTRAL_8B,
        flags: MISTRAL,
        ..dense("mistralai/Ministral-3-8B-Instruct-2512", 8.9, attention(34, 8, 128), 262_144)
    },
    ModelShape {
        bytes: MXFP4,
        window: Some(Window { layers: 12, tokens: 128 }),
        ..dense("openai/gpt-oss-20b", 20.9, attention(12, 8, 64), 131_072)
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_qwen3_8b_takes_144_kib() {
        // 2 (keys, values) × 36 layers × 8 heads × 128 numbers × 2 bytes.
        assert_eq!(ModelShape::of("Qwen/Qwen3-8B").unwrap().cache_per_sequence(1), 144 * 1024);
        assert_eq!(ModelShape::of("qwen/qwen3-8b").unwrap().state_per_sequence(), 0);
    }

    #[test]
    fn the_estimate_for_others_is_on_the_safe_side() {
        for shape in KNOWN {
            let estimated = crate::model::estimated_cache(shape.params) * 8192;
            assert!(shape.cache_per_sequence(8192) <= estimated, "{}", shape.hub);
        }
    }

    #[test]
    fn a_window_bounds_the_cache_of_its_layers() {
        let shape = ModelShape::of("google/gemma-3-12b-it").unwrap();
        // 8 of 48 layers look back to the beginning.
        let (token, window) = (2 * 8 * 256 * 2, 1024 + PREFILL_TOKENS);
        assert_eq!(shape.cache_per_sequence(1000), token * 48 * 1000);
        assert_eq!(shape.cache_per_sequence(8192), token * (8 * 8192 + 40 * window));
    }

    #[test]
    fn a_hybrid_has_a_small_cache_and_a_state() {
        let shape = ModelShape::of("Qwen/Qwen3.5-27B").unwrap();
        // 16 of 64 layers attend with 4 heads of 256; the other 48 keep 48 matrices of 128 × 128.
        assert_eq!(shape.cache_per_sequence(1), 2 * 16 * 4 * 256 * 2);
        assert_eq!(shape.state_per_sequence(), 48 * 48 * 128 * 128 * 4);
    }
}
