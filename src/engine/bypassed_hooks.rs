//! Finds bypassed hooks: those that are off, and pushes that they did not see.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::Workplace;
use crate::event::pushes::PushVerdict;
use crate::fact::Note;
use crate::install::{InstallTarget, SwitchedOff, client_hooks_off, git_hooks_off};
use crate::journal::JournalState;
use crate::source::remote_reflogs::pushes_since;
use crate::timeline::without_verdict;

/// The kind of the note about a push without a verdict.
pub(super) const PUSH_UNJUDGED: &str = "push-unjudged";

/// The time for which a push without a verdict is mentioned.
const MENTIONED_FOR: Duration = Duration::from_hours(7 * 24);

impl Workplace {
    /// Returns the hooks that `gate init` installed here and that are off.
    pub fn hooks_off(&self) -> Vec<Note> {
        let repository = InstallTarget {
            root: self.repo.root().map(Path::to_owned),
            git_dir: self.repo.git_dir().to_owned(),
            common_dir: self.repo.common_dir().to_owned(),
            bare: self.repo.root().is_none(),
        };
        let hooks_path = self.repo.config("core.hooksPath").ok().flatten();
        let off = git_hooks_off(&repository, hooks_path.as_deref()).into_iter().chain(client_hooks_off(&repository));
        off.map(|SwitchedOff { what, remedy }| Note::new("hooks-off", format!("{what}; to fix it: {remedy}"))).collect()
    }

    /// Returns the pushes of the last days, since gate was installed here, that no verdict let through and that were
    /// not mentioned in this session.
    pub(super) fn pushes_without_verdict(&self, state: &JournalState, session: &str) -> Vec<Note> {
        let Some(since) = self.judged_since() else { return Vec::new() };
        let recent = SystemTime::now().checked_sub(MENTIONED_FOR).unwrap_or(since).max(since);
        let pushes = pushes_since(self.repo.common_dir(), recent);
        let verdicts: Vec<PushVerdict> = state.push_verdicts().iter().rev().cloned().collect();
        let unjudged = without_verdict(&pushes, &verdicts);
        let unjudged = pushes.iter().zip(unjudged).filter(|(_, unjudged)| *unjudged).map(|(push, _)| push);
        let said = unjudged.map(|push| {
            let tracking = push.tracking.trim_start_matches("refs/remotes/");
            let at = push.at.strftime("%Y-%m-%d %H:%M:%SZ");
            format!(
                "{} was pushed to {tracking} at {at}, and gate did not judge that push; see: gate log",
                push.new.short()
            )
        });
        let new = said.filter(|text| !state.was_mentioned(session, text));
        new.map(|text| Note::new(PUSH_UNJUDGED, text)).collect()
    }

    /// Returns the time at which gate was installed here, or `None` if it was not.
    pub fn judged_since(&self) -> Option<SystemTime> {
        self.repo.gate_dir().join("install.json").metadata().and_then(|meta| meta.modified()).ok()
    }
}
