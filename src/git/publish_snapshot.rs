//! Publishes a snapshot so that others can fetch it, and checks one out in another place than this working tree.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::command::{bare_command, io_error, run};
use super::refs_and_objects::parse_oid;
use super::{GitError, Repo};
use crate::oid::Oid;

/// The repository of the gate's own, in its folder.
const ASIDE: &str = "escalated.git";
/// The folder of its refs.
const ESCALATIONS: &str = "refs/gate/escalation";
/// The refs of the contents that were handed over.
const HANDOFFS: &str = "refs/gate/handoff";
/// The time within which a ref may have no packet yet.
const NEW_HANDOFF: Duration = Duration::from_hours(1);
/// The largest number of contents that can be fetched from it.
const MAX_ASIDE: usize = 256;

/// The author and committer of commits that only hold a snapshot.
pub(super) const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "gate"),
    ("GIT_AUTHOR_EMAIL", "gate@localhost"),
    ("GIT_COMMITTER_NAME", "gate"),
    ("GIT_COMMITTER_EMAIL", "gate@localhost"),
];

impl Repo {
    /// Lets `reference` keep `tree` as a commit on top of `parent`, and returns that commit: `parent` itself if that is
    /// its tree. Objects that only the gate's own object store holds are copied into the repository, so that the ref
    /// can be fetched.
    pub fn publish(&self, tree: &Oid, parent: Option<&Oid>, reference: &str, why: &str) -> Result<Oid, GitError> {
        let commit = self.commit_of(tree, parent, why)?;
        if parent != Some(&commit) {
            self.copy_kept(&commit, parent, self.git_dir())?;
        }
        self.git(["update-ref", reference, commit.as_str()])?;
        Ok(commit)
    }

    /// The same in a repository of the gate's own, which borrows the objects of this one: what is not committed gets no ref
    /// here, so that no push takes it along. Returns that repository, from which the ref can be fetched.
    pub fn publish_aside(
        &self,
        tree: &Oid,
        parent: Option<&Oid>,
        reference: &str,
        why: &str,
    ) -> Result<PathBuf, GitError> {
        let aside = self.gate_dir().join(ASIDE);
        let alternates = aside.join("objects/info/alternates");
        if !alternates.exists() {
            let format = if self.is_sha256() { "sha256" } else { "sha1" };
            let mut init = bare_command();
            init.args(["init", "-q", "--bare", &format!("--object-format={format}"), "--"]).arg(&aside);
            run(&mut init, None)?;
            let listed = format!("{}\n", self.common_dir().join("objects").display());
            fs::write(&alternates, listed).map_err(io_error("write", &alternates))?;
        }
        let commit = self.commit_of(tree, parent, why)?;
        if parent != Some(&commit) {
            self.copy_kept(&commit, parent, &aside)?;
        }
        let mut update = bare_command();
        update.env("GIT_DIR", &aside).args(["update-ref", reference, commit.as_str()]);
        run(&mut update, None)?;
        Ok(aside)
    }

    /// Removes the refs of contents that were handed over, if their packet is gone. A new ref may wait for its packet.
    pub fn prune_handoffs(&self, is_packet: impl Fn(&str) -> bool) -> Result<(), GitError> {
        // Without packets there was no ref either.
        if !self.gate_dir().join("handoffs").is_dir() {
            return Ok(());
        }
        let printed = self.git(["for-each-ref", "--format=%(refname:lstrip=3)", HANDOFFS])?;
        let listed = String::from_utf8_lossy(&printed).into_owned();
        let is_new = |id: &str| {
            let file = self.common_dir().join(HANDOFFS).join(id);
            let modified = file.metadata().and_then(|meta| meta.modified());
            modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|since| since < NEW_HANDOFF))
        };
        let mut deletes = String::new();
        for id in listed.lines().filter(|id| !is_packet(id) && !is_new(id)) {
            deletes.extend(["delete ", HANDOFFS, "/", id, "\n"]);
        }
        if deletes.is_empty() { Ok(()) } else { self.git_with(["update-ref", "--stdin"], deletes.as_bytes()).map(drop) }
    }

    /// Removes what can be fetched from there and is older than `age`, or exceeds the maximum, the oldest first. A ref
    /// whose name is in one of the texts `waiting` stays.
    pub fn prune_aside(&self, waiting: &[String], age: Duration) -> Result<(), GitError> {
        let aside = self.gate_dir().join(ASIDE);
        let entries = fs::read_dir(aside.join(ESCALATIONS)).into_iter().flatten().flatten();
        let mut refs: Vec<(SystemTime, String)> = entries
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.file_name().into_string().ok()?)))
            .collect();
        refs.sort_unstable();
        let mut surplus = refs.len().saturating_sub(MAX_ASIDE);
        let mut removed = String::new();
        for (modified, name) in refs {
            let old = modified.elapsed().is_ok_and(|since| since > age);
            if (surplus > 0 || old) && !waiting.iter().any(|text| text.contains(&name)) {
                surplus = surplus.saturating_sub(1);
                removed.extend(["delete ", ESCALATIONS, "/", &name, "\n"]);
            }
        }
        if removed.is_empty() {
            return Ok(());
        }
        let inside = |args: &[&str], input: Option<&[u8]>| {
            let mut command = bare_command();
            run(command.env("GIT_DIR", &aside).args(args), input).map(drop)
        };
        inside(&["update-ref", "--stdin"], Some(removed.as_bytes()))?;
        // Another process may be about to publish what it has copied.
        inside(&["prune", "--expire=10.minutes.ago"], None)
    }

    /// A commit with the content `tree`: `parent` itself where that is its tree, else one on top of it.
    fn commit_of(&self, tree: &Oid, parent: Option<&Oid>, why: &str) -> Result<Oid, GitError> {
        if let Some(parent) = parent
            && self.tree_of(parent)? == *tree
        {
            return Ok(parent.clone());
        }
        let mut command = self.command();
        command.envs(IDENTITY).args(["commit-tree", "-m", why]);
        command.args(parent.iter().flat_map(|parent| ["-p", parent.as_str()])).arg(tree.as_str());
        parse_oid(&run(&mut command, None)?, "commit-tree")
    }

    /// Copies what `parent` does not have of a commit into the repository `into`.
    fn copy_kept(&self, commit: &Oid, parent: Option<&Oid>, into: &Path) -> Result<(), GitError> {
        let mut wanted = format!("{commit}\n");
        if let Some(parent) = parent {
            wanted = format!("{wanted}^{parent}\n");
        }
        let pack = self.git_with(["pack-objects", "--revs", "--stdout", "-q"], wanted.as_bytes())?;
        let mut unpack = self.command();
        // Otherwise git finds the objects there and does not write them.
        unpack.env_remove("GIT_ALTERNATE_OBJECT_DIRECTORIES").env("GIT_DIR", into).args(["unpack-objects", "-q"]);
        run(&mut unpack, Some(&pack)).map(drop)
    }

    /// Checks `tree` out into `dir`, an empty directory, as a repository of its own that borrows the objects of this
    /// one and the gate's. The checked-out commit is `parent` if that has this tree, else a commit on top of it. No
    /// hook runs, and nothing is written here.
    pub fn checkout_into(&self, tree: &Oid, parent: Option<&Oid>, dir: &Path) -> Result<(), GitError> {
        let mut clone = bare_command();
        clone.args(["clone", "-q", "--shared", "--no-checkout", "--"]).arg(self.common_dir()).arg(dir);
        run(&mut clone, None)?;
        let alternates = dir.join(".git/objects/info/alternates");
        let listed = format!("{}\n", self.kept_objects().display());
        let write = |file: &mut File| file.write_all(listed.as_bytes());
        OpenOptions::new()
            .append(true)
            .open(&alternates)
            .and_then(|mut file| write(&mut file))
            .map_err(io_error("write", &alternates))?;
        let inside = || {
            let mut command = bare_command();
            command.current_dir(dir);
            command
        };
        let commit = match parent {
            Some(parent) if self.tree_of(parent)? == *tree => parent.clone(),
            _ => {
                let mut command = inside();
                command.envs(IDENTITY).args(["commit-tree", "-m", "gate: the content that is tried"]);
                command.args(parent.iter().flat_map(|parent| ["-p", parent.as_str()])).arg(tree.as_str());
                parse_oid(&run(&mut command, None)?, "commit-tree")?
            }
        };
        run(inside().args(["checkout", "-q", "--detach", commit.as_str()]), None).map(drop)?;
        if dir.join(".gitmodules").is_file() {
            self.fill_submodules(inside);
        }
        Ok(())
    }

    /// Checks the submodules of a checkout out from the copies that this repository has. One without a copy, or whose commit
    /// is not in it, stays empty: nothing is fetched.
    fn fill_submodules(&self, inside: impl Fn() -> Command) {
        let mut list = inside();
        list.args(["config", "-f", ".gitmodules", "--name-only", "--get-regexp", r"^submodule\..*\.path$"]);
        let names = run(&mut list, None).map(|names| String::from_utf8_lossy(&names).into_owned()).unwrap_or_default();
        for name in names.lines().filter_map(|key| key.strip_prefix("submodule.")?.strip_suffix(".path")) {
            let copy = self.common_dir().join("modules").join(name);
            let is_safe = !name.split('/').any(|part| part == "..");
            if !is_safe || !copy.join("objects").is_dir() {
                continue;
            }
            let url = format!("submodule.{name}.url={}", copy.display());
            let mut path = inside();
            path.args(["config", "-f", ".gitmodules", "--get", &format!("submodule.{name}.path")]);
            let Ok(path) = run(&mut path, None).map(|path| String::from_utf8_lossy(&path).trim().to_owned()) else {
                continue;
            };
            let mut update = inside();
            update.args([
                "-c", "protocol.file.allow=always", "-c", &url, "submodule", "-q", "update", "--init", "--checkout",
                "--", &path,
            ]);
            let _ = run(&mut update, None);
        }
    }
}
