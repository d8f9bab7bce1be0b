//! stub
/// stub
pub fn page(_: &aske_evidence::Evidence, _: &[aske_evidence::Run]) -> Result<String, aske_record::RunError> {
    Ok(String::new())
}
