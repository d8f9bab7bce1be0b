//! Checks that a safetensors file is intact and all of its values are finite.

use super::checkpoint::{CheckpointError, read_file};
use safetensors::{Dtype, SafeTensors};
use std::path::Path;

/// Reads a file and checks every floating-point value.
pub(super) fn check_tensor_file(path: &Path) -> Result<(), CheckpointError> {
    let file = path.file_name().unwrap_or_default().display();
    let bytes = read_file(path)?;
    let tensors = SafeTensors::deserialize(&bytes)
        .map_err(|error| CheckpointError::Damaged(format!("{file}: {error}")))?;
    match tensors.iter().find(|(_, view)| !is_finite(view.dtype(), view.data())) {
        Some((name, _)) => Err(CheckpointError::Damaged(format!("{file}: {name} is not finite"))),
        None => Ok(()),
    }
}

/// NaN and infinity have all exponent bits set.
fn is_finite(kind: Dtype, data: &[u8]) -> bool {
    let half = |exponent: u16| move |bytes: &[u8; 2]| u16::from_le_bytes(*bytes) & exponent != exponent;
    match kind {
        Dtype::F16 => data.as_chunks().0.iter().all(half(0x7C00)),
        Dtype::BF16 => data.as_chunks().0.iter().all(half(0x7F80)),
        Dtype::F32 => data.as_chunks().0.iter().all(|bytes| f32::from_le_bytes(*bytes).is_finite()),
        Dtype::F64 => data.as_chunks().0.iter().all(|bytes| f64::from_le_bytes(*bytes).is_finite()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{Dtype, is_finite};

    #[test]
    fn nan_and_infinity_are_found_in_every_precision() {
        // IEEE 754 half: the largest finite number is 0x7BFF; bfloat16: 0x7F7F, the upper half of single precision.
        for (kind, fine, bad) in [
            (Dtype::F16, 0x7BFF_u16, [0x7C00_u16, 0xFC00, 0x7E01]),
            (Dtype::BF16, 0x7F7F, [0x7F80, 0xFF80, 0x7FC1]),
        ] {
            assert!(is_finite(kind, &[fine.to_le_bytes(), 0x8000_u16.to_le_bytes()].concat()));
            for bad in bad {
                assert!(
                    !is_finite(kind, &[fine.to_le_bytes(), bad.to_le_bytes()].concat()),
                    "{kind:?} {bad:x}"
                );
            }
        }
        assert!(is_finite(Dtype::F32, &f32::MAX.to_le_bytes()));
        assert!(!is_finite(Dtype::F32, &f32::NAN.to_le_bytes()));
        assert!(is_finite(Dtype::F64, &f64::MIN.to_le_bytes()));
        assert!(!is_finite(Dtype::F64, &f64::NEG_INFINITY.to_le_bytes()));
        assert!(is_finite(Dtype::I64, &[0xFF; 8]), "whole numbers have no NaN");
    }
}
