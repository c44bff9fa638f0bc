//! Globs that would compile, but match nothing or everything: almost always a slip.

use super::error::{Report, quoted};
use super::fields::LocatedValue;
use crate::globs;

/// Reports each glob that is invalid, or that can match no path of a repository.
pub(super) fn check(report: &mut Report<'_>, globs: &[LocatedValue<String>]) {
    for said in globs {
        let glob = said.value.strip_prefix('!').unwrap_or(&said.value);
        if let Some(what) = slip(glob) {
            report.add(&said.at, what);
        } else if let Err(error) = globs::check(glob) {
            report.add(&said.at, format!("{} is not a glob: {}", quoted(&error.glob), error.reason));
        }
    }
}

/// Returns the reason why a glob can match no path. Paths are relative to the root and have no `.`, `..` or empty part.
fn slip(glob: &str) -> Option<String> {
    if glob.trim().is_empty() {
        return Some("an empty glob matches nothing".to_owned());
    }
    if glob.starts_with('/') {
        return Some(format!("{} begins with `/` and matches nothing: globs are relative to the root", quoted(glob)));
    }
    if let Some(folder) = glob.strip_suffix('/') {
        return Some(format!(
            "{} ends with `/` and matches nothing: write {}",
            quoted(glob),
            quoted(&format!("{folder}/**"))
        ));
    }
    if glob.split('/').any(|part| matches!(part, "." | ".." | "")) {
        return Some(format!("{} matches nothing: no path holds `.`, `..` or `//`", quoted(glob)));
    }
    None
}
