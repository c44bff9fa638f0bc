//! Dependencies that only this machine has: folders outside of the repository, packages that no lock file lists, and
//! commits of submodules that nobody pushed.

use std::collections::{BTreeMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

use super::command::run_any;
use super::{GitError, Repo};
use crate::embedded;
use crate::lazy_patterns::LazyPattern;
use crate::local_file::{LocalCause, LocalFile};
use crate::regular_file;
use crate::repo_path::RepoPath;

/// The maximum number of manifests that are read.
const MAX_MANIFESTS: usize = 32;
/// The maximum number of packages that are searched for in tracked files.
const MAX_PACKAGES: usize = 32;
/// The maximum number of entries of a submodule's reflog that are read, newest first.
const MAX_MOVES: usize = 64;
/// The file in which npm lists what it installed: <https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json>.
const INSTALLED: &str = ".package-lock.json";
/// The lock file of npm.
const LOCK: &str = "package-lock.json";
/// The folder that npm installs into.
const PACKAGES: &str = "node_modules";
/// The beginnings of reflog messages about commits that were made here.
const MADE_HERE: [&str; 6] = ["commit", "rebase", "cherry-pick", "revert", "merge", "am"];

/// The table `gates/local-dependencies.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DependencyTable {
    /// For each name of a manifest, a regular expression with the group `path` for a folder that a dependency is read from.
    manifests: BTreeMap<String, LazyPattern>,
}

fn manifests() -> &'static BTreeMap<String, LazyPattern> {
    static RULES: LazyLock<BTreeMap<String, LazyPattern>> = LazyLock::new(|| {
        let DependencyTable { manifests } = embedded::table("local-dependencies.toml");
        manifests
    });
    &RULES
}

/// Returns `true` for a manifest that may name folders.
pub(super) fn is_manifest(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    std::str::from_utf8(name).is_ok_and(|name| manifests().contains_key(name))
}

/// Returns the manifests that read a dependency from an existing folder outside of the repository.
pub(super) fn manifests_that_leave<'a>(root: &Path, paths: impl Iterator<Item = &'a RepoPath>) -> Vec<LocalFile> {
    let manifests = paths.filter(|path| is_manifest(path.as_bytes())).take(MAX_MANIFESTS);
    let leaving = manifests.filter(|path| leaves(root, &root.join(path.to_os())));
    leaving.map(|path| LocalFile { path: path.clone(), cause: LocalCause::Outside }).collect()
}

fn leaves(root: &Path, manifest: &Path) -> bool {
    let name = manifest.file_name().and_then(|name| name.to_str());
    let Some((rule, folder)) = name.and_then(|name| manifests().get(name)).zip(manifest.parent()) else { return false };
    let Ok(text) = regular_file::read_text(manifest) else { return false };
    let folders = rule.about(&text).into_iter().flat_map(|rule| rule.captures_iter(&text));
    folders.filter_map(|found| found.name("path")).any(|path| is_outside(root, &folder.join(path.as_str())))
}

/// Returns `true` if a path exists and is not below `root`.
fn is_outside(root: &Path, path: &Path) -> bool {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => (),
            other => plain.push(other),
        }
    }
    !plain.starts_with(root) && plain.exists()
}

/// Returns the submodules whose checked-out commit was made here and is on no branch of a remote.
pub(super) fn unpushed_submodules(root: &Path, submodules: &[RepoPath]) -> Vec<LocalFile> {
    let is_unpushed = |path: &&RepoPath| has_unpushed_commit(&root.join(path.to_os())).unwrap_or(false);
    let of = |path: &RepoPath| LocalFile { path: path.clone(), cause: LocalCause::Unpushed };
    submodules.iter().filter(is_unpushed).map(of).collect()
}

fn has_unpushed_commit(submodule: &Path) -> Result<bool, git2::Error> {
    if !submodule.join(".git").exists() {
        return Ok(false);
    }
    let repo = git2::Repository::open(submodule)?;
    let head = repo.head()?.peel_to_commit()?.id();
    let moves = repo.reflog("HEAD")?;
    let made_here = moves.iter().take(MAX_MOVES).any(|one| {
        let message = one.message().ok().flatten().unwrap_or_default();
        one.id_new() == head && MADE_HERE.iter().any(|start| message.starts_with(start))
    });
    if !made_here {
        return Ok(false);
    }
    let mut unpushed = repo.revwalk()?;
    unpushed.push(head)?;
    unpushed.hide_glob("refs/remotes/*")?;
    Ok(unpushed.next().is_some())
}

impl Repo {
    /// Returns the packages that tracked files import and that npm installed without writing them into its lock file
    /// (`npm install --no-save`). `folders` are those that tools filled.
    pub(super) fn unlisted_packages<'a>(
        &self,
        root: &Path,
        folders: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Vec<LocalFile>, GitError> {
        let of_npm = folders
            .map(RepoPath::new)
            .filter(|folder| folder.as_bytes().rsplit(|&byte| byte == b'/').next() == Some(PACKAGES.as_bytes()));
        let mut packages: Vec<(String, RepoPath)> = of_npm.flat_map(|folder| unlocked(root, &folder)).collect();
        packages.truncate(MAX_PACKAGES);
        if packages.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.command();
        command
            .env_remove("GIT_LITERAL_PATHSPECS")
            .args(["grep", "-I", "-h", "-o", "-E", "--no-color", "--no-line-number"]);
        for (name, _) in &packages {
            command.args(["-e", &format!("['\"]{}['\"/]", regex::escape(name))]);
        }
        command.args(["--", ":(top)*.js", ":(top)*.jsx", ":(top)*.mjs", ":(top)*.cjs"]);
        command.args([":(top)*.ts", ":(top)*.tsx", ":(top)*.mts", ":(top)*.cts", ":(top)*.vue", ":(top)*.svelte"]);
        let output = run_any(&mut command, None)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let is_imported = |name: &str| text.lines().any(|line| line.trim_matches(['\'', '"', '/']) == name);
        let imported = packages.into_iter().filter(|(name, _)| is_imported(name));
        Ok(imported.map(|(_, path)| LocalFile { path, cause: LocalCause::Unlisted }).collect())
    }
}

/// Returns the packages that npm installed into a folder and that `package-lock.json` beside it does not have, each with
/// its folder.
fn unlocked(root: &Path, folder: &RepoPath) -> Vec<(String, RepoPath)> {
    let place = root.join(folder.to_os());
    let Ok(installed) = regular_file::read_text(&place.join(INSTALLED)) else { return Vec::new() };
    let Ok(lock) = regular_file::read_text(&place.with_file_name(LOCK)) else { return Vec::new() };
    let locked: HashSet<&str> = packages(&lock).collect();
    // A lock file of npm 6 has other keys.
    let unlocked = packages(&installed).filter(|name| !locked.is_empty() && !locked.contains(name));
    let named =
        unlocked.map(|name| (name.to_owned(), RepoPath::new([folder.as_bytes(), b"/", name.as_bytes()].concat())));
    named.collect()
}

/// Returns the packages of a lock file of npm that lie directly in `node_modules`. These files are large, and read at
/// each look at a working tree, so they are not parsed.
fn packages(lock: &str) -> impl Iterator<Item = &str> {
    let after = lock.split("\"node_modules/").skip(1);
    let keys = after.filter_map(|rest| rest.split_once('"').filter(|(_, rest)| rest.starts_with(':')));
    keys.map(|(name, _)| name).filter(|name| !name.contains("node_modules/"))
}
