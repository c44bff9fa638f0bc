//! Tells if a commit that is being made replaces the last one.
//!
//! Git does not pass `--amend` to `commit-msg`, and the content of the commit depends on it. The command line of the
//! git that runs the hook shows it, on systems that show command lines.

/// The kind of a commit that is being made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Making {
    /// The commit follows the last one.
    Next,
    /// The commit replaces the last one.
    Amended,
    /// Either: the process that runs the hook cannot be seen, or is not git itself.
    Unclear,
}

/// The maximum number of processes between a git and a hook it runs: shells and hook managers.
const STEPS: usize = 12;

/// Reads the command line of the nearest git above this process.
pub(super) fn making() -> Making {
    #[cfg(unix)]
    let mut process = Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    let mut process = None;
    for _ in 0..STEPS {
        let Some(id) = process else { break };
        let Ok(line) = std::fs::read(format!("/proc/{id}/cmdline")) else { break };
        let words: Vec<&[u8]> = line.split(|&byte| byte == 0).collect();
        if let Some(making) = of_command(&words) {
            return making;
        }
        process = std::fs::read_to_string(format!("/proc/{id}/stat")).ok().and_then(|stat| parent_in(&stat));
    }
    Making::Unclear
}

/// Returns the parent in a line of `/proc/PID/stat`: the second word after the name, which may contain blanks and
/// brackets.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the kind of commit that a command line makes, or `None` if the command is not git.
fn of_command(words: &[&[u8]]) -> Option<Making> {
    let name = words.first()?.rsplit(|&byte| byte == b'/').next()?;
    let name = name.strip_suffix(b".exe").unwrap_or(name);
    let mut rest = words[1..].iter().copied();
    let command = match name.strip_prefix(b"git-") {
        Some(command) => command,
        None if name == b"git" => subcommand(&mut rest)?,
        None => return None,
    };
    Some(match command {
        b"commit" if amends(rest) => Making::Amended,
        b"commit" | b"merge" | b"pull" | b"cherry-pick" | b"revert" | b"am" | b"hook" => Making::Next,
        _ => Making::Unclear,
    })
}

/// Returns the command after git's own options.
fn subcommand<'w>(words: &mut impl Iterator<Item = &'w [u8]>) -> Option<&'w [u8]> {
    while let Some(word) = words.next() {
        match word {
            b"-C" | b"-c" | b"--git-dir" | b"--work-tree" | b"--namespace" | b"--super-prefix" | b"--config-env"
            | b"--attr-source" => {
                words.next();
            }
            word if word.starts_with(b"-") => {}
            word => return Some(word),
        }
    }
    None
}

/// Returns `true` if options of `git commit` contain `--amend`, which may be shortened to `--am`.
fn amends<'w>(words: impl Iterator<Item = &'w [u8]>) -> bool {
    let mut words = words.take_while(|word| *word != b"--");
    while let Some(word) = words.next() {
        match word {
            b"-m"
            | b"-F"
            | b"-C"
            | b"-c"
            | b"-t"
            | b"--message"
            | b"--file"
            | b"--reuse-message"
            | b"--reedit-message"
            | b"--template"
            | b"--author"
            | b"--date"
            | b"--trailer"
            | b"--fixup"
            | b"--squash"
            | b"--cleanup"
            | b"--pathspec-from-file" => {
                words.next();
            }
            word if word.len() >= 4 && b"--amend".starts_with(word) => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_say_what_they_make() {
        use Making::{Amended, Next, Unclear};
        for (line, making) in [
            ("git commit", Some(Next)),
            ("git commit -m x", Some(Next)),
            ("git commit --amend", Some(Amended)),
            ("git commit --am --no-edit", Some(Amended)),
            ("/usr/lib/git-core/git commit -qm x --amend", Some(Amended)),
            ("/usr/lib/git-core/git-commit --amend", Some(Amended)),
            ("git -C /x -c a.b=commit --no-pager commit --amend -a", Some(Amended)),
            ("git commit -m --amend", Some(Next)),
            ("git commit -- --amend", Some(Next)),
            ("git commit --allow-empty", Some(Next)),
            ("git merge side", Some(Next)),
            ("git hook run commit-msg", Some(Next)),
            ("git rebase -i", Some(Unclear)),
            ("git", None),
            ("sh -e .husky/commit-msg .git/COMMIT_EDITMSG", None),
            ("/usr/bin/gitui", None),
            ("", None),
        ] {
            let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
            assert_eq!(of_command(&words), making, "{line}");
        }
        assert_eq!(parent_in("12 (a) b) c) S 34 12 12 0"), Some(34));
        assert_eq!(parent_in("nothing"), None);
    }
}
