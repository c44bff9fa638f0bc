//! Stories for tests, with one line for each step.

use jiff::Timestamp;

use super::Story;
use crate::event::{
    Act, AgentWork, CommandEnd, CommandRef, EditKind, Ended, Event, EventKind, FileEdit, GitEvent, Grade, Origin,
    PlanItem, Prompt, Run, ShellCommand, Speaker, StopKind, ToolUse, TurnEnd,
};
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::runner::{Project, ProjectFiles};
use crate::snapshot::KeptSnapshot;
use crate::timeline::Entry;

/// A list of events.
#[derive(Default)]
pub(crate) struct Tale {
    pub(crate) entries: Vec<Entry>,
}

/// Returns a tree id of one digit.
pub(crate) fn tree(digit: char) -> Oid {
    digit.to_string().repeat(40).parse().unwrap()
}

impl Tale {
    fn event(mut self, grade: Grade, session: Option<&str>, kind: EventKind) -> Self {
        let number = self.entries.len();
        let event = Event {
            id: format!("e{number}"),
            at: Timestamp::from_second(i64::try_from(number).unwrap()).unwrap(),
            session: session.map(str::to_owned),
            origin: Origin { by: format!("client {}", grade.as_str()), grade },
            kind,
        };
        self.entries.push(Entry { event, started: None, also: Vec::new(), unjudged: false });
        self
    }

    pub(crate) fn work(self, grade: Grade, session: &str, call: Option<&str>, act: Act) -> Self {
        let work = AgentWork { actor: None, call: call.map(str::to_owned), head: None, act };
        self.event(grade, Some(session), EventKind::Work(Box::new(work)))
    }

    pub(crate) fn act(self, act: Act) -> Self {
        self.work(Grade::Hooked, "s", None, act)
    }

    pub(crate) fn prompt(self, text: &str) -> Self {
        self.act(Act::Prompt(Prompt { from: Speaker::Person, text: text.to_owned() }))
    }

    pub(crate) fn said(self, text: &str) -> Self {
        self.act(Act::Said(text.to_owned()))
    }

    pub(crate) fn planned(self, text: &str) -> Self {
        self.act(Act::Planned(vec![PlanItem { text: text.to_owned(), done: false }]))
    }

    pub(crate) fn read(self, target: &str) -> Self {
        let (tool, target) = ("Read".to_owned(), target.to_owned());
        self.act(Act::Used(ToolUse { tool, reads: true, target, failed: false }))
    }

    pub(crate) fn edit(self, path: &str, removed: &str, added: &str) -> Self {
        self.act(Act::Edited(vec![edit(path, removed, added)]))
    }

    pub(crate) fn delete(self, path: &str) -> Self {
        self.act(Act::Edited(vec![FileEdit { how: EditKind::Deleted, ..edit(path, "", "") }]))
    }

    pub(crate) fn ran(self, line: &str, status: i32, output: &str) -> Self {
        self.act(Act::Command(Box::new(shell(line, Some(status), output))))
    }

    pub(crate) fn ran_on(self, content: char, line: &str, status: i32, output: &str) -> Self {
        let seen = seen(content);
        let mut command = shell(line, Some(status), output);
        command.start = Some(seen.clone());
        command.end = Some(seen);
        self.act(Act::Command(Box::new(command)))
    }

    pub(crate) fn started(self, call: &str, line: &str) -> Self {
        let command = ShellCommand { background: true, ..shell(line, None, "") };
        self.work(Grade::Hooked, "s", Some(call), Act::Command(Box::new(command)))
    }

    pub(crate) fn ended(self, call: &str, status: i32, output: &str) -> Self {
        let end = CommandEnd { ended: Some(Ended::Exited(status)), tail: output.to_owned() };
        self.work(Grade::Hooked, "s", Some(call), Act::CommandEnded(end))
    }

    /// Adds a command that a hook reported and that served a declared one: two events of one call.
    pub(crate) fn proved(self, call: &str, content: char, line: &str, status: i32, output: &str) -> Self {
        let command = shell(line, Some(status), output);
        let seen = seen(content);
        let declared = CommandRef {
            name: Some("test".to_owned()),
            line: line.to_owned(),
            dir: RepoPath::default(),
            key: line.to_owned(),
        };
        let run = Run {
            call: Some(call.to_owned()),
            ended: Ended::Exited(status),
            tail: output.to_owned(),
            ..Run::passed(declared, seen.clone())
        };
        let command = ShellCommand { start: Some(seen.clone()), end: Some(seen), ..command };
        self.work(Grade::Hooked, "s", Some(call), Act::Command(Box::new(command))).event(
            Grade::Hooked,
            Some("s"),
            EventKind::Run(Box::new(run)),
        )
    }

    pub(crate) fn git(self, action: &str, old: char, new: char) -> Self {
        let event = GitEvent {
            action: action.to_owned(),
            reference: "HEAD".to_owned(),
            old: Some(tree(old)),
            new: Some(tree(new)),
            message: String::new(),
        };
        self.event(Grade::Observed, None, EventKind::Git(event))
    }

    pub(crate) fn stop(self, text: &str) -> Self {
        self.act(Act::Stopped(TurnEnd {
            how: StopKind::Completed,
            text: text.to_owned(),
            running: 0,
            left_alone: None,
        }))
    }

    pub(crate) fn story(&self) -> Story {
        self.story_with(&())
    }

    pub(crate) fn story_with(&self, files: &dyn ProjectFiles) -> Story {
        Story::of(&self.entries, Some("s"), Project::without_runners(files))
    }
}

fn seen(content: char) -> KeptSnapshot {
    KeptSnapshot::of_tree(tree(content))
}

pub(crate) fn edit(path: &str, removed: &str, added: &str) -> FileEdit {
    let (removed, added) = (removed.to_owned(), added.to_owned());
    FileEdit { path: RepoPath::from(path), how: EditKind::Written, removed, added }
}

pub(crate) fn shell(line: &str, status: Option<i32>, output: &str) -> ShellCommand {
    ShellCommand {
        line: line.to_owned(),
        dir: Some(RepoPath::default()),
        ended: status.map(Ended::Exited),
        tail: output.to_owned(),
        ..ShellCommand::default()
    }
}
