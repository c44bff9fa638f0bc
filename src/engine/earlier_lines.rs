//! The lines that ran before on the same content, from the journal: together they may prove a declared command.

use crate::command_line::ObservedLine;
use crate::event::{Act, Ended, Event, EventKind, Grade, ShellCommand};
use crate::journal::{Journal, JournalError, JournalLine, JournalState};
use crate::repo_path::RepoPath;
use crate::shell_kind::Shell;
use crate::snapshot::KeptSnapshot;

/// The largest number of events that are looked at.
const MAX_EVENTS: usize = 256;

/// A recorded line that ended on the content on which it began.
pub(crate) struct EarlierLine {
    line: String,
    dir: RepoPath,
    /// The end of its process and the end of its output; `None` for a line of which no snapshots were taken.
    ended: Option<(Ended, String)>,
    shell: Option<Shell>,
}

impl EarlierLine {
    /// Returns the line as it was recorded in the working tree at `root`. Its output is the end of what it printed.
    pub(crate) fn observed<'a>(&'a self, root: Option<&'a str>) -> ObservedLine<'a> {
        ObservedLine {
            line: &self.line,
            dir: &self.dir,
            root,
            ended: self.ended.as_ref().map(|(ended, _)| *ended),
            output: self.ended.as_ref().map(|(_, tail)| tail.as_str()),
            cut: true,
            background: false,
            shell: self.shell,
        }
    }
}

/// Returns the lines that ran since the content became `content`, oldest first, without the line of `call`.
pub(crate) fn earlier_lines(
    journal: &Journal,
    state: &JournalState,
    content: &KeptSnapshot,
    call: Option<&str>,
) -> Result<Vec<EarlierLine>, JournalError> {
    let (events, _) = journal.last_events(MAX_EVENTS)?;
    let mut found = Vec::new();
    for line in events.into_iter().rev() {
        let JournalLine::Event(event) = line else { break };
        if event.origin.grade < Grade::Hooked || state.doubts(&event.id) {
            continue;
        }
        match recorded(event, call) {
            Recorded::Line(seen, _) if !seen.iter().all(|one| is_same(one, content)) => break,
            Recorded::Line(_, line) | Recorded::Unseen(line) => found.push(line),
            Recorded::Unknown => break,
            Recorded::Nothing => {}
        }
    }
    found.reverse();
    Ok(found)
}

/// The part of an event that matters here.
enum Recorded {
    /// A line, with the content before and after it.
    Line(Box<[KeptSnapshot; 2]>, EarlierLine),
    /// A line without snapshots: it only reads, or shows nothing.
    Unseen(EarlierLine),
    /// A line of which too little is known.
    Unknown,
    /// Another event.
    Nothing,
}

fn recorded(event: Event, own_call: Option<&str>) -> Recorded {
    match event.kind {
        EventKind::Work(work) if own_call.is_none_or(|own| work.call.as_deref() != Some(own)) => match work.act {
            Act::Command(command) => of_agent(*command),
            _ => Recorded::Nothing,
        },
        // The lines of an agent's calls are those of its work.
        EventKind::Run(run) if run.call.is_none() && run.masked.is_none() => {
            let (line, dir) = (run.command.line, run.command.dir);
            let line = EarlierLine { line, dir, ended: Some((run.ended, run.tail)), shell: Some(Shell::Sh) };
            Recorded::Line(Box::new([run.start, run.end]), line)
        }
        _ => Recorded::Nothing,
    }
}

fn of_agent(command: ShellCommand) -> Recorded {
    let ShellCommand { line, dir, ended, tail, background, shell, start, end } = command;
    match (start, end, dir, ended) {
        _ if background => Recorded::Unknown,
        (None, None, dir, _) => {
            Recorded::Unseen(EarlierLine { line, dir: dir.unwrap_or_default(), ended: None, shell })
        }
        (Some(start), Some(end), Some(dir), Some(ended)) => {
            Recorded::Line(Box::new([start, end]), EarlierLine { line, dir, ended: Some((ended, tail)), shell })
        }
        _ => Recorded::Unknown,
    }
}

/// Returns `true` if two snapshots hold the same files, committed or not.
fn is_same(one: &KeptSnapshot, other: &KeptSnapshot) -> bool {
    let files = |of: &KeptSnapshot| KeptSnapshot { head: None, untracked: Vec::new(), ..of.clone() };
    files(one) == files(other)
}
