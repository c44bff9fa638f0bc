//! What a reply ruled out and the agent did all the same.

use crate::verdict::escalation::history::Done;

/// The items of `ruled_out` that one of `acts` repeats, each with what was done. An item names a command line or a path
/// as code (`` `pytest -k clock` ``), or is one as a whole; words around it are for people and not compared.
pub fn repeated<'a>(ruled_out: &'a [String], acts: &[Done]) -> Vec<&'a str> {
    ruled_out
        .iter()
        .filter(|item| named(item).iter().any(|name| acts.iter().any(|act| is(act, name))))
        .map(String::as_str)
        .collect()
}

/// What stands in an item as code; the item itself where nothing does.
fn named(item: &str) -> Vec<String> {
    let code: Vec<String> = item.split('`').skip(1).step_by(2).map(plain).filter(|code| !code.is_empty()).collect();
    if code.is_empty() { vec![plain(item)] } else { code }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is(act: &Done, name: &str) -> bool {
    match act {
        Done::Ran(line, _) => plain(line) == name,
        Done::Edited(paths) => paths.iter().any(|path| path.to_string() == name),
        Done::Refused(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo_path::RepoPath;

    #[test]
    fn a_command_or_a_path_that_was_ruled_out() {
        let acts = [
            Done::Ran("pytest  -k clock".to_owned(), None),
            Done::Edited(vec![RepoPath::from("src/pool.rs")]),
            Done::Refused(5),
        ];
        for (item, hit) in [
            ("`pytest -k clock` again", true),
            ("pytest -k clock", true),
            ("editing `src/pool.rs`", true),
            ("src/pool.rs", true),
            ("`pytest`", false),
            ("do not touch the clock", false),
            ("", false),
        ] {
            let items = [item.to_owned()];
            assert_eq!(!repeated(&items, &acts).is_empty(), hit, "{item}");
        }
    }
}
