//! Pushes that went around the gate: movements of remote-tracking refs without a verdict that allowed the push.

use jiff::SignedDuration;

use crate::event::pushes::{PushVerdict, SeenPush};

/// The largest time by which a verdict may seem later than its push: git writes whole seconds.
const SLACK: SignedDuration = SignedDuration::from_secs(2);

/// Returns `true` for each of `pushes`, given in their order, that has no verdict of its own: each verdict allows one
/// push on each ref.
pub fn without_verdict(pushes: &[SeenPush], verdicts: &[PushVerdict]) -> Vec<bool> {
    let mut used: Vec<(usize, &str)> = Vec::new();
    let mut found = Vec::with_capacity(pushes.len());
    for push in pushes {
        let until = push.at.checked_add(SLACK).unwrap_or(push.at);
        let fits = |(at, verdict): &(usize, &PushVerdict)| {
            verdict.at <= until
                && verdict.is_about(&push.tracking, &push.new)
                && !used.contains(&(*at, push.tracking.as_str()))
        };
        let verdict = verdicts.iter().enumerate().find(fits).map(|(at, _)| at);
        used.extend(verdict.map(|at| (at, push.tracking.as_str())));
        found.push(verdict.is_none());
    }
    found
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::event::pushes::PushedRef;
    use crate::oid::Oid;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).unwrap()
    }

    fn commit(digit: &str) -> Oid {
        digit.repeat(40).parse().unwrap()
    }

    fn push(branch: &str, digit: &str, second: i64) -> SeenPush {
        SeenPush { tracking: format!("refs/remotes/origin/{branch}"), new: commit(digit), at: at(second) }
    }

    fn verdict(branch: &str, digit: &str, second: i64) -> PushVerdict {
        let reference = format!("refs/heads/{branch}");
        let pushed = vec![PushedRef { remote: "origin".to_owned(), reference, new: Some(commit(digit)) }];
        PushVerdict { at: at(second), pushed, commits: vec![commit(digit)] }
    }

    #[test]
    fn a_verdict_is_about_one_push() {
        let old = PushVerdict { pushed: Vec::new(), ..verdict("x", "a", 0) };
        for (pushes, verdicts, expected) in [
            (vec![push("x", "a", 5)], vec![verdict("x", "a", 5)], vec![false]),
            (vec![push("x", "a", 5)], vec![], vec![true]),
            // Another ref, and the same commit later.
            (vec![push("x", "a", 5), push("main", "a", 6)], vec![verdict("x", "a", 4)], vec![false, true]),
            (vec![push("x", "a", 5), push("y", "a", 9)], vec![verdict("y", "a", 9)], vec![true, false]),
            (
                vec![push("x", "a", 5), push("x", "b", 7), push("x", "a", 9)],
                vec![verdict("x", "a", 5), verdict("x", "b", 7)],
                vec![false, false, true],
            ),
            (vec![push("x", "a", 5), push("x", "a", 20)], vec![verdict("x", "a", 20)], vec![true, false]),
            // A record of an earlier version names commits alone.
            (vec![push("x", "a", 5), push("x", "b", 6)], vec![old], vec![false, true]),
        ] {
            assert_eq!(without_verdict(&pushes, &verdicts), expected, "{pushes:?}");
        }
    }
}
