//! The script of `gate shell`: a person's shell runs it so that the person's own runs are recorded.

use std::path::Path;

use crate::shell_kind::Shell;
use crate::shell_quote::shell_word;
use crate::{embedded, shell};

/// The shells that have such a script.
pub const SCRIPTED: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Returns the script for a shell, in which `program` is called; `None` if this shell has none. A program whose path is
/// not text is searched for on the PATH.
pub fn shell_script(shell: Shell, program: &Path) -> Option<String> {
    let file = |name: &str| embedded::file(embedded::HOOKS, &format!("shell/{name}"));
    let script = SCRIPTED.contains(&shell).then(|| file(&format!("gate.{shell}")))??;
    let starts_runner = file("starts_runner.sh").unwrap_or_default();
    let runners: Vec<&str> = embedded::PROGRAMS.iter().copied().filter(|name| is_plain(name)).collect();
    let wrappers: Vec<&str> = shell::wrapper_names().filter(|name| is_plain(name)).collect();
    let whole = script.replace("@STARTS_RUNNER@", starts_runner);
    // zsh reads what is typed, and what `eval` is given there, without comments.
    let code = whole.split_inclusive('\n').filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    Some(
        code.collect::<String>()
            .replace("@PROGRAM@", &shell_word(program.to_str().unwrap_or("gate")))
            .replace("@RUNNERS@", &runners.join(" "))
            .replace("@WRAPPERS@", &wrappers.join(" ")),
    )
}

/// Returns `true` if a name needs no quotes in any shell.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_has_a_script_that_names_the_runners() {
        for shell in SCRIPTED {
            let script = shell_script(shell, Path::new("/opt/it's/gate")).unwrap();
            assert!(!script.contains('@') || !script.contains("@RUNNERS@"), "{shell}");
            assert!(script.contains(" npm ") && script.contains(" env "), "{shell}");
            assert!(script.contains(r"'/opt/it'\''s/gate'"), "{shell}");
        }
        assert_eq!(shell_script(Shell::Cmd, Path::new("gate")), None);
    }
}
