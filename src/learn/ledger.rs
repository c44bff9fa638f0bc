//! Everything that is recorded of the sessions of a repository, read once: the journal, the reflogs, and clients' logs.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::event::{Act, Event, EventKind, Judged, Run, SessionSettings};
use crate::git::{Repo, TreeDiff};
use crate::journal::{Journal, JournalError};
use crate::learn::reward::Reward;
use crate::learn::reward_numbers::{self, RewardSources};
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::source;
use crate::source::sessions::usage::{self, ModelUsage};
use crate::source::sessions::{self, FoundSession, Roots};

/// The largest number of movements of refs that are read.
const MAX_MOVEMENTS: usize = 5_000;

/// The record of all sessions.
pub struct Ledger<'r> {
    repo: &'r Repo,
    roots: Roots,
    /// The events of the journal, in order.
    pub events: Vec<Event>,
    movements: Vec<Event>,
    logs: Vec<FoundSession>,
    is_check: Box<dyn Fn(&Run) -> bool + 'r>,
}

impl<'r> Ledger<'r> {
    /// Reads the record. `logs` are the logs of clients that were found; `is_check` says which runs are checks.
    pub fn read(
        repo: &'r Repo,
        journal: &Journal,
        roots: Roots,
        logs: Vec<FoundSession>,
        is_check: Box<dyn Fn(&Run) -> bool + 'r>,
    ) -> Result<Self, JournalError> {
        let events = journal.latest_events()?;
        // Without the reflogs, no revert is known.
        let movements = source::git::read(|| repo.command(), MAX_MOVEMENTS).unwrap_or_default();
        let movements = movements.into_iter().flat_map(|log| log.events).collect();
        Ok(Self { repo, roots, events, movements, logs, is_check })
    }

    /// Returns the ids of all sessions, in the order of their first events. Those in logs alone come last.
    pub fn sessions(&self) -> Vec<String> {
        let in_journal = self.events.iter().filter_map(|event| event.session.clone());
        let mut all: Vec<String> = Vec::new();
        for id in in_journal.chain(self.logs.iter().map(|log| log.id.clone())) {
            if !all.contains(&id) {
                all.push(id);
            }
        }
        all
    }

    /// Returns the events of a session: those of the journal, or else those of its log.
    pub fn events_of(&self, session: &str) -> Vec<Event> {
        let own = self.events.iter().filter(|event| event.session.as_deref() == Some(session));
        let own: Vec<Event> = own.cloned().collect();
        if !own.is_empty() {
            return own;
        }
        let logs = self.logs_of(session).filter_map(|log| sessions::read(log, &self.roots).ok());
        logs.flat_map(|log| log.events).collect()
    }

    fn logs_of(&self, session: &str) -> impl Iterator<Item = &sessions::SessionLog> {
        let found = self.logs.iter().filter(move |found| found.id == session);
        found.flat_map(|found| std::iter::once(&found.log).chain(&found.subagents))
    }

    /// Returns the settings of each session that recorded any.
    pub fn settings(&self) -> BTreeMap<&str, &SessionSettings> {
        let settings = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Settings(settings) => Some((event.session.as_deref()?, settings)),
            _ => None,
        });
        settings.collect()
    }

    /// Returns the models and the tokens of a session, as far as its logs count them.
    pub fn usage(&self, session: &str) -> ModelUsage {
        let mut sum = ModelUsage::default();
        for read in self.logs_of(session).filter_map(|log| usage::read(log).ok()) {
            sum.models.extend(read.models);
            sum.tokens = match (sum.tokens, read.tokens) {
                (Some(one), Some(other)) => Some(one.saturating_add(other)),
                (one, other) => one.or(other),
            };
        }
        sum
    }

    /// Returns the reward of a session, or `None` if nothing is recorded of it.
    pub fn reward(&self, session: &str) -> Option<Reward> {
        let events = self.events_of(session);
        let (began, ended) = reward_numbers::span(&events)?;
        let is_before = |event: &&Event| event.at < began && event.session.as_deref() != Some(session);
        let before: Option<&Judged> =
            self.events.iter().filter(is_before).filter_map(reward_numbers::counted_verdict).next_back();
        let reverts = self.movements.iter().filter(|event| event.at >= began && event.at <= ended && reverts(event));
        let mut reverts: Vec<&Oid> = reverts.filter_map(moved_to).collect();
        reverts.sort_unstable();
        reverts.dedup();
        // Others revert as well, on branches on which the session never was.
        let heads: Vec<&Oid> = events.iter().flat_map(heads).collect();
        let is_below = |commit: &Oid| {
            heads.contains(&commit)
                || heads.last().is_none_or(|last| self.repo.is_ancestor(commit, last).unwrap_or(false))
        };
        reverts.retain(|commit| is_below(commit));
        let others = self.events.iter().filter(is_before).filter(|event| event.session.is_some());
        let others = others.map(|event| event.at).max();
        let first = heads.first().map(|head| (*head).clone());
        let base = first.as_ref().and_then(|head| self.first_own_commit(head, others));
        let events = self.with_waivers(session, events.clone());
        let changed = |from: &Oid, to: &Oid| self.changed(from, to);
        let numbers = reward_numbers::numbers(&RewardSources {
            events: &events,
            before,
            base,
            reverts: u32::try_from(reverts.len()).unwrap_or(u32::MAX),
            tokens: self.usage(session).tokens,
            changed: &changed,
            is_check: &self.is_check,
        });
        Some(Reward::of(session, numbers))
    }

    /// Returns the commit on which the commits up to `head` were made since a time, as far as the default branch does not
    /// have them.
    fn first_own_commit<'l>(&'l self, head: &'l Oid, since: Option<Timestamp>) -> Option<&'l Oid> {
        let shared = self.repo.default_commit().ok()??;
        let is_shared = |commit: &Oid| self.repo.is_ancestor(commit, &shared).unwrap_or(true);
        let is_own = |event: &&Event| since.is_none_or(|since| event.at > since);
        let made = |commit: &Oid| self.movements.iter().filter(is_own).find(|event| moved_to(event) == Some(commit));
        let mut first = head;
        while !is_shared(first) {
            match made(first).and_then(committed_on) {
                Some(below) if below != first => first = below,
                _ => break,
            }
        }
        Some(first).filter(|first| *first != head)
    }

    /// Returns the sessions of agents that edited one of these files since a time; if no tool did, the session that acted
    /// last.
    pub fn sessions_behind(&self, paths: &[RepoPath], since: Option<Timestamp>) -> Vec<String> {
        let edits =
            |act: &Act| matches!(act, Act::Edited(edits) if edits.iter().any(|edit| paths.contains(&edit.path)));
        let mut editors = Vec::new();
        let mut last: Option<(Timestamp, String)> = None;
        for session in self.sessions() {
            let events = self.events_of(&session);
            let acts = || events.iter().filter_map(|event| Some((event.at, act(event)?)));
            if acts().any(|(at, act)| since.is_none_or(|since| at >= since) && edits(act)) {
                editors.push(session.clone());
            }
            last = last.max(acts().map(|(at, _)| (at, session.clone())).max());
        }
        if editors.is_empty() { last.into_iter().map(|(_, session)| session).collect() } else { editors }
    }

    /// Returns the client of a session, if its log was found.
    pub fn client_of(&self, session: &str) -> Option<&'static str> {
        self.logs.iter().find(|found| found.id == session).map(|found| found.log.client.as_str())
    }

    /// Returns the events of a session with the waivers that a person recorded for what was judged in it.
    fn with_waivers(&self, session: &str, own: Vec<Event>) -> Vec<Event> {
        let trees: Vec<Oid> =
            own.iter().filter_map(reward_numbers::counted_verdict).flat_map(|judged| judged.trees.clone()).collect();
        let is_own = |event: &Event| event.session.as_deref() == Some(session);
        let waives = |event: &Event| matches!(&event.kind, EventKind::Waived(waived) if trees.contains(&waived.tree));
        if !self.events.iter().any(|event| !is_own(event) && waives(event)) {
            return own;
        }
        self.events.iter().filter(|event| is_own(event) || waives(event)).cloned().collect()
    }

    fn changed(&self, from: &Oid, to: &Oid) -> Option<Vec<String>> {
        // A session may begin at a commit.
        let tree = |oid: &Oid| self.repo.tree_of(oid).ok();
        match self.repo.diff_trees(&[(tree(from)?, tree(to)?)]).ok()?.pop()? {
            TreeDiff::Changes(changes) => Some(changes.iter().map(|change| change.path.to_string()).collect()),
            TreeDiff::Unreadable => None,
        }
    }
}

fn act(event: &Event) -> Option<&Act> {
    if let EventKind::Work(work) = &event.kind { Some(&work.act) } else { None }
}

/// Returns the commits that were checked out at an event.
fn heads(event: &Event) -> Vec<&Oid> {
    match &event.kind {
        EventKind::Work(work) => work.head.iter().collect(),
        EventKind::Run(run) => run.start.head.iter().chain(&run.end.head).collect(),
        EventKind::Judged(judged) => judged.commits.last().into_iter().collect(),
        _ => Vec::new(),
    }
}

fn moved_to(event: &Event) -> Option<&Oid> {
    if let EventKind::Git(movement) = &event.kind { movement.new.as_ref() } else { None }
}

/// Returns the commit on which another one was made, if that is what git recorded.
fn committed_on(event: &Event) -> Option<&Oid> {
    let EventKind::Git(movement) = &event.kind else { return None };
    movement.old.as_ref().filter(|_| movement.action.starts_with("commit"))
}

/// Returns `true` if git recorded a revert.
fn reverts(event: &Event) -> bool {
    let EventKind::Git(movement) = &event.kind else { return false };
    movement.action == "revert" || movement.action == "commit" && movement.message.contains("Revert \"")
}
