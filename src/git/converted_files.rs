//! Tracked files whose bytes on disk are not those that a checkout writes: git converts line endings and encodings, and
//! can store a plain file as a link. `git status` calls such a file unchanged.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::attribute_files::folders_above;
use super::command::run;
use super::config::{ConfigEntry, last, parse_flag};
use super::file_modes::tells_modes_apart;
use super::status::WorkingTreeStatus;
use super::{GitError, Repo, TreeDiff};
use crate::local_file::{LocalCause, LocalFile};
use crate::regular_file;
use crate::repo_path::RepoPath;

/// The attributes by which git writes other bytes than it keeps, whatever they are: `$Id$` with an id, another encoding.
const REWRITING: [&str; 2] = ["ident", "working-tree-encoding"];
/// The largest number of files whose written form is asked of git.
const MAX_REWRITTEN: usize = 32;
/// The largest number of changed files that are named to git. For more, it lists all.
const MAX_NAMED: usize = 500;
/// The attributes that make git convert the bytes of a file.
const CONVERTING: [&str; 5] = ["text", "eol", "crlf", "working-tree-encoding", "ident"];

/// The conversions that attributes and settings ask for.
#[derive(Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent answers")]
struct Conversions {
    /// Committed attributes ask for one.
    committed: bool,
    /// Some file has to have CRLF wherever it is checked out.
    crlf: bool,
    /// Attributes that no commit has ask for one, or git reads attributes from another tree.
    local: bool,
    /// `core.autocrlf` asks for one.
    setting: bool,
    /// Attributes ask for one of [`REWRITING`].
    rewriting: bool,
}

impl Repo {
    /// Returns the files whose bytes on disk a checkout elsewhere does not write, of those that changed since the default
    /// branch, and of all that must have CRLF. `attributes` are the attribute files of the index.
    ///
    /// On a disk of Windows the line endings are those of the system, and nothing is reported.
    pub(super) fn converted_files<'p>(
        &self,
        root: &Path,
        status: &WorkingTreeStatus,
        attributes: impl Iterator<Item = &'p RepoPath>,
    ) -> Result<Vec<LocalFile>, GitError> {
        if !tells_modes_apart(root) {
            return Ok(Vec::new());
        }
        let conversions = self.conversions(root, attributes)?;
        if conversions == Conversions::default() {
            return Ok(Vec::new());
        }
        let changed = self.changed_paths(status)?;
        let rewritten = if conversions.rewriting { self.rewritten_files(root, status, &changed)? } else { Vec::new() };
        let mut specs: Vec<Vec<u8>> = changed.iter().map(literal).collect();
        specs.extend(conversions.crlf.then(|| b":(top,attr:eol=crlf)".to_vec()));
        if specs.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.command();
        command.env_remove("GIT_LITERAL_PATHSPECS");
        command.args(["ls-files", "--eol", "-z", "--full-name", "--cached", "--others", "--exclude-standard", "--"]);
        if specs.len() <= MAX_NAMED {
            command.args(specs.into_iter().map(|spec| RepoPath::new(spec).to_os()));
        } else {
            command.arg(":(top)");
        }
        let listed = run(&mut command, None)?;
        let found = listed.split(|&byte| byte == 0).filter_map(|line| converted(line, &conversions));
        Ok(found.chain(rewritten).filter(|file| !is_read_elsewhere(&file.path)).collect())
    }

    /// Returns the files among `changed` for which a checkout writes other bytes than those on disk, because their attributes
    /// ask for ids or another encoding.
    fn rewritten_files(
        &self,
        root: &Path,
        status: &WorkingTreeStatus,
        changed: &BTreeSet<RepoPath>,
    ) -> Result<Vec<LocalFile>, GitError> {
        // Attributes that changed may be about any file.
        let input = if changed.iter().any(|path| path.as_bytes().ends_with(b".gitattributes")) {
            self.git(["ls-files", "-z", "--full-name"])?
        } else {
            changed.iter().flat_map(|path| [path.as_bytes(), b"\0"].concat()).collect()
        };
        let mut command = self.command();
        command.args(["check-attr", "--stdin", "-z"]).args(REWRITING);
        let listed = run(&mut command, Some(&input))?;
        let fields: Vec<&[u8]> = listed.split(|&byte| byte == 0).collect();
        let is_set =
            |record: &&[&[u8]]| matches!(record, [_, _, value] if !matches!(*value, b"unspecified" | b"unset"));
        let set: BTreeSet<&[u8]> = fields.chunks(3).filter(is_set).map(|record| record[0]).collect();
        let mut found = Vec::new();
        for path in set.into_iter().map(RepoPath::new).take(MAX_REWRITTEN) {
            let Ok(disk) = regular_file::read(&root.join(path.to_os())) else { continue };
            // What git will keep of an edit is not known yet, but it writes an id in the place of this.
            if status.paths.iter().any(|one| one.path == path) {
                if memchr::memmem::find(&disk, b"$Id$").is_some() {
                    found.push(LocalFile { path, cause: LocalCause::Converted });
                }
                continue;
            }
            let spec = [b":".as_slice(), path.as_bytes()].concat();
            let mut command = self.command();
            command.args(["cat-file", "--filters"]).arg(RepoPath::new(spec).to_os());
            // A file that is not in the index yet, or in an encoding that git cannot read.
            let written = run(&mut command, None).ok();
            if written.is_none_or(|written| written != disk) {
                found.push(LocalFile { path, cause: LocalCause::Converted });
            }
        }
        Ok(found)
    }

    fn conversions<'p>(
        &self,
        root: &Path,
        attributes: impl Iterator<Item = &'p RepoPath>,
    ) -> Result<Conversions, GitError> {
        let mut found = Conversions::default();
        let attributes: Vec<&RepoPath> = attributes.collect();
        for file in self.attribute_files(root, &folders_above(attributes)) {
            let Ok(text) = regular_file::read_text(&file) else { continue };
            let is_committed = file.starts_with(root) && !file.starts_with(self.common_dir());
            found.read(&text, is_committed);
        }
        let config = self.config_entries()?;
        let set = |key: &str| last(&config, key).filter(|entry| parse_flag(&entry.value) != Some(false));
        found.local |= set("attr.tree").is_some();
        found.setting = set("core.autocrlf").is_some();
        Ok(found)
    }

    /// Returns the paths that differ from the default branch of a remote; without one, those that differ from `HEAD`.
    fn changed_paths(&self, status: &WorkingTreeStatus) -> Result<BTreeSet<RepoPath>, GitError> {
        let mut paths: BTreeSet<RepoPath> = status.paths.iter().map(|one| one.path.clone()).collect();
        let (Some(head), Some(main)) = (self.head()?.commit, self.default_commit()?) else { return Ok(paths) };
        let Some(base) = self.merge_base(&main, &head)? else { return Ok(paths) };
        if let Some(TreeDiff::Changes(changes)) =
            self.diff_trees(&[(self.tree_of(&base)?, self.tree_of(&head)?)])?.pop()
        {
            paths.extend(changes.into_iter().filter(|change| change.after.is_some()).map(|change| change.path));
        }
        Ok(paths)
    }
}

impl Conversions {
    fn read(&mut self, text: &str, is_committed: bool) {
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            for attribute in line.split_whitespace().skip(1) {
                let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
                if !CONVERTING.contains(&name) {
                    continue;
                }
                self.crlf |= (name, value) == ("eol", "crlf");
                self.rewriting |= REWRITING.contains(&name);
                if is_committed {
                    self.committed = true;
                } else {
                    self.local = true;
                }
            }
        }
    }
}

/// Reads a line of `git ls-files --eol`, and returns its file if a checkout elsewhere writes other bytes.
fn converted(line: &[u8], conversions: &Conversions) -> Option<LocalFile> {
    let tab = memchr::memchr(b'\t', line)?;
    let words = String::from_utf8_lossy(&line[..tab]).into_owned();
    let (state, attributes) = words.split_once("attr/")?;
    let mut sides = state.split_whitespace();
    let index = sides.next()?.strip_prefix("i/")?;
    let disk = sides.next()?.strip_prefix("w/")?;
    let path = RepoPath::new(&line[tab + 1..]);
    if disk.is_empty() {
        return None;
    }
    if conversions.local && !index.is_empty() && index != disk {
        return Some(LocalFile { path, cause: LocalCause::Filtered });
    }
    let has = |attribute: &str| attributes.split_whitespace().any(|word| word == attribute);
    let is_text = has("text") || has("text=auto") || has("eol=lf") || has("eol=crlf") || conversions.setting;
    let is_lf_in_git = index.is_empty() || index == "lf";
    let is_other = match disk {
        "lf" | "mixed" if has("eol=crlf") => true,
        "crlf" | "mixed" => !has("eol=crlf"),
        _ => false,
    };
    let is_found = is_text && !has("-text") && is_lf_in_git && is_other;
    is_found.then_some(LocalFile { path, cause: LocalCause::Converted })
}

/// Returns `true` for documents, and for scripts that only Windows runs: no test depends on their line endings here.
fn is_read_elsewhere(path: &RepoPath) -> bool {
    [".md", ".rst", ".adoc", ".bat", ".cmd"].iter().any(|ending| path.as_bytes().ends_with(ending.as_bytes()))
}

/// Returns the pathspec of one file.
fn literal(path: &RepoPath) -> Vec<u8> {
    [b":(top,literal)", path.as_bytes()].concat()
}

/// Returns the links of the index that are plain files on disk, where `core.symlinks` lets git take the one for the
/// other although the file system has links.
pub(super) fn links_as_files(root: &Path, config: &[ConfigEntry], links: &[RepoPath]) -> Vec<LocalFile> {
    let off = last(config, "core.symlinks").is_some_and(|entry| parse_flag(&entry.value) == Some(false));
    if !off || !tells_modes_apart(root) {
        return Vec::new();
    }
    let is_file = |path: &&RepoPath| fs::symlink_metadata(root.join(path.to_os())).is_ok_and(|meta| meta.is_file());
    links.iter().filter(is_file).map(|path| LocalFile { path: path.clone(), cause: LocalCause::Unlinked }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use LocalCause::{Converted, Filtered};

    #[test]
    fn a_file_is_named_if_a_checkout_writes_other_bytes() {
        let committed = |text: &str| {
            let mut conversions = Conversions::default();
            conversions.read(text, true);
            conversions
        };
        let local = |text: &str| {
            let mut conversions = Conversions::default();
            conversions.read(text, false);
            conversions
        };
        let setting = Conversions { setting: true, ..Conversions::default() };
        for (conversions, line, expected) in [
            (committed("*.sh text eol=crlf"), "i/lf    w/lf    attr/text eol=crlf      \tt.sh", Some(Converted)),
            (committed("*.sh text eol=crlf"), "i/lf    w/crlf  attr/text eol=crlf      \tt.sh", None),
            (committed("*.sh text eol=crlf"), "i/crlf  w/crlf  attr/-text              \tt.sh", None),
            (committed("* text=auto"), "i/lf    w/crlf  attr/text=auto          \tt.sh", Some(Converted)),
            (committed("* text=auto"), "i/lf    w/mixed attr/text=auto          \tt.sh", Some(Converted)),
            (committed("* text=auto"), "i/      w/crlf  attr/text=auto          \tt.sh", Some(Converted)),
            (committed("* text=auto"), "i/lf    w/lf    attr/text=auto          \tt.sh", None),
            (committed("* text=auto"), "i/crlf  w/crlf  attr/text=auto          \tt.sh", None),
            (committed("*.c text"), "i/lf    w/crlf  attr/                   \tt.sh", None),
            (committed("* text=auto"), "i/-text w/-text attr/text=auto          \tt.png", None),
            (committed("* text=auto"), "i/lf    w/      attr/text=auto          \tgone.sh", None),
            (local("*.sh eol=crlf"), "i/lf    w/crlf  attr/eol=crlf           \tt.sh", Some(Filtered)),
            (local("*.sh eol=crlf"), "i/lf    w/lf    attr/text eol=lf        \tt.sh", None),
            (local("# * eol=crlf"), "i/lf    w/lf    attr/                   \tt.sh", None),
            (setting, "i/lf    w/crlf  attr/                   \tt.sh", Some(Converted)),
        ] {
            let found = converted(line.as_bytes(), &conversions).map(|file| file.cause);
            assert_eq!(found, expected, "{line}");
        }
    }
}
