//! Objects and programs that were made before an edit of a header: a Makefile that does not name it makes nothing again.

use std::collections::BTreeSet;
use std::path::Path;

use super::Workplace;
use super::file_times::{TICK, times};
use super::stale_objects::build_folders;
use super::stale_programs::{Built, compiled_files};
use crate::git::{GitError, MentionsIn};
use crate::repo_path::RepoPath;
use crate::shell_quote::shell_line;
use crate::snapshot::KeptSnapshot;

/// The extensions of headers.
const HEADERS: [&str; 6] = ["h", "hh", "hpp", "hxx", "inc", "inl"];
/// The extensions of sources that become objects.
const SOURCES: [&str; 7] = ["c", "cc", "cpp", "cxx", "m", "mm", "S"];
/// The maximum number of headers through which a source includes an edited one.
const MAX_DEPTH: usize = 3;
/// The maximum number of headers that are looked for.
const MAX_HEADERS: usize = 32;
/// The maximum number of files that a remedy names.
const MAX_NAMED: usize = 16;

impl Workplace {
    /// Returns the sentence about something that `make` left as it was, although a header in it was edited since. `changed`
    /// are the files that the work changed, `on` is the content of the run.
    pub(super) fn stale_header(
        &self,
        root: &Path,
        changed: &[RepoPath],
        on: &KeptSnapshot,
        again: &str,
    ) -> Option<String> {
        let headers = changed.iter().filter(|path| has_extension(path, &HEADERS)).take(MAX_HEADERS);
        let edited: Vec<(&RepoPath, i128)> =
            headers.filter_map(|path| Some((path, times(&root.join(path.to_os()))?.modified))).collect();
        if edited.is_empty() {
            return None;
        }
        // The files that cmake and meson write know the headers.
        let generated = build_folders(root);
        let is_of_make = |one: &Built| {
            let top = one.path.components().next().map(|top| root.join(top));
            !generated.iter().any(|folder| one.path.starts_with(folder))
                && top.is_none_or(|top| !top.join("build.ninja").exists())
        };
        let built: Vec<Built> = compiled_files(root).into_iter().filter(is_of_make).collect();
        let built: Vec<&Built> = self.untracked(built.iter().collect(), on);
        let (header, old) = edited.into_iter().find_map(|(header, time)| {
            let sources = self.sources_with(header, on).ok()?;
            Some((header, older(&built, &sources, time))).filter(|(_, old)| !old.is_empty())
        })?;
        let first = old.first()?;
        let files = shell_line(old.iter().take(MAX_NAMED).map(String::as_str));
        Some(format!("{first} was made before {header}, which its source includes, was edited: rm -- {files}{again}"))
    }

    /// Returns the sources that include a header, also through other headers.
    fn sources_with(&self, header: &RepoPath, on: &KeptSnapshot) -> Result<BTreeSet<RepoPath>, GitError> {
        let pathspecs: Vec<String> = HEADERS.iter().chain(&SOURCES).map(|end| format!("*.{end}")).collect();
        let (mut sources, mut known) = (BTreeSet::new(), BTreeSet::from([header.clone()]));
        let mut names = vec![name_of(header)];
        for _ in 0..MAX_DEPTH {
            let mentions = self.repo.mentions(MentionsIn::Tree(&on.tree), &names, &pathspecs, 0)?;
            let includes = |line: &str| {
                line.trim_start().strip_prefix('#').is_some_and(|line| line.trim_start().starts_with("include"))
            };
            let files = mentions.into_iter().filter(|mention| includes(&mention.line)).map(|mention| mention.file);
            let (above, found): (Vec<RepoPath>, Vec<RepoPath>) = files.partition(|file| has_extension(file, &HEADERS));
            sources.extend(found);
            names = above.into_iter().filter(|file| known.insert(file.clone())).map(|file| name_of(&file)).collect();
            if names.is_empty() || known.len() > MAX_HEADERS {
                break;
            }
        }
        Ok(sources)
    }
}

/// Returns what was made of these sources and is older than `time`. A source without an object of its name is a part of
/// programs that were made without objects.
fn older(built: &[&Built], sources: &BTreeSet<RepoPath>, time: i128) -> Vec<String> {
    let is_old = |one: &&&Built| one.written + TICK < time;
    let shown = |one: &&Built| one.path.to_string_lossy().into_owned();
    let is_one_of = |one: &Built| {
        let stem = one.path.file_stem();
        sources.iter().any(|source| source.to_os().file_stem() == stem)
    };
    let own: Vec<&Built> = built.iter().copied().filter(|one| is_one_of(one)).collect();
    if !own.is_empty() {
        // Objects of one name in several folders may be of several builds, of which this is one.
        let is_made = own.iter().any(|one| !is_old(&one));
        return if is_made { Vec::new() } else { own.iter().map(shown).collect() };
    }
    let is_of_objects = built.iter().any(|one| !one.is_whole);
    if sources.is_empty() || is_of_objects || !built.iter().all(|one| is_old(&one)) {
        return Vec::new();
    }
    built.iter().map(shown).collect()
}

fn name_of(path: &RepoPath) -> String {
    path.to_string().rsplit('/').next().unwrap_or_default().to_owned()
}

fn has_extension(path: &RepoPath, extensions: &[&str]) -> bool {
    path.to_os().extension().is_some_and(|end| extensions.iter().any(|known| end == *known))
}
