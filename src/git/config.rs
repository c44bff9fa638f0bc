//! Git's configuration: every entry, and the place where it was set.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

use serde::{Deserialize, Serialize};

use super::{GitError, Repo};

/// The configuration files of the machine, for each place where a build of git looks for them.
const OF_THE_MACHINE: [&str; 3] = ["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

/// The place where a setting was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigScope {
    /// For the whole machine.
    System,
    /// By the user, for all repositories.
    Global,
    /// For this repository.
    Local,
    /// For this working tree.
    Worktree,
    /// On a command line or in the environment.
    Command,
}

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEntry {
    /// The place where it was made.
    pub scope: ConfigScope,
    /// `section.subsection.name`, section and name in lower case.
    pub key: String,
    /// Its value; `true` where the file gives none.
    pub value: String,
}

impl ConfigEntry {
    /// Returns `true` if the setting belongs to this repository and not to the person or the machine.
    pub fn is_local(&self) -> bool {
        matches!(self.scope, ConfigScope::Local | ConfigScope::Worktree)
    }
}

impl Repo {
    /// Returns the value that counts for `key`: the last one.
    pub fn config(&self, key: &str) -> Result<Option<String>, GitError> {
        let key = normal(key);
        Ok(self.config_entries()?.into_iter().rev().find(|entry| entry.key == key).map(|entry| entry.value))
    }

    /// Returns every setting that counts here, in the order in which later ones win.
    pub fn config_entries(&self) -> Result<Vec<ConfigEntry>, GitError> {
        // libgit2 does not know where these variables point.
        let moved = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"].iter().any(|name| env::var_os(name).is_some());
        let read = if moved { None } else { self.library(read_with_library) };
        if let Some(entries) = read { Ok(entries) } else { self.listed_config() }
    }

    /// Asks git, unless it was asked before and none of the files has changed since.
    fn listed_config(&self) -> Result<Vec<ConfigEntry>, GitError> {
        let stamps = self.config_files().iter().map(|file| stamp(file)).collect();
        let mut known = self.known_config();
        if let Some(known) = known.as_ref().filter(|known| known.stamps == stamps) {
            return Ok(known.entries.clone());
        }
        let entries = parse_list(&self.git(["config", "--list", "--show-scope", "-z"])?)?;
        // The files that these name are not watched.
        let includes = entries.iter().any(|entry| entry.key.starts_with("include"));
        *known = Some(ListedConfig { stamps, entries: entries.clone() }).filter(|_| !includes);
        Ok(entries)
    }

    /// Returns all files that git may read without being sent to them by another one, existing or not.
    fn config_files(&self) -> Vec<PathBuf> {
        let home = |name: &str, below: &str| env::var_os(name).map(|home| Path::new(&home).join(below));
        let named = [
            env::var_os("GIT_CONFIG_SYSTEM").map(PathBuf::from),
            env::var_os("GIT_CONFIG_GLOBAL").map(PathBuf::from),
            home("HOME", ".gitconfig"),
            home("HOME", ".config/git/config"),
            home("XDG_CONFIG_HOME", "git/config"),
            Some(self.common_dir().join("config")),
            Some(self.git_dir().join("config.worktree")),
        ];
        named.into_iter().flatten().chain(OF_THE_MACHINE.into_iter().map(PathBuf::from)).collect()
    }
}

/// The configuration as git listed it, while its files stayed as they were.
#[derive(Debug)]
pub(super) struct ListedConfig {
    stamps: Vec<Option<FileStamp>>,
    entries: Vec<ConfigEntry>,
}

/// The size and the time of the last change of a file.
type FileStamp = (u64, Option<SystemTime>);

fn stamp(file: &Path) -> Option<FileStamp> {
    let meta = fs::metadata(file).ok()?;
    Some((meta.len(), meta.modified().ok()))
}

/// Parses a git boolean.
pub(super) fn parse_flag(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" | "" => Some(false),
        _ => None,
    }
}

fn read_with_library(library: &git2::Repository) -> Result<Vec<ConfigEntry>, git2::Error> {
    let no_system = env::var("GIT_CONFIG_NOSYSTEM").ok().and_then(|value| parse_flag(&value)).unwrap_or(false);
    let mut entries = Vec::new();
    library.config()?.snapshot()?.entries(None)?.for_each(|entry| {
        let scope = match entry.level() {
            git2::ConfigLevel::ProgramData | git2::ConfigLevel::System if no_system => return,
            git2::ConfigLevel::ProgramData | git2::ConfigLevel::System => ConfigScope::System,
            git2::ConfigLevel::XDG | git2::ConfigLevel::Global => ConfigScope::Global,
            git2::ConfigLevel::Local => ConfigScope::Local,
            git2::ConfigLevel::Worktree => ConfigScope::Worktree,
            _ => ConfigScope::Command,
        };
        let value = if entry.has_value() { entry.value_bytes() } else { b"true" };
        entries.push(ConfigEntry {
            scope,
            key: String::from_utf8_lossy(entry.name_bytes()).into_owned(),
            value: String::from_utf8_lossy(value).into_owned(),
        });
    })?;
    // Later scopes win, whatever the order in which the library visits them.
    entries.sort_by_key(|entry| entry.scope as u8);
    Ok(entries)
}

fn parse_list(bytes: &[u8]) -> Result<Vec<ConfigEntry>, GitError> {
    let text = String::from_utf8_lossy(bytes);
    let mut fields = text.split_terminator('\0');
    let mut entries = Vec::new();
    while let Some(scope) = fields.next() {
        let scope = match scope {
            "system" => ConfigScope::System,
            "global" => ConfigScope::Global,
            "local" => ConfigScope::Local,
            "worktree" => ConfigScope::Worktree,
            // What every command of ours carries itself is not a setting of the user's.
            "command" => {
                fields.next();
                continue;
            }
            other => {
                return Err(GitError::Malformed { command: "config --list".to_owned(), what: other.to_owned() });
            }
        };
        let entry = fields.next().unwrap_or_default();
        let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
        entries.push(ConfigEntry { scope, key: key.to_owned(), value: value.to_owned() });
    }
    Ok(entries)
}

/// Returns a key in the case that entries have: the subsection keeps its own.
fn normal(key: &str) -> String {
    match (key.find('.'), key.rfind('.')) {
        (Some(first), Some(last)) if first < last => {
            format!("{}{}{}", key[..first].to_ascii_lowercase(), &key[first..last], key[last..].to_ascii_lowercase())
        }
        _ => key.to_ascii_lowercase(),
    }
}

/// Returns the entry that counts for a key in lower case.
pub(super) fn last<'c>(config: &'c [ConfigEntry], key: &str) -> Option<&'c ConfigEntry> {
    config.iter().rev().find(|entry| entry.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_case_of_their_subsection() {
        for (key, expected) in [
            ("core.hooksPath", "core.hookspath"),
            ("Remote.Origin.pushURL", "remote.Origin.pushurl"),
            ("url.https://Host/.insteadOf", "url.https://Host/.insteadof"),
        ] {
            assert_eq!(normal(key), expected);
        }
    }

    #[test]
    fn a_list_may_hold_newlines_and_missing_values() {
        let list = b"local\0core.bare\nfalse\0command\0core.fsmonitor\nfalse\0local\0a.b\0global\0x.y\none\ntwo\0";
        let entries = parse_list(list).unwrap();
        let plain: Vec<_> = entries.iter().map(|entry| (entry.scope, &*entry.key, &*entry.value)).collect();
        assert_eq!(
            plain,
            [
                (ConfigScope::Local, "core.bare", "false"),
                (ConfigScope::Local, "a.b", "true"),
                (ConfigScope::Global, "x.y", "one\ntwo")
            ]
        );
        assert!(parse_list(b"martian\0a.b\n1\0").is_err());
    }
}
