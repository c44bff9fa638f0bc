//! Tests whose failure is known and does not block until a day.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// A test in quarantine: an entry of `[[quarantine]]` in `gate.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct QuarantinedTest {
    /// Its name, as the runner reports it; without parameters, it stands for all of them.
    pub test: String,
    /// The reason.
    pub reason: String,
    /// The person who takes care of it.
    pub owner: String,
    /// The last day on which the entry counts.
    pub until: Date,
}

impl QuarantinedTest {
    /// Returns `true` if the entry is about the test with this name.
    pub fn is_about(&self, name: &str) -> bool {
        name.strip_prefix(self.test.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_about_one_test_with_all_of_its_parameters() {
        let entry = |test: &str| QuarantinedTest {
            test: test.to_owned(),
            reason: String::new(),
            owner: String::new(),
            until: Date::constant(2026, 12, 31),
        };
        for (test, name, is_about) in [
            ("a.py::t", "a.py::t", true),
            ("a.py::t", "a.py::t[1]", true),
            ("a.py::t[1]", "a.py::t[1]", true),
            ("a.py::t[1]", "a.py::t", false),
            ("a.py::t", "a.py::t2", false),
            ("t", "a.py::t", false),
            ("a.py", "a.py::t", false),
        ] {
            assert_eq!(entry(test).is_about(name), is_about, "{test} {name}");
        }
    }
}
