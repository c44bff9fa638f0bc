use proptest::prelude::*;

use super::*;

const FIX: &str = "environment_fix\nfailure_layer: environment\nobservations:\n- DATABASE_URL is not set\nnew_hypothesis: the test \
                   database is never started\naction:\n- start it with `make db`\n  before the tests\n";
const RETRY_PACKET: &str = "retry_packet_for_coder:\nnew_hypothesis: the fixture shadows the real clock\nfailure_layer: \
                            test_harness\nfiles_to_recheck:\n- tests/conftest.py\nforced_checklist:\n- [ ] the fixture is \
                            function scoped\nconstraints:\n- src/ stays as it is\nwhat_not_to_retry:\n- `pytest -k clock`\n\
                            decision_memory_notes:\n- none touches this\n";
const TERMINAL: &str = "<ESCALATION>\nstatus: blocked\nattempt: [ATTEMPT: 4]\ntask_scope: rescue\nsuspected_failure_layer:\n- \
                        unknown\nwhat_was_tried:\n- two hypotheses\nwhat_did_not_work:\n- both\nforced_context_checked:\n- \
                        the snapshot\ncurrent_invariants:\n- the build\nhandoff_artifacts:\n- the packet\nrequest:\n- \
                        Escalate above reflection layer.\n</ESCALATION>\n";

fn why(text: &str, attempt: u32, spent: &[&str]) -> String {
    let spent: Vec<String> = spent.iter().map(|&text| text.to_owned()).collect();
    let refusals = accept(text, attempt, &spent).expect_err(text);
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[test]
fn each_output_is_taken() {
    for name in ["contract_correction", "architecture_correction", "environment_fix", "test_harness_fix"] {
        let text = FIX.replacen("environment_fix", name, 1);
        match accept(&text, 1, &[]).unwrap() {
            Reply::Output(output) => {
                assert_eq!(output.name, name);
                assert_eq!(output.field("action"), ["start it with `make db` before the tests"]);
            }
            other => panic!("{other:?}"),
        }
    }
    match accept(RETRY_PACKET, 3, &[]).unwrap() {
        Reply::Output(output) => {
            assert_eq!(output.name, RETRY);
            assert_eq!(output.field("what_not_to_retry"), ["`pytest -k clock`"]);
            assert_eq!(output.hypothesis(), "the fixture shadows the real clock");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(accept("[NEED_CONTEXT: the lock file]\n", 2, &[]), Ok(Reply::NeedContext("the lock file".to_owned())));
    assert!(matches!(accept(TERMINAL, 4, &[]), Ok(Reply::Terminal(_))));
    let json = r#"{"output":"environment_fix","failure_layer":"environment","observations":["a"],"new_hypothesis":"b","action":"c"}"#;
    assert!(matches!(accept(json, 1, &[]), Ok(Reply::Output(_))));
    assert!(accept(&format!("```\n{FIX}```\n"), 1, &[]).is_ok(), "a fence around all of it");
    assert!(accept(&format!("\n\n## `environment_fix`\n{}", &FIX[16..]), 1, &[]).is_ok(), "a heading");
}

#[test]
fn what_is_wrong_is_named() {
    for (text, attempt, spent, says) in [
        ("", 1, &[][..], "empty"),
        ("I think you should try again.\n", 1, &[], "line 1: the first line names exactly one output"),
        (&format!("Sure!\n{FIX}"), 1, &[], "line 1: the first line"),
        (&FIX.replace("action:\n- start it with `make db`\n  before the tests\n", ""), 1, &[], "lacks `action`"),
        (&FIX.replace("- DATABASE_URL is not set\n", ""), 1, &[], "line 3: `observations` is empty"),
        (&FIX.replace("layer: environment", "layer: weather"), 1, &[], "line 2: `weather` is not a layer"),
        (&format!("{FIX}confidence: high\n"), 1, &[], "line 9: `confidence` is not a field of environment_fix"),
        (&format!("{FIX}action: more\n"), 1, &[], "`action` occurs twice"),
        (&format!("{FIX}Good luck!\n"), 1, &[], "line 9: “Good luck!” does not belong to a field"),
        (&format!("{FIX}{RETRY_PACKET}"), 1, &[], "`retry_packet_for_coder` is a second output"),
        (&FIX.replace("environment_fix", "new_plan"), 1, &[], "the first line names exactly one output"),
        (&RETRY_PACKET.replace("constraints:\n- src/ stays as it is\n", ""), 1, &[], "lacks `constraints`"),
        (&RETRY_PACKET.replace("- `pytest -k clock`\n", ""), 1, &[], "`what_not_to_retry` is empty"),
        ("[NEED_CONTEXT: ]", 1, &[], "name its target"),
        ("[NEED_CONTEXT: a]\nand more", 1, &[], "must be the whole reply"),
        (TERMINAL, 2, &[], "for rescue attempt 4; this is attempt 2"),
        (&TERMINAL.replace("[ATTEMPT: 4]", "[ATTEMPT: 2]"), 4, &[], "not 2"),
        (&TERMINAL.replace("request:", "ask:"), 4, &[], "line 17: expected here: `request:`"),
        (FIX, 4, &[], "only a terminal <ESCALATION> payload is accepted, not environment_fix"),
        ("[NEED_CONTEXT: x]", 5, &[], "only a terminal"),
        (FIX, 2, &["The test database is never really started!"], "is nearly the same as"),
        (r#"{"output":"environment_fix","failure_layer":3}"#, 1, &[], "`failure_layer` must be a text"),
        (r#"{"failure_layer":"environment"}"#, 1, &[], "names its output"),
        ("{", 1, &[], "not JSON"),
    ] {
        let said = why(text, attempt, spent);
        assert!(said.contains(says), "{said}\n{text}");
    }
    assert!(why(&"x".repeat(40_000), 1, &[]).contains("the reply has 40000 bytes"));
    assert!(accept(FIX, 2, &["the clock is mocked".to_owned()]).is_ok(), "another hypothesis");
}

#[test]
fn a_hypothesis_is_repeated_by_what_says_the_same() {
    for (before, now, expected) in [
        ("the version is 18", "the version is 20", false),
        ("the version is 18", "is the version 18?", true),
        (
            "the mock returns the wrong type",
            "the mock returns the type as promised; wrong is the contract, which asks for a string",
            false,
        ),
        ("the mock returns the wrong type", "the wrong type is returned by the mock, the mock returns it", true),
        ("DNS", "the proxy variable is unset, so that DNS is never asked at all", false),
        ("缓存 过期", "缓存 过期", true),
        ("缓存 过期", "时钟 错误", false),
        (
            "the fixture of the database is shared between both workers",
            "as far as can be seen, the database fixture is shared between both of the workers, which nobody expected",
            true,
        ),
    ] {
        assert_eq!(repeated(now, &[before.to_owned()]).is_some(), expected, "{before} → {now}");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_strange_to_be_judged(text in any::<String>()) {
        for attempt in [1, 4] {
            let _ = accept(&text, attempt, &[]);
            let _ = accept(&format!("environment_fix\n{text}"), attempt, &[]);
            let _ = accept(&format!("<ESCALATION>{text}"), attempt, &[]);
        }
    }
}
