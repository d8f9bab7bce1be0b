//! Faults, and the counter-based draw of faulty requests.

use clap::ValueEnum;

/// A fault of the server, with its name in [`crate::Stats::faults`] and on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Fault {
    /// 429 that allows an immediate retry.
    #[value(name = "429-retry-after-0")]
    RetryNow,
    /// 429 that asks for a wait of one second.
    #[value(name = "429-retry-after-1")]
    RetryInASecond,
    /// 429 without `Retry-After`.
    #[value(name = "429")]
    RetryUnknown,
    /// 500 with an error body.
    #[value(name = "500")]
    Status500,
    /// 503 with an error body.
    #[value(name = "503")]
    Status503,
    /// The connection is reset after the request was read.
    Reset,
    /// No answer for a while, then the connection closes.
    Hang,
    /// The full `Content-Length`, half of the bytes, then the connection closes.
    HalfBody,
    /// 200 with a web page.
    Html,
    /// 200 with no choices.
    EmptyChoices,
}

impl Fault {
    /// Every fault, in the order of the draw.
    pub fn all() -> &'static [Self] {
        Self::value_variants()
    }

    /// The name, such as `half-body`.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The fault that request `number` meets, if any: a pure function, so a retry (a new number) can succeed.
    pub(crate) fn draw(seed: u64, number: u64, share: f64) -> Option<Self> {
        let first = mix(mix(seed).wrapping_add(number));
        // The top 53 bits as a fraction of one: every value is exact in an f64.
        let unit = (first >> 11) as f64 / (1_u64 << 53) as f64;
        if unit >= share {
            return None;
        }
        let kinds = Self::all().len() as u64;
        Self::all().get(usize::try_from(mix(first) % kinds).unwrap_or(0)).copied()
    }
}

/// One step of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First output of SplitMix64 seeded with 0, as published with the reference C code.
    #[test]
    fn the_mixer_is_splitmix64() {
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
    }

    #[test]
    fn faults_come_at_their_share_and_evenly() {
        let n = 100_000;
        let drawn: Vec<Fault> = (0..n).filter_map(|number| Fault::draw(3, number, 0.2)).collect();
        // Binomial(100,000, 0.2): sd 126, so 800 is beyond 6 sd.
        assert!((drawn.len() as f64 - 20_000.0).abs() < 800.0, "{}", drawn.len());
        for &fault in Fault::all() {
            // Binomial(about 20,000, 0.1): sd 42, so 270 is beyond 6 sd.
            let count = drawn.iter().filter(|other| **other == fault).count();
            assert!((count as f64 - 2_000.0).abs() < 350.0, "{} {count}", fault.name());
        }
    }

    #[test]
    fn the_ends_of_the_share_are_never_and_always() {
        assert!((0..1_000).all(|number| Fault::draw(1, number, 0.0).is_none()));
        assert!((0..1_000).all(|number| Fault::draw(1, number, 1.0).is_some()));
    }

    #[test]
    fn names_round_trip() {
        for &fault in Fault::all() {
            assert_eq!(Fault::from_str(&fault.name(), false), Ok(fault));
        }
        assert!(Fault::from_str("nothing", false).is_err());
    }
}
