//! Notes: text for objects, in a ref of its own. It does not change the objects, and git does not push it by default.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::time::Duration;

use super::command::{io_error, run};
use super::publish_snapshot::IDENTITY;
use super::refs_and_objects::next_blob;
use super::remote::run_within;
use super::{GitError, ObjectKind, Repo};
use crate::oid::Oid;

/// The time in which a remote must send or take notes.
const REMOTE_TIMEOUT: Duration = Duration::from_mins(2);
/// The largest depth of the folders that git sorts notes into, if there are very many.
pub(super) const MAX_DEPTH: usize = 4;
/// The largest number of bytes that are read at once.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// The number of attempts to push while others push too.
const TRIES: usize = 5;

/// The result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// The remote's notes, which continue the known ones.
    Notes,
    /// The remote's notes, which do not hold all that was known before.
    Rewritten,
    /// The remote has no such notes.
    Nothing,
}

/// The notes on some objects.
#[derive(Clone, Debug, Default)]
pub struct NotesRead {
    /// Each with its object.
    pub contents: Vec<(Oid, Vec<u8>)>,
    /// What was not read, and why.
    pub left_out: Vec<String>,
}

/// A credential for a fetch by HTTP. Git gets it in its environment, so that no list of processes shows it.
pub struct Credential {
    /// The only place where it is used: `https://host/`.
    pub to: String,
    /// The value of the header `Authorization`.
    pub authorization: String,
}

impl Repo {
    /// Returns the ref for the notes of a remote. It is separate from the local ones and never overwrites them.
    pub fn notes_of(remote: &str) -> String {
        let plain: String = remote.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        format!("refs/gate/notes/{plain}")
    }

    /// The notes on `objects` in the ref `reference`, or in that commit of one, those of `most` bytes or fewer; what is left
    /// out is named. Two calls of git, however many objects there are.
    pub fn notes(&self, reference: &str, objects: &[Oid], most: usize) -> Result<NotesRead, GitError> {
        let mut read = NotesRead::default();
        let commit = if let Ok(commit) = reference.parse() { Some(commit) } else { self.reference(reference)? };
        let Some(commit) = commit else { return Ok(read) };
        if self.object_kind(&commit)? != Some(ObjectKind::Commit) {
            read.left_out.push(format!("{reference} is not a ref of notes: it does not name a commit"));
            return Ok(read);
        }
        let mut names = String::new();
        let mut asked = Vec::new();
        for object in objects {
            for depth in 0..MAX_DEPTH {
                let _ = writeln!(names, "{commit}:{}", sorted_into(object, depth));
                asked.push(object);
            }
        }
        if asked.is_empty() {
            return Ok(read);
        }
        let form = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
        let printed = self.git_with(["cat-file", form], names.as_bytes())?;
        let mut all = 0;
        let mut blobs: Vec<(&Oid, Oid)> = Vec::new();
        for (object, line) in asked.into_iter().zip(String::from_utf8_lossy(&printed).lines()) {
            let words: Vec<&str> = line.split(' ').collect();
            let [blob, "blob", size] = words[..] else { continue };
            let (Ok(blob), Ok(size)) = (blob.parse(), size.parse::<usize>()) else { continue };
            if size > most {
                read.left_out.push(format!("the note on {} in {reference} has more than {most} bytes", object.short()));
            } else if all + size > MAX_BYTES {
                read.left_out.push(format!("the notes in {reference} have more than {MAX_BYTES} bytes in all"));
                break;
            } else {
                all += size;
                blobs.push((object, blob));
            }
        }
        if blobs.is_empty() {
            if read.left_out.is_empty() && !self.holds_notes(&commit)? {
                read.left_out.push(format!("{reference} is not a ref of notes: its files are not named by objects"));
            }
            return Ok(read);
        }
        let names: Vec<&str> = blobs.iter().map(|(_, blob)| blob.as_str()).collect();
        let printed = self.git_with(["cat-file", "--batch"], (names.join("\n") + "\n").as_bytes())?;
        let mut rest = printed.as_slice();
        let contents = blobs.into_iter().map(|(object, _)| Some((object.clone(), next_blob(&mut rest)?)));
        read.contents = contents.flatten().collect();
        Ok(read)
    }

    /// Whether the tree of a commit can be one of notes: what is in it is named by the digits of an id.
    fn holds_notes(&self, commit: &Oid) -> Result<bool, GitError> {
        let printed = self.git(["ls-tree", "--name-only", "-z", commit.as_str()])?;
        let mut names = printed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).peekable();
        Ok(names.peek().is_none() || names.any(|name| name.len() >= 2 && name.iter().all(u8::is_ascii_hexdigit)))
    }

    /// Adds `lines` to the note on `object`, each once. `most` is the largest size of a note, in bytes: a larger one is
    /// begun anew.
    pub fn add_to_note(&self, reference: &str, object: &Oid, lines: &[String], most: usize) -> Result<(), GitError> {
        let _alone = self.lock_notes()?;
        let there = self.notes(reference, std::slice::from_ref(object), most)?.contents;
        let there = there.into_iter().map(|(_, text)| String::from_utf8_lossy(&text).into_owned()).collect::<String>();
        let mut all: BTreeSet<&str> = there.lines().collect();
        all.extend(lines.iter().map(String::as_str));
        if all.iter().map(|line| line.len() + 1).sum::<usize>() > most {
            all = lines.iter().map(String::as_str).collect();
        }
        let text = all.into_iter().collect::<Vec<_>>().join("\n") + "\n";
        let mut command = self.command();
        command.envs(IDENTITY).args(["notes", "--ref", reference, "add", "-f", "-F", "-", object.as_str()]);
        run(&mut command, Some(text.as_bytes())).map(drop)
    }

    /// Locks the notes while they are read and written again, since git protects only its own part of that.
    fn lock_notes(&self) -> Result<File, GitError> {
        let path = self.gate_dir().join("notes.lock");
        fs::create_dir_all(self.gate_dir()).map_err(io_error("create", self.gate_dir()))?;
        let file = File::create(&path).map_err(io_error("create", &path))?;
        file.lock().map_err(io_error("lock", &path))?;
        Ok(file)
    }

    /// Fetches the notes `reference` of a remote, by its name or URL, to where [`Repo::notes_of`] says. The words of the
    /// error are git's.
    pub fn fetch_notes(
        &self,
        remote: &str,
        reference: &str,
        credential: Option<&Credential>,
    ) -> Result<Fetched, String> {
        let there = Self::notes_of(remote);
        let before = self.reference(&there).map_err(|error| error.to_string())?;
        let mut command = self.command();
        if let Some(Credential { to, authorization }) = credential {
            command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", format!("http.{to}.extraHeader"));
            command.env("GIT_CONFIG_VALUE_0", format!("Authorization: {authorization}"));
        }
        command.args(["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc"]);
        command.args(["--", remote, &format!("+{reference}:{there}")]);
        match run_within(&mut command, REMOTE_TIMEOUT) {
            Ok(_) => {}
            Err(said) if said.contains("couldn't find remote ref") => return Ok(Fetched::Nothing),
            Err(said) => return Err(said),
        }
        let after = self.reference(&there).map_err(|error| error.to_string())?;
        Ok(match (before, after) {
            (Some(before), Some(after)) if !self.is_ancestor(&before, &after).unwrap_or(false) => Fetched::Rewritten,
            _ => Fetched::Notes,
        })
    }

    /// Pushes the notes `reference` to a remote, together with the lines that others have pushed there meanwhile.
    /// `Ok(false)`: there are none here. No hook runs. The words of the error are git's.
    pub fn push_notes(&self, remote: &str, reference: &str) -> Result<bool, String> {
        let text = |error: GitError| error.to_string();
        let mut refused = String::new();
        for _ in 0..TRIES {
            if self.fetch_notes(remote, reference, None)? != Fetched::Nothing {
                self.merge_notes(reference, &Self::notes_of(remote)).map_err(text)?;
            }
            if self.reference(reference).map_err(text)?.is_none() {
                return Ok(false);
            }
            let mut command = self.command();
            command.args([
                "-c",
                "advice.pushUpdateRejected=false",
                "push",
                "-q",
                "--no-verify",
                "--",
                remote,
                &format!("{reference}:{reference}"),
            ]);
            match run_within(&mut command, REMOTE_TIMEOUT) {
                Ok(_) => return Ok(true),
                // Somebody else was faster, as far as git's last line tells; otherwise trying again changes nothing.
                Err(said) => refused = said,
            }
        }
        Err(refused)
    }

    /// Merges the lines of `other` into `reference`: each line once, whoever wrote it.
    fn merge_notes(&self, reference: &str, other: &str) -> Result<(), GitError> {
        let _alone = self.lock_notes()?;
        let mut command = self.command();
        command.envs(IDENTITY).args(["notes", "--ref", reference, "merge", "-q", "-s", "cat_sort_uniq", other]);
        run(&mut command, None).map(drop)
    }
}

/// Returns the path of the note on `object` below `depth` folders of two digits.
pub(super) fn sorted_into(object: &Oid, depth: usize) -> String {
    let digits = object.as_str();
    let mut path = String::with_capacity(digits.len() + depth);
    for at in 0..depth {
        path.push_str(&digits[2 * at..2 * at + 2]);
        path.push('/');
    }
    path.push_str(&digits[2 * depth..]);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_sorted_into_folders() {
        let object: Oid = "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().unwrap();
        assert_eq!(sorted_into(&object, 0), object.as_str());
        assert_eq!(sorted_into(&object, 2), "4b/82/5dc642cb6eb9a060e54bf8d69288fbee4904");
    }

    #[test]
    fn a_remote_is_a_name_or_a_place() {
        assert_eq!(Repo::notes_of("origin"), "refs/gate/notes/origin");
        assert_eq!(Repo::notes_of("https://host/o/r..git"), "refs/gate/notes/https---host-o-r--git");
    }
}
