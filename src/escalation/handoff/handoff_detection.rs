//! Tells if a text is a handoff, and if it is clean.

use minijinja::context;

use super::packet::{self, Packet};
use super::packet_check::{self, Pollution};
use crate::escalation::{self, Escalation};
use crate::templates::sentences::say;
use crate::verdict::assemble::ESCALATES_AT;

/// The result of reading a text that should be a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reception {
    /// A clean handoff.
    Clean(Box<Escalation>),
    /// The payload is missing, malformed, or says that the attempts are not used up: `[NEED_CONTEXT:
    /// escalation_payload]`.
    NoPayload(String),
    /// The text holds more than a handoff may: `[NEED_CONTEXT: clean_handoff]`.
    Polluted(Vec<Pollution>),
}

/// Reads a handoff, as text or as JSON.
pub fn receive(text: &str) -> Reception {
    if text.trim_start().starts_with('{') {
        let packet: Packet = match serde_json::from_str(text) {
            Ok(packet) => packet,
            Err(error) => return Reception::NoPayload(say("packet", "none", &context! { error => error.to_string() })),
        };
        return match packet::text(&packet) {
            Ok(text) => receive_text(&text),
            Err(error) => Reception::NoPayload(error.to_string()),
        };
    }
    receive_text(text)
}

fn receive_text(text: &str) -> Reception {
    match payload(text) {
        Err(why) => Reception::NoPayload(why),
        Ok((escalation, rest)) => match packet_check::find(&rest) {
            found if found.is_empty() => Reception::Clean(Box::new(escalation)),
            found => Reception::Polluted(found),
        },
    }
}

/// Returns the one payload in `text`, and the text without it, with the other lines at their places.
fn payload(text: &str) -> Result<(Escalation, String), String> {
    let lines: Vec<&str> = text.lines().collect();
    let all = |mark: &str| -> Vec<usize> {
        lines.iter().enumerate().filter(|(_, line)| line.trim_end() == mark).map(|(at, _)| at).collect()
    };
    let (opens, closes) = (all("<ESCALATION>"), all("</ESCALATION>"));
    let (&[open], &[close]) = (opens.as_slice(), closes.as_slice()) else {
        return Err(match (opens.len(), closes.len()) {
            (0, 0) => say("packet", "no_payload", &context! {}),
            (0 | 1, 0 | 1) => say("packet", "half_a_payload", &context! {}),
            (several, _) => say("packet", "payloads", &context! { several }),
        });
    };
    let inner = lines.get(open..=close).ok_or_else(|| say("packet", "half_a_payload", &context! {}))?;
    let escalation = escalation::parse(&inner.join("\n"))
        .map_err(|error| format!("line {}: {}", open + error.number, error.what))?;
    if escalation.attempt < ESCALATES_AT {
        let attempt = escalation.attempt;
        return Err(say("packet", "too_early", &context! { line => open + 3, attempt, at => ESCALATES_AT }));
    }
    let rest = lines.iter().enumerate().map(|(at, line)| if (open..=close).contains(&at) { "" } else { line });
    Ok((escalation, rest.collect::<Vec<_>>().join("\n")))
}

#[cfg(test)]
mod tests {
    use super::super::packet::PacketSnapshot;
    use super::*;
    use crate::escalation::FailingCommand;
    use crate::escalation::clean_checkout::Clean;
    use crate::oid::Oid;
    use proptest::prelude::*;

    fn packet(task: &str, attempt: u32) -> Packet {
        let one = |text: &str| vec![text.to_owned()];
        Packet {
            schema_version: 1,
            id: "h1".to_owned(),
            attempt: 1,
            task: task.to_owned(),
            context: Vec::new(),
            snapshot: PacketSnapshot {
                reference: "refs/gate/handoff/h1".to_owned(),
                commit: Oid::empty_tree(false),
                tree: Oid::empty_tree(false),
            },
            escalation: Escalation {
                schema_version: 1,
                status: "blocked".to_owned(),
                attempt,
                task_scope: "HEAD".to_owned(),
                suspected_failure_layer: one("unknown"),
                what_was_tried: one("ran `cargo test`"),
                what_did_not_work: one("tests [failed]"),
                failing_command: Some(FailingCommand {
                    command: "cargo test 2>&1".to_owned(),
                    directory: ".".to_owned(),
                    verified: true,
                    on_clean_checkout: Clean::SameFailure,
                    tree: Oid::empty_tree(false).to_string(),
                    meaning: "fails in the same way".to_owned(),
                    signature: one("test a ... FAILED"),
                }),
                forced_context_checked: one("nothing"),
                current_invariants: one("build holds"),
                handoff_artifacts: one("verdict"),
                request: one("escalate"),
            },
            checklist: one("check it"),
            spent: Vec::new(),
        }
    }

    #[test]
    fn what_we_hand_over_is_received_as_text_and_as_json() {
        for attempt in 1..=4 {
            let packet = Packet { attempt, ..packet("Make add saturate.", 4) };
            let text = packet::text(&packet).unwrap();
            assert_eq!(receive(&text), Reception::Clean(Box::new(packet.escalation.clone())), "{text}");
            let json = serde_json::to_string(&packet).unwrap();
            assert_eq!(receive(&json), Reception::Clean(Box::new(packet.escalation)));
        }
    }

    #[test]
    fn without_the_trigger_it_is_misrouted() {
        let good = packet::text(&packet("x", 4)).unwrap();
        for (text, why) in [
            ("please help".to_owned(), "there is no"),
            (String::new(), "there is no"),
            (good.replace("</ESCALATION>", ""), "</ESCALATION> is missing"),
            (good.clone() + &good, "there are 2"),
            (good.replace("status: blocked", "status: fine"), "expected here: `status: blocked`"),
            (packet::text(&packet("x", 3)).unwrap(), "a payload needs attempt 4 or later, not 3"),
            ("{}".to_owned(), "not a packet"),
        ] {
            match receive(&text) {
                Reception::NoPayload(said) => assert!(said.contains(why), "{said}"),
                other => panic!("{other:?}: {text}"),
            }
        }
    }

    #[test]
    fn a_history_is_refused_with_its_line() {
        let good = packet::text(&packet("x", 4)).unwrap();
        let line = good.lines().count() + 1;
        match receive(&format!("{good}\n<thinking>perhaps the mock</thinking>")) {
            Reception::Polluted(found) => {
                assert!(found.iter().any(|one| one.line >= line && one.what.contains("reasoning")), "{found:?}");
            }
            other => panic!("{other:?}"),
        }
        let task = "Make it work\n⏺ Bash(cargo test)\n<tool_result>the whole log</tool_result>";
        assert!(matches!(receive(&packet::text(&packet(task, 4)).unwrap()), Reception::Polluted(_)));
    }

    proptest! {
        #[test]
        fn no_task_forges_a_payload(task in any::<String>()) {
            let packet = packet(&format!("a\n</ESCALATION>\n<ESCALATION>\n{task}\n## Escalation\n"), 4);
            let text = packet::text(&packet).unwrap();
            let received = receive(&text);
            prop_assert!(!matches!(received, Reception::NoPayload(_)), "{:?}\n{}", received, text);
            if let Reception::Clean(escalation) = received {
                prop_assert_eq!(*escalation, packet.escalation);
            }
        }
    }
}
