//! A person who types lines in a shell with `gate shell`, at a terminal of their own.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::TestRepo;
use crate::terminal;

/// The command that is declared, as a script whose behaviour a test chooses.
pub const POLICY: &str = "version = 1\n\n[commands.test]\ngate = \"tests\"\nrun = \"sh t.sh\"\n";

/// A repository in which `sh t.sh` is the test, and a shell to type in.
pub struct Typist {
    pub repo: TestRepo,
    pub shell: &'static str,
    /// Lines of the settings of the shell, before `gate shell`.
    pub settings: String,
    /// Lines of the settings after it.
    pub more: String,
    /// Variables that the shell gets.
    pub variables: Vec<(&'static str, &'static str)>,
}

impl Typist {
    /// `script` is the test.
    pub fn new(shell: &'static str, script: &str) -> Self {
        let repo = TestRepo::new();
        repo.write("gate.toml", POLICY).write("t.sh", script).write("other.sh", "true\n").write("notes", "one\n");
        repo.commit_all("feat: start");
        Self { repo, shell, settings: String::new(), more: String::new(), variables: Vec::new() }
    }

    /// Types these lines, then `exit`, once more for what is stopped; everything that the terminal showed.
    pub fn types(&self, lines: &[&str]) -> String {
        let home = self.repo.home();
        let (file, start) = match self.shell {
            "bash" => (".bashrc", "bash -i"),
            "zsh" => (".zshrc", "zsh -i"),
            _ => (".config/fish/config.fish", "fish -i"),
        };
        let program = env!("CARGO_BIN_EXE_gate");
        let path = home.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Without this folder, each new fish reads all man pages of the machine.
        fs::create_dir_all(home.join(".local/share/fish/generated_completions")).unwrap();
        let offer = format!("eval \"$('{program}' shell {})\"", self.shell);
        fs::write(&path, format!("{}\n{offer}\n{}\n", self.settings, self.more)).unwrap();
        let mut command = self.repo.command_in("sh", self.repo.root());
        command.env("TERM", "dumb").envs(self.variables.iter().copied());
        let typed = lines.join("\n") + "\nexit\nexit\n";
        // A session of its own, whose terminal this is.
        terminal::run(command, &format!("exec setsid --ctty --wait {start}"), &typed).1
    }

    /// What `gate check` says: its status and its words.
    pub fn check(&self) -> (i32, String) {
        let output = self.repo.gate(["check"]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap(), text)
    }

    /// The lines of the journal that tell of a run.
    pub fn runs(&self) -> Vec<String> {
        runs_in(self.repo.root())
    }
}

/// The lines of the journal of a repository that tell of a run.
pub fn runs_in(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join(".git/gate/journal.jsonl")).unwrap_or_default();
    text.lines().filter(|line| line.contains("\"kind\":\"run\"")).map(str::to_owned).collect()
}

/// What must hold in every shell.
pub fn holds_in(shell: &'static str) {
    a_pass_counts(shell);
    what_proves_nothing(shell);
    other_lines_leave_no_trace(shell);
    most_lines_start_nothing(shell);
    another_repository(shell);
    an_agents_shell(shell);
    a_push_in_the_same_line(shell);
}

fn a_pass_counts(shell: &'static str) {
    let typist = Typist::new(shell, "echo tested\n");
    let (code, said) = typist.check();
    assert_eq!(code, 10, "{shell}: {said}");
    let shown = typist.types(&["sh t.sh"]);
    assert!(shown.contains("tested"), "{shell}: {shown}");
    let (code, said) = typist.check();
    assert_eq!(code, 0, "{shell}: {said}\n{shown}");
    assert!(said.contains("passed on this content (by its exit status alone)"), "{shell}: {said}");
    let runs = typist.runs();
    assert!(runs.len() == 1 && runs[0].contains("\"by\":\"shell\",\"grade\":\"hooked\""), "{shell}: {runs:?}");
    typist.repo.append("notes", "two\n").commit_all("docs: more");
    assert_eq!(typist.check().0, 10, "{shell}: another content");
    // The same line again, which a history may not keep twice.
    typist.types(&["cd .", "sh t.sh", "sh t.sh"]);
    assert_eq!((typist.check().0, typist.runs().len()), (0, 3), "{shell}");
}

fn what_proves_nothing(shell: &'static str) {
    let not = if shell == "fish" { "not sh t.sh" } else { "! sh t.sh" };
    let conditional = if shell == "fish" { "if sh t.sh; true; end" } else { "if sh t.sh; then true; fi" };
    let function = if shell == "fish" { "function sh; true; end" } else { "sh() { true; }" };
    let fails = "exit 3\n";
    for (script, lines) in [
        (fails, &["sh t.sh"][..]),
        (fails, &[not]),
        (fails, &[" sh t.sh; true"]),
        (fails, &["sh t.sh", &format!(" {not}")]),
        (fails, &["sh t.sh || true"]),
        (fails, &["sh t.sh | cat"]),
        (fails, &[" sh t.sh | cat"]),
        (fails, &[conditional]),
        (fails, &["sh t.sh", &format!(" {conditional}")]),
        (fails, &["sh t.sh &", "wait"]),
        (fails, &["sh t.sh", " sh t.sh &", "wait"]),
        (fails, &[function, "sh t.sh"]),
        // It is stopped, and has not ended.
        ("kill -STOP $$\nexit 3\n", &["sh t.sh", "kill -KILL %1"]),
        ("echo two >>notes\n", &["sh t.sh"]),
        ("cat notes >other.sh; echo three >notes\n", &["sh t.sh; git checkout -q ."]),
    ] {
        let typist = Typist::new(shell, script);
        let shown = typist.types(lines);
        typist.repo.git(["checkout", "-q", "."]);
        let (code, said) = typist.check();
        assert_eq!(code, 10, "{shell}: {lines:?} of {script:?}: {said}\n{shown}");
    }
    let typist = Typist::new(shell, fails);
    typist.types(&["sh t.sh"]);
    let (_, said) = typist.check();
    assert!(said.contains("`sh t.sh` failed"), "{shell}: {said}");
}

fn other_lines_leave_no_trace(shell: &'static str) {
    let typist = Typist::new(shell, "true\n");
    let shown =
        typist.types(&["ls", "echo sh t.sh", "sh other.sh", "./missing", "python3 -c pass", "git status", "make"]);
    assert!(shown.contains("notes"), "{shell}: {shown}");
    assert!(!typist.repo.path(".git/gate").exists(), "{shell}: {shown}");
}

/// What is not a line of a runner is known without a process: not even gate is started.
fn most_lines_start_nothing(shell: &'static str) {
    let mut typist = Typist::new(shell, "true\n");
    let spy = typist.repo.outside().join("spy");
    fs::write(&spy, "#!/bin/sh\necho \"$*\" >>\"$0.log\"\n").unwrap();
    fs::set_permissions(&spy, fs::Permissions::from_mode(0o755)).unwrap();
    typist.more =
        if shell == "fish" { "set -g __gate_program " } else { "__gate_program=" }.to_owned() + spy.to_str().unwrap();
    let lines = [
        "ls", "echo sh t.sh", "git log --oneline -- pytest", "cat t.sh | grep make", "cd .; true && pwd",
        "VAR=npm true",
    ];
    typist.types(&lines);
    let log = spy.with_extension("log");
    assert!(!log.exists(), "{shell}: {:?}", fs::read_to_string(&log));
    typist.types(&["true; FOO=1 env -u X sh t.sh", "./other.sh", "/bin/sh t.sh"]);
    let asked = fs::read_to_string(&log).unwrap();
    for line in ["env -u X sh t.sh", "./other.sh", "/bin/sh t.sh"] {
        assert!(asked.contains(line), "{shell}: {line}: {asked}");
    }
}

fn another_repository(shell: &'static str) {
    let typist = Typist::new(shell, "true\n");
    let other = typist.repo.copy("other");
    typist.types(&["cd ../other", "sh t.sh"]);
    assert_eq!((typist.check().0, typist.runs().len()), (10, 0), "{shell}");
    assert_eq!(runs_in(&other).len(), 1, "{shell}: it counts where it ran");
    let home = typist.repo.root().display().to_string();
    typist.types(&["cd ../other", &format!("cd {home} && sh t.sh")]);
    assert_eq!((typist.check().0, runs_in(&other).len()), (0, 1), "{shell}");
}

/// Tests before a push in the same line count where the push is reached only if they passed.
fn a_push_in_the_same_line(shell: &'static str) {
    for (script, line, passes) in [
        ("true\n", "sh t.sh && git commit -q --allow-empty -m one && git push -q origin HEAD:feature", true),
        ("true\n", "sh t.sh; git push -q origin HEAD:feature", false),
        ("exit 3\n", "sh t.sh || git push -q origin HEAD:feature", false),
        ("exit 3\n", "sh t.sh ; git push -q origin HEAD:feature", false),
    ] {
        let typist = Typist::new(shell, script);
        let remote = typist.repo.add_bare_remote("origin");
        typist.repo.git(["push", "-q", "origin", "HEAD:main"]);
        typist.repo.git(["remote", "set-head", "origin", "main"]);
        assert!(typist.repo.gate(["init", "--yes", "--no-clients"]).output().unwrap().status.success());
        typist.repo.append("notes", "two\n").commit_all("docs: more");
        let shown = typist.types(&[line]);
        let pushed = typist.repo.git_in(&remote, ["branch", "--list", "feature"]);
        assert_eq!(!pushed.is_empty(), passes, "{shell}: {line}: {shown}");
        let log = typist.repo.gate(["log"]).output().unwrap();
        let log = String::from_utf8_lossy(&log.stdout).into_owned();
        assert_eq!(log.contains("run test: passed"), passes, "{shell}: {line}: {log}");
        assert!(!shown.contains("status 0"), "{shell}: {line}: {shown}");
    }
}

fn an_agents_shell(shell: &'static str) {
    let mut typist = Typist::new(shell, "true\n");
    typist.variables.push(("CLAUDECODE", "1"));
    typist.types(&["sh t.sh"]);
    assert!(!typist.repo.path(".git/gate").exists(), "{shell}: the hook of the client records it");
}
