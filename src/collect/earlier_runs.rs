//! Earlier runs on the judged work, for a change that removes tests.

use std::collections::{BTreeMap, BTreeSet};

use crate::collect::{CollectError, judged_work};
use crate::event::{Act, Event, EventKind};
use crate::fact::{Base, Facts, Story, Subject, Weakening};
use crate::git::Repo;
use crate::journal::Journal;
use crate::oid::Oid;
use crate::runner::{OutputOutcome, Project, read_output_of};
use crate::timeline;

/// Reads the earlier runs on the judged work by sessions other than that of the story. They are read only if the change
/// removes something that a failure may have been about. A run belongs to the work if it began on one of its commits or
/// on the commit where that left the default branch. A run of the session `own` belongs to it on any content since:
/// commits are amended. If an agent's session has such a run, the whole session belongs to it, with the requests of its
/// person.
pub fn read(
    repo: &Repo,
    journal: &Journal,
    own: &str,
    facts: &Facts,
    project: Project<'_>,
) -> Result<Vec<Story>, CollectError> {
    let head = facts.subjects.iter().find_map(|subject| subject.commit.as_ref());
    let mut work: Vec<(&Subject, &Oid)> = Vec::new();
    for subject in &facts.subjects {
        let suspicious = !facts.failed_tests.is_empty()
            || facts.weakening.get(&subject.name).is_some_and(Weakening::may_hide_a_failure);
        // A working tree stands on the commit beside it.
        if let (true, Base::MergeBase { .. }, Some(tip)) = (suspicious, &subject.base, subject.commit.as_ref().or(head))
        {
            work.push((subject, tip));
        }
    }
    if work.is_empty() {
        return Ok(Vec::new());
    }
    let events = journal.latest_events()?;
    let mut known: BTreeMap<(&Oid, bool), bool> = BTreeMap::new();
    let mut of_it = Vec::with_capacity(events.len());
    for event in &events {
        let head = head_of_run(&event.kind);
        let amended = event.session.as_deref() == Some(own);
        let belongs = match head.map(|head| (head, known.get(&(head, amended)).copied())) {
            None => false,
            Some((_, Some(known))) => known,
            Some((head, None)) => {
                let mut belongs = false;
                for (subject, tip) in &work {
                    belongs |= judged_work::belongs(repo, subject, tip, head, amended)?;
                }
                known.insert((head, amended), belongs);
                belongs
            }
        };
        of_it.push(belongs && may_have_failed(&event.kind, project));
    }
    let both = || events.iter().zip(&of_it);
    let sessions: BTreeSet<&Option<String>> =
        both().filter(|(_, belongs)| **belongs).map(|(event, _)| &event.session).collect();
    let mut stories = Vec::new();
    for session in sessions.into_iter().filter(|session| facts.story.is_empty() || session.as_deref() != Some(own)) {
        let its = || both().filter(|(event, _)| event.session == *session);
        let told = its().any(|(event, _)| matches!(event.kind, EventKind::Work(_)));
        let events: Vec<Event> =
            its().filter(|(_, belongs)| told || **belongs).map(|(event, _)| event.clone()).collect();
        stories.push(Story::of(&timeline::merge(vec![events]), session.as_deref(), project));
    }
    Ok(stories)
}

/// Returns the commit on which a run of `gate`, or a command of an agent, began.
fn head_of_run(kind: &EventKind) -> Option<&Oid> {
    match kind {
        EventKind::Run(run) => run.start.head.as_ref(),
        EventKind::Work(work) => work.head.as_ref().filter(|_| matches!(work.act, Act::Command(_))),
        _ => None,
    }
}

/// Returns `false` for a command of an agent that ended with 0 and whose output shows no failure. Behind a pipe, only the
/// output shows one.
fn may_have_failed(kind: &EventKind, project: Project<'_>) -> bool {
    let EventKind::Work(work) = kind else { return true };
    let Act::Command(command) = &work.act else { return true };
    let Some(ended) = command.ended else { return false };
    let speaks = || memchr::memmem::find(command.tail.to_ascii_lowercase().as_bytes(), b"fail").is_some();
    !ended.success() || speaks() && read_output_of(project.runners, &[], &command.tail).says == OutputOutcome::Failed
}
