//! Hook managers that really run: whoever is installed first, a push is judged, and the manager's own hooks still run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::installed::folder;
use crate::support::TestRepo;

const TEST: &str = "test -f src/a.rs";

/// A hook manager as a repository uses it.
struct Manager {
    name: &'static str,
    /// Where its program is, below its folder.
    program: &'static str,
    install: &'static [&'static str],
    /// Its configuration, with a hook of its own.
    config: (&'static str, &'static str),
    /// The same with what `gate init` says to add; `None`: it asks for nothing.
    added: Option<fn(&str) -> String>,
    /// Whether its hook is one of the files that `gate init` itself adds to.
    edited: bool,
}

const MANAGERS: [Manager; 5] = [
    Manager {
        name: "husky",
        program: "node_modules/.bin/husky",
        install: &[],
        config: (".husky/pre-push", "echo own >>../seen\n"),
        added: None,
        edited: true,
    },
    Manager {
        name: "lefthook",
        program: "node_modules/.bin/lefthook",
        install: &["install"],
        config: ("lefthook.yml", "post-commit:\n  commands:\n    own:\n      run: echo own >>../seen\n"),
        added: Some(|said| format!("post-commit:\n  commands:\n    own:\n      run: echo own >>../seen\n{said}")),
        edited: false,
    },
    Manager {
        name: "pre-commit",
        program: "bin/pre-commit",
        install: &["install", "-t", "pre-push"],
        config: (".pre-commit-config.yaml", LOCAL),
        added: None,
        edited: false,
    },
    Manager {
        name: "prek",
        program: "bin/prek",
        install: &["install", "-t", "pre-push"],
        config: (".pre-commit-config.yaml", LOCAL),
        added: None,
        edited: false,
    },
    Manager {
        name: "simple-git-hooks",
        program: "node_modules/.bin/simple-git-hooks",
        install: &[],
        config: (".simple-git-hooks.json", "{ \"post-commit\": \"echo own >>../seen\", \"pre-push\": \"true\" }\n"),
        added: Some(|said| {
            // Each line is `"simple-git-hooks": { "NAME": "LINE" }`, for package.json.
            let hooks = said.lines().filter_map(|line| line.split_once('{')?.1.trim().strip_suffix('}'));
            let hooks: Vec<&str> = hooks.chain(["\"post-commit\": \"echo own >>../seen\""]).collect();
            format!("{{ {} }}\n", hooks.join(", "))
        }),
        edited: false,
    },
];

const LOCAL: &str = "repos:\n- repo: local\n  hooks:\n  - id: own\n    name: own\n    language: system\n    \
    entry: sh -c 'echo own >>../seen'\n    always_run: true\n    pass_filenames: false\n    stages: [pre-push]\n";

struct Case<'m> {
    manager: &'m Manager,
    repo: TestRepo,
}

impl Case<'_> {
    /// With gate and the managers on the `PATH`, as a developer has them.
    fn command(&self, program: impl Into<OsString>, args: &[&str]) -> Command {
        let mut command = self.repo.command_in(program.into(), self.repo.root());
        let gate = PathBuf::from(env!("CARGO_BIN_EXE_gate")).parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap();
        let own = self.program().parent().unwrap().to_owned();
        command.env("PATH", std::env::join_paths([gate, own].into_iter().chain(std::env::split_paths(&path))).unwrap());
        command.env("PYTHONPATH", folder(self.manager.name)).args(args);
        command
    }

    fn program(&self) -> PathBuf {
        let path = folder(self.manager.name).join(self.manager.program);
        assert!(path.is_file(), "{} is not installed: run tests/components/run", path.display());
        path
    }

    fn done(&self, program: impl Into<OsString>, args: &[&str]) -> String {
        let mut command = self.command(program, args);
        let output = command.output().unwrap();
        let said = said(&output);
        assert!(output.status.success(), "{}: {command:?}\n{said}", self.manager.name);
        said
    }

    fn install(&self) {
        self.done(self.program(), self.manager.install);
    }

    /// Runs `gate init` and does what it says is left to do.
    fn init(&self) {
        let said = self.done("gate", &["init", "--yes", "--test", TEST]);
        let Some(added) = self.manager.added else {
            assert!(!said.contains("Add to it"), "{}: {said}", self.manager.name);
            return;
        };
        let listed = said.split_once("Add to it:\n").expect("what to add").1;
        let lines = listed.lines().map_while(|line| line.strip_prefix("        "));
        let listed = lines.flat_map(|line| [line, "\n"]).collect::<String>();
        self.repo.write(self.manager.config.0, added(&listed));
        // Files that it names in brackets are to be made, too.
        let files = said.split_once("which may be empty (").and_then(|(_, rest)| rest.split_once(')'));
        for file in files.into_iter().flat_map(|(files, _)| files.split(", ")) {
            self.repo.script(file, "");
        }
    }

    fn push(&self) -> Output {
        self.command("git", &["push", "origin", "work"]).output().unwrap()
    }

    /// Commits an edit of the code; what the manager's own hook leaves behind is counted from here.
    fn edit(&self, line: &str) {
        self.repo.append("src/a.rs", format!("{line}\n"));
        let _ = std::fs::remove_file(self.repo.outside().join("seen"));
        self.done("git", &["add", "-A"]);
        self.done("git", &["commit", "-q", "-m", "feat: an edit"]);
    }

    fn own_hook_ran(&self) -> bool {
        self.repo.outside().join("seen").exists()
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_push_is_judged_whoever_was_installed_first() {
    for (manager, first) in MANAGERS.iter().flat_map(|manager| [(manager, true), (manager, false)]) {
        let what = format!("{}, installed {}", manager.name, if first { "before gate" } else { "after gate" });
        let case = Case { manager, repo: TestRepo::new() };
        let repo = &case.repo;
        repo.add_bare_remote("origin");
        repo.write(manager.config.0, manager.config.1).write("src/a.rs", "fn a() {}\n").write("package.json", "{}\n");
        repo.commit_all("feat: start");
        repo.git(["push", "-q", "origin", "main"]);
        repo.git(["remote", "set-head", "origin", "main"]);
        repo.git(["checkout", "-q", "-b", "work"]);
        if first {
            case.install();
        }
        case.init();
        // The manager is run again by every `npm install`.
        case.install();

        case.edit("fn b() {}");
        let refused = case.push();
        let text = said(&refused);
        assert!(!refused.status.success() && text.contains("fail tests"), "{what}: {text}");
        assert_eq!(repo.git(["ls-remote", "origin", "work"]), "", "{what}");
        case.done("gate", &["run", "test"]);
        let passed = case.push();
        assert!(passed.status.success() && case.own_hook_ran(), "{what}: {}", said(&passed));
        // What the other side has already is judged as well: it may go to a protected branch, or be deleted.
        for push in [["push", "origin", "work:main"], ["push", "origin", ":main"]] {
            let refused = case.command("git", &push).output().unwrap();
            assert!(!refused.status.success(), "{what}, {push:?}: {}", said(&refused));
            assert!(said(&refused).contains("main is protected"), "{what}, {push:?}: {}", said(&refused));
        }

        case.done("gate", &["uninstall", "--yes"]);
        if manager.edited {
            assert_eq!(repo.read(manager.config.0), manager.config.1.as_bytes(), "{what}: its script is as it was");
        }
        // What a person added to a manager's configuration stays until a person removes it.
        repo.write(manager.config.0, manager.config.1);
        case.install();
        case.edit("fn c() {}");
        let passed = case.push();
        assert!(passed.status.success() && case.own_hook_ran(), "{what}, and gate gone: {}", said(&passed));
    }
}
