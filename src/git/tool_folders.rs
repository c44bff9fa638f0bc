//! Folders that a tool made and fills: environments, installed packages, caches. They do not count as content.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;

use super::status::{WorkingTreeStatus, WorktreeSide};
use super::{GitError, Repo};
use crate::repo_path::RepoPath;
use crate::tool_folder::{ToolFolder, fits, shapes};

/// The largest number of untracked folders that are searched.
const MAX_FOLDERS: usize = 4096;
/// The file that stands for the git directory of a submodule or a linked working tree.
const GIT_FILE: &str = ".git";

impl Repo {
    /// Takes the untracked files in tool folders out of `status`, and returns the folders. A marker
    /// that an edit wrote does not count.
    pub(super) fn take_tool_folders(&self, status: &mut WorkingTreeStatus) -> Result<Vec<ToolFolder>, GitError> {
        let root = self.work_tree()?;
        let untracked = status.paths.iter().filter(|one| one.work == WorktreeSide::Untracked).map(|one| &one.path);
        let untracked: Vec<&RepoPath> = untracked.collect();
        let checkouts: Vec<ToolFolder> = untracked.iter().filter_map(|path| self.own_checkout(root, path)).collect();
        let mut found = find(root, &untracked, &[]);
        if found.is_empty() && checkouts.is_empty() {
            return Ok(found);
        }
        let edited = self.edited_markers();
        if found.iter().any(|folder| edited.contains(&folder.marker)) {
            found = find(root, &untracked, &edited);
        }
        found.extend(checkouts);
        let held = |folder: &ToolFolder| {
            status.paths.iter().any(|one| one.work != WorktreeSide::Untracked && folder.holds(&one.path))
        };
        found.retain(|folder| !held(folder));
        let tracked = self.index_view(|path| found.iter().any(|folder| folder.holds_bytes(path)))?;
        found.retain(|folder| !tracked.wanted.iter().any(|(path, _)| folder.holds(path)));
        status
            .paths
            .retain(|one| one.work != WorktreeSide::Untracked || !found.iter().any(|folder| folder.holds(&one.path)));
        Ok(found)
    }
}

impl Repo {
    /// Returns the folder of a repository that lies in this one, if git made it for this one: a submodule that another branch has, or
    /// a linked working tree. Git leaves the first behind when the branch is switched.
    fn own_checkout(&self, root: &Path, path: &RepoPath) -> Option<ToolFolder> {
        let place = root.join(path.to_os());
        let text = fs::read_to_string(place.join(GIT_FILE)).ok()?;
        let git_dir = place.join(text.strip_prefix("gitdir: ")?.trim_end()).canonicalize().ok()?;
        let own = self.common_dir().canonicalize().ok()?;
        let what = match git_dir.strip_prefix(own).ok()?.components().next()?.as_os_str().to_str()? {
            "modules" => "a submodule of another branch",
            "worktrees" => "another working tree of this repository",
            _ => return None,
        };
        let marker = RepoPath::new([path.as_bytes(), b"/", GIT_FILE.as_bytes()].concat());
        Some(ToolFolder { path: path.clone(), marker, what: what.to_owned(), link: false })
    }

    /// Returns the tool folders at the top of the working tree and above `paths` that hold no tracked file.
    pub(super) fn untracked_tool_folders(&self, paths: &[&RepoPath]) -> Result<Vec<ToolFolder>, GitError> {
        let root = self.work_tree()?;
        let distrusted = self.edited_markers();
        let mut found = find(root, paths, &distrusted);
        let top = names(root).into_iter().map(RepoPath::new);
        found.extend(
            top.filter(|folder| folder.as_bytes() != b".git")
                .filter_map(|folder| recognize(root, &folder, &distrusted)),
        );
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found.dedup_by(|one, other| one.path == other.path);
        if !found.is_empty() {
            let tracked = self.index_view(|path| found.iter().any(|folder| folder.holds_bytes(path)))?;
            found.retain(|folder| !tracked.wanted.iter().any(|(path, _)| folder.holds(path)));
        }
        Ok(found)
    }
}

/// Returns the tool folders above `untracked`, each the outermost one.
pub(super) fn find(root: &Path, untracked: &[&RepoPath], distrusted: &[RepoPath]) -> Vec<ToolFolder> {
    let mut known: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
    let mut found: Vec<ToolFolder> = Vec::new();
    for path in untracked {
        let bytes = path.as_bytes();
        let folders = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(at, _)| at);
        for at in folders.chain(may_be_link(bytes).then_some(bytes.len())) {
            let folder = &bytes[..at];
            if let Some(is_tool_folder) = known.get(folder) {
                if *is_tool_folder {
                    break;
                }
                continue;
            }
            if known.len() >= MAX_FOLDERS {
                return found;
            }
            let tool_folder = recognize(root, &RepoPath::new(folder), distrusted);
            known.insert(folder.to_vec(), tool_folder.is_some());
            if let Some(tool_folder) = tool_folder {
                found.push(tool_folder);
                break;
            }
        }
    }
    found
}

/// Returns `true` if an untracked path has the name of a folder, so that it may be a link to one.
fn may_be_link(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    !name.is_empty() && !name[1..].contains(&b'.')
}

/// Returns the folder, or a link to it, as a tool folder, if it is one.
fn recognize(root: &Path, folder: &RepoPath, distrusted: &[RepoPath]) -> Option<ToolFolder> {
    let place = root.join(folder.to_os());
    let link = fs::symlink_metadata(&place).ok()?.is_symlink();
    if !fs::metadata(&place).ok()?.is_dir() {
        return None;
    }
    let name = folder.as_bytes().rsplit(|&byte| byte == b'/').next()?;
    for shape in shapes().iter().filter(|shape| shape.name.as_deref().is_none_or(|glob| fits(glob, name))) {
        let Some(inner) = marker(&place, &shape.marker) else { continue };
        let marker = RepoPath::new([folder.as_bytes(), b"/", &inner[..]].concat());
        let begins = shape.begins.as_deref().is_none_or(|begins| begins_with(&root.join(marker.to_os()), begins));
        let only = shape.only.as_deref().is_none_or(|glob| holds_only(&place, glob));
        if begins && only && !distrusted.contains(&marker) {
            return Some(ToolFolder { path: folder.clone(), marker, what: shape.what.clone(), link });
        }
    }
    None
}

/// Returns the path, from the top of the folder, of the first file that `glob` names.
fn marker(place: &Path, glob: &str) -> Option<Vec<u8>> {
    let (first, rest) = glob.split_once('/').map_or((glob, None), |(first, rest)| (first, Some(rest)));
    let below = |name: &[u8]| -> Option<Vec<u8>> {
        let inner = place.join(RepoPath::new(name).to_os());
        let meta = fs::symlink_metadata(&inner).ok()?;
        match rest {
            None => meta.is_file().then(|| name.to_vec()),
            Some(rest) if meta.is_dir() => Some([name, b"/", &marker(&inner, rest)?[..]].concat()),
            Some(_) => None,
        }
    };
    if !first.contains('*') {
        return below(first.as_bytes());
    }
    names(place).iter().filter(|name| fits(first, name)).find_map(|name| below(name))
}

/// Returns the names in a folder, sorted.
fn names(place: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.map(|entry| RepoPath::from_os(&entry.file_name()).as_bytes().to_vec()).collect();
    names.sort();
    names
}

fn holds_only(place: &Path, glob: &str) -> bool {
    names(place).iter().all(|name| fits(glob, name))
}

fn begins_with(file: &Path, begins: &str) -> bool {
    let mut start = vec![0; begins.len()];
    fs::File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == begins.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_recognized_by_its_marker_and_by_nothing_less() {
        assert!(shapes().len() > 20, "the table is read");
        for shape in shapes() {
            let dir = tempfile::tempdir().unwrap();
            let name = shape.name.as_deref().unwrap_or("any").replace('*', "x");
            let folder = RepoPath::from(format!("sub/{name}").as_str());
            let marker = shape.marker.replace('*', "x");
            let file = dir.path().join("sub").join(&name).join(&marker);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            assert_eq!(recognize(dir.path(), &folder, &[]), None, "{name} without {marker}");
            std::fs::write(&file, shape.begins.as_deref().unwrap_or("")).unwrap();
            let found = recognize(dir.path(), &folder, &[]).unwrap_or_else(|| panic!("{name} with {marker}"));
            assert_eq!(found.path, folder);
            assert_eq!(recognize(dir.path(), &folder, &[found.marker]), None, "its marker is not trusted");
            if shape.name.is_some() {
                std::fs::rename(file.ancestors().nth(marker.split('/').count()).unwrap(), dir.path().join("other"))
                    .unwrap();
                assert_eq!(
                    recognize(dir.path(), &RepoPath::from("other"), &[]),
                    None,
                    "{marker} in a folder of another name"
                );
            }
        }
    }

    #[test]
    fn a_file_of_another_kind_among_bytecode_makes_it_an_ordinary_folder() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("__pycache__")).unwrap();
        std::fs::write(dir.path().join("__pycache__/a.cpython-312.pyc"), "").unwrap();
        let folder = RepoPath::from("__pycache__");
        assert!(recognize(dir.path(), &folder, &[]).is_some());
        std::fs::write(dir.path().join("__pycache__/x.py"), "").unwrap();
        assert_eq!(recognize(dir.path(), &folder, &[]), None);
    }
}
