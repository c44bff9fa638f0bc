//! The shells that run command lines, and the signs by which a line shows its shell.

use std::borrow::Cow;

use super::expanded_program::{InputSource, Program};
use crate::shell_kind::Shell;

/// Returns the shell of a line that a POSIX shell could read too, if its words are those of another one.
pub fn of(line: &str, program: &Program) -> Option<Shell> {
    if program.leaves.iter().filter_map(|leaf| leaf.name()).any(is_cmdlet) {
        return Some(Shell::PowerShell);
    }
    // Its pipes say of their commands something else than those of a shell.
    let pipes = program.leaves.iter().any(|leaf| matches!(leaf.stdin, InputSource::Pipe(_)));
    if pipes && matches!(with_slashes(line), Cow::Owned(_)) {
        return Some(Shell::PowerShell);
    }
    of_text(line).filter(|_| !line.contains("<<"))
}

/// Returns the line with slashes in the paths of its programs: `.\gradlew.bat test` names a program in the shells of
/// Windows and nothing in any other.
pub fn with_slashes(line: &str) -> Cow<'_, str> {
    let is_path = |word: &str| {
        word.strip_prefix(".\\").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.'))
    };
    let mut out = String::new();
    let mut rest = line;
    let mut found = false;
    loop {
        let start = rest.trim_start_matches([' ', '\t', '\n', '&', ';', '|', '(']);
        let end = start.find([' ', '\t', '\n', '&', ';', '|', ')']).unwrap_or(start.len());
        let (word, after) = start.split_at(end);
        out += &rest[..rest.len() - start.len()];
        if is_path(word) {
            found = true;
            // PowerShell starts a program by `& path`, too.
            if out.ends_with("& ") && out.trim_end_matches("& ").is_empty() {
                out.clear();
            }
            out += &word.replace('\\', "/");
        } else {
            out += word;
        }
        let Some(next) = after.find(['\n', '&', ';', '|']) else {
            out += after;
            break;
        };
        out += &after[..next];
        rest = &after[next..];
    }
    if found { Cow::Owned(out) } else { Cow::Borrowed(line) }
}

/// Returns the shell that the text itself shows.
pub fn of_text(line: &str) -> Option<Shell> {
    const POWERSHELL: [&str; 9] = [
        "$env:", "$LASTEXITCODE", "$PSScriptRoot", "-ErrorAction ", "| Out-", "| Select-", "| Where-", "| ForEach-",
        "$PSVersionTable",
    ];
    let starts_with_cmdlet =
        line.split(['|', ';', '\n']).any(|part| part.split_whitespace().next().is_some_and(is_cmdlet));
    if starts_with_cmdlet || POWERSHELL.iter().any(|text| line.contains(text)) {
        return Some(Shell::PowerShell);
    }
    let lower = line.to_ascii_lowercase();
    let prompt =
        ["%errorlevel%", "if exist ", "if errorlevel", "set /a ", "set /p ", "@echo off", "2>nul", "1>nul", ">nul "];
    if prompt.iter().any(|text| lower.contains(text)) {
        return Some(Shell::Cmd);
    }
    None
}

/// Returns `true` if a word is `Verb-Noun` with one of PowerShell's approved verbs.
fn is_cmdlet(word: &str) -> bool {
    const VERBS: [&str; 31] = [
        "Add", "Clear", "Close", "Compare", "Convert", "ConvertFrom", "ConvertTo", "Copy", "Expand", "Export",
        "ForEach", "Format", "Get", "Group", "Import", "Invoke", "Join", "Measure", "Move", "New", "Out", "Read",
        "Remove", "Rename", "Resolve", "Select", "Set", "Sort", "Start", "Test", "Where",
    ];
    let Some((verb, noun)) = word.split_once('-') else {
        return false;
    };
    (VERBS.contains(&verb) || matches!(verb, "Write" | "Stop" | "Split" | "Tee" | "Wait" | "Push" | "Pop"))
        && noun.starts_with(|c: char| c.is_ascii_uppercase())
        && noun.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_windows() {
        for (line, want) in [
            (r".\gradlew.bat test", "./gradlew.bat test"),
            (r"cd app; .\mvnw.cmd -q verify", "cd app; ./mvnw.cmd -q verify"),
            (r"& .\build.ps1 -T x", "./build.ps1 -T x"),
            (r"cd app && .\gradlew test", "cd app && ./gradlew test"),
            (r"grep -n .\* a.txt; ls", r"grep -n .\* a.txt; ls"),
            ("echo a\\ b | cat", "echo a\\ b | cat"),
        ] {
            assert_eq!(with_slashes(line), want);
        }
    }

    #[test]
    fn other_shells_are_recognised() {
        for (line, want) in [
            ("Get-ChildItem -Recurse | Select-Object -First 3", Some(Shell::PowerShell)),
            ("$env:CI=1; cargo test", Some(Shell::PowerShell)),
            ("cargo test; if ($LASTEXITCODE -ne 0) { exit 1 }", Some(Shell::PowerShell)),
            ("cargo test 2>&1 | Out-String", Some(Shell::PowerShell)),
            ("set CI=1 && npm test 2>nul", Some(Shell::Cmd)),
            ("npm test & echo %ERRORLEVEL%", Some(Shell::Cmd)),
            ("cargo test 2>/dev/null", None),
            ("./Build-all.sh", None),
            ("git commit -m 'Set-up done'", None),
        ] {
            assert_eq!(of_text(line), want, "{line}");
        }
    }
}
