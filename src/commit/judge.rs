//! Judges mixing: a commit should be one change, and the one that its message names.
//!
//! Files of two scopes are one change if the table allows it, if one scope contains the other, if the subject declares
//! both, if the change is the same small edit everywhere, or if both sides change the same name (a function and its
//! callers). Anything that none of these connects is mixed.

use std::collections::{BTreeMap, HashMap};

use super::change::{Commit, FileChange, PathStatus};
use super::cohesion::mentions;
pub use super::judgement::{
    CommitJudgement, CommitKind, CommitOutcome, Connection, DeclaredScope, Reason, TouchedScope,
};
use super::message::CommitMessage;
use super::misspelled_scope::nearest;
use super::rules::{CommitRule, CommitRules, Level, PathRole};
use super::scopes::ScopeTable;
use crate::repo_path::RepoPath;

mod cross_scope;

/// A file with the known facts about its place.
struct Placed<'c> {
    file: &'c FileChange,
    scope: Option<usize>,
    role: PathRole,
}

/// Judges one commit.
pub fn judge(commit: &Commit, table: &ScopeTable, rules: &CommitRules) -> CommitJudgement {
    let message = CommitMessage::parse(&commit.message, &rules.styles, &rules.types);
    let declared: Vec<DeclaredScope> =
        message.scopes().iter().map(|word| DeclaredScope { word: word.clone(), scope: table.find(word) }).collect();
    let mut judgement = CommitJudgement {
        kind: kind(commit, &message),
        declared,
        touched: Vec::new(),
        reasons: Vec::new(),
        connections: Vec::new(),
        parts: Vec::new(),
        exempt: exemption(commit, &message, rules),
        wants: Vec::new(),
    };
    if matches!(judgement.kind, CommitKind::Merge | CommitKind::Initial) {
        return judgement;
    }
    let placed: Vec<Placed<'_>> = commit.files.iter().map(|file| place(file, table, rules)).collect();
    let case = MixingCase { commit, table, rules, message: &message, placed: &placed };
    case.scopes(&mut judgement);
    case.form(&mut judgement);
    case.renames(&mut judgement);
    case.dependencies(&mut judgement);
    case.size(&mut judgement);
    case.words(&mut judgement);
    if judgement.kind == CommitKind::Revert {
        judgement.reasons.retain(|reason| matches!(reason.rule, CommitRule::NoStyle | CommitRule::AutosquashLeft));
        judgement.wants.clear();
    }
    judgement.reasons.sort_by_key(|reason| (std::cmp::Reverse(reason.level), reason.rule));
    judgement
}

fn kind(commit: &Commit, message: &CommitMessage) -> CommitKind {
    match commit.parents.len() {
        0 => CommitKind::Initial,
        // A revert names what it undoes; the word alone would be a way around.
        1 if message.reverts.as_ref().is_some_and(|commits| !commits.is_empty()) => CommitKind::Revert,
        1 => CommitKind::Ordinary,
        _ => CommitKind::Merge,
    }
}

fn exemption(commit: &Commit, message: &CommitMessage, rules: &CommitRules) -> Option<String> {
    if rules.exempt_trailer.is_empty() || (commit.agent.is_some() && !rules.exempt_agents) {
        return None;
    }
    message.trailer(&rules.exempt_trailer).map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned)
}

/// Returns the scope and role of a file: by its present path, and by its old one if only that is left.
fn place<'c>(file: &'c FileChange, table: &ScopeTable, rules: &CommitRules) -> Placed<'c> {
    let scope = table.claim(&file.path).map(|claim| claim.scope);
    let role = rules.role(&file.path);
    let role = match scope {
        Some(scope) if role == PathRole::Own && table.scopes()[scope].goes_along => PathRole::Along("scope".to_owned()),
        _ => role,
    };
    Placed { file, scope, role }
}

struct MixingCase<'a> {
    commit: &'a Commit,
    table: &'a ScopeTable,
    rules: &'a CommitRules,
    message: &'a CommitMessage,
    placed: &'a [Placed<'a>],
}

impl<'a> MixingCase<'a> {
    fn level(&self, rule: CommitRule) -> Level {
        self.rules.level(rule, self.commit.agent.is_some())
    }

    fn add(&self, judgement: &mut CommitJudgement, rule: CommitRule, paths: Vec<RepoPath>, values: TemplateValues) {
        let level = self.level(rule);
        if level != Level::Off {
            judgement.reasons.push(Reason { rule, level, paths, values });
        }
    }

    /// Requests lines that decide if a rule is broken: they, or those of `others`, may connect the changes.
    fn want<'f>(
        &self,
        judgement: &mut CommitJudgement,
        rule: CommitRule,
        others: impl Iterator<Item = &'f FileChange>,
    ) {
        // In turns: mostly the first of each are enough.
        let turn = |turn: usize| judgement.touched.iter().filter_map(move |touched| touched.paths.get(turn));
        let turns = judgement.touched.iter().map(|touched| touched.paths.len()).max().unwrap_or_default();
        let paths = (0..turns).flat_map(turn).chain(others.map(|file| &file.path));
        let wanted = self.places(rule, paths);
        judgement.wants.extend(wanted);
    }

    /// Returns the places of those paths whose lines decide if a rule is broken.
    fn places<'f>(&self, rule: CommitRule, paths: impl Iterator<Item = &'f RepoPath>) -> Vec<usize> {
        if self.commit.looked_into || self.level(rule) == Level::Off {
            return Vec::new();
        }
        let places: HashMap<&RepoPath, usize> =
            self.commit.files.iter().enumerate().map(|(at, file)| (&file.path, at)).collect();
        paths.filter_map(|path| places.get(path).copied()).collect()
    }

    /// Requests the lines of all files that count, if they decide a blocking rule.
    fn want_all(&self, judgement: &mut CommitJudgement, rule: CommitRule) {
        if !self.commit.looked_into && self.level(rule) == Level::Block {
            let places =
                self.placed.iter().enumerate().filter(|(_, placed)| !matches!(placed.role, PathRole::Along(_)));
            judgement.wants.extend(places.map(|(at, _)| at));
        }
    }

    /// Returns the files that decide about scopes.
    fn counted(&self) -> Vec<(usize, &'a FileChange)> {
        let own = || self.placed.iter().filter(|placed| placed.role == PathRole::Own);
        let renames = own().filter(|placed| placed.file.is_rename()).count();
        let mostly_renames = renames * 2 > own().count();
        own()
            .filter(|placed| match placed.file.status {
                // Moving files between scopes is one thing, and it cannot be done in one of them alone.
                PathStatus::Renamed(similarity) => !mostly_renames && similarity < self.rules.limits.rename_similarity,
                _ => !placed.file.texture.as_ref().is_some_and(super::change_class::Texture::is_aside),
            })
            .filter_map(|placed| Some((placed.scope?, placed.file)))
            .collect()
    }

    fn scopes(&self, judgement: &mut CommitJudgement) {
        let counted = self.counted();
        let mut by_scope: BTreeMap<usize, Vec<&FileChange>> = BTreeMap::new();
        for (scope, file) in counted {
            by_scope.entry(scope).or_default().push(file);
        }
        // What a scope shares goes along with it where it is there.
        let scopes: Vec<usize> = by_scope.keys().copied().collect();
        by_scope.retain(|scope, files| {
            files.retain(|file| {
                !self.table.shared_with(&file.path).iter().any(|with| with != scope && scopes.contains(with))
            });
            !files.is_empty()
        });
        judgement.touched = by_scope
            .iter()
            .map(|(&scope, files)| TouchedScope { scope, paths: files.iter().map(|file| file.path.clone()).collect() })
            .collect();
        if by_scope.len() > 1 {
            self.crossing(judgement, &by_scope);
        }
        let crosses = judgement.reasons.iter().any(|reason| reason.rule == CommitRule::CrossesScopes);
        if !crosses && !by_scope.is_empty() {
            self.mismatch(judgement);
        }
    }

    fn mismatch(&self, judgement: &mut CommitJudgement) {
        let known: Vec<&DeclaredScope> =
            judgement.declared.iter().filter(|declared| declared.scope.is_some()).collect();
        // A scope the table does not know says nothing about the ones it does.
        if known.is_empty() || known.len() < judgement.declared.len() {
            return;
        }
        let fits =
            |scope: usize| known.iter().filter_map(|declared| declared.scope).any(|d| self.table.related(d, scope));
        let touched = self.placed.iter().any(|placed| {
            placed.scope.is_some_and(fits)
                || self.table.shared_with(&placed.file.path).into_iter().any(fits)
                || placed
                    .file
                    .from
                    .as_ref()
                    .and_then(|from| self.table.claim(from))
                    .is_some_and(|claim| fits(claim.scope))
        });
        let files: Vec<&FileChange> = self.placed.iter().map(|placed| placed.file).collect();
        // Tests and documents that no scope claims may well be those of the declared one.
        let open = self.placed.iter().all(|placed| placed.scope.is_none() || placed.role != PathRole::Own);
        if touched || open || known.iter().any(|declared| mentions(&files, &declared.word)) {
            return;
        }
        let words: Vec<String> = known.iter().map(|declared| declared.word.clone()).collect();
        let found: Vec<String> =
            judgement.touched.iter().map(|touched| self.table.name(touched.scope).to_owned()).collect();
        let paths: Vec<RepoPath> = judgement.touched.iter().flat_map(|touched| touched.paths.clone()).collect();
        self.want(judgement, CommitRule::OtherScope, files.into_iter());
        let values = TemplateValues::from([("declared", and(&words)), ("found", and(&found))]);
        self.add(judgement, CommitRule::OtherScope, paths, values);
    }

    fn form(&self, judgement: &mut CommitJudgement) {
        let textured = || {
            self.placed
                .iter()
                .filter(|placed| matches!(placed.role, PathRole::Own | PathRole::Test))
                .filter_map(|placed| Some((&placed.file.path, placed.file.texture.as_ref()?)))
        };
        if !self.commit.looked_into {
            if self.commit.files.len() > 1 {
                self.want_all(judgement, CommitRule::FormattingMixed);
            }
            return;
        }
        let form: u32 = textured().map(|(_, texture)| texture.form_lines).sum();
        let all: u32 = textured().map(|(_, texture)| texture.lines()).sum();
        // Where nothing but form changed, nothing is mixed.
        if form < self.rules.limits.formatting_lines
            || form * 100 < all * self.rules.limits.formatting_share
            || all == form
        {
            return;
        }
        let paths = textured().filter(|(_, texture)| texture.form_lines > 0).map(|(path, _)| path.clone()).collect();
        let values = TemplateValues::from([("form_lines", form.to_string()), ("lines", all.to_string())]);
        self.add(judgement, CommitRule::FormattingMixed, paths, values);
    }

    fn renames(&self, judgement: &mut CommitJudgement) {
        let limits = &self.rules.limits;
        let moved = self.placed.iter().filter(|placed| placed.file.is_rename()).count();
        let edited: Vec<RepoPath> = self
            .placed
            .iter()
            .filter(|placed| matches!(placed.file.status, PathStatus::Renamed(s) if s < limits.rename_similarity))
            .map(|placed| placed.file.path.clone())
            .collect();
        if moved >= limits.rename_files && !edited.is_empty() && edited.len() < moved {
            let values = TemplateValues::from([("moved", moved.to_string()), ("edited", edited.len().to_string())]);
            self.add(judgement, CommitRule::RenameMixed, edited, values);
        }
    }

    /// Judges lock files: one that changes by itself is an update of a dependency, which is a change of its own.
    fn dependencies(&self, judgement: &mut CommitJudgement) {
        let is = |placed: &&Placed<'_>, class: &str| matches!(&placed.role, PathRole::Along(found) if found == class);
        let locks: Vec<RepoPath> = self
            .placed
            .iter()
            .filter(|placed| is(placed, "lockfile") && placed.file.status == PathStatus::Modified)
            .map(|placed| placed.file.path.clone())
            .collect();
        // A generator that is run anew writes both.
        let explained =
            ["manifest", "generated"].into_iter().any(|class| self.placed.iter().any(|placed| is(&placed, class)));
        let code = self.placed.iter().any(|placed| placed.role == PathRole::Own);
        if !locks.is_empty() && !explained && code {
            self.add(judgement, CommitRule::DependencyMixed, locks, TemplateValues::new());
        }
    }

    fn size(&self, judgement: &mut CommitJudgement) {
        self.want_all(judgement, CommitRule::Large);
        let limits = &self.rules.limits;
        let sized = || {
            self.placed
                .iter()
                .filter(|placed| !matches!(placed.role, PathRole::Along(_)) && !placed.file.is_pure_rename())
        };
        let files = sized().count();
        // Of some files alone they say nothing.
        let seen = sized().filter(|_| self.commit.looked_into);
        let lines: u32 = seen.filter_map(|placed| Some(placed.file.texture.as_ref()?.lines())).sum();
        // The same small edit in many places is as easy to read as one.
        let small = |placed: &Placed<'_>| {
            placed.file.texture.as_ref().is_some_and(|texture| texture.lines() <= limits.sweep_lines)
        };
        let many = files > limits.files && !sized().all(small);
        if many || lines > limits.lines {
            let values = TemplateValues::from([("files", files.to_string()), ("lines", lines.to_string())]);
            self.add(judgement, CommitRule::Large, Vec::new(), values);
        }
    }

    fn words(&self, judgement: &mut CommitJudgement) {
        if !self.message.autosquash.is_empty() {
            self.add(judgement, CommitRule::AutosquashLeft, Vec::new(), TemplateValues::new());
        }
        if self.message.parsed.is_none() && !self.rules.styles.is_empty() && judgement.kind == CommitKind::Ordinary {
            self.add(judgement, CommitRule::NoStyle, Vec::new(), TemplateValues::new());
        }
        let unknown: Vec<&DeclaredScope> =
            judgement.declared.iter().filter(|declared| declared.scope.is_none()).collect();
        let near =
            unknown.iter().find_map(|declared| Some((declared.word.clone(), nearest(&declared.word, self.table)?)));
        if let Some((word, meant)) = near {
            self.add(
                judgement,
                CommitRule::UnknownScope,
                Vec::new(),
                TemplateValues::from([("word", word), ("meant", meant)]),
            );
        }
    }
}

type TemplateValues = BTreeMap<&'static str, String>;

/// Returns `a, b and c`.
fn and(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests;
