//! `gate init` and `gate uninstall`: what is installed works, and taken out again leaves no trace.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use proptest::prelude::*;
use tempfile::TempDir;

/// The binary under test.
pub(crate) const GATE: &str = env!("CARGO_BIN_EXE_gate");

/// A home, a folder for programs, and repositories, with nothing of the machine's configuration.
pub(crate) struct Sandbox {
    dir: TempDir,
}

/// Path, and what is there: a mode and bytes.
type Traces = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Sandbox {
    /// With `gate` on the PATH.
    pub(crate) fn new() -> Self {
        let sandbox = Self { dir: tempfile::tempdir().unwrap() };
        for folder in ["home", "bin", "repo"] {
            fs::create_dir(sandbox.path(folder)).unwrap();
        }
        symlink(GATE, sandbox.path("bin/gate")).unwrap();
        sandbox
    }

    /// With an ordinary repository in `repo`, one commit old.
    pub(crate) fn with_repository() -> Self {
        let sandbox = Self::new();
        sandbox.repository("repo", &[]);
        sandbox
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    /// A repository with one commit.
    pub(crate) fn repository(&self, name: &str, init: &[&str]) -> PathBuf {
        let dir = self.path(name);
        fs::create_dir_all(&dir).unwrap();
        let args: Vec<&str> = ["init", "-q", "-b", "main"].into_iter().chain(init.iter().copied()).collect();
        self.git(&dir, &args);
        self.write(&format!("{name}/Cargo.toml"), "[package]\nname = \"a\"\n", 0o644);
        self.git(&dir, &["add", "-A"]);
        self.git(&dir, &["commit", "-q", "-m", "first"]);
        dir
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>, mode: u32) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    pub(crate) fn command(&self, program: &str, dir: &Path) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap();
        command.current_dir(dir).env_clear().stdin(Stdio::null());
        command.env("PATH", format!("{}:{path}", self.path("bin").display())).env("HOME", self.path("home"));
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C").env("TMPDIR", self.dir.path());
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "A").env(format!("GIT_{role}_EMAIL"), "a@example.com");
            command.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
        }
        command
    }

    pub(crate) fn git(&self, dir: &Path, args: &[&str]) -> String {
        let done = self.command("git", dir).args(args).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
    }

    /// Runs gate, and gives its exit code, standard output and standard error.
    pub(crate) fn gate(&self, dir: &Path, args: &[&str]) -> (i32, String, String) {
        said(&self.command(GATE, dir).args(args).output().unwrap())
    }

    pub(crate) fn init(&self, dir: &Path) -> String {
        let (code, out, err) = self.gate(dir, &["init", "--yes"]);
        assert_eq!(code, 0, "{out}{err}");
        out
    }

    pub(crate) fn uninstall(&self, dir: &Path) -> String {
        let (code, out, err) = self.gate(dir, &["uninstall", "--yes"]);
        assert_eq!(code, 0, "{out}{err}");
        out
    }

    /// Pushes HEAD to a new branch of a new bare repository: whether it arrived, and what was said.
    pub(crate) fn push(&self, dir: &Path) -> (bool, String) {
        let target = self.path("target.git");
        let _ = fs::remove_dir_all(&target);
        self.git(dir, &["init", "-q", "--bare", target.to_str().unwrap()]);
        self.git(&target, &["config", "core.hooksPath", "/dev/null"]);
        let mut push = self.command("git", dir);
        let done = push.args(["push", target.to_str().unwrap(), "HEAD:refs/heads/pushed"]).output().unwrap();
        let (_, out, err) = said(&done);
        let arrived = !self.git(&target, &["for-each-ref"]).is_empty();
        assert_eq!(arrived, done.status.success(), "{out}{err}");
        fs::remove_dir_all(&target).unwrap();
        (arrived, format!("{out}{err}"))
    }

    /// Everything on disk below the sandbox.
    pub(crate) fn traces(&self) -> Traces {
        let mut traces = Traces::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                let bytes = if meta.is_symlink() {
                    fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                } else if meta.is_dir() {
                    folders.push(path.clone());
                    Vec::new()
                } else {
                    fs::read(&path).unwrap()
                };
                traces.insert(path, (meta.permissions().mode(), bytes));
            }
        }
        traces
    }
}

pub(crate) fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn differences(before: &Traces, after: &Traces) -> Vec<String> {
    let paths = before.keys().chain(after.keys()).collect::<std::collections::BTreeSet<_>>();
    let shown = |traces: &Traces, path: &Path| {
        traces.get(path).map(|(mode, bytes)| format!("{mode:o} {:?}", String::from_utf8_lossy(bytes)))
    };
    let differ = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    differ.map(|path| format!("{}: {:?} → {:?}", path.display(), shown(before, path), shown(after, path))).collect()
}

/// A hook that leaves its arguments and its standard input in `ran`, and lets go on.
const RECORDS: &str = "#!/bin/sh\n{ echo \"$@\"; cat; } > \"$HOME/ran\"\n";

/// What husky 9 writes into `.husky/_`.
const HUSKY: &str = "#!/usr/bin/env sh\n[ \"$HUSKY\" = \"2\" ] && set -x\nn=$(basename \"$0\")\n\
    s=$(dirname \"$(dirname \"$0\")\")/$n\n[ ! -f \"$s\" ] && exit 0\nsh -e \"$s\" \"$@\"\nc=$?\n\
    [ $c != 0 ] && echo \"husky - $n script failed (code $c)\"\nexit $c\n";

fn husky_9(s: &Sandbox) -> PathBuf {
    let dir = s.repository("repo", &[]);
    s.write("repo/.husky/_/h", HUSKY, 0o644);
    s.write("repo/.husky/_/pre-push", "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"", 0o755);
    s.git(&dir, &["config", "core.hooksPath", ".husky/_"]);
    dir
}

/// A name, how the repository comes to be, and whether pushes from it are judged once gate is installed.
type Scenario = (&'static str, fn(&Sandbox) -> PathBuf, bool);

fn scenarios() -> Vec<Scenario> {
    vec![
        ("no hook", |s| s.repository("repo", &[]), true),
        ("no folder for hooks", |s| s.repository("repo", &["--template="]), true),
        (
            "unborn branch",
            |s| {
                s.git(&s.path("repo"), &["init", "-q"]);
                s.path("repo")
            },
            true,
        ),
        (
            "a subfolder",
            |s| {
                s.repository("repo", &[]);
                s.write("repo/a/b/x", "", 0o644).parent().unwrap().to_owned()
            },
            true,
        ),
        (
            "an executable hook",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/.git/hooks/pre-push", RECORDS, 0o755);
                d
            },
            true,
        ),
        (
            "a private hook",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/.git/hooks/pre-push", RECORDS, 0o700);
                d
            },
            true,
        ),
        (
            "a hook without a run bit",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/.git/hooks/pre-push", "exit 1", 0o640);
                d
            },
            true,
        ),
        (
            "a hook that is not text",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/.git/hooks/pre-push", b"#!/bin/sh\n# \xff\xfe\0\r\n", 0o755);
                d
            },
            true,
        ),
        (
            "an empty hook",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/.git/hooks/pre-push", "", 0o755);
                d
            },
            true,
        ),
        (
            "a link to a hook",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/scripts/push", RECORDS, 0o755);
                s.write("repo/.git/hooks/x", "", 0o644);
                symlink("../../scripts/push", d.join(".git/hooks/pre-push")).unwrap();
                d
            },
            true,
        ),
        (
            "a link to nothing",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/.git/hooks/x", "", 0o644);
                symlink("nowhere", d.join(".git/hooks/pre-push")).unwrap();
                d
            },
            true,
        ),
        (
            "hooks elsewhere in the git directory",
            |s| {
                let d = s.repository("repo", &[]);
                s.git(&d, &["config", "core.hooksPath", ".git/my/hooks"]);
                d
            },
            true,
        ),
        (
            "hooks in the working tree",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/.githooks/pre-push", RECORDS, 0o755);
                s.git(&d, &["config", "core.hooksPath", ".githooks"]);
                d
            },
            true,
        ),
        (
            "hooks in an absolute folder",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("else where/pre-push", RECORDS, 0o755);
                s.git(&d, &["config", "core.hooksPath", s.path("else where").to_str().unwrap()]);
                d
            },
            true,
        ),
        (
            "hooks of all repositories",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("home/hooks/pre-push", RECORDS, 0o755);
                s.git(&d, &["config", "--global", "core.hooksPath", "~/hooks"]);
                d
            },
            false,
        ),
        (
            "hooks of this working tree",
            |s| {
                let d = s.repository("repo", &[]);
                s.git(&d, &["config", "extensions.worktreeConfig", "true"]);
                s.git(&d, &["config", "--worktree", "core.hooksPath", "my-hooks"]);
                d
            },
            true,
        ),
        (
            "no hooks at all",
            |s| {
                let d = s.repository("repo", &[]);
                s.git(&d, &["config", "core.hooksPath", "/dev/null"]);
                d
            },
            false,
        ),
        (
            "husky 9",
            |s| {
                let d = husky_9(s);
                s.write("repo/.husky/pre-push", "cat > \"$HOME/ran\"\n", 0o644);
                d
            },
            true,
        ),
        ("husky 9 without a script", husky_9, true),
        (
            "husky 8",
            |s| {
                let d = s.repository("repo", &[]);
                let husky =
                    "if [ -z \"$skip\" ]; then readonly skip=1; export skip; sh -e \"$0\" \"$@\"; exit $?; fi\n";
                s.write("repo/.husky/_/husky.sh", husky, 0o644);
                s.write("repo/.husky/pre-push", ". \"$(dirname \"$0\")/_/husky.sh\"\ncat > \"$HOME/ran\"\n", 0o755);
                s.git(&d, &["config", "core.hooksPath", ".husky"]);
                d
            },
            true,
        ),
        (
            "lefthook",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/lefthook.yml", "pre-push:\n", 0o644);
                s.write(
                    "repo/.git/hooks/pre-push",
                    format!("{RECORDS}# call_lefthook run \"pre-push\" \"$@\"\n"),
                    0o755,
                );
                d
            },
            true,
        ),
        (
            "pre-commit",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/.pre-commit-config.yaml", "repos: []\n", 0o644);
                s.write(
                    "repo/.git/hooks/pre-push",
                    format!("{RECORDS}# File generated by pre-commit: https://pre-commit.com\n"),
                    0o755,
                );
                d
            },
            true,
        ),
        (
            "linked working tree",
            |s| {
                let d = s.repository("repo", &[]);
                s.git(&d, &["worktree", "add", "-q", "../linked"]);
                s.path("linked")
            },
            true,
        ),
        (
            "submodule",
            |s| {
                s.repository("inner", &[]);
                let d = s.repository("repo", &[]);
                s.git(&d, &["-c", "protocol.file.allow=always", "submodule", "-q", "add", "../inner", "sub"]);
                d.join("sub")
            },
            true,
        ),
        (
            "separate git directory",
            |s| {
                let git_dir = s.path("git dir").to_str().unwrap().to_owned();
                s.repository("repo", &["--separate-git-dir", &git_dir])
            },
            true,
        ),
        ("a path with spaces and quotes", |s| s.repository("re \"p'o\" $(x)", &[]), true),
        ("sha256", |s| s.repository("repo", &["--object-format=sha256"]), true),
        (
            "a gate.toml that is there",
            |s| {
                let d = s.repository("repo", &[]);
                s.write("repo/gate.toml", "# mine\r\nmode = 'warn'", 0o600);
                d
            },
            true,
        ),
    ]
}

#[test]
fn what_is_installed_fires_and_leaves_no_trace() {
    for (name, setup, judged) in scenarios() {
        let s = Sandbox::new();
        let dir = setup(&s);
        let before = s.traces();
        let (code, _, _) = s.gate(&dir, &["init", "--dry-run", "--test", "make test"]);
        assert_eq!((code, differences(&before, &s.traces())), (0, vec![]), "{name}: a dry run changes nothing");

        let (code, out, err) = s.gate(&dir, &["init", "--yes", "--test", "make test"]);
        assert_eq!(code, 0, "{name}: {out}{err}");
        let installed = s.traces();
        assert_ne!(installed, before, "{name}");
        let (code, out, err) = s.gate(&dir, &["init", "--yes", "--test", "make test"]);
        assert_eq!((code, differences(&installed, &s.traces())), (0, vec![]), "{name}: twice is once: {out}{err}");

        let (code, out, err) = s.gate(&dir, &["doctor"]);
        assert_eq!(code == 0, judged, "{name}: {out}{err}");
        assert_eq!(out.contains("was refused by gate"), judged, "{name}: {out}{err}");
        assert_eq!(differences(&installed, &s.traces()), Vec::<String>::new(), "{name}: the canary leaves nothing");

        let (code, out, err) = s.gate(&dir, &["uninstall", "--dry-run"]);
        assert_eq!((code, differences(&installed, &s.traces())), (0, vec![]), "{name}: {out}{err}");
        s.uninstall(&dir);
        assert_eq!(differences(&before, &s.traces()), Vec::<String>::new(), "{name}: everything is as it was");
    }
}

#[test]
fn a_bare_repository_judges_what_arrives() {
    let s = Sandbox::new();
    let dir = s.path("repo");
    s.git(&dir, &["init", "-q", "--bare"]);
    s.write("repo/hooks/pre-receive", RECORDS, 0o755);
    let before = s.traces();
    s.init(&dir);
    assert!(!dir.join("gate.toml").exists());
    let installed = s.traces();
    let (code, out, err) = s.gate(&dir, &["doctor"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("bare repository") && out.contains("was refused by gate"), "{out}");
    assert_eq!(differences(&installed, &s.traces()), Vec::<String>::new());

    let source = s.repository("source", &[]);
    s.git(&source, &["push", "-q", "../repo", "HEAD:refs/heads/x"]);
    assert!(fs::read_to_string(s.path("home/ran")).unwrap().contains("refs/heads/x"), "the earlier hook ran");
    fs::remove_file(s.path("home/ran")).unwrap();
    s.git(&dir, &["update-ref", "-d", "refs/heads/x"]);
    s.uninstall(&dir);
    for path in ["hooks/pre-receive", "gate", "hooks/pre-receive.before-gate"] {
        let traces = s.traces();
        assert_eq!(traces.get(&dir.join(path)), before.get(&dir.join(path)), "{path}");
    }
}

#[test]
fn the_earlier_hook_gets_what_git_said_and_its_refusal_counts() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    s.write("repo/.git/hooks/pre-push", RECORDS, 0o755);
    s.init(&dir);
    let head = s.git(&dir, &["rev-parse", "HEAD"]);
    assert!(s.push(&dir).0);
    let ran = fs::read_to_string(s.path("home/ran")).unwrap();
    let target = s.path("target.git").display().to_string();
    assert_eq!(ran, format!("{target} {target}\nHEAD {head} refs/heads/pushed {}\n", "0".repeat(40)));

    for (hook, mode, arrives) in [
        ("#!/bin/sh\nexit 7\n", 0o755, false),
        ("exit 7\n", 0o755, false),
        ("exit 7\n", 0o644, true),
        ("#!/bin/sh\nexec <&-\nexit 0\n", 0o755, true),
    ] {
        s.write("repo/.git/hooks/pre-push.before-gate", hook, mode);
        assert_eq!(s.push(&dir).0, arrives, "{hook:?} {mode:o}");
    }
    s.write("repo/.git/hooks/pre-push.before-gate", "#!/bin/sh\nexit 7\n", 0o755);
    let mut hook = s.command(GATE, &dir);
    hook.args(["hook", "git", "pre-push", "origin", "-url"]).env("GATE_HOOK_FILE", ".git/hooks/pre-push");
    assert_eq!(hook.output().unwrap().status.code(), Some(7), "its status is the hook's");
}

#[test]
fn husky_scripts_still_read_the_refs() {
    let s = Sandbox::new();
    let dir = husky_9(&s);
    s.write("repo/.husky/pre-push", "cat > \"$HOME/ran\"\n", 0o644);
    s.init(&dir);
    assert!(s.push(&dir).0);
    let ran = fs::read_to_string(s.path("home/ran")).unwrap();
    assert!(ran.starts_with("HEAD ") && ran.trim_end().ends_with(&"0".repeat(40)), "{ran}");
    // An edit by somebody else is no reason to stay in.
    let script = fs::read_to_string(dir.join(".husky/pre-push")).unwrap();
    fs::write(dir.join(".husky/pre-push"), format!("{script}npm test\n")).unwrap();
    s.uninstall(&dir);
    assert_eq!(fs::read_to_string(dir.join(".husky/pre-push")).unwrap(), "cat > \"$HOME/ran\"\nnpm test\n");
}

#[test]
fn a_manager_that_calls_the_earlier_hook_again_does_not_go_round_in_circles() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    // What pre-commit writes: it runs the hook it found, then its own.
    let manager = "#!/bin/sh\n# pre-commit.com\necho x >> \"$HOME/ran\"\nhere=$(dirname \"$0\")\n\
                   [ -x \"$here/pre-push.legacy\" ] || exit 0\n\"$here/pre-push.legacy\" \"$@\"\n";
    s.write("repo/.pre-commit-config.yaml", "repos: []\n", 0o644);
    s.write("repo/.git/hooks/pre-push", manager, 0o755);
    let before = s.traces();
    s.init(&dir);
    fs::rename(dir.join(".git/hooks/pre-push"), dir.join(".git/hooks/pre-push.legacy")).unwrap();
    s.write("repo/.git/hooks/pre-push", manager, 0o755);
    let (arrived, words) = s.push(&dir);
    assert!(arrived, "{words}");
    assert_eq!(fs::read_to_string(s.path("home/ran")).unwrap(), "x\nx\n");
    fs::remove_file(s.path("home/ran")).unwrap();
    let (code, out, _) = s.gate(&dir, &["doctor"]);
    assert_eq!(code, 0, "{out}");
    let out = s.uninstall(&dir);
    assert!(out.contains("taken out there"), "{out}");
    let hooks = |name: &str| fs::read(dir.join(".git/hooks").join(name)).ok();
    assert_eq!(hooks("pre-push").as_deref(), Some(manager.as_bytes()));
    assert_eq!(hooks("pre-push.before-gate"), None);
    assert_eq!(before.get(&dir.join(".git/hooks/pre-push")).unwrap().1, manager.as_bytes());
}

#[test]
fn what_others_changed_since_is_left_alone_and_said() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    let hook = dir.join(".git/hooks/pre-push");
    let kept = dir.join(".git/hooks/pre-push.before-gate");

    s.write("repo/.git/hooks/pre-push", RECORDS, 0o755);
    s.init(&dir);
    s.write("repo/.git/hooks/pre-push", "#!/bin/sh\n# another tool\n", 0o755);
    let out = s.uninstall(&dir);
    assert!(out.contains("is left alone") && out.contains("before-gate"), "{out}");
    assert_eq!(fs::read_to_string(&hook).unwrap(), "#!/bin/sh\n# another tool\n");
    assert_eq!(fs::read_to_string(&kept).unwrap(), RECORDS);
    let (code, out, _) = s.gate(&dir, &["init", "--yes"]);
    assert_eq!(code, 0);
    assert!(out.contains("join them into one"), "{out}");
    s.uninstall(&dir);

    // Removed by hand: what it replaced comes back.
    fs::rename(&kept, &hook).unwrap();
    s.init(&dir);
    fs::remove_file(&hook).unwrap();
    s.uninstall(&dir);
    assert_eq!(fs::read_to_string(&hook).unwrap(), RECORDS);
    assert!(!kept.exists());

    // Written again by its manager: gate takes the place once more, and the copy comes back in the end.
    s.init(&dir);
    s.write("repo/.git/hooks/pre-push", RECORDS, 0o755);
    s.init(&dir);
    assert_eq!(s.gate(&dir, &["doctor"]).0, 0);
    s.uninstall(&dir);
    assert_eq!(fs::read_to_string(&hook).unwrap(), RECORDS);
    assert!(!kept.exists());
}

#[test]
fn a_gate_toml_that_became_the_users_stays() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    let policy = dir.join("gate.toml");
    s.init(&dir);
    let text = fs::read_to_string(&policy).unwrap();
    assert!(text.contains("run = \"cargo test\""), "{text}");
    fs::write(&policy, format!("{text}# mine\n")).unwrap();
    assert!(s.uninstall(&dir).contains("was edited since and stays"));
    assert!(policy.exists());
    fs::remove_file(&policy).unwrap();

    s.init(&dir);
    s.git(&dir, &["add", "gate.toml"]);
    assert!(s.uninstall(&dir).contains("is tracked by git and stays"));
    assert!(policy.exists());
}

#[test]
fn commands_are_added_to_a_gate_toml_and_never_changed() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    let text = "# mine\n[commands.test]\ngate = \"tests\"\nrun = \"x\"\n";
    s.write("repo/gate.toml", text, 0o644);
    let (code, out, err) = s.gate(&dir, &["init", "--yes", "--test", "y", "--build", "z", "--no-hooks"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("declares `test` as `x`, which stays"), "{out}");
    let added = format!("{text}\n[commands.build]\ngate = \"build\"\nrun = \"z\"\n");
    assert_eq!(fs::read_to_string(dir.join("gate.toml")).unwrap(), added);
    assert!(!dir.join(".git/hooks/pre-push").exists());
    s.uninstall(&dir);
    assert_eq!(fs::read_to_string(dir.join("gate.toml")).unwrap(), text);

    s.write("repo/gate.toml", "[commands\n", 0o644);
    let (code, _, err) = s.gate(&dir, &["init", "--yes", "--test", "y"]);
    assert_eq!(code, 65);
    assert!(err.contains("gate.toml") && err.contains("line 1"), "{err}");
}

#[test]
fn what_was_not_recognised_is_said() {
    let s = Sandbox::new();
    let dir = s.path("repo");
    s.git(&dir, &["init", "-q"]);
    let out = s.init(&dir);
    assert!(out.contains("No stack was recognised") && out.contains("--test"), "{out}");
    assert!(fs::read_to_string(dir.join("gate.toml")).unwrap().contains("# [commands.test]"));
}

#[test]
fn nothing_happens_without_a_yes_or_a_repository() {
    let s = Sandbox::with_repository();
    let before = s.traces();
    let (code, out, err) = s.gate(&s.path("repo"), &["init"]);
    assert_eq!(code, 64);
    assert!(out.contains("+++ b/gate.toml") && err.contains("gate init --yes"), "{out}{err}");
    assert_eq!(differences(&before, &s.traces()), Vec::<String>::new());
    for command in ["init", "uninstall", "doctor"] {
        let (code, _, err) = s.gate(&s.path("home"), &[command]);
        assert_eq!(code, 64, "{command}");
        assert!(err.contains("is not inside a git repository"), "{err}");
    }
    assert_eq!(s.gate(&s.path("repo"), &["init", "--test", " ", "--yes"]).0, 64);
    let (code, _, err) = s.gate(&s.path("repo"), &["uninstall", "--yes"]);
    assert_eq!((code, err.contains("Nothing to do.")), (0, true), "{err}");
}

#[test]
fn inherited_variables_do_not_lead_to_another_repository() {
    let s = Sandbox::with_repository();
    let other = s.repository("other", &[]);
    let mut init = s.command(GATE, &s.path("repo"));
    init.args(["init", "--yes"]).env("GIT_DIR", other.join(".git")).env("GIT_WORK_TREE", &other);
    assert!(init.output().unwrap().status.success());
    assert!(s.path("repo/.git/hooks/pre-push").exists() && !other.join(".git/hooks/pre-push").exists());
}

#[test]
fn the_journal_stays_unless_it_is_asked_away() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    s.init(&dir);
    s.write("repo/.git/gate/journal/x.jsonl", "{}\n", 0o644);
    let out = s.uninstall(&dir);
    assert!(out.contains("The journal stays"), "{out}");
    assert!(dir.join(".git/gate/journal/x.jsonl").exists() && !dir.join(".git/gate/install.json").exists());
    s.init(&dir);
    assert_eq!(s.gate(&dir, &["uninstall", "--yes", "--purge"]).0, 0);
    assert!(!dir.join(".git/gate").exists());
}

#[test]
fn a_repository_that_moved_is_still_cleaned() {
    let s = Sandbox::with_repository();
    s.write("repo/.git/hooks/pre-push", RECORDS, 0o750);
    s.init(&s.path("repo"));
    fs::rename(s.path("repo"), s.path("moved")).unwrap();
    s.uninstall(&s.path("moved"));
    assert_eq!(fs::read_to_string(s.path("moved/.git/hooks/pre-push")).unwrap(), RECORDS);
    assert!(!s.path("moved/gate.toml").exists() && !s.path("moved/.git/gate").exists());
}

#[test]
fn a_hook_that_asks_for_its_name_keeps_it() {
    let s = Sandbox::with_repository();
    let hook = "#!/bin/sh\nexec dispatch \"$(basename \"$0\")\"\n";
    s.write("repo/.git/hooks/pre-push", hook, 0o755);
    let out = s.init(&s.path("repo"));
    assert!(out.contains("asks for its own file name") && out.contains("gate hook git pre-push"), "{out}");
    assert_eq!(fs::read_to_string(s.path("repo/.git/hooks/pre-push")).unwrap(), hook);
}

#[test]
fn what_managers_document_is_said() {
    let s = Sandbox::with_repository();
    s.write("repo/lefthook.toml", "", 0o644);
    s.write("repo/package.json", r#"{"simple-git-hooks": {"pre-commit": "x"}}"#, 0o644);
    let out = s.init(&s.path("repo"));
    for words in ["[pre-push.commands.gate]", "use_stdin = true", "\"pre-push\": \"gate hook git pre-push"] {
        assert!(out.contains(words), "{words}: {out}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_hook_comes_back_byte_for_byte(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        mode in prop_oneof![Just(0o755u32), Just(0o644), Just(0o400), Just(0o711), Just(0o777), Just(0o000), Just(0o4755)],
    ) {
        let s = Sandbox::with_repository();
        let hook = s.write("repo/.git/hooks/pre-push", &bytes, mode);
        s.init(&s.path("repo"));
        prop_assert_ne!(&fs::read(&hook).unwrap(), &bytes);
        s.uninstall(&s.path("repo"));
        prop_assert_eq!(fs::metadata(&hook).unwrap().permissions().mode() & 0o7777, mode);
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o600)).unwrap();
        prop_assert_eq!(fs::read(&hook).unwrap(), bytes);
    }
}
