//! Words and options that change nothing about a check in this project.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use super::{Essence, OptionChoice, has};
use crate::runner::project_files::ProjectFiles;

/// The largest number of names in the folders that are looked through.
const MAX_NAMES: usize = 10_000;

/// Arguments that change nothing while the conditions of the other fields hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Indifferent {
    /// Words that mean the same as no word; `*`: any folder, `*.py`: any file with this ending.
    pub words: Vec<String>,
    /// `true` if all files of one folder are that folder.
    pub gathers: bool,
    /// The ending of files that words name as modules: `tests.test_a` is `tests/test_a.py`.
    pub module: String,
    /// An option whose value is the folder that is looked into: it takes nothing away.
    pub folder: String,
    /// Options that take nothing away from the check.
    pub options: Vec<String>,
    /// `true` if the check is the same without these options.
    pub optional: bool,
    /// The option for which the words stand: all files below a folder are `--recursive`.
    pub implies: String,
    /// Options with which it is otherwise.
    pub unless: Vec<String>,
    /// Files that must have none of the texts in `lacks`. `*/x`: the one in the folder.
    pub files: Vec<String>,
    /// The texts.
    pub lacks: Vec<String>,
    /// A pattern that the first of `files` must match, with the word or the option's value in the place of `{value}`.
    pub says: String,
    /// Files that must not be there. `*/x`: none in the folder that the word names.
    pub absent: Vec<String>,
    /// Patterns of files of which the project has none.
    pub absent_globs: Vec<String>,
    /// Patterns of the files that are found where there is no word: all of them must be in the folder that the word names.
    /// `*/x`: in any folder below. `a/**/*.js`: by the whole path; `./*.x`: in this folder.
    pub collects: Vec<String>,
    /// Patterns of folders that are not looked into.
    pub skips: Vec<String>,
    /// The file that makes a package of a folder: other folders are not looked into.
    pub package: String,
    /// The pattern of a line that loads the package `{package}`. A package elsewhere whose file is not empty must be loaded
    /// by a file in the folder, and its file must have none of the texts in `lacks`.
    pub loads: String,
}

impl Indifferent {
    /// Removes from `essence` the words, and frees the options, that change nothing.
    pub(super) fn apply(&self, essence: &mut Essence, files: &dyn ProjectFiles) {
        let named = essence.options.iter().position(|choice| !self.folder.is_empty() && choice.name == self.folder);
        let value = named.and_then(|at| essence.options[at].value.clone());
        let words: Vec<String> = match essence.words.as_slice() {
            [] => value.as_deref().map(plain_folder).map(str::to_owned).into_iter().collect(),
            words => words.iter().map_while(|word| self.path(word, files)).collect(),
        };
        let is_known = words.len() >= essence.words.len() && (words.len() < 2 || !self.collects.is_empty());
        let words = if is_known { words } else { Vec::new() };
        let is_one = |choice: &OptionChoice| has(&self.options, &choice.name, choice.value.as_deref());
        let freed: Vec<Option<String>> =
            essence.options.iter().filter(|choice| is_one(choice)).map(|choice| choice.value.clone()).collect();
        let options = freed.len();
        let named_value = words.first().map(String::as_str).or_else(|| freed.first()?.as_deref()).unwrap_or_default();
        if self.gathers {
            return self.gather(essence, &words, files);
        }
        if words.is_empty() && (options != 1 || !self.folder.is_empty())
            || !self.holds(&words, essence, files)
            || !self.is_said(named_value, files)
        {
            return;
        }
        if self.optional {
            essence.options.retain(|choice| !is_one(choice));
            return;
        }
        for (at, choice) in essence.options.iter_mut().enumerate() {
            if named == Some(at) {
                choice.value = words.first().cloned();
            }
            choice.more |= named == Some(at) || options == 1 && is_one(choice);
        }
        if named.is_none() && !words.is_empty() && !essence.by_setting {
            essence.words.clear();
            if !self.implies.is_empty() {
                essence.options.push(OptionChoice { name: self.implies.clone(), value: None, more: true });
                essence.options.sort();
            }
        }
    }

    /// Replaces the words by the folder of which they are all files.
    fn gather(&self, essence: &mut Essence, words: &[String], files: &dyn ProjectFiles) {
        let mut folders = words.iter().map(|word| word.rsplit_once('/').map_or("", |(folder, _)| folder));
        let Some(folder) = folders.next().filter(|first| folders.all(|other| other == *first)) else { return };
        let Some(names) = files.names(folder) else { return };
        let path = |name: &String| if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let mut all = names.iter().filter(|name| any(&self.collects, name)).map(path).peekable();
        if all.peek().is_some() && all.all(|path| words.contains(&path)) && words.iter().all(|word| files.has(word)) {
            essence.words = vec![if folder.is_empty() { ".".to_owned() } else { folder.to_owned() }];
        }
    }

    /// Returns the path that a word names, if it may be one of `words`.
    fn path(&self, word: &str, files: &dyn ProjectFiles) -> Option<String> {
        let is_plain = !word.contains(['*', '?', '[', ':']) && !word.starts_with('/');
        let fits = |own: &String, word: &str| (own == "*" || is_file(own, word)) && is_plain;
        let is_one = |word: &str| self.words.iter().any(|own| own == word || fits(own, word));
        let module = || Some(word.replace('.', "/") + &self.module).filter(|path| is_one(path) && files.has(path));
        let named = Some(plain_folder(word)).filter(|word| is_one(word)).map(str::to_owned);
        named.or_else(|| module().filter(|_| !self.module.is_empty()))
    }

    fn holds(&self, words: &[String], essence: &Essence, files: &dyn ProjectFiles) -> bool {
        let mut folders: Vec<&str> = words.iter().flat_map(|word| self.folders_of(word)).collect();
        if words.is_empty() {
            folders.push(".");
        }
        let paths = |path: &String| match path.strip_prefix("*/") {
            Some(name) => folders.iter().map(|folder| format!("{folder}/{name}")).collect(),
            None => vec![path.clone()],
        };
        let mut texts = self.files.iter().flat_map(paths).filter_map(|path| files.read(&path));
        let mut others = self.absent.iter().flat_map(paths);
        !essence.options.iter().any(|choice| self.unless.contains(&choice.name))
            && !others.any(|path| files.read(&path).is_some())
            && !texts.any(|text| self.lacked(&text))
            && (self.absent_globs.is_empty() || self.has_none(files))
            && (self.collects.is_empty() || !words.is_empty() && self.all_are_in(words, files))
    }

    /// Returns the folder that a word names, or that of its file, and those above.
    fn folders_of<'w>(&self, word: &'w str) -> impl Iterator<Item = &'w str> {
        let is_file = self.words.iter().any(|own| is_file(own, word));
        word.match_indices('/').map(|(at, _)| &word[..at]).chain((!is_file).then_some(word))
    }

    /// Returns `true` if the first of the files that is there says that `value` leaves nothing out.
    fn is_said(&self, value: &str, files: &dyn ProjectFiles) -> bool {
        if self.says.is_empty() {
            return true;
        }
        let pattern = regex::Regex::new(&self.says.replace("{value}", &regex::escape(value)));
        let text = self.files.iter().find_map(|path| files.read(path));
        pattern.is_ok_and(|pattern| text.is_some_and(|text| pattern.is_match(&without_xml_comments(&text))))
    }

    fn lacked(&self, text: &str) -> bool {
        self.lacks.iter().any(|lacked| text.contains(lacked.as_str()))
    }

    /// Returns `true` if all files that are found without a word are in the folders that `words` name, or are these files.
    fn all_are_in(&self, words: &[String], files: &dyn ProjectFiles) -> bool {
        let elsewhere = |word: &String| word.starts_with('/') || word.split('/').any(|part| part == "..");
        let is_file = |word: &String| files.has(word) && self.words.iter().any(|own| own == "*" || is_file(own, word));
        let is_there = |word: &String| is_file(word) || files.names(word).is_some_and(|names| !names.is_empty());
        let Some(collected) = Collected::of(&self.collects) else { return false };
        if words.iter().any(elsewhere) || !words.iter().all(is_there) {
            return false;
        }
        let mut left = MAX_NAMES;
        let mut waiting = vec![String::new()];
        while let Some(at) = waiting.pop() {
            if !at.is_empty() && !self.package.is_empty() {
                match files.read(&format!("{at}/{}", self.package)) {
                    Some(text) if self.is_loaded(&at, &text, words, files) => {}
                    Some(_) => return false,
                    None => continue,
                }
            }
            let Some(names) = files.names(&at) else { return false };
            // A virtual environment.
            if !at.is_empty() && names.iter().any(|name| name == "pyvenv.cfg") {
                continue;
            }
            for name in names {
                let Some(rest) = left.checked_sub(1) else { return false };
                left = rest;
                let path = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
                let is_named = words.iter().any(|word| word == path.trim_end_matches('/'));
                match path.strip_suffix('/') {
                    Some(_) if is_named || any(&self.skips, name.trim_end_matches('/')) => {}
                    Some(inner) => waiting.push(inner.to_owned()),
                    None if is_named || !collected.has(&path, &name) => {}
                    None if collected.only_loaded(&path, &name) && self.is_loaded_for(&path, words, files) => {}
                    None => return false,
                }
            }
        }
        true
    }

    /// Returns `true` if no file of the project fits `absent_globs`.
    fn has_none(&self, files: &dyn ProjectFiles) -> bool {
        let Some(unwanted) = Collected::of(&self.absent_globs) else { return false };
        let mut left = MAX_NAMES;
        let mut waiting = vec![String::new()];
        while let Some(at) = waiting.pop() {
            let Some(names) = files.names(&at) else { return false };
            let Some(rest) = left.checked_sub(names.len()).filter(|_| !(at.is_empty() && names.is_empty())) else {
                return false;
            };
            left = rest;
            // A virtual environment.
            if !at.is_empty() && names.iter().any(|name| name == "pyvenv.cfg") {
                continue;
            }
            for name in names {
                let path = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
                match path.strip_suffix('/') {
                    Some(_) if any(&self.skips, name.trim_end_matches('/')) => {}
                    Some(inner) => waiting.push(inner.to_owned()),
                    None if unwanted.has(&path, &name) => return false,
                    None => {}
                }
            }
        }
        true
    }

    /// Returns `true` if a file that is loaded with all tests below its folder is so for one of `words`, too, and says
    /// nothing that finds other tests.
    fn is_loaded_for(&self, path: &str, words: &[String], files: &dyn ProjectFiles) -> bool {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_below = |word: &String| word.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        words.iter().any(is_below) && files.read(path).is_some_and(|text| !self.lacked(&text))
    }

    /// Returns `true` if a package, whose file has this text, would be loaded by the files in `folder`, too, and has no
    /// tests itself.
    fn is_loaded(&self, package: &str, text: &str, words: &[String], files: &dyn ProjectFiles) -> bool {
        let is_code = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        let line = self.loads.replace("{package}", &regex::escape(&package.replace('/', ".")));
        let Ok(loads) = regex::Regex::new(&line) else { return false };
        let in_folder = |folder: &String| {
            let names = files.names(folder).unwrap_or_default().into_iter();
            let own = names.filter(|name| any(&self.collects, name)).map(|name| format!("{folder}/{name}"));
            own.chain(files.has(folder).then(|| folder.clone())).collect::<Vec<_>>()
        };
        let mut texts = words.iter().flat_map(in_folder).filter_map(|path| files.read(&path));
        let is_part = words.iter().any(|word| word.strip_prefix(package).is_some_and(|rest| rest.starts_with('/')));
        !text.lines().any(is_code)
            || !self.lacked(text) && (is_part || texts.any(|text| text.lines().any(|line| loads.is_match(line))))
    }
}

/// The patterns of the files that are found without a word.
struct Collected<'a> {
    names: GlobSet,
    paths: GlobSet,
    /// The names that count in folders below, and are loaded with the tests there: `*/x`.
    below: Vec<&'a str>,
}

impl<'a> Collected<'a> {
    fn of(patterns: &'a [String]) -> Option<Self> {
        let (mut names, mut paths) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut below = Vec::new();
        for pattern in patterns {
            let plain = pattern.strip_prefix("./").unwrap_or(pattern);
            let glob = GlobBuilder::new(plain).literal_separator(true).build().ok()?;
            match pattern.strip_prefix("*/") {
                Some(name) => below.push(name),
                None if pattern.contains('/') => drop(paths.add(glob)),
                None => drop(names.add(glob)),
            }
        }
        Some(Self { names: names.build().ok()?, paths: paths.build().ok()?, below })
    }

    fn has(&self, path: &str, name: &str) -> bool {
        self.names.is_match(name) || self.paths.is_match(path) || path.contains('/') && self.below.contains(&name)
    }

    /// Returns `true` if a file is only loaded with the tests of its folder.
    fn only_loaded(&self, path: &str, name: &str) -> bool {
        !self.names.is_match(name) && !self.paths.is_match(path)
    }
}

/// Returns `true` if a word has the ending of `*.py`.
fn is_file(own: &str, word: &str) -> bool {
    own.strip_prefix('*').is_some_and(|end| !end.is_empty() && word.ends_with(end))
}

/// Returns the name of a folder, as it is seen from where it is named.
fn plain_folder(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path).trim_end_matches('/')
}

pub(super) fn any(patterns: &[String], name: &str) -> bool {
    let is = |pattern: &String| {
        pattern == name
            || !pattern.contains('/')
                && GlobBuilder::new(pattern).build().is_ok_and(|glob| glob.compile_matcher().is_match(name))
    };
    patterns.iter().any(is)
}

/// Returns a text without its XML comments. What follows an open comment is left out.
fn without_xml_comments(text: &str) -> String {
    let (first, rest) = text.split_once("<!--").unwrap_or((text, ""));
    let after = |part: &str| part.split_once("-->").map_or_else(String::new, |(_, after)| after.to_owned());
    first.to_owned() + &rest.split("<!--").map(after).collect::<String>()
}
