//! The process that runs the checks after a write: `gate hook after-write SESSION`. Each run is recorded as evidence.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::diagnostics::{self, Diagnostic, KnownDiagnostics};
use crate::engine::Workplace;
use crate::event::Ended;
use crate::hook::after_write::{CheckAnswer, CheckFiles, CheckRequest};
use crate::policy::{Command, Policy};
use crate::recorded_run::record_unseen;
use crate::redact::redact;
use crate::repo_path::RepoPath;
use crate::session::Session;

/// Edits that follow within this time are checked together.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// The time for which the end of an older check is waited for.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest number of lines of an output that the agent gets.
const MAX_LINES: usize = 5;

/// The longest such line, in characters.
const MAX_LINE: usize = 300;

/// The time limit for a check.
const CHECK_TIMEOUT: Duration = Duration::from_mins(10);

/// Runs the checks of the newest request of a session, in the working tree at `root`.
///
/// # Errors
///
/// The repository or its policy cannot be read, or the answer cannot be written.
pub fn main(root: &Path, session: &str) -> anyhow::Result<()> {
    let place = Workplace::of_session(root, Session { id: session.to_owned(), agent: None })?;
    let root = place.work_tree()?.to_owned();
    let files = CheckFiles::of(&place.repo.gate_dir(), session);
    // An edit that follows at once ends this process here.
    thread::sleep(DEBOUNCE);
    let began = Instant::now();
    let lock = loop {
        if let Some(lock) = files.lock()? {
            break lock;
        }
        if began.elapsed() > LOCK_TIMEOUT {
            return Ok(());
        }
        thread::sleep(DEBOUNCE);
    };
    let request = files.request().filter(|request| files.done().as_ref() != Some(&request.id));
    if let Some(request) = request
        && let Some(answer) = check(&place, &root, &files, &request)?
    {
        files.keep_done(&request.id)?;
        if !request.is_baseline {
            files.keep_answer(&answer)?;
        }
    }
    drop(lock);
    Ok(())
}

/// Runs the checks of the components that a request touches, and keeps what they find. Returns `None` if a newer request
/// came meanwhile: another process answers that one.
fn check(
    place: &Workplace,
    root: &Path,
    files: &CheckFiles,
    request: &CheckRequest,
) -> anyhow::Result<Option<CheckAnswer>> {
    let head = place.repo.head()?.commit;
    let lineage = place.lineage(head.as_ref())?;
    let (policy, _) = place.policy(lineage.as_ref())?;
    let mut known = files.known().unwrap_or_default();
    // The agent has not heard yet of what an earlier check found.
    let untold = files.answer().unwrap_or_default();
    let mut answer = CheckAnswer { request: request.id.clone(), ..CheckAnswer::default() };
    for command in policy.commands.iter().filter(|command| command.after_write && touches(command, request)) {
        let (found, failed) = run(place, root, &policy, command, &request.edited)?;
        if files.request().is_none_or(|newest| newest.id != request.id) {
            return Ok(None);
        }
        let new = match known.get(&command.run) {
            Some(known) => diagnostics::new_since(known, &found),
            None if request.is_baseline => Vec::new(),
            // Nothing is known of the time before the session: what is in other files was there.
            None => found.iter().filter(|one| request.edited.contains(&one.file)).cloned().collect(),
        };
        let earlier = untold.found.get(&command.run).into_iter().flatten().filter(|one| found.contains(one));
        let mut told: Vec<Diagnostic> = earlier.cloned().collect();
        told.extend(
            new.into_iter().filter(|one| untold.found.get(&command.run).is_none_or(|told| !told.contains(one))),
        );
        answer.found.insert(command.run.clone(), told);
        let before: KnownDiagnostics =
            known.insert(command.run.clone(), noted(&found, failed.as_ref(), request.is_baseline)).unwrap_or_default();
        if let Some(failure) = failed.filter(|failure| !before.contains_key(&failure.key())) {
            answer.failed.insert(command.run.clone(), failure.why);
        }
    }
    files.keep_known(&known)?;
    Ok(Some(answer))
}

/// A failure without a problem that can be read.
struct CheckFailure {
    why: String,
    /// `true` if the check itself cannot be run.
    cannot_start: bool,
}

impl CheckFailure {
    /// Returns what is the same for the same failure after lines were added above it.
    fn key(&self) -> String {
        self.why.replace(|c: char| c.is_ascii_digit(), "")
    }
}

/// Counts the problems and the failure of a check. A check that cannot start is not part of the baseline: the agent
/// hears it once, even if it could not start before the session either.
fn noted(found: &[Diagnostic], failed: Option<&CheckFailure>, is_baseline: bool) -> KnownDiagnostics {
    let mut known = diagnostics::counted(found);
    known.extend(failed.filter(|failure| !(is_baseline && failure.cannot_start)).map(|failure| (failure.key(), 1)));
    known
}

fn touches(command: &Command, request: &CheckRequest) -> bool {
    let matches = |path: &String| command.inputs.matches(&RepoPath::from(path.as_str()));
    request.is_baseline || request.other_edits || request.edited.iter().any(matches)
}

/// Runs a check. Returns the problems, and the reason of a failure without any.
fn run(
    place: &Workplace,
    root: &Path,
    policy: &Policy,
    command: &Command,
    edited: &BTreeSet<String>,
) -> anyhow::Result<(Vec<Diagnostic>, Option<CheckFailure>)> {
    let (completed, _) = record_unseen(place, root, &command.dir, &command.run, Some(policy), CHECK_TIMEOUT)?;
    let output = crate::run::plain_text(&completed.finished.output.end());
    let mut found = diagnostics::find(&command.run, &output);
    for one in &mut found {
        one.file = seen_from_root(root, command, &one.file);
    }
    let ended = completed.finished.ended;
    let why = match ended {
        Ended::Exited(0) => None,
        _ if found.iter().any(|one| !one.warning) => None,
        Ended::Exited(status) => Some(format!("status {status}: {}", telling_lines(&output, edited))),
        Ended::Signalled(signal) => Some(format!("killed by signal {signal}")),
        Ended::NotStarted => Some("it could not be started".to_owned()),
    };
    let cannot_start = matches!(ended, Ended::NotStarted | Ended::Exited(126 | 127));
    let failed = why.map(|why| CheckFailure { why, cannot_start });
    Ok((found, failed))
}

/// Returns the lines of an output that say most about a failure: from the first that names an edited file on, else the last
/// ones.
fn telling_lines(output: &str, edited: &BTreeSet<String>) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let names = |line: &&str| edited.iter().any(|path| line.contains(path.rsplit('/').next().unwrap_or(path)));
    let start = lines.iter().position(names).unwrap_or(lines.len().saturating_sub(MAX_LINES));
    let shown: Vec<&str> = lines[start..].iter().take(MAX_LINES).copied().collect();
    if shown.is_empty() {
        return "it printed nothing".to_owned();
    }
    let text = redact(&shown.join("\n")).into_owned();
    text.lines().map(|line| line.chars().take(MAX_LINE).collect::<String>()).collect::<Vec<_>>().join("\n")
}

/// Returns a path of a command's output, relative to the root where it lies below it.
fn seen_from_root(root: &Path, command: &Command, file: &str) -> String {
    let path = Path::new(file.trim_start_matches("./"));
    let whole = if path.is_absolute() { path.to_owned() } else { root.join(command.dir.to_os()).join(path) };
    let inner = whole.strip_prefix(root).or_else(|_| {
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        whole.strip_prefix(real)
    });
    inner.map_or_else(|_| file.to_owned(), |inner| inner.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_say_most_are_told() {
        let edited = BTreeSet::from(["src/a.py".to_owned()]);
        let compiled = "  File \"src/a.py\", line 1\n    def f(:\n          ^\n\nSyntaxError: invalid syntax\n";
        let node = "node:internal\n/work/src/a.py:3\nfunction (\n         ^\n\nSyntaxError: Unexpected\n    at wrap\n    at x\n\nNode\n";
        for (output, told) in [
            (compiled, "  File \"src/a.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax"),
            (node, "/work/src/a.py:3\nfunction (\n         ^\nSyntaxError: Unexpected\n    at wrap"),
            ("1\n2\n3\n4\n5\n6\n7\n", "3\n4\n5\n6\n7"),
            ("sh: frobnicate: not found\n", "sh: frobnicate: not found"),
            ("\n", "it printed nothing"),
        ] {
            assert_eq!(telling_lines(output, &edited), told, "{output}");
        }
        assert_eq!(telling_lines(&"x y ".repeat(500), &edited).len(), MAX_LINE);
    }

    #[test]
    fn a_failure_is_known_like_a_problem() {
        let failure = |cannot_start| CheckFailure { why: "status 127: line 3".to_owned(), cannot_start };
        let known = |failure: &CheckFailure, is_baseline| noted(&[], Some(failure), is_baseline);
        let later = CheckFailure { why: "status 127: line 9".to_owned(), cannot_start: false };
        assert!(known(&failure(false), true).contains_key(&later.key()));
        assert!(known(&failure(true), false).contains_key(&later.key()));
        // The baseline does not hide a check that cannot start.
        assert!(known(&failure(true), true).is_empty());
    }
}
