//! Writes a case from records: contents from the repository, and events from the timeline.
//!
//! The name of a content is the beginning of its tree's id, so that equal ones are equal in the case, too. Between two
//! contents the case has the files that differ, as changes that were found.

mod acts;
mod commits;
mod contents;
mod hosted;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::commit::change::Commit;
use crate::engine::Workplace;
use crate::fact::{DefaultBranch, Hosting, RefUpdate};
use crate::git::{GitError, Range, Repo};
use crate::oid::Oid;
use crate::ref_names;
use crate::replay::anonymize::Neutral;
use crate::timeline::Entry;

/// The sources of a case.
#[derive(Clone, Debug)]
pub struct CaseSources<'a> {
    /// The name of the case.
    pub id: String,
    /// The subject.
    pub title: String,
    /// The text of `gate.toml` that counts.
    pub policy: Option<String>,
    /// The commit at which the work left the default branch, or `None` if it has none.
    pub base: Option<Oid>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// The events.
    pub entries: &'a [Entry],
    /// The commits of the work, oldest first.
    pub commits: Vec<Commit>,
    /// The answers of the forge.
    pub hosting: Option<&'a Hosting>,
    pub end: CaseEnd,
}

/// The end of a case.
#[derive(Clone, Debug)]
pub enum CaseEnd {
    /// The end of a turn.
    Stop {
        /// The commit that is checked out.
        head: Option<Oid>,
        /// The tree of the working tree, if it differs and was kept.
        work: Option<Oid>,
    },
    Push {
        /// The commit that represents everything that is pushed.
        head: Option<Oid>,
        /// The refs.
        updates: Vec<RefUpdate>,
    },
}

/// Writes a case. Without a repository it has no contents.
pub fn compose(repo: Option<&Repo>, neutral: &Neutral, record: &CaseSources<'_>) -> Result<Value, GitError> {
    let base = if let (Some(repo), Some(base)) = (repo, &record.base) { Some(repo.tree_of(base)?) } else { None };
    let start = base.clone().or_else(|| repo.map(Repo::empty_tree));
    let mut trees = HashMap::new();
    for commit in &record.commits {
        if let (Some(repo), Some(id)) = (repo, &commit.id) {
            trees.insert(id.clone(), repo.tree_of(id)?);
        }
    }
    let mut earlier = EarlierActs::default();
    let mut writer = CaseWriter { repo, trees, at: start, ..CaseWriter::new(neutral, record, &mut earlier) };
    for (index, entry) in record.entries.iter().enumerate() {
        writer.entry(index, &entry.event)?;
    }
    if let Some(hosting) = record.hosting {
        writer.hosted(hosting);
    }
    writer.end()?;
    let events = std::mem::take(&mut writer.events);
    let mut policy = Map::new();
    match &record.policy {
        Some(text) => policy.insert("gate_toml".to_owned(), neutral.text(text).into()),
        None => {
            policy.insert("ci_settings_exempt".to_owned(), true.into());
            // Without a repository there is no better witness than the log.
            policy.insert("transcripts_count".to_owned(), repo.is_none().into());
            policy.insert("default_word_rules".to_owned(), true.into())
        }
    };
    let default_branch = match &record.end {
        CaseEnd::Push { updates, .. } => updates.iter().find_map(|update| match &update.default_branch {
            DefaultBranch::Known(name) => Some(ref_names::short(name).to_owned()),
            _ => None,
        }),
        CaseEnd::Stop { .. } => None,
    };
    let mut start = Map::new();
    start.insert("branch".to_owned(), record.branch.clone().unwrap_or_else(|| "work".to_owned()).into());
    start.insert("head".to_owned(), record.base.as_ref().map_or_else(|| "start".to_owned(), name).into());
    if let Some(branch) = default_branch {
        start.insert("default_branch".to_owned(), branch.into());
    }
    if let Some(tree) = &base {
        start.insert("tree".to_owned(), name(tree).into());
        start.insert("files".to_owned(), Value::Object(writer.files(tree, &events)?));
    }
    Ok(json!({
        "schema_version": 1,
        "id": record.id,
        "title": neutral.text(&record.title),
        "policy": policy,
        "start": start,
        "events": events,
    }))
}

/// The acts of a case that are written already, as far as later ones refer to them.
#[derive(Debug, Default)]
pub struct EarlierActs {
    /// Their number.
    count: u64,
    /// By call of the client: the number of its event.
    calls: HashMap<String, u64>,
}

/// Writes the next part of a case without a repository: its events, and its end if it `ends` here.
pub fn compose_part(
    neutral: &Neutral,
    record: &CaseSources<'_>,
    earlier: &mut EarlierActs,
    ends: bool,
) -> Result<Vec<Value>, GitError> {
    let mut writer = CaseWriter::new(neutral, record, earlier);
    for (index, entry) in record.entries.iter().enumerate() {
        writer.entry(index, &entry.event)?;
    }
    if ends {
        writer.end()?;
    }
    let events = writer.events;
    earlier.count += events.len() as u64;
    Ok(events)
}

/// Returns the beginning of an id, which is its name in a case.
fn name(id: &Oid) -> String {
    id.as_str().chars().take(12).collect()
}

struct CaseWriter<'a> {
    repo: Option<&'a Repo>,
    neutral: &'a Neutral,
    record: &'a CaseSources<'a>,
    /// By commit: its tree.
    trees: HashMap<Oid, Oid>,
    /// The tree of the working tree, as far as the case got.
    at: Option<Oid>,
    events: Vec<Value>,
    earlier: &'a mut EarlierActs,
    /// The number of commits that are written.
    written: usize,
    /// The present base on the default branch.
    base: Option<Oid>,
}

impl<'a> CaseWriter<'a> {
    fn new(neutral: &'a Neutral, record: &'a CaseSources<'a>, earlier: &'a mut EarlierActs) -> Self {
        let base = record.base.clone();
        Self {
            repo: None,
            neutral,
            record,
            trees: HashMap::new(),
            at: None,
            events: Vec::new(),
            earlier,
            written: 0,
            base,
        }
    }

    fn push(&mut self, t: &str, mut event: Value) -> u64 {
        let seq = self.earlier.count + self.events.len() as u64 + 1;
        if let Some(fields) = event.as_object_mut() {
            fields.insert("seq".to_owned(), seq.into());
            fields.insert("t".to_owned(), t.into());
            fields.retain(|_, value| !value.is_null());
        }
        self.events.push(event);
        seq
    }
}

/// Returns the commits between a base and a tip, oldest first.
pub(super) fn commits(
    place: &Workplace,
    head: Option<&Oid>,
    base: Option<&Oid>,
) -> Result<Vec<crate::commit::change::Commit>, crate::git::GitError> {
    const MAX_COMMITS: usize = 200;
    let Some(head) = head else { return Ok(Vec::new()) };
    let range = Range {
        revisions: vec![head.to_string()],
        exclude: base.into_iter().map(ToString::to_string).collect(),
        limit: Some(MAX_COMMITS),
    };
    let mut commits: Vec<_> =
        place.repo.log(&range)?.map(|logged| logged.map(|logged| logged.commit)).collect::<Result<_, _>>()?;
    commits.reverse();
    Ok(commits)
}
