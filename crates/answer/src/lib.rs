//! Extracts the answer from a reply and decides whether two answers are the same.
//!
//! Pure functions over text: no clock, no I/O, no randomness. Depends on `aske-algebra`
//! (expressions) and `aske-math-verify` (the rules of math-verify).
//!
//! ```
//! use aske_answer::{compare, last_boxed, Verdict};
//! let reply = r"So the sum is \boxed{\text{ 12 }}.";
//! assert_eq!(last_boxed(reply), Some(r"\text{ 12 }"));
//! assert_eq!(compare(r"\sqrt{12}", r"2\sqrt3").verdict, Verdict::Equal);
//! ```

mod answer;
mod compare;
mod decide;
mod display;
mod explain;
mod extract;
mod find;
mod normalise;
mod policy;
mod read;
mod text;
mod units;
mod vocabulary;

pub use aske_algebra::verdict::{Comparison, Method, Verdict};
pub use compare::{Rules, compare};
pub use explain::{Explanation, Reading, explain};
pub use extract::{boxes, last_boxed, last_word};
pub use find::{Place, find_answer};
pub use normalise::normalise;
pub use policy::NotationPolicy;
