//! The payload of a verdict: its inputs, and its files.

use std::io;
use std::path::{Path, PathBuf};

use minijinja::context;

use super::Workplace;
use crate::command_line::CommonGround;
use crate::escalation::clean_checkout::Clean;
use crate::escalation::failing_command::FailureProof;
use crate::escalation::handoff::repeated_actions::{self, PastWork};
use crate::escalation::history::{FailedRun, History};
use crate::escalation::{self, Artifacts, Escalation};
use crate::event::{Event, EventKind, Rescue};
use crate::fact::Note;
use crate::git::TreeDiff;
use crate::journal::{JournalLine, JournalState};
use crate::oid::Oid;
use crate::policy::Policy;
use crate::repo_path::RepoPath;
use crate::shell_quote::shell_word;
use crate::source::project_files::DiskDirectory;
use crate::templates::sentences::say;
use crate::verdict::assemble::ESCALATES_AT;
use crate::verdict::{Outcome, Verdict, verdict_files};

/// The inputs of a payload.
#[derive(Clone, Copy, Debug)]
pub struct Basis<'a> {
    /// The verdict.
    pub verdict: &'a Verdict,
    /// The history of its session.
    pub history: &'a History,
    /// The judged content, if it was kept.
    pub tree: Option<&'a Oid>,
    /// The result of a trial of the failing command that was not recorded.
    pub tried: Option<Clean>,
    /// The ref under which the content can be fetched, or `None` to create one.
    pub reference: Option<&'a str>,
}

impl Workplace {
    /// Returns the payload. If anything blocks, its content becomes fetchable.
    pub fn payload(&self, basis: &Basis<'_>) -> Escalation {
        let Basis { verdict, history, tree, tried, reference } = *basis;
        let session = &verdict.session;
        let made = tree.filter(|_| reference.is_none() && verdict.outcome != Outcome::Pass);
        let made = made.and_then(|tree| self.publish_content(verdict, tree));
        let gate_dir = self.repo.gate_dir();
        let quoted = shell_word(session);
        let record = verdict_files::newest(&gate_dir, session)
            .map_or_else(|| format!("gate log --session {quoted}"), |path| path.to_string_lossy().into_owned());
        let verify = format!("gate escalate --session {quoted}");
        let payload = if verdict.attempt >= ESCALATES_AT {
            escalation_path(&gate_dir, session).to_string_lossy().into_owned()
        } else {
            verify.clone()
        };
        let failure = escalation::smallest_failure(verdict, history);
        let alone = failure.zip(tree).and_then(|(failure, tree)| history.alone(failure, tree));
        let proof = alone.as_ref().or(failure).map(|failure| {
            let known = FailureProof::recorded(history, failure, tree);
            FailureProof { clean: tried.unwrap_or(known.clean), ..known }
        });
        let reference = reference.or(made.as_deref());
        let found = Artifacts { record: &record, payload: &payload, reference, tree, verify: &verify };
        escalation::derive(verdict, history, proof.as_ref(), &found)
    }

    /// Writes the payload next to the verdicts, as JSON and as text.
    pub fn write_payload(&self, session: &str, payload: &Escalation) -> io::Result<PathBuf> {
        let path = escalation_path(&self.repo.gate_dir(), session);
        let text = escalation::text(payload).map_err(io::Error::other)?;
        verdict_files::write_json(&path, payload)?;
        verdict_files::write_bytes(&path.with_extension("txt"), text.as_bytes())?;
        Ok(path)
    }

    /// Writes the payload of a verdict that used up the attempts. The command is not tried here, because the caller
    /// waits.
    pub(super) fn escalate(&self, verdict: &Verdict) -> Result<(), Note> {
        let tree = verdict.subjects.iter().rev().find_map(|subject| subject.tree.as_ref());
        let history = &self.history(&verdict.session);
        let payload = self.payload(&Basis { verdict, history, tree, tried: None, reference: None });
        self.write_payload(&verdict.session, &payload).map(drop).map_err(|error| {
            Note::new("escalation-lost", format!("the escalation payload could not be written: {error}"))
        })
    }

    /// Lets a ref of a repository aside keep the content, and says where. Returns `None` if it cannot be made, such as
    /// in a receiving hook.
    fn publish_content(&self, verdict: &Verdict, tree: &Oid) -> Option<String> {
        let reference = format!("refs/gate/escalation/{}", &tree.as_str()[..12]);
        let of_it = verdict.subjects.iter().find(|subject| subject.tree.as_ref() == Some(tree));
        let commit = of_it.and_then(|subject| subject.commit.clone()).or_else(|| self.repo.head().ok()?.commit);
        let why = format!("gate: the content that was escalated as {tree}");
        let aside = self.repo.publish_aside(tree, commit.as_ref(), &reference, &why).ok()?;
        let below = self.repo.root().and_then(|root| aside.strip_prefix(root).ok()).unwrap_or(&aside);
        Some(format!("{reference} in {}", below.display()))
    }

    /// Returns the acts of a session since its first refusal in a row.
    pub fn history(&self, session: &str) -> History {
        let mut history = History::of(self.events().iter(), session);
        if history.failures.iter().any(|failure| failure.failed_test.is_some())
            && let Ok(policy) = self.policy_of_head()
        {
            for failure in &mut history.failures {
                failure.alone = line_of_one_test(&policy, failure);
            }
        }
        history
    }

    /// Adds the actions that the reply to a handoff ruled out and that were repeated since.
    pub(super) fn name_what_is_ruled_out(&self, policy: &Policy, state: &JournalState, verdict: &mut Verdict) {
        let Some((reply, items)) = &state.judged(&verdict.session).rescue.ruled_out else { return };
        let events = self.events();
        let Some(at) = events.iter().position(|event| event.id == *reply) else { return };
        let root = self.repo.root().map(|root| root.to_string_lossy().into_owned());
        let files = DiskDirectory(self.repo.root().unwrap_or(self.repo.git_dir()).to_owned());
        let past = PastWork {
            before: &events[..at],
            since: &events[at + 1..],
            session: &verdict.session,
            changed: &self.changed_since(&events[..=at], verdict),
            ground: CommonGround { root: root.as_deref(), project: policy.project(&files) },
        };
        for item in repeated_actions::repeated(items, &past) {
            let text = say("feedback", "ruled_out", &context! { item });
            if !verdict.feedback.is_empty() {
                verdict.feedback.push_str("\n- ");
                verdict.feedback.push_str(&text);
            }
            verdict.notes.push(Note::new("ruled-out", text));
        }
    }

    /// Returns the paths whose content differs from that of the handoff to which the last of `events` is the reply.
    fn changed_since(&self, events: &[Event], verdict: &Verdict) -> Vec<RepoPath> {
        let Some(EventKind::Rescue(Rescue::Replied(reply))) = events.last().map(|event| &event.kind) else {
            return Vec::new();
        };
        let handed = events.iter().rev().find_map(|event| match &event.kind {
            EventKind::Rescue(Rescue::HandedOver(handed)) if handed.id == reply.handoff => handed.tree.clone(),
            _ => None,
        });
        let now = verdict.subjects.iter().rev().find_map(|subject| subject.tree.clone());
        let (Some(handed), Some(now)) = (handed, now) else { return Vec::new() };
        match self.repo.diff_trees(&[(handed, now)]).unwrap_or_default().pop() {
            Some(TreeDiff::Changes(changes)) => changes.into_iter().map(|change| change.path).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the events of the journal that can be read.
    fn events(&self) -> Vec<Event> {
        let lines = self.journal.events().into_iter().flatten();
        let events = lines.filter_map(|line| match line {
            JournalLine::Event(event) => Some(event),
            JournalLine::Damaged { .. } => None,
        });
        events.collect()
    }
}

/// Returns the command line that runs the failed test of a run alone, if its runner can do that.
fn line_of_one_test(policy: &Policy, failure: &FailedRun) -> Option<String> {
    let runner = policy.runners.runner(failure.runner.as_deref()?)?;
    runner.names.as_ref()?.line_of_one(&runner.id, &failure.line, failure.failed_test.as_deref()?)
}

/// Returns the path of the payload of a session.
pub fn escalation_path(gate_dir: &Path, session: &str) -> PathBuf {
    verdict_files::folder(gate_dir).join(format!("escalation_{}.json", verdict_files::file_stem(session)))
}
