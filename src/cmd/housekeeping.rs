//! Cleans up after commands. Hooks never do this: its cost grows with the amount of data.

use std::time::Duration;

use crate::engine::Workplace;
use crate::git::{RetentionLimits, remove_leftovers};
use crate::oid::Oid;
use crate::policy::Policy;
use crate::render::ui::Ui;
use crate::verdict::verdict_files;

/// The number of the newest runs of a command that keep their content at any age: those that are compared.
const PROVING: usize = 32;
/// The number of them that keep it even if the store is too large.
const NEWEST: usize = 2;

/// Removes old verdicts, contents that no longer prove anything, and the files of killed processes.
pub(super) fn tidy(place: &Workplace, policy: &Policy, ui: &mut Ui) {
    if let Err(error) = verdict_files::prune(&place.repo.gate_dir()) {
        ui.say(format_args!("gate: old verdicts could not be removed: {error}"));
    }
    remove_leftovers();
    let Ok(state) = place.state() else { return };
    let trees = |most: usize| -> Vec<Oid> {
        let keys = policy.commands.iter().map(|command| command.reference().key);
        let runs = keys.flat_map(|key| state.runs(&key).iter().take(most).cloned().collect::<Vec<_>>());
        runs.flat_map(|recorded| [recorded.run.start.tree.clone(), recorded.run.end.tree.clone()]).collect()
    };
    let retention = policy.retention;
    let limits = RetentionLimits {
        age: Duration::from_hours(24).saturating_mul(retention.days),
        bytes: u64::from(retention.megabytes).saturating_mul(1024 * 1024),
    };
    place.repo.prune_kept(&trees(PROVING), &trees(NEWEST), limits);
}
