//! What a repository asks for: commands, gates and their modes. Plain values; [`crate::config`] reads them.

use std::collections::BTreeMap;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::event::{CommandRef, Grade};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// Everything that was decided before anything is judged.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The declared commands, in the order of the file.
    pub commands: Vec<Command>,
    /// The gates: those of the binary with the user's changes, then the user's own.
    pub gates: Vec<Gate>,
    /// Where it was read.
    pub source: PolicySource,
    /// SHA-256 of everything above, in hexadecimal digits.
    pub digest: String,
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

/// Which paths count. A path counts when an `include` glob matches it and no `exclude` glob does, or a `keep` glob
/// takes it back.
#[derive(Clone, Debug)]
pub struct PathRules {
    include: GlobSet,
    exclude: GlobSet,
    keep: GlobSet,
    /// The globs as written, `!` for the excluded ones.
    pub patterns: Vec<String>,
}

/// A glob that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is not a glob: {reason}")]
pub struct InvalidGlob {
    /// The glob as written.
    pub glob: String,
    /// What is wrong with it.
    pub reason: String,
}

impl PathRules {
    /// Rules from `inputs` (globs; `!glob` excludes) and `ignore` (globs that are left out; `!glob` takes back).
    /// `*` does not cross `/`, `**` does; case matters.
    pub fn new<S: AsRef<str>>(inputs: &[S], ignore: &[S]) -> Result<Self, InvalidGlob> {
        let (mut include, mut exclude, mut keep) = (Vec::new(), Vec::new(), Vec::new());
        let mut patterns = Vec::new();
        for glob in inputs.iter().map(AsRef::as_ref) {
            patterns.push(glob.to_owned());
            match glob.strip_prefix('!') {
                Some(glob) => exclude.push(glob),
                None => include.push(glob),
            }
        }
        for glob in ignore.iter().map(AsRef::as_ref) {
            match glob.strip_prefix('!') {
                Some(glob) => {
                    patterns.push(glob.to_owned());
                    keep.push(glob);
                }
                None => {
                    patterns.push(format!("!{glob}"));
                    exclude.push(glob);
                }
            }
        }
        Ok(Self { include: glob_set(&include)?, exclude: glob_set(&exclude)?, keep: glob_set(&keep)?, patterns })
    }

    /// Whether `path` counts.
    pub fn matches(&self, path: &RepoPath) -> bool {
        let os = path.to_os();
        let path: &Path = &os;
        self.include.is_match(path) && (!self.exclude.is_match(path) || self.keep.is_match(path))
    }
}

/// Compiles globs where `*` stays inside one directory.
pub fn glob_set<S: AsRef<str>>(globs: &[S]) -> Result<GlobSet, InvalidGlob> {
    let mut set = GlobSetBuilder::new();
    for glob in globs.iter().map(AsRef::as_ref) {
        let compiled = GlobBuilder::new(glob)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .map_err(|error| InvalidGlob { glob: glob.to_owned(), reason: error.kind().to_string() })?;
        set.add(compiled);
    }
    set.build().map_err(|error| InvalidGlob {
        glob: globs.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "),
        reason: error.to_string(),
    })
}

/// What is wrong with the `params` of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// The key, where one can be named.
    pub key: Option<String>,
    /// What is wrong.
    pub what: String,
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
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
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

    #[test]
    fn ignored_paths_can_be_taken_back() {
        let rules = PathRules::new(&["**", "!web/**"], &["**/*.md", "!README.md"]).unwrap();
        for (path, counts) in [
            ("src/lib.rs", true),
            ("web/app.ts", false),
            ("docs/a.md", false),
            ("README.md", true),
            ("a/README.md", false),
        ] {
            assert_eq!(rules.matches(&RepoPath::from(path)), counts, "{path}");
        }
    }

    #[test]
    fn star_stays_inside_a_directory_and_any_byte_is_a_name() {
        let rules = PathRules::new(&["src/*.rs"], &[]).unwrap();
        assert!(!rules.matches(&RepoPath::from("src/a/b.rs")));
        assert!(rules.matches(&RepoPath::new(*b"src/\xff\n.rs")));
    }
}
