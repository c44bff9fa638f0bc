//! The layer in which a failure probably is, by the rules of `gates/failure-layers.toml`.

use std::sync::LazyLock;

use minijinja::context;
use serde::Deserialize;

use crate::embedded;
use crate::lazy_patterns::PhrasePatterns;
use crate::templates::sentences::say;

/// The layers a payload may name, `unknown` last.
pub const LAYERS: [&str; 8] = [
    "architecture", "environment", "dependency", "contract_mismatch", "test_harness", "source_snapshot",
    "handoff_protocol", "unknown",
];

/// A suspected layer, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// One of [`LAYERS`].
    pub layer: String,
    /// The reason, in a few words.
    pub why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layer {
    name: String,
    reasons: Vec<String>,
    patterns: PhrasePatterns,
    #[cfg_attr(not(test), expect(dead_code, reason = "what the rules are tested with"))]
    examples: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "what the rules are tested with"))]
    others: Vec<String>,
}

static RULES: LazyLock<Vec<Layer>> = LazyLock::new(|| embedded::part("failure-layers.toml", "layer"));

/// Returns the layer that the closing lines of failing runs and the reason codes of findings suggest. A run counts more
/// than a gate: it is closer to the cause.
pub fn suspect<'a>(lines: impl Iterator<Item = &'a str>, reasons: impl Iterator<Item = &'a str>) -> Suspicion {
    for line in lines {
        let met = RULES.iter().find(|layer| layer.patterns.is_match(line));
        if let Some(rule) = met {
            return Suspicion {
                layer: rule.name.clone(),
                why: say("layer", "said", &context! { line => line.trim() }),
            };
        }
    }
    let mut reasons = reasons.peekable();
    let named = reasons.peek().copied();
    for reason in reasons {
        if let Some(rule) = RULES.iter().find(|rule| rule.reasons.iter().any(|known| known == reason)) {
            return Suspicion { layer: rule.name.clone(), why: say("layer", "reason", &context! { reason }) };
        }
    }
    let why = say("layer", "unknown", &context! { reason => named });
    Suspicion { layer: "unknown".to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_are_readable_and_meet_their_examples() {
        assert_eq!(RULES.len(), LAYERS.len() - 1);
        for layer in &*RULES {
            assert!(LAYERS.contains(&layer.name.as_str()), "{}", layer.name);
            layer.patterns.check().unwrap();
            for example in &layer.examples {
                let found = suspect([example.as_str()].into_iter(), [].into_iter());
                assert_eq!(found.layer, layer.name, "{example}: {}", found.why);
            }
            for other in &layer.others {
                assert_ne!(suspect([other.as_str()].into_iter(), [].into_iter()).layer, layer.name, "{other}");
            }
        }
    }

    #[test]
    fn a_run_counts_before_a_reason_and_unknown_says_so() {
        for (lines, reasons, layer) in [
            (&["sh: gradle: command not found"][..], &["failed"][..], "environment"),
            (&["1 failed"], &["vacuous"], "test_harness"),
            (&[], &["failed", "stale"], "handoff_protocol"),
            (&["1 failed"], &["failed"], "unknown"),
            (&[], &[], "unknown"),
        ] {
            let found = suspect(lines.iter().copied(), reasons.iter().copied());
            assert_eq!(found.layer, layer, "{lines:?} {reasons:?}: {}", found.why);
        }
    }
}
