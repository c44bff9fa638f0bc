//! Code that runs with every test, and changes that no test can see.

use super::own_tests;
use crate::collect::named_texts::has_word;
use crate::decision::is_same_code;
use crate::fact::weakening::{adds_replacement, loaded_names, names_loaded_code};
use crate::git::{GitError, MentionsIn, PathChange, Repo, WantedFile};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// Files at the root that may name code which runs with every test. Others are read if they changed.
const LOADING: [&str; 29] = [
    "pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "conftest.py", "package.json",
    ".mocharc.json", ".mocharc.jsonc", ".mocharc.js", ".mocharc.cjs", ".mocharc.mjs", ".mocharc.yml", ".mocharc.yaml",
    "jest.config.js", "jest.config.cjs", "jest.config.mjs", "jest.config.ts", "jest.config.json", "vitest.config.js",
    "vitest.config.mjs", "vitest.config.ts", "vitest.config.mts", "vite.config.js", "vite.config.ts", ".rspec",
    "phpunit.xml", "phpunit.xml.dist", "bunfig.toml",
];
/// Names of files that are found without being named.
const FOUND: [&str; 8] = ["__init__", "__main__", "index", "main", "mod", "lib", "build", "setup"];
/// Endings of files that are used by their name. Elsewhere, a folder or what a file declares is.
const NAMED: [&str; 15] =
    ["py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "json", "yaml", "yml", "toml", "txt", "csv"];
/// Endings of files that are used by their whole name, if it is short.
const DATA: [&str; 4] = ["txt", "csv", "json", "yaml"];
/// Endings of code that settings may leave out.
const CODE: [&str; 9] = ["js", "cjs", "mjs", "ts", "cts", "mts", "rb", "php", "py"];
/// The number of changed files of settings that are read.
const MAX_SETTINGS: usize = 32;
/// The number of new files whose names are looked for.
const MAX_NEW: usize = 8;
/// The shortest name that is looked for.
const MIN_NAME: usize = 4;

/// Returns the changed files that settings load together with every test.
pub(super) fn loaded(repo: &Repo, changes: &[PathChange], now: &Oid) -> Result<Vec<RepoPath>, GitError> {
    let mut settings: Vec<RepoPath> = LOADING.iter().map(|name| RepoPath::from(*name)).collect();
    let is_read = |path: &RepoPath| names_loaded_code(path) || is_conftest(path);
    let others = changes.iter().filter(|change| change.after.is_some() && is_read(&change.path));
    settings.extend(others.map(|change| change.path.clone()).take(MAX_SETTINGS));
    let wanted: Vec<WantedFile> = settings.iter().map(|path| WantedFile::At(now.clone(), path.clone())).collect();
    let texts = repo.blobs(&wanted)?;
    let texts = texts.into_iter().map(super::text);
    let texts: Vec<(&RepoPath, String)> =
        settings.iter().zip(texts).filter_map(|(path, text)| Some((path, text?))).collect();
    let names: Vec<String> = texts.iter().flat_map(|(path, text)| loaded_names(path, text)).collect();
    let meant = changes.iter().filter(|change| names.iter().any(|name| designates(name, &change.path)));
    let mut found: Vec<RepoPath> = meant.map(|change| change.path.clone()).collect();
    let imported: Vec<&str> =
        texts.iter().filter(|(path, _)| is_conftest(path)).flat_map(|(_, text)| imported_modules(text)).collect();
    found.extend(new_replacements(repo, changes, &imported)?);
    Ok(found)
}

fn is_conftest(path: &RepoPath) -> bool {
    path.as_bytes().rsplit(|&byte| byte == b'/').next() == Some(b"conftest.py")
}

/// Returns the modules that lines of Python import.
fn imported_modules(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let is_import = matches!(words.next(), Some("from" | "import"));
        words.next().filter(|_| is_import).map(|module| module.trim_start_matches('.').trim_end_matches(','))
    })
}

/// Returns the new files of these modules that can replace what a test calls. What is not new may be the code itself.
fn new_replacements(repo: &Repo, changes: &[PathChange], modules: &[&str]) -> Result<Vec<RepoPath>, GitError> {
    let is_named = |path: &RepoPath| modules.iter().any(|module| !module.is_empty() && designates(module, path));
    let new = changes.iter().filter(|change| change.before.is_none() && change.after.is_some());
    let new: Vec<&PathChange> = new.filter(|change| is_named(&change.path)).take(MAX_NEW).collect();
    let wanted: Vec<WantedFile> = new.iter().map(|change| WantedFile::of(change.after.as_ref())).collect();
    let texts = repo.blobs(&wanted)?.into_iter().map(super::text);
    let pairs = new.into_iter().zip(texts);
    let replacing = pairs.filter(|(_, text)| text.as_ref().is_some_and(|text| adds_replacement("", text)));
    Ok(replacing.map(|(change, _)| change.path.clone()).collect())
}

/// Returns `true` if a name in a setting is that of a file: a path, also without its ending, or a module of Python.
fn designates(name: &str, path: &RepoPath) -> bool {
    let path = path.to_string();
    let (folder, file) = path.rsplit_once('/').map_or(("", path.as_str()), |(folder, file)| (folder, file));
    let stem = file.rsplit_once('.').filter(|(stem, ending)| !stem.is_empty() && CODE.contains(ending));
    let bare = stem.map(|(stem, _)| if folder.is_empty() { stem.to_owned() } else { format!("{folder}/{stem}") });
    let ends = |end: &str| {
        let is_end = |path: &str| path.strip_suffix(end).is_some_and(|start| start.is_empty() || start.ends_with('/'));
        is_end(&path) || bare.as_deref().is_some_and(is_end)
    };
    if name.contains('/') {
        return ends(name.trim_start_matches("./").trim_start_matches("../"));
    }
    let module = name.replace('.', "/");
    [format!("{module}.py"), format!("{module}/__init__.py"), name.to_owned()].iter().any(|end| ends(end))
}

/// Returns the first of these changes that changes tests which stand in a file of code.
pub(super) fn changed_own_tests<'c>(
    repo: &Repo,
    changes: &[&'c PathChange],
) -> Result<Option<&'c PathChange>, GitError> {
    let edited: Vec<&PathChange> = changes
        .iter()
        .filter(|change| change.before.is_some() && own_tests::may_be_in(&change.path))
        .copied()
        .collect();
    let wanted: Vec<WantedFile> = edited.iter().flat_map(|change| change.sides()).collect();
    let texts: Vec<Option<String>> = repo.blobs(&wanted)?.into_iter().map(super::text).collect();
    let differ = |sides: &[Option<String>]| match sides {
        [Some(old), Some(now)] => own_tests::of(old).ne(own_tests::of(now)),
        _ => false,
    };
    Ok(edited.into_iter().zip(texts.chunks(2)).find(|(_, sides)| differ(sides)).map(|(change, _)| change))
}

/// Returns `true` if no test can see these changes: comments, blank lines, tests that stand in a file of code, and new files
/// that nothing names.
pub(super) fn are_unseen(repo: &Repo, changes: &[&PathChange], now: &Oid) -> Result<bool, GitError> {
    let (new, edited): (Vec<&PathChange>, Vec<&PathChange>) =
        changes.iter().partition(|change| change.before.is_none());
    let wanted: Vec<WantedFile> = edited.iter().flat_map(|change| change.sides()).collect();
    let mut texts = repo.blobs(&wanted)?.into_iter().map(super::text);
    for change in edited {
        let (Some(Some(old)), Some(Some(now))) = (texts.next(), texts.next()) else { return Ok(false) };
        let code = |text: &str| own_tests::without(&change.path, text).into_owned();
        if !is_same_code(&change.path, &code(&old), &code(&now)) {
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

/// Returns `true` if code of a tree has the name by which it would use a new file: of data, that is the whole name.
pub fn is_named_by_code(repo: &Repo, path: &RepoPath, tree: &Oid) -> Result<bool, GitError> {
    let Some(stem) = sought_name(path) else { return Ok(false) };
    let whole = path.to_string().rsplit('/').next().map(str::to_owned).unwrap_or_default();
    let is_data = whole.rsplit_once('.').is_some_and(|(_, ending)| !CODE.contains(&ending));
    let name = if is_data { whole } else { stem };
    let mentions = repo.mentions(MentionsIn::Tree(tree), std::slice::from_ref(&name), &[], 0)?;
    Ok(mentions.iter().any(|mention| is_code(&mention.file) && has_word(&mention.line, &name)))
}

fn is_code(path: &RepoPath) -> bool {
    path.to_string().rsplit_once('.').is_some_and(|(_, ending)| CODE.contains(&ending))
}

/// Returns the name by which another file would use this one, if there is only one way.
fn sought_name(path: &RepoPath) -> Option<String> {
    let path = path.to_string();
    let name = path.rsplit('/').next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    if stem.len() < MIN_NAME && DATA.contains(&ending) {
        return Some(name.to_owned());
    }
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
            ("src/x.egg-info/entry_points.txt", "[pytest11]\nx = evil\n", "src/evil.py", true),
            ("x-1.dist-info/entry_points.txt", "[console_scripts]\nx = evil:main\n", "evil.py", false),
            ("pyproject.toml", "[project.entry-points.pytest11]\nx = \"tools.evil\"\n", "tools/evil.py", true),
            ("setup.py", "setup(entry_points={\"pytest11\": [\"x = evil\"]})\n", "evil.py", true),
            ("package.json", "\"test\": \"node --test --test-reporter=./rep.mjs\"", "rep.mjs", true),
            ("package.json", "\"test\": \"node --test --test-reporter=spec\"", "spec.js", false),
            ("package.json", "\"test\": \"mocha -r ./test/setup.js\"", "test/setup.js", true),
            ("package.json", "\"setupFiles\": [\"./a.js\", \"<rootDir>/b.js\"]", "b.js", true),
            (".mocharc.json", "{\"require\":[\"./setup.js\"]}", "setup.js", true),
            (".mocharc.json", "{\"require\":[\"ts-node/register\", \"./test/setup\"]}", "test/setup.ts", true),
            (".mocharc.json", "{\"spec\":[\"./test/a.js\"]}", "test/a.js", false),
            (".mocharc.json", "{\"require\":[\"./setup.js\"]}", "src/setup.json", false),
            (".mocharc.yml", "require:\n  - ts-node\n  - ./setup.js\nspec: x.js\n", "setup.js", true),
            (".mocharc.yml", "require:\n  - ts-node\n  - ./setup.js\nspec: x.js\n", "x.js", false),
            (".mocharc.cjs", "module.exports = { require: './setup.js' };", "setup.js", true),
            ("jest.config.js", "module.exports={setupFilesAfterEnv:['./a.js',\n './setup.js']};", "setup.js", true),
            ("jest.config.js", "module.exports={testEnvironment:'./env.js'};", "env.js", true),
            ("jest.config.js", "module.exports={transform:{'calc\\\\.js$':'<rootDir>/tr.js'}};", "tr.js", true),
            ("jest.config.js", "module.exports={testMatch:['./a.js']};", "a.js", false),
            ("a/vitest.config.ts", "export default { test: { globalSetup: 'setup/all.ts' } }", "a/setup/all.ts", true),
            ("phpunit.xml", "<phpunit bootstrap=\"tests/boot.php\">", "tests/boot.php", true),
            (".rspec", "--color\n--require spec_helper\n", "spec/spec_helper.rb", true),
            ("bunfig.toml", "[test]\npreload = [\"./setup.ts\"]\n", "setup.ts", true),
            (".npmrc", "node-options=--require ./setup.js\n", "setup.js", true),
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
            ("n.txt", Some("n.txt")),
        ] {
            assert_eq!(sought_name(&RepoPath::from(path)).as_deref(), name, "{path}");
        }
    }
}
