//! Find the answer in a reply, and decide whether two answers are the same.
//!
//! Pure functions over text: no clock, no I/O, no randomness. Depends on nothing of ours.
//!
//! ```
//! use aske_answer::{compare, last_boxed, Verdict};
//! let reply = r"So the sum is \boxed{\text{ 12 }}.";
//! assert_eq!(last_boxed(reply), Some(r"\text{ 12 }"));
//! assert_eq!(compare("12", r"\text{ 12 }").verdict, Verdict::Equal);
//! ```

pub mod approx;
mod compare;
pub mod exact;
mod extract;
pub mod fuel;
mod normalise;
pub mod tree;

pub use compare::{COMPARISON, Comparison, Method, Verdict, compare};
pub use extract::{boxes, last_boxed, last_word};
pub use normalise::normalise;
