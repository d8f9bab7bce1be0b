//! What commands print for people: tables, evidence, scores and transcripts.

pub(crate) mod caveats;
pub(crate) mod evidence;
mod layout;
pub(crate) mod scores;
pub(crate) mod tables;
pub(crate) mod transcript;
