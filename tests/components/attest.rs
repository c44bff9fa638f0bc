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
        signed.project.repo.write(".gate/signers", signed.line("alice", "")).commit_all("chore: policy");
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

#[test]
fn a_red_green_proof_is_signed_here_and_counts_there() {
    let signed = Signed::new();
    let (project, repo) = (&signed.project, &signed.project.repo);
    let policy = String::from_utf8(repo.read("gate.toml")).unwrap();
    repo.git(["switch", "-q", "main"]);
    let script = "grep -q fixed src/lib.sh && word=PASSED || word=FAILED\n\
                  test -e src/test_lib.py || word=SKIPPED\necho \"src/test_lib.py::test_add $word\"\ntest $word != FAILED\n";
    repo.write("gate.toml", format!("{policy}\n[gates.regression]\nmode = \"block\"\n")).write("test.sh", script);
    repo.commit_all("chore: a policy that requires a proof");
    repo.git(["push", "-q", "origin", "main"]);
    repo.git(["switch", "-q", "-C", "feature"]);
    repo.write("src/lib.sh", "fixed\n").write("src/test_lib.py", "def test_add():\n    assert add(1, 2) == 3\n");
    repo.commit_all("fix: add");
    repo.git(["push", "-q", "origin", "feature"]);
    project.gate(["run", "test"]).exits(0);
    signed.attest(&["--push"]).exits(0).says("PASSED").never_says("red–green");
    let regression = |verdict: &Value| {
        let gate = verdict["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == "regression").unwrap();
        gate["findings"][0]["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(regression(&signed.judged(&signed.clone("without"))), "unproven");
    project.gate(["prove"]).exits(0);
    signed.attest(&["--push"]).exits(0).says("the red–green proof with `sh test.sh`");
    signed.attest(&[]).exits(0).says("already attested: the red–green proof");
    let verdict = signed.judged(&signed.clone("with"));
    assert_eq!(regression(&verdict), "proven", "{verdict:#}");
    assert!(notes(&verdict).contains("attests a red–green proof with `sh test.sh`"), "{verdict:#}");
}

/// The pass is newer by the clock, but was signed without knowledge of the failure.
#[test]
fn a_failure_stands_until_a_statement_follows_it_in_the_notes() {
    let signed = Signed::new();
    let (project, repo) = (&signed.project, &signed.project.repo);
    let line = |result: &str| format!("echo 'test result: {result}; 0 ignored; 0 measured; 0 filtered out'");
    let (failed, passed) = (line("FAILED. 0 passed; 1 failed"), line("ok. 1 passed; 0 failed"));
    repo.write("test.sh", format!("if [ -e ../flaky ]; then {failed}; exit 101; fi\n{passed}\n"));
    repo.commit_all("feat: a test that depends on its place");
    repo.git(["push", "-q", "origin", "feature"]);
    let other = signed.clone("other");
    let key = signed.key("alice");
    repo.write("../flaky", "");
    project.gate_in(&other, ["run", "test"]).exits(101);
    project.gate_in(&other, ["attest", "--push", "--key", key.to_str().unwrap()]).says("FAILED");
    repo.remove("../flaky");
    project.gate(["run", "test"]).exits(0);
    signed.attest(&["--push"]).exits(0).says("PASSED");
    assert_eq!(tests(&signed.judged(&signed.clone("ci"))).0, "failed");
    project.gate(["run", "test"]).exits(0);
    signed.attest(&["--push"]).exits(0).says("PASSED");
    assert_eq!(tests(&signed.judged(&signed.clone("later"))).0, "flaky", "it failed and then passed on one content");
}

#[test]
fn every_kind_of_key_that_is_taken() {
    for kind in [&["-t", "ecdsa", "-b", "256"][..], &["-t", "ecdsa", "-b", "384"], &["-t", "rsa", "-b", "2048"]] {
        let signed = Signed::with_keys(kind).travelled();
        let verdict = signed.judged(&signed.clone("ci"));
        assert_eq!(tests(&verdict).1, ["attested"], "{kind:?}: {verdict:#}");
    }
}

/// As `git commit -S` does it: the key is in an agent, and git's settings name it.
#[test]
fn the_key_of_git_in_an_agent() {
    let signed = Signed::new();
    let project = &signed.project;
    project.edit("two");
    project.gate(["run", "test"]).exits(0);
    let public = fs::read_to_string(signed.key("alice.pub")).unwrap();
    let in_agent = "ssh-agent sh -c 'ssh-add -q ../alice && rm ../alice && gate attest'";
    project.repo.git(["config", "gpg.format", "ssh"]);
    project.repo.git(["config", "user.signingKey", &format!("key::{}", public.trim())]);
    project.gate(["attest"]).exits(12).says("ssh-keygen did not sign");
    project.sh(in_agent).exits(0).says("attested: `sh test.sh` PASSED").never_says("does not count in CI");
    project.gate(["doctor"]).says("git's signing key is that of alice@example.com");
    project.gate(["attest"]).exits(0).says("already attested");

    // By the path of the public half, and by a command that prints the key.
    let signed = Signed::new();
    let project = &signed.project;
    project.edit("two");
    project.gate(["run", "test"]).exits(0);
    project.repo.git(["config", "gpg.ssh.defaultKeyCommand", "cat ../alice.pub"]);
    project.sh("cp ../alice ../kept; ssh-agent sh -c 'ssh-add -q ../alice && rm ../alice && gate attest'").exits(0);
    project.edit("three");
    project.gate(["run", "test"]).exits(0);
    project.repo.git(["config", "user.signingKey", signed.key("alice.pub").to_str().unwrap()]);
    project.gate(["attest"]).exits(12);
    project.sh("mv ../kept ../alice && gate attest").exits(0).says("PASSED");
}

/// As with a token at the machine, which is a library here: the rest is what OpenSSH does with any.
#[test]
fn a_hardware_key_signs_when_it_is_touched() {
    let token = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("token-{}.so", std::process::id()));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/components/token.c");
    // The library that ssh-keygen itself computes with.
    let compile = "cc -shared -fPIC -o \"$1\" \"$2\" \"$(ldd \"$(command -v ssh-keygen)\" | sed -n 's/.*libcrypto.* => \\(\\S*\\).*/\\1/p')\"";
    let made = std::process::Command::new("sh").args(["-c", compile, "sh"]).arg(&token).arg(source).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let token = token.to_str().unwrap();

    let signed = Signed::with_keys(&["-t", "ed25519-sk", "-w", token]);
    let project = &signed.project;
    project.edit("two");
    project.gate(["run", "test"]).exits(0);
    let key = signed.key("alice");
    let attest = |variables: &[(&str, &str)]| {
        project.gate_with(variables, &["attest", "--push", "--key", key.to_str().unwrap()])
    };
    attest(&[]).exits(12).says("touch the hardware key SHA256:").says("device not found");
    let untouched = [("SSH_SK_PROVIDER", token), ("TOKEN_UNTOUCHED", "1")];
    attest(&untouched).exits(12).says("nobody touched the hardware key");
    attest(&[("SSH_SK_PROVIDER", token)]).exits(0).says("touch the hardware key").says("PASSED");
    attest(&[]).exits(0).says("already attested").never_says("touch");
    project.repo.git(["push", "-q", "origin", "feature"]);
    let verdict = signed.judged(&signed.clone("ci"));
    assert_eq!(tests(&verdict), ("passed".to_owned(), vec!["attested".to_owned()]), "{verdict:#}");

    // In an agent, which asks the token.
    project.edit("three");
    project.gate(["run", "test"]).exits(0);
    let public = fs::read_to_string(signed.key("alice.pub")).unwrap();
    project.repo.git(["config", "user.signingKey", &format!("key::{}", public.trim())]);
    let agent = format!(
        "SSH_SK_PROVIDER={token} ssh-agent -P '{token}' sh -c \
         'ssh-add -q ../alice && rm ../alice && unset SSH_SK_PROVIDER && gate attest'"
    );
    project.sh(&agent).exits(0).says("touch the hardware key").says("attested: `sh test.sh` PASSED");
    fs::remove_file(token).unwrap();
}

#[test]
fn a_key_that_nobody_named_is_said_at_once_and_counts_for_nothing() {
    let signed = Signed::new();
    signed.project.edit("two");
    signed.project.gate(["run", "test"]).exits(0);
    let mallory = signed.key("mallory");
    let said = signed.project.gate(["attest", "--push", "--key", mallory.to_str().unwrap()]);
    said.exits(0).says("this does not count in CI yet: the policy does not name this key as a signer");
    signed.project.repo.git(["push", "-q", "origin", "feature"]);
    let clone = signed.clone("ci");
    let verdict = signed.judged(&clone);
    assert_eq!(tests(&verdict).0, "missing", "{verdict:#}");
    assert!(notes(&verdict).contains("belongs to nobody on the list"), "{verdict:#}");

    // Her own branch may name her: that of the base does not.
    signed.project.repo.write(".gate/signers", signed.line("mallory", "")).commit_all("chore: me too");
    signed.project.gate(["run", "test"]).exits(0);
    signed.project.gate(["attest", "--push", "--key", mallory.to_str().unwrap()]).exits(0);
    signed.project.repo.git(["push", "-q", "origin", "feature"]);
    let verdict = signed.judged(&signed.clone("again"));
    assert_eq!(tests(&verdict).0, "missing", "{verdict:#}");
    assert!(notes(&verdict).contains(".gate/signers lists the allowed signers and is changed"), "{verdict:#}");
    let gates = verdict["gates"].as_array().unwrap();
    let integrity = gates.iter().find(|gate| gate["gate"] == "integrity").unwrap();
    assert!(integrity["findings"].to_string().contains("policy-changed"), "{integrity:#}");
}

#[test]
fn a_failed_run_is_attested_as_failed() {
    let signed = Signed::new();
    signed.project.edit("broken");
    signed.project.gate(["run", "test"]).exits(101);
    signed.attest(&["--push"]).exits(0).says("FAILED");
    signed.project.repo.git(["push", "-q", "origin", "feature"]);
    let verdict = signed.judged(&signed.clone("ci"));
    assert_eq!(tests(&verdict), ("failed".to_owned(), vec!["attested".to_owned()]), "{verdict:#}");
}

#[test]
fn what_lies_beside_the_inputs_travels_too() {
    let signed = Signed::new();
    let project = &signed.project;
    project.edit("two");
    project.repo.write("scratch.txt", "a note to myself\n");
    project.gate(["run", "test"]).exits(0);
    signed.attest(&["--push"]).exits(0).says("PASSED");
    project.repo.git(["push", "-q", "origin", "feature"]);
    let verdict = signed.judged(&signed.clone("ci"));
    assert_eq!(tests(&verdict).1, ["attested"], "{verdict:#}");
}

#[test]
fn a_policy_that_takes_nothing_less_is_satisfied() {
    let signed = Signed::new();
    let repo = &signed.project.repo;
    repo.git(["switch", "-q", "main"]);
    repo.append("gate.toml", "\n[gates.tests]\nmin_grade = \"attested\"\n").commit_all("chore: strict");
    repo.git(["push", "-q", "origin", "main"]);
    repo.git(["switch", "-q", "-C", "feature"]);
    let signed = signed.travelled();
    let clone = signed.clone("ci");
    signed
        .project
        .gate_in(&clone, ["ci", "--run", "--base", "origin/main"])
        .exits(0)
        .never_says("gate: test: sh test.sh");
}

/// Two people attest at once, and a third has rewritten what is there.
#[test]
fn nobody_overwrites_the_statements_of_others() {
    let signed = Signed::new().travelled();
    let repo = &signed.project.repo;
    let other = signed.clone("other");
    signed
        .project
        .sh_in(&other, "git switch -q -c second && echo three >> src/lib.sh && git commit -qam 'feat: three'")
        .exits(0);
    let attest = |dir: &Path| {
        let key = signed.key("alice");
        signed.project.gate_in(dir, ["run", "test"]).exits(0);
        signed.project.gate_in(dir, ["attest", "--push", "--key", key.to_str().unwrap()]).exits(0)
    };
    attest(&other);
    signed.project.edit("four");
    attest(repo.root());
    let there = |dir: &Path| repo.git_in(dir, ["notes", "--ref", "gate", "list"]).lines().count();
    assert_eq!(there(&signed.project.remote), 3);

    repo.git_in(&signed.project.remote, ["update-ref", "-d", "refs/notes/gate"]);
    repo.git_in(&signed.project.remote, ["notes", "--ref", "gate", "add", "-m", "{}", "main"]);
    signed.attest(&["--push"]).exits(0).says("already attested").says("pushed");
    assert_eq!(there(&signed.project.remote), 4, "what was rewritten and what was lost are both there");

    // The same content twice: each line once, whoever came first.
    let twin = signed.clone("twin");
    let key = signed.key("alice");
    let second = repo.git_in(&other, ["rev-parse", "HEAD"]);
    repo.git_in(&twin, ["fetch", "-q", other.to_str().unwrap(), "second"]);
    repo.git_in(&twin, ["checkout", "-q", "--detach", &second]);
    signed.project.gate_in(&twin, ["run", "test"]).exits(0);
    signed.project.gate_in(&twin, ["attest", "--push", "--key", key.to_str().unwrap()]).exits(0);
    let note = repo.git_in(&twin, ["notes", "--ref", "gate", "show", &format!("{second}^{{tree}}")]);
    assert_eq!(note.lines().count(), 2, "two runs of one content, each with its statement: {note}");
}

/// What is written can be verified by a program that nobody here wrote.
#[test]
fn ssh_keygen_agrees() {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD;
    let signed = Signed::new();
    signed.project.edit("two");
    signed.project.gate(["run", "test"]).exits(0);
    let said = signed.attest(&["--json"]).exits(0);
    let envelope: Value = serde_json::from_str(&said.out).unwrap();
    let (kind, payload) = (envelope["payloadType"].as_str().unwrap(), envelope["payload"].as_str().unwrap());
    let payload = String::from_utf8(engine.decode(payload).unwrap()).unwrap();
    let outside = signed.project.repo.outside();
    fs::write(outside.join("message"), format!("DSSEv1 {} {kind} {} {payload}", kind.len(), payload.len())).unwrap();
    let signature = envelope["signatures"][0]["sig"].as_str().unwrap();
    let armored = format!("-----BEGIN SSH SIGNATURE-----\n{signature}\n-----END SSH SIGNATURE-----\n");
    fs::write(outside.join("message.sig"), armored).unwrap();
    fs::write(outside.join("signers"), signed.line("alice", "")).unwrap();
    let verify = "ssh-keygen -Y verify -f signers -I alice@example.com -n gate-attestation -s message.sig < message";
    signed.project.sh_in(&outside, verify).exits(0).says("Good \"gate-attestation\" signature for alice@example.com");
    let statement: Value = serde_json::from_str(&payload).unwrap();
    assert_eq!(statement["subject"][0]["digest"]["gitTree"], signed.project.repo.git(["rev-parse", "HEAD^{tree}"]));
}

#[test]
fn the_verdict_of_a_job_is_signed() {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD;
    let signed = Signed::new().travelled();
    let clone = signed.clone("ci");
    signed.project.gate_in(&clone, ["ci", "--base", "origin/main", "--artifacts", "../out"]).exits(0);
    let (key, verdict) = (signed.key("alice"), signed.project.repo.outside().join("out/verdict.json"));
    let args = ["attest", "--push", "--json", "--key", key.to_str().unwrap(), "--verdict", verdict.to_str().unwrap()];
    let said = signed.project.gate_in(&clone, args).exits(0).says("attested: the verdict").says("pushed");
    let envelope: Value = serde_json::from_str(&said.out).unwrap();
    let statement = engine.decode(envelope["payload"].as_str().unwrap()).unwrap();
    let statement: Value = serde_json::from_slice(&statement).unwrap();
    assert_eq!(statement["predicateType"], "https://slsa.dev/verification_summary/v1");
    let predicate = &statement["predicate"];
    assert_eq!(predicate["verificationResult"], "PASSED");
    assert!(predicate["verifiedLevels"].as_array().unwrap().contains(&"GATE_TESTS".into()), "{predicate:#}");
    let base = signed.project.repo.git(["rev-parse", "origin/main"]);
    assert_eq!(predicate["policy"]["digest"]["gitCommit"], base);
    // Beside the run, which counts as before.
    let verdict = signed.judged(&signed.clone("again"));
    assert_eq!(tests(&verdict).1, ["attested"], "{verdict:#}");
}

#[test]
fn several_push_at_once() {
    const CLONES: usize = 4;
    let signed = Signed::new().travelled();
    let key = signed.key("alice");
    let clones: Vec<PathBuf> = (0..CLONES).map(|number| signed.clone(&format!("clone-{number}"))).collect();
    for (number, clone) in clones.iter().enumerate() {
        let edit = format!("echo {number} >> src/lib.sh && git commit -qam 'feat: {number}' && gate run test");
        signed.project.sh_in(clone, &edit).exits(0);
    }
    let said: Vec<Said> = std::thread::scope(|scope| {
        let attest = |clone: &PathBuf| {
            let (signed, key, clone) = (&signed, &key, clone.clone());
            scope.spawn(move || signed.project.gate_in(&clone, ["attest", "--push", "--key", key.to_str().unwrap()]))
        };
        let pushing: Vec<_> = clones.iter().map(attest).collect();
        pushing.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for said in said {
        said.exits(0).says("pushed");
    }
    let listed = signed.project.repo.git_in(&signed.project.remote, ["notes", "--ref", "gate", "list"]);
    assert_eq!(listed.lines().count(), CLONES + 1, "{listed}");
}
