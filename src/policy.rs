//! What a repository asks for: commands, gates and their modes. Plain values; [`crate::config`] reads them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::event::{CommandRef, Grade};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

mod paths;

pub use self::paths::PathRules;

/// Everything that was decided before anything is judged.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The declared commands, in the order of the file.
    pub commands: Vec<Command>,
    /// The gates: those of the binary with the user's changes, then the user's own.
    pub gates: Vec<Gate>,
    /// The parts of the program, in the order of the file; empty where nobody named them.
    pub scopes: Vec<Scope>,
    /// The command that is given the packet of a handoff and answers it; see [`crate::handoff`].
    pub unblock: Option<String>,
    /// Whose signed statements are evidence; see [`crate::attest`].
    pub signers: Signers,
    /// How strict a job of a forge is.
    pub ci: Strictness,
    /// What the hook of a push may run itself.
    pub push_runs: PushRuns,
    /// How long contents are kept that prove nothing any more.
    pub retention: Retention,
    /// Where it was read.
    pub source: PolicySource,
    /// SHA-256 of commands and gates in hexadecimal digits, whatever the order and the comments of the file, and
    /// wherever it was read.
    pub digest: String,
}

impl Policy {
    /// Whether it was read in the tree of `commit`.
    pub fn is_of(&self, commit: &Oid) -> bool {
        matches!(&self.source, PolicySource::Commit(own) if own == commit)
    }

    /// The same policy, where those of the named paths count that only the defaults leave out.
    pub fn naming<V>(&self, named: &BTreeMap<RepoPath, V>) -> Cow<'_, Self> {
        if named.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut policy = self.clone();
        for command in &mut policy.commands {
            command.inputs = command.inputs.naming(named.keys());
        }
        Cow::Owned(policy)
    }
}

impl Policy {
    /// A policy that asks for nothing.
    pub fn empty(source: PolicySource) -> Self {
        Self {
            commands: Vec::new(),
            gates: Vec::new(),
            scopes: Vec::new(),
            unblock: None,
            signers: Signers::Nobody,
            ci: Strictness::default(),
            push_runs: PushRuns::default(),
            retention: Retention::default(),
            source,
            digest: String::new(),
        }
    }
}

/// What the `pre-push` hook runs before it judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PushRuns {
    /// Nothing: it refuses what is not proven.
    #[default]
    Nothing,
    /// The declared commands whose runs are missing or stale, while the connection to the remote stays open.
    Missing,
}

/// Where a policy was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PolicySource {
    /// From `gate.toml` in the tree of this commit.
    Commit(Oid),
    /// From `gate.toml` in the working tree, because no commit that counts has one.
    WorkingTree,
    /// There is no `gate.toml`: the defaults of the binary.
    Defaults,
}

/// Whose signed statements count, as `[attest]` in `gate.toml` has it. Lines have the form of [`crate::ssh::allowed_signers`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Signers {
    /// Nobody's.
    #[default]
    Nobody,
    /// Those of a file, in the tree that the policy is of.
    File(RepoPath),
    /// Those of these lines.
    Listed(Vec<String>),
}

/// A part of the program, as `[scopes]` in `gate.toml` has it. [`crate::commit::scopes`] says how paths belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Its name: what a subject says. `core/parser` lies inside `core`, where that is a scope.
    pub name: String,
    /// Its files, as globs; `!glob` leaves out.
    pub paths: Vec<String>,
    /// Other names for it in subjects.
    pub aliases: Vec<String>,
    /// Scopes whose files may be in one commit with its own.
    pub with: Vec<String>,
    /// Files that may go along with its own without being its own, as globs.
    pub shared: Vec<String>,
    /// Its own files may go along with any scope.
    pub goes_along: bool,
}

/// A command whose success is evidence for a gate.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its name in `gate.toml`: `gate run NAME`.
    pub name: String,
    /// The id of the gate that asks for it.
    pub gate: String,
    /// The command line, given to `sh -c`.
    pub run: String,
    /// The directory it runs in, relative to the root; empty for the root.
    pub dir: RepoPath,
    /// The paths whose content decides its outcome.
    pub inputs: PathRules,
    /// Report files (`JUnit` XML) it writes, relative to `dir`, as globs.
    pub reports: Vec<String>,
}

impl Command {
    /// What the journal holds of it; its `key` changes with the command line and the directory.
    pub fn reference(&self) -> CommandRef {
        CommandRef {
            name: Some(self.name.clone()),
            line: self.run.clone(),
            dir: self.dir.clone(),
            key: command_key(&self.run, &self.dir),
        }
    }
}

/// The digest of a command line and the directory it runs in: what evidence is keyed by.
pub fn command_key(line: &str, dir: &RepoPath) -> String {
    hex_digest(&[b"command", line.trim().as_bytes(), dir.as_bytes()])
}

/// What is wrong with the `params` of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// The key, where one can be named: a path with `.` where it lies deeper. `kind` when there is no such kind of
    /// gate.
    pub key: Option<String>,
    /// What is wrong.
    pub what: String,
}

/// Reads `params` into the type of a kind, which denies unknown fields.
pub fn read_params<T: DeserializeOwned>(params: &toml::Table) -> Result<T, ParamError> {
    params.clone().try_into().map_err(|error: toml::de::Error| {
        // The path to the key is in no field of the error, only in its text: "…\nin `a.b`\n".
        let text = error.to_string();
        let path = text.trim_end().rsplit_once("\nin `").and_then(|(_, path)| path.strip_suffix('`'));
        let what = error.message().to_owned();
        let unknown = what.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
        let key = match (path, unknown) {
            (Some(path), Some(field)) if path != field && !path.ends_with(&format!(".{field}")) => {
                Some(format!("{path}.{field}"))
            }
            (path, field) => path.or(field).map(str::to_owned),
        };
        ParamError { key, what }
    })
}

/// What a failing gate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing: the gate is not asked.
    Off,
    /// It is recorded and counted, and said only by `gate status`.
    Observe,
    /// It is said.
    Warn,
    /// It blocks.
    Block,
}

/// The most that gates do in a job of a forge, by who wrote the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strictness {
    /// To what an agent had a hand in.
    pub agents: Mode,
    /// To what has no mark of an agent.
    pub people: Mode,
}

impl Default for Strictness {
    fn default() -> Self {
        Self { agents: Mode::Block, people: Mode::Block }
    }
}

/// How much is kept of the contents of runs that prove nothing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// For how many days.
    pub days: u32,
    /// How many megabytes in all.
    pub megabytes: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Self { days: 30, megabytes: 500 }
    }
}

/// Who set the mode of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeFrom {
    /// Nobody: it is the default.
    Default,
    /// The gate's own file in the binary.
    GateFile,
    /// `mode` at the top of `gate.toml`.
    AllGates,
    /// The gate's own entry in `gate.toml`.
    Entry,
}

impl Mode {
    /// The word used in policies and verdicts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Observe => "observe",
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

/// What an answer of `unknown` does. It is never a pass and never a fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnUnknown {
    /// It is said, and lets through.
    Warn,
    /// It blocks, as "cannot judge".
    Block,
}

impl OnUnknown {
    /// The word used in policies and verdicts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}

/// How bad it would be to let a failure through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Severity {
    /// Nothing failed.
    None,
    /// Worth a word.
    Low,
    /// Worth a look before merging.
    Medium,
    /// Must not be merged.
    High,
    /// Must not even leave the machine.
    Blocker,
}

impl Severity {
    /// The word used in verdicts; policies take it in any case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Low => "LOW",
            Self::Medium => "MEDIUM",
            Self::High => "HIGH",
            Self::Blocker => "BLOCKER",
        }
    }
}

/// A gate: what `gates/<id>.toml` says, with the changes of the user's `[gates.<id>]`.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Its name.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// Which evaluator answers for it.
    pub kind: String,
    /// When it is asked.
    pub moments: Vec<Moment>,
    /// How bad a failure is.
    pub severity: Severity,
    /// What a failure does.
    pub mode: Mode,
    /// Who says so.
    pub mode_from: ModeFrom,
    /// What `unknown` does.
    pub on_unknown: OnUnknown,
    /// The lowest grade of evidence it takes.
    pub min_grade: Grade,
    /// What the evaluator of its kind reads; each kind checks its own keys when the policy is read.
    pub params: toml::Table,
    /// By reason code: what is said, and what to do.
    pub messages: BTreeMap<String, Message>,
    /// The paragraph that `gate explain` prints.
    pub explain: String,
}

/// The words for one reason code, as minijinja templates over the observed facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// What is wrong.
    pub text: String,
    /// The smallest command that would clear it. Empty where none is known to.
    #[serde(default)]
    pub remedy: String,
    /// What to do where no single command clears it.
    #[serde(default)]
    pub fix: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[expect(dead_code)]
        branches: Vec<String>,
        #[expect(dead_code)]
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[expect(dead_code)]
        limit: u32,
    }

    #[test]
    fn a_wrong_parameter_is_named() {
        for (text, key) in [
            ("branchs = []\nbranches = []", Some("branchs")),
            ("branches = 1", Some("branches")),
            ("branches = []\ninner = { limt = 1 }", Some("inner.limt")),
            ("branches = []\ninner = { limit = -1 }", Some("inner.limit")),
            ("", None),
        ] {
            let error = read_params::<Outer>(&text.parse().unwrap()).unwrap_err();
            assert_eq!(error.key.as_deref(), key, "{text}: {}", error.what);
        }
        read_params::<Outer>(&"branches = []".parse().unwrap()).unwrap();
    }
}
