//! Suggestions for typos.

/// The candidate closest to what was written, if it is close at all.
pub fn closest<'c>(written: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(written, candidate), candidate))
        .filter(|(likeness, candidate)| *likeness > 0.8 || strsim::osa_distance(written, candidate) < 2)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// A hint that suggests the closest candidate, or else says something different.
pub fn did_you_mean<'c>(
    written: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    otherwise: impl Into<String>,
) -> String {
    let likely = closest(written, candidates);
    likely.map_or_else(|| otherwise.into(), |likely| format!("did you mean `{likely}`?"))
}

/// Converts serde's "unknown field" into a message and a suggestion.
pub(crate) fn unknown_field(message: &str) -> Option<(String, String)> {
    let rest = message.strip_prefix("unknown field ").or_else(|| message.strip_prefix("unknown variant "))?;
    let mut names = rest.split('`').skip(1).step_by(2);
    let written = names.next()?;
    let known: Vec<&str> = names.collect();
    let kind = if message.starts_with("unknown field") { "key" } else { "value" };
    let mut hint = did_you_mean(written, known.iter().copied(), format!("known here: {}", known.join(", ")));
    if hint.contains("`api_key_env`?") {
        hint += " It takes the name of the environment variable that holds the key";
    }
    Some((format!("unknown {kind} `{written}`"), hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word() {
        let (what, hint) =
            unknown_field("unknown field `ronds`, expected one of `rounds`, `domain`").unwrap();
        assert_eq!((what.as_str(), hint.as_str()), ("unknown key `ronds`", "did you mean `rounds`?"));
        let (_, hint) = unknown_field("unknown field `zzz`, expected `rounds` or `domain`").unwrap();
        assert_eq!(hint, "known here: rounds, domain");
        assert_eq!(closest("qwen3-1.7", ["qwen3-1.7b", "gemma-3-4b-it"]), Some("qwen3-1.7b"));
    }
}
