//! The packages of a repository, and those that a command line concerns.
//!
//! The signs of a package and the ways in which a line names one are data: `gates/packages.toml`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::globs::Globs;
use crate::replay::tree_content::Content;
use crate::runner::Catalogue;

/// A part of the repository that is tested on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its folder, relative to the root; empty for the root.
    pub dir: String,
    /// The name in its manifest; empty if the manifest has none.
    pub name: String,
    /// Its ecosystem; empty without a manifest.
    pub ecosystem: String,
    /// It only holds others together.
    pub umbrella: bool,
}

/// The packages that a command line concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Everything below a folder.
    Below(String),
    /// The package in exactly this folder.
    Exactly(String),
    /// The package of this name.
    Named(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    ecosystem: Vec<Ecosystem>,
    selector: Vec<Selector>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Ecosystem {
    name: String,
    manifests: Vec<String>,
    sources: Option<String>,
    runners: Vec<String>,
    #[serde(default)]
    walks_up: bool,
    #[serde(default)]
    tests_build: bool,
    #[serde(default)]
    alone: Vec<String>,
}

/// The options by which a program selects packages.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Selector {
    programs: Vec<String>,
    #[serde(default)]
    pub(super) name: Vec<String>,
    #[serde(default)]
    pub(super) folder: Vec<String>,
    #[serde(default)]
    pub(super) manifest: Vec<String>,
    #[serde(default)]
    pub(super) after: Vec<String>,
    #[serde(default)]
    pub(super) dropped: Vec<String>,
    #[serde(default)]
    pub(super) verbs: Vec<String>,
    #[serde(default)]
    pub(super) paths: bool,
    #[serde(default)]
    pub(super) exact: bool,
    #[serde(default)]
    pub(super) tasks: bool,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| crate::embedded::table("packages.toml"));

/// Returns the options by which this program selects packages.
pub(super) fn selector(program: &str) -> Option<&'static Selector> {
    TABLES.selector.iter().find(|selector| selector.programs.iter().any(|known| known == program))
}

/// Returns the packages of a repository, outermost first. If nothing is known, the whole repository is one.
pub fn find(content: &Content) -> Vec<Package> {
    let mut found: Vec<Package> = Vec::new();
    for ecosystem in &TABLES.ecosystem {
        let Ok(globs) = Globs::new(&ecosystem.manifests) else { continue };
        let mut dirs: BTreeSet<String> = content
            .files
            .keys()
            .filter(|path| globs.is_match(base(path)))
            .map(|path| folder(path).to_owned())
            .collect();
        let modules = dirs.clone();
        if let Some(ending) = &ecosystem.sources {
            let sources =
                content.files.keys().filter(|path| path.rsplit_once('.').is_some_and(|(_, end)| end == ending));
            dirs.extend(sources.map(|path| folder(path).to_owned()).filter(|_| !modules.is_empty()));
        }
        for dir in dirs {
            let name =
                ecosystem.manifests.iter().find_map(|file| name_in(content, &join(&dir, file))).unwrap_or_default();
            let umbrella = match ecosystem.name.as_str() {
                "rust" => content.text(&join(&dir, "Cargo.toml")).is_some_and(is_virtual),
                _ => ecosystem.sources.is_some() && modules.contains(&dir),
            };
            found.push(Package { dir, name, ecosystem: ecosystem.name.clone(), umbrella });
        }
    }
    // A manifest of a second kind in one folder serves tools, where it declares no tests.
    let twice = |package: &Package| {
        package.ecosystem == "node"
            && found.iter().any(|other| other.dir == package.dir && other.ecosystem != "node")
            && !content.text(&join(&package.dir, "package.json")).is_some_and(|text| text.contains("\"test\""))
    };
    let mut kept: Vec<Package> = found.iter().filter(|package| !twice(package)).cloned().collect();
    kept.sort_by_key(|package| (depth(&package.dir), package.dir.clone()));
    if kept.iter().all(|package| !package.dir.is_empty()) && !kept.iter().any(|package| package.dir.is_empty()) {
        kept.insert(
            0,
            Package { dir: String::new(), name: String::new(), ecosystem: String::new(), umbrella: !kept.is_empty() },
        );
    }
    kept
}

/// Returns the folders inside a package that are packages of their own.
pub fn inside<'a>(package: &'a Package, all: &'a [Package]) -> impl Iterator<Item = &'a Package> {
    all.iter().filter(|other| other.dir != package.dir && within(&other.dir, &package.dir))
}

/// Returns `true` if runs of these runners can concern a package of that ecosystem. A runner outside of all tables may
/// run anything.
pub fn fits(runs: &[&str], package: &Package) -> bool {
    let is = |ecosystem: &Ecosystem, run: &str| {
        ecosystem.runners.iter().any(|known| match known.strip_suffix('*') {
            Some(start) => run.starts_with(start),
            None => run == known,
        })
    };
    let homes: Vec<&Ecosystem> =
        TABLES.ecosystem.iter().filter(|ecosystem| runs.iter().any(|run| is(ecosystem, run))).collect();
    package.ecosystem.is_empty() || homes.is_empty() || homes.iter().any(|home| home.name == package.ecosystem)
}

/// Returns `true` if a file decides the meaning of a command line: the manifest of a package, or a file with tasks.
pub fn says_what_a_line_means(path: &str) -> bool {
    let manifest =
        |ecosystem: &Ecosystem| Globs::new(&ecosystem.manifests).is_ok_and(|globs| globs.is_match(base(path)));
    TABLES.ecosystem.iter().any(manifest)
        || Catalogue::embedded()
            .runners()
            .filter_map(|runner| runner.task.as_ref())
            .flat_map(|task| &task.file)
            .any(|file| within(path, file) || path.ends_with(&format!("/{file}")))
}

/// Returns `true` if the tests of a package run only code that was compiled before.
pub fn tests_build(package: &Package) -> bool {
    TABLES.ecosystem.iter().any(|ecosystem| ecosystem.tests_build && ecosystem.name == package.ecosystem)
}

/// Returns `true` if `reach` includes a package, for a line with these words.
pub fn reaches(reach: &Reach, package: &Package, all: &[Package], words: &[&str], content: &Content) -> bool {
    let ecosystem = TABLES.ecosystem.iter().find(|ecosystem| ecosystem.name == package.ecosystem);
    match reach {
        Reach::Exactly(dir) => package.dir == *dir,
        Reach::Named(name) => is_named(package, name),
        Reach::Below(dir) => {
            let walks_up = ecosystem.is_some_and(|ecosystem| ecosystem.walks_up);
            let of_kind = || all.iter().filter(|other| other.ecosystem == package.ecosystem);
            let is_package = of_kind().any(|other| other.dir == *dir);
            let home = of_kind().filter(|other| within(dir, &other.dir)).max_by_key(|other| depth(&other.dir));
            let alone = ecosystem.is_some_and(|ecosystem| {
                !ecosystem.alone.is_empty() && !words.iter().any(|word| ecosystem.alone.iter().any(|all| all == word))
            });
            match home {
                Some(home) if walks_up && !is_package => package.dir == home.dir,
                // `cargo test` beside the manifest of a package is about that package alone.
                Some(home) if alone && home.dir == *dir && !home.umbrella => package.dir == home.dir,
                _ => within(&package.dir, dir) || holds_its_tests(dir, package, all, content),
            }
        }
    }
}

/// Returns `true` if a folder inside a package holds all of its tests.
fn holds_its_tests(dir: &str, package: &Package, all: &[Package], content: &Content) -> bool {
    let own = |path: &str| within(path, &package.dir) && !inside(package, all).any(|inner| within(path, &inner.dir));
    let mut tests = content.files.keys().filter(|path| own(path) && is_test(path)).peekable();
    !dir.is_empty() && within(dir, &package.dir) && tests.peek().is_some() && tests.all(|path| within(path, dir))
}

/// Returns `true` if a path looks like that of a test file.
pub fn is_test(path: &str) -> bool {
    let base = base(path);
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
    let folders = folder(path).split('/');
    stem.starts_with("test_")
        || ["_test", ".test", "_spec", ".spec", "Test", "Tests"].iter().any(|end| stem.ends_with(end))
        || folders.into_iter().any(|name| matches!(name, "tests" | "test" | "__tests__" | "spec"))
}

fn is_named(package: &Package, name: &str) -> bool {
    let bare = name
        .trim_matches(['{', '}'])
        .trim_end_matches("...")
        .trim_end_matches('^')
        .trim_start_matches("./")
        .trim_end_matches('/');
    let last = base(&package.dir);
    let listed = |word: &str| {
        word == package.name
            || word == package.dir
            || word.trim_start_matches(':') == last && !last.is_empty()
            || package.name.rsplit('/').next().is_some_and(|short| short == word && !short.is_empty())
            || word.contains('*')
                && Globs::new(&[word]).is_ok_and(|globs| globs.is_match(&package.dir) || globs.is_match(&package.name))
    };
    bare.split(',').any(listed)
}

fn is_virtual(manifest: &str) -> bool {
    manifest.parse::<toml::Table>().is_ok_and(|table| table.contains_key("workspace") && !table.contains_key("package"))
}

fn name_in(content: &Content, path: &str) -> Option<String> {
    let text = content.text(path)?;
    match base(path) {
        "Cargo.toml" => {
            let table: toml::Table = text.parse().ok()?;
            Some(table.get("package")?.get("name")?.as_str()?.to_owned())
        }
        "pyproject.toml" => {
            let table: toml::Table = text.parse().ok()?;
            Some(table.get("project")?.get("name")?.as_str()?.to_owned())
        }
        "package.json" | "composer.json" => {
            let json: serde_json::Value = serde_json::from_str(text).ok()?;
            Some(json.get("name")?.as_str()?.to_owned())
        }
        "go.mod" => text.lines().find_map(|line| Some(line.strip_prefix("module ")?.trim().to_owned())),
        "pom.xml" => {
            // That of the project itself stands outside of `<parent>`.
            let own = text.split("</parent>").last()?;
            Some(own.split("<artifactId>").nth(1)?.split('<').next()?.trim().to_owned())
        }
        _ => None,
    }
}

/// Returns a path below a folder.
pub fn join(dir: &str, path: &str) -> String {
    match (dir, path) {
        ("", path) => path.to_owned(),
        (dir, "" | ".") => dir.to_owned(),
        (dir, path) => format!("{dir}/{path}"),
    }
}

/// Returns `true` if a path is a folder or lies below it.
pub fn within(path: &str, dir: &str) -> bool {
    dir.is_empty() || path == dir || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn depth(dir: &str) -> usize {
    if dir.is_empty() { 0 } else { dir.split('/').count() }
}
