//! Find the answer in a reply, and decide whether two answers are the same.
//!
//! Pure functions over text: no clock, no I/O, no randomness. Depends on nothing of ours.
//!
//! ```
//! use aske_answer::{compare, last_boxed, Verdict};
//! let reply = r"So the sum is \boxed{\text{ 12 }}.";
//! assert_eq!(last_boxed(reply), Some(r"\text{ 12 }"));
//! assert_eq!(compare(r"\sqrt{12}", r"2\sqrt3").verdict, Verdict::Equal);
//! ```

mod answer;
pub mod approx;
mod compare;
mod compat;
mod decide;
mod display;
pub mod exact;
mod explain;
mod extract;
pub mod fuel;
mod normalise;
mod policy;
mod read;
mod text;
pub mod tree;
mod units;

pub use compare::{Comparison, Method, Rules, Verdict, compare};
pub use explain::{Explanation, Reading, explain};
pub use extract::{boxes, last_boxed, last_word};
pub use normalise::normalise;
pub use policy::Policy;
