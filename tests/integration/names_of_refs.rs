//! Names of refs that come from outside, and what a clone recorded of its remote: neither decides what a change is held
//! against.

use std::path::PathBuf;

use crate::project::{POLICY, Project};

/// A clone in which a job runs, with `feature` checked out; the branch and `tags` were pushed around the hook.
fn job(project: &Project, tags: &[&str]) -> PathBuf {
    for refspec in tags.iter().map(|tag| format!("HEAD:refs/tags/{tag}")).chain(["HEAD:feature".to_owned()]) {
        project.repo.git(["push", "-q", "-f", "--no-verify", "origin", &refspec]);
    }
    let path = project.repo.outside().join("job");
    project.repo.git(["clone", "-q", "-b", "feature", project.remote.to_str().unwrap(), path.to_str().unwrap()]);
    path
}

#[test]
fn a_tag_is_never_taken_for_the_branch_that_a_change_is_meant_for() {
    let project = Project::new().edited("one");
    let clone = job(&project, &["origin/main", "main", "refs/remotes/origin/gone", "abcd"]);
    let ci = |base: &str| project.gate_in(&clone, ["ci", "--base", base]);
    for base in ["origin/main", "remotes/origin/main", "refs/remotes/origin/main", "origin", "origin/main~0"] {
        ci(base).exits(10).says("no run of `sh test.sh` on this content");
    }
    // A branch of the remote has this name; only a tag has it here.
    ci("main").exits(12).says("`main` can mean refs/tags/main, or refs/remotes/origin/main: type the full name");
    ci("refs/remotes/origin/gone").exits(12).says("not a commit of this clone");
    project.repo.git_in(&clone, ["tag", "origin/other"]);
    ci("origin/other").exits(12).says("refs/tags/origin/other").says("refs/remotes/origin/other");
    ci("refs/tags/main").exits(0);
    // A tag whose name can be nothing else is what it is, and so is a branch of the clone.
    project.repo.git_in(&clone, ["tag", "v1", "refs/remotes/origin/main"]);
    ci("v1").exits(10);
    project.repo.git_in(&clone, ["branch", "-q", "main", "refs/remotes/origin/main"]);
    ci("main").exits(10);
    project.gate_in(&clone, ["ci", "--base", "origin/main", "--head", "feature"]).exits(10);
}

#[test]
fn other_commands_take_a_name_for_the_same() {
    let project = Project::new().edited("one");
    project.repo.git(["tag", "feature", "refs/remotes/origin/main"]);
    project.repo.git(["tag", "origin/main", "feature"]);
    project.gate(["check", "--rev", "feature"]).exits(10).says("no run of `sh test.sh`");
    project.gate(["commits", "origin/main..HEAD"]).exits(0).says("1 judged, 0 blocked");
    project.repo.git(["tag", "origin/nothing"]);
    project.gate(["check", "--rev", "origin/nothing"]).exits(12).says("type the full name");
    project.gate(["attest", "origin/nothing"]).exits(12).says("type the full name");
}

#[test]
fn a_remedy_says_which_it_means_where_a_tag_has_the_name_of_the_branch() {
    let project = Project::new().edited("one");
    project.repo.git(["tag", "feature", "HEAD~1"]);
    let refused = project.push("git push origin HEAD").exits(1);
    let next = |text: &str| text.lines().find_map(|line| line.trim().strip_prefix("next: ")).unwrap().to_owned();
    project.sh(&next(&refused.text())).exits(0);
    project.repo.git(["branch", "-q", "-f", "main", "refs/heads/feature"]);
    let refused = project.push("git push origin refs/heads/feature:refs/heads/main").exits(1).says("is protected");
    assert_eq!(next(&refused.text()), "git push origin refs/heads/feature");
    project.repo.git(["push", "-q", "--no-verify", "origin", ":refs/heads/feature"]);
    project.sh(&next(&refused.text())).exits(0);
}

/// The default branch of `project`'s remote is `develop`, which the clone knows; `feature` is pushed and proven.
fn with_develop() -> Project {
    let project = Project::new();
    project.repo.git_in(&project.remote, ["branch", "-m", "main", "develop"]);
    project.sh("git fetch -qp && git remote set-head origin -a && git branch -qD main").exits(0);
    project.edit("one");
    project.gate(["run", "test"]).exits(0);
    project.push("git push origin feature").exits(0);
    project
}

#[test]
fn what_is_recorded_by_hand_frees_no_branch_that_others_have() {
    for change in [
        "git remote set-head origin feature",
        "git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/feature",
        "git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/nothing",
        "git remote set-head -d origin",
    ] {
        let project = with_develop();
        project.sh(change).exits(0);
        project.edit("two");
        project.gate(["run", "test"]).exits(0);
        let before = project.refs();
        project.push(&format!("git push {} HEAD:develop", project.remote.display())).exits(1);
        project.push("git push origin HEAD:develop").exits(1).says("develop is protected");
        project.push("git push origin HEAD:refs/heads/develop feature").exits(1).says("develop is protected");
        assert_eq!(project.refs(), before, "{change}");
        project.push("git push origin feature").exits(0);
    }
}

#[test]
fn a_default_branch_that_was_renamed_is_protected_after_a_fetch_that_prunes_nothing() {
    let project = Project::new().edited("one").tested();
    project.repo.git_in(&project.remote, ["branch", "-m", "main", "trunk"]);
    project.repo.git(["fetch", "-q"]);
    project.push("git push origin HEAD:refs/heads/trunk").exits(1).says("trunk is protected");
    project.push(&format!("git push {} HEAD:trunk", project.remote.display())).exits(1).says("trunk is protected");
    project.push("git push origin feature").exits(0);
}

#[test]
fn a_branch_of_ones_own_is_not_what_a_push_is_compared_with() {
    let project = Project::new();
    project.repo.write("gate.toml", POLICY.replace("version = 1", "version = 1\nmode = \"observe\""));
    project.edit("one");
    project.repo.git(["push", "-q", "--no-verify", "origin", "feature"]);
    project.repo.git(["remote", "set-head", "origin", "feature"]);
    project.edit("two");
    project.push("git push origin feature").exits(1).says("no run of `sh test.sh`");
}

#[test]
fn only_a_push_to_a_branch_of_others_asks_the_remote() {
    let project = Project::new();
    let repo = &project.repo;
    let (script, asked) = (repo.outside().join("transport"), repo.outside().join("asked"));
    let text = format!(
        "#!/bin/sh\ncase $1 in git-receive-pack) exec git-receive-pack {0};; esac\necho >> {1}\nexec git-upload-pack {0}\n",
        project.remote.display(),
        asked.display()
    );
    std::fs::write(&script, text).unwrap();
    repo.git(["config", "protocol.ext.allow", "always"]);
    repo.git(["remote", "set-url", "origin", &format!("ext::sh {} %S", script.display())]);
    project.edit("one");
    project.gate(["run", "test"]).exits(0);
    project.push("git push origin feature").exits(0);
    project.sh("git commit -q --allow-empty -m next").exits(0);
    project.push("git push origin feature").exits(0);
    project.push("git push -f origin HEAD~1:refs/heads/feature").exits(0);
    project.push("git push origin HEAD:main").exits(1).says("main is protected");
    assert!(!asked.exists(), "a push of a branch of one's own, and one to what is known to be the default branch");
    repo.git_in(&project.remote, ["branch", "theirs", "main"]);
    project.push("git push origin HEAD:theirs").exits(0);
    assert!(asked.exists());
}

#[test]
fn what_was_fetched_from_elsewhere_is_no_base() {
    let elsewhere = "git clone -q --bare . ../elsewhere.git && git -C ../elsewhere.git branch -q -f main feature";
    for fetch in [
        "git remote set-url origin ../elsewhere.git && git fetch -q origin && git remote set-url origin \"$REMOTE\"",
        "git fetch -q ../elsewhere.git +main:refs/remotes/origin/main",
        "git remote add other ../elsewhere.git && git fetch -q other +main:refs/remotes/origin/main",
    ] {
        let project = Project::new().edited("one");
        project.sh(&format!("REMOTE='{}'; {elsewhere} && {fetch}", project.remote.display())).exits(0);
        assert_eq!(project.repo.git(["rev-parse", "origin/main"]), project.repo.git(["rev-parse", "feature"]));
        let said = project.push("git push origin feature").exits(1);
        let said = said.says("no run of `sh test.sh`").says("moved by hand or by a fetch from elsewhere");
        said.says("to ask it again: git fetch origin");
        project.check().exits(10);
        project.sh("git fetch -q origin").exits(0);
        project.push("git push origin feature").exits(1).never_says("elsewhere");
    }
}

#[test]
fn what_the_remote_itself_has_is_the_base_however_it_was_fetched() {
    let project = Project::new();
    project.repo.git_in(&project.remote, ["branch", "-q", "work", "main"]);
    let other = project.repo.outside().join("colleague");
    project.repo.git(["clone", "-q", project.remote.to_str().unwrap(), other.to_str().unwrap()]);
    for (number, fetch) in
        ["git fetch -q", "git fetch -q origin main", "git pull -q --rebase origin main", "git fetch -q --all"]
            .iter()
            .enumerate()
    {
        let line = format!("echo {number} >> README.md && git commit -qam 'docs: {number}' && git push -q origin main");
        project.sh_in(&other, &line).exits(0);
        project.sh(fetch).exits(0);
        project.check().never_says("elsewhere");
    }
    // A remote beside it that has the same does not make it suspect.
    project
        .sh("git remote add fork ../fork.git && git clone -q --bare \"$(git remote get-url origin)\" ../fork.git")
        .exits(0);
    project.sh("git fetch -q fork").exits(0);
    project.check().never_says("elsewhere");
}

#[test]
fn what_is_no_regular_file_is_no_policy() {
    let commit = "git add -A && git commit -qm 'chore: policy'";
    for change in [
        "rm gate.toml && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),gate.toml && git commit -qm x",
        &format!("ln -sf 'version = 1' gate.toml && {commit}"),
        &format!("rm gate.toml && mkdir gate.toml && echo > gate.toml/x && {commit}"),
    ] {
        let project = Project::new();
        project.sh(change).exits(0);
        project.gate(["ci", "--base", "origin/main"]).exits(65).says("this change makes gate.toml unreadable");
        // Merged all the same, it is nobody's policy, and not the absence of one.
        project.repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
        project.repo.git(["reset", "-q", "--hard"]);
        project.edit("broken");
        project.gate(["ci", "--base", "origin/main"]).exits(12).says("not a regular file");
    }
}

#[test]
fn a_job_that_judges_again_and_again_hands_nothing_over() {
    let project = Project::new().edited("one");
    for _ in 0..5 {
        project.gate(["ci", "--base", "origin/main"]).exits(10).never_says("handed over");
    }
}

#[test]
fn a_branch_that_has_nothing_in_common_with_the_code_needs_no_run() {
    let everything = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n";
    let project = Project::with(everything);
    let orphan = "git switch -q --orphan pages && echo hi > index.html && git add -A && git commit -qm 'docs: pages'";
    project.sh(orphan).exits(0);
    project
        .push("git push origin pages:gh-pages")
        .exits(0)
        .says("has no history and no file in common with origin/main");
    assert!(project.refs().contains_key("refs/heads/gh-pages"));
    // Code is judged, wherever it was moved to.
    for code in
        ["mkdir lib && git show main:src/lib.sh > lib/new && echo x >> lib/more.sh", "git show main:test.sh > t"]
    {
        project.sh(&format!("{code}; git add -A && git commit -qm 'feat: more'")).exits(0);
        project.push("git push origin pages:refs/heads/code").exits(1).says("no run of `sh test.sh`");
        project.sh("git reset -q --hard HEAD~1").exits(0);
    }
}

#[test]
fn a_fork_that_is_brought_up_to_date_by_a_push_hears_what_works_instead() {
    let project = Project::new();
    let fetched = "git clone -q --bare \"$(git remote get-url origin)\" ../up.git && git remote add upstream ../up.git";
    project
        .sh(&format!("{fetched} && git switch -q main && echo x >> src/lib.sh && git commit -qam 'feat: up'"))
        .exits(0);
    project.sh("git push -q --no-verify upstream main && git fetch -q upstream").exits(0);
    let refused = project.push("git push origin main").exits(1).says("its commits are on upstream/main already");
    let text = refused.says("gh repo sync OWNER/REPO --branch main").text();
    assert!(!text.contains("gate run"), "{text}");
    // One commit more is not of upstream.
    project.edit("two");
    project.push("git push origin main").exits(1).says("main is protected").never_says("upstream/main");
}
