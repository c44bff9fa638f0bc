//! The commits of a case, and its end.

use serde_json::{Value, json};

use super::contents::changes;
use super::{CaseEnd, CaseWriter, name};
use crate::commit::change::{FileChange, PathStatus};
use crate::event::{Act, EventKind};
use crate::git::GitError;
use crate::oid::Oid;

impl CaseWriter<'_> {
    /// Writes the commits that are not written yet, up to so many.
    pub(super) fn commits_up_to(&mut self, count: usize) -> Result<(), GitError> {
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

    /// Adds commits of others that are merged in: their changes since the work left them.
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

    pub(super) fn end(&mut self) -> Result<(), GitError> {
        let record = self.record;
        self.commits_up_to(record.commits.len())?;
        match &record.end {
            CaseEnd::Stop { head, work } => {
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
            CaseEnd::Push { head, updates } => {
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
}

fn file(change: &FileChange) -> Value {
    let status = match change.status {
        PathStatus::Added => "A".to_owned(),
        PathStatus::Deleted => "D".to_owned(),
        PathStatus::Modified => "M".to_owned(),
        PathStatus::TypeChanged => "T".to_owned(),
        PathStatus::Renamed(similarity) => format!("R{similarity:03}"),
        PathStatus::Copied(similarity) => format!("C{similarity:03}"),
    };
    let mut file = json!({"path": change.path.to_string(), "status": status});
    if let Some(from) = &change.from {
        file["from"] = from.to_string().into();
    }
    file
}
