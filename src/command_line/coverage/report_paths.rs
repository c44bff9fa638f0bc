//! The report files that the options of a runner name: `--junitxml=report.xml`.

use crate::command_line::purpose::Purpose;
use crate::runner::Catalogue;
use crate::shell::expanded_program::Leaf;

/// Returns the files that a command writes because its options name them, as the line has them.
pub(super) fn report_paths(leaf: &Leaf, purpose: &Purpose, catalogue: &Catalogue) -> Vec<String> {
    let runners = purpose.runs().filter_map(|id| catalogue.runner(id));
    let options: Vec<&String> = runners.flat_map(|runner| &runner.arguments.writes).collect();
    let mut found = Vec::new();
    for (at, arg) in leaf.argv.iter().enumerate() {
        let next = leaf.argv.get(at + 1).and_then(|next| next.literal());
        let Some(word) = arg.literal() else { continue };
        found.extend(options.iter().find_map(|option| value_of(option, word, next)).map(str::to_owned));
    }
    found
}

/// Returns the value of an option, if `word` is that option; `next` is the word after it.
fn value_of<'w>(option: &str, word: &'w str, next: Option<&'w str>) -> Option<&'w str> {
    let (name, start) = option.split_once('=').unwrap_or((option, ""));
    let rest = word.strip_prefix(name)?;
    let value = if rest.is_empty() { next? } else { rest.strip_prefix('=')? };
    value.strip_prefix(start).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_both_forms() {
        for (option, word, next, expected) in [
            ("--junitxml", "--junitxml=a.xml", None, Some("a.xml")),
            ("--junitxml", "--junitxml", Some("a.xml"), Some("a.xml")),
            ("--junitxml", "--junitxmlx", Some("a.xml"), None),
            ("--junitxml", "--junitxml=", Some("a.xml"), None),
            ("--cov-report=xml:", "--cov-report=xml:c.xml", None, Some("c.xml")),
            ("--cov-report=xml:", "--cov-report", Some("term"), None),
            ("-coverprofile", "-coverprofile", Some("c.out"), Some("c.out")),
        ] {
            assert_eq!(value_of(option, word, next), expected, "{option} {word}");
        }
    }
}
