//! `aske nano export`: the shipped networks as folders that other programs load.

use super::{failed, known, write};
use crate::arguments::NanoExport;
use crate::output::data;
use crate::problem::{Exit, Problem};
use aske_nano::{files, networks};

pub(crate) fn run(arguments: &NanoExport) -> Result<Exit, Problem> {
    known(&arguments.only)?;
    for name in networks() {
        if !arguments.only.is_empty() && !arguments.only.iter().any(|wanted| wanted == name) {
            continue;
        }
        let folder = arguments.folder.join(name);
        for (file, bytes) in files(name).map_err(|error| failed(&error))? {
            write(&folder.join(file), bytes)?;
        }
        data(folder.display());
    }
    Ok(Exit::Done)
}
