//! The answers of the forge, as events of a case.

use serde_json::{Map, Value, json};

use super::{CaseWriter, name};
use crate::fact::hosting::{Check, Hosting, Pull, PullState};

impl CaseWriter<'_> {
    /// Adds the answers of the forge. An answer that could not be read has no event: without it, the case is answered
    /// as if the forge had not been asked.
    pub(super) fn hosted(&mut self, hosting: &Hosting) {
        for said in hosting.pulls.known().into_iter().flatten() {
            let event = self.pull(said, hosting);
            self.push("pr", event);
        }
        if let Some(checks) = hosting.checks.known() {
            let mut by_name: Vec<&Check> = checks.list.iter().filter(|check| !check.own).collect();
            // Of several reports of one name the last one is what the case has.
            by_name.sort_by_key(|check| (check.run, check.id));
            let word = |check: &Check| check.conclusion.clone().unwrap_or_else(|| check.status.clone());
            let named = by_name.into_iter().map(|check| (self.neutral.text(&check.name), Value::from(word(check))));
            let named: Map<String, Value> = named.collect();
            let required = hosting.required.known();
            let required =
                required.map(|names| names.iter().map(|one| self.neutral.text(&one.name)).collect::<Vec<_>>());
            let event = json!({"head_sha": name(&hosting.head.commit), "required": required, "checks": named});
            self.push("ci", event);
        }
    }

    fn pull(&self, said: &Pull, hosting: &Hosting) -> Value {
        let state = match said.state {
            PullState::Open => "open",
            PullState::Merged => "merged",
            PullState::Closed => "closed",
        };
        json!({
            "number": said.number,
            "state": state,
            "merged": said.state == PullState::Merged,
            "draft": said.draft,
            "head_sha": name(&said.head),
            "base": self.neutral.text(&said.base_branch),
            "cross_repo": said.head_repository.as_ref() != Some(&hosting.repository),
            "head_repo": said.head_repository.as_deref().map(|repository| self.neutral.text(repository)),
        })
    }
}
