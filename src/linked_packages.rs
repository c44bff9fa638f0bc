//! Packages that a project loads from another working tree of its repository: by a link in `node_modules`, or by a `go.work`
//! above it. Its tests would run the code of that one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The largest number of packages in one folder that are looked at.
const MAX_PACKAGES: usize = 4096;

/// Returns another working tree whose packages a program in `dir` may load, and the link or file that leads to it. `trees` are the
/// working trees of the repository, `root` the one that `dir` belongs to.
pub fn package_elsewhere(root: &Path, trees: &[PathBuf], dir: &Path) -> Option<(PathBuf, PathBuf)> {
    if trees.len() < 2 {
        return None;
    }
    let root = &real(root);
    let trees: Vec<PathBuf> = trees.iter().map(|tree| real(tree)).collect();
    let is_project_of = |file: &str| root.join(file).is_file() || dir.join(file).is_file();
    let linked = if is_project_of("package.json") { linked_package(dir, root, &trees) } else { None };
    linked.or_else(|| if is_project_of("go.mod") { used_module(root, &trees) } else { None })
}

/// Returns a path with all symbolic links resolved, or the path itself if that fails.
pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the reason why a run proves nothing if `from` leads to packages of the working tree `other`.
pub fn loads_elsewhere(from: &Path, other: &Path) -> String {
    format!(
        "{} leads to {}, which is another working tree; install the packages of this one in it",
        from.display(),
        other.display()
    )
}

/// Returns the working tree that holds a path, if that is another one than `root`. One may lie inside another.
pub fn other_tree_of<'t>(path: &Path, root: &Path, trees: &'t [PathBuf]) -> Option<&'t PathBuf> {
    let holding = trees.iter().filter(|tree| path.starts_with(tree));
    holding.max_by_key(|tree| tree.components().count()).filter(|tree| *tree != root)
}

/// Returns the first package that code in `dir` finds and that is a link to another working tree, after that tree. A package in a
/// nearer `node_modules` hides one of the same name further up.
fn linked_package(dir: &Path, root: &Path, trees: &[PathBuf]) -> Option<(PathBuf, PathBuf)> {
    let mut nearer: BTreeSet<PathBuf> = BTreeSet::new();
    for folder in dir.ancestors().map(|folder| folder.join("node_modules")) {
        for package in packages_in(&folder) {
            let name = package.strip_prefix(&folder).unwrap_or(&package).to_owned();
            if !nearer.insert(name) {
                continue;
            }
            let real = real(&package);
            // What a package manager put there is no code of the project.
            let is_installed = real.components().any(|part| part == Component::Normal("node_modules".as_ref()));
            if let Some(other) = other_tree_of(&real, root, trees).filter(|_| !is_installed) {
                return Some((other.clone(), package));
            }
        }
    }
    None
}

/// Returns the packages in a folder `node_modules`, also those with a scope.
fn packages_in(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).take(MAX_PACKAGES)
    };
    let is_scope = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('@'));
    let (scopes, mut packages): (Vec<_>, Vec<_>) = entries(folder).partition(is_scope);
    packages.extend(scopes.iter().flat_map(|scope| entries(scope)));
    packages
}

/// Returns the working tree in which the nearest `go.work` uses a module, or puts one in the place of another.
fn used_module(root: &Path, trees: &[PathBuf]) -> Option<(PathBuf, PathBuf)> {
    let file = root.ancestors().map(|folder| folder.join("go.work")).find(|file| file.is_file())?;
    let (text, folder) = (fs::read_to_string(&file).ok()?, file.parent()?);
    let paths = text.split_whitespace().filter(|word| word.starts_with(['.', '/']));
    let tree = paths.map(|path| real(&folder.join(path))).find_map(|path| other_tree_of(&path, root, trees).cloned());
    tree.map(|tree| (tree, file))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_package_of_another_working_tree_is_found() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let (main, linked, inner) = (place.join("main"), place.join("linked"), place.join("main/.trees/inner"));
        for tree in [&main, &linked, &inner] {
            fs::create_dir_all(tree.join("lib")).unwrap();
            fs::create_dir_all(tree.join("node_modules/left-pad")).unwrap();
            fs::write(tree.join("package.json"), "{}").unwrap();
        }
        let trees = [main.clone(), linked.clone(), inner.clone()];
        let found = |root: &Path| package_elsewhere(root, &trees, root).map(|(tree, _)| tree);
        assert_eq!(found(&main), None);
        symlink("../lib", main.join("node_modules/lib")).unwrap();
        assert_eq!(found(&main), None, "its own");
        assert_eq!(found(&inner), Some(main.clone()), "from the folder above");
        symlink("../lib", inner.join("node_modules/lib")).unwrap();
        assert_eq!(found(&inner), None, "its own comes first");
        fs::remove_dir_all(inner.join("node_modules")).unwrap();
        fs::remove_dir_all(linked.join("node_modules")).unwrap();
        assert_eq!(found(&linked), None);
        symlink(main.join("node_modules"), linked.join("node_modules")).unwrap();
        assert_eq!(found(&linked), Some(main.clone()));
        fs::remove_file(main.join("node_modules/lib")).unwrap();
        assert_eq!(found(&linked), None, "only packages of others");
        fs::write(linked.join("go.mod"), "module x\n").unwrap();
        fs::write(place.join("go.work"), "go 1.22\n\nuse ./linked\n\nreplace example.com/lib => ./main/lib\n").unwrap();
        assert_eq!(found(&linked), Some(main));
    }
}
