//! The changed lines of a few files of a commit, read in process: often they settle what a patch of all files would, for
//! a small part of what that costs.

use git2::{DiffOptions, Patch, Repository, Tree};

use super::Repo;
use crate::commit::change::{Commit, FileChange, Status};
use crate::commit::texture::{Reader, Texture};
use crate::repo_path::RepoPath;

/// The largest file that is read, in bytes.
const LARGEST: usize = 1 << 18;
/// Where git looks for the byte that makes a file binary.
const BINARY_WITHIN: usize = 8_000;

impl Repo {
    /// Fills in the textures of those files of a commit that are at `paths`, as far as they are small texts that can be
    /// read without git's command line. Whether there was one.
    pub fn look_at(&self, commit: &mut Commit, paths: &[RepoPath]) -> bool {
        let seen = self.library(|library| {
            let tree = |id: &str| library.find_commit(git2::Oid::from_str(id)?)?.tree();
            let Some(id) = &commit.id else { return Ok(false) };
            let after = tree(id.as_str())?;
            let before = commit.parents.first().map(|parent| tree(parent.as_str())).transpose()?;
            let mut seen = false;
            for file in commit.files.iter_mut().filter(|file| paths.contains(&file.path)) {
                file.texture = texture(library, before.as_ref(), &after, file);
                seen |= file.texture.is_some();
            }
            Ok(seen)
        });
        seen.unwrap_or(false)
    }
}

/// What the changed lines of a file are like; `None` where it cannot be told here.
fn texture(library: &Repository, before: Option<&Tree<'_>>, after: &Tree<'_>, file: &FileChange) -> Option<Texture> {
    let content = |tree: Option<&Tree<'_>>, path: &RepoPath| {
        let entry = tree?.get_path(&path.to_os()).ok()?;
        let blob = library.find_blob(entry.id()).ok()?;
        let bytes = blob.content();
        let is_text = bytes.len() <= LARGEST && memchr::memchr(0, &bytes[..bytes.len().min(BINARY_WITHIN)]).is_none();
        is_text.then(|| bytes.to_vec())
    };
    let (old, new) = match file.status {
        Status::Added => (Vec::new(), content(Some(after), &file.path)?),
        Status::Deleted => (content(before, &file.path)?, Vec::new()),
        Status::Modified | Status::Renamed(_) | Status::Copied(_) => {
            (content(before, file.from.as_ref().unwrap_or(&file.path))?, content(Some(after), &file.path)?)
        }
        Status::TypeChanged => return None,
    };
    let mut options = DiffOptions::new();
    options.context_lines(0).interhunk_lines(0).indent_heuristic(true);
    let patch = Patch::from_buffers(&old, None, &new, None, Some(&mut options)).ok()?;
    let mut reader = Reader::new(&file.path);
    let mut line = Vec::new();
    for hunk in 0..patch.num_hunks() {
        reader.line(b"@@");
        for at in 0..patch.num_lines_in_hunk(hunk).ok()? {
            let read = patch.line_in_hunk(hunk, at).ok()?;
            if let sign @ ('+' | '-') = read.origin() {
                line.clear();
                line.push(if sign == '+' { b'+' } else { b'-' });
                line.extend_from_slice(read.content().strip_suffix(b"\n").unwrap_or(read.content()));
                reader.line(&line);
            }
        }
    }
    let texture = reader.finish();
    (texture.lines() > 0).then_some(texture)
}
