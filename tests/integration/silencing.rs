//! A project of which tests failed, and changes that may silence them.

use std::cell::Cell;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::TestRepo;

/// A step of a change.
pub enum Edit {
    /// A file with this content.
    Write(&'static str, &'static str),
    /// A text in a file in place of each occurrence of another.
    Replace(&'static str, &'static str, &'static str),
    /// A text in front of a file.
    Before(&'static str, &'static str),
    /// A file in another place.
    Move(&'static str, &'static str),
    /// A file that is gone.
    Remove(&'static str),
}
pub use Edit::{Before, Move, Remove, Replace, Write};

/// A change after the tests had failed.
pub type Change = (&'static str, &'static [Edit]);

/// A project of which two tests fail after a text of its code is replaced.
pub struct Project {
    /// Its files.
    pub files: &'static [(&'static str, &'static str)],
    /// The file with `a + b`.
    pub code: &'static str,
    /// Two tests that have nothing to do with those that fail, so that the number of tests does not change.
    pub others: (&'static str, &'static str),
    /// Ways to silence the tests that fail.
    pub silenced: &'static [Change],
    /// What may come along with a fix.
    pub honest: &'static [Change],
}

/// What a runner needs that the machine does not have.
#[derive(Default)]
pub struct Toolbox {
    /// Variables.
    pub environment: Vec<(&'static str, OsString)>,
    /// A folder that the project sees as its `node_modules`.
    pub node_modules: Option<PathBuf>,
}

/// A project with its policy, on a branch on which its tests fail.
pub struct Scene {
    repo: TestRepo,
    tools: Toolbox,
    project: &'static Project,
    line: String,
    /// The number of lines that an agent has run, if it is one that runs the tests.
    by_agent: Option<Cell<u32>>,
}

impl Scene {
    pub fn new(project: &'static Project, line: &str, tools: Toolbox) -> Self {
        let repo = TestRepo::new();
        repo.write("gate.toml", format!("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"{line}\"\n"));
        for (path, text) in project.files {
            repo.write(path, text);
        }
        repo.commit_all("start");
        repo.add_bare_remote("origin");
        repo.git(["push", "-q", "origin", "HEAD:main"]);
        repo.git(["fetch", "-q", "origin"]);
        repo.git(["remote", "set-head", "origin", "main"]);
        repo.git(["switch", "-q", "-c", "feature"]);
        let scene = Self { repo, tools, project, line: line.to_owned(), by_agent: None };
        if let Some(modules) = &scene.tools.node_modules {
            scene.repo.link("node_modules", modules.as_os_str().as_encoded_bytes());
        }
        scene.edit(&Replace(project.code, "a + b", "a - b"));
        scene.repo.commit_all("break");
        scene.repo.git(["tag", "broken"]);
        scene
    }

    fn edit(&self, edit: &Edit) {
        let read = |path: &str| String::from_utf8(self.repo.read(path)).unwrap();
        match edit {
            Write(path, text) => drop(self.repo.write(path, text)),
            Replace(path, from, to) => {
                let text = read(path);
                assert!(text.contains(from), "{path} has no {from}");
                self.repo.write(path, text.replace(from, to));
            }
            Before(path, text) => drop(self.repo.write(path, format!("{text}{}", read(path)))),
            Move(from, to) => {
                let text = read(from);
                self.repo.remove(from).write(to, text);
            }
            Remove(path) => drop(self.repo.remove(path)),
        }
    }

    /// Runs gate; its status and what it says.
    pub fn gate(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = self.repo.gate(args);
        let Output { status, stdout, stderr } = self.with_tools(&mut command).output().unwrap();
        (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
    }

    /// Runs the tests: their status and what is printed.
    fn run_tests(&self) -> (Option<i32>, String) {
        let Some(lines) = &self.by_agent else { return self.gate(&["run", "test"]) };
        lines.set(lines.get() + 1);
        let mut call = json!({
            "session_id": "c0ffee-1", "cwd": self.repo.root(), "transcript_path": "/none", "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": self.line}, "tool_use_id": format!("toolu_{}", lines.get()),
        });
        self.hook(&call);
        let mut command = self.repo.command_in("sh", self.repo.root());
        let merged = format!("exec 2>&1; {}", self.line);
        let done = self.with_tools(command.args(["-c", &merged])).output().unwrap();
        let printed = String::from_utf8_lossy(&done.stdout).into_owned();
        let code = done.status.code();
        if done.status.success() {
            call["hook_event_name"] = json!("PostToolUse");
            call["tool_response"] = json!({"stdout": printed, "stderr": "", "interrupted": false});
        } else {
            call["hook_event_name"] = json!("PostToolUseFailure");
            call["error"] = json!(format!("Exit code {}\n{printed}", code.unwrap_or(1)));
        }
        self.hook(&call);
        (code, printed)
    }

    fn hook(&self, payload: &Value) {
        let mut command = self.repo.gate(["hook", "claude", payload["hook_event_name"].as_str().unwrap()]);
        let mut child = self.with_tools(&mut command).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success() && done.stdout.is_empty(), "{}", String::from_utf8_lossy(&done.stdout));
    }

    fn with_tools<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        with_caches(command, &self.repo).envs(self.tools.environment.iter().cloned())
    }

    /// Lets the tests fail, makes a change, runs them again and judges.
    pub fn judge(&self, (what, edits): &Change, fix: bool) -> (Option<i32>, String) {
        self.repo.git(["reset", "-q", "--hard", "broken"]);
        let (red, said) = self.run_tests();
        assert_ne!(red, Some(0), "{what}: {said}");
        let (path, text) = self.project.others;
        self.repo.write(path, text);
        edits.iter().for_each(|edit| self.edit(edit));
        if fix {
            self.edit(&Replace(self.project.code, "a - b", "a + b"));
        }
        self.repo.commit_all("next");
        let (green, said) = self.run_tests();
        assert_eq!(green, Some(0), "{what}: {said}");
        self.gate(&["check"])
    }
}

/// Lets a runner find what it keeps outside of the repository.
fn with_caches<'c>(command: &'c mut Command, repo: &TestRepo) -> &'c mut Command {
    let home = std::env::var("HOME").unwrap_or_default();
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        command.env(name, std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}")));
    }
    command.env("GOCACHE", repo.outside().join("gocache")).env("GOTOOLCHAIN", "local")
}

/// Each way is blocked where names are known, and at least said where they are not.
pub fn silenced(project: &'static Project, line: &str, is_named: bool, tools: Toolbox) {
    judged(&Scene::new(project, line, tools), is_named);
}

/// Each way is at least said where an agent runs the tests, and only what it is shown is known.
pub fn silenced_by_agent(project: &'static Project, line: &str, is_named: bool, tools: Toolbox) {
    judged(&Scene { by_agent: Some(Cell::new(0)), ..Scene::new(project, line, tools) }, is_named);
}

fn judged(scene: &Scene, is_named: bool) {
    let Scene { project, line, .. } = scene;
    for change in project.silenced {
        let (code, said) = scene.judge(change, false);
        let words = ["failed on this branch", "failed earlier in this work", "leaves tests out"];
        let is_said = words.iter().any(|words| said.contains(words));
        assert!(is_said, "{line}, {}: {said}", change.0);
        assert!(!is_named || code == Some(10), "{line}, {}: {said}", change.0);
    }
    for change in project.honest {
        let (code, said) = scene.judge(change, true);
        assert!(code == Some(0) && !said.contains("failed on this branch"), "{line}, {}: {said}", change.0);
    }
}
