//! A repository, and the places of its parts.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::{env, fmt, fs};

use super::command::{bare_command, failed, object_directories, run, run_any};
use super::config::ListedConfig;
use super::environment::scrubbed;
use super::{GitError, TreeDiff};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The variables through which git shows a receiving hook the objects that are not accepted yet.
const QUARANTINE: [&str; 3] = ["GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"];

/// The variables that git itself sets for a hook. They are expected there and removed without a message.
const SET_FOR_HOOKS: [&str; 5] =
    ["GIT_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_WORK_TREE", "GIT_INTERNAL_SUPER_PREFIX"];

/// One repository, as seen from one of its working trees. Cheap to clone.
#[derive(Clone)]
pub struct Repo(Arc<RepoInner>);

struct RepoInner {
    root: Option<PathBuf>,
    git_dir: PathBuf,
    common_dir: PathBuf,
    sha256: bool,
    shallow: bool,
    /// Names of inherited variables that could have misled git.
    scrubbed: Vec<String>,
    /// The quarantine of a receiving hook, kept so that the new objects can be read.
    quarantine: Vec<(&'static str, OsString)>,
    /// `None` where git2 cannot open this repository, or cannot see all of its objects.
    library: Mutex<Option<git2::Repository>>,
    /// The configuration, where git had to list it.
    config: Mutex<Option<ListedConfig>>,
    /// The comparisons that were made.
    diffs: Mutex<KnownDiffs>,
    /// The code that the work up to a commit took out of git: a run reads it before and after.
    taken_out: Mutex<KnownPaths>,
    /// Says which markers of tool folders were written by an edit. Asked only where there is a tool folder.
    edited_markers: OnceLock<EditedMarkers>,
}

/// The paths of markers that were written by an edit.
pub(super) type EditedMarkers = Box<dyn Fn() -> Vec<RepoPath> + Send + Sync>;

/// The known differences between two trees.
pub(super) type KnownDiffs = HashMap<(Oid, Oid), TreeDiff>;

/// The known paths, by commit.
pub(super) type KnownPaths = HashMap<Oid, BTreeSet<RepoPath>>;

/// The result of the discovery of a repository.
struct Layout {
    root: Option<PathBuf>,
    git_dir: PathBuf,
    common_dir: PathBuf,
    sha256: bool,
    shallow: bool,
}

impl Repo {
    /// Finds the repository at or above `dir`. Inherited `GIT_*` variables are not obeyed, except
    /// `GIT_CEILING_DIRECTORIES`, which limits the search and does not choose the repository.
    pub fn discover(dir: &Path) -> Result<Self, GitError> {
        let ceilings: Vec<PathBuf> = env::var_os("GIT_CEILING_DIRECTORIES")
            .map(|list| env::split_paths(&list).filter(|path| path.is_absolute()).collect())
            .unwrap_or_default();
        let scrubbed = inherited(|_| true);
        trust_objects();
        match git2::Repository::open_ext(dir, git2::RepositoryOpenFlags::empty(), &ceilings) {
            Ok(library) => Ok(Self::new(Layout::of(&library), Some(library), scrubbed, Vec::new())),
            // Whatever the reason, git's own answer counts, and its own words.
            Err(_) => Ok(Self::new(Layout::ask(dir, None)?, None, scrubbed, Vec::new())),
        }
    }

    /// Finds the repository for which git runs the current hook: `GIT_DIR` decides if git has set it, relative to
    /// `dir`, the directory the hook was started in. Every other variable is scrubbed, except that a receiving hook
    /// keeps its quarantine, so that the pushed objects can be read.
    pub fn discover_in_hook(dir: &Path) -> Result<Self, GitError> {
        let Some(git_dir) = env::var_os("GIT_DIR").filter(|value| !value.is_empty()) else {
            return Self::discover(dir);
        };
        let dir = &std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let git_dir = dir.join(git_dir);
        let quarantined = env::var_os(QUARANTINE[0]).is_some();
        let kept = |name: &str| quarantined && QUARANTINE.contains(&name);
        let quarantine =
            QUARANTINE.into_iter().filter(|name| kept(name)).filter_map(|n| Some((n, env::var_os(n)?))).collect();
        let scrubbed = inherited(|name| !kept(name) && !SET_FOR_HOOKS.contains(&name));
        trust_objects();
        match git2::Repository::open(&git_dir) {
            Ok(library) => Ok(Self::new(Layout::of(&library), Some(library), scrubbed, quarantine)),
            Err(_) => Ok(Self::new(Layout::ask(dir, Some(&git_dir))?, None, scrubbed, quarantine)),
        }
    }

    fn new(
        layout: Layout,
        library: Option<git2::Repository>,
        scrubbed: Vec<String>,
        quarantine: Vec<(&'static str, OsString)>,
    ) -> Self {
        let Layout { root, git_dir, common_dir, sha256, shallow } = layout;
        let repo = Self(Arc::new(RepoInner {
            root,
            git_dir,
            common_dir,
            sha256,
            shallow,
            scrubbed,
            quarantine,
            library: Mutex::new(None),
            config: Mutex::default(),
            diffs: Mutex::default(),
            taken_out: Mutex::default(),
            edited_markers: OnceLock::new(),
        }));
        repo.set_library(library);
        repo
    }

    /// Returns the root of the working tree; `None` in a bare repository.
    pub fn root(&self) -> Option<&Path> {
        self.0.root.as_deref()
    }

    /// Returns the root of the working tree, or the error for a repository without one.
    pub fn work_tree(&self) -> Result<&Path, GitError> {
        self.root().ok_or_else(|| GitError::Bare { git_dir: self.0.git_dir.clone() })
    }

    /// Returns the git directory of this working tree: `.git`, `.git/worktrees/<name>`, or the bare repository itself.
    pub fn git_dir(&self) -> &Path {
        &self.0.git_dir
    }

    /// Returns the git directory that all working trees share.
    pub fn common_dir(&self) -> &Path {
        &self.0.common_dir
    }

    /// Returns the directory for the gate's state of this repository. It may not exist yet.
    pub fn gate_dir(&self) -> PathBuf {
        self.0.common_dir.join("gate")
    }

    /// Returns the gate's own object store, which keeps snapshots.
    pub(super) fn kept_objects(&self) -> PathBuf {
        self.gate_dir().join("objects")
    }

    /// Returns `true` if object ids are SHA-256.
    pub fn is_sha256(&self) -> bool {
        self.0.sha256
    }

    /// Returns `true` if history ends early because the clone is shallow.
    pub fn is_shallow(&self) -> bool {
        self.0.shallow
    }

    /// Returns the id of the tree without entries.
    pub fn empty_tree(&self) -> Oid {
        Oid::empty_tree(self.0.sha256)
    }

    /// Returns the inherited variables that could have misled git, and were not obeyed.
    pub(super) fn scrubbed(&self) -> &[String] {
        &self.0.scrubbed
    }

    /// Returns a hermetic git, bound to this repository, its working directory at the root. It sees the snapshots that
    /// were kept and, in a receiving hook, the objects in quarantine. It runs no hooks.
    pub(crate) fn command(&self) -> Command {
        let inner = &*self.0;
        let mut command = bare_command();
        command.current_dir(inner.root.as_ref().unwrap_or(&inner.git_dir)).env("GIT_DIR", &inner.git_dir);
        if let Some(root) = &inner.root {
            command.env("GIT_WORK_TREE", root);
        }
        command.envs(inner.quarantine.iter().map(|(name, value)| (name, value)));
        let kept = self.kept_objects();
        if kept.is_dir() {
            let mut alternates = object_directories([kept]);
            if let Some((_, inherited)) = inner.quarantine.iter().find(|(name, _)| *name == QUARANTINE[2]) {
                alternates.push(if cfg!(windows) { ";" } else { ":" });
                alternates.push(inherited);
            }
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", alternates);
        }
        command
    }

    /// Runs a hermetic git with `args` and returns its output.
    pub(crate) fn git<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Result<Vec<u8>, GitError> {
        run(self.command().args(args), None)
    }

    /// Runs git like [`Repo::git`], with `input` on standard input.
    pub(crate) fn git_with<S: AsRef<OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Result<Vec<u8>, GitError> {
        run(self.command().args(args), Some(input))
    }

    /// Runs git like [`Repo::git`], for questions that git answers by status: `None` when it ends with one of `no`.
    pub(super) fn git_unless<S: AsRef<OsStr>>(
        &self,
        no: &[i32],
        args: impl IntoIterator<Item = S>,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let mut command = self.command();
        command.args(args);
        let output = run_any(&mut command, None)?;
        match output.status.code() {
            Some(0) => Ok(Some(output.stdout)),
            Some(code) if no.contains(&code) => Ok(None),
            _ => Err(failed(&command, &output)),
        }
    }

    /// Returns the configuration that git listed.
    pub(super) fn known_config(&self) -> MutexGuard<'_, Option<ListedConfig>> {
        self.0.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the comparisons that were made.
    pub(super) fn known_diffs(&self) -> MutexGuard<'_, KnownDiffs> {
        self.0.diffs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the code that was found to be taken out.
    pub(super) fn known_taken_out(&self) -> MutexGuard<'_, KnownPaths> {
        self.0.taken_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets who knows which markers of tool folders were written by an edit. The first call counts.
    pub fn ask_for_edited_markers(&self, edited: impl Fn() -> Vec<RepoPath> + Send + Sync + 'static) {
        let _ = self.0.edited_markers.set(Box::new(edited));
    }

    /// Returns the markers of tool folders that were written by an edit, as far as anybody knows.
    pub fn edited_markers(&self) -> Vec<RepoPath> {
        self.0.edited_markers.get().map(|edited| edited()).unwrap_or_default()
    }

    /// Calls git2. Returns `None` if it cannot open this repository or failed, and the command line has to answer.
    pub(super) fn library<T>(&self, ask: impl FnOnce(&git2::Repository) -> Result<T, git2::Error>) -> Option<T> {
        let guard = self.0.library.lock().unwrap_or_else(PoisonError::into_inner);
        ask(guard.as_ref()?).ok()
    }

    /// Lets git2 see the object store of the gate that was created just now.
    pub(super) fn reload(&self) {
        if self.library(|_| Ok(())).is_some() {
            self.set_library(git2::Repository::open(&self.0.git_dir).ok());
        }
    }

    /// Returns a library for one thread, if the threads share one now.
    pub(super) fn another_library(&self) -> Option<git2::Repository> {
        self.library(|_| git2::Repository::open(&self.0.git_dir)).and_then(|library| self.with_all_objects(library))
    }

    fn set_library(&self, library: Option<git2::Repository>) {
        let usable = library.and_then(|library| self.with_all_objects(library));
        *self.0.library.lock().unwrap_or_else(PoisonError::into_inner) = usable;
    }

    /// Returns `library`, if it can see every object that git sees.
    fn with_all_objects(&self, library: git2::Repository) -> Option<git2::Repository> {
        let kept = self.kept_objects();
        let quarantine = self.0.quarantine.iter().find(|(name, _)| *name == QUARANTINE[1]).map(|(_, value)| value);
        let more = quarantine.map(|path| self.0.git_dir.join(path)).into_iter().chain(kept.is_dir().then_some(kept));
        let mut more = more.peekable();
        if more.peek().is_some() {
            let objects = library.odb().ok()?;
            for path in more {
                objects.add_disk_alternate(path.to_str()?).ok()?;
            }
        }
        Some(library)
    }
}

impl fmt::Debug for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repo").field("root", &self.0.root).field("git_dir", &self.0.git_dir).finish_non_exhaustive()
    }
}

/// Turns off the check that objects match their ids, as git does when it reads: that check is `git fsck`'s work, and
/// costs more than the reading.
fn trust_objects() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| git2::opts::strict_hash_verification(false));
}

fn inherited(counts: impl Fn(&str) -> bool) -> Vec<String> {
    scrubbed().filter(|name| counts(name) && env::var_os(name).is_some()).map(str::to_owned).collect()
}

impl Layout {
    fn of(library: &git2::Repository) -> Self {
        // libgit2 ends directories with a slash; collecting the components drops it.
        let plain = |path: &Path| path.components().collect::<PathBuf>();
        Self {
            root: library.workdir().map(plain),
            git_dir: plain(library.path()),
            common_dir: plain(library.commondir()),
            // This build of libgit2 opens no other repositories.
            sha256: false,
            shallow: library.is_shallow(),
        }
    }

    fn ask(dir: &Path, git_dir: Option<&Path>) -> Result<Self, GitError> {
        let mut command = bare_command();
        command.current_dir(dir);
        if let Some(git_dir) = git_dir {
            command.arg("--git-dir").arg(git_dir);
        }
        command.args(["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-object-format"]);
        command.args(["--is-shallow-repository", "--is-bare-repository", "--show-toplevel"]);
        let output = run_any(&mut command, None).map_err(|error| match error {
            GitError::NotStarted { .. } if !dir.is_dir() => GitError::NotARepository { dir: dir.to_owned() },
            other => other,
        })?;
        let lines: Vec<&[u8]> = output.stdout.split(|&byte| byte == b'\n').collect();
        let [git, common, format, shallow, bare, rest @ ..] = lines.as_slice() else {
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            return Err(if reason.contains("not a git repository") {
                GitError::NotARepository { dir: dir.to_owned() }
            } else {
                GitError::Refused { dir: dir.to_owned(), reason }
            });
        };
        let (git, common) = (os_path(git), os_path(common));
        let root = if *bare == b"true" {
            None
        } else if git_dir.is_some() {
            // With the git directory given, git takes the current directory for the working tree.
            Some(root_of(&git)?)
        } else {
            rest.first().filter(|line| !line.is_empty()).map(|line| os_path(line)).or_else(|| root_of(&git).ok())
        };
        Ok(Self { root, git_dir: git, common_dir: common, sha256: *format == b"sha256", shallow: *shallow == b"true" })
    }
}

/// Returns the working tree that belongs to `git_dir`, which is not a bare repository.
fn root_of(git_dir: &Path) -> Result<PathBuf, GitError> {
    if let Ok(link) = fs::read(git_dir.join("gitdir")) {
        let link = git_dir.join(os_path(link.trim_ascii_end()));
        return Ok(link.parent().unwrap_or(git_dir).to_owned());
    }
    let mut command = bare_command();
    command.arg("--git-dir").arg(git_dir).args(["config", "--get", "core.worktree"]);
    let output = run_any(&mut command, None)?;
    if output.status.success() {
        let path = git_dir.join(os_path(output.stdout.trim_ascii_end()));
        return Ok(path.canonicalize().unwrap_or(path));
    }
    Ok(git_dir.parent().unwrap_or(git_dir).to_owned())
}

fn os_path(bytes: &[u8]) -> PathBuf {
    RepoPath::new(bytes).to_os()
}
