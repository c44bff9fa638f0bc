//! The answers that the repository gave about the names in a prompt. The evaluation reads them and looks nothing up.

use std::collections::BTreeMap;

use serde::Serialize;

use super::prompt_text::{NameInPrompt, NameKind};

/// The result of looking one name up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LookupResult {
    /// The paths that hold it, sorted; empty when it is missing.
    pub places: Vec<String>,
    /// It is the name itself, and not a part of a longer one.
    pub exact: bool,
}

/// The results for one prompt.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// By name. A name that is not here was not looked up in time, which says nothing about it.
    pub names: BTreeMap<String, LookupResult>,
    /// The commands that can be run here, such as `make test`.
    pub commands: Vec<String>,
    /// Most of the source files make up an interface.
    pub is_frontend: bool,
}

/// The result of looking up a name of the prompt in the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    One,
    Several(Vec<String>),
    Part(Vec<String>),
    Missing,
    Unknown,
}

/// Returns `true` for a path that is another one or in a folder of that name.
fn is_within(path: &str, outer: &str) -> bool {
    path == outer || path.starts_with(&format!("{outer}/")) || path.contains(&format!("/{outer}/"))
}

/// The shortest part of a path that a longer word stands for: "production" for `prod.yaml`.
const MIN_SHORT_FORM: usize = 3;

/// Returns `true` if a plain word of the prompt is a part of the path of one place: "`Tooltip` in charts".
fn is_qualified(name: &NameInPrompt, places: &[String], all: &[NameInPrompt]) -> bool {
    let words = all.iter().filter(|other| other.kind == NameKind::Word && other.text != name.text);
    !name.kind.is_plain()
        && words.map(|word| word.text.to_lowercase()).any(|word| {
            let count = places.iter().filter(|place| has_part(place, &word)).count();
            count > 0 && count < places.len()
        })
}

/// Returns `true` if a folder or the file of a path is called as a word, or as its first letters.
fn has_part(path: &str, word: &str) -> bool {
    let stem = |part: &str| part.split('.').next().unwrap_or_default().to_lowercase();
    let is_short = |part: &str| part.len() >= MIN_SHORT_FORM && word.len() > part.len() + MIN_SHORT_FORM;
    path.split('/').map(stem).any(|part| part == word || is_short(&part) && word.starts_with(&part))
}

impl Findings {
    /// Resolves a name. If it has several places, another name of the prompt in one of them decides.
    pub(super) fn resolve(&self, name: &NameInPrompt, all: &[NameInPrompt]) -> Resolution {
        let Some(found) = self.names.get(&name.text) else {
            return if name.kind == NameKind::Command { Resolution::One } else { Resolution::Unknown };
        };
        match found.places.as_slice() {
            [] => Resolution::Missing,
            [_] if found.exact => Resolution::One,
            places if found.exact => {
                let others = all.iter().filter(|other| other.text != name.text);
                let decided = others.filter_map(|other| self.names.get(&other.text)).any(|other| {
                    let within = |place: &&String| other.places.iter().any(|outer| is_within(place, outer));
                    let count = places.iter().filter(within).count();
                    other.exact && other.places.len() < places.len() && count > 0 && count < places.len()
                });
                if decided || is_qualified(name, places, all) {
                    Resolution::One
                } else {
                    Resolution::Several(places.to_vec())
                }
            }
            places => Resolution::Part(places.to_vec()),
        }
    }
}
