//! The options and words that a file of the project sets for every command line of a runner.

use serde::Deserialize;

use super::{Arguments, Essence, OptionChoice};
use crate::runner::project_files::ProjectFiles;

/// An option that changes nothing, or words that are meant where there are none, while a TOML file of the project has, and
/// lacks, these keys.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Implied {
    /// The option; empty where it is about words.
    pub option: String,
    /// The key of a list of words that count where no other is there: `tool.pytest.ini_options.testpaths`.
    pub words: String,
    /// Files that must not be there: they count instead. `*/x`: in no folder that is one of the words.
    pub absent: Vec<String>,
    /// The file, relative to where the command runs.
    pub file: String,
    /// Keys that the file must have: `table.key`.
    pub has: Vec<String>,
    /// Keys that it must not have.
    pub lacks: Vec<String>,
    /// `true` if this counts only at the root of the working tree: in other folders a file above may override it.
    pub at_root: bool,
    /// Options with which it is another file that counts.
    pub unless: Vec<String>,
}

impl Implied {
    /// Returns the file, if it has these keys.
    fn file(&self, options: &[OptionChoice], at_root: bool, files: &dyn ProjectFiles) -> Option<toml::Table> {
        if self.at_root && !at_root || options.iter().any(|choice| self.unless.contains(&choice.name)) {
            return None;
        }
        let file = files.read(&self.file).and_then(|text| toml::from_str::<toml::Table>(&text).ok())?;
        let has = |key: &String| value_at(&file, key).is_some();
        (self.has.iter().all(has) && !self.lacks.iter().any(has)).then_some(file)
    }

    /// Returns the words of its list, unless other words replace them.
    fn words(&self, options: &[OptionChoice], at_root: bool, files: &dyn ProjectFiles) -> Option<Vec<String>> {
        let file = self.file(options, at_root, files).filter(|_| !self.words.is_empty())?;
        let list = value_at(&file, &self.words)?.as_array()?;
        let plain = |word: &str| {
            !word.is_empty() && !word.contains(['*', '?', '[', '.', '\\', ' ']) && !word.starts_with(['-', '/'])
        };
        let word = |value: &toml::Value| {
            value.as_str().filter(|word| plain(word)).map(|word| word.trim_end_matches('/').to_owned())
        };
        let words: Vec<String> = list.iter().map(word).collect::<Option<_>>()?;
        let there = |path: &str| files.read(path).is_some();
        let instead = |path: &String| match path.strip_prefix("*/") {
            Some(name) => words.iter().any(|word| there(&format!("{word}/{name}"))),
            None => there(path),
        };
        (!words.is_empty() && !self.absent.iter().any(instead)).then_some(words)
    }
}

/// Returns the value of a key, `table.key`.
fn value_at<'t>(file: &'t toml::Table, key: &str) -> Option<&'t toml::Value> {
    let mut names = key.split('.');
    let first = names.next().and_then(|name| file.get(name));
    names.fold(first, |value, name| value?.get(name))
}

impl Arguments {
    /// Adds to `essence` the defaults of this project. `at_root`: the command runs at the root of the working tree.
    /// `files` are those in its directory.
    pub(crate) fn imply(&self, essence: &mut Essence, at_root: bool, files: &dyn ProjectFiles) {
        if essence.words.is_empty() {
            let words = self.implied.iter().find_map(|implied| implied.words(&essence.options, at_root, files));
            essence.words = words.unwrap_or_default();
        }
        for rule in &self.indifferent {
            rule.apply(essence, files);
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
    }
}
