//! `prompts`: notes about requests, on or off.

use crate::regular_file;
use std::path::Path;

use toml::de::DeTable;

use super::FILE;

/// Notes to agents about requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptNotes {
    /// An agent gets a note with an unclear request, and the person's scores are kept.
    #[default]
    On,
    /// Nothing is looked at and nothing is kept.
    Off,
}

/// The values of the key.
pub(super) const PROMPT_NOTES: &[(&str, PromptNotes)] = &[("on", PromptNotes::On), ("off", PromptNotes::Off)];

/// Returns the setting in the working tree. It changes no verdict, so it needs no trusted source; a file that cannot be
/// read is reported elsewhere.
pub fn prompt_notes(root: &Path) -> PromptNotes {
    let text = regular_file::read_text(&root.join(FILE)).unwrap_or_default();
    let said = DeTable::parse(&text)
        .ok()
        .and_then(|table| Some(table.get_ref().get("prompts")?.get_ref().as_str() == Some("off")));
    if said == Some(true) { PromptNotes::Off } else { PromptNotes::On }
}
