//! The engine, the same at every moment: it evaluates the gates, counts the attempt, and writes the record.
//!
//! The stages do the work; the engine calls them in order.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use jiff::Timestamp;

use crate::collect::merge_base::Lineage;
use crate::collect::{
    self, BaseOf, Sources, earlier_runs, failed_tests, fewer_tests, forge_query, undeclared_runs, unnamed_failures,
};
use crate::digest::dated_id;
use crate::event::{EventKind, Judged, Origin, PushedRef};
use crate::exit::Exit;
use crate::fact::{Facts, Note, unfinished_runs};
use crate::failure::Failure;
use crate::git::{EditSurvey, GitError, Head, Repo, needed_options};
use crate::journal::{Journal, JournalError, JournalState, NewEvent};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{Command, Policy};
use crate::redact::redact_tokens;
use crate::session::Session;
use crate::shell_quote::shell_word;
use crate::snapshot::{DirtyPath, Presence, Snapshot};
use crate::source::project_files::DiskDirectory;
use crate::verdict::assemble::{self, ESCALATES_AT, Occasion};
use crate::verdict::push_command::push_again;
use crate::verdict::{Attempt, Verdict, verdict_files};
use crate::{config, gates};

mod built_programs;
mod bypassed_hooks;
mod change_review;
mod contracts;
mod earlier_lines;
mod early_exits;
mod edits_meanwhile;
mod escalation;
mod file_times;
mod future_times;
mod installed_copies;
mod policy_choice;
pub mod policy_files;
mod recorded_tests;
mod refused_work;
mod rewritten_files;
mod silent_programs;
mod stale_builds;
mod stale_headers;
mod stale_objects;
mod stale_outputs;
mod stale_programs;
mod word_judges;

use self::bypassed_hooks::PUSH_UNJUDGED;
pub(crate) use self::earlier_lines::earlier_lines;
pub use self::escalation::{Basis, escalation_path};
pub use self::recorded_tests::{results_in_part, test_results};

/// A repository with its journal, and the session at work in it.
pub struct Workplace {
    /// The repository.
    pub repo: Repo,
    /// Its journal.
    pub journal: Journal,
    /// The session.
    pub session: Session,
    /// The time for which a stop waits for the judges of last resort.
    judge_patience: Duration,
}

/// The current content, and the policy for it.
pub struct Here {
    /// The commit and branch that are checked out.
    pub head: Head,
    /// The commit, and the commit where its history left the default branch, or `None` if nothing is committed.
    pub lineage: Option<Lineage>,
    /// The working tree.
    pub look: EditSurvey,
    /// The policy in force.
    pub policy: Policy,
    /// Notes about its choice.
    pub notes: Vec<Note>,
    /// The state of the journal so far.
    pub state: JournalState,
}

/// The result of a judgement that is not recorded.
pub struct Preview {
    /// The verdict, which is not recorded.
    pub verdict: Verdict,
    /// The working tree.
    pub snapshot: Snapshot,
    /// The commit that is checked out.
    pub head: Option<Oid>,
}

/// Judged content that is not a commit. If it is refused, it is kept, so that the refusal can be judged again after the
/// working tree has changed.
#[derive(Clone, Copy, Debug)]
pub enum Uncommitted<'a> {
    /// The working tree.
    Work(&'a Snapshot),
    /// The commit that is about to be made, from this index, or `None` for that of the repository.
    Draft(Option<&'a Path>),
}

/// A verdict and its files.
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Its files, or `None` if they could not be written.
    pub written: Option<PathBuf>,
}

/// Returns the refs that a push moves.
fn pushed_refs(facts: &Facts) -> Vec<PushedRef> {
    let updates = facts.subjects.iter().filter_map(|subject| subject.update.as_ref());
    updates
        .map(|update| PushedRef {
            remote: update.remote.clone(),
            reference: update.remote_ref.clone(),
            new: update.new.clone(),
        })
        .collect()
}

impl Workplace {
    /// Returns the workplace of the current directory.
    pub fn here() -> Result<Self, Failure> {
        config::read_ahead();
        let dir = current_dir()?;
        Ok(Self::of(Repo::discover(&dir).map_err(|error| no_repository(&error))?))
    }

    /// Returns the workplace of the hook that git started in the current directory.
    pub fn of_hook() -> Result<Self, Failure> {
        config::read_ahead();
        let dir = current_dir()?;
        Ok(Self::of(Repo::discover_in_hook(&dir).map_err(|error| no_repository(&error))?))
    }

    /// Returns the workplace of `dir`, with an agent of this session at work.
    pub fn of_session(dir: &Path, session: Session) -> Result<Self, Failure> {
        let repo = Repo::discover(dir).map_err(|error| no_repository(&error))?;
        ask_journal_for_markers(&repo);
        let journal = Journal::open(&repo.gate_dir(), repo.root());
        Ok(Self { journal, repo, session, judge_patience: word_judges::HOOK_TIMEOUT })
    }

    /// Returns the same workplace for a job of a forge: the spool of its checkout is not evidence there.
    #[must_use]
    pub fn without_spool(mut self) -> Self {
        self.journal = Journal::open(&self.repo.gate_dir(), None);
        self
    }

    fn of(repo: Repo) -> Self {
        ask_journal_for_markers(&repo);
        let journal = Journal::open(&repo.gate_dir(), repo.root());
        let session = Session::current(repo.root().unwrap_or(repo.git_dir()));
        Self { repo, journal, session, judge_patience: word_judges::COMMAND_TIMEOUT }
    }

    /// Returns the root of the working tree, or an error if there is none.
    pub fn work_tree(&self) -> Result<&Path, Failure> {
        let remedy = "go to a working tree of it; `gate check --rev REV` judges a commit";
        self.repo.work_tree().map_err(|error| Failure::new(Exit::Usage, error).remedy(remedy))
    }

    /// Returns the task files at the root.
    fn files(&self) -> DiskDirectory {
        DiskDirectory(self.repo.root().unwrap_or(self.repo.git_dir()).to_owned())
    }

    /// Reads the current content and the policy for it. Everything else is read while git examines the working tree,
    /// which takes longest.
    pub fn look(&self) -> Result<Here, Failure> {
        let git = |error: GitError| Failure::new(Exit::CannotJudge, error);
        self.work_tree()?;
        thread::scope(|scope| {
            let looking = scope.spawn(|| self.repo.look());
            let head = self.repo.head().map_err(git)?;
            let lineage = head.commit.as_ref().map(|commit| collect::lineage(&self.repo, commit, BaseOf::AnyRemote));
            let lineage = lineage.transpose().map_err(git)?;
            let (policy, notes) = self.policy(lineage.as_ref())?;
            let state = self.state()?;
            if let Some(lineage) = &lineage {
                let sources = Sources { repo: &self.repo, journal: &self.journal, state: &state, policy: &policy };
                collect::compare_ahead(sources, lineage);
            }
            let look = looking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map_err(git)?;
            Ok(Here { head, lineage, look, policy, notes, state })
        })
    }

    /// Reads all facts about the current content at `moment`: the content, the steps of `session`, and the forge's
    /// answers if a gate needs them. Every answer about the current content is based on these facts, so that no two
    /// answers differ.
    pub fn facts_here(&self, here: &Here, moment: Moment, session: &str) -> Result<Facts, Failure> {
        let sources = Sources { repo: &self.repo, journal: &self.journal, state: &here.state, policy: &here.policy };
        let mut facts = collect::at_stop(sources, moment, here.lineage.as_ref(), &here.look)
            .map_err(Failure::with(Exit::CannotJudge))?;
        facts.notes.extend(here.notes.iter().cloned());
        self.add_contracts(&here.policy, &mut facts)?;
        let internal = |error| Failure::new(Exit::CannotJudge, error);
        facts.hosting = forge_query::about_checkout(&self.repo, &here.policy, moment, &here.head).map_err(internal)?;
        if facts.hosting.is_none() {
            facts.notes.extend(forge_query::nobody_to_ask(&self.repo, &here.policy, moment).map_err(internal)?);
        }
        facts.notes.extend(self.hooks_off());
        facts.notes.extend(self.pushes_without_verdict(&here.state, session));
        self.add_session_facts(&here.state, &here.policy, session, &mut facts);
        self.add_task(here, session, &mut facts);
        Ok(facts)
    }

    /// Adds the task of the session and its plan at the moments that end its work.
    fn add_task(&self, here: &Here, session: &str, facts: &mut Facts) {
        if !matches!(facts.moment, Moment::Stop | Moment::After) {
            return;
        }
        facts.task = here.state.task(session).cloned();
        let Some(plan) = here.state.plan(session) else { return };
        match collect::plan_progress::read(&self.repo, plan, here.head.commit.as_ref()) {
            Ok(progress) => facts.plan = Some(progress),
            Err(error) => facts.notes.push(Note::new("plan-unread", format!("the commits of the plan: {error}"))),
        }
    }

    /// Returns the verdict that a stop of `session` would get now, without counting an attempt or writing a record.
    pub fn preview(&self, session: &str) -> Result<Preview, Failure> {
        let here = self.look()?;
        let facts = self.facts_here(&here, Moment::Stop, session)?;
        let results = gates::judge(&here.policy, &facts);
        let made = here.state.judged(session).made();
        let attempt = Attempt { number: if assemble::blocks(&results) { made.max(1) } else { 0 }, repeated: true };
        let at = Timestamp::now();
        let id = dated_id('v', at, session);
        let occasion = Occasion { id, at, repository: self.name(), session: session.to_owned(), push_again: None };
        let verdict = assemble::verdict(&here.policy, facts, results, occasion, attempt);
        Ok(Preview { verdict, snapshot: here.look.snapshot, head: here.head.commit })
    }

    /// Returns a line that works from outside of a linked working tree, too: the shells of some clients go back to the main
    /// one after each line.
    fn with_way_here(&self, line: String) -> String {
        let is_linked = self.repo.git_dir() != self.repo.common_dir();
        match self.repo.root().and_then(Path::to_str).filter(|_| is_linked) {
            Some(root) => format!("cd {} && {line}", shell_word(root)),
            None => line,
        }
    }

    /// Reads the state of the journal.
    pub fn state(&self) -> Result<JournalState, Failure> {
        self.journal.state().map_err(Failure::with(Exit::CannotJudge))
    }

    /// Judges, counts and records. The facts were read with `state`.
    pub fn judge(
        &self,
        policy: &Policy,
        state: &JournalState,
        facts: Facts,
        uncommitted: Option<Uncommitted<'_>>,
    ) -> Judgement {
        self.judge_if(policy, state, facts, uncommitted, || true)
    }

    /// Judges and records. Counts a refusal only if `claimed` returns `true`, because somebody claimed to be finished:
    /// a look is not an attempt. It is called only for a refusal.
    pub fn judge_if(
        &self,
        policy: &Policy,
        state: &JournalState,
        mut facts: Facts,
        uncommitted: Option<Uncommitted<'_>>,
        claimed: impl FnOnce() -> bool,
    ) -> Judgement {
        self.add_review(policy, &mut facts, uncommitted);
        let results = gates::judge(policy, &facts);
        let results = self.read_words(policy, &mut facts, results);
        let failing = assemble::failing(&results);
        let blocked = assemble::blocks(&results);
        let idle = assemble::idle(policy, &results);
        let mentioned: Vec<String> =
            facts.notes.iter().filter(|note| note.kind == PUSH_UNJUDGED).map(|note| note.text.clone()).collect();
        let trees: Vec<_> = facts.subjects.iter().filter_map(|subject| subject.tree.clone()).collect();
        let commits: Vec<_> = facts.subjects.iter().filter_map(|subject| subject.commit.clone()).collect();
        let counts = blocked && claimed();
        let branches = self.branches(&facts, state.judged(&self.session.id), blocked);
        let at = Timestamp::now();
        let id = dated_id('v', at, &self.session.id);
        let decide = |state: &JournalState| {
            let told = state.judged(&self.session.id);
            // Content that is in no tree yet may be another one than it was.
            let known = trees.len() == facts.subjects.len();
            let attempt = Attempt {
                number: if counts { told.attempt_for(&failing, &branches) } else { 0 },
                repeated: counts && known && told.repeats(&failing, &trees),
            };
            let judged = Judged {
                verdict: id.clone(),
                moment: facts.moment,
                trees: trees.clone(),
                commits: commits.clone(),
                uncommitted: !known,
                failing: failing.clone(),
                idle: idle.clone(),
                pushed: pushed_refs(&facts),
                mentioned: mentioned.clone(),
                branches: branches.iter().map(|name| redact_tokens(name).into_owned()).collect(),
                blocked,
                attempt: attempt.number,
            };
            let event = NewEvent {
                session: Some(self.session.id.clone()),
                origin: Origin::observed(),
                kind: EventKind::Judged(judged),
            };
            (vec![event], attempt)
        };
        let (attempt, recorded) = self.journal.append_after(state, decide);
        let loss = recorded.err().map(|error| unrecorded(&error));
        let draft = match uncommitted.filter(|_| blocked) {
            Some(uncommitted) => self.keep_refused(&mut facts, uncommitted),
            None => None,
        };
        let forward = |old: &Oid, new: &Oid| self.repo.is_ancestor(old, new).unwrap_or(false);
        let push_again = if blocked && facts.moment == Moment::Push {
            let commands = assemble::clearing_commands(policy, &results);
            // Where git cannot say, the command that follows does.
            let aside = self.uncommitted_inputs(policy, &commands).unwrap_or_default();
            let forgotten = self.are_forgotten(&aside).unwrap_or(false);
            push_again(&facts, &aside, forgotten, &needed_options(), forward).map(|push| self.with_way_here(push))
        } else {
            None
        };
        let occasion = Occasion { id, at, repository: self.name(), session: self.session.id.clone(), push_again };
        let mut verdict = assemble::verdict(policy, facts, results, occasion, attempt);
        if let Some(subject) = verdict.subjects.first_mut() {
            subject.draft = draft;
        }
        verdict.notes.extend(loss);
        self.name_what_is_ruled_out(policy, state, &mut verdict);
        let written = self.write(&mut verdict);
        Judgement { verdict, written }
    }

    /// Returns `true` if all these files are new code that a file of the commit names: the commit lacks them.
    fn are_forgotten(&self, files: &[DirtyPath]) -> Result<bool, GitError> {
        let Some(commit) = self.repo.head()?.commit else { return Ok(false) };
        let mut are_all = !files.is_empty();
        for file in files {
            let is_new = file.presence == Presence::Untracked;
            are_all = are_all && is_new && failed_tests::is_named_by_code(&self.repo, &file.path, &commit)?;
        }
        Ok(are_all)
    }

    /// Returns the files that `commands` read and that differ from the commit that is checked out: a run now would not
    /// prove it.
    pub fn uncommitted_inputs(&self, policy: &Policy, commands: &[&Command]) -> Result<Vec<DirtyPath>, GitError> {
        let mut dirty = self.repo.look()?.snapshot.dirty;
        dirty.retain(|dirty| commands.iter().any(|command| command.inputs.matches(&dirty.path)));
        let untracked = dirty.iter().filter(|dirty| dirty.presence == Presence::Untracked).map(|dirty| &dirty.path);
        let head = self.repo.head()?.commit;
        let scratch = collect::unread_scratch_files_here(&self.repo, policy, untracked, head.as_ref())?;
        dirty.retain(|dirty| !scratch.contains(&dirty.path));
        Ok(dirty)
    }

    /// Adds the steps of a session at the moments that need them and, if tests were removed, the earlier failures. A
    /// push is judged only by its commits and these failures.
    pub fn add_session_facts(&self, state: &JournalState, policy: &Policy, session: &str, facts: &mut Facts) {
        let unreadable = |error: &dyn std::fmt::Display| {
            Note::new("story-unreadable", format!("what the session did cannot be read: {error}"))
        };
        if matches!(facts.moment, Moment::Stop | Moment::After) {
            match collect::story(&self.journal, state, session, policy.project(&self.files())) {
                Ok(story) => {
                    facts.open_runs = unfinished_runs::find(policy, &story, &self.files());
                    facts.story = story;
                }
                Err(error) => facts.notes.push(unreadable(&error)),
            }
        }
        let files = self.files();
        let project = policy.project(&files);
        facts.other_runs = undeclared_runs::read(state, project, &facts.subjects);
        // At a stop the story has them.
        let missing = || undeclared_runs::is_any_missing(state, &policy.commands, &facts.subjects);
        if !matches!(facts.moment, Moment::Stop | Moment::After) && missing() {
            let of_agents = undeclared_runs::of_agents(&self.journal, project, &facts.subjects);
            facts.other_runs.splice(..0, of_agents);
        }
        match failed_tests::read(&self.repo, state, policy, session, facts) {
            Ok(failed) => facts.failed_tests = failed,
            Err(error) => facts.notes.push(unreadable(&error)),
        }
        facts.notes.extend(fewer_tests::notes(&self.repo, state, policy, &facts.subjects));
        match unnamed_failures::notes(&self.repo, state, policy, session, facts) {
            Ok(notes) => facts.notes.extend(notes),
            Err(error) => facts.notes.push(unreadable(&error)),
        }
        match earlier_runs::read(&self.repo, &self.journal, session, facts, policy.project(&self.files())) {
            Ok(before) => facts.before = before,
            Err(error) => facts.notes.push(unreadable(&error)),
        }
    }

    fn write(&self, verdict: &mut Verdict) -> Option<PathBuf> {
        let gate_dir = self.repo.gate_dir();
        let payload = (verdict.attempt >= ESCALATES_AT).then(|| escalation_path(&gate_dir, &self.session.id));
        match verdict_files::write(&gate_dir, verdict, payload.as_deref()) {
            Ok(record) => {
                // Exactly one payload for one series of attempts: the fourth writes it, later ones point to it.
                let due = verdict.attempt == ESCALATES_AT;
                let lost = due.then(|| self.escalate(verdict).err()).flatten();
                verdict.notes.extend(lost);
                Some(record)
            }
            Err(error) => {
                verdict.notes.push(Note::new("record-lost", format!("the verdict could not be written: {error}")));
                None
            }
        }
    }

    fn name(&self) -> String {
        self.repo.root().unwrap_or(self.repo.git_dir()).to_string_lossy().into_owned()
    }
}

fn unrecorded(error: &JournalError) -> Note {
    let text = format!("this verdict is not in the journal, so attempts are not counted: {error}");
    Note::new("journal-unwritable", text)
}

fn current_dir() -> Result<PathBuf, Failure> {
    std::env::current_dir()
        .map_err(|error| Failure::new(Exit::Usage, format!("the current directory cannot be read: {error}")))
}

fn no_repository(error: &crate::git::GitError) -> Failure {
    Failure::new(Exit::Usage, error).remedy("run it inside a git repository: git init")
}

/// Makes the repository read from the journal which markers of tool folders an edit wrote: such a folder is content.
fn ask_journal_for_markers(repo: &Repo) {
    let (gate_dir, root) = (repo.gate_dir(), repo.root().map(Path::to_owned));
    repo.ask_for_edited_markers(move || {
        let state = Journal::open(&gate_dir, root.as_deref()).state();
        state.map(|state| state.edited_markers().to_vec()).unwrap_or_default()
    });
}
