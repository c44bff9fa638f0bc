//! Hooks that git reads from its configuration, and switches that turn hooks off.

use super::DoctorCheck;
use crate::install::{HookConfig, InstallTarget};

/// The first version of git that reads hooks from its configuration.
const CONFIG_HOOKS: (u32, u32, u32) = (2, 54, 0);

/// Switches of hook managers: variable, the value that turns everything off.
const SWITCHES: [(&str, &str); 3] = [("HUSKY", "0"), ("LEFTHOOK", "0"), ("SKIP_SIMPLE_GIT_HOOKS", "1")];

/// Names every setting that keeps the hook `name` from running, and the other hooks of the same event.
pub(super) fn look(repository: &InstallTarget, name: &str) -> Vec<DoctorCheck> {
    let reads = repository.git_version().is_some_and(|version| version >= CONFIG_HOOKS);
    judge(&repository.hook_config(), name, reads)
}

/// Names every variable that turns a hook manager off.
pub(super) fn switches() -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    for (variable, value) in SWITCHES {
        if std::env::var(variable).is_ok_and(|set| set == value) {
            let what = format!("{variable}={value} is in the environment: that hook manager runs no hook");
            checks.push(DoctorCheck::warn("hook-config", what, format!("unset {variable}")));
        }
    }
    checks
}

/// Returns `true` if git reads a hook from its configuration that calls gate at this event.
pub(super) fn calls_gate(repository: &InstallTarget, name: &str) -> bool {
    let reads = repository.git_version().is_some_and(|version| version >= CONFIG_HOOKS);
    reads && has_call(&repository.hook_config(), name)
}

fn has_call(settings: &[HookConfig], name: &str) -> bool {
    let call = format!("gate hook git {name}");
    let last = |hook: &str, key: &str| settings.iter().rev().find(|s| s.name == hook && s.key == key);
    let on = |hook: &str| last(hook, "enabled").is_none_or(|setting| !is_false(&setting.value));
    on(name)
        && settings
            .iter()
            .filter(|s| s.key == "event" && s.value == name)
            .any(|s| on(&s.name) && last(&s.name, "command").is_some_and(|command| command.value.contains(&call)))
}

fn judge(settings: &[HookConfig], name: &str, reads: bool) -> Vec<DoctorCheck> {
    let value = |hook: &str, key: &str| settings.iter().rev().find(|s| s.name == hook && s.key == key);
    let mut checks = Vec::new();
    for setting in settings.iter().filter(|setting| setting.key == "enabled" && is_false(&setting.value)) {
        let event = setting.name == name;
        let gate = value(&setting.name, "command").is_some_and(|command| command.value.contains("gate hook git"));
        let in_force = value(&setting.name, "enabled").is_some_and(|last| is_false(&last.value));
        if !(event || gate) || !in_force {
            continue;
        }
        let key = format!("hook.{}.enabled", setting.name);
        let remedy = format!("git config --{} --unset-all {key}", setting.scope);
        checks.push(if reads {
            DoctorCheck::broken(
                "hook-config",
                format!("{key} is false ({}): git skips the hook", setting.scope),
                remedy,
            )
        } else {
            let what = format!("{key} is false ({}): git 2.54 and later skip the hook", setting.scope);
            DoctorCheck::warn("hook-config", what, remedy)
        });
    }
    for setting in settings.iter().filter(|setting| setting.key == "event" && setting.value == name) {
        let command = value(&setting.name, "command").map_or("no command", |command| command.value.as_str());
        let what = format!("git also runs `{command}` at {name} (hook.{}, {})", setting.name, setting.scope);
        checks.push(DoctorCheck::ok("hook-config", what));
    }
    checks
}

fn is_false(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0" | "")
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn a_hook_that_is_switched_off_is_named() {
        let set = |name: &str, key: &str, value: &str| HookConfig {
            scope: "local".to_owned(),
            name: name.to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
        };
        let gate = set("g", "command", "gate hook git pre-push");
        for (settings, reads, expected) in [
            (vec![], true, vec![]),
            (vec![set("pre-push", "enabled", "false")], true, vec![Health::Broken]),
            (vec![set("pre-push", "enabled", "no")], false, vec![Health::Warn]),
            (vec![set("pre-push", "enabled", "false"), set("pre-push", "enabled", "true")], true, vec![]),
            (vec![set("pre-commit", "enabled", "false")], true, vec![]),
            (vec![gate.clone(), set("g", "event", "pre-push")], true, vec![Health::Ok]),
            (
                vec![gate.clone(), set("g", "event", "pre-push"), set("g", "enabled", "0")],
                true,
                vec![Health::Broken, Health::Ok],
            ),
            (vec![set("lint", "event", "pre-push"), set("lint", "enabled", "false")], true, vec![Health::Ok]),
        ] {
            let found: Vec<Health> = judge(&settings, "pre-push", reads).iter().map(|check| check.health).collect();
            assert_eq!(found, expected, "{settings:?}");
            let called = settings.contains(&gate) && !settings.iter().any(|s| s.key == "enabled");
            assert_eq!(has_call(&settings, "pre-push"), called, "{settings:?}");
        }
    }
}
