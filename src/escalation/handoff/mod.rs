//! The handoff when the attempts are used up: the packet for the helper, the rules for its content, and the reply.

pub mod handoff_detection;
pub mod packet;
pub mod packet_check;
pub mod repeated_actions;
pub mod reply;

use serde::Deserialize;

use crate::embedded;

/// The rescue attempt from which only a terminal payload is accepted.
pub const TERMINAL_AT: u32 = 4;
/// The rescue attempt at which the inputs themselves are in doubt.
pub const CONTEXT_AT: u32 = 3;

/// Returns the checks that must hold before a hypothesis counts, at this rescue attempt (`gates/handoff.toml`).
pub fn checklist(attempt: u32) -> Vec<String> {
    #[derive(Deserialize, Default)]
    struct HandoffFile {
        checklist: Vec<String>,
        checklist_in_doubt: Vec<String>,
    }
    let file: HandoffFile = embedded::table("handoff.toml");
    if attempt < CONTEXT_AT { file.checklist } else { [file.checklist_in_doubt, file.checklist].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_attempt_doubts_the_inputs_too() {
        assert!(checklist(1).len() >= 4);
        assert_eq!(checklist(1), checklist(2));
        assert!(checklist(3).len() > checklist(2).len());
    }
}
