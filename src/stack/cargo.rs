//! Cargo packages and workspaces.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::file_list::{join, relative, resolve, within};
use super::{BUILD, Detection, Files, TESTS};
use crate::globs::Globs;

/// Files that sources take in when they are compiled: by the standard macros and those of `include_dir`, or, for
/// `rust-embed`, by an attribute.
static TAKEN_IN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?:include_(?:str|bytes|dir)!\s*\(\s*|#\[folder\s*=\s*|#\[template\(path\s*=\s*)(?:concat!\s*\(\s*env!\s*\(\s*"(?<manifest>CARGO_MANIFEST_DIR)"\s*\)\s*,\s*)?"(?<path>[^"]+)""#,
    )
    .ok()
});

/// The most sources that are read.
const MAX_SOURCES: usize = 5_000;

/// A line that makes a test.
static TEST_SIGN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?m)#!?\[[^\]]*(?:test|rstest|case|quickcheck)|\w*(?:test|proptest|quickcheck)\w*!|^\s*//[/!].*(?:```|~~~)|doc\s*=\s*include_str").ok()
});

/// The outermost packages and workspaces. A package below a workspace belongs to it: cargo itself refuses to build
/// one that is neither a member nor excluded.
pub(super) fn find(files: &Files) -> Vec<Detection> {
    let mut found: Vec<(Detection, Option<Workspace>)> = Vec::new();
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
        if is_fuzzed(&table) {
            let notes =
                vec![format!("{manifest} is a package of cargo-fuzz, which `cargo test` does not run: left out")];
            let left_out = Detection { stack: "rust".to_owned(), dir, notes, ..Detection::default() };
            found.push((left_out, workspace));
            continue;
        }
        let taken = taken_in(files, &dir);
        let mut commands = vec![(BUILD, format!("cargo build{suffix}"), because.clone())];
        if has_tests(files, &dir, &table) {
            commands.insert(0, (TESTS, format!("cargo test{suffix}"), because));
        }
        let entry = Detection {
            stack: "rust".to_owned(),
            ignore: documentation(&taken),
            mentions: taken
                .iter()
                .map(|path| String::from("./") + &relative(&dir, path))
                .collect::<Vec<_>>()
                .join("\n"),
            manifests: vec![manifest, join(&dir, "build.rs")],
            commands,
            dir,
            test_builds: true,
            ..Detection::default()
        };
        found.push((entry, workspace));
    }
    found.into_iter().map(|(found, _)| found).collect()
}

/// Whether a package holds the targets of cargo-fuzz.
fn is_fuzzed(manifest: &toml::Table) -> bool {
    let metadata = manifest.get("package").and_then(|package| package.get("metadata"));
    metadata.is_some_and(|metadata| metadata.get("cargo-fuzz").is_some())
}

/// Whether there is a sign of a test: an attribute, a macro that makes tests, an example in the documentation, a test
/// target. Where no source can be read, there may be one.
fn has_tests(files: &Files, dir: &str, manifest: &toml::Table) -> bool {
    let mut sources =
        files.below(dir).filter(|path| path.rsplit_once('.').is_some_and(|(_, end)| end == "rs")).peekable();
    let tests = join(dir, "tests/");
    manifest.contains_key("test")
        || sources.peek().is_none()
        || sources.enumerate().any(|(at, path)| {
            at == MAX_SOURCES
                || path.starts_with(&tests)
                || TEST_SIGN.as_ref().is_none_or(|sign| sign.is_match(&files.text(path)))
        })
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
            || Globs::new(&self.excluded).is_ok_and(|globs| globs.is_match(dir));
        within(dir, &self.dir) && !excluded
    }
}

/// Returns the files and folders that the sources below `dir` take in, from the root of the repository.
fn taken_in(files: &Files, dir: &str) -> BTreeSet<String> {
    let Some(pattern) = TAKEN_IN.as_ref() else { return BTreeSet::new() };
    let mut taken = BTreeSet::new();
    let sources = files.below(dir).filter(|path| path.rsplit_once('.').is_some_and(|(_, end)| end == "rs"));
    // Bounded, since this reads sources and not only manifests.
    for path in sources.take(MAX_SOURCES) {
        let text = files.text(path);
        if !text.contains("include_") && !text.contains("#[folder") {
            continue;
        }
        let source_dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        for capture in pattern.captures_iter(&text) {
            let (whole, path) = (&capture[0], &capture["path"]);
            let of_package = path.strip_prefix("$CARGO_MANIFEST_DIR");
            let near = capture.name("manifest").is_none() && of_package.is_none() && whole.starts_with("include_");
            let base = if near { source_dir } else { package_of(files, source_dir) };
            let path = of_package.unwrap_or(path);
            taken.extend(resolve(base, if near { path } else { path.trim_start_matches('/') }));
        }
    }
    taken
}

/// Returns the globs for Markdown that becomes documentation: `cargo test` compiles and runs it, so it is not ignored.
fn documentation(taken: &BTreeSet<String>) -> Vec<String> {
    let markdown = |path: &&String| path.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "md" | "markdown"));
    taken.iter().filter(markdown).map(|path| format!("!{}", globset::escape(path))).collect()
}

/// Returns the folder of the package a source file belongs to.
fn package_of<'a>(files: &Files, source_dir: &'a str) -> &'a str {
    let mut dir = source_dir;
    while !dir.is_empty() && !files.has(&join(dir, "Cargo.toml")) {
        dir = dir.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    dir
}
