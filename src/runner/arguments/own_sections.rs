//! The sections of files of settings that a runner reads: `tox.ini` has those of tox as well.

use std::collections::BTreeMap;

use crate::runner::project_files::ProjectFiles;

/// The files of a project, in which files of settings have only the sections of one runner.
pub(super) struct OwnSections<'a> {
    pub(super) files: &'a dyn ProjectFiles,
    /// The start of the names of its sections, by file.
    pub(super) sections: &'a BTreeMap<String, String>,
}

impl ProjectFiles for OwnSections<'_> {
    fn read(&self, path: &str) -> Option<String> {
        let text = self.files.read(path)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        Some(self.sections.get(name).map_or_else(|| text.clone(), |section| lines_of(section, &text)))
    }

    fn has(&self, path: &str) -> bool {
        self.files.has(path)
    }

    fn names(&self, folder: &str) -> Option<Vec<String>> {
        self.files.names(folder)
    }
}

/// Returns the lines of a text in the sections whose names begin with `section`.
fn lines_of(section: &str, text: &str) -> String {
    let mut is_own = false;
    let mut lines = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.trim_end().strip_suffix(']')) {
            is_own = name.trim_start_matches('[').starts_with(section);
        }
        if is_own {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sections_are_left_out() {
        let tox = "[tox]\nenvlist = py\n\n[pytest]\naddopts = -ra\n\n[testenv]\ncommands = pytest --doctest-modules\n";
        assert_eq!(lines_of("pytest", tox), "[pytest]\naddopts = -ra\n\n");
        let toml =
            "[project]\nname = \"testpaths\"\n[tool.pytest.ini_options]\naddopts = [\n  \"-ra\",\n]\n[tool.x]\na = 1\n";
        assert_eq!(lines_of("tool.pytest", toml), "[tool.pytest.ini_options]\naddopts = [\n  \"-ra\",\n]\n");
    }
}
