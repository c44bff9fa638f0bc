//! The words by which a command line differs from a declared command, for a message.

/// Returns in a few words how `line` differs from the declared command `run`, or `None` if it is another command
/// altogether.
pub fn command_difference(line: &str, run: &str) -> Option<String> {
    let (line, run) = (without_parentheses(line.trim()), run.trim());
    let (first, then) = line.split_once("&&").or(line.split_once(';')).unwrap_or((line, ""));
    if let Some(folder) = first.strip_prefix("cd ") {
        // An absolute path is mostly that of the working tree.
        return if folder.starts_with('/') {
            command_difference(then, run)
        } else {
            then.trim().starts_with(first_word(run)).then(|| format!("it runs in {}", folder.trim()))
        };
    }
    if let Some(file) = first.strip_prefix("source ").or(first.strip_prefix(". ")) {
        return Some(format!("it first reads {}", first_word(file)));
    }
    let (variables, rest) = assignments(line);
    if !variables.is_empty() {
        return rest.starts_with(first_word(run)).then(|| format!("it sets {}", variables.join(", ")));
    }
    let added = rest.strip_prefix(run).filter(|added| added.starts_with(' '))?;
    let added = added.split(['|', ';', '&', '>']).next().unwrap_or(added).trim_end_matches(" 2").trim();
    (!added.is_empty()).then(|| format!("it adds {added}"))
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
            ("pytest --lf 2>&1 | tail -3", Some("it adds --lf")),
            ("pytest --lf; git status --short", Some("it adds --lf")),
            ("pytest | tail -3", None),
            ("cd /work/repo && pytest --lf", Some("it adds --lf")),
            ("cd /work/repo && pytest", None),
            ("source ./env.sh && pytest", Some("it first reads ./env.sh")),
            ("tox -e py311", None),
            ("A=1 tox", None),
            ("cd web && npm test", None),
            ("pytest2", None),
        ] {
            assert_eq!(command_difference(line, "pytest").as_deref(), said, "{line}");
        }
    }
}
