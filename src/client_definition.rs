//! `gates/client-hooks/<client>.toml`: what a client's tools do, what is no person's prompt, and what is installed.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::embedded;

/// One file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientFile {
    /// What its tools do.
    pub tools: Tools,
    /// What is not a person's.
    #[serde(default)]
    pub prompts: Prompts,
    /// What is installed.
    pub install: Install,
}

/// What the tools of a client do. A name that ends in `*` stands for all that begin like it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    reads: Vec<String>,
    shell: Vec<String>,
    edits: Vec<String>,
    plans: Vec<String>,
    asks: Vec<String>,
    delegates: Vec<String>,
    follows: Vec<String>,
}

impl Tools {
    /// Whether the tool only reads.
    pub fn reads(&self, name: &str) -> bool {
        has(&self.reads, name)
    }

    /// Whether it runs command lines.
    pub fn runs(&self, name: &str) -> bool {
        has(&self.shell, name)
    }

    /// Whether it changes files.
    pub fn edits(&self, name: &str) -> bool {
        has(&self.edits, name)
    }

    /// Whether it writes down a plan.
    pub fn plans(&self, name: &str) -> bool {
        has(&self.plans, name)
    }

    /// Whether it asks the person.
    pub fn asks(&self, name: &str) -> bool {
        has(&self.asks, name)
    }

    /// Whether it hands work to a sub-agent, where no event of the client says when that begins and ends.
    pub fn delegates(&self, name: &str) -> bool {
        has(&self.delegates, name)
    }

    /// Whether it shows what became of a command in the background.
    pub fn follows(&self, name: &str) -> bool {
        has(&self.follows, name)
    }
}

fn has(names: &[String], name: &str) -> bool {
    names.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => known == name,
    })
}

/// Prompts that no person wrote.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Prompts {
    /// How they begin.
    pub of_the_client: Vec<String>,
}

/// What is put into a client's settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The program that says that the client is used on this machine.
    pub program: String,
    /// Folders whose existence says so, too: below the home directory.
    pub home: Vec<String>,
    /// Folders whose existence says so: below the root of the working tree.
    pub project: Vec<String>,
    /// The file that is written or edited, below the root of the working tree.
    pub file: String,
    /// How its entries look.
    pub form: SettingsForm,
    /// By event of the client: what is asked of it.
    #[serde(default)]
    pub events: BTreeMap<String, InstalledHook>,
    /// The client refuses its tools where a hook fails, so the hook's line must not: without the program, work goes on.
    #[serde(default)]
    pub refuses_on_failure: bool,
    /// Settings that switch all hooks of the client off.
    #[serde(default)]
    pub switches: Vec<HookSwitch>,
    /// What the user should know.
    #[serde(default)]
    pub note: String,
}

/// The form of a settings file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingsForm {
    /// `{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", …}]}]}}`, joined with what is there.
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
    /// The files that may hold it, the one that decides first: below the root of the working tree, or, with `~/`, below
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
    /// The tools it is called for; empty: all, or an event without tools.
    pub matcher: String,
    /// How long the client waits, in its own unit.
    pub timeout: u32,
    /// How long `gate` takes at most, in seconds.
    pub budget: u32,
}

impl ClientFile {
    /// The file of a client.
    pub fn of(client: &str) -> Self {
        // A test holds the embedded files readable.
        let file = embedded::file(embedded::GATES, &format!("client-hooks/{client}.toml")).unwrap_or_default();
        toml::from_str(file).unwrap_or_default()
    }
}

/// The files of all clients, below the root of a working tree.
pub fn installed_files() -> Vec<String> {
    let files = embedded::GATES.iter().filter(|(name, _)| name.starts_with("client-hooks/"));
    files.filter_map(|(_, text)| Some(toml::from_str::<ClientFile>(text).ok()?.install.file)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_file_is_readable_and_waits_longer_than_gate_takes() {
        let files = embedded::GATES.iter().filter(|(name, _)| name.starts_with("client-hooks/"));
        for (name, text) in files {
            let file: ClientFile = toml::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            for (event, hook) in &file.install.events {
                let unit = if hook.timeout >= 1000 { 1000 } else { 1 };
                assert!(hook.budget > 0 && hook.budget < hook.timeout / unit, "{name}: {event}");
            }
        }
    }

    #[test]
    fn a_star_stands_for_all_that_begin_like_it() {
        let names = ["Read".to_owned(), "mcp__docs__*".to_owned()];
        for (name, there) in [("Read", true), ("Reader", false), ("mcp__docs__find", true), ("mcp__db__write", false)] {
            assert_eq!(has(&names, name), there, "{name}");
        }
    }
}
