//! The rules of a policy for commits: the `params` of a gate of kind `commits`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cache::Memo;
use super::subject_style::Style;
use crate::globs::Globs;
use crate::policy::{ParamError, read_params};
use crate::repo_path::RepoPath;

/// The kind of the gates that judge commits.
pub const KIND: &str = "commits";

/// The consequence of a broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing.
    Off,
    /// It is reported and does not block.
    Advise,
    /// The commit does not pass.
    Block,
}

/// The rules, each with a code that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CommitRule {
    /// Files of scopes that nothing connects.
    CrossesScopes,
    /// The scope that is declared is not the one that is changed.
    OtherScope,
    /// A scope is declared that the table does not know, but nearly.
    UnknownScope,
    /// A change of form hides a change of content.
    FormattingMixed,
    /// Moved files hide edits.
    RenameMixed,
    /// A lock file changes without a manifest, together with code.
    DependencyMixed,
    /// It is large.
    Large,
    /// `fixup!`, `squash!` or `amend!` was left.
    AutosquashLeft,
    /// The subject follows no style.
    NoStyle,
}

as_str!(CommitRule);

/// The keys of `params`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    #[serde(default)]
    styles: Vec<String>,
    #[serde(default)]
    types: Vec<String>,
    #[serde(default)]
    sweeping: Vec<String>,
    #[serde(default)]
    sweeping_words: Vec<String>,
    #[serde(default)]
    rules: BTreeMap<CommitRule, Level>,
    #[serde(default)]
    agents: BTreeMap<CommitRule, Level>,
    #[serde(default)]
    classes: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    shared: Vec<String>,
    #[serde(default)]
    tests: Vec<String>,
    #[serde(default)]
    docs: Vec<String>,
    #[serde(default)]
    limits: RuleLimits,
    #[serde(default = "yes")]
    names_connect: bool,
    #[serde(default)]
    exempt_trailer: String,
    #[serde(default)]
    exempt_agents: bool,
}

const fn yes() -> bool {
    true
}

/// The numbers of the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RuleLimits {
    /// The largest number of scopes that a subject may declare to cover them.
    pub declared: usize,
    /// The number of scopes from which small equal edits are a sweep.
    pub sweep_scopes: usize,
    /// The largest average number of changed lines in a file of a sweep.
    pub sweep_lines: u32,
    /// The similarity, in percent, below which a moved file was edited.
    pub rename_similarity: u8,
    /// The number of moved files from which edits can hide among them.
    pub rename_files: usize,
    /// The number of lines of pure form from which they are a part of their own.
    pub formatting_lines: u32,
    /// The share of the lines, in percent, from which they are a part of their own.
    pub formatting_share: u32,
    /// The largest number of files in a commit before it is called large.
    pub files: usize,
    /// The largest number of changed lines before it is called large.
    pub lines: u32,
}

impl Default for RuleLimits {
    fn default() -> Self {
        Self {
            declared: 2,
            sweep_scopes: 3,
            sweep_lines: 8,
            rename_similarity: 90,
            rename_files: 5,
            formatting_lines: 40,
            formatting_share: 20,
            files: 15,
            lines: 500,
        }
    }
}

/// The rules of one gate, compiled.
#[derive(Clone, Debug)]
pub struct CommitRules {
    /// The styles of subjects, in the order in which they are tried.
    pub styles: Vec<Style>,
    /// The words that are types and no scopes.
    pub types: Vec<String>,
    /// Types of changes that go through all parts, if no scope is declared.
    pub sweeping: Vec<String>,
    /// Words that say the same in a subject of no style.
    pub sweeping_words: Vec<String>,
    /// The numbers.
    pub limits: RuleLimits,
    /// `true` if names that change on both sides make two scopes one change.
    pub names_connect: bool,
    /// The trailer whose value is the reason why a commit may pass; empty: no trailer.
    pub exempt_trailer: String,
    /// `true` if commits of agents may use it.
    pub exempt_agents: bool,
    levels: BTreeMap<CommitRule, Level>,
    agents: BTreeMap<CommitRule, Level>,
    /// The roles of files, as globs: the first that matches decides.
    globs: Globs,
    roles_of_globs: Vec<PathRole>,
    roles: Memo<PathRole>,
}

/// The role of a path in a commit, apart from its scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathRole {
    /// The subject of the commit.
    Own,
    /// A test: it goes along with the code.
    Test,
    /// Documentation: it goes along with the code.
    Docs,
    /// It goes along with any scope, and its size does not count: a lock file, a snapshot, generated code, …
    Along(String),
}

impl CommitRules {
    /// Reads the `params` of a gate.
    pub fn read(params: &toml::Table) -> Result<Self, ParamError> {
        let params: Params = read_params(params)?;
        let styles = params.styles.iter().map(|style| Style::parse(style));
        let styles = styles.collect::<Result<_, _>>().map_err(|error| at("styles", &error))?;
        let along = |class: &str| PathRole::Along(class.to_owned());
        let classes =
            params.classes.into_iter().map(|(class, globs)| (format!("classes.{class}"), along(&class), globs));
        let others = [
            ("shared".to_owned(), along("shared"), params.shared),
            ("tests".to_owned(), PathRole::Test, params.tests),
            ("docs".to_owned(), PathRole::Docs, params.docs),
        ];
        let (mut globs, mut roles_of_globs) = (Globs::default(), Vec::new());
        for (key, role, patterns) in classes.chain(others) {
            for glob in &patterns {
                globs.push(glob).map_err(|error| at(&key, &error))?;
                roles_of_globs.push(role.clone());
            }
        }
        Ok(Self {
            styles,
            types: params.types,
            sweeping: params.sweeping,
            sweeping_words: params.sweeping_words,
            limits: params.limits,
            names_connect: params.names_connect,
            exempt_trailer: params.exempt_trailer,
            exempt_agents: params.exempt_agents,
            levels: params.rules,
            agents: params.agents,
            globs,
            roles_of_globs,
            roles: Memo::default(),
        })
    }

    /// Returns the level of a rule; `by_agent`: the commit has an agent's mark.
    pub fn level(&self, rule: CommitRule, by_agent: bool) -> Level {
        let own = || self.levels.get(&rule).copied().unwrap_or(Level::Off);
        if by_agent { self.agents.get(&rule).copied().unwrap_or_else(own) } else { own() }
    }

    /// Returns the role of a path.
    pub fn role(&self, path: &RepoPath) -> PathRole {
        self.roles.get(path.as_bytes(), || self.find_role(path))
    }

    fn find_role(&self, path: &RepoPath) -> PathRole {
        let first = self.globs.matches(path.to_os()).into_iter().next();
        first.and_then(|at| self.roles_of_globs.get(at)).cloned().unwrap_or(PathRole::Own)
    }
}

fn at(key: &str, error: &impl ToString) -> ParamError {
    ParamError { key: Some(key.to_owned()), what: error.to_string() }
}
