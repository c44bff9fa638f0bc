//! Checks after a write: what an agent hears, and when.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client_session::Session;
use crate::project::Project;

/// A checker that knows one problem: the word `broken`.
const CHECK: &str = "echo start >>../log\n[ -e ../hold ] && while [ ! -e ../go ]; do sleep 0.05; done\n\
                     grep -n broken src/*.sh | sed 's/^\\([^:]*\\):\\([0-9]*\\):.*/\\1:\\2:1: error: broken word/' >out.tmp\n\
                     cat out.tmp; n=$(wc -l <out.tmp); rm out.tmp; echo end >>../log; [ \"$n\" -eq 0 ]\n";

const POLICY: &str = "version = 1\n[commands.check]\ngate = \"build\"\nrun = \"sh check.sh\"\ninputs = [\"src/**\", \"check.sh\"]\n\
                      after_write = true\n";

fn project() -> Project {
    project_with(POLICY, CHECK)
}

fn project_with(policy: &str, check: &str) -> Project {
    let project = Project::bare_bones();
    project.repo.write("gate.toml", policy).write("check.sh", check).write("src/other.sh", "a\nbroken before\n");
    project.repo.commit_all("chore: policy");
    project.share();
    project.gate(["init", "--yes", "--no-clients"]).exits(0);
    project
}

/// Writes a file as the agent does. Returns what it hears.
fn write(project: &Project, session: &Session<'_>, path: &str, text: &str) -> String {
    let call = json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": text}, "tool_use_id": "t1"});
    session.hook("PreToolUse", call.clone());
    project.repo.write(path, text);
    let mut after = call;
    after["tool_response"] = json!({"filePath": path});
    let said = session.hook("PostToolUse", after);
    if said.out.trim().is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

fn log(project: &Project) -> Vec<String> {
    let text = std::fs::read_to_string(project.repo.outside().join("log")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until something is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn only_new_problems_are_told() {
    let project = project();
    let session = Session::claude(&project).prompted("go");
    let heard = write(&project, &session, "src/lib.sh", "one\nbroken two\n");
    assert!(
        heard.contains("`sh check.sh` finds 1 problem that is new") && heard.contains("src/lib.sh:2:1 broken word"),
        "{heard}"
    );
    assert!(!heard.contains("other.sh"), "what was there before is not told: {heard}");
    // The same problem in another line is not new; one more is.
    assert_eq!(write(&project, &session, "src/lib.sh", "zero\none\nbroken two\n"), "");
    let heard = write(&project, &session, "src/more.sh", "broken\n");
    assert!(heard.contains("src/more.sh:1:1 broken word") && !heard.contains("lib.sh"), "{heard}");
    // The check does not read this file.
    let before = log(&project).len();
    assert_eq!(write(&project, &session, "notes.txt", "broken\n"), "");
    assert_eq!(log(&project).len(), before + 2, "the session touched src, so it is checked");
}

/// Begins a session, and waits until its checks have looked at the content.
fn begin(project: &Project, session: &Session<'_>) {
    session.hook("SessionStart", json!({"source": "startup"}));
    let known = project.gate_dir().join("after-write");
    let is_known = || {
        let files = std::fs::read_dir(&known).into_iter().flatten().flatten();
        files.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().ends_with("known.json"))
    };
    until("the first look", is_known);
}

#[test]
fn what_was_there_when_the_session_began_is_not_told() {
    let project = project();
    let session = Session::claude(&project);
    begin(&project, &session);
    assert_eq!(write(&project, &session, "src/other.sh", "new line\na\nbroken before\n"), "");
    let heard = write(&project, &session, "src/lib.sh", "broken\n");
    assert!(heard.contains("src/lib.sh:1:1") && !heard.contains("other.sh"), "{heard}");
}

#[test]
fn at_most_ten_problems_are_told() {
    let project = project();
    let heard = write(&project, &Session::claude(&project), "src/lib.sh", &"broken\n".repeat(14));
    assert!(heard.contains("finds 14 problems that are new") && heard.ends_with("and 4 more"), "{heard}");
    assert_eq!(heard.matches("broken word").count(), 10, "{heard}");
}

#[test]
fn a_check_that_cannot_be_run_is_told_once() {
    let project = project_with(&POLICY.replace("sh check.sh", "frobnicate-zz src"), CHECK);
    let session = Session::claude(&project);
    begin(&project, &session);
    let heard = write(&project, &session, "src/lib.sh", "one\n");
    assert!(heard.contains("`frobnicate-zz src` failed: status 127") && heard.contains("not found"), "{heard}");
    assert_eq!(write(&project, &session, "src/lib.sh", "two\n"), "");
}

#[test]
fn a_check_without_a_table_is_told_with_the_lines_about_the_file() {
    let project = project_with(POLICY, "bash -n src/lib.sh && exit 0\necho 1; echo 2; echo 3; exit 1\n");
    let session = Session::claude(&project).prompted("go");
    let heard = write(&project, &session, "src/lib.sh", "one\nif\n");
    assert!(
        heard.contains("failed: status 1: src/lib.sh: line 3: syntax error") && heard.ends_with("1\n2\n3"),
        "{heard}"
    );
}

#[test]
fn the_run_is_evidence() {
    let project = project();
    let session = Session::claude(&project);
    project.repo.write("src/other.sh", "a\n");
    assert_eq!(write(&project, &session, "src/lib.sh", "fine\n"), "");
    project.check().exits(0);
    project.repo.commit_all("feat: fine");
    project.push("git push origin feature").exits(0);
}

#[test]
fn a_late_answer_comes_at_the_stop_and_a_newer_edit_ends_the_older_check() {
    let project = project();
    let session = Session::claude(&project);
    let outside = |name: &str| project.repo.outside().join(name);
    std::fs::write(outside("hold"), "").unwrap();
    // It takes longer than the hook waits.
    assert_eq!(write(&project, &session, "src/lib.sh", "broken\n"), "");
    until("the check", || log(&project) == ["start"]);
    assert_eq!(write(&project, &session, "src/lib.sh", "broken\nbroken\n"), "");
    until("the second check", || log(&project) == ["start", "start"]);
    std::fs::write(outside("go"), "").unwrap();
    until("its end", || log(&project) == ["start", "start", "end"]);
    let words = session.stop("Done.").pushes("src/lib.sh:1:1 broken word");
    assert!(words.contains("src/lib.sh:2:1 broken word"), "{words}");
}
