//! A place of its own for each test: a home, programs and repositories, and none of the machine's configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::TestFolder;

/// The binary under test.
pub(crate) const GATE: &str = env!("CARGO_BIN_EXE_gate");

/// A home, a folder for programs, and repositories, with nothing of the machine's configuration.
pub(crate) struct Sandbox {
    dir: TestFolder,
}

/// Path, and what is there: a mode and bytes.
pub(crate) type Traces = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl Sandbox {
    /// With `gate` on the PATH.
    pub(crate) fn new() -> Self {
        let sandbox = Self { dir: TestFolder::new() };
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

    /// A repository with one commit and a pre-push hook.
    pub(crate) fn with_hook(&self, bytes: impl AsRef<[u8]>, mode: u32) -> PathBuf {
        let dir = self.repository("repo", &[]);
        self.write("repo/.git/hooks/pre-push", bytes, mode);
        dir
    }

    /// A repository with one commit and a setting.
    pub(crate) fn with_setting(&self, args: &[&str]) -> PathBuf {
        let dir = self.repository("repo", &[]);
        let args: Vec<&str> = ["config"].into_iter().chain(args.iter().copied()).collect();
        self.git(&dir, &args);
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

    /// Installs, with a policy that blocks nothing: what is judged is not the subject here.
    pub(crate) fn init(&self, dir: &Path) -> String {
        let (code, out, err) = self.gate(dir, &["init", "--yes", "--observe"]);
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

    /// Commits whatever is there: whether that went through, and what was said.
    pub(crate) fn commit(&self, dir: &Path, message: &str) -> (bool, String) {
        self.git(dir, &["add", "-A"]);
        let done = self.command("git", dir).args(["commit", "--allow-empty", "-m", message]).output().unwrap();
        let (code, out, err) = said(&done);
        (code == 0, format!("{out}{err}"))
    }

    /// Everything on disk below the sandbox, but for what gate itself keeps in git directories.
    pub(crate) fn traces_outside(&self) -> Traces {
        let mut traces = self.traces();
        let kept = |dir: &Path| dir.ends_with("gate") && dir.with_file_name("HEAD").exists();
        traces.retain(|path, _| !path.ancestors().skip(1).any(kept));
        traces
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

/// What is not the same, one line a path.
pub(crate) fn differences(before: &Traces, after: &Traces) -> Vec<String> {
    let paths = before.keys().chain(after.keys()).collect::<BTreeSet<_>>();
    let shown = |traces: &Traces, path: &Path| {
        traces.get(path).map(|(mode, bytes)| format!("{mode:o} {:?}", String::from_utf8_lossy(bytes)))
    };
    let differ = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    differ.map(|path| format!("{}: {:?} → {:?}", path.display(), shown(before, path), shown(after, path))).collect()
}

/// A hook that leaves its arguments and its standard input in `ran`, and lets go on.
pub(crate) const RECORDS: &str = "#!/bin/sh\n{ echo \"$@\"; cat; } > \"$HOME/ran\"\n";
