//! Lines for shells outside the Bourne family, read as the bash line that does the same.
//!
//! Only parts with the same meaning in both are read: commands, `;`, `&&`, `||`, redirections, and the shell's own
//! names for statuses. Any other line implies nothing.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::Regex;

use crate::shell_kind::Shell;

/// Returns the line as bash would write it; `None` if the shell may do something else with it.
pub(super) fn as_bash(line: &str, shell: Shell) -> Option<Cow<'_, str>> {
    match shell {
        Shell::Bash | Shell::Zsh | Shell::Sh => Some(Cow::Borrowed(line)),
        Shell::Fish => fish(line),
        Shell::PowerShell => powershell(line),
        Shell::Cmd => cmd(line),
    }
}

fn pattern(cell: &'static OnceLock<Option<Regex>>, text: &str) -> Option<&'static Regex> {
    cell.get_or_init(|| Regex::new(text).ok()).as_ref()
}

fn fish(line: &str) -> Option<Cow<'_, str>> {
    const OTHER: [&str; 20] = [
        "set", "if", "else", "end", "for", "while", "switch", "case", "begin", "function", "return", "break",
        "continue", "source", ".", "eval", "trap", "wait", "builtin", "status",
    ];
    static LISTS: OnceLock<Option<Regex>> = OnceLock::new();
    static STATUS: OnceLock<Option<Regex>> = OnceLock::new();
    let lists = pattern(&LISTS, r"[;\n]\s*(and|or)\s+")?;
    let status = pattern(&STATUS, r"\$(?:status\b|pipestatus\[([1-9])\])")?;
    let rewritten =
        lists.replace_all(line, |found: &regex::Captures<'_>| if &found[1] == "and" { " && " } else { " || " });
    let without = status.replace_all(&rewritten, "");
    if !is_plain(&without, &['$', '(', ')', '{', '}', '`', '\\', '^'], true) || starts_with_any(&without, &OTHER) {
        return None;
    }
    let read = status.replace_all(&rewritten, |found: &regex::Captures<'_>| match found.get(1) {
        None => "$?".to_owned(),
        Some(index) => format!("${{PIPESTATUS[{}]}}", index.as_str().parse::<usize>().unwrap_or(1) - 1),
    });
    Some(Cow::Owned(read.into_owned()))
}

fn powershell(line: &str) -> Option<Cow<'_, str>> {
    static END: OnceLock<Option<Regex>> = OnceLock::new();
    let end = pattern(
        &END,
        r"(?i)[;\n]\s*(?:exit \$LASTEXITCODE|if \(\s*\$LASTEXITCODE -ne 0\s*\) \{\s*exit (?:\$LASTEXITCODE|1)\s*\})\s*;?\s*$",
    )?;
    let body = end.replace(line, "");
    let other = ['$', '(', ')', '{', '}', '`', '|', '<', '%', '@', '#', '\\'];
    // `||` is read, a pipe is not.
    let is_read = is_plain(&body.replace("||", "&&"), &other, true);
    let keywords =
        ["if", "for", "foreach", "while", "do", "switch", "try", "function", "return", "trap", "throw", "set"];
    if !is_read || body.contains("&>") || starts_with_any(&body, &keywords) {
        return None;
    }
    let last = if body.len() < line.len() { "; exit $?" } else { "" };
    Some(Cow::Owned(format!("{body}{last}")))
}

fn cmd(line: &str) -> Option<Cow<'_, str>> {
    let other = ['$', '(', ')', '%', '^', '!', '\'', '`', '|', '<', '\\', '\n', ';', '#', '*', '?'];
    let keywords = ["if", "for", "set", "call", "goto", "setlocal", "start", "exit", "rem"];
    if line.contains("&>") || !is_plain(&line.replace("||", "&&"), &other, false) || starts_with_any(line, &keywords) {
        return None;
    }
    // One command after the other, whatever became of the first.
    let parts: Vec<String> = line.split("&&").map(|part| part.replace(" & ", " ; ")).collect();
    Some(Cow::Owned(parts.join("&&")))
}

/// Returns `true` if none of the characters is outside of single quotes, and no `&` but in `&&` and redirections.
fn is_plain(line: &str, other: &[char], background_is_other: bool) -> bool {
    let (mut quoted, mut before) = (false, ' ');
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\'' && !other.contains(&'\'') {
            quoted = !quoted;
        }
        if quoted {
            before = c;
            continue;
        }
        let next = rest.peek().copied();
        let background = c == '&' && before != '&' && next != Some('&') && before != '>' && next != Some('>');
        if other.contains(&c) || (background && background_is_other) || (c == '&' && before == '|') {
            return false;
        }
        before = c;
    }
    !quoted && !line.contains("<<")
}

/// Returns `true` if one of the commands of the line is one of these words.
fn starts_with_any(line: &str, words: &[&str]) -> bool {
    line.split([';', '\n', '|', '&'])
        .filter_map(|part| part.split_whitespace().next())
        .any(|word| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_shells_are_read_where_they_mean_the_same() {
        for (shell, line, want) in [
            (Shell::Fish, "npm test", Some("npm test")),
            (Shell::Fish, "npm test; and echo yes", Some("npm test && echo yes")),
            (Shell::Fish, "npm test | tail -3; exit $pipestatus[1]", Some("npm test | tail -3; exit ${PIPESTATUS[0]}")),
            (Shell::Fish, "npm test; exit $status", Some("npm test; exit $?")),
            (Shell::Fish, "npm test | tail -3; exit ${PIPESTATUS[0]}", None),
            (Shell::Fish, "if npm test; echo; end", None),
            (Shell::Fish, "npm test &", None),
            (Shell::PowerShell, "npm test", Some("npm test")),
            (Shell::PowerShell, "npm test; exit $LASTEXITCODE", Some("npm test; exit $?")),
            (Shell::PowerShell, "npm test | Select-Object -Last 3", None),
            (Shell::PowerShell, "npm test; Write-Host done", Some("npm test; Write-Host done")),
            (Shell::Cmd, "npm test && npm run lint", Some("npm test && npm run lint")),
            (Shell::Cmd, "npm test & npm run lint", Some("npm test ; npm run lint")),
            (Shell::Cmd, "npm test & exit /b 0", None),
            (Shell::Cmd, "npm test > %TEMP%\\x", None),
        ] {
            assert_eq!(as_bash(line, shell).as_deref(), want, "{shell}: {line}");
        }
    }
}
