//! Edits that a model suggests. An edit counts only if it cites evidence from the list that the model was given.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CuratorSources, MAX_PROPOSALS, MemoryProposal, ProposalKind, proposal};
use crate::foreign_text::{is_hidden, shortened};
use crate::learn::memory_file::{self, MemoryChange};
use crate::learn::reflection::clean;
use crate::learn::similarity;

/// The longest rule, in characters.
const MAX_RULE: usize = 200;

/// An edit as a model writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuggestedEdit {
    /// The kind of the edit.
    pub action: SuggestedAction,
    /// The line that is replaced or removed, counted from 1.
    #[serde(default)]
    pub line: Option<Value>,
    /// The new rule.
    #[serde(default)]
    pub text: Option<String>,
    /// The names of evidence, such as `E3`.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The reason.
    #[serde(default)]
    pub why: Option<String>,
}

/// The kinds of suggested edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuggestedAction {
    /// A rule is added.
    Add,
    /// A rule gets another text.
    Replace,
    /// A rule is removed.
    Remove,
}

/// The reasons for which a suggested edit is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// It cites no evidence.
    NoEvidence,
    /// It cites evidence that is not in the list.
    UnknownEvidence,
    /// It names a line that is no rule, or a rule of several lines.
    NoRule,
    /// Its text is empty, too long, or not one line of plain characters.
    BadText,
    /// The file says it already.
    Known,
    /// Another proposal says it, or changes the same line.
    Double,
    /// A person refused it before.
    Refused,
}

impl DropReason {
    /// Returns the reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoEvidence => "it cites no evidence",
            Self::UnknownEvidence => "it cites evidence that does not exist",
            Self::NoRule => "it names a line that is not a rule of one line",
            Self::BadText => "its text is empty, too long or not one line",
            Self::Known => "the file says it already",
            Self::Double => "another proposal says it or changes the same line",
            Self::Refused => "a person refused it before",
        }
    }
}

/// The number of edits that were dropped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DroppedEdits {
    /// The reason.
    pub reason: DropReason,
    /// The number.
    pub count: usize,
}

/// Adds the edits that hold to the proposals, up to the largest number of them. Returns the others, counted.
pub fn add(
    sources: &CuratorSources<'_>,
    evidence: &[String],
    edits: &[SuggestedEdit],
    proposals: &mut Vec<MemoryProposal>,
) -> Vec<DroppedEdits> {
    let mut dropped: BTreeMap<DropReason, usize> = BTreeMap::new();
    for edit in edits {
        match checked(sources, evidence, edit, proposals) {
            Ok(proposal) => proposals.push(proposal),
            Err(reason) => *dropped.entry(reason).or_default() += 1,
        }
    }
    proposals.truncate(MAX_PROPOSALS);
    dropped.into_iter().map(|(reason, count)| DroppedEdits { reason, count }).collect()
}

fn checked(
    sources: &CuratorSources<'_>,
    evidence: &[String],
    edit: &SuggestedEdit,
    others: &[MemoryProposal],
) -> Result<MemoryProposal, DropReason> {
    let cited = cited(evidence, &edit.evidence)?;
    let (text, change) = change(sources.memory, edit)?;
    let is_same = |other: &String| *other == text || similarity::is_same(other, &text);
    if others.iter().any(|other| is_same(&other.text) || share_a_line(&other.change, &change)) {
        return Err(DropReason::Double);
    }
    if sources.refused.iter().any(is_same) {
        return Err(DropReason::Refused);
    }
    let why = edit.why.as_deref().map(|why| shortened(&clean(why), MAX_RULE)).filter(|why| !why.is_empty());
    Ok(MemoryProposal { why, ..proposal(sources, ProposalKind::Suggested, &text, change, cited) })
}

/// Returns the evidence with these names, in full.
fn cited(evidence: &[String], names: &[String]) -> Result<Vec<String>, DropReason> {
    let mut cited = Vec::new();
    for name in names {
        let is_meant = |number: &usize| name.trim() == format!("E{number}");
        let number = (1..=evidence.len()).find(is_meant).ok_or(DropReason::UnknownEvidence)?;
        if !cited.contains(&evidence[number - 1]) {
            cited.push(evidence[number - 1].clone());
        }
    }
    if cited.is_empty() { Err(DropReason::NoEvidence) } else { Ok(cited) }
}

/// Returns the rule that an edit is about, and the edit of the file.
fn change(memory: &str, edit: &SuggestedEdit) -> Result<(String, MemoryChange), DropReason> {
    let line = edit.line.as_ref().and_then(Value::as_u64);
    let rule =
        || rules(memory).into_iter().find(|(at, _)| u64::try_from(at + 1).ok() == line).ok_or(DropReason::NoRule);
    match edit.action {
        SuggestedAction::Add => {
            let text = new_text(edit)?;
            let is_known = memory_file::says(memory, &text);
            if is_known { Err(DropReason::Known) } else { Ok((text.clone(), MemoryChange::Add(text))) }
        }
        SuggestedAction::Remove => rule().map(|(at, rule)| (rule.to_owned(), MemoryChange::Remove(at))),
        SuggestedAction::Replace => {
            let (at, rule) = rule()?;
            let text = new_text(edit)?;
            let rest = memory_file::changed(memory, &MemoryChange::Remove(at));
            if text == rule || similarity::is_same(rule, &text) || memory_file::says(&rest, &text) {
                return Err(DropReason::Known);
            }
            Ok((text.clone(), MemoryChange::Replace { lines: vec![at], from: rule.to_owned(), to: text }))
        }
    }
}

fn new_text(edit: &SuggestedEdit) -> Result<String, DropReason> {
    let text = memory_file::rule(edit.text.as_deref().unwrap_or_default());
    let is_empty = !text.contains(char::is_alphanumeric);
    let is_bad = is_empty || text.chars().count() > MAX_RULE || text.contains(is_hidden);
    if is_bad { Err(DropReason::BadText) } else { Ok(text.to_owned()) }
}

/// Returns the rules of one line, with their lines counted from 0. Blocks of code and of tools hold none.
fn rules(memory: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = memory.lines().collect();
    let managed = memory_file::managed(&lines);
    let is_rule = |line: &str| !memory_file::rule(line).is_empty() && memory_file::rule(line) != line.trim();
    let ends = |line: &str| line.trim().is_empty() || line.starts_with(['#', '<', '`']) || is_rule(line);
    let mut found = Vec::new();
    let mut in_block = false;
    for (at, line) in lines.iter().enumerate() {
        in_block ^= line.trim_start().starts_with("```");
        if !in_block && !managed[at] && is_rule(line) && lines.get(at + 1).is_none_or(|next| ends(next)) {
            found.push((at, memory_file::rule(line)));
        }
    }
    found
}

fn share_a_line(one: &MemoryChange, other: &MemoryChange) -> bool {
    lines(one).iter().any(|line| lines(other).contains(line))
}

/// Returns the lines that a change touches.
fn lines(change: &MemoryChange) -> &[usize] {
    match change {
        MemoryChange::Add(_) => &[],
        MemoryChange::Remove(line) => std::slice::from_ref(line),
        MemoryChange::Replace { lines, .. } => lines,
    }
}
