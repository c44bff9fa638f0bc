//! Programs that manage hooks: the ones that are here, and the setup that each documents.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::InstallTarget;
use crate::embedded;

/// A hook manager that was found.
#[derive(Clone, Debug)]
pub struct HookManager {
    /// Its name.
    pub name: String,
    /// The file or key it was recognised by.
    pub evidence: String,
    /// The effect on a hook of this program, as a sentence without a full stop.
    pub says: String,
    /// The text to add to its configuration, for all hooks together; `None` if nothing is missing.
    pub add: Option<String>,
    /// Texts that hooks of its making hold.
    pub hook_text: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManagerTable {
    manager: Vec<ManagerEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManagerEntry {
    name: String,
    files: Vec<String>,
    package_json: Option<String>,
    hook_text: Vec<String>,
    /// The environment variable in which it says that it runs a hook that it found.
    running: Option<String>,
    says: String,
    /// The hooks for which `add` is known to work; empty: for any.
    #[serde(default)]
    hooks: Vec<String>,
    #[serde(default)]
    add: BTreeMap<String, String>,
}

/// Returns the hook managers that the working tree is configured for, with their effects on the hooks `names`.
pub fn managers(repository: &InstallTarget, names: &[&str]) -> Vec<HookManager> {
    let Some(root) = repository.root.as_ref() else { return Vec::new() };
    let package = std::fs::read_to_string(root.join("package.json")).unwrap_or_default();
    let package: serde_json::Value = serde_json::from_str(&package).unwrap_or_default();
    let mut found = Vec::new();
    for entry in known() {
        let file = entry.files.iter().find(|file| root.join(file).exists());
        let key = entry.package_json.as_ref().filter(|key| package.get(key).is_some());
        let Some(evidence) = file.cloned().or_else(|| key.map(|key| format!("`{key}` in package.json"))) else {
            continue;
        };
        let added = |name: &&&str| {
            let call = super::husky::call(name);
            let calls = |file: &String| std::fs::read_to_string(root.join(file)).is_ok_and(|text| text.contains(&call));
            entry.files.iter().any(calls)
                || entry.files.iter().any(|folder| calls(&format!("{folder}/{name}")))
                || package.to_string().contains(&call)
        };
        let ending = evidence.rsplit_once('.').map_or("other", |(_, ending)| ending);
        let text = entry.add.get(ending).or_else(|| entry.add.get("other"));
        let known = |name: &&&str| entry.hooks.is_empty() || entry.hooks.iter().any(|hook| hook == **name);
        let missing = names.iter().filter(known).filter(|name| !added(name));
        let add = text.map(|text| missing.map(|name| filled(text, name)).collect::<Vec<_>>().join("\n"));
        found.push(HookManager {
            name: entry.name,
            evidence,
            says: entry.says,
            add: add.filter(|add| !add.is_empty()),
            hook_text: entry.hook_text,
        });
    }
    found
}

fn known() -> Vec<ManagerEntry> {
    embedded::table::<ManagerTable>("hook-managers.toml").manager
}

/// Returns `true` if the manager that wrote a hook file is running this program: it found this program's hook, keeps
/// it, and runs its own work after it. `set` returns `true` if an environment variable is set.
pub fn is_running(hook: &[u8], set: impl Fn(&str) -> bool) -> bool {
    let text = String::from_utf8_lossy(hook);
    let wrote = |entry: &ManagerEntry| entry.hook_text.iter().any(|mark| text.contains(mark.as_str()));
    known().iter().any(|entry| entry.running.as_deref().is_some_and(&set) && wrote(entry))
}

/// Returns `true` if one manager wrote both hook files.
pub(super) fn wrote_both(one: &[u8], other: &[u8]) -> bool {
    let (one, other) = (String::from_utf8_lossy(one), String::from_utf8_lossy(other));
    let marked = |entry: &ManagerEntry, text: &str| entry.hook_text.iter().any(|mark| text.contains(mark.as_str()));
    known().iter().any(|entry| marked(entry, &one) && marked(entry, &other))
}

/// Returns the text of a configuration for the hook `name`: `@NAME@` is `commit-msg`, `@Name@` is `CommitMsg`.
fn filled(text: &str, name: &str) -> String {
    let parts = name.split('-').map(|part| part[..1].to_ascii_uppercase() + &part[1..]);
    text.trim_start_matches('\n').replace("@NAME@", name).replace("@Name@", &parts.collect::<String>())
}

/// Returns the manager that wrote a hook file, by the texts it leaves in it.
pub(super) fn author<'a>(managers: &'a [HookManager], hook: &[u8]) -> Option<&'a HookManager> {
    let text = String::from_utf8_lossy(hook);
    managers.iter().find(|manager| manager.hook_text.iter().any(|mark| text.contains(mark.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manager_that_runs_us_is_not_run_by_us() {
        let hook = b"#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n";
        assert!(is_running(hook, |name| name == "PRE_COMMIT_RUNNING_LEGACY"));
        assert!(!is_running(hook, |_| false));
        assert!(is_running(b"exec prek hook-impl", |name| name == "PREK_RUNNING_LEGACY"));
        assert!(!is_running(b"#!/bin/sh\nmake check\n", |_| true));
        assert!(wrote_both(hook, b"# pre-commit.com, newer") && !wrote_both(hook, b"exec lefthook run"));
        assert!(!wrote_both(b"exit 0", b"exit 0"));
    }

    #[test]
    fn the_table_is_well_formed() {
        let table: ManagerTable = embedded::table("hook-managers.toml");
        for entry in &table.manager {
            assert!(!entry.files.is_empty() && !entry.hook_text.is_empty(), "{}", entry.name);
            assert!(!entry.says.ends_with('.') && !entry.says.contains('@'), "{}", entry.name);
            for add in entry.add.values() {
                assert!(add.contains("@NAME@") && add.contains("gate"), "{}", entry.name);
            }
        }
        assert_eq!(filled("\n@Name@:\n  x @NAME@", "commit-msg"), "CommitMsg:\n  x commit-msg");
    }
}
