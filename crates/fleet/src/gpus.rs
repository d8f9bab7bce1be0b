//! The GPUs of a fleet, such as `5x141`.

use crate::model::GB;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::process::Command;
use std::str::FromStr;

/// The variable that selects the GPUs of a process.
pub(crate) const VISIBLE_DEVICES: &str = "CUDA_VISIBLE_DEVICES";
/// The largest number of GPUs of a plan.
const MAX_GPUS: usize = 64;

/// Identical GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpus {
    /// The number of GPUs.
    pub count: usize,
    /// Gigabytes of memory of each.
    pub gb: u32,
}

/// Thousandths of a GPU that servers may use; the rest is reserved for the driver and rounding.
pub const USABLE_PERMILLE: u32 = 970;

impl Gpus {
    /// The GPUs that processes of this machine see, by `nvidia-smi` and `CUDA_VISIBLE_DEVICES`, each with the memory of the
    /// smallest. `None` if there are none.
    pub fn detect() -> Option<Self> {
        let query = ["--query-gpu=memory.total", "--format=csv,noheader,nounits"];
        let output = Command::new("nvidia-smi").args(query).output().ok()?;
        let inherited = std::env::var(VISIBLE_DEVICES).ok();
        output.status.success().then_some(())?;
        Self::from_listing(&String::from_utf8_lossy(&output.stdout), inherited.as_deref())
    }

    /// Reads mebibytes of memory, a line for each GPU.
    fn from_listing(listing: &str, visible: Option<&str>) -> Option<Self> {
        let mebibytes: Vec<u64> = listing.lines().filter_map(|line| line.trim().parse().ok()).collect();
        let gb = mebibytes.iter().min()? * (1 << 20) / GB;
        let visible = visible.map_or(usize::MAX, |visible| devices(visible).count());
        let count = mebibytes.len().min(visible).min(MAX_GPUS);
        Some(Self { count, gb: u32::try_from(gb).ok()? }).filter(|gpus| gpus.count > 0 && gpus.gb > 0)
    }

    /// Bytes as thousandths of a GPU, rounded up.
    pub fn share(&self, bytes: u64) -> u32 {
        let whole = u64::from(self.gb) * GB;
        u32::try_from((u128::from(bytes) * 1000).div_ceil(u128::from(whole.max(1)))).unwrap_or(u32::MAX)
    }
}

/// The devices that a value of `CUDA_VISIBLE_DEVICES` names.
fn devices(variable: &str) -> impl Iterator<Item = &str> {
    variable.split(',').map(str::trim).filter(|device| !device.is_empty())
}

/// The value of `CUDA_VISIBLE_DEVICES` for these GPUs of a fleet, counted among those that the inherited value, if any,
/// makes visible: with `4,7` inherited, GPU 1 is device 7.
///
/// Returns the index of a GPU that is not visible as an error.
pub(crate) fn visible_devices(gpus: &[usize], inherited: Option<&str>) -> Result<String, usize> {
    let visible: Option<Vec<&str>> = inherited.map(|inherited| devices(inherited).collect());
    let device = |gpu: &usize| match &visible {
        Some(visible) => visible.get(*gpu).map(|device| (*device).to_owned()).ok_or(*gpu),
        None => Ok(gpu.to_string()),
    };
    Ok(gpus.iter().map(device).collect::<Result<Vec<_>, _>>()?.join(","))
}

impl fmt::Display for Gpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.count, self.gb)
    }
}

impl FromStr for Gpus {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not COUNTxGIGABYTES, such as 5x141");
        let (count, gb) = text.split_once(['x', 'X', '×']).unwrap_or(("1", text));
        let (count, gb): (usize, u32) =
            (count.trim().parse().map_err(|_| wrong())?, gb.trim().parse().map_err(|_| wrong())?);
        if (1..=MAX_GPUS).contains(&count) && (1..=4096).contains(&gb) {
            Ok(Self { count, gb })
        } else {
            Err(wrong())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_a_count_and_a_size() {
        assert_eq!("5x141".parse(), Ok(Gpus { count: 5, gb: 141 }));
        assert_eq!("80".parse(), Ok(Gpus { count: 1, gb: 80 }));
        for wrong in ["", "x", "0x80", "5x", "5x0", "-1x80", "5x80x2"] {
            assert!(wrong.parse::<Gpus>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn gpus_are_counted_among_the_visible_ones() {
        assert_eq!(visible_devices(&[0, 2], None), Ok("0,2".to_owned()));
        assert_eq!(visible_devices(&[0, 1], Some("4, 7")), Ok("4,7".to_owned()));
        assert_eq!(visible_devices(&[1], Some("GPU-1a,GPU-2b")), Ok("GPU-2b".to_owned()));
        assert_eq!(visible_devices(&[0, 2], Some("4,7")), Err(2));
        assert_eq!(visible_devices(&[0], Some("")), Err(0));
    }

    #[test]
    fn gpus_are_detected_with_the_memory_of_the_smallest() {
        // An H200 and an H100, as nvidia-smi lists them: 143,771 MiB are 150.8 GB, 81,559 MiB are 85.5 GB.
        let listing = "143771\n81559\n";
        assert_eq!(Gpus::from_listing(listing, None), Some(Gpus { count: 2, gb: 85 }));
        assert_eq!(Gpus::from_listing("143771", None), Some(Gpus { count: 1, gb: 150 }));
        assert_eq!(Gpus::from_listing(listing, Some("1")), Some(Gpus { count: 1, gb: 85 }));
        assert_eq!(Gpus::from_listing(listing, Some("")), None);
        for none in ["", "No devices were found\n", "[N/A]\n"] {
            assert_eq!(Gpus::from_listing(none, None), None, "{none}");
        }
    }

    #[test]
    fn a_share_is_rounded_up() {
        let gpus = Gpus { count: 1, gb: 100 };
        assert_eq!((gpus.share(0), gpus.share(1), gpus.share(50 * GB)), (0, 1, 500));
        // 2^58 bytes are 2,882,303,761.5 thousandths of 100 GB; what exceeds 32 bits is as large as possible.
        assert_eq!((gpus.share(1 << 58), gpus.share(u64::MAX)), (2_882_303_762, u32::MAX));
    }
}
