//! A case written from what was recorded: contents out of the repository, and what happened out of the timeline.
//!
//! Contents are called by the beginning of their tree's id, so that equal ones are equal in the case, too. Between two of
//! them the case has the files that differ, as changes that were found.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use crate::commit::change::{Commit, Status};
use crate::event::work::{Act, EditKind, ShellCommand, Speaker, Work};
use crate::event::{Ended, Event, EventKind, Grade, Run};
use crate::fact::subject::{DefaultBranch, RefUpdate};
use crate::git::{Change, GitError, Repo, TreeDiff};
use crate::oid::Oid;
use crate::replay::neutral::Neutral;
use crate::replay::packages;
use crate::repo_path::RepoPath;
use crate::timeline::Entry;

/// How many files a case tells of at its beginning.
const FILES: usize = 400;
/// The longest text of a file, in bytes. Of a longer one the case says only that it differs.
const LARGEST: usize = 64 * 1024;

/// What a case is written from.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// What the case is called.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The text of `gate.toml` that counts.
    pub policy: Option<String>,
    /// Where the work left the default branch; `None`: nowhere.
    pub base: Option<Oid>,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// What happened.
    pub entries: &'a [Entry],
    /// The commits of the work, oldest first.
    pub commits: Vec<Commit>,
    /// What it ends with.
    pub end: End,
}

/// What a case ends with.
#[derive(Clone, Debug)]
pub enum End {
    /// The end of a turn.
    Stop {
        /// The commit that is checked out.
        head: Option<Oid>,
        /// The tree of the working tree, where it differs and was kept.
        work: Option<Oid>,
    },
    /// A push.
    Push {
        /// The commit that stands for all that is pushed.
        head: Option<Oid>,
        /// The refs.
        updates: Vec<RefUpdate>,
    },
}

/// Writes a case. Without a repository it has no contents.
pub fn compose(repo: Option<&Repo>, neutral: &Neutral, record: &Record<'_>) -> Result<Value, GitError> {
    let base = match (repo, &record.base) {
        (Some(repo), Some(base)) => Some(repo.tree_of(base)?),
        _ => None,
    };
    let start = base.clone().or_else(|| repo.map(Repo::empty_tree));
    let mut trees = HashMap::new();
    for commit in &record.commits {
        if let (Some(repo), Some(id)) = (repo, &commit.id) {
            trees.insert(id.clone(), repo.tree_of(id)?);
        }
    }
    let mut writer = Writer {
        repo,
        neutral,
        record,
        trees,
        at: start,
        events: Vec::new(),
        calls: HashMap::new(),
        written: 0,
        base: record.base.clone(),
    };
    for (index, entry) in record.entries.iter().enumerate() {
        writer.entry(index, &entry.event)?;
    }
    writer.end()?;
    let events = std::mem::take(&mut writer.events);
    let mut policy = Map::new();
    if let Some(text) = &record.policy {
        policy.insert("gate_toml".to_owned(), neutral.text(text).into());
    }
    let default_branch = match &record.end {
        End::Push { updates, .. } => updates.iter().find_map(|update| match &update.default_branch {
            DefaultBranch::Known(name) => Some(short_branch(name).to_owned()),
            _ => None,
        }),
        End::Stop { .. } => None,
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
        "id": record.id,
        "title": neutral.text(&record.title),
        "policy": policy,
        "start": start,
        "events": events,
    }))
}

/// The beginning of an id, by which a case calls it.
fn name(id: &Oid) -> String {
    id.as_str().chars().take(12).collect()
}

fn short_branch(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}

struct Writer<'a> {
    repo: Option<&'a Repo>,
    neutral: &'a Neutral,
    record: &'a Record<'a>,
    /// By commit: its tree.
    trees: HashMap<Oid, Oid>,
    /// The tree of the working tree, as far as the case got.
    at: Option<Oid>,
    events: Vec<Value>,
    /// By call of the client: the number of its event.
    calls: HashMap<String, u64>,
    /// How many of the commits are written.
    written: usize,
    /// Where the work stands on the default branch by now.
    base: Option<Oid>,
}

impl Writer<'_> {
    fn push(&mut self, t: &str, mut event: Value) -> u64 {
        let seq = self.events.len() as u64 + 1;
        if let Some(fields) = event.as_object_mut() {
            fields.insert("seq".to_owned(), seq.into());
            fields.insert("t".to_owned(), t.into());
            fields.retain(|_, value| !value.is_null());
        }
        self.events.push(event);
        seq
    }

    fn entry(&mut self, index: usize, event: &Event) -> Result<(), GitError> {
        match &event.kind {
            EventKind::Run(run) if event.origin.grade == Grade::Observed || !self.is_told(index, run) => {
                self.run(run, event.origin.grade)
            }
            EventKind::Git(movement) => {
                let made = self.record.commits.iter().position(|commit| commit.id == movement.new);
                made.map_or(Ok(()), |at| self.commits_up_to(at + 1))
            }
            EventKind::Work(work) => self.work(index, work, event.origin.grade),
            _ => Ok(()),
        }
    }

    /// Whether a run is that of a command line which is told, too.
    fn is_told(&self, index: usize, run: &Run) -> bool {
        let same = |entry: &Entry| match &entry.event.kind {
            EventKind::Work(work) => match &work.act {
                Act::Command(command) => command.start.as_ref() == Some(&run.start),
                _ => false,
            },
            _ => false,
        };
        self.record.entries[..index].iter().rev().any(same)
    }

    fn run(&mut self, run: &Run, grade: Grade) -> Result<(), GitError> {
        self.command(&Ran {
            line: &run.command.line,
            dir: Some(&run.command.dir),
            ended: Some(run.ended),
            tail: &run.tail,
            start: Some(&run.start.tree),
            end: Some(&run.end.tree),
            head: run.start.head.as_ref(),
            grade,
            agent: None,
        })
        .map(drop)
    }

    fn work(&mut self, index: usize, work: &Work, grade: Grade) -> Result<(), GitError> {
        let text = |text: &str| json!({"text": self.neutral.text(text)});
        match &work.act {
            Act::Prompt(prompt) if prompt.from == Speaker::Person && work.actor.is_none() => {
                let said = text(&prompt.text);
                self.push("prompt", said);
            }
            Act::Said(said) if work.actor.is_none() => {
                let said = text(said);
                self.push("say", said);
            }
            Act::Asked(asked) => {
                let asked = text(asked);
                self.push("ask_user", asked);
            }
            Act::Planned(items) => {
                let items: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
                let plan = text(&items.join("\n"));
                self.push("plan_update", plan);
            }
            Act::Command(command) => self.shell(index, work, command, grade)?,
            Act::CommandEnded(end) => {
                let call = work.call.as_ref().and_then(|call| self.calls.get(call)).copied();
                if let Some(for_seq) = call {
                    let output = self.neutral.text(&end.tail);
                    self.push(
                        "cmd_result",
                        json!({"for_seq": for_seq, "exit": end.ended.map(status), "output": output}),
                    );
                }
            }
            Act::Edited(edits) => {
                for edit in edits {
                    let path = self.neutral.text(&edit.path.to_string());
                    let deleted = edit.how == EditKind::Deleted;
                    // What it holds is seen at the next content that was kept.
                    let content = self.next_tree(index).filter(|_| !deleted);
                    let content = content.map(|tree| self.text_at(&tree, &edit.path)).transpose()?.flatten();
                    self.push(
                        if deleted { "delete" } else { "edit" },
                        json!({"path": path, "content": content, "via": "Edit"}),
                    );
                }
            }
            Act::Used(used) => {
                let target = self.neutral.text(&used.target);
                self.push("tool", json!({"tool": used.tool, "arg": target}));
            }
            Act::Denied(denial) => {
                let (what, why) = (self.neutral.text(&denial.what), self.neutral.text(&denial.reason));
                self.push("cmd", json!({"command": what, "status": "not_executed", "output": why}));
            }
            Act::Session(crate::event::work::Phase::Compacted) => {
                self.push("compaction", json!({}));
            }
            Act::Stopped(stop) if work.actor.is_none() => {
                // The last one is the end of the case.
                if self.record.entries[index + 1..].iter().any(is_stop) || !matches!(self.record.end, End::Stop { .. })
                {
                    let said = text(&stop.text);
                    self.push("stop", said);
                }
            }
            Act::Prompt(_)
            | Act::Said(_)
            | Act::Session(_)
            | Act::SubagentStarted(_)
            | Act::SubagentEnded(_)
            | Act::Stopped(_) => {}
        }
        Ok(())
    }

    /// A command line of the agent's own shell. How it ended may have become known later.
    fn shell(&mut self, index: usize, work: &Work, command: &ShellCommand, grade: Grade) -> Result<(), GitError> {
        let later = || {
            self.record.entries[index + 1..].iter().find_map(|entry| match &entry.event.kind {
                EventKind::Work(other) if other.call.is_some() && other.call == work.call => match &other.act {
                    Act::CommandEnded(end) => Some(end.ended),
                    _ => None,
                },
                _ => None,
            })
        };
        let ended = command.ended.or_else(|| if command.background { None } else { later().flatten() });
        let seq = self.command(&Ran {
            line: &command.line,
            dir: command.dir.as_ref(),
            ended,
            tail: &command.tail,
            start: command.start.as_ref().map(|start| &start.tree),
            end: command.end.as_ref().map(|end| &end.tree),
            head: work.head.as_ref(),
            grade,
            agent: work.actor.as_deref(),
        })?;
        if let (Some(call), true) = (&work.call, command.background) {
            self.calls.insert(call.clone(), seq);
            if let Some(fields) = self.events.last_mut().and_then(Value::as_object_mut) {
                fields.insert("background".to_owned(), true.into());
            }
        }
        Ok(())
    }

    fn command(&mut self, ran: &Ran<'_>) -> Result<u64, GitError> {
        if let Some(start) = ran.start {
            self.go_to(start)?;
        }
        let dir = ran.dir.map(ToString::to_string);
        let event = json!({
            "command": self.neutral.line(ran.line, dir.as_deref().unwrap_or_default()),
            "cwd": dir.map_or_else(|| "/elsewhere".to_owned(), |dir| if dir.is_empty() { ".".to_owned() } else { dir }),
            "exit": ran.ended.map(status),
            "output": self.neutral.text(ran.tail),
            "wt": ran.start.map(name),
            "head": ran.head.map(name),
            "grade": (ran.grade != Grade::Hooked).then_some(ran.grade),
            "agent_id": ran.agent,
        });
        let (Some(start), Some(end)) = (ran.start, ran.end) else { return Ok(self.push("cmd", event)) };
        if start == end {
            return Ok(self.push("cmd", event));
        }
        // Files changed while it ran.
        let (exit, output) = (event["exit"].clone(), event["output"].clone());
        let mut open = event;
        open["exit"] = Value::Null;
        open["output"] = Value::Null;
        open["background"] = true.into();
        let seq = self.push("cmd", open);
        self.go_to(end)?;
        self.push("cmd_result", json!({"for_seq": seq, "exit": exit, "output": output}));
        Ok(seq)
    }

    /// Writes the commits that are not written yet, up to so many.
    fn commits_up_to(&mut self, count: usize) -> Result<(), GitError> {
        while self.written < count {
            let commit = self.record.commits[self.written].clone();
            self.written += 1;
            let Some(id) = commit.id.clone() else { continue };
            let Some(tree) = self.trees.get(&id).cloned() else { continue };
            if let [_, others @ ..] = commit.parents.as_slice() {
                self.foreign(others)?;
            }
            self.go_to(&tree)?;
            let files: Vec<Value> = commit.files.iter().map(file).collect();
            self.push(
                "commit",
                json!({
                    "command": "git commit",
                    "sha": name(&id),
                    "parents": commit.parents.iter().map(name).collect::<Vec<_>>(),
                    "branch": self.record.branch,
                    "tree": name(&tree),
                    "message": self.neutral.text(&commit.message),
                    "files": if commit.parents.len() > 1 { Value::Null } else { files.into() },
                }),
            );
        }
        Ok(())
    }

    /// Commits of others that are merged in: what they changed since the work left them.
    fn foreign(&mut self, commits: &[Oid]) -> Result<(), GitError> {
        let Some(repo) = self.repo else { return Ok(()) };
        for commit in commits {
            if self.trees.contains_key(commit) {
                continue;
            }
            let from = self.base.as_ref().map(|base| repo.tree_of(base)).transpose()?;
            let to = repo.tree_of(commit)?;
            let mut files = Vec::new();
            for change in changes(repo, &from.unwrap_or_else(|| repo.empty_tree()), &to)?.unwrap_or_default() {
                let content = if change.after.is_some() { self.text_at(&to, &change.path)? } else { None };
                files.push(json!({"path": change.path.to_string(), "content": content}));
            }
            self.push("remote_moved", json!({"ref": "refs/heads/main", "sha": name(commit), "files": files}));
            self.base = Some(commit.clone());
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), GitError> {
        let record = self.record;
        self.commits_up_to(record.commits.len())?;
        match &record.end {
            End::Stop { head, work } => {
                let tree = head.as_ref().and_then(|head| self.tree_of(head));
                if let Some(work) = work.as_ref().or(tree.as_ref()) {
                    self.go_to(work)?;
                }
                let last = record.entries.iter().rev().find_map(|entry| match &entry.event.kind {
                    EventKind::Work(work) if work.actor.is_none() => match &work.act {
                        Act::Stopped(stop) => Some(self.neutral.text(&stop.text)),
                        _ => None,
                    },
                    _ => None,
                });
                let seen = work.as_ref().or(tree.as_ref()).map(name);
                self.push(
                    "stop",
                    json!({
                        "text": last.unwrap_or_default(),
                        "head": head.as_ref().map(name),
                        "branch": record.branch,
                        "head_tree": tree.as_ref().map(name),
                        "wt": seen,
                    }),
                );
            }
            End::Push { head, updates } => {
                if let Some(tree) = head.as_ref().and_then(|head| self.tree_of(head)) {
                    self.go_to(&tree)?;
                }
                let remote = updates.first().map(|update| update.remote.as_str()).unwrap_or_default();
                // An address would be one of this machine, or of its person.
                let remote = if remote.contains([':', '/']) { "origin" } else { remote };
                let refs: Vec<Value> = updates
                    .iter()
                    .map(|update| {
                        json!({
                            "local_ref": update.local_ref,
                            "local_sha": update.new.as_ref().map(name).unwrap_or_default(),
                            "remote_ref": update.remote_ref,
                            "remote_sha": update.old.as_ref().map(name).unwrap_or_default(),
                        })
                    })
                    .collect();
                self.push("push", json!({"command": "git push", "remote": remote, "refs": refs}));
            }
        }
        Ok(())
    }

    fn tree_of(&self, commit: &Oid) -> Option<Oid> {
        self.trees.get(commit).cloned().or_else(|| self.repo?.tree_of(commit).ok())
    }

    /// Lets the working tree of the case become this one.
    fn go_to(&mut self, tree: &Oid) -> Result<(), GitError> {
        let (Some(repo), Some(at)) = (self.repo, self.at.clone()) else { return Ok(()) };
        if at == *tree {
            return Ok(());
        }
        // What cannot be read is another content, and nobody says where.
        for change in changes(repo, &at, tree)?.unwrap_or_default() {
            let path = change.path.to_string();
            if change.after.is_none() {
                self.push("delete", json!({"path": path, "via": "found"}));
                continue;
            }
            let (before, now) = (self.text_at(&at, &change.path)?, self.text_at(tree, &change.path)?);
            // A text that differed in nothing but secrets would be the same one.
            let content = now.filter(|now| change.before.is_none() || before.as_ref() != Some(now));
            self.push("edit", json!({"path": path, "content": content, "via": "found"}));
        }
        self.at = Some(tree.clone());
        Ok(())
    }

    /// What a file holds, as far as a case tells it.
    fn text_at(&self, tree: &Oid, path: &RepoPath) -> Result<Option<String>, GitError> {
        let Some(repo) = self.repo else { return Ok(None) };
        let text = repo.blob_at(tree, path)?.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.filter(|text| text.len() <= LARGEST).map(|text| self.neutral.text(&text)))
    }

    /// The next content that was kept.
    fn next_tree(&self, index: usize) -> Option<Oid> {
        let kept = self.record.entries[index + 1..].iter().find_map(|entry| match &entry.event.kind {
            EventKind::Run(run) => Some(run.start.tree.clone()),
            EventKind::Work(work) => match &work.act {
                Act::Command(command) => command.start.as_ref().map(|start| start.tree.clone()),
                _ => None,
            },
            EventKind::Git(movement) => movement.new.as_ref().and_then(|new| self.trees.get(new).cloned()),
            _ => None,
        });
        kept.or_else(|| match &self.record.end {
            End::Stop { head, work } => work.clone().or_else(|| self.tree_of(head.as_ref()?)),
            End::Push { head, .. } => self.tree_of(head.as_ref()?),
        })
    }

    /// The files at the beginning: with their texts those that change, those that a line names, and those that say what
    /// a line means; of the others, as many as a case may name.
    fn files(&self, tree: &Oid, events: &[Value]) -> Result<Map<String, Value>, GitError> {
        let Some(repo) = self.repo else { return Ok(Map::new()) };
        let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let changed: BTreeSet<String> = events.iter().map(|event| text(event, "path")).collect();
        let lines: String = events.iter().map(|event| text(event, "command") + "\n").collect();
        let lines = lines + self.record.policy.as_deref().unwrap_or_default();
        let words: BTreeSet<&str> = lines
            .split(|c: char| c.is_whitespace() || "\"'=;&|()".contains(c))
            .map(|word| word.trim_start_matches("./"))
            .collect();
        let named =
            |path: &str| words.contains(path) || path.rsplit('/').next().is_some_and(|file| words.contains(file));
        let mut files = Map::new();
        let mut others = Vec::new();
        for path in repo.files_of(tree)? {
            let told = path.to_string();
            if changed.contains(&told) || packages::says_what_a_line_means(&told) || named(&told) {
                files.insert(told, self.text_at(tree, &path)?.into());
            } else {
                others.push(told);
            }
        }
        if files.len() + others.len() <= FILES {
            files.extend(others.into_iter().map(|path| (path, Value::Null)));
        }
        Ok(files)
    }
}

/// A command line, whoever told of it.
struct Ran<'a> {
    line: &'a str,
    dir: Option<&'a RepoPath>,
    ended: Option<Ended>,
    tail: &'a str,
    start: Option<&'a Oid>,
    end: Option<&'a Oid>,
    head: Option<&'a Oid>,
    grade: Grade,
    agent: Option<&'a str>,
}

fn is_stop(entry: &Entry) -> bool {
    matches!(&entry.event.kind, EventKind::Work(work) if work.actor.is_none() && matches!(work.act, Act::Stopped(_)))
}

/// The differences of two trees; `None`: they cannot be read.
fn changes(repo: &Repo, from: &Oid, to: &Oid) -> Result<Option<Vec<Change>>, GitError> {
    Ok(match repo.diff_trees(&[(from.clone(), to.clone())])?.pop() {
        Some(TreeDiff::Changes(changes)) => Some(changes),
        Some(TreeDiff::Unreadable) | None => None,
    })
}

/// A status as a shell gives it.
fn status(ended: Ended) -> i32 {
    match ended {
        Ended::Exited(status) => status,
        Ended::Signalled(signal) => 128 + signal,
        Ended::NotStarted => 127,
    }
}

fn file(change: &crate::commit::change::FileChange) -> Value {
    let status = match change.status {
        Status::Added => "A".to_owned(),
        Status::Deleted => "D".to_owned(),
        Status::Modified => "M".to_owned(),
        Status::TypeChanged => "T".to_owned(),
        Status::Renamed(similarity) => format!("R{similarity:03}"),
        Status::Copied(similarity) => format!("C{similarity:03}"),
    };
    let mut file = json!({"path": change.path.to_string(), "status": status});
    if let Some(from) = &change.from {
        file["from"] = from.to_string().into();
    }
    file
}
