//! The clients whose logs can be read, the names of their tools, and the places of their logs: `gates/agents.toml`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::str::FromStr;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::embedded;
use crate::shell_kind::Shell;

/// A coding agent's client.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// OpenCode.
    Opencode,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot CLI.
    Copilot,
}

as_str!(Client);

impl Client {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Opencode, Self::Gemini, Self::Copilot];

    /// Returns the shell to which it gives command lines, as far as its environment says: `variable` returns the value
    /// of a variable. `None`: it may be one of several.
    pub fn shell(self, variable: impl Fn(&str) -> Option<String>) -> Option<Shell> {
        let set_to = |name: &str, known: &[Shell]| {
            variable(name).and_then(|path| Shell::of_path(&path)).filter(|shell| known.contains(shell))
        };
        match self {
            // Anything but these two is passed over for the one of them that is there.
            Self::Claude => {
                let known = [Shell::Bash, Shell::Zsh];
                set_to("CLAUDE_CODE_SHELL", &known).or_else(|| set_to("SHELL", &known))
            }
            Self::Opencode => set_to("SHELL", &[Shell::Bash, Shell::Zsh, Shell::Sh]),
            // The shell of the account, which need not be the one in SHELL.
            Self::Codex => account_shell(),
            Self::Gemini | Self::Copilot => (!cfg!(windows)).then_some(Shell::Bash),
        }
    }

    /// Returns the purpose of a tool of this client.
    pub(super) fn role(self, tool: &str) -> ToolRole {
        CLIENTS.roles.get(&self).and_then(|roles| roles.get(tool)).copied().unwrap_or(ToolRole::Other)
    }

    /// Whether it is known what a tool of this client is for.
    pub(super) fn has(self, tool: &str) -> bool {
        CLIENTS.roles.get(&self).is_some_and(|roles| roles.contains_key(tool))
    }

    /// Whether it writes records of this kind that tell of no act.
    pub(super) fn writes(self, kind: &str) -> bool {
        CLIENTS.records.get(&self).is_some_and(|records| records.contains(kind))
    }

    /// Returns the possible places of its logs, the likeliest first.
    pub(super) fn places(self) -> &'static [LogLocation] {
        CLIENTS.places.get(&self).map_or(&[], Vec::as_slice)
    }
}

/// An unknown client name.
#[derive(Debug, thiserror::Error)]
#[error("no log of a client called `{0}` can be read; known are claude, codex, opencode, gemini and copilot")]
pub struct UnknownClient(String);

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|client| client.as_str() == name).ok_or_else(|| UnknownClient(name.to_owned()))
    }
}

/// The purpose of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ToolRole {
    /// Runs a command line.
    Shell,
    /// Reads the new output of a command in the background.
    ShellOutput,
    /// Changes files.
    Edit,
    /// Only reads.
    Read,
    /// Writes the plan.
    Plan,
    /// Asks the person.
    Ask,
    /// Runs a script that calls other tools.
    Script,
    /// Starts a sub-agent.
    Agent,
    /// Anything else.
    #[default]
    Other,
}

/// The place of logs: below the directory that a variable names, or below the home directory if it is not set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogLocation {
    /// The variable that names a directory.
    pub(super) variable: Option<String>,
    /// The path below the directory that the variable names.
    #[serde(default)]
    pub(super) below: String,
    /// The path below the home directory if the variable is not set.
    pub(super) home: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClientEntry {
    places: Vec<LogLocation>,
    tools: BTreeMap<ToolRole, Vec<String>>,
    records: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ClientsFile {
    logs: BTreeMap<Client, ClientEntry>,
}

#[derive(Debug, Default)]
struct Clients {
    roles: HashMap<Client, HashMap<String, ToolRole>>,
    places: HashMap<Client, Vec<LogLocation>>,
    records: HashMap<Client, HashSet<String>>,
}

static CLIENTS: LazyLock<Clients> = LazyLock::new(|| Clients::of(embedded::table("agents.toml")));

impl Clients {
    fn of(file: ClientsFile) -> Self {
        let mut clients = Self::default();
        for (client, entry) in file.logs {
            let roles =
                entry.tools.into_iter().flat_map(|(role, tools)| tools.into_iter().map(move |tool| (tool, role)));
            clients.roles.insert(client, roles.collect());
            clients.places.insert(client, entry.places);
            clients.records.insert(client, entry.records.into_iter().collect());
        }
        clients
    }
}

/// Returns the shell that the list of accounts names for the user of this process.
#[cfg(target_os = "linux")]
fn account_shell() -> Option<Shell> {
    use std::os::unix::fs::MetadataExt;
    let user = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let entry =
        accounts.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|entry| entry.get(2) == Some(&&*user))?;
    Shell::of_path(entry.get(6)?)
}

/// Returns nothing: other systems keep that list elsewhere.
#[cfg(not(target_os = "linux"))]
fn account_shell() -> Option<Shell> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_file_knows_all_clients() {
        for client in Client::ALL {
            assert!(!client.places().is_empty(), "{client}");
            let roles = &CLIENTS.roles[&client];
            for role in [ToolRole::Shell, ToolRole::Edit, ToolRole::Read] {
                assert!(roles.values().any(|other| *other == role), "{client} {role:?}");
            }
            assert_eq!(client.as_str().parse::<Client>().unwrap(), client);
        }
        assert_eq!(Client::Claude.role("Bash"), ToolRole::Shell);
        assert_eq!(Client::Claude.role("mcp__anything"), ToolRole::Other);
        assert!(Client::Claude.has("Skill") && !Client::Claude.has("mcp__anything"));
        assert!(Client::Claude.writes("summary") && !Client::Claude.writes("something new"));
        assert!("vim".parse::<Client>().is_err());
    }
}
