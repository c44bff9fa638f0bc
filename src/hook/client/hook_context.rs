//! The context of a hook call: the repository, the memory of the session, and the record of its acts.

use std::path::{Path, PathBuf};

use super::Client;
use super::hook_event::HookEvent;
use super::payload::TEXT;
use super::session_state::{SessionMemory, Store};
use crate::engine::Workplace;
use crate::event::{Act, AgentWork, EventKind, FileEdit, Grade, Origin};
use crate::foreign_text::beginning_in_bytes;
use crate::git::Repo;
use crate::journal::NewEvent;
use crate::redact::redact;
use crate::repo_path::RepoPath;
use crate::session::Session;
use crate::shell_kind::Shell;

/// The maximum nesting of sub-agents.
const MAX_DEPTH: usize = 8;
/// The maximum number of other working trees that are remembered.
const MAX_ELSEWHERE: usize = 8;
/// The length of a text that is searched for secrets before it is cut, in bytes.
const LOOKED_AT: usize = 4 * TEXT;

/// The context of one hook call.
pub(super) struct Desk {
    pub(super) place: Workplace,
    pub(super) root: PathBuf,
    pub(super) client: Client,
    pub(super) store: Store,
    pub(super) memory: SessionMemory,
    actor: Option<String>,
    /// Messages for standard error about steps that failed.
    pub(super) said: Vec<String>,
    /// The model that goes on after this event, if the client can change it: `provider/model`.
    pub(super) next_model: Option<String>,
}

impl Desk {
    /// Creates the context of an event, or returns `None` outside of a working tree.
    pub(super) fn of(client: Client, told: &HookEvent) -> Option<Self> {
        let session = Session { id: told.session.clone(), agent: Some(client.as_str().to_owned()) };
        let dir = place_of_work(told.dir.as_deref())?;
        let mut place = Workplace::of_session(&dir, session).ok()?;
        let root = place.repo.root()?.to_owned();
        let mut actor = told.actor.clone();
        let (mut store, mut memory) = Store::open(&place.repo.gate_dir(), &told.session);
        for _ in 0..MAX_DEPTH {
            let Some(parent) = memory.parent.take() else { break };
            (store, memory) = Store::open(&place.repo.gate_dir(), &parent);
            actor.get_or_insert(std::mem::replace(&mut place.session.id, parent));
        }
        Some(Self { place, root, client, store, memory, actor, said: Vec::new(), next_model: None })
    }

    /// Returns the shell in which the client runs command lines, or `None` if it is unknown.
    pub(super) fn shell(&self) -> Option<Shell> {
        self.client.shell(|name| std::env::var(name).ok())
    }

    /// Returns the sub-agent that acts, or `None` for the agent of the session.
    pub(super) fn subagent(&self) -> Option<&str> {
        self.actor.as_deref()
    }

    /// Remembers the parent of a sub-agent, for clients whose sub-agents are sessions of their own without a reference
    /// to it.
    pub(super) fn adopt(&mut self, subagent: &str) {
        let session = &self.place.session.id;
        if self.client != Client::Copilot || subagent.is_empty() || subagent == session {
            return;
        }
        let (store, _) = Store::open(&self.place.repo.gate_dir(), subagent);
        if let Err(error) = store.keep(&SessionMemory::below(session)) {
            self.said.push(format!("gate: the parent session of this sub-agent could not be stored: {error}"));
        }
    }

    /// Records an act of the agent.
    pub(super) fn record(&mut self, call: Option<&str>, act: Act) {
        let head = self.place.repo.head().ok().and_then(|head| head.commit);
        let work = AgentWork { actor: self.actor.clone(), call: call.map(str::to_owned), head, act };
        self.append(vec![EventKind::Work(Box::new(work))]);
    }

    /// Records events.
    pub(super) fn append(&mut self, kinds: Vec<EventKind>) {
        let origin = Origin { by: self.client.as_str().to_owned(), grade: Grade::Hooked };
        let session = Some(self.place.session.id.clone());
        for kind in kinds {
            let event = NewEvent { session: session.clone(), origin: origin.clone(), kind };
            if let Err(error) = self.place.journal.append(event) {
                self.said.push(format!("gate: this event could not be written to the journal: {error}"));
            }
        }
    }

    /// Saves the memory of the session.
    pub(super) fn remember(&mut self) {
        if let Err(error) = self.store.keep(&self.memory) {
            self.said.push(format!("gate: the messages to this session could not be stored: {error}"));
        }
    }

    /// Returns another working tree of the repository, as a place of this session.
    pub(super) fn place_at(&self, root: &Path) -> Option<Workplace> {
        Workplace::of_session(root, self.place.session.clone()).ok()
    }

    /// Returns the root of the working tree of this repository that contains a path, or `None` if none does.
    pub(super) fn work_tree_of(&self, path: &Path) -> Option<PathBuf> {
        let real =
            path.canonicalize().ok().or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))?;
        let depth = |root: &PathBuf| {
            let root = root.canonicalize().ok()?;
            real.starts_with(&root).then(|| root.components().count())
        };
        // One may lie within another. The own one is the first.
        let roots = self.place.repo.work_trees().into_iter().rev();
        roots.filter_map(|root| Some((depth(&root)?, root))).max_by_key(|(depth, _)| *depth).map(|(_, root)| root)
    }

    /// Remembers that the agent changed something at a path: another working tree is judged at a stop like this one.
    /// The work of a sub-agent there is left to its parent.
    pub(super) fn changed_at(&mut self, path: &Path) {
        if self.actor.is_some() {
            return;
        }
        let Some(root) = self.work_tree_of(path).filter(|root| *root != self.root) else { return };
        if self.memory.elsewhere.len() < MAX_ELSEWHERE && self.memory.elsewhere.get(&root) != Some(&None) {
            self.memory.elsewhere.insert(root, None);
            self.remember();
        }
    }

    /// Returns a path for events: relative to the root, or absolute outside of it.
    pub(super) fn path(&self, path: &RepoPath, told: &HookEvent) -> RepoPath {
        let path = path.to_os();
        let full = match &told.dir {
            Some(dir) if path.is_relative() => dir.join(&path),
            _ => path,
        };
        self.inside(&full).unwrap_or_else(|| RepoPath::from_os(full.as_os_str()))
    }

    /// Returns a directory relative to the root, or `None` outside of it.
    pub(super) fn inside(&self, path: &Path) -> Option<RepoPath> {
        let relative =
            |path: &Path| path.strip_prefix(&self.root).ok().map(|inner| RepoPath::from_os(inner.as_os_str()));
        relative(path).or_else(|| {
            // Through a link, or with `..`: what does not exist yet lies where its folder is.
            let real = path
                .canonicalize()
                .ok()
                .or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))?;
            relative(&real).or_else(|| {
                real.strip_prefix(self.root.canonicalize().ok()?).ok().map(|inner| RepoPath::from_os(inner.as_os_str()))
            })
        })
    }

    /// Returns edits for events.
    pub(super) fn edits(&self, edits: &[FileEdit], told: &HookEvent) -> Vec<FileEdit> {
        let clean = |edit: &FileEdit| FileEdit {
            path: self.path(&edit.path, told),
            how: edit.how,
            removed: redact(&edit.removed).into_owned(),
            added: redact(&edit.added).into_owned(),
        };
        edits.iter().map(clean).collect()
    }
}

/// Returns a text for events: bounded, secrets removed.
pub(in crate::hook) fn clean(text: &str) -> String {
    beginning_in_bytes(&redact(&beginning_in_bytes(text, LOOKED_AT)), TEXT)
}

/// Returns the directory of the agent's work. Its own directory counts inside any working tree of the project. An agent
/// in a directory outside of it still works on the project that its client was started for.
fn place_of_work(told: Option<&Path>) -> Option<PathBuf> {
    let named = std::env::var_os("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    let project = named.or_else(|| std::env::current_dir().ok()).filter(|dir| dir.is_dir());
    let told = told.filter(|dir| dir.is_dir());
    let (told, project) = match (told, project) {
        (None, project) => return project,
        (Some(told), None) => return Some(told.to_owned()),
        (Some(told), Some(project)) => (told, project),
    };
    if told.starts_with(&project) {
        return Some(told.to_owned());
    }
    let common = |dir: &Path| Repo::discover(dir).ok().map(|repo| repo.common_dir().to_owned());
    match (common(told), common(&project)) {
        (Some(there), Some(here)) if there != here => Some(project),
        (None, Some(_)) => Some(project),
        _ => Some(told.to_owned()),
    }
}
