//! A command that the agent ran becomes evidence: two snapshots of ours, and the status that its client reports.

use std::path::Path;
use std::sync::LazyLock;

use super::desk::{Desk, clean};
use super::memory::Pending;
use super::told::{self, Ending, Told};
use crate::command_line::{self, Purpose, Understood, Witnessed};
use crate::embedded;
use crate::event::work::{Act, CommandEnd, ShellCommand};
use crate::event::{Ended, EventKind, Run};
use crate::policy::Policy;
use crate::repo_path::RepoPath;
use crate::run::{self, Output};
use crate::runner::{CommandKind, ProjectFiles};
use crate::shell::program::Leaf;

/// How much of the end of an output is kept, in bytes.
const TAIL: usize = 8 * 1024;
/// How much of the end of an output is read, in bytes.
const READ: usize = 64 * 1024;
/// How many paths an event lists.
const PATHS: usize = 256;

/// What a command line that is about to run means for the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// It only reads: nothing needs to be known of it before it runs.
    Light,
    /// It does something.
    Some,
    /// It checks the code, or may: what it ran on must be known.
    Checks,
}

/// Reads a line. Nothing of the repository is opened for it but the task files that say what it means.
pub(super) fn understand(line: &str, dir: &Path) -> Option<Understood> {
    command_line::understand(line, &Directory(dir)).ok()
}

/// Weighs a line; `None`: one that cannot be read.
pub(super) fn weigh(line: Option<&Understood>) -> Weight {
    const CHECKS: [CommandKind; 4] = [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];
    let Some(line) = line else { return Weight::Checks };
    let light = |(leaf, one): (&Leaf, &Purpose)| {
        let reads = one.kinds.iter().all(|kind| *kind == "read");
        !one.edits && leaf.writes.is_empty() && (reads || leaf.name().is_some_and(harmless))
    };
    if line.program.truncated || line.purposes.iter().any(|one| CHECKS.iter().any(|kind| one.is(*kind))) {
        Weight::Checks
    } else if line.program.leaves.iter().zip(&line.purposes).all(light) {
        Weight::Light
    } else if line.purposes.iter().any(|one| one.kinds.contains(&"other")) {
        // A script nobody knows may be the command that the policy declares.
        Weight::Checks
    } else {
        Weight::Some
    }
}

/// Whether a program neither changes nor checks anything, whatever its arguments are.
fn harmless(name: &str) -> bool {
    #[derive(Default, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Harmless {
        names: Vec<String>,
    }
    static HARMLESS: LazyLock<Harmless> = LazyLock::new(|| {
        let file = embedded::file(embedded::GATES, "harmless-commands.toml").unwrap_or_default();
        toml::from_str(file).unwrap_or_default()
    });
    HARMLESS.names.iter().any(|known| known == name)
}

/// Looks at the working tree before a command runs.
pub(super) fn begin(desk: &mut Desk, told: &Told, call: &str, line: &str, dir: Option<&Path>) {
    let Some(dir) = directory(desk, told, dir) else { return };
    match desk.place.repo.keep_now() {
        Ok(start) => {
            let line = clean(line);
            let pending = Pending {
                call: call.to_owned(),
                line,
                dir,
                start,
                end: None,
                tail: String::new(),
                cut: false,
                millis: 0,
            };
            if let Err(error) = desk.store.put(&pending) {
                desk.said.push(format!("gate: what this command runs on is not remembered: {error}"));
            }
        }
        Err(error) => desk.said.push(format!("gate: the working tree could not be read: {error}")),
    }
}

/// Writes down a command that ended, and what it proves.
pub(super) fn end(desk: &mut Desk, told: &Told, call: &str, line: &str, dir: Option<&Path>, ending: &Ending) {
    let pending = desk.store.take(call);
    let tail = tail_of(&ending.output);
    let mut command = ShellCommand {
        line: clean(line),
        dir: directory(desk, told, dir),
        ended: ending.ended,
        tail: tail.clone(),
        background: ending.background,
        start: pending.as_ref().map(|pending| pending.start.clone()),
        end: None,
    };
    let Some(mut pending) = pending else {
        desk.record(Some(call), Act::Command(Box::new(command)));
        return;
    };
    if ending.background {
        desk.record(Some(call), Act::Command(Box::new(command)));
        let _ = desk.store.put_as(ending.left_as.as_deref().unwrap_or(call), &pending);
        return;
    }
    pending.end = match desk.place.repo.keep_now() {
        Ok(end) => Some(end),
        Err(error) => {
            desk.said.push(format!("gate: the working tree could not be read: {error}"));
            None
        }
    };
    command.end.clone_from(&pending.end);
    let from_log = || super::log::status(desk.client, told.log.as_deref()?, call);
    let ended = ending.ended.or_else(|| if ending.in_log { from_log() } else { None });
    command.ended = ended;
    desk.record(Some(call), Act::Command(Box::new(command)));
    pending.millis = ending.millis;
    match ended {
        Some(ended) => prove(desk, &pending, ended, &plain(&ending.output)),
        None if ending.in_log => {
            pending.tail = tail;
            pending.cut = true;
            let _ = desk.store.put(&pending);
        }
        None => {}
    }
}

/// Writes down the end of a command that was left in the background.
pub(super) fn end_of_background(desk: &mut Desk, left_as: &str, ended: Option<Ended>, output: &told::Output) {
    let text = match output {
        told::Output::File(path) => end_of_file(path),
        told::Output::Shown(text) => text.clone(),
        told::Output::Unknown => String::new(),
    };
    let pending = desk.store.take(left_as);
    let call = pending.as_ref().map_or(left_as, |pending| &pending.call).to_owned();
    desk.record(Some(&call), Act::CommandEnded(CommandEnd { ended, tail: tail_of(&text) }));
    let Some(mut pending) = pending else { return };
    let Some(ended) = ended else { return };
    match desk.place.repo.keep_now() {
        Ok(end) => pending.end = Some(end),
        Err(error) => desk.said.push(format!("gate: the working tree could not be read: {error}")),
    }
    prove(desk, &pending, ended, &plain(&text));
}

/// Learns from the client's log how commands ended whose status its hook did not tell.
pub(super) fn settle(desk: &mut Desk, log: Option<&Path>) {
    let Some(log) = log else { return };
    for pending in desk.store.ended() {
        let Some(ended) = super::log::status(desk.client, log, &pending.call) else { continue };
        desk.store.take(&pending.call);
        let end = CommandEnd { ended: Some(ended), tail: String::new() };
        desk.record(Some(&pending.call), Act::CommandEnded(end));
        prove(desk, &pending, ended, &pending.tail);
    }
}

/// Writes down a run for each declared command that this one was.
fn prove(desk: &mut Desk, pending: &Pending, ended: Ended, output: &str) {
    let Some(end) = &pending.end else { return };
    let policy = match policy_here(desk) {
        Ok(policy) => policy,
        Err(said) => {
            desk.said.push(said);
            return;
        }
    };
    let served = served(&policy, &desk.root, pending, ended, output);
    if served.is_empty() {
        return;
    }
    let mut changed = match desk.place.repo.changed_between(&pending.start, end) {
        Ok(changed) => changed,
        Err(error) => {
            desk.said.push(format!("gate: two snapshots could not be compared: {error}"));
            return;
        }
    };
    changed.truncate(PATHS);
    let tail = tail_of(output);
    let runs = served.into_iter().map(|served| {
        EventKind::Run(Box::new(Run {
            command: served.command,
            call: Some(pending.call.clone()),
            start: pending.start.clone(),
            end: end.clone(),
            changed: changed.clone(),
            ended: served.ended,
            millis: pending.millis,
            report: served.report,
            masked: served.masked,
            tail: tail.clone(),
            policy: policy.digest.clone(),
        }))
    });
    desk.append(runs.collect());
}

/// The policy that counts for what is checked out.
pub(super) fn policy_here(desk: &Desk) -> Result<Policy, String> {
    let repo = &desk.place.repo;
    let lineage = repo
        .head()
        .and_then(|head| {
            head.commit
                .map(|commit| crate::fact::collect::lineage(repo, &commit, crate::fact::collect::BaseOf::AnyRemote))
                .transpose()
        })
        .map_err(|error| format!("gate: git cannot be asked: {error}"))?;
    let (policy, _) = desk.place.policy(lineage.as_ref()).map_err(|failure| format!("gate: {failure}"))?;
    Ok(policy)
}

fn served(policy: &Policy, root: &Path, pending: &Pending, ended: Ended, output: &str) -> Vec<Witnessed> {
    let told = command_line::Told {
        line: &pending.line,
        dir: &pending.dir,
        root: root.to_str(),
        ended: Some(ended),
        output: Some(output),
        cut: pending.cut,
        background: false,
    };
    let mut served = command_line::witness(&policy.commands, &told, &Directory(root));
    // A line whose status is another's shows nothing, and must not stand before a run that did.
    served.retain(|witnessed| witnessed.masked.is_none());
    served
}

/// The directory of a call, relative to the root; `None` outside of it.
fn directory(desk: &Desk, told: &Told, dir: Option<&Path>) -> Option<RepoPath> {
    let base = told.dir.clone().unwrap_or_else(|| desk.root.clone());
    desk.inside(&dir.map_or(base.clone(), |dir| base.join(dir)))
}

fn output_of(text: &str) -> Output {
    let bytes = text.as_bytes();
    let cut = bytes.len() > READ;
    let tail = bytes[bytes.len() - bytes.len().min(READ)..].to_vec();
    Output { head: Vec::new(), tail, total: bytes.len() as u64, cut }
}

fn tail_of(text: &str) -> String {
    run::clean_tail(&output_of(text), TAIL)
}

fn plain(text: &str) -> String {
    run::plain_text(&output_of(text).end())
}

fn end_of_file(path: &Path) -> String {
    super::log::end(path, READ as u64).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The project files of a directory: task files that say what a command line means.
pub(super) struct Directory<'a>(pub(super) &'a Path);

impl ProjectFiles for Directory<'_> {
    fn read(&self, path: &str) -> Option<String> {
        const LARGEST: u64 = 1 << 20;
        let path = self.0.join(path);
        let length = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?.len();
        (length <= LARGEST).then(|| std::fs::read_to_string(path).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_reads_is_light_and_what_may_check_is_not() {
        let dir = tempfile::tempdir().unwrap();
        for (line, weight) in [
            ("ls -la", Weight::Light),
            ("cat a | grep b | head -3", Weight::Light),
            ("cd src && rg -n foo", Weight::Light),
            ("cargo test", Weight::Checks),
            ("cd web && npm test 2>&1 | tail -5", Weight::Checks),
            ("sh test.sh", Weight::Checks),
            ("./check", Weight::Checks),
            ("git commit -m x", Weight::Some),
            ("echo hello > file.txt", Weight::Some),
            ("if then fi (", Weight::Checks),
        ] {
            assert_eq!(weigh(understand(line, dir.path()).as_ref()), weight, "{line}");
        }
    }
}
