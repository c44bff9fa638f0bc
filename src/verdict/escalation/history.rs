//! What a session did since it was first refused in a row: the part of the record a payload is derived from.

use crate::event::work::{Act, EditKind};
use crate::event::{Ended, Event, EventKind};
use crate::fact::outputs;
use crate::repo_path::RepoPath;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The acts, oldest first.
    pub acts: Vec<Done>,
    /// The latest run that ended badly.
    pub failure: Option<Failure>,
}

/// One act.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// A command line ran to this end; `None`: nobody recorded it.
    Ran(String, Option<Ended>),
    /// Files were changed.
    Edited(Vec<RepoPath>),
    /// A verdict refused, for the so-and-so-many-eth time.
    Refused(u32),
}

/// A run that ended badly.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The name of the declared command.
    pub name: Option<String>,
    /// The command line.
    pub line: String,
    /// The directory it ran in.
    pub dir: RepoPath,
    /// How it ended.
    pub ended: Ended,
    /// How its output says that it failed.
    pub signature: Vec<String>,
}

impl History {
    /// What `events` say about `session`, in their order.
    pub fn of<'a>(events: impl Iterator<Item = &'a Event>, session: &str) -> Self {
        let mut history = Self::default();
        for event in events.filter(|event| event.session.as_deref() == Some(session)) {
            history.take(event);
        }
        history
    }

    fn take(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Run(run) => {
                self.ran(&run.command.line, Some(run.ended));
                if !run.ended.success() {
                    self.failure = Some(Failure {
                        name: run.command.name.clone(),
                        line: run.command.line.clone(),
                        dir: run.command.dir.clone(),
                        ended: run.ended,
                        signature: outputs::signature(&run.tail),
                    });
                }
            }
            EventKind::Judged(judged) => {
                if !judged.blocked && matches!(judged.attempt, 0) {
                    *self = Self::default();
                } else if judged.attempt <= 1 {
                    self.acts.clear();
                }
                if judged.blocked {
                    self.acts.push(Done::Refused(judged.attempt));
                }
            }
            EventKind::Work(work) => match &work.act {
                Act::Command(command) => self.ran(&command.line, command.ended),
                Act::Edited(edits) => {
                    let changed = edits.iter().filter(|edit| matches!(edit.how, EditKind::Written | EditKind::Deleted));
                    self.edited(changed.map(|edit| edit.path.clone()).collect());
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// A command that an agent's client reports and `gate run` watched is one act.
    fn ran(&mut self, line: &str, ended: Option<Ended>) {
        let act = Done::Ran(line.to_owned(), ended);
        if self.acts.last() != Some(&act) {
            self.acts.push(act);
        }
    }

    fn edited(&mut self, paths: Vec<RepoPath>) {
        match self.acts.last_mut() {
            Some(Done::Edited(before)) => {
                for path in paths {
                    if !before.contains(&path) {
                        before.push(path);
                    }
                }
            }
            _ => self.acts.push(Done::Edited(paths)),
        }
    }

    /// The command lines, oldest first.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.acts.iter().filter_map(|act| match act {
            Done::Ran(line, _) => Some(line.as_str()),
            _ => None,
        })
    }
}

/// One line for a payload.
pub(super) fn tell(act: &Done) -> String {
    match act {
        Done::Ran(line, Some(Ended::Exited(0))) => format!("ran `{line}`: status 0"),
        Done::Ran(line, Some(Ended::Exited(status))) => format!("ran `{line}`: status {status}"),
        Done::Ran(line, Some(Ended::Signalled(signal))) => format!("ran `{line}`: killed by signal {signal}"),
        Done::Ran(line, Some(Ended::NotStarted)) => format!("ran `{line}`: it could not be started"),
        Done::Ran(line, None) => format!("ran `{line}`"),
        Done::Edited(paths) => {
            let shown: Vec<_> = paths.iter().take(4).map(ToString::to_string).collect();
            let more = paths.len().saturating_sub(shown.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("edited {}{more}", shown.join(", "))
        }
        Done::Refused(attempt) => format!("asked again (attempt {attempt})"),
    }
}
