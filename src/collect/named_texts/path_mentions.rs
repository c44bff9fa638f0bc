//! The ways in which a line names a file.

use std::collections::BTreeSet;

use super::declared_lines::DeclaredLines;
use super::table::{Naming, is_of_runner, naming, table};
use crate::fact::weakening::is_test_file;
use crate::git::Mention;
use crate::globs;
use crate::repo_path::RepoPath;

/// The placeholder for a part of a path that is known only at run time.
const VARIABLE: &str = "\u{1}";

/// Returns words of which every line that may name one of `files` contains at least one.
pub(super) fn words(files: &BTreeSet<&RepoPath>, most: usize) -> Vec<String> {
    let mut words: BTreeSet<String> = ["go:embed", "*.{"].map(str::to_owned).into();
    words.extend(table().collectors.iter().map(|one| one.flag.clone()));
    let mut names = BTreeSet::new();
    for file in files.iter().filter(|file| table().ci.is_match(file.to_os())) {
        words.extend(table().ci_readers.iter().flatten().cloned());
        words.extend(file.to_string().split_once('/').map(|(folder, _)| folder.to_owned()));
    }
    for file in files {
        let path = file.to_string();
        let (folder, base) = path.rsplit_once('/').unwrap_or(("", &path));
        match base.rsplit_once('.') {
            Some((_, ending)) => {
                let ways = ["*.", "}.", "%s.", "\".", "'."];
                words.extend(ways.iter().map(|way| format!("{way}{ending}")));
                names.insert((base.to_owned(), format!(".{ending}")));
            }
            None => _ = names.insert((base.to_owned(), base.to_owned())),
        }
        for name in folder.split('/').filter(|name| !name.is_empty()) {
            let ways = ["\"_\"", "'_'", "_/\"", "_/'", "/_\"", "/_'", "`_`", "_/*"];
            words.extend(ways.iter().map(|way| way.replace('_', name)));
        }
    }
    let few = names.len() <= most;
    words.extend(names.into_iter().map(|(name, ending)| if few { name } else { ending }));
    words.into_iter().collect()
}

/// Returns `true` if `mention` makes `file` count. `above` are the lines before it, if it is in settings.
pub(super) fn names(mention: &Mention, above: &[Mention], file: &RepoPath, declared: &DeclaredLines) -> bool {
    let of_ci = table().ci.is_match(file.to_os()) && reads_settings_of_ci(&mention.line);
    let is_task = naming(&mention.file) == Naming::Settings || is_of_runner(&mention.file);
    if of_ci && is_task && declared.is_whole {
        // A checker of settings counts if a declared command runs it, and a plugin if one runs its linter.
        let lints = |line: &String| line.contains("eslint") && mention.line.contains("eslint");
        return declared.lines.iter().any(|line| reads_settings_of_ci(line) || lints(line));
    }
    let of_runner = |of_runner: bool| Line { text: &mention.line, folder: folder_of(&mention.file), of_runner };
    match naming(&mention.file) {
        _ if is_comment(&mention.line) => false,
        Naming::Code => {
            let words = Words::for_code(&mention.file, &mention.line);
            of_runner(is_of_runner(&mention.file)).names(file, words)
                || names_folder_of(&mention.line, file, words)
                || tests_names_like(mention, file)
                || tests_search_for(mention, file)
        }
        Naming::Settings if of_ci => true,
        Naming::Settings => {
            let of_tests = is_of_tests(&mention.line, above) && of_runner(true).names(file, Words::Any);
            of_tests && !only_checks_prose(&mention.line, above, &declared.lines)
        }
        Naming::Silent => false,
    }
}

/// Returns `true` if a line of code names the folder in which `file` lies, unless that is one of documents or of all code, or
/// the file is one that every folder has.
fn names_folder_of(line: &str, file: &RepoPath, words: Words) -> bool {
    let path = file.to_string();
    let [.., folder, base] = parts(&path)[..] else { return false };
    let is_one = |list: &[String], name: &str| list.iter().any(|one| one == name);
    if is_one(&table().documents, folder) || is_one(&table().generic, base) || table().ci.is_match(file.to_os()) {
        return false;
    }
    tokens(line, words).any(|token| WantedName::read(token).parts.last().is_some_and(|last| last == folder))
}

/// Returns `true` if a line of a test names the extension of `file`, which lies in the folder of the test or below: it may
/// look for such files.
fn tests_names_like(mention: &Mention, file: &RepoPath) -> bool {
    let path = file.to_string();
    let base = path.rsplit('/').next().unwrap_or_default();
    let Some((_, ending)) = base.rsplit_once('.') else { return false };
    let folder = folder_of(&mention.file);
    folder.iter().any(|part| ["test", "tests", "spec", "__tests__"].contains(part))
        && below(&folder, &parts(&path))
        && !table().generic.iter().any(|name| name == base)
        && tokens(&mention.line, Words::Quoted).any(|token| token.strip_prefix('.').unwrap_or(token) == ending)
}

/// Returns `true` if a line of a test looks for files with the extension of `file` in all folders.
fn tests_search_for(mention: &Mention, file: &RepoPath) -> bool {
    let path = file.to_string();
    let base = path.rsplit('/').next().unwrap_or_default();
    let is_all = |token: &str| {
        let (folders, last) = token.rsplit_once('/').unwrap_or(("", token));
        last.starts_with("*.") && ends_alike(last, base) && (folders.ends_with("**") || mention.line.contains("rglob("))
    };
    is_test_file(&mention.file) && !mention.line.contains("tmp") && tokens(&mention.line, Words::Quoted).any(is_all)
}

/// Returns the one file that a line of code reads, by a path from the folder of its own file:
/// `include_str!("../README.md")`. `None`: the line names files otherwise, too, or by a path that is not literal.
pub(super) fn included_file(mention: &Mention) -> Option<RepoPath> {
    let call = table().includes.iter().find(|call| mention.line.contains(call.as_str()))?;
    let (_, argument) = mention.line.split_once(call.as_str())?;
    let (path, rest) = argument.trim_start().strip_prefix('"')?.split_once('"')?;
    let mut found = folder_of(&mention.file);
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => _ = found.pop()?,
            part => found.push(part),
        }
    }
    (!rest.contains('"')).then(|| RepoPath::from(found.join("/").as_str()))
}

/// Returns `true` if the line of a declared command names `file`, or tests all prose below its folder.
pub(super) fn command_names(run: &str, dir: &RepoPath, file: &RepoPath) -> bool {
    let dir = dir.to_string();
    let first: Vec<&str> = run.split_whitespace().collect();
    let tests_prose =
        table().runners.iter().any(|words| first.starts_with(&words.iter().map(String::as_str).collect::<Vec<_>>()));
    let line = Line { text: run, folder: parts(&dir), of_runner: true };
    tests_prose && below(&parts(&dir), &parts(&file.to_string())) || line.names(file, Words::Any)
}

/// The words of a line that may be paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// Words in quotes.
    Quoted,
    /// All words.
    Any,
}

impl Words {
    /// Returns the words for a line of code. Shells need no quotes around words, and neither does a directive of Go.
    pub(super) fn for_code(file: &RepoPath, line: &str) -> Self {
        let name = file.to_string();
        let base = name.rsplit('/').next().unwrap_or_default();
        let shell =
            [".sh", ".bash", ".zsh", ".fish", ".bats", ".ps1", ".t"].iter().any(|ending| base.ends_with(ending));
        if shell || !base.contains('.') || line.trim_start().starts_with("//go:embed") {
            Self::Any
        } else {
            Self::Quoted
        }
    }
}

/// A line, and the folder of its file.
struct Line<'t> {
    text: &'t str,
    folder: Vec<&'t str>,
    /// `true` if it is a setting of a runner: all files that a glob in it matches are meant.
    of_runner: bool,
}

impl Line<'_> {
    fn names(&self, file: &RepoPath, words: Words) -> bool {
        let is_of_ci = table().ci.is_match(file.to_os());
        let path = file.to_string();
        let file = parts(&path);
        let ending = file.last().and_then(|base| base.rsplit_once('.')).map(|(_, ending)| format!(".{ending}"));
        let collects = |flag: &str, takes: &str| self.text.contains(flag) && ending.as_deref() == Some(takes);
        if table().collectors.iter().any(|one| collects(&one.flag, &one.takes)) && below(&self.folder, &file) {
            return true;
        }
        if is_of_ci && reads_settings_of_ci(self.text) {
            return true;
        }
        let embeds = self.text.trim_start().starts_with("//go:embed");
        let lists = embeds || table().listing.iter().any(|word| self.text.contains(word.as_str()));
        tokens(self.text, words).any(|token| {
            let wanted = WantedName::read(token);
            // The folders of settings are hidden, and `*` matches no hidden one.
            if is_of_ci && wanted.parts == ["*"] {
                return false;
            }
            wanted.is_file(self, &file)
                || (lists || is_of_ci) && wanted.is_folder_above(self, &file, embeds)
                || is_of_ci && (ending.as_deref() == Some(token) || wanted.is_glob_of(&file))
        })
    }

    /// Returns `true` if the line holds `name` as a word.
    fn has_word(&self, name: &str) -> bool {
        let of_name = |c: char| c.is_alphanumeric() || "_-".contains(c);
        self.text.match_indices(name).any(|(at, _)| {
            let (before, after) = (&self.text[..at], &self.text[at + name.len()..]);
            !before.chars().next_back().is_some_and(of_name) && !after.chars().next().is_some_and(of_name)
        })
    }
}

/// Returns the words of a line that may be paths.
pub(super) fn tokens(text: &str, words: Words) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || "\"'`()<>,;=|&".contains(c);
    let mut tokens = Vec::new();
    let mut start = 0;
    for (at, end) in text.match_indices(ends).chain([(text.len(), "")]) {
        let before = text[..start].chars().next_back();
        let quoted = before.is_some_and(|quote| "\"'`".contains(quote)) && end.starts_with(['"', '\'', '`']);
        if at > start && (quoted || words == Words::Any) {
            tokens.push(&text[start..at]);
        }
        start = at + end.len();
    }
    // A name with spaces, and a list of alternatives.
    let quoted = text.split(['"', '\'', '`']).skip(1).filter(|text| text.contains([' ', ',']) && text.len() < 128);
    tokens.into_iter().chain(quoted)
}

/// A path or a glob as code writes it.
struct WantedName {
    /// Its parts, without leading `..` parts and parts that are known only at run time.
    parts: Vec<String>,
    is_glob: bool,
    /// `true` if it begins from the folder of its file, or above.
    is_relative: bool,
}

impl WantedName {
    fn read(token: &str) -> Self {
        let plain = variables(&token.replace("\\\\", "/").replace('\\', "/"));
        let plain = plain.split(['?', '#']).next().unwrap_or_default();
        let mut parts: Vec<&str> = plain.split('/').collect();
        let leads = |part: &&str| matches!(*part, "" | "." | "..") || *part == VARIABLE || part.ends_with(':');
        let skipped = parts.iter().take_while(|part| leads(part)).count();
        let is_relative = parts[..skipped].iter().any(|part| matches!(*part, "." | ".."));
        parts.drain(..skipped);
        if parts.last() == Some(&"") {
            parts.pop();
        }
        let is_glob = parts.iter().any(|part| part.contains(['*', '[', '{']) || part.contains(VARIABLE));
        let parts = parts.into_iter().map(|part| part.replace(VARIABLE, "*")).collect();
        Self { parts, is_glob, is_relative }
    }

    /// Returns `true` if it names `file`, or is a glob that matches it.
    fn is_file(&self, line: &Line<'_>, file: &[&str]) -> bool {
        let Some(last) = self.parts.last() else { return false };
        if self.is_glob {
            let ends_alike = file.last().is_some_and(|base| ends_alike(last, base));
            let base = file.last().copied().unwrap_or_default();
            return ends_alike && self.tails(file).any(|folder| self.is_meant_by_glob(line, folder, base));
        }
        self.tails(file).any(|folder| self.is_meant(line, folder, last))
    }

    /// Returns `true` if it is a glob that matches `file`, wherever it begins, and names its extension.
    fn is_glob_of(&self, file: &[&str]) -> bool {
        let (Some(last), Some(base)) = (self.parts.last(), file.last()) else { return false };
        self.is_glob && ends_alike(last, base) && self.tails(file).next().is_some()
    }

    /// Returns the folders that it can begin from, if it is `file`.
    fn tails<'f>(&self, file: &'f [&'f str]) -> impl Iterator<Item = &'f [&'f str]> {
        let glob =
            self.is_glob.then(|| globs::check(&self.parts.join("/")).ok()).flatten().map(|glob| glob.compile_matcher());
        let plain = !self.is_glob;
        let length = self.parts.len();
        let parts = self.parts.clone();
        (0..file.len()).map(move |at| file.split_at(at)).filter_map(move |(folder, tail)| {
            let is = match &glob {
                Some(glob) => glob.is_match(tail.join("/")),
                None => plain && tail.len() == length && tail.iter().zip(&parts).all(|(a, b)| a == b),
            };
            is.then_some(folder)
        })
    }

    /// Returns `true` if this line may mean a name that begins from `folder`.
    fn is_meant(&self, line: &Line<'_>, folder: &[&str], last: &str) -> bool {
        if below(folder, &line.folder) {
            return true;
        }
        let is_generic = table().generic.iter().any(|name| name == last);
        !self.is_relative && (!is_generic || folder.last().is_some_and(|name| line.has_word(name)))
    }

    fn is_meant_by_glob(&self, line: &Line<'_>, folder: &[&str], base: &str) -> bool {
        if line.text.trim_start().starts_with("//go:embed") {
            return folder == line.folder;
        }
        if folder.last().is_some_and(|name| line.has_word(name)) {
            return true;
        }
        if line.of_runner || self.says_more_than_an_extension() {
            return below(folder, &line.folder) || self.parts.len() == 1 && below(&line.folder, folder);
        }
        // `*.md` in a script is about the files around it, and not about those that every project has.
        let is_generic = table().generic.iter().any(|name| name == base);
        self.parts.len() == 1
            && !is_generic
            && (folder == line.folder || !line.folder.is_empty() && below(&line.folder, folder))
    }

    /// Returns `true` if a glob holds the name of a folder, or a part of a name: `docs/*.md`, `CHANGES*.md`.
    fn says_more_than_an_extension(&self) -> bool {
        let Some((last, folders)) = self.parts.split_last() else { return false };
        let is_plain = |part: &String| !part.contains(['*', '[', '{', '?']);
        let stem = last.split(".{").next().unwrap_or(last);
        let stem = if stem.len() < last.len() { stem } else { stem.rsplit_once('.').map_or(stem, |(stem, _)| stem) };
        let outside = |text: &str| {
            text.split('[').map(|part| part.rsplit(']').next().unwrap_or_default().to_owned()).collect::<String>()
        };
        folders.iter().any(is_plain) || outside(stem).contains(char::is_alphanumeric)
    }

    /// Returns `true` if it is a folder that contains `file`.
    fn is_folder_above(&self, line: &Line<'_>, file: &[&str], exact: bool) -> bool {
        if self.is_glob || self.parts.is_empty() {
            return false;
        }
        (1..file.len()).any(|end| {
            self.tails(&file[..end])
                .any(|folder| if exact { folder == line.folder } else { below(folder, &line.folder) })
        })
    }
}

/// Replaces each part that is known only at run time by one character: `{x}`, `${x}`, `$x`, `#{x}`, `%s`.
fn variables(token: &str) -> String {
    let mut plain = String::new();
    let mut rest = token;
    while let Some(at) = rest.find(['{', '$', '#', '%']) {
        plain.push_str(&rest[..at]);
        let here = &rest[at..];
        let inner = here.trim_start_matches(['$', '#']);
        let end = match inner.strip_prefix('{').and_then(|inner| inner.find('}')) {
            Some(end) if !inner[..end].contains(',') => here.len() - inner.len() + end + 2,
            None if here.starts_with('$') => {
                here[1..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(here.len(), |end| end + 1)
            }
            None if here.starts_with("%s") || here.starts_with("%d") || here.starts_with("%v") => 2,
            _ => 0,
        };
        if end == 0 {
            let first = here.chars().next().map_or(1, char::len_utf8);
            plain.push_str(&here[..first]);
            rest = &here[first..];
        } else {
            plain.push_str(VARIABLE);
            rest = &here[end..];
        }
    }
    plain + rest
}

/// Returns `true` if a glob names the extension of `base`. A glob that matches every file says nothing about prose.
fn ends_alike(glob: &str, base: &str) -> bool {
    match base.rsplit_once('.') {
        Some((_, ending)) => {
            glob == "*" || glob.ends_with(&format!(".{ending}")) || glob.contains('{') && glob.contains(ending)
        }
        None => glob.starts_with(base),
    }
}

/// Returns `true` if the line starts a program that reads settings of CI services.
fn reads_settings_of_ci(line: &str) -> bool {
    table().ci_readers.iter().any(|texts| texts.iter().all(|text| line.contains(text.as_str())))
}

/// Returns `true` if the line, or the setting above it, mentions tests.
fn is_of_tests(line: &str, above: &[Mention]) -> bool {
    let of_tests = |text: &str| {
        let text = text.to_lowercase();
        ["test", "spec", "check"].iter().any(|word| text.contains(word))
            || table().collectors.iter().any(|one| text.contains(&one.flag))
    };
    let indent = |text: &str| text.len() - text.trim_start().len();
    if of_tests(line) {
        return true;
    }
    let head = above.iter().rev().find(|one| !one.line.trim().is_empty() && indent(&one.line) < indent(line));
    head.is_some_and(|head| !head.line.trim_start().starts_with('[') && of_tests(&head.line))
}

/// Returns `true` if the line is that of a task which only checks prose as prose, such as its links, and which no declared
/// command names.
fn only_checks_prose(line: &str, above: &[Mention], runs: &[String]) -> bool {
    let indented = |text: &str| text.starts_with([' ', '\t']);
    // `"links": "lychee README.md"`, or a recipe below its target.
    let (task, work) = match line.trim().strip_prefix('"').and_then(|rest| rest.split_once("\":")) {
        Some((task, work)) => (task, work),
        None if indented(line) => {
            let target = above.iter().rev().map(|one| one.line.as_str()).find(|text| !indented(text));
            match target.and_then(|target| target.split_once(':')) {
                Some((task, _)) => (task.trim(), line),
                None => return false,
            }
        }
        None => return false,
    };
    let named = |run: &String| run.split_whitespace().any(|word| word == task);
    if table().whole.iter().any(|whole| whole == task) || runs.iter().any(named) {
        return false;
    }
    let work = work.trim().trim_matches(|c: char| "\",@- \t".contains(c));
    let mut commands = work.split(['&', ';', '|']).map(str::trim).filter(|command| !command.is_empty()).peekable();
    let program = |command: &str| {
        let skipped = ["npx", "bunx", "uvx", "pnpm", "yarn", "exec", "dlx", "--yes", "-y"];
        command.split_whitespace().find(|word| !skipped.contains(word)).map(str::to_owned)
    };
    let is_checker = |command: &str| program(command).is_some_and(|program| table().checkers.contains(&program));
    commands.peek().is_some() && commands.all(is_checker)
}

/// Returns `true` if no part of the line is executed.
pub(super) fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with("//go:embed") {
        return false;
    }
    let after_hash = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#'));
    let of_shell = after_hash.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    of_shell || ["//", "/*", "* ", "*/", "-- ", ";", "<!--", "\"\"\""].iter().any(|start| line.starts_with(start))
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

fn folder_of(file: &RepoPath) -> Vec<&str> {
    let path = std::str::from_utf8(file.as_bytes()).unwrap_or_default();
    parts(path.rsplit_once('/').map_or("", |(folder, _)| folder))
}

/// Returns `true` if `path` is `folder` or is below it.
fn below(folder: &[&str], path: &[&str]) -> bool {
    path.starts_with(folder)
}

#[cfg(test)]
#[path = "mention_tests.rs"]
mod tests;
