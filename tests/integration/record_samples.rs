//! A real record of every kind that has a published schema.

use std::fs;

use serde_json::Value;

use crate::project::{POLICY, Project, finish, read_json};

/// The session whose attempts are used up.
const CODER: &[(&str, &str)] = &[("GATE_SESSION", "coder")];

/// A log of a client, as it lies where `gate import` takes it from.
const CLIENT_LOG: &str = include_str!("../data/session-logs/claude.jsonl");

/// Two scripted models that find the same thing.
const REVIEWERS: &str = r#"
[review]
reviewer = "one"
auditor = "two"
[models.one]
command = """
ticket=$(sed -n 's/.*with the ticket \\([0-9a-f]*\\)\\.$/\\1/p' | tail -1)
echo '{"file": "src/lib.sh", "line": 2, "severity": "LOW", "security": false, "quote": "numbers", "message": "why"}' |
sed "s/.*/{\\"ticket\\": \\"$ticket\\", \\"findings\\": [&]}/"
"""
[models.two]
command = "ticket=$(sed -n 's/.*with the ticket \\([0-9a-f]*\\)\\.$/\\1/p' | tail -1); echo '{\"ticket\": \"'$ticket'\", \"findings\": []}'"
"#;

/// Records, each with the name of its schema.
#[derive(Default)]
pub struct Samples(pub Vec<(&'static str, Value)>);

impl Samples {
    fn add(&mut self, schema: &'static str, text: &str) {
        let value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{schema}: {error}: {text}"));
        self.0.push((schema, value));
    }

    fn add_lines(&mut self, schema: &'static str, text: &str) {
        assert!(!text.is_empty(), "{schema}");
        text.lines().for_each(|line| self.add(schema, line));
    }
}

/// Work that fails until the attempts are used up, and what every command says of it.
pub fn samples() -> Samples {
    let mut samples = Samples::default();
    let project = Project::with(&format!("{POLICY}\n[scopes]\nlib = [\"src/**\"]\n"));
    of_commands(&project, &mut samples);
    of_refusals(&project, &mut samples);
    of_rescue(&project, &mut samples);
    of_contracts(&project, &mut samples);
    of_board(&project, &mut samples);
    of_code(&project, &mut samples);
    of_lessons(&project, &mut samples);
    of_files(&project, &mut samples);
    samples
}

fn of_commands(project: &Project, samples: &mut Samples) {
    project.repo.write("docs/adr/0001-words.md", "# 1. Words\n\n## Status\n\nAccepted\n\n## Decision\n\nUse words.\n");
    project.repo.append("src/lib.sh", "# @REJECTED numbers: nobody reads them\n").commit_all("docs: words");
    samples.add("decisions", &project.gate(["decisions", "--json"]).out);
    samples.add("commits", &project.gate(["commits", "main..HEAD", "--json"]).out);
    samples.add("eval", &project.gate(["eval", "stuck", "--json"]).out);
    let config = project.repo.home().join(".config/gate");
    fs::create_dir_all(&config).expect("a folder");
    fs::write(config.join("config.toml"), REVIEWERS).expect("a file");
    samples.add("review", &project.gate(["review", "--json"]).exits(0).out);
    samples.add("doctor", &project.gate(["doctor", "--json"]).out);
    samples.add("explain-command", &project.gate(["explain-command", "sh test.sh", "--json"]).out);
    project.repo.write(".git/lines.jsonl", "{\"id\": 7, \"command\": \"cargo test\", \"exit_code\": 0}\nnot JSON\n");
    let lines = project.gate(["explain-command", "--jsonl", ".git/lines.jsonl"]).exits(65).out;
    samples.add_lines("explain-command", &lines);
    let request = "1. Add a test for src/lib.sh.\n2. Rewrite the README.md in plain words.";
    samples.add("prompt", &project.gate(["prompt", "--json", request]).out);
    samples.add("prompt", &project.gate(["prompt", "--json", "go on"]).out);
    samples.add("prompt-history", &project.gate(["prompt", "--history", "--json"]).exits(0).out);
    samples.add("scope", &project.gate(["scope", "--json", request]).out);
    let log = CLIENT_LOG.replace("/w/shop", project.repo.root().to_str().expect("a path in UTF-8"));
    project.repo.write(".git/client.jsonl", log);
    project.gate(["import", ".git/client.jsonl"]).exits(0);
    samples.add_lines("sessions", &project.gate(["sessions", "--json"]).exits(0).out);
    samples.add("replay-session", &project.gate(["replay", ".git/client.jsonl", "--json"]).exits(0).out);
}

fn of_refusals(project: &Project, samples: &mut Samples) {
    project.gate(["run", "test"]).exits(0);
    samples.add("verdict", &project.gate(["check", "--json"]).exits(0).out);
    samples.add("status", &project.gate(["status", "--json"]).exits(0).out);
    project.edit("broken");
    for _ in 0..4 {
        project.gate_with(CODER, &["run", "test"]).exits(101);
        samples.add("verdict", &project.gate_with(CODER, &["check", "--done", "--json"]).out);
    }
    samples.add("status", &project.gate(["status", "--json"]).exits(0).out);
    project.gate(["run", "--", "echo", "test one ... ok"]).exits(0);
    samples.add("tests", &project.gate(["status", "--tests", "--json"]).exits(0).out);
    samples.add("test-history", &project.gate(["log", "--test", "one", "--json"]).exits(0).out);
    samples.add("observed", &project.gate(["status", "--observed", "--json"]).exits(0).out);
    for path in project.verdict_files() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match (path.extension().is_some_and(|extension| extension == "json"), name.split('_').next()) {
            (true, Some("verdict")) => samples.0.push(("verdict-summary", read_json(&path))),
            (true, Some("escalation")) => samples.0.push(("escalation", read_json(&path))),
            (true, _) => samples.0.push(("verdict", read_json(&path))),
            (false, _) => {}
        }
    }
    let case = project.gate(["appeal"]).exits(0).out;
    samples.add("case", &case);
    project.repo.write(".git/case.json", case);
    samples.add("replay", &project.gate(["replay", ".git/case.json", "--json"]).exits(0).out);
    let record = project.records().pop().expect("a record");
    let record = record.to_str().expect("a path in UTF-8");
    samples.add("replay-verdict", &project.gate(["replay", record, "--json"]).exits(0).out);
}

fn of_rescue(project: &Project, samples: &mut Samples) {
    samples.add("escalation", &project.gate_with(CODER, &["escalate", "--json", "--untried"]).exits(0).out);
    project.repo.write(".git/task.md", "Make the library say two.\n");
    let packet = project.gate_with(CODER, &["handoff", "--task", ".git/task.md", "--json", "--untried"]).exits(0).out;
    samples.add("handoff", &packet);
}

fn of_contracts(project: &Project, samples: &mut Samples) {
    let contract = project.repo.outside().join("contract.yaml");
    let file = contract.to_str().expect("a path in UTF-8");
    fs::write(&contract, "task: [\n").expect("written");
    samples.add("contract-begin", &project.gate(["contract", "begin", file, "--json"]).exits(65).out);
    let text = "task: Split it\npreconditions:\n- file README.md: exists\npostconditions:\n- src/two.sh: exists\n";
    fs::write(&contract, text).expect("written");
    samples.add("contract-begin", &project.gate(["contract", "begin", file, "--json"]).exits(0).out);
    fs::write(&contract, format!("{text}- src/three.sh: exists\n")).expect("written");
    samples.add("contract-check", &project.gate(["contract", "check", "--json"]).exits(10).out);
    samples.add("contract-list", &project.gate(["contract", "list", "--json"]).exits(0).out);
    samples.0.push(("contract", read_json(&project.gate_dir().join("contracts/contract.json"))));
}

fn of_board(project: &Project, samples: &mut Samples) {
    samples.add("board-entry", &project.gate(["board", "put", "context/task", "README.md", "--json"]).exits(0).out);
    samples.add("board-list", &project.gate(["board", "list", "--json"]).exits(0).out);
}

fn of_code(project: &Project, samples: &mut Samples) {
    project
        .repo
        .write("src/calc.py", "import os\n\ndef add(a, b):\n    return a + b\n\ndef name():\n    return os.name\n");
    project.repo.commit_all("feat: calc");
    samples.add("import-map", &project.gate(["import-map", "src/calc.py", "--json"]).exits(0).out);
    let map = project.gate(["import-map", "src/calc.py", "--json"]).out;
    project.repo.write(".git/map.json", map).write("src/calc.py", "import os\n\ndef name():\n    return os.name\n");
    samples.add("functions", &project.gate(["symbols", "diff", "HEAD", "--json"]).out);
    let verified = project.gate(["import-map", "--verify", ".git/map.json", "--json"]).out;
    samples.add("import-map-verification", &verified);
}

fn of_lessons(project: &Project, samples: &mut Samples) {
    project.repo.write(".git/answer.md", "Outcome: success\nWorked: small steps\nLesson: read `src/lib.sh` first\n");
    let reflect = |args: &[&str]| project.gate_with(CODER, &[&["reflect", "--role", "dev", "--json"], args].concat());
    samples.add("reflection", &reflect(&["--answer", ".git/answer.md"]).exits(0).out);
    let lines = fs::read_to_string(project.gate_dir().join("reflections.jsonl")).expect("kept reflections");
    samples.add_lines("reflection", &lines);
    samples.add("reflections", &reflect(&["--list"]).exits(0).out);
    samples.add("reward", &project.gate(["reward", "coder", "--json"]).exits(0).out);
    samples.add("curate", &project.gate(["curate", "--file", "AGENTS.md", "--json"]).exits(0).out);
    samples.add("metrics", &project.gate(["metrics", "--json"]).exits(0).out);
    project.repo.write("gate/strategies.toml", "version = 1\n[strategies.tests-first]\nvalue = true\n");
    for id in ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9"] {
        let payload = serde_json::json!({
            "session_id": id, "cwd": project.repo.root(), "hook_event_name": "SessionStart", "transcript_path": "/none",
            "source": "startup",
        });
        let mut hook = project.command("gate", project.repo.root());
        hook.args(["hook", "claude", "SessionStart"]);
        finish(hook, payload.to_string().as_bytes()).exits(0);
        project.gate_with(&[("GATE_SESSION", id)], &["check", "--done"]);
    }
    samples.add("learn", &project.gate(["learn", "--json"]).exits(0).out);
    project.repo.remove("gate/strategies.toml");
}

fn of_files(project: &Project, samples: &mut Samples) {
    samples.add_lines("log", &project.gate(["log", "--json", "-n", "0"]).exits(0).out);
    let journal = fs::read_to_string(project.gate_dir().join("journal.jsonl")).expect("a journal");
    samples.add_lines("journal", &journal);
    let assessment = r#"{"task_summary": "x", "status": "complete", "confidence": 0.9, "remaining_work": []}"#;
    samples.add("assessment", assessment);
    let mut check = project.command("gate", project.repo.root());
    check.args(["assess", "-", "--json"]);
    samples.add("verdict", &finish(check, assessment.as_bytes()).out);
    let policy: toml::Value = toml::from_str(&format!("{POLICY}\n[scopes]\n\"a/b@c\" = [\"src/**\"]\n")).expect("TOML");
    samples.0.push(("policy", serde_json::to_value(policy).expect("JSON")));
}
