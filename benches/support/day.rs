//! A day of an agent's work through the hooks of Claude Code, and what it leaves on disk.
//!
//! 200 rounds of an edit, two commands that only read and one that tests, with a stop after each ten: 1,420 calls. A fifth of the
//! tests is a `gate run`, a seventh fails, the work is committed before each stop and pushed after each four.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use super::repository::{GATE, Repository, size_of};
use super::stored_journal::stored_journal;

/// The rounds of a day.
pub const ROUNDS: usize = 200;
/// The files that are worked on.
const FILES: usize = 12;
/// One of so many rounds tests with `gate run`.
const DECLARED: usize = 5;
/// One of so many tests fails.
const FAILING: usize = 7;
/// A stop follows so many rounds, and a push so many stops.
const ROUNDS_OF_TURN: usize = 10;
const TURNS_OF_PUSH: usize = 4;
/// The words of which code and outputs are made.
const WORDS: [&str; 48] = [
    "parse", "line", "token", "index", "commit", "branch", "remote", "status", "range", "offset", "length", "buffer",
    "reader", "writer", "cache", "entry", "value", "field", "record", "table", "column", "filter", "match", "scope",
    "policy", "rule", "check", "result", "error", "message", "output", "input", "source", "target", "path", "folder",
    "name", "number", "count", "limit", "time", "event", "session", "worker", "queue", "state", "change", "merge",
];

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }

    fn name(&mut self, words: usize) -> String {
        (0..words).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join("_")
    }

    /// Returns a function of some lines.
    fn function(&mut self) -> String {
        let mut text = format!("pub fn {}({}: &str) -> usize {{\n", self.name(3), self.name(1));
        for _ in 0..3 + self.below(8) {
            let (left, right, number) = (self.name(2), self.name(2), self.below(1_000));
            let _ = match self.below(3) {
                0 => writeln!(text, "    let {left} = {right}.trim().len() + {number};"),
                1 => writeln!(text, "    if {left} > {number} {{\n        return {right}({left});\n    }}"),
                _ => writeln!(text, "    {left}.push({right}.iter().filter(|one| one.{}() < {number}));", self.name(1)),
            };
        }
        text + "    0\n}\n"
    }
}

/// A day as far as it went.
struct Day<'r> {
    repo: &'r Repository,
    numbers: Numbers,
    files: Vec<Vec<String>>,
    tests: Vec<String>,
    calls: usize,
}

/// Works for so many rounds, and prints what is in `.git/gate` then, and after a `gate check`.
pub fn work(rounds: usize) {
    let repo = Repository::generate(240);
    let mut numbers = Numbers(7);
    let files = (0..FILES).map(|_| (0..16).map(|_| numbers.function()).collect()).collect();
    let tests = (0..140).map(|_| format!("{}::tests::{}", numbers.name(1), numbers.name(4))).collect();
    let mut day = Day { repo: &repo, numbers, files, tests, calls: 0 };
    day.prepare();
    for round in 0..rounds {
        day.round(round);
    }
    let gate_dir = repo.outside("work/.git/gate");
    println!("{} calls of hooks; bytes in .git/gate:", day.calls);
    print_parts(&gate_dir);
    let status = day.command(GATE, &["check"]).output().expect("gate starts").status;
    println!("after a gate check, which ended with {status}:");
    print_parts(&gate_dir);
    let doctor = day.command(GATE, &["doctor"]).output().expect("gate starts");
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("the journal is intact"), "{said}");
    if std::env::var_os("GATE_BENCH_KEEP").is_some() {
        repo.keep();
    }
}

impl Day<'_> {
    /// Declares the test, which prints what the round has prepared for it.
    fn prepare(&mut self) {
        let cargo = self.repo.outside("bin/cargo");
        fs::create_dir_all(self.repo.outside("bin")).expect("a folder");
        fs::write(&cargo, "#!/bin/sh\ncat ../output\nexit \"$(cat ../status)\"\n").expect("a program");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&cargo, mode).expect("permissions");
        let policy = self.repo.outside("work/gate.toml");
        let text = fs::read_to_string(&policy).expect("a policy").replace("\"true\"", "\"cargo test\"");
        fs::write(&policy, text).expect("a policy");
        fs::create_dir_all(self.repo.outside("work/src/work")).expect("a folder");
        (0..FILES).for_each(|file| self.save(file));
        self.repo.git(["add", "-A"]);
        self.repo.git(["commit", "-q", "--no-verify", "-m", "chore: the test is declared"]);
        // The policy of the protected branch counts.
        self.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
        self.repo.git(["checkout", "-q", "-b", "feature"]);
    }

    fn round(&mut self, round: usize) {
        let session = format!("6f1c2a9e-4b7d-4e0a-9c35-{:012}", round / 50);
        if round.is_multiple_of(ROUNDS_OF_TURN) {
            let prompt = format!("Make {} faster in src/work, and test it.", self.numbers.name(3));
            // Prompts are not calls of tools.
            self.hook(&session, "UserPromptSubmit", &json!({"prompt": prompt}));
        }
        self.edit(&session, round);
        let file = self.numbers.below(FILES);
        let content = self.files[file].concat();
        self.reads(&session, &format!("cat src/work/part{file}.rs"), &content);
        let word = WORDS[self.numbers.below(WORDS.len())];
        let found: Vec<&str> = content.lines().filter(|line| line.contains(word)).collect();
        self.reads(&session, &format!("grep -rn '{word}' src/work"), &found.join("\n"));
        let ends_turn = round % ROUNDS_OF_TURN == ROUNDS_OF_TURN - 1;
        self.tests(&session, round, round % FAILING == FAILING - 1 && !ends_turn);
        if ends_turn {
            let message = format!("feat: {} is faster", self.numbers.name(2));
            self.git(&["add", "-A"]);
            self.git(&["commit", "-q", "-m", &message]);
            let text = format!("I made `{}` faster. All tests pass now.", self.numbers.name(3));
            self.hook(&session, "Stop", &json!({"stop_hook_active": false, "last_assistant_message": text}));
            self.calls += 1;
        }
        if (round + 1).is_multiple_of(ROUNDS_OF_TURN * TURNS_OF_PUSH) {
            self.git(&["push", "-q", "origin", "feature"]);
        }
    }

    fn git(&self, args: &[&str]) {
        let output = self.command("git", args).output().expect("git starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {}: {said}", args[0]);
    }

    fn edit(&mut self, session: &str, round: usize) {
        let (file, new) = (self.numbers.below(FILES), self.numbers.function());
        let at = self.numbers.below(self.files[file].len());
        let old = std::mem::replace(&mut self.files[file][at], new.clone());
        self.save(file);
        let path = self.repo.outside(&format!("work/src/work/part{file}.rs"));
        let input = json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": false});
        let response = json!({"filePath": path, "oldString": old, "newString": new, "userModified": false});
        self.tool(session, "PostToolUse", "Edit", &input, &json!({"tool_response": response}), &format!("e{round}"));
    }

    fn reads(&mut self, session: &str, line: &str, stdout: &str) {
        let id = self.numbers.below(1_000_000).to_string();
        self.tool(session, "PreToolUse", "Bash", &json!({"command": line, "description": "Looks"}), &json!({}), &id);
        let ended = json!({"tool_response": response(stdout)});
        self.tool(session, "PostToolUse", "Bash", &json!({"command": line, "description": "Looks"}), &ended, &id);
    }

    fn tests(&mut self, session: &str, round: usize, fails: bool) {
        let output = self.output(fails);
        fs::write(self.repo.outside("output"), &output).expect("an output");
        fs::write(self.repo.outside("status"), if fails { "101" } else { "0" }).expect("a status");
        let is_declared = round % DECLARED == DECLARED - 1;
        let line = if is_declared { "gate run test" } else { "cargo test" };
        let input = json!({"command": line, "description": "Runs the tests", "timeout": 600_000});
        let id = format!("t{round}");
        self.tool(session, "PreToolUse", "Bash", &input, &json!({}), &id);
        let printed = if is_declared {
            let mut command = self.command(GATE, &["run", "test"]);
            command.env("CLAUDECODE", "1").env("CLAUDE_CODE_SESSION_ID", session);
            let Output { stdout, stderr, .. } = command.output().expect("gate starts");
            String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned()
        } else {
            output
        };
        let (event, ended) = if fails {
            ("PostToolUseFailure", json!({"error": format!("Exit code 101\n{printed}"), "is_interrupt": false}))
        } else {
            ("PostToolUse", json!({"tool_response": response(&printed)}))
        };
        self.tool(session, event, "Bash", &input, &ended, &id);
    }

    /// Returns what `cargo test` prints: 3.5 to 8 KB.
    fn output(&mut self, fails: bool) -> String {
        let shown = self.tests[..66 + self.numbers.below(70)].to_vec();
        let failed: Vec<usize> = if fails { (0..3).map(|_| self.numbers.below(shown.len())).collect() } else { vec![] };
        let mut text = format!(
            "   Compiling work v0.1.0 (/home/person/work)\n    Finished `test` profile [unoptimized + debuginfo] target(s) in \
             {}.{:02}s\n     Running unittests src/lib.rs (target/debug/deps/work-0f3a)\n\nrunning {} tests\n",
            self.numbers.below(40),
            self.numbers.below(100),
            shown.len()
        );
        for (number, test) in shown.iter().enumerate() {
            let _ = writeln!(text, "test {test} ... {}", if failed.contains(&number) { "FAILED" } else { "ok" });
        }
        let mut failed = failed;
        failed.sort_unstable();
        failed.dedup();
        if fails {
            text.push_str("\nfailures:\n\n");
            for &number in &failed {
                let (name, line) = (&shown[number], self.numbers.below(300));
                let (left, right) = (self.numbers.below(999), self.numbers.below(999));
                let _ = write!(
                    text,
                    "---- {name} stdout ----\n\nthread '{name}' panicked at src/work/part3.rs:{line}:9:\nassertion `left == \
                     right` failed\n  left: {left}\n right: {right}\nnote: run with `RUST_BACKTRACE=1` environment variable\n\n"
                );
            }
            text.push_str("\nfailures:\n");
            for &number in &failed {
                let _ = writeln!(text, "    {}", shown[number]);
            }
        }
        let (how, good) = (if fails { "FAILED" } else { "ok" }, shown.len() - failed.len());
        let _ = writeln!(
            text,
            "\ntest result: {how}. {good} passed; {} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.{:02}s",
            failed.len(),
            self.numbers.below(100)
        );
        text
    }

    fn tool(&mut self, session: &str, event: &str, tool: &str, input: &Value, more: &Value, id: &str) {
        let mut fields =
            json!({"tool_name": tool, "tool_input": input, "tool_use_id": format!("toolu_01Xq9s{id:0>12}")});
        fields.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        self.hook(session, event, &fields);
        self.calls += 1;
    }

    fn hook(&self, session: &str, event: &str, fields: &Value) {
        let mut call = json!({
            "session_id": session, "transcript_path": self.repo.outside("log.jsonl"), "cwd": self.repo.outside("work"),
            "permission_mode": "default", "hook_event_name": event,
        });
        call.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
        let mut command = self.command(GATE, &["hook", "claude", event]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("gate starts");
        child.stdin.take().expect("a pipe").write_all(call.to_string().as_bytes()).expect("gate reads");
        child.wait().expect("gate ends");
    }

    fn command(&self, program: &str, args: &[&str]) -> std::process::Command {
        let mut command = self.repo.command_with(program, args);
        let own = Path::new(GATE).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{}:{path}", self.repo.outside("bin").display(), own.display()));
        command.env_remove("GATE_SESSION");
        command
    }

    fn save(&self, file: usize) {
        self.repo.write(&format!("src/work/part{file}.rs"), &self.files[file].concat());
    }
}

fn response(stdout: &str) -> Value {
    json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false})
}

/// Prints the bytes and the number of files of each part, and the bytes of each kind of entry.
fn print_parts(gate_dir: &Path) {
    for entry in fs::read_dir(gate_dir).expect("a folder").flatten() {
        let (bytes, files) = if entry.path().is_dir() {
            (size_of(&entry.path()), files_in(&entry.path()))
        } else {
            (entry.metadata().map_or(0, |meta| meta.len()), 1)
        };
        println!("{bytes:>9} in {files:>4} files: {}", entry.file_name().display());
    }
    println!("{:>9} in all", size_of(gate_dir));
    let text = stored_journal(gate_dir);
    let mut kinds: BTreeMap<String, (usize, usize, usize)> = BTreeMap::new();
    for line in text.lines() {
        let value: Value = serde_json::from_str(line).expect("an entry");
        let act = value["data"]["act"].as_object().and_then(|act| act.keys().next()).cloned().unwrap_or_default();
        let tails = [&value["data"]["tail"], &value["data"]["act"]["command"]["tail"]];
        let kind = kinds.entry(format!("{} {act}", value["kind"].as_str().unwrap_or_default())).or_default();
        kind.0 += 1;
        kind.1 += line.len() + 1;
        kind.2 += tails.iter().filter_map(|tail| tail.as_str()).map(str::len).sum::<usize>();
    }
    for (kind, (count, bytes, tails)) in kinds {
        println!("{bytes:>9} in {count:>4} entries: {kind}, {tails} of which are ends of outputs");
    }
}

fn files_in(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { files_in(&entry.path()) } else { 1 }).sum()
}
