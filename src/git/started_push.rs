//! The options of the push that started this hook: git does not tell its hook.

use super::push_options::PushOptions;
use crate::parent_processes::processes_above;

/// The largest number of processes between `git push` and this one: the shell of the hook, and one that it starts.
const MAX_DEPTH: usize = 4;

/// Returns `true` if the nearest `git push` among the processes above this one is a dry run, and `false` if that cannot
/// be seen.
pub fn is_dry_run() -> bool {
    options_above().is_some_and(|options| options.dry_run)
}

/// Returns the options of the nearest `git push` among the processes above this one without which it would be another push;
/// none if they cannot be seen.
pub fn needed_options() -> Vec<String> {
    options_above().map(|options| options.needed).unwrap_or_default()
}

fn options_above() -> Option<PushOptions> {
    let above = processes_above(MAX_DEPTH);
    let options = above.iter().find_map(|process| push_options(&process.words))?;
    Some(PushOptions::of(options.iter().map(String::as_str)))
}

/// Returns the words after `git push`, or `None` for another command.
pub fn push_options(words: &[String]) -> Option<&[String]> {
    let name = words.first()?.rsplit('/').next()?;
    match name {
        "git-push" => words.get(1..),
        "git" => words.get(words.iter().position(|word| word == "push")? + 1..),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_behind_a_push() {
        for (line, options) in [
            ("git push", ""),
            ("git -c core.hooksPath=/x push -q --dry-run", "-q --dry-run"),
            ("/usr/lib/git-core/git push origin -n", "origin -n"),
            ("/usr/lib/git-core/git-push -n", "-n"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(push_options(&words).map(|found| found.join(" ")).as_deref(), Some(options), "{line}");
        }
        for line in ["sh .git/hooks/pre-push origin url", "make push -n", "git commit -n"] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(push_options(&words), None, "{line}");
        }
    }
}
