//! `aske nano export`: the built-in networks as folders that other programs load.

use super::{check_names, is_selected, write};
use crate::arguments::NanoExport;
use crate::error::{CliError, Exit};
use crate::output::data;
use aske_nano::{files, networks, portable_files};
use std::borrow::Cow;

pub(crate) fn run(arguments: &NanoExport) -> Result<Exit, CliError> {
    check_names(&arguments.only)?;
    for name in networks().filter(|name| is_selected(&arguments.only, name)) {
        let folder = arguments.folder.join(name);
        let written = if arguments.original_heads {
            files(name).map(|files| files.map(|(file, bytes)| (file, Cow::Borrowed(bytes))))
        } else {
            portable_files(name)
        };
        for (file, bytes) in written.map_err(CliError::failure)? {
            write(&folder.join(file), &bytes)?;
        }
        data(folder.display());
    }
    Ok(Exit::Done)
}
