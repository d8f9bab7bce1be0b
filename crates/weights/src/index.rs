//! A package index: where the wheel of a package is. Indexes answer in JSON (PEP 691) or in HTML (PEP 503).

use crate::PullError;
use crate::digest::Digest;
use crate::http::{Http, Site, shown};
use percent_encoding::percent_decode_str;
use reqwest::Url;
use serde::Deserialize;
use std::collections::BTreeMap;

const ACCEPT: &str =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1";

/// Where a wheel is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) url: Url,
    /// Where the index tells it.
    pub(crate) digest: Option<Digest>,
}

/// Finds the wheel of this version.
pub(crate) async fn find(
    http: &Http,
    index: &Site,
    package: &str,
    version: &str,
) -> Result<Found, PullError> {
    let page = index.at([normal(package, '-').as_str(), ""]);
    let (base, kind, text) = http.text(index, &page, ACCEPT).await?;
    let useless = |why: String| PullError::Answer { address: shown(&page), why };
    let files = if kind.contains("json") {
        json(&text).map_err(|error| useless(format!("not a page of a package index: {error}")))?
    } else {
        html(&text)
    };
    let (link, digest) = best(files, package, version)
        .ok_or_else(|| useless(format!("the index has no wheel of {package} {version}")))?;
    let mut url = base.join(&link).map_err(|_| useless("a link that is none".to_owned()))?;
    url.set_fragment(None);
    if !index.may_send_to(&url) {
        return Err(useless("the wheel is offered without encryption".to_owned()));
    }
    Ok(Found { url, digest })
}

/// A file of a page: its name, its link, its sha256.
struct Offered {
    name: String,
    link: String,
    sha256: Option<String>,
}

fn best(files: Vec<Offered>, package: &str, version: &str) -> Option<(String, Option<Digest>)> {
    let ours = |file: &Offered| {
        let mut fields = file.name.strip_suffix(".whl").unwrap_or_default().split('-');
        fields.next().is_some_and(|name| normal(name, '-') == normal(package, '-'))
            && fields.next() == Some(version)
    };
    let mut files: Vec<_> = files.into_iter().filter(ours).collect();
    files.sort_by_key(|file| !file.name.ends_with("-none-any.whl"));
    let file = files.into_iter().next()?;
    Some((file.link, file.sha256.as_deref().map(Digest::sha256)))
}

/// A package's name as indexes compare it.
fn normal(name: &str, between: char) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        if !matches!(c, '-' | '_' | '.') {
            normal.push(c.to_ascii_lowercase());
        } else if !normal.ends_with(between) {
            normal.push(between);
        }
    }
    normal
}

#[derive(Deserialize)]
struct Page {
    files: Vec<PageFile>,
}

#[derive(Deserialize)]
struct PageFile {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
}

fn json(text: &str) -> Result<Vec<Offered>, serde_json::Error> {
    let page: Page = serde_json::from_str(text)?;
    let files = page.files.into_iter().map(|mut file| Offered {
        name: file.filename,
        link: file.url,
        sha256: file.hashes.remove("sha256"),
    });
    Ok(files.collect())
}

/// The links of a page, which PEP 503 keeps simple: a file's name ends its address, its checksum is the fragment.
fn html(text: &str) -> Vec<Offered> {
    let links = text.split("<a ").skip(1).filter_map(|rest| {
        let tag = rest.split('>').next()?;
        let quoted = tag.split_once("href=")?.1;
        let quote = quoted.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        quoted[1..].split(quote).next()
    });
    links
        .map(|link| {
            let link = link.replace("&amp;", "&");
            let (address, fragment) = link.split_once('#').unwrap_or((&link, ""));
            let name = address.split('?').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            Offered {
                name: percent_decode_str(name).decode_utf8_lossy().into_owned(),
                sha256: fragment.strip_prefix("sha256=").map(str::to_owned),
                link: link.clone(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTML: &str = r#"<!DOCTYPE html><html><body>
<a href="../../files/my_pack-0.1.tar.gz#sha256=aa">my_pack-0.1.tar.gz</a><br/>
<a data-requires-python="&gt;=3.9" href="../../files/my_pack-0.1-cp312-cp312-linux_x86_64.whl">x</a>
<a class=a href='../../files/My.Pack-0.1-py3-none-any.whl?a=1&amp;b=2#sha256=BB'>x</a>
<a href="../../files/my_pack-0.1.1-py3-none-any.whl#sha256=cc">x</a></body></html>"#;

    #[test]
    fn the_wheel_of_the_version_is_found_in_html() {
        let (link, digest) = best(html(HTML), "my-pack", "0.1").unwrap();
        assert_eq!(link, "../../files/My.Pack-0.1-py3-none-any.whl?a=1&b=2#sha256=BB");
        assert_eq!(digest, Some(Digest::sha256("bb")));
        assert!(best(html(HTML), "my-pack", "0.2").is_none());
        assert!(best(html(HTML), "pack", "0.1").is_none());
    }

    #[test]
    fn the_wheel_of_the_version_is_found_in_json() {
        let page = r#"{"meta": {"api-version": "1.1"}, "name": "my-pack", "files": [
            {"filename": "my_pack-0.1.tar.gz", "url": "a", "hashes": {"sha256": "aa"}},
            {"filename": "my_pack-0.1-py3-none-any.whl", "url": "b", "hashes": {"md5": "0", "sha256": "bb"}}]}"#;
        assert_eq!(
            best(json(page).unwrap(), "My_Pack", "0.1"),
            Some(("b".into(), Some(Digest::sha256("bb"))))
        );
    }

    #[test]
    fn pages_that_are_none_are_borne() {
        for page in ["", "<a ", "<a href=>", "<a href=\"", "<a href=ü>", "<a href=\"#\"></a>"] {
            assert!(best(html(page), "a", "1").is_none());
        }
    }
}
