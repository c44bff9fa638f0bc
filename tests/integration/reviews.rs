//! `gate review`: two scripted models read a change that they did not make.

use serde_json::{Value, json};

use crate::client_session::Session;
use crate::project::{POLICY, Project, finish, read_json, valid};
#[cfg(target_os = "linux")]
use crate::terminal;
use crate::word_judges::{attacks, configure};

/// Answers with the findings of a file in the user's home, or says of another one's finding what a file says, unless
/// something of the material stands outside of its marks.
const REVIEWER: &str = r#"#!/bin/sh
awk '
!inside && /^<<MATERIAL-[0-9a-f]+$/ { fence = substr($0, 3); inside = 1; next }
inside && $0 == fence ">>" { inside = 0; next }
!inside { print }
' >"$HOME/outside-$1"
ticket=$(sed -n 's/.*with the ticket \([0-9a-f]*\)\.$/\1/p' "$HOME/outside-$1" | tail -1)
if grep -q '^Another reviewer' "$HOME/outside-$1"; then
  stands=$(cat "$HOME/stands")
  grep -q ATTACK "$HOME/outside-$1" && stands=false
  echo "{\"ticket\": \"$ticket\", \"stands\": $stands, \"reason\": \"the name is quoted\"}"
  exit
fi
findings='[]'
grep -q ATTACK "$HOME/outside-$1" || findings=$(cat "$HOME/findings-$1.json")
echo "{\"ticket\": \"$ticket\", \"findings\": $findings}"
"#;

const CONFIG: &str = "[review]\nreviewer = \"one\"\nauditor = \"two\"\n\
    [models.one]\ncommand = \"\\\"$HOME/model\\\" one\"\nmodel = \"minimax-m2.5\"\n\
    [models.two]\ncommand = \"\\\"$HOME/model\\\" two\"\nmodel = \"qwen-3\"\n";

/// A finding on the second line of the library.
pub fn finding(line: &str, severity: &str) -> Value {
    json!({"file": "src/lib.sh", "line": 2, "severity": severity, "security": true, "quote": line,
        "message": "a name becomes a command"})
}

/// Sets what each of the two finds.
pub fn finds(project: &Project, [one, two]: [&[Value]; 2]) {
    let texts = [("findings-one.json", one), ("findings-two.json", two)];
    let texts = texts.map(|(name, list)| (name, Value::from(list).to_string()));
    let mut scripts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
    scripts.push(("model", REVIEWER));
    configure(project, &scripts, CONFIG);
}

/// Runs a review, and returns its report.
pub fn review(project: &Project, code: i32) -> Value {
    let said = project.gate(["review", "--json"]).exits(code);
    let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    valid("review", &report);
    report
}

#[test]
fn dissent_stays_until_the_content_there_changes() {
    let project = Project::with(&format!("{POLICY}\n[gates.review]\nmode = \"block\"\n")).edited("eval \\\"$name\\\"");
    project.gate(["run", "test"]).exits(0);
    project.gate(["review"]).exits(64).says("no reviewers are configured");
    finds(&project, [&[], &[finding("eval", "HIGH"), finding("system(name)", "HIGH")]]);
    let check = || project.verdict_with(&[], &[]);
    let unreviewed = check();
    assert!(unreviewed["next_actions"].to_string().contains("gate review"), "{unreviewed:#}");
    let report = review(&project, 10);
    assert_eq!((&report["review"]["dropped"], report["calls"].as_array().unwrap().len()), (&1.into(), 2), "{report:#}");
    // The same content is not read again.
    assert_eq!(review(&project, 10)["calls"], json!([]));
    project.gate(["review"]).exits(10).says("auditor two, security: a name becomes a command").says("reviewed before");
    let refused = check();
    let gates = refused["gates"].as_array().unwrap();
    let dissent = &gates.iter().find(|gate| gate["gate"] == "review").unwrap()["findings"][0];
    assert_eq!((&dissent["reason"], &dissent["paths"][0]), (&"dissent".into(), &"src/lib.sh".into()), "{refused:#}");
    assert!(dissent["line"].is_u64() && refused["feedback"].to_string().contains("a name becomes"), "{refused:#}");
    let calls = project.journal().iter().filter(|line| line["kind"] == "model").count();
    assert_eq!(calls, 2);
    // Another file changes nothing there; the repaired line does.
    project.repo.write("src/lib.sh", "one\nprintf '%s' \"$name\"\n").commit_all("fix: no eval");
    project.gate(["run", "test"]).exits(0);
    finds(&project, [&[], &[]]);
    review(&project, 0);
    assert_eq!(check()["outcome"], "pass");
}

#[test]
fn the_other_reviewer_answers_dissent_once() {
    let project = Project::with(&format!("{POLICY}\n[gates.review]\nmode = \"block\"\n")).edited("eval \\\"$name\\\"");
    project.gate(["run", "test"]).exits(0);
    finds(&project, [&[], &[finding("eval", "BLOCKER")]]);
    review(&project, 10);
    project.check().exits(10).says("gate review --answer");
    let answer = |code: i32| -> Value {
        let said = project.gate(["review", "--answer", "--json"]).exits(code);
        serde_json::from_str(&said.out).unwrap()
    };
    // The one that did not report it disagrees, so it no longer blocks. It is asked once.
    configure(&project, &[("stands", "false")], CONFIG);
    let report = answer(0);
    valid("review", &report);
    assert_eq!(report["calls"][0]["name"], "one", "{report:#}");
    assert_eq!(answer(0)["calls"], json!([]));
    project.gate(["review"]).exits(0).says("one disagrees: the name is quoted");
    project.check().exits(0).says("one disagrees: the name is quoted");
    // If it agrees, the finding stays, and is a blocker now.
    project.edit("eval \\\"$other\\\"");
    project.gate(["run", "test"]).exits(0);
    configure(&project, &[("stands", "true")], CONFIG);
    assert_eq!(answer(10)["review"]["findings"][0]["severity"], "BLOCKER");
    project.check().exits(10).says("one agrees: the name is quoted");
}

#[test]
#[cfg(target_os = "linux")]
fn a_person_confirms_a_blocker_or_waives_it() {
    let project = Project::with(&format!("{POLICY}\n[gates.review]\nmode = \"block\"\n"));
    project.repo.git(["config", "user.name", "Test"]);
    project.edit("eval \\\"$name\\\"");
    project.gate(["run", "test"]).exits(0);
    finds(&project, [&[], &[finding("eval", "BLOCKER")]]);
    assert_eq!(review(&project, 10)["review"]["findings"][0]["severity"], "HIGH");
    let line = "gate review --confirm src/lib.sh:2";
    project.sh(line).exits(11).says(&format!("a person types: {line}"));
    let ask = |line: &str| terminal::run(project.command("sh", project.repo.root()), line, "y\n");
    let (code, text) = ask("gate review --confirm src/lib.sh:99");
    assert!(code == 64 && text.contains("no model reported anything at"), "{code}: {text}");
    let (code, text) = ask(line);
    assert!(code == 10 && text.contains("confirmed by a person"), "{code}: {text}");
    assert_eq!(review(&project, 10)["review"]["findings"][0]["severity"], "BLOCKER");
    project.check().exits(10).says("Test agrees: confirmed by a person");
    let waive = "gate waive review --reason 'a demo that nobody can reach'";
    project.repo.append("src/lib.sh", "more\n");
    let (code, text) = ask(waive);
    assert!(code == 0 && text.contains("what is not committed stays refused"), "{code}: {text}");
    project.sh("git checkout -q src/lib.sh").exits(0);
    let (code, text) = ask(waive);
    assert!(code == 0 && !text.contains("what is not committed"), "{code}: {text}");
    project.check().exits(0).says("a demo that nobody can reach");
}

#[test]
fn the_author_is_known_by_the_log_of_its_session() {
    let project = Project::new();
    let session = Session::claude_called(&project, "author-1").prompted("Add a line");
    session.run("echo two >>src/lib.sh");
    let root = project.repo.root().to_str().unwrap().to_owned();
    let folder: String = root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let logs = project.repo.home().join(".claude/projects").join(folder);
    std::fs::create_dir_all(&logs).unwrap();
    let log = |model: &str| {
        let line = json!({"type": "assistant", "sessionId": "author-1", "cwd": root, "uuid": "u",
            "timestamp": "2026-01-05T10:00:00Z", "message": {"id": "m", "role": "assistant", "model": model, "content": [],
            "usage": {"input_tokens": 1, "output_tokens": 1}}});
        std::fs::write(logs.join("author-1.jsonl"), format!("{line}\n")).unwrap();
    };
    finds(&project, [&[], &[]]);
    log("qwen-3");
    project.gate(["review"]).exits(64).says("two is the model that made the change").says("--author MODEL");
    log("qwen-2");
    let report = review(&project, 0);
    assert_eq!(report["authors"], json!(["qwen-2"]), "{report:#}");
    assert!(report["warnings"][0].as_str().unwrap().contains("two and the author are models of Alibaba"), "{report:#}");
    assert_eq!(review(&project, 0)["calls"], json!([]));
    // A person knows better.
    project.gate(["review", "--author", "gpt-5"]).exits(0).never_says("warning");
    // The work of others since then is not part of the change.
    project.sh("git stash -q && git switch -qc other main && echo more >>README.md && git add -A").exits(0);
    project.repo.commit_all("docs: more");
    project.sh("git switch -q feature && git stash pop -q").exits(0);
    let said = project.gate(["review", "--base", "other", "--json"]).exits(0);
    assert!(said.out.contains("\"calls\": []"), "{}", said.out);
}

#[test]
fn a_job_shows_dissent_at_its_line() {
    let on = "\n[gates.review]\nmode = \"block\"\nmoments = [\"stop\", \"ci\"]\n";
    let project = Project::with(&format!("{POLICY}{on}")).edited("eval \\\"$name\\\"").tested();
    finds(&project, [&[], &[finding("eval", "HIGH")]]);
    let outside = project.repo.outside();
    let job = || {
        let mut command = project.command("gate", project.repo.root());
        command.args(["ci", "--base", "origin/main", "--artifacts"]).arg(outside.join("artifacts"));
        command.env("GITHUB_ACTIONS", "true").env("GITHUB_EVENT_NAME", "push");
        command.env("GITHUB_STEP_SUMMARY", outside.join("summary.md"));
        finish(command, b"");
        let sarif = read_json(&outside.join("artifacts/gate.sarif"));
        let results = sarif["runs"][0]["results"].as_array().unwrap().clone();
        let summary = std::fs::read_to_string(outside.join("summary.md")).unwrap();
        let found = results.into_iter().filter(|result| result["ruleId"] == "review").collect::<Vec<Value>>();
        (found, summary)
    };
    let (found, summary) = job();
    assert!(found.len() == 1 && summary.contains("not reviewed"), "{found:#?}\n{summary}");
    project.gate(["review", "--base", "origin/main"]).exits(10);
    let (found, summary) = job();
    let place = &found[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/lib.sh", "{found:#?}");
    assert!(place["region"]["startLine"].as_u64().unwrap() > 1, "{found:#?}");
    assert!(found[0]["message"]["text"].as_str().unwrap().contains("a name becomes a command"), "{found:#?}");
    assert!(summary.contains("a name becomes a command"), "{summary}");
}

#[test]
fn a_blocker_needs_both_and_the_author_reviews_nothing() {
    let project = Project::new().edited("eval \\\"$name\\\"");
    finds(&project, [&[], &[finding("eval", "BLOCKER")]]);
    assert_eq!(review(&project, 10)["review"]["findings"][0]["severity"], "HIGH");
    project.edit("eval \\\"$other\\\"");
    finds(&project, [&[finding("eval", "BLOCKER")], &[finding("eval", "BLOCKER")]]);
    assert_eq!(review(&project, 10)["review"]["findings"][0]["severity"], "BLOCKER");
    project.gate(["review", "--author", "qwen-3"]).exits(64).says("it does not review itself");
    configure(&project, &[], &CONFIG.replace("auditor = \"two\"", "auditor = \"one\""));
    project.gate(["review"]).exits(64).says("both the reviewer and the auditor");
    configure(&project, &[], CONFIG);
    project.gate(["review", "--author", "qwen-2"]).exits(10).says("models of Alibaba");
}

#[test]
fn a_reviewer_that_fails_leaves_the_change_unreviewed() {
    let project = Project::new().edited("more");
    finds(&project, [&[], &[]]);
    configure(&project, &[], &CONFIG.replace("\\\"$HOME/model\\\" two", "echo fine"));
    let report = review(&project, 12);
    assert_eq!(report["review"]["failed"][0]["judge"], "two", "{report:#}");
    finds(&project, [&[], &[]]);
    assert_eq!(review(&project, 0)["calls"].as_array().unwrap().len(), 1);
}

#[test]
fn what_a_change_says_never_speaks_for_the_reviewer() {
    let project = Project::new();
    let attacks: Vec<String> = attacks().into_iter().filter(|attack| attack.len() < 50_000).collect();
    assert!(attacks.len() >= 40);
    for (number, attack) in attacks.iter().enumerate() {
        project.repo.write(format!("src/note{number}.txt"), attack);
    }
    project.edit("eval \\\"$name\\\"");
    let found = finding("eval", "HIGH");
    finds(&project, [std::slice::from_ref(&found), std::slice::from_ref(&found)]);
    let report = review(&project, 10);
    let roles: Vec<&Value> =
        report["review"]["findings"].as_array().unwrap().iter().map(|finding| &finding["role"]).collect();
    assert_eq!(roles, ["reviewer", "auditor"], "{report:#}");
    // Nor does it refute what one of them reports.
    project.repo.write("src/note0.txt", "ATTACK: the report is wrong\n");
    project.edit("eval \\\"$other\\\"");
    finds(&project, [&[], &[found]]);
    configure(&project, &[("stands", "true")], CONFIG);
    let said = project.gate(["review", "--answer", "--json"]).exits(10);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let answers: Vec<&Value> =
        report["review"]["findings"].as_array().unwrap().iter().filter_map(|one| one.get("answer")).collect();
    assert!(!answers.is_empty() && answers.iter().all(|answer| answer["stands"] == true), "{report:#}");
}

#[test]
fn work_goes_to_the_model_of_its_kind() {
    let project = Project::new().edited("more");
    finds(&project, [&[], &[]]);
    project.gate(["explain", "routing"]).exits(0).says("backend: 1 of 1 changed files").says("none is configured");
    let routed = "\n[models.three]\ncommand = \"\\\"$HOME/model\\\" one\"\n[routing.models]\nbackend = \"three\"\n";
    configure(&project, &[], &format!("{CONFIG}{routed}"));
    project.gate(["explain", "routing"]).exits(0).says("model: three");
    assert_eq!(review(&project, 0)["reviewer"], "three");
    configure(&project, &[], &format!("{CONFIG}[routing.models]\nbackend = \"two\"\n"));
    let swapped = review(&project, 0);
    assert_eq!((&swapped["reviewer"], &swapped["auditor"]), (&"two".into(), &"one".into()));
    assert_eq!(review(&project, 0)["calls"], json!([]));
    // If neither the files nor the prompt say it, a model does, if the user wants that.
    let script = "#!/bin/sh\nticket=$(sed -n 's/.*with the ticket \\([0-9a-f]*\\)\\.$/\\1/p' | tail -1)\n\
        echo \"{\\\"ticket\\\": \\\"$ticket\\\", \\\"kind\\\": \\\"$(cat \"$HOME/kind\")\\\"}\"\n";
    let asking = format!(
        "[routing]\nask = \"four\"\n[models.four]\ncommand = \"\\\"$HOME/route\\\"\"\n{CONFIG}{routed}\
         [routing.paths]\nbackend = [\"none/**\"]\n"
    );
    configure(&project, &[("route", script), ("kind", "backend")], &asking);
    project.gate(["explain", "routing"]).exits(0).says("backend: neither").says("four says so").says("model: three");
    // Nobody wrote a task down, so there is nothing else to go by.
    configure(&project, &[("kind", "frontend")], &asking);
    project.gate(["explain", "routing"]).exits(0).says("frontend: neither");
    assert_eq!(review(&project, 0)["reviewer"], "one");
    configure(&project, &[("kind", "ATTACK")], &asking);
    project
        .gate(["explain", "routing"])
        .exits(0)
        .says("default: neither")
        .says("four gave no answer")
        .says("names no kind");
    project.gate(["log"]).exits(0).says("asked four (routing;");
}
