//! What is known of models: what decides their memory, and the flags that vLLM needs for them.
//!
//! Shapes are those of each checkpoint's `config.json` (`params.json` for Ministral) on the Hugging Face hub; parameters
//! are those of all its tensors, vision included. A model that is not here is estimated by its size, on the safe side.

/// Attention layers in full, with their heads: what a token of context takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attention {
    layers: u64,
    heads: u64,
    width: u64,
}

/// Attention layers that look back so many tokens only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    layers: u64,
    tokens: u64,
}

/// Layers with a state of fixed size instead of a cache: what a sequence takes whatever its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recurrent {
    layers: u64,
    heads: u64,
}

/// The shape of one model.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Its name on the hub.
    pub(crate) hub: &'static str,
    /// Parameters in billions, all of them.
    pub(crate) params: f64,
    /// Bytes of a parameter as published.
    pub(crate) bytes: f64,
    attention: Attention,
    window: Option<Window>,
    recurrent: Option<Recurrent>,
    /// The longest context in tokens.
    pub(crate) longest: u32,
    /// What vLLM must be told.
    pub(crate) flags: &'static [&'static str],
}

/// Bytes of a cached number: bfloat16.
const CACHED: u64 = 2;
/// Tokens that a layer with a window holds beside it, while a prompt is read.
const READING: u64 = 2048;
/// Bytes of a recurrent head's state: 128 by 128 in single precision.
const STATE: u64 = 128 * 128 * 4;

impl Facts {
    /// What is known of a model by its name on the hub.
    pub(crate) fn of(hub: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|facts| facts.hub.eq_ignore_ascii_case(hub))
    }

    /// Bytes of cache for a sequence: keys and values of every layer, as far as it looks back.
    pub(crate) fn cache_per_sequence(&self, tokens: u64) -> u64 {
        let Attention { layers, heads, width } = self.attention;
        let windowed = self.window.map_or(0, |window| window.layers * tokens.min(window.tokens + READING));
        2 * heads * width * CACHED * (layers * tokens + windowed)
    }

    /// Bytes for a sequence beside its cache, whatever its length.
    pub(crate) fn state_per_sequence(&self) -> u64 {
        self.recurrent.map_or(0, |Recurrent { layers, heads }| layers * heads * STATE)
    }

    /// It is published in fewer bits than bfloat16 has.
    pub(crate) fn is_small(&self) -> bool {
        self.bytes < BF16
    }
}

/// Bytes of a parameter.
pub(crate) const BF16: f64 = 2.0;
/// Ministral 3: embeddings and vision keep sixteen bits, so that 3.85 billion parameters are 4.67 GB of files, and 8.9
/// billion 10.4 GB.
const MINISTRAL_3B: f64 = 4.67 / 3.85;
const MINISTRAL_8B: f64 = 10.4 / 8.9;
/// gpt-oss-20b: 13.8 GB of files for 20.9 billion parameters; experts have four bits, the rest sixteen.
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
/// Questions are text; without this, memory is kept for pictures.
const NO_IMAGES: &[&str] = &["--limit-mm-per-prompt", r#"{"image":0}"#];
const NO_PICTURES: &[&str] = &["--limit-mm-per-prompt", r#"{"image":0,"video":0}"#];

const fn attention(layers: u64, heads: u64, width: u64) -> Attention {
    Attention { layers, heads, width }
}

const fn dense(hub: &'static str, params: f64, attention: Attention, longest: u32) -> Facts {
    Facts { hub, params, bytes: BF16, attention, window: None, recurrent: None, longest, flags: NONE }
}

/// One layer in four attends, the others are recurrent.
const fn hybrid(hub: &'static str, params: f64, layers: u64, heads: u64, states: u64) -> Facts {
    Facts {
        hub,
        params,
        bytes: BF16,
        attention: attention(layers / 4, heads, 256),
        window: None,
        recurrent: Some(Recurrent { layers: layers - layers / 4, heads: states }),
        longest: 262_144,
        flags: NO_PICTURES,
    }
}

const KNOWN: &[Facts] = &[
    dense("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", 1.78, attention(28, 2, 128), 131_072),
    dense("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", 7.62, attention(28, 4, 128), 131_072),
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
    Facts {
        window: Some(Window { layers: 29, tokens: 1024 }),
        flags: NO_IMAGES,
        ..dense("google/gemma-3-4b-it", 4.30, attention(5, 4, 256), 131_072)
    },
    Facts {
        window: Some(Window { layers: 40, tokens: 1024 }),
        flags: NO_IMAGES,
        ..dense("google/gemma-3-12b-it", 12.19, attention(8, 8, 256), 131_072)
    },
    Facts {
        bytes: MINISTRAL_3B,
        flags: MISTRAL,
        ..dense("mistralai/Ministral-3-3B-Instruct-2512", 3.85, attention(26, 8, 128), 262_144)
    },
    Facts {
        bytes: MINISTRAL_8B,
        flags: MISTRAL,
        ..dense("mistralai/Ministral-3-8B-Instruct-2512", 8.9, attention(34, 8, 128), 262_144)
    },
    Facts {
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
        assert_eq!(Facts::of("Qwen/Qwen3-8B").unwrap().cache_per_sequence(1), 144 * 1024);
        assert_eq!(Facts::of("qwen/qwen3-8b").unwrap().state_per_sequence(), 0);
    }

    #[test]
    fn the_estimate_for_others_is_on_the_safe_side() {
        for facts in KNOWN {
            let estimated = crate::model::estimated_cache(facts.params) * 8192;
            assert!(facts.cache_per_sequence(8192) <= estimated, "{}", facts.hub);
        }
    }

    #[test]
    fn a_window_bounds_the_cache_of_its_layers() {
        let facts = Facts::of("google/gemma-3-12b-it").unwrap();
        // 8 of 48 layers look back to the beginning.
        let (token, window) = (2 * 8 * 256 * 2, 1024 + READING);
        assert_eq!(facts.cache_per_sequence(1000), token * 48 * 1000);
        assert_eq!(facts.cache_per_sequence(8192), token * (8 * 8192 + 40 * window));
    }

    #[test]
    fn a_hybrid_has_a_small_cache_and_a_state() {
        let facts = Facts::of("Qwen/Qwen3.5-27B").unwrap();
        // 16 of 64 layers attend with 4 heads of 256; the other 48 keep 48 matrices of 128 × 128.
        assert_eq!(facts.cache_per_sequence(1), 2 * 16 * 4 * 256 * 2);
        assert_eq!(facts.state_per_sequence(), 48 * 48 * 128 * 128 * 4);
    }
}
