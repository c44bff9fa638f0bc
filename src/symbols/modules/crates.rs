//! The crates of a workspace of Rust, by their manifests.

use std::collections::BTreeMap;
use std::path::Path;

/// The name of a manifest.
const MANIFEST: &str = "Cargo.toml";

/// Returns `true` for a manifest that tells how other code calls the modules of a file of Rust, which may be unknown.
pub fn is_manifest_of(path: &str, source: &str) -> bool {
    let is_rust = Path::new(source).extension().is_some_and(|ending| ending == "rs");
    path.rsplit('/').next() == Some(MANIFEST) && (source.is_empty() || is_rust)
}

/// Returns the folder of the modules of each crate, by the name that other code calls it by.
pub(super) fn folders(files: &[(String, Vec<u8>)]) -> BTreeMap<String, String> {
    let manifests = files.iter().filter(|(path, _)| is_manifest_of(path, ""));
    manifests.filter_map(|(path, bytes)| named(path, &String::from_utf8_lossy(bytes))).collect()
}

fn named(path: &str, text: &str) -> Option<(String, String)> {
    let table: toml::Table = text.parse().ok()?;
    let library = |key: &str| table.get("lib")?.get(key)?.as_str();
    let name = library("name").or_else(|| table.get("package")?.get("name")?.as_str())?;
    let source = library("path").unwrap_or("src/lib.rs");
    let folder = source.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    Some((name.replace('-', "_"), format!("{}{folder}", path.strip_suffix(MANIFEST)?)))
}
