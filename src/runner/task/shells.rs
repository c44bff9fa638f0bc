//! Programs to which task runners give their lines.

/// Returns `true` if a program with these options runs the lines that it gets.
pub(super) fn runs_lines(program: &str, options: &[&str]) -> bool {
    names_a_shell(program) && are_plain(options)
}

/// Returns `true` if a shell with these options runs what it gets: they are options, the last of which is `-c`.
pub(super) fn are_plain(options: &[&str]) -> bool {
    let is_option_word = |(at, word): (usize, &&str)| {
        word.starts_with(['-', '+', '$', '/']) || at > 0 && options[at - 1].ends_with(['o', 'O'])
    };
    let reads = |word: &&str| has_letter(word, 'n') || **word == *"noexec";
    let takes_line = |last: &&str| {
        last.starts_with('$') || last.eq_ignore_ascii_case("/c") || last.starts_with("-C") || has_letter(last, 'c')
    };
    options.last().is_none_or(takes_line)
        && options.iter().enumerate().all(is_option_word)
        && !options.iter().any(reads)
}

/// Returns `true` if a word of options has this letter.
pub(super) fn has_letter(word: &str, letter: char) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-') && letters.len() < 8);
    letters.is_some_and(|letters| letters.contains(letter) && !letters.starts_with("No"))
}

/// Returns `true` if the program that a value names is a shell; of a value with a variable, any part of it.
pub(super) fn names_a_shell(value: &str) -> bool {
    const SHELLS: [&str; 12] =
        ["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "busybox", "fish", "cmd", "pwsh", "powershell"];
    let is_shell = |name: &str| {
        let name = name.to_ascii_lowercase();
        SHELLS.contains(&name.strip_suffix(".exe").unwrap_or(&name))
    };
    if value.contains('$') {
        return value.split(|c: char| !(c.is_alphanumeric() || c == '.')).any(is_shell);
    }
    let name = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned).unwrap_or_default();
    let mut words = value.trim().trim_matches('"').split_whitespace().map(name);
    words
        .find(|word| word != "env" && !word.starts_with('-') && !word.contains('='))
        .is_some_and(|name| is_shell(&name))
}
