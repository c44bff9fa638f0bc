//! A task as its file defines it.

/// A task of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Task {
    /// The tasks that run before it.
    pub(super) depends: Vec<String>,
    /// The steps: lines, or other tasks.
    pub(super) steps: Vec<TaskStep>,
    /// `true` if it depends on something that is not a task of the file.
    pub(super) needs_files: bool,
    /// The reason why its status 0 proves nothing.
    pub(super) doubt: Option<String>,
}

/// A step of a task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TaskStep {
    /// A line of shell.
    Line(String),
    /// A line whose failure the runner ignores, but prints.
    Ignored(String),
    /// Another task of the file.
    Task(String),
}

/// The lines that a task runs, with those of the tasks that it depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskScript {
    /// The shell lines, those of the tasks it depends on first.
    pub lines: Vec<String>,
    /// The same lines if none of those failed whose failure the runner ignores and prints; `None` if there are none.
    pub unless_ignored: Option<Vec<String>>,
    /// The reason why status 0 proves nothing.
    pub doubt: Option<String>,
}

impl TaskScript {
    /// Appends a line.
    pub(super) fn push(&mut self, line: &str, ignored: bool) {
        if !ignored {
            self.lines.push(line.to_owned());
            self.unless_ignored.iter_mut().for_each(|lines| lines.push(line.to_owned()));
            return;
        }
        let plain = self.unless_ignored.get_or_insert_with(|| self.lines.clone());
        plain.push(line.to_owned());
        let is_simple = !line.contains([';', '|', '&', '\n']);
        self.lines.push(if is_simple { format!("{line} || true") } else { format!("{{ {line}\n}} || true") });
    }
}
