//! Packages that an environment loads from the folder of a project (`pip install -e`): in another working tree of the same
//! repository, tests would run the code of that one.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::linked_packages::{other_tree_of, real};

use super::{ACTIVE, CONFIGURATION, folders_named};

/// Settings and variables that put the folders of the working tree first.
const PUTS_FIRST: [&str; 2] = ["pythonpath", "PYTHONPATH"];
/// The files that may hold the settings of pytest.
const SETTINGS: [&str; 4] = ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"];

/// `direct_url.json` of an installed package (PEP 610).
#[derive(Deserialize)]
struct DirectUrl {
    url: String,
    #[serde(default)]
    dir_info: DirInfo,
}

#[derive(Default, Deserialize)]
struct DirInfo {
    #[serde(default)]
    editable: bool,
}

/// Returns the other working tree from which the environment of a line loads the project. `trees` are the working trees of the
/// repository, `root` the one in which the line ran, `dir` the folder.
pub fn other_tree(root: &Path, trees: &[PathBuf], dir: &Path, line: &str) -> Option<PathBuf> {
    // What lies at the root is usually found before what is installed.
    let is_own_first = !root.join("src").is_dir();
    let names_path = |text: &str| PUTS_FIRST.iter().any(|name| text.contains(name));
    let is_set = || SETTINGS.iter().any(|file| fs::read_to_string(root.join(file)).is_ok_and(|text| names_path(&text)));
    if trees.len() < 2 || is_own_first || names_path(line) || is_set() {
        return None;
    }
    let (root, trees) = (&real(root), trees.iter().map(|tree| real(tree)).collect::<Vec<_>>());
    let mut loaded = environments(dir, line).into_iter().flat_map(|environment| editable_folders(&environment));
    loaded.find_map(|folder| other_tree_of(&real(&folder), root, &trees).cloned())
}

/// Returns the environments whose programs a line names, or else those that are active.
fn environments(dir: &Path, line: &str) -> Vec<PathBuf> {
    let above = |path: &PathBuf| {
        path.ancestors().take(3).find(|folder| folder.join(CONFIGURATION).is_file()).map(Path::to_path_buf)
    };
    let named = folders_named(line, dir);
    // `.venv/bin/pytest` runs in its own environment, whichever is active.
    let starts_one = named.iter().any(|path| path.is_file() && above(path).is_some());
    let mut paths = named;
    if !starts_one {
        paths.extend(ACTIVE.iter().filter_map(std::env::var_os).map(PathBuf::from));
        let search = std::env::var_os("PATH").unwrap_or_default();
        paths.extend(std::env::split_paths(&search));
    }
    let mut found: Vec<PathBuf> = paths.iter().filter_map(above).collect();
    found.dedup();
    found
}

/// Returns the folders of the projects that an environment loads as they are.
fn editable_folders(environment: &Path) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let packages = || entries(environment.join("lib")).flat_map(|python| entries(python.join("site-packages")));
    let has_ending = |path: &PathBuf, wanted: &str| path.extension().is_some_and(|ending| ending == wanted);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(path.join("direct_url.json")).ok()?;
        let found: DirectUrl = serde_json::from_str(&text).ok().filter(|found: &DirectUrl| found.dir_info.editable)?;
        Some(PathBuf::from(found.url.strip_prefix("file://")?))
    };
    let installed = packages().filter(|path| has_ending(path, "dist-info")).filter_map(read);
    // Each line of such a file is a folder that Python searches.
    let searched = packages().filter(|path| has_ending(path, "pth")).filter_map(|path| fs::read_to_string(path).ok());
    let searched = searched.flat_map(|text| text.lines().map(PathBuf::from).collect::<Vec<_>>());
    installed.chain(searched.filter(|folder| folder.is_absolute())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_that_is_installed_from_another_working_tree() {
        let place = tempfile::tempdir().unwrap();
        let (main, linked) = (place.path().join("main"), place.path().join("linked"));
        let record = main.join(".venv/lib/python3.12/site-packages/calc-1.0.dist-info");
        fs::create_dir_all(&record).unwrap();
        fs::create_dir_all(linked.join("src")).unwrap();
        fs::write(main.join(".venv").join(CONFIGURATION), "").unwrap();
        let write = |editable: bool| {
            let url = format!("{{\"url\":\"file://{}\",\"dir_info\":{{\"editable\":{editable}}}}}", main.display());
            fs::write(record.join("direct_url.json"), url).unwrap();
        };
        write(true);
        let trees = [main.clone(), linked.clone()];
        let line = format!("{}/.venv/bin/pytest -q", main.display());
        assert_eq!(other_tree(&linked, &trees, &linked, &line), Some(main.clone()));
        assert_eq!(other_tree(&linked, &trees, &linked, &format!("PYTHONPATH=src {line}")), None);
        assert_eq!(other_tree(&main, &trees, &main, &line), None);
        write(false);
        assert_eq!(other_tree(&linked, &trees, &linked, &line), None);
        let path = record.with_file_name("calc.pth");
        fs::write(path, format!("import site\n{}/src\n", main.display())).unwrap();
        assert_eq!(other_tree(&linked, &trees, &linked, &line), Some(main.clone()));
        let inner = main.join(".trees/inner");
        fs::create_dir_all(inner.join("src")).unwrap();
        let trees = [main.clone(), inner.clone()];
        assert_eq!(other_tree(&inner, &trees, &inner, &line), Some(main.clone()));
        assert_eq!(other_tree(&main, &trees, &main, &line), None);
    }
}
