//! Packages that are named by their folders: a command for all of them is one command for each.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::Essence;
use super::indifferent::any;
use crate::repo_path::seen_from;
use crate::runner::project_files::ProjectFiles;

/// The largest number of names in the folders that are looked through.
const MAX_NAMES: usize = 10_000;

/// The folders that are packages.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Packages {
    /// The word that means every package from the folder in which the command runs: `./...`.
    pub all: String,
    /// Patterns of the files that make a package of their folder.
    pub files: Vec<String>,
    /// Patterns of folders that are not looked into.
    pub skips: Vec<String>,
    /// The file that makes a folder another project.
    pub apart: String,
    /// The pattern with which that file tells the name of the project, which packages may begin with.
    pub module: String,
}

impl Packages {
    /// Gives each package in `essence` one name, and all of them the word for all. No word names the package in the folder
    /// in which the command runs.
    pub(super) fn gather(&self, essence: &mut Essence, files: &dyn ProjectFiles) {
        self.name_by_folders(&mut essence.words, files);
        let words = &essence.words;
        let plain = |word: &String| word == "." || word.starts_with("./");
        if !words.iter().all(plain) {
            return;
        }
        if words.contains(&self.all) {
            essence.words = vec![self.all.clone()];
            return;
        }
        let Some(folders) = self.folders(files) else { return };
        let mut named = BTreeSet::new();
        let here = [".".to_owned()];
        for word in if words.is_empty() { &here } else { words.as_slice() } {
            let (folder, below) = word.strip_suffix("/...").map_or((word.as_str(), false), |folder| (folder, true));
            let Some(folder) = seen_from("", folder) else { return };
            let is_below = |one: &String| below && one.strip_prefix(&folder).is_some_and(|rest| rest.starts_with('/'));
            let meant: Vec<&String> = folders.iter().filter(|one| **one == folder || is_below(one)).collect();
            if meant.is_empty() {
                return;
            }
            named.extend(meant.into_iter().cloned());
        }
        essence.words = if named.len() == folders.len() {
            vec![self.all.clone()]
        } else {
            named.iter().map(|folder| Self::name(folder)).collect()
        };
    }

    /// Gives packages that are named by the name of the project those of their folders: `./a` for `example.com/m/a`.
    fn name_by_folders(&self, words: &mut [String], files: &dyn ProjectFiles) {
        let named = |word: &String| !word.starts_with('.') && word.contains(['.', '/']);
        let Some(text) = files.read(&self.apart).filter(|_| words.iter().any(named)) else { return };
        let pattern = regex::Regex::new(&self.module).ok().filter(|_| !self.module.is_empty());
        let Some(name) = pattern.and_then(|pattern| pattern.captures(&text)?.get(1).map(|name| name.as_str())) else {
            return;
        };
        for word in words {
            match word.strip_prefix(name) {
                Some("") => ".".clone_into(word),
                Some(rest) if rest.starts_with('/') => *word = format!(".{rest}"),
                _ => {}
            }
        }
    }

    /// Returns the arguments for each package alone; none if `essence` names only one, or they are not known.
    pub(super) fn split(&self, essence: &Essence, files: &dyn ProjectFiles) -> Vec<Essence> {
        let words = match essence.words.as_slice() {
            [word] if *word == self.all => {
                self.folders(files).into_iter().flatten().map(|folder| Self::name(&folder)).collect()
            }
            [_, _, ..] => essence.words.clone(),
            _ => Vec::new(),
        };
        if words.len() < 2 || !words.iter().all(|word| word == "." || word.starts_with("./") && !word.ends_with("..."))
        {
            return Vec::new();
        }
        words.into_iter().map(|word| Essence { words: vec![word], ..essence.clone() }).collect()
    }

    fn name(folder: &str) -> String {
        if folder.is_empty() { ".".to_owned() } else { format!("./{folder}") }
    }

    /// Returns the folders of all packages, the one in which the command runs as an empty text.
    fn folders(&self, files: &dyn ProjectFiles) -> Option<BTreeSet<String>> {
        let mut left = MAX_NAMES;
        let mut found = BTreeSet::new();
        let mut waiting = vec![String::new()];
        while let Some(at) = waiting.pop() {
            let names = files.names(&at)?;
            if !at.is_empty() && names.contains(&self.apart) {
                continue;
            }
            left = left.checked_sub(names.len())?;
            for name in names {
                let path = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
                match path.strip_suffix('/') {
                    Some(_) if any(&self.skips, name.trim_end_matches('/')) => {}
                    Some(inner) => waiting.push(inner.to_owned()),
                    None if any(&self.files, &name) => {
                        found.insert(at.clone());
                    }
                    None => {}
                }
            }
        }
        (!found.is_empty()).then_some(found)
    }
}
