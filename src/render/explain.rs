//! The explanation of a gate in this repository, for people.

use std::fmt::Write as _;

use crate::foreign_text::plain;
use crate::gates;
use crate::policy::{Command, Gate, Mode, ModeFrom, OnUnknown, Policy, PolicySource, Signers};

/// The width of the text, in characters.
const WIDTH: usize = 100;

/// Returns the text about the gate `id` of `policy`; `None` if there is no such gate.
pub fn gate(policy: &Policy, id: &str) -> Option<String> {
    let gate = policy.gates.iter().find(|gate| gate.id == id)?;
    let mut out = format!("{}: {}\n\n", gate.id, plain(&gate.title));
    for line in gate.explain.lines() {
        let _ = writeln!(out, "{}", format!("  {}", plain(line)).trim_end());
    }
    out.push('\n');
    let moments: Vec<&str> = gate.moments.iter().map(|moment| moment.as_str()).collect();
    row(&mut out, "asked at", &moments.join(", "));
    row(&mut out, "mode", &format!("{} ({})", mode(gate.mode), mode_from(policy, gate)));
    row(&mut out, "severity", gate.severity.as_str());
    let unknown = match gate.on_unknown {
        OnUnknown::Warn => "is reported and does not block",
        OnUnknown::Block => "blocks",
    };
    row(&mut out, "if unknown", unknown);
    if gates::weighs_evidence(&gate.kind) {
        row(&mut out, "evidence", &format!("of grade {} or better", gate.min_grade.as_str()));
    }
    if let Some(signers) = signers(policy).filter(|_| policy.commands.iter().any(|command| command.gate == gate.id)) {
        row(&mut out, "signed by", &signers);
    }
    row(&mut out, "policy", &source(policy));
    if !gate.params.is_empty() {
        out.push_str("\n  params\n");
        for line in super::gate_params::lines(&gate.params, WIDTH - 4) {
            let _ = writeln!(out, "    {}", plain(&line));
        }
    }
    for command in policy.commands.iter().filter(|command| command.gate == gate.id) {
        commanded(&mut out, command);
    }
    Some(out)
}

/// Returns the ids of the gates, for a request for one that does not exist.
pub fn ids(policy: &Policy) -> Vec<&str> {
    policy.gates.iter().map(|gate| gate.id.as_str()).collect()
}

const fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Off => "off: the gate is not asked",
        Mode::Observe => "observe: a failure is recorded",
        Mode::Warn => "warn: a failure is reported",
        Mode::Block => "block: a failure blocks",
    }
}

fn mode_from(policy: &Policy, gate: &Gate) -> String {
    match gate.mode_from {
        ModeFrom::Default => "by default".to_owned(),
        ModeFrom::GateFile => "the default of this gate".to_owned(),
        ModeFrom::AllGates => format!("`mode` in {}", source(policy)),
        ModeFrom::Entry => format!("[gates.{}] in {}", gate.id, source(policy)),
    }
}

fn source(policy: &Policy) -> String {
    match &policy.source {
        PolicySource::Commit(oid) => format!("gate.toml of commit {}", oid.short()),
        PolicySource::WorkingTree => "gate.toml of the working tree".to_owned(),
        PolicySource::Defaults => "the defaults, as there is no gate.toml".to_owned(),
    }
}

/// Returns the signers whose statements count in CI.
fn signers(policy: &Policy) -> Option<String> {
    match &policy.signers {
        Signers::Nobody => None,
        Signers::File(path) => Some(format!("those in {} of the base, for evidence in CI", plain(&path.to_string()))),
        Signers::Listed(lines) => {
            let names: Vec<String> =
                lines.iter().filter_map(|line| line.split_whitespace().next()).map(plain).collect();
            Some(format!(
                "{}, for evidence in CI",
                if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
            ))
        }
    }
}

/// Adds a command: its line, its directory, and the paths that decide.
fn commanded(out: &mut String, command: &Command) {
    let _ = writeln!(out, "\n  command {}", command.name);
    let run: Vec<String> = command.run.trim().lines().map(plain).collect();
    row(out, "  run", &run.join("\n"));
    if !command.dir.as_bytes().is_empty() {
        row(out, "  in", &plain(&command.dir.to_string()));
    }
    let rules =
        [("  inputs", &command.inputs.inputs), ("  ignored", &command.inputs.ignore), ("  reports", &command.reports)];
    for (name, globs) in rules {
        if !globs.is_empty() {
            let globs: Vec<String> = globs.iter().map(|glob| plain(glob)).collect();
            row(out, name, &super::gate_params::filled(&globs, WIDTH - INDENT).join("\n"));
        }
    }
}

/// The width of the first column, in characters.
const INDENT: usize = 14;

fn row(out: &mut String, name: &str, value: &str) {
    for (index, line) in value.lines().enumerate() {
        let name = if index == 0 { name } else { "" };
        let _ = writeln!(out, "  {name:<width$}{line}", width = INDENT - 2);
    }
}

/// Returns a gate for the tests of the renderers.
#[cfg(test)]
pub(super) fn example() -> Gate {
    use crate::event::Grade;
    use crate::moment::Moment;
    use crate::policy::{Message, Severity};

    let message = |text: &str, remedy: &str, fix: &str| Message {
        text: text.to_owned(),
        remedy: remedy.to_owned(),
        fix: fix.to_owned(),
    };
    Gate {
        id: "tests".to_owned(),
        title: "The tests passed".to_owned(),
        kind: "evidence".to_owned(),
        moments: vec![Moment::Push, Moment::Stop],
        severity: Severity::High,
        mode: Mode::Block,
        mode_from: ModeFrom::Default,
        on_unknown: OnUnknown::Warn,
        min_grade: Grade::Hooked,
        params: "counts = true\nignore = [\"**/*.md\", \"docs/**\"]".parse().expect("literal TOML"),
        messages: [
            ("failed".to_owned(), message("`{{ command }}` failed | really", "", "fix it")),
            ("missing".to_owned(), message("no run", "gate run {{ name }}", "")),
            ("odd".to_owned(), message("nothing helps", "", "")),
        ]
        .into(),
        explain: "A run counts for the content it saw.\n\nNo clock is consulted.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PathRules;
    use crate::repo_path::RepoPath;

    fn policy(source: PolicySource) -> Policy {
        let inputs = PathRules::new(&["crates/core/**"], &["**/*.md", "docs/**", "!README.md"]).unwrap();
        let command = Command {
            name: "core".to_owned(),
            gate: "tests".to_owned(),
            run: "cargo build\ncargo test \u{1b}[2J".to_owned(),
            dir: RepoPath::from("crates/core"),
            inputs,
            reports: vec!["target/junit/*.xml".to_owned()],
            after_write: false,
        };
        let other = Command { gate: "build".to_owned(), name: "other".to_owned(), ..command.clone() };
        Policy { commands: vec![command, other], gates: vec![example()], ..Policy::empty(source) }
    }

    #[test]
    fn a_gate_is_explained_with_what_is_in_force() {
        let mut policy = policy(PolicySource::Commit("a".repeat(40).parse().unwrap()));
        policy.gates[0].mode = Mode::Warn;
        policy.gates[0].mode_from = ModeFrom::Entry;
        insta::assert_snapshot!(gate(&policy, "tests").unwrap(), @r#"
        tests: The tests passed

          A run counts for the content it saw.

          No clock is consulted.

          asked at    push, stop
          mode        warn: a failure is reported ([gates.tests] in gate.toml of commit aaaaaaa)
          severity    HIGH
          if unknown  is reported and does not block
          evidence    of grade hooked or better
          policy      gate.toml of commit aaaaaaa

          params
            counts = true
            ignore = ["**/*.md", "docs/**"]

          command core
            run       cargo build
                      cargo test  [2J
            in        crates/core
            inputs    crates/core/**
            ignored   **/*.md docs/** !README.md
            reports   target/junit/*.xml
        "#);
    }

    #[test]
    fn who_set_the_mode_is_said() {
        let mut policy = policy(PolicySource::WorkingTree);
        for (from, said) in [
            (ModeFrom::Default, "(by default)"),
            (ModeFrom::GateFile, "(the default of this gate)"),
            (ModeFrom::AllGates, "(`mode` in gate.toml of the working tree)"),
            (ModeFrom::Entry, "([gates.tests] in gate.toml of the working tree)"),
        ] {
            policy.gates[0].mode_from = from;
            let text = gate(&policy, "tests").unwrap();
            assert!(text.contains(said), "{text}");
        }
    }

    #[test]
    fn a_gate_that_is_not_there_is_not_explained() {
        let policy = policy(PolicySource::Defaults);
        assert_eq!((gate(&policy, "build"), ids(&policy)), (None, vec!["tests"]));
    }
}
