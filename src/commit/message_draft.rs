//! A message that is still a file: removes the lines that git drops before it makes the commit.

/// Returns the message that git will keep of a file that it passes to `commit-msg`.
///
/// Everything from the scissors line on is removed; so are comment lines. Git keeps lines that begin with the comment
/// character if the message came from `-m`, which no hook can see. So only lines are removed in which the character is
/// alone or before a blank, as in everything git itself writes: `#12 is fixed` stays.
pub fn clean(text: &str, comment: &str) -> String {
    let comment = if comment.is_empty() { "#" } else { comment };
    let mut kept: Vec<&str> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix(comment) {
            if rest.contains(" >8 ") && rest.trim().trim_matches('-').trim() == ">8" {
                break;
            }
            if rest.is_empty() || rest.starts_with([' ', '\t']) {
                continue;
            }
        }
        kept.push(line.trim_end());
    }
    let text = kept.join("\n");
    text.trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_scissors_go() {
        for (text, comment, expected) in [
            ("fix: a\n", "#", "fix: a"),
            ("fix: a\n# Please enter the message\n#\n#\tmodified: x\n", "#", "fix: a"),
            ("\n\nfix: a\n\nbody  \n# x\nmore\n", "#", "fix: a\n\nbody\nmore"),
            ("#12 fix\n# comment\n", "#", "#12 fix"),
            ("fix: a\n# ------------------------ >8 ------------------------\ndiff --git a b\n+x\n", "#", "fix: a"),
            ("fix: a\n; ------------------------ >8 ------------------------\n+x\n", ";", "fix: a"),
            ("fix: a\n; comment\n# kept\n", ";", "fix: a\n# kept"),
            ("# only\n# comments\n", "#", ""),
            ("fix: >8 is fine\n", "#", "fix: >8 is fine"),
        ] {
            assert_eq!(clean(text, comment), expected, "{text:?}");
        }
    }
}
