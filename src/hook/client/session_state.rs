//! The state between hook calls: a small file for each session, and one for each running command.
//!
//! It is scratch data, not a record: losing it costs a snapshot or repeats a message, but never a proof.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::event::{PlannedTask, TaskContext};
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;
use crate::verdict::verdict_files;

/// The maximum number of messages to the agent that are remembered.
const TOLD: usize = 16;
/// The age of files whose session counts as over.
const OLD: Duration = Duration::from_hours(7 * 24);
/// The maximum number of shown remarks that are remembered.
const MAX_SHOWN: usize = 32;
/// The maximum size of a file that is read, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// The memory of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionMemory {
    /// The session that this sub-agent belongs to.
    pub(super) parent: Option<String>,
    /// The content at the last prompt of a person, or `None` if there was no snapshot.
    pub(super) task_began_on: Option<String>,
    /// The digests of the feedback, the newest last: some clients repeat it as a prompt.
    told: Vec<String>,
    /// The time at which a person last interrupted a turn, in milliseconds since 1970.
    pub(super) aborted: Option<u64>,
    /// The length and digest of the messages up to the last stop: some clients report the messages of all stops
    /// together.
    pub(super) said: Option<(usize, String)>,
    /// The client's id of the final message of the last stop that was judged.
    pub(super) judged: Option<String>,
    /// The other working trees of the repository that the agent changed, and their content at the last prompt of a
    /// person, or `None` if they were changed since.
    pub(super) elsewhere: BTreeMap<PathBuf, Option<String>>,
    /// The content at the first prompt of a person.
    pub(super) began_on: Option<String>,
    /// `true` if the last prompt was one in plan mode.
    pub(super) planning: bool,
    /// The plan mode as the acts of the agent show it, if its client does not report it.
    pub(super) plan_mode: Option<bool>,
    /// The remarks of the last stop for the agent that are still to be delivered.
    pub(super) remarks: String,
    /// The lessons of earlier tasks for the first prompt, if the client takes nothing up when a session starts.
    pub(super) lessons: String,
    /// The end of the agent's last message.
    pub(super) last_words: String,
    /// The tasks of the last request, if the person was to be asked for their order.
    pub(super) unordered: Vec<PlannedTask>,
    /// The context of the task, if questions about it are open.
    pub(super) asked_about: Option<TaskContext>,
    /// The remarks that turns without a change have shown, newest last. Each is shown once.
    pub(super) shown: Vec<String>,
    /// The working tree whose content was last refused.
    pub(super) refused_at: Option<PathBuf>,
    /// The commits and stashes that the agent made.
    pub(super) own: OwnCommits,
    /// The task that its agent was last asked to reflect on.
    pub(super) reflected: Option<String>,
    /// `true` if the next final message answers that question.
    pub(super) answers: bool,
    /// What the command that runs puts into a stash was there before the agent began.
    pub(super) stashes_are_persons: bool,
    /// The digest of `gate.toml` as it was last seen, or `None` if nobody looked.
    pub(super) policy: Option<String>,
}

/// The commits and stashes that the agent of a session made, as far as the logs of git show them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OwnCommits {
    /// How far the log of each `HEAD` was read, in bytes, by its git directory.
    pub(super) read: BTreeMap<PathBuf, u64>,
    /// The commits, oldest first.
    pub(super) made: Vec<Oid>,
    /// Those of them that were left by a checkout while no branch was checked out.
    pub(super) left: Vec<Oid>,
    pub(super) stashes: Vec<Oid>,
    /// The stashes that were there before, or are somebody else's.
    pub(super) known_stashes: Vec<Oid>,
    /// The last stop was let go: what was put aside was told.
    pub(super) told: bool,
}

/// The branches and tags when the session began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Beginning {
    /// By full name, with their commits.
    pub(super) tips: BTreeMap<String, Oid>,
}

impl SessionMemory {
    /// Returns the remarks that were not shown before, and notes them as shown.
    pub(super) fn first_shown(&mut self, remarks: Vec<String>) -> Vec<String> {
        let new: Vec<String> = remarks.into_iter().filter(|remark| !self.shown.contains(remark)).collect();
        self.shown.extend(new.iter().cloned());
        let surplus = self.shown.len().saturating_sub(MAX_SHOWN);
        self.shown.drain(..surplus);
        new
    }

    /// Creates the memory of a sub-agent of `parent`.
    pub(super) fn below(parent: &str) -> Self {
        Self { parent: Some(parent.to_owned()), ..Self::default() }
    }

    /// Begins a task of a person on this content. Content that the agent then leaves unchanged needs no proof, and an
    /// earlier interruption was in another turn.
    pub(super) fn begin_task(&mut self, content: Option<String>) {
        if self.began_on.is_none() {
            self.began_on.clone_from(&content);
        }
        self.task_began_on = content;
        self.aborted = None;
    }

    /// Returns `true` if the agent may only plan. `told` is the client's own report.
    pub(super) fn is_planning(&self, told: Option<bool>) -> bool {
        told.or(self.plan_mode).unwrap_or(self.planning)
    }

    /// Remembers a message to the agent.
    pub(super) fn tell(&mut self, text: &str) {
        self.told.push(print(text));
        let surplus = self.told.len().saturating_sub(TOLD);
        self.told.drain(..surplus);
    }

    /// Returns the part of a text that is new since the last stop, and keeps the whole for the next.
    pub(super) fn newly_said<'t>(&mut self, text: &'t str) -> &'t str {
        let known =
            self.said.as_ref().filter(|(length, digest)| text.get(..*length).is_some_and(|t| print(t) == *digest));
        let new = known.map_or(text, |(length, _)| &text[*length..]);
        self.said = Some((text.len(), print(text)));
        new
    }

    /// Returns `true` if this is a message that the agent was given.
    pub(super) fn was_told(&self, text: &str) -> bool {
        self.told.contains(&print(text))
    }
}

fn print(text: &str) -> String {
    hex_digest(&[text.trim().as_bytes()])[..16].to_owned()
}

/// A command that was started, with its known state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::hook) struct PendingCommand {
    pub(in crate::hook) call: String,
    /// The line, secrets removed.
    pub(in crate::hook) line: String,
    /// The working trees of the repository in which it checks something, or may.
    pub(in crate::hook) grounds: Vec<StartingPoint>,
    /// The end of the output.
    #[serde(default)]
    pub(in crate::hook) tail: String,
    /// `true` if `tail` may not be the whole output.
    #[serde(default)]
    pub(in crate::hook) cut: bool,
    /// The duration, in milliseconds.
    #[serde(default)]
    pub(in crate::hook) millis: u64,
    /// The time after its first snapshots, in milliseconds since 1970; 0 if it is unknown.
    #[serde(default)]
    pub(in crate::hook) began: u64,
    /// `true` if the journal already has an entry that the agent left it running.
    #[serde(default)]
    pub(in crate::hook) left_running: bool,
    /// The process that starts the commands of the line, if the line may push: the client, or the shell of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::hook) started_by: Option<u32>,
    /// The session, and the process of its client, if the client does not tell its commands of which session they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::hook) session: Option<String>,
    /// See `session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::hook) client_process: Option<u32>,
}

/// A working tree that a command runs on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::hook) struct StartingPoint {
    pub(in crate::hook) root: PathBuf,
    /// The directory in which the line starts, relative to the root, or absolute outside of it.
    pub(in crate::hook) dir: RepoPath,
    /// The content before.
    pub(in crate::hook) start: KeptSnapshot,
    /// The content after, if it is known to have ended.
    pub(in crate::hook) end: Option<KeptSnapshot>,
}

/// Returns the commands of all sessions that began, and whose end was not reported, the newest first.
pub(in crate::hook) fn begun_lines(gate_dir: &Path) -> Vec<PendingCommand> {
    kept_calls(gate_dir).iter().filter_map(|path| read::<PendingCommand>(path)).filter(is_begun).collect()
}

/// Returns the values of type `T` that are kept for calls of all sessions, the newest first.
pub(in crate::hook) fn kept_values<T: DeserializeOwned>(gate_dir: &Path) -> Vec<T> {
    kept_calls(gate_dir).iter().filter_map(|path| read(path)).collect()
}

fn kept_calls(gate_dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(gate_dir.join("hooked")).into_iter().flatten().flatten();
    let calls = entries.filter(|entry| entry.file_name().to_string_lossy().contains(".call-"));
    let mut files: Vec<_> =
        calls.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    files.sort_unstable_by(|one, other| other.cmp(one));
    files.into_iter().map(|(_, path)| path).collect()
}

/// Returns a line without the characters by which one shell hands it to another.
pub(in crate::hook) fn unquoted(line: &str) -> String {
    line.chars().filter(|c| !matches!(c, '\'' | '"' | '\\') && !c.is_whitespace()).collect()
}

fn is_begun(pending: &PendingCommand) -> bool {
    pending.grounds.iter().all(|ground| ground.end.is_none())
}

/// The files of one session.
#[derive(Clone, Debug)]
pub(in crate::hook) struct Store {
    folder: PathBuf,
    stem: String,
}

impl Store {
    /// Returns the files of `session` in the repository with this gate directory.
    pub(in crate::hook) fn of(gate_dir: &Path, session: &str) -> Self {
        Self { folder: gate_dir.join("hooked"), stem: verdict_files::file_stem(session) }
    }

    /// Opens the files of a session, and reads its memory.
    pub(super) fn open(gate_dir: &Path, session: &str) -> (Self, SessionMemory) {
        let store = Self::of(gate_dir, session);
        let memory = store.memory();
        (store, memory)
    }

    /// Reads the memory, or returns an empty one if there is none.
    fn memory(&self) -> SessionMemory {
        read(&self.folder.join(format!("{}.json", self.stem))).unwrap_or_default()
    }

    /// Saves the memory.
    pub(super) fn keep(&self, memory: &SessionMemory) -> io::Result<()> {
        self.write(&self.folder.join(format!("{}.json", self.stem)), memory)
    }

    /// Keeps what was there when the session began.
    pub(super) fn begin(&self, beginning: &Beginning) -> io::Result<()> {
        self.write(&self.beginning_file(), beginning)
    }

    /// Returns `true` if it is known what was there when the session began.
    pub(super) fn has_begun(&self) -> bool {
        self.beginning_file().exists()
    }

    /// Returns the state of the repository when the session began, or `None` if gate did not see it.
    pub(super) fn beginning(&self) -> Option<Beginning> {
        read(&self.beginning_file())
    }

    fn beginning_file(&self) -> PathBuf {
        self.folder.join(format!("{}.began.json", self.stem))
    }

    /// Saves a command.
    pub(super) fn put(&self, pending: &PendingCommand) -> io::Result<()> {
        self.put_as(&pending.call, pending)
    }

    /// Saves a command under a name other than that of its call.
    pub(super) fn put_as(&self, name: &str, pending: &PendingCommand) -> io::Result<()> {
        self.put_value(name, pending)
    }

    /// Saves a value under a name.
    pub(in crate::hook) fn put_value(&self, name: &str, value: &impl Serialize) -> io::Result<()> {
        self.write(&self.place(name), value)
    }

    /// Removes and returns the command that is saved under the name of a call, or under another name.
    pub(super) fn take(&self, call: &str) -> Option<PendingCommand> {
        self.take_value(call)
    }

    /// Removes and returns the value that is saved under a name.
    pub(in crate::hook) fn take_value<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let place = self.place(name);
        let value = read(&place)?;
        let _ = fs::remove_file(place);
        Some(value)
    }

    /// Returns the commands of the session that ended and whose status is still unknown.
    pub(super) fn ended(&self) -> Vec<PendingCommand> {
        self.pending().filter(|pending| pending.grounds.iter().any(|ground| ground.end.is_some())).collect()
    }

    /// Returns the commands of the session that began, and whose end was not reported.
    pub(super) fn begun(&self) -> Vec<PendingCommand> {
        self.pending().filter(is_begun).collect()
    }

    fn pending(&self) -> impl Iterator<Item = PendingCommand> {
        let start = format!("{}.call-", self.stem);
        self.files(move |name| name.starts_with(&start)).filter_map(|path| read::<PendingCommand>(&path))
    }

    /// Deletes the files of the session, and all old files.
    pub(super) fn forget(&self) {
        let own = self.files(|name| name.starts_with(&format!("{}.", self.stem)));
        own.for_each(|path| drop(fs::remove_file(path)));
        self.forget_old();
    }

    /// Deletes the old files of all sessions.
    pub(in crate::hook) fn forget_old(&self) {
        let now = SystemTime::now();
        let old = |path: &PathBuf| {
            let modified = fs::metadata(path).and_then(|meta| meta.modified());
            modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > OLD))
        };
        self.files(|_| true).filter(old).for_each(|path| drop(fs::remove_file(path)));
    }

    fn files(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter(move |entry| wanted(&entry.file_name().to_string_lossy())).map(|entry| entry.path())
    }

    fn place(&self, call: &str) -> PathBuf {
        self.folder.join(format!("{}.call-{}.json", self.stem, &hex_digest(&[call.as_bytes()])[..16]))
    }

    fn write(&self, path: &Path, value: &impl Serialize) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        verdict_files::write_json(path, value)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let length = fs::metadata(path).ok()?.len();
    (length <= MAX_FILE).then(|| serde_json::from_slice(&fs::read(path).ok()?).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(call: &str, ended: bool) -> PendingCommand {
        let snapshot = KeptSnapshot::of_tree(Oid::empty_tree(false));
        PendingCommand {
            call: call.to_owned(),
            line: "make test".to_owned(),
            grounds: vec![StartingPoint {
                root: PathBuf::from("/work"),
                dir: RepoPath::default(),
                start: snapshot.clone(),
                end: ended.then_some(snapshot),
            }],
            ..PendingCommand::default()
        }
    }

    #[test]
    fn sessions_do_not_see_each_others_files() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (Store::of(dir.path(), "s"), Store::of(dir.path(), "s.call-x"));
        one.put(&pending("a", false)).unwrap();
        one.put(&pending("b", true)).unwrap();
        other.put(&pending("c", true)).unwrap();
        assert_eq!(one.ended(), [pending("b", true)]);
        assert_eq!(one.take("a"), Some(pending("a", false)));
        assert_eq!(one.take("a"), None, "it is taken out");
        assert_eq!(one.take("c"), None);
        one.keep(&SessionMemory { judged: Some("m".to_owned()), ..SessionMemory::default() }).unwrap();
        one.forget();
        assert_eq!((one.memory(), one.ended()), (SessionMemory::default(), Vec::new()));
        assert_eq!(other.ended().len(), 1);
    }

    #[test]
    fn only_what_is_new_since_the_last_stop_is_said() {
        let mut memory = SessionMemory::default();
        for (text, new) in [("All done.", "All done."), ("All done.\nWhich?", "\nWhich?"), ("é", "é"), ("x", "x")] {
            assert_eq!(memory.newly_said(text), new);
        }
    }

    #[test]
    fn a_new_task_is_not_the_one_that_was_broken_off() {
        let mut memory = SessionMemory { aborted: Some(1), ..SessionMemory::default() };
        memory.begin_task(Some("first".to_owned()));
        memory.begin_task(Some("now".to_owned()));
        let (first, now) = (Some("first".to_owned()), Some("now".to_owned()));
        let anew = SessionMemory { began_on: first, task_began_on: now, ..SessionMemory::default() };
        assert_eq!(memory, anew);
    }

    #[test]
    fn what_was_told_is_known_again_and_bounded() {
        let mut memory = SessionMemory::default();
        for number in 0..40 {
            memory.tell(&format!("text {number}\n"));
        }
        assert!(memory.was_told("text 39") && memory.was_told(" text 30 "));
        assert!(!memory.was_told("text 1") && !memory.was_told(""));
        assert_eq!(memory.told.len(), TOLD);
    }
}
