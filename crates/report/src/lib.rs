//! The report: one HTML page about some runs, with every figure drawn in place; the curves of a training,
//! the bars of a comparison, and the frame of any page.
//!
//! The page is a single file: no network, no script, light and dark, for the screen and for paper. What a model
//! wrote is escaped, and its mathematics is checked before it is shown. May use `evidence`, `record`, `session`
//! and `stats`.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runs = [aske_evidence::Run::read("runs/mine".as_ref(), None)?];
//! let page = aske_report::page(&aske_evidence::evidence(&runs)?, &runs)?;
//! std::fs::write("report.html", page)?;
//! # Ok(())
//! # }
//! ```

mod draw;
mod figures;
mod math;
mod number;
mod page;
mod sections;
mod text;

pub use figures::bars::{Bars, Group, bars};
pub use figures::curves::{Over, Panel, curves};
pub use math::{Piece, pieces};
pub use page::{Frame, page};
pub use sections::Section;
pub use text::label;
