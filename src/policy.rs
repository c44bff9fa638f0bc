//! The policy of a repository: commands, gates and their modes, as plain values. [`crate::config`] reads them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::event::{CommandRef, Grade};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::runner::{Catalogue, Project, ProjectFiles};

mod paths;
mod quarantine;
mod roles;

pub use self::paths::PathRules;
pub use self::quarantine::QuarantinedTest;
pub use self::roles::{BOARD_FOLDERS, Role, Roles};

/// All settings that a judgement depends on.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The declared commands, in the order of the file.
    pub commands: Vec<Command>,
    /// The gates: those of the binary with the user's changes, then the user's own.
    pub gates: Vec<Gate>,
    /// The parts of the program, in the order of the file; empty if the policy names none.
    pub scopes: Vec<Scope>,
    /// The roles of agents.
    pub roles: Roles,
    /// The runners: those of the binary, and those that the repository describes in `gate/runners/`.
    pub runners: Arc<Catalogue>,
    /// The command that gets the packet of a handoff and answers it; see [`crate::escalation::handoff`].
    pub unblock: Option<String>,
    /// The tests whose failure does not block until a day.
    pub quarantine: Vec<QuarantinedTest>,
    /// The signers whose statements are evidence; see [`crate::attest`].
    pub signers: Signers,
    /// The strictness of a forge's job.
    pub ci: Strictness,
    /// The commands that the hook of a push may run itself.
    pub push_runs: PushRuns,
    /// The limits for kept contents that no longer prove anything.
    pub retention: Retention,
    /// The place where it was read.
    pub source: PolicySource,
    /// SHA-256 of commands and gates in hexadecimal digits, independent of the order and the comments of the file, and
    /// of its place.
    pub digest: String,
}

impl Policy {
    /// Returns the gates of a kind that are asked at a moment.
    pub fn gates_of(&self, kind: &str, moment: Moment) -> impl Iterator<Item = &Gate> {
        self.gates.iter().filter(move |gate| gate.kind == kind && gate.is_asked_at(moment))
    }

    /// Returns `true` if it was read in the tree of `commit`.
    pub fn is_of(&self, commit: &Oid) -> bool {
        matches!(&self.source, PolicySource::Commit(own) if own == commit)
    }

    /// Returns the project in which command lines are read under this policy. `files` are those of the directory that they
    /// start in.
    pub fn project<'a>(&'a self, files: &'a dyn ProjectFiles) -> Project<'a> {
        Project { runners: &self.runners, files }
    }

    /// Returns the same policy, in which those of the named paths count that only the defaults exclude.
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

    /// Returns the same policy, in which these scratch files are left out as long as nothing that is judged names them.
    pub fn without_scratch(&self, scratch: &BTreeSet<RepoPath>) -> Cow<'_, Self> {
        if scratch.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut policy = self.clone();
        for command in &mut policy.commands {
            command.inputs = command.inputs.without_scratch(scratch);
        }
        Cow::Owned(policy)
    }

    /// Returns a policy without commands and gates.
    pub fn empty(source: PolicySource) -> Self {
        Self {
            commands: Vec::new(),
            gates: Vec::new(),
            scopes: Vec::new(),
            roles: Roles::default(),
            runners: Arc::clone(Catalogue::embedded()),
            unblock: None,
            quarantine: Vec::new(),
            signers: Signers::Nobody,
            ci: Strictness::default(),
            push_runs: PushRuns::default(),
            retention: Retention::default(),
            source,
            digest: String::new(),
        }
    }
}

/// The commands that the `pre-push` hook runs before it judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PushRuns {
    /// Nothing: it refuses unproven content.
    #[default]
    Nothing,
    /// The declared commands whose runs are missing or stale, while the connection to the remote stays open.
    Missing,
}

/// The place where a policy was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PolicySource {
    /// The `gate.toml` in the tree of this commit.
    Commit(Oid),
    /// The `gate.toml` in the working tree, because no commit that counts has one.
    WorkingTree,
    /// The defaults of the binary, because there is no `gate.toml`.
    Defaults,
}

/// The signers whose statements count, from `[attest]` in `gate.toml`. Lines have the form of
/// [`crate::ssh::allowed_signers`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Signers {
    /// No signer counts.
    #[default]
    Nobody,
    /// The signers of a file, in the tree that the policy is of.
    File(RepoPath),
    /// The signers of these lines.
    Listed(Vec<String>),
}

/// A part of the program, as `[scopes]` in `gate.toml` has it. [`crate::commit::scopes`] decides how paths belong to
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Its name in a subject. `core/parser` lies inside `core`, if that is a scope.
    pub name: String,
    /// Its files, as globs. `!glob` excludes files.
    pub paths: Vec<String>,
    /// Other names for it in subjects.
    pub aliases: Vec<String>,
    /// Scopes whose files may be in one commit with its own.
    pub with: Vec<String>,
    /// Files that may go along with its own although they are not its own, as globs.
    pub shared: Vec<String>,
    /// `true` if its own files may go along with any scope.
    pub goes_along: bool,
}

/// A command whose success is evidence for a gate.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its name in `gate.toml`: `gate run NAME`.
    pub name: String,
    /// The id of the gate that requires it.
    pub gate: String,
    /// The command line for `sh -c`.
    pub run: String,
    /// The directory that it runs in, relative to the root. Empty for the root.
    pub dir: RepoPath,
    /// The paths whose content decides its outcome.
    pub inputs: PathRules,
    /// Report files (`JUnit` XML) it writes, relative to `dir`, as globs.
    pub reports: Vec<String>,
    /// `true` if it runs after each write of an agent.
    pub after_write: bool,
}

impl Command {
    /// Returns the reference that the journal holds; its `key` changes with the command line and the directory.
    pub fn reference(&self) -> CommandRef {
        CommandRef {
            name: Some(self.name.clone()),
            line: self.run.clone(),
            dir: self.dir.clone(),
            key: command_key(&self.run, &self.dir),
        }
    }
}

/// Returns the digest of a command line and the directory it runs in: the key of evidence.
pub fn command_key(line: &str, dir: &RepoPath) -> String {
    hex_digest(&[b"command", line.trim().as_bytes(), dir.as_bytes()])
}

/// A problem with the `params` of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// The key, if one can be named: a path with `.` if it lies deeper. `kind` if there is no such kind of gate.
    pub key: Option<String>,
    /// The error.
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

/// The effect of a failing gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Mode {
    /// Nothing: the gate does not run.
    Off,
    /// It is recorded and counted, and only `gate status` reports it.
    Observe,
    /// It is reported.
    Warn,
    /// The failure blocks.
    Block,
}

as_str!(Mode);

/// The strictest mode of gates in a job of a forge, by the author of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strictness {
    /// The strictness for changes that an agent took part in.
    pub agents: Mode,
    /// The strictness for changes without a mark of an agent.
    pub people: Mode,
}

impl Default for Strictness {
    fn default() -> Self {
        Self { agents: Mode::Block, people: Mode::Block }
    }
}

/// The limits for kept contents of runs, and for records, that no longer prove anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The largest age, in days.
    pub days: u32,
    /// The largest total size of contents, and the largest size of the journal, in megabytes.
    pub megabytes: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Self { days: 30, megabytes: 500 }
    }
}

/// The origin of a gate's mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeFrom {
    /// The default.
    Default,
    /// The gate's own file in the binary.
    GateFile,
    /// `mode` at the top of `gate.toml`.
    AllGates,
    /// The gate's own entry in `gate.toml`.
    Entry,
}

/// The effect of an answer of `unknown`. It is never a pass and never a fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum OnUnknown {
    /// It is reported and passes.
    Warn,
    /// The answer blocks, as "cannot judge".
    Block,
}

as_str!(OnUnknown);

/// The severity of a failure that passes unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub enum Severity {
    /// Nothing failed.
    None,
    /// The failure should be mentioned.
    Low,
    /// The failure should be reviewed before merging.
    Medium,
    /// The change must not be merged.
    High,
    /// The change must not leave the machine.
    Blocker,
}

as_str!(Severity);

/// A gate: the content of `gates/<id>.toml`, with the changes of the user's `[gates.<id>]`.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Its name.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// The name of its evaluator.
    pub kind: String,
    /// The moments at which it runs.
    pub moments: Vec<Moment>,
    /// The severity of a failure.
    pub severity: Severity,
    /// The effect of a failure.
    pub mode: Mode,
    /// The origin of the mode.
    pub mode_from: ModeFrom,
    /// The effect of `unknown`.
    pub on_unknown: OnUnknown,
    /// The lowest grade of evidence that it accepts.
    pub min_grade: Grade,
    /// The parameters for the evaluator of its kind; each kind checks its own keys when the policy is read.
    pub params: toml::Table,
    /// The messages and remedies, by reason code.
    pub messages: BTreeMap<String, Message>,
    /// The paragraph that `gate explain` prints.
    pub explain: String,
}

impl Gate {
    /// Returns `true` if it is on, and asked at a moment.
    pub fn is_asked_at(&self, moment: Moment) -> bool {
        self.mode != Mode::Off && self.moments.contains(&moment)
    }
}

/// The texts for one reason code, as minijinja templates over the observed facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The failure.
    pub text: String,
    /// The smallest command that would clear it. Empty if none is known.
    #[serde(default)]
    pub remedy: String,
    /// The way to clear it if no single command does.
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
