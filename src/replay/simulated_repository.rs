//! The repository of a case as its acts leave it: contents, commits, branches, and the runs that saw them.
//!
//! A name that the recorder gave a content counts as the one that a hook would have seen at that moment. Without a
//! name, the content follows from the acts; parts that they do not record are in doubt, and equal to nothing else.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::command_line::understand;
use crate::event::Grade;
use crate::replay::case::{self, Case, CaseAct};
use crate::replay::case_commits::{self, CaseCommit};
use crate::replay::forge_state;
use crate::replay::packages::Package;
use crate::replay::proofs_by_package::{self, From, RecordedLine};
use crate::replay::simulated_run::{EndedLine, SimulatedRun, Update};
use crate::replay::tree_content::{Content, FileText, NamedContents};
use crate::repo_path::seen_from;
use crate::runner::Project;

/// The repository of a case.
#[derive(Debug, Default)]
pub struct World {
    /// The working tree.
    pub tree: Content,
    /// The commit that is checked out.
    pub head: String,
    pub branch: String,
    /// The commit at which the work left the default branch.
    pub base: String,
    /// The commits, by id.
    pub commits: HashMap<String, CaseCommit>,
    /// The commits of this session that are still there, oldest first.
    pub own: Vec<String>,
    /// Branches and their commits.
    pub branches: BTreeMap<String, String>,
    /// The default branch of the other side, if it is known.
    pub default_branch: Option<String>,
    /// The command lines, in the order of their ends, if the case has a policy of its own, which may declare any.
    pub lines: Vec<EndedLine>,
    /// The runs, in order.
    pub runs: Vec<SimulatedRun>,
    /// The updates of remotes, in order.
    pub updates: Vec<Update>,
    /// The forge's answers about pull requests, in order.
    pub pulls: Vec<(u64, case::CasePull)>,
    /// The forge's answers about checks, in order.
    pub checks: Vec<case::CaseChecks>,
    /// The command lines that open a pull request.
    pub requests: Vec<case::RecordedCommand>,
    /// The working tree before the latest act.
    start: Content,
    keeps_lines: bool,
    /// The packages of the latest content that was asked about, and what is known of it.
    pub(super) packages: ([u128; 2], Arc<[Package]>),
    named: NamedContents,
    /// Contents that were put aside.
    pub(super) stash: Vec<Content>,
    /// Other worktrees: their folders, and their contents.
    worktrees: HashMap<String, Content>,
    /// Folders with a copy of the working tree's content at some time.
    pub(super) copies: HashMap<String, Content>,
    /// Commands that have not ended.
    open: HashMap<u64, (case::RecordedCommand, Content)>,
    /// The content before the last command whose effect is not known.
    pub(super) before: Option<(u64, Content)>,
}

impl World {
    /// Returns the repository at the beginning of a case.
    pub fn of(case: &Case) -> Self {
        let start = &case.start;
        let files = start.files.iter().enumerate().map(|(at, (path, text))| {
            let text = text.as_ref().map_or(FileText::Unknown(at as u64), |text| FileText::Known(text.as_str().into()));
            (path.clone(), text)
        });
        let mut world = Self { head: start.head.clone(), base: start.head.clone(), ..Self::default() };
        world.keeps_lines = case.policy.gate_toml.is_some();
        world.default_branch.clone_from(&start.default_branch);
        world.branch = if start.branch.is_empty() { "main".to_owned() } else { start.branch.clone() };
        world.tree = Content::new(files.collect(), None);
        if let Some(label) = &start.tree {
            world.tree = world.named.name(&world.tree, label);
        }
        world.commits.insert(start.head.clone(), CaseCommit::start(world.tree.clone()));
        world.branches.insert(world.branch.clone(), start.head.clone());
        for name in ["main", "master"] {
            world.branches.entry(name.to_owned()).or_insert_with(|| start.head.clone());
        }
        world
    }

    /// Returns the content of a commit.
    pub fn content(&self, commit: &str) -> Option<&Content> {
        self.commits.get(commit).map(|made| &made.content)
    }

    /// Returns the content of a commit; it is empty if the commit is not known.
    pub fn content_or_empty(&self, commit: &str) -> Content {
        self.content(commit).cloned().unwrap_or_default()
    }

    /// Returns the working tree before the latest act.
    pub const fn start(&self) -> &Content {
        &self.start
    }

    /// Returns the number of commands that have not ended.
    pub fn running(&self) -> u32 {
        u32::try_from(self.open.len()).unwrap_or(u32::MAX)
    }

    /// Lets an act happen.
    pub fn act(&mut self, seq: u64, act: &CaseAct) {
        self.start = self.tree.clone();
        match act {
            CaseAct::Edit(edit) => self.edit(seq, edit),
            CaseAct::Delete(edit) => {
                self.explain(&edit.via);
                self.tree.remove(&edit.path);
                self.see(edit.wt.as_deref());
            }
            CaseAct::Command(command) => {
                if forge_state::opens(command) {
                    self.requests.push(command.clone());
                }
                self.command(seq, command);
            }
            CaseAct::CommandEnd(end) => self.command_end(end),
            CaseAct::Commit(commit) => self.commit(seq, commit),
            CaseAct::Rewrite(rewrite) => self.rewrite(rewrite),
            CaseAct::Switch(switch) => self.switch(switch),
            CaseAct::RemoteMoved(moved) => self.remote_moved(moved),
            CaseAct::Push(push) => self.push(seq, push),
            CaseAct::Pull(pull) => self.pulls.push((seq, pull.clone())),
            CaseAct::Checks(checks) => self.checks.push(checks.clone()),
            CaseAct::Stop(stop) => {
                self.see(stop.wt.as_deref());
                if let Some(head) = stop.head.as_ref().filter(|head| self.commits.contains_key(*head)) {
                    self.head.clone_from(head);
                }
                if let Some(branch) = &stop.branch {
                    self.branch.clone_from(branch);
                }
            }
            CaseAct::Prompt(_)
            | CaseAct::Say(_)
            | CaseAct::Ask(_)
            | CaseAct::Plan(_)
            | CaseAct::Tool(_)
            | CaseAct::Compaction
            | CaseAct::Unknown => {}
        }
    }

    /// Records that a recorder looked at the working tree and named its content.
    fn see(&mut self, label: Option<&str>) {
        let Some(label) = label else { return };
        if let Some((_, before)) = self.before.take()
            && before.label() == Some(label)
        {
            self.tree = before;
        } else {
            self.tree = self.named.name(&self.tree, label);
        }
    }

    /// Explains a change that was found after a command: the command made it.
    fn explain(&mut self, via: &str) {
        if !matches!(via, "Edit" | "Write" | "MultiEdit" | "")
            && let Some((act, _)) = self.before.take()
        {
            self.tree.clear_doubt(act);
        }
    }

    fn edit(&mut self, seq: u64, edit: &case::CaseEdit) {
        if edit.ignored {
            self.see(edit.wt.as_deref());
            return;
        }
        self.explain(&edit.via);
        let text =
            edit.content.as_ref().map_or(FileText::Unknown(seq << 20), |text| FileText::Known(text.as_str().into()));
        self.tree.put(&edit.path, text);
        self.see(edit.wt.as_deref());
    }

    fn command(&mut self, seq: u64, command: &case::RecordedCommand) {
        if command.status.as_deref() == Some("not_executed") {
            return;
        }
        let elsewhere = self.elsewhere(command);
        if elsewhere.is_none() {
            self.see(command.wt.as_deref());
            self.start = self.tree.clone();
        }
        let start = elsewhere.clone().unwrap_or_else(|| self.tree.clone());
        let running =
            command.status.as_deref() == Some("still_running") || command.background && command.exit.is_none();
        if running {
            self.open.insert(seq, (command.clone(), start));
        } else {
            self.record(seq, command, &start, &start);
        }
        if elsewhere.is_none() {
            self.effects(seq, command);
        }
    }

    /// Returns the content of another worktree of the repository, if the command was started there.
    fn elsewhere(&self, command: &case::RecordedCommand) -> Option<Content> {
        if folder(&command.cwd).is_some() {
            return None;
        }
        if let Some(content) = self.worktrees.get(command.cwd.trim_end_matches('/')) {
            return Some(content.clone());
        }
        // Two worktrees never have one branch: another one is that of another worktree.
        let other = command.branch.as_ref().is_some_and(|branch| *branch != self.branch);
        let commit = command.head.as_ref().and_then(|head| self.content(head));
        let seen = command.wt.as_ref().and_then(|label| self.named.get(label));
        if other { seen.or(commit).cloned() } else { None }
    }

    fn record(&mut self, seq: u64, command: &case::RecordedCommand, start: &Content, end: &Content) {
        let other = folder(&command.cwd).is_none() && self.elsewhere(command).is_some();
        let dir = if other { Some(String::new()) } else { folder(&command.cwd) };
        let mut copies: Vec<String> = self.copies.keys().cloned().collect();
        copies.extend(copied_to(&command.command, start));
        let recorded = RecordedLine {
            line: &command.command,
            dir: dir.as_deref(),
            status: command.exit,
            output: command.output.as_deref(),
            background: false,
            copies: &copies,
        };
        let all = self.packages_of(start);
        let mut proofs = proofs_by_package::proofs(&recorded, start, &all);
        if dir.is_some() && proofs_by_package::may_run_hooks(&command.command, &From(start, "")) {
            proofs.extend(proofs_by_package::hook_proofs(&recorded, start, &all));
        }
        for proof in proofs {
            self.ran(seq, proof, &all, command.grade.unwrap_or(Grade::Hooked), [start, end]);
        }
        for update in crate::replay::remote_effects::updates(seq, &recorded, self) {
            self.updated(update);
        }
        if self.keeps_lines {
            self.lines.push(EndedLine { seq, command: command.clone(), dir, start: start.clone(), end: end.clone() });
        }
    }

    fn command_end(&mut self, end: &case::CaseCommandEnd) {
        let Some((mut command, start)) = self.open.remove(&end.for_seq) else { return };
        command.exit = end.exit;
        command.output = match (command.output.take(), &end.output) {
            (_, Some(output)) => Some(output.clone()),
            (before, None) => before,
        };
        command.status = None;
        command.background = false;
        let now = self.tree.clone();
        self.record(end.for_seq, &command, &start, &now);
    }

    fn commit(&mut self, seq: u64, commit: &case::CommitAct) {
        let failed = commit.exit.is_some_and(|exit| exit != 0) || commit.sha.is_empty();
        let recorded = RecordedLine {
            line: &commit.command,
            dir: Some(""),
            status: Some(commit.exit.unwrap_or(0)),
            output: commit.output.as_deref(),
            background: false,
            copies: &[],
        };
        if failed {
            return;
        }
        let parents: Vec<String> =
            if commit.parents.is_empty() { vec![self.head.clone()] } else { commit.parents.clone() };
        let parent = parents.first().and_then(|parent| self.content(parent)).cloned().unwrap_or_default();
        let mut content = case_commits::committed(&parent, &self.tree, commit);
        if let [_, others @ ..] = parents.as_slice() {
            for other in others {
                let base = self.content_or_empty(&self.base);
                if let Some(theirs) = self.content(other) {
                    content = content.with_changes(&base, &theirs.clone());
                }
                if !self.own.contains(other) {
                    self.base.clone_from(other);
                }
            }
        }
        if let Some(label) = &commit.tree {
            content =
                if self.tree.label() == Some(label) { self.tree.clone() } else { self.named.name(&content, label) };
        }
        if parents.len() > 1 {
            self.tree = content.clone();
        }
        let made = CaseCommit::of(commit, parents.clone(), content.clone(), &parent);
        let replaced = case_commits::is_amend(commit).then(|| self.head.clone());
        self.own.retain(|own| Some(own) != replaced.as_ref());
        self.own.push(commit.sha.clone());
        self.commits.insert(commit.sha.clone(), made);
        self.head.clone_from(&commit.sha);
        if let Some(branch) = &commit.branch {
            self.branch.clone_from(branch);
        }
        self.branches.insert(self.branch.clone(), commit.sha.clone());
        let all = self.packages_of(&content);
        for proof in proofs_by_package::hook_proofs(&recorded, &content, &all) {
            // A hook sees the working tree, which is what is committed only where nothing else lies there.
            let start = self.tree.clone();
            self.ran(seq, proof, &all, Grade::Hooked, [&start, &start]);
        }
        for proof in proofs_by_package::proofs(&recorded, &self.tree, &all) {
            let start = self.tree.clone();
            self.ran(seq, proof, &all, Grade::Hooked, [&start, &start]);
        }
    }

    fn rewrite(&mut self, rewrite: &case::HistoryRewrite) {
        let old = self.content(&rewrite.old).cloned().unwrap_or_else(|| self.tree.clone());
        let base = self.content_or_empty(&self.base);
        let onto = rewrite.onto.as_ref().and_then(|onto| self.content(onto)).cloned();
        let mut content = if let Some(onto) = &onto { onto.with_changes(&base, &old) } else { old.clone() };
        let clean = self.tree.differing(&old).is_some_and(|paths| paths.is_empty());
        if let Some(label) = &rewrite.tree {
            content = self.named.name(&content, label);
        }
        let parent = rewrite.onto.clone().unwrap_or_else(|| self.base.clone());
        let before = self.content_or_empty(&parent);
        let message =
            rewrite.message.clone().or_else(|| self.commits.get(&rewrite.old).map(|made| made.message.clone()));
        let made = case_commits::rewritten(rewrite, message.unwrap_or_default(), parent, content.clone(), &before);
        self.commits.insert(rewrite.new.clone(), made);
        if let Some(onto) = rewrite.onto.clone().filter(|onto| self.commits.contains_key(onto)) {
            self.base = onto;
        }
        let squash = rewrite.kind == "squash" || rewrite.message.is_some();
        if squash {
            self.own.clear();
        }
        self.own.retain(|own| *own != rewrite.old);
        self.own.push(rewrite.new.clone());
        if self.head == rewrite.old || rewrite.branch.as_ref() == Some(&self.branch) {
            self.head.clone_from(&rewrite.new);
            self.tree = if clean { content } else { content.with_changes(&old, &self.tree.clone()) };
        }
        let branch = rewrite.branch.clone().unwrap_or_else(|| self.branch.clone());
        self.branches.insert(branch, rewrite.new.clone());
    }

    fn switch(&mut self, switch: &case::CaseCheckout) {
        let from = self.content_or_empty(&self.head);
        let branch = switch.branch.clone().unwrap_or_default();
        let head =
            switch.head.clone().or_else(|| self.branches.get(&branch).cloned()).unwrap_or_else(|| self.head.clone());
        let to = self.content(&head).cloned();
        self.head = head;
        self.branches.insert(branch.clone(), self.head.clone());
        self.branch = branch;
        if let Some(to) = to {
            let clean = self.tree.differing(&from).is_some_and(|paths| paths.is_empty());
            self.tree = if clean { to } else { to.with_changes(&from, &self.tree.clone()) };
        }
        self.before = None;
        self.see(switch.wt.as_deref());
    }

    fn remote_moved(&mut self, moved: &case::RemoteMoved) {
        let mut content = self.content_or_empty(&self.base);
        for file in &moved.files {
            match &file.content {
                Some(text) => content.put(&file.path, FileText::Known(text.as_str().into())),
                None => content.remove(&file.path),
            }
        }
        let parent = self.base.clone();
        self.commits.insert(moved.sha.clone(), CaseCommit { parents: vec![parent], content, ..CaseCommit::default() });
    }

    fn push(&mut self, seq: u64, push: &case::Push) {
        let refused = push.exit.is_some_and(|exit| exit != 0);
        let recorded = RecordedLine {
            line: &push.command,
            dir: Some(""),
            status: push.exit,
            output: push.output.as_deref(),
            background: false,
            copies: &[],
        };
        match &push.refs {
            Some(refs) => {
                let zero = |sha: &str| sha.is_empty() || sha.bytes().all(|byte| byte == b'0');
                for update in refs {
                    self.updated(Update {
                        seq,
                        local_ref: update.local_ref.clone(),
                        new: (!zero(&update.local_sha)).then(|| update.local_sha.clone()),
                        remote_ref: update.remote_ref.clone(),
                        old: (!zero(&update.remote_sha)).then(|| update.remote_sha.clone()),
                        remote: push.remote.clone(),
                        url: push.url.clone(),
                        refused,
                        dry: push.dry_run,
                    });
                }
            }
            None => {
                for update in crate::replay::remote_effects::updates(seq, &recorded, self) {
                    self.updated(Update { dry: update.dry || push.dry_run, ..update });
                }
            }
        }
        let all = self.packages_of(&self.tree.clone());
        for proof in proofs_by_package::hook_proofs(&recorded, &self.tree, &all) {
            let start = self.tree.clone();
            self.ran(seq, proof, &all, Grade::Hooked, [&start, &start]);
        }
    }
}

/// Returns a folder of the working tree, or `None` if the place is outside of it, or not known to be inside.
pub fn folder(cwd: &str) -> Option<String> {
    if cwd.starts_with(['/', '~']) || cwd.as_bytes().get(1) == Some(&b':') {
        return None;
    }
    seen_from("", cwd)
}

/// Returns the folder to which a line copies the whole tree, if it does.
pub(super) fn copied_to(line: &str, content: &Content) -> Option<String> {
    let understood = understand(line, Project::without_runners(&From(content, ""))).ok()?;
    understood.program.leaves.iter().find_map(|leaf| {
        let words: Vec<&str> = leaf.argv.iter().filter_map(|arg| arg.literal()).collect();
        let named: Vec<&str> = words.iter().skip(1).copied().filter(|word| !word.starts_with('-')).collect();
        let whole = words.iter().any(|word| {
            word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R', 'a'])
                || matches!(*word, "--recursive" | "--archive")
        });
        match (words.first().copied()?, named.as_slice()) {
            ("cp" | "rsync", [_, target]) if whole => Some(target.trim_end_matches('/').to_owned()),
            ("git", ["clone", _, target]) => Some(target.trim_end_matches('/').to_owned()),
            _ => None,
        }
    })
}
