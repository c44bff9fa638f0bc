//! Quoting of texts as words of a POSIX shell.

/// Quotes `text` if a shell would not read it as one word.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%=:,^~".contains(c);
    // A shell replaces `~` in front by a home folder, and zsh `=` by the path of a program.
    if !text.is_empty() && !text.starts_with(['~', '=']) && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Joins texts to a line that a shell splits into the same words.
pub fn shell_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(shell_word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_act_upon_is_quoted() {
        for (text, word) in [
            ("feature/a-1.2", "feature/a-1.2"),
            ("x$(id);y", "'x$(id);y'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("~", "'~'"),
            ("=ls", "'=ls'"),
            ("HEAD~1", "HEAD~1"),
            ("a&b", "'a&b'"),
            ("über", "'über'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
