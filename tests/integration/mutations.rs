//! Whatever is changed in the inputs of what was tested ends its evidence and is named; undone, it holds again.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

use crate::project::{Project, paths};

/// The files of the tested tree that a command reads.
const INPUTS: &[&str] =
    &["src/lib.sh", "src/other.sh", "src/deep/er/file.txt", "src/spaced name", "src/ünïcode", "test.sh"];

/// A change to the tree.
#[derive(Clone, Debug)]
enum Mutation {
    /// One byte of a file becomes another.
    Byte { file: usize, at: prop::sample::Index, by: u8 },
    /// A byte is put in.
    Insert { file: usize, at: prop::sample::Index, byte: u8 },
    /// The end is cut off.
    Truncate { file: usize },
    /// The run bit is turned.
    Mode { file: usize },
    /// The file goes.
    Delete { file: usize },
    /// The file gets another name.
    Rename { file: usize, to: String },
    /// A file comes.
    New { name: String, content: Vec<u8> },
    /// The file becomes a link to where its content is.
    Link { file: usize },
    /// The file becomes a directory.
    Directory { file: usize },
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let file = || 0..INPUTS.len();
    let name = || "[a-z][a-z0-9 ü._-]{0,12}[a-z]";
    let at = || any::<prop::sample::Index>();
    prop_oneof![
        4 => (file(), at(), 1_u8..).prop_map(|(file, at, by)| Mutation::Byte { file, at, by }),
        2 => (file(), at(), any::<u8>()).prop_map(|(file, at, byte)| Mutation::Insert { file, at, byte }),
        1 => file().prop_map(|file| Mutation::Truncate { file }),
        1 => file().prop_map(|file| Mutation::Mode { file }),
        1 => file().prop_map(|file| Mutation::Delete { file }),
        1 => (file(), name()).prop_map(|(file, to)| Mutation::Rename { file, to }),
        2 => (name(), any::<Vec<u8>>()).prop_map(|(name, content)| Mutation::New { name, content }),
        1 => file().prop_map(|file| Mutation::Link { file }),
        1 => file().prop_map(|file| Mutation::Directory { file }),
    ]
}

/// Makes the change, and says which path must be named.
fn apply(root: &Path, mutation: &Mutation) -> String {
    let path = |file: &usize| root.join(INPUTS[*file]);
    let named = |file: &usize| INPUTS[*file].to_owned();
    match mutation {
        Mutation::Byte { file, at, by } => {
            let mut bytes = fs::read(path(file)).unwrap();
            let at = at.index(bytes.len());
            bytes[at] = bytes[at].wrapping_add(*by);
            fs::write(path(file), bytes).unwrap();
            named(file)
        }
        Mutation::Insert { file, at, byte } => {
            let mut bytes = fs::read(path(file)).unwrap();
            bytes.insert(at.index(bytes.len() + 1), *byte);
            fs::write(path(file), bytes).unwrap();
            named(file)
        }
        Mutation::Truncate { file } => {
            fs::write(path(file), "").unwrap();
            named(file)
        }
        Mutation::Mode { file } => {
            fs::set_permissions(path(file), fs::Permissions::from_mode(0o755)).unwrap();
            named(file)
        }
        Mutation::Delete { file } => {
            fs::remove_file(path(file)).unwrap();
            named(file)
        }
        Mutation::Rename { file, to } => {
            fs::rename(path(file), root.join("src").join(format!("{to}.renamed"))).unwrap();
            named(file)
        }
        Mutation::New { name, content } => {
            let name = format!("src/{name}.new");
            fs::write(root.join(&name), content).unwrap();
            name
        }
        Mutation::Link { file } => {
            let aside = root.with_file_name("aside");
            let _ = fs::remove_file(&aside);
            fs::rename(path(file), &aside).unwrap();
            symlink(&aside, path(file)).unwrap();
            named(file)
        }
        Mutation::Directory { file } => {
            fs::remove_file(path(file)).unwrap();
            fs::create_dir(path(file)).unwrap();
            fs::write(path(file).join("inner"), "x").unwrap();
            named(file)
        }
    }
}

fn tested() -> Project {
    let project = Project::new();
    for (number, file) in INPUTS.iter().enumerate().filter(|(_, file)| **file != "test.sh") {
        project.repo.write(file, format!("content of file {number}\nand a second line\n"));
    }
    project.repo.commit_all("feat: files");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0);
    project
}

/// Whether the path, or one below it, is among those named.
fn names(verdict: &Value, path: &str) -> bool {
    paths(verdict, "tests").iter().any(|named| named == path || named.starts_with(&format!("{path}/")))
}

#[test]
fn every_change_is_seen_and_every_undoing_too() {
    let project = tested();
    let mut runner =
        TestRunner::new(Config { cases: 40, failure_persistence: None, max_shrink_iters: 20, ..Config::default() });
    let case = |mutation: Mutation, commit: bool| {
        let repo = &project.repo;
        let clean = repo.git(["rev-parse", "HEAD"]);
        let path = apply(repo.root(), &mutation);
        if commit {
            repo.git(["add", "-A"]);
            repo.git(["commit", "-q", "-m", "mutated"]);
        }
        let mutated = project.verdict();
        repo.git(["reset", "-q", "--hard", &clean]);
        repo.git(["clean", "-q", "-fdx"]);
        let undone = project.verdict();
        prop_assert_eq!(&mutated["outcome"], "blocked", "{:#}", mutated);
        prop_assert!(names(&mutated, &path), "{} is not named: {:#}", path, mutated);
        prop_assert_eq!(&undone["outcome"], "pass", "{:#}", undone);
        Ok(())
    };
    runner.run(&(mutation(), any::<bool>()), |(mutation, commit)| case(mutation, commit)).unwrap();
}

#[test]
fn what_lies_outside_the_inputs_changes_nothing() {
    let project = tested();
    let repo = &project.repo;
    let strategy = ("(docs|notes|web)/[a-z]{1,8}\\.(md|txt|js)", any::<Vec<u8>>(), any::<bool>());
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let case = |(name, content, commit): (String, Vec<u8>, bool)| {
        repo.write(&name, content);
        if commit {
            repo.commit_all("docs: outside");
        }
        let verdict = project.verdict();
        prop_assert_eq!(&verdict["outcome"], "pass", "{}: {:#}", name, verdict);
        Ok(())
    };
    runner.run(&strategy, case).unwrap();
}
