//! The result of a check, and the list of checks.

use std::path::Path;

use serde::Serialize;

use super::{clients, hook_file, hook_settings};
use crate::install::{InstallTarget, managers};

/// The oldest git that is tested with.
const OLDEST_GIT: (u32, u32, u32) = (2, 39, 0);

/// The health of a part of the installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// As it should be.
    Ok,
    /// It works, and may not for long, or not for everybody.
    Warn,
    /// It does not work.
    Broken,
}

impl Health {
    /// Returns the worst of several.
    pub fn worst(checks: &[DoctorCheck]) -> Self {
        checks.iter().map(|check| check.health).max().unwrap_or(Self::Ok)
    }
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoctorCheck {
    /// A word for the checked part, in kebab-case.
    pub id: &'static str,
    /// The state.
    pub health: Health,
    /// The observation.
    pub what: String,
    /// The remedy; empty if none is needed.
    pub remedy: String,
}

impl DoctorCheck {
    /// Returns a check that passed.
    pub fn ok(id: &'static str, what: impl Into<String>) -> Self {
        Self { id, health: Health::Ok, what: what.into(), remedy: String::new() }
    }

    /// Returns a check with a warning.
    pub fn warn(id: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { id, health: Health::Warn, what: what.into(), remedy: remedy.into() }
    }

    /// Returns a check that failed.
    pub fn broken(id: &'static str, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { id, health: Health::Broken, what: what.into(), remedy: remedy.into() }
    }
}

/// Checks of another part of the program: its journal, its policy, the things that hide edits.
pub type CheckSource<'a> = Box<dyn FnOnce() -> Vec<DoctorCheck> + 'a>;

/// Checks everything: git, the repository, the parts in `more`, the hook and the settings that could keep it from
/// running, and last the canary.
pub fn examine(repository: &InstallTarget, more: Vec<CheckSource<'_>>) -> Vec<DoctorCheck> {
    let mut checks = vec![git(repository), kind(repository)];
    checks.extend(more.into_iter().flat_map(|source| source()));
    for (at, name) in crate::install::guarding_hooks(repository).iter().enumerate() {
        let (mut found, reached) = hook_file::look(repository, name);
        found.extend(hook_settings::look(repository, name));
        if reached {
            found.push(super::canary_push::send(repository, name));
        }
        // What another hook misses, the first one still sees.
        for check in found.iter_mut().filter(|_| at > 0) {
            check.health = check.health.min(Health::Warn);
            check.id = of_commits(check.id);
        }
        // The record and the program are the same for all hooks.
        found.retain(|check| at == 0 || !matches!(check.id, "install" | "program"));
        checks.extend(found);
    }
    checks.extend(clients::look(repository));
    checks.extend(hook_settings::switches());
    checks.extend(hook_managers(repository));
    checks
}

/// Returns the id of the same check for the hook that judges commits.
fn of_commits(id: &'static str) -> &'static str {
    match id {
        "hook" => "commit-hook",
        "hook-moved" => "commit-hook-moved",
        "chained" => "commit-chained",
        "canary" => "commit-canary",
        other => other,
    }
}

fn git(repository: &InstallTarget) -> DoctorCheck {
    match repository.git_version() {
        Some(version @ (a, b, c)) if version >= OLDEST_GIT => DoctorCheck::ok("git", format!("git {a}.{b}.{c}")),
        Some((a, b, c)) => {
            let (major, minor, _) = OLDEST_GIT;
            let what = format!("git {a}.{b}.{c} is older than {major}.{minor}, the oldest that is tested with");
            DoctorCheck::warn("git", what, "install a newer git")
        }
        None => DoctorCheck::broken("git", "`git --version` gives no version", "install git"),
    }
}

fn kind(repository: &InstallTarget) -> DoctorCheck {
    let shown = |path: &Path| path.display().to_string();
    let what = match &repository.root {
        None => format!("bare repository {}", shown(&repository.git_dir)),
        Some(root) if repository.git_dir.canonicalize().ok().as_ref() == Some(&repository.common_dir) => {
            format!("working tree {}", shown(root))
        }
        Some(root) => format!("linked working tree {} of {}", shown(root), shown(&repository.common_dir)),
    };
    DoctorCheck::ok("repository", what)
}

fn hook_managers(repository: &InstallTarget) -> Vec<DoctorCheck> {
    let names = crate::install::guarding_hooks(repository);
    let found = managers(repository, names).into_iter().map(|manager| {
        let what = format!("{} ({}): {}", manager.name, manager.evidence, manager.says);
        match manager.add {
            Some(add) => DoctorCheck::warn("hook-manager", what, format!("so that it stays, add:\n{add}")),
            None => DoctorCheck::ok("hook-manager", what),
        }
    });
    found.collect()
}
