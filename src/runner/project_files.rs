//! The files of a project that say what its tasks run.

/// The text files of a project that can be read.
pub trait ProjectFiles {
    /// Returns the text of the file at `path`, relative to the directory in which the command runs, or `None` if the
    /// file does not exist, is not text, or is unknown.
    fn read(&self, path: &str) -> Option<String>;

    /// Returns `true` if there is a file at `path`, text or not.
    fn has(&self, path: &str) -> bool {
        self.read(path).is_some()
    }

    /// Returns the names in a folder, relative to that directory; those of folders end in `/`. `None`: they are unknown.
    fn names(&self, _folder: &str) -> Option<Vec<String>> {
        None
    }
}

/// Has no files.
impl ProjectFiles for () {
    fn read(&self, _: &str) -> Option<String> {
        None
    }
}
