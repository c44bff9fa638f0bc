//! Broken policies, missing repositories, damaged records, full disks: what, where, and what to do; never a crash.

use std::fs;

use crate::project::{POLICY, Project, finish, valid};

const BROKEN: &str = "version = 1\n\n[commands.test]\ngate = \"tests\"\nrnu = \"sh test.sh\"\n";

#[test]
fn a_broken_policy_names_file_line_column_and_the_key_it_may_have_meant() {
    // In the working tree, where no commit has any.
    let project = Project::bare_bones();
    project.share();
    project.gate(["init", "--yes", "--test", "sh test.sh"]).exits(0);
    project.repo.write("gate.toml", BROKEN);
    for args in [&["check"][..], &["check", "--json"], &["status"], &["run"], &["run", "test"], &["run", "--", "true"]]
    {
        project.gate(args).exits(65).says("gate.toml:5:1").says("did you mean `run`?");
    }
    // In HEAD: the hook refuses such a commit, so it is left out.
    project.repo.git(["add", "-A"]);
    project.repo.git(["commit", "-q", "--no-verify", "-m", "chore: break"]);
    let head = project.repo.git(["rev-parse", "--short=7", "HEAD"]);
    project.check().exits(65).says(&format!("{head}:gate.toml:5:1")).says("did you mean `run`?");
    project.push("git push origin feature").exits(1).says("gate.toml:5:1").says("did you mean `run`?");
    assert!(!project.refs().contains_key("refs/heads/feature"));
    // Repaired in the working tree only, it is still broken where it counts.
    project.repo.write("gate.toml", POLICY);
    project.check().exits(65);
    project.repo.commit_all("chore: repair");
    project.edit("one");
    project.check().exits(10);
}

#[test]
fn a_policy_that_is_no_file_is_said_to_be_none() {
    let project = Project::bare_bones();
    project.share();
    project.gate(["init", "--yes", "--test", "sh test.sh"]).exits(0);
    fs::remove_file(project.repo.path("gate.toml")).unwrap();
    fs::create_dir(project.repo.path("gate.toml")).unwrap();
    for args in [&["check"][..], &["status"], &["run"], &["run", "test"]] {
        project.gate(args).exits(65).says("gate.toml is a directory").says("a file at the root of the repository");
    }
    // Where a commit has one, that one counts, whatever lies here.
    fs::remove_dir(project.repo.path("gate.toml")).unwrap();
    project.repo.write("gate.toml", POLICY).commit_all("chore: policy");
    project.edit("one");
    fs::remove_file(project.repo.path("gate.toml")).unwrap();
    fs::create_dir(project.repo.path("gate.toml")).unwrap();
    project.check().exits(10).says("no run of `sh test.sh`").says("gate.toml differs in the working tree");
}

#[test]
fn a_broken_policy_at_the_base_can_be_repaired_by_a_branch() {
    let project = Project::bare_bones();
    project.repo.write("gate.toml", BROKEN).commit_all("chore: broken");
    project.share();
    project.gate(["init", "--yes"]);
    project.edit("one");
    project.check().exits(12).says("gate.toml:5:1").says("did you mean `run`?").says("nothing can be judged");
    // No policy could ever be read, so that of the branch applies.
    project.repo.write("gate.toml", POLICY).commit_all("chore: repair");
    project.check().exits(10).says("no run of `sh test.sh`").says("gate.toml:5:1");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0);
}

#[test]
fn a_change_that_breaks_the_policy_is_refused_at_commit_push_and_check() {
    let project = Project::bare_bones();
    project.repo.write("gate.toml", POLICY).commit_all("chore: policy");
    project.share();
    project.gate(["init", "--yes"]);
    project.repo.write("gate.toml", BROKEN).git(["add", "gate.toml"]);
    project.sh("git commit -q -m 'chore: broken'").exits(1).says("this commit makes gate.toml unreadable").says("5:1");
    project.sh("git commit -q --no-verify -m 'chore: broken'").exits(0);
    project.check().exits(65).says("this change makes gate.toml unreadable").says("did you mean `run`?");
    project.sh("git push -q origin feature").exits(1).says("this change makes gate.toml unreadable");
    // The printed remedy.
    project.repo.write("gate.toml", POLICY).git(["add", "gate.toml"]);
    project.sh("git commit -q -m 'chore: repair'").exits(0);
    project.check().exits(0);
}

#[test]
fn a_symbolic_ref_of_a_remote_on_this_machine_is_followed() {
    let project = Project::bare_bones();
    project.repo.write("gate.toml", "version = 1\n").commit_all("chore: policy");
    project.share();
    project.gate(["init", "--yes"]);
    project.edit("one");
    project.repo.git_in(&project.remote, ["symbolic-ref", "refs/heads/alias", "refs/heads/main"]);
    let before = project.refs();
    project.sh("git push -q origin HEAD:alias").exits(1).says("main is protected").says("is a symbolic ref there");
    project.sh("git push -q ../remote.git HEAD:alias; git push -q file://$(realpath ../remote.git) HEAD:alias");
    assert_eq!(project.refs(), before);
}

#[test]
fn once_a_broken_policy_is_on_the_base_only_its_repair_is_judged_by_the_last_readable_one() {
    let project = Project::bare_bones();
    project.repo.write("gate.toml", POLICY).commit_all("chore: policy");
    project.repo.write("gate.toml", BROKEN);
    project.repo.commit_all("chore: broken");
    project.share();
    project.gate(["init", "--yes"]);
    project.edit("one");
    project.check().exits(12).says("the policy of the base cannot be read").says("commit a readable gate.toml");
    // A repair that switches the gate off is judged by the policy before.
    project.repo.write("gate.toml", format!("{POLICY}\n[gates.tests]\nmode = \"off\"\n")).git(["add", "gate.toml"]);
    project.sh("git commit -q -m 'chore: repair'").exits(0);
    project.check().exits(10).says("no run of `sh test.sh`");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0);
}

#[test]
fn what_a_policy_may_not_say_is_said_with_its_place() {
    let project = Project::bare_bones();
    for (text, place, words) in [
        ("version = 1\nmodus = \"block\"\n", "gate.toml:2:1", "modus"),
        ("version = 2\n", "gate.toml:1:11", "install a later gate"),
        ("version = 1\nmode = \"blok\"\n", "gate.toml:2:8", "did you mean"),
        ("version = \n", "gate.toml:1:", "not TOML"),
        ("version = 1\n[commands.a]\ngate = \"test\"\nrun = \"x\"\n", "gate.toml:3:8", "did you mean `tests`?"),
        ("version = 1\n[commands.a]\ngate = \"tests\"\n", "gate.toml:2:", "run"),
        ("version = 1\n[gates.tests]\nmode = \"warn\"\nmode = \"off\"\n", "gate.toml:4:1", "twice"),
        ("version = 1\n[gates.tests.params]\ncount = true\n", "gate.toml:3:1", "count"),
        ("version = 1\n[gates.protected-branch.params]\nbranches = [\"a[\"]\n", "gate.toml:3:", "a["),
        ("version = 1\n[commands.a]\ngate = \"tests\"\nrun = \"x\"\ndir = \"../x\"\n", "gate.toml:5:7", ".."),
    ] {
        project.repo.write("gate.toml", text);
        let said = project.gate(["check"]);
        assert_eq!(said.code, 65, "{text}: {}", said.text());
        assert!(said.err.contains(place), "no {place} for {text}: {}", said.err);
        assert!(said.err.contains(words), "no {words} for {text}: {}", said.err);
    }
    project.repo.write("gate.toml", b"version = 1\n# \xff\n");
    project.gate(["check"]).exits(65).says("gate.toml:2:3").says("UTF-8");
}

#[test]
fn without_a_repository_or_a_working_tree_it_is_a_usage_error() {
    let project = Project::bare_bones();
    let outside = project.repo.outside();
    for args in
        [&["check"][..], &["status"], &["run", "--", "true"], &["log"], &["init", "--yes"], &["uninstall", "--yes"]]
    {
        let mut command = project.command("gate", &outside);
        command.args(args).env("GIT_CEILING_DIRECTORIES", outside.parent().unwrap());
        let said = finish(command, b"").exits(64);
        assert!(said.err.contains("git"), "{args:?}: {}", said.err);
    }
    // A bare repository has nothing to run in.
    for args in [&["check"][..], &["status"], &["run"]] {
        project.gate_in(&project.remote, args).exits(64).says("is a bare repository and has no working tree");
    }
}

#[test]
fn a_repository_without_commits_is_judged_and_pushed_from_like_any_other() {
    let project = Project::bare_bones();
    let empty = project.repo.outside().join("empty");
    project.repo.git(["init", "-q", "-b", "main", empty.to_str().unwrap()]);
    project.gate_in(&empty, ["check"]).exits(0).says("nothing to judge");
    project.gate_in(&empty, ["status"]).exits(0).says("nothing is committed and nothing is there to commit");
    project.gate_in(&empty, ["run"]).exits(0).says("nothing to run");
    project.gate_in(&empty, ["log"]).exits(0);
    project.gate_in(&empty, ["init", "--yes", "--test", "true"]).exits(0);
    project.gate_in(&empty, ["check"]).exits(0);
    fs::write(empty.join("code.c"), "int x;\n").unwrap();
    project.gate_in(&empty, ["check"]).exits(10).says("no run of `true` on this content");
    project.gate_in(&empty, ["run", "--", "true"]).exits(0);
    project.gate_in(&empty, ["check"]).exits(0);
    project.gate_in(&empty, ["check", "--rev", "HEAD"]).exits(64).says("`HEAD` is not a commit");
}

#[test]
fn a_corrupt_line_is_set_aside_and_nothing_else_is_lost() {
    let project = Project::new().edited("one").tested();
    let journal = project.gate_dir().join("journal.jsonl");
    let mut bytes = fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"{\"this is\": not a line\n\xff\xfe\n");
    fs::write(&journal, &bytes).unwrap();
    let verdict = project.verdict();
    assert_eq!(verdict["outcome"], "pass", "the run before it still counts");
    let notes = verdict["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["kind"] == "journal-damaged"), "{notes:?}");
    project.edit("two");
    project.gate(["run", "test"]).exits(0);
    project.sh("gate check").exits(0).says("3 passed").says("the journal is damaged");
    project.gate(["log"]).exits(0).says("cannot be read");
    project.push("git push origin feature").exits(0);
    // A person takes note of it once; an agent cannot.
    project.gate(["doctor"]).exits(0).says("unreadable line").says("gate doctor --repair");
    project.sh("CLAUDECODE=1 gate doctor --repair").exits(11).says("only a person");
    project.gate(["doctor", "--repair"]).exits(0).says("acknowledged: ").never_says("gate doctor --repair");
    project.gate(["doctor", "--repair"]).exits(0).says("nothing to repair");
    project.gate(["log"]).exits(0).says("the journal: 2 faults acknowledged");
    project.gate(["check"]).exits(0).never_says("with warnings").never_says("unreadable line");
    // A half line at the end, as a writer leaves it that was killed.
    let mut bytes = fs::read(&journal).unwrap();
    let whole = bytes.len();
    bytes.extend_from_slice(b"{\"v\":1,\"id\":\"0");
    fs::write(&journal, &bytes).unwrap();
    project.sh("gate check").exits(0);
    assert!(fs::read(&journal).unwrap().len() > whole);
}

#[test]
fn a_removed_journal_is_reported_until_a_person_has_seen_it() {
    let project = Project::new().edited("one").tested();
    project.check().exits(0).never_says("was removed");
    fs::remove_dir_all(project.gate_dir()).unwrap();
    let removed = "the journal of this repository was removed";
    project.check().exits(10).says(removed);
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0).says(removed);
    project.push("git push origin feature").exits(0).says(removed);
    project.gate(["doctor"]).exits(0).says(removed).says("gate doctor --repair");
    project.sh("CLAUDECODE=1 gate doctor --repair").exits(11).says("only a person");
    project.gate(["doctor", "--repair"]).exits(0).says("acknowledged: the journal").never_says("gate doctor --repair");
    project.gate(["doctor", "--repair"]).exits(0).says("nothing to repair");
    project.check().exits(0).never_says(removed);
}

#[test]
fn a_command_that_does_not_exist_is_named_with_the_status_of_a_shell() {
    let project = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"no-such-runner --all\"\n");
    project.edit("one");
    project
        .gate(["run", "--", "no-such-program", "x"])
        .exits(127)
        .says("there is no program `no-such-program` in PATH");
    project.gate(["run", "--", "./missing"]).exits(127).says("there is no program ./missing");
    project.repo.write("plain", "text\n").commit_all("chore: file");
    project.gate(["run", "--", "./plain"]).exits(126).says("chmod +x ./plain");
    project.gate(["run", "test"]).exits(127).says("no-such-runner");
    let verdict = project.verdict();
    assert_eq!(crate::project::reasons(&verdict, "tests"), ["failed"]);
    // A command that a branch adds does not count yet.
    project.repo.append("gate.toml", "[commands.late]\ngate = \"tests\"\nrun = \"true\"\n");
    project.gate(["run", "late"]).exits(64).says("declared in the gate.toml of ").says("which applies here");
    project.repo.git(["checkout", "-q", "gate.toml"]);
    project.gate(["run", "tset"]).exits(64).says("no command `tset` is declared").says("did you mean `test`?");
}

/// A line of shell for which the git directory cannot be written, as in an agent's sandbox; `None` where this machine
/// offers no way.
fn sandboxed(project: &Project, line: &str) -> Option<String> {
    const MOUNT: &str = "mount --bind .git .git && mount -o remount,bind,ro .git";
    if project.sh(&format!("unshare -rm -- sh -c '{MOUNT}'")).code == 0 {
        return Some(format!("unshare -rm -- sh -c '{MOUNT} && {line}'"));
    }
    let root = rustix::process::geteuid().is_root();
    (!root).then(|| format!("chmod -R a-w .git && ({line}); code=$?; chmod -R u+w .git; exit $code"))
}

#[test]
fn a_git_directory_that_cannot_be_written_is_bridged_by_a_spool() {
    let project = Project::new().edited("one");
    project.gate(["run", "--", "true"]).exits(0);
    let Some(run) = sandboxed(&project, "gate run test; code=$?; gate check; exit $code") else {
        // Root without the right to mount writes everywhere; the journal's own tests put a file in its place.
        return;
    };
    let said = project.sh(&run).exits(0).says("gate: test passed").never_says("proves nothing");
    said.says("pass  HEAD");
    // Back outside, what was spooled is taken up.
    project.check().exits(0).says("3 passed");
    project.push("git push origin feature").exits(0);
    assert_eq!(project.repo.git(["status", "--porcelain"]), "", "the spool is not part of the content");
    // An edit in the sandbox is an edit.
    let edit = sandboxed(&project, "echo more >> src/lib.sh; gate run test && gate check").unwrap();
    project.sh(&edit);
    project.repo.write("src/lib.sh", "other\n");
    project.check().exits(10);
}

#[test]
fn a_full_disk_takes_the_record_and_not_the_status() {
    let project = Project::new().edited("broken");
    project.check().exits(10);
    // A file size limit of nothing is a disk without room, for `gate` and for whatever it starts.
    let full = |line: &str| project.sh(&format!("trap '' XFSZ; ulimit -f 0; {line}"));
    full("gate run test").exits(101).says("this run is not recorded and proves nothing");
    full("gate run -- sh -c 'exit 7'").exits(7).says("this run is not recorded and proves nothing");
    let said = full("gate check");
    assert_eq!(said.code, 10, "{said:?}");
    said.says("no run of `sh test.sh`").says("could not be written");
    project.push("trap '' XFSZ; ulimit -f 0; git push origin feature").exits(1);
    // With room again, all goes on.
    project.gate(["run", "test"]).exits(101);
    let verdict = project.verdict();
    valid("verdict", &verdict);
    assert_eq!(crate::project::reasons(&verdict, "tests"), ["failed"]);
}
