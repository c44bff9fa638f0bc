//! The canary: a real push, through git and the hooks it takes in this repository, that gate must refuse.
//!
//! It carries an empty commit that lies in a throwaway object directory, and goes into a throwaway repository. The hook
//! refuses it before anything else happens, because the environment names a token. Nothing of it stays. `git hook run`
//! runs the hook that judges commits; it finds the hook as `git commit` does, and makes no commit.

use std::io::Read;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use super::DoctorCheck;
use crate::digest::hex_digest;
use crate::install::{HooksDir, InstallTarget};
use crate::repo_path::RepoPath;

/// The environment variable that makes `gate hook git` refuse at once and say its value.
pub const VARIABLE: &str = "GATE_CANARY";

/// A hook that gate is called from may be slow; longer than this is not waited.
const LIMIT: Duration = Duration::from_secs(10);

/// Returns the message with which `gate hook git` refuses a canary.
pub fn refusal(token: &str) -> String {
    format!("gate: canary {token} refused")
}

/// Sends one past the hook `name`, and returns the result.
pub fn send(repository: &InstallTarget, name: &str) -> DoctorCheck {
    let commit = name == "commit-msg";
    let (what, refused) = if commit {
        ("commit", "gate refused a trial commit message")
    } else {
        ("push", "gate refused a trial push into a throwaway repository")
    };
    let remedy = format!("{} are not judged; `gate init` installs the hook", super::hook_file::judged(name));
    let flight = if commit { try_message(repository, name) } else { try_send(repository) };
    match flight {
        Err(reason) => DoctorCheck::broken("canary", format!("no canary could be sent: {reason}"), ""),
        Ok(Flight::Refused) => DoctorCheck::ok("canary", refused),
        Ok(Flight::Arrived) => {
            DoctorCheck::broken("canary", format!("gate did not refuse a {what} that it must refuse"), remedy)
        }
        Ok(Flight::Failed(words)) => {
            DoctorCheck::broken("canary", format!("a {what} failed, but not because of gate: {words}"), remedy)
        }
        Ok(Flight::Late) => DoctorCheck::broken(
            "canary",
            format!("the hooks did not end within {} seconds", LIMIT.as_secs()),
            "let gate run before other hooks of the same event",
        ),
    }
}

enum Flight {
    Refused,
    Arrived,
    Failed(String),
    Late,
}

fn try_send(repository: &InstallTarget) -> Result<Flight, String> {
    let nest = tempfile::Builder::new().prefix("gate-canary-").tempdir().map_err(|error| error.to_string())?;
    let token = token(&nest);
    let target = nest.path().join("target.git");
    let sender = if repository.bare {
        // The hook fires where a push arrives. The target takes hooks and settings from the real repository, so
        // that even a canary that is not refused leaves nothing there.
        let hooks = HooksDir::of(repository).map_err(|error| error.to_string())?;
        init(repository, &target)?;
        set(repository, &target, "include.path", &repository.git_dir.join("config"))?;
        set(repository, &target, "core.hooksPath", &hooks.path)?;
        let source = nest.path().join("source.git");
        init(repository, &source)?;
        set(repository, &source, "core.hooksPath", Path::new("/dev/null"))?;
        Sender { dir: source.clone(), objects: source.join("objects"), alternates: None }
    } else {
        init(repository, &target)?;
        set(repository, &target, "core.hooksPath", Path::new("/dev/null"))?;
        let objects = nest.path().join("objects");
        std::fs::create_dir(&objects).map_err(|error| error.to_string())?;
        let dir = repository.base().to_owned();
        Sender { dir, objects, alternates: Some(repository.common_dir.join("objects")) }
    };
    let commit = sender.commit(repository)?;
    let mut push = sender.git(repository);
    // What the user may have set for pushes in general must neither stop nor enlarge this one.
    let settings =
        ["protocol.file.allow=always", "push.gpgSign=false", "push.recurseSubmodules=no", "push.followTags=false"];
    push.args(settings.iter().flat_map(|setting| ["-c", setting]));
    push.args(["push", "--no-progress", "--no-signed"]).arg(&target).arg(format!("{commit}:refs/heads/gate-canary"));
    push.env(VARIABLE, &token);
    landed(push, &token)
}

/// Shows the hook `name` a message of no commit.
fn try_message(repository: &InstallTarget, name: &str) -> Result<Flight, String> {
    let nest = tempfile::Builder::new().prefix("gate-canary-").tempdir().map_err(|error| error.to_string())?;
    let token = token(&nest);
    let message = nest.path().join("message");
    std::fs::write(&message, "canary\n").map_err(|error| error.to_string())?;
    let mut hook = repository.git();
    hook.args(["hook", "run", name, "--"]).arg(&message).env(VARIABLE, &token);
    landed(hook, &token)
}

/// Returns the result for the canary that `command` carries.
fn landed(command: Command, token: &str) -> Result<Flight, String> {
    let Some((status, words)) = run(command)? else { return Ok(Flight::Late) };
    if status.success() {
        return Ok(Flight::Arrived);
    }
    if words.contains(&refusal(token)) {
        return Ok(Flight::Refused);
    }
    Ok(Flight::Failed(words.lines().filter(|line| !line.trim().is_empty()).take(3).collect::<Vec<_>>().join(" / ")))
}

/// The repository that pushes, with its objects outside of the repository.
struct Sender {
    dir: std::path::PathBuf,
    objects: std::path::PathBuf,
    alternates: Option<std::path::PathBuf>,
}

impl Sender {
    fn git(&self, repository: &InstallTarget) -> Command {
        let mut command = repository.git();
        command.current_dir(&self.dir);
        if let Some(alternates) = &self.alternates {
            command.env("GIT_OBJECT_DIRECTORY", &self.objects);
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(alternates));
        }
        command
    }

    /// Makes an empty commit without a parent: it exists on any branch, and is small.
    fn commit(&self, repository: &InstallTarget) -> Result<String, String> {
        let mut tree = self.git(repository);
        tree.args(["mktree"]);
        let tree = answer(tree)?;
        let mut commit = self.git(repository);
        for role in ["AUTHOR", "COMMITTER"] {
            commit.env(format!("GIT_{role}_NAME"), "gate").env(format!("GIT_{role}_EMAIL"), "gate@localhost");
            commit.env(format!("GIT_{role}_DATE"), "1970-01-01T00:00:00Z");
        }
        commit.args(["-c", "commit.gpgSign=false", "commit-tree", "-m", "canary", &tree]);
        answer(commit)
    }
}

/// Quotes a path in a list that is separated by colons: git removes the quotes.
fn quoted(path: &Path) -> std::ffi::OsString {
    let mut bytes = b"\"".to_vec();
    for byte in RepoPath::from_os(path.as_os_str()).as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            bytes.push(b'\\');
        }
        bytes.push(*byte);
    }
    bytes.push(b'"');
    RepoPath::new(bytes).to_os().into_os_string()
}

fn init(repository: &InstallTarget, dir: &Path) -> Result<(), String> {
    let mut format = repository.git();
    format.args(["rev-parse", "--show-object-format"]);
    let format = answer(format)?;
    let mut command = repository.git();
    command.args(["init", "--quiet", "--bare", "--template=", &format!("--object-format={format}")]).arg(dir);
    answer(command).map(drop)
}

fn set(repository: &InstallTarget, dir: &Path, key: &str, value: &Path) -> Result<(), String> {
    let mut command = repository.git();
    command.current_dir(dir).arg("config").arg(key).arg(value);
    answer(command).map(drop)
}

fn answer(mut command: Command) -> Result<String, String> {
    let done = command.output().map_err(|error| error.to_string())?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).trim_end().to_owned())
    } else {
        Err(String::from_utf8_lossy(&done.stderr).trim().to_owned())
    }
}

/// Returns the status and the text on standard error; `None` if it took too long and was ended.
fn run(mut command: Command) -> Result<Option<(ExitStatus, String)>, String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut pipe = child.stderr.take().ok_or("no standard error")?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        // The receiver is gone when the limit has passed.
        let _ = sender.send(bytes);
    });
    let heard = receiver.recv_timeout(LIMIT);
    if heard.is_err() {
        crate::git::end(&mut child);
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    Ok(heard.ok().map(|bytes| (status, String::from_utf8_lossy(&bytes).into_owned())))
}

/// Returns a unique word: the name of the throwaway folder is random.
fn token(nest: &TempDir) -> String {
    hex_digest(&[nest.path().as_os_str().as_encoded_bytes(), &std::process::id().to_be_bytes()])[..16].to_owned()
}
