//! Remotes: where they are fetched from and pushed to.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::command::{described, start};
use super::{GitError, Repo};

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

    /// Returns the name of the configured remote with the URL `url`, if there is one.
    pub fn remote_named(&self, url: &str) -> Option<String> {
        let remotes = self.remotes().ok()?;
        remotes.into_iter().find(|one| is_same_place(&one.push_url, url)).map(|one| one.name)
    }

    /// Returns the remote whose `refs/remotes/<name>/HEAD` describes the repository at `url`.
    pub fn recorded_for(&self, remote: &str, url: &str) -> Option<String> {
        let remotes = self.remotes().ok()?;
        let by_name = remotes.iter().find(|one| one.name == remote && is_same_place(&one.url, url));
        by_name.or_else(|| remotes.iter().find(|one| is_same_place(&one.url, url))).map(|one| one.name.clone())
    }
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
pub fn is_same_place(a: &str, b: &str) -> bool {
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

/// Ends a process with everything in its process group.
pub fn end(child: &mut Child) {
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
            assert_eq!(is_same_place(a, b), same, "{a} {b}");
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
