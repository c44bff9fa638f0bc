//! Decisions that were written down: what takes them away, and what revises them.

use serde_json::Value;

use crate::project::Project;

const POLICY: &str = "version = 1\n[gates.tests]\nmode = \"off\"\n";
const TAG: &str = "# @REJECTED global mutex: deadlocks under load\n#   pattern: flock -x /tmp/pool\n";
const ADR: &str = "# 4. One pool\n\n## Status\n\nAccepted\n\n## Decision\n\nOne pool for each core.\n";

/// A project whose `main` holds a tag in `src/pool.sh` and an ADR.
fn project() -> Project {
    let project = Project::bare_bones();
    project.repo.write("gate.toml", POLICY).write("src/pool.sh", format!("one() {{ :; }}\n{TAG}two() {{ :; }}\n"));
    project.repo.write("docs/adr/0004-one-pool.md", ADR).commit_all("chore: policy");
    project.share();
    project.gate(["init", "--yes"]).exits(0);
    project
}

/// Commits everything, past the hook that would refuse it: a push sees it, too.
fn commit(project: &Project, args: &[&str]) {
    project.repo.git(["add", "-A"]);
    project.repo.git([&["-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty"], args].concat());
}

/// Writes files, commits them, and pushes.
fn push(project: &Project, files: &[(&str, Option<&str>)], message: &str) -> crate::project::Said {
    for (path, text) in files {
        match text {
            Some(text) => drop(project.repo.write(path, text)),
            None => drop(project.repo.remove(path)),
        }
    }
    commit(project, &["-m", message]);
    project.push("git push origin feature")
}

#[test]
fn a_deleted_tag_is_refused_and_a_revision_lets_it_go() {
    let project = project();
    let without = "one() { :; }\ntwo() { :; }\n";
    push(&project, &[("src/pool.sh", Some(without))], "fix: tidy up")
        .exits(1)
        .says("@REJECTED \"global mutex\" (src/pool.sh:2) is gone, and no revision says why")
        .says("a trailer “Decision-Revision: global mutex: what changed” of a commit");
    // That it was done on purpose is not a revision, nor is its name alone.
    for message in ["fix: drop the global mutex note", "fix: x\n\nDecision-Revision: global mutex"] {
        commit(&project, &["--amend", "-m", message]);
        project.push("git push origin feature").exits(1).says("is gone");
    }
    let revision = "fix: x\n\nDecision-Revision: global mutex: the pool is lock-free since version 3";
    commit(&project, &["--amend", "-m", revision]);
    project.push("git push origin feature").exits(0);
    let verdict = project.verdict();
    let gate = verdict["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == "decisions").unwrap();
    assert_eq!((&gate["answer"], &gate["findings"][0]["reason"]), (&Value::from("pass"), &Value::from("revised")));
}

#[test]
fn what_moves_is_kept_and_what_says_less_is_not() {
    let project = project();
    push(
        &project,
        &[
            ("src/pool.sh", None),
            ("lib/pool.py", Some("# @REJECTED: Global mutex -\n# deadlocks under load,\n# as seen in May. pattern: flock -x /tmp/pool\n")),
            ("docs/adr/0004-one-pool.md", None),
            ("docs/adr/old/0004-one-pool.md", Some(&ADR.replace("for each", "for\neach"))),
        ],
        "refactor: move",
    )
    .exits(0);
    push(&project, &[("lib/pool.py", Some("\n# @REJECTED global mutex\n"))], "fix: shorter")
        .exits(1)
        .says("says less than before: it was “global mutex: deadlocks under load pattern: flock -x /tmp/pool”");
    // A job shows it beside the line.
    let job = "GITHUB_EVENT_NAME=push gate ci --base origin/main --artifacts ../job";
    project.sh(job).exits(10).says("::error file=lib/pool.py,line=2,title=gate%3A decisions::");
    let sarif = std::fs::read_to_string(project.repo.outside().join("job/gate.sarif")).unwrap();
    assert!(sarif.contains("\"startLine\": 2"), "{sarif}");
    // A string is not a comment.
    let string = "x = '# @REJECTED global mutex: deadlocks under load pattern: flock -x /tmp/pool'\n";
    push(&project, &[("lib/pool.py", Some(string))], "fix: string").exits(1).says("is gone");
}

#[test]
fn what_was_rejected_is_seen_when_it_comes_back() {
    let project = project();
    let back = "lock() {\n  flock -x /tmp/pool true\n}\n";
    push(&project, &[("src/lock.sh", Some(back))], "feat: lock")
        .exits(1)
        .says("`flock -x /tmp/pool` at src/lock.sh:2 is what @REJECTED \"global mutex\" (src/pool.sh:2) rules out");
    // A record that says more rules out the same.
    let more = format!("one() {{ :; }}\n{}two() {{ :; }}\n", TAG.replace("under load", "under load, measured"));
    let once = "flock -x /tmp/pool true # the singleton pattern: one for all\n";
    push(&project, &[("src/lock.sh", Some(once)), ("src/pool.sh", Some(&more))], "fix: measure")
        .exits(1)
        .says("`flock -x /tmp/pool` at src/lock.sh:1");
    let about = "Why no `flock -x /tmp/pool`? See src/pool.sh.\n";
    let files = [("src/lock.sh", Some("lock() { :; }\n")), ("NOTES.md", Some(about))];
    push(&project, &files, "fix: no lock").exits(0);
    // The base moves on, and what is kept of it does, too.
    project.sh("git switch -q main && git merge -q --no-verify --no-edit feature").exits(0);
    project.repo.append("src/other.sh", "# @REJECTED sleeping pattern: sleep 5 path: src/wait*\n");
    project.repo.commit_all("docs: more");
    project.sh("git push -q --no-verify origin main && git switch -q -c next").exits(0);
    project.repo.write("src/waiting.sh", "sleep 5\n");
    commit(&project, &["-m", "feat: wait"]);
    let said = project.push("git push origin next").exits(1).says("`sleep 5` at src/waiting.sh:1");
    said.says("`src/wait*` at src/waiting.sh is what @REJECTED \"sleeping\" (src/other.sh:2)");
}

#[test]
fn an_adr_is_revised_by_an_adr_and_by_nothing_local() {
    let project = project();
    let adr = "docs/adr/0004-one-pool.md";
    push(&project, &[(adr, Some(&ADR.replace("Accepted", "Deprecated")))], "docs: deprecate")
        .exits(1)
        .says("ADR adr-4 (docs/adr/0004-one-pool.md:1) says less than before");
    push(&project, &[(adr, None)], "docs: x\n\nDecision-Revision: ADR-4: we think otherwise by now")
        .exits(1)
        .says("contradicts ADR adr-4 (docs/adr/0004-one-pool.md:1), which holds for the whole program");
    let local = "# @RATIONALE two pools here, this overrides ADR-4\n";
    let said = push(&project, &[(adr, Some(ADR)), ("src/other.sh", Some(local))], "feat: two");
    let said = said.exits(1).says("[COHERENCE_CHECK_FAILED] @RATIONALE (src/other.sh:1) contradicts ADR adr-4");
    said.says("“two pools here, this overrides ADR-4” against “");
    let new = "# 5. Two pools\n\n## Status\n\nAccepted\n\nSupersedes [4. One pool](0004-one-pool.md)\n\n## Decision\n\n\
               Two pools, since cores are no longer equal.\n";
    let old = ADR.replace("Accepted", "Superseded by [5. Two pools](0005-two-pools.md)");
    let files = [(adr, Some(old.as_str())), ("docs/adr/0005-two-pools.md", Some(new)), ("src/other.sh", Some("two\n"))];
    push(&project, &files, "docs: two pools").exits(0);
}

#[test]
fn that_an_adr_is_about_something_else_is_shown_and_blocks_nothing() {
    let project = project();
    let remark = "# @RATIONALE ADR-4 does not apply here: there is no pool\n";
    push(&project, &[("src/log.sh", Some(remark))], "feat: a log")
        .exits(0)
        .says("gate cannot tell whether this only says what the ADR is about");
    project.gate(["decisions"]).exits(0);
    let exception = "# @RATIONALE exception to ADR-4: two pools are faster\n";
    push(&project, &[("src/log.sh", Some(exception))], "feat: a pool").exits(1).says("[COHERENCE_CHECK_FAILED]");
    // In the commit and in the working tree alike it is one thing.
    project.repo.append("src/log.sh", "log() { :; }\n");
    let verdict = project.verdict();
    let feedback = verdict["feedback"].as_str().unwrap();
    assert_eq!(feedback.matches("[COHERENCE_CHECK_FAILED]").count(), 1, "{feedback}");
    assert_eq!(project.check().text().matches("[COHERENCE_CHECK_FAILED]").count(), 1);
}

#[test]
fn the_working_tree_is_judged_before_anything_is_committed() {
    let project = project().edited("more");
    project.repo.write("src/pool.sh", "one() { :; }\n");
    project.check().exits(10).says("working tree: @REJECTED \"global mutex\" (src/pool.sh:2) is gone");
    project.repo.git(["checkout", "-q", "src/pool.sh"]);
    project.check().exits(0);
}

#[test]
fn records_are_listed_with_their_places_and_their_age() {
    let project = project();
    let said = project.gate(["decisions"]).exits(0);
    let said = said.says("@REJECTED global mutex: deadlocks under load\n  src/pool.sh:2, since 2026-01-02 (");
    said.says(
        "ADR adr-4 (accepted) 4. One pool: One pool for each core.\n  docs/adr/0004-one-pool.md:1, since 2026-01-02",
    );
    let list: Value = serde_json::from_str(&project.gate(["decisions", "--json"]).exits(0).out).unwrap();
    assert_eq!(list["decisions"].as_array().unwrap().len(), 2);
    assert_eq!(list["decisions"][1]["patterns"][0], "flock -x /tmp/pool");
    assert_eq!(list["decisions"][1]["since"]["author"], "Test");
    project.repo.append("src/other.sh", "# @RATIONALE this replaces ADR-4\n");
    commit(&project, &["-m", "feat: contradiction"]);
    project.gate(["decisions"]).exits(10).says("[COHERENCE_CHECK_FAILED]").says("src/other.sh:2");
    project.gate(["decisions", "nowhere"]).exits(64);
    let empty = Project::bare_bones();
    empty.gate(["decisions"]).exits(0).says("no decisions are written down");
}

#[test]
fn two_records_for_the_whole_program_do_not_contradict_each_other() {
    let project = project();
    let other =
        |status: &str, tag: &str| format!("# 7. Locks\n\n## Status\n\n{status}\n\n## Decision\n\nNo locks.\n\n{tag}\n");
    let decided = ADR.replace("for each core.", "for each core.\n\n@RATIONALE one pool per core: no lock is needed");
    let rejecting = "@REJECTED one pool per core: it starves";
    let path = "docs/adr/0007-locks.md";
    push(&project, &[("docs/adr/0004-one-pool.md", Some(&decided))], "docs: why").exits(0);
    push(&project, &[(path, Some(&other("Accepted", rejecting)))], "docs: no locks")
        .exits(1)
        .says("contradict each other: ADR adr-7 (docs/adr/0007-locks.md:11) rejects one pool per core")
        .says("ADR adr-4 (docs/adr/0004-one-pool.md:11) decides for it");
    push(&project, &[(path, Some(&other("Proposed", rejecting)))], "docs: not yet").exits(0);
    push(&project, &[(path, Some(&other("Accepted. Supersedes ADR-4", rejecting)))], "docs: instead").exits(0);
}

#[test]
fn a_commit_that_takes_a_decision_away_is_refused_before_it_is_made() {
    let project = project();
    let without = "one() { :; }\ntwo() { :; }\n";
    let commit = |args: &[&str]| {
        let mut command = project.command("git", project.repo.root());
        command.args(["commit", "-q"]).args(args);
        crate::project::finish(command, b"")
    };
    project.repo.write("src/pool.sh", without);
    commit(&["-a", "-m", "fix: tidy up"]).exits(1).says("@REJECTED \"global mutex\" (src/pool.sh:2) is gone");
    commit(&["src/pool.sh", "-m", "fix: tidy up"]).exits(1).says("is gone");
    commit(&["-a", "-m", "fix: tidy up\n\nDecision-Revision: global mutex: the pool is lock-free since version 3"])
        .exits(0);
    // What moves from one commit to another is not gone between them.
    project.repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    project.repo.write("lib/pool.sh", TAG);
    project.repo.git(["add", "-A"]);
    commit(&["-m", "feat: here"]).exits(0);
    project.repo.write("src/pool.sh", without);
    commit(&["-a", "-m", "fix: no longer there"]).exits(0);
    assert_eq!(project.push("git push origin feature").code, 0);
}

#[test]
fn without_a_remote_the_local_default_branch_is_what_a_commit_is_held_against() {
    let project = Project::bare_bones();
    project.repo.git(["remote", "remove", "origin"]);
    project.repo.write("gate.toml", POLICY).write("src/pool.sh", format!("one() {{ :; }}\n{TAG}two() {{ :; }}\n"));
    project.repo.write("docs/adr/0004-one-pool.md", ADR).commit_all("chore: policy");
    project.gate(["init", "--yes", "--no-clients"]).exits(0);
    assert_eq!(project.repo.git(["remote"]).trim(), "");
    let gone = "@REJECTED \"global mutex\" (src/pool.sh:2) is gone, and no revision says why";
    for branch in ["main", "feature"] {
        project.repo.git(["switch", "-q", "-C", branch]);
        project.repo.write("src/pool.sh", "one() { :; }\ntwo() { :; }\n");
        project.sh("git commit -qam 'fix: tidy up'").exits(1).says(gone);
        commit(&project, &["-m", "fix: tidy up"]);
        project.gate(["check"]).says(gone);
        project.repo.git(["reset", "-q", "--hard", "HEAD^"]);
        project.sh("git commit -q --allow-empty -m 'chore: nothing is taken away'").exits(0);
    }
    // One commit decides, the next says so where it was decided before.
    let new = "# 5. Two pools\n\n## Status\n\nAccepted\n\nSupersedes [4. One pool](0004-one-pool.md)\n\n## Decision\n\n\
               Two pools, since cores are no longer equal.\n";
    project.repo.git(["switch", "-q", "main"]);
    project.repo.write("docs/adr/0005-two-pools.md", new);
    project.repo.git(["add", "docs"]);
    project.sh("git commit -qm 'docs: two pools'").exits(0);
    project.repo.write("docs/adr/0004-one-pool.md", ADR.replace("Accepted", "Superseded by ADR-5"));
    project.sh("git commit -qam 'docs: one pool is superseded'").exits(0);
}
