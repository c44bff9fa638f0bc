//! What agent clients ask through their hooks, in payloads of our own writing that have the shapes of the real ones.

use serde_json::{Value, json};

use crate::project::{POLICY, Project, Said, finish, for_agents, read_json};

/// A session of one client in a project.
pub struct Session<'p> {
    project: &'p Project,
    client: &'static str,
    id: &'static str,
    calls: std::cell::Cell<u32>,
    role: Option<&'static str>,
}

impl<'p> Session<'p> {
    /// A session of Claude Code.
    pub fn claude(project: &'p Project) -> Self {
        Self::claude_called(project, "c0ffee-1")
    }

    /// One more session of Claude Code.
    pub fn claude_called(project: &'p Project, id: &'static str) -> Self {
        Self { project, client: "claude", id, calls: std::cell::Cell::new(0), role: None }
    }

    /// A session of an agent with a role.
    pub fn with_role(project: &'p Project, client: &'static str, id: &'static str, role: &'static str) -> Self {
        Self { client, role: Some(role), ..Self::claude_called(project, id) }
    }

    /// Calls the hook; `fields` are added to what every payload of the client has.
    pub fn hook(&self, event: &str, fields: Value) -> Said {
        let root = self.project.repo.root();
        let mut payload = match self.client {
            "copilot" => json!({"sessionId": self.id, "timestamp": 1, "cwd": root}),
            "opencode" => json!({"sessionID": self.id, "directory": root}),
            _ => json!({"session_id": self.id, "cwd": root, "hook_event_name": event, "transcript_path": "/none"}),
        };
        let Value::Object(fields) = fields else { panic!("{fields}") };
        payload.as_object_mut().unwrap().extend(fields);
        self.raw(event, payload.to_string().as_bytes())
    }

    fn raw(&self, event: &str, stdin: &[u8]) -> Said {
        let mut command = self.project.command("gate", self.project.repo.root());
        command.args(["hook", self.client, event]).envs(self.role.map(|role| ("GATE_ROLE", role)));
        // Whatever happens, the client must be able to go on.
        let said = finish(command, stdin).exits(0);
        for_agents(&said.out);
        said
    }

    /// A person writes.
    pub fn prompt(&self, text: &str) {
        let said = self.hook("UserPromptSubmit", json!({"prompt": text}));
        // Only a note about the prompt itself may come with it.
        assert!(said.err.is_empty() && (said.out.is_empty() || said.out.contains("additionalContext")), "{said:?}");
    }

    /// Runs a command as the agent does: the hook before, the command, the hook after.
    pub fn run(&self, line: &str) -> i32 {
        self.run_in("sh", line)
    }

    /// Runs a command in a shell of the client.
    pub fn run_in(&self, shell: &str, line: &str) -> i32 {
        self.calls.set(self.calls.get() + 1);
        let id = format!("toolu_{}", self.calls.get());
        let call = json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id});
        self.hook("PreToolUse", call.clone()).quiet();
        let done = self.project.runs(shell, line);
        let mut after = call;
        let fields = after.as_object_mut().unwrap();
        if done.code == 0 {
            fields
                .insert("tool_response".to_owned(), json!({"stdout": done.text(), "stderr": "", "interrupted": false}));
            self.hook("PostToolUse", after).quiet();
        } else {
            fields.insert("error".to_owned(), json!(format!("Exit code {}\n{}", done.code, done.text())));
            self.hook("PostToolUseFailure", after).quiet();
        }
        done.code
    }

    /// The agent ends its turn with these words.
    pub fn stop(&self, words: &str) -> Said {
        self.hook("Stop", json!({"last_assistant_message": words, "stop_hook_active": false, "background_tasks": []}))
    }
}

impl Said {
    /// Nothing is answered: the client goes on.
    #[track_caller]
    pub fn quiet(self) -> Self {
        assert_eq!((self.out.as_str(), self.err.as_str()), ("", ""), "{self:?}");
        self
    }

    /// The agent is pushed, with these words among others.
    #[track_caller]
    pub fn pushes(self, words: &str) -> String {
        let answer: Value = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        assert_eq!(answer["decision"], "block", "{answer}");
        let reason = answer["reason"].as_str().unwrap().to_owned();
        assert!(reason.contains(words), "no {words:?} in\n{reason}");
        assert_eq!(answer.as_object().unwrap().len(), 2, "{answer}");
        reason
    }
}

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
fn a_failing_run_proves_nothing() {
    let project = Project::new();
    let session = Session::claude(&project);
    session.prompt("change the library");
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
    project.repo.write("gate.toml", policy).write("run.sh", run).write("tests/test_a.py", "");
    project.repo.commit_all("test: a");
    project.share();
    project.gate(["init", "--yes"]).exits(0);
    let session = Session::claude(&project);
    session.prompt("Write a failing test that reproduces #12, do not fix it.");
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
    let session = Session::claude(&project);
    session.prompt("change the library");
    project.edit("a change");
    session.stop("Done.").pushes("Not proven yet (attempt 1).");
    session.stop("Done.").pushes("Nothing has changed since the last refusal.");
    session.stop("Done.").pushes("the last warning (attempt 3)");
    let released = session.stop("Done.");
    let answer: Value = serde_json::from_str(&released.out).unwrap();
    let told = answer["systemMessage"].as_str().unwrap();
    assert!(told.contains("without proof after 4 attempts"), "{told}");
    assert!(told.contains("\n- src/lib.sh") || told.contains("\n- no run of `sh test.sh`"), "{told}");
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
    let session = Session::claude(&project);
    session.prompt("what does the library do?");
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
    // A server that runs for ever is no reason to believe that the work is done.
    stop(json!({"background_tasks": running("npm run dev")})).pushes("tests:");
    let server = json!({"background_tasks": running("npm run dev"), "last_assistant_message": "The page is up."});
    stop(server).pushes("tests:");
    project.gate(["log", "-n", "0", "--session", "c0ffee-1"]).exits(0).says("not judged: `sh test.sh` still runs");
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
        let session = Session::claude(&project);
        session.prompt("change the library");
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
        let session = Session::claude(&project);
        session.prompt("change the library");
        project.edit("a change");
        let stopped = session.stop(words);
        let answer: Value = serde_json::from_str(&stopped.out).unwrap_or_else(|error| panic!("{error}: {stopped:?}"));
        assert!(answer.get("decision").is_none(), "{answer}");
        let told = answer["systemMessage"].as_str().unwrap();
        assert!(told.contains("not proven: no run of `sh test.sh`"), "{told}");
        assert_eq!(session.run("sh test.sh"), 0);
        session.stop(words).quiet();
    }
}

#[test]
fn a_session_that_edited_nothing_is_held_only_where_it_says_that_the_tests_passed() {
    let project = Project::new();
    project.edit("a person's own change");
    let session = Session::claude(&project);
    session.prompt("is the library finished");
    session.stop("Yes, the implementation is complete.").quiet();
    session.stop("Yes, the implementation is complete and all tests pass.").pushes("tests:");
    session.prompt("go on");
    project.edit("a change");
    session.stop("The implementation is complete.").pushes("tests:");
}

#[test]
fn what_is_not_judged_is_not_complete_for_other_programs() {
    let project = Project::new();
    let session = Session::claude(&project);
    let summary = || read_json(&project.gate_dir().join("verdicts/verdict_c0ffee-1.json"));
    session.prompt("change the library");
    project.edit("a change");
    assert_eq!(session.run("sh test.sh"), 0);
    session.stop("Done.").quiet();
    assert_eq!((&summary()["complete"], &summary()["outcome"]), (&json!(true), &json!("pass")));
    session.prompt("and the other line?");
    session.stop("Which one do you mean?").quiet();
    assert_eq!(summary()["complete"], true, "nothing was changed since");
    project.edit("another change");
    session.stop("Before I go on: which format does the server expect?").quiet();
    assert_eq!((&summary()["complete"], &summary()["outdated"]), (&json!(false), &json!(true)));
}

#[test]
fn documentation_alone_asks_for_nothing() {
    let project = Project::new();
    let session = Session::claude(&project);
    session.prompt("mend the README");
    project.repo.append("README.md", "more\n");
    session.stop("Done, everything is finished.").quiet();
    project.repo.commit_all("docs: more");
    session.stop("Done, everything is finished.").quiet();
}

#[test]
fn another_working_tree_is_proven_and_judged_where_it_is() {
    let project = Project::new();
    let session = Session::claude(&project);
    let other = project.repo.outside().join("other");
    project.repo.git(["worktree", "add", "-q", other.to_str().unwrap(), "-b", "other"]);
    let at = other.display();
    session.prompt("change the library in the other working tree");
    // What nobody changed there is nobody's work to prove.
    assert_eq!(session.run(&format!("cd {at} && sh test.sh")), 0);
    session.stop("All done, all tests pass!").quiet();

    assert_eq!(session.run(&format!("cd {at} && echo broken > src/lib.sh")), 0);
    let told = session.stop("All done, all tests pass!").pushes("(attempt 1)");
    assert!(told.contains(&format!("the working tree {}", other.canonicalize().unwrap().display())), "{told}");
    assert_eq!(session.run(&format!("cd {at}; sh test.sh")), 101);
    session.stop("All done, all tests pass!").pushes("`sh test.sh` failed on this content");
    assert_eq!(session.run(&format!("cd {at} && echo mended > src/lib.sh && git commit -qam mended")), 0);
    // Elsewhere it proves nothing there, and one there nothing here.
    assert_eq!(session.run("sh test.sh"), 0);
    session.stop("All done, all tests pass!").pushes("tests:");
    project.repo.append("src/lib.sh", "broken\n");
    assert_eq!(session.run(&format!("cd {at}/src/.. && sh test.sh")), 0);
    project.check_in(&other).exits(0);
    project.check().exits(10);
    project.repo.git(["checkout", "-q", "--", "."]);
    session.stop("All done, all tests pass!").quiet();
    project.push_in(&other, "git push origin other").exits(0);

    // A tool of the client goes there by its path, a line by a relative one.
    let file = other.join("src/lib.sh");
    let call = json!({"tool_name": "Write", "tool_input": {"file_path": file, "content": "more"}, "tool_use_id": "w"});
    session.hook("PreToolUse", call.clone()).quiet();
    std::fs::write(&file, "more").unwrap();
    let mut after = call;
    after["tool_response"] = json!({});
    session.hook("PostToolUse", after).quiet();
    session.stop("All done.").pushes("(attempt 1)");
    assert_eq!(session.run(&format!("cd {at} && sh test.sh")), 0);
    session.stop("All done.").quiet();
    // What an agent leaves as it is in the next task needs no word.
    std::fs::write(&file, "and more").unwrap();
    session.prompt("what does it print?");
    session.stop("It prints more.").quiet();
}

#[test]
fn another_working_tree_is_judged_where_a_line_names_it_by_a_path() {
    for line in [
        "sed -i 's/.*/broken/' ../other/src/lib.sh",
        "git -C ../other apply ../repo.diff",
        "cp broken ../other/src/lib.sh",
        "tee ../other/src/lib.sh < broken",
        "python3 -c \"open('../other/src/lib.sh', 'w').write('broken')\"",
        "patch -s -d ../other -p1 < ../repo.diff",
        "cd src && sed -i 's/.*/broken/' ../../other/src/lib.sh",
    ] {
        let project = Project::new();
        let session = Session::claude(&project);
        project.repo.git(["worktree", "add", "-q", "../other", "-b", "other"]);
        project.sh("echo broken > src/lib.sh; git diff > ../repo.diff; git checkout -q src/lib.sh").exits(0);
        project.sh("echo broken > broken; echo broken >> .git/info/exclude").exits(0);
        session.prompt("change the library");
        // What is only read there is nobody's work.
        assert_eq!(session.run("cp ../other/src/lib.sh broken.old; git -C ../other status; rm broken.old"), 0);
        session.stop("All done, all tests pass!").quiet();
        assert_eq!(session.run(line), 0, "{line}");
        let told = session.stop("All done, all tests pass!").pushes("tests:");
        assert!(told.contains("the working tree "), "{line}: {told}");
    }
}

#[test]
fn a_runner_that_is_sent_to_another_working_tree_proves_what_is_there() {
    let project = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"make test\"\n");
    project.repo.write("Makefile", "test:\n\tsh test.sh\n").commit_all("chore: makefile");
    project.repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    let session = Session::claude(&project);
    let other = project.repo.outside().join("other");
    project.repo.git(["worktree", "add", "-q", other.to_str().unwrap(), "-b", "other"]);
    let at = other.display();
    for line in [format!("make -C {at} test"), "make test -C ../other".to_owned(), format!("cd src; make -C{at} test")]
    {
        std::fs::write(other.join("src/lib.sh"), format!("# {line}\n")).unwrap();
        session.prompt("change the library");
        project.repo.append("src/lib.sh", "more\n");
        assert_eq!(session.run(&line), 0, "{line}");
        project.check_in(&other).exits(0);
        session.stop("All done, all tests pass!").pushes("tests:");
    }
    assert_eq!(session.run("make -C src/.. test"), 0);
    project.check().exits(0);
}

#[test]
fn what_a_sub_agent_leaves_elsewhere_is_judged_where_it_is_taken_over() {
    let project = Project::new();
    let session = Session::claude(&project);
    let other = project.repo.outside().join("other");
    project.repo.git(["worktree", "add", "-q", other.to_str().unwrap(), "-b", "other"]);
    session.prompt("let somebody change the library in a working tree of its own");
    let file = other.join("src/lib.sh");
    let call = json!({
        "tool_name": "Write", "tool_input": {"file_path": file, "content": "broken"}, "tool_use_id": "w",
        "agent_id": "a1", "agent_type": "general",
    });
    session.hook("PreToolUse", call.clone()).quiet();
    std::fs::write(&file, "broken").unwrap();
    let mut after = call;
    after["tool_response"] = json!({});
    session.hook("PostToolUse", after).quiet();
    session.stop("All done.").quiet();
    project.sh_in(&other, "git commit -qam 'feat: broken'").exits(0);
    assert_eq!(session.run("git merge -q other"), 0);
    session.stop("All done.").pushes("(attempt 1)");
    project.push_in(&other, "git push origin other").exits(1);
}

#[test]
fn a_new_task_is_judged_however_soon_it_follows_one_that_was_broken_off() {
    let project = Project::new();
    let session = Session { client: "codex", ..Session::claude(&project) };
    session.prompt("change the library");
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
    let project = Project::new();
    project.edit("a person's change");
    let session = Session::claude(&project);
    session.prompt("does the library print one line?");
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
    session.stop("Done, all tests pass.").pushes("`sh test.sh` was started and is still running");
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
        let session = Session::claude(&project);
        session.prompt("change the library");
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
    let session = Session::claude(&project);
    session.prompt("Implement sub in src/lib.sh, with tests.");
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
    let session = Session { client: "copilot", ..Session::claude(&project) };
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
fn what_codex_left_running_and_what_a_limit_ended_in_opencode_is_called_that() {
    let project = Project::new();
    let session = Session { client: "codex", ..Session::claude(&project) };
    session.prompt("change the library");
    project.edit("a change");
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "sh test.sh"}, "tool_use_id": "call_1"});
    session.hook("PreToolUse", call).quiet();
    let log = project.repo.outside().join("rollout.jsonl");
    let output = "Wall time: 0.3 seconds\nProcess running with session ID 98002\nOutput:\nstarted\n";
    let line = json!({"payload": {"type": "function_call_output", "call_id": "call_1", "output": output}});
    std::fs::write(&log, format!("{line}\n")).unwrap();
    let stop = |words: &str| session.hook("Stop", json!({"last_assistant_message": words, "transcript_path": log}));
    stop("The suite is running.").quiet();
    stop("Done.").pushes("`sh test.sh` was started and is still running");
    stop("Done.").pushes("`sh test.sh` was started and is still running");
    let noted = |event: &Value| event["data"]["act"]["command"]["background"] == true;
    assert_eq!(project.journal().iter().filter(|event| noted(event)).count(), 1, "it is written down once");

    let project = Project::new();
    let session = Session { client: "opencode", ..Session::claude(&project) };
    session.hook("chat.message", json!({"text": "change the library"})).quiet();
    project.edit("a change");
    let call = json!({"tool": "bash", "callID": "call_1", "args": {"command": "sh test.sh"}});
    session.hook("tool.execute.before", call.clone()).quiet();
    let mut after = call;
    after["output"] =
        json!("started\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 1500 ms.\n");
    after["metadata"] = json!({"exit": null});
    session.hook("tool.execute.after", after).quiet();
    session
        .hook("session.idle", json!({"text": "Done.", "messageID": "msg_1", "agent": "build"}))
        .pushes("`sh test.sh` was ended by the time limit");
}

#[test]
fn what_lies_outside_of_the_repository_is_none_of_gates_business() {
    let project = Project::new();
    let session = Session::claude(&project);
    session.prompt("note that down");
    let other = project.repo.outside();
    let write = |path: &str| json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}, "tool_use_id": "w"});
    for path in [
        "/home/dev/.claude/projects/-work-shop/memory/MEMORY.md".to_owned(),
        "C:\\Users\\dev\\.claude\\projects\\C--work-shop\\memory\\notes.md".to_owned(),
        other.join("elsewhere/gate.toml").display().to_string(),
        other.join("elsewhere/.git/hooks/pre-push").display().to_string(),
        "/home/dev/.claude/projects/-work-elsewhere/5b0e-1.jsonl".to_owned(),
    ] {
        session.hook("PreToolUse", write(&path)).quiet();
    }
    let line = json!({"tool_name": "Bash", "tool_input": {"command": "rm -f ~/.claude/projects/-work-elsewhere/*.jsonl"}, "tool_use_id": "b"});
    session.hook("PreToolUse", line).quiet();
    let own = project.repo.root().join(".git/hooks/pre-push").display().to_string();
    let denied = session.hook("PreToolUse", write(&own));
    assert!(denied.out.contains("\"deny\""), "{denied:?}");
}

#[test]
fn an_agent_of_copilot_that_may_only_plan_is_left_alone() {
    let project = Project::new();
    let session = Session { client: "copilot", ..Session::claude(&project) };
    project.edit("a person's change");
    session.hook("userPromptSubmitted", json!({"prompt": "[[PLAN]] change the library"})).quiet();
    let log = project.repo.outside().join("events.jsonl");
    std::fs::write(
        &log,
        "{\"type\":\"session.mode_changed\",\"data\":{\"newMode\":\"plan\"}}\n\
         {\"type\":\"assistant.message\",\"data\":{\"content\":\"All done.\"}}\n",
    )
    .unwrap();
    session.hook("agentStop", json!({"stopReason": "end_turn", "transcriptPath": log})).quiet();
    let told = project.gate(["log", "-n", "0"]).exits(0).text();
    assert!(told.contains("change the library") && !told.contains("[[PLAN]]"), "{told}");
    // Out of the plan mode it is judged.
    session.hook("userPromptSubmitted", json!({"prompt": "go"})).quiet();
    project.edit("a change");
    session.hook("agentStop", json!({"stopReason": "end_turn"})).pushes("tests:");
}

#[test]
fn an_agent_of_gemini_that_may_only_plan_is_left_alone() {
    let project = Project::new();
    project.edit("a person's change");
    // Its hooks are not told: the words of the process that calls them are read.
    let hook = |words: &str, event: &str, payload: &Value| {
        let mut payload = payload.clone();
        payload["session_id"] = json!("g");
        payload["cwd"] = json!(project.repo.root());
        let caller = format!("printf '%s' \"$1\" | gate hook gemini {event}; exit 0");
        project.sh(&format!("sh -c '{}' sh '{payload}' {words}", caller.replace('\'', r"'\''"))).text()
    };
    let (asks, done) = (json!({"prompt": "change the library"}), json!({"prompt_response": "All done."}));
    for words in ["--approval-mode=plan", "--approval-mode plan"] {
        hook(words, "BeforeAgent", &asks);
        assert_eq!(hook(words, "AfterAgent", &done).trim(), "", "{words}");
    }
    // The person lets the plan be carried out.
    let approved = json!({"tool_name": "exit_plan_mode", "tool_input": {},
        "tool_response": {"llmContent": "Plan approved. Switching to Default mode."}});
    hook("--approval-mode=plan", "AfterTool", &approved);
    project.edit("a change");
    let held = hook("--approval-mode=plan", "AfterAgent", &done);
    assert!(held.contains("tests: no run of"), "{held}");
}

#[test]
fn a_claim_that_the_record_contradicts_is_said_to_whom_it_concerns() {
    // A rule on words that is off by default.
    let project = Project::with(
        "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n[gates.claims.params]\nwords = [\"tests\"]\n",
    );
    let session = Session::claude(&project);
    session.prompt("mend the README");
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

#[test]
fn only_a_person_begins_a_task() {
    let project = Project::new();
    let session = Session::claude(&project);
    session.prompt("change the library");
    project.edit("a change");
    let told = session.stop("Done.").pushes("(attempt 1)");
    session.prompt("<task-notification>\n<task-id>b</task-id>\n</task-notification>");
    session.hook("UserPromptSubmit", json!({"prompt": "look around", "agent_id": "a1"})).quiet();
    // Some clients hand the feedback back as a prompt.
    session.prompt(&told);
    session.stop("Done.").pushes("(attempt 2)");
}

#[test]
fn a_command_in_the_background_proves_when_it_ends() {
    let project = Project::new();
    let session = Session::claude(&project);
    session.prompt("change the library");
    project.edit("a change");
    let call = json!({"tool_name": "Bash", "tool_use_id": "t9", "tool_input": {"command": "sh test.sh", "run_in_background": true}});
    session.hook("PreToolUse", call.clone()).quiet();
    let mut after = call;
    after["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": "b1"});
    session.hook("PostToolUse", after).quiet();
    session.stop("Done.").pushes("`sh test.sh` was started and is still running");
    let output = project.repo.outside().join("b1.output");
    std::fs::write(&output, project.sh("sh test.sh").out).unwrap();
    let notification = format!(
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>t9</tool-use-id>\n<output-file>{}</output-file>\n\
         <status>completed</status>\n<summary>Background command \"x\" completed (exit code 0)</summary>\n\
         </task-notification>",
        output.display()
    );
    session.prompt(&notification);
    session.stop("Done.").quiet();
}

#[test]
fn what_another_hook_made_of_a_command_is_what_ran() {
    let project = Project::new();
    let session = Session::claude(&project);
    session.prompt("change the library");
    project.edit("a change");
    let call = |line: &str| json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "toolu_1"});
    let ended = |line: &str, output: &str| {
        let mut call = call(line);
        let response = json!({"stdout": output, "stderr": "", "interrupted": false});
        call.as_object_mut().unwrap().insert("tool_response".to_owned(), response);
        call
    };
    session.hook("PreToolUse", call("sh test.sh")).quiet();
    session.hook("PostToolUse", ended("sh test.sh --only one", "")).quiet();
    session.stop("Done.").pushes("no run of `sh test.sh`");
    session.hook("PreToolUse", call("sh test.sh")).quiet();
    session.hook("PostToolUse", ended("nice sh test.sh", "")).quiet();
    session.stop("Done.").quiet();
}

#[test]
fn half_a_character_in_a_payload_loses_nothing_else() {
    let project = Project::new();
    let session = Session::claude(&project);
    session.prompt("change the library");
    project.edit("a change");
    let root = project.repo.root().to_str().unwrap();
    let raw = |event: &str, fields: &str| {
        session.raw(event, format!(r#"{{"session_id":"c0ffee-1","cwd":"{root}",{fields}}}"#).as_bytes())
    };
    raw("Stop", r#""last_assistant_message":"Done. \ud83d","background_tasks":[]"#).pushes("tests:");
    let call = r#""tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"sh test.sh"}"#;
    raw("PreToolUse", call).quiet();
    let printed = project.sh("sh test.sh").out.replace('\n', "\\n");
    let response = format!(r#""tool_response":{{"stdout":"\ude00{printed}\ud83d","stderr":"","interrupted":false}}"#);
    raw("PostToolUse", &format!("{call},{response}")).quiet();
    session.stop("Done.").quiet();
}

#[test]
fn what_cannot_be_read_stops_nobody_and_is_written_down() {
    let project = Project::new();
    for client in ["claude", "codex", "opencode", "gemini", "copilot"] {
        let session = Session { project: &project, client, id: "x", calls: std::cell::Cell::new(0), role: None };
        for garbage in [&b""[..], b"{", b"[]", b"\xff\xfe", b"null", b"{\"session_id\": 3, \"cwd\": []}"] {
            let said = session.raw("Stop", garbage);
            assert_eq!(said.out, "", "{said:?}");
        }
        session.hook("AnEventOfTomorrow", json!({"tool_name": {"deep": [1, 2]}})).quiet();
    }
    let damage = project.journal().into_iter().filter(|line| line["kind"] == "damage").count();
    assert!(damage >= 25, "{damage}");
}

#[test]
fn outside_of_a_repository_and_without_a_policy_nothing_is_asked() {
    let project = Project::bare_bones();
    let session = Session::claude(&project);
    project.share();
    session.prompt("go on");
    project.edit("a change");
    session.stop("Done.").quiet();
    let outside = project.repo.outside();
    let mut command = project.command("gate", &outside);
    command.args(["hook", "claude", "Stop"]);
    let payload = json!({"session_id": "s", "cwd": outside, "last_assistant_message": "Done."});
    finish(command, payload.to_string().as_bytes()).exits(0).quiet();
}

#[test]
fn a_push_that_would_be_refused_is_not_tried() {
    let project = Project::new();
    let session = Session::claude(&project);
    let bash = |line: &str| {
        let call = json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": line}});
        let said = session.hook("PreToolUse", call);
        if said.out.is_empty() {
            return None;
        }
        let answer: Value = serde_json::from_str(&said.out).unwrap();
        let output = &answer["hookSpecificOutput"];
        assert_eq!((&output["hookEventName"], &output["permissionDecision"]), (&json!("PreToolUse"), &json!("deny")));
        Some(output["permissionDecisionReason"].as_str().unwrap().to_owned())
    };
    for (line, words) in [
        ("git push origin HEAD:main", "main is protected"),
        ("cd src && git push -f origin feature:main", "main is protected"),
        ("git push origin :main", "main is protected and must not be deleted"),
        ("git push origin feature:release/1", "release/1 is protected"),
        ("git add -A && git commit -n -m x", "must not be skipped"),
        ("git -c core.hooksPath=/dev/null push origin feature", "keep this repository's hooks from running"),
        ("rm -f .git/hooks/pre-push", "is a hook that guards this repository"),
        ("rm -rf .git/gate", "only gate writes"),
    ] {
        let reason = bash(line).unwrap_or_else(|| panic!("{line} is let through"));
        assert!(reason.contains(words), "{line}: {reason}");
    }
    for line in ["git push origin feature", "git push", "git push -u origin HEAD", "git status", "git push backup v1"] {
        assert_eq!(bash(line), None, "{line}");
    }
    // No clone recorded the default branch here, but the remote said it at a push.
    project.repo.git(["remote", "set-head", "origin", "--delete"]);
    project.push("git push origin feature");
    let reason = bash("git push origin HEAD:main").unwrap();
    assert!(reason.contains("main is protected"), "{reason}");
    let denied = project.journal().into_iter().filter(|line| line["data"]["act"].get("denied").is_some()).count();
    assert_eq!(denied, 9);
}

#[test]
fn edits_of_what_guards_the_work_are_refused_and_those_of_the_policy_recorded() {
    let project = Project::new();
    let session = Session::claude(&project);
    let edit = |path: &str| {
        let file = project.repo.root().join(path);
        let call = json!({"tool_name": "Write", "tool_use_id": "t", "tool_input": {"file_path": file, "content": "x"}});
        session.hook("PreToolUse", call).out
    };
    assert!(edit(".git/hooks/pre-push").contains("deny"));
    assert!(edit(".git/gate/journal.jsonl").contains("deny"));
    assert_eq!(edit("gate.toml"), "");
    assert_eq!(edit("src/lib.sh"), "");
    project.repo.append("gate.toml", "\n[gates.guarded]\nmode = \"off\"\n");
    assert!(edit(".git/hooks/pre-push").contains("deny"), "the policy of the merge base counts");
}

/// What one client calls the moments of a session, and how it tells of a command.
struct Dialect {
    client: &'static str,
    prompt: (&'static str, &'static str),
    tools: [&'static str; 2],
    stop: &'static str,
    answer: &'static str,
}

const DIALECTS: [Dialect; 4] = [
    Dialect {
        client: "codex",
        prompt: ("UserPromptSubmit", "prompt"),
        tools: ["PreToolUse", "PostToolUse"],
        stop: "Stop",
        answer: "block",
    },
    Dialect {
        client: "gemini",
        prompt: ("BeforeAgent", "prompt"),
        tools: ["BeforeTool", "AfterTool"],
        stop: "AfterAgent",
        answer: "deny",
    },
    Dialect {
        client: "copilot",
        prompt: ("userPromptSubmitted", "prompt"),
        tools: ["preToolUse", "postToolUse"],
        stop: "agentStop",
        answer: "block",
    },
    Dialect {
        client: "opencode",
        prompt: ("chat.message", "text"),
        tools: ["tool.execute.before", "tool.execute.after"],
        stop: "session.idle",
        answer: "block",
    },
];

impl Dialect {
    /// The call of a shell tool, before it ran and after; what only a log tells goes into `log`.
    fn call(&self, line: &str, done: Option<&Said>, log: &std::path::Path) -> Value {
        let code = done.map(|done| done.code);
        let text = done.map(Said::text).unwrap_or_default();
        let args = json!({"command": line});
        match (self.client, code) {
            ("codex", None) => json!({"tool_name": "Bash", "tool_use_id": "call_1", "tool_input": args}),
            ("codex", Some(code)) => {
                let item = json!({"type": "CommandExecution", "id": "call_1", "exit_code": code});
                let line = json!({"type": "event_msg", "payload": {"type": "item_completed", "item": item}});
                std::fs::write(log, format!("{line}\n")).unwrap();
                json!({"tool_name": "Bash", "tool_use_id": "call_1", "tool_input": args, "tool_response": text})
            }
            ("gemini", None) => json!({"tool_name": "run_shell_command", "tool_input": args}),
            ("gemini", Some(code)) => {
                let status = if code == 0 { String::new() } else { format!("Exit Code: {code}\n") };
                let said = format!("Output: {}\n{status}Process Group PGID: 9", text.trim_end());
                json!({"tool_name": "run_shell_command", "tool_input": args, "tool_response": {"llmContent": said}})
            }
            ("copilot", None) => json!({"toolName": "bash", "toolArgs": args}),
            ("copilot", Some(code)) => {
                let said = format!("{text}<shellId: 1 completed with exit code {code}>");
                let result = json!({"resultType": "success", "textResultForLlm": said});
                json!({"toolName": "bash", "toolArgs": args, "toolResult": result})
            }
            (_, None) => json!({"tool": "bash", "callID": "call_1", "args": args}),
            (_, Some(code)) => {
                json!({"tool": "bash", "callID": "call_1", "args": args, "output": text, "metadata": {"exit": code}})
            }
        }
    }

    fn ending(&self, words: &str, number: u32) -> Value {
        match self.client {
            "gemini" => json!({"prompt_response": words, "stop_hook_active": false}),
            "copilot" => json!({"stopReason": "end_turn", "stop_hook_active": false}),
            "opencode" => json!({"text": words, "messageID": format!("msg_{number}"), "agent": "build"}),
            _ => json!({"last_assistant_message": words, "stop_hook_active": false}),
        }
    }
}

#[test]
fn the_same_story_in_the_words_of_every_client() {
    for dialect in DIALECTS {
        let project = Project::new();
        let log = project.repo.outside().join("log.jsonl");
        let session = Session {
            project: &project,
            client: dialect.client,
            id: "s-1",
            calls: std::cell::Cell::new(0),
            role: None,
        };
        let hook = |event: &str, mut fields: Value| {
            fields["transcript_path"] = json!(log);
            session.hook(event, fields)
        };
        let (event, field) = dialect.prompt;
        hook(event, json!({field: "change the library"})).quiet();
        project.edit("a change");
        let held = hook(dialect.stop, dialect.ending("All done, all tests pass.", 1));
        let answer: Value = serde_json::from_str(&held.out).unwrap_or_else(|error| panic!("{error}: {held:?}"));
        assert_eq!(answer["decision"], dialect.answer, "{}", dialect.client);
        let told = answer["reason"].as_str().unwrap();
        assert!(told.contains("Next: gate run test"), "{told}");
        // Where it comes back as a prompt, it is no person's.
        hook(event, json!({field: told})).quiet();

        for (source, passes) in [("broken", false), ("mended", true)] {
            project.repo.write("src/lib.sh", source);
            project.repo.commit_all(&format!("feat: {source}"));
            hook(dialect.tools[0], dialect.call("sh test.sh", None, &log)).quiet();
            let done = project.sh("sh test.sh");
            hook(dialect.tools[1], dialect.call("sh test.sh", Some(&done), &log)).quiet();
            let stop = hook(dialect.stop, dialect.ending("Done.", if passes { 3 } else { 2 }));
            assert_eq!(stop.out.is_empty(), passes, "{} {source}: {stop:?}", dialect.client);
            if !passes {
                assert!(stop.out.contains("failed on this content"), "{}: {stop:?}", dialect.client);
                assert!(stop.out.contains("(attempt 2)"), "{}: {stop:?}", dialect.client);
            }
        }
        let by = project.journal().into_iter().filter(|line| line["kind"] == "run").map(|line| line["by"].clone());
        assert_eq!(by.collect::<Vec<_>>(), [json!(dialect.client), json!(dialect.client)]);
    }
}

#[test]
fn a_sub_agent_of_copilot_is_one_of_its_parents_session() {
    let project = Project::new();
    let calls = || std::cell::Cell::new(0);
    let root = Session { project: &project, client: "copilot", id: "root", calls: calls(), role: None };
    let sub = Session { project: &project, client: "copilot", id: "sub", calls: calls(), role: None };
    let below = json!({"agentId": "sub", "parentAgentId": "root"});
    let with = |more: Value| {
        let mut fields = below.clone();
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    root.hook("userPromptSubmitted", json!({"prompt": "change the library"})).quiet();
    root.hook("subagentStart", below.clone()).quiet();
    sub.hook("userPromptSubmitted", with(json!({"prompt": "do that part"}))).quiet();
    project.edit("a change");
    // Its tools do not say whose it is.
    let call = json!({"toolName": "bash", "toolArgs": {"command": "sh test.sh"}});
    sub.hook("preToolUse", call.clone()).quiet();
    let said = format!("{}<shellId: 1 completed with exit code 0>", project.sh("sh test.sh").text());
    let mut after = call;
    after["toolResult"] = json!({"resultType": "success", "textResultForLlm": said});
    sub.hook("postToolUse", after).quiet();
    sub.hook("agentStop", with(json!({"stopReason": "end_turn"}))).quiet();
    let journal = project.journal();
    assert!(journal.iter().all(|line| line["kind"] != "judged"), "only the agent above it is judged: {journal:#?}");
    assert!(journal.iter().all(|line| line["session"] == "root"), "{journal:#?}");
    let prompts = journal.iter().filter_map(|line| line["data"]["act"]["prompt"]["from"].as_str());
    assert_eq!(prompts.collect::<Vec<_>>(), ["person", "agent"]);
    let command = journal.iter().find(|line| line["data"]["act"]["command"].is_object()).unwrap();
    assert_eq!(command["data"]["actor"], "sub");

    root.hook("subagentStop", below).quiet();
    root.hook("agentStop", json!({"stopReason": "end_turn"})).quiet();
    let judged = project.journal().into_iter().filter(|line| line["kind"] == "judged");
    assert_eq!(judged.map(|line| line["data"]["blocked"].clone()).collect::<Vec<_>>(), [json!(false)]);
}

/// The words that are added to a prompt in the form of a client; nothing else may be in the answer.
fn added(client: &str, event: &str, said: &Said) -> String {
    if said.out.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let (words, whole) = match client {
        "copilot" | "opencode" => {
            (&answer["additionalContext"], json!({"additionalContext": answer["additionalContext"]}))
        }
        _ => {
            let inner = &answer["hookSpecificOutput"];
            let form = json!({"hookEventName": event, "additionalContext": inner["additionalContext"]});
            (&inner["additionalContext"], json!({"hookSpecificOutput": form}))
        }
    };
    assert_eq!(answer, whole, "a field that the client does not know");
    words.as_str().unwrap().to_owned()
}

#[test]
fn an_unclear_prompt_goes_on_with_a_note_in_the_form_of_each_client() {
    let claude = [("claude", "UserPromptSubmit", "prompt")];
    let others = DIALECTS.iter().map(|dialect| (dialect.client, dialect.prompt.0, dialect.prompt.1));
    for (client, event, field) in claude.into_iter().chain(others) {
        let project = Project::with("version = 1\n");
        project.repo.write("api/search.rs", "fn search() {}\n").write("db/search.rs", "fn search() {}\n");
        let session = Session { project: &project, client, id: "s-1", calls: std::cell::Cell::new(0), role: None };
        let say = |text: &str| added(client, event, &session.hook(event, json!({ field: text })));
        let note = say("make search faster, and also clean up the whole app");
        assert!(note.contains("1. ") && note.contains("api/search.rs | db/search.rs"), "{client}: {note}");
        assert!(
            !say("make search faster, and also clean up the whole app").contains("api/search.rs"),
            "{client}: again"
        );
        assert_eq!(say("rename search to find in api/search.rs, nothing else"), "", "{client}: a clear one");
        let tasks = say(
            "1. rename search to find in api/search.rs\n2. delete db/search.rs\n3. add a line \"x\" to api/search.rs",
        );
        assert!(tasks.contains("2. delete db/search.rs"), "{client}: {tasks}");
        project.repo.write("gate.toml", "version = 1\nprompts = \"off\"\n");
        assert_eq!(say("fix everything"), "", "{client}: one line turns it off");
    }
}

#[test]
fn a_pick_from_the_menu_of_the_turn_before_needs_no_answer() {
    let project = Project::with("version = 1\n");
    let session = Session::claude(&project);
    let say =
        |text: &str| added("claude", "UserPromptSubmit", &session.hook("UserPromptSubmit", json!({"prompt": text})));
    assert_ne!(say("improve it"), "");
    session.stop("I see two ways:\n\n1. cache the rows\n2. add an index\n\nWhich one?");
    for pick in ["1", "1 and 2", "the second one", "haz la 2"] {
        assert_eq!(say(pick), "", "{pick}");
    }
    assert_eq!(say("/compact"), "", "a command of the client");
    // Nothing of what was written is in the person's state.
    let state = std::fs::read_to_string(project.repo.home().join(".local/state/gate/prompts.json")).unwrap();
    assert!(!state.contains("improve") || state.contains("vague_improvement"), "{state}");
    assert!(!state.contains("cache") && !state.contains("second one"), "{state}");
}

#[test]
fn a_damaged_history_is_set_aside_and_the_note_still_comes() {
    let project = Project::with("version = 1\n");
    let folder = project.repo.home().join(".local/state/gate");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("prompts.json"), "{").unwrap();
    let session = Session::claude(&project);
    let said = session.hook("UserPromptSubmit", json!({"prompt": "improve it"}));
    assert!(said.out.contains("additionalContext") && said.err.contains("prompts.json.damaged"), "{said:?}");
}
