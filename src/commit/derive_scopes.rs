//! Derives a first table of scopes from the layout of a repository and its history, for a person to edit.
//!
//! The layout gives the parts: the packages of a workspace, the folders of a source tree, the folders at the top. The
//! history gives their other names (the words that subjects use for the files that they change) and the parts that
//! change together so often that they are one concern.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::rules::{CommitRules, PathRole};
use super::scopes::ScopeTable;
use crate::globs::InvalidGlob;
use crate::policy::Scope;
use crate::repo_path::RepoPath;

/// Folders that hold parts and are none themselves.
const CONTAINERS: &[&str] = &[
    "packages", "crates", "apps", "libs", "modules", "services", "plugins", "components", "extensions", "projects",
    "internal", "pkg", "cmd", "workspaces", "tools", "src", "lib", "app", "source",
];
/// Files whose folder is a package.
const MANIFESTS: &[&str] = &["Cargo.toml", "package.json", "pyproject.toml", "go.mod", "pom.xml", "build.gradle"];
/// Folders of services that check and build.
const CI: &[&str] = &[".github", ".gitlab", ".circleci", ".ci", ".buildkite", ".azure-pipelines", "ci"];
/// The largest depth of parts.
const DEPTH: usize = 5;
/// The most scopes of a first table.
const MAX_SCOPES: usize = 60;
/// The number of commits that must use a word for a scope before it becomes another name.
const NAMED: usize = 3;
/// Commits that declare one scope and change another alone are this often a habit, as a share of those that use the
/// word in percent: the two are one concern to those who write them.
const ASTRAY: usize = 10;
/// Parts that are in one commit this often, as a share of the rarer one's commits in percent, are one concern.
const TOGETHER: usize = 50;

/// The scopes that one commit of the history declares, and the paths that it changes.
#[derive(Clone, Debug, Default)]
pub struct HistoryCommit {
    /// The words.
    pub declared: Vec<String>,
    /// The paths.
    pub paths: Vec<RepoPath>,
}

/// Folders and files below a folder.
#[derive(Default)]
struct Folder {
    folders: BTreeMap<String, Folder>,
    files: BTreeSet<String>,
    count: usize,
}

/// Derives a table. `rules`: which paths go along with any scope.
pub fn derive(paths: &[RepoPath], history: &[HistoryCommit], rules: &CommitRules) -> Result<Vec<Scope>, InvalidGlob> {
    let mut root = Folder::default();
    let (mut tests, mut docs) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        let Ok(text) = std::str::from_utf8(path.as_bytes()) else { continue };
        let first = text.split_once('/').map(|(folder, _)| folder);
        match (rules.role(path), first) {
            (PathRole::Test, Some(folder)) if is_tests(folder) => {
                tests.insert(format!("{}/**", globset::escape(folder)));
            }
            (PathRole::Docs, Some(folder)) if matches!(folder, "doc" | "docs" | "Documentation" | "examples") => {
                docs.insert(format!("{}/**", globset::escape(folder)));
            }
            // Manifests are not parts by themselves, but show where one begins.
            (PathRole::Own | PathRole::Along(_), _) => root.add(text, !matches!(rules.role(path), PathRole::Own)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (name, folder) in &root.folders {
        if CI.contains(&name.as_str()) || (name.starts_with('.') && folder.count > 0) {
            continue;
        }
        parts(name, folder, 1, &mut found);
    }
    let mut scopes = named(found);
    let ci: Vec<String> = root
        .folders
        .keys()
        .filter(|name| CI.contains(&name.as_str()))
        .map(|name| format!("{}/**", globset::escape(name)))
        .collect();
    scopes.truncate(MAX_SCOPES);
    if !ci.is_empty() {
        // What checks the code changes with it: half of the commits that touch both are one thing (docs/commits.md).
        scopes.push(Scope { name: "ci".to_owned(), paths: ci, goes_along: true, ..Scope::default() });
    }
    for (name, globs) in [("tests", tests), ("docs", docs)] {
        if !globs.is_empty() && scopes.iter().all(|scope| scope.name != name) {
            let paths = globs.into_iter().collect();
            scopes.push(Scope { name: name.to_owned(), paths, goes_along: true, ..Scope::default() });
        }
    }
    learn(&mut scopes, history, rules)?;
    Ok(scopes)
}

impl Folder {
    fn add(&mut self, path: &str, along: bool) {
        self.count += usize::from(!along);
        match path.split_once('/') {
            Some((folder, rest)) => self.folders.entry(folder.to_owned()).or_default().add(rest, along),
            None if !along || MANIFESTS.contains(&path) => drop(self.files.insert(path.to_owned())),
            None => {}
        }
    }

    fn is_package(&self) -> bool {
        MANIFESTS.iter().any(|name| self.files.contains(*name))
    }

    /// Returns `true` if packages lie anywhere below.
    fn holds_packages(&self, depth: usize) -> bool {
        depth < DEPTH && self.folders.values().any(|folder| folder.is_package() || folder.holds_packages(depth + 1))
    }
}

/// Collects the parts at and below one folder: name and folder.
fn parts(path: &str, folder: &Folder, depth: usize, found: &mut Vec<(String, String)>) {
    let name = path.rsplit('/').next().unwrap_or(path);
    if folder.count == 0 {
        return;
    }
    let container = CONTAINERS.contains(&name) && !folder.is_package();
    let descend = depth < DEPTH
        && ((!folder.is_package() && folder.holds_packages(0)) || (container && folder.folders.len() > 1));
    if !descend {
        found.push((name.to_owned(), path.to_owned()));
        return;
    }
    for (inner, child) in &folder.folders {
        parts(&format!("{path}/{inner}"), child, depth + 1, found);
    }
    // Files beside the parts belong to what holds them.
    if folder.files.iter().any(|file| !MANIFESTS.contains(&file.as_str())) {
        let name = if CONTAINERS.contains(&name) { "core".to_owned() } else { name.to_owned() };
        found.push((name, format!("{path}/*")));
    }
}

/// Scopes out of parts; of two with one name, the later one is called by its folder as well.
fn named(found: Vec<(String, String)>) -> Vec<Scope> {
    let mut scopes: Vec<Scope> = Vec::new();
    for (name, path) in found {
        let name: String =
            name.chars().map(|c| if c.is_alphanumeric() || "@._+-".contains(c) { c } else { '-' }).collect();
        let glob = match path.strip_suffix("/*") {
            Some(folder) => format!("{}/*", globset::escape(folder)),
            None => format!("{}/**", globset::escape(&path)),
        };
        if name == "core"
            && let Some(core) = scopes.iter_mut().find(|scope| scope.name == "core")
        {
            core.paths.push(glob);
            continue;
        }
        let taken = |name: &str, scopes: &[Scope]| scopes.iter().any(|scope| scope.name == name);
        let mut own = name.clone();
        if taken(&own, &scopes) {
            let above = path.rsplit('/').nth(1).unwrap_or("other");
            own = format!("{above}-{name}");
        }
        let mut number = 2;
        while taken(&own, &scopes) {
            own = format!("{name}-{number}");
            number += 1;
        }
        scopes.push(Scope { name: own, paths: vec![glob], ..Scope::default() });
    }
    scopes
}

/// Adds the results of the history: other names, and scopes that change together.
fn learn(scopes: &mut [Scope], history: &[HistoryCommit], rules: &CommitRules) -> Result<(), InvalidGlob> {
    let table = ScopeTable::new(scopes.to_vec())?;
    let mut by_word: BTreeMap<&str, BTreeMap<usize, usize>> = BTreeMap::new();
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    let mut alone: BTreeMap<usize, usize> = BTreeMap::new();
    let mut together: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut astray: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    for past in history {
        let own = past.paths.iter().filter(|path| rules.role(path) == PathRole::Own);
        let touched: BTreeSet<usize> = own.filter_map(|path| table.claim(path)).map(|claim| claim.scope).collect();
        let touched: Vec<usize> = touched.into_iter().filter(|&scope| !scopes[scope].goes_along).collect();
        // Sweeps over everything say nothing about any two parts.
        if touched.is_empty() || touched.len() > 4 {
            continue;
        }
        for (at, &scope) in touched.iter().enumerate() {
            *alone.entry(scope).or_default() += 1;
            for &other in &touched[at + 1..] {
                *together.entry((scope, other)).or_default() += 1;
            }
        }
        if let ([word], &[scope]) = (past.declared.as_slice(), touched.as_slice()) {
            *astray.entry((word, scope)).or_default() += 1;
        }
        for word in &past.declared {
            *words.entry(word).or_default() += 1;
            for &scope in &touched {
                *by_word.entry(word).or_default().entry(scope).or_default() += 1;
            }
        }
    }
    for (word, counts) in by_word {
        let total = words.get(word).copied().unwrap_or_default();
        let Some((&scope, &count)) = counts.iter().max_by_key(|(_, count)| **count) else { continue };
        let sweeping = rules.sweeping.iter().any(|known| known.eq_ignore_ascii_case(word));
        if table.find(word).is_none() && !sweeping && count >= NAMED && count * 10 >= total * 7 {
            scopes[scope].aliases.push(word.to_owned());
        }
    }
    for ((a, b), count) in together {
        let rarer = alone.get(&a).min(alone.get(&b)).copied().unwrap_or_default();
        if count >= NAMED && count * 100 >= rarer * TOGETHER {
            let name = scopes[b].name.clone();
            scopes[a].with.push(name);
        }
    }
    let table = ScopeTable::new(scopes.to_vec())?;
    for ((word, scope), count) in astray {
        let Some(said) = table.find(word).filter(|said| !table.related(*said, scope)) else { continue };
        let often = count * 100 >= words.get(word).copied().unwrap_or_default() * ASTRAY;
        let name = scopes[scope].name.clone();
        if count >= NAMED && often && !scopes[said].with.contains(&name) {
            scopes[said].with.push(name);
        }
    }
    Ok(())
}

fn is_tests(folder: &str) -> bool {
    matches!(folder, "test" | "tests" | "spec" | "specs" | "testing" | "e2e" | "t" | "testdata" | "fixtures")
}

/// Returns the table as text for `gate.toml`.
pub fn text(scopes: &[Scope]) -> String {
    let mut text = String::from(
        "# The parts of this program: a commit that changes files of two of them that nothing connects is mixed.\n\
         # Derived from the layout and the history; join, split and rename until it says what you mean, and see with\n\
         # `gate commits --history 500` what it would have said. The most specific glob decides.\n[scopes]\n",
    );
    let quoted = |words: &[String]| {
        let words: Vec<String> = words.iter().map(|word| toml::Value::from(word.as_str()).to_string()).collect();
        format!("[{}]", words.join(", "))
    };
    for scope in scopes {
        let bare = scope.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        let name = if bare { scope.name.clone() } else { toml::Value::from(scope.name.as_str()).to_string() };
        let mut more = Vec::new();
        for (key, words) in [("aliases", &scope.aliases), ("with", &scope.with), ("shared", &scope.shared)] {
            if !words.is_empty() {
                more.push(format!("{key} = {}", quoted(words)));
            }
        }
        if scope.goes_along {
            more.push("goes_along = true".to_owned());
        }
        let _ = if more.is_empty() {
            writeln!(text, "{name} = {}", quoted(&scope.paths))
        } else {
            writeln!(text, "{name} = {{ paths = {}, {} }}", quoted(&scope.paths), more.join(", "))
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> CommitRules {
        let table: toml::Table = crate::embedded::table("atomic.toml");
        CommitRules::read(table["params"].as_table().unwrap()).unwrap()
    }

    fn names(paths: &[&str]) -> Vec<String> {
        let paths: Vec<RepoPath> = paths.iter().map(|&path| RepoPath::from(path)).collect();
        derive(&paths, &[], &rules())
            .unwrap()
            .into_iter()
            .map(|scope| format!("{}={}", scope.name, scope.paths.join("+")))
            .collect()
    }

    #[test]
    fn layouts_of_several_kinds() {
        assert_eq!(
            names(&[
                "packages/api/package.json", "packages/api/src/a.ts", "packages/web/package.json",
                "packages/web/x.tsx", ".github/workflows/ci.yml"
            ]),
            ["api=packages/api/**", "web=packages/web/**", "ci=.github/**"]
        );
        assert_eq!(
            names(&[
                "Cargo.toml", "src/main.rs", "src/git/a.rs", "src/git/b.rs", "src/cli/a.rs", "tests/it.rs", "docs/a.md"
            ]),
            ["cli=src/cli/**", "git=src/git/**", "core=src/*", "tests=tests/**", "docs=docs/**"]
        );
        assert_eq!(
            names(&["server/go.mod", "server/main.go", "web/package.json", "web/app.js", "Makefile"]),
            ["server=server/**", "web=web/**"]
        );
        assert!(names(&["README.md", "Cargo.lock"]).is_empty());
    }

    #[test]
    fn the_history_gives_names_and_neighbours() {
        let paths: Vec<RepoPath> = ["crates/a/Cargo.toml", "crates/a/x.rs", "crates/b/Cargo.toml", "crates/b/x.rs"]
            .into_iter()
            .map(RepoPath::from)
            .collect();
        let past = |word: &str, paths: &[&str]| HistoryCommit {
            declared: vec![word.to_owned()],
            paths: paths.iter().map(|&path| RepoPath::from(path)).collect(),
        };
        let history = [
            past("alpha", &["crates/a/x.rs"]),
            past("alpha", &["crates/a/x.rs"]),
            past("alpha", &["crates/a/x.rs", "crates/b/x.rs"]),
            past("b", &["crates/b/x.rs", "crates/a/x.rs"]),
            past("b", &["crates/b/x.rs", "crates/a/x.rs"]),
        ];
        let scopes = derive(&paths, &history, &rules()).unwrap();
        assert_eq!(scopes[0].aliases, ["alpha"]);
        assert_eq!(scopes[0].with, ["b"]);
        let text = text(&scopes);
        assert!(text.contains("a = { paths = [\"crates/a/**\"], aliases = [\"alpha\"], with = [\"b\"] }"), "{text}");
        assert!(text.parse::<toml::Table>().is_ok(), "{text}");
        // Who writes about one and changes the other by habit thinks of both as one; once or twice is a slip.
        let astray = |count: usize, right: usize| {
            let slips = std::iter::repeat_n(past("a", &["crates/b/x.rs"]), count);
            let history: Vec<HistoryCommit> =
                slips.chain(std::iter::repeat_n(past("a", &["crates/a/x.rs"]), right)).collect();
            derive(&paths, &history, &rules()).unwrap()[0].with.clone()
        };
        assert_eq!(astray(3, 27), ["b"]);
        assert!(astray(2, 10).is_empty() && astray(3, 28).is_empty());
    }
}
