//! Every kind of repository: the snapshot is what `git add -A` would make of its working tree.

use std::fs;
use std::path::PathBuf;

use gate::git::Repo;
use gate::snapshot::Presence;

use crate::hermetic;
use crate::oracle::{agrees, opaque, presence, sample, taken};
use crate::support::{TestRepo, require_git};

/// Another repository that can be a submodule or embedded, with one commit.
fn inner(repo: &TestRepo, at: &str) -> PathBuf {
    let path = repo.root().join(at);
    fs::create_dir_all(&path).expect("a directory");
    repo.git_in(&path, ["init", "-q", "-b", "main"]);
    fs::write(path.join("inside"), "x\n").expect("a file");
    repo.git_in(&path, ["add", "-A"]);
    repo.git_in(&path, ["commit", "-q", "-m", "inside"]);
    path
}

fn with_submodule() -> TestRepo {
    let repo = sample();
    let source = inner(&repo, "../source");
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
    repo.git(add.iter().copied().chain([source.to_str().expect("a plain path"), "sub"]));
    repo.commit_all("submodule");
    repo
}

hermetic! {
    fn submodule_unchanged_and_not_checked_out() {
        let repo = with_submodule();
        assert!(agrees(&repo).1.is_clean());
        repo.git(["submodule", "--quiet", "deinit", "-f", "sub"]);
        assert!(agrees(&repo).1.is_clean());
    }

    fn submodule_new_commit() {
        let repo = with_submodule();
        repo.git_in(&repo.root().join("sub"), ["commit", "-q", "--allow-empty", "-m", "more"]);
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(snapshot.dirty[0].now.as_ref().map(|now| now.mode), Some(0o160_000));
        assert!(snapshot.opaque.is_empty());
    }

    fn submodule_with_uncommitted_content() {
        let repo = with_submodule();
        repo.write("sub/inside", "edited");
        let (_, snapshot, _) = agrees(&repo);
        assert!(snapshot.dirty.is_empty() && !snapshot.is_clean());
        assert_eq!(opaque(&snapshot), ["sub"]);
        repo.git(["-C", "sub", "checkout", "-q", "--", "."]);
        repo.write("sub/untracked", "new");
        assert_eq!(opaque(&agrees(&repo).1), ["sub"]);
    }

    fn submodule_that_asks_to_be_ignored() {
        let repo = with_submodule();
        repo.git(["config", "submodule.sub.ignore", "all"]);
        repo.git(["config", "diff.ignoreSubmodules", "all"]);
        repo.write("sub/inside", "edited");
        assert_eq!(opaque(&taken(repo.root()).1), ["sub"]);
    }

    fn submodule_whose_litter_the_commit_ignores() {
        let repo = with_submodule();
        repo.write("sub/made.o", "new");
        repo.git(["config", "submodule.sub.ignore", "untracked"]);
        assert_eq!(opaque(&agrees(&repo).1), ["sub"], "nobody else sees a setting of this clone");
        repo.git(["config", "-f", ".gitmodules", "submodule.sub.ignore", "untracked"]);
        assert_eq!(opaque(&agrees(&repo).1), ["sub"], "nor one that is not committed");
        repo.git(["add", ".gitmodules"]);
        repo.git(["commit", "-q", "-m", "what a build leaves there is ignored"]);
        assert!(agrees(&repo).1.is_clean());
        repo.write("sub/inside", "edited");
        assert_eq!(opaque(&agrees(&repo).1), ["sub"], "what is tracked there counts");
    }

    fn inside_a_submodule() {
        let repo = with_submodule();
        repo.write("sub/inside", "edited");
        let (git, snapshot, _) = taken(&repo.root().join("sub"));
        assert_eq!(git.root(), Some(&*repo.root().join("sub")));
        assert!(git.git_dir().ends_with(".git/modules/sub"), "{}", git.git_dir().display());
        assert_eq!(snapshot.dirty.len(), 1);
    }

    fn cone_sparse_checkout() {
        let repo = sample();
        repo.git(["sparse-checkout", "set", "--cone", "a/b"]);
        assert!(!repo.path("src").exists());
        assert!(agrees(&repo).1.is_clean());
        repo.write("a/b/three", "edited\n");
        let (_, snapshot, kept) = agrees(&repo);
        assert_eq!(snapshot.dirty.len(), 1);
        assert!(kept.hidden.is_empty());
    }

    fn sparse_index() {
        let repo = sample();
        repo.git(["sparse-checkout", "set", "--cone", "--sparse-index", "a/b"]);
        assert!(agrees(&repo).1.is_clean());
        repo.write("a/b/three", "edited\n").write("a/b/new", "new\n");
        agrees(&repo);
    }

    fn skip_worktree_entry_that_is_absent() {
        let repo = sample();
        repo.git(["update-index", "--skip-worktree", "a/one"]);
        repo.remove("a/one").write("a/two", "edited\n");
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(presence(&snapshot, "a/one"), None);
    }

    fn unborn_branch() {
        let repo = TestRepo::new();
        let (git, snapshot, kept) = taken(repo.root());
        assert!(snapshot.is_clean() && kept.head.is_none());
        assert_eq!(kept.tree, git.empty_tree());
        repo.write("a", "1").write("b", "2");
        repo.git(["add", "a"]);
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(presence(&snapshot, "a"), Some(Presence::Tracked));
        assert_eq!(presence(&snapshot, "b"), Some(Presence::Untracked));
    }

    fn detached_head() {
        let repo = sample();
        repo.git(["checkout", "-q", "--detach"]);
        let (git, snapshot, _) = agrees(&repo);
        assert_eq!(git.head().unwrap().branch, None);
        assert_eq!(git.head().unwrap().commit, snapshot.head);
    }

    fn linked_worktree() {
        let repo = sample();
        repo.git(["worktree", "add", "-q", "../linked"]);
        let linked = repo.outside().join("linked");
        fs::write(linked.join("README.md"), "edited").unwrap();
        let (git, snapshot, kept) = taken(&linked);
        assert_eq!(git.root(), Some(&*linked));
        assert_eq!(git.common_dir(), repo.root().join(".git"));
        assert_ne!(git.git_dir(), git.common_dir());
        assert_eq!(snapshot.dirty.len(), 1);
        // The main working tree is another one; the evidence is shared.
        let main = Repo::discover(repo.root()).unwrap();
        assert!(main.snapshot().unwrap().is_clean());
        assert!(main.blob_at(&kept.tree, &"README.md".into()).unwrap().is_some());
    }

    fn worktree_of_a_bare_repository() {
        let repo = sample();
        let bare = repo.add_bare_remote("bare");
        repo.git(["push", "-q", "bare", "main"]);
        let linked = repo.outside().join("linked");
        repo.git_in(&bare, ["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
        fs::write(linked.join("new"), "1").unwrap();
        let (git, snapshot, _) = taken(&linked);
        assert_eq!((git.root(), git.common_dir()), (Some(&*linked), &*bare));
        assert_eq!(snapshot.dirty.len(), 1);
    }

    fn worktree_config() {
        let repo = sample();
        repo.git(["config", "extensions.worktreeConfig", "true"]);
        repo.git(["config", "--worktree", "core.autocrlf", "input"]);
        repo.write("new", "a\r\n");
        let (git, _, _) = agrees(&repo);
        assert_eq!(git.config("core.autocrlf").unwrap().as_deref(), Some("input"));
    }

    fn precious_objects() {
        let repo = sample();
        repo.git(["config", "core.repositoryFormatVersion", "1"]);
        repo.git(["config", "extensions.preciousObjects", "true"]);
        repo.write("a/one", "edited");
        agrees(&repo);
    }

    fn index_v4_and_untracked_cache() {
        let repo = sample();
        repo.git(["update-index", "--index-version", "4", "--force-untracked-cache"]);
        repo.git(["status"]);
        repo.write("a/one", "edited").write("new", "1");
        agrees(&repo);
    }

    fn index_without_hash() {
        let repo = sample();
        repo.git(["config", "index.skipHash", "true"]);
        repo.write("a/one", "staged");
        repo.git(["add", "-A"]);
        repo.write("a/two", "edited");
        agrees(&repo);
    }

    fn split_index() {
        let repo = sample();
        repo.git(["config", "core.splitIndex", "true"]);
        repo.git(["update-index", "--split-index"]);
        repo.write("a/one", "staged");
        repo.git(["add", "-A"]);
        repo.write("a/two", "edited").write("new", "1");
        agrees(&repo);
    }

    fn many_files_settings() {
        let repo = sample();
        repo.git(["config", "feature.manyFiles", "true"]);
        repo.write("a/one", "staged");
        repo.git(["add", "-A"]);
        repo.write("a/two", "edited").write("new", "1");
        agrees(&repo);
    }

    fn embedded_repository() {
        let repo = sample();
        let nest = inner(&repo, "nest");
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(snapshot.dirty[0].now.as_ref().map(|now| now.mode), Some(0o160_000));
        assert_eq!(
            snapshot.dirty[0].now.as_ref().map(|now| now.oid.as_str().to_owned()),
            Some(repo.git_in(&nest, ["rev-parse", "HEAD"]))
        );
    }

    fn embedded_repository_without_a_commit() {
        let repo = sample();
        fs::create_dir(repo.path("nest")).unwrap();
        repo.git_in(&repo.path("nest"), ["init", "-q"]);
        repo.write("nest/x", "1").write("new", "2").write("a/one", "edited");
        // `git add -A` stops there; everything else is still told.
        let (_, snapshot, _) = taken(repo.root());
        assert_eq!(opaque(&snapshot), ["nest"]);
        assert_eq!(snapshot.dirty.len(), 2);
    }

    fn partial_clone() {
        let repo = sample();
        let bare = repo.add_bare_remote("bare");
        repo.git(["push", "-q", "bare", "main"]);
        repo.git_in(&bare, ["config", "uploadpack.allowFilter", "true"]);
        let clone = repo.outside().join("clone");
        let url = format!("file://{}", bare.display());
        repo.git(["clone", "-q", "--filter=blob:none", "--sparse", &url, clone.to_str().unwrap()]);
        assert!(!clone.join("a").exists());
        let lacking = || repo.git_in(&clone, ["rev-list", "--objects", "--all", "--missing=print"]).matches('?').count();
        let before = lacking();
        assert!(before > 0, "the clone has every blob");
        fs::write(clone.join("README.md"), "edited").unwrap();
        let (git, snapshot, _) = taken(&clone);
        assert_eq!(snapshot.dirty.len(), 1);
        assert_eq!(before, lacking(), "blobs were fetched");
        assert_eq!(git.head().unwrap().branch.as_deref(), Some("refs/heads/main"));
    }

    fn sha256() {
        let repo = TestRepo::init(&["--object-format=sha256"]);
        repo.write("a/one", "1\n").write("b", "2\n").commit_all("start");
        let (git, snapshot, _) = agrees(&repo);
        assert!(git.is_sha256() && snapshot.is_clean());
        repo.write("a/one", "edited").write("new", "1").remove("b");
        agrees(&repo);
    }

    fn reftable() {
        require_git();
        let repo = TestRepo::init(&["--ref-format=reftable"]);
        repo.write("a/one", "1\n").commit_all("start");
        repo.write("a/one", "edited").write("new", "1");
        let (git, _, _) = agrees(&repo);
        assert_eq!(git.head().unwrap().branch.as_deref(), Some("refs/heads/main"));
    }

    fn relative_worktrees_are_left_to_git() {
        let repo = sample();
        repo.git(["config", "core.repositoryFormatVersion", "1"]);
        repo.git(["config", "extensions.relativeWorktrees", "true"]);
        repo.write("a/one", "edited");
        // Whatever this git can do with the extension, so can we, and nothing is made up.
        if repo.try_git(["status"]).status.success() {
            agrees(&repo);
        } else {
            let told = Repo::discover(repo.root()).and_then(|git| git.snapshot());
            assert!(told.unwrap_err().to_string().contains("relativeworktrees"));
        }
    }

    fn shallow_clone() {
        let repo = sample();
        let clone = repo.outside().join("clone");
        let url = format!("file://{}", repo.root().display());
        repo.git(["clone", "-q", "--depth=1", &url, clone.to_str().unwrap()]);
        fs::write(clone.join("README.md"), "edited").unwrap();
        let (git, snapshot, _) = taken(&clone);
        assert!(git.is_shallow());
        assert_eq!(snapshot.dirty.len(), 1);
    }

    fn borrowed_objects() {
        let repo = sample();
        let clone = repo.outside().join("clone");
        repo.git(["clone", "-q", "--shared", repo.root().to_str().unwrap(), clone.to_str().unwrap()]);
        fs::write(clone.join("README.md"), "edited").unwrap();
        assert_eq!(taken(&clone).1.dirty.len(), 1);
    }

    fn git_directory_elsewhere() {
        let repo = sample();
        let clone = repo.outside().join("clone");
        let elsewhere = repo.outside().join("else:where \"x\"");
        let args = ["clone", "-q", "--separate-git-dir", elsewhere.to_str().unwrap()];
        repo.git(args.into_iter().chain([repo.root().to_str().unwrap(), clone.to_str().unwrap()]));
        fs::write(clone.join("README.md"), "edited").unwrap();
        let (git, snapshot, _) = taken(&clone);
        assert_eq!((git.root(), git.git_dir()), (Some(&*clone), &*elsewhere));
        assert_eq!(snapshot.dirty.len(), 1);
    }

    fn from_a_subdirectory_and_through_a_link() {
        let repo = sample();
        repo.write("a/one", "edited");
        let (git, snapshot, _) = taken(&repo.root().join("a/b"));
        assert_eq!(git.root(), Some(repo.root()));
        std::os::unix::fs::symlink(repo.root(), repo.outside().join("through")).unwrap();
        assert_eq!(taken(&repo.outside().join("through/a")).1, snapshot);
    }

    fn bare() {
        let repo = TestRepo::init(&["--bare"]);
        let git = Repo::discover(repo.root()).unwrap();
        assert_eq!(git.root(), None);
        assert!(git.snapshot().unwrap_err().to_string().contains("bare repository"));
        assert_eq!(git.head().unwrap().commit, None);
    }

    fn no_repository() {
        let repo = TestRepo::new();
        let error = Repo::discover(&repo.home()).unwrap_err().to_string();
        assert!(error.contains("is not inside a git repository"), "{error}");
        let error = Repo::discover(&repo.home().join("nowhere")).unwrap_err().to_string();
        assert!(error.contains("is not inside a git repository"), "{error}");
    }

    fn hooks_of_the_user_are_not_run() {
        let repo = sample();
        repo.script(".git/hooks/post-index-change", "#!/bin/sh\ntouch \"$HOME/../fired\"\n");
        repo.git(["update-index", "--refresh"]);
        let fired = std::env::home_dir().unwrap().join("../fired");
        repo.write("a/one", "edited");
        taken(repo.root());
        assert!(!fired.exists());
        let other = repo.outside().join("fired");
        repo.git(["add", "-A"]);
        assert!(other.exists(), "git itself runs it");
    }
}
