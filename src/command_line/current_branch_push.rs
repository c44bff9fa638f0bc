//! The branch that a push reads from git.

use crate::shell::expanded_program::{Arg, Leaf, Program, Sink};

use super::purpose::Purpose;

/// Sets the destination to the branch that is checked out if a push reads it from git: `git push origin "$(git branch
/// --show-current)"`.
pub(super) fn name_branches(program: &Program, purposes: &mut [Purpose]) {
    for (id, purpose) in purposes.iter_mut().enumerate().filter(|(_, purpose)| !purpose.pushes.is_empty()) {
        let pushing = &program.leaves[id];
        let handed = |leaf: &&Leaf| match &leaf.stdout {
            Sink::Captured(None) => true,
            Sink::Captured(Some(variable)) => pushing.mentions.contains(variable),
            _ => false,
        };
        let mut sources = program.leaves[..id].iter().filter(handed).peekable();
        let moved = program.leaves[..id].iter().any(|leaf| {
            leaf.argv.iter().any(|arg| matches!(arg.literal(), Some("checkout" | "switch" | "worktree" | "-C")))
        });
        // `"$(git branch --show-current):main"` goes elsewhere.
        let whole = !pushing.text.contains(':');
        if sources.peek().is_some() && sources.all(asks_for_branch) && whole && !moved {
            purpose.pushes.iter_mut().filter(|place| *place == "?").for_each(|place| "@current".clone_into(place));
        }
    }
}

/// Returns `true` if a command prints the name of the branch that is checked out.
fn asks_for_branch(leaf: &Leaf) -> bool {
    let words: Vec<&str> = leaf.argv.iter().filter_map(Arg::literal).collect();
    leaf.name() == Some("git")
        && words.len() == leaf.argv.len()
        && matches!(
            words.get(1..),
            Some(
                ["branch", "--show-current"]
                    | ["rev-parse", "--abbrev-ref", "HEAD" | "@"]
                    | ["symbolic-ref", "--short", "HEAD"]
            )
        )
}

#[cfg(test)]
mod tests {
    use crate::runner::Project;

    #[test]
    fn the_branch_that_git_names() {
        for (line, want) in [
            (r#"git push origin "$(git branch --show-current)""#, "@current"),
            ("B=$(git rev-parse --abbrev-ref HEAD); git push -u origin $B", "@current"),
            (r#"git push origin "$(git branch --show-current):main""#, "?"),
            ("B=$(git branch --show-current); git checkout main; git push origin $B", "?"),
            ("git push origin $(cat branch.txt)", "?"),
        ] {
            let understood = crate::command_line::understand(line, Project::without_runners(&())).expect("a line");
            let places: Vec<String> = understood.purposes.into_iter().flat_map(|purpose| purpose.pushes).collect();
            assert_eq!(places, [want], "{line}");
        }
    }
}
