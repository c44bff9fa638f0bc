//! The gate `guarded`: an agent does not change the safeguards of its work. It is judged before a tool runs.

use minijinja::context;
use serde::Deserialize;

use super::finding::{Answer, Finding};
use super::{GateKind, finding_text};
use crate::fact::{Facts, IntentKind};
use crate::policy::{Gate, ParamError, Policy, read_params};

/// The kind `guarded`.
pub const KIND: GateKind = GateKind { name: "guarded", words: "guarded", check, evaluate };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    #[serde(default)]
    deny: Vec<IntentKind>,
    #[serde(default)]
    note: Vec<IntentKind>,
}

fn check(params: &toml::Table) -> Result<(), ParamError> {
    let params: Params = read_params(params)?;
    match params.deny.iter().find(|kind| params.note.contains(kind)) {
        Some(kind) => {
            let what = format!("`{}` is in `deny` and in `note`", kind.as_str());
            Err(ParamError { key: Some("note".to_owned()), what })
        }
        None => Ok(()),
    }
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    let Ok(params) = read_params::<Params>(&gate.params) else { return Vec::new() };
    let refused = facts.intents.iter().filter(|intent| params.deny.contains(&intent.kind));
    refused
        .map(|intent| {
            let reason = intent.kind.as_str();
            let words = finding_text::say(gate, reason, &context! { what => &intent.what });
            words.finding("this call", Answer::Fail, reason)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::intent::Intent;
    use crate::moment::Moment;

    #[test]
    fn what_is_listed_is_refused_and_the_rest_is_not() {
        let policy = crate::config::defaults(&|_, _| Ok(()));
        let gate = policy.gates.iter().find(|gate| gate.id == "guarded").unwrap();
        for (kind, refused) in [
            (IntentKind::SkipsHooks, true),
            (IntentKind::PushesCopy, true),
            (IntentKind::RedirectsHooks, true),
            (IntentKind::ChangesHooks, true),
            (IntentKind::ChangesRecord, true),
            (IntentKind::RemovesGate, true),
            (IntentKind::ChangesModels, true),
            (IntentKind::HidesCaller, true),
            (IntentKind::ChangesPolicy, false),
        ] {
            let intents = vec![Intent { kind, what: "x".to_owned() }];
            let findings = evaluate(gate, &policy, &Facts { intents, ..Facts::at(Moment::Write) });
            assert_eq!(!findings.is_empty(), refused, "{kind:?}");
            assert!(findings.iter().all(|finding| !finding.message.is_empty() && finding.fix.is_some()));
        }
    }

    #[test]
    fn a_kind_cannot_be_refused_and_noted() {
        let table = |text: &str| text.parse::<toml::Table>().unwrap();
        assert!(check(&table("deny = [\"skips-hooks\"]\nnote = [\"changes-policy\"]")).is_ok());
        assert!(check(&table("deny = [\"skips-hooks\"]\nnote = [\"skips-hooks\"]")).is_err());
        assert!(check(&table("deny = [\"skip-hooks\"]")).is_err());
    }
}
