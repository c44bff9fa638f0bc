//! Calls that two runners claim: nothing but the order of their names would decide between them.

use crate::runner::catalogue::Catalogue;
use crate::runner::runner_definition::{Invoke, Runner};

/// A call that two runners claim alike.
#[derive(Debug, PartialEq, Eq)]
pub struct AmbiguousCall {
    /// The program and the words that must follow.
    pub call: String,
    /// The id of the other runner.
    pub by: String,
}

/// Returns the call of `invoke`, a way to start `runner`, that another runner of the catalogue claims as well.
pub fn claimed_by_other(catalogue: &Catalogue, runner: &Runner, invoke: &Invoke) -> Option<AmbiguousCall> {
    let mut others = invoke.program.iter().flat_map(|program| catalogue.starts(program));
    others.find_map(|other| claimed((runner, invoke), other))
}

fn claimed((one, mine): (&Runner, &Invoke), (other, theirs): (&Runner, &Invoke)) -> Option<AmbiguousCall> {
    let program = mine.program.iter().find(|program| theirs.program.contains(program))?;
    if one.id == other.id || mine.weight(one) != theirs.weight(other) || !overlap(mine, theirs) {
        return None;
    }
    let words: Vec<&str> = std::iter::once(program).chain(&mine.words).map(String::as_str).collect();
    Some(AmbiguousCall { call: words.join(" "), by: other.id.clone() })
}

/// Returns `true` if the same words may be those of both. They are equally many, because the weights are equal.
fn overlap(mine: &Invoke, theirs: &Invoke) -> bool {
    if mine.anywhere || theirs.anywhere {
        return mine.words.iter().all(|word| theirs.words.iter().any(|other| may_be_equal(word, other)));
    }
    mine.words.iter().zip(&theirs.words).all(|(word, other)| may_be_equal(word, other))
}

fn may_be_equal(one: &str, other: &str) -> bool {
    one.split('|').any(|one| other.split('|').any(|other| is_met(one, other) || is_met(other, one)))
}

/// Returns `true` if a word meets a pattern of [`Invoke::words`].
pub(super) fn is_met(pattern: &str, word: &str) -> bool {
    match pattern {
        "*" => !word.starts_with('-'),
        _ => {
            pattern == word
                || pattern.strip_prefix('*').is_some_and(|end| word.ends_with(end))
                || pattern.strip_suffix('*').is_some_and(|start| word.starts_with(start))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str =
        "id = \"crystal spec\"\nkinds = [\"test\"]\n[[invoke]]\nprogram = [\"crystal\"]\nwords = [\"spec\"]\n";

    #[test]
    fn two_runners_may_not_claim_one_call() {
        for (words, alike) in [
            ("[\"spec\"]", true),
            ("[\"run|spec\"]", true),
            ("[\"s*\"]", true),
            ("[\"*\"]", true),
            ("[\"build\"]", false),
            ("[\"spec\", \"all\"]", false),
            ("[]", false),
        ] {
            let other = SPEC.replace("crystal spec", "my runner").replace("[\"spec\"]", words);
            let (one, other): (Runner, Runner) = (toml::from_str(SPEC).unwrap(), toml::from_str(&other).unwrap());
            let claimed = claimed((&one, &one.invoke[0]), (&other, &other.invoke[0]));
            let expected = AmbiguousCall { call: "crystal spec".to_owned(), by: "my runner".to_owned() };
            assert_eq!(claimed, alike.then_some(expected), "{words}");
        }
    }

    #[test]
    fn no_two_runners_of_the_binary_claim_one_call() {
        let catalogue = Catalogue::embedded();
        for runner in catalogue.runners() {
            for invoke in &runner.invoke {
                assert_eq!(claimed_by_other(catalogue, runner, invoke), None, "{}", runner.id);
            }
        }
    }
}
