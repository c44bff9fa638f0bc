//! The simplest command lines: words, quotes, assignments and `&&`. The shell analysis reads all others.

/// Returns the commands of a line that consists of simple commands joined by `&&`, as words; assignments before a
/// command are left out. `None`: the line holds anything else (a pipe, a substitution, a redirection, a pattern, …).
pub fn simple_commands(line: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => commands.last_mut()?.extend(word.take()),
            '&' if chars.next_if_eq(&'&').is_some() => {
                commands.last_mut()?.extend(word.take());
                commands.push(Vec::new());
            }
            '\'' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => text.push(c),
                    }
                }
            }
            '"' => {
                let text = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\' | '$' | '`') => text.push(c),
                            c => text.extend(['\\', c]),
                        },
                        '$' | '`' => return None,
                        c => text.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '$' if chars.peek().is_none_or(|next| *next == ' ') => word.get_or_insert_default().push(c),
            '$' | '`' | '|' | '&' | ';' | '<' | '>' | '(' | ')' | '{' | '}' | '#' | '!' | '\n' | '\r' => return None,
            // A pattern chooses files; the words it becomes are not known, but that it is an argument is.
            c => word.get_or_insert_default().push(c),
        }
    }
    commands.last_mut()?.extend(word);
    for command in &mut commands {
        let assignments = command.iter().take_while(|word| is_assignment(word)).count();
        command.drain(..assignments);
    }
    commands.iter().all(|command| !command.is_empty()).then_some(commands)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_no_shell() {
        for (line, expected) in [
            ("cargo test", Some(vec![vec!["cargo", "test"]])),
            ("A=1 B='x y' jest --ci && tsc -p .", Some(vec![vec!["jest", "--ci"], vec!["tsc", "-p", "."]])),
            (r#"pytest -k "a or b" 'c d' e\ f"#, Some(vec![vec!["pytest", "-k", "a or b", "c d", "e f"]])),
            ("go test -run '^$'", Some(vec![vec!["go", "test", "-run", "^$"]])),
            ("go test -run=^$ ./...", Some(vec![vec!["go", "test", "-run=^$", "./..."]])),
            ("a || b", None),
            ("a | b", None),
            ("a; b", None),
            ("a $X", None),
            ("a \"$X\"", None),
            ("a > b", None),
            ("a &", None),
            ("a &&", None),
            ("a 'b", None),
            ("", None),
        ] {
            let expected = expected.map(|commands| {
                commands.into_iter().map(|c| c.into_iter().map(str::to_owned).collect()).collect::<Vec<Vec<String>>>()
            });
            assert_eq!(simple_commands(line), expected, "{line}");
        }
    }
}
