//! What commands that run something share: folders and models to open, progress, and how the work ended.

pub(crate) mod execute;
pub(crate) mod folders;
pub(crate) mod models;
pub(crate) mod named;
pub(crate) mod panels;
pub(crate) mod probe;
pub(crate) mod progress;
pub(crate) mod servers;
pub(crate) mod summary;
pub(crate) mod waiting;
