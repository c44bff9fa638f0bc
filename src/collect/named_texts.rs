//! Prose that counts: files that the defaults exclude, and that code or a setting of a runner names.
//!
//! A search for names reads the whole judged content. So it is made only for files on which an answer depends, and at
//! most once for each of them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use self::declared_lines::DeclaredLines;
use self::links::code_links;
use self::path_mentions::names;
pub(super) use self::scratch_files::scratch_files;
pub use self::scratch_files::{unread_scratch_files, unread_scratch_files_here};
pub(super) use self::scratch_mentions::has_word;
use self::scratch_mentions::read_scratch_files;
use crate::collect::draft::Draft;
use crate::fact::evidence::RunFact;
use crate::git::{GitError, Mention, MentionsIn, Repo, TreeFile};
use crate::oid::Oid;
use crate::policy::{Command, PathRules, Policy};
use crate::repo_path::RepoPath;

mod declared_lines;
mod links;
mod path_mentions;
mod scratch_files;
mod scratch_mentions;
mod table;

/// The maximum number of lines above a name in a settings file that are searched for the setting.
const MAX_ABOVE: usize = 20;
/// The maximum number of links on the way to a file.
const MAX_LINKS: usize = 8;
/// The maximum number of files that are searched for by their own names. If there are more, their extensions are
/// searched for.
const MAX_NAMES: usize = 64;

/// The files that count, of those that were asked about, each with the file that names it.
#[derive(Debug, Default)]
struct MentionAnswers {
    asked: BTreeSet<RepoPath>,
    named: BTreeMap<RepoPath, RepoPath>,
}

/// Decides which files of prose count in the judged content.
pub(super) struct NamedTexts<'a> {
    repo: &'a Repo,
    policy: &'a Policy,
    trees: Vec<Oid>,
    working_tree: bool,
    answers: RefCell<MentionAnswers>,
}

impl<'a> NamedTexts<'a> {
    /// Creates the search for the contents of `drafts`.
    pub(super) fn of(repo: &'a Repo, policy: &'a Policy, drafts: &[Draft<'_>]) -> Self {
        // A working tree is its files, whatever tree lies below.
        let trees = drafts.iter().filter(|draft| draft.snapshot.is_none()).filter_map(|draft| draft.tree.clone());
        Self::in_content(repo, policy, trees, drafts.iter().any(|draft| draft.snapshot.is_some()))
    }

    /// Creates the search for these trees and, if it is judged, the working tree.
    pub(super) fn in_content(
        repo: &'a Repo,
        policy: &'a Policy,
        trees: impl IntoIterator<Item = Oid>,
        working_tree: bool,
    ) -> Self {
        let mut trees: Vec<Oid> = trees.into_iter().collect();
        trees.sort();
        trees.dedup();
        Self { repo, policy, trees, working_tree, answers: RefCell::default() }
    }

    /// Returns the files that count, each with the file that names it.
    pub(super) fn found(self) -> BTreeMap<RepoPath, RepoPath> {
        self.answers.into_inner().named
    }

    /// Returns the rules of a command, as far as they are known by now.
    pub(super) fn rules<'c>(&self, command: &'c Command) -> Cow<'c, PathRules> {
        let answers = self.answers.borrow();
        if answers.named.is_empty() {
            return Cow::Borrowed(&command.inputs);
        }
        Cow::Owned(command.inputs.naming(answers.named.keys()))
    }

    /// Checks the files of a change if only they could require a command.
    pub(super) fn ask_of_change(&self, changed: &[RepoPath]) -> Result<(), GitError> {
        let open = self.policy.commands.iter().filter(|command| {
            let rules = &command.inputs;
            !changed.iter().any(|path| rules.matches(path))
        });
        let open: Vec<&Command> = open.collect();
        self.ask(changed.iter().filter(|path| open.iter().any(|command| command.inputs.counts_if_named(path))))
    }

    /// Checks the files that make a run differ from the judged content, if nothing else does.
    pub(super) fn ask_of_run(&self, command: &Command, run: &RunFact) -> Result<(), GitError> {
        let rules = &command.inputs;
        let paths = || run.changed.iter().chain(&run.differs).flatten();
        if paths().any(|path| rules.matches(path)) {
            return Ok(());
        }
        self.ask(paths().filter(|path| rules.counts_if_named(path)))
    }

    fn ask<'p>(&self, paths: impl Iterator<Item = &'p RepoPath>) -> Result<(), GitError> {
        let mut answers = self.answers.borrow_mut();
        let paths: Vec<&RepoPath> = paths.filter(|path| answers.asked.insert((*path).clone())).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let mut open: BTreeSet<&RepoPath> = paths.into_iter().collect();
        for command in &self.policy.commands {
            let is_named = |path: &RepoPath| path_mentions::command_names(&command.run, &command.dir, path);
            let gate_toml = || RepoPath::from("gate.toml");
            answers.named.extend(open.extract_if(.., |path| is_named(path)).map(|path| (path.clone(), gate_toml())));
        }
        let declared = DeclaredLines::of(self.policy, self.repo.root());
        let contents =
            self.trees.iter().map(MentionsIn::Tree).chain(self.working_tree.then_some(MentionsIn::WorkingTree));
        for content in contents {
            if open.is_empty() {
                break;
            }
            answers.named.extend(self.behind_links(content, &mut open)?);
            let words = path_mentions::words(&open, MAX_NAMES);
            let code = self.repo.mentions(content, &words, table::code_pathspecs(), 0)?;
            let settings = self.repo.mentions(content, &words, table::settings_pathspecs(), MAX_ABOVE)?;
            for (at, mention) in code.iter().chain(&settings).enumerate() {
                let above = if at < code.len() { &[][..] } else { above(&settings, at - code.len()) };
                let mut found: Vec<&RepoPath> =
                    open.iter().copied().filter(|path| names(mention, above, path, &declared)).collect();
                if !found.is_empty()
                    && let Some(included) = self.included(content, mention)?
                {
                    found.retain(|path| **path == included);
                }
                let named = open.extract_if(.., |path| found.contains(path));
                answers.named.extend(named.map(|path| (path.clone(), mention.file.clone())));
            }
            let is_scratch =
                |path: &&RepoPath| self.policy.commands.iter().any(|command| command.inputs.is_scratch(path));
            let scratch = open.iter().copied().filter(is_scratch).collect();
            for (path, reader) in read_scratch_files(self.repo, content, &scratch)? {
                open.remove(path);
                answers.named.insert(path.clone(), reader);
            }
        }
        Ok(())
    }
}

impl NamedTexts<'_> {
    /// Takes the files that are read through a link where the link counts, each with that link. A link may lead to
    /// another one.
    fn behind_links(
        &self,
        content: MentionsIn<'_>,
        open: &mut BTreeSet<&RepoPath>,
    ) -> Result<Vec<(RepoPath, RepoPath)>, GitError> {
        let links = code_links(self.repo, content)?;
        let counts = |path: &RepoPath| self.policy.commands.iter().any(|command| command.inputs.matches(path));
        let mut behind = Vec::new();
        for start in links.iter().filter(|link| counts(&link.path)) {
            let mut target = &start.target;
            for _ in 0..MAX_LINKS {
                match links.iter().find(|link| link.path == *target) {
                    Some(next) => target = &next.target,
                    None => break,
                }
            }
            if open.remove(target) {
                behind.push((target.clone(), start.path.clone()));
            }
        }
        Ok(behind)
    }

    /// Returns the file that a line includes, if it is a regular one: a link stands for another file.
    fn included(&self, content: MentionsIn<'_>, mention: &Mention) -> Result<Option<RepoPath>, GitError> {
        let Some(path) = path_mentions::included_file(mention) else { return Ok(None) };
        let is_regular = match content {
            MentionsIn::Tree(tree) => matches!(self.repo.regular_file_at(tree, &path)?, TreeFile::Regular(_)),
            MentionsIn::WorkingTree => {
                let root = self.repo.root().map(|root| root.join(path.to_os()));
                root.is_some_and(|file| file.symlink_metadata().is_ok_and(|meta| meta.is_file()))
            }
        };
        Ok(is_regular.then_some(path))
    }
}

/// Returns the lines of the same file before that at `at`.
fn above(lines: &[Mention], at: usize) -> &[Mention] {
    let first = lines[..at].iter().rposition(|line| line.file != lines[at].file).map_or(0, |at| at + 1);
    &lines[first.max(at.saturating_sub(MAX_ABOVE))..at]
}
