//! Lines that put the work aside for their checks: `git stash; npm test; git stash pop`.

use crate::command_line::purpose::Purpose;
use crate::command_line::understanding::understand;
use crate::runner::Project;
use crate::shell::expanded_program::Leaf;

use super::required_checks::only_prepares;

/// The flags of `git stash` with which it takes all changes of tracked files.
const FLAGS: [&str; 5] = ["push", "-q", "--quiet", "-u", "--include-untracked"];

/// Returns the line between `git stash` and `git stash pop`, if it begins and ends with these and git changes nothing else
/// in it.
pub fn between_stash_and_pop(line: &str, project: Project<'_>) -> Option<String> {
    if !line.contains("stash") {
        return None;
    }
    let understood = understand(line, project).ok()?;
    let steps: Vec<(&Leaf, &Purpose)> = understood.steps().collect();
    let is_stash = |leaf: &Leaf| leaf.argv.get(1).is_some_and(|word| word.text == "stash");
    let of_git = |(leaf, purpose): &&(&Leaf, &Purpose)| leaf.name() == Some("git") && (purpose.edits || is_stash(leaf));
    let found: Vec<&Leaf> = steps.iter().filter(of_git).map(|(leaf, _)| *leaf).collect();
    let [first, last] = found[..] else { return None };
    let words = |leaf: &Leaf| leaf.argv.iter().skip(1).map(|arg| arg.text.clone()).collect::<Vec<_>>();
    let takes_all = words(first).iter().skip(1).all(|flag| FLAGS.contains(&flag.as_str()));
    let is_plain = |leaf: &Leaf| leaf.wrappers.is_empty() && leaf.environment.is_empty() && !leaf.background;
    let begins =
        steps.iter().take_while(|(leaf, _)| leaf.text != first.text).all(|(leaf, one)| only_prepares(leaf, one));
    let ends = steps.last().is_some_and(|(leaf, _)| leaf.text == last.text);
    if !is_stash(first) || !takes_all || words(last) != ["stash", "pop"] || !begins || !ends {
        return None;
    }
    let (before, rest) = line.split_once(first.text.trim()).filter(|_| is_plain(first) && is_plain(last))?;
    let (between, after) = rest.rsplit_once(last.text.trim())?;
    Some(format!("{before}true{between}true{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_between_both() {
        for (line, expected) in [
            ("git stash -q; npm test; git stash pop", Some("true; npm test; true")),
            ("git stash && npm test; git stash pop", Some("true && npm test; true")),
            (
                "cd web && git stash push -u; npm test > /tmp/o 2>&1; echo $?; git stash pop",
                Some("cd web && true; npm test > /tmp/o 2>&1; echo $?; true"),
            ),
            ("git stash -q -- src; npm test; git stash pop", None),
            ("git stash --keep-index; npm test; git stash pop", None),
            ("git stash; npm test; git stash pop stash@{1}", None),
            ("git stash; git checkout x; npm test; git stash pop", None),
            ("npm test; git stash; git stash pop", None),
            ("git stash; npm test", None),
            ("git stash; npm test; git stash pop; npm run build", None),
        ] {
            assert_eq!(between_stash_and_pop(line, Project::without_runners(&())).as_deref(), expected, "{line}");
        }
    }
}
