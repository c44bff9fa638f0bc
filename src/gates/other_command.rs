//! The words by which a command line differs from a declared command, for a message.

/// Returns in a few words how `line` differs from the declared command `run`, or `None` if it is another command
/// altogether.
pub(super) fn difference(line: &str, run: &str) -> Option<String> {
    let (line, run) = (without_parentheses(line.trim()), run.trim());
    if let Some((folder, rest)) =
        line.strip_prefix("cd ").and_then(|rest| rest.split_once("&&").or(rest.split_once(';')))
    {
        let same = rest.trim().starts_with(first_word(run));
        return same.then(|| format!("it runs in {}", folder.trim()));
    }
    let (variables, rest) = assignments(line);
    if !variables.is_empty() {
        return rest.starts_with(first_word(run)).then(|| format!("it sets {}", variables.join(", ")));
    }
    let added = rest.strip_prefix(run).filter(|added| added.starts_with(' '))?;
    Some(format!("it adds {}", added.trim()))
}

fn without_parentheses(line: &str) -> &str {
    line.strip_prefix('(').and_then(|line| line.strip_suffix(')')).unwrap_or(line).trim()
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

/// Splits the names of the variables that a line sets for its command, also with `env`, from the command.
fn assignments(line: &str) -> (Vec<&str>, &str) {
    let mut rest = line.strip_prefix("env ").unwrap_or(line).trim_start();
    let mut names = Vec::new();
    while let Some((name, _)) = first_word(rest).split_once('=').filter(|(name, _)| is_name(name)) {
        names.push(name);
        rest = rest[first_word(rest).len()..].trim_start();
    }
    (names, rest)
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_said_in_a_few_words() {
        for (line, said) in [
            ("PYTHONPATH=src pytest", Some("it sets PYTHONPATH")),
            ("env A=1 B=2 pytest -q", Some("it sets A, B")),
            ("cd tests && pytest -q ..", Some("it runs in tests")),
            ("(cd tests; pytest)", Some("it runs in tests")),
            ("pytest --lf -q", Some("it adds --lf -q")),
            ("tox -e py311", None),
            ("A=1 tox", None),
            ("cd web && npm test", None),
            ("pytest2", None),
        ] {
            assert_eq!(difference(line, "pytest").as_deref(), said, "{line}");
        }
    }
}
