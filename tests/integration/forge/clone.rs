//! A clone whose remote is on the small GitHub, and what `gate` says in it.

use std::process::{Command, Output};

use serde_json::Value;

use super::server::Server;
use crate::support::TestRepo;

/// Only the gates that ask the forge, and nothing said about them.
pub const ONLY_FORGE: &str = "version = 1
[gates.tests]
mode = \"off\"
[gates.build]
mode = \"off\"
[gates.atomic]
mode = \"off\"
";

/// The forge's gates are named, so that they are strict.
pub const NAMED: &str = "[gates.pull-request]
mode = \"block\"
[gates.ci-green]
mode = \"block\"
";

/// A clone of `o/r` on a forge, on the branch `feature`, which was pushed.
pub struct Clone {
    pub repo: TestRepo,
    pub server: Server,
    pub head: String,
}

impl Clone {
    /// `policy` is that of `main`.
    pub fn with(policy: &str) -> Self {
        let (repo, server) = (TestRepo::with_commit(), Server::start());
        repo.write("gate.toml", policy).commit_all("policy");
        repo.git(["remote", "add", "origin", &format!("{}/o/r.git", server.url())]);
        repo.git(["update-ref", "refs/remotes/origin/main", "HEAD"]);
        repo.git(["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
        repo.git(["checkout", "-q", "-b", "feature"]);
        repo.write("src/lib.rs", "pub fn two() -> u32 {\n    2\n}\n");
        let head = repo.commit_all("two");
        let clone = Self { repo, server, head };
        clone.pushed();
        clone
    }

    pub fn strict() -> Self {
        Self::with(&format!("{ONLY_FORGE}{NAMED}"))
    }

    /// What is checked out was pushed.
    pub fn pushed(&self) {
        self.repo.git(["update-ref", "refs/remotes/origin/feature", "HEAD"]);
    }

    /// A pull request for this head is open, and one check is green.
    pub fn green(self) -> Self {
        self.server.state().pull(7, "o/r", "feature", &self.head);
        self.server.state().done("build", &self.head, "success");
        self
    }

    pub fn gate(&self, args: &[&str]) -> Command {
        let mut command = self.repo.gate(args);
        command.envs(self.server.variables());
        command
    }

    pub fn check(&self) -> Verdict {
        Verdict::of(&self.gate(&["check", "--json"]).output().unwrap())
    }
}

/// What `gate` printed as JSON.
pub struct Verdict {
    pub code: i32,
    pub value: Value,
}

impl Verdict {
    pub fn of(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stdout);
        let value = serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)));
        Self { code: output.status.code().unwrap(), value }
    }

    pub fn finding(&self, gate: &str) -> &Value {
        let gates = self.value["gates"].as_array().unwrap();
        let gate = gates.iter().find(|one| one["gate"] == gate).unwrap_or_else(|| panic!("{gate} was not asked"));
        &gate["findings"][0]
    }

    pub fn reason(&self, gate: &str) -> &str {
        self.finding(gate)["reason"].as_str().unwrap_or("")
    }

    pub fn message(&self, gate: &str) -> &str {
        self.finding(gate)["message"].as_str().unwrap_or("")
    }

    /// The reasons of both gates, and the exit code.
    pub fn summary(&self) -> (&str, &str, i32) {
        (self.reason("pull-request"), self.reason("ci-green"), self.code)
    }
}
