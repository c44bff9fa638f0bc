//! What `gate` makes of a forge's answers: the real binary against a small GitHub on loopback.

mod jobs;
mod server;
mod stop;

use std::process::{Command, Output};

use serde_json::Value;

use self::server::Server;
use crate::support::TestRepo;

/// Only the gates that ask the forge, and nothing said about them.
const ONLY_FORGE: &str = "version = 1
[gates.tests]
mode = \"off\"
[gates.build]
mode = \"off\"
[gates.atomic]
mode = \"off\"
";

/// The forge's gates are named, so that they are strict.
const NAMED: &str = "[gates.pull-request]
mode = \"block\"
[gates.ci-green]
mode = \"block\"
";

/// A clone of `o/r` on a forge, on the branch `feature`, which was pushed.
struct Clone {
    repo: TestRepo,
    server: Server,
    head: String,
}

impl Clone {
    /// `policy` is that of `main`.
    fn with(policy: &str) -> Self {
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

    fn strict() -> Self {
        Self::with(&format!("{ONLY_FORGE}{NAMED}"))
    }

    /// What is checked out was pushed.
    fn pushed(&self) {
        self.repo.git(["update-ref", "refs/remotes/origin/feature", "HEAD"]);
    }

    /// A pull request for this head is open, and one check is green.
    fn green(self) -> Self {
        self.server.state().pull(7, "o/r", "feature", &self.head);
        self.server.state().done("build", &self.head, "success");
        self
    }

    fn gate(&self, args: &[&str]) -> Command {
        let mut command = self.repo.gate(args);
        command.envs(self.server.variables());
        command
    }

    fn check(&self) -> Verdict {
        Verdict::of(&self.gate(&["check", "--json"]).output().unwrap())
    }
}

/// What `gate` printed as JSON.
struct Verdict {
    code: i32,
    value: Value,
}

impl Verdict {
    fn of(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stdout);
        let value = serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)));
        Self { code: output.status.code().unwrap(), value }
    }

    fn finding(&self, gate: &str) -> &Value {
        let gates = self.value["gates"].as_array().unwrap();
        let gate = gates.iter().find(|one| one["gate"] == gate).unwrap_or_else(|| panic!("{gate} was not asked"));
        &gate["findings"][0]
    }

    fn reason(&self, gate: &str) -> &str {
        self.finding(gate)["reason"].as_str().unwrap_or("")
    }

    fn message(&self, gate: &str) -> &str {
        self.finding(gate)["message"].as_str().unwrap_or("")
    }

    /// The reasons of both gates, and the exit code.
    fn summary(&self) -> (&str, &str, i32) {
        (self.reason("pull-request"), self.reason("ci-green"), self.code)
    }
}
