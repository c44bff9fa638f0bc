//! Scripts of `sed` that remove the codes of colours: that changes no word.

use std::sync::LazyLock;

use regex::Regex;

/// The pattern of an escape sequence. It matches nothing but such sequences: after the brackets of its parameters comes one
/// letter.
static SEQUENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:\\x1[bB]|\\o?033|\\e|\x1b)(?:\\\[|\[\[\])\(?(?:\[[0-9;:?-]+\]|[0-9;]|\\?[(){}*+?,])*(?:[a-zA-Z]|\[[a-zA-Z-]+\])$",
    )
    .ok()
});

/// Returns `true` if a script removes escape sequences and nothing else: `s/\x1b\[[0-9;]*m//g`.
pub(super) fn removes_colours(script: &str) -> bool {
    let removed = || {
        let rest = script.strip_prefix('s')?;
        let separator = rest.chars().next().filter(|sign| "/|,#@".contains(*sign))?;
        let (pattern, flags) = rest[1..].split_once(separator)?;
        matches!(flags.strip_prefix(separator)?, "" | "g").then_some(pattern)
    };
    removed().is_some_and(|pattern| SEQUENCE.as_ref().is_some_and(|sequence| sequence.is_match(pattern)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_remove_colours() {
        for script in [
            r"s/\x1b\[[0-9;]*m//g",
            r"s/\x1B\[[0-9;]*[a-zA-Z]//g",
            r"s/\x1B\[([0-9]{1,3}(;[0-9]{1,2})?)?[mGK]//g",
            r"s/\x1b\[[0-9;]*m//",
            r"s|\x1b\[[0-9;]*m||g",
            r"s/\o033\[[0-9;]*m//g",
            r"s/\x1b\[[0-9;]\+m//g",
            "s/\u{1b}\\[[0-9;]*m//g",
        ] {
            assert!(removes_colours(script), "{script}");
        }
        for script in [
            r"s/\x1b.*//g",
            r"s/\x1b\[.*m//g",
            r"s/\x1b\[[0-9a-z ]*m//g",
            r"s/\x1b\[[^x]*m//g",
            r"s/\x1b\[[0-9;]*m.*//g",
            r"s/\x1b\[[0-9;]*m//g;s/failed/passed/",
            r"s/\x1b\[[0-9;]*m/ok/g",
            r"s/\x1b\[[0-9;]*m//w x",
            r"s/\\x1b\[[0-9;]*m//g",
            r"s/\x1b\[0m|failed//g",
            r"s/failed//",
            r"/\x1b\[31m/d",
        ] {
            assert!(!removes_colours(script), "{script}");
        }
    }
}
