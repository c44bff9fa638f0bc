//! Splits a mixed commit into several: the paths of each part, and its message.

use super::change::{Commit, FileChange, PathStatus};
use super::judge::CommitJudgement;
use super::message::CommitMessage;
use super::rules::{CommitRule, CommitRules, Level, PathRole};
use super::scopes::ScopeTable;
use super::subject_style::{CommitSubject, Style};
use crate::repo_path::RepoPath;

/// One of the commits that a split makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitPart {
    /// The scope it is about, by its place in the table, or `None` if the paths belong to none.
    pub scope: Option<usize>,
    /// Its whole message.
    pub message: String,
    /// Its paths, sorted; for a moved file, the old one as well as the new one.
    pub paths: Vec<RepoPath>,
}

/// The result of an attempt to split a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// It does not cross scopes.
    Whole,
    /// Commits that pass, each of them.
    Parts(Vec<SplitPart>),
    /// No split by scope passes: this rule would refuse some part.
    Refused {
        /// The first line of the message of that part.
        subject: String,
        /// The rule that it breaks.
        rule: CommitRule,
    },
}

/// Proposes a split by scope.
///
/// Connected scopes stay together. A file that may accompany any scope goes to the nearest part, and each path of the
/// commit is in exactly one part, so that all of them together leave the same tree. A part that the rules refuse is not
/// proposed.
pub fn propose(commit: &Commit, judgement: &CommitJudgement, table: &ScopeTable, rules: &CommitRules) -> Proposal {
    if judgement.parts.len() < 2 {
        return Proposal::Whole;
    }
    let connected = assemble(commit, judgement, judgement.parts.clone(), table, rules);
    if refused(&connected, table, rules).is_none() {
        return proposed(connected);
    }
    // What held a group together may have gone into another part (a word of the subject, a file between the two).
    let single = judgement.parts.iter().flatten().map(|&scope| vec![scope]).collect();
    let single = assemble(commit, judgement, single, table, rules);
    match refused(&single, table, rules) {
        None => proposed(single),
        Some((subject, rule)) => Proposal::Refused { subject, rule },
    }
}

fn proposed(drafted: Vec<Drafted>) -> Proposal {
    if drafted.len() < 2 {
        return Proposal::Whole;
    }
    Proposal::Parts(drafted.into_iter().map(|drafted| drafted.part).collect())
}

/// Returns the first part that does not pass, by its subject, and the reason. A part may wait to be squashed.
fn refused(drafted: &[Drafted], table: &ScopeTable, rules: &CommitRules) -> Option<(String, CommitRule)> {
    drafted.iter().find_map(|drafted| {
        let reasons = super::judge::judge(&drafted.commit, table, rules).reasons;
        let mut reasons = reasons.iter().filter(|reason| reason.rule != CommitRule::AutosquashLeft);
        let reason = reasons.find(|reason| reason.level == Level::Block)?;
        Some((drafted.commit.subject().to_owned(), reason.rule))
    })
}

/// A part, and the commit it would be.
struct Drafted {
    part: SplitPart,
    commit: Commit,
}

fn assemble(
    commit: &Commit,
    judgement: &CommitJudgement,
    scopes: Vec<Vec<usize>>,
    table: &ScopeTable,
    rules: &CommitRules,
) -> Vec<Drafted> {
    let message = CommitMessage::parse(&commit.message, &rules.styles, &rules.types);
    let mut groups: Vec<FileGroup> =
        scopes.into_iter().map(|scopes| FileGroup { scopes, files: Vec::new(), own: Vec::new() }).collect();
    let mut later = Vec::new();
    for file in &commit.files {
        let scope = table.claim(&file.path).map(|claim| claim.scope);
        let own = rules.role(&file.path) == PathRole::Own;
        let at = scope.and_then(|scope| groups.iter().position(|group| group.scopes.contains(&scope)));
        match at {
            Some(at) if own => groups[at].take(file),
            _ => later.push((file, scope)),
        }
    }
    let main = main_group(&groups, judgement);
    for (file, scope) in later {
        let by_scope = scope.and_then(|scope| {
            groups.iter().position(|group| group.scopes.iter().any(|&one| one == scope || table.related(one, scope)))
        });
        let at = by_scope.or_else(|| nearest(&file.path, &groups)).unwrap_or(main);
        groups[at].files.push(file.clone());
    }
    groups.retain(|group| !group.files.is_empty());
    // The part that the subject declares comes last: it is the one that keeps the message, and the others prepare it.
    groups.sort_by_key(|group| usize::from(declares(group, judgement)));
    let count = groups.len();
    let draft = |(at, group): (usize, FileGroup)| {
        let scope = group.scopes.first().copied();
        let keeps = declares(&group, judgement) && at + 1 == count;
        let message = reworded(&message, commit, scope.map(|scope| table.name(scope)), keeps, at == 0);
        let moved = |file: &FileChange| matches!(file.status, PathStatus::Renamed(_));
        let from = group.files.iter().filter(|file| moved(file)).filter_map(|file| file.from.clone());
        let mut paths: Vec<RepoPath> = group.files.iter().map(|file| file.path.clone()).chain(from).collect();
        paths.sort_unstable();
        paths.dedup();
        let part = SplitPart { scope, message: message.clone(), paths };
        Drafted { part, commit: Commit { message, files: group.files, ..commit.clone() } }
    };
    groups.into_iter().enumerate().map(draft).collect()
}

/// Files that stay together.
struct FileGroup {
    scopes: Vec<usize>,
    files: Vec<FileChange>,
    /// The paths that made it a group; other paths near to them join it.
    own: Vec<RepoPath>,
}

impl FileGroup {
    fn take(&mut self, file: &FileChange) {
        self.own.push(file.path.clone());
        self.files.push(file.clone());
    }
}

fn declares(group: &FileGroup, judgement: &CommitJudgement) -> bool {
    judgement.declared.iter().filter_map(|declared| declared.scope).any(|scope| group.scopes.contains(&scope))
}

/// Returns the group for paths that are near to none: the declared one, or the largest.
fn main_group(groups: &[FileGroup], judgement: &CommitJudgement) -> usize {
    let largest = || (0..groups.len()).max_by_key(|&at| groups[at].files.len()).unwrap_or_default();
    groups.iter().position(|group| declares(group, judgement)).unwrap_or_else(largest)
}

/// Returns the group with the longest common folder; `None` if no group shares one. A file that has the name of a
/// group's file is nearest to that: `tests/lexer.rs` to `src/parser/lexer.rs`.
fn nearest(path: &RepoPath, groups: &[FileGroup]) -> Option<usize> {
    let stem = |path: &RepoPath| {
        let bytes = path.as_bytes();
        let name = bytes.rsplit(|&byte| byte == b'/').next().unwrap_or(bytes);
        let stem = name.split(|&byte| byte == b'.').find(|stem| !stem.is_empty()).unwrap_or(name);
        let text = String::from_utf8_lossy(stem).to_lowercase();
        text.trim_start_matches("test_").trim_end_matches("_test").trim_end_matches("_spec").to_owned()
    };
    let own = stem(path);
    let common = |other: &RepoPath| {
        let (a, b) = (path.as_bytes().split(|&byte| byte == b'/'), other.as_bytes().split(|&byte| byte == b'/'));
        let folders = a.zip(b).take_while(|(a, b)| a == b).count();
        folders * 2 + usize::from(own.len() > 2 && stem(other) == own)
    };
    let score = |group: &FileGroup| group.own.iter().map(&common).max().unwrap_or_default();
    (0..groups.len())
        .map(|at| (score(&groups[at]), at))
        .filter(|(score, _)| *score > 0)
        .max_by_key(|&(score, at)| (score, std::cmp::Reverse(at)))
        .map(|(_, at)| at)
}

/// Returns the message of a part: the same words about another scope. Body and trailers stay with all of them, since
/// the people they name took part in all; a line that names one commit alone (`Change-Id`, `fixup!`) stays with one.
fn reworded(message: &CommitMessage, commit: &Commit, scope: Option<&str>, keeps: bool, first: bool) -> String {
    if keeps {
        return commit.message.trim_end().to_owned() + "\n";
    }
    let text = message.description();
    let subject = match (&message.parsed, scope) {
        (Some((Style::Conventional, CommitSubject { kind: Some(kind), breaking, .. })), Some(scope)) => {
            format!("{kind}({scope}){}: {text}", if *breaking { "!" } else { "" })
        }
        (Some((Style::Bracket, _)), Some(scope)) => format!("[{scope}] {text}"),
        (Some((Style::Pattern(pattern), _)), Some(scope)) => {
            let named = pattern.captures(&message.subject).and_then(|found| Some(found.name("scope")?.range()));
            let mut subject = message.subject.clone();
            subject.replace_range(named.unwrap_or_default(), scope);
            subject
        }
        (_, Some(scope)) => format!("{scope}: {text}"),
        (_, None) => message.subject.clone(),
    };
    let mut whole = format!("{}\n", subject.trim_end());
    if !message.body.trim().is_empty() {
        whole = format!("{whole}\n{}\n", message.body.trim_end());
    }
    let trailers: Vec<String> = message
        .trailers
        .iter()
        .filter(|trailer| first || !trailer.is("Change-Id"))
        .map(|trailer| format!("{}: {}", trailer.token, trailer.value))
        .collect();
    if trailers.is_empty() { whole } else { format!("{whole}\n{}\n", trailers.join("\n")) }
}
