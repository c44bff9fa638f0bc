//! The ways in which code reads a scratch file without naming it: by a glob, by a name made of parts, or with all other
//! files of the top folder.

use std::collections::{BTreeMap, BTreeSet};

use super::path_mentions::{Words, is_comment, tokens};
use super::table::{Naming, code_pathspecs, data_pathspecs, naming, settings_pathspecs, table};
use crate::git::{GitError, Mention, MentionsIn, Repo};
use crate::globs;
use crate::repo_path::RepoPath;

/// The way in which a line of code may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// The line reads it, whatever it is called.
    Reads,
    /// The line makes names with the extension of the file.
    MakesNames,
}

/// Returns those of `files` that code in `content` may read, each with the file that reads it.
pub(super) fn read_scratch_files<'p>(
    repo: &Repo,
    content: MentionsIn<'_>,
    files: &BTreeSet<&'p RepoPath>,
) -> Result<BTreeMap<&'p RepoPath, RepoPath>, GitError> {
    let mut found = BTreeMap::new();
    if files.is_empty() {
        return Ok(found);
    }
    let names: Vec<(&RepoPath, String)> = files.iter().map(|file| (*file, file.to_string())).collect();
    let mut words: BTreeSet<String> = table().lists_top.iter().map(|text| first_word(text).to_owned()).collect();
    words.extend(names.iter().filter_map(|(_, name)| name.rsplit_once('.')).map(|(_, ending)| format!(".{ending}")));
    let words: Vec<String> = words.into_iter().collect();
    let mut lines = repo.mentions(content, &words, code_pathspecs(), 0)?;
    lines.extend(repo.mentions(content, &words, settings_pathspecs(), 0)?);
    let mut made: BTreeMap<&RepoPath, RepoPath> = BTreeMap::new();
    for (file, name) in &names {
        for line in &lines {
            match reading(line, name) {
                Some(Reading::Reads) => _ = found.entry(*file).or_insert_with(|| line.file.clone()),
                Some(Reading::MakesNames) => _ = made.entry(*file).or_insert_with(|| line.file.clone()),
                None => {}
            }
        }
    }
    made.retain(|file, _| !found.contains_key(file));
    found.extend(with_their_stems(repo, content, made)?);
    let loaded =
        names.into_iter().filter(|(file, _)| !found.contains_key(file) && table().by_stem.is_match(file.to_os()));
    let loaded = named_by_stem(repo, content, &loaded.collect::<Vec<_>>())?;
    found.extend(loaded);
    Ok(found)
}

/// Returns those of `files` whose names without the extension are words of another file, each with that file: `import debug_sum`.
fn named_by_stem<'p>(
    repo: &Repo,
    content: MentionsIn<'_>,
    files: &[(&'p RepoPath, String)],
) -> Result<Vec<(&'p RepoPath, RepoPath)>, GitError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let stems: Vec<String> = files.iter().map(|(_, name)| stem(name).to_owned()).collect();
    let lines = repo.mentions(content, &stems, data_pathspecs(), 0)?;
    let naming_line = |file: &RepoPath, stem: &str| {
        let names = |line: &&Mention| line.file != *file && !is_comment(&line.line) && loads(&line.line, stem);
        lines.iter().find(names).map(|line| line.file.clone())
    };
    let pairs = files.iter().zip(&stems);
    Ok(pairs.filter_map(|((file, _), stem)| Some((*file, naming_line(file, stem)?))).collect())
}

/// Returns `true` if a line loads or starts a script by its name without the extension: `import debug_sum`, `require("./seed")`,
/// `pytest -p debug_sum`. Other lines hold the same word as one of many: `subprocess.run`, `try:`.
fn loads(line: &str, stem: &str) -> bool {
    const LOADING: [&str; 6] = ["import", "require", "load", "module", "plugin", "source"];
    const OPTIONS: [&str; 5] = ["-p ", "-m ", "-r ", "--require ", "source "];
    let line = plain_quotes(line);
    let line = line.trim();
    if !has_word(line, stem) {
        return false;
    }
    let is_statement = line.starts_with("import ") && !line.contains('"');
    let is_from = line.strip_prefix("from ").is_some_and(|rest| match rest.split_once(" import") {
        Some((module, names)) => has_word(module, stem) || module.trim_matches('.').is_empty() && has_word(names, stem),
        None => false,
    });
    let is_text = line.contains(&format!("\"{stem}\"")) && LOADING.iter().any(|word| line.contains(word));
    let follows = |before: &str| {
        let start = format!("{before}{stem}");
        line.match_indices(&start).any(|(at, _)| !line[at + start.len()..].starts_with(is_of_word))
    };
    is_statement || is_from || is_text || follows("./") || OPTIONS.iter().any(|option| follows(option))
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns `true` if a line has a name that is no part of a longer one.
pub(in crate::collect) fn has_word(line: &str, name: &str) -> bool {
    line.match_indices(name)
        .any(|(at, _)| !line[..at].ends_with(is_of_word) && !line[at + name.len()..].starts_with(is_of_word))
}

/// Returns the name of a file without its extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(stem, _)| stem)
}

/// Keeps the files whose names without the extension occur in the content: the parts of a name come from somewhere.
fn with_their_stems<'p>(
    repo: &Repo,
    content: MentionsIn<'_>,
    mut made: BTreeMap<&'p RepoPath, RepoPath>,
) -> Result<BTreeMap<&'p RepoPath, RepoPath>, GitError> {
    if made.is_empty() {
        return Ok(made);
    }
    let words: Vec<String> = made.keys().map(|file| stem(&file.to_string()).to_owned()).collect();
    let lines = repo.mentions(content, &words, data_pathspecs(), 0)?;
    made.retain(|file, _| {
        let name = file.to_string();
        lines.iter().any(|line| {
            let words =
                if naming(&line.file) == Naming::Code { Words::for_code(&line.file, &line.line) } else { Words::Any };
            !is_comment(&line.line) && tokens(&line.line, words).any(|token| token == stem(&name))
        })
    });
    Ok(made)
}

/// Returns the way in which a line may read the file `name` of the top folder.
fn reading(line: &Mention, name: &str) -> Option<Reading> {
    if naming(&line.file) == Naming::Silent || is_comment(&line.line) {
        return None;
    }
    let words = match naming(&line.file) {
        // A task is started in the folder of its file.
        Naming::Settings if line.file.as_bytes().contains(&b'/') => return None,
        Naming::Settings => Words::Any,
        _ => Words::for_code(&line.file, &line.line),
    };
    let globs = match words {
        Words::Any => tokens(&line.line, words).any(|token| is_glob_of(token, name)),
        Words::Quoted => !globs_elsewhere(&line.line) && globbed(&line.line).any(|token| is_glob_of(token, name)),
    };
    if globs || lists_top(&line.line, &line.file) {
        return Some(Reading::Reads);
    }
    let (_, ending) = name.rsplit_once('.')?;
    makes_names(&line.line, ending, words).then_some(Reading::MakesNames)
}

/// Returns `true` if a line reads all files of the folder in which it is started.
fn lists_top(line: &str, file: &RepoPath) -> bool {
    let line = plain_quotes(line) + " ";
    let listed = table().lists_top.iter().any(|text| line.contains(text.as_str()));
    // `for f in *` of a script: in other languages it is a product.
    listed && (!line.contains(" in *") || Words::for_code(file, "") == Words::Any || naming(file) == Naming::Settings)
}

/// Returns the words in quotes that a line hands to a call which looks for files.
fn globbed(line: &str) -> impl Iterator<Item = &str> {
    let after_call =
        |call: &'static String| line.match_indices(call.as_str()).map(|(at, call)| &line[at + call.len()..]);
    table().globbing.iter().flat_map(after_call).filter_map(first_in_quotes)
}

fn first_in_quotes(text: &str) -> Option<&str> {
    text.strip_prefix(['"', '\'', '`'])?.split(['"', '\'', '`']).next()
}

/// Returns `true` if the globs of a line begin from another folder: `FIXTURES.glob("*.txt")`, `glob("*.txt", { cwd })`.
fn globs_elsewhere(line: &str) -> bool {
    let line = plain_quotes(line);
    let receiver = line.split_once(".glob(").or_else(|| line.split_once(".rglob(")).map(|(before, _)| before);
    let elsewhere = |receiver: &str| !table().own_folder.iter().any(|own| receiver.ends_with(own.as_str()));
    receiver.is_some_and(elsewhere) || line.contains("cwd:")
}

/// Returns the line with one kind of quotes.
fn plain_quotes(line: &str) -> String {
    line.replace(['\'', '`'], "\"")
}

/// Returns `true` if a word is a glob for files of the folder in which it is used, or of one above, and matches `name`.
fn is_glob_of(word: &str, name: &str) -> bool {
    let word = match word.rsplit_once("../") {
        Some((_, rest)) => rest,
        None => word.strip_prefix("./").unwrap_or(word),
    };
    let word = word.strip_prefix("**/").unwrap_or(word);
    let is_glob = word.contains(['*', '?', '[']) && !word.contains(['/', '$']) && word.contains('.');
    is_glob && globs::check(word).is_ok_and(|glob| glob.compile_matcher().is_match(name))
}

/// Returns `true` if a line has `.ending` after a part that is known only at run time.
fn makes_names(line: &str, ending: &str, words: Words) -> bool {
    let dotted = format!(".{ending}");
    line.match_indices(&dotted).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + dotted.len()..]);
        if after.starts_with(|c: char| c.is_alphanumeric() || "_(".contains(c)) {
            return false;
        }
        let stem = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        match before.chars().next_back() {
            Some(')') => words == Words::Any,
            Some('"' | '\'' | '`' | '}') => true,
            Some(_) => stem.len() < before.len() && stem.ends_with(['$', '%']),
            None => false,
        }
    })
}

/// Returns the part of a text of the table before its first quote: the table has one kind, code has three.
fn first_word(text: &str) -> &str {
    match text.split_once('"') {
        Some(("", rest)) => rest.split('"').next().unwrap_or(rest),
        Some((first, _)) => first,
        None => text.trim_end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str, line: &str, name: &str) -> Option<Reading> {
        let mention = Mention { file: RepoPath::from(source), line: line.to_owned() };
        let words: Vec<&str> = table().lists_top.iter().map(|text| first_word(text)).collect();
        let ending = name.rsplit_once('.').map(|(_, ending)| format!(".{ending}"));
        let found = words.iter().any(|word| line.contains(word)) || ending.is_some_and(|ending| line.contains(&ending));
        found.then(|| reading(&mention, name)).flatten()
    }

    #[test]
    fn globs_and_listings_read_a_file_that_they_do_not_name() {
        for (source, line) in [
            ("tests/run.sh", "cat *.txt > all"),
            ("tests/run.sh", "for f in *; do wc $f; done"),
            ("tests/run.sh", "for f in *"),
            ("tests/run.sh", "cat ../*.txt > all"),
            ("tests/run.sh", "cat \"$(dirname \"$0\")\"/../*.txt"),
            ("tests/unit/test_a.py", "    for path in glob.glob('../../*.txt'):"),
            ("tests/unit/test_a.py", "    for path in glob.glob('../**/*.txt'):"),
            ("test.sh", "for f in ./*; do"),
            ("Makefile", "\twc -l *.txt"),
            ("package.json", "  \"test\": \"node run.js *.txt\","),
            ("tests/test_a.py", "    for path in glob.glob('*.txt'):"),
            ("tests/test_a.py", "    for path in os.listdir('.'):"),
            ("tests/test_a.py", "    names = sorted(os.listdir())"),
            ("tests/test_a.py", "    for path in Path(\".\").iterdir():"),
            ("tests/test_a.py", "    for path in Path.cwd().glob(\"*\"):"),
            ("tests/test_a.py", "    for path in ROOT.glob('**/*.txt'):"),
            ("test/a.test.ts", "for (const name of fs.readdirSync('.')) {"),
            ("a_test.go", "\tentries, err := os.ReadDir(\".\")"),
            ("tests/a.rs", "    for entry in std::fs::read_dir(\".\").unwrap() {"),
            ("spec/a_spec.rb", "  Dir['*'].each do |name|"),
            ("Makefile", "FILES = $(wildcard *)"),
        ] {
            assert_eq!(read(source, line, "todo.txt"), Some(Reading::Reads), "{source}: {line}");
        }
    }

    #[test]
    fn a_name_can_be_made_of_parts() {
        for (source, line) in [
            ("tests/run.sh", "for f in words; do cat $f.txt; done"),
            ("tests/run.sh", "cat \"${f}\".txt"),
            ("tests/run.sh", "cat $(basename \"$f\").txt"),
            ("tests/test_a.py", "    text = open(name + '.txt').read()"),
            ("tests/test_a.py", "    text = open(f'{name}.txt').read()"),
            ("tests/test_a.py", "    text = open('%s.txt' % name).read()"),
            ("a_test.go", "\tos.ReadFile(fmt.Sprintf(\"%s.txt\", name))"),
            ("test/a.test.ts", "readFileSync(`${name}.txt`)"),
        ] {
            assert_eq!(read(source, line, "words.txt"), Some(Reading::MakesNames), "{source}: {line}");
        }
    }

    #[test]
    fn other_names_and_methods_do_not_count() {
        for (source, line, name) in [
            ("tests/run.sh", "cat expected.txt", "todo.txt"),
            ("doc/Makefile", "HTML = $(patsubst %.txt,%.html,$(wildcard *.txt))", "todo.txt"),
            ("tests/run.sh", "cat cases/*.txt", "todo.txt"),
            ("tests/run.sh", "for f in cases/*; do", "todo.txt"),
            ("tests/run.sh", "find . -name '*.py'", "todo.txt"),
            ("tests/test_a.py", "    # for path in os.listdir('.'):", "todo.txt"),
            ("tests/test_a.py", "    for path in os.listdir(tmp):", "todo.txt"),
            ("lib/files.py", "    >>> find_files('src', ['*.txt'])", "todo.txt"),
            ("tests/test_a.py", "    for path in FIXTURES.glob('*.txt'):", "todo.txt"),
            ("test/a.test.ts", "glob.sync('*.txt', { cwd: fixtures })", "todo.txt"),
            ("src/a.py", "    if path.suffix == '.py' and x in names:", "todo.txt"),
            ("src/a.js", "console.log(x)", "debug.log"),
            ("src/a.js", "make().log(x)", "debug.log"),
            ("src/a.rs", "let x = run().out;", "nohup.out"),
            ("src/a.rs", "// a.txt and .txt", "todo.txt"),
            ("src/a.py", "path.endswith('.txts')", "todo.txt"),
            ("README.md", "for f in *; do", "todo.txt"),
        ] {
            assert_eq!(read(source, line, name), None, "{source}: {line}");
        }
    }

    #[test]
    fn a_script_is_loaded_by_its_name_without_the_extension() {
        for line in [
            "import run",
            "    import os, run",
            "from run import add",
            "from . import run",
            "const x = require('./run');",
            "require_relative 'run'",
            "pytest -p run",
            "addopts = \"-p run\"",
            "source run",
            ". ./run",
            "importlib.import_module(\"run\")",
            "test -e ./run*",
            "\"plugins\": [\"run\"]",
        ] {
            assert!(loads(line, "run"), "{line}");
        }
        for line in [
            "subprocess.run(['a'])",
            "def run():",
            "from app import run",
            "import { run } from \"./app\";",
            "{\"run\": 1}",
            "import runner",
            "./runner",
            "python -m runner",
            "cargo run",
            "run = True",
        ] {
            assert!(!loads(line, "run"), "{line}");
        }
    }
}
