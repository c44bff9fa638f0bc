//! When the attempts are used up: the payload, a clean handoff, the replies that are taken, and the end of it.

use std::fs;

use serde_json::Value;

use crate::client_session::Session;
use crate::project::{POLICY, Project, for_agents, read_json, valid};

/// What a person makes of a packet.
type Text<'a> = &'a dyn Fn(&str) -> String;

/// What was to be done.
pub const TASK: &str = "Make the library say two.\n\n- keep the interface\n";

/// A well-formed correction.
pub const FIX: &str = "environment_fix\nfailure_layer: environment\nobservations:\n- the word is in src/lib.sh\nnew_hypothesis: the \
                   fixture holds the word\naction:\n- look at the fixture\n";

/// A well-formed packet for the agent that failed.
pub const PACKET: &str = "retry_packet_for_coder\nnew_hypothesis: the source itself holds the broken word\nfailure_layer: \
                      contract_mismatch\nfiles_to_recheck:\n- src/lib.sh\nforced_checklist:\n- grep finds nothing\nconstraints:\n- \
                      test.sh stays as it is\nwhat_not_to_retry:\n- `sh test.sh --again`\ndecision_memory_notes:\n- none\n";

/// What it says is the cause.
const HYPOTHESIS: &str = "the source itself holds the broken word";

/// A well-formed end.
pub const TERMINAL: &str = "<ESCALATION>\nstatus: blocked\nattempt: [ATTEMPT: 4]\ntask_scope: rescue\nsuspected_failure_layer:\n- \
                        unknown\nwhat_was_tried:\n- three hypotheses\nwhat_did_not_work:\n- all of them\nforced_context_checked:\n- \
                        the snapshot\ncurrent_invariants:\n- the build\nhandoff_artifacts:\n- the packet\nrequest:\n- Escalate above \
                        reflection layer.\n</ESCALATION>\n";

/// The session whose work fails.
pub const CODER: &[(&str, &str)] = &[("GATE_SESSION", "coder")];

/// A commit whose tests fail, and an agent that tried four times.
pub fn used_up() -> Project {
    used_up_beside("cat >packet.txt; cat reply.txt")
}

/// The same where this command is the unblocker.
pub fn used_up_beside(unblocker: &str) -> Project {
    let project = Project::with(&format!("{POLICY}\n[unblock]\nrun = \"{unblocker}\"\n"));
    use_up(&project);
    project
}

/// Makes the tests fail, and uses up the attempts of the session.
pub fn use_up(project: &Project) {
    project.edit("broken");
    for _ in 0..4 {
        project.gate_with(CODER, &["run", "test"]).exits(101);
        project.gate_with(CODER, &["check", "--done"]);
    }
    fs::write(project.repo.root().join(".git/task.md"), TASK).unwrap();
}

/// Hands over, and returns the name of the packet and its text.
pub fn hand_over(project: &Project) -> (String, String) {
    let said = project.gate(["handoff", "--task", ".git/task.md"]).exits(0);
    let id = said.err.split("handed over as ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    (id, said.out)
}

/// Changes what fails: the same content is not handed over twice.
pub fn try_again(project: &Project) {
    project.repo.append("src/lib.sh", "tried again\n");
}

/// Gives a reply to the packet that waits.
pub fn reply(project: &Project, text: &str) -> crate::project::Said {
    fs::write(project.repo.root().join(".git/reply.md"), text).unwrap();
    project.gate(["unblock", "accept", ".git/reply.md"])
}

#[test]
fn nothing_is_handed_over_before_the_attempts_are_used_up() {
    let project = Project::new().edited("broken");
    project.gate(["check", "--done"]);
    fs::write(project.repo.root().join(".git/task.md"), TASK).unwrap();
    project
        .gate(["handoff", "--task", ".git/task.md"])
        .exits(10)
        .says("[NEED_CONTEXT: escalation_payload] gate hands over after 4 refused attempts (so far: 1)");
    project.gate(["unblock", "accept", ".git/task.md"]).exits(64).says("no handoff waits for a reply");
}

#[test]
fn the_packet_is_clean_proven_and_can_be_fetched() {
    let project = used_up();
    let (id, text) = hand_over(&project);
    for_agents(&text);
    for part in [
        "[ATTEMPT: 1]",
        "> Make the library say two.",
        "<ESCALATION>",
        "attempt: [ATTEMPT: 4]",
        "- command: `sh test.sh`",
        "- verified: true: it fails in the same way on a clean checkout",
        "> test result: FAILED. 2 passed; 1 failed",
        "[CHECKLIST]",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    // Another clone can fetch what it is about.
    let reference = format!("refs/gate/handoff/{id}");
    project.repo.git(["push", "-q", "--no-verify", "origin", &format!("{reference}:{reference}")]);
    fs::write(project.repo.root().join("packet.md"), &text).unwrap();
    let verified = project.gate(["handoff", "verify", "packet.md"]).exits(0);
    assert_eq!(verified.out, "ok\n");
    let json = project.gate(["handoff", "--task", ".git/task.md", "--json", "--untried"]).exits(0).out;
    fs::write(project.repo.root().join("packet.json"), &json).unwrap();
    project.gate(["handoff", "verify", "packet.json"]).exits(0);
    assert!(json.contains("not-tried"), "{json}");
    // What the agent did since is not part of it.
    let polluted = format!("{text}\n## My attempts\nLet me try the mock again\n");
    fs::write(project.repo.root().join("packet.md"), polluted).unwrap();
    project
        .gate(["handoff", "verify", "packet.md"])
        .exits(65)
        .says("[NEED_CONTEXT: clean_handoff]")
        .says("My attempts");
    fs::write(project.repo.root().join("packet.md"), "please help").unwrap();
    project.gate(["handoff", "verify", "packet.md"]).exits(65).says("[NEED_CONTEXT: escalation_payload]");
}

#[test]
fn uncommitted_content_is_handed_over_as_it_is() {
    let project = used_up();
    project.repo.append("src/other.sh", "broken as well\n");
    project.gate_with(CODER, &["run", "test"]).exits(101);
    let (id, text) = hand_over(&project);
    assert!(text.contains("fails in the same way on a clean checkout"), "{text}");
    let held = project.repo.git(["show", &format!("refs/gate/handoff/{id}:src/other.sh")]);
    assert!(held.contains("broken as well"), "{held}");
    // The objects are the repository's own: whoever has the ref has the content.
    let clone = project.repo.root().join(".git/fetched");
    project.repo.git(["clone", "-q", "--bare", "--no-local", ".", clone.to_str().unwrap()]);
    let reference = format!("refs/gate/handoff/{id}");
    project.repo.git(["-C", clone.to_str().unwrap(), "fetch", "-q", "../..", &reference]);
    assert!(project.repo.git(["status", "--porcelain"]).contains("src/other.sh"), "the working tree is untouched");
}

#[test]
fn a_task_with_the_failed_history_is_not_handed_over() {
    let project = used_up();
    fs::write(project.repo.root().join(".git/task.md"), format!("{TASK}<thinking>it was the mock</thinking>\n"))
        .unwrap();
    project
        .gate(["handoff", "--task", ".git/task.md"])
        .exits(65)
        .says("[NEED_CONTEXT: clean_handoff] line 4 of the task: recorded reasoning");
    fs::write(project.repo.root().join(".git/task.md"), "\n").unwrap();
    project.gate(["handoff", "--task", ".git/task.md"]).exits(65).says("the task is empty");
    project.gate(["handoff", "--task", "no-such-file"]).exits(65).says("no-such-file");
}

#[test]
fn the_coder_resumes_with_the_packet_and_succeeds() {
    let project = used_up();
    hand_over(&project);
    reply(&project, "I would try again.").exits(65).says("line 1: the first line names exactly one output");
    reply(&project, &PACKET.replace("constraints:\n- test.sh stays as it is\n", ""))
        .exits(65)
        .says("lacks `constraints`");
    reply(&project, TERMINAL).exits(65).says("for rescue attempt 4; this is attempt 1");
    reply(&project, PACKET).exits(0).says("retry_packet_for_coder accepted").says("## what_not_to_retry");
    reply(&project, PACKET).exits(64).says("no handoff waits");
    // What it rules out is named when it is done all the same.
    project.gate_with(CODER, &["run", "--", "sh", "test.sh", "--again"]).exits(101);
    let verdict = project.verdict_with(CODER, &[]);
    let feedback = verdict["feedback"].as_str().unwrap();
    assert!(feedback.contains("not to do this again, and it was done again: `sh test.sh --again`"), "{feedback}");
    assert_eq!(verdict["outcome"], "needs-human");
    // The coder mends it.
    let mended = fs::read_to_string(project.repo.root().join("src/lib.sh")).unwrap().replace("broken", "two");
    project.repo.write("src/lib.sh", &mended).commit_all("fix: two");
    project.gate_with(CODER, &["run", "test"]).exits(0);
    let pass = project.verdict_with(CODER, &[]);
    assert_eq!((&pass["outcome"], &pass["attempt"]), (&"pass".into(), &0.into()));
    project.gate(["handoff", "--task", ".git/task.md"]).exits(13).says("nothing is failing");
}

/// A coder that a client let go, with a task for whoever comes next.
fn stopped_four_times(project: &Project) -> Session<'_> {
    let coder = Session::claude_called(project, "coder").prompted("Make the library say two.");
    project.edit("broken");
    for _ in 0..4 {
        coder.stop("All done, all tests pass.");
    }
    fs::write(project.repo.root().join(".git/task.md"), TASK).unwrap();
    coder
}

#[test]
fn a_packet_that_a_person_passes_on_is_no_new_task() {
    let project = Project::with(POLICY);
    let coder = stopped_four_times(&project);
    let packet = |hypothesis: &str| {
        let said = reply(&project, &PACKET.replace("the source itself holds the broken word", hypothesis)).exits(0);
        assert!(said.out.contains("## what_not_to_retry"), "{said:?}");
        said.out
    };
    let fresh = Session::claude_called(&project, "fresh");
    for (attempt, session, hypothesis) in
        [(1, &coder, "the clock is mocked"), (2, &coder, "a cache is stale"), (3, &fresh, "the shell differs")]
    {
        let (_, text) = hand_over(&project);
        assert!(text.contains(&format!("[ATTEMPT: {attempt}]")), "{text}");
        session.prompt(&packet(hypothesis));
        let told = session.stop("All done, all tests pass.").text();
        assert!(told.contains("stopped without proof") && !told.contains("it was done again"), "{told}");
        assert_eq!(session.run("sh test.sh --again"), 101);
        let told = session.stop("All done, all of the tests pass.").text();
        assert!(told.contains("not to do this again, and it was done again: `sh test.sh --again`"), "{told}");
    }
    let (_, text) = hand_over(&project);
    assert!(text.contains("[ATTEMPT: 4]") && text.contains("- the clock is mocked"), "{text}");
    // What a person asked for is still the task.
    let payload = project.gate(["escalate", "--json", "--session", "fresh"]);
    assert!(payload.out.contains("of the journal, “Make the library say two.”"), "{payload:?}");
    fresh.prompt("Forget it, make the library say three.");
    fresh.stop("Done, all tests pass.").says("[ATTEMPT: 1]");
}

#[test]
fn words_around_a_packet_and_prompts_that_say_nothing_are_no_new_task() {
    let project = Project::with(POLICY);
    let coder = stopped_four_times(&project);
    let fresh = Session::claude_called(&project, "fresh");
    let texts: [(&str, Text<'_>); 3] = [
        ("the clock is mocked", &|packet| format!("Here is what the unblocker says: {packet}")),
        ("a cache is stale", &|_| format!("It says:\n\n{}", PACKET.replace(HYPOTHESIS, "a cache is stale"))),
        ("the shell differs", &|_| " \n".to_owned()),
    ];
    for (at, (hypothesis, text)) in texts.into_iter().enumerate() {
        let (_, handed) = hand_over(&project);
        assert!(handed.contains(&format!("[ATTEMPT: {}]", at + 1)), "{handed}");
        let packet = reply(&project, &PACKET.replace(HYPOTHESIS, hypothesis)).exits(0).out;
        coder.prompt(&text(&packet));
        coder.prompt("");
        let told = coder.stop("All done, all tests pass.").text();
        assert!(told.contains("stopped without proof"), "{told}");
    }
    // The reply in its own words makes whoever gets it the one that goes on.
    fresh.prompt(&format!("The unblocker: {}", PACKET.replace(HYPOTHESIS, "the shell differs")));
    assert_eq!(fresh.run("bash -c 'cd . && FOO=1 sh ./test.sh --again'"), 101);
    let told = fresh.stop("All done, all of the tests pass.").text();
    assert!(told.contains("not to do this again, and it was done again: `sh test.sh --again`"), "{told}");
    coder.prompt("Make the library say three.");
    coder.stop("Done, all tests pass.").says("[ATTEMPT: 1]");
}

#[test]
fn what_is_done_again_is_known_by_what_it_does() {
    let project = used_up();
    hand_over(&project);
    let items =
        "`sh test.sh --again`\n- another edit of `src/lib.sh`\n- `cp a b`\n- use `true` instead of `sh test.sh --all`";
    reply(&project, &PACKET.replace("`sh test.sh --again`", items)).exits(0);
    let named = || project.gate_with(CODER, &["check", "--done"]).text();
    project.gate_with(CODER, &["run", "--", "sh", "test.sh", "--other"]);
    project.gate_with(CODER, &["run", "--", "cp", "b", "a"]);
    project.gate_with(CODER, &["run", "--", "true"]);
    assert!(!named().contains("it was done again"), "{}", named());
    project.repo.append("src/lib.sh", "two\n");
    let found = named();
    assert!(found.contains("it was done again: another edit of `src/lib.sh`") && !found.contains("--again"), "{found}");
    project.gate_with(CODER, &["run", "--", "timeout", "60", "bash", "./test.sh", "--again"]);
    let found = named();
    assert!(found.contains("it was done again: `sh test.sh --again`") && !found.contains("cp a b"), "{found}");
}

#[test]
fn where_nothing_fails_there_is_nothing_to_escalate() {
    let project = Project::new();
    for args in [&["escalate"][..], &["escalate", "--json"]] {
        let said = project.gate(args.iter().copied()).exits(13).says("nothing is failing now");
        assert_eq!(said.out, "");
    }
}

#[test]
fn a_rescue_that_fails_ends_with_one_terminal_payload() {
    let project = used_up();
    for (attempt, hypothesis) in [(1, "the clock is mocked"), (2, "a cache is stale"), (3, "the shell differs")] {
        let (_, text) = hand_over(&project);
        assert!(text.contains(&format!("[ATTEMPT: {attempt}]")), "{text}");
        assert_eq!(text.contains("[FORCED_CONTEXT]"), attempt == 3, "{text}");
        let fix = FIX.replace("the fixture holds the word", hypothesis);
        if attempt == 2 {
            let same = FIX.replace("the fixture holds the word", "is it that the clock is mocked?");
            reply(&project, &same).exits(65).says("is nearly the same as an earlier one");
        }
        reply(&project, &fix).exits(0);
    }
    let (_, text) = hand_over(&project);
    assert!(text.contains("[ATTEMPT: 4]") && text.contains("- a cache is stale"), "{text}");
    reply(&project, FIX).exits(65).says("only a terminal <ESCALATION> payload is accepted");
    reply(&project, &TERMINAL.replace("request:", "wish:")).exits(65).says("expected here: `request:`");
    reply(&project, TERMINAL).exits(11).says("Escalate above reflection layer.");
    // And nothing after it, whoever asks.
    project.gate(["handoff", "--task", ".git/task.md"]).exits(11).says("gate does not hand it over again");
    reply(&project, TERMINAL).exits(64);
    project.gate_with(CODER, &["check", "--done"]).exits(11);
}

#[test]
fn without_a_terminal_reply_the_payload_is_ours_and_there_is_one() {
    let project = used_up();
    for _ in 0..4 {
        hand_over(&project);
        try_again(&project);
    }
    let said = project.gate(["handoff", "--task", ".git/task.md", "--json"]).exits(11);
    let payload: Value = serde_json::from_str(&said.out).unwrap();
    valid("escalation", &payload);
    assert_eq!(payload["attempt"], 5);
    project.gate(["handoff", "--task", ".git/task.md"]).exits(11).never_says("<ESCALATION>");
}

#[test]
fn the_documented_reply_and_commands_work() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/escalation.md")).unwrap();
    let block = |start: &str| {
        let (_, rest) = page.split_once(start).unwrap();
        rest.split_once("```").unwrap().0.to_owned()
    };
    let project = used_up();
    project.gate(["escalate"]).exits(0).says("<ESCALATION>").says("status: blocked");
    project.sh("gate handoff --task .git/task.md > .git/packet.md && gate handoff verify .git/packet.md").exits(0);
    reply(&project, &block("```text\n")).exits(0).says("gate: retry_packet_for_coder accepted");
    // The configuration is one that is read.
    let policy = format!("{POLICY}\n{}", block("```toml\n"));
    let project = Project::with(&policy);
    project.check().exits(0);
    project.gate(["escalate"]).exits(13);
}

#[test]
fn every_other_output_is_taken_and_a_question_too() {
    for name in ["contract_correction", "architecture_correction", "test_harness_fix"] {
        let project = used_up();
        hand_over(&project);
        reply(&project, &FIX.replace("environment_fix", name).replace("observations:", "seen:"))
            .exits(65)
            .says("`seen` is not a field");
        reply(&project, &FIX.replace("environment_fix", name)).exits(0).says(&format!("{name} accepted"));
    }
    let project = used_up();
    hand_over(&project);
    reply(&project, "[NEED_CONTEXT: ]").exits(65);
    reply(&project, "[NEED_CONTEXT: the fixture]").exits(10).says("[NEED_CONTEXT: the fixture]");
}

#[test]
fn the_configured_command_gets_the_packet_and_its_reply_is_taken() {
    let project = used_up();
    fs::write(project.repo.root().join("reply.txt"), PACKET).unwrap();
    project.gate(["unblock", "run", "--task", ".git/task.md"]).exits(0).says("retry_packet_for_coder accepted");
    let packet = fs::read_to_string(project.repo.root().join("packet.txt")).unwrap();
    assert!(packet.contains("<ESCALATION>") && packet.contains("> Make the library say two."), "{packet}");
    fs::write(project.repo.root().join("reply.txt"), "no idea").unwrap();
    project.gate(["unblock", "run", "--task", ".git/task.md"]).exits(65).says("is not accepted");
    fs::remove_file(project.repo.root().join("reply.txt")).unwrap();
    project.gate(["unblock", "run", "--task", ".git/task.md"]).exits(12).says("gave no reply");
}

#[test]
fn a_command_that_is_not_there_is_no_attempt_and_one_that_is_late_ends_with_all_it_started() {
    let project = used_up_beside("sh .git/unblocker.sh");
    let script = |text: &str| fs::write(project.repo.root().join(".git/unblocker.sh"), text).unwrap();
    let run = || project.gate(["unblock", "run", "--task", ".git/task.md", "--timeout", "1"]).exits(12);
    script("no-such-agent -p\n");
    for _ in 0..5 {
        run().says("there is no such command (status 127), so it does not count as an attempt");
    }
    project.gate(["log"]).exits(0).says("reached nobody");
    // What it started waits for a word that comes when it should be gone.
    project.sh("mkfifo .git/go").exits(0);
    script("(read x <.git/go; echo edited >>src/lib.sh)\necho never\n");
    run().says("gave no reply: not within 1 s");
    project.sh("exec 3<>.git/go; echo go >&3; ! grep edited src/lib.sh").exits(0);
    assert!(hand_over(&project).1.contains("[ATTEMPT: 1]"), "nobody answered it, and it is shown again");
    // A reply is there when who gives it has ended, whoever else still holds its output.
    script(&format!("sleep 600 &\ncat <<'EOF'\n{PACKET}EOF\n"));
    project.gate(["unblock", "run", "--task", ".git/task.md"]).exits(0).says("retry_packet_for_coder accepted");
}

#[test]
fn sessions_do_not_share_their_rescue() {
    let project = used_up();
    for _ in 0..4 {
        project.gate_with(&[("GATE_SESSION", "other")], &["check", "--done"]);
    }
    let of = |session: &str| project.gate(["handoff", "--task", ".git/task.md", "--untried", "--session", session]);
    let first = of("coder").exits(0).says("[ATTEMPT: 1]");
    assert_eq!(of("coder").exits(0).err, first.err, "to look at it again is not an attempt");
    try_again(&project);
    of("coder").exits(0).says("[ATTEMPT: 2]");
    of("other").exits(0).says("[ATTEMPT: 1]");
    let payload = read_json(&project.gate_dir().join("verdicts/escalation_other.json"));
    assert_eq!(payload["attempt"], 4);
}

#[test]
fn handoffs_side_by_side_count_what_they_hand_over() {
    let project = used_up();
    for _ in 0..4 {
        project.gate_with(&[("GATE_SESSION", "other")], &["check", "--done"]);
    }
    let side_by_side: Vec<_> = ["coder", "coder", "other", "coder"]
        .into_iter()
        .enumerate()
        .map(|(at, session)| {
            let mut command = project.command("gate", project.repo.root());
            match at {
                3 => command.args(["escalate", "--session", session]),
                _ => command.args(["handoff", "--task", ".git/task.md", "--untried", "--session", session]),
            };
            std::thread::spawn(move || (session, crate::project::finish(command, b"").exits(0)))
        })
        .collect();
    let said: Vec<_> = side_by_side.into_iter().map(|one| one.join().unwrap()).collect();
    let packet = |said: &crate::project::Said| {
        let id = said.err.split("handed over as ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        let attempt = said.out.split("[ATTEMPT: ").nth(1).unwrap().split(']').next().unwrap().to_owned();
        (id, attempt)
    };
    let (one, two) = (packet(&said[0].1), packet(&said[1].1));
    assert_eq!(one, two, "the same content is handed over once");
    assert_eq!(packet(&said[2].1).1, "1", "sessions do not share attempts");
    assert!(said[3].1.out.contains("attempt: [ATTEMPT: 4]"), "{:?}", said[3].1);
    try_again(&project);
    let args = ["handoff", "--task", ".git/task.md", "--untried", "--session", "coder"];
    project.gate(args).exits(0).says("[ATTEMPT: 2]");
}

#[test]
fn the_words_of_a_refusal_are_a_template() {
    let project = Project::new().edited("one");
    let folder = project.repo.home().join(".config/gate/templates");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("feedback.txt"),
        "Versuch {{ attempt }}:{% for one in findings %} {{ one.gate }}{% endfor %}",
    )
    .unwrap();
    fs::write(folder.join("checklist.txt"), "alles gelesen\n\nalles verstanden\n").unwrap();
    let feedback = || project.verdict()["feedback"].as_str().unwrap().to_owned();
    assert_eq!(feedback(), "Versuch 1: tests");
    fs::write(folder.join("feedback.txt"), "{{ nothing.of.this }}").unwrap();
    let verdict = project.verdict();
    assert!(verdict["feedback"].as_str().unwrap().starts_with("[ATTEMPT: 2]"), "{verdict}");
    assert!(verdict["notes"].to_string().contains("feedback.txt"), "{verdict}");
    fs::remove_file(folder.join("feedback.txt")).unwrap();
    assert!(feedback().ends_with("check each:\n[ ] alles gelesen\n[ ] alles verstanden"));
}
