//! Remotes, and their default branches.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::command::{described, start};
use super::{GitError, Repo};
use crate::digest::hex_digest;

/// The time in which a remote must report its default branch.
const REMOTE_TIMEOUT: Duration = Duration::from_secs(5);

/// A remote of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// The URL for fetches, with rewriting rules (`url.*.insteadOf`) applied.
    pub url: String,
    /// The URL for pushes, with rewriting rules applied; usually `url`.
    pub push_url: String,
}

/// The names that a default branch has almost everywhere.
const CUSTOMARY: [&str; 2] = ["refs/heads/main", "refs/heads/master"];

/// The default branch of a remote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DefaultBranch {
    /// Its full name, such as `refs/heads/main`.
    Known(String),
    /// The remote has no branches yet.
    EmptyRemote,
    /// Unknown, for this reason.
    Unknown(String),
}

impl Repo {
    /// Returns the remotes of the configuration, by name.
    pub fn remotes(&self) -> Result<Vec<Remote>, GitError> {
        let config = self.config_entries()?;
        let mut found: BTreeMap<&str, (Option<&str>, Option<&str>)> = BTreeMap::new();
        let mut rewrites = Rewrites::default();
        for entry in &config {
            if let Some((name, key)) = entry.key.strip_prefix("remote.").and_then(|rest| rest.rsplit_once('.')) {
                let remote = match key {
                    "url" => &mut found.entry(name).or_default().0,
                    "pushurl" => &mut found.entry(name).or_default().1,
                    _ => continue,
                };
                remote.get_or_insert(&entry.value);
            } else if let Some((to, key)) = entry.key.strip_prefix("url.").and_then(|rest| rest.rsplit_once('.')) {
                match key {
                    "insteadof" => rewrites.all.push((&entry.value, to)),
                    "pushinsteadof" => rewrites.push.push((&entry.value, to)),
                    _ => {}
                }
            }
        }
        let remote = |(name, (url, push_url)): (&str, (Option<&str>, Option<&str>))| {
            let url = url.or(push_url)?;
            Some(Remote {
                name: name.to_owned(),
                url: rewrites.fetch(url),
                push_url: push_url.map_or_else(|| rewrites.push(url), |push_url| rewrites.fetch(push_url)),
            })
        };
        Ok(found.into_iter().filter_map(remote).collect())
    }

    /// Returns the default branch of the remote that is pushed to: `remote` is its name, or its URL if it has no name,
    /// and `url` the address of the push (git passes both to a pre-push hook).
    ///
    /// The branch that a clone or `git remote set-head` recorded comes first, then the earlier answer of the remote.
    /// Otherwise the remote itself is asked, for five seconds at most.
    pub fn remote_default_branch(&self, remote: &str, url: &str) -> DefaultBranch {
        let known = self.known_default_branch(remote, url);
        known.map_or_else(|| self.refresh_remote_default_branch(url), DefaultBranch::Known)
    }

    /// Returns the same, as far as it is known without asking the remote.
    pub fn known_default_branch(&self, remote: &str, url: &str) -> Option<String> {
        let recorded = || {
            let name = self.recorded_for(remote, url)?;
            let target = self.symbolic_ref(&format!("refs/remotes/{name}/HEAD")).ok()??;
            // A branch that is gone from there is the default one no more.
            self.reference(&target).ok()??;
            Some(format!("refs/heads/{}", target.strip_prefix(&format!("refs/remotes/{name}/"))?))
        };
        recorded().or_else(|| self.read_cache().remove(&cache_key(url)))
    }

    /// Returns the default branch that the remote of this name reported last.
    pub fn said_default_branch(&self, remote: &str) -> Option<String> {
        let remotes = self.remotes().ok()?;
        let named = remotes.into_iter().find(|one| one.name == remote)?;
        let mut said = self.read_cache();
        said.remove(&cache_key(&named.push_url)).or_else(|| said.remove(&cache_key(&named.url)))
    }

    /// Returns [`Repo::remote_default_branch`] for a push to these refs of the remote, each with `true` if it exists
    /// there.
    ///
    /// Anybody can change the record here, by a command that looks harmless, and the remote may have changed since. If
    /// the record would unprotect a usual default branch, or a branch of the remote that was never seen here, the
    /// remote itself is asked, and believed if it answers.
    pub fn default_branch_for_push(&self, remote: &str, url: &str, refs: &[(&str, bool)]) -> DefaultBranch {
        let unseen = |branch: &str| {
            let of_remote = self.recorded_for(remote, url).zip(branch.strip_prefix("refs/heads/"));
            let here = of_remote.map(|(name, branch)| self.reference(&format!("refs/remotes/{name}/{branch}")));
            matches!(here, Some(Ok(None)))
        };
        let doubtful = |(branch, exists): &(&str, bool)| CUSTOMARY.contains(branch) || *exists && unseen(branch);
        match self.remote_default_branch(remote, url) {
            DefaultBranch::Known(name) if refs.iter().any(|one| one.0 != name && doubtful(one)) => {
                match self.refresh_remote_default_branch(url) {
                    DefaultBranch::Known(said) => DefaultBranch::Known(said),
                    DefaultBranch::EmptyRemote | DefaultBranch::Unknown(_) => DefaultBranch::Known(name),
                }
            }
            other => other,
        }
    }

    /// Returns the name of the configured remote with the URL `url`, if there is one.
    pub fn remote_named(&self, url: &str) -> Option<String> {
        let remotes = self.remotes().ok()?;
        remotes.into_iter().find(|one| same_place(&one.push_url, url)).map(|one| one.name)
    }

    /// Asks the remote at `url` itself, and remembers a definite answer.
    pub fn refresh_remote_default_branch(&self, url: &str) -> DefaultBranch {
        let mut command = self.command();
        command.args(["ls-remote", "--symref", "--", url, "HEAD", "refs/heads/*"]);
        match run_within(&mut command, REMOTE_TIMEOUT).map(|printed| parse_default(&printed)) {
            Ok(RemoteHeads { answer: DefaultBranch::Known(branch), by_head: true }) => {
                self.remember(url, &branch);
                DefaultBranch::Known(branch)
            }
            Ok(said) => said.answer,
            Err(reason) => DefaultBranch::Unknown(reason),
        }
    }

    /// Returns the remote whose `refs/remotes/<name>/HEAD` describes the repository at `url`.
    pub fn recorded_for(&self, remote: &str, url: &str) -> Option<String> {
        let remotes = self.remotes().ok()?;
        let by_name = remotes.iter().find(|one| one.name == remote && same_place(&one.url, url));
        let by_url = || remotes.iter().find(|one| same_place(&one.url, url));
        by_name.or_else(by_url).map(|one| one.name.clone())
    }

    fn cache_file(&self) -> PathBuf {
        self.gate_dir().join("default-branches.json")
    }

    fn read_cache(&self) -> BTreeMap<String, String> {
        let bytes = fs::read(self.cache_file()).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Caches the default branch. A lost entry costs one question to the remote, so failures are not reported.
    fn remember(&self, url: &str, branch: &str) {
        let mut cache = self.read_cache();
        if cache.insert(cache_key(url), branch.to_owned()).as_deref() == Some(branch) {
            return;
        }
        let folder = self.gate_dir();
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            file.write_all(&serde_json::to_vec(&cache)?)?;
            file.persist(self.cache_file())?;
            Ok(())
        };
        let _ = write();
    }
}

/// Returns the digest of a URL for the cache, since URLs may carry credentials.
fn cache_key(url: &str) -> String {
    hex_digest(&[b"remote", url.as_bytes()])
}

/// The rules of `url.<base>.insteadOf`: (written, used).
#[derive(Default)]
struct Rewrites<'c> {
    all: Vec<(&'c str, &'c str)>,
    push: Vec<(&'c str, &'c str)>,
}

impl Rewrites<'_> {
    fn fetch(&self, url: &str) -> String {
        Self::apply(&self.all, url).unwrap_or_else(|| url.to_owned())
    }

    fn push(&self, url: &str) -> String {
        Self::apply(&self.push, url).unwrap_or_else(|| self.fetch(url))
    }

    /// Applies the rule with the longest prefix.
    fn apply(rules: &[(&str, &str)], url: &str) -> Option<String> {
        let (written, used) =
            rules.iter().filter(|(written, _)| url.starts_with(written)).max_by_key(|(written, _)| written.len())?;
        Some(format!("{used}{}", &url[written.len()..]))
    }
}

/// Returns `true` if two URLs name one repository, whatever the protocol, the user and the ending.
///
/// A remote may be fetched by one protocol and pushed by another. It may also be fetched from one repository and pushed
/// to another, and then the recorded default branch says nothing.
fn same_place(a: &str, b: &str) -> bool {
    a == b || (place(a).is_some() && place(a) == place(b))
}

/// Returns host and path of a URL or of git's `host:path`; `None` for a local path.
fn place(url: &str) -> Option<(String, &str)> {
    let (authority, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        None => url.split_once(':').filter(|(host, _)| !host.contains('/') && host.len() > 1)?,
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // A port belongs to the protocol.
    let host = host.split_once(':').map_or(host, |(host, _)| host);
    let path = path.trim_matches('/');
    Some((host.to_ascii_lowercase(), path.strip_suffix(".git").unwrap_or(path)))
}

fn parse_default(printed: &[u8]) -> RemoteHeads {
    let text = String::from_utf8_lossy(printed);
    let (mut branches, mut head) = (Vec::new(), false);
    for line in text.lines() {
        let Some((value, name)) = line.split_once('\t') else { continue };
        match value.strip_prefix("ref: ") {
            Some(target) if name == "HEAD" => {
                return RemoteHeads { answer: DefaultBranch::Known(target.trim().to_owned()), by_head: true };
            }
            _ if name == "HEAD" => head = true,
            _ if name.starts_with("refs/heads/") => branches.push(name),
            _ => {}
        }
    }
    let customary: Vec<_> = branches.iter().filter(|name| CUSTOMARY.contains(name)).collect();
    let answer = match (head, &customary[..]) {
        (true, _) => DefaultBranch::Unknown("the remote does not say which branch its HEAD is".to_owned()),
        _ if branches.is_empty() => DefaultBranch::EmptyRemote,
        // The HEAD of the remote names a branch that nobody has pushed: a bare repository that was made before its
        // first branch had a name. One branch with a customary name is what everybody takes for the default there.
        (false, [name]) => DefaultBranch::Known((**name).to_owned()),
        _ => DefaultBranch::Unknown("the HEAD of the remote is a branch that does not exist".to_owned()),
    };
    RemoteHeads { answer, by_head: false }
}

/// The branches that a remote reports.
struct RemoteHeads {
    answer: DefaultBranch,
    /// Its `HEAD` says so: worth remembering.
    by_head: bool,
}

/// Runs `command` and kills it and its children when it takes longer than `limit`.
pub(super) fn run_within(command: &mut Command, limit: Duration) -> Result<Vec<u8>, String> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // A group of its own, so that ssh and the transport helpers can be ended with it.
        command.process_group(0);
    }
    let mut child = start(command).map_err(|error| format!("cannot run `git {}`: {error}", described(command)))?;
    let (send, receive) = mpsc::channel();
    if let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) {
        let errors = thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.read_to_end(&mut bytes);
            bytes
        });
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stdout.read_to_end(&mut bytes);
            let _ = send.send((bytes, errors.join().unwrap_or_default()));
        });
    }
    let Ok((printed, said)) = receive.recv_timeout(limit) else {
        end(&mut child);
        return Err(format!("the remote did not answer within {} s", limit.as_secs()));
    };
    match child.wait() {
        Ok(status) if status.success() => Ok(printed),
        _ => {
            let said = String::from_utf8_lossy(&said);
            let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given");
            Err(format!("the remote cannot be asked: {}", last.trim()))
        }
    }
}

fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_by_any_protocol_and_no_other() {
        for (a, b, same) in [
            ("git@github.com:o/r.git", "https://github.com/o/r", true),
            ("ssh://git@GitHub.com:22/o/r.git", "https://token@github.com/o/r/", true),
            ("https://github.com/o/r", "https://github.com/me/r", false),
            ("/srv/a.git", "/srv/a.git", true),
            ("/srv/a.git", "/srv/b.git", false),
            ("file:///srv/a", "file:///srv/b", false),
            ("../a:b", "../a:c", false),
        ] {
            assert_eq!(same_place(a, b), same, "{a} {b}");
        }
    }

    #[test]
    fn the_longest_rewriting_rule_wins() {
        let rewrites = Rewrites {
            all: vec![("gh:", "https://github.com/"), ("gh:me/", "git@github.com:me/")],
            push: vec![("gh:", "ssh://push/")],
        };
        assert_eq!(rewrites.fetch("gh:o/r"), "https://github.com/o/r");
        assert_eq!(rewrites.fetch("gh:me/r"), "git@github.com:me/r");
        assert_eq!(rewrites.push("gh:me/r"), "ssh://push/me/r");
        assert_eq!(rewrites.push("/srv/r"), "/srv/r");
    }

    #[test]
    fn a_default_branch_is_read_and_not_guessed() {
        let parse = |printed: &[u8]| parse_default(printed).answer;
        let unknown = |printed: &[u8]| matches!(parse(printed), DefaultBranch::Unknown(_));
        let said = parse_default(b"ref: refs/heads/trunk\tHEAD\n1\tHEAD\n1\trefs/heads/main\n");
        assert_eq!((said.answer, said.by_head), (DefaultBranch::Known("refs/heads/trunk".to_owned()), true));
        assert_eq!(parse(b""), DefaultBranch::EmptyRemote);
        assert!(unknown(b"1\tHEAD\n1\trefs/heads/main\n"));
        assert!(unknown(b"1\trefs/heads/main\n1\trefs/heads/master\n"));
        assert!(unknown(b"1\trefs/heads/a\n1\trefs/heads/b\n"));
        assert!(unknown(b"1\trefs/heads/a\n"));
    }

    #[test]
    fn a_head_that_names_no_branch_leaves_the_customary_one_and_is_not_remembered() {
        let printed: [&[u8]; 3] = [
            b"1\trefs/heads/main\n",
            b"1\trefs/heads/a\n1\trefs/heads/main\n",
            b"ref: refs/heads/x\trefs/remotes/o/HEAD\n1\trefs/heads/main\n",
        ];
        for printed in printed {
            let said = parse_default(printed);
            assert_eq!((said.answer, said.by_head), (DefaultBranch::Known("refs/heads/main".to_owned()), false));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_silent_remote_is_given_up_with_everything_it_started() {
        use std::process::Stdio;
        let mut command = Command::new("sh");
        // The grandchild holds the pipes open: only killing the whole group ends the reading.
        command.args(["-c", "sleep 600 & wait"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let error = run_within(&mut command, Duration::from_millis(50)).unwrap_err();
        assert!(error.contains("did not answer"), "{error}");
    }
}
