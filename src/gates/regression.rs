//! The gate `regression`: the tests of a change fail without it and pass with it.

use std::collections::BTreeMap;

use minijinja::{Value, context};

use super::finding::{Answer, Finding};
use super::{GateKind, NoParams, can_be_read, finding_text};
use crate::event::red_green::MAX_NAMES;
use crate::fact::Facts;
use crate::fact::regression::{self, ChangedTest, ProofFact, TestedChange};
use crate::policy::{Gate, Policy};
use crate::shell_quote::shell_word;

/// The kind `regression`.
pub const KIND: GateKind =
    GateKind { name: regression::GATE, words: "regression", check: can_be_read::<NoParams>, evaluate };

/// The maximum number of names in a sentence.
const MAX_SHOWN: usize = 3;

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    facts.tested_changes.iter().map(|change| ProofCase::of(gate, change).answer()).collect()
}

/// Returns the declared commands, by name, with which a proof is missing at the moment of `facts`.
pub fn unproven<'f>(policy: &'f Policy, facts: &'f Facts) -> Vec<&'f str> {
    let mut commands = Vec::new();
    for gate in policy.gates_of(KIND.name, facts.moment) {
        for change in facts.tested_changes.iter().filter(|change| !change.only_tests) {
            commands.extend(ProofCase::of(gate, change).unproven().iter().filter_map(|test| command_of(test)));
        }
    }
    commands.sort_unstable();
    commands.dedup();
    commands
}

fn command_of(test: &ChangedTest) -> Option<&str> {
    test.commands.first().map(String::as_str)
}

/// The fate of a test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TestFate {
    Proven,
    Indifferent,
    Failing,
    Unknown,
}

/// One change and the proofs that count.
struct ProofCase<'a> {
    gate: &'a Gate,
    change: &'a TestedChange,
    proofs: Vec<&'a ProofFact>,
    /// The fate of each test that a proof names, by that name; the newest proof decides.
    fates: BTreeMap<&'a str, TestFate>,
}

impl<'a> ProofCase<'a> {
    fn of(gate: &'a Gate, change: &'a TestedChange) -> Self {
        let proofs: Vec<_> = change.proofs.iter().filter(|proof| proof.grade >= gate.min_grade).collect();
        let mut fates = BTreeMap::new();
        for proof in &proofs {
            let kinds = [TestFate::Proven, TestFate::Indifferent, TestFate::Failing, TestFate::Unknown];
            for (list, fate) in proof.results.lists().into_iter().zip(kinds) {
                for name in list {
                    fates.entry(name.as_str()).or_insert(fate);
                }
            }
        }
        Self { gate, change, proofs, fates }
    }

    fn answer(&self) -> Finding {
        let unproven = self.unproven();
        let of = |fate: TestFate| {
            let names = self.fates.iter().filter(|(_, known)| **known == fate);
            names.map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>()
        };
        let (proven, indifferent, failing) = (of(TestFate::Proven), of(TestFate::Indifferent), of(TestFate::Failing));
        let unknown = [of(TestFate::Unknown), self.unseen()].concat();
        if self.change.only_tests {
            self.say("only-tests", Answer::Pass, &[])
        } else if !unproven.is_empty() {
            let command = unproven.iter().find_map(|test| command_of(test));
            let names: Vec<_> = unproven.iter().map(|test| shown(test)).collect();
            self.say_of("unproven", Answer::Fail, &names, command, context! {})
        } else if !failing.is_empty() {
            self.say("not-passing", Answer::Fail, &failing)
        } else if proven.is_empty() && indifferent.is_empty() {
            self.say("not-known", Answer::Unknown, &unknown)
        } else if proven.is_empty() {
            self.say("shows-nothing", Answer::Fail, &indifferent)
        } else if indifferent.is_empty() && unknown.is_empty() {
            self.say("proven", Answer::Pass, &proven)
        } else {
            let more = context! {
                indifferent => listed(&indifferent), alone => indifferent.len() == 1, unknown => listed(&unknown),
            };
            self.say_of("partly-proven", Answer::Unknown, &proven, None, more)
        }
    }

    /// Returns the tests whose commands have no proof.
    fn unproven(&self) -> Vec<&'a ChangedTest> {
        let has_proof = |test: &ChangedTest| self.proofs.iter().any(|proof| test.commands.contains(&proof.command));
        self.change.tests.iter().filter(|test| !has_proof(test)).collect()
    }

    /// Returns the tests that no proof names, although their commands have one.
    fn unseen(&self) -> Vec<String> {
        let is_cut = self.proofs.iter().any(|proof| proof.results.lists().iter().any(|list| list.len() >= MAX_NAMES));
        let is_named = |test: &&ChangedTest| self.fates.keys().any(|name| test.is_called(name));
        if is_cut {
            return Vec::new();
        }
        self.change.tests.iter().filter(|test| !is_named(test)).map(shown).collect()
    }

    fn say(&self, reason: &str, answer: Answer, tests: &[String]) -> Finding {
        let command = self.change.tests.first().and_then(command_of);
        self.say_of(reason, answer, tests, command, context! {})
    }

    fn say_of(&self, reason: &str, answer: Answer, tests: &[String], command: Option<&str>, more: Value) -> Finding {
        let values = context! {
            tests => listed(tests), count => tests.len(), command => command.map(shell_word), ..more
        };
        let mut finding = finding_text::say(self.gate, reason, &values).finding(&self.change.subject, answer, reason);
        finding.evidence = self.proofs.iter().map(|proof| proof.id.clone()).collect();
        finding
    }
}

fn shown(test: &ChangedTest) -> String {
    format!("{} in {}", test.name, test.path)
}

/// Returns the first names, and the number of the others.
fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(MAX_SHOWN)].join(", ");
    match names.len().saturating_sub(MAX_SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Grade;
    use crate::event::red_green::RedGreen;
    use crate::moment::Moment;
    use crate::policy::PolicySource;
    use crate::repo_path::RepoPath;

    fn policy(settings: &str) -> Policy {
        let text = format!("[gates.regression]\n{settings}\n");
        crate::config::parse("gate.toml", &text, PolicySource::Defaults, &super::super::check_params).unwrap()
    }

    fn change(proofs: &[RedGreen]) -> TestedChange {
        let test = |name: &str| ChangedTest {
            path: RepoPath::from("tests/test_a.py"),
            name: name.to_owned(),
            commands: vec!["test".to_owned()],
        };
        let fact = |(number, results): (usize, &RedGreen)| ProofFact {
            id: format!("{number}"),
            grade: Grade::Observed,
            command: "test".to_owned(),
            results: results.clone(),
        };
        TestedChange {
            subject: "HEAD".to_owned(),
            tests: vec![test("one"), test("two")],
            only_tests: false,
            proofs: proofs.iter().enumerate().map(fact).collect(),
        }
    }

    fn results(proven: &[&str], indifferent: &[&str], failing: &[&str], unknown: &[&str]) -> RedGreen {
        let named = |names: &[&str]| names.iter().map(|name| format!("tests/test_a.py::{name}")).collect();
        RedGreen {
            proven: named(proven),
            indifferent: named(indifferent),
            failing: named(failing),
            unknown: named(unknown),
        }
    }

    fn judged(settings: &str, change: TestedChange) -> Option<(Answer, String, String)> {
        let facts = Facts { tested_changes: vec![change], ..Facts::at(Moment::Push) };
        let judged = super::super::judge(&policy(settings), &facts);
        let result = judged.into_iter().find(|result| result.gate == "regression")?;
        let finding = result.findings.into_iter().next()?;
        Some((finding.answer, finding.reason, finding.message))
    }

    #[test]
    fn it_is_off_unless_the_policy_says_so() {
        assert_eq!(judged("", change(&[])), None);
        assert!(judged("mode = \"warn\"", change(&[])).is_some());
    }

    #[test]
    fn a_change_is_proven_by_a_test_that_fails_without_it() {
        use Answer::{Fail, Pass, Unknown};
        let both = ["one", "two"];
        for (proofs, answer, reason) in [
            (vec![], Fail, "unproven"),
            (vec![results(&both, &[], &[], &[])], Pass, "proven"),
            (vec![results(&["one"], &["two"], &[], &[])], Unknown, "partly-proven"),
            (vec![results(&["one"], &[], &[], &["two"])], Unknown, "partly-proven"),
            (vec![results(&["one"], &[], &[], &[])], Unknown, "partly-proven"),
            (vec![results(&[], &both, &[], &[])], Fail, "shows-nothing"),
            (vec![results(&["one"], &[], &["two"], &[])], Fail, "not-passing"),
            (vec![results(&[], &[], &[], &both)], Unknown, "not-known"),
            (vec![RedGreen::default()], Unknown, "not-known"),
            // The newest proof of a test decides.
            (vec![results(&both, &[], &[], &[]), results(&[], &[], &both, &[])], Pass, "proven"),
            (vec![results(&[], &[], &both, &[]), results(&both, &[], &[], &[])], Fail, "not-passing"),
        ] {
            let said = judged("mode = \"block\"", change(&proofs)).unwrap();
            assert_eq!((said.0, said.1.as_str()), (answer, reason), "{proofs:?}");
        }
    }

    #[test]
    fn a_test_that_passes_without_the_change_is_named() {
        let said = judged("mode = \"block\"", change(&[results(&["one"], &["two"], &[], &[])])).unwrap().2;
        let words = "1 test fails without this change and passes with it; tests/test_a.py::two passes without it, too, \
                     and shows nothing about it";
        assert_eq!(said, words);
    }

    #[test]
    fn a_proof_of_a_lower_grade_or_of_another_command_does_not_count() {
        let proven = results(&["one", "two"], &[], &[], &[]);
        let said = judged("mode = \"block\"\nmin_grade = \"attested\"", change(std::slice::from_ref(&proven)));
        assert_eq!(said.unwrap().1, "unproven");
        let mut other = change(&[proven]);
        other.proofs[0].command = "web".to_owned();
        assert_eq!(judged("mode = \"block\"", other).unwrap().1, "unproven");
    }

    #[test]
    fn tests_alone_change_nothing_that_they_could_show() {
        let only = TestedChange { only_tests: true, ..change(&[]) };
        let facts = Facts { tested_changes: vec![only.clone()], ..Facts::at(Moment::Push) };
        assert_eq!(unproven(&policy("mode = \"block\""), &facts), [""; 0]);
        assert_eq!(judged("mode = \"block\"", only).unwrap().1, "only-tests");
        let facts = Facts { tested_changes: vec![change(&[])], ..Facts::at(Moment::Push) };
        assert_eq!(unproven(&policy("mode = \"block\""), &facts), ["test"]);
        assert_eq!(unproven(&policy(""), &facts), [""; 0]);
    }
}
