//! Logs of five clients, written by hand after their forms, and what they tell.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use gate::event::agent_work::{Act, AgentWork};
use gate::event::{Ended, Event, EventKind, Grade};
use gate::source::sessions::{self, Client, Cursors, LogContents, Roots, SessionLog};
use proptest::prelude::*;

use crate::support::TestFolder;

/// The working tree that the logs speak of.
pub const ROOT: &str = "/w/shop";

pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session-logs").join(name)
}

pub fn roots() -> Roots {
    Roots::new([PathBuf::from(ROOT)])
}

fn read(client: Client, name: &str) -> LogContents {
    sessions::read(&SessionLog::new(client, data(name)), &roots()).unwrap()
}

fn work(event: &Event) -> &AgentWork {
    let EventKind::Work(work) = &event.kind else { panic!("no act: {event:?}") };
    work
}

/// One act as a short text: what, on what, how it went.
fn tell(work: &AgentWork) -> String {
    let ended = |ended: &Option<Ended>| match ended {
        Some(Ended::Exited(code)) => code.to_string(),
        other => format!("{other:?}"),
    };
    let told = match &work.act {
        Act::Session(phase) => format!("{phase:?}"),
        Act::Prompt(prompt) => format!("{:?}: {}", prompt.from, prompt.text),
        Act::Said(text) => format!("said {text}"),
        Act::Asked(text) => format!("asked {text}"),
        Act::Planned(items) => {
            let items: Vec<_> = items.iter().map(|item| format!("{} {}", item.text, item.done)).collect();
            format!("planned {}", items.join(", "))
        }
        Act::Command(command) => format!(
            "$ {} in {:?}: {}{} | {}",
            command.line,
            command.dir,
            ended(&command.ended),
            if command.background { " &" } else { "" },
            command.tail.replace('\n', "\\n")
        ),
        Act::CommandEnded(end) => format!("ended {} | {}", ended(&end.ended), end.tail),
        Act::Edited(edits) => {
            let edits: Vec<_> = edits
                .iter()
                .map(|edit| format!("{} {:?} -{} +{}", edit.path, edit.how, edit.removed, edit.added))
                .collect();
            format!("edited {}", edits.join("; "))
        }
        Act::Used(tool) => {
            let reads = if tool.reads { "reads" } else { "used" };
            format!("{reads} {} {}{}", tool.tool, tool.target, if tool.failed { " failed" } else { "" })
        }
        Act::Denied(denial) => format!("denied {} {}: {}", denial.tool, denial.what, denial.reason),
        Act::SubagentStarted(id) => format!("sub-agent {id} started"),
        Act::SubagentEnded(id) => format!("sub-agent {id} ended"),
        Act::Stopped(stop) => format!("stopped {:?} {} {}", stop.how, stop.text, stop.running),
    };
    let actor = work.actor.as_ref().map(|actor| format!("{actor}> ")).unwrap_or_default();
    let call = work.call.as_ref().map(|call| format!("[{call}] ")).unwrap_or_default();
    format!("{actor}{call}{told}")
}

fn told(log: &LogContents) -> Vec<String> {
    log.events.iter().map(|event| tell(work(event))).collect()
}

pub fn assert_told(log: &LogContents, expected: &[&str]) {
    assert_eq!(told(log), expected);
    let session = log.summary.session.as_deref();
    for event in &log.events {
        assert_eq!((event.session.as_deref(), event.origin.grade), (session, Grade::Transcribed));
    }
}

#[test]
fn claude_code() {
    let log = read(Client::Claude, "claude.jsonl");
    assert_told(
        &log,
        &[
            "Started",
            "Person: Make the total right",
            "said I look at it first.",
            "[t1] reads Read /w/shop/src/total.py",
            "[t2] planned fix total true, run tests false",
            "[t3] edited src/total.py Written -def total(): return 0 +def total(): return 1",
            "[t4] used Edit /w/shop/src/total.py failed",
            "[t5] $ python -m pytest -q in Some(): 1 | 1 failed in 0.01s\\ntoken=[redacted]",
            "[t6] denied Bash git push --no-verify: PreToolUse:Bash hook error: not this way",
            "[t7] $ npm run watch in Some(): None & | ",
            "Person: also mind the tax",
            "[t8] $ python -m pytest -q in Some(): 0 | 4 passed in 0.02s",
            "[t7] ended 2 | ",
            "[t9] sub-agent a1 ended",
            "said All done, tests pass.",
            "stopped Completed All done, tests pass. 0",
            "Hook: not proven yet",
            "[t10] $ grep -c TODO src/total.py in Some(): 1 | ",
            "said Now it is.",
            "stopped Completed Now it is. 0",
            "Compacted",
            "Client: This session is being continued from a previous conversation.",
            "Client: <command-name>/compact</command-name>",
            "Person: And the readme",
            "[t11] $ sleep 100 in Some(): None | ",
            "stopped Aborted  0",
        ],
    );
    assert_eq!(log.summary.session.as_deref(), Some("5e55-claude"));
    assert_eq!(log.summary.counts.broken, 1, "the line that was cut");
    let subagent = read(Client::Claude, "claude-subagent.jsonl");
    assert_told(
        &subagent,
        &[
            "sub-agent a1 started",
            "a1> Agent: look closer",
            "a1> [t91] $ cat missing in Some(): 1 | cat: missing",
            "a1> said looked",
            "a1> stopped Completed looked 0",
        ],
    );
    assert_eq!(subagent.summary.session, log.summary.session);
    // It begins with a copy of the other one's lines.
    let fork = read(Client::Claude, "claude-fork.jsonl");
    assert_told(&fork, &["Forked", "Person: Another way", "said There is none.", "stopped Completed There is none. 0"]);
    assert_eq!((fork.summary.counts.prompts, fork.summary.counts.commands), (1, 0));
}

#[test]
fn codex_in_all_its_forms() {
    let log = read(Client::Codex, "codex.jsonl");
    assert_told(
        &log,
        &[
            "Started",
            "Person: Make the total right",
            "said I run the tests.",
            "[c1] $ make test in Some(web): 2 | make: *** [test] Error 1",
            "[c2] edited src/total.py Written -return 0 +return 1; old.py Deleted -x = 1 +",
            "[c3] used apply_patch a.txt failed",
            "[c4] denied exec_command git push --no-verify: not this way",
            "[c5] $ sleep 2; exit 5 in Some(): None & | ",
            "[c6] planned fix true, test false",
            "[c5] ended 5 | ",
            "said Done.",
            "stopped Completed Done. 0",
            "Hook: not proven yet",
            "said Really done.",
            "stopped Completed Really done. 0",
            "Compacted",
            "Person: Go on",
            "stopped Aborted  0",
        ],
    );
    assert_told(&read(Client::Codex, "codex-fork.jsonl"), &["Forked", "Person: Another way"]);
    assert_told(
        &read(Client::Codex, "codex-events.jsonl"),
        &[
            "Started",
            "Person: Make the total right",
            "[c1] $ make test in Some(web): 2 | Exit code: 9 is what it printed\\nmake: *** [test] Error 1",
            "[c2] edited new.py Written - +x = 1",
            "[c3] denied shell rm -rf 'a b': exec command rejected by user",
            "said Done.",
            "stopped Aborted  0",
        ],
    );
    assert_told(
        &read(Client::Codex, "codex-bare.jsonl"),
        &["Started", "Person: Make the total right", "[c1] $ make test in None: 0 | ok", "said Done."],
    );
}

#[test]
fn gemini_cli() {
    // The log does not say where it was; its place does.
    let source = SessionLog { dir: Some(ROOT.to_owned()), ..SessionLog::new(Client::Gemini, data("gemini.jsonl")) };
    let log = sessions::read(&source, &roots()).unwrap();
    assert_told(
        &log,
        &[
            "Started",
            "Person: Make the total right",
            "said I run the tests.",
            "[k1] $ make test in Some(): 1 | 1 failed",
            "said I fix it.",
            "[k2] edited src/total.py Written -return 0 +return 1",
            "[k3] denied run_shell_command echo $(date): Command injection detected: command substitution syntax",
            "[k4] denied run_shell_command git push: not this way",
            "[k5] $ make test in Some(): 0 | 3 passed",
            "[k6] reads read_file /w/shop/a failed",
            "said All done.",
            "stopped Completed All done. 0",
            "Hook: not proven yet",
            "said Now it is.",
            "Compacted",
            "stopped Completed Now it is. 0",
            "Person: And the readme",
            "stopped Aborted  0",
        ],
    );
}

#[test]
fn words_of_gate_are_known_where_gemini_cli_shows_none() {
    let folder = TestFolder::new();
    let path = folder.path().join("session-1.jsonl");
    let log = std::fs::read_to_string(data("gemini.jsonl")).unwrap();
    let log =
        log.replace("displayContent", "other").replace("not proven yet", "[ATTEMPT: 1] Not proven yet (attempt 1).");
    std::fs::write(&path, log).unwrap();
    let source = SessionLog { dir: Some(ROOT.to_owned()), ..SessionLog::new(Client::Gemini, path) };
    let told = told(&sessions::read(&source, &roots()).unwrap());
    let prompts: Vec<&str> =
        told.iter().map(String::as_str).filter(|line| line.contains("Person") || line.contains("Hook")).collect();
    assert_eq!(
        prompts,
        ["Person: Make the total right", "Hook: [ATTEMPT: 1] Not proven yet (attempt 1).", "Person: And the readme"]
    );
}

#[test]
fn copilot_cli() {
    assert_told(
        &read(Client::Copilot, "copilot.jsonl"),
        &[
            "Started",
            "Person: Make the total right",
            "said I run the tests.",
            "[p1] $ make test in Some(): 2 | 1 failed",
            "[p2] edited src/total.py Written -return 0 +return 1",
            "[p3] denied bash git push: not this way",
            "[p4] $ npm run watch in Some(): None & | ",
            "[p5] $ make test in Some(): 0 | 3 passed",
            "[p4] ended 143 | bye",
            "[p6] reads read_bash 5",
            "[p7] reads view /w/shop/src",
            "said All done.",
            "stopped Completed All done. 0",
            "Hook: not proven yet",
            "said Now it is.",
            "stopped Completed Now it is. 0",
            "Ended",
            "Resumed",
            "Person: And the readme",
            "stopped Aborted  0",
        ],
    );
}

/// What a look tells beyond the one before.
pub fn newer(cursors: &Cursors, source: &SessionLog) -> Vec<String> {
    let mut events = Vec::new();
    let newer = sessions::newer(cursors.load(source), source, &roots(), &mut |event| events.push(event)).unwrap();
    cursors.save(&newer.cursor).unwrap();
    events.iter().map(|event| tell(work(event))).collect()
}

const LOGS: [(Client, &str); 7] = [
    (Client::Claude, "claude.jsonl"),
    (Client::Claude, "claude-fork.jsonl"),
    (Client::Codex, "codex.jsonl"),
    (Client::Codex, "codex-events.jsonl"),
    (Client::Codex, "codex-bare.jsonl"),
    (Client::Gemini, "gemini.jsonl"),
    (Client::Copilot, "copilot.jsonl"),
];

#[test]
fn looks_at_a_growing_log_tell_each_act_once() {
    let dir = TestFolder::new();
    for (client, name) in LOGS {
        let whole = fs::read(data(name)).unwrap();
        let path = dir.path().join(name);
        let source = SessionLog::new(client, path.clone());
        let cursors = Cursors::of(&dir.path().join(format!("state of {name}")));
        let mut file = File::create(&path).unwrap();
        let mut told_so_far = Vec::new();
        // Lines come in pieces, and a look may come inside of one.
        for piece in whole.chunks(333) {
            file.write_all(piece).unwrap();
            told_so_far.extend(newer(&cursors, &source));
        }
        assert!(newer(&cursors, &source).is_empty());
        let at_once = read(client, name);
        let all = told(&at_once);
        assert_eq!(told_so_far, all[..told_so_far.len()], "{name}");
        let open = &all[told_so_far.len()..];
        assert!(open.iter().all(|told| told.starts_with("stopped") || told.contains("$ ")), "{name}: {open:?}");
    }
}

#[test]
fn a_log_that_is_another_one_now_is_read_anew() {
    let dir = TestFolder::new();
    let path = dir.path().join("log.jsonl");
    let whole = fs::read_to_string(data("copilot.jsonl")).unwrap();
    let source = SessionLog::new(Client::Copilot, path.clone());
    let cursors = Cursors::of(dir.path());
    fs::write(&path, &whole).unwrap();
    let all = newer(&cursors, &source);
    // Cut off.
    let half = &whole[..whole.len() / 2];
    OpenOptions::new().write(true).truncate(true).open(&path).unwrap().write_all(half.as_bytes()).unwrap();
    let again = newer(&cursors, &source);
    assert_eq!(again, all[..again.len()]);
    assert!(!again.is_empty());
    // Written over, longer than before.
    let other = whole.replace("make test", "make check");
    OpenOptions::new().write(true).truncate(true).open(&path).unwrap().write_all(other.as_bytes()).unwrap();
    assert!(newer(&cursors, &source).iter().any(|told| told.contains("make check")));
    // Replaced by another file with the same bytes up to there.
    fs::write(dir.path().join("new"), &other).unwrap();
    fs::rename(dir.path().join("new"), &path).unwrap();
    assert_eq!(newer(&cursors, &source).len(), all.len());
    assert!(newer(&cursors, &source).is_empty());
    // What is kept cannot be read.
    let kept = fs::read_dir(dir.path().join("sessions")).unwrap().next().unwrap().unwrap().path();
    fs::write(kept, "{").unwrap();
    assert_eq!(newer(&cursors, &source).len(), all.len());
}

/// What a real log holds: prompts by a person, statuses of commands in their order (`?`: none was recorded), those of
/// commands that had gone to the background, edits, refusals, stops.
type Held<'a> = (u64, &'a str, &'a str, usize, usize, u64);

const CORPUS: &[(Client, &str, Held<'_>)] = &[
    (
        Client::Claude,
        "claude/2.1.197-main/87c4be63-75ee-4a79-88d2-c9d32f482e1b.jsonl",
        (1, "0 3 0 0 0 ? 0", "0", 2, 0, 3),
    ),
    (Client::Claude, "claude/2.1.330-block-cap/bdf8c23b-ba8f-4203-b9bf-26aa387cc18e.jsonl", (1, "", "", 0, 0, 9)),
    (
        Client::Claude,
        "claude/2.1.330-main/d72a073d-bd63-4a27-8c23-17b765ccbef7.jsonl",
        (1, "0 3 0 0 0 ? 0", "0", 2, 0, 3),
    ),
    (
        Client::Claude,
        "claude/2.1.330-subagent-resume-compact-deny/1c52b7bb-0cfb-44c7-86bb-ff859e6f10be.jsonl",
        (0, "", "", 0, 0, 0),
    ),
    (
        Client::Claude,
        "claude/2.1.330-subagent-resume-compact-deny/309d6914-206a-45ef-9873-ce4f91310b93.jsonl",
        (2, "1 0 ? 0 0", "0", 0, 2, 5),
    ),
    (
        Client::Claude,
        "claude/2.1.330-subagent-resume-compact-deny/4a25865b-f538-463c-b2f7-0781b171b4cc.jsonl",
        (1, "", "", 0, 0, 1),
    ),
    (
        Client::Claude,
        "claude/2.1.330-subagent-resume-compact-deny/agent-ae2959b0ddad0bf00.subagent.jsonl",
        (0, "7", "", 0, 0, 2),
    ),
    (
        Client::Codex,
        "codex/0.169.0-codemode/rollout-2026-11-21T23-36-06-01a20077-9266-7922-a9d2-235742a6ea9d.jsonl",
        (1, "4 1 0", "", 1, 1, 3),
    ),
    (
        Client::Codex,
        "codex/0.169.0-loop/rollout-2026-11-21T23-37-03-01a20078-7422-7e83-bb24-47d4ccd7070c.jsonl",
        (1, "", "", 0, 0, 31),
    ),
    (
        Client::Codex,
        "codex/0.169.0-main/rollout-2026-11-21T23-34-54-01a20076-7ba5-7d12-8a3c-65d921e40570.jsonl",
        (2, "0 3 0 0 0 0 ? 0 0", "5", 2, 2, 4),
    ),
    (
        Client::Codex,
        "codex/0.169.0-main/rollout-2026-11-21T23-35-06-01a20076-a8d4-7cb3-8f8a-74296ae641b8.jsonl",
        (0, "", "", 0, 0, 1),
    ),
    (
        Client::Codex,
        "codex/0.169.0-subagent-compact-longproc/rollout-2026-11-21T23-36-54-01a20078-50f9-7e91-a7ff-5e1f9f6d6a3e.jsonl",
        (1, "? 0", "5", 0, 0, 3),
    ),
    (
        Client::Codex,
        "codex/0.169.0-subagent-compact-longproc/rollout-2026-11-21T23-36-58-01a20078-60c2-7382-8e53-dec097d08aac.jsonl",
        (0, "7", "", 0, 0, 2),
    ),
    (
        Client::Codex,
        "codex/0.169.0-trust/rollout-2026-11-21T23-36-54-01a20078-4e06-7b40-b821-5ff267c94222.jsonl",
        (1, "", "", 0, 0, 1),
    ),
    (
        Client::Codex,
        "codex/0.169.0-trust/rollout-2026-11-21T23-36-55-01a20078-5431-7bd0-8a01-296b6007cfdd.jsonl",
        (1, "", "", 0, 0, 3),
    ),
    (Client::Copilot, "copilot/1.0.102-loop/events.jsonl", (1, "", "", 0, 0, 9)),
    (Client::Copilot, "copilot/1.0.102-main/events.jsonl", (1, "0 3 0 0 0", "", 2, 2, 2)),
    (Client::Copilot, "copilot/1.0.102-resume/events.jsonl", (2, "0 3 0 0 0", "", 2, 2, 3)),
    (Client::Gemini, "gemini/0.61.0-loop/session-2026-11-21T23-50-038e438f.jsonl", (1, "", "", 0, 0, 14)),
    (Client::Gemini, "gemini/0.61.0-main/session-2026-11-21T23-46-4dfb25c2.jsonl", (2, "0 3 ? 0", "", 2, 3, 4)),
    (Client::Gemini, "gemini/0.61.0-main/session-2026-11-21T23-47-4dfb25c2.jsonl", (0, "", "", 0, 0, 0)),
];

#[test]
fn real_logs_hold_what_was_done() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/clients/logs");
    if !corpus.is_dir() {
        return;
    }
    for (client, name, expected) in CORPUS {
        let log = sessions::read(&SessionLog::new(*client, corpus.join(name)), &Roots::of_the_log()).unwrap();
        let acts = || log.events.iter().map(|event| &work(event).act);
        let status = |ended: Option<Ended>| match ended {
            Some(Ended::Exited(code)) => code.to_string(),
            Some(other) => format!("{other:?}"),
            None => "?".to_owned(),
        };
        let statuses: Vec<_> = acts()
            .filter_map(|act| match act {
                Act::Command(command) => Some(status(command.ended)),
                _ => None,
            })
            .collect();
        let late: Vec<_> = acts()
            .filter_map(|act| match act {
                Act::CommandEnded(end) => Some(status(end.ended)),
                _ => None,
            })
            .collect();
        let edits = acts().filter(|act| matches!(act, Act::Edited(_))).count();
        let denied = acts().filter(|act| matches!(act, Act::Denied(_))).count();
        let counts = &log.summary.counts;
        let (statuses, late) = (statuses.join(" "), late.join(" "));
        let held = (counts.prompts, statuses.as_str(), late.as_str(), edits, denied, counts.stops);
        assert_eq!(held, *expected, "{name}");
        assert_eq!((counts.broken, counts.commands), (0, statuses.split_whitespace().count() as u64), "{name}");
        assert_eq!(sessions::recognise(&corpus.join(name)).unwrap(), Some(*client), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn broken_logs_are_read_as_far_as_they_can_be(
        which in 0..LOGS.len(),
        from in 0_usize..13_000,
        length in 0_usize..400,
        put in prop_oneof![
            Just(Vec::new()), proptest::collection::vec(any::<u8>(), 0..6),
            proptest::sample::select(vec!["\n", "\"", "{", "}", "null", "\\u12", "[[", "1e99", "-"])
                .prop_map(|text| text.as_bytes().to_vec()),
        ],
    ) {
        let (client, name) = LOGS[which];
        let mut bytes = fs::read(data(name)).unwrap();
        let from = from.min(bytes.len());
        let to = (from + length).min(bytes.len());
        bytes.splice(from..to, put);
        let dir = TestFolder::new();
        let path = dir.path().join("log");
        fs::write(&path, &bytes).unwrap();
        for reader in Client::ALL.into_iter().filter(|client| *client != Client::Opencode) {
            let log = sessions::read(&SessionLog::new(reader, path.clone()), &roots()).unwrap();
            let lines = bytes.split(|byte| *byte == b'\n').count() as u64;
            prop_assert!(log.summary.counts.broken <= lines);
            if reader == client && from > 0 && length == 0 {
                prop_assert!(!log.events.is_empty() || from < 700);
            }
        }
        prop_assert!(sessions::recognise(&path).is_ok());
    }
}
