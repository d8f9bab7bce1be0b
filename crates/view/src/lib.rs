//! stub
#![allow(missing_docs, clippy::all, clippy::pedantic)]
use std::path::PathBuf;
pub struct Options {
    pub runs: Vec<PathBuf>,
    pub port: u16,
}
#[derive(Debug)]
pub struct ViewError;
impl std::fmt::Display for ViewError {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}
impl ViewError {
    pub fn hint(&self) -> &'static str {
        ""
    }
}
pub async fn serve(
    _: Options,
    _: impl FnOnce(std::net::SocketAddr),
    _: impl Future<Output = ()>,
) -> Result<(), ViewError> {
    Err(ViewError)
}
