//! The files `gates/client-hooks/<client>.toml`: the actions of a client's tools, its own prompts, and the installed
//! hooks.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use crate::embedded;

/// The definition of one client.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientFile {
    /// The actions of its tools.
    pub tools: Tools,
    /// The prompts that no person wrote.
    #[serde(default)]
    pub prompts: Prompts,
    /// The installation.
    pub install: Install,
}

/// The actions of a client's tools. A name that ends in `*` matches all names that begin with it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// The tools that only read.
    pub reads: ToolNames,
    /// The tools that run command lines.
    pub shell: ToolNames,
    /// The tools that change files.
    pub edits: ToolNames,
    /// The tools that write down a plan.
    pub plans: ToolNames,
    /// The tools that ask the person a question.
    pub asks: ToolNames,
    /// The tools that pass work to a sub-agent, in a client that has no events for its start and end.
    pub delegates: ToolNames,
    /// The tools that show the result of a command in the background.
    pub follows: ToolNames,
}

/// Names of tools.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ToolNames(Vec<String>);

impl ToolNames {
    /// Returns `true` if a tool of this name is among them.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| match known.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => known == name,
        })
    }
}

/// Prompts that no person wrote.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Prompts {
    /// The texts that they begin with.
    pub of_the_client: Vec<String>,
    /// `true` if the client shows its agent nothing when a session starts: the first prompt brings the lessons of earlier
    /// tasks.
    pub bring_lessons: bool,
}

/// The installation of hooks in a client's settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The program that shows that the client is used on this machine.
    pub program: String,
    /// Folders below the home directory that show it, too.
    pub home: Vec<String>,
    /// Folders below the root of the working tree that show it, too.
    pub project: Vec<String>,
    /// The file that is written or edited, below the root of the working tree.
    pub file: String,
    /// The form of its entries.
    pub form: SettingsForm,
    /// The file with instructions that the client gives its agent first, below the root of the working tree.
    pub instructions: String,
    /// The hook for each event of the client.
    #[serde(default)]
    pub events: BTreeMap<String, InstalledHook>,
    /// `true` if the client refuses its tools when a hook fails, so the hook's line must not fail: without the program,
    /// work goes on.
    #[serde(default)]
    pub refuses_on_failure: bool,
    /// Settings that switch all hooks of the client off.
    #[serde(default)]
    pub switches: Vec<HookSwitch>,
    /// A note for the user.
    #[serde(default)]
    pub note: String,
}

/// The form of a settings file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingsForm {
    /// `{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", …}]}]}}`, merged with the other entries.
    #[default]
    Settings,
    /// `{"version": 1, "hooks": {EVENT: [{"type": "command", "bash": …}]}}`, a file of its own.
    HooksFile,
    /// A plugin, a file of its own.
    Plugin,
}

/// A setting that switches all hooks of a client off.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookSwitch {
    /// The files that may contain it, in order of precedence: below the root of the working tree, or, with `~/`, below
    /// the home directory.
    pub files: Vec<String>,
    /// Its key, with dots.
    pub key: String,
    /// The value that switches the hooks off.
    pub off: bool,
}

/// A hook that is installed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InstalledHook {
    /// The tools that it is called for. Empty for all, or for an event without tools.
    pub matcher: String,
    /// The time limit of the client, in its own unit.
    pub timeout: u32,
    /// The time limit of `gate`, in seconds.
    pub budget: u32,
}

impl ClientFile {
    /// Returns the definition of a client.
    pub fn of(client: &str) -> Self {
        static READ: Mutex<BTreeMap<String, ClientFile>> = Mutex::new(BTreeMap::new());
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let file = read.entry(client.to_owned());
        file.or_insert_with(|| embedded::table(&format!("client-hooks/{client}.toml"))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_file_is_readable_and_waits_longer_than_gate_takes() {
        let names = embedded::TABLES.iter().map(|(name, _)| *name).filter(|name| name.starts_with("client-hooks/"));
        let files: Vec<(&str, ClientFile)> = names.map(|name| (name, embedded::table(name))).collect();
        assert_eq!(
            files.iter().map(|(_, file)| file.install.file.as_str()).collect::<Vec<_>>(),
            embedded::CLIENT_FILES
        );
        for (name, file) in files {
            for (event, hook) in &file.install.events {
                let unit = if hook.timeout >= 1000 { 1000 } else { 1 };
                assert!(hook.budget > 0 && hook.budget < hook.timeout / unit, "{name}: {event}");
            }
        }
    }

    #[test]
    fn a_star_stands_for_all_that_begin_like_it() {
        let names = ToolNames(vec!["Read".to_owned(), "mcp__docs__*".to_owned()]);
        for (name, there) in [("Read", true), ("Reader", false), ("mcp__docs__find", true), ("mcp__db__write", false)] {
            assert_eq!(names.has(name), there, "{name}");
        }
    }
}
