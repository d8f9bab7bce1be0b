//! The constants of arbitrary precision, as binary fractions.
//!
//! Computed by mpmath 1.3 at 5,000 bits and cut off, so that each is less than one unit too small.

use std::sync::LazyLock;

use dashu_int::{IBig, UBig};

/// A constant to a fixed number of binary places.
pub(super) struct Fraction {
    value: LazyLock<IBig>,
    places: u32,
}

impl Fraction {
    /// The places that are kept.
    pub(super) fn places(&self) -> u32 {
        self.places
    }

    /// The constant in units of 2^-`places`, cut off: less than two units too small.
    pub(super) fn at(&self, places: u32) -> IBig {
        &*self.value >> (self.places.saturating_sub(places) as usize)
    }
}

fn read(digits: &str) -> IBig {
    UBig::from_str_radix(digits, 16).unwrap_or_default().into()
}

/// π.
pub(super) static PI: Fraction = Fraction { value: LazyLock::new(|| read(PI_DIGITS)), places: 4096 };

/// The natural logarithm of two.
pub(super) static LN2: Fraction = Fraction { value: LazyLock::new(|| read(LN2_DIGITS)), places: 2048 };

/// Euler's constant γ.
pub(super) static EULER_GAMMA: Fraction =
    Fraction { value: LazyLock::new(|| read(EULER_GAMMA_DIGITS)), places: 2048 };

const PI_DIGITS: &str = "\
     3243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89452821e638d01377be5466cf34e90c6\
     cc0ac29b7c97c50dd3f84d5b5b54709179216d5d98979fb1bd1310ba698dfb5ac2ffd72dbd01adfb7b8e1afed6a267e9\
     6ba7c9045f12c7f9924a19947b3916cf70801f2e2858efc16636920d871574e69a458fea3f4933d7e0d95748f728eb65\
     8718bcd5882154aee7b54a41dc25a59b59c30d5392af26013c5d1b023286085f0ca417918b8db38ef8e79dcb0603a180\
     e6c9e0e8bb01e8a3ed71577c1bd314b2778af2fda55605c60e65525f3aa55ab945748986263e8144055ca396a2aab10b\
     6b4cc5c341141e8cea15486af7c72e993b3ee1411636fbc2a2ba9c55d741831f6ce5c3e169b87931eafd6ba336c24cf5\
     c7a325381289586773b8f48986b4bb9afc4bfe81b6628219361d809ccfb21a991487cac605dec8032ef845d5de98575b\
     1dc262302eb651b8823893e81d396acc50f6d6ff383f442392e0b4482a484200469c8f04a9e1f9b5e21c66842f6e96c9\
     a670c9c61abd388f06a51a0d2d8542f68960fa728ab5133a36eef0b6c137a3be4ba3bf0507efb2a98a1f1651d39af017\
     666ca593e82430e888cee8619456f9fb47d84a5c33b8b5ebee06f75d885c12073401a449f56c16aa64ed3aa62363f770\
     61bfedf72429b023d37d0d724d00a1248db0fead349f1c09b075372c980991b7b";

const LN2_DIGITS: &str = "\
     b17217f7d1cf79abc9e3b39803f2f6af40f343267298b62d8a0d175b8baafa2be7b876206debac98559552fb4afa1b10\
     ed2eae35c138214427573b291169b8253e96ca16224ae8c51acbda11317c387eb9ea9bc3b136603b256fa0ec7657f74b\
     72ce87b19d6548caf5dfa6bd38303248655fa1872f20e3a2da2d97c50f3fd5c607f4ca11fb5bfb90610d30f88fe551a2\
     ee569d6dfc1efa157d2e23de1400b39617460775db8990e5c943e732b479cd33cccc4e659393514c4c1a1e0bd1d6095d\
     25669b333564a3376a9c7f8a5e148e82074db6015cfe7aa30c480a5417350d2c955d5179b1e17b9dae313cdb6c606cb1\
     078f735d1b2db31b5f50b5185064c18b";

const EULER_GAMMA_DIGITS: &str = "\
     93c467e37db0c7a4d1be3f810152cb56a1cecc3af65cc0190c03df34709affbd8e4b59fa03a9f0eed0649ccb621057d1\
     1056ae9132135a08e43b4673d74bafea58deb878cc86d733dbe7bf38154b36cf8a96d1567899aaae0c09d4c8b6b7b86f\
     d2a1ea1de62ff8643ec7c271827977225e6ac2f0bd61c746961542a3ce3bea5db54fe70e63e6d09f8fc28658e80567a4\
     7cfde60ee741e5d85a7bd46931ced8220365594964b839896fcaabccc9b31959c083f22ad3ee591c32fab2c7448f2a05\
     7db2db49ee52e0182741e53865f004cc8e704b7c5c40bf304c4d8c4f13edf6047c555302d2238d8ce11df2424f1b66c2\
     c5d238d0744db679af2890487031f9c0";
