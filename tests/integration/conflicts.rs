//! Files in conflict are content like any other: a run on a resolution proves the commit that is made of it.

use gate::git::Repo;

use crate::hermetic;
use crate::oracle::{agrees, opaque, sample, taken};
use crate::project::{POLICY, Project};
use crate::support::TestRepo;

fn with_conflict() -> TestRepo {
    let repo = sample();
    repo.git(["checkout", "-q", "-b", "other"]);
    repo.write("a/one", "other\n").write("both", "theirs\n").remove("a/two").commit_all("other");
    repo.git(["checkout", "-q", "main"]);
    repo.write("a/one", "main\n").write("both", "ours\n").write("a/two", "edited\n").commit_all("main");
    assert!(!repo.try_git(["merge", "other"]).status.success(), "the merge conflicts");
    repo
}

hermetic! {
    fn unmerged() {
        let repo = with_conflict();
        let (_, snapshot, _) = agrees(&repo);
        assert_eq!(opaque(&snapshot), [] as [&str; 0]);
        let ours = repo.git(["rev-parse", "HEAD:a/one"]);
        assert_eq!(snapshot.dirty[0].base.as_ref().map(|base| base.oid.as_str().to_owned()), Some(ours));
    }

    fn resolved_and_not_added() {
        let repo = with_conflict();
        repo.write("a/one", "resolved\n").write("both", "ours\n").remove("a/two");
        let (_, _, kept) = agrees(&repo);
        repo.git(["add", "-A"]);
        repo.git(["commit", "-q", "-m", "merge"]);
        assert_eq!(kept.tree.as_str(), repo.git(["rev-parse", "HEAD^{tree}"]));
    }

    fn line_ends_and_modes_are_those_of_our_side() {
        let repo = sample();
        repo.write("crlf", "1\r\n").commit_all("crlf");
        repo.git(["checkout", "-q", "-b", "other"]);
        repo.write("crlf", "2\r\n").write("run.sh", "#!/bin/sh\ntrue\n").commit_all("other");
        repo.git(["checkout", "-q", "main"]);
        repo.write("crlf", "3\r\n").write("run.sh", "#!/bin/sh\nfalse\n").commit_all("main");
        assert!(!repo.try_git(["merge", "other"]).status.success());
        repo.git(["config", "core.autocrlf", "true"]);
        repo.git(["config", "core.fileMode", "false"]);
        repo.write("crlf", "4\r\n").write("run.sh", "#!/bin/sh\n:\n").chmod("run.sh", 0o644);
        agrees(&repo);
    }

    fn submodule_in_conflict() {
        let repo = sample();
        for (branch, text) in [("other", "2"), ("main", "3")] {
            if branch == "other" {
                repo.git(["init", "-q", "sub"]);
                repo.git_in(&repo.path("sub"), ["commit", "-q", "--allow-empty", "-m", "1"]);
                repo.git(["add", "sub"]);
                repo.git(["commit", "-q", "-m", "sub"]);
                repo.git(["branch", "other"]);
            }
            repo.git(["checkout", "-q", branch]);
            repo.git_in(&repo.path("sub"), ["checkout", "-q", "--orphan", &format!("of-{branch}")]);
            repo.git_in(&repo.path("sub"), ["commit", "-q", "--allow-empty", "-m", text]);
            repo.git(["add", "sub"]);
            repo.git(["commit", "-q", "-m", text]);
        }
        assert!(!repo.try_git(["merge", "other"]).status.success());
        let (_, snapshot, _) = taken(repo.root());
        assert_eq!(opaque(&snapshot), ["sub"]);
    }
}

/// Two branches that change the same line; the present one is `feature`.
fn diverged() -> Project {
    let project = Project::with(&POLICY.replace("inputs = [\"src/**\", \"test.sh\"]\n", ""));
    project.repo.write("src/lib.sh", "ours\n").commit_all("feat: ours");
    project.repo.git(["switch", "-q", "-c", "other", "main"]);
    project.repo.write("src/lib.sh", "theirs\n").commit_all("feat: theirs");
    project.repo.git(["switch", "-q", "feature"]);
    project
}

#[test]
fn a_run_before_git_add_proves_the_resolution() {
    let edit = "GIT_EDITOR=:";
    for (begin, end) in [
        ("git rebase other", "git rebase --continue"),
        ("git merge other", "git commit -q --no-edit"),
        ("git cherry-pick other", "git cherry-pick --continue"),
        ("git revert --no-edit HEAD~1", "git revert --continue"),
        (
            "git switch -q -C feature && echo x >src/lib.sh && git stash -q && git merge -q --no-edit -X theirs other && git stash pop",
            "git commit -q -m 'feat: stashed'",
        ),
    ] {
        let project = diverged();
        if begin.contains("revert") {
            project.repo.write("src/lib.sh", "again\n").commit_all("feat: again");
        }
        project.sh(begin).exits(1);
        assert!(!project.repo.git(["ls-files", "--unmerged"]).is_empty(), "{begin}");
        project.repo.write("src/lib.sh", "both\n");
        project.gate(["run", "test"]).exits(0).never_says("proves nothing").says("for the files as they are now");
        project.sh(&format!("git add src/lib.sh && {edit} {end}")).exits(0);
        assert_eq!(Repo::discover(project.repo.root()).unwrap().snapshot().unwrap().dirty, [], "{end}");
        project.push("git push -q origin HEAD:feature").exits(0);
    }
}

#[test]
fn a_resolution_that_was_not_tested_is_not_proven() {
    let project = diverged();
    project.sh("git merge other").exits(1);
    project.repo.write("src/lib.sh", "both\n");
    project.gate(["run", "test"]).exits(0);
    project.repo.write("src/lib.sh", "broken\n");
    project.sh("git add src/lib.sh && git commit -q --no-edit").exits(0);
    project.push("git push -q origin HEAD:feature").exits(1).says("src/lib.sh");
}
