//! The bundled packs: `packs/math`, and for every other domain the files that differ.

use include_dir::{Dir, include_dir};
use std::collections::BTreeMap;

static PACKS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/packs");

/// The files of a domain, by file name.
pub(super) fn files(domain: &str) -> BTreeMap<String, String> {
    ["math", domain]
        .into_iter()
        .filter_map(|name| PACKS.get_dir(name))
        .flat_map(Dir::files)
        .filter_map(|file| {
            let name = file.path().file_name()?.to_str()?;
            Some((name.to_owned(), file.contents_utf8()?.to_owned()))
        })
        .collect()
}
