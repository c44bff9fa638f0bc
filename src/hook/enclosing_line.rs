//! The line of an agent that contains the push: the tests before the push are evidence although the line still runs.
//!
//! In `npm test && git commit -m one && git push`, git calls the hook before the client reports how the line ended. The
//! push is reached only if the tests passed. To find that out, the line is read with the push replaced by its end.

use super::client::command_evidence::{self, LineEnd};
use super::client::session_state::{PendingCommand, StartingPoint, begun_lines};
use crate::command_line::Understood;
use crate::engine::Workplace;
use crate::event::{Ended, EventKind, Grade, Origin};
use crate::journal::NewEvent;
use crate::parent_processes::processes_above;

/// The number of processes above the hook among which the shell of the line is looked for.
const MAX_DEPTH: usize = 12;

/// Records the runs that the line which contains this push has shown so far. A line that shows nothing, or an error,
/// changes nothing: the push is judged by what is on record.
pub(super) fn record_before_push(place: &Workplace) {
    let Some(root) = place.repo.root() else { return };
    let lines = begun_lines(&place.repo.gate_dir());
    if lines.is_empty() {
        return;
    }
    let shells: Vec<String> = processes_above(MAX_DEPTH).into_iter().map(|words| unquoted(&words.join(" "))).collect();
    let is_running = |pending: &PendingCommand| shells.iter().any(|shell| shell.contains(&unquoted(&pending.line)));
    // An older line whose end nobody reported may have the same words.
    let Some(pending) = lines.into_iter().find(is_running) else { return };
    if let Some(ground) = pending.grounds.iter().find(|ground| ground.root == root) {
        record(place, &pending, ground);
    }
}

/// Returns a line without the characters by which one shell hands it to another.
fn unquoted(line: &str) -> String {
    line.chars().filter(|c| !matches!(c, '\'' | '"' | '\\') && !c.is_whitespace()).collect()
}

fn record(place: &Workplace, pending: &PendingCommand, ground: &StartingPoint) {
    let Some(understood) = command_evidence::understand(&pending.line, &ground.root) else { return };
    let Some(before) = before_push(&pending.line, &understood) else { return };
    // Any command before the push, or somebody else, may have changed files since the line began.
    let ground = StartingPoint { end: place.repo.keep_now().ok(), ..ground.clone() };
    let pending = PendingCommand { line: before, ..pending.clone() };
    let line_end = LineEnd { shell: None, ended: Ended::Exited(0), output: None, narrowed: None };
    let runs = command_evidence::runs_of(place, &pending, &ground, line_end).unwrap_or_default();
    let client = place.session.agent.as_deref().unwrap_or("agent");
    let event = |kind: EventKind| NewEvent {
        session: Some(place.session.id.clone()),
        origin: Origin { by: client.to_owned(), grade: Grade::Hooked },
        kind,
    };
    // Without the record the push is refused, as it was before.
    let _ = runs.into_iter().map(event).try_for_each(|event| place.journal.append(event).map(drop));
}

/// Returns a line that ends with status 0 exactly if `line` reaches its first push. Returns `None` if it has none.
fn before_push(line: &str, understood: &Understood) -> Option<String> {
    let leaves = understood.program.leaves.iter().zip(&understood.purposes);
    let (push, _) = leaves.into_iter().find(|(_, purpose)| !purpose.pushes.is_empty())?;
    let at = line.find(&push.text)?;
    Some(format!("{}exit 0\nexit 9", &line[..at]))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn reached(line: &str) -> Option<String> {
        before_push(line, &command_evidence::understand(line, Path::new("/"))?)
    }

    #[test]
    fn the_push_becomes_the_end_of_the_line() {
        let before = |line: &str| reached(line).unwrap();
        assert_eq!(before("make test && git push -q origin f"), "make test && exit 0\nexit 9");
        assert_eq!(before("make test; git push | tail -3"), "make test; exit 0\nexit 9");
        assert_eq!(reached("make test && git commit -qm one"), None);
    }
}
