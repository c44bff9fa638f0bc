//! Code that runs with every test, and changes that no test can see.

use crate::decision::is_same_code;
use crate::fact::weakening::loaded_names;
use crate::git::{GitError, MentionsIn, PathChange, Repo, WantedFile};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// Files at the root that may name code which runs with every test.
const LOADING: [&str; 7] =
    ["pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "conftest.py", "package.json"];
/// Names of files that are found without being named.
const FOUND: [&str; 8] = ["__init__", "__main__", "index", "main", "mod", "lib", "build", "setup"];
/// Endings of files that are used by their name. Elsewhere, a folder or what a file declares is.
const NAMED: [&str; 15] =
    ["py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "json", "yaml", "yml", "toml", "txt", "csv"];
/// The number of new files whose names are looked for.
const MAX_NEW: usize = 8;
/// The shortest name that is looked for.
const MIN_NAME: usize = 4;

/// Returns the changed files that settings load together with every test.
pub(super) fn loaded(repo: &Repo, changes: &[PathChange], now: &Oid) -> Result<Vec<RepoPath>, GitError> {
    let wanted: Vec<WantedFile> =
        LOADING.iter().map(|name| WantedFile::At(now.clone(), RepoPath::from(*name))).collect();
    let texts = repo.blobs(&wanted)?;
    let names: Vec<String> = LOADING
        .iter()
        .zip(texts)
        .filter_map(|(name, text)| Some((name, super::text(text)?)))
        .flat_map(|(name, text)| loaded_names(&RepoPath::from(*name), &text))
        .collect();
    let paths = changes.iter().map(|change| &change.path);
    Ok(paths.filter(|path| names.iter().any(|name| designates(name, path))).cloned().collect())
}

/// Returns `true` if a name in a setting is that of a file: a path, or a module of Python.
fn designates(name: &str, path: &RepoPath) -> bool {
    let path = path.to_string();
    let ends = |end: &str| path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    if name.contains('/') {
        return ends(name.trim_start_matches("./").trim_start_matches("../"));
    }
    let module = name.replace('.', "/");
    [format!("{module}.py"), format!("{module}/__init__.py"), name.to_owned()].iter().any(|end| ends(end))
}

/// Returns `true` if no test can see these changes: comments, blank lines, and new files that nothing names.
pub(super) fn are_unseen(repo: &Repo, changes: &[&PathChange], now: &Oid) -> Result<bool, GitError> {
    let (new, edited): (Vec<&PathChange>, Vec<&PathChange>) =
        changes.iter().partition(|change| change.before.is_none());
    let wanted: Vec<WantedFile> = edited.iter().flat_map(|change| change.sides()).collect();
    let mut texts = repo.blobs(&wanted)?.into_iter().map(super::text);
    for change in edited {
        let (Some(Some(old)), Some(Some(now))) = (texts.next(), texts.next()) else { return Ok(false) };
        if !is_same_code(&change.path, &old, &now) {
            return Ok(false);
        }
    }
    if new.is_empty() {
        return Ok(true);
    }
    let stems: Vec<String> = new.iter().filter_map(|change| sought_name(&change.path)).collect();
    if new.len() > MAX_NEW || stems.len() < new.len() {
        return Ok(false);
    }
    let mentions = repo.mentions(MentionsIn::Tree(now), &stems, &[], 0)?;
    // The policy names no code.
    let is_idle = |file: &RepoPath| file.as_bytes() == b"gate.toml" || new.iter().any(|change| change.path == *file);
    Ok(mentions.iter().all(|mention| is_idle(&mention.file)))
}

/// Returns the name by which another file would use this one, if there is only one way.
fn sought_name(path: &RepoPath) -> Option<String> {
    let path = path.to_string();
    let (stem, ending) = path.rsplit('/').next()?.rsplit_once('.')?;
    let is_plain = stem.len() >= MIN_NAME && !FOUND.contains(&stem) && !stem.starts_with(|c: char| c.is_ascii_digit());
    (is_plain && NAMED.contains(&ending)).then(|| stem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_name_modules_and_paths() {
        for (file, text, path, is) in [
            ("pytest.ini", "[pytest]\naddopts = -q -p evil\n", "evil.py", true),
            ("pytest.ini", "[pytest]\naddopts = -p tools.evil\n", "src/tools/evil/__init__.py", true),
            ("pyproject.toml", "addopts = [\"-p\", \"no:cacheprovider\"]\n", "cacheprovider.py", false),
            ("pytest.ini", "[pytest]\naddopts = -pevil\n", "evil.py", true),
            ("pytest.ini", "[pytest]\naddopts = -p evil\n", "src/notevil.py", false),
            ("conftest.py", "pytest_plugins = [\"evil\"]\n", "evil.py", true),
            ("package.json", "\"test\": \"node --test --test-reporter=./rep.mjs\"", "rep.mjs", true),
            ("package.json", "\"test\": \"node --test --test-reporter=spec\"", "spec.js", false),
            ("package.json", "\"test\": \"mocha -r ./test/setup.js\"", "test/setup.js", true),
        ] {
            let names = loaded_names(&RepoPath::from(file), text);
            let found = names.iter().any(|name| designates(name, &RepoPath::from(path)));
            assert_eq!(found, is, "{text} {path}: {names:?}");
        }
    }

    #[test]
    fn only_files_that_are_used_by_their_name_are_looked_for() {
        for (path, name) in [
            ("src/version.py", Some("version")),
            ("data.json", Some("data")),
            ("calc/mul.go", None),
            ("app/models/user_profile.rb", None),
            ("src/app/__init__.py", None),
            ("app/migrations/0002_names.py", None),
            ("Makefile", None),
        ] {
            assert_eq!(sought_name(&RepoPath::from(path)).as_deref(), name, "{path}");
        }
    }
}
