//! Ways in which an edit escapes `git status`: each is seen in the snapshot, or named.

use gate::git::{Concealment, ConcealmentKind as Kind, Repo};
use gate::repo_path::RepoPath;
use gate::snapshot::Presence;

use crate::hermetic;
use crate::oracle::{oracle, sample, taken};
use crate::project::Project;
use crate::support::{TestRepo, again};

fn named(repo: &TestRepo) -> Vec<Concealment> {
    let git = Repo::discover(repo.root()).expect("a repository");
    let found = git.concealment().expect("an answer");
    let look = git.look().expect("both answers");
    let together = (look.snapshot, look.concealment);
    assert_eq!(together, (git.snapshot().expect("a snapshot"), found.clone()));
    found
}

fn kinds(repo: &TestRepo) -> Vec<Kind> {
    named(repo).into_iter().map(|one| one.kind).collect()
}

fn paths(repo: &TestRepo, kind: Kind) -> Vec<String> {
    let found = named(repo).into_iter().find(|one| one.kind == kind).expect("it is named");
    assert!(!found.what.is_empty());
    found.paths.iter().map(RepoPath::to_string).collect()
}

/// What `git status` shows: the point of each trick is that this is nothing.
fn shown(repo: &TestRepo) -> String {
    repo.git(["status", "--porcelain"])
}

hermetic! {
    fn an_ordinary_repository_hides_nothing() {
        let repo = sample();
        repo.write("a/one", "edited").write("x.o", "ignored by a committed rule");
        repo.git(["sparse-checkout", "set", "--cone", "a"]);
        assert_eq!(named(&repo), []);
    }

    fn fsmonitor_that_lies() {
        let repo = sample();
        repo.script("../monitor", "#!/bin/sh\nprintf 'token\\0'\n");
        repo.git(["config", "core.fsmonitor", repo.outside().join("monitor").to_str().unwrap()]);
        repo.git(["config", "core.fsmonitorHookVersion", "2"]);
        repo.git(["update-index", "--fsmonitor"]);
        repo.git(["status"]);
        repo.write("a/one", "edited");
        assert_eq!(shown(&repo), "", "the trick works");
        assert_eq!(taken(repo.root()).1.dirty.len(), 1, "and is seen");
        assert_eq!(kinds(&repo), [Kind::Fsmonitor]);
    }

    fn assume_unchanged() {
        let repo = sample();
        repo.git(["update-index", "--assume-unchanged", "a/one", "a/two", "run.sh"]);
        assert_eq!(kinds(&repo), [Kind::AssumeUnchanged], "nothing is hidden yet");
        assert!(taken(repo.root()).1.is_clean());
        repo.write("a/one", "edited").remove("a/two").chmod("run.sh", 0o644);
        assert_eq!(shown(&repo), "", "the trick works");
        let tree = oracle(&repo, &[&["update-index", "--no-assume-unchanged", "a/one", "a/two", "run.sh"]]);
        let (_, snapshot, kept) = taken(repo.root());
        assert_eq!(kept.tree.as_str(), tree);
        assert!(snapshot.dirty.iter().all(|one| one.presence == Presence::Hidden));
        assert_eq!(kept.hidden.len(), 3);
        assert_eq!(paths(&repo, Kind::HiddenEdit), ["a/one", "a/two", "run.sh"]);
    }

    fn skip_worktree() {
        let repo = sample();
        repo.git(["update-index", "--skip-worktree", "a/one", "a/two"]);
        repo.write("a/one", "edited");
        assert_eq!(shown(&repo), "", "the trick works");
        let tree = oracle(&repo, &[&["update-index", "--no-skip-worktree", "a/one", "a/two"]]);
        let (_, _, kept) = taken(repo.root());
        assert_eq!(kept.tree.as_str(), tree);
        assert_eq!(kept.hidden, [RepoPath::from("a/one")]);
        assert_eq!(paths(&repo, Kind::HiddenEdit), ["a/one"]);
        assert_eq!(paths(&repo, Kind::SkipWorktree), ["a/one", "a/two"]);
    }

    fn a_bit_over_a_staged_change() {
        let repo = sample();
        repo.write("a/one", "staged").write("a/two", "staged");
        repo.git(["add", "-A"]);
        repo.git(["update-index", "--assume-unchanged", "a/one", "a/two"]);
        repo.write("a/one", "edited").write("a/two", "2\n");
        let tree = oracle(&repo, &[&["update-index", "--no-assume-unchanged", "a/one", "a/two"]]);
        let (_, snapshot, kept) = taken(repo.root());
        assert_eq!(kept.tree.as_str(), tree, "a/two is as HEAD has it");
        assert_eq!(snapshot.dirty.len(), 1);
    }

    fn local_excludes() {
        let repo = sample();
        repo.write(".git/info/exclude", "# a comment\n").write("seen", "1");
        assert_eq!(named(&repo), [], "comments hide nothing");
        repo.write(".git/info/exclude", "/hidden*\n").write("../mine", "*.mine\n");
        repo.git(["config", "core.excludesFile", repo.outside().join("mine").to_str().unwrap()]);
        repo.write("hidden-test.rs", "1").write("hidden/a", "1").write("x.mine", "2").write(":(top)x.mine", "3").write("build/z", "committed rule");
        assert_eq!(shown(&repo), "?? seen", "the trick works");
        let mut hidden = paths(&repo, Kind::LocalExclude);
        hidden.sort();
        assert_eq!(hidden, [":(top)x.mine", "hidden-test.rs", "hidden/a", "x.mine"]);
    }

    fn local_exclude_rules_without_a_file_hide_nothing() {
        let repo = sample();
        repo.write(".git/info/exclude", "*.swp\n").write("x.o", "ignored by a committed rule");
        assert_eq!(named(&repo), []);
    }

    fn file_mode_off() {
        let repo = sample();
        repo.git(["config", "core.fileMode", "false"]);
        repo.chmod("run.sh", 0o644);
        assert_eq!(shown(&repo), "", "the trick works");
        assert_eq!(kinds(&repo), [Kind::FileMode]);
    }

    fn file_mode_off_where_every_file_is_executable() {
        let repo = sample();
        repo.git(["config", "core.fileMode", "false"]);
        repo.chmod("run.sh", 0o644).chmod("a/one", 0o755).chmod(".git/HEAD", 0o755);
        assert_eq!(named(&repo), []);
        assert_eq!(taken(repo.root()).1.local_files, []);
    }

    fn clean_filter_of_this_clone() {
        let repo = sample();
        repo.git(["config", "filter.old.clean", "git show HEAD:a/one"]);
        repo.write(".git/info/attributes", "a/one filter=old\n").write("a/one", "edited");
        repo.git(["add", "-A"]);
        assert_eq!(shown(&repo), "", "the trick works");
        assert_eq!(kinds(&repo), [Kind::LocalFilter, Kind::LocalAttributes]);
    }

    fn times_set_back() {
        let repo = sample();
        let touch = |path: &str| {
            let done = repo.command_in("touch", repo.root()).args(["-d", "2020-01-01", path]).status();
            assert!(done.unwrap().success());
        };
        touch("a/one");
        repo.git(["update-index", "--refresh"]);
        // Same size, same time, written beside and moved into place.
        repo.write("a/new", "9\n");
        touch("a/new");
        std::fs::rename(repo.path("a/new"), repo.path("a/one")).unwrap();
        assert_eq!(taken(repo.root()).1.dirty.len(), 1, "the inode tells");
        repo.git(["config", "core.checkStat", "minimal"]);
        assert_eq!(shown(&repo), "", "the trick works");
        assert_eq!(taken(repo.root()).1.dirty.len(), 1, "and is seen");
        assert_eq!(kinds(&repo), [Kind::LaxStat]);
        repo.git(["config", "core.checkStat", "default"]);
        repo.git(["config", "core.trustctime", "false"]);
        assert_eq!(kinds(&repo), [Kind::LaxStat]);
    }

    fn hooks_elsewhere() {
        let repo = sample();
        repo.git(["config", "core.hooksPath", "/dev/null"]);
        assert_eq!(kinds(&repo), [Kind::HooksPath]);
        assert_eq!(Repo::discover(repo.root()).unwrap().config("core.hookspath").unwrap().as_deref(), Some("/dev/null"));
    }

    fn replaced_objects() {
        let repo = sample();
        let honest = repo.git(["rev-parse", "HEAD^{tree}"]);
        repo.write("a/one", "edited");
        repo.git(["add", "-A"]);
        let (old, tree) = (repo.git(["rev-parse", "HEAD"]), repo.git(["write-tree"]));
        let new = repo.git(["commit-tree", "-m", "other", &tree]);
        repo.git(["replace", &old, &new]);
        assert_eq!(shown(&repo), "", "the trick works");
        let (_, snapshot, _) = taken(repo.root());
        assert_eq!(snapshot.base.as_str(), honest);
        assert_eq!(snapshot.dirty.len(), 1);
        assert_eq!(kinds(&repo), [Kind::Replacements]);
    }
}

/// Another repository whose variables are inherited, as a script inside a hook would.
#[test]
fn inherited_variables() {
    let other = sample();
    let git_dir = other.root().join(".git");
    let variables = [
        ("GIT_DIR", git_dir.as_os_str()),
        ("GIT_WORK_TREE", other.root().as_os_str()),
        ("GIT_INDEX_FILE", "/nowhere/index.lock".as_ref()),
        ("GIT_OBJECT_DIRECTORY", "/nowhere".as_ref()),
        ("GIT_CONFIG_COUNT", "1".as_ref()),
        ("GIT_CONFIG_KEY_0", "core.worktree".as_ref()),
        ("GIT_CONFIG_VALUE_0", "/nowhere".as_ref()),
        ("GIT_GLOB_PATHSPECS", "1".as_ref()),
    ];
    again(concat!(module_path!(), "::inherited_variables"), &variables, || {
        let repo = TestRepo::with_commit();
        repo.write("README.md", "edited");
        let (git, snapshot, _) = taken(repo.root());
        assert_eq!(git.root(), Some(repo.root()));
        assert_eq!(snapshot.dirty.len(), 1);
        let found = named(&repo);
        assert_eq!(found.len(), 1);
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_COUNT"] {
            assert!(found[0].what.contains(name), "{}", found[0].what);
        }
        assert_eq!(found[0].kind, Kind::InheritedVariables);
    });
}

#[test]
fn a_replaced_tree_does_not_lend_its_content() {
    let project = Project::new().edited("false");
    let base = "git merge-base HEAD origin/main";
    project
        .sh(&format!("git replace $(git rev-parse HEAD:src) $(git rev-parse $({base}):src) && git read-tree HEAD && git checkout -qf -- ."))
        .exits(0);
    for line in ["true", "git replace -d $(git replace -l)"] {
        project.sh(line).exits(0);
        project.check().exits(12).says("git does not report that src/lib.sh differs from HEAD");
        project.gate(["run", "test"]);
        project.push("git push origin feature").exits(1);
    }
    let remedy = "git replace -l | xargs -r git replace -d; git read-tree --empty && git reset -q";
    project.check().says(remedy);
    project.sh(remedy).exits(0);
    // The working tree still has the other content; that is an edit now.
    project.check().exits(10).never_says("git does not report");
    project.gate(["run", "test"]).exits(0).says("for the files as they are now");
}

#[test]
#[cfg(unix)]
fn a_link_to_something_without_an_end_is_not_read() {
    let project = Project::new().edited("true");
    project.gate(["run", "test"]).exits(0);
    for name in ["x.sh", "conftest.py", "src/test_x.py"] {
        std::os::unix::fs::symlink("/dev/zero", project.repo.path(name)).unwrap();
        let code = project.check().code;
        assert!([0, 10].contains(&code), "{name}: {code}");
        std::fs::remove_file(project.repo.path(name)).unwrap();
    }
}
