//! Repositories made for one test: hermetic, with fixed people and dates, gone afterwards.
//!
//! ```ignore
//! let repo = TestRepo::new();
//! repo.write("src/lib.rs", "pub fn one() {}\n").commit_all("add one");
//! let remote = repo.add_bare_remote("origin");
//! repo.git(["push", "-q", "origin", "HEAD:main"]);
//! let out = repo.gate(["check"]).output().unwrap();
//! ```
//!
//! No variable of the surrounding process reaches git or `gate` (`GIT_*`, agents' and CI's variables), `HOME` is an
//! empty directory, and the machine's git configuration is not read.

#![allow(dead_code, reason = "each test uses its part of the support")]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use tempfile::TempDir;

#[path = "support/time_limit.rs"]
mod time_limit;

/// `PATH` with `first` and the folder of the `gate` that was built for this test run in front.
pub fn path_with_gate(first: Option<PathBuf>) -> OsString {
    let gate = Path::new(env!("CARGO_BIN_EXE_gate")).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(first.into_iter().chain([gate]).chain(std::env::split_paths(&path))).expect("a PATH")
}

pub use time_limit::{TestFolder, TimeLimit};

/// When everything in a test happens, for authors and committers.
pub const DATE: &str = "2026-01-02T03:04:05+00:00";

/// The oldest git whose features the tests use. An older one is not a reason to skip: it fails, and says so.
const TESTED_WITH: (u32, u32) = (2, 45);

/// A repository in a directory of its own, with an own empty home.
#[derive(Debug)]
pub struct TestRepo {
    folder: TempDir,
    root: PathBuf,
    _limit: TimeLimit,
}

impl TestRepo {
    /// An empty repository on the unborn branch `main`.
    pub fn new() -> Self {
        Self::init(&[])
    }

    /// An empty repository made by `git init` with further arguments (`--bare`, `--object-format=sha256`, …).
    pub fn init(args: &[&str]) -> Self {
        let folder = tempfile::Builder::new().prefix("gate-test-").tempdir().expect("a temporary directory");
        // macOS and some CI machines reach their temporary directory through a link; git prints real paths.
        let top = folder.path().canonicalize().expect("a real path");
        let root = top.join("repo");
        fs::create_dir_all(top.join("home")).expect("a home");
        fs::create_dir_all(&root).expect("a root");
        let repo = Self { folder, root, _limit: TimeLimit::start() };
        repo.git(["init", "-q", "-b", "main"].iter().chain(args));
        repo
    }

    /// A repository with one commit that holds `README.md` and `src/lib.rs`.
    pub fn with_commit() -> Self {
        let repo = Self::new();
        repo.write("README.md", "# test\n").write("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n");
        repo.commit_all("start");
        repo
    }

    /// The root of the working tree (the repository itself when it is bare).
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory around the repository, for remotes, clones and files outside; removed with it.
    pub fn outside(&self) -> PathBuf {
        self.root.parent().expect("a parent").to_owned()
    }

    /// The empty home directory.
    pub fn home(&self) -> PathBuf {
        self.outside().join("home")
    }

    /// A path inside the working tree. Any bytes.
    pub fn path(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.root.join(OsStr::from_bytes(path.as_ref()))
    }

    /// Writes a file, with the directories above it.
    pub fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, content).expect("a file");
        self
    }

    /// Appends to a file.
    pub fn append(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> &Self {
        let mut whole = fs::read(self.path(path.as_ref())).expect("a file to append to");
        whole.extend_from_slice(content.as_ref());
        self.write(path, whole)
    }

    /// What a file holds.
    pub fn read(&self, path: impl AsRef<[u8]>) -> Vec<u8> {
        fs::read(self.path(path)).expect("a file to read")
    }

    /// Removes a file or a whole directory.
    pub fn remove(&self, path: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        if fs::symlink_metadata(&path).expect("something to remove").is_dir() {
            fs::remove_dir_all(path).expect("a directory to remove");
        } else {
            fs::remove_file(path).expect("a file to remove");
        }
        self
    }

    /// Sets the permission bits.
    pub fn chmod(&self, path: impl AsRef<[u8]>, mode: u32) -> &Self {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).expect("permissions");
        self
    }

    /// Makes a symbolic link at `path`.
    pub fn link(&self, path: impl AsRef<[u8]>, target: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        symlink(OsStr::from_bytes(target.as_ref()), path).expect("a symbolic link");
        self
    }

    /// Writes an executable script.
    pub fn script(&self, path: impl AsRef<[u8]>, content: &str) -> &Self {
        self.write(path.as_ref(), content).chmod(path, 0o755)
    }

    /// Stages everything and commits it; returns the commit.
    pub fn commit_all(&self, message: &str) -> String {
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "--allow-empty", "-m", message]);
        self.git(["rev-parse", "HEAD"])
    }

    /// Makes a bare repository beside this one and adds it as a remote; returns its path.
    pub fn add_bare_remote(&self, name: &str) -> PathBuf {
        let path = self.outside().join(format!("{name}.git"));
        self.git([OsStr::new("init"), "-q".as_ref(), "--bare".as_ref(), "-b".as_ref(), "main".as_ref(), path.as_ref()]);
        self.git([OsStr::new("remote"), "add".as_ref(), name.as_ref(), path.as_ref()]);
        path
    }

    /// Runs git in the root and returns what it printed, without the last newline. Panics with git's words when it
    /// fails.
    pub fn git<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        self.git_in(&self.root, args)
    }

    /// Like [`TestRepo::git`], in another directory.
    pub fn git_in<S: AsRef<OsStr>>(&self, dir: &Path, args: impl IntoIterator<Item = S>) -> String {
        let mut command = self.command_in("git", dir);
        command.args(args);
        let output = command.output().expect("git starts");
        assert!(output.status.success(), "{command:?}\n{}", both_streams(&output));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.strip_suffix('\n').map_or_else(|| text.clone(), str::to_owned)
    }

    /// Makes commits from a stream of `git fast-import`.
    pub fn fast_import(&self, stream: &str) {
        let done =
            run_with_input(self.command_in("git", &self.root).args(["fast-import", "--quiet", "--force"]), stream);
        assert!(done.status.success(), "{}", both_streams(&done));
    }

    /// Runs git in the root, and leaves its status to the test.
    pub fn try_git<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Output {
        self.command_in("git", &self.root).args(args).output().expect("git starts")
    }

    /// The `gate` binary that was built for this test run, in the root.
    pub fn gate<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.command_in(env!("CARGO_BIN_EXE_gate"), &self.root);
        command.args(args);
        command
    }

    /// A command with the hermetic environment of this repository.
    pub fn command_in(&self, program: impl AsRef<OsStr>, dir: &Path) -> Command {
        let mut command = Command::new(installed(program.as_ref()));
        hermetic(&mut command, &self.home());
        command.current_dir(dir).stdin(Stdio::null());
        command
    }

    /// A copy of everything, `.git` included, beside the original. Stat data differ, content does not.
    pub fn copy(&self, name: &str) -> PathBuf {
        let to = self.outside().join(name);
        let done = Command::new("cp").arg("-a").arg(&self.root).arg(&to).status().expect("cp starts");
        assert!(done.success(), "cannot copy {}", self.root.display());
        to
    }
}

/// Runs `command` with `input` on its standard input.
pub fn run_with_input(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    // Who does not read its input may be gone before all of it is written.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_ref());
    child.wait_with_output().expect("the command ends")
}

/// Every file below a folder, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
    let files = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    let mut found: Vec<PathBuf> = entries.flat_map(files).collect();
    found.sort();
    found
}

/// What a command printed, standard output first.
pub fn both_streams(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

impl Default for TestRepo {
    fn default() -> Self {
        Self::new()
    }
}

/// The path of a program: of `gate` and of what is installed here, or its name.
///
/// With a path, a command whose `PATH` is set is spawned without a copy of the address space of the tests, which takes a
/// quarter of their time.
fn installed(program: &OsStr) -> PathBuf {
    static FOUND: Mutex<BTreeMap<OsString, PathBuf>> = Mutex::new(BTreeMap::new());
    if program == "gate" {
        return env!("CARGO_BIN_EXE_gate").into();
    }
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.entry(program.to_owned()).or_insert_with(|| on_the_path(program)).clone()
}

fn on_the_path(program: &OsStr) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = std::env::split_paths(&path).map(|folder| folder.join(program));
    candidates.into_iter().find(|file| file.is_file()).unwrap_or_else(|| program.into())
}

/// Gives `command` an environment that holds `PATH` and the temporary directory, and nothing else that was inherited.
pub fn hermetic(command: &mut Command, home: &Path) {
    command.env_clear();
    for name in ["PATH", "TMPDIR", "LLVM_PROFILE_FILE"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("LC_ALL", "C")
        .env("TZ", "UTC");
    for person in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{person}_NAME"), "Test")
            .env(format!("GIT_{person}_EMAIL"), "test@example.com")
            .env(format!("GIT_{person}_DATE"), DATE);
    }
}

/// Fails, with a clear word, where git is older than what the tests use.
pub fn require_git() {
    static VERSION: OnceLock<(u32, u32)> = OnceLock::new();
    let version = *VERSION.get_or_init(|| {
        let output = Command::new("git").arg("--version").output().expect("git starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut numbers = text.split_whitespace().nth(2).unwrap_or_default().split('.').map_while(|n| n.parse().ok());
        (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
    });
    assert!(
        version >= TESTED_WITH,
        "this test needs git {}.{} or later (reftable); found {}.{}",
        TESTED_WITH.0,
        TESTED_WITH.1,
        version.0,
        version.1
    );
}

/// Marks the process in which [`again`] runs the body of a test.
const AGAIN: &str = "GATE_TEST_AGAIN";

/// Runs `body` in a process of its own whose environment is hermetic except for `variables`.
///
/// For tests that call the library in process: the environment of a running process cannot be changed safely, so the
/// test binary starts itself again for this one test. `test` is the test's full path: use [`hermetic!`].
pub fn again<V: AsRef<OsStr>>(test: &str, variables: &[(&str, V)], body: impl FnOnce()) {
    if std::env::var_os(AGAIN).is_some() {
        body();
        return;
    }
    let _limit = TimeLimit::start();
    let name = test.split_once("::").map_or(test, |(_, name)| name);
    let folder = tempfile::Builder::new().prefix("gate-again-").tempdir().expect("a temporary directory");
    let (home, scratch) = (folder.path().join("home"), folder.path().join("tmp"));
    fs::create_dir_all(&home).expect("a home");
    fs::create_dir_all(&scratch).expect("a place for temporary files");
    let mut command = Command::new(std::env::current_exe().expect("the test binary"));
    hermetic(&mut command, &home);
    let output = command
        .args(["--exact", name, "--nocapture"])
        .env("TMPDIR", &scratch)
        .env(AGAIN, "1")
        .envs(variables.iter().map(|(name, value)| (*name, value)))
        .stdin(Stdio::null())
        .output()
        .expect("the test binary starts");
    let said = both_streams(&output);
    assert!(said.contains("1 passed") && output.status.success(), "{said}");
    let left: Vec<_> = fs::read_dir(&scratch).expect("a directory").flatten().map(|one| one.file_name()).collect();
    assert!(left.is_empty(), "temporary files are left behind: {left:?}");
}

/// Declares tests that call the library in process, each in a hermetic environment of its own.
///
/// ```ignore
/// hermetic! {
///     fn name_of_the_test() { … }
/// }
/// ```
#[macro_export]
macro_rules! hermetic {
    ($($(#[$meta:meta])* fn $name:ident() $body:block)*) => {$(
        #[test]
        $(#[$meta])*
        fn $name() {
            let test = concat!(module_path!(), "::", stringify!($name));
            $crate::support::again::<&str>(test, &[], || $body);
        }
    )*};
}
