//! What an impatient agent tries, and what an honest developer runs into: real repositories, remotes and hooks.

use std::path::PathBuf;
use std::process::Output;

use crate::support::TestRepo;

const POLICY: &str =
    "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh t.sh\"\ninputs = [\"src/**\", \"t.sh\"]\n";

/// A repository with a policy that is on `main` of its remote, hooks, and the branch `feature` checked out.
struct Scene {
    repo: TestRepo,
}

impl Scene {
    fn new() -> Self {
        let repo = TestRepo::with_commit();
        repo.write("t.sh", "grep -q good src/a\n").write("src/a", "good\n").write("gate.toml", POLICY);
        repo.commit_all("policy");
        repo.add_bare_remote("origin");
        repo.git(["push", "-q", "origin", "main"]);
        repo.git(["remote", "set-head", "origin", "main"]);
        let scene = Self { repo };
        assert!(scene.gate(&["init", "--yes"]).status.success());
        scene.repo.git(["switch", "-q", "-c", "feature"]);
        scene
    }

    fn gate(&self, args: &[&str]) -> Output {
        self.repo.gate(args).output().unwrap()
    }

    /// `git push` through the installed hook: whether it went through, and what was said.
    fn push(&self, args: &[&str]) -> (bool, String) {
        let mut command = self.repo.command_in("git", self.repo.root());
        let folder = PathBuf::from(env!("CARGO_BIN_EXE_gate")).parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(folder).chain(std::env::split_paths(&path))).unwrap();
        let output = command.arg("push").args(args).env("PATH", path).output().unwrap();
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
