//! Words and options that change nothing about a check in this project.

use globset::GlobBuilder;
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
    /// An option whose value is the folder that is looked into: it takes nothing away.
    pub folder: String,
    /// Options that take nothing away from the check.
    pub options: Vec<String>,
    /// `true` if the check is the same without these options.
    pub optional: bool,
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
    /// Patterns of the files that are found where there is no word: all of them must be in the folder that the word names.
    /// `*/x`: in any folder below.
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
        let word = match essence.words.as_slice() {
            [] if named.is_some() => value.as_deref().map(plain_folder),
            [word] => {
                let is_folder = |word: &str| !word.contains(['*', '?', '[', ':']) && !word.starts_with('/');
                let is_one = |word: &&str| {
                    self.words.iter().any(|own| own == word || (own == "*" || is_file(own, word)) && is_folder(word))
                };
                Some(plain_folder(word)).filter(is_one)
            }
            _ => None,
        };
        let is_one = |choice: &OptionChoice| has(&self.options, &choice.name, choice.value.as_deref());
        let freed: Vec<Option<String>> =
            essence.options.iter().filter(|choice| is_one(choice)).map(|choice| choice.value.clone()).collect();
        let options = freed.len();
        let named_value = word.or_else(|| freed.first()?.as_deref()).unwrap_or_default();
        if word.is_none() && (options != 1 || !self.folder.is_empty())
            || !self.holds(word, essence, files)
            || !self.is_said(named_value, files)
        {
            return;
        }
        let folder = word.map(str::to_owned);
        if self.optional {
            essence.options.retain(|choice| !is_one(choice));
            return;
        }
        for (at, choice) in essence.options.iter_mut().enumerate() {
            if named == Some(at) {
                choice.value.clone_from(&folder);
            }
            choice.more |= named == Some(at) || options == 1 && is_one(choice);
        }
        if named.is_none() && folder.is_some() {
            essence.words.clear();
        }
    }

    fn holds(&self, word: Option<&str>, essence: &Essence, files: &dyn ProjectFiles) -> bool {
        let read = |path: &String| match path.strip_prefix("*/") {
            Some(name) => files.read(&format!("{}/{name}", word.unwrap_or("."))),
            None => files.read(path),
        };
        let other = |path: &String| read(path).is_some();
        let says = |path: &String| read(path).is_some_and(|text| self.lacked(&text));
        !essence.options.iter().any(|choice| self.unless.contains(&choice.name))
            && !self.absent.iter().any(other)
            && !self.files.iter().any(says)
            && (self.collects.is_empty() || word.is_some_and(|word| self.all_are_in(word, files)))
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

    /// Returns `true` if all files that are found without a word are in `folder`, or are this one file.
    fn all_are_in(&self, folder: &str, files: &dyn ProjectFiles) -> bool {
        let elsewhere = folder.starts_with('/') || folder.split('/').any(|part| part == "..");
        let is_file = files.has(folder) && self.words.iter().any(|own| is_file(own, folder));
        let is_there = is_file || files.names(folder).is_some_and(|names| !names.is_empty());
        if elsewhere || !is_there {
            return false;
        }
        let mut left = MAX_NAMES;
        let mut waiting = vec![String::new()];
        while let Some(at) = waiting.pop() {
            if !at.is_empty() && !self.package.is_empty() {
                match files.read(&format!("{at}/{}", self.package)) {
                    Some(text) if self.is_loaded(&at, &text, folder, files) => {}
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
                match path.strip_suffix('/') {
                    Some(inner) if inner == folder || any(&self.skips, name.trim_end_matches('/')) => {}
                    Some(inner) => waiting.push(inner.to_owned()),
                    None if path == folder => {}
                    None if any(&self.collects, &name)
                        || path.contains('/') && any(&self.collects, &format!("*/{name}")) =>
                    {
                        return false;
                    }
                    None => {}
                }
            }
        }
        true
    }

    /// Returns `true` if a package, whose file has this text, would be loaded by the files in `folder`, too, and has no
    /// tests itself.
    fn is_loaded(&self, package: &str, text: &str, folder: &str, files: &dyn ProjectFiles) -> bool {
        let is_code = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        let line = self.loads.replace("{package}", &regex::escape(&package.replace('/', ".")));
        let Ok(loads) = regex::Regex::new(&line) else { return false };
        let in_folder = files.names(folder).unwrap_or_default();
        let mut texts = in_folder
            .iter()
            .filter(|name| any(&self.collects, name))
            .filter_map(|name| files.read(&format!("{folder}/{name}")));
        !text.lines().any(is_code)
            || !self.lacked(text) && texts.any(|text| text.lines().any(|line| loads.is_match(line)))
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
