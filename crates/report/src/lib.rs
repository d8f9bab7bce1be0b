//! The report on runs as one HTML page with figures, for `aske report --html`; also the figures and page frame of training
//! and evaluation.
//!
//! The page is a single file without scripts or network access, for light and dark screens and for paper. Text written by
//! models is escaped, and its mathematics is rendered to MathML and checked. May use `chat`, `evidence`, `record`, `session`
//! and `stats`.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runs = [aske_evidence::Run::read("runs/mine".as_ref(), None)?];
//! let page = aske_report::page(&aske_evidence::evidence(&runs), &runs)?;
//! std::fs::write("report.html", page)?;
//! # Ok(())
//! # }
//! ```

mod draw;
mod figures;
mod math;
pub mod number;
mod page;
mod sections;
mod text;

pub use figures::bars::{Bars, Group, bars};
pub use figures::curves::{Panel, XAxis, curves};
pub use math::{Piece, pieces};
pub use page::{Frame, page};
pub use sections::Section;
pub use text::label;
