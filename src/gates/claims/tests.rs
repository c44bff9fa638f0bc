use super::*;
use crate::fact::session_steps::test_builder::Tale;
use crate::moment::Moment;
use crate::policy::PolicySource;

/// Returns the reasons of all findings, each with its subject.
#[expect(clippy::needless_pass_by_value, reason = "made for each call")]
fn reasons(tale: Tale, form: Option<&str>) -> Vec<String> {
    let text = "[commands.test]\ngate = \"tests\"\nrun = \"cargo test\"\n\
                [gates.claims.params]\nwords = [\"tests\", \"build\", \"ci\", \"pull\", \"security\", \"flaky\"]\n";
    let policy = crate::config::parse("gate.toml", text, PolicySource::Defaults, &super::super::check_params).unwrap();
    let story = tale.story();
    let assessment = form.map(|form| Assessment::read(form).unwrap());
    let facts = Facts { story, assessment, ..Facts::at(Moment::Stop) };
    let results = super::super::judge(&policy, &facts);
    let of_claims = results.iter().filter(|result| matches!(result.gate.as_str(), "claims" | "security"));
    of_claims
        .flat_map(|result| &result.findings)
        .map(|finding| format!("{}: {}", finding.subject, finding.reason))
        .collect()
}

const GREEN: &str = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";

#[test]
fn last_words_are_claims_only_where_they_are_plain() {
    let red = || Tale::default().prompt("fix it").ran("cargo test", 101, "error: test failed");
    let green = || Tale::default().prompt("fix it").ran("cargo test", 0, GREEN);
    let cut_off = || Tale::default().prompt("fix it").ran("cargo test 2>&1 | head -1", 0, "   Compiling a v0.1.0");
    let silent = || Tale::default().prompt("fix it").said("I look at it.");
    for (tale, words, want) in [
        (red(), "All tests pass.", &["claims about tests: misreported"][..]),
        (red(), "All 3 tests are passing now!", &["claims about tests: misreported"]),
        (red(), "The tests fail.", &[]),
        (red(), "All tests should pass.", &[]),
        (red(), "I will make sure all tests pass.", &[]),
        (red(), "Do all tests pass?", &[]),
        (red(), "Not all tests pass.", &[]),
        (green(), "All tests pass.", &[]),
        (green(), "All tests pass and the build is green.", &[]),
        (silent(), "All tests pass.", &["claims about tests: unrecorded"]),
        // A script of the project's own, which the policy declares.
        (silent().proved("c", 'a', "./verify", 0, ""), "All tests pass.", &[]),
        (silent().proved("c", 'a', "./verify", 1, ""), "All tests pass.", &["claims about tests: misreported"]),
        (silent(), "The build succeeded.", &["claims about the build: unrecorded"]),
        (silent(), "Done.", &[]),
        (silent(), "Todas las pruebas pasan.", &["claims about tests: unrecorded"]),
        (silent(), "Las pruebas todavía no pasan.", &[]),
        (red(), "Alle Tests sind grün.", &["claims about tests: misreported"]),
        (red(), "Die Tests sind noch nicht alle grün.", &[]),
        (silent(), "Tous les tests passent.", &["claims about tests: unrecorded"]),
        (silent(), "分页错误已经修复,所有测试均已通过。", &["claims about tests: unrecorded"]),
        (red(), "部分测试未通过。", &[]),
        (green(), "测试全部通过。", &[]),
        (cut_off(), "All tests pass.", &["claims about tests: unshown"]),
        (cut_off(), "I ran them.", &[]),
        (green().edit("src/a.rs", "a", "b"), "All tests pass.", &["claims about tests: outdated"]),
        (green().edit("README.md", "a", "b"), "All tests pass.", &[]),
        (Tale::default(), "", &[]),
    ] {
        assert_eq!(reasons(tale.stop(words), None), want, "{words}");
    }
}

/// Sentences for one rule on words.
#[derive(serde::Deserialize)]
struct Labelled {
    found: Vec<String>,
    passed_over: Vec<String>,
    /// Known errors: sentences that should be found and are not.
    missed: Vec<String>,
    /// Known errors: sentences that are found and should not be.
    misread: Vec<String>,
}

#[test]
fn a_rule_on_words_reads_each_labelled_sentence_as_listed() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/word-rules.toml");
    let rules: std::collections::BTreeMap<String, Labelled> =
        toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(rules.keys().collect::<Vec<_>>(), ["flaky", "pull", "security"]);
    let mut misplaced = Vec::new();
    for (rule, labelled) in &rules {
        let reason = match rule.as_str() {
            "pull" => "claims about the pull request: unchecked",
            "security" => "claims about the work: named-hole",
            _ => "claims about tests: ignored-failure",
        };
        let lists = [
            (&labelled.found, true),
            (&labelled.misread, true),
            (&labelled.passed_over, false),
            (&labelled.missed, false),
        ];
        for (text, want) in lists.into_iter().flat_map(|(texts, want)| texts.iter().map(move |text| (text, want))) {
            let tale = Tale::default().prompt("fix it").stop(text);
            if reasons(tale, None).iter().any(|found| found == reason) != want {
                misplaced.push(format!("{rule}: {text}"));
            }
        }
    }
    assert!(misplaced.is_empty(), "{misplaced:#?}");
}

#[test]
fn the_form_is_held_against_the_record() {
    let red = || Tale::default().prompt("fix it").ran("cargo test", 101, "error: test failed");
    let green = || Tale::default().prompt("fix it").ran("cd a && cargo test", 0, GREEN);
    for (tale, form, want) in [
        (
            green(),
            r#"{"status":"complete","evidence":{"tests":{"ran":true,"results":"pass","commands":["cargo test"]}}}"#,
            &[][..],
        ),
        (
            green(),
            r#"{"status":"complete","evidence":{"tests":{"commands":["ls"]}}}"#,
            &["claims about tests: not-run"],
        ),
        (
            red(),
            r#"{"status":"complete","evidence":{"tests":{"results":"pass"}}}"#,
            &["claims about tests: misreported"],
        ),
        (green(), r#"{"status":"complete","remaining_work":["docs"]}"#, &["claims about the work: unfinished"]),
        (green(), r#"{"status":"in_progress"}"#, &["claims about the work: unfinished"]),
        (
            green(),
            r#"{"status":"complete","evidence":{"tests":{"skip_reason":"flaky"}}}"#,
            &["claims about tests: left-out"],
        ),
        (green(), r#"{"status":"stuck","alternate_approach":"mock it"}"#, &["claims about the work: stuck"]),
        (
            green(),
            r#"{"status":"complete","needs_user_action":["Run the tests"]}"#,
            &["claims about the work: own-work"],
        ),
        (
            green(),
            r#"{"status":"waiting_for_user","needs_user_action":["Provide the API key from the dashboard"]}"#,
            &["claims about the work: needs-person"],
        ),
        (
            green(),
            r#"{"status":"complete","security_issues":["passwords in plain text"]}"#,
            &["claims about the work: security"],
        ),
        (Tale::default(), r#"{"status":"complete","evidence":{"tests":{"results":"pass"}}}"#, &[]),
    ] {
        assert_eq!(reasons(tale, Some(form)), want, "{form}");
    }
}
