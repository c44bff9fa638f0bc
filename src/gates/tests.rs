//! Gates, answers of a forge and judgements for the tests of gates.

use crate::fact::{Checks, Facts, ForgeAnswer, HostedHead, Hosting, Via};
use crate::gates::finding::Finding;
use crate::policy::{Gate, Mode, ModeFrom, Policy, PolicySource};

/// The commit that the forge is asked about.
pub(super) const HEAD: &str = "1111111111111111111111111111111111111111";

/// Returns the embedded gate `id`, which the policy set to block.
pub(super) fn gate(id: &str) -> Gate {
    let gates = crate::config::defaults(&|_, _| Ok(())).gates;
    Gate { mode: Mode::Block, mode_from: ModeFrom::Entry, ..gates.into_iter().find(|gate| gate.id == id).unwrap() }
}

/// Returns the same with other `params`.
pub(super) fn gate_with(id: &str, params: &str) -> Gate {
    let mut gate = gate(id);
    gate.params.extend(toml::from_str::<toml::Table>(params).unwrap());
    super::check_params(&gate.kind, &gate.params).unwrap();
    gate
}

/// Returns the answers of a forge about a branch without pull requests and checks.
pub(super) fn hosting() -> Hosting {
    Hosting {
        repository: "o/r".to_owned(),
        head: HostedHead {
            commit: HEAD.parse().unwrap(),
            via: Via::Branch,
            branch: Some("feature".to_owned()),
            repository: Some("o/r".to_owned()),
            pushed: Some(HEAD.parse().unwrap()),
        },
        default_branch: Some("main".to_owned()),
        pulls: ForgeAnswer::Known(Vec::new()),
        checks: ForgeAnswer::Known(Checks::default()),
        required: ForgeAnswer::Known(Vec::new()),
        started_for: None,
        base: None,
        landed: Vec::new(),
    }
}

/// Returns the first finding of `gate` about `facts`.
pub(super) fn judge(gate: &Gate, facts: &Facts) -> Finding {
    let policy = Policy { gates: vec![gate.clone()], ..Policy::empty(PolicySource::Defaults) };
    super::judge(&policy, facts).remove(0).findings.remove(0)
}
