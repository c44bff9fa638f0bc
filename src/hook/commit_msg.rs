//! The hook `commit-msg`: judges the commit that is about to be made.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::collect::decisions::{self, Staged};
use crate::collect::{self, BaseOf};
use crate::commit::change::{Commit, Person};
use crate::commit::rules::KIND;
use crate::commit::{author, message_draft};
use crate::engine::{Judgement, Uncommitted, Workplace};
use crate::exit::Exit;
use crate::fact::{Base, NewCommits, Subject, SubjectKind};
use crate::fact::{Facts, roles};
use crate::failure::Failure;
use crate::git::{GitError, Repo};
use crate::hook::GitHook;
use crate::hook::amend::{self, Making};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::PolicySource;
use crate::ref_names;
use crate::repo_path::RepoPath;
use crate::{config, gates};

/// The name of a commit that does not exist yet.
const NAME: &str = "this commit";

/// Judges the commit whose message is in the file that git names to `commit-msg`. Returns `None` if there is nothing to
/// report.
pub fn judge(hook: &GitHook<'_>) -> anyhow::Result<Option<Judgement>> {
    let Some(file) = hook.args.first() else {
        return Err(Failure::new(Exit::BadInput, "commit-msg names no file").into());
    };
    judge_commit_message(Path::new(file))
}

/// Judges the commit that is about to be made with the message in `file`.
///
/// The record of a refusal is written as for any other. A commit that passes leaves no record, so that committing stays
/// fast, except the first one after a refusal, which fixes it. A merge and the first commit of a history are not
/// judged.
pub fn judge_commit_message(file: &Path) -> anyhow::Result<Option<Judgement>> {
    let place = Workplace::of_hook()?;
    let repo = &place.repo;
    let head = repo.head()?;
    let Some(tip) = head.commit.filter(|_| !repo.git_dir().join("MERGE_HEAD").exists()) else { return Ok(None) };
    let lineage = collect::lineage(repo, &tip, BaseOf::AnyRemote)?;
    let index = index(repo);
    let (policy, notes) = match place.policy(Some(&lineage)) {
        // Without a policy nothing can be said of a commit. The push, and the job of the forge, judge what it became.
        Err(failure) if failure.exit == Exit::CannotJudge => return Ok(None),
        policy => policy?,
    };
    let asked = policy.gates_of(KIND, Moment::Commit).next().is_some();
    if !asked && policy.roles.list.is_empty() && !decisions::asked_at_commit(&policy) {
        return Ok(None);
    }
    let text = std::fs::read(file).map_err(Failure::of_file(Exit::BadInput, file))?;
    let comment = repo.config("core.commentString")?.or(repo.config("core.commentChar")?).unwrap_or_default();
    let comment = if comment == "auto" { String::new() } else { comment };
    let message = message_draft::clean(&String::from_utf8_lossy(&text), &comment);
    if message.is_empty() {
        return Ok(None);
    }
    let author = person("AUTHOR");
    let committer = person("COMMITTER");
    let agent = place
        .session
        .agent
        .clone()
        .or_else(|| author::agent_of(&author, &committer, &message))
        .or_else(|| head.branch.as_deref().and_then(author::agent_of_branch));
    let state = place.state()?;
    let branch = head.branch.as_deref().and_then(ref_names::branch);
    let staged = |base| Staged { name: NAME, base, tip: &tip, index: index.as_deref(), message: &message };
    let decided = match &lineage.base {
        Base::MergeBase { commit: base, .. } => decisions::staged(repo, &policy, staged(base))?,
        Base::Nothing if decisions::asked_at_commit(&policy) => {
            decisions::staged(repo, &policy, staged(&decisions::local_base_of_staged(repo, &tip)?))?
        }
        Base::Nothing | Base::Unknown(_) => None,
    };
    let mut first = None;
    for reading in readings(repo, &tip)? {
        let files = repo.staged(&reading.base, index.as_deref())?;
        if files.is_empty() {
            return Ok(None);
        }
        let commit = Commit {
            id: None,
            parents: reading.parents,
            author: author.clone(),
            committer: committer.clone(),
            message: message.clone(),
            files,
            agent: agent.clone(),
            looked_into: true,
        };
        let facts = Facts {
            subjects: vec![subject(commit, branch)],
            waivers: state.waivers().iter().map(|(_, waived)| waived.clone()).collect(),
            notes: notes.clone(),
            decisions: decided.clone().into_iter().collect(),
            role_claims: roles::of_process().into_iter().collect(),
            ..Facts::at(Moment::Commit)
        };
        let results = gates::judge(&policy, &facts);
        if results.iter().all(|result| result.effect() == gates::finding::Effect::Silent) {
            if state.judged(&place.session.id).refused_commits() {
                place.judge(&policy, &state, facts, None);
            }
            return Ok(None);
        }
        first.get_or_insert(facts);
    }
    Ok(first.map(|facts| place.judge(&policy, &state, facts, Some(Uncommitted::Draft(index.as_deref())))))
}

/// Returns the refusal of a commit that makes the policy unreadable, or `None` for any other.
pub fn broken_policy() -> Option<Failure> {
    let repo = Repo::discover_in_hook(&std::env::current_dir().ok()?).ok()?;
    let path = RepoPath::from(config::FILE);
    let staged = repo.staged_file(&path, index(&repo).as_deref()).ok()??;
    let committed = repo.head().ok()?.commit.and_then(|tip| repo.blob_at(&tip, &path).ok()?);
    if committed.as_ref() == Some(&staged) {
        return None;
    }
    let read = config::read(config::FILE, &staged, PolicySource::WorkingTree, &gates::check_params);
    // A policy for a later gate is readable to whoever has that one.
    let error = read.err().filter(|error| !error.newer)?;
    let what = format!("this commit makes {} unreadable: {}", config::FILE, error.render());
    let remedy = format!("fix it, then: git add {}", config::FILE);
    Some(Failure::new(Exit::BadInput, what).at(path, error.line()).remedy(remedy))
}

/// A commit that is about to be made.
struct PendingCommit {
    parents: Vec<Oid>,
    /// The base: its first parent, or the empty tree.
    base: Oid,
}

/// Returns the commit that is being made, if it is known; otherwise each one that it may be. Only a commit that fails
/// in all of these forms is refused: a push sees the final one.
fn readings(repo: &Repo, tip: &Oid) -> Result<Vec<PendingCommit>, GitError> {
    let next = PendingCommit { parents: vec![tip.clone()], base: tip.clone() };
    let amended = || -> Result<PendingCommit, GitError> {
        let mut parents = Vec::new();
        while let Some(parent) = repo.commit(&format!("{tip}^{}", parents.len() + 1))? {
            parents.push(parent);
        }
        let base = parents.first().cloned().unwrap_or_else(|| repo.empty_tree());
        Ok(PendingCommit { parents, base })
    };
    Ok(match amend::making() {
        Making::Next => vec![next],
        Making::Amended => vec![amended()?],
        Making::Unclear => vec![next, amended()?],
    })
}

fn subject(commit: Commit, branch: Option<&str>) -> Subject {
    Subject {
        role: SubjectKind::WorkingTree,
        base: Base::Unknown("it is not made yet".to_owned()),
        changed: Some(commit.files.iter().map(|file| file.path.clone()).collect()),
        commits: NewCommits { commits: vec![commit], unknown: None },
        branch: branch.map(str::to_owned),
        checked_out: Some(true),
        ..Subject::empty(NAME)
    }
}

/// Returns the index that git makes this commit from: `git commit -a` and `git commit PATH` use one of their own. It
/// counts only if it is in the git directory of this repository.
fn index(repo: &Repo) -> Option<PathBuf> {
    let named = std::env::var_os("GIT_INDEX_FILE").filter(|name| !name.is_empty())?;
    let path = std::env::current_dir().ok()?.join(named);
    let inside = path.canonicalize().ok()?.parent()? == repo.git_dir().canonicalize().ok()?;
    inside.then_some(path)
}

/// Returns the person whom git names: it sets these variables for the hook if they differ from the configuration.
fn person(who: &str) -> Person {
    let variable = |part: &str| {
        std::env::var_os(format!("GIT_{who}_{part}"))
            .as_deref()
            .map(OsStr::to_string_lossy)
            .unwrap_or_default()
            .into_owned()
    };
    Person { name: variable("NAME"), email: variable("EMAIL") }
}
