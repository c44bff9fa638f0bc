//! What is thought of one commit: the record that a judgement leaves.

use std::collections::BTreeMap;

use super::rules::{CommitRule, Level};
use crate::repo_path::RepoPath;

/// What is thought of one commit.
#[derive(Clone, Debug)]
pub struct CommitJudgement {
    /// Which rules apply to it.
    pub kind: CommitKind,
    /// The scopes its subject declares.
    pub declared: Vec<DeclaredScope>,
    /// The scopes whose own files it changes, in the order of the table.
    pub touched: Vec<TouchedScope>,
    /// What it breaks, the worst first.
    pub reasons: Vec<Reason>,
    /// Why scopes that differ are taken for one change.
    pub connections: Vec<Connection>,
    /// Where it crosses scopes: which of them hang together.
    pub parts: Vec<Vec<usize>>,
    /// The reason that its trailer gives for letting it through.
    pub exempt: Option<String>,
    /// The files whose changed lines it wants to see before it is sure, by their places in the commit, those first that
    /// may settle it. A file may be among them again, and nothing is wanted of a commit that was looked into.
    pub wants: Vec<usize>,
}

/// What kind of commit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitKind {
    /// An ordinary one.
    Ordinary,
    /// A merge: its sides are judged, each commit by itself.
    Merge,
    /// The first of a history: there is nothing it could be mixed with.
    Initial,
    /// It undoes a commit and mixes what that one mixed.
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

/// Why two scopes are one change.
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
    /// What that does.
    pub level: Level,
    /// The paths it is about.
    pub paths: Vec<RepoPath>,
    /// What the message of the rule may say.
    pub values: BTreeMap<&'static str, String>,
}

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommitOutcome {
    /// No rule applies.
    Skip,
    /// One thing.
    Pass,
    /// One thing, with a word to it.
    Advise,
    /// Mixed, and let through by its trailer.
    Exempt,
    /// Mixed.
    Block,
}

impl CommitJudgement {
    /// The worst of its reasons.
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
