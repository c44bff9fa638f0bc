//! The contents of a case: the texts of files, and the changes from one content to another.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{CaseEnd, CaseWriter};
use crate::event::{Act, EventKind};
use crate::git::{GitError, PathChange, Repo, TreeDiff};
use crate::oid::Oid;
use crate::replay::packages;
use crate::repo_path::RepoPath;

/// The largest number of files that a case lists at its beginning.
const FILES: usize = 400;
/// The longest text of a file, in bytes. Of a longer one the case says only that it differs.
const MAX_CONTENT_SIZE: usize = 64 * 1024;

impl CaseWriter<'_> {
    pub(super) fn tree_of(&self, commit: &Oid) -> Option<Oid> {
        self.trees.get(commit).cloned().or_else(|| self.repo?.tree_of(commit).ok())
    }

    /// Lets the working tree of the case become this one.
    pub(super) fn go_to(&mut self, tree: &Oid) -> Result<(), GitError> {
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

    /// Returns the text of a file, as far as a case records it.
    pub(super) fn text_at(&self, tree: &Oid, path: &RepoPath) -> Result<Option<String>, GitError> {
        let Some(repo) = self.repo else { return Ok(None) };
        let text = repo.blob_at(tree, path)?.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.filter(|text| text.len() <= MAX_CONTENT_SIZE).map(|text| self.neutral.text(&text)))
    }

    /// Returns the next content that was kept.
    pub(super) fn next_tree(&self, index: usize) -> Option<Oid> {
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
            CaseEnd::Stop { head, work } => work.clone().or_else(|| self.tree_of(head.as_ref()?)),
            CaseEnd::Push { head, .. } => self.tree_of(head.as_ref()?),
        })
    }

    /// Returns the files at the beginning: with their texts those that change, those that a line names, and those that
    /// decide the meaning of a line; of the others, as many as a case may name.
    pub(super) fn files(&self, tree: &Oid, events: &[Value]) -> Result<Map<String, Value>, GitError> {
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

/// Returns the differences of two trees, or `None` if they cannot be read.
pub(super) fn changes(repo: &Repo, from: &Oid, to: &Oid) -> Result<Option<Vec<PathChange>>, GitError> {
    Ok(match repo.diff_trees(&[(from.clone(), to.clone())])?.pop() {
        Some(TreeDiff::Changes(changes)) => Some(changes),
        Some(TreeDiff::Unreadable) | None => None,
    })
}
