//! Work that need not be done again: a folder that was configured as the arguments say.

use regex::Regex;
use serde::Deserialize;

use super::file_lists::{FileLists, MAX_NAMES};
use super::indifferent::any;
use super::{Essence, OptionChoice};
use crate::runner::project_files::ProjectFiles;

/// The file that shows how a folder, the only word of a command, was configured. The build in it configures it again
/// where a file that defines it changes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settled {
    /// The file in the folder.
    pub file: String,
    /// A text in it, in which `{directory}` is the absolute path of the directory in which the command runs.
    pub home: String,
    /// The option that sets a name, with a line `NAME:TYPE=VALUE` in the file. With any other option, nothing is known.
    pub set: String,
    /// Patterns of the files that define the build.
    pub defined_by: Vec<String>,
    /// Patterns of folders that are not looked into, beside those that have `file`.
    pub skips: Vec<String>,
    /// Names that change what is compiled or run: where a command does not set them, they are empty, or a file that defines
    /// the build names them.
    pub unset: Vec<String>,
    /// The pattern of an option of the project (group `name`) with its default (group `value`).
    pub option: String,
    /// The pattern of what makes the build depend on other things than the files that it knows, such as lists of files.
    pub depends: String,
    /// The pattern of what looks so and does not: a version that is read from a source file.
    pub harmless: String,
    /// The lists of files that the folder holds.
    pub lists: FileLists,
}

impl Settled {
    /// Returns `true` if the folder is configured as `essence` says, from `directory`, an absolute path.
    pub(super) fn holds(&self, essence: &Essence, directory: &str, files: &dyn ProjectFiles) -> bool {
        let [folder] = essence.words.as_slice() else { return false };
        let set: Option<Vec<&str>> = essence.options.iter().map(|choice| self.setting(choice)).collect();
        let (Some(set), None) = (set, &essence.after) else { return false };
        let Some(text) = files.read(&format!("{folder}/{}", self.file)) else { return false };
        let home = self.home.replace("{directory}", directory);
        let is_set = |name: &str, value: &str| text.lines().any(|line| entry(line) == Some((name, value)));
        let as_said = |setting: &&str| {
            setting.split_once('=').is_some_and(|(name, value)| is_set(name.split(':').next().unwrap_or(name), value))
        };
        let Some(definitions) = self.definitions(folder, directory, files) else { return false };
        let said = |name: &str| set.iter().any(|setting| setting.split(['=', ':']).next() == Some(name));
        let entries = || text.lines().filter_map(entry).filter(|(name, _)| !said(name));
        let is_unset = |(name, value): (&str, &str)| {
            value.is_empty()
                || !self.unset.iter().any(|known| known == name)
                || definitions.iter().any(|text| text.contains(name))
        };
        text.contains(&home)
            && set.iter().all(as_said)
            && entries().all(is_unset)
            && self
                .defaults(&definitions)
                .iter()
                .all(|(name, default)| entries().all(|(other, value)| other != name || is_on(value) == is_on(default)))
    }

    /// Returns the options of the project with their defaults.
    fn defaults(&self, definitions: &[String]) -> Vec<(String, String)> {
        let Ok(option) = Regex::new(&self.option) else { return Vec::new() };
        let pair = |found: regex::Captures<'_>| {
            let value = found.name("value").map_or("OFF", |value| value.as_str());
            Some((found.name("name")?.as_str().to_owned(), value.to_owned()))
        };
        let all = |text: &String| option.captures_iter(text).filter_map(pair).collect::<Vec<_>>();
        if self.option.is_empty() { Vec::new() } else { definitions.iter().flat_map(all).collect() }
    }

    /// Returns `true` if a file may define the build, or be a part of it: what changes it may undo the work.
    pub(super) fn may_depend_on(&self, essence: &Essence, path: &str) -> bool {
        let plain = |path: &str| path.trim_start_matches("./").to_owned();
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some((_, extension)) = name.rsplit_once('.') else { return true };
        let is_one = extension.is_empty() || !extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let defines = self.defined_by.iter().any(|pattern| pattern.rsplit('.').next() == Some(extension));
        let inside = essence.words.iter().any(|folder| path == *folder || plain(path).starts_with(&plain(folder)));
        is_one || defines || inside || path.starts_with(['/', '~', '$']) || path.contains("..")
    }

    fn setting<'c>(&self, choice: &'c OptionChoice) -> Option<&'c str> {
        choice.value.as_deref().filter(|_| choice.name == self.set)
    }

    /// Returns the texts of the files that define the build in `folder`, or `None` if one of them makes it depend on files
    /// that it does not know.
    fn definitions(&self, folder: &str, directory: &str, files: &dyn ProjectFiles) -> Option<Vec<String>> {
        let depends = Regex::new(&self.depends).ok()?;
        let harmless = Regex::new(&self.harmless).ok().filter(|_| !self.harmless.is_empty());
        let plain = |text: &str| match &harmless {
            Some(harmless) => harmless.replace_all(text, "").into_owned(),
            None => text.to_owned(),
        };
        let mut found: Vec<(String, String)> = Vec::new();
        let mut paths = Vec::new();
        let mut left = MAX_NAMES;
        let mut waiting = vec![String::new()];
        while let Some(at) = waiting.pop() {
            let names = files.names(&at)?;
            if names.contains(&self.file) {
                continue;
            }
            left = left.checked_sub(names.len())?;
            for name in names {
                let path = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
                match path.strip_suffix('/') {
                    Some(_) if any(&self.skips, name.trim_end_matches('/')) => {}
                    Some(inner) => waiting.push(inner.to_owned()),
                    None => {
                        if any(&self.defined_by, &name) {
                            found.push((path.clone(), plain(&files.read(&path)?)));
                        }
                        paths.push(path);
                    }
                }
            }
        }
        let known = |(path, text): (String, String)| {
            let known = self.lists.without_current((&path, &text), (folder, directory), &paths, files);
            Some(text).filter(|_| !depends.is_match(&known))
        };
        found.into_iter().map(known).collect()
    }
}

fn is_on(value: &str) -> bool {
    matches!(value.to_ascii_uppercase().as_str(), "ON" | "TRUE" | "YES" | "1" | "Y")
}

/// Returns the name and the value of a line `NAME:TYPE=VALUE`.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_end_matches('\r').split_once(':')?;
    Some((name, rest.split_once('=')?.1))
}
