//! Cargo packages and workspaces.

use std::sync::LazyLock;

use regex::Regex;

use super::files::{join, resolve, within};
use super::{BUILD, Files, Found, TESTS};
use crate::policy::glob_set;

/// Markdown that becomes documentation, and so is compiled and run by `cargo test`.
static INCLUDED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"include_str!\s*\(\s*(?:"(?<near>[^"]+\.(?:md|markdown))"|concat!\s*\(\s*env!\s*\(\s*"CARGO_MANIFEST_DIR"\s*\)\s*,\s*"/?(?<far>[^"]+\.(?:md|markdown))")"#,
    )
    .ok()
});

/// The outermost packages and workspaces. A package below a workspace belongs to it: cargo itself refuses to build
/// one that is neither a member nor excluded.
pub(super) fn find(files: &Files) -> Vec<Found> {
    let mut found: Vec<(Found, Option<Workspace>)> = Vec::new();
    for dir in files.folders_with("Cargo.toml") {
        let manifest = join(&dir, "Cargo.toml");
        let Ok(table) = files.text(&manifest).parse::<toml::Table>() else { continue };
        let workspace = table.get("workspace").map(|workspace| Workspace::new(&dir, workspace));
        let member = workspace.is_none() && found.iter().any(|(_, w)| w.as_ref().is_some_and(|w| w.owns(&dir)));
        if member || !(workspace.is_some() || table.contains_key("package")) {
            continue;
        }
        let (suffix, what) = if workspace.is_some() { (" --workspace", "a workspace") } else { ("", "a package") };
        let because = format!("{manifest} is {what}");
        let entry = Found {
            stack: "rust".to_owned(),
            ignore: documentation(files, &dir),
            manifests: vec![manifest],
            commands: vec![
                (TESTS, format!("cargo test{suffix}"), because.clone()),
                (BUILD, format!("cargo build{suffix}"), because),
            ],
            dir,
            notes: Vec::new(),
            test_builds: true,
        };
        found.push((entry, workspace));
    }
    found.into_iter().map(|(found, _)| found).collect()
}

/// Where a workspace reaches.
struct Workspace {
    dir: String,
    excluded: Vec<String>,
}

impl Workspace {
    fn new(dir: &str, table: &toml::Value) -> Self {
        let excluded = table.get("exclude").and_then(toml::Value::as_array).into_iter().flatten();
        let excluded = excluded.filter_map(toml::Value::as_str).filter_map(|path| resolve(dir, path)).collect();
        Self { dir: dir.to_owned(), excluded }
    }

    fn owns(&self, dir: &str) -> bool {
        let excluded = self.excluded.iter().any(|out| within(dir, out))
            || glob_set(&self.excluded).is_ok_and(|globs| globs.is_match(dir));
        within(dir, &self.dir) && !excluded
    }
}

/// The Markdown files that the sources below `dir` include, as patterns that take them back.
fn documentation(files: &Files, dir: &str) -> Vec<String> {
    let Some(included) = INCLUDED.as_ref() else { return Vec::new() };
    let mut taken: Vec<String> = Vec::new();
    // Bounded: documentation is included from crate roots, which a repository has few of beside thousands of files.
    for path in files.below(dir).filter(|path| path.rsplit_once('.').is_some_and(|(_, end)| end == "rs")).take(5_000) {
        let text = files.text(path);
        if !text.contains("include_str!") {
            continue;
        }
        let source_dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        for capture in included.captures_iter(&text) {
            let target = match (capture.name("near"), capture.name("far")) {
                (Some(near), _) => resolve(source_dir, near.as_str()),
                (_, Some(far)) => resolve(package_of(files, source_dir), far.as_str()),
                _ => None,
            };
            let pattern = target.map(|target| format!("!{}", globset::escape(&target)));
            taken.extend(pattern.filter(|pattern| !taken.contains(pattern)));
        }
    }
    taken.sort();
    taken
}

/// The folder of the package a source file belongs to.
fn package_of<'a>(files: &Files, source_dir: &'a str) -> &'a str {
    let mut dir = source_dir;
    while !dir.is_empty() && !files.has(&join(dir, "Cargo.toml")) {
        dir = dir.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    dir
}
