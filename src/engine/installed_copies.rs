//! Installed copies of a project's own modules, which its tests import in the place of the sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::tool_folder::environment_names;

/// The settings that may put the sources before what is installed, and how.
const PATH_SETTINGS: [(&str, &str); 7] = [
    ("pyproject.toml", "pythonpath"),
    ("pytest.ini", "pythonpath"),
    (".pytest.ini", "pythonpath"),
    ("tox.ini", "pythonpath"),
    ("setup.cfg", "pythonpath"),
    ("conftest.py", "sys.path"),
    ("tests/conftest.py", "sys.path"),
];

/// Returns the sentence about a changed source below `src/` of which another copy is installed, with other content. Tests
/// import the installed one, unless a setting puts the sources before it.
pub(super) fn installed_copy(root: &Path, sources: &BTreeSet<&RepoPath>, line: &str, again: &str) -> Option<String> {
    const VARIABLE: &str = "PYTHONPATH";
    if line.contains(VARIABLE) || std::env::var_os(VARIABLE).is_some() {
        return None;
    }
    let is_set =
        |(file, word): &(&str, &str)| regular_file::read_text(&root.join(file)).is_ok_and(|text| text.contains(word));
    let inner = sources.iter().filter_map(|path| Some((path, path.as_bytes().strip_prefix(b"src/")?)));
    let mut modules = inner.filter(|(_, inner)| inner.ends_with(b".py") && inner.contains(&b'/')).peekable();
    modules.peek()?;
    let folders = site_packages(root);
    if folders.is_empty() || PATH_SETTINGS.iter().any(is_set) {
        return None;
    }
    let copy_of = |(source, inner): (&&RepoPath, &[u8])| {
        let content = regular_file::read(&root.join(source.to_os())).ok()?;
        let inner = RepoPath::new(inner).to_os();
        let copy = folders.iter().map(|folder| folder.join(&inner)).find(|copy| root.join(copy).is_file())?;
        let is_other = regular_file::read(&root.join(&copy)).is_ok_and(|copied| copied != content);
        is_other.then(|| (copy, (*source).clone()))
    };
    let (copy, source) = modules.find_map(copy_of)?;
    Some(format!(
        "{}, which the tests import, has other content than {source}: install the package again, at best with `pip \
         install -e .`{again}",
        copy.display()
    ))
}

/// Returns the folders of installed packages in the environments of a project, from its root.
fn site_packages(root: &Path) -> Vec<PathBuf> {
    let environments = environment_names().iter().map(|name| Path::new(name).join("lib"));
    let versions = environments.flat_map(|lib| {
        let names = fs::read_dir(root.join(&lib)).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.map(move |name| lib.join(name).join("site-packages")).collect::<Vec<_>>()
    });
    versions.filter(|folder| root.join(folder).is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(files: &[(&str, &str)]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let source = RepoPath::from("src/a/calc.py");
        installed_copy(folder.path(), &BTreeSet::from([&source]), "pytest", "")
    }

    #[test]
    fn another_copy_is_what_the_tests_import() {
        const COPY: &str = ".venv/lib/python3.12/site-packages/a/calc.py";
        let source = ("src/a/calc.py", "x = 1\n");
        let found = said(&[source, (COPY, "x = 2\n")]).unwrap();
        assert!(found.starts_with(&format!("{COPY}, which the tests import, has other content than src/a/calc.py")));
        assert_eq!(said(&[source, (COPY, "x = 1\n")]), None);
        assert_eq!(said(&[source]), None);
        assert_eq!(said(&[source, (COPY, "x = 2\n"), ("pytest.ini", "[pytest]\npythonpath = src\n")]), None);
    }
}
