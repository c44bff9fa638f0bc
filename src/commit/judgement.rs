//! The judgement of one commit: the record that it leaves.

use std::collections::BTreeMap;

use super::rules::{CommitRule, Level};
use crate::repo_path::RepoPath;

/// The judgement of one commit.
#[derive(Clone, Debug)]
pub struct CommitJudgement {
    /// The kind of commit, which decides the rules.
    pub kind: CommitKind,
    /// The scopes its subject declares.
    pub declared: Vec<DeclaredScope>,
    /// The scopes whose own files it changes, in the order of the table.
    pub touched: Vec<TouchedScope>,
    /// The rules that it breaks, the worst first.
    pub reasons: Vec<Reason>,
    /// The reasons why different scopes count as one change.
    pub connections: Vec<Connection>,
    /// The groups of connected scopes, if it crosses scopes.
    pub parts: Vec<Vec<usize>>,
    /// The reason that its trailer gives for letting it through.
    pub exempt: Option<String>,
    /// The files whose changed lines it wants to see before it is sure, by their places in the commit, those first that
    /// may settle it. A file may be among them again, and nothing is wanted of a commit that was looked into.
    pub wants: Vec<usize>,
}

/// The kind of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitKind {
    /// An ordinary one.
    Ordinary,
    /// A merge: its sides are judged, each commit by itself.
    Merge,
    /// The first of a history: there is nothing it could be mixed with.
    Initial,
    /// It undoes a commit and mixes the same parts.
    Revert,
}

/// A scope that a subject declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredScope {
    /// As written.
    pub word: String,
    /// By its place in the table.
    pub scope: Option<usize>,
}

/// A scope that is touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TouchedScope {
    /// By its place in the table.
    pub scope: usize,
    /// Its own files in the commit, as far as they count.
    pub paths: Vec<RepoPath>,
}

/// The reason why two scopes are one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// The table says so.
    Table,
    /// The subject declares them.
    Declared,
    /// The same small edit in many places.
    Sweep,
    /// Both change this name.
    Name(String),
}

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The rule.
    pub rule: CommitRule,
    /// The consequence.
    pub level: Level,
    /// The paths it is about.
    pub paths: Vec<RepoPath>,
    /// The values for the message of the rule.
    pub values: BTreeMap<&'static str, String>,
}

/// The result of the judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommitOutcome {
    /// No rule applies.
    Skip,
    /// It is one change.
    Pass,
    /// It is one change, with some advice.
    Advise,
    /// It is mixed, and passes because of its trailer.
    Exempt,
    /// Mixed.
    Block,
}

impl CommitJudgement {
    /// Returns the worst of its reasons.
    pub fn outcome(&self) -> CommitOutcome {
        match self.reasons.iter().map(|reason| reason.level).max() {
            Some(Level::Block) if self.exempt.is_some() => CommitOutcome::Exempt,
            Some(Level::Block) => CommitOutcome::Block,
            Some(Level::Advise) => CommitOutcome::Advise,
            _ if matches!(self.kind, CommitKind::Merge | CommitKind::Initial) => CommitOutcome::Skip,
            _ => CommitOutcome::Pass,
        }
    }
}
