//! Runs in a working tree that does not hold all of its commit, or holds it in another form: sparse checkouts, submodules
//! that hide what lies in them, links in the place of folders.

use std::os::unix::fs::symlink;

use crate::project::{POLICY, Project, paths, reasons};

/// A project of two packages; the command reads the first one alone if `inputs` says so.
fn two_packages(inputs: &str) -> Project {
    let policy = POLICY.replace("inputs = [\"src/**\", \"test.sh\"]", inputs);
    let project = Project::with(&policy);
    project.repo.write("a/one.sh", "one\n").write("b/two.sh", "two\n").write("b/deep/three.sh", "three\n");
    project.repo.commit_all("feat: packages");
    project
}

#[test]
fn a_run_without_files_that_its_commit_holds_proves_nothing() {
    for hide in [
        "git sparse-checkout set --no-cone '/*' '!/src/other.sh'",
        "git sparse-checkout set --cone docs",
        "git sparse-checkout set --no-cone --sparse-index '/*' '!/src/'",
        "git update-index --skip-worktree src/other.sh && rm src/other.sh",
    ] {
        let project = Project::new();
        project.repo.append("src/other.sh", "broken\n").commit_all("feat: other");
        project.sh(hide).exits(0);
        // What the suite is, is there.
        project.sh("git checkout-index -f test.sh; mkdir -p src").exits(0);
        project.gate(["run", "test"]).exits(0).says("proves nothing").says("src/other.sh");
        assert_eq!(reasons(&project.verdict(), "tests"), ["absent"], "{hide}");
        assert!(paths(&project.verdict(), "tests").contains(&"src/other.sh".to_owned()), "{hide}");
        project.push("git push origin feature").exits(1).says("passed without").says("git sparse-checkout disable");
        // The remedy shows what was not tested.
        project.sh("git sparse-checkout disable && gate run test").exits(101);
        project.push("git push origin feature").exits(1).says("failed on this content");
    }
}

#[test]
fn a_sparse_checkout_that_holds_all_inputs_is_enough() {
    let project = two_packages("inputs = [\"a/**\", \"src/**\", \"test.sh\"]");
    for set in ["set --cone a src", "set --no-cone /a /src /test.sh", "set --cone --sparse-index a src"] {
        project.sh(&format!("git sparse-checkout {set}")).exits(0);
        assert!(!project.repo.path("b/two.sh").exists(), "{set}");
        project.edit(&format!("work in {}", set.replace('/', " ")));
        project.gate(["run", "test"]).exits(0).says("this proves test for this commit");
        project.check().exits(0);
    }
    project.push("git push origin feature").exits(0);
    // Nothing but prose is missing.
    let project = two_packages("");
    project.repo.write("docs/a.md", "a\n").commit_all("docs: a");
    project.sh("git sparse-checkout set --no-cone '/*' '!/docs/'").exits(0);
    project.edit("more");
    project.gate(["run", "test"]).exits(0).says("this proves test for this commit");
    project.push("git push origin feature").exits(0);
}

/// A project with a submodule in `src/inner`, on which the command passed.
fn with_submodule() -> Project {
    let project = Project::new();
    let inner = project.repo.outside().join("inner");
    let at = inner.to_str().expect("a path");
    project.sh(&format!("git init -q {at} && cd {at} && echo one >one.sh && git add . && git commit -qm one")).exits(0);
    project.sh(&format!("git -c protocol.file.allow=always submodule --quiet add {at} src/inner")).exits(0);
    project.repo.commit_all("feat: inner");
    project
}

#[test]
fn a_submodule_that_hides_what_lies_in_it_is_not_what_its_commit_says() {
    for hide in [
        "git update-index --skip-worktree one.sh && echo two >one.sh",
        "git update-index --assume-unchanged one.sh && echo two >one.sh",
        "git sparse-checkout set --no-cone '/*' '!/one.sh'",
        "echo hidden.sh >>\"$(git rev-parse --git-path info/exclude)\" && echo two >hidden.sh",
        "git config filter.x.clean 'echo one' && echo 'one.sh filter=x' >>\"$(git rev-parse --git-path info/attributes)\" \
         && echo two >one.sh",
    ] {
        let project = with_submodule();
        project.gate(["run", "test"]).exits(0).says("this proves test for this commit");
        project.edit("more");
        project.sh(&format!("cd src/inner && {hide}")).exits(0);
        project.gate(["run", "test"]).exits(0).never_says("for this commit");
        project.push("git push origin feature").exits(1).says("no commit can contain what the run saw in src/inner");
    }
    let project = with_submodule().edited("more");
    project.sh("cd src/inner && git update-index --assume-unchanged one.sh").exits(0);
    project.gate(["run", "test"]).exits(0);
    // The remedy.
    project.sh("cd src/inner && git update-index --no-assume-unchanged one.sh && cd ../.. && gate run test").exits(0);
    project.push("git push origin feature").exits(0);
}

#[test]
fn a_path_may_change_between_file_folder_and_link() {
    type Step = fn(&Project);
    let cases: [(&str, Step); 4] = [
        ("a folder becomes a link to where it went", |project| {
            project.repo.git(["mv", "src", "lib"]);
            symlink("lib", project.repo.path("src")).expect("a link");
        }),
        ("a folder becomes a file", |project| {
            project.repo.remove("src").write("src", "one\n");
        }),
        ("a file becomes a folder", |project| {
            project.repo.remove("src/lib.sh").write("src/lib.sh/one.sh", "one\n");
        }),
        ("a file becomes a link to a folder", |project| {
            project.repo.remove("src/lib.sh").write("src/deep/one.sh", "one\n");
            symlink("deep", project.repo.path("src/lib.sh")).expect("a link");
        }),
    ];
    for (what, step) in cases {
        let project = Project::with(&POLICY.replace("inputs = [\"src/**\", \"test.sh\"]", ""));
        step(&project);
        project.gate(["run", "test"]).exits(0).says("this proves test for the files as they are now");
        project.repo.commit_all("refactor: move");
        project.gate(["run", "test"]).exits(0).says("this proves test for this commit").never_says("not recorded");
        project.check().exits(0);
        let said = project.push("git push origin feature");
        assert_eq!(said.code, 0, "{what}: {}", said.text());
    }
}
