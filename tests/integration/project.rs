//! A repository as a user has it: a remote, a policy, the hook, and a feature branch on which an agent works.
//!
//! Whatever `gate` says here is held against three rules that no test has to repeat: every verdict satisfies its
//! published schema, no text for an agent names a way around the gate, and nothing hangs.

#![allow(dead_code, reason = "each test uses its part of the support")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::stored_journal::stored_journal;
use crate::support::{TestRepo, path_with_gate};

/// What most tests declare: one command that tests `src/` and the script itself, and says how many tests it ran.
pub const POLICY: &str = r#"version = 1
prompts = "off"
[commands.test]
gate = "tests"
run = "sh test.sh"
inputs = ["src/**", "test.sh"]
"#;

/// Passes unless the source holds the word `broken`.
pub const TEST: &str = "if grep -rq broken src; then echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; \
                        0 measured; 0 filtered out'; exit 101; fi\necho 'test result: ok. 3 passed; 0 failed; 0 \
                        ignored; 0 measured; 0 filtered out'\n";

/// No command takes as long unless it hangs.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(2);

/// Ways around a gate, of which an agent must not hear.
const WAYS_AROUND: &[&str] = &[
    "gate waive", "no-verify", "uninstall", "hookspath", "hooks-path", "set-head origin main", "gate_session",
    "init --observe",
];

/// What a command said, and how it ended.
#[derive(Debug)]
pub struct Said {
    /// The exit code; 128 + signal where it was killed.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Said {
    /// Both streams.
    pub fn text(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    /// Insists on the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}", self.text());
        self
    }

    /// Insists on some words.
    #[track_caller]
    pub fn says(self, words: &str) -> Self {
        assert!(self.text().contains(words), "no {words:?} in\n{}", self.text());
        self
    }

    /// Insists on their absence.
    #[track_caller]
    pub fn never_says(self, words: &str) -> Self {
        assert!(!self.text().contains(words), "{words:?} in\n{}", self.text());
        self
    }
}

/// The repository on its branch `feature`, with a bare remote `origin` whose `main` has the policy.
pub struct Project {
    /// The repository.
    pub repo: TestRepo,
    /// The bare repository `origin`.
    pub remote: PathBuf,
}

impl Project {
    /// With [`POLICY`].
    pub fn new() -> Self {
        Self::with(POLICY)
    }

    /// With another policy. `main` is pushed before the hook is installed.
    pub fn with(policy: &str) -> Self {
        let project = Self::bare_bones();
        project.repo.write("gate.toml", policy).commit_all("chore: policy");
        project.share();
        project.gate(["init", "--yes"]).exits(0);
        project
    }

    /// A commit on `main` and an empty remote; no policy, no hook.
    pub fn bare_bones() -> Self {
        let repo = TestRepo::new();
        repo.write("README.md", "# project\n").write("src/lib.sh", "one\n").write("src/other.sh", "two\n");
        repo.write("test.sh", TEST).commit_all("feat: start");
        let remote = repo.add_bare_remote("origin");
        Self { repo, remote }
    }

    /// Pushes `main`, as a person did before gate was there, and begins `feature`.
    pub fn share(&self) {
        self.repo.git(["push", "-q", "origin", "main"]);
        self.repo.git(["remote", "set-head", "origin", "main"]);
        self.repo.git(["switch", "-q", "-c", "feature"]);
    }

    /// Changes a source file and commits it.
    pub fn edit(&self, text: &str) -> String {
        self.repo.append("src/lib.sh", format!("{text}\n"));
        self.repo.commit_all(&format!("feat: {text}"))
    }

    /// The project with one more such commit.
    pub fn edited(self, text: &str) -> Self {
        self.edit(text);
        self
    }

    /// The project with a run of its tests, which pass.
    pub fn tested(self) -> Self {
        self.gate(["run", "test"]).exits(0);
        self
    }

    /// A command as a user's shell would start it in `dir`: this `gate` is on the PATH.
    pub fn command(&self, program: &str, dir: &Path) -> Command {
        let mut command = self.repo.command_in(program, dir);
        command.env("PATH", path_with_gate(None));
        command
    }

    /// Runs `gate` in the root.
    pub fn gate<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Said {
        self.gate_in(self.repo.root(), args)
    }

    /// Runs `gate` in another directory.
    pub fn gate_in<S: AsRef<OsStr>>(&self, dir: &Path, args: impl IntoIterator<Item = S>) -> Said {
        let mut command = self.command("gate", dir);
        command.args(args);
        finish(command, b"")
    }

    /// Runs `gate` with further variables.
    pub fn gate_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Said {
        let mut command = self.command("gate", self.repo.root());
        command.args(args).envs(variables.iter().copied());
        finish(command, b"")
    }

    /// Runs a line of shell in the root.
    pub fn sh(&self, line: &str) -> Said {
        self.sh_in(self.repo.root(), line)
    }

    /// Runs a line in a shell, in the root.
    pub fn runs(&self, shell: &str, line: &str) -> Said {
        let mut command = self.command(shell, self.repo.root());
        command.args(["-c", line]);
        finish(command, b"")
    }

    /// Runs a line of shell in a directory.
    pub fn sh_in(&self, dir: &Path, line: &str) -> Said {
        let mut command = self.command("sh", dir);
        command.args(["-c", line]);
        finish(command, b"")
    }

    /// `gate check`, as an agent calls it.
    pub fn check(&self) -> Said {
        self.check_in(self.repo.root())
    }

    /// `gate check` in another directory.
    pub fn check_in(&self, dir: &Path) -> Said {
        let said = self.gate_in(dir, ["check"]);
        for_agents(&said.text());
        said
    }

    /// `gate check --json`, its verdict held against the schema.
    pub fn verdict(&self) -> Value {
        self.verdict_with(&[], &[])
    }

    /// `gate check --done --json` with further variables and arguments.
    pub fn verdict_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Value {
        let said = self.gate_with(variables, &[&["check", "--done", "--json"], args].concat());
        let verdict: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
        valid("verdict", &verdict);
        for_agents(verdict["feedback"].as_str().expect("feedback"));
        for_agents(&verdict["next_actions"].to_string());
        let code = match verdict["outcome"].as_str() {
            Some("pass") => 0,
            Some("blocked") => 10,
            Some("needs-human") => 11,
            Some("cannot-judge") => 12,
            other => panic!("{other:?}"),
        };
        assert_eq!(said.code, code, "{verdict:#}");
        verdict
    }

    /// `git push` with these arguments, as a line of shell, so that quoting is the test's.
    pub fn push(&self, line: &str) -> Said {
        self.push_in(self.repo.root(), line)
    }

    /// The same in another directory.
    pub fn push_in(&self, dir: &Path, line: &str) -> Said {
        let said = self.sh_in(dir, line);
        for_agents(&said.text());
        self.valid_records();
        said
    }

    /// Everything that the newest records say satisfies the schema.
    pub fn valid_records(&self) {
        for record in self.records().iter().rev().take(2) {
            valid("verdict", &read_json(record));
        }
    }

    /// What `origin` holds: short ref names and what they point at.
    pub fn refs(&self) -> BTreeMap<String, String> {
        self.refs_of(&self.remote)
    }

    /// What a repository holds.
    pub fn refs_of(&self, repository: &Path) -> BTreeMap<String, String> {
        let text = self.repo.git_in(repository, ["for-each-ref", "--format=%(refname) %(objectname)"]);
        let pair = |line: &str| line.split_once(' ').map(|(name, oid)| (name.to_owned(), oid.to_owned()));
        text.lines().filter_map(pair).collect()
    }

    /// Where `gate` keeps its things.
    pub fn gate_dir(&self) -> PathBuf {
        self.repo.path(".git/gate")
    }

    /// Everything below the folder of the verdicts, by name.
    pub fn verdict_files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.gate_dir().join("verdicts")).into_iter().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        files
    }

    /// The full records, oldest first.
    pub fn records(&self) -> Vec<PathBuf> {
        let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let record = |path: &PathBuf| {
            let name = name(path);
            path.extension().is_some_and(|extension| extension == "json")
                && !name.starts_with("verdict_")
                && !name.starts_with("escalation_")
        };
        self.verdict_files().into_iter().filter(record).collect()
    }

    /// The journal, line by line.
    pub fn journal(&self) -> Vec<Value> {
        let text = stored_journal(&self.gate_dir());
        text.lines().map(|line| serde_json::from_str(line).expect("a line of the journal")).collect()
    }
}

/// Runs to the end, with `input` on standard input. What takes minutes hangs.
pub fn finish(mut command: Command, input: &[u8]) -> Said {
    use std::io::Write as _;
    use std::os::unix::process::CommandExt as _;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().expect("the command starts");
    let group = Pid::from_child(&child);
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        // Who does not read its input may be gone before it is written.
        let _ = stdin.write_all(&input);
        drop(stdin);
        let _ = sender.send(child.wait_with_output());
    });
    match receiver.recv_timeout(COMMAND_TIMEOUT) {
        Ok(output) => said(&output.expect("the command ends")),
        Err(_) => {
            let _ = kill_process_group(group, Signal::KILL);
            panic!("{command:?} hangs");
        }
    }
}

/// What a finished command said.
pub fn said(output: &Output) -> Said {
    use std::os::unix::process::ExitStatusExt as _;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().or_else(|| Some(128 + output.status.signal()?)).expect("a status");
    Said { code, out: text(&output.stdout), err: text(&output.stderr) }
}

/// No text for an agent names a way around the gate.
#[track_caller]
pub fn for_agents(text: &str) {
    let lower = text.to_lowercase();
    for way in WAYS_AROUND {
        assert!(!lower.contains(way), "{way:?} in a text for agents:\n{text}");
    }
}

/// Holds a value against a published schema.
#[track_caller]
pub fn valid(schema: &'static str, value: &Value) {
    static VALIDATORS: OnceLock<BTreeMap<&str, jsonschema::Validator>> = OnceLock::new();
    let validators = VALIDATORS.get_or_init(|| {
        let validator = |name| {
            let output = Command::new(env!("CARGO_BIN_EXE_gate")).args(["schema", name]).output().expect("gate starts");
            let schema: Value = serde_json::from_slice(&output.stdout).expect("a schema");
            (name, jsonschema::validator_for(&schema).expect("a valid schema"))
        };
        ["verdict", "escalation", "review", "curate"].map(validator).into()
    });
    let errors: Vec<_> = validators[schema].iter_errors(value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
}

/// Reads a file of JSON.
pub fn read_json(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The reason codes of a gate in a verdict, in the order of its findings, the settled ones left out.
pub fn reasons(verdict: &Value, gate: &str) -> Vec<String> {
    let gates = verdict["gates"].as_array().expect("gates");
    let result = gates.iter().find(|result| result["gate"] == gate).unwrap_or_else(|| panic!("{gate}: {verdict:#}"));
    let findings = result["findings"].as_array().expect("findings").iter();
    let open = findings.filter(|finding| !["pass", "skip"].contains(&finding["answer"].as_str().unwrap_or_default()));
    open.map(|finding| finding["reason"].as_str().expect("a reason").to_owned()).collect()
}

/// Every path named by the findings of a gate that stop.
pub fn paths(verdict: &Value, gate: &str) -> Vec<String> {
    let gates = verdict["gates"].as_array().expect("gates").iter().filter(|result| result["gate"] == gate);
    let findings = gates.flat_map(|result| result["findings"].as_array().expect("findings"));
    let paths = findings.filter_map(|finding| finding["paths"].as_array()).flatten();
    paths.map(|path| path.as_str().map_or_else(|| path.to_string(), str::to_owned)).collect()
}
