//! Every state of a working tree: the snapshot is what `git add -A` would make of it, and taking and keeping it
//! changes nothing.

use std::fs;
use std::os::unix::fs::FileTypeExt;

use gate::git::Repo;
use gate::oid::Oid;
use gate::repo_path::RepoPath;
use gate::snapshot::Presence;

use crate::hermetic;
use crate::oracle::{agrees, opaque, presence, sample, taken};

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

    fn attributes_that_no_commit_holds() {
        for place in ["info", "ignored", "untracked", "settings"] {
            let repo = sample();
            repo.write("d/t.txt", "one\n").commit_all("text");
            let rule = "*.txt text eol=crlf\n";
            match place {
                "info" => drop(repo.write(".git/info/attributes", rule)),
                "ignored" => drop(repo.write(".git/info/exclude", ".gitattributes\n").write("d/.gitattributes", rule)),
                "untracked" => drop(repo.write(".gitattributes", rule)),
                _ => {
                    repo.write(".git/own", rule);
                    repo.git(["config", "core.attributesFile", &repo.path(".git/own").to_string_lossy()]);
                }
            }
            repo.write("d/t.txt", "two\r\n").write("d/new.txt", "new\r\n");
            let (git, _, kept) = agrees(&repo);
            assert_eq!(git.blob_at(&kept.tree, &"d/t.txt".into()).unwrap().unwrap(), b"two\n", "{place}");
        }
    }

    fn modes_that_the_index_has() {
        let repo = sample();
        repo.write("run", "one\n").chmod("run", 0o755).commit_all("a program");
        repo.git(["config", "core.fileMode", "false"]);
        repo.write("run", "two\n").chmod("run", 0o644).write("new", "").chmod("new", 0o755);
        agrees(&repo);
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

    fn many_keep_at_once() {
        let repo = sample();
        repo.write("a/one", "edited").write("new", "1");
        let git = Repo::discover(repo.root()).unwrap();
        let trees: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| git.keep(&git.snapshot().unwrap()).unwrap().tree)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let (_, _, kept) = agrees(&repo);
        assert!(trees.iter().all(|tree| *tree == kept.tree));
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
