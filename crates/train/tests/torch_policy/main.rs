//! The policy on libtorch against transformers and PyTorch: the fixtures are made by `make.py` beside this file.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod agrees;
mod common;
mod files;
mod learns;
