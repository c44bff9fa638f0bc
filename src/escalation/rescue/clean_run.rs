//! Runs a command on a clean checkout, without the other files of this working tree.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::escalation::clean_checkout::Clean;
use crate::escalation::history::FailedRun;
use crate::event::Ended;
use crate::fact::output_patterns;
use crate::git::Repo;
use crate::oid::Oid;
use crate::redact::REDACTED;
use crate::run::{self, BoundedCommand, KeptOutput, Returned};

/// The maximum size of its output, in bytes.
const MAX_OUTPUT: u64 = 256 * 1024 * 1024;
/// The length of the end of the output that is read, in bytes.
const READ: u64 = 64 * 1024;
/// The length of the end that is searched for the lines of the failure, in bytes: as much as a recorded run keeps.
const TAIL: usize = 8 * 1024;

/// Runs the command of `failure` on a temporary checkout of `tree`, for at most `patience`. Returns its end and the
/// lines of its failure, or `Err` if it cannot be tried there or did not end.
pub(super) fn end(
    repo: &Repo,
    tree: &Oid,
    head: Option<&Oid>,
    failure: &FailedRun,
    patience: Duration,
) -> Result<(Ended, Vec<String>), Clean> {
    if failure.line.contains(REDACTED) {
        return Err(Clean::Impossible);
    }
    let folder = tempfile::Builder::new().prefix("gate-clean-").tempdir().map_err(|_| Clean::Impossible)?;
    let root = folder.path().join("checkout");
    repo.checkout_into(tree, head, &root).map_err(|_| Clean::Impossible)?;
    let output = folder.path().join("output");
    let line = match repo.root().and_then(|here| here.canonicalize().ok()) {
        Some(here) => moved(&failure.line, &here, &root).ok_or(Clean::Impossible)?,
        None => failure.line.clone(),
    };
    let ended = ran(&root.join(failure.dir.to_os()), &line, &output, patience)?;
    let mut said = run::clean_tail(&end_of(&output).ok_or(Clean::Impossible)?, TAIL);
    // A path says the same here and there.
    if let (Some(here), Ok(there)) = (repo.root(), root.canonicalize()) {
        for there in [&root, &there] {
            said = said.replace(&*there.to_string_lossy(), &here.to_string_lossy());
        }
    }
    Ok((ended, output_patterns::signature(&said)))
}

/// Returns `line` with its paths into `here` changed to the same place in `there`, since a command with the full path
/// of the working tree would not be tried on the checkout. Returns `None` if that cannot be written.
fn moved(line: &str, here: &Path, there: &Path) -> Option<String> {
    let there = there.to_str().filter(|path| !path.contains(|c: char| c.is_whitespace() || "'\"\\$`".contains(c)))?;
    // Also where blanks in the name keep it from being one word.
    let here_text = here.to_str()?;
    let mut whole = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(here_text) {
        let (before, after) = (&rest[..at], &rest[at + here_text.len()..]);
        let begins = before.chars().next_back().is_none_or(ends_a_word);
        let ends = after.chars().next().is_none_or(|c| c == '/' || ends_a_word(c));
        whole.push_str(before);
        whole.push_str(if begins && ends { there } else { here_text });
        rest = after;
    }
    whole.push_str(rest);
    let mut found = String::new();
    for piece in whole.split_inclusive(ends_a_word) {
        let word = piece.trim_end_matches(ends_a_word);
        match inside(word, here) {
            Some(inner) if inner.as_os_str().is_empty() => found.push_str(there),
            Some(inner) => {
                found.push_str(there);
                found.push('/');
                found.push_str(inner.to_str()?);
            }
            None => found.push_str(word),
        }
        found.push_str(&piece[word.len()..]);
    }
    Some(found)
}

fn ends_a_word(c: char) -> bool {
    c.is_whitespace() || "'\"`;&|()<>=:,".contains(c)
}

/// Expands a word to an absolute path as a shell does, follows links, and returns the path relative to `here`.
fn inside(word: &str, here: &Path) -> Option<PathBuf> {
    let of_home = ["~", "$HOME", "${HOME}"].into_iter().find_map(|home| word.strip_prefix(home));
    let path = match of_home {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            PathBuf::from(std::env::var_os("HOME")?).join(rest.trim_start_matches('/'))
        }
        _ if word.starts_with('/') => PathBuf::from(word),
        _ => return None,
    };
    let (known, real) = path.ancestors().find_map(|known| Some((known, known.canonicalize().ok()?)))?;
    let rest = path.strip_prefix(known).ok()?;
    let inner = real.strip_prefix(here).ok()?;
    let inner = if rest.as_os_str().is_empty() { inner.to_owned() } else { inner.join(rest) };
    Some(inner).filter(|inner| inner.components().all(|part| matches!(part, Component::Normal(_))))
}

fn ran(dir: &Path, line: &str, output: &Path, patience: Duration) -> Result<Ended, Clean> {
    let bounded = BoundedCommand::new(line, dir, output, patience, MAX_OUTPUT);
    match (BoundedCommand { errors: true, ..bounded }).run().map_err(|_| Clean::Impossible)? {
        Returned::Ended(ended) => Ok(ended),
        // Out of time is not a failure of the same kind, whatever was said until then.
        Returned::OutOfTime | Returned::TooMuch => Err(Clean::Unfinished),
    }
}

fn end_of(path: &Path) -> Option<KeptOutput> {
    let length = fs::metadata(path).ok()?.len();
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(READ))).ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;
    Some(KeptOutput { tail, cut: length > READ, ..KeptOutput::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_line_that_goes_to_the_working_tree_goes_to_the_checkout() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let here = top.join("p");
        fs::create_dir_all(here.join("api")).unwrap();
        fs::create_dir(top.join("p2")).unwrap();
        std::os::unix::fs::symlink(&here, top.join("link")).unwrap();
        let top = top.to_str().unwrap();
        for (line, expected) in [
            (format!("cd {top}/p && sh test.sh"), "cd /c && sh test.sh".to_owned()),
            (format!("cd '{top}/p/api'; make"), "cd '/c/api'; make".to_owned()),
            (format!("make -C {top}/link/api"), "make -C /c/api".to_owned()),
            (format!("X={top}/p/new/file sh a.sh"), "X=/c/new/file sh a.sh".to_owned()),
            (format!("cd {top}/p2 && sh test.sh"), format!("cd {top}/p2 && sh test.sh")),
            ("sh test.sh /usr".to_owned(), "sh test.sh /usr".to_owned()),
        ] {
            assert_eq!(moved(&line, &here, Path::new("/c")).unwrap(), expected, "{line}");
        }
        assert_eq!(moved("x", &here, Path::new("/c d")), None);
    }
}
