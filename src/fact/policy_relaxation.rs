//! The requirements of one policy that another one relaxes.

use crate::command_line::{self, ExitDecides, Extent, LineRecord};
use crate::policy::{Command, Gate, Mode, OnUnknown, Policy, Signers};
use crate::runner::{CommandKind, Project, ProjectFiles};
use crate::shell_kind::Shell;

/// Returns the requirements of `old` that `new` relaxes, a phrase for each. Returns none if `new` requires as much, or
/// something else. `files` are those of the root: task files define the meaning of a command line.
pub fn relaxed(old: &Policy, new: &Policy, files: &dyn ProjectFiles) -> Vec<String> {
    let mut found = Vec::new();
    for gate in &old.gates {
        match new.gates.iter().find(|other| other.id == gate.id) {
            Some(other) => less_of_gate(gate, other, &mut found),
            None if gate.mode == Mode::Block => found.push(format!("the gate {} is gone", gate.id)),
            None => {}
        }
    }
    for (who, old, new) in [("agents", old.ci.agents, new.ci.agents), ("people", old.ci.people, new.ci.people)] {
        if new < old {
            found.push(format!("[ci] {who}: {} became {}", old.as_str(), new.as_str()));
        }
    }
    for command in &old.commands {
        match new.commands.iter().find(|other| other.name == command.name) {
            Some(other) => {
                if strength(&other.run, new.project(files)) < strength(&command.run, old.project(files)) {
                    found.push(weaker_line(command, other));
                }
                less_of_command(command, other, &mut found);
            }
            // Under another name it is still asked for.
            None if new.commands.iter().any(|other| other.gate == command.gate && other.run == command.run) => {}
            None => found.push(format!("the command {} is gone", command.name)),
        }
    }
    if old.roles.required && !new.roles.required {
        found.push("[roles] required is off".to_owned());
    }
    for role in old.roles.list.iter().filter(|role| new.roles.named(&role.name).is_none()) {
        found.push(format!("the role {} is gone", role.name));
    }
    for entry in &new.quarantine {
        match old.quarantine.iter().find(|known| known.test == entry.test) {
            None => found.push(format!("the test {} is in quarantine", entry.test)),
            Some(known) if known.until < entry.until => {
                found
                    .push(format!("the quarantine of {} lasts until {}, not {}", entry.test, entry.until, known.until));
            }
            Some(_) => {}
        }
    }
    if new.signers != old.signers && new.signers != Signers::Nobody {
        found.push("the list of signers is different".to_owned());
    }
    found
}

fn less_of_gate(old: &Gate, new: &Gate, found: &mut Vec<String>) {
    let id = &old.id;
    if new.mode < old.mode {
        found.push(format!("the mode of {id} is {} instead of {}", new.mode.as_str(), old.mode.as_str()));
    }
    if old.on_unknown == OnUnknown::Block && new.on_unknown == OnUnknown::Warn && new.mode == Mode::Block {
        found.push(format!("{id}: what cannot be judged does not block"));
    }
    if new.min_grade < old.min_grade {
        found.push(format!("{id}: grade {} is enough instead of {}", new.min_grade.as_str(), old.min_grade.as_str()));
    }
    for moment in old.moments.iter().filter(|moment| !new.moments.contains(moment)) {
        found.push(format!("{id}: it is not asked at {moment}"));
    }
    for (key, value) in &old.params {
        let now = new.params.get(key);
        match (value, now) {
            (toml::Value::Boolean(true), Some(toml::Value::Boolean(false)) | None) => {
                found.push(format!("{id}: {key} is off"));
            }
            // What is protected, and what is left out.
            (toml::Value::Array(old), now) if key == "branches" => {
                let kept =
                    |one: &&toml::Value| now.and_then(toml::Value::as_array).is_some_and(|now| now.contains(one));
                found.extend(old.iter().filter(|one| !kept(one)).map(|one| format!("{id}: {one} is not protected")));
            }
            (toml::Value::Array(old), Some(toml::Value::Array(now))) if key == "ignore" => {
                let added = now.iter().filter(|one| !old.contains(one));
                found.extend(added.map(|one| format!("{id}: {one} is ignored")));
            }
            _ => {}
        }
    }
}

/// Returns the phrase for a command whose line, or the runner of it, proves less.
fn weaker_line(old: &Command, new: &Command) -> String {
    let Command { name, run, .. } = new;
    if *run == old.run {
        return format!("the runner of the command {name} (`{run}`) proves less");
    }
    format!("the command {name} is `{run}` and was `{}`", old.run)
}

fn less_of_command(old: &Command, new: &Command, found: &mut Vec<String>) {
    let name = &old.name;
    if new.gate != old.gate {
        found.push(format!("the command {name} belongs to the gate {} and not to {}", new.gate, old.gate));
    }
    let includes = |globs: &[String]| globs.iter().filter(|glob| !glob.starts_with('!')).cloned().collect::<Vec<_>>();
    let excludes = |command: &Command| {
        let negated = command.inputs.inputs.iter().filter_map(|glob| glob.strip_prefix('!')).map(str::to_owned);
        let plain = command.inputs.ignore.iter().filter(|glob| !glob.starts_with('!')).cloned();
        negated.chain(plain).collect::<Vec<_>>()
    };
    let (before, after) = (includes(&old.inputs.inputs), includes(&new.inputs.inputs));
    let all = after.iter().any(|glob| glob == "**");
    for glob in before.iter().filter(|glob| !all && !after.contains(glob)) {
        found.push(format!("a change of {glob} does not require the command {name}"));
    }
    let before = excludes(old);
    for glob in excludes(new).iter().filter(|glob| !before.contains(glob)) {
        found.push(format!("a change of {glob} does not require the command {name}"));
    }
}

/// Returns the strength of the proof of a command line that passes: nothing, something, a part of the tests, or all of
/// them.
fn strength(line: &str, project: Project<'_>) -> u8 {
    let judged = command_line::judge(
        line,
        &LineRecord { status: Some(0), shell: Some(Shell::Sh), ..LineRecord::default() },
        project,
    );
    match (judged.decisive_kind, judged.exit_decides, judged.scope) {
        // A script that nobody knows may be anything.
        (None, ..) if judged.kind.iter().any(|kind| kind == "other") && !is_idle(line) => 2,
        (None, ..) | (_, Some(ExitDecides::NoMasked), _) | (_, _, Some(Extent::NoneExecuted)) => 0,
        (Some(CommandKind::Test), _, Some(Extent::Filtered)) => 2,
        (Some(CommandKind::Test), ..) => 3,
        (Some(_), ..) => 2,
    }
}

fn is_idle(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    ["true", ":", "exit", "echo", "printf"].contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_strength() {
        let project = Project::without_runners(&());
        for (stronger, weaker) in [
            ("cargo test", "true"),
            ("cargo test", "cargo test --no-run"),
            ("cargo test", "cargo test || true"),
            ("cargo test", "cargo test one"),
            ("cargo test", "cargo build"),
            ("cargo build", "echo ok"),
            ("./check.sh", "exit 0"),
        ] {
            assert!(strength(stronger, project) > strength(weaker, project), "{stronger} > {weaker}");
        }
        for (one, other) in [("cargo test", "cargo nextest run"), ("pytest", "tox"), ("make test", "./check.sh --all")]
        {
            assert!(strength(other, project) >= 2, "{one} → {other}");
        }
    }
}
