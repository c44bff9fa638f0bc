//! Programs and extension modules of the project that its tests start, and that were made before an edit of their sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::Workplace;
use super::file_times::{TICK, times};
use crate::event::CommandRef;
use crate::git::{Mention, MentionsIn};
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::shell_quote::shell_word;
use crate::snapshot::KeptSnapshot;
use crate::tool_folder::environment_names;

/// The depth, below the root, at which programs are looked for: `target/debug/deps`, `build/lib/python/pkg`.
const MAX_DEPTH: usize = 5;
/// The largest number of entries of the working tree that are looked at.
const MAX_ENTRIES: usize = 10_000;
/// The largest number of programs of which the tests are asked.
const MAX_PROGRAMS: usize = 64;
/// The largest part of a program in which the marks of its compiler are looked for, in bytes.
const MAX_PROGRAM: u64 = 32 * 1024 * 1024;
/// The folders that are not looked into.
const PASSED_OVER: [&str; 4] = [".git", "node_modules", "site-packages", "CMakeFiles"];
/// The words with which a script or the task of a line builds.
const BUILDS: [&str; 17] = [
    "make", "cmake", "ninja", "meson", "cargo", "rustc", "go build", "go install", "gcc", "g++", "clang", "cc",
    "build", "setup.py", "pip install", "maturin", "compile",
];

/// Programs that run tests of one language, and the extensions of these.
const FAMILIES: [(&[&str], &[&str]); 4] = [
    (&["pytest", "python", "python3", "unittest", "tox", "nox", "invoke", "inv"], &["py"]),
    (&["node", "jest", "mocha", "vitest", "ava", "tap"], &["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"]),
    (&["bats"], &["bats", "bash", "sh"]),
    (&["rspec", "minitest"], &["rb"]),
];
/// The extensions of files that no test executes.
const TEXTS: [&str; 6] = ["md", "rst", "txt", "yml", "yaml", "gitignore"];

/// The languages whose sources become programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    C,
    Go,
    Rust,
}

/// Something that a compiler made.
pub(super) struct Built {
    /// Its path, from the root of the working tree.
    pub(super) path: PathBuf,
    /// The time at which it came to its place, in nanoseconds since 1970.
    pub(super) written: i128,
    /// `true` for a program, a shared object or an extension module, not for a part of one.
    pub(super) is_whole: bool,
}

impl Workplace {
    /// Returns the sentence about a program that tests start and that is older than a source of its language, if nothing
    /// was built since that was edited. `sources` are the files that the work changed.
    pub(super) fn stale_program<'s>(
        &self,
        root: &Path,
        command: &CommandRef,
        sources: &dyn Fn() -> &'s [RepoPath],
        on: &KeptSnapshot,
        again: &str,
    ) -> Option<String> {
        let built = compiled_files(root);
        if !built.iter().any(|one| one.is_whole) || builds(root, command) {
            return None;
        }
        let is_code = |path: &&RepoPath| language_of(path).is_some() && !is_of_tests(path);
        let edited = |path: &RepoPath| Some((times(&root.join(path.to_os()))?.modified, path.clone()));
        let edits: Vec<(i128, RepoPath)> = sources().iter().filter(is_code).filter_map(edited).collect();
        let newest = built.iter().map(|one| one.written).max()?;
        // A build after the edit made all that depends on the source.
        let unbuilt: Vec<&RepoPath> =
            edits.iter().filter(|(time, _)| newest + TICK < *time).map(|(_, path)| path).collect();
        if unbuilt.is_empty() {
            return None;
        }
        let source_of = |program: &Path| {
            let language = language_in(&root.join(program));
            unbuilt.iter().find(|path| language_of(path) == Some(language)).copied()
        };
        let programs = built.iter().filter(|one| one.is_whole).take(MAX_PROGRAMS);
        let stale: Vec<_> = programs.filter_map(|one| Some((one, source_of(&one.path)?))).collect();
        let (program, source) = self.used(command, &stale, on)?;
        let path = program.path.to_string_lossy();
        let shown = shell_word(&path);
        Some(format!("{path}, which the tests use, is older than {source}: rm -- {shown}, build it again{again}"))
    }

    /// Returns those of these files that git does not track.
    pub(super) fn untracked<'b>(&self, built: Vec<&'b Built>, on: &KeptSnapshot) -> Vec<&'b Built> {
        let path_of = |one: &Built| RepoPath::from(one.path.to_str().unwrap_or_default());
        let kept = self.repo.not_ignored(built.iter().map(|one| path_of(one)).collect());
        let is_untracked = |path: &RepoPath| !kept.contains(path) || on.untracked.contains(path);
        built.into_iter().filter(|one| is_untracked(&path_of(one))).collect()
    }

    /// Returns the first of these programs that git does not track and that the tests use.
    fn used<'a>(
        &self,
        command: &CommandRef,
        stale: &[(&'a Built, &'a RepoPath)],
        on: &KeptSnapshot,
    ) -> Option<(&'a Built, &'a RepoPath)> {
        let untracked = self.untracked(stale.iter().map(|(built, _)| *built).collect(), on);
        let is_untracked = |built: &Built| untracked.iter().any(|one| one.path == built.path);
        let stale: Vec<_> = stale.iter().filter(|(built, _)| is_untracked(built)).copied().collect();
        let words: BTreeSet<String> = stale.iter().flat_map(|(built, _)| words_for(&built.path)).collect();
        if words.is_empty() {
            return None;
        }
        let words: Vec<String> = words.into_iter().collect();
        let mentions = self.repo.mentions(MentionsIn::Tree(&on.tree), &words, &[], 0).ok()?;
        let is_used = |built: &Built| {
            let names = words_for(&built.path);
            is_extension(&built.path)
                || names.iter().any(|name| holds(&command.line, name))
                || mentions.iter().any(|mention| is_start(mention, command, &names))
        };
        stale.into_iter().find(|(built, _)| is_used(built))
    }
}

/// Returns the language of a source that is compiled.
fn language_of(path: &RepoPath) -> Option<Language> {
    let path = path.to_os();
    match path.extension()?.to_str()? {
        "c" | "cc" | "cpp" | "cxx" | "h" | "hh" | "hpp" | "hxx" | "m" | "mm" | "pyx" | "f90" | "s" | "S" => {
            Some(Language::C)
        }
        "go" => Some(Language::Go),
        "rs" => Some(Language::Rust),
        _ => None,
    }
}

/// Returns the language of a program, by the marks of its compiler.
fn language_in(path: &Path) -> Language {
    let content = regular_file::read_at_most(path, MAX_PROGRAM).unwrap_or_default();
    let holds = |mark: &[u8]| memchr::memmem::find(&content, mark).is_some();
    match () {
        () if holds(b"Go buildinf:") || holds(b"Go build ID") => Language::Go,
        () if holds(b"/rustc/") || holds(b"rustc version") => Language::Rust,
        () => Language::C,
    }
}

/// Returns `true` for a source that only tests have.
fn is_of_tests(path: &RepoPath) -> bool {
    let path = path.to_string();
    let mut folders = path.split('/').rev().skip(1);
    path.ends_with("_test.go")
        || folders.any(|name| matches!(name, "test" | "tests" | "testdata" | "fixtures" | "examples"))
}

/// Returns `true` if a line, a script that it names, or a task before its own task builds something: what is old then is not
/// made from what was edited.
fn builds(root: &Path, command: &CommandRef) -> bool {
    let is_outside = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.'));
    let says = |text: &str, word: &str| {
        text.match_indices(word).any(|(at, _)| {
            let (before, after) = (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
            before.is_none_or(is_outside) && after.is_none_or(is_outside)
        })
    };
    let says_so = |text: &str| BUILDS.iter().any(|word| says(text, word));
    let words: Vec<&str> = command.line.split(|c: char| c.is_whitespace() || ";&|()\"'".contains(c)).collect();
    let dir = root.join(command.dir.to_os());
    let folder = words.iter().position(|word| *word == "-C").and_then(|at| words.get(at + 1)).map(|at| dir.join(at));
    let dir = folder.unwrap_or(dir);
    let is_task_runner = words.iter().any(|word| ["make", "just", "task", "ninja"].contains(word));
    if is_task_runner {
        let named = |line: &str| {
            let Some((target, needs)) = line.split_once(':') else { return false };
            let is_target = words.contains(&target.trim()) || matches!(target.trim(), "test" | "check");
            is_target && !needs.starts_with('=') && !needs.trim().is_empty()
        };
        let files = ["Makefile", "makefile", "GNUmakefile", "justfile", "Justfile"];
        let mut texts = files.iter().filter_map(|file| regular_file::read_text(&dir.join(file)).ok());
        return texts.any(|text| text.lines().any(named));
    }
    let script = |word: &&&str| word.contains(['/', '.']) && !word.starts_with('-');
    says_so(&command.line)
        || words.iter().filter(script).any(|word| {
            let is_small = fs::metadata(dir.join(word)).is_ok_and(|meta| meta.is_file() && meta.len() < 1 << 20);
            is_small && regular_file::read_text(&dir.join(word)).is_ok_and(|text| says_so(&text))
        })
}

/// Returns `true` if a text holds a name that is not a part of another one.
fn holds(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(name).any(|(at, _)| {
        !text[at + name.len()..].starts_with(is_part) && (name.starts_with('.') || !text[..at].ends_with(is_part))
    })
}

/// Returns the texts by which tests name a program.
fn words_for(path: &Path) -> Vec<String> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let folder = path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str());
    let is_object = path.extension().is_some();
    folder
        .map(|folder| format!("{folder}/{name}"))
        .into_iter()
        .chain([format!("./{name}")])
        .chain(is_object.then(|| name.to_owned()))
        .collect()
}

/// Returns `true` for a module that a language loads from beside its sources.
fn is_extension(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_copy = path.components().next().is_some_and(|first| first.as_os_str() == "build");
    path.extension().is_some_and(|end| end == "node")
        || !is_copy && (name.contains(".cpython-") || name.contains(".abi3."))
}

/// Returns `true` for a line of a test, or of a script that the command names, with one of these names.
fn is_start(mention: &Mention, command: &CommandRef, names: &[String]) -> bool {
    let file = mention.file.to_string();
    let name = file.rsplit('/').next().unwrap_or_default();
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    let words: Vec<&str> = command.line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
    let mut families =
        FAMILIES.iter().filter(|(programs, _)| programs.iter().any(|name| words.contains(name))).peekable();
    let is_read = families.peek().is_none() || families.any(|(_, ends)| ends.contains(&end));
    let is_test = ["test", "spec", "e2e", "check"].iter().any(|word| file.contains(word)) && !TEXTS.contains(&end);
    let is_object = names.iter().any(|name| name.contains(".so") || name.contains(".dylib"));
    let is_loaded = is_object && FAMILIES.iter().any(|(_, ends)| ends.contains(&end));
    (command.line.contains(name) || is_read && (is_test || is_loaded || name == "conftest.py"))
        && names.iter().any(|name| holds(&mention.line, name))
}

/// Returns what compilers made in a working tree.
pub(super) fn compiled_files(root: &Path) -> Vec<Built> {
    let mut built = Vec::new();
    collect(root, Path::new(""), &mut built, &mut { MAX_ENTRIES }, 0);
    built
}

/// Collects what compilers made below a folder.
fn collect(root: &Path, folder: &Path, built: &mut Vec<Built>, left: &mut usize, depth: usize) {
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            let name = name.to_string_lossy();
            let is_environment = environment_names().iter().any(|known| *known == name);
            if depth < MAX_DEPTH && !is_environment && !PASSED_OVER.contains(&&*name) {
                collect(root, &path, built, left, depth + 1);
            }
        } else if kind.is_file()
            && let Some(is_whole) = is_built(root, &path)
        {
            let written = times(&root.join(&path)).map(|times| times.changed);
            built.extend(written.map(|written| Built { path, written, is_whole }));
        }
    }
}

/// Returns `true` for a compiled file that is whole, `false` for a part of one, and `None` for any other file.
fn is_built(root: &Path, path: &Path) -> Option<bool> {
    match path.extension().and_then(|end| end.to_str()) {
        Some("o" | "obj" | "a" | "lib" | "rlib" | "rmeta") => Some(false),
        None | Some("so" | "node" | "dylib" | "pyd" | "dll" | "exe" | "out") => {
            regular_file::is_machine_code(&root.join(path)).then_some(true)
        }
        Some(_) => None,
    }
}
