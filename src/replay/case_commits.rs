//! The commits of a case: their contents, and their changes.

use std::collections::HashMap;

use crate::commit::change::{Commit, FileChange, PathStatus, Person};
use crate::commit::change_class::{ChangeForm, PatchReader, Texture};
use crate::replay::case;
use crate::replay::tree_content::{Content, FileText, oid};
use crate::repo_path::RepoPath;
use crate::runner::Project;

/// A commit.
#[derive(Clone, Debug, Default)]
pub struct CaseCommit {
    pub parents: Vec<String>,
    pub message: String,
    pub content: Content,
    /// The changes.
    pub files: Vec<FileChange>,
}

impl CaseCommit {
    /// Returns the commit at which a case begins.
    pub fn start(content: Content) -> Self {
        Self { content, ..Self::default() }
    }

    /// Returns a commit of a case.
    pub fn of(commit: &case::CommitAct, parents: Vec<String>, content: Content, parent: &Content) -> Self {
        let files = match &commit.files {
            _ if parents.len() > 1 => Vec::new(),
            Some(files) => files.iter().map(|file| change(file, &content, parent)).collect(),
            None => between(parent, &content),
        };
        let message = if commit.message.is_empty() { message_of(&commit.command) } else { commit.message.clone() };
        Self { parents, message, content, files }
    }

    /// Returns the commit as the gates read it.
    pub fn commit(&self, id: &str) -> Commit {
        let person = Person::default();
        Commit {
            id: Some(oid(id)),
            parents: self.parents.iter().map(|parent| oid(parent)).collect(),
            author: person.clone(),
            committer: person,
            message: self.message.clone(),
            files: self.files.clone(),
            agent: None,
            looked_into: self.files.iter().any(|file| file.texture.is_some()),
        }
    }
}

/// Returns `true` if a commit replaces the one before it.
pub fn is_amend(commit: &case::CommitAct) -> bool {
    commit.command.split_whitespace().any(|word| word == "--amend")
}

/// Returns the content of a commit: its changes, from the working tree, over its parent.
pub fn committed(parent: &Content, tree: &Content, commit: &case::CommitAct) -> Content {
    let Some(files) = &commit.files else { return tree.clone() };
    let mut content = parent.clone();
    for file in files {
        match tree.files.get(&file.path) {
            Some(text) if !file.status.starts_with('D') => content.put(&file.path, text.clone()),
            _ => content.remove(&file.path),
        }
        if let Some(from) = &file.from {
            content.remove(from);
        }
    }
    // What is in doubt in the working tree is in doubt in what is taken from it.
    if tree.differing(&content).is_some_and(|paths| paths.is_empty()) { tree.clone() } else { content }
}

/// Returns the result of rewriting commits.
pub fn rewritten(
    rewrite: &case::HistoryRewrite,
    message: String,
    parent: String,
    content: Content,
    before: &Content,
) -> CaseCommit {
    let message = rewrite.message.clone().unwrap_or(message);
    let files = between(before, &content);
    CaseCommit { parents: vec![parent], message, content, files }
}

fn change(file: &case::CommitFile, content: &Content, parent: &Content) -> FileChange {
    let similarity = || file.status.get(1..).and_then(|digits| digits.parse().ok()).unwrap_or(100);
    let status = match file.status.chars().next() {
        Some('A') => PathStatus::Added,
        Some('D') => PathStatus::Deleted,
        Some('T') => PathStatus::TypeChanged,
        Some('R') => PathStatus::Renamed(similarity()),
        Some('C') => PathStatus::Copied(similarity()),
        _ => PathStatus::Modified,
    };
    let counted = file.add.or(file.del).is_some();
    let texture = if counted {
        let (added, removed) = (file.add.unwrap_or(0), file.del.unwrap_or(0));
        Some(Texture { added, removed, form: ChangeForm::Content, ..Texture::default() })
    } else {
        texture(&file.path, parent, content)
    };
    let from = file.from.as_deref().map(RepoPath::from);
    FileChange { path: RepoPath::from(file.path.as_str()), from, status, texture }
}

fn between(parent: &Content, content: &Content) -> Vec<FileChange> {
    let mut changes = Vec::new();
    for path in parent.differing(content).unwrap_or_default() {
        let name = path.to_string();
        let status = match (parent.files.contains_key(&name), content.files.contains_key(&name)) {
            (false, _) => PathStatus::Added,
            (_, false) => PathStatus::Deleted,
            _ => PathStatus::Modified,
        };
        changes.push(FileChange { texture: texture(&name, parent, content), ..FileChange::new(path, status) });
    }
    changes
}

/// Returns the texture of a file's changed lines, if both of its sides are known.
fn texture(path: &str, parent: &Content, content: &Content) -> Option<Texture> {
    let known = |content: &Content| match content.files.get(path) {
        Some(FileText::Known(text)) => Some(text.to_string()),
        Some(FileText::Unknown(_)) => None,
        None => Some(String::new()),
    };
    let (old, new) = (known(parent)?, known(content)?);
    if old == new {
        return None;
    }
    let mut reader = PatchReader::new(&RepoPath::from(path));
    let mut counted: HashMap<&str, i64> = HashMap::new();
    for line in new.lines() {
        *counted.entry(line).or_default() += 1;
    }
    for line in old.lines() {
        let left = counted.entry(line).or_default();
        if *left > 0 {
            *left -= 1;
        } else {
            reader.line(format!("-{line}").as_bytes());
        }
    }
    for line in new.lines() {
        let left = counted.entry(line).or_default();
        if *left > 0 {
            *left -= 1;
            reader.line(format!("+{line}").as_bytes());
        }
    }
    Some(reader.finish())
}

/// Returns the message in `git commit -m '…'`, as far as the text shows it.
fn message_of(command: &str) -> String {
    let understood = crate::command_line::understand(command, Project::without_runners(&()));
    let leaves = understood.map(|understood| understood.program.leaves).unwrap_or_default();
    let words: Vec<&str> = leaves.iter().flat_map(|leaf| leaf.argv.iter().filter_map(|arg| arg.literal())).collect();
    let texts = words.windows(2).filter(|pair| matches!(pair[0], "-m" | "--message" | "-am")).map(|pair| pair[1]);
    texts.collect::<Vec<_>>().join("\n\n")
}
