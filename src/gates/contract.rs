//! The gate `contract`: the conditions of a task hold on the judged content, and its commands passed on it.

use minijinja::context;

use super::finding::{Answer, Finding};
use super::{GateKind, NoParams, can_be_read, evidence, finding_text};
use crate::contract::ConditionOutcome;
use crate::fact::{ConditionFact, ContractFact, ContractProblem, Facts};
use crate::policy::{Gate, Policy};

/// The kind `contract`. Its commands are judged in the words of the tests.
pub const KIND: GateKind = GateKind { name: "contract", words: "tests", check: can_be_read::<NoParams>, evaluate };

fn evaluate(gate: &Gate, policy: &Policy, facts: &Facts) -> Vec<Finding> {
    facts.contracts.iter().flat_map(|contract| of_contract(gate, policy, facts, contract)).collect()
}

fn of_contract(gate: &Gate, policy: &Policy, facts: &Facts, contract: &ContractFact) -> Vec<Finding> {
    let problem = contract.problem.as_ref().map(|problem| unreadable(gate, contract, problem));
    let conditions = contract.conditions.iter().map(|condition| of_condition(gate, policy, facts, contract, condition));
    problem.into_iter().chain(conditions).collect()
}

fn unreadable(gate: &Gate, contract: &ContractFact, problem: &ContractProblem) -> Finding {
    let ContractProblem { file, line, what, remedy } = problem;
    let words = finding_text::say(gate, "unreadable", &context! { file => file.to_string(), line, what, remedy });
    Finding {
        paths: vec![file.clone()],
        line: u32::try_from(*line).ok(),
        ..words.finding(&contract.subject, Answer::Fail, "unreadable")
    }
}

fn of_condition(
    gate: &Gate,
    policy: &Policy,
    facts: &Facts,
    contract: &ContractFact,
    condition: &ConditionFact,
) -> Finding {
    let subject = facts.subjects.iter().find(|subject| subject.name == contract.subject);
    let command = policy.commands.iter().find(|command| condition.command.as_ref() == Some(&command.name));
    if let (Some(command), Some(subject)) = (command, subject) {
        let finding = evidence::of_command(gate, command, subject, facts, !condition.untested);
        return Finding { message: format!("contract {}: {}", contract.name, finding.message), ..finding };
    }
    let (answer, reason) = match condition.outcome {
        ConditionOutcome::Holds => (Answer::Pass, "holds"),
        ConditionOutcome::Fails => (Answer::Fail, "fails"),
        ConditionOutcome::NotRun | ConditionOutcome::Unreadable => (Answer::Unknown, "cannot-judge"),
    };
    let words = context! {
        contract => &contract.name,
        begun => contract.begun,
        condition => &condition.text,
        detail => &condition.detail,
    };
    finding_text::say(gate, reason, &words).finding(&contract.subject, answer, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::subject::Subject;
    use crate::moment::Moment;

    fn finding(outcome: ConditionOutcome, command: Option<&str>) -> Finding {
        let policy = crate::config::defaults(&|_, _| Ok(()));
        let gate = policy.gates.iter().find(|gate| gate.id == "contract").unwrap();
        let condition = ConditionFact {
            text: "a.txt: deleted".to_owned(),
            outcome,
            detail: "a.txt is still there".to_owned(),
            command: command.map(str::to_owned),
            untested: false,
        };
        let (name, subject) = ("split".to_owned(), "HEAD".to_owned());
        let contract = ContractFact { name, subject, begun: true, problem: None, conditions: vec![condition] };
        let facts =
            Facts { subjects: vec![Subject::empty("HEAD")], contracts: vec![contract], ..Facts::at(Moment::Push) };
        evaluate(gate, &policy, &facts).remove(0)
    }

    #[test]
    fn only_a_condition_that_holds_passes() {
        for (outcome, answer) in [
            (ConditionOutcome::Holds, Answer::Pass),
            (ConditionOutcome::Fails, Answer::Fail),
            (ConditionOutcome::Unreadable, Answer::Unknown),
            (ConditionOutcome::NotRun, Answer::Unknown),
        ] {
            let finding = finding(outcome, None);
            assert_eq!(finding.answer, answer, "{outcome:?}");
            assert!(finding.message.contains("a.txt: deleted") && finding.message.contains("split"), "{finding:?}");
        }
        // A command that no policy knows has not run.
        assert_eq!(finding(ConditionOutcome::NotRun, Some("split.1")).answer, Answer::Unknown);
    }
}
