//! Lists of files that a configured build holds: those that a pattern matched when it was configured.

use regex::Regex;
use serde::Deserialize;

use super::indifferent::any;
use crate::runner::project_files::ProjectFiles;

/// The largest number of names in the folders that are looked through.
pub(super) const MAX_NAMES: usize = 10_000;

/// The calls that list the files of a pattern once, when a folder is configured, and where the build shows what they listed.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct FileLists {
    /// The pattern of a call, with its words as group `words` and, for one that looks into folders, group `deep`.
    pub call: String,
    /// The option with which each build makes the list again.
    pub renewed: String,
    /// Options of a call, each with the number of values that follow it.
    pub options: std::collections::BTreeMap<String, usize>,
    /// Beginnings of a pattern that stand for the folder of the file that lists.
    pub here: Vec<String>,
    /// Beginnings of a pattern that stand for the folder of the project.
    pub top: Vec<String>,
    /// The files, in the folder of the build, that name what is built.
    pub shown_in: Vec<String>,
    /// Endings of files that `shown_in` never names, because nothing is compiled from them alone.
    pub unnamed: Vec<String>,
    /// The name of a file that lists in its own folder. Another file may list in the folder of one that includes it.
    pub lists_here: String,
    /// Texts that a pattern contains if it matches files outside of the project.
    pub outside: Vec<String>,
}

/// The files of one list.
struct FileList {
    /// The folder, or `None` if it may be any.
    folder: Option<String>,
    /// `true` if the list also holds the files in the folders below it.
    deep: bool,
    /// The pattern of a name.
    name: String,
}

impl FileLists {
    /// Returns `text`, the file at `path` that defines a build, without the calls whose lists `folder`, where it was
    /// configured from `directory`, holds as they would be now. `paths` are the files of the project.
    pub(super) fn without_current(
        &self,
        (path, text): (&str, &str),
        (folder, directory): (&str, &str),
        paths: &[String],
        files: &dyn ProjectFiles,
    ) -> String {
        let Ok(call) = Regex::new(&self.call) else { return text.to_owned() };
        let mut shown = None;
        let mut kept = String::new();
        let mut end = 0;
        for found in call.captures_iter(text).filter(|_| !self.call.is_empty()) {
            let (Some(whole), Some(words)) = (found.get(0), found.name("words")) else { continue };
            let lists = self.lists(path, words.as_str(), found.name("deep").is_some());
            let shown = shown.get_or_insert_with(|| self.shown(folder, files));
            let is_current = words.as_str().split_whitespace().any(|word| word == self.renewed)
                || lists.is_some_and(|lists| lists.iter().all(|list| list.is_in(shown, directory, paths)));
            kept.push_str(&text[end..if is_current { whole.start() } else { whole.end() }]);
            end = whole.end();
        }
        kept.push_str(&text[end..]);
        kept
    }

    /// Returns the lists of a call in the file at `path`, or `None` if what they list is unknown.
    fn lists(&self, path: &str, words: &str, deep: bool) -> Option<Vec<FileList>> {
        let mut lists = Vec::new();
        let mut words = words.split_whitespace();
        while let Some(word) = words.next() {
            match self.options.get(word) {
                Some(taken) => words.by_ref().take(*taken).for_each(drop),
                None => lists.extend(self.list(path, word.trim_matches('"'), deep)?),
            }
        }
        Some(lists)
    }

    /// Returns the list of a pattern, or nothing if the build never names such files. `None`: it is unknown.
    fn list(&self, path: &str, pattern: &str, deep: bool) -> Option<Vec<FileList>> {
        let own = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let own = Some(own).filter(|_| path.rsplit('/').next() == Some(self.lists_here.as_str()));
        let after = |known: &[String]| known.iter().find_map(|start| pattern.strip_prefix(start.as_str()));
        let (folder, rest) = match (after(&self.here), after(&self.top)) {
            (Some(rest), _) => (own, rest),
            (None, Some(rest)) => (Some(""), rest),
            (None, None) if pattern.starts_with('$') => (None, pattern.split_once('/')?.1),
            (None, None) => (own, pattern),
        };
        let (inner, name) = rest.rsplit_once('/').unwrap_or(("", rest));
        let is_outside = rest.starts_with('/') || self.outside.iter().any(|part| pattern.contains(part.as_str()));
        if is_outside || name.contains('$') {
            return None;
        }
        if name.rsplit_once('.').is_some_and(|(_, ending)| self.unnamed.iter().any(|unnamed| unnamed == ending)) {
            return Some(Vec::new());
        }
        let is_plain = !inner.contains(['*', '?', '[', '$']);
        let joined = |folder: &str| format!("{folder}/{inner}").trim_matches('/').to_owned();
        let folder = folder.filter(|_| is_plain).map(joined);
        Some(vec![FileList { folder, deep, name: name.to_owned() }])
    }

    /// Returns the texts of all files of the build that name what is built.
    fn shown(&self, folder: &str, files: &dyn ProjectFiles) -> String {
        let mut text = String::new();
        let mut left = MAX_NAMES;
        let mut waiting = vec![folder.trim_end_matches('/').to_owned()];
        while let Some(at) = waiting.pop() {
            let names = files.names(&at).unwrap_or_default();
            let Some(rest) = left.checked_sub(names.len()) else { break };
            left = rest;
            for name in names {
                let path = format!("{at}/{name}");
                match path.strip_suffix('/') {
                    Some(inner) => waiting.push(inner.to_owned()),
                    None if self.shown_in.contains(&name) => text.extend(files.read(&path)),
                    None => {}
                }
            }
        }
        text
    }
}

impl FileList {
    /// Returns `true` if `shown` names each file of the list. `directory` is the absolute path of the project.
    fn is_in(&self, shown: &str, directory: &str, paths: &[String]) -> bool {
        let name = [self.name.clone()];
        paths.iter().filter(|path| self.is_of(path, &name)).all(|path| names_path(shown, directory, path))
    }

    /// Returns `true` if the list holds the file at `path`. `name` is the pattern of a name.
    fn is_of(&self, path: &str, name: &[String]) -> bool {
        let (folder, last) = path.rsplit_once('/').unwrap_or(("", path));
        let is_below = |own: &str| own.is_empty() || folder.starts_with(&format!("{own}/"));
        let is_here = self.folder.as_deref().is_none_or(|own| folder == own || self.deep && is_below(own));
        is_here && any(name, last)
    }
}

/// Returns `true` if `text` has the absolute path of the file at `path` in `directory` as a word.
fn names_path(text: &str, directory: &str, path: &str) -> bool {
    let whole = format!("{}/{path}", directory.trim_end_matches('/'));
    let ends = |at: usize| text[at..].chars().next().is_none_or(|next| next.is_whitespace() || next == '"');
    text.match_indices(&whole).any(|(at, _)| ends(at + whole.len()))
}
