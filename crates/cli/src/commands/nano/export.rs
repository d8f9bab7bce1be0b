//! `aske nano export`: the shipped networks as folders that other programs load.

use super::{failed, write};
use crate::arguments::NanoExport;
use crate::output::data;
use crate::problem::{Exit, Problem};
use aske_nano::{files, networks};

pub(crate) fn run(arguments: &NanoExport) -> Result<Exit, Problem> {
    let known: Vec<&str> = networks().collect();
    if let Some(unknown) = arguments.only.iter().find(|name| !known.contains(&name.as_str())) {
        let hint = format!("there are {}", known.join(", "));
        return Err(Problem::usage(format!("no network is called `{unknown}`"), hint));
    }
    for name in known {
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
