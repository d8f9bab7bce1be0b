//! Estimates whether a model fits into memory.

use std::fs;

/// Bytes of available memory, if known.
pub(super) fn free() -> Option<u64> {
    let of_machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text))?;
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    // A container may have less than its machine.
    let limit = number("/sys/fs/cgroup/memory.max").zip(number("/sys/fs/cgroup/memory.current"));
    Some(limit.map_or(of_machine, |(most, used)| of_machine.min(most.saturating_sub(used))))
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The dimensions that determine the size of keys and values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) layers: u64,
    pub(super) heads: u64,
    pub(super) heads_kv: u64,
    pub(super) width: u64,
    pub(super) vocabulary: u64,
}

impl Shape {
    /// Bytes of keys and values in half precision for this many tokens, and of the activations and logits of a batch.
    pub(super) fn cache(&self, tokens: u64, rows: u64, batch: u64) -> u64 {
        let head = self.width.div_ceil(self.heads.max(1));
        let keys_and_values = 2 * 2 * self.layers * self.heads_kv * head * tokens;
        let activations = 4 * batch * self.width * 24;
        keys_and_values + activations + 4 * rows.max(batch / 8) * self.vocabulary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_follow_the_shape() {
        // Qwen2.5-1.5B: 28 layers, 12 heads of which 2 for keys and values, 1536 wide: 28,672 bytes a token.
        let shape = Shape { layers: 28, heads: 12, heads_kv: 2, width: 1536, vocabulary: 151_936 };
        assert_eq!(shape.cache(1001, 8, 512) - shape.cache(1000, 8, 512), 28_672);
    }

    #[test]
    fn free_memory_is_read_as_linux_tells_it() {
        let text = "MemTotal:       24000000 kB\nMemAvailable:   12000000 kB\n";
        assert_eq!(available(text), Some(12_288_000_000));
        assert_eq!(available("nothing"), None);
    }
}
