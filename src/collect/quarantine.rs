//! The tests in quarantine, as far as the policy may say so and the day has not passed.

use jiff::civil::Date;

use crate::fact::Note;
use crate::policy::{Policy, PolicySource, QuarantinedTest};

/// The kind of the notes.
const KIND: &str = "quarantine";

/// Returns the entries that count on this day, and notes about the others. Without a committed policy, anybody who can
/// write the file could add an entry, so none counts.
pub(super) fn on(today: Date, policy: &Policy) -> (Vec<QuarantinedTest>, Vec<Note>) {
    if !policy.quarantine.is_empty() && !matches!(policy.source, PolicySource::Commit(_)) {
        let text = "the quarantine in gate.toml has no effect before gate.toml is committed on the target branch";
        return (Vec::new(), vec![Note::new(KIND, text)]);
    }
    let (active, ended): (Vec<_>, Vec<_>) = policy.quarantine.iter().cloned().partition(|entry| entry.until >= today);
    let note = |entry: &QuarantinedTest| {
        let text = format!(
            "the quarantine of {} ended on {} and has no effect: {} repairs the test and removes the entry from gate.toml",
            entry.test, entry.until, entry.owner
        );
        Note::new(KIND, text)
    };
    let notes = ended.iter().map(note).collect();
    (active, notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_counts_through_its_last_day_if_the_policy_is_committed() {
        let entry = QuarantinedTest {
            test: "a.py::t".to_owned(),
            reason: "the mirror is slow".to_owned(),
            owner: "alice".to_owned(),
            until: Date::constant(2026, 12, 31),
        };
        let policy = |source: PolicySource| Policy { quarantine: vec![entry.clone()], ..Policy::empty(source) };
        let committed = policy(PolicySource::Commit("1".repeat(40).parse().unwrap()));
        assert_eq!(on(Date::constant(2026, 12, 31), &committed), (vec![entry.clone()], Vec::new()));
        let (active, notes) = on(Date::constant(2027, 1, 1), &committed);
        assert!(active.is_empty() && notes[0].text.starts_with("the quarantine of a.py::t ended on 2026-12-31"));
        let (active, notes) = on(Date::constant(2026, 1, 1), &policy(PolicySource::WorkingTree));
        assert!(active.is_empty() && notes[0].text.contains("before gate.toml is committed"), "{notes:?}");
    }
}
