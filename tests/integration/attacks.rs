//! What an impatient agent tries, and what an honest developer runs into: real repositories, remotes and hooks.

use std::path::PathBuf;
use std::process::Output;

use crate::support::{TestRepo, path_with_gate};

const POLICY: &str =
    "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh t.sh\"\ninputs = [\"src/**\", \"t.sh\"]\n";
const SOFT: &str = "version = 1\nmode = \"observe\"\n";

/// A repository with a policy that is on `main` of its remote, hooks, and the branch `feature` checked out.
struct Scene {
    repo: TestRepo,
    bare: PathBuf,
}

impl Scene {
    fn new() -> Self {
        Self::with(POLICY)
    }

    fn with(policy: &str) -> Self {
        let repo = TestRepo::with_commit();
        repo.write("t.sh", "grep -q good src/a\n").write("src/a", "good\n").write("gate.toml", policy);
        repo.commit_all("policy");
        let bare = repo.add_bare_remote("origin");
        repo.git(["push", "-q", "origin", "main"]);
        repo.git(["remote", "set-head", "origin", "main"]);
        let scene = Self { repo, bare };
        assert!(scene.gate(&["init", "--yes"]).status.success());
        scene.repo.git(["switch", "-q", "-c", "feature"]);
        scene
    }

    /// Commits content on which the tests fail.
    fn commit_bad(&self) -> String {
        self.repo.write("src/a", "bad\n").commit_all("bad")
    }

    fn gate(&self, args: &[&str]) -> Output {
        self.repo.gate(args).output().unwrap()
    }

    /// `git push` through the installed hook: whether it went through, and what was said.
    fn push(&self, args: &[&str]) -> (bool, String) {
        let mut command = self.repo.command_in("git", self.repo.root());
        let output = command.arg("push").args(args).env("PATH", path_with_gate(None)).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn refused(&self, args: &[&str], because: &str) {
        let (through, said) = self.push(args);
        assert!(!through && said.contains(because), "{args:?}: {said}");
    }

    fn goes_through(&self, args: &[&str]) {
        let (through, said) = self.push(args);
        assert!(through, "{args:?}: {said}");
    }
}

#[test]
fn an_edit_during_the_run_does_not_hide_behind_many_others() {
    let scene = Scene::new();
    let junk = "for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do echo > aa$i$j; done; done";
    scene.repo.write("src/a", "bad\n").write("t.sh", format!("{junk}\necho good > src/a\n")).commit_all("bad");
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.repo.git(["checkout", "-q", "--", "src/a"]);
    scene.repo.git(["clean", "-qfd"]);
    scene.refused(&["origin", "feature"], "ran while src/a changed");
    // The same many files outside of the inputs, alone, do no harm.
    scene.repo.write("src/a", "good\n").write("t.sh", format!("{junk}\ngrep -q good src/a\n")).commit_all("good");
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.goes_through(&["origin", "feature"]);
}

#[test]
fn a_branch_beside_others_does_not_bring_its_own_policy() {
    let scene = Scene::new();
    scene.commit_bad();
    scene.repo.git(["switch", "-q", "--orphan", "aaa"]);
    scene.repo.write("gate.toml", SOFT).commit_all("soft");
    scene.repo.git(["switch", "-q", "feature"]);
    scene.refused(&["origin", "aaa", "feature"], "no run of `sh t.sh`");
    scene.refused(&["origin", "aaa", "HEAD:main"], "main is protected");
}

#[test]
fn a_branch_from_before_the_policy_does_not_bring_its_own() {
    let scene = Scene::new();
    scene.repo.git(["switch", "-q", "-c", "old", "main~1"]);
    scene.repo.write("gate.toml", SOFT);
    scene.commit_bad();
    scene.refused(&["origin", "old"], "no run of `sh t.sh`");
}

#[test]
fn another_name_for_the_remote_does_not_change_the_policy() {
    let scene = Scene::new();
    scene.repo.write("gate.toml", SOFT);
    scene.commit_bad();
    let address = scene.bare.to_str().unwrap().to_owned();
    scene.repo.git(["remote", "add", "other", &format!("file://{address}")]);
    for remote in ["origin", "other", "../origin.git", &address] {
        scene.refused(&[remote, "feature"], "no run of `sh t.sh`");
        scene.refused(&[remote, "feature:main"], "main is protected");
    }
}

#[test]
fn a_deletion_is_not_judged_by_what_lies_in_the_working_tree() {
    let scene = Scene::new();
    scene.repo.git_in(&scene.bare, ["config", "receive.denyDeleteCurrent", "ignore"]);
    scene.repo.write("gate.toml", SOFT);
    scene.refused(&["origin", ":main"], "main is protected");
    scene.repo.git(["push", "-q", "--no-verify", "origin", "feature:side"]);
    scene.goes_through(&["origin", ":side"]);
}

#[test]
fn what_is_recorded_as_the_default_branch_does_not_free_the_real_one() {
    let scene = Scene::new();
    scene.goes_through(&["origin", "feature"]);
    scene.repo.git(["remote", "set-head", "origin", "feature"]);
    scene.repo.write("README.md", "more\n").commit_all("docs");
    scene.refused(&["origin", "HEAD:main"], "main is protected");
    scene.goes_through(&["origin", "HEAD:other"]);
    // A remote whose default branch is another one says so itself.
    scene.repo.git_in(&scene.bare, ["symbolic-ref", "HEAD", "refs/heads/feature"]);
    scene.goes_through(&["origin", "HEAD:main"]);
}

#[test]
fn a_default_branch_that_was_renamed_since_is_protected() {
    let scene = Scene::new();
    scene.repo.write("README.md", "more\n").commit_all("docs");
    scene.repo.git_in(&scene.bare, ["branch", "-m", "main", "trunk"]);
    scene.refused(&["origin", "HEAD:trunk"], "trunk is protected");
    // What a clone recorded names a branch that is gone.
    scene.repo.git(["fetch", "-q", "--prune", "origin"]);
    std::fs::remove_file(scene.repo.root().join(".git/gate/default-branches.json")).unwrap();
    scene.refused(&["origin", "HEAD:trunk"], "trunk is protected");
    scene.goes_through(&["origin", "feature"]);
    scene.goes_through(&["-f", "origin", "main:feature"]);
}

#[test]
fn names_are_quoted_in_commands_to_type() {
    let scene = Scene::new();
    let name = "x$(id>pwn);y";
    scene.repo.git(["switch", "-q", "-c", name]);
    let commit = scene.commit_bad();
    scene.repo.git(["switch", "-q", "main"]);
    scene.refused(&["origin", &format!("{name}:main")], &format!("git push origin '{name}'"));
    scene.refused(&["origin", name], &format!("next: git switch '{name}' && gate run test"));
    let detach = format!("next: git switch --detach {} && gate run test", &commit[..7]);
    scene.refused(&["origin", &format!("{commit}:refs/heads/z")], &detach);
}

#[test]
fn what_a_remedy_names_clears_the_finding() {
    let scene = Scene::new();
    scene.repo.write("src/a", "good 2\n");
    let commit = scene.repo.commit_all("good");
    scene.repo.git(["switch", "-q", "main"]);
    let (_, said) = scene.push(&["origin", &format!("{commit}:refs/heads/z")]);
    let next = said.lines().find_map(|line| line.trim().strip_prefix("next: ")).unwrap();
    let gate = format!("{next} > ../out 2>&1").replace("gate ", concat!(env!("CARGO_BIN_EXE_gate"), " "));
    let done = scene.repo.command_in("sh", scene.repo.root()).args(["-c", &gate]).output().unwrap();
    assert!(done.status.success(), "{gate}");
    scene.goes_through(&["origin", &format!("{commit}:refs/heads/z")]);
}

#[test]
fn secrets_of_an_address_are_not_recorded() {
    let scene = Scene::new();
    let commit = scene.commit_bad();
    let address = "https://user:sEcr3tTOKEN99abc@127.0.0.1:1/x.git";
    let zero = "0".repeat(40);
    let line = format!("refs/heads/main {commit} refs/heads/main {zero}\n");
    let mut command = scene.repo.gate(["hook", "git", "pre-push", address, address]);
    std::fs::write(scene.repo.outside().join("stdin"), line).unwrap();
    let output = command.stdin(std::fs::File::open(scene.repo.outside().join("stdin")).unwrap()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("main") && !said.contains("sEcr3t"), "{said}");
    let verdicts = scene.repo.root().join(".git/gate/verdicts");
    let mut read = 0;
    for file in std::fs::read_dir(verdicts).unwrap() {
        assert!(!std::fs::read_to_string(file.unwrap().path()).unwrap().contains("sEcr3t"));
        read += 1;
    }
    assert!(read > 0);
}

#[test]
fn a_history_of_its_own_is_asked_only_for_what_it_holds() {
    let scene = Scene::new();
    scene.repo.git(["switch", "-q", "--orphan", "gh-pages"]);
    scene.repo.write("index.html", "<p>hi\n").commit_all("pages");
    scene.goes_through(&["origin", "gh-pages"]);
    scene.repo.write("src/a", "bad\n").commit_all("source");
    scene.refused(&["origin", "gh-pages"], "no run of `sh t.sh`");
}

#[test]
fn source_in_a_folder_with_a_customary_name_is_source() {
    let scene = Scene::with(&POLICY.replace("\"src/**\", \"t.sh\"", "\"**\""));
    for path in [
        "src/coverage/merge.py",
        "src/LICENSEReader.java",
        "src/NOTICES.py",
        "coverage/a.js",
        "src/coverage/lcov-report/a.html",
    ] {
        scene.repo.write(path, "1\n").commit_all(path);
        scene.refused(&["origin", "feature"], "no run of `sh t.sh`");
        scene.repo.git(["reset", "-q", "--hard", "main"]);
    }
    for path in ["docs/logo.png", "LICENSE", "LICENSE-MIT", "x/NOTICE.txt"] {
        scene.repo.write(path, "1\n").commit_all(path);
        scene.goes_through(&["-f", "origin", "feature"]);
        scene.repo.git(["reset", "-q", "--hard", "main"]);
    }
}

#[test]
fn a_repository_inside_is_an_input_where_the_inputs_lie_in_it() {
    let scene = Scene::with(&POLICY.replace("\"t.sh\"", "\"t.sh\", \"vendor/sub/**/*.c\""));
    let bump = |to: &str| {
        scene.repo.git(["update-index", "--add", "--cacheinfo", &format!("160000,{to},vendor/sub")]);
        scene.repo.git(["commit", "-q", "-m", "bump"]);
    };
    bump(&"1".repeat(40));
    scene.refused(&["origin", "feature"], "no run of `sh t.sh`");
    scene.repo.git(["push", "-q", "--no-verify", "origin", "feature:main"]);
    scene.repo.git(["fetch", "-q"]);
    scene.goes_through(&["origin", "feature"]);
    bump(&"2".repeat(40));
    scene.refused(&["origin", "feature"], "no run of `sh t.sh`");
}

#[test]
fn what_no_commit_can_hold_is_named_instead_of_another_run() {
    let scene = Scene::new();
    let inner = scene.repo.path("src/sub");
    std::fs::create_dir_all(&inner).unwrap();
    scene.repo.git_in(&inner, ["init", "-q"]);
    scene.repo.write("src/sub/f.c", "1\n");
    scene.repo.git_in(&inner, ["add", "-A"]);
    scene.repo.git_in(&inner, ["commit", "-q", "-m", "one"]);
    scene.repo.commit_all("a repository inside");
    scene.repo.write("src/sub/f.c", "2\n");
    assert!(scene.gate(&["run", "test"]).status.success());
    let said = String::from_utf8(scene.gate(&["check"]).stdout).unwrap();
    assert!(
        said.contains("no commit can contain what the run saw in src/sub") && !said.contains("next: gate run"),
        "{said}"
    );
    scene.refused(&["origin", "feature"], "no commit can contain what the run saw in src/sub");
    scene.repo.write("src/sub/f.c", "1\n");
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.goes_through(&["origin", "feature"]);
}

#[test]
fn another_commit_is_tested_where_it_is_checked_out() {
    let scene = Scene::new();
    let commit = scene.repo.write("src/a", "good 2\n").commit_all("good");
    scene.repo.git(["switch", "-q", "main"]);
    let said = String::from_utf8(scene.gate(&["check", "--rev", "feature"]).stdout).unwrap();
    assert!(said.contains(&format!("next: git switch --detach {} && gate run test\n", &commit[..7])), "{said}");
}

#[test]
fn a_file_that_was_never_added_is_named() {
    let scene = Scene::new();
    scene.repo.write("src/a", "good, and more\n").write("src/b", "1\n");
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.repo.git(["commit", "-q", "-am", "half"]);
    scene.refused(&["origin", "feature"], "src/b");
    let said = String::from_utf8(scene.gate(&["check"]).stdout).unwrap();
    assert!(said.contains("not in the commit: src/b\n") && !said.contains("git add -- src/b"), "{said}");
    scene.repo.commit_all("the rest");
    scene.goes_through(&["origin", "feature"]);
}

#[test]
fn report_files_count_for_the_declared_line_however_it_is_started() {
    let scene = Scene::with(&format!("{POLICY}reports = [\"out/*.xml\"]\n"));
    let report = "<testsuite tests=\"0\" failures=\"0\"></testsuite>";
    scene.repo.write(".gitignore", "out\n").write("t.sh", format!("mkdir -p out; echo '{report}' > out/r.xml\n"));
    scene.repo.commit_all("no test is left");
    assert!(scene.gate(&["run", "--", "sh", "t.sh"]).status.success());
    scene.refused(&["origin", "feature"], "executed no test");
}

#[test]
fn source_does_not_travel_as_notes() {
    let scene = Scene::new();
    scene.commit_bad();
    scene.repo.git(["notes", "add", "-m", "a note", "HEAD"]);
    scene.goes_through(&["origin", "refs/notes/commits"]);
    scene.refused(&["origin", "HEAD:refs/notes/x"], "no run of `sh t.sh`");
}

#[test]
fn an_interrupted_run_is_no_failure_of_the_content() {
    let scene = Scene::new();
    scene.repo.write("t.sh", "[ ! -e ../stop ] || kill -TERM $$\n").commit_all("a run that is broken off once");
    std::fs::write(scene.repo.outside().join("stop"), "").unwrap();
    assert!(!scene.gate(&["run", "test"]).status.success());
    scene.refused(&["origin", "feature"], "was killed (signal 15) before it finished");
    std::fs::remove_file(scene.repo.outside().join("stop")).unwrap();
    assert!(scene.gate(&["run", "test"]).status.success());
    let (through, said) = scene.push(&["origin", "feature"]);
    assert!(through && !said.contains("with warnings"), "{said}");
}

#[test]
fn a_base_that_was_moved_by_hand_is_not_what_the_remote_has() {
    for moving in [
        &["update-ref", "refs/remotes/origin/main", "HEAD"][..],
        &["fetch", "-q", ".", "HEAD:refs/remotes/origin/main"],
    ] {
        let scene = Scene::new();
        scene.commit_bad();
        scene.repo.git(moving);
        scene.refused(&["origin", "feature"], "no run of `sh t.sh`");
        scene.refused(&["origin", "feature"], "refs/remotes/origin/main was moved by hand");
        // What is proven goes through, whatever the base.
        scene.repo.write("src/a", "good 2\n").commit_all("good");
        assert!(scene.gate(&["run", "test"]).status.success());
        scene.goes_through(&["origin", "feature"]);
    }
}

#[test]
fn a_tree_that_no_commit_stands_for_is_content_as_well() {
    let scene = Scene::new();
    scene.commit_bad();
    scene.repo.git(["tag", "tree", "HEAD^{tree}"]);
    scene.repo.git(["tag", "-a", "-m", "x", "annotated", "HEAD^{tree}"]);
    for pushed in ["tree", "annotated", "HEAD^{tree}:refs/keep/tree"] {
        scene.refused(&["origin", pushed], "no run of `sh t.sh`");
    }
    scene.repo.git(["tag", "file", "HEAD:src/a"]);
    let (through, said) = scene.push(&["origin", "file"]);
    assert!(through && said.contains("refs/tags/file is a single file"), "{said}");
    // A tree that was tested, and one that nothing changed in, go through.
    scene.repo.git(["tag", "base", "main^{tree}"]);
    scene.goes_through(&["origin", "base"]);
    scene.repo.write("src/a", "good 2\n").commit_all("good");
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.repo.git(["tag", "good", "HEAD^{tree}"]);
    scene.goes_through(&["origin", "good"]);
}

#[test]
fn what_a_commit_took_out_of_git_and_a_run_still_finds_is_seen() {
    const READS: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh t.sh\"\n";
    let scene = Scene::with(READS);
    scene.repo.write("src/lib.py", "good\n").write("src/settings.ini", "a\n").write("dist/app.js", "x\n");
    scene.repo.write("t.sh", "grep -q good src/lib.py\n").commit_all("a library");
    scene.repo.git(["rm", "-q", "--cached", "src/lib.py", "src/settings.ini", "dist/app.js"]);
    scene.repo.write(".gitignore", "lib.py\nsettings.ini\ndist/\n");
    // Before the commit as after it.
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.repo.git(["commit", "-qnam", "ignore"]);
    scene.refused(&["origin", "feature"], "src/lib.py was still on disk. These commits removed it");
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.refused(&["origin", "feature"], "src/lib.py was still on disk. These commits removed it");
    // Put back, it is content again. Settings and what a build writes may lie there.
    scene.repo.git(["add", "-f", "src/lib.py"]);
    scene.repo.git(["commit", "-qnm", "back"]);
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.goes_through(&["origin", "feature"]);

    // What a run makes again was never needed.
    let scene = Scene::with(READS);
    scene.repo.write("t.sh", "echo made > src/made.py\n").write("src/made.py", "made\n").commit_all("made");
    scene.repo.git(["rm", "-q", "--cached", "src/made.py"]);
    scene.repo.write(".gitignore", "made.py\n").commit_all("ignore what is made");
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.refused(&["origin", "feature"], "passed while the ignored file src/made.py was still on disk");
    std::fs::remove_file(scene.repo.path("src/made.py")).unwrap();
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.goes_through(&["origin", "feature"]);
    scene.repo.append("src/a", "more\n").commit_all("more");
    assert!(scene.gate(&["run", "test"]).status.success());
    scene.goes_through(&["origin", "feature"]);
}

#[test]
fn a_remote_that_somebody_adds_is_no_base() {
    let scene = Scene::new();
    scene.commit_bad();
    let other = scene.repo.outside().join("upstream.git");
    scene.repo.git(["clone", "-q", "--bare", ".", other.to_str().unwrap()]);
    scene.repo.git(["remote", "add", "upstream", other.to_str().unwrap()]);
    scene.repo.git(["fetch", "-q", "upstream"]);
    scene.repo.git(["remote", "set-head", "upstream", "feature"]);
    assert_eq!(scene.gate(&["check"]).status.code(), Some(10), "its own commits are not proof");
    scene.refused(&["origin", "feature"], "no run of `sh t.sh`");
}

#[test]
fn a_default_branch_that_was_made_by_hand_is_no_remotes() {
    let scene = Scene::new();
    scene.commit_bad();
    scene.repo.git(["update-ref", "refs/remotes/origin/other", "HEAD"]);
    scene.repo.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/other"]);
    scene.refused(&["origin", "feature"], "no run of `sh t.sh`");
}

#[test]
fn what_the_remote_calls_its_default_branch_is_the_base() {
    let scene = Scene::new();
    scene.repo.git(["push", "-q", "--no-verify", "origin", "main:trunk"]);
    scene.repo.git_in(&scene.bare, ["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    scene.repo.git(["push", "-q", "--no-verify", "origin", ":main"]);
    scene.repo.git(["remote", "set-head", "origin", "--delete"]);
    scene.repo.append("README.md", "more\n").commit_all("docs: more");
    scene.goes_through(&["origin", "feature"]);
    scene.commit_bad();
    scene.refused(&["origin", "feature"], "no run of `sh t.sh`");
}

#[test]
fn where_a_push_arrives_no_command_is_named_that_lacks_the_remote() {
    let scene = Scene::new();
    let done = scene.repo.command_in(env!("CARGO_BIN_EXE_gate"), &scene.bare).args(["init", "--yes"]).output().unwrap();
    assert!(done.status.success());
    scene.commit_bad();
    let (through, said) = scene.push(&["--no-verify", "origin", "feature:main"]);
    assert!(!through && said.contains("main is protected") && !said.contains("git push"), "{said}");
}

#[test]
fn a_run_that_was_edited_in_the_journal_proves_nothing() {
    let scene = Scene::new();
    scene.commit_bad();
    assert_eq!(scene.gate(&["run", "test"]).status.code(), Some(1));
    assert_eq!(scene.gate(&["check"]).status.code(), Some(10));
    let own = scene.repo.path(".git/gate");
    let journal = std::fs::read_to_string(own.join("journal.jsonl")).unwrap();
    let edited = journal.replace("\"exited\":1", "\"exited\":0");
    assert_ne!(edited, journal);
    std::fs::write(own.join("journal.jsonl"), edited).unwrap();
    // What is derived from the journal is made again from it.
    let _ = std::fs::remove_file(own.join("state.json"));
    let _ = std::fs::remove_dir_all(own.join("run-places"));
    for _ in 0..2 {
        let output = scene.gate(&["check"]);
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(10), "{text}");
        assert!(text.contains("no run of `sh t.sh` on this content") && text.contains("edited line"), "{text}");
    }
    scene.repo.write("src/a", "good\n").commit_all("mend");
    assert!(scene.gate(&["run", "test"]).status.success());
    let output = scene.gate(&["check"]);
    assert!(output.status.success(), "an honest run counts all the same");
}
