//! The changed lines of files of a commit, read in process. The lines of a few files usually answer the question that a
//! patch of all files would, for a small part of its cost.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::{fs, io};

use git2::{AttrCheckFlags, AttrValue, Blob, DiffOptions, Patch, Repository};
use imara_diff::{Algorithm, Diff, InternedInput, Token};

use super::Repo;
use super::attribute_files::folders_above;
use super::changed_blobs::Blobs;
use crate::commit::change::{Commit, FileChange, PathStatus};
use crate::commit::change_class::{PatchReader, Texture};
use crate::repo_path::RepoPath;

/// The largest file that is read, in bytes.
const MAX_BYTES: usize = 1 << 18;
/// The number of bytes in which git looks for the byte that makes a file binary.
const BINARY_WITHIN: usize = 8_000;
/// The largest number of lines, on both sides together, that are compared without git's library.
const MAX_LINES: usize = 16_384;
/// The largest number of files that are read at once while nothing else is done. Git reads larger numbers.
const MAX_FILES: usize = 64;

/// The mark of a file that is left to git: it is too large, not a file, or not here.
struct NotRead;

/// Reads files of commits in parallel to other readers, with a library of its own that is opened when it is needed.
pub struct Glance<'r> {
    repo: &'r Repo,
    library: OnceCell<Option<Repository>>,
}

impl Glance<'_> {
    /// Fills in the textures of the files of a commit at `places` that are small texts and can be read without git's
    /// command line. Returns their number.
    ///
    /// If lines occur more than once, the changed ones may be others than git shows.
    pub fn look_at(&self, commit: &mut Commit, blobs: &Blobs, places: &[usize]) -> usize {
        let Some(library) = self.library.get_or_init(|| self.repo.another_library()) else { return 0 };
        let mut read = 0;
        for &at in places {
            let Some(file) = commit.files.get_mut(at) else { continue };
            if let Ok(texture) = texture(library, file, blobs.of(at), changed_lines) {
                file.texture = texture;
                read += 1;
            }
        }
        read
    }

    /// Returns `true` if attributes may define for a file at `places` how it differs. This reader ignores attributes.
    pub fn is_overruled(&self, commit: &Commit, places: &[usize]) -> bool {
        self.repo.declares_differences(commit, places)
    }
}

impl Repo {
    /// Looks at files in process.
    pub fn glance(&self) -> Glance<'_> {
        Glance { repo: self, library: OnceCell::new() }
    }

    /// Fills in the textures of the files of a commit at `places` if they are few, small, and not declared by
    /// attributes to be anything but text. Returns `false` if it could not; then nothing is filled in, and git has to
    /// read them.
    pub fn look_through(&self, commit: &mut Commit, blobs: &Blobs, places: &[usize]) -> bool {
        if places.is_empty() {
            return true;
        }
        if places.len() > MAX_FILES || self.declares_differences(commit, places) {
            return false;
        }
        let textures = self.library(|library| {
            let files = places.iter().filter_map(|&at| Some((at, commit.files.get(at)?)));
            let read = files.map(|(at, file)| Ok((at, texture(library, file, blobs.of(at), gits_changed_lines)?)));
            Ok(read.collect::<Result<Vec<_>, NotRead>>().ok())
        });
        let Some(textures) = textures.flatten() else { return false };
        for (at, texture) in textures {
            commit.files[at].texture = texture;
        }
        true
    }

    /// Returns `true` if attributes may define for a file how it differs. Git takes the attributes of the working tree,
    /// and of the index if they are not checked out.
    fn declares_differences(&self, commit: &Commit, places: &[usize]) -> bool {
        let Some(root) = self.root() else { return true };
        if self.library(|library| library.config()?.get_bool("core.sparseCheckout")) == Some(true) {
            return true;
        }
        let paths: Vec<&RepoPath> = places.iter().filter_map(|&at| Some(&commit.files.get(at)?.path)).collect();
        let mut named = self.attribute_files(root, &folders_above(paths.iter().copied()));
        named.retain(|file| names_differences(file));
        // Their patterns may mean other files. Which files outside of the repository count, only git knows.
        let known = |file: &PathBuf| file.starts_with(root) || file.starts_with(self.common_dir());
        !named.is_empty()
            && (!named.iter().all(known) || self.library(|library| declared(library, &paths)) != Some(false))
    }
}

/// Returns `true` if an attribute file may say how files differ.
fn names_differences(file: &Path) -> bool {
    match fs::read(file) {
        Ok(text) => ["diff", "binary"].iter().any(|word| memchr::memmem::find(&text, word.as_bytes()).is_some()),
        Err(error) => error.kind() != io::ErrorKind::NotFound && error.kind() != io::ErrorKind::NotADirectory,
    }
}

/// Returns `true` if attributes say how one of the files differs.
fn declared(library: &Repository, paths: &[&RepoPath]) -> Result<bool, git2::Error> {
    for path in paths {
        let value = library.get_attr_bytes(&path.to_os(), "diff", AttrCheckFlags::FILE_THEN_INDEX)?;
        if AttrValue::from_bytes(value) != AttrValue::Unspecified {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns a text; `None` if it is binary.
fn text(library: &Repository, id: git2::Oid) -> Result<Option<Blob<'_>>, NotRead> {
    let blob = library.find_blob(id).map_err(|_| NotRead)?;
    let bytes = blob.content();
    if bytes.len() > MAX_BYTES {
        return Err(NotRead);
    }
    let is_text = memchr::memchr(0, &bytes[..bytes.len().min(BINARY_WITHIN)]).is_none();
    Ok(is_text.then_some(blob))
}

/// Returns the texture of the changed lines of a file, as `lines` finds them; `None` if it has none.
fn texture(
    library: &Repository,
    file: &FileChange,
    blobs: Option<[git2::Oid; 2]>,
    lines: ChangedLines,
) -> Result<Option<Texture>, NotRead> {
    let [before, after] = blobs.ok_or(NotRead)?;
    let (old, new) = match file.status {
        PathStatus::Added => (None, Some(text(library, after)?)),
        PathStatus::Deleted => (Some(text(library, before)?), None),
        PathStatus::Modified | PathStatus::Renamed(_) | PathStatus::Copied(_) => {
            (Some(text(library, before)?), Some(text(library, after)?))
        }
        PathStatus::TypeChanged => return Err(NotRead),
    };
    let mut reader = PatchReader::new(&file.path);
    match (&old, &new) {
        // Nothing changes in a binary file that has lines.
        (Some(None), _) | (_, Some(None)) => return Ok(None),
        (Some(Some(old)), Some(Some(new))) => {
            let (old, new) = between_equal_ends(old.content(), new.content());
            if !lines(old, new, &mut reader) {
                return Err(NotRead);
            }
        }
        // All lines of the one that is there.
        (old, new) => {
            for (sign, blob) in [(b'-', old), (b'+', new)] {
                let text = blob.iter().flatten().flat_map(|blob| blob.content().split_inclusive(|&b| b == b'\n'));
                text.for_each(|line| reader.line_of(sign, line));
            }
        }
    }
    let texture = reader.finish();
    Ok((texture.lines() > 0).then_some(texture))
}

/// Hands the lines that differ between two texts to a reader. Whether it could.
type ChangedLines = fn(&[u8], &[u8], &mut PatchReader) -> bool;

/// Finds the changed lines as git does.
fn gits_changed_lines(old: &[u8], new: &[u8], reader: &mut PatchReader) -> bool {
    let mut options = DiffOptions::new();
    options.context_lines(0).interhunk_lines(0).indent_heuristic(true);
    // As buffers: for two objects git2 would look for attributes, and read the whole index for that.
    let Ok(patch) = Patch::from_buffers(old, None, new, None, Some(&mut options)) else { return false };
    (0..patch.num_hunks()).all(|hunk| {
        reader.end_run();
        let Ok(count) = patch.num_lines_in_hunk(hunk) else { return false };
        (0..count).all(|at| {
            let Ok(line) = patch.line_in_hunk(hunk, at) else { return false };
            match line.origin() {
                '+' => reader.line_of(b'+', line.content()),
                '-' => reader.line_of(b'-', line.content()),
                _ => {}
            }
            true
        })
    })
}

/// Finds nearly the same lines as git, in a third of the time: git's library digests all that it compares. For many
/// lines git's library is faster, because it knows when to give up.
fn changed_lines(old: &[u8], new: &[u8], reader: &mut PatchReader) -> bool {
    let lines = |text| memchr::memchr_iter(b'\n', text).take(MAX_LINES).count();
    if lines(old) + lines(new) >= MAX_LINES {
        return gits_changed_lines(old, new, reader);
    }
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let text = |tokens: &[Token], at: u32| input.interner[tokens[at as usize]];
    for hunk in diff.hunks() {
        reader.end_run();
        hunk.before.for_each(|at| reader.line_of(b'-', text(&input.before, at)));
        hunk.after.for_each(|at| reader.line_of(b'+', text(&input.after, at)));
    }
    true
}

/// Returns two texts without their equal first and last lines: reading a line costs more than comparing it.
fn between_equal_ends<'t>(old: &'t [u8], new: &'t [u8]) -> (&'t [u8], &'t [u8]) {
    let same = equal(old, new, |text, from, to| &text[from..to]);
    let start = memchr::memrchr(b'\n', &old[..same]).map_or(0, |at| at + 1);
    let (old, new) = (&old[start..], &new[start..]);
    let same = equal(old, new, |text, from, to| &text[text.len() - to..text.len() - from]);
    // What is alike begins behind a line end; that of the line before belongs to neither.
    let tail = &old[old.len() - same..];
    let end = memchr::memchr(b'\n', tail).map_or(0, |at| tail.len() - at - 1);
    (&old[..old.len() - end], &new[..new.len() - end])
}

/// Returns the number of equal bytes, counted from the side that `part` begins at.
fn equal(old: &[u8], new: &[u8], part: fn(&[u8], usize, usize) -> &[u8]) -> usize {
    let most = old.len().min(new.len());
    let mut same = 0;
    for step in [512, 64, 8, 1] {
        while same + step <= most && part(old, same, same + step) == part(new, same, same + step) {
            same += step;
        }
    }
    same
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
