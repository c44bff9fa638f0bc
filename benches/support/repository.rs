//! A generated repository with a bare remote and an installed gate.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use gate::journal::Journal;
use gate::oid::Oid;
use tempfile::TempDir;

use super::journal;

/// The binary that is measured.
pub const GATE: &str = env!("CARGO_BIN_EXE_gate");
/// How many commits `main` has.
const HISTORY: usize = 200;
/// A time for all commits.
const WHO: &str = "Bench <bench@example.com> 1767323045 +0000";

/// `main` is pushed and protected; the branches `1` and `1000` are so many commits ahead of it. `gate init` has
/// declared `true` as the test.
pub struct Repository {
    folder: TempDir,
    root: PathBuf,
    /// How many files are tracked.
    pub files: usize,
}

impl Repository {
    /// A repository with so many files.
    pub fn generate(files: usize) -> Self {
        let folder = tempfile::Builder::new().prefix("gate-bench-").tempdir().expect("a temporary directory");
        let top = folder.path().canonicalize().expect("a real path");
        let repo = Self { folder, root: top.join("work"), files };
        for name in ["home", "work", "hooks/none", "hooks/sh", "hooks/log"] {
            fs::create_dir_all(top.join(name)).expect("a directory");
        }
        repo.script(
            "hooks/sh/pre-push",
            "#!/bin/sh\nread -r local new remote old\ngit rev-parse --quiet --verify \"$new\" >/dev/null\n",
        );
        // What any hook that judges the commits of a push has to ask: their messages and their paths.
        repo.script(
            "hooks/log/pre-push",
            "#!/bin/sh\nread -r local new remote old\n\
             git log --raw -z --format=%H%x00%B \"$new\" --not \"--remotes=$1\" >/dev/null\n",
        );
        repo.git(["init", "-q", "-b", "main"]);
        repo.git(["init", "-q", "--bare", "-b", "main", "../remote.git"]);
        repo.git(["remote", "add", "origin", "../remote.git"]);
        repo.import(&first(files));
        repo.git(["checkout", "-q", "main"]);
        repo.output(repo.command(GATE).args(["init", "--yes", "--test", "true"]));
        repo.git(["add", "-A"]);
        repo.git(["commit", "-q", "-m", "install the gate"]);
        repo.import(&commits("main", HISTORY, files));
        repo.git(["reset", "-q", "--hard", "main"]);
        repo.git(["push", "-q", "--no-verify", "origin", "main"]);
        repo.git(["remote", "set-head", "origin", "main"]);
        for count in [1, 1_000] {
            repo.import(&commits(&count.to_string(), count, files));
        }
        repo
    }

    /// Replaces the journal by one of so many entries, and records a good run for both branches.
    pub fn journal(&self, entries: usize) {
        let gate_dir = self.root.join(".git/gate");
        for name in ["journal.jsonl", "journal.lock", "state.json", "default-branches.json"] {
            let _ = fs::remove_file(gate_dir.join(name));
        }
        for name in ["runs", "verdicts", "journal.parts"] {
            let _ = fs::remove_dir_all(gate_dir.join(name));
        }
        let listed = self.git(["log", "--all", "--format=%T"]);
        let trees: Vec<Oid> = listed.lines().map(|line| line.parse().expect("an object id")).collect();
        let written = Journal::open(&gate_dir, Some(&self.root));
        journal::fill(&written, entries, &trees);
        for branch in ["1000", "1"] {
            self.checkout(branch);
            self.output(self.command(GATE).args(["run", "test"]));
        }
        let length = journal::length(&written);
        assert!((entries..entries + 8).contains(&length), "{length} entries in the journal");
    }

    /// Checks a branch out, with an index that git believes.
    pub fn checkout(&self, branch: &str) {
        self.git(["checkout", "-q", "--force", branch]);
        self.git(["clean", "-q", "-fd"]);
        self.settle();
    }

    /// Writes the index later than the files, so that git need not read them again: what a repository is like that
    /// nobody has touched for a second.
    fn settle(&self) {
        thread::sleep(Duration::from_millis(1_100));
        self.git(["read-tree", "HEAD"]);
        self.git(["update-index", "-q", "--refresh"]);
    }

    /// 20 files modified, 1 staged, 3 deleted, 8 untracked; and a good run on that.
    pub fn make_dirty(&self) {
        self.settle();
        let step = self.files / 30;
        for number in 0..20 {
            self.append(&path(number * step));
        }
        self.append(&path(20 * step));
        self.git(["add", &path(20 * step)]);
        for number in 21..24 {
            fs::remove_file(self.root.join(path(number * step))).expect("a file to remove");
        }
        for number in 24..32 {
            let new = self.root.join(path(number % 30 * step)).with_extension("new");
            fs::write(new, "new\n").expect("a new file");
        }
        self.output(self.command(GATE).args(["run", "test"]));
    }

    /// Writes a file of the working tree.
    pub fn write(&self, path: &str, content: &str) {
        fs::write(self.root.join(path), content).expect("a file to write");
    }

    /// The size of all files below a folder, in bytes.
    pub fn size(&self, folder: &str) -> u64 {
        size_of(&self.root.join(folder))
    }

    fn append(&self, path: &str) {
        let mut content = fs::read(self.root.join(path)).expect("a file to change");
        content.extend_from_slice(b"// changed\n");
        fs::write(self.root.join(path), content).expect("a file to write");
    }

    /// A command in the working tree, with an environment that holds `PATH` and no setting of anybody.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let own = Path::new(GATE).parent().expect("a directory").to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path))).expect("a PATH");
        command.env_clear().env("PATH", path).env("HOME", self.outside("home")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("LC_ALL", "C").env("GATE_SESSION", "bench").current_dir(&self.root);
        for person in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{person}_NAME"), "Bench").env(format!("GIT_{person}_EMAIL"), "bench@example.com");
        }
        command
    }

    /// The same with arguments.
    pub fn command_with(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.command(program);
        command.args(args);
        command
    }

    /// Runs git and returns what it printed.
    pub fn git<'s>(&self, args: impl IntoIterator<Item = &'s str>) -> String {
        self.output(self.command("git").args(args))
    }

    /// `git push` of a branch, with the hooks of a directory.
    pub fn push(&self, branch: &str, hooks: &Path) -> Command {
        let mut command = self.command("git");
        command.arg("-c").arg(format!("core.hooksPath={}", hooks.display())).args(["push", "-q", "origin", branch]);
        command
    }

    /// Takes a push back, at both ends.
    pub fn unpush(&self, branch: &str) {
        self.git(["--git-dir=../remote.git", "update-ref", "-d", &format!("refs/heads/{branch}")]);
        self.git(["update-ref", "-d", &format!("refs/remotes/origin/{branch}")]);
    }

    /// A hook as git starts it, and what it reads.
    pub fn hook(&self, hooks: &Path, branch: &str) -> (Command, String) {
        let mut command = self.command(&hooks.join("pre-push").to_string_lossy());
        command.args(["origin", "../remote.git"]);
        let tip = self.git(["rev-parse", branch]);
        (command, format!("refs/heads/{branch} {} refs/heads/{branch} {}\n", tip.trim(), "0".repeat(40)))
    }

    /// Where `gate init` installed its hook.
    pub fn hooks(&self) -> PathBuf {
        self.root.join(".git/hooks")
    }

    /// A path beside the working tree.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a real path").join(name)
    }

    /// Leaves the repository where it is, for a profiler.
    pub fn keep(mut self) {
        self.folder.disable_cleanup(true);
        println!("\nkept: {}", self.root.display());
    }

    fn script(&self, name: &str, content: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.outside(name);
        fs::write(&path, content).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
    }

    fn output(&self, command: &mut Command) -> String {
        let output = command.output().expect("the command starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?} in {}: {said}", self.root.display());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Makes commits with `git fast-import`, which takes seconds where a commit each would take minutes.
    fn import(&self, stream: &str) {
        let mut child = self
            .command("git")
            .args(["fast-import", "--quiet", "--force", "--date-format=raw"])
            .stdin(Stdio::piped())
            .spawn()
            .expect("git starts");
        child.stdin.take().expect("a pipe").write_all(stream.as_bytes()).expect("git reads");
        assert!(child.wait().expect("git ends").success(), "git fast-import fails");
    }
}

/// The path of a file: fifty in a directory, forty directories in one above.
fn path(number: usize) -> String {
    format!("src/m{:02}/d{:02}/f{:02}.rs", number / 2_000, number / 50 % 40, number % 50)
}

fn content(number: usize, version: usize) -> String {
    format!("pub fn f{number}() -> usize {{\n    {version}\n}}\n").repeat(8)
}

fn blob(stream: &mut String, number: usize, version: usize) {
    let text = content(number, version);
    let _ = write!(stream, "M 100644 inline {}\ndata {}\n{text}\n", path(number), text.len());
}

fn commit(stream: &mut String, branch: &str, message: &str) {
    let _ = write!(stream, "commit refs/heads/{branch}\ncommitter {WHO}\ndata {}\n{message}\n", message.len());
}

/// The first commit, with every file.
fn first(files: usize) -> String {
    let mut stream = String::new();
    commit(&mut stream, "main", "start");
    (0..files).for_each(|number| blob(&mut stream, number, 0));
    stream
}

/// Commits on `branch` that each change two files; the branch leaves from `main`.
fn commits(branch: &str, count: usize, files: usize) -> String {
    let mut stream = String::new();
    for version in 1..=count {
        commit(&mut stream, branch, &format!("{branch}: change {version}"));
        if version == 1 {
            stream.push_str("from refs/heads/main^0\n");
        }
        // A prime step spreads them over the directories.
        for change in [version * 7_919, version * 7_919 + 104_729] {
            blob(&mut stream, change % files, version + branch.len());
        }
    }
    stream
}

/// The size of all files below a folder, in bytes.
pub fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| {
        if entry.path().is_dir() { size_of(&entry.path()) } else { entry.metadata().map_or(0, |meta| meta.len()) }
    };
    entries.map(size).sum()
}
