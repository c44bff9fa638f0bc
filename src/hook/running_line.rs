//! The session whose agent runs this process, for clients that do not tell their commands which session they are of.
//!
//! The hook of such a client sees the line before it runs, and keeps it. This process is of that session if it runs below
//! the same client and belongs to that line. If several sessions fit, nobody knows, and no clock decides.

use std::collections::BTreeSet;

use super::client::session_state::{PendingCommand, begun_lines, unquoted};
use crate::engine::Workplace;
use crate::parent_processes::{ParentProcess, processes_above};

/// The number of processes above this one among which the client is looked for.
const MAX_DEPTH: usize = 16;
/// The fewest characters of a command that are enough to know it again in a line.
const MIN_WORDS: usize = 6;

/// Gives a workplace the session whose agent started this process, if its client did not name one and the hooks know it.
pub fn link(place: &mut Workplace) {
    if !place.session.is_unnamed() {
        return;
    }
    let lines: Vec<PendingCommand> =
        begun_lines(&place.repo.gate_dir()).into_iter().filter(|line| line.session.is_some()).collect();
    if lines.is_empty() {
        return;
    }
    let own: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(session) = session_of(&lines, &own, &processes_above(MAX_DEPTH)) {
        place.session.id = session;
    }
}

/// Returns the session of the line to which a process with these words belongs.
fn session_of(lines: &[PendingCommand], own: &[String], above: &[ParentProcess]) -> Option<String> {
    let fits = |line: &&PendingCommand| {
        let client = above.iter().position(|process| Some(process.id) == line.client_process);
        client.is_some_and(|client| belongs(&line.line, own, &above[..client]))
    };
    let sessions: BTreeSet<&str> = lines.iter().filter(fits).filter_map(|line| line.session.as_deref()).collect();
    let mut sessions = sessions.into_iter();
    sessions.next().filter(|_| sessions.next().is_none()).map(str::to_owned)
}

/// Returns `true` if a process belongs to a line: a shell between it and the client has the line among its words, or a shell
/// that had one command left became a process whose words stand in the line.
fn belongs(line: &str, own: &[String], between: &[ParentProcess]) -> bool {
    let line = unquoted(line);
    let of_line = |words: &str| words.chars().count() >= MIN_WORDS && line.contains(words);
    let has_line = |process: &ParentProcess| {
        let words = unquoted(&process.words.join(" "));
        words.contains(&line) || of_line(&words)
    };
    of_line(&unquoted(&own.join(" "))) || between.iter().any(has_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(session: &str, client: u32, text: &str) -> PendingCommand {
        let value = serde_json::json!({"call": text, "line": text, "grounds": [], "session": session, "client_process": client});
        serde_json::from_value(value).unwrap()
    }

    fn process(id: u32, words: &str) -> ParentProcess {
        ParentProcess { id, words: words.split('|').map(str::to_owned).collect() }
    }

    #[test]
    fn a_process_is_of_the_line_that_it_belongs_to_below_the_same_client() {
        let own = ["gate", "run", "test"].map(str::to_owned);
        let (one, other) = (line("one", 7, "gate run test"), line("other", 7, "cargo build"));
        let direct = [process(7, "node|agent"), process(1, "init")];
        let below_make = [process(9, "make|check"), process(7, "node|agent")];
        for (lines, above, expected) in [
            (vec![one.clone()], &direct[..], Some("one")),
            (vec![other.clone(), one.clone()], &direct, Some("one")),
            (vec![other.clone()], &direct, None),
            (vec![line("one", 8, "gate run test")], &direct, None),
            (vec![one.clone(), line("two", 7, "gate run test")], &direct, None),
            (vec![one.clone(), line("two", 8, "gate run test")], &direct, Some("one")),
            (vec![one.clone(), line("one", 7, "gate run test -q")], &direct, Some("one")),
            (vec![line("one", 7, "make check"), other.clone()], &below_make, Some("one")),
            (vec![line("one", 7, "cd a && make 'check'"), other], &below_make, Some("one")),
        ] {
            assert_eq!(session_of(&lines, &own, above).as_deref(), expected, "{lines:?}");
        }
    }
}
