//! What `gate attest` signs and what it refuses to, before any key is needed. With keys: `tests/components/attest.rs`.

use gate::event::{CommandRef, EventKind, Grade, Origin, Run};
use gate::journal::{Journal, NewEvent};
use gate::policy::command_key;
use gate::repo_path::RepoPath;
use gate::snapshot::KeptSnapshot;

use crate::project::Project;
use crate::support::TestRepo;

/// A project on whose branch the command has passed.
fn tested() -> Project {
    Project::new().edited("two").tested()
}

#[test]
fn only_what_was_proven_is_attested() {
    let project = Project::new().edited("two");
    project
        .gate(["attest"])
        .exits(10)
        .says("not attested: gate has seen no run of `sh test.sh` on this content")
        .says("gate run test");

    // Somebody else's word for a run is not gate's to sign, however good it is here.
    let tree = project.repo.git(["rev-parse", "HEAD^{tree}"]).parse().unwrap();
    let snapshot = KeptSnapshot::of_tree(tree);
    let dir = RepoPath::default();
    let key = command_key("sh test.sh", &dir);
    let run = Run {
        millis: 1,
        ..Run::passed(CommandRef { name: Some("test".to_owned()), line: "sh test.sh".to_owned(), dir, key }, snapshot)
    };
    let origin = Origin { by: "claude".to_owned(), grade: Grade::Hooked };
    let journal = Journal::open(&project.gate_dir(), Some(project.repo.root()));
    journal.append(NewEvent { session: None, origin, kind: EventKind::Run(Box::new(run)) }).unwrap();
    project.check().exits(0);
    project.gate(["attest"]).exits(10).says("only of grade hooked; this gate needs observed or better");

    // A pass after a failure of the very same content shows nothing.
    let project = Project::new().edited("two");
    project.repo.write("../flag", "");
    let flaky = "if [ -e ../flag ]; then rm ../flag; exit 1; fi\nexec sh test.sh\n";
    project.repo.write("flaky.sh", flaky);
    let policy = String::from_utf8(project.repo.read("gate.toml")).unwrap();
    project.repo.git(["switch", "-q", "main"]);
    project.repo.write("gate.toml", policy.replace("sh test.sh", "sh flaky.sh")).write("flaky.sh", flaky);
    project.repo.commit_all("chore: flaky");
    project.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    project.repo.git(["switch", "-q", "-c", "other"]);
    project.edit("three");
    project.gate(["run", "test"]).exits(1);
    project.gate(["run", "test"]).exits(0);
    project.gate(["attest"]).exits(10).says("after 1 failed run on the same content");

    // Content that is not in the commit was tested.
    let project = Project::new().edited("two");
    project.repo.write("src/more.sh", "three\n");
    project.gate(["run", "test"]).exits(0);
    project.gate(["attest"]).exits(10).says("not attested").says("src/more.sh");
}

#[test]
fn a_branch_that_asks_for_nothing_has_nothing_to_attest() {
    let project = Project::new();
    project.repo.write("README.md", "# other\n").commit_all("docs: other");
    project.gate(["attest"]).exits(0).says("not attested: nothing that `sh test.sh` reads changed");
    let bare = TestRepo::with_commit();
    let output = bare.gate(["attest"]).output().unwrap();
    assert_eq!(output.status.code(), Some(64));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no command is declared"));
    project.gate(["attest", "nowhere"]).exits(64).says("`nowhere` is not a commit");
}

#[test]
fn what_cannot_be_signed_is_said_and_nothing_is_kept() {
    let project = tested();
    project.gate(["attest"]).exits(12).says("no SSH key to sign with is known").says("user.signingKey");
    project.repo.git(["config", "user.signingKey", "0A46826A"]);
    project.gate(["attest"]).exits(12).says("no SSH key to sign with is known");
    let outside = project.repo.outside();
    let key = outside.join("key");
    std::fs::write(&key, "no key\n").unwrap();
    let args = ["attest", "--key", key.to_str().unwrap()];
    let program = |script: &str| {
        project.repo.script("../sign", &format!("#!/bin/sh\n{script}\n"));
        project.repo.git(["config", "gpg.ssh.program", outside.join("sign").to_str().unwrap()]);
        project.gate(args)
    };
    program("echo 'Enter PIN' >&2; echo 'it is locked' >&2; exit 3")
        .exits(12)
        .says("did not sign: Enter PIN; it is locked");
    program("exit 0").exits(12).says("a temporary file cannot be used");
    // The last argument is the file, as git has it.
    let signature = "for last; do :; done; cat > \"$last.sig\"";
    let carried = format!("{}/tests/data/ssh/ed25519.sig", env!("CARGO_MANIFEST_DIR"));
    program(&format!("{signature} < '{carried}'")).exits(12).says("the signature is not of this content");
    program(&format!("{signature} < '{}'", carried.replace("ed25519", "p521")))
        .exits(12)
        .says("signatures by keys of the kind ecdsa-sha2-nistp521 cannot be verified")
        .says("Ed25519");
    program(&format!("echo nothing | ({signature})")).exits(12).says("not an SSH signature");
    project.repo.git(["config", "gpg.ssh.program", "/nowhere/ssh-keygen"]);
    project.gate(args).exits(12).says("cannot run /nowhere/ssh-keygen").says("install OpenSSH");
    let notes = project.repo.try_git(["rev-parse", "--verify", "-q", "refs/notes/gate"]);
    assert!(!notes.status.success(), "nothing was kept");
    project.gate(["attest", "--push", args[1], args[2]]).exits(12);
}

#[test]
fn where_to_push_is_found_or_asked_for() {
    let project = Project::new();
    project.repo.write("README.md", "# other\n").commit_all("docs: other");
    let push = ["attest", "--push"];
    project.gate(push).exits(0).says("nothing is attested here, so nothing was pushed");
    project.gate(["attest", "--remote", "origin"]).exits(64).says("--push");
    project.repo.git(["remote", "rename", "origin", "one"]);
    project.repo.git(["notes", "--ref", "gate", "add", "-m", "x", "HEAD"]);
    project.gate(push).exits(0).says("pushed refs/notes/gate to one");
    let two = project.repo.add_bare_remote("two");
    project.gate(push).exits(64).says("there are several remotes").says("--remote one|two");
    project.gate(["attest", "--push", "--remote", "two"]).exits(0).says("pushed refs/notes/gate to two");
    project.repo.git(["config", "branch.feature.pushRemote", "one"]);
    project.gate(push).exits(0).says("to one");
    std::fs::remove_dir_all(two).unwrap();
    project.gate(["attest", "--push", "--remote", "two"]).exits(12).says("could not be pushed to two");
}

#[test]
fn a_verdict_is_signed_only_as_it_was_given() {
    let project = tested();
    project.gate(["ci", "--base", "origin/main", "--artifacts", "../out"]).exits(0);
    let path = project.repo.outside().join("out/verdict.json");
    let sign = |text: &str| {
        std::fs::write(&path, text).unwrap();
        project.gate(["attest", "--verdict", path.to_str().unwrap()])
    };
    let given = std::fs::read_to_string(&path).unwrap();
    sign(&given).exits(12).says("no SSH key to sign with is known");
    let tree = project.repo.git(["rev-parse", "HEAD^{tree}"]);
    let other = project.repo.git(["rev-parse", "main^{tree}"]);
    let not_given = "is not a verdict that was given in this repository";
    sign(&given.replace(&tree, &other)).exits(65).says(not_given);
    sign(&given.replace("\"pass\",\n  \"complete\"", "\"blocked\",\n  \"complete\"")).exits(65).says(not_given);
    sign(&given.replace("\"id\": \"v", "\"id\": \"w")).exits(65).says(not_given);
    sign(&given.replace("\"moment\": \"ci\"", "\"moment\": \"stop\"")).exits(64).says("not by gate ci");
    sign("{}").exits(65).says("not a verdict");
    sign("").exits(65).says("verdict.json:1:0");
    std::fs::remove_file(&path).unwrap();
    project.gate(["attest", "--verdict", path.to_str().unwrap()]).exits(65).says("cannot be read");
}

#[test]
fn doctor_and_explain_say_who_may_sign() {
    let project = Project::new();
    project.gate(["doctor"]).never_says("sign");
    project.gate(["explain", "tests"]).exits(0).never_says("signed by");
    let repo = &project.repo;
    let own = std::fs::read_to_string(format!("{}/tests/data/attest/gate.toml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    repo.git(["switch", "-q", "main"]);
    repo.write("gate.toml", &own).commit_all("chore: signers");
    repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    project.gate(["explain", "tests"]).exits(0).says("signed by   alice@example.com, for evidence in CI");
    project.gate(["doctor"]).says("1 signer may sign statements");
    let file = format!("{}signers = \".gate/signers\"\n", own.split("signers").next().unwrap());
    repo.write("gate.toml", file).commit_all("chore: a list");
    repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    project.gate(["explain", "tests"]).exits(0).says("those in .gate/signers of the base");
    project.gate(["doctor"]).says("nobody may sign: .gate/signers is not in");
    repo.write(".gate/signers", "alice ssh-rsa x\n").commit_all("chore: the list");
    repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    project.gate(["doctor"]).says(".gate/signers:1: not an SSH public key").says("no signer is named");
}
