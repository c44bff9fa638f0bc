//! Any edit of a tested working tree makes another snapshot, and undoing it, by whatever way, makes the old one.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::hermetic;
use crate::oracle::{agrees, bytes_of, sample};
use crate::support::TestRepo;

/// A change of the working tree.
#[derive(Clone, Debug)]
enum Edit {
    Write(Vec<u8>, Vec<u8>),
    Flip(usize, usize),
    Delete(usize),
    Executable(usize),
    Link(Vec<u8>, Vec<u8>),
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => b'a'..=b'e', 1 => Just(b'\n'), 1 => Just(0xff), 1 => Just(b' '), 1 => Just(b'"')];
    let component = proptest::collection::vec(byte, 1..4);
    proptest::collection::vec(component, 1..4).prop_map(|parts| parts.join(&b'/'))
}

fn edit() -> impl Strategy<Value = Edit> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..12);
    prop_oneof![
        3 => (name(), bytes()).prop_map(|(path, content)| Edit::Write(path, content)),
        3 => (any::<usize>(), any::<usize>()).prop_map(|(file, at)| Edit::Flip(file, at)),
        1 => any::<usize>().prop_map(Edit::Delete),
        1 => any::<usize>().prop_map(Edit::Executable),
        1 => (name(), proptest::collection::vec(1u8..=255, 1..8)).prop_map(|(path, to)| Edit::Link(path, to)),
    ]
}

/// The files below `root` and what they are.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        bytes_of(root).into_keys().filter(|path| !path.starts_with(root.join(".git"))).collect();
    found.sort();
    found
}

fn apply(repo: &TestRepo, edit: &Edit) {
    let files = files(repo.root());
    let pick = |at: &usize| files.get(at % files.len().max(1));
    // An edit that the working tree does not allow (a file in the way of a directory) is left out.
    match edit {
        Edit::Write(path, content) => {
            let path = repo.path(path);
            let _ = fs::create_dir_all(path.parent().expect("a parent")).and_then(|()| fs::write(path, content));
        }
        Edit::Flip(at, offset) => {
            if let Some(path) = pick(at) {
                let mut content = fs::read(path).expect("a file");
                let length = content.len().max(1);
                content.resize(length, 0);
                content[offset % length] ^= 0x20;
                fs::write(path, content).expect("a file");
            }
        }
        Edit::Delete(at) => {
            if let Some(path) = pick(at) {
                fs::remove_file(path).expect("a file");
            }
        }
        Edit::Executable(at) => {
            if let Some(path) = pick(at) {
                let mode = fs::metadata(path).expect("a file").permissions().mode() ^ 0o100;
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
            }
        }
        Edit::Link(path, to) => {
            let path = repo.path(path);
            let _ = fs::create_dir_all(path.parent().expect("a parent"))
                .and_then(|()| symlink(OsStr::from_bytes(to), path));
        }
    }
}

/// Puts back every file of `saved`, and nothing else.
fn restore(repo: &TestRepo, saved: &Path) {
    for entry in fs::read_dir(repo.root()).expect("a directory").flatten().filter(|one| one.file_name() != ".git") {
        if entry.file_type().expect("a type").is_dir() {
            fs::remove_dir_all(entry.path()).expect("a directory to remove");
        } else {
            fs::remove_file(entry.path()).expect("a file to remove");
        }
    }
    let mut copy = repo.command_in("sh", saved);
    copy.args(["-c", "tar cf - --exclude=./.git . | tar xf - -C \"$0\""]).arg(repo.root());
    assert!(copy.status().expect("tar starts").success());
    fs::remove_dir_all(saved).expect("the copy goes");
}

hermetic! {
    fn any_edit_is_seen_and_its_undoing_too() {
        let config = ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
        let edits = (proptest::collection::vec(edit(), 0..4), proptest::collection::vec(edit(), 1..6), any::<bool>());
        proptest!(config, |((before, after, staged) in edits)| {
            let repo = sample();
            for edit in &before {
                apply(&repo, edit);
            }
            let tested = agrees(&repo).2;
            let saved = repo.copy("saved");
            for edit in &after {
                apply(&repo, edit);
            }
            if staged {
                repo.git(["add", "-A"]);
            }
            // `agrees` holds the edited tree, like every other, against what git makes of it.
            agrees(&repo);
            restore(&repo, &saved);
            prop_assert_eq!(agrees(&repo).2.tree, tested.tree);
        });
    }

    fn one_flipped_bit_is_another_snapshot() {
        let repo = sample();
        let tested = agrees(&repo).2;
        for path in files(repo.root()) {
            let content = fs::read(&path).expect("a file");
            let mut flipped = content.clone();
            flipped[0] ^= 1;
            fs::write(&path, flipped).expect("a file");
            assert_ne!(agrees(&repo).2.tree, tested.tree, "{}", path.display());
            fs::write(&path, content).expect("a file");
        }
        assert_eq!(agrees(&repo).2.tree, tested.tree);
    }
}
