//! A session of an agent's client, written down as a case that ends with its last stop.

use serde_json::Value;

use crate::engine::Workplace;
use crate::event::agent_work::Act;
use crate::event::{Event, EventKind};
use crate::fact::collect::{self, BaseOf};
use crate::fact::subject::Base;
use crate::git::GitError;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::replay::anonymize::Neutral;
use crate::replay::compose::{CaseEnd, CaseSources, compose};
use crate::source;
use crate::timeline::{self, Entry};
use crate::verdict::Verdict;

/// The largest number of movements of refs that are read.
const MOVEMENTS: usize = 5_000;

/// The records of a session.
#[derive(Debug, Default)]
pub struct SessionDetails {
    /// Its id.
    pub id: String,
    /// The events of the journal, oldest first.
    pub journal: Vec<Event>,
    /// The events of its logs, each oldest first.
    pub logs: Vec<Vec<Event>>,
    /// The verdict on its last stop, if there was one.
    pub verdict: Option<Verdict>,
}

/// Returns the id of the verdict on the last stop of a session, if it was judged.
pub fn verdict_on_stop<'a>(journal: &'a [Event], id: &str) -> Option<&'a str> {
    let mut its = journal.iter().filter(|event| event.session.as_deref() == Some(id)).rev();
    let mut found = None;
    its.find(|event| {
        match &event.kind {
            EventKind::Judged(judged) if judged.moment == Moment::Stop => found = Some(judged.verdict.as_str()),
            _ => {}
        }
        is_stop(event)
    })?;
    found
}

/// Writes a session down as a case. `None`: nothing is known of it. Without a workplace it has no contents.
pub fn case(place: Option<&Workplace>, told: SessionDetails, neutral: &Neutral) -> Result<Option<Value>, GitError> {
    let mut sources: Vec<Vec<Event>> = vec![told.journal];
    sources.extend(told.logs);
    if sources.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    let of_others = |event: &&Event| event.session.as_ref().is_some_and(|session| *session != told.id);
    let its = sources.iter().flatten().filter(|event| !of_others(event)).map(|event| event.at);
    let (first, last) = (its.clone().min(), its.max());
    if let Some(place) = place {
        let moved = source::git::read(|| place.repo.command(), MOVEMENTS).unwrap_or_default();
        let meanwhile = |event: &Event| Some(event.at) >= first && Some(event.at) <= last;
        sources.extend(moved.into_iter().map(|log| log.events.into_iter().filter(meanwhile).collect()));
    }
    let mut entries = timeline::merge(sources);
    if let Some(at) = entries.iter().rposition(|entry| is_stop(&entry.event)) {
        entries.truncate(at + 1);
    }
    let Some(place) = place else {
        let record = record(told.id, &entries, None, None, Vec::new());
        return compose(None, neutral, &record).map(Some);
    };
    // What a verdict judged is what is judged again, as far as it is still there.
    let judged = told.verdict.as_ref().and_then(|given| Some((given, super::rejudge::judged(place, given).ok()?)));
    let head = match &judged {
        Some((_, judged)) => judged.iter().find_map(|one| one.commit.clone()),
        None => head_of(place, &entries)?,
    };
    let lineage = head.as_ref().map(|head| collect::lineage(&place.repo, head, BaseOf::AnyRemote)).transpose()?;
    let base = match (&judged, lineage.as_ref().map(|lineage| &lineage.base)) {
        (Some((_, judged)), _) => judged.iter().find_map(|one| one.base.clone()),
        (None, Some(Base::MergeBase { commit, .. })) => Some(commit.clone()),
        (None, _) => None,
    };
    let commits = super::appeal::commits(place, head.as_ref(), base.as_ref())?;
    let mut record = record(told.id, &entries, base, head.clone(), commits);
    record.policy = match &judged {
        Some((given, _)) => super::rejudge::policy_text(place, given),
        // Which policy counts is a question of now; a broken one is none.
        None => {
            let policy = place.policy(lineage.as_ref()).ok();
            policy.and_then(|(policy, _)| super::rejudge::text_of(place, &policy.source))
        }
    };
    if let Some((given, judged)) = &judged {
        record.end = CaseEnd::Stop { head, work: judged.iter().find_map(|one| one.work.clone()) };
        record.hosting = given.hosting.as_ref();
    }
    record.branch = place.repo.head()?.branch.map(|name| name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned());
    compose(Some(&place.repo), neutral, &record).map(Some)
}

fn record(
    id: String,
    entries: &[Entry],
    base: Option<Oid>,
    head: Option<Oid>,
    commits: Vec<crate::commit::change::Commit>,
) -> CaseSources<'_> {
    let work = last_tree(entries);
    let end = CaseEnd::Stop { head, work };
    CaseSources {
        title: format!("session {id}"),
        id,
        policy: None,
        base,
        branch: None,
        entries,
        commits,
        hosting: None,
        end,
    }
}

fn is_stop(event: &Event) -> bool {
    matches!(&event.kind, EventKind::Work(work) if work.actor.is_none() && matches!(work.act, Act::Stopped(_)))
}

/// Returns the commit that was checked out last, as far as it is recorded and still exists.
fn head_of(place: &Workplace, entries: &[Entry]) -> Result<Option<Oid>, GitError> {
    let told = |entry: &Entry| match &entry.event.kind {
        EventKind::Run(run) => run.start.head.clone(),
        EventKind::Judged(judged) => judged.commits.first().cloned(),
        EventKind::Git(movement) if movement.action != "push" => movement.new.clone(),
        EventKind::Work(work) => match &work.act {
            Act::Command(command) => command.end.as_ref().or(command.start.as_ref()).and_then(|kept| kept.head.clone()),
            _ => None,
        }
        .or_else(|| work.head.clone()),
        _ => None,
    };
    for head in entries.iter().rev().filter_map(told) {
        if place.repo.commit(head.as_str())?.is_some() {
            return Ok(Some(head));
        }
    }
    Ok(None)
}

/// Returns the content that was kept last, if no later act may have changed it.
fn last_tree(entries: &[Entry]) -> Option<Oid> {
    for entry in entries.iter().rev() {
        match &entry.event.kind {
            EventKind::Run(run) => return Some(run.end.tree.clone()),
            EventKind::Work(work) => match &work.act {
                Act::Command(command) => return command.end.as_ref().map(|kept| kept.tree.clone()),
                Act::Edited(_) => return None,
                _ => {}
            },
            EventKind::Git(_) => return None,
            _ => {}
        }
    }
    None
}
