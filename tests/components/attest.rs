//! Evidence that travels, with the real `ssh-keygen`: signed in one clone, counted in another.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::project::{POLICY, Project, Said};

/// A project whose `main` names Alice as a signer, and the keys of two people.
struct Signed {
    project: Project,
}

impl Signed {
    fn new() -> Self {
        Self::with_keys(&["-t", "ed25519"])
    }

    fn with_keys(kind: &[&str]) -> Self {
        let signed = Self { project: Project::bare_bones() };
        for name in ["alice", "mallory"] {
            signed.keygen(name, kind);
        }
        signed.project.repo.write("gate.toml", format!("{POLICY}\n[attest]\nsigners = \".gate/signers\"\n"));
        signed.project.repo.write(".gate/signers", signed.line("alice", ""));
        signed.project.repo.commit_all("chore: policy");
        signed.project.share();
        signed
    }

    fn keygen(&self, name: &str, kind: &[&str]) {
        let mut command = self.project.repo.command_in("ssh-keygen", &self.project.repo.outside());
        let made = command.args(kind).args(["-q", "-N", "", "-C", name, "-f", name]).output().expect("ssh-keygen");
        assert!(made.status.success(), "{made:?}");
    }

    fn key(&self, name: &str) -> PathBuf {
        self.project.repo.outside().join(name)
    }

    /// The line of `name` in a list of signers.
    fn line(&self, name: &str, options: &str) -> String {
        let key = fs::read_to_string(self.key(&format!("{name}.pub"))).unwrap();
        format!("{name}@example.com {options}{key}")
    }

    fn attest(&self, args: &[&str]) -> Said {
        let key = self.key("alice");
        self.project.gate([&["attest", "--key", key.to_str().unwrap()], args].concat())
    }

    /// Tested, attested and pushed, with the branch.
    fn travelled(self) -> Self {
        self.project.edit("two");
        self.project.gate(["run", "test"]).exits(0);
        self.attest(&["--push"]).exits(0).says("PASSED");
        self.project.repo.git(["push", "-q", "origin", "feature"]);
        self
    }

    /// Another clone, as a job has it.
    fn clone(&self, name: &str) -> PathBuf {
        let repo = &self.project.repo;
        let path = repo.outside().join(name);
        repo.git(["clone", "-q", "-b", "feature", self.project.remote.to_str().unwrap(), path.to_str().unwrap()]);
        path
    }

    fn judged(&self, clone: &Path) -> Value {
        let said = self.project.gate_in(clone, ["ci", "--base", "origin/main", "--json"]);
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.text()))
    }
}

/// The answer of the gate `tests`: its reason, and the grades of its evidence.
fn tests(verdict: &Value) -> (String, Vec<String>) {
    let gate = verdict["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == "tests").unwrap();
    let reason = gate["findings"][0]["reason"].as_str().unwrap().to_owned();
    let grades = verdict["evidence"].as_array().unwrap();
    (reason, grades.iter().map(|one| one["grade"].as_str().unwrap().to_owned()).collect())
}

fn notes(verdict: &Value) -> String {
    verdict["notes"].to_string()
}

#[test]
fn a_run_is_signed_here_and_counts_there() {
    let signed = Signed::new();
    let project = &signed.project;
    project.edit("two");
    signed.attest(&[]).exits(10).says("no run of `sh test.sh`");
    project.gate(["run", "test"]).exits(0);
    signed.attest(&[]).exits(0).says("PASSED").says("sh test.sh").says("SHA256:");
    signed.attest(&["--push"]).exits(0).says("already attested").says("pushed refs/notes/gate to origin");
    project.repo.git(["push", "-q", "origin", "feature"]);
    let verdict = signed.judged(&signed.clone("ci"));
    assert_eq!(tests(&verdict), ("passed".to_owned(), vec!["attested".to_owned()]), "{verdict:#}");
    assert_eq!(verdict["outcome"], "pass", "{verdict:#}");
    assert!(notes(&verdict).contains("alice@example.com"), "{verdict:#}");
}
