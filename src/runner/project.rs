//! The project in which a command line is read.

use crate::runner::catalogue::Catalogue;
use crate::runner::project_files::ProjectFiles;

/// The project in which a command line is read: the runners that it knows, and the files that define its tasks.
#[derive(Clone, Copy)]
pub struct Project<'a> {
    /// The runners: those of the policy in force, or those of the binary where no policy is read.
    pub runners: &'a Catalogue,
    /// The files of the directory that the line starts in.
    pub files: &'a dyn ProjectFiles,
}

impl<'a> Project<'a> {
    /// Returns a project of these files that has no runners of its own.
    pub fn without_runners(files: &'a dyn ProjectFiles) -> Self {
        Self { runners: Catalogue::embedded(), files }
    }

    /// Returns the same project, seen from another directory.
    #[must_use]
    pub fn with_files<'b>(self, files: &'b dyn ProjectFiles) -> Project<'b>
    where
        'a: 'b,
    {
        Project { runners: self.runners, files }
    }
}
