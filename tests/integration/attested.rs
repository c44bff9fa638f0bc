//! Statements that were signed elsewhere, as a job takes them: carried ones, so that nothing needs to sign here.
//!
//! `tests/data/attest` holds the policy and the script of the project they are about. Nobody has the keys any more.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::project::{Project, valid};
use crate::support::TestRepo;

/// What `passed.json` is about, and `failed.json`.
pub const PASSED: &str = "one\ntwo\n";
const FAILED: &str = "one\nbroken\n";

pub fn data(name: &str) -> String {
    fs::read_to_string(format!("{}/tests/data/attest/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The policy that names Alice in its own text.
pub fn own_policy() -> String {
    data("gate.toml")
}

/// Alice's line of a list of signers, with some options.
fn alice(options: &str) -> String {
    let policy = own_policy();
    let key = policy.split("alice@example.com ").nth(1).unwrap().split('"').next().unwrap();
    format!("alice@example.com {options} {key}")
}

/// The policy that names a file.
fn policy_with_file() -> String {
    let own = own_policy();
    format!("{}signers = \".gate/signers\"\n", own.split("signers").next().unwrap())
}

/// A project whose branch `feature` has the content that statements are about, whatever `main` has.
pub struct Carried {
    pub project: Project,
}

impl Carried {
    pub fn new() -> Self {
        Self::with(&own_policy(), None, PASSED)
    }

    /// `policy` and the file of `signers` are those of `main`.
    pub fn with(policy: &str, signers: Option<&str>, source: &str) -> Self {
        let repo = TestRepo::new();
        repo.write("test.sh", data("test.sh")).write("src/lib.sh", "one\n").write("gate.toml", policy);
        if let Some(signers) = signers {
            repo.write(".gate/signers", signers);
        }
        repo.commit_all("feat: start");
        let remote = repo.add_bare_remote("origin");
        let project = Project { repo, remote };
        project.share();
        let repo = &project.repo;
        repo.write("src/lib.sh", source).write("gate.toml", own_policy());
        if signers.is_some() {
            repo.remove(".gate/signers");
        }
        repo.commit_all("feat: two");
        let carried = Self { project };
        carried.push();
        carried
    }

    pub fn push(&self) {
        self.project.repo.git(["push", "-q", "-f", "origin", "feature"]);
    }

    /// Makes `note` the one on the content of `feature`, there and at the remote.
    pub fn noted(self, note: &str) -> Self {
        let repo = &self.project.repo;
        let file = repo.outside().join("note");
        fs::write(&file, note).unwrap();
        repo.git(["notes", "--ref", "gate", "add", "-f", "-F", file.to_str().unwrap(), "HEAD^{tree}"]);
        repo.git(["push", "-q", "-f", "origin", "refs/notes/gate"]);
        self
    }

    /// What a job in a clone of its own makes of it.
    pub fn judged(&self) -> Judged {
        let clone = self.clone();
        self.judged_in(&clone)
    }

    fn clone(&self) -> PathBuf {
        let repo = &self.project.repo;
        let path = repo.outside().join("clone");
        let _ = fs::remove_dir_all(&path);
        repo.git(["clone", "-q", "-b", "feature", self.project.remote.to_str().unwrap(), path.to_str().unwrap()]);
        path
    }

    fn judged_in(&self, clone: &Path) -> Judged {
        let said = self.project.gate_in(clone, ["ci", "--base", "origin/main", "--json"]);
        let verdict: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.text()));
        valid("verdict", &verdict);
        let gate = verdict["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == "tests").unwrap();
        let notes = verdict["notes"].as_array().unwrap().iter().filter(|note| note["kind"] == "attested");
        Judged {
            reason: gate["findings"][0]["reason"].as_str().unwrap().to_owned(),
            grades: verdict["evidence"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["grade"].as_str().unwrap().to_owned())
                .collect(),
            notes: notes.map(|note| note["text"].as_str().unwrap().to_owned()).collect(),
            outcome: verdict["outcome"].as_str().unwrap().to_owned(),
        }
    }
}

/// The answer of the gate `tests`, and what is said about statements.
#[derive(Debug)]
pub struct Judged {
    pub reason: String,
    pub grades: Vec<String>,
    pub notes: Vec<String>,
    pub outcome: String,
}

impl Judged {
    #[track_caller]
    pub fn counts(&self) {
        assert_eq!((self.reason.as_str(), &self.grades[..]), ("passed", &["attested".to_owned()][..]), "{self:?}");
        assert!(self.says("alice@example.com attests that `sh test.sh` passed"), "{self:?}");
    }

    /// Nothing is proven, and this is why.
    #[track_caller]
    pub fn lacks(&self, why: &str) {
        assert_eq!((self.reason.as_str(), self.grades.len()), ("missing", 0), "{self:?}");
        assert!(self.says(why), "no {why:?} in {self:?}");
        assert_eq!(self.outcome, "blocked", "{self:?}");
    }

    pub fn says(&self, words: &str) -> bool {
        self.notes.iter().any(|note| note.contains(words))
    }
}

#[test]
fn a_signed_run_is_evidence_where_nothing_ran() {
    let carried = Carried::new();
    let judged = carried.judged();
    judged.lacks("origin has no refs/notes/gate");
    let carried = carried.noted(&data("passed.json"));
    let judged = carried.judged();
    judged.counts();
    assert_eq!(judged.outcome, "pass", "{judged:?}");
}

#[test]
fn equal_content_keeps_it_and_other_content_does_not() {
    let carried = Carried::new().noted(&data("passed.json"));
    let repo = &carried.project.repo;
    repo.git(["commit", "-q", "--amend", "-m", "feat: two, in other words"]);
    carried.push();
    carried.judged().counts();

    // A squash of two commits that end in the same content.
    repo.git(["reset", "-q", "--hard", "main"]);
    for text in ["one\nthree\n", PASSED] {
        repo.write("src/lib.sh", text).write("gate.toml", own_policy()).commit_all("feat: step");
    }
    repo.git(["reset", "-q", "--soft", "main"]);
    repo.commit_all("feat: squashed");
    carried.push();
    carried.judged().counts();

    // What the command does not read may differ.
    repo.write("README.md", "# read me\n").commit_all("docs: a page");
    carried.push();
    carried.judged().counts();

    repo.append("src/lib.sh", "three\n").commit_all("feat: three");
    carried.push();
    let judged = carried.judged();
    assert_eq!(judged.reason, "stale", "{judged:?}");
}

#[test]
fn a_rebase_keeps_it_where_its_end_is_the_same() {
    let carried = Carried::new();
    let repo = &carried.project.repo;
    repo.write("README.md", "# read me\n").commit_all("docs: a page");
    let carried = carried.noted(&data("passed.json"));
    let repo = &carried.project.repo;
    let (first, second) = (repo.git(["rev-parse", "HEAD~"]), repo.git(["rev-parse", "HEAD"]));
    repo.git(["reset", "-q", "--hard", "main"]);
    for commit in [second, first] {
        repo.git(["cherry-pick", &commit]);
    }
    carried.push();
    carried.judged().counts();
    // Onto a base that has moved: no content of it was tested by anybody.
    repo.git(["switch", "-q", "main"]);
    repo.write("docs/page.md", "more\n").commit_all("docs: more");
    repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    repo.git(["switch", "-q", "feature"]);
    repo.git(["rebase", "-q", "main"]);
    carried.push();
    let judged = carried.judged();
    assert_eq!((judged.reason.as_str(), judged.grades.len()), ("missing", 0), "{judged:?}");
}

#[test]
fn a_run_that_failed_is_a_failure_there_too() {
    let carried = Carried::with(&own_policy(), None, FAILED).noted(&data("failed.json"));
    let judged = carried.judged();
    assert_eq!((judged.reason.as_str(), judged.outcome.as_str()), ("failed", "blocked"), "{judged:?}");
    assert!(judged.says("attests that `sh test.sh` failed"), "{judged:?}");
}

#[test]
fn what_nobody_vouches_for_who_may_counts_for_nothing() {
    let mut carried = Carried::new();
    let passed = data("passed.json");
    let edited = |from: &str, to: &str| {
        use base64::Engine as _;
        let engine = base64::engine::general_purpose::STANDARD;
        let mut envelope: Value = serde_json::from_str(&passed).unwrap();
        let payload = engine.decode(envelope["payload"].as_str().unwrap()).unwrap();
        let payload = String::from_utf8(payload).unwrap();
        assert!(payload.contains(from), "{payload}");
        envelope["payload"] = engine.encode(payload.replace(from, to)).into();
        envelope.to_string()
    };
    let changed = |key: &str, value: Value| {
        let mut envelope: Value = serde_json::from_str(&passed).unwrap();
        envelope[key] = value;
        envelope.to_string()
    };
    let not_of_this = "the signature is not of this content";
    for (note, why) in [
        (data("by-mallory.json"), "belongs to nobody on the list"),
        (data("for-git.json"), "the signature was made for the namespace \"git\""),
        (edited("\"passed\":3", "\"passed\":300"), not_of_this),
        (edited("\"differs\":[]", "\"differs\": []"), not_of_this),
        (changed("payloadType", "application/json".into()), "its envelope holds no in-toto statement"),
        (changed("signatures", Value::Array(Vec::new())), "not an SSH signature"),
        (changed("signatures", serde_json::json!([{ "sig": "AAAA" }])), "not an SSH signature"),
        ("{}\n".to_owned(), "it is not an envelope"),
        ("\u{1b}[31mnot JSON\n".to_owned(), "it is not an envelope"),
        (format!("{{\"payload\":\"{}\"}}\n", "A".repeat(200_000)), "it is longer than any that gate writes"),
    ] {
        carried = carried.noted(&note);
        // A clone of its own each: a fourth refusal in a row would be a person's.
        carried.judged().lacks(why);
    }
    // One bad line does not spoil a good one, and nothing of a line is shown that could be anything.
    let note = format!("\u{1b}[31mnot JSON\n{}{}", data("by-mallory.json"), passed);
    let judged = carried.noted(&note).judged();
    judged.counts();
    assert!(!judged.notes.iter().any(|note| note.contains('\u{1b}')), "{judged:?}");
}

#[test]
fn who_may_sign_is_said_by_the_base_alone() {
    let nobody = own_policy().split("[attest]").next().unwrap().to_owned();
    let note = data("passed.json");
    // The branch names Alice and `main` does not: nobody even looks.
    let judged = Carried::with(&nobody, None, PASSED).noted(&note).judged();
    assert_eq!((judged.reason.as_str(), judged.notes.len()), ("missing", 0), "{judged:?}");

    let file = policy_with_file();
    Carried::with(&file, Some(&alice("")), PASSED).noted(&note).judged().counts();
    let tried = |signers: Option<&str>| Carried::with(&file, signers, PASSED).noted(&note).judged();
    tried(Some(&data("mallory.pub"))).lacks("belongs to nobody on the list");
    tried(Some("# nobody\n")).lacks("belongs to nobody on the list");
    tried(None).lacks(".gate/signers is not in");
    tried(Some(&alice("valid-before=\"20260101Z\""))).lacks("was allowed until 2026-01-01T00:00:00Z");
    tried(Some(&alice("valid-after=\"29990101Z\""))).lacks("is allowed from 2999-01-01T00:00:00Z on");
    tried(Some(&alice("namespaces=\"git\""))).lacks("may sign only for other things");
    tried(Some(&alice("namespaces=\"gate-*\",valid-after=\"20260101Z\""))).counts();
    let judged = tried(Some(&alice("cert-authority")));
    judged.lacks(".gate/signers:1: the option `cert-authority` of a signer is not understood");
}

#[test]
fn a_base_without_a_policy_lets_nobody_sign() {
    let repo = TestRepo::new();
    repo.write("test.sh", data("test.sh")).write("src/lib.sh", "one\n").commit_all("feat: start");
    let remote = repo.add_bare_remote("origin");
    let project = Project { repo, remote };
    project.share();
    project.repo.write("src/lib.sh", PASSED).write("gate.toml", own_policy()).commit_all("feat: two");
    let carried = Carried { project };
    carried.push();
    carried.noted(&data("passed.json")).judged().lacks("the policy does not come from a base, so no signature counts");
}

#[test]
fn notes_that_were_rewritten_are_said() {
    let carried = Carried::new().noted(&data("passed.json"));
    let clone = carried.clone();
    carried.judged_in(&clone).counts();
    let repo = &carried.project.repo;
    repo.git(["update-ref", "-d", "refs/notes/gate"]);
    let carried = carried.noted(&data("by-mallory.json"));
    let judged = carried.judged_in(&clone);
    judged.lacks("refs/notes/gate of origin was rewritten");

    carried.project.repo.git(["push", "-q", "origin", ":refs/notes/gate"]);
    carried.judged_in(&clone).lacks("origin has no refs/notes/gate");
}

#[test]
fn notes_that_are_too_large_or_no_notes_are_said() {
    let junk = format!("{}\n{}", "x".repeat(1_200_000), data("passed.json"));
    Carried::new().noted(&junk).judged().lacks("bytes, so it does not count");
    let carried = Carried::new().noted(&data("passed.json"));
    let repo = &carried.project.repo;
    for what in ["HEAD:test.sh", "HEAD"] {
        repo.git(["push", "-q", "-f", "--no-verify", "origin", &format!("{what}:refs/notes/gate")]);
        carried.judged().lacks("is not a ref of notes");
    }
}

#[test]
fn a_remote_that_cannot_be_asked_is_said_and_what_is_here_counts() {
    let carried = Carried::new().noted(&data("passed.json"));
    let clone = carried.clone();
    let repo = &carried.project.repo;
    repo.git_in(&clone, ["fetch", "-q", "origin", "refs/notes/gate:refs/notes/gate"]);
    fs::rename(&carried.project.remote, repo.outside().join("gone")).unwrap();
    let judged = carried.judged_in(&clone);
    judged.counts();
    assert!(judged.says("refs/notes/gate of origin could not be fetched"), "{judged:?}");
}

#[test]
fn notes_among_very_many_are_found() {
    let carried = Carried::new().noted(&data("passed.json"));
    let repo = &carried.project.repo;
    let tree = repo.git(["rev-parse", "HEAD^{tree}"]);
    // Git sorts notes into folders when there are some hundred.
    for number in 0..700 {
        repo.write(format!("many/{number}"), format!("{number}\n"));
    }
    repo.git(["add", "-A"]);
    let listed = repo.git(["ls-files", "-s", "many"]);
    let copies = listed.lines().map(|line| format!("{tree} {}\n", line.split(' ').nth(1).unwrap()));
    fs::write(repo.outside().join("copies"), copies.collect::<String>()).unwrap();
    repo.git(["reset", "-q", "--hard"]);
    carried.project.sh("git notes --ref gate copy --stdin < ../copies").exits(0);
    repo.git(["push", "-q", "origin", "refs/notes/gate"]);
    let folder = format!("{}/", &tree[..2]);
    assert!(repo.git(["ls-tree", "-r", "--name-only", "refs/notes/gate"]).contains(&folder), "they are in folders");
    carried.judged().counts();
}

/// A server that lets nothing in that is not proven: `main` is closed there, and other branches want evidence.
fn server(policy: &str, source: &str) -> Carried {
    let carried = Carried::with(policy, None, source);
    carried.project.gate_in(&carried.project.remote, ["init", "--yes"]).exits(0);
    carried
}

fn strict() -> String {
    format!("{}\n[gates.tests]\non_unknown = \"block\"\n", own_policy())
}

/// Makes `note` the one on the content of `HEAD`, here.
fn note_here(carried: &Carried, note: &str) {
    let file = carried.project.repo.outside().join("note");
    fs::write(&file, note).unwrap();
    carried.project.repo.git(["notes", "--ref", "gate", "add", "-f", "-F", file.to_str().unwrap(), "HEAD^{tree}"]);
}

#[test]
fn a_server_takes_what_travelled_before_or_with_the_push() {
    let carried = server(&strict(), PASSED);
    let push = |line: &str| carried.project.sh(&format!("git push -f origin {line}"));
    push("HEAD:refs/heads/one").exits(1).says("the repository that receives the push has no record of");
    note_here(&carried, &data("by-mallory.json"));
    push("HEAD:refs/heads/one refs/notes/gate").exits(1).says("the repository that receives the push has no record of");
    note_here(&carried, &data("passed.json"));
    push("HEAD:refs/heads/one").exits(1);
    push("HEAD:refs/heads/one refs/notes/gate").exits(0);
    push("HEAD:refs/heads/two").exits(0);
    carried.project.repo.append("src/lib.sh", "three\n").commit_all("feat: three");
    push("HEAD:refs/heads/one").exits(1).says("the repository that receives the push has no record of");

    let carried = server(&strict(), FAILED);
    note_here(&carried, &data("failed.json"));
    carried.project.sh("git push origin HEAD:refs/heads/one refs/notes/gate").exits(1).says("failed on this content");
}

#[test]
fn a_statement_about_something_else_makes_nothing_worse_on_a_server() {
    let carried = server(&own_policy(), PASSED);
    note_here(&carried, &data("passed.json"));
    carried.project.repo.append("src/lib.sh", "three\n").commit_all("feat: three");
    let said = carried.project.sh("git push origin HEAD:refs/heads/one refs/notes/gate");
    said.exits(0).says("pass, with warnings").says("the repository that receives the push has no record of");
}

#[test]
fn who_was_a_signer_where_the_branch_began_is_none_now() {
    let carried = Carried::with(&strict(), None, PASSED);
    let project = &carried.project;
    note_here(&carried, &data("passed.json"));
    project.repo.git(["switch", "-q", "main"]);
    let nobody = strict().replace("signers = [", "signers = [] # [");
    project.repo.write("gate.toml", nobody).commit_all("chore: nobody");
    project.repo.git(["push", "-q", "origin", "main"]);
    project.gate_in(&project.remote, ["init", "--yes"]).exits(0);
    project
        .sh("git push origin feature:refs/heads/one refs/notes/gate")
        .exits(1)
        .says("the repository that receives the push has no record of");
}
