//! The few facts about a repository that an installation needs. Git itself provides them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::InstallError;
use crate::git::user_command;

/// A repository, as far as installing into it is concerned.
#[derive(Clone, Debug)]
pub struct InstallTarget {
    /// The top of the working tree; `None` in a bare repository.
    pub root: Option<PathBuf>,
    /// The git directory of this working tree.
    pub git_dir: PathBuf,
    /// The git directory that all working trees share.
    pub common_dir: PathBuf,
    /// `true` if it is bare.
    pub bare: bool,
}

/// A hook that git reads from its configuration (since git 2.54).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookConfig {
    /// `global`, `local`, …
    pub scope: String,
    /// The part between `hook.` and the last dot: the name of a hook, or of an event.
    pub name: String,
    /// `event`, `command`, `enabled`, …
    pub key: String,
    pub value: String,
}

impl InstallTarget {
    /// Returns the repository that `dir` lies in.
    pub fn discover(dir: &Path) -> Result<Self, InstallError> {
        let ask = |args: &[&str]| output(user_command(dir), args);
        let git_dir = PathBuf::from(ask(&["rev-parse", "--absolute-git-dir"]).map_err(|error| match error {
            // git's words depend on its language; only this answer leaves no git directory.
            InstallError::Git { message, .. } if message.contains("not a git repository") => {
                InstallError::NotARepository { dir: dir.to_owned() }
            }
            error => error,
        })?);
        let common_dir = dir.join(ask(&["rev-parse", "--git-common-dir"])?);
        let common_dir = common_dir.canonicalize().map_err(InstallError::io(&common_dir))?;
        let bare = ask(&["rev-parse", "--is-bare-repository"])? == "true";
        let inside = ask(&["rev-parse", "--is-inside-work-tree"])? == "true";
        if !bare && !inside {
            return Err(InstallError::InsideGitDir { dir: dir.to_owned() });
        }
        let root = if bare { None } else { Some(PathBuf::from(ask(&["rev-parse", "--show-toplevel"])?)) };
        Ok(Self { root, git_dir, common_dir, bare })
    }

    /// Returns the directory in which git runs hooks: the top of the working tree, or the git directory of a bare
    /// repository.
    pub fn base(&self) -> &Path {
        self.root.as_deref().unwrap_or(&self.git_dir)
    }

    /// Returns the directory that `gate` keeps in this repository.
    pub fn gate_dir(&self) -> PathBuf {
        self.common_dir.join("gate")
    }

    /// Returns a git command in this repository, with the configuration of the user and none of the inherited
    /// variables.
    pub fn git(&self) -> Command {
        user_command(self.base())
    }

    /// Returns the folder git looks for hooks in, as git resolves it.
    pub(super) fn hooks_path(&self) -> Result<PathBuf, InstallError> {
        Ok(self.base().join(output(self.git(), &["rev-parse", "--git-path", "hooks"])?))
    }

    /// Returns scope, origin and value of `core.hooksPath`, the one that counts.
    pub(super) fn hooks_path_setting(&self) -> Option<(String, String, String)> {
        let args = ["config", "--null", "--show-scope", "--show-origin", "--get-all", "core.hooksPath"];
        let text = output(self.git(), &args).ok()?.to_string_lossy().into_owned();
        let fields: Vec<&str> = text.trim_end_matches('\0').split('\0').collect();
        let last = fields.chunks_exact(3).next_back()?;
        Some((last[0].to_owned(), last[1].to_owned(), last[2].to_owned()))
    }

    /// Returns every `hook.*` setting, in git's order.
    pub fn hook_config(&self) -> Vec<HookConfig> {
        let args = ["config", "--null", "--show-scope", "--get-regexp", "^hook\\."];
        let Ok(text) = output(self.git(), &args) else { return Vec::new() };
        let text = text.to_string_lossy().into_owned();
        let fields: Vec<&str> = text.trim_end_matches('\0').split('\0').collect();
        let pairs = fields.chunks_exact(2).filter_map(|pair| {
            let (key, value) = pair[1].split_once('\n').unwrap_or((pair[1], "true"));
            let (name, key) = key.strip_prefix("hook.")?.rsplit_once('.')?;
            let (scope, value) = (pair[0].to_owned(), value.to_owned());
            Some(HookConfig { scope, name: name.to_owned(), key: key.to_owned(), value })
        });
        pairs.collect()
    }

    /// Returns `true` if the index holds the file as it is on disk.
    pub(super) fn tracks(&self, path: &Path) -> bool {
        let mut listed = self.git();
        listed.args(["ls-files", "--stage", "--"]).arg(path);
        let mut hashed = self.git();
        hashed.args(["hash-object", "--"]).arg(path);
        let staged = output(listed, &[]).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
        let oid = staged.split_whitespace().nth(1);
        oid.is_some() && output(hashed, &[]).is_ok_and(|now| oid == Some(now.to_string_lossy().as_ref()))
    }

    /// Returns `true` if the index has the file, with any content.
    pub(super) fn has_in_index(&self, path: &Path) -> bool {
        let mut listed = self.git();
        listed.args(["ls-files", "--error-unmatch", "--"]).arg(path);
        output(listed, &[]).is_ok()
    }

    /// Returns `true` if git ignores the file.
    pub(super) fn ignores(&self, path: &Path) -> bool {
        let mut asked = self.git();
        asked.args(["check-ignore", "--quiet", "--"]).arg(path);
        output(asked, &[]).is_ok()
    }

    /// Returns the files of the working tree, tracked or not ignored, as far as their names are UTF-8.
    pub(super) fn files(&self) -> Result<Vec<String>, InstallError> {
        let listed = output(self.git(), &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
        let bytes = listed.into_encoded_bytes();
        let names = bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect())
    }

    /// Deletes the refs below a prefix.
    pub(super) fn delete_refs_below(&self, prefix: &str) -> Result<(), InstallError> {
        let listed = output(self.git(), &["for-each-ref", "--format=%(refname)", prefix])?;
        for name in listed.to_string_lossy().lines() {
            output(self.git(), &["update-ref", "-d", name])?;
        }
        Ok(())
    }

    /// Removes the setting that says that there is a journal.
    pub(super) fn forget_journal(&self) {
        // It fails if there is no such setting.
        let _ = output(self.git(), &["config", "--local", "--unset", "gate.journal"]);
    }

    /// Returns the three numbers of `git --version`.
    pub fn git_version(&self) -> Option<(u32, u32, u32)> {
        let text = output(self.git(), &["--version"]).ok()?.to_string_lossy().into_owned();
        let number = text.split_whitespace().nth(2)?;
        let mut parts = number.split('.').map(|part| part.parse().unwrap_or(0));
        Some((parts.next()?, parts.next()?, parts.next().unwrap_or(0)))
    }
}

/// Returns the standard output without its last newline.
pub(super) fn output(mut command: Command, args: &[&str]) -> Result<OsString, InstallError> {
    command.args(args);
    let shown = command.get_args().map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ");
    let failed = |message: String| InstallError::Git { command: shown, message };
    let mut bytes = match command.output() {
        Err(error) => return Err(failed(error.to_string())),
        Ok(done) if done.status.success() => done.stdout,
        Ok(done) => return Err(failed(String::from_utf8_lossy(&done.stderr).trim().to_owned())),
    };
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Ok(os_string(bytes))
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
