//! A module of the project that takes the place of a runner: `python -m NAME` looks for it in the current folder first.

use crate::runner::project_files::ProjectFiles;

/// The options with which Python does not look there.
const SAFE: [&str; 2] = ["-P", "-I"];

/// Returns the file that Python runs instead of the module that `words` name, which follow these options.
pub(super) fn shadowing_module(words: &[&str], options: &[Option<&str>], files: &dyn ProjectFiles) -> Option<String> {
    if options.iter().flatten().any(|option| SAFE.contains(option)) {
        return None;
    }
    let named = words.iter().zip(words.iter().skip(1)).filter(|(option, _)| **option == "-m");
    named.filter_map(|(_, module)| module.split('.').next()).find_map(|module| {
        // A folder without this file is only looked into where no other place has the module.
        ["py", "pyc"]
            .iter()
            .flat_map(|ending| [format!("{module}/__init__.{ending}"), format!("{module}.{ending}")])
            .find(|path| files.has(path))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::runner::{Catalogue, classify};

    #[test]
    fn a_module_of_the_folder_runs_in_the_place_of_the_runner() {
        let makefile = ("Makefile", "test:\n\tpython3 -m unittest discover\n");
        for (line, file, shadow) in [
            ("python3 -m unittest discover", "unittest.py", Some("unittest.py")),
            ("python3 -m unittest", "unittest/__init__.py", Some("unittest/__init__.py")),
            ("python -m pytest -q", "pytest.py", Some("pytest.py")),
            ("python -W error -m pytest", "pytest.pyc", Some("pytest.pyc")),
            ("coverage run -m unittest", "unittest.py", Some("unittest.py")),
            ("python -m coverage run -m pytest", "coverage.py", Some("coverage.py")),
            ("python -m mypy src", "mypy/__init__.py", Some("mypy/__init__.py")),
            ("make test", "unittest.py", Some("unittest.py")),
            // The standard library comes before a folder that is not a package.
            ("python3 -m unittest discover", "unittest/__main__.py", None),
            ("python3 -m unittest discover", "tests/unittest.py", None),
            ("python3 -m unittest discover", "pytest.py", None),
            ("python3 -P -m unittest discover", "unittest.py", None),
            // A script does not look into the folder, and a marker is not a module.
            ("pytest -m slow", "slow.py", None),
            ("pytest -q", "pytest.py", None),
        ] {
            let argv: Vec<Option<String>> = line.split(' ').map(|word| Some(word.to_owned())).collect();
            let files: BTreeMap<String, String> =
                [makefile, (file, "")].map(|(path, text)| (path.to_owned(), text.to_owned())).into();
            let found = classify(Catalogue::embedded(), &argv, &files);
            assert_eq!(found.shadowed_by.as_deref(), shadow, "{line} {file}");
        }
    }
}
