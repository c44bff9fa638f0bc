//! The changed lines of a few files of a commit, read in process: often they settle what a patch of all files would, for
//! a small part of what that costs.

use std::{fs, io};

use git2::{Blob, DiffOptions, Patch, Repository, Tree};

use super::Repo;
use super::attributes::folders_above;
use crate::commit::change::{Commit, FileChange, Status};
use crate::commit::texture::{Reader, Texture};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The largest file that is read, in bytes.
const LARGEST: usize = 1 << 18;
/// Where git looks for the byte that makes a file binary.
const BINARY_WITHIN: usize = 8_000;
/// How many files of a commit are read one by one: those of more are left to git.
const MOST_FILES: usize = 32;

/// Why a file is left to git: it is too large, or no file, or not here.
struct NotRead;

impl Repo {
    /// Fills in the textures of those files of a commit that are at `paths`, as far as they are small texts that can be
    /// read without git's command line. Whether there was one.
    pub fn look_at(&self, commit: &mut Commit, paths: &[RepoPath]) -> bool {
        let seen = self.library(|library| {
            let Some(trees) = Trees::of(library, commit)? else { return Ok(false) };
            let mut seen = false;
            for file in commit.files.iter_mut().filter(|file| paths.contains(&file.path)) {
                file.texture = trees.texture(file).unwrap_or_default();
                seen |= file.texture.is_some();
            }
            Ok(seen)
        });
        seen.unwrap_or(false)
    }

    /// Fills in the textures of all files of a commit, where they are few, small, and not declared by attributes to be
    /// anything but text. Whether it could; else nothing is filled in, and git has to be asked.
    pub fn look_through(&self, commit: &mut Commit) -> bool {
        if commit.files.len() > MOST_FILES || self.declares_differences(commit) {
            return false;
        }
        let seen = self.library(|library| {
            let Some(trees) = Trees::of(library, commit)? else { return Ok(None) };
            Ok(commit.files.iter().map(|file| trees.texture(file)).collect::<Result<Vec<_>, NotRead>>().ok())
        });
        let Some(textures) = seen.flatten() else { return false };
        for (file, texture) in commit.files.iter_mut().zip(textures) {
            file.texture = texture;
        }
        commit.looked_into = true;
        true
    }

    /// Whether attributes may say of a file how it differs. Git takes those of the working tree.
    fn declares_differences(&self, commit: &Commit) -> bool {
        let Some(root) = self.root() else { return true };
        let folders = folders_above(commit.files.iter().map(|file| &file.path));
        self.attribute_files(root, &folders).into_iter().any(|file| match fs::read(file) {
            Ok(text) => ["diff", "binary"].iter().any(|word| memchr::memmem::find(&text, word.as_bytes()).is_some()),
            Err(error) => error.kind() != io::ErrorKind::NotFound && error.kind() != io::ErrorKind::NotADirectory,
        })
    }
}

/// The trees before and after a commit.
struct Trees<'r> {
    library: &'r Repository,
    before: Option<Tree<'r>>,
    after: Tree<'r>,
}

impl<'r> Trees<'r> {
    /// Those of a commit that is made and no merge.
    fn of(library: &'r Repository, commit: &Commit) -> Result<Option<Self>, git2::Error> {
        let (Some(id), [] | [_]) = (&commit.id, commit.parents.as_slice()) else { return Ok(None) };
        let tree = |id: &Oid| library.find_commit(git2::Oid::from_str(id.as_str())?)?.tree();
        Ok(Some(Self { library, before: commit.parents.first().map(tree).transpose()?, after: tree(id)? }))
    }

    /// A file; `None` where it is binary.
    fn file(&self, tree: Option<&Tree<'_>>, path: &RepoPath) -> Result<Option<Blob<'r>>, NotRead> {
        let entry = tree.ok_or(NotRead)?.get_path(&path.to_os()).map_err(|_| NotRead)?;
        let blob = self.library.find_blob(entry.id()).map_err(|_| NotRead)?;
        let bytes = blob.content();
        if bytes.len() > LARGEST {
            return Err(NotRead);
        }
        let is_text = memchr::memchr(0, &bytes[..bytes.len().min(BINARY_WITHIN)]).is_none();
        Ok(is_text.then_some(blob))
    }

    /// What the changed lines of a file are like; `None` where it has none.
    fn texture(&self, file: &FileChange) -> Result<Option<Texture>, NotRead> {
        let before = |path| self.file(self.before.as_ref(), path);
        let after = || self.file(Some(&self.after), &file.path);
        let (old, new) = match file.status {
            Status::Added => (after()?, None),
            Status::Deleted => (before(&file.path)?, None),
            Status::Modified | Status::Renamed(_) | Status::Copied(_) => {
                (before(file.from.as_ref().unwrap_or(&file.path))?, Some(after()?))
            }
            Status::TypeChanged => return Err(NotRead),
        };
        let (old, new) = match (&old, &new) {
            (Some(old), Some(Some(new))) => between_equal_ends(old.content(), new.content()),
            // All lines of the one that is there.
            (Some(one), None) => (one.content(), &b""[..]),
            _ => return Ok(None),
        };
        let mut options = DiffOptions::new();
        options.context_lines(0).interhunk_lines(0).indent_heuristic(true);
        // As buffers: for two objects git2 would look for attributes, and read the whole index for that.
        let patch = Patch::from_buffers(old, None, new, None, Some(&mut options)).map_err(|_| NotRead)?;
        let mut reader = Reader::new(&file.path);
        let mut line = Vec::new();
        for hunk in 0..patch.num_hunks() {
            reader.line(b"@@");
            for at in 0..patch.num_lines_in_hunk(hunk).map_err(|_| NotRead)? {
                let read = patch.line_in_hunk(hunk, at).map_err(|_| NotRead)?;
                let sign = match (read.origin(), file.status) {
                    ('-', Status::Added) | ('+', _) => b'+',
                    ('-', _) => b'-',
                    _ => continue,
                };
                line.clear();
                line.push(sign);
                line.extend_from_slice(read.content().strip_suffix(b"\n").unwrap_or(read.content()));
                reader.line(&line);
            }
        }
        let texture = reader.finish();
        Ok((texture.lines() > 0).then_some(texture))
    }
}

/// Two texts without the lines that they begin and end with alike: to take in a line costs more than to compare it.
fn between_equal_ends<'t>(old: &'t [u8], new: &'t [u8]) -> (&'t [u8], &'t [u8]) {
    let same = equal(old.chunks_exact(CHUNK).zip(new.chunks_exact(CHUNK)), old.iter().zip(new));
    let start = memchr::memrchr(b'\n', &old[..same]).map_or(0, |at| at + 1);
    let (old, new) = (&old[start..], &new[start..]);
    let same = equal(old.rchunks_exact(CHUNK).zip(new.rchunks_exact(CHUNK)), old.iter().rev().zip(new.iter().rev()));
    // What is alike begins behind a line end; that of the line before belongs to neither.
    let tail = &old[old.len() - same..];
    let end = memchr::memchr(b'\n', tail).map_or(0, |at| tail.len() - at - 1);
    (&old[..old.len() - end], &new[..new.len() - end])
}

/// How many bytes are compared at once.
const CHUNK: usize = 256;

/// How many bytes are equal from the side that the iterators come from.
fn equal<'t>(
    chunks: impl Iterator<Item = (&'t [u8], &'t [u8])>,
    bytes: impl Iterator<Item = (&'t u8, &'t u8)>,
) -> usize {
    let whole = CHUNK * chunks.take_while(|(a, b)| a == b).count();
    whole + bytes.skip(whole).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ends_are_left_out_by_lines() {
        let long = |line: &str| format!("{0}{line}\n{0}", "a line of many\n".repeat(100));
        for (old, new, expected) in [
            ("a\nb\nc\n", "a\nx\nc\n", ("b\n", "x\n")),
            ("a\nb\n", "a\nb\nc\n", ("", "c\n")),
            ("a\nbc", "a\nbd", ("bc", "bd")),
            ("one\nab\nz\n", "one\nb\nz\n", ("ab\n", "b\n")),
            ("a\na\n", "a\na\na\n", ("", "a\n")),
            ("", "a", ("", "a")),
            (&long("x"), &long("y"), ("x\n", "y\n")),
            ("same\n", "same\n", ("", "")),
            ("x\nend", "y\nend", ("x\n", "y\n")),
        ] {
            let (old_rest, new_rest) = between_equal_ends(old.as_bytes(), new.as_bytes());
            assert_eq!((old_rest, new_rest), (expected.0.as_bytes(), expected.1.as_bytes()), "{old:?} {new:?}");
        }
    }
}
