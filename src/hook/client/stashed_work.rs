//! Checks between `git stash` and `git stash pop`: they saw the commit, and not the work that came back after them.

use super::session_state::{PendingCommand, StartingPoint};
use crate::command_line;
use crate::git::Repo;
use crate::oid::Oid;
use crate::runner::Project;
use crate::snapshot::KeptSnapshot;

/// The beginning of the line that `git stash pop` prints at its end.
const DROPPED: &str = "Dropped refs/stash@{0} (";

/// Returns a line without its `git stash` and `git stash pop`, and the working tree that its checks saw: that of the commit.
/// The output must show that the stash held exactly the work that was there, which is there again.
pub(super) fn put_aside(
    repo: &Repo,
    pending: &PendingCommand,
    ground: &StartingPoint,
    project: Project<'_>,
    output: Option<&str>,
) -> Option<(PendingCommand, StartingPoint)> {
    let line = command_line::between_stash_and_pop(&pending.line, project)?;
    let start = &ground.start;
    let head = start.head.as_ref().filter(|_| ground.end.as_ref().is_some_and(|end| end.is_same(start)))?;
    // What is not in git stays on disk meanwhile.
    let is_usual = start.untracked.is_empty() && start.hidden.is_empty() && start.opaque.is_empty();
    let stash = dropped(output?).filter(|_| is_usual && start.absent.is_empty())?;
    let first_parent = repo.commit(&format!("{stash}^1")).ok()??;
    let (stashed, committed) = (repo.tree_of(&stash).ok()?, repo.tree_of(head).ok()?);
    if first_parent != *head || stashed != start.tree {
        return None;
    }
    let content = KeptSnapshot { tree: committed, ..start.clone() };
    let ground = StartingPoint { start: content.clone(), end: Some(content), ..ground.clone() };
    Some((PendingCommand { line, ..pending.clone() }, ground))
}

/// Returns the stash that the output says was dropped, if it is the only one.
fn dropped(output: &str) -> Option<Oid> {
    let mut found =
        output.lines().filter_map(|line| line.trim().strip_prefix(DROPPED)?.strip_suffix(')')?.parse().ok());
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stash_is_dropped() {
        let line = format!("{DROPPED}{})", "1".repeat(40));
        assert_eq!(dropped(&format!("2 passed\n{line}\n")).unwrap().as_str(), "1".repeat(40));
        assert_eq!(dropped(&format!("{line}\n{line}\n")), None);
        assert_eq!(dropped("Dropped refs/stash@{0} (x)\n"), None);
    }
}
