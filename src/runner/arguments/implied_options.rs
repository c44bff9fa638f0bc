//! The options and words that a file of the project sets for every command line of a runner.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::own_sections::OwnSections;
use super::{Arguments, Essence, OptionChoice, has};
use crate::runner::project_files::ProjectFiles;

/// An option, or words, that a settings file of the project implies for every command line of a runner.
///
/// It applies if the file (TOML or INI) has all keys of `has` and none of `lacks`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Implied {
    /// The option; empty where it is about words.
    pub option: String,
    /// The key of a list of words that apply if the command line has none: `tool.pytest.ini_options.testpaths`.
    pub words: String,
    /// Files that must not be there: they count instead. `*/x`: in no folder that is one of the words, or above it.
    pub absent: Vec<String>,
    /// Files that count instead if they have this key.
    pub instead: BTreeMap<String, String>,
    /// The file, relative to where the command runs.
    pub file: String,
    /// Keys that the file must have: `table.key`.
    pub has: Vec<String>,
    /// Keys that it must not have.
    pub lacks: Vec<String>,
    /// `true` if this counts only at the root of the working tree: in other folders a file above may override it.
    pub at_root: bool,
    /// Options that name another settings file.
    pub unless: Vec<String>,
}

impl Implied {
    /// Returns the file, if it has these keys.
    fn file(&self, options: &[OptionChoice], at_root: bool, files: &dyn ProjectFiles) -> Option<toml::Table> {
        if self.at_root && !at_root || options.iter().any(|choice| self.unless.contains(&choice.name)) {
            return None;
        }
        let file = settings(&self.file, &files.read(&self.file)?)?;
        let has = |key: &String| value_at(&file, key).is_some();
        (self.has.iter().all(has) && !self.lacks.iter().any(has)).then_some(file)
    }

    /// Returns the words of its list, unless other words replace them.
    fn words(&self, options: &[OptionChoice], at_root: bool, files: &dyn ProjectFiles) -> Option<Vec<String>> {
        let file = self.file(options, at_root, files).filter(|_| !self.words.is_empty())?;
        let plain = |word: &str| {
            let is_special = |c: char| "*?[\\ \"'#;".contains(c);
            !word.is_empty()
                && !word.contains(is_special)
                && !word.starts_with(['-', '/'])
                && !word.split('/').any(|part| part.starts_with('.'))
        };
        let word = |word: &str| plain(word).then(|| word.trim_end_matches('/').to_owned());
        let words: Vec<String> = match value_at(&file, &self.words)? {
            toml::Value::Array(list) => list.iter().map(|value| word(value.as_str()?)).collect::<Option<_>>()?,
            value => value.as_str()?.split_whitespace().map(word).collect::<Option<_>>()?,
        };
        let there = |path: &str| files.read(path).is_some();
        let absent = |path: &String| match path.strip_prefix("*/") {
            Some(name) => {
                words.iter().flat_map(|word| folders_to(word)).all(|folder| !there(&format!("{folder}/{name}")))
            }
            None => !there(path),
        };
        let overruled = |(path, key): (&String, &String)| {
            let text = files.read(path);
            text.is_some_and(|text| settings(path, &text).is_none_or(|file| value_at(&file, key).is_some()))
        };
        (!words.is_empty() && self.absent.iter().all(absent) && !self.instead.iter().any(overruled)).then_some(words)
    }
}

/// Returns `true` if a path is a folder or something below it.
fn is_below(path: &str, folder: &str) -> bool {
    let plain = |text: &str| text.trim_start_matches("./").trim_end_matches('/').to_owned();
    let (path, folder) = (plain(path), plain(folder));
    path.strip_prefix(&*folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns `folder` and its parents, without the folder that the path is relative to.
fn folders_to(folder: &str) -> impl Iterator<Item = &str> {
    folder.match_indices('/').map(|(at, _)| &folder[..at]).chain([folder])
}

/// Returns the tables of a file of settings, or `None` if it cannot be read.
pub(super) fn settings(path: &str, text: &str) -> Option<toml::Table> {
    match path.rsplit('.').next() {
        Some("toml") => toml::from_str(text).ok(),
        Some("json") => serde_json::from_str(text).ok(),
        Some("yaml" | "yml") => Some(lists(text)),
        _ => ini(text),
    }
}

/// Reads the lists of plain texts at the top of a YAML file. Everything else is left out.
fn lists(text: &str) -> toml::Table {
    let (mut file, mut key) = (toml::Table::new(), None);
    for line in text.lines().map(str::trim_end).filter(|line| !line.trim_start().starts_with('#')) {
        let entry = line.trim_start().strip_prefix("- ").map(|entry| entry.split(" #").next().unwrap_or(entry).trim());
        match entry {
            Some(entry) => {
                let list = key.as_ref().and_then(|key: &String| file.get_mut(key)).and_then(toml::Value::as_array_mut);
                let entry = entry.trim_matches(['"', '\'']).to_owned();
                if let Some(list) = list {
                    list.push(entry.into());
                }
            }
            None if line.is_empty() => {}
            None => {
                key = line.strip_suffix(':').filter(|key| !key.starts_with(' ')).map(str::to_owned);
                let new = key.iter().map(|key| (key.clone(), toml::Value::Array(Vec::new())));
                file.extend(new);
            }
        }
    }
    file
}

/// Reads an INI file. The lines of a value stay lines. A section or a key that is there twice makes it unreadable.
fn ini(text: &str) -> Option<toml::Table> {
    let mut file = toml::Table::new();
    let (mut section, mut key) = (None::<String>, None::<String>);
    for line in text.lines().filter(|line| !line.trim_start().starts_with(['#', ';'])) {
        let header = line.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(name, _)| name);
        if let Some(name) = header {
            let new = file.insert(name.to_owned(), toml::Table::new().into()).is_none();
            (section, key) = (new.then(|| name.to_owned()), None);
            section.as_ref()?;
        } else if !line.trim().is_empty() {
            let values = file.get_mut(section.as_deref()?)?.as_table_mut()?;
            if line.starts_with(char::is_whitespace) {
                let value = values.get_mut(key.as_deref()?)?;
                *value = format!("{}\n{}", value.as_str()?, line.trim()).into();
            } else {
                let (name, value) = line.split_once(['=', ':'])?;
                key = Some(name.trim().to_owned());
                if values.insert(name.trim().to_owned(), value.trim().into()).is_some() {
                    return None;
                }
            }
        }
    }
    Some(file)
}

/// Returns the value of a key, `table.key`.
pub(super) fn value_at<'t>(file: &'t toml::Table, key: &str) -> Option<&'t toml::Value> {
    let mut names = key.split('.');
    let first = names.next().and_then(|name| file.get(name));
    names.fold(first, |value, name| value?.get(name))
}

impl Arguments {
    /// Adds to `essence` the defaults of this project. `at_root`: the command runs at the root of the working tree.
    /// `files` are those in its directory.
    pub(crate) fn imply(&self, essence: &mut Essence, at_root: bool, files: &dyn ProjectFiles) {
        let own_files = OwnSections { files, sections: &self.sections };
        // Without them, a setting may stand for words.
        let (optional, others): (Vec<_>, Vec<_>) = self.indifferent.iter().partition(|rule| rule.optional);
        for rule in optional {
            rule.apply(essence, &own_files);
        }
        let words = self.implied.iter().find_map(|implied| implied.words(&essence.options, at_root, files));
        let is_meant = |essence: &Essence, words: &[String]| {
            let own = essence.words.iter().map(|word| word.strip_prefix("./").unwrap_or(word));
            essence.words.is_empty() || own.eq(words.iter())
        };
        if let Some(words) = words.as_ref().filter(|words| is_meant(essence, words)) {
            essence.words.clone_from(words);
            essence.by_setting = true;
        }
        if let Some(single) = &self.single {
            single.apply(essence, files);
        }
        let own = essence.words.clone();
        for rule in others {
            rule.apply(essence, &own_files);
        }
        if let Some(words) = words.filter(|_| essence.words.is_empty()) {
            let is_part = |word: &String| words.iter().any(|folder| is_below(word, folder));
            essence.by_setting = own.iter().all(is_part);
            essence.words = if essence.by_setting { words } else { own };
        }
        let holds = |implied: &&Implied| implied.file(&essence.options, at_root, files).is_some();
        let implied: Vec<OptionChoice> = self
            .implied
            .iter()
            .filter(|implied| !implied.option.is_empty())
            .filter(holds)
            .map(|implied| OptionChoice { name: implied.option.clone(), value: None, more: true })
            .collect();
        essence.options.extend(implied);
        essence.options.sort();
        essence.options.dedup();
        if let Some(members) = &self.members {
            members.gather(essence, has(&self.more, &members.all, None), files);
        }
        if let Some(packages) = &self.packages {
            packages.gather(essence, files);
        }
    }

    /// Returns the arguments for each member of the workspace, or `None` if `essence` does not mean all of them. The list is
    /// empty if the members are not known.
    pub(crate) fn by_member(&self, essence: &Essence, files: &dyn ProjectFiles) -> Option<Vec<Essence>> {
        self.members.as_ref()?.split(essence, files)
    }

    /// Returns `true` if `essence` means all members, the workspace is that of the root above, and `member` is one of them.
    pub(crate) fn is_of_all_with(&self, essence: &Essence, member: &str, files: &dyn ProjectFiles) -> bool {
        self.members.as_ref().is_some_and(|members| members.is_of_all_with(essence, member, files))
    }

    /// Returns the folder of the one member that `essence` names, and the arguments of the same command there.
    pub(crate) fn at_home(&self, essence: &Essence, files: &dyn ProjectFiles) -> Option<(String, Essence)> {
        self.members.as_ref()?.at_home(essence, files)
    }

    /// Returns `true` if the files in `directory` (an absolute path) show that these arguments have nothing left to do.
    pub(crate) fn is_settled(&self, essence: &Essence, directory: &str, files: &dyn ProjectFiles) -> bool {
        self.settled.as_ref().is_some_and(|settled| settled.holds(essence, directory, files))
    }

    /// Returns `true` if the work that was done already may depend on this file.
    pub(crate) fn may_depend_on(&self, essence: &Essence, path: &str) -> bool {
        self.settled.as_ref().is_none_or(|settled| settled.may_depend_on(essence, path))
    }

    /// Returns the arguments for each package alone; none if they name only one.
    pub(crate) fn by_package(&self, essence: &Essence, files: &dyn ProjectFiles) -> Vec<Essence> {
        self.packages.as_ref().map_or_else(Vec::new, |packages| packages.split(essence, files))
    }

    /// Returns the arguments for each share of the work; none if no options divide it.
    pub(crate) fn by_share(&self, essence: &Essence) -> Vec<Essence> {
        self.shares.as_ref().map_or_else(Vec::new, |shares| shares.split(essence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ini_files() {
        let value = |text: &str, key: &str| {
            ini(text).and_then(|file| value_at(&file, key).and_then(toml::Value::as_str).map(str::to_owned))
        };
        for (text, key, want) in [
            ("[pytest]\ntestpaths = a b\n", "pytest.testpaths", Some("a b")),
            (
                "# c\n[x]\ny=1\n\n[tool:pytest] # c\ntestpaths =\n  a\n\n  # c\n  b\nz: 2\n",
                "tool:pytest.testpaths",
                Some("\na\nb"),
            ),
            ("[pytest]\na = 1\na = 2\n", "pytest.a", None),
            ("[pytest]\na = 1\n[pytest]\nb = 2\n", "pytest.b", None),
            ("a = 1\n[pytest]\nb = 2\n", "pytest.b", None),
            ("[pytest]\n  b = 2\n", "pytest.b", None),
            ("[pytest]\nb\n", "pytest.b", None),
        ] {
            assert_eq!(value(text, key).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn folders_above() {
        assert_eq!(folders_to("a/b/c").collect::<Vec<_>>(), ["a", "a/b", "a/b/c"]);
        assert_eq!(folders_to("a").collect::<Vec<_>>(), ["a"]);
    }
}
