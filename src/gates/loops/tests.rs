use super::*;
use crate::event::{Act, Grade, PlanItem, Prompt, ToolUse};
use crate::fact::session_steps::test_builder::{Tale, shell};

const RED: &str = "test adds ... FAILED\n\ntest result: FAILED. 11 passed; 1 failed; 0 ignored; finished in 0.31s\n";
const WORSE: &str =
    "test adds ... FAILED\ntest subs ... FAILED\n\ntest result: FAILED. 10 passed; 2 failed; 0 ignored\n";
const GREEN: &str = "running 12 tests\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
const BROKEN: &str = "error[E0432]: unresolved import `foo`\n";

fn params() -> Params {
    let text = crate::embedded::file(crate::embedded::GATES, "loops.toml").unwrap();
    let table: toml::Table = toml::from_str(text).unwrap();
    read_params(table["params"].as_table().unwrap()).unwrap()
}

/// Returns the reasons, with a `!` if they block.
fn reasons(tale: &Tale) -> Vec<String> {
    let found = notice(&params(), &tale.story());
    found.iter().map(|one| format!("{}{}", one.reason, if one.answer == Answer::Fail { "!" } else { "" })).collect()
}

fn quiet(why: &str, tale: &Tale) {
    assert_eq!(reasons(tale), Vec::<String>::new(), "{why}");
}

fn begin() -> Tale {
    Tale::default().prompt("Fix the build.")
}

fn times(mut tale: Tale, count: usize, step: impl Fn(Tale, usize) -> Tale) -> Tale {
    for number in 0..count {
        tale = step(tale, number);
    }
    tale
}

#[test]
fn the_same_failure_on_unchanged_content() {
    let failing = |count| times(begin(), count, |tale, _| tale.ran("cargo build", 101, BROKEN));
    for (count, expected) in [(1, ""), (2, ""), (3, "repeating"), (4, "repeated!"), (9, "repeated!")] {
        assert_eq!(reasons(&failing(count).stop("Done.")).join(" "), expected, "{count}");
    }
    let found = notice(&params(), &failing(5).story());
    assert_eq!(found[0].steps.len(), 5);
    assert_eq!(found[0].values.get_attr("says").unwrap().as_str(), Some("error[E0432]: unresolved import 'foo'"));
}

#[test]
fn what_differs_between_two_runs_only_by_its_looks_is_the_same() {
    let lines = ["npm test", "npm test 2>&1", "npm test 2>&1 | tail -20", "npm test > log 2>&1; cat log"];
    let output =
        |number: usize| format!("FAIL  src/a.test.ts > is small\nTests: 1 failed, 2 passed\nTime: {number}.5 s\n");
    let tale = times(begin(), 4, |tale, at| tale.ran(lines[at], 1, &output(at)));
    assert_eq!(reasons(&tale), ["repeated!"]);
    // Looking around is not progress.
    let tale = times(begin(), 4, |tale, at| {
        tale.ran("make", 2, "make: *** [all] Error 2\n").ran("git status", 0, "").read(&format!("src/{at}.c"))
    });
    assert_eq!(reasons(&tale), ["repeated!"]);
    // Nor is what was tried before.
    let tale = times(begin(), 5, |tale, _| {
        tale.ran("npm run build", 1, "Module not found: 'x'\n").ran("npm install", 0, "ok")
    });
    assert_eq!(reasons(&tale), ["repeated!"]);
}

#[test]
fn a_check_that_shows_nothing_shows_nothing_again() {
    let tale = times(begin(), 4, |tale, _| tale.ran("pytest || true", 0, "something odd\n"));
    assert_eq!(reasons(&tale), ["repeated!"]);
    let tale =
        times(begin(), 4, |tale, _| tale.ran("go test ./... -run TestNo", 0, "ok  \tx\t0.1s [no tests to run]\n"));
    assert_eq!(reasons(&tale), ["repeated!"]);
}

#[test]
fn progress_is_no_loop() {
    let six = |step: &dyn Fn(Tale, usize) -> Tale| times(begin(), 6, step);
    quiet(
        "red and green work",
        &six(&|tale, at| {
            let (old, new) = (at.to_string(), (at + 1).to_string());
            tale.edit("src/lib.rs", &old, &new).ran("cargo test", 101, RED)
        }),
    );
    quiet("an edit by the shell", &six(&|tale, _| tale.ran("sed -i s/a/b/ x.c", 0, "").ran("make", 2, "error: x\n")));
    quiet(
        "content that a snapshot saw change",
        &six(&|tale, at| {
            tale.ran_on(char::from_digit(u32::try_from(at).unwrap(), 16).unwrap(), "cargo test", 101, RED)
        }),
    );
    quiet(
        "it ends well at last",
        &times(begin(), 5, |tale, _| tale.ran("cargo test", 101, RED)).ran("cargo test", 0, GREEN),
    );
    quiet("it ends well each time", &six(&|tale, _| tale.ran("cargo test", 0, GREEN)));
    quiet(
        "another failure each time",
        &six(&|tale, at| {
            tale.ran("cargo test", 101, &format!("test t{at} ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed\n"))
        }),
    );
    quiet(
        "something else is tried each time",
        &six(&|tale, at| {
            tale.ran(&format!("npm install package{at}"), 0, "added\n")
                .ran("npm run build", 1, "Module not found: 'x'\n")
        }),
    );
    quiet(
        "an edit after the loop",
        &times(begin(), 6, |tale, _| tale.ran("make", 2, "error: x\n")).edit("a.c", "1", "2"),
    );
    quiet(
        "a person spoke",
        &times(begin(), 3, |tale, _| tale.ran("make", 2, "error: x\n")).prompt("again").ran("make", 2, "error: x\n"),
    );
    quiet("different things", &six(&|tale, at| tale.ran(&format!("python tool{at}.py"), 1, "error: x\n")));
}

#[test]
fn waiting_and_looking_are_no_loops() {
    for (line, status, output) in [
        ("gh pr checks 12", 8, "build\tpending\t0\n"),
        ("gh run view 55 --json status", 1, "in_progress\n"),
        ("sleep 30 && gh run list --limit 1", 1, "in_progress\n"),
        ("kubectl get pods", 1, "Pending\n"),
        ("curl -sf localhost:3000/health", 7, ""),
        ("git status", 0, "clean\n"),
        ("grep -rn foo src", 1, ""),
        ("ls build", 2, "ls: cannot access 'build'\n"),
        ("docker compose ps", 1, "starting\n"),
        ("docker-compose ps --filter status=running", 1, "starting\n"),
        ("pg_isready -h localhost", 2, "localhost:5432 - no response\n"),
        ("docker compose exec -T db pg_isready", 1, "no response\n"),
        ("until pg_isready; do sleep 1; done", 124, "localhost:5432 - no response\n"),
        ("timeout 60 sh -c 'until nc -z localhost 5432; do :; done'", 124, ""),
        ("curl --retry 5 --retry-connrefused -sf localhost:3000/health", 7, ""),
        ("npx wait-on http://localhost:3000", 1, "Timed out\n"),
        ("./scripts/wait-for-it.sh db:5432", 124, "timeout occurred\n"),
    ] {
        quiet(line, &times(Tale::default().prompt("How is it going?"), 9, |tale, _| tale.ran(line, status, output)));
    }
    quiet(
        "a call that is limited, after waiting",
        &times(begin(), 5, |tale, _| tale.ran("./search.sh", 1, "rate limited\n").ran("sleep 30", 0, "")),
    );
    quiet(
        "the same words in one package after the other",
        &times(begin(), 5, |tale, at| {
            tale.ran(&format!("cd packages/{at} && npm test"), 1, "Missing script: \"test\"\n")
        }),
    );
    quiet("commands in the background", &times(begin(), 6, |tale, at| tale.started(&at.to_string(), "npm test")));
    let asked = times(begin(), 5, |tale, _| tale.ran("gh pr create --fill", 4, "please run: gh auth login\n"));
    assert_eq!(reasons(&asked), ["repeated!"]);
    quiet("it asks a person", &asked.act(Act::Asked("Please log in.".to_owned())).stop("Waiting."));
}

#[test]
fn back_and_forth() {
    let (there, back) = (("a + b", "a - b"), ("a - b", "a + b"));
    let swing = |count: usize, output: &'static str| {
        times(begin(), count, |tale, at| {
            let (removed, added) = if at % 2 == 0 { there } else { back };
            tale.edit("src/lib.rs", removed, added).ran("cargo test", 101, output)
        })
    };
    for (count, expected) in [(2, ""), (4, ""), (5, "oscillating!"), (6, "oscillating!")] {
        assert_eq!(reasons(&swing(count, RED).stop("Done.")).join(" "), expected, "{count}");
    }
    let trees = times(begin(), 6, |tale, at| {
        tale.ran_on(['a', 'b'][at % 2], "npx vitest run", 1, "Tests  1 failed | 2 passed\n")
    });
    assert_eq!(reasons(&trees), ["oscillating!"]);
    let three = times(begin(), 7, |tale, at| {
        tale.ran_on(['a', 'b', 'c'][at % 3], "pytest", 1, "FAILED a.py::t - x\n1 failed in 1s\n")
    });
    assert_eq!(reasons(&three), ["oscillating!"]);
    quiet("to new content at last", &swing(6, RED).edit("src/lib.rs", "a + b", "a * b").ran("cargo test", 101, RED));
    quiet("to content that nobody tested", &swing(6, RED).edit("src/other.rs", "1", "2"));
    quiet("it ends well", &swing(5, RED).edit("src/lib.rs", back.0, back.1).ran("cargo test", 0, GREEN));
    quiet(
        "one failure here, another there",
        &times(begin(), 6, |tale, at| {
            tale.ran_on(['a', 'b'][at % 2], "cargo test", 101, if at % 2 == 0 { RED } else { WORSE })
        }),
    );
    quiet(
        "the base is compared",
        &begin()
            .ran_on('a', "cargo test", 101, RED)
            .ran_on('b', "cargo test", 101, RED)
            .ran_on('a', "cargo test", 101, RED),
    );
}

#[test]
fn plan_after_plan() {
    let plans = |count| times(begin(), count, |tale, at| tale.planned(&format!("design (variant {at})")));
    for (count, expected) in [(6, ""), (7, "planning!"), (12, "planning! explored")] {
        let found = reasons(&plans(count).stop("Here is the refined plan."));
        assert_eq!(found.first().map_or("", String::as_str), expected.split(' ').next().unwrap(), "{count}");
    }
    quiet(
        "work in between",
        &times(begin(), 9, |tale, at| tale.planned("x").edit("a", &at.to_string(), &(at + 1).to_string())),
    );
    quiet(
        "runs in between",
        &times(begin(), 9, |tale, at| tale.planned("x").ran(&format!("cargo test t{at}"), 0, GREEN)),
    );
    let known = times(begin(), 8, |tale, at| tale.planned(&at.to_string()).read("src/lib.rs").said("Let me think."));
    assert_eq!(reasons(&known), ["planning!"], "nothing new is read");
    let ticking = times(begin(), 9, |tale, at| {
        let item = |number: usize| PlanItem { text: number.to_string(), done: number <= at };
        tale.act(Act::Planned((0..9).map(item).collect()))
    });
    assert!(!reasons(&ticking).contains(&"planning!".to_owned()), "ticking off is not planning");
}

#[test]
fn much_reading_is_said_where_a_change_is_asked_for() {
    let reading =
        |prompt: &str| times(Tale::default().prompt(prompt), 12, |tale, at| tale.read(&format!("src/{at}.ts")));
    for (prompt, expected) in [
        ("Investigate and fix the connection failure", "explored"),
        ("Implement pagination.", "explored"),
        ("How does the authentication work?", ""),
        ("Review the changes in src/auth", ""),
        ("Explain why we add a cache here", ""),
        ("Make a plan for the migration; don't implement anything", ""),
        ("The padding of the buttons", ""),
    ] {
        assert_eq!(reasons(&reading(prompt).stop("I understand the issue.")).join(" "), expected, "{prompt}");
    }
    quiet("few", &times(begin(), 7, |tale, at| tale.read(&at.to_string())));
    quiet("an edit", &times(begin(), 8, |tale, at| tale.read(&at.to_string())).edit("a", "1", "2"));
    quiet("checks are work", &times(begin(), 8, |tale, at| tale.read(&at.to_string())).ran("cargo test", 0, GREEN));
}

#[test]
fn agents_are_judged_one_by_one() {
    let mut tale = begin();
    for number in 0..6 {
        tale = tale.ran("cargo build", 101, BROKEN);
        if let crate::event::EventKind::Work(work) = &mut tale.entries.last_mut().unwrap().event.kind {
            work.actor = Some(format!("agent {number}"));
        }
    }
    quiet("each tried once", &tale);
}

#[test]
fn hooks_and_compaction_are_no_new_prompt() {
    use crate::event::agent_work::Phase;
    let hook = Act::Prompt(Prompt { from: Speaker::Hook, text: "go on".to_owned() });
    let tale = times(begin(), 2, |tale, _| tale.ran("make", 2, "error: x\n")).stop("Done.");
    let tale = tale.act(hook).act(Act::Session(Phase::Compacted));
    let tale = times(tale, 2, |tale, _| tale.ran("make", 2, "error: x\n"));
    assert_eq!(reasons(&tale), ["repeated!"]);
}

#[test]
fn parameters_are_checked() {
    let text = crate::embedded::file(crate::embedded::GATES, "loops.toml").unwrap();
    let mut params = toml::from_str::<toml::Table>(text).unwrap()["params"].as_table().unwrap().clone();
    assert!(check(&params).is_ok());
    params.insert("repeats".to_owned(), 1.into());
    assert_eq!(check(&params).unwrap_err().key.as_deref(), Some("repeats"));
}

/// Checks the public cases about stuck agents that a record of commands and tools decides.
#[test]
fn public_cases() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/evals/stuck_detection.json");
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    for case in &cases {
        let inputs = &case["inputs"];
        let mut tale = Tale::default().prompt(inputs["last_user_message"].as_str().unwrap());
        let calls = inputs["tool_calls"].as_str().unwrap();
        for call in calls.lines().filter(|call| !call.starts_with("(none)")) {
            tale = tale.work(Grade::Transcribed, "s", None, tool(call));
        }
        let found = reasons(&tale.said(inputs["last_assistant_response"].as_str().unwrap()));
        let stuck = case["expected"]["stuck"].as_bool();
        let loops = ["stuck-12", "stuck-18"].contains(&case["id"].as_str().unwrap());
        if loops {
            assert!(stuck == Some(true) && !found.is_empty(), "{case}");
        } else {
            assert!(found.is_empty(), "{found:?} {case}");
        }
    }
    assert_eq!(cases.len(), 19);
}

/// Checks the other public cases, which are not loops: a run that fails again after an edit, a plan that was requested,
/// a session that continues from a summary.
#[test]
fn public_cases_without_a_loop() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/evals");
    for (file, count) in [("judge_accuracy", 34), ("agent_evaluation", 10), ("post_compression", 17)] {
        let Ok(text) = std::fs::read_to_string(folder.join(file).with_extension("json")) else { continue };
        let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        for case in &cases {
            let inputs = &case["inputs"];
            let text = |key: &str| inputs[key].as_str().unwrap_or_default();
            let mut tale = Tale::default().prompt([text("task"), text("task_summary")].concat().as_str());
            for call in inputs["tools"].as_array().into_iter().flatten() {
                tale = tale.act(match call["args"]["command"].as_str() {
                    // What was tried again and again failed again and again.
                    Some(line) => Act::Command(Box::new(shell(line, Some(1), "FAIL"))),
                    None => tool(&format!("{} ({})", call["tool"].as_str().unwrap(), call["args"]["filePath"])),
                });
            }
            let traced = text("trace").lines().filter_map(|step| step.split_once('[')?.1.split_once(']'));
            for (name, what) in traced.filter(|(name, _)| *name != "Response") {
                tale = tale.act(tool(&format!("{} {what}", name.to_lowercase())));
            }
            for name in text("tools_used").split(", ").filter(|name| !name.contains(['{', '(']) && !name.is_empty()) {
                tale = tale.act(tool(&format!("{} ", name.split(' ').next().unwrap())));
            }
            let found = reasons(&tale.said(&[text("agent_response"), text("last_assistant_response")].concat()));
            assert!(found.is_empty(), "{found:?} {case}");
        }
        assert_eq!(cases.len(), count);
    }
}

/// Parses a tool call as these cases write it: `bash: completed - exit code 1`, `read (src/a.ts)`.
fn tool(call: &str) -> Act {
    let (name, rest) = call.split_once([':', ' ']).unwrap();
    let rest = rest.trim().trim_matches(['(', ')']);
    match name {
        "bash" => {
            let status =
                rest.rsplit_once("xit code ").map(|(_, code)| code.chars().take_while(char::is_ascii_digit).collect());
            let status: Option<i32> = status.and_then(|code: String| code.parse().ok());
            let line = if rest.starts_with("git ") { rest } else { "" };
            Act::Command(Box::new(shell(line, status, "")))
        }
        "edit" | "write" => Act::Edited(vec![crate::fact::session_steps::test_builder::edit("a", "", "")]),
        _ => Act::Used(ToolUse { tool: name.to_owned(), reads: true, target: rest.to_owned(), failed: false }),
    }
}
