//! What git itself would make of a working tree, to hold snapshots against.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gate::git::{Repo, TreeDiff};
use gate::repo_path::RepoPath;
use gate::snapshot::{KeptSnapshot, Presence, Snapshot};

use crate::support::TestRepo;

/// The bytes of every file of a git directory, the gate's own state left out.
pub fn bytes_of(git_dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![git_dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a directory").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
            if kind.is_dir() && path != git_dir.join("gate") {
                folders.push(path);
            } else if kind.is_file() {
                let bytes = fs::read(&path).expect("a file");
                files.insert(path, bytes);
            }
        }
    }
    files
}

/// Takes and keeps a snapshot; checks that nothing else changed and that the parts agree with each other.
pub fn taken(at: &Path) -> (Repo, Snapshot, KeptSnapshot) {
    let repo = Repo::discover(at).expect("a repository");
    let before = bytes_of(repo.common_dir());
    let snapshot = repo.snapshot().expect("a snapshot");
    assert_eq!(snapshot, repo.snapshot().expect("a second snapshot"), "the same content, the same snapshot");
    assert!(!repo.gate_dir().exists() || before == bytes_of(repo.common_dir()), "snapshot() writes nothing");
    let kept = repo.keep(&snapshot).expect("a kept snapshot");
    assert_eq!(before, bytes_of(repo.common_dir()), "the repository changed");
    assert_eq!(snapshot.is_clean(), snapshot.dirty.is_empty() && snapshot.opaque.is_empty());
    if snapshot.dirty.is_empty() {
        assert_eq!(kept.tree, snapshot.base);
    }
    let id = repo.tree_id(&snapshot);
    assert!(id.as_ref().is_none_or(|id| *id == kept.tree), "{id:?} is no {kept:?}");
    assert!(id.is_some() || git2::Repository::open(at).is_err(), "{snapshot:?}");
    assert!(snapshot.dirty.windows(2).all(|two| two[0].path < two[1].path), "sorted, each path once");
    // Another look, as a later process has it, finds the kept tree and the same difference in it.
    let later = Repo::discover(at).expect("a repository");
    let pair = (snapshot.base.clone(), kept.tree.clone());
    let TreeDiff::Changes(mut changes) = later.diff_trees(&[pair]).expect("an answer").remove(0) else {
        panic!("the kept tree cannot be read");
    };
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    let told: Vec<_> = snapshot.dirty.iter().map(|one| (&one.path, &one.base, &one.now)).collect();
    let found: Vec<_> = changes.iter().map(|one| (&one.path, &one.before, &one.after)).collect();
    assert_eq!(told, found, "the dirty paths are the difference");
    for one in snapshot.dirty.iter().filter(|one| one.now.as_ref().is_some_and(|now| now.mode != 0o160_000)) {
        assert!(later.blob_at(&kept.tree, &one.path).expect("an answer").is_some(), "{} is kept", one.path);
    }
    (later, snapshot, kept)
}

/// The tree that git itself would make, in a copy of the whole repository; `before` prepares the copy.
pub fn oracle(repo: &TestRepo, before: &[&[&str]]) -> String {
    let copy = repo.copy("oracle");
    for args in before {
        repo.git_in(&copy, *args);
    }
    repo.git_in(&copy, ["add", "-A"]);
    let tree = repo.git_in(&copy, ["write-tree"]);
    fs::remove_dir_all(copy).expect("the copy goes");
    tree
}

/// Checks the repository against the oracle.
pub fn agrees(repo: &TestRepo) -> (Repo, Snapshot, KeptSnapshot) {
    agrees_with(repo, &oracle(repo, &[]))
}

pub fn agrees_with(repo: &TestRepo, tree: &str) -> (Repo, Snapshot, KeptSnapshot) {
    let all = taken(repo.root());
    assert_eq!(all.2.tree.as_str(), tree, "{:#?}", all.1);
    all
}

/// A repository with a few files of each sort.
pub fn sample() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write("a/one", "1\n").write("a/two", "2\n").write("a/b/three", "3\n").script("run.sh", "#!/bin/sh\n");
    repo.link("link", "README.md").write(".gitignore", "*.o\n/build/\n").commit_all("sample");
    repo
}

/// How `path` came to differ; `None` where it does not.
pub fn presence(snapshot: &Snapshot, path: &str) -> Option<Presence> {
    snapshot.dirty.iter().find(|one| one.path == RepoPath::from(path)).map(|one| one.presence)
}

/// The paths whose content no tree expresses.
pub fn opaque(snapshot: &Snapshot) -> Vec<String> {
    snapshot.opaque.iter().map(RepoPath::to_string).collect()
}
