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
}

/// A step of a task.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TaskStep {
    /// A line of shell.
    Line(String),
    /// Another task of the file.
    Task(String),
}
