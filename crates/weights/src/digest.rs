//! Checksums of files.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The expected checksum of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Digest {
    /// The sha256 of the content.
    Sha256(String),
    /// The git blob id: the only checksum that the hub lists for small files.
    GitBlob(String),
}

impl Digest {
    /// A sha256, in hexadecimal.
    pub(crate) fn sha256(text: &str) -> Self {
        Self::Sha256(text.to_ascii_lowercase())
    }

    /// The checksum in hexadecimal.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Sha256(text) | Self::GitBlob(text) => text,
        }
    }

    /// The same kind of checksum of a file, in hexadecimal.
    pub(crate) async fn of(&self, path: &Path) -> io::Result<String> {
        match self {
            Self::Sha256(_) => sha256(path).await,
            Self::GitBlob(_) => {
                let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
                context.update(format!("blob {}\0", std::fs::metadata(path)?.len()).as_bytes());
                hash_file(path, context).await
            }
        }
    }
}

/// The sha256 of a file, in hexadecimal.
pub(crate) async fn sha256(path: &Path) -> io::Result<String> {
    hash_file(path, Context::new(&SHA256)).await
}

/// Hashes a file, yielding to other tasks: a large file takes minutes.
async fn hash_file(path: &Path, mut context: Context) -> io::Result<String> {
    let (mut file, mut buffer) = (File::open(path)?, vec![0; 1 << 20]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        context.update(&buffer[..read]);
        tokio::task::yield_now().await;
    }
    let mut text = String::with_capacity(64);
    for byte in context.finish().as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `printf abc | sha256sum` and `printf abc | git hash-object --stdin`.
    #[tokio::test]
    async fn checksums_are_those_of_other_programs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(
            sha256(&path).await.unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let blob = Digest::GitBlob(String::new());
        assert_eq!(blob.of(&path).await.unwrap(), "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f");
    }
}
