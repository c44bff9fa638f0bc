//! The contracts that were begun here, as facts and as commands of the policy.

use super::Workplace;
use crate::collect::contracts::{self, ContractInForce};
use crate::contract_shelf::{BegunContract, ContractEnd, ContractShelf};
use crate::exit::Exit;
use crate::fact::Facts;
use crate::failure::Failure;
use crate::gates::finding::Answer;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::verdict::Verdict;

impl Workplace {
    /// Returns the contracts that were begun in this repository and still apply.
    pub fn contracts_in_force(&self) -> Result<Vec<ContractInForce>, Failure> {
        let mut begun = self.begun_contracts()?;
        for contract in &mut begun {
            let pushed = contract.pushed.as_ref().filter(|_| contract.end.is_none());
            if pushed.is_some_and(|commit| self.repo.is_on_a_remote(commit).unwrap_or(false)) {
                contract.end = Some(ContractEnd::Pushed);
                self.keep_contract(contract);
            }
        }
        let apply = begun.iter().filter(|begun| begun.end.is_none());
        Ok(apply.map(|begun| ContractInForce::begun(begun, self.repo.root())).collect())
    }

    /// Keeps the state of a contract. If it cannot be written, the next push is judged by it again.
    fn keep_contract(&self, contract: &BegunContract) {
        if let Err(error) = ContractShelf::of(&self.repo.gate_dir()).put(contract) {
            log::debug!("the contract {} cannot be written: {error}", contract.name);
        }
    }

    fn begun_contracts(&self) -> Result<Vec<BegunContract>, Failure> {
        let begun = ContractShelf::of(&self.repo.gate_dir());
        begun.all().map_err(|error| {
            let remedy = "remove that file if nothing else can read it: gate contract begin begins the task again";
            Failure::new(Exit::CannotJudge, format!("a contract cannot be read: {error}")).remedy(remedy)
        })
    }

    /// Checks the contracts that apply on the subjects of `facts`: at a push all of them, elsewhere those that are not
    /// met yet.
    pub fn add_contracts(&self, policy: &Policy, facts: &mut Facts) -> Result<(), Failure> {
        let mut contracts = self.contracts_in_force()?;
        let is_push = facts.moment == Moment::Push;
        contracts.retain(|contract| is_push || contract.begun.as_ref().is_some_and(|begun| !begun.met));
        contracts::collect(&self.repo, policy, &contracts, facts).map_err(Failure::with(Exit::CannotJudge))
    }

    /// Returns `true` if a contract that was begun in this working tree is not met yet.
    pub fn has_open_contract(&self) -> Result<bool, Failure> {
        let open =
            |contract: &ContractInForce| contract.begun.as_ref().is_some_and(|begun| begun.same_root && !begun.met);
        Ok(self.contracts_in_force()?.iter().any(open))
    }

    /// Notes the contracts that a push meets: they end when it arrives. `checked` are their names and subjects.
    pub fn note_met_contracts(&self, verdict: &Verdict, checked: &[(String, String)]) {
        let results = || verdict.gates.iter().filter(|result| result.gate == contracts::GATE);
        if checked.is_empty() || results().flat_map(|result| &result.findings).any(|one| one.answer != Answer::Pass) {
            return;
        }
        let Ok(begun) = self.begun_contracts() else { return };
        for mut contract in begun {
            let subject = checked.iter().find(|(name, _)| *name == contract.name).map(|(_, subject)| subject);
            let judged = subject.and_then(|name| verdict.subjects.iter().find(|subject| subject.name == *name));
            if let Some(commit) = judged.and_then(|subject| subject.commit.clone()) {
                contract.met = true;
                contract.pushed = Some(commit);
                self.keep_contract(&contract);
            }
        }
    }
}
