//! Every kind of repository: the snapshot is what `git add -A` would make of the working tree, and taking and
//! keeping it changes nothing.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use gate::git::Repo;
use gate::oid::Oid;
use gate::repo_path::RepoPath;
use gate::snapshot::{Presence, Snapshot};

use crate::hermetic;
use crate::oracle::{agrees, sample, taken};
use crate::support::{TestRepo, require_git};

fn presence(snapshot: &Snapshot, path: &str) -> Option<Presence> {
    snapshot.dirty.iter().find(|one| one.path == RepoPath::from(path)).map(|one| one.presence)
}

fn opaque(snapshot: &Snapshot) -> Vec<String> {
    snapshot.opaque.iter().map(RepoPath::to_string).collect()
}

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

/// Two branches that change the same line.
fn with_conflict() -> TestRepo {
    let repo = sample();
    repo.git(["checkout", "-q", "-b", "other"]);
    repo.write("a/one", "other\n").commit_all("other");
    repo.git(["checkout", "-q", "main"]);
    repo.write("a/one", "main\n").commit_all("main");
    assert!(!repo.try_git(["merge", "other"]).status.success(), "the merge conflicts");
    repo
}

hermetic! {
    fn clean() {
        let repo = sample();
        let (git, snapshot, kept) = agrees(&repo);
        assert!(snapshot.is_clean());
        assert!(!git.gate_dir().exists(), "nothing is written for a clean tree");
        assert_eq!(kept.head.as_ref().map(Oid::as_str), Some(&*repo.git(["rev-parse", "HEAD"])));
    }

    fn modified() {
        let repo = sample();
        repo.write("a/one", "changed\n");
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(presence(&snapshot, "a/one"), Some(Presence::Tracked));
    }

    fn untracked_and_ignored() {
        let repo = sample();
        repo.write("new/deep/file", "n").write("x.o", "ignored").write("build/y", "ignored");
        let (_, snapshot, kept) = agrees(&repo);
        assert_eq!(snapshot.dirty.len(), 1);
        assert_eq!(kept.untracked, [RepoPath::from("new/deep/file")]);
    }

    fn deleted() {
        let repo = sample();
        repo.remove("a/two").remove("a/b");
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(snapshot.dirty.iter().filter(|one| one.now.is_none()).count(), 2);
    }

    fn everything_deleted() {
        let repo = sample();
        for path in ["a", "src", "README.md", "run.sh", "link", ".gitignore"] {
            repo.remove(path);
        }
        let (git, _, kept) = agrees(&repo);
        assert_eq!(kept.tree, git.empty_tree());
    }

    fn executable_bit() {
        let repo = sample();
        repo.chmod("run.sh", 0o644).chmod("README.md", 0o755);
        repo.script("new.sh", "new");
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(snapshot.dirty.len(), 3);
    }

    fn symbolic_links() {
        let repo = sample();
        repo.remove("link").link("link", "a/one").link("dangling", "no/such/place").link("to-directory", "a");
        agrees(&repo);
    }

    fn type_changes() {
        let repo = sample();
        repo.remove("link").write("link", "now a file").remove("a/one").link("a/one", "two");
        agrees(&repo);
    }

    fn file_becomes_directory_and_back() {
        let repo = sample();
        repo.remove("README.md").write("README.md/now/a", "directory").remove("a").write("a", "file");
        agrees(&repo);
    }

    fn directory_becomes_link() {
        let repo = sample();
        repo.remove("a").link("a", "src");
        agrees(&repo);
    }

    fn eol_attribute() {
        let repo = sample();
        repo.write(".gitattributes", "*.txt text eol=crlf\n").write("t.txt", "one\r\ntwo\r\n").commit_all("eol");
        assert!(agrees(&repo).1.is_clean());
        repo.write("t.txt", "one\r\nthree\r\n").write("new.txt", "a\r\nb\n");
        agrees(&repo);
    }

    fn autocrlf() {
        let repo = sample();
        repo.git(["config", "core.autocrlf", "true"]);
        repo.write("t", "one\r\ntwo\r\n").commit_all("crlf");
        repo.write("t", "one\r\nthree\r\n").write("new", "a\r\n");
        agrees(&repo);
    }

    fn line_ends_that_are_in_the_index_stay() {
        let repo = sample();
        repo.write("t", "one\r\ntwo\r\n").commit_all("crlf in the repository");
        repo.git(["config", "core.autocrlf", "input"]);
        repo.write("t", "one\r\nthree\r\n");
        agrees(&repo);
        repo.write(".gitattributes", "* text=auto\n");
        agrees(&repo);
    }

    fn ident() {
        let repo = sample();
        repo.write(".gitattributes", "*.c ident\n").write("x.c", "/* $Id$ */\n").commit_all("ident");
        repo.write("x.c", "/* $Id: 123 $ */\nmore\n");
        agrees(&repo);
    }

    fn clean_filter() {
        let repo = sample();
        repo.git(["config", "filter.up.clean", "tr a-z A-Z"]);
        repo.git(["config", "filter.up.smudge", "tr A-Z a-z"]);
        repo.write(".gitattributes", "*.up filter=up\n").write("x.up", "abc\n").commit_all("filter");
        repo.write("x.up", "def\n").write("new.up", "new\n");
        let (git, _, kept) = agrees(&repo);
        assert_eq!(git.blob_at(&kept.tree, &"new.up".into()).unwrap().unwrap(), b"NEW\n");
    }

    fn required_filter_that_fails_spoils_only_its_own_file() {
        let repo = sample();
        repo.write(".gitattributes", "*.bad filter=bad\n").commit_all("filter");
        repo.git(["config", "filter.bad.clean", "false"]);
        repo.git(["config", "filter.bad.required", "true"]);
        repo.write("x.bad", "1").write("good", "2").write("also-good", "3");
        let (_, snapshot, kept) = taken(repo.root());
        assert_eq!(opaque(&snapshot), ["x.bad"]);
        assert_eq!(kept.untracked, ["also-good".into(), "good".into()]);
    }

    fn working_tree_encoding() {
        let repo = sample();
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        repo.write(".gitattributes", "*.u16 text working-tree-encoding=UTF-16LE\n").write("x.u16", wide("äb\n"));
        repo.commit_all("encoding");
        repo.write("x.u16", wide("äc\n")).write("new.u16", wide("n\n"));
        let (git, _, kept) = agrees(&repo);
        assert_eq!(git.blob_at(&kept.tree, &"new.u16".into()).unwrap().unwrap(), b"n\n");
    }

    fn attributes_that_are_only_in_the_index() {
        let repo = sample();
        repo.write("d/.gitattributes", "*.txt text eol=crlf\n").write("d/t.txt", "one\r\n").commit_all("eol");
        repo.remove("d/.gitattributes").write("d/t.txt", "two\r\n").write("d/new.txt", "new\r\n");
        taken(repo.root());
        repo.git(["update-index", "--skip-worktree", "d/.gitattributes"]);
        agrees(&repo);
    }

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

    fn inside_a_submodule() {
        let repo = with_submodule();
        repo.write("sub/inside", "edited");
        let (git, snapshot, _) = taken(&repo.root().join("sub"));
        assert_eq!(git.root(), Some(&*repo.root().join("sub")));
        assert!(git.git_dir().ends_with(".git/modules/sub"), "{}", git.git_dir().display());
        assert_eq!(snapshot.dirty.len(), 1);
    }

    fn intent_to_add() {
        let repo = sample();
        repo.write("later", "content");
        repo.git(["add", "--intent-to-add", "later"]);
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(presence(&snapshot, "later"), Some(Presence::Tracked));
    }

    fn staged_rename_and_deletion() {
        let repo = sample();
        repo.git(["mv", "a/one", "moved"]);
        repo.git(["rm", "-q", "a/two"]);
        agrees(&repo);
    }

    fn staged_then_edited_again() {
        let repo = sample();
        repo.write("a/one", "staged\n").write("added", "1");
        repo.git(["add", "-A"]);
        repo.write("a/one", "edited\n").write("added", "2");
        agrees(&repo);
    }

    fn staged_and_taken_back_in_the_working_tree_is_clean() {
        let repo = sample();
        repo.write("a/one", "staged\n").write("added", "1");
        repo.git(["add", "-A"]);
        repo.write("a/one", "1\n").remove("added");
        assert!(agrees(&repo).1.is_clean());
    }

    fn removed_from_the_index_and_still_there() {
        let repo = sample();
        repo.git(["rm", "-q", "--cached", "a/one", "a/two"]);
        repo.write("a/two", "edited\n");
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(presence(&snapshot, "a/one"), None, "content as in HEAD");
        assert_eq!(presence(&snapshot, "a/two"), Some(Presence::Untracked));
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

    fn local_excludes() {
        let repo = sample();
        repo.write("../excludes", "*.mine\n");
        repo.git(["config", "core.excludesFile", repo.outside().join("excludes").to_str().unwrap()]);
        repo.write(".git/info/exclude", "/private/\n").write("x.mine", "1").write("private/y", "2").write("seen", "3");
        assert_eq!(agrees(&repo).1.dirty.len(), 1);
    }

    fn tracked_although_ignored() {
        let repo = sample();
        repo.write("x.o", "tracked");
        repo.git(["add", "-f", "x.o"]);
        repo.git(["commit", "-q", "-m", "tracked"]);
        repo.write("x.o", "edited");
        assert_eq!(presence(&agrees(&repo).1, "x.o"), Some(Presence::Tracked));
    }

    fn names_of_any_bytes() {
        let repo = sample();
        let names: [&[u8]; 8] =
            [b"caf\xe9", b"new\nline", b"\"quoted\"", b"tab\there", b"back\\slash", b" space ", b"-dash", b":(top)x"];
        for name in names {
            repo.write(name, "1");
        }
        repo.write(b"dir\n\xff/x\ny", "1");
        assert_eq!(agrees(&repo).1.dirty.len(), 9);
        repo.commit_all("names");
        assert!(agrees(&repo).1.is_clean());
        for name in names {
            repo.write(name, "2");
        }
        assert_eq!(agrees(&repo).1.dirty.len(), 8);
    }

    fn unmerged() {
        let repo = with_conflict();
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(opaque(&snapshot), ["a/one"]);
        let ours = repo.git(["rev-parse", "HEAD:a/one"]);
        assert_eq!(snapshot.dirty[0].base.as_ref().map(|base| base.oid.as_str().to_owned()), Some(ours));
    }

    fn unmerged_and_deleted() {
        let repo = with_conflict();
        repo.remove("a/one");
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(opaque(&snapshot), ["a/one"]);
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

    fn same_size_edit_in_the_same_instant() {
        let repo = sample();
        for round in 0..20 {
            repo.write("racy", format!("{round:02}a"));
            repo.git(["add", "racy"]);
            repo.write("racy", format!("{round:02}b"));
            let (git, _, kept) = taken(repo.root());
            let content = git.blob_at(&kept.tree, &"racy".into()).unwrap().unwrap();
            assert_eq!(content, format!("{round:02}b").into_bytes());
        }
    }

    fn pipes_and_sockets() {
        let repo = sample();
        assert!(repo.command_in("mkfifo", repo.root()).arg("pipe").status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(repo.path("s")).unwrap();
        assert!(fs::symlink_metadata(repo.path("pipe")).unwrap().file_type().is_fifo());
        assert!(agrees(&repo).1.is_clean());
        // One in the place of a file is a deletion, as git sees it.
        repo.remove("a/one");
        assert!(repo.command_in("mkfifo", repo.root()).arg("a/one").status().unwrap().success());
        let (_, snapshot, _) = taken(repo.root());
        assert!(!snapshot.is_clean());
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

    fn content_that_changes_before_it_is_kept() {
        let repo = sample();
        repo.write("a/one", "seen").write("new", "seen");
        let git = Repo::discover(repo.root()).unwrap();
        let snapshot = git.snapshot().unwrap();
        repo.write("new", "later");
        let error = git.keep(&snapshot).unwrap_err().to_string();
        assert_eq!(error, "new changed while the snapshot was being kept");
        repo.remove("new");
        assert!(git.keep(&snapshot).unwrap_err().to_string().starts_with("new changed"));
        repo.write("new", "seen");
        assert!(git.keep(&snapshot).is_ok());
    }

    fn content_decides_whatever_the_history() {
        let repo = sample();
        repo.write("a/one", "tested").write("new", "tested");
        let (git, _, kept) = taken(repo.root());
        repo.commit_all("one way");
        let one = git.tree_of(&git.head().unwrap().commit.unwrap()).unwrap();
        assert_eq!(one, kept.tree, "evidence of a dirty tree holds after the commit");
        repo.git(["commit", "-q", "--amend", "-m", "another message"]);
        assert_eq!(git.tree_of(&git.head().unwrap().commit.unwrap()).unwrap(), kept.tree);
        repo.write("a/one", "broken").commit_all("break it");
        repo.git(["revert", "--no-edit", "HEAD"]);
        assert_eq!(taken(repo.root()).2.tree, kept.tree);
    }

}
