//! Ignored files that the tests import and that are older than their sources: nobody built since the edit.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Workplace;
use super::stale_builds::{TICK, times};
use crate::git::MentionsIn;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The folders that builds of a package fill.
const OUTPUT_FOLDERS: [&str; 11] =
    ["dist", "build", "out", "lib", "esm", "cjs", "es", "output", "target", "generated", ".next"];
/// The extensions of sources from which such files are made.
const SOURCE_EXTENSIONS: [&str; 8] = ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"];
/// The extensions of what is made.
const OUTPUT_EXTENSIONS: [&str; 3] = ["js", "mjs", "cjs"];
/// The largest number of sources whose outputs are looked for.
const MAX_SOURCES: usize = 200;

/// A file that was built, and its source, which is newer.
struct StaleOutput {
    /// The built file.
    path: RepoPath,
    /// Its folder of outputs, from the package: `dist/`.
    folder: String,
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
        let folders: BTreeSet<&String> = found.iter().map(|one| &one.folder).collect();
        let words: Vec<String> = folders.into_iter().cloned().collect();
        let mentions = self.repo.mentions(MentionsIn::Tree(tree), &words, &[], 0).ok()?;
        let is_imported =
            |one: &&StaleOutput| mentions.iter().any(|mention| imports(&mention.file, &mention.line, &one.folder));
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

/// Returns `true` if a line of a test takes in a file of a folder, or a script with tests calls it.
fn imports(file: &RepoPath, line: &str, folder: &str) -> bool {
    let file = file.to_string();
    let is_here = |before: char| matches!(before, '/' | '"' | '\'' | '`' | ' ');
    let is_named = line.match_indices(folder).any(|(at, _)| line[..at].ends_with(is_here));
    let is_test = ["test", "spec"].iter().any(|word| file.contains(word));
    let takes_in = ["require", "import", "from "].iter().any(|word| line.contains(word));
    let is_script = file.rsplit('/').next() == Some("package.json") && line.trim_start().starts_with("\"test");
    is_named && (is_test && takes_in || is_script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_is_a_line_of_a_test() {
        for (file, line, expected) in [
            ("test/calc.js", "const { add } = require('../dist/calc.js');", true),
            ("src/calc.spec.ts", "import { add } from \"../dist/calc\";", true),
            ("package.json", "    \"test\": \"node --test dist/test/\",", true),
            ("package.json", "    \"main\": \"dist/index.js\",", false),
            ("bin/cli.js", "require('../dist/cli.js');", false),
            ("test/calc.js", "// see dist/calc.js", false),
            ("test/calc.js", "import { add } from '../redist/calc.js';", false),
        ] {
            assert_eq!(imports(&RepoPath::from(file), line, "dist/"), expected, "{file}: {line}");
        }
    }
}
