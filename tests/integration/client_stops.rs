//! Stops of agent clients: which are held, which are reported, and which are left alone.

use serde_json::{Value, json};

use crate::client_session::Session;
use crate::project::{POLICY, Project};

#[test]
fn a_premature_stop_is_held_until_the_missing_run() {
    let project = Project::new();
    let session = Session::claude(&project);
    session.hook("SessionStart", json!({"source": "startup"})).quiet();
    session.prompt("change the library");
    project.edit("a change");
    session.stop("All done, all tests pass!").pushes("Next: gate run test");

    assert_eq!(session.run("sh test.sh"), 0);
    session.stop("Now the tests pass.").quiet();

    let run = project.journal().into_iter().rfind(|line| line["kind"] == "run").unwrap();
    assert_eq!((&run["by"], &run["grade"]), (&json!("claude"), &json!("hooked")));
    assert_eq!(run["data"]["report"]["passed"], 3, "{run:#}");
    project.check().exits(0);
    project.push("git push origin feature").exits(0);
}

#[test]
fn parts_of_a_declared_command_that_run_one_by_one_prove_it() {
    let project = Project::with(
        "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"(cd a && sh t.sh) && (cd b && sh t.sh)\"\n",
    );
    project.repo.write("a/t.sh", "echo a\n").write("b/t.sh", "test ! -e ../fail\n").write(".gitignore", "fail\n");
    project.edit("a change");
    let session = Session::claude(&project).prompted("change the library");
    assert_eq!(session.run("cd a && sh t.sh"), 0);
    project.check().exits(10);
    assert_eq!(session.run("cd b && sh t.sh"), 0);
    project.check().exits(0);

    // Each of them passes on other content.
    project.edit("one more");
    assert_eq!(session.run("cd b && sh t.sh"), 0);
    project.edit("and one");
    assert_eq!(session.run("cd a && sh t.sh"), 0);
    project.check().exits(10);

    // The one that passed before fails now.
    assert_eq!(session.run("touch fail"), 0);
    assert_ne!(session.run("cd b && sh t.sh"), 0);
    assert_eq!(session.run("cd a && sh t.sh"), 0);
    project.check().exits(10);
}

#[test]
fn a_push_names_the_tests_that_the_agent_took_for_the_declared_ones() {
    let project = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"make test\"\n");
    project.repo.write("Makefile", "test:\n\tsh test.sh\n\tsh more.sh\nunit-test:\n\tsh test.sh\n");
    project.edit("a change");
    let session = Session::claude(&project).prompted("change the library");
    assert_eq!(session.run("make unit-test"), 0);
    let words = "`make unit-test` passed, but gate cannot know that it ran all tests";
    project.push("git push origin feature").says(words);
    project.edit("one more");
    project.push("git push origin feature").never_says(words);
}

#[test]
fn a_failing_run_proves_nothing() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("broken");
    assert_eq!(session.run("sh test.sh"), 101);
    session.stop("Done.").pushes("`sh test.sh` failed on this content");
    // A status that is not its own is none.
    assert_eq!(session.run("sh test.sh | tail -1"), 0);
    session.stop("Done.").pushes("failed on this content");
}

#[test]
fn who_was_asked_only_for_a_failing_test_may_stop_with_it() {
    let policy = POLICY.replace("sh test.sh", "sh run.sh").replace("\"test.sh\"", "\"run.sh\", \"tests/**\"");
    let project = Project::bare_bones();
    let run = "for f in tests/test_*.py; do python3 $f || exit 1; done; echo '1 passed in 0.1s'\n";
    project.repo.write("gate.toml", policy).write("run.sh", run).write("tests/test_a.py", "").commit_all("test: a");
    project.share();
    project.gate(["init", "--yes"]).exits(0);
    let session = Session::claude(&project).prompted("Write a failing test that reproduces #12, do not fix it.");
    project.repo.write("tests/test_12.py", "raise SystemExit(1)\n");
    assert_eq!(session.run("sh run.sh"), 1);
    session.stop("All done, #12 is fixed.").pushes("failed on this content");
    session.stop("The failing test is there, and all tests pass.").pushes("failed on this content");
    let said = session.stop("I added tests/test_12.py. It fails, as #12 says.");
    assert!(said.out.contains("only a failing test was asked for") && !said.out.contains("\"decision\""), "{said:?}");
    // Code is not what was asked for.
    project.edit("broken");
    assert_eq!(session.run("sh run.sh"), 1);
    session.stop("I added a test, and it fails.").pushes("failed on this content");
}

#[test]
fn the_fourth_stop_goes_to_a_person_and_a_new_task_begins_anew() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("a change");
    session.stop("Done.").pushes("Not proven yet (attempt 1).");
    session.stop("Done.").pushes("Nothing has changed since the last refusal.");
    session.stop("Done.").pushes("the last warning (attempt 3)");
    let released = session.stop("Done.");
    let answer: Value = serde_json::from_str(&released.out).unwrap();
    let told = answer["systemMessage"].as_str().unwrap();
    assert!(told.contains("without proof after 4 attempts"), "{told}");
    assert!(told.contains("\n- src/lib.sh") || told.contains("\n- gate has seen no run of `sh test.sh`"), "{told}");
    assert!(told.contains("\nCheck it yourself: gate run test\n"), "{told}");
    assert!(answer.get("decision").is_none(), "{answer}");
    assert!(project.gate_dir().join("verdicts/escalation_c0ffee-1.json").exists());
    assert!(session.stop("Done.").out.contains("systemMessage"), "and it stays with the person");

    // Whoever sets the agent to work again without a word of a person: what it mends and then changes anew is judged.
    project.edit("another change");
    assert!(session.stop("Done.").out.contains("systemMessage"), "nothing is shown to be mended");
    assert_eq!(session.run("sh test.sh"), 0);
    project.edit("one more");
    session.stop("Done.").pushes("(attempt 1)");

    session.prompt("go on, please");
    project.edit("more");
    session.stop("Done.").pushes("(attempt 1)");
}

#[test]
fn who_claims_nothing_and_waits_is_left_alone() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("what does the library do?");
    session.stop("It prints one line.").quiet();
    // The same words without proof, once something changed.
    project.edit("a change");
    session.stop("It prints two lines.").pushes("tests:");
    session.stop("Which of the two formats does the server expect? I cannot go on without it.").quiet();
    session.stop("To continue, please approve the OAuth consent screen in your browser.").quiet();
    session.stop("Shall I run the tests?").pushes("tests:");
    session.stop("Before I go on: which of the two servers is in production?").quiet();
    session.prompt("go on");
    project.edit("one more");

    let stop = |fields: Value| {
        let mut payload = json!({"last_assistant_message": "Done.", "background_tasks": []});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        session.hook("Stop", payload)
    };
    stop(json!({"permission_mode": "plan"})).quiet();
    let running = |line: &str| json!([{"id": "b", "type": "shell", "status": "running", "command": line}]);
    stop(json!({"background_tasks": running("sh test.sh")})).quiet();
    stop(json!({"background_tasks": running("cd . && sh test.sh 2>&1 | tee log")})).quiet();
    let waits =
        json!({"background_tasks": running("make deploy"), "last_assistant_message": "I wait for the deployment."});
    stop(waits).quiet();
    // A server that runs for ever is not a reason to believe that the work is done.
    stop(json!({"background_tasks": running("npm run dev")})).pushes("tests:");
    let server = json!({"background_tasks": running("npm run dev"), "last_assistant_message": "The page is up."});
    stop(server).pushes("tests:");
    project.gate(["log", "-n", "0", "--session", "c0ffee-1"]).exits(0).says("not judged: `sh test.sh` still runs");
    for never_there in [
        "sleep 100000; sh test.sh",
        "tail -f /dev/null; sh test.sh",
        "read x; sh test.sh",
        "while true; do sh test.sh; sleep 60; done",
    ] {
        session.prompt("go on");
        project.edit(never_there);
        stop(json!({"background_tasks": running(never_there)})).pushes("tests:");
    }
    stop(json!({"background_tasks": running("sleep 5 && sh test.sh")})).quiet();
    session.prompt("go on");
    project.edit("another change");
    stop(json!({"agent_id": "a1", "agent_type": "explore"})).quiet();
    stop(json!({})).pushes("tests:");
}

#[test]
fn unproven_edits_are_held_whatever_else_the_message_says() {
    for (words, held) in [
        ("We now round half to even. Does this match what you wanted?", true),
        ("The total is rounded now. Ready to commit?", true),
        ("Much better. Want to try it before I commit?", true),
        ("I fixed the rounding. To deploy it, please complete the OAuth consent in the browser.", true),
        ("I have fixed it. You also need to run the tests yourself.", true),
        ("All tests pass. Which branch should it go to?", true),
        ("Did I run the tests? Yes, and they passed.", true),
        ("Is it done? Yes.", true),
        ("src/lib.sh updated, tests green. I need the API key to deploy. Can you provide it?", true),
        ("It now prints two lines; pytest is green. Which name do you prefer for the helper?", true),
        ("Fertig, alle Tests sind grün. Soll ich committen?", true),
        ("完成了，所有测试都通过。需要我提交吗？", true),
        ("Valmis, kaikki testit menevät läpi. Minkä nimen haluat?", true),
        ("There are two ways. Should I use a lock, or would you prefer a queue?", false),
        ("The server sends two formats. Which one is in production?", false),
        ("Before I can go on I need your API key from the dashboard.", false),
    ] {
        let project = Project::new();
        let session = Session::claude(&project).prompted("change the library");
        project.edit("a change");
        let stopped = session.stop(words);
        assert_eq!(stopped.out.contains("\"block\""), held, "{words}: {stopped:?}");
    }
}

#[test]
fn a_question_that_releases_unproven_work_is_reported() {
    for words in [
        "It prints two lines. Which name do you prefer for the helper?",
        "Kaksi riviä. Kumman nimen haluat?",
        "Could you grant me permission to use the network?",
    ] {
        let project = Project::new();
        let session = Session::claude(&project).prompted("change the library");
        project.edit("a change");
        let stopped = session.stop(words);
        let answer: Value = serde_json::from_str(&stopped.out).unwrap_or_else(|error| panic!("{error}: {stopped:?}"));
        assert!(answer.get("decision").is_none(), "{answer}");
        let told = answer["systemMessage"].as_str().unwrap();
        assert!(told.contains("not proven: gate has seen no run of `sh test.sh`"), "{told}");
        assert_eq!(session.run("sh test.sh"), 0);
        session.stop(words).quiet();
    }
}

#[test]
fn a_session_that_edited_nothing_is_held_only_where_it_says_that_the_tests_passed() {
    let project = Project::new().edited("a person's own change");
    let session = Session::claude(&project).prompted("is the library finished");
    session.stop("Yes, the implementation is complete.").quiet();
    session.stop("Yes, the implementation is complete and all tests pass.").pushes("tests:");
    session.prompt("go on");
    project.edit("a change");
    session.stop("The implementation is complete.").pushes("tests:");
}

#[test]
fn documentation_alone_asks_for_nothing() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("mend the README");
    project.repo.append("README.md", "more\n");
    session.stop("Done, everything is finished.").quiet();
    project.repo.commit_all("docs: more");
    session.stop("Done, everything is finished.").quiet();
}

#[test]
fn a_new_task_is_judged_however_soon_it_follows_one_that_was_broken_off() {
    let project = Project::new();
    let session = Session::of(&project, "codex", "c0ffee-1").prompted("change the library");
    session.hook("Interrupt", json!({})).quiet();
    session.prompt("go on");
    project.edit("more");
    session.stop("All done, all tests pass!").pushes("(attempt 1)");
}

#[test]
fn unproven_work_that_is_called_finished_is_held_whatever_else_is_said() {
    let project = Project::new();
    let session = Session::claude(&project);
    for words in [
        "I have fixed the rounding. To deploy it, please complete the OAuth consent in the browser.",
        "Everything is implemented. You need to log in to your account with 2FA to deploy.",
        "The rounding works now. Which branch should it go to?",
        "I updated the library. Which reviewers should I add?",
        "The server is up. Want to test it?",
        "It is fixed. You also need to run the tests yourself.",
        "Done. Should it be squashed?",
    ] {
        session.prompt("fix the rounding");
        project.edit(words);
        session.stop(words).pushes("tests:");
    }
    // A question may end the turn. The person learns what is not proven, unless the work cannot go on without an answer.
    let words = "I found two schemas. Which of them does the server expect?";
    session.prompt("fix the rounding");
    project.edit(words);
    session.stop(words).says("(this does not block)").says("its work is not proven");
    let words = "I added the call. To continue I need your API key from the dashboard.";
    session.prompt("fix the rounding");
    project.edit(words);
    session.stop(words).quiet();
}

#[test]
fn who_only_answers_a_question_does_not_answer_for_a_persons_own_change() {
    let project = Project::new().edited("a person's change");
    let session = Session::claude(&project).prompted("does the library print one line?");
    session.run("cat src/lib.sh > /dev/null");
    session.stop("Yes. The implementation is complete.").quiet();
    // A claim of proof is another matter; a task does not make that change its own.
    session.stop("Yes, all tests pass.").pushes("tests:");
    session.prompt("finish the library");
    session.stop("The implementation is complete.").quiet();
    session.prompt("finish it.");
    project.edit("a change");
    session.prompt("is it done?");
    session.stop("The implementation is complete.").pushes("tests:");
}

#[test]
fn a_run_that_did_not_end_by_itself_is_called_what_it_is() {
    let project = Project::new();
    let session = Session::claude(&project);
    let failed = |error: &str, id: &str| {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "sh test.sh"}, "tool_use_id": id});
        session.hook("PreToolUse", call.clone()).quiet();
        let mut after = call;
        after["error"] = json!(error);
        session.hook("PostToolUseFailure", after).quiet();
    };
    for (id, error, says) in [
        ("t1", "Exit code 143\nCommand timed out after 2s", "`sh test.sh` was ended by the time limit"),
        ("t2", "Exit code 137", "`sh test.sh` was killed (signal 9)"),
        ("t3", "Exit code 143\nterminated", "`sh test.sh` was killed (signal 15)"),
        ("t4", "Exit code 124", "`sh test.sh` was ended by the time limit"),
    ] {
        session.prompt("change the library");
        project.edit(id);
        failed(error, id);
        let told = session.stop("Done.").pushes(says);
        assert!(!told.contains("failed") && !told.contains("no run of"), "{told}");
    }
    session.prompt("change the library");
    project.edit("another change");
    let call = json!({"tool_name": "Bash", "tool_use_id": "b", "tool_input": {"command": "sh test.sh", "run_in_background": true}});
    session.hook("PreToolUse", call.clone()).quiet();
    let mut after = call;
    after["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": "b1"});
    session.hook("PostToolUse", after).quiet();
    session.stop("Done, all tests pass.").pushes("`sh test.sh` has started and, by the record, has not ended yet");
    let stopped = "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>b</tool-use-id>\n<status>killed</status>\n\
                   <summary>Background command \"x\" was stopped</summary>\n</task-notification>";
    session.prompt(stopped);
    session.stop("Done.").pushes("`sh test.sh` was killed (signal 15)");
    assert_eq!(session.run("sh test.sh"), 0);
    session.stop("Done.").quiet();
}

#[test]
fn what_only_words_or_counts_show_is_told_to_person_and_agent_and_holds_nobody() {
    for (words, told) in [
        ("The login still has an SQL injection, which is left for later.", "names a security hole and leaves it open"),
        (
            "The login still has an SQL injection. Which of the two schemas is in production?",
            "names a security hole and leaves it open",
        ),
        ("One test is flaky, ignoring it.", "dismisses a test as flaky"),
        ("I opened https://example.com/a/b/pull/7.", "but nothing confirms it"),
    ] {
        // Only `pull` is on by default.
        let words_on = if told == "but nothing confirms it" { "" } else { "words = [\"security\", \"flaky\"]\n" };
        let project = Project::with(&format!(
            "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n[gates.claims.params]\n{words_on}"
        ));
        let session = Session::claude(&project).prompted("change the library");
        project.edit("a change");
        assert_eq!(session.run("sh test.sh"), 0);
        let answer: Value = serde_json::from_str(&session.stop(words).out).unwrap();
        assert!(answer["systemMessage"].as_str().unwrap().contains(told), "{answer}");
        assert!(answer.get("decision").is_none(), "{answer}");
        let added = session.hook("UserPromptSubmit", json!({"prompt": "go on"}));
        let added: Value = serde_json::from_str(&added.out).unwrap();
        let context = &added["hookSpecificOutput"]["additionalContext"];
        assert!(context.as_str().unwrap().contains(told), "{added}");
        session.prompt("and on");
    }
    // A plan, and nothing but looking around before it.
    let project = Project::new();
    let session = Session::claude(&project).prompted("Implement sub in src/lib.sh, with tests.");
    for _ in 0..6 {
        session.run("git status > /dev/null");
        session.run("ls > /dev/null");
    }
    let told = session.stop("Here is my plan. Next steps: 1. write sub 2. write tests.");
    let answer: Value = serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("{error}: {told:?}"));
    assert!(answer["systemMessage"].as_str().unwrap().contains("12 tool calls"), "{answer}");
}

#[test]
fn who_waits_for_a_suite_that_the_record_shows_running_is_left_alone() {
    let project = Project::new();
    let session = Session::of(&project, "copilot", "c0ffee-1");
    session.hook("userPromptSubmitted", json!({"prompt": "change the library"})).quiet();
    project.edit("a change");
    let call = json!({"toolName": "bash", "toolArgs": {"command": "sh test.sh"}});
    session.hook("preToolUse", call.clone()).quiet();
    let mut after = call;
    after["toolResult"] = json!({
        "resultType": "success",
        "textResultForLlm": "<shellId: 1 is still running after 30 seconds. The command is still running>",
    });
    session.hook("postToolUse", after).quiet();
    session.hook("agentStop", json!({"stopReason": "end_turn"})).quiet();
}

#[test]
fn a_claim_that_the_record_contradicts_is_said_to_whom_it_concerns() {
    // A rule on words that is off by default.
    let project = Project::with(
        "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n[gates.claims.params]\nwords = [\"tests\"]\n",
    );
    let session = Session::claude(&project).prompted("mend the README");
    project.repo.append("README.md", "more\n");
    session.run("ls -la; cat README.md > /dev/null");
    // Nothing is missing: the agent is let go, and its person hears of it.
    let told = session.stop("All tests pass.");
    let answer: Value = serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("{error}: {told:?}"));
    assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    assert!(answer["systemMessage"].as_str().unwrap().contains("no such run is recorded"), "{answer}");
    session.stop("The README is mended.").quiet();
    session.hook("UserPromptSubmit", json!({"prompt": "go on"})).exits(0).says("no such run is recorded");
    project.edit("a change");
    let feedback = session.stop("All tests pass.").pushes("tests:");
    assert!(feedback.contains("\n- claims: the agent said “All tests pass"), "{feedback}");
    session.stop("I am done.").pushes("tests:");
}
