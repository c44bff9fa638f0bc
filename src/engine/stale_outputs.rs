//! Ignored files that the tests import and that are older than their sources: nobody built since the edit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Workplace;
use super::file_times::{TICK, times};
use crate::git::{Mention, MentionsIn};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The folders that builds of a package fill.
const OUTPUT_FOLDERS: [&str; 11] =
    ["dist", "build", "out", "lib", "esm", "cjs", "es", "output", "target", "generated", ".next"];
/// The extensions of sources from which such files are made.
const SOURCE_EXTENSIONS: [&str; 8] = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"];
/// The extensions of what is made.
const OUTPUT_EXTENSIONS: [&str; 3] = ["js", "mjs", "cjs"];
/// The paths by which a test in a folder beside the sources imports its own package.
const PACKAGE_ITSELF: [&str; 4] = ["'..'", "\"..\"", "'../'", "\"../\""];
/// The largest number of sources whose outputs are looked for.
const MAX_SOURCES: usize = 200;

/// A file that was built, and its source, which is newer.
struct StaleOutput {
    /// The built file.
    path: RepoPath,
    /// Its folder of outputs, from the package: `dist/`.
    folder: String,
    /// The folder of its package.
    package: PathBuf,
    source: RepoPath,
}

impl Workplace {
    /// Returns the sentence about a built file that tests import and that is older than its source. `sources` are the files
    /// that the work changed, `tree` their content.
    pub(super) fn stale_output(
        &self,
        root: &Path,
        sources: &BTreeSet<&RepoPath>,
        tree: &Oid,
        again: &str,
    ) -> Option<String> {
        let found: Vec<StaleOutput> =
            sources.iter().take(MAX_SOURCES).flat_map(|source| outputs(root, source)).collect();
        if found.is_empty() {
            return None;
        }
        let folders = found.iter().map(|one| one.folder.as_str());
        let words: BTreeSet<&str> = folders.chain(PACKAGE_ITSELF).collect();
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let mentions = self.repo.mentions(MentionsIn::Tree(tree), &words, &[], 0).ok()?;
        let is_imported = |one: &&StaleOutput| is_imported(&mentions, &one.folder, &one.package);
        let imported: Vec<&StaleOutput> = found.iter().filter(is_imported).collect();
        // What git does not ignore is content.
        let kept = self.repo.not_ignored(imported.iter().map(|one| one.path.clone()).collect());
        let stale = imported.into_iter().find(|one| !kept.contains(&one.path))?;
        let (path, source) = (&stale.path, &stale.source);
        Some(format!("{path}, which the tests import, is older than {source}, from which it is made: build it{again}"))
    }
}

/// Returns the built files of a source that are older than it.
fn outputs(root: &Path, source: &RepoPath) -> Vec<StaleOutput> {
    let Some((package, inner)) = in_package(root, source) else { return Vec::new() };
    let is_source = inner.extension().and_then(|end| end.to_str()).is_some_and(|end| SOURCE_EXTENSIONS.contains(&end));
    let edited = times(&root.join(source.to_os())).filter(|_| is_source);
    let Some(edited) = edited else { return Vec::new() };
    let below_first: PathBuf = inner.components().skip(1).collect();
    let mut found = Vec::new();
    for folder in OUTPUT_FOLDERS.into_iter().filter(|folder| !inner.starts_with(folder)) {
        for place in [&inner, &below_first].into_iter().filter(|place| place.file_name().is_some()) {
            for extension in OUTPUT_EXTENSIONS {
                let path = package.join(folder).join(place).with_extension(extension);
                // An archive of a cache keeps the time of the content, so the time at which the file came here counts.
                let is_older = times(&root.join(&path)).is_some_and(|built| built.changed + TICK < edited.modified);
                if let Some(path) = path.to_str().filter(|_| is_older) {
                    found.push(StaleOutput {
                        path: RepoPath::from(path),
                        folder: format!("{folder}/"),
                        package: package.clone(),
                        source: source.clone(),
                    });
                }
            }
        }
    }
    found
}

/// Returns the folder of the package that holds a source, and the path of the source in it.
fn in_package(root: &Path, source: &RepoPath) -> Option<(PathBuf, PathBuf)> {
    let source = source.to_os();
    let package = source.ancestors().skip(1).find(|folder| root.join(folder).join("package.json").is_file())?;
    Some((package.to_owned(), source.strip_prefix(package).ok()?.to_owned()))
}

/// Returns `true` if a test uses a file of this folder of a package: it imports the file, a script with tests runs it, or it
/// is what an import of the package itself means.
fn is_imported(mentions: &[Mention], folder: &str, package: &Path) -> bool {
    let is_package =
        |mention: &Mention| mention.file.as_bytes().rsplit(|&byte| byte == b'/').next() == Some(b"package.json");
    let is_script = |mention: &Mention| is_package(mention) && mention.line.trim_start().starts_with("\"test");
    let imports = |mention: &Mention| {
        let file = mention.file.to_string();
        ["test", "spec"].iter().any(|word| file.contains(word))
            && ["require", "import", "from "].iter().any(|word| mention.line.contains(word))
    };
    let names_folder = |mention: &Mention| {
        let mut places = mention.line.match_indices(folder);
        places.any(|(at, _)| folder_before(mention, at).is_some_and(|place| place == package))
    };
    // From further down, `..` is another folder.
    let is_beside = |mention: &Mention| mention.file.to_os().ancestors().nth(2) == Some(package);
    let imports_package = |mention: &Mention| {
        imports(mention) && is_beside(mention) && PACKAGE_ITSELF.iter().any(|name| mention.line.contains(name))
    };
    let mut named = mentions.iter().filter(|mention| names_folder(mention));
    named.any(|mention| {
        imports(mention) || is_script(mention) || is_package(mention) && mentions.iter().any(imports_package)
    })
}

/// Returns the folder in which the name at `at` in a line lies: that of the line's file, or the one to which the `./` and
/// `../` before the name lead. `None`: the name begins earlier.
fn folder_before(mention: &Mention, at: usize) -> Option<PathBuf> {
    let before = &mention.line[..at];
    let path = &before[before.trim_end_matches(['.', '/']).len()..];
    let is_start = |c: char| matches!(c, '"' | '\'' | '`' | ' ' | '=');
    let starts = before.len() == path.len() || before[..before.len() - path.len()].ends_with(is_start);
    let mut folder = mention.file.to_os().parent().map(Path::to_owned).filter(|_| starts)?;
    for _ in path.split('/').filter(|part| *part == "..") {
        folder = folder.parent()?.to_owned();
    }
    Some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imported(lines: &[(&str, &str)]) -> bool {
        let mention = |(file, line): &(&str, &str)| Mention { file: RepoPath::from(*file), line: (*line).to_owned() };
        is_imported(&lines.iter().map(mention).collect::<Vec<_>>(), "dist/", Path::new(""))
    }

    #[test]
    fn an_import_is_a_line_of_a_test() {
        for (file, line, expected) in [
            ("test/calc.js", "const { add } = require('../dist/calc.js');", true),
            ("src/calc.spec.ts", "import { add } from \"../dist/calc\";", true),
            ("package.json", "    \"test\": \"node --test dist/test/\",", true),
            ("package.json", "    \"main\": \"dist/index.js\",", false),
            ("bin/cli.js", "require('../dist/cli.js');", false),
            ("test/calc.js", "// see dist/calc.js", false),
            ("src/a/test/calc.js", "import { add } from '../dist/calc.js';", false),
            ("src/a/test/calc.js", "import { add } from '../../../dist/calc.js';", true),
            ("test/calc.js", "import { add } from '../redist/calc.js';", false),
        ] {
            assert_eq!(imported(&[(file, line)]), expected, "{file}: {line}");
        }
    }

    #[test]
    fn the_package_itself_is_what_its_file_names() {
        const MAIN: (&str, &str) = ("package.json", "  \"main\": \"./dist/index.js\",");
        const TEST: (&str, &str) = ("test/a.js", "const { add } = require('..');");
        assert!(imported(&[MAIN, TEST]));
        assert!(!imported(&[TEST]));
        assert!(!imported(&[MAIN, ("test/a.js", "const { add } = require('../src');")]));
        assert!(!imported(&[MAIN, ("src/a/test/a.js", "const { add } = require('..');")]));
        assert!(!imported(&[MAIN, ("bin/a.js", "require('..');")]));
    }
}
