//! A scripted unblocker that answers with each of the outputs, each malformed once; and sessions at the same instant.

use std::process::Command;
use std::{fs, thread};

use serde_json::Value;

use crate::project::{Project, Said, finish, read_json, valid};
use crate::rescue::{CODER, FIX, PACKET, TERMINAL, hand_over, reply, used_up, used_up_beside};

/// A commit whose tests fail, an agent that tried four times, and an unblocker that wants a packet and says what lies in
/// `.git/reply.txt`.
fn with_unblocker() -> Project {
    let project = used_up_beside("sh .git/unblocker.sh");
    let script = "packet=$(cat)\ncase $packet in *'<ESCALATION>'*'[CHECKLIST]'*) cat .git/reply.txt;; *) echo \
                  '[NEED_CONTEXT: escalation_payload]';; esac\n";
    fs::write(project.repo.root().join(".git/unblocker.sh"), script).unwrap();
    project
}

/// The configured command is asked and answers so.
fn asked(project: &Project, answer: &str) -> Said {
    fs::write(project.repo.root().join(".git/reply.txt"), answer).unwrap();
    project.gate(["unblock", "run", "--task", ".git/task.md", "--session", "coder"])
}

/// One rescue attempt: the malformed answer is refused with the line that is wrong, the packet still waits, and the
/// well-formed one is taken.
fn twice(project: &Project, malformed: &str, wrong: &str, well_formed: &str, code: i32, taken: &str) {
    asked(project, malformed).exits(65).says("is not accepted").says(wrong);
    reply(project, well_formed).exits(code).says(taken);
}

#[test]
fn each_output_is_taken_and_its_malformed_form_is_not() {
    let fix = |name: &str, hypothesis: &str| {
        FIX.replace("environment_fix", name).replace("the fixture holds the word", hypothesis)
    };
    let project = with_unblocker();
    let good = fix("contract_correction", "the promise of two is wrong");
    let without = good.replace("action:\n- look at the fixture\n", "");
    let wrong = "line 1: contract_correction lacks `action`";
    twice(&project, &without, wrong, &good, 0, "contract_correction accepted");
    let good = fix("architecture_correction", "layers call each other");
    let other = good.replace("layer: environment", "layer: weather");
    twice(&project, &other, "line 2: `weather` is not a layer", &good, 0, "architecture_correction accepted");
    let good = fix("environment_fix", "a variable is missing");
    let prose = format!("{good}Good luck!\n");
    twice(&project, &prose, "line 8: “Good luck!” does not belong to a field", &good, 0, "environment_fix accepted");
    let other = TERMINAL.replace("request:", "wish:");
    twice(&project, &other, "line 17: expected here: `request:`", TERMINAL, 11, "Escalate above reflection layer.");
    project
        .gate(["unblock", "run", "--task", ".git/task.md", "--session", "coder"])
        .exits(11)
        .says("gate does not hand it over again");
    project.gate_with(CODER, &["check", "--done"]).exits(11);

    let project = with_unblocker();
    let good = fix("test_harness_fix", "the mock answers one");
    let empty = good.replace("- the word is in src/lib.sh\n", "");
    twice(&project, &empty, "line 3: `observations` is empty", &good, 0, "test_harness_fix accepted");
    let without = PACKET.replace("what_not_to_retry:\n- `sh test.sh --again`\n", "");
    let wrong = "line 1: retry_packet_for_coder lacks `what_not_to_retry`";
    twice(&project, &without, wrong, PACKET, 0, "## what_not_to_retry");
    let wrong = "line 1: `[NEED_CONTEXT: target]` must be the whole reply";
    twice(&project, "[NEED_CONTEXT: ]", wrong, "[NEED_CONTEXT: the fixture]", 10, "[NEED_CONTEXT: the fixture]");
    // The fourth is for a terminal payload only, and what was said before is not a new hypothesis at any attempt.
    asked(&project, PACKET)
        .exits(65)
        .says("line 1: at rescue attempt 4 only a terminal <ESCALATION> payload is accepted");
}

#[test]
fn a_hypothesis_that_was_spent_is_named_with_its_line() {
    let project = with_unblocker();
    asked(&project, FIX).exits(0);
    asked(&project, &FIX.replace("the fixture holds the word", "the word, the fixture holds it"))
        .exits(65)
        .says("line 5: `new_hypothesis` is nearly the same as an earlier one: “the fixture holds the word”");
}

fn check(project: &Project, session: &str) -> Command {
    let mut command = project.command("gate", project.repo.root());
    command.args(["check", "--json", "--done"]).env("GATE_SESSION", session);
    command
}

#[test]
fn two_sessions_at_once_climb_their_own_ladders_and_nothing_is_forgotten_in_between() {
    let project = Project::new().edited("broken");
    let attempts = |commands: Vec<Command>| -> Vec<u64> {
        let verdict = |command| -> Value { serde_json::from_str(&finish(command, b"").out).unwrap() };
        commands.into_iter().map(|command| verdict(command)["attempt"].as_u64().unwrap()).collect()
    };
    for half in [[1, 2], [3, 4]] {
        let sides: Vec<_> = ["one", "two"]
            .map(|session| {
                let commands = vec![check(&project, session), check(&project, session)];
                thread::spawn(move || attempts(commands))
            })
            .into_iter()
            .map(|side| side.join().unwrap())
            .collect();
        assert_eq!(sides, [half, half]);
        // What is derived from the journal is a cache.
        let _ = fs::remove_file(project.gate_dir().join("state.json"));
    }
    for session in ["one", "two"] {
        let payload = read_json(&project.gate_dir().join(format!("verdicts/escalation_{session}.json")));
        valid("escalation", &payload);
        assert_eq!(payload["attempt"], 4);
        project.gate_with(&[("GATE_SESSION", session)], &["check", "--done"]).exits(11).says("attempt 5, handed over");
    }
}

#[test]
fn of_two_handoffs_at_the_same_instant_one_is_an_attempt() {
    let project = used_up();
    // A filter holds each process while it looks at the content, after it read how far the rescue is.
    let filter = "if [ -n \"$HOLD\" ] && mkdir .git/held.$HOLD 2>/dev/null; then echo here >.git/arrived.$HOLD; cat \
                  .git/go.$HOLD; fi\ncat\n";
    let git = project.repo.root().join(".git");
    fs::write(git.join("filter.sh"), filter).unwrap();
    fs::create_dir_all(git.join("info")).unwrap();
    fs::write(git.join("info/attributes"), "src/other.sh filter=held\n").unwrap();
    project.repo.git(["config", "filter.held.clean", "sh .git/filter.sh"]);
    project.repo.append("src/other.sh", "more\n");
    project.sh("mkfifo .git/arrived.a .git/arrived.b .git/go.a .git/go.b").exits(0);
    let sides: Vec<_> = ["a", "b"]
        .into_iter()
        .map(|side| {
            let mut command = project.command("gate", project.repo.root());
            command.args(["handoff", "--task", ".git/task.md", "--untried", "--session", "coder"]).env("HOLD", side);
            thread::spawn(move || finish(command, b""))
        })
        .collect();
    for side in ["a", "b"] {
        assert_eq!(fs::read_to_string(git.join(format!("arrived.{side}"))).unwrap(), "here\n");
    }
    for side in ["a", "b"] {
        fs::write(git.join(format!("go.{side}")), "").unwrap();
    }
    let said: Vec<Said> = sides.into_iter().map(|side| side.join().unwrap().exits(0)).collect();
    assert_eq!(said[0].out, said[1].out, "one packet");
    assert!(said[0].out.contains("[ATTEMPT: 1]"), "{}", said[0].out);
    let handed = project.journal().iter().filter(|line| line["data"].to_string().contains("handed-over")).count();
    assert_eq!(handed, 1);
    project.repo.append("src/lib.sh", "tried again\n");
    assert!(hand_over(&project).1.contains("[ATTEMPT: 2]"));
}
