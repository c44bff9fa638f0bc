//! Small reads, tree differences, remotes and discovery in hooks: the same answers in process and through the
//! command line.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use gate::git::{DefaultBranch, ObjectKind, Repo, TreeDiff, WantedFile};
use gate::oid::Oid;

use crate::hermetic;
use crate::support::{TestRepo, again};

/// Two repositories with the same history: one that git2 opens, and one that it does not.
fn both() -> [TestRepo; 2] {
    [TestRepo::new(), TestRepo::init(&["--object-format=sha256"])].map(|repo| {
        repo.write("gate.toml", "old\n").write("d/x", "1").link("link", "d/x").commit_all("one");
        repo.git(["tag", "-a", "-m", "tag", "v1"]);
        repo.git(["checkout", "-q", "-b", "side"]);
        repo.write("gate.toml", "new\n").commit_all("two");
        repo.git(["checkout", "-q", "main"]);
        repo.write("d/x", "2").commit_all("three");
        repo.git(["checkout", "-q", "--orphan", "unrelated"]);
        repo.commit_all("four");
        repo.git(["checkout", "-q", "main"]);
        repo
    })
}

fn oid(repo: &TestRepo, rev: &str) -> Oid {
    repo.git(["rev-parse", rev]).parse().expect("an object id")
}

hermetic! {
    fn many_files_at_once() {
        for repo in both() {
            let git = Repo::discover(repo.root()).unwrap();
            let tree = oid(&repo, "HEAD^{tree}");
            let paths = ["gate.toml", "nothing", "d", "d/x", "link", "gate.toml"];
            let wanted: Vec<_> = paths.iter().map(|path| WantedFile::At(tree.clone(), (*path).into())).collect();
            let one_by_one: Vec<_> = paths.iter().map(|&path| git.blob_at(&tree, &path.into()).unwrap()).collect();
            assert_eq!(git.blobs(&wanted).unwrap(), one_by_one);
            let listed = git.diff_trees(&[(tree.empty_tree_like(), tree.clone())]).unwrap();
            let [TreeDiff::Changes(listed)] = listed.as_slice() else { panic!("{listed:?}") };
            let entry = |path: &&str| listed.iter().find(|one| one.path == (*path).into())?.after.as_ref();
            let known: Vec<_> = paths.iter().map(|path| WantedFile::of(entry(path))).collect();
            assert_eq!(git.blobs(&known).unwrap(), one_by_one);
            assert_eq!(one_by_one[0].as_deref(), Some(b"old\n".as_slice()));
            assert!(git.blobs(&[]).unwrap().is_empty());
        }
    }
}

hermetic! {
    fn revisions_and_objects() {
        for repo in both() {
            let git = Repo::discover(repo.root()).unwrap();
            let head = git.head().unwrap();
            assert_eq!(head.branch.as_deref(), Some("refs/heads/main"));
            assert_eq!(head.commit, Some(oid(&repo, "HEAD")));
            for rev in ["HEAD", "main", "v1", "HEAD~1", "refs/heads/side", "side@{0}"] {
                assert_eq!(git.commit(rev).unwrap(), Some(oid(&repo, &format!("{rev}^{{commit}}"))), "{rev}");
            }
            let absent = "1".repeat(head.commit.as_ref().unwrap().as_str().len());
            for rev in ["nowhere", "HEAD~9", &*absent, "", "--all", "HEAD:d", "a..b"] {
                assert_eq!(git.commit(rev).unwrap(), None, "{rev:?}");
            }
            let absent: Oid = absent.parse().unwrap();
            for (rev, kind) in [
                ("HEAD", ObjectKind::Commit),
                ("v1", ObjectKind::Tag),
                ("HEAD^{tree}", ObjectKind::Tree),
                ("HEAD:d/x", ObjectKind::Blob),
            ] {
                assert_eq!(git.object_kind(&oid(&repo, rev)).unwrap(), Some(kind));
            }
            assert_eq!(git.object_kind(&absent).unwrap(), None);
            assert_eq!(git.tree_of(&oid(&repo, "v1")).unwrap(), oid(&repo, "v1^{tree}"));
            assert!(git.tree_of(&absent).is_err());
        }
    }

    fn contents() {
        for repo in both() {
            let git = Repo::discover(repo.root()).unwrap();
            let at = |rev: &str, path: &str| git.blob_at(&oid(&repo, rev), &path.into()).unwrap();
            assert_eq!(at("main", "gate.toml").as_deref(), Some(b"old\n".as_slice()));
            assert_eq!(at("side", "gate.toml").as_deref(), Some(b"new\n".as_slice()));
            assert_eq!(at("main^{tree}", "d/x").as_deref(), Some(b"2".as_slice()));
            assert_eq!(at("main", "link").as_deref(), Some(b"d/x".as_slice()));
            for path in ["d", "nowhere", "d/x/y", "*", "gate.*"] {
                assert_eq!(at("main", path), None, "{path}");
            }
        }
    }

    fn references() {
        for repo in both() {
            let git = Repo::discover(repo.root()).unwrap();
            repo.git(["symbolic-ref", "refs/remotes/o/HEAD", "refs/remotes/o/trunk"]);
            assert_eq!(git.symbolic_ref("refs/remotes/o/HEAD").unwrap().as_deref(), Some("refs/remotes/o/trunk"));
            assert_eq!(git.symbolic_ref("refs/heads/main").unwrap(), None);
            assert_eq!(git.symbolic_ref("refs/heads/nowhere").unwrap(), None);
            assert_eq!(git.reference("refs/heads/side").unwrap(), Some(oid(&repo, "side")));
            assert_eq!(git.reference("refs/tags/v1").unwrap(), Some(oid(&repo, "v1")));
            assert_eq!(git.reference("refs/heads/nowhere").unwrap(), None);
            assert_eq!(git.reference("refs/remotes/o/HEAD").unwrap(), None, "it points nowhere");
        }
    }

    fn history() {
        for repo in both() {
            let git = Repo::discover(repo.root()).unwrap();
            let [main, side, one, unrelated] = ["main", "side", "main~1", "unrelated"].map(|rev| oid(&repo, rev));
            assert_eq!(git.merge_base(&main, &side).unwrap(), Some(one.clone()));
            assert_eq!(git.merge_base(&main, &unrelated).unwrap(), None);
            for (above, below, expected) in
                [(&one, &main, true), (&main, &main, true), (&main, &one, false), (&side, &main, false)]
            {
                assert_eq!(git.is_ancestor(above, below).unwrap(), expected);
            }
            let absent: Oid = "1".repeat(main.as_str().len()).parse().unwrap();
            assert!(!git.is_ancestor(&absent, &main).unwrap());
            assert!(!git.is_ancestor(&absent, &absent).unwrap());
            assert_eq!(git.merge_base(&absent, &main).unwrap(), None);
        }
    }

    fn configuration() {
        for repo in both() {
            repo.git(["config", "--add", "gate.Some.Key", "1"]);
            repo.git(["config", "--add", "gate.Some.Key", "two\nlines"]);
            let git = Repo::discover(repo.root()).unwrap();
            assert_eq!(git.config("Gate.Some.kEY").unwrap().as_deref(), Some("two\nlines"));
            let all = git.config_entries().unwrap().into_iter().filter(|entry| entry.key == "gate.Some.key");
            assert_eq!(all.map(|entry| entry.value).collect::<Vec<_>>(), ["1", "two\nlines"]);
            assert_eq!(git.config("gate.some.key").unwrap(), None, "the subsection keeps its case");
            assert!(git.config_entries().unwrap().iter().all(gate::git::ConfigEntry::is_local));
        }
    }

    fn many_trees_at_once() {
        for repo in both() {
            let git = Repo::discover(repo.root()).unwrap();
            let [one, main, side] = ["main~1^{tree}", "main^{tree}", "side^{tree}"].map(|rev| oid(&repo, rev));
            let absent: Oid = "1".repeat(main.as_str().len()).parse().unwrap();
            let empty = git.empty_tree();
            // A tree that is here, and whose own subtree is not.
            let hollow = repo.git(["rev-parse", "main:gate.toml"]);
            let mut mktree = repo.command_in("sh", repo.root());
            mktree.args(["-c", "printf '040000 tree %s\\tsub\\n' \"$0\" | git mktree --missing"]).arg(absent.as_str());
            let hollow_tree = String::from_utf8(mktree.output().unwrap().stdout).unwrap().trim().parse::<Oid>().unwrap();
            assert_ne!(hollow, hollow_tree.as_str());
            let pairs = [
                (one.clone(), main.clone()),
                (absent.clone(), main.clone()),
                (main.clone(), main.clone()),
                (absent.clone(), absent.clone()),
                (hollow_tree.clone(), main.clone()),
                (main.clone(), side.clone()),
                (main.clone(), absent),
                (one.clone(), hollow_tree),
                (empty, side),
                (one, main),
            ];
            let answers = git.diff_trees(&pairs).unwrap();
            let counts: Vec<_> = answers
                .iter()
                .map(|answer| match answer {
                    TreeDiff::Changes(changes) => Some(changes.len()),
                    TreeDiff::Unreadable => None,
                })
                .collect();
            assert_eq!(
                counts,
                [Some(1), None, Some(0), Some(0), None, Some(2), None, None, Some(3), Some(1)]
            );
            assert_eq!(git.diff_trees(&[]).unwrap(), []);
        }
    }

    fn differences_of_neighbours_are_those_that_git_lists() {
        let [repo, other] = both();
        // Files become directories and directories files, and names sort differently as either.
        let names = ["a", "a.b", "a-b", "a0", "b", "a\nb"];
        let modes = ["100644", "100755", "120000"];
        let mut number = 7_u64;
        let mut pick = |count: usize| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(number >> 33).unwrap() % count
        };
        let mut stream = String::new();
        for commit in 0..120 {
            let time = 1_767_323_045 + commit;
            let _ = write!(stream, "commit refs/heads/many\ncommitter T <t@e.x> {time} +0000\ndata 1\nx\n");
            for _ in 0..=pick(4) {
                let path: Vec<&str> = (0..=pick(3)).map(|_| names[pick(names.len())]).collect();
                let path = format!("\"{}\"", path.join("/").replace('\n', "\\n"));
                if pick(3) == 0 {
                    let _ = writeln!(stream, "D {path}");
                } else {
                    let (mode, content) = (modes[pick(3)], pick(10));
                    let _ = write!(stream, "M {mode} inline {path}\ndata 1\n{content}\n");
                }
            }
        }
        for repo in [&repo, &other] {
            repo.fast_import(&stream);
        }
        // What git2 cannot open is asked of git: both say the same, and so do many pairs at a time.
        let changes = |repo: &TestRepo, at_a_time: usize| -> Vec<Counted> {
            let git = Repo::discover(repo.root()).unwrap();
            let listed = repo.git(["log", "--format=%T", "many"]);
            let trees: Vec<Oid> = listed.lines().map(|line| line.parse().unwrap()).collect();
            let pairs: Vec<_> = trees.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
            let answers = pairs.chunks(at_a_time).flat_map(|pairs| git.diff_trees(pairs).unwrap());
            answers
                .map(|answer| match answer {
                    TreeDiff::Changes(changes) => changes
                        .into_iter()
                        .map(|change| {
                            let mode = |entry: Option<gate::snapshot::SnapshotEntry>| entry.map(|entry| entry.mode);
                            (change.path.to_string(), mode(change.before), mode(change.after))
                        })
                        .collect(),
                    TreeDiff::Unreadable => panic!("a tree is missing"),
                })
                .collect()
        };
        let expected = changes(&other, 200);
        assert_eq!(changes(&repo, 1), expected);
        assert_eq!(changes(&repo, 50), expected);
        assert!(expected.iter().flatten().any(|(_, before, after)| before.is_some() && after.is_some()));
    }

    fn remotes_and_their_addresses() {
        for repo in both() {
            repo.git(["remote", "add", "a", "gh:o/r"]);
            repo.git(["remote", "add", "b", "https://x/y"]);
            repo.git(["remote", "set-url", "--push", "b", "gh:o/b"]);
            repo.git(["config", "url.https://github.com/.insteadOf", "gh:"]);
            repo.git(["config", "url.git@github.com:.pushInsteadOf", "gh:"]);
            let git = Repo::discover(repo.root()).unwrap();
            for remote in git.remotes().unwrap() {
                assert_eq!(remote.url, repo.git(["remote", "get-url", &remote.name]), "{}", remote.name);
                assert_eq!(remote.push_url, repo.git(["remote", "get-url", "--push", &remote.name]), "{}", remote.name);
            }
            assert_eq!(git.remotes().unwrap().len(), 2);
        }
    }

    fn default_branch_of_a_remote() {
        let repo = TestRepo::with_commit();
        let bare = repo.add_bare_remote("origin");
        let url = bare.to_str().unwrap();
        let git = Repo::discover(repo.root()).unwrap();
        assert_eq!(git.remote_default_branch("origin", url), DefaultBranch::EmptyRemote);
        repo.git(["push", "-q", "origin", "main:side"]);
        assert_eq!(git.remote_default_branch("origin", url), DefaultBranch::Unborn, "HEAD points nowhere");
        repo.git(["push", "-q", "origin", "main:trunk"]);
        repo.git_in(&bare, ["symbolic-ref", "HEAD", "refs/heads/trunk"]);
        let trunk = DefaultBranch::Known("refs/heads/trunk".to_owned());
        assert_eq!(git.remote_default_branch(url, url), trunk, "by its address alone");
        // Remembered, until the remote is asked again.
        repo.git_in(&bare, ["symbolic-ref", "HEAD", "refs/heads/side"]);
        assert_eq!(git.remote_default_branch("origin", url), trunk);
        let side = DefaultBranch::Known("refs/heads/side".to_owned());
        assert_eq!(git.refresh_remote_default_branch(url), side);
        assert_eq!(git.remote_default_branch("origin", url), side);
        assert!(!fs::read_to_string(git.gate_dir().join("default-branches.json")).unwrap().contains(url));
        // What it said comes first, then what the clone recorded, for this remote and for its address; not for a push
        // elsewhere.
        repo.git(["fetch", "-q", "origin"]);
        repo.git(["remote", "set-head", "origin", "trunk"]);
        assert_eq!(git.remote_default_branch("origin", url), side);
        fs::remove_file(git.gate_dir().join("default-branches.json")).unwrap();
        assert_eq!(git.remote_default_branch("origin", url), trunk);
        assert_eq!(git.remote_default_branch(url, url), trunk);
        let other = repo.add_bare_remote("other");
        assert_eq!(git.remote_default_branch("origin", other.to_str().unwrap()), DefaultBranch::EmptyRemote);
        let gone = repo.outside().join("gone");
        assert!(matches!(git.remote_default_branch("x", gone.to_str().unwrap()), DefaultBranch::Unknown(_)));
    }
}

/// A hook of a linked worktree, with the variables git sets for it, judges that worktree.
fn hook_in_linked_worktree(test: &str, format: &str) {
    let repo = TestRepo::init(&[format]);
    repo.write("x", "1").commit_all("one");
    repo.git(["worktree", "add", "-q", "../linked"]);
    let (linked, git_dir) = (repo.outside().join("linked"), repo.root().join(".git/worktrees/linked"));
    let variables = [
        ("GIT_DIR", git_dir.as_os_str()),
        ("GIT_INDEX_FILE", "/nowhere/index.lock".as_ref()),
        ("GIT_PREFIX", "sub/".as_ref()),
        ("LINKED", linked.as_os_str()),
    ];
    again(test, &variables, || {
        let linked = PathBuf::from(std::env::var_os("LINKED").unwrap());
        let git = Repo::discover_in_hook(&linked).unwrap();
        assert_eq!(git.root(), Some(&*linked));
        assert_eq!(git.head().unwrap().branch.as_deref(), Some("refs/heads/linked"));
        assert!(git.snapshot().unwrap().is_clean());
        assert_eq!(git.concealment().unwrap(), [], "what git sets for a hook is expected there");
    });
}

/// A path, and how many lines were added and removed.
type Counted = Vec<(String, Option<u32>, Option<u32>)>;

#[test]
fn hook_in_a_linked_worktree() {
    hook_in_linked_worktree(concat!(module_path!(), "::hook_in_a_linked_worktree"), "--object-format=sha1");
}

#[test]
fn hook_in_a_linked_worktree_that_git2_cannot_open() {
    let test = concat!(module_path!(), "::hook_in_a_linked_worktree_that_git2_cannot_open");
    hook_in_linked_worktree(test, "--object-format=sha256");
}

#[test]
fn hook_with_a_relative_git_dir_that_git2_cannot_open() {
    let repo = TestRepo::init(&["--object-format=sha256"]);
    repo.write("sub/x", "1").commit_all("one");
    let test = concat!(module_path!(), "::hook_with_a_relative_git_dir_that_git2_cannot_open");
    again(test, &[("GIT_DIR", ".git".as_ref()), ("ROOT", repo.root().as_os_str())], || {
        let root = PathBuf::from(std::env::var_os("ROOT").unwrap());
        let git = Repo::discover_in_hook(&root).unwrap();
        assert_eq!(git.root(), Some(&*root));
        assert!(git.snapshot().unwrap().is_clean());
    });
}

/// A server's `pre-receive`: the pushed commits are in quarantine, and must be readable there.
#[test]
fn a_receiving_hook_sees_what_is_in_quarantine() {
    const TEST: &str = concat!(module_path!(), "::a_receiving_hook_sees_what_is_in_quarantine");
    if std::env::var_os("GIT_QUARANTINE_PATH").is_some() {
        let git = Repo::discover_in_hook(&std::env::current_dir().unwrap()).unwrap();
        let pushed: Oid = std::env::var("PUSHED").unwrap().parse().unwrap();
        assert_eq!(git.root(), None);
        assert_eq!(git.object_kind(&pushed).unwrap(), Some(ObjectKind::Commit));
        let tree = git.tree_of(&pushed).unwrap();
        let changes = git.diff_trees(&[(git.empty_tree(), tree)]).unwrap();
        assert!(matches!(&changes[0], TreeDiff::Changes(changes) if changes.len() == 2));
        assert_eq!(git.blob_at(&pushed, &"README.md".into()).unwrap().as_deref(), Some(b"# test\n".as_slice()));
        return;
    }
    let repo = TestRepo::with_commit();
    let bare = repo.add_bare_remote("origin");
    let hook = bare.join("hooks/pre-receive");
    let name = TEST.split_once("::").unwrap().1;
    let exe = std::env::current_exe().unwrap();
    let script = format!(
        "#!/bin/sh\nread old new ref\nPUSHED=$new '{}' --exact {name} >'{}' 2>&1\n",
        exe.display(),
        repo.outside().join("log").display()
    );
    fs::write(&hook, script).unwrap();
    let mut mode = fs::metadata(&hook).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&hook, mode).unwrap();
    let pushed = repo.try_git(["push", "-q", "origin", "main"]);
    let log = fs::read_to_string(repo.outside().join("log")).unwrap_or_default();
    assert!(pushed.status.success() && log.contains("1 passed"), "{log}");
}
