//! The files of a project that say what its tasks run.

use std::borrow::Cow;

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

/// The files of a project, seen from a directory in it.
pub struct InDirectory<'a> {
    /// The files.
    pub files: &'a dyn ProjectFiles,
    /// The directory, if it is another one.
    pub directory: Option<&'a str>,
}

impl InDirectory<'_> {
    fn path<'p>(&self, path: &'p str) -> Cow<'p, str> {
        match self.directory {
            Some(directory) if !matches!(directory, "" | ".") && !path.starts_with('/') => {
                Cow::Owned(format!("{}/{path}", directory.trim_end_matches('/')))
            }
            _ => Cow::Borrowed(path),
        }
    }
}

impl ProjectFiles for InDirectory<'_> {
    fn read(&self, path: &str) -> Option<String> {
        self.files.read(&self.path(path))
    }

    fn has(&self, path: &str) -> bool {
        self.files.has(&self.path(path))
    }

    fn names(&self, folder: &str) -> Option<Vec<String>> {
        self.files.names(&self.path(folder))
    }
}
