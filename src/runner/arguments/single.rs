//! Words with a sign in front that mean the project here alone, which may be the only one.

use serde::Deserialize;

use super::Essence;
use crate::runner::project_files::ProjectFiles;

/// The sign of the project here, and the file that would name other projects.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct SingleProject {
    /// The text in front of a task of the project here: `:test`.
    pub sign: String,
    /// The file that lists the other projects, by its possible names.
    pub file: Vec<String>,
    /// Texts of which the file has one if there may be others.
    pub lacks: Vec<String>,
}

impl SingleProject {
    /// Removes the sign from the words if there is no other project.
    pub(super) fn apply(&self, essence: &mut Essence, files: &dyn ProjectFiles) {
        let texts: Vec<String> = self.file.iter().filter_map(|name| files.read(name)).collect();
        let alone = !texts.is_empty() && !texts.iter().any(|text| self.lacks.iter().any(|lack| text.contains(lack)));
        let plain =
            |word: &str| Some(word.strip_prefix(&self.sign)?.to_owned()).filter(|rest| !rest.contains(&self.sign));
        for word in essence.words.iter_mut().chain(&mut essence.included).filter(|_| alone) {
            *word = plain(word).unwrap_or_else(|| word.clone());
        }
    }
}
