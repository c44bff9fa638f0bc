//! Words and options that change nothing about a check in this project.

use globset::GlobBuilder;
use serde::Deserialize;

use super::Essence;
use crate::runner::project_files::ProjectFiles;

/// The largest number of names in the folders that are looked through.
const MAX_NAMES: usize = 10_000;

/// Arguments that change nothing while the conditions of the other fields hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Indifferent {
    /// Words that mean the same as no word.
    pub words: Vec<String>,
    /// Options that take nothing away from the check.
    pub options: Vec<String>,
    /// Options with which it is otherwise.
    pub unless: Vec<String>,
    /// Files that must have none of the texts in `lacks`.
    pub files: Vec<String>,
    /// The texts.
    pub lacks: Vec<String>,
    /// Files that must not be there. `*/x`: none in the folder that the word names.
    pub absent: Vec<String>,
    /// Patterns of the files that are found where there is no word: all of them must be in the folder that the word names.
    /// `*/x`: in any folder below.
    pub collects: Vec<String>,
    /// Patterns of folders that are not looked into.
    pub skips: Vec<String>,
}

impl Indifferent {
    /// Removes from `essence` the words, and frees the options, that change nothing.
    pub(super) fn apply(&self, essence: &mut Essence, files: &dyn ProjectFiles) {
        let word = match essence.words.as_slice() {
            [word] => {
                Some(word.strip_prefix("./").unwrap_or(word)).filter(|word| self.words.iter().any(|own| own == word))
            }
            _ => None,
        };
        let is_one = |name: &String| self.options.contains(name);
        let options = essence.options.iter().filter(|choice| is_one(&choice.name)).count();
        if word.is_none() && options != 1 || !self.holds(word, essence, files) {
            return;
        }
        if word.is_some() {
            essence.words.clear();
        }
        for choice in essence.options.iter_mut().filter(|choice| options == 1 && is_one(&choice.name)) {
            choice.more = true;
        }
    }

    fn holds(&self, word: Option<&str>, essence: &Essence, files: &dyn ProjectFiles) -> bool {
        let other = |path: &String| {
            let path =
                path.strip_prefix("*/").map_or_else(|| path.clone(), |name| format!("{}/{name}", word.unwrap_or(".")));
            files.read(&path).is_some()
        };
        let says = |path: &String| {
            files.read(path).is_some_and(|text| self.lacks.iter().any(|lacked| text.contains(lacked.as_str())))
        };
        !essence.options.iter().any(|choice| self.unless.contains(&choice.name))
            && !self.absent.iter().any(other)
            && !self.files.iter().any(says)
            && (self.collects.is_empty() || word.is_some_and(|word| self.all_are_in(word, files)))
    }

    /// Returns `true` if all files that are found without a word are in `folder`.
    fn all_are_in(&self, folder: &str, files: &dyn ProjectFiles) -> bool {
        if files.names(folder).is_none_or(|names| names.is_empty()) {
            return false;
        }
        let mut left = MAX_NAMES;
        let mut waiting = vec![String::new()];
        while let Some(at) = waiting.pop() {
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
}

fn any(patterns: &[String], name: &str) -> bool {
    let is = |pattern: &String| {
        pattern == name
            || !pattern.contains('/')
                && GlobBuilder::new(pattern).build().is_ok_and(|glob| glob.compile_matcher().is_match(name))
    };
    patterns.iter().any(is)
}
