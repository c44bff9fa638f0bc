//! The line in a person's own shell settings that runs `gate shell`: added on request, between two marks, and removed
//! again.
//!
//! Such a file holds for all repositories of a person and may hold secrets: the record keeps nothing of it.

use std::path::{Path, PathBuf};

use super::install_record::FileRole;
use super::plan::{FileState, Plan};
use super::{InstallError, InstallTarget, SCRIPTED};
use crate::shell_kind::Shell;
use crate::shell_quote::shell_word;

/// The mark above the line.
const BEGIN: &str = "# >>> gate shell >>>";
/// The mark below the line.
const END: &str = "# <<< gate shell <<<";

/// Returns the shell of this person that can run `gate shell`; `None` if it is unknown, or has no script.
pub fn own_shell() -> Option<Shell> {
    let shell = Shell::of_path(std::env::var("SHELL").ok()?.as_str())?;
    SCRIPTED.contains(&shell).then_some(shell)
}

/// Plans the line in the settings of `shell`. If it was not requested, a note says how to get it.
pub(super) fn plan(
    repository: &InstallTarget,
    shell: Option<Shell>,
    binary: &Path,
    plan: &mut Plan,
) -> Result<(), InstallError> {
    let Some(chosen) = shell.or_else(own_shell) else { return Ok(()) };
    let Some(path) = settings_file(chosen) else { return Ok(()) };
    // A link to the real settings stays a link.
    let path = path.canonicalize().unwrap_or(path);
    let before = FileState::read(&path).map_err(InstallError::io(&path))?;
    let text = match &before {
        FileState::Missing => String::new(),
        FileState::File { bytes, .. } => match String::from_utf8(bytes.clone()) {
            Ok(text) => text,
            Err(_) => return Ok(()),
        },
        _ => return Ok(()),
    };
    if text.lines().any(|line| !line.trim_start().starts_with('#') && line.contains("gate shell")) {
        return Ok(());
    }
    let line = line_for(chosen, binary);
    if shell.is_none() {
        plan.notes.push(format!(
            "The test runs that you start yourself can count, too: `gate init --shell` adds this line to {}:\n  {line}",
            path.display()
        ));
        return Ok(());
    }
    let after = format!("{text}{}", block(&line));
    plan.notes.push(format!(
        "From the next {chosen} on, the runs of declared commands that you start yourself count, in all your repositories \
         with a gate.toml."
    ));
    let text = (before != FileState::Missing).then(String::new);
    plan.write_text(repository, &path, before, after, (FileRole::Shell, text));
    Ok(())
}

/// Returns the settings that an interactive shell of this person reads; `None` without a home directory.
fn settings_file(shell: Shell) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = folder("HOME");
    Some(match shell {
        Shell::Bash => home?.join(".bashrc"),
        Shell::Zsh => folder("ZDOTDIR").or(home)?.join(".zshrc"),
        Shell::Fish => {
            let config = folder("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")))?;
            config.join("fish/config.fish")
        }
        Shell::Sh | Shell::PowerShell | Shell::Cmd => return None,
    })
}

/// Returns the line that runs the script, and does nothing if the program is missing.
fn line_for(shell: Shell, binary: &Path) -> String {
    let program = binary.to_str().filter(|_| !super::clients::on_path("gate")).map_or("gate".to_owned(), shell_word);
    match shell {
        Shell::Fish => format!("command -v {program} >/dev/null; and {program} shell fish | source # gate shell"),
        shell => format!("command -v {program} >/dev/null && eval \"$({program} shell {shell})\" # gate shell"),
    }
}

/// Returns the text that is added to the end of a file. It can be removed again whatever the file ended with.
fn block(line: &str) -> String {
    format!("\n{BEGIN}\n{line}\n{END}\n")
}

/// Returns the text of settings without gate's lines, or `None` if only a part of them is there.
pub(super) fn without(text: &str) -> Option<String> {
    let Some(begin) = text.find(&format!("\n{BEGIN}\n")) else {
        return (!text.contains(BEGIN) && !text.contains(END)).then(|| text.to_owned());
    };
    let end = format!("\n{END}\n");
    let after = begin + text[begin..].find(&end)? + end.len();
    Some(format!("{}{}", &text[..begin], &text[after..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_comes_out_again_byte_for_byte() {
        for text in ["", "a", "a\n", "a\n\n", "é\nb"] {
            let with = format!("{text}{}", block("eval \"$(gate shell zsh)\""));
            assert_eq!(without(&with).as_deref(), Some(text));
            assert_eq!(without(&format!("{with}more\n")), Some(format!("{text}more\n")));
            assert_eq!(without(text).as_deref(), Some(text));
        }
        assert_eq!(without(&format!("\n{BEGIN}\nx\n")), None);
    }
}
