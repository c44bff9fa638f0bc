//! The facts for a push: the refs that it updates, and the commits that they bring.

use std::thread;

use crate::collect::draft::Draft;
use crate::collect::merge_base::{self, Lineage, Target};
use crate::collect::{CollectError, Sources, apart, commits, decisions, finish};
use crate::fact::{Base, Facts, NewCommits, Note, RefUpdate};
use crate::git::{CommitLog, DefaultBranch, GitError, Head, ObjectKind, Range, Repo};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::ref_names;

/// Collects the facts for a push from commits and recorded snapshots, never from the working tree.
///
/// `head` is the commit that is checked out. At the receiving end (`receiving`), the journal of the person who pushes
/// is out of reach. `begun` is the log of the first update, if it was begun ([`begin_push`]).
pub fn at_push(
    sources: Sources<'_>,
    updates: &[(RefUpdate, Option<Lineage>)],
    head: &Head,
    target: Option<&Target>,
    receiving: bool,
    mut begun: Option<CommitLog>,
) -> Result<Facts, CollectError> {
    let mut drafts = Vec::new();
    let mut notes = Vec::new();
    for (update, lineage) in updates {
        let name = update_name(update);
        let mut draft = match lineage {
            Some(lineage) => Draft::commit(&name, sources.repo, lineage)?,
            None => match merge_base::pushed_tree(sources.repo, update)? {
                Some(tree) => Draft::tree(&name, sources.repo, tree, target)?,
                None => Draft::empty(&name),
            },
        };
        if update.new.is_some() && draft.tree.is_none() && !update.remote_ref.starts_with("refs/notes/") {
            let text = format!(
                "{} is a single file without a folder: no command reads it, so none is required",
                update.remote_ref
            );
            notes.push(Note::new("no-tree", text));
        }
        if let (Some(tree), Some(target), Base::Nothing) = (&draft.tree, target, &draft.subject.base)
            && apart::is_apart(sources.repo, tree, &target.tip)?
        {
            let text = format!(
                "{name} has no history and no file in common with {}, so no command is required for it",
                target.branch
            );
            notes.push(Note::new("apart", text));
            draft.base_tree.clone_from(&draft.tree);
        }
        let checked_out = draft.subject.commit.is_some() && draft.subject.commit == head.commit;
        let local =
            head.branch.as_ref().filter(|_| checked_out && update.local_ref == "HEAD").unwrap_or(&update.local_ref);
        draft.subject.branch = ref_names::branch(local).map(str::to_owned);
        draft.subject.is_named_like_tag = match &draft.subject.branch {
            Some(branch) => sources.repo.reference(&format!("refs/tags/{branch}"))?.is_some(),
            None => false,
        };
        draft.subject.synced_from = merge_base::synced_from(sources.repo, update)?;
        draft.subject.checked_out = Some(checked_out);
        draft.subject.update = Some(update.clone());
        drafts.push(draft);
    }
    let pushed: Vec<_> =
        drafts.iter().map(|draft| (draft.subject.commit.clone(), draft.subject.branch.clone())).collect();
    let mut new = |((tip, branch), (update, _)): (&(Option<Oid>, Option<String>), &(RefUpdate, _))| {
        let (Sources { repo, policy, .. }, begun) = (sources, begun.take());
        let Some(tip) = tip else { return Ok(NewCommits::default()) };
        match begun {
            Some(log) => commits::collect_begun(repo, log, policy, Moment::Push, branch.as_deref()),
            None => {
                let range = brought(repo, update, tip, receiving)?;
                commits::collect(repo, &range, policy, Moment::Push, branch.as_deref())
            }
        }
    };
    let (facts, new) = thread::scope(|scope| {
        let reading =
            scope.spawn(move || pushed.iter().zip(updates).map(&mut new).collect::<Result<Vec<_>, GitError>>());
        let facts = finish(sources, Moment::Push, drafts);
        (facts, reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let mut facts = facts?;
    for (subject, new) in facts.subjects.iter_mut().zip(new?) {
        subject.commits = new;
    }
    facts.receiving = receiving;
    facts.notes.extend(notes);
    decisions::collect(sources.repo, sources.policy, &mut facts)?;
    Ok(facts)
}

/// Returns the commits that an update of a ref to `tip` brings.
fn brought(repo: &Repo, update: &RefUpdate, tip: &Oid, receiving: bool) -> Result<Range, GitError> {
    if receiving { repo.received_commits(tip) } else { repo.pushed_commits(tip, update.old.as_ref(), &update.remote) }
}

/// Begins to read the commits of an update, which takes longest, before the policy is known. Returns `None` if they
/// cannot be read in this way.
pub fn begin_push(repo: &Repo, update: &RefUpdate, receiving: bool) -> Option<CommitLog> {
    let tip = update.new.as_ref()?;
    let is_commit = matches!(repo.object_kind(tip), Ok(Some(ObjectKind::Commit)));
    if !is_commit || update.remote_ref.starts_with("refs/notes/") {
        return None;
    }
    commits::begin(repo, &brought(repo, update, tip, receiving).ok()?)
}

fn update_name(update: &RefUpdate) -> String {
    let short = |name: &str| ref_names::short(name).to_owned();
    let (local, remote) = (short(&update.local_ref), short(&update.remote_ref));
    match &update.new {
        None => format!("delete {remote}"),
        Some(_) if local == remote || local.is_empty() => remote,
        Some(_) => format!("{local} → {remote}"),
    }
}

/// Parses the standard input of a push hook of git: one update per line.
pub fn parse_updates(input: &[u8], remote: &str) -> Result<Vec<RefUpdate>, String> {
    let oid = |text: &str| match text.parse::<Oid>() {
        Ok(oid) if oid.is_zero() => Ok(None),
        Ok(oid) => Ok(Some(oid)),
        Err(error) => Err(error.to_string()),
    };
    let mut updates = Vec::new();
    for (index, line) in String::from_utf8_lossy(input).lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let wrong = |what: &str| {
            let line: String = line.chars().take(120).collect();
            format!("line {} of standard input is not what git writes there ({what}): {line:?}", index + 1)
        };
        let words: Vec<_> = line.split(' ').collect();
        let (local_ref, new, remote_ref, old) = match words[..] {
            [local_ref, new, remote_ref, old] => (local_ref, new, remote_ref, old),
            // `pre-receive` has no local ref: old, new, ref.
            [old, new, remote_ref] => ("", new, remote_ref, old),
            _ => return Err(wrong("three or four words are expected")),
        };
        updates.push(RefUpdate {
            local_ref: local_ref.to_owned(),
            new: oid(new).map_err(|error| wrong(&error))?,
            remote_ref: remote_ref.to_owned(),
            old: oid(old).map_err(|error| wrong(&error))?,
            remote: remote.to_owned(),
            default_branch: DefaultBranch::Unknown("nobody asked".to_owned()),
        });
    }
    Ok(updates)
}
