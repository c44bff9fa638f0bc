//! The command lines of all sessions, as far as each is one plain command.

use std::path::{Component, Path};

use super::CuratorSources;
use super::plain_command::PlainCommand;
use crate::command_line::CheckOutcome;
use crate::event::Ended;
use crate::fact::session_steps::{CommandRun, Deed, Story};
use crate::repo_path::RepoPath;
use crate::shell::expanded_program::ChangedDirectory;

/// A run of one plain command.
pub(super) struct SeenRun<'s> {
    /// The index of its story.
    pub(super) story: usize,
    pub(super) session: &'s str,
    /// The index of its step.
    pub(super) step: usize,
    /// The id of its event.
    pub(super) id: &'s str,
    pub(super) command: PlainCommand,
    /// The run.
    pub(super) ran: &'s CommandRun,
    /// The end of its output.
    pub(super) output: &'s str,
    /// The place at which it ran.
    pub(super) place: RunFolder,
}

/// The place at which a command ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunFolder {
    /// The root of the working tree.
    Root,
    /// This folder in it.
    Folder(String),
    /// Outside of it, or nobody knows.
    Elsewhere,
}

impl RunFolder {
    /// Returns the place of a command that was started in `dir` and that its line sent to another directory.
    fn of(root: &Path, dir: Option<&RepoPath>, changed: Option<&ChangedDirectory>) -> Self {
        let inside = |path: &Path| {
            let mut parts: Vec<&str> = Vec::new();
            for part in path.components() {
                match part {
                    Component::CurDir => {}
                    Component::Normal(name) => match name.to_str() {
                        Some(name) => parts.push(name),
                        None => return Self::Elsewhere,
                    },
                    Component::ParentDir if parts.pop().is_some() => {}
                    _ => return Self::Elsewhere,
                }
            }
            if parts.is_empty() { Self::Root } else { Self::Folder(parts.join("/")) }
        };
        let Some(changed) = changed else { return dir.map_or(Self::Elsewhere, |dir| inside(&dir.to_os())) };
        if let Some(path) = &changed.from_top {
            return inside(Path::new(path.trim_start_matches('/')));
        }
        let Some(path) = changed.path.as_deref().map(Path::new) else { return Self::Elsewhere };
        if path.is_relative() {
            return dir
                .filter(|_| !path.starts_with("~"))
                .map_or(Self::Elsewhere, |dir| inside(&dir.to_os().join(path)));
        }
        match path.strip_prefix(root) {
            Ok(below) => inside(below),
            // A log may be of another clone.
            Err(_) if path.file_name() == root.file_name() => Self::Root,
            Err(_) => Self::Elsewhere,
        }
    }

    /// Returns the place as the end of a sentence; empty for the root.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Folder(folder) => format!(" in {folder}"),
            Self::Elsewhere => " outside of the working tree".to_owned(),
        }
    }
}

impl SeenRun<'_> {
    /// Returns `true` if it is known to have succeeded.
    pub(super) fn passed(&self) -> bool {
        match self.ran.result {
            Some(result) => result == CheckOutcome::Pass,
            None => self.ran.ended.is_some_and(Ended::success),
        }
    }
}

/// Returns the runs of all stories, in order.
pub(super) fn all<'s>(sources: &CuratorSources<'s>) -> Vec<SeenRun<'s>> {
    sources.stories.iter().enumerate().flat_map(|(at, story)| of(at, story, sources)).collect()
}

fn of<'s>(at: usize, story: &'s Story, sources: &CuratorSources<'s>) -> Vec<SeenRun<'s>> {
    let session = story.session.as_deref().unwrap_or("unknown");
    let seen = |(step, one): (usize, &'s crate::fact::session_steps::Step)| {
        let Deed::Ran(ran) = &one.deed else { return None };
        let (command, changed) = PlainCommand::with_directory(&ran.line).filter(|_| !ran.background)?;
        let details = sources.details.get(&one.id);
        let output = details.map(|details| details.output.as_str()).unwrap_or_default();
        let place = RunFolder::of(sources.root, details.and_then(|details| details.dir.as_ref()), changed.as_ref());
        Some(SeenRun { story: at, session, step, id: &one.id, command, ran, output, place })
    };
    story.steps.iter().enumerate().filter_map(seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_command_is_where_its_line_goes() {
        let folder = |name: &str| RunFolder::Folder(name.to_owned());
        for (dir, line, expected) in [
            (Some(""), "make lint", RunFolder::Root),
            (Some("web"), "make lint", folder("web")),
            (None, "make lint", RunFolder::Elsewhere),
            (Some(""), "cd web && make lint", folder("web")),
            (Some("web"), "cd .. && make lint", RunFolder::Root),
            (Some(""), "cd .. && make lint", RunFolder::Elsewhere),
            (None, "cd /home/me/work/web && make lint", folder("web")),
            (Some("web"), "cd /home/me/work && make lint", RunFolder::Root),
            (Some(""), "cd /home/other/work && make lint", RunFolder::Root),
            (Some(""), "cd /tmp && make lint", RunFolder::Elsewhere),
            (Some(""), "cd $X && make lint", RunFolder::Elsewhere),
        ] {
            let changed = PlainCommand::with_directory(line).unwrap().1;
            let dir = dir.map(RepoPath::from);
            let place = RunFolder::of(Path::new("/home/me/work"), dir.as_ref(), changed.as_ref());
            assert_eq!(place, expected, "{dir:?} {line}");
        }
    }
}
