//! The command that runs the checks that a refused push lacks, and then pushes.

use crate::fact::{Facts, RefUpdate, Subject};
use crate::oid::Oid;
use crate::ref_names;
use crate::shell_quote::{shell_line, shell_word};
use crate::snapshot::{DirtyPath, Presence};

/// The maximum number of files that the command stashes by name.
const MAX_ASIDE: usize = 5;

/// Returns `gate push REMOTE REF…` for the judged push. `uncommitted` are the files with which it would refuse to run;
/// the line stashes and restores them, or adds them to the commit if they were `forgotten`.
///
/// `options` are those of the original push without which it would be another one. `forward` returns `true` if a ref
/// moves to a descendant; otherwise the command forces the push as the original did.
///
/// Returns `None` if a run here proves something other than the pushed content: another commit than the one that is
/// checked out, a deletion, or a push that has arrived.
pub fn push_again(
    facts: &Facts,
    uncommitted: &[DirtyPath],
    forgotten: bool,
    options: &[String],
    forward: impl Fn(&Oid, &Oid) -> bool,
) -> Option<String> {
    let updates: Option<Vec<(&Subject, &RefUpdate)>> = facts.subjects.iter().map(pushed_from_here).collect();
    let updates = updates?;
    let remote = &updates.first()?.1.remote;
    // An address that holds a secret is recorded without it.
    if remote.is_empty() || remote.contains('*') {
        return None;
    }
    let mut words = vec!["gate".to_owned(), "push".to_owned()];
    words.extend(options.iter().map(|option| shell_word(option)));
    let has_lease = options.iter().any(|option| option.starts_with("--force-with-lease"));
    words.push(shell_word(remote));
    for (subject, update) in updates {
        let new = update.new.as_ref()?;
        let forced = !has_lease && update.old.as_ref().is_some_and(|old| !forward(old, new));
        words.push(shell_word(&refspec(subject, update, forced)));
    }
    let push = words.join(" ");
    // `git stash` does not see what an index bit hides.
    let hidden = uncommitted.iter().any(|file| file.presence == Presence::Hidden);
    Some(if uncommitted.is_empty() || hidden {
        push
    } else if forgotten {
        format!("{} && git commit --amend --no-edit && {push}", add(uncommitted))
    } else {
        format!("{} && ({push}; git stash pop)", stash(uncommitted))
    })
}

/// Returns the command that adds files to the next commit.
fn add(files: &[DirtyPath]) -> String {
    let paths: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
    format!("git add -- {}", shell_line(paths.iter().map(String::as_str)))
}

/// Returns the command that stashes files.
fn stash(files: &[DirtyPath]) -> String {
    let is_tracked = files.iter().all(|file| file.presence == Presence::Tracked);
    if is_tracked && files.len() > MAX_ASIDE {
        return "git stash".to_owned();
    }
    let untracked = if is_tracked { "" } else { " --include-untracked" };
    let paths: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
    format!("git stash push{untracked} -- {}", shell_line(paths.iter().map(String::as_str)))
}

/// What is checked out, with the update of the ref it is pushed to.
fn pushed_from_here(subject: &Subject) -> Option<(&Subject, &RefUpdate)> {
    let update = subject.update.as_ref().filter(|_| subject.checked_out == Some(true))?;
    Some((subject, update))
}

fn refspec(subject: &Subject, update: &RefUpdate, forced: bool) -> String {
    let short = |name: &str| ref_names::short(name).to_owned();
    let (local, remote) = (short(&update.local_ref), short(&update.remote_ref));
    let sign = if forced { "+" } else { "" };
    if subject.is_named_like_tag {
        return format!("{sign}{}:{}", update.local_ref, update.remote_ref);
    }
    if local == remote { format!("{sign}{local}") } else { format!("{sign}{local}:{}", update.remote_ref) }
}
