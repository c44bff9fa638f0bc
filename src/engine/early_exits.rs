//! Exits with status 0 that a program in Go reaches before its tests: `go test` prints that the package passed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Workplace;
use crate::git::MentionsIn;
use crate::lazy_patterns::compiled;
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;

/// The texts without which no process ends early: calls that end it, and the function that must run the tests.
const EXITS: [&str; 3] = ["Exit(", "exit(", "TestMain("];
/// The mark of a call that may end the process with status 0.
const EXIT: &str = "Exit(0)";
/// Parts of the names of functions that run the tests for `TestMain`.
const RUNS: [&str; 4] = ["Run", "TestMain", "Verify", "Main"];
/// The largest number of sources that are read.
const MAX_SOURCES: usize = 2_000;

/// The part of a source that runs when it is called, or before everything else.
struct GoFunction {
    /// Its name; that of what runs before everything else is empty.
    name: String,
    /// The names that it uses, with `Exit` for a call that may end the process with status 0.
    uses: BTreeSet<String>,
    path: RepoPath,
}

impl Workplace {
    /// Returns the sentence about an exit that a changed source reaches before the tests run, for a run of `go test` that
    /// does not show them. `sources` are the files that the work changed.
    pub(super) fn early_exit<'s>(
        &self,
        root: &Path,
        sources: &dyn Fn() -> &'s [RepoPath],
        on: &KeptSnapshot,
        line: &str,
        output: &str,
    ) -> Option<String> {
        let is_shown =
            |line: &str| line.starts_with("=== RUN") || line.ends_with("PASS") || line.contains("\"Action\":\"run\"");
        if output.lines().any(is_shown) {
            return None;
        }
        let sources: BTreeSet<&RepoPath> = sources().iter().filter(|path| path.as_bytes().ends_with(b".go")).collect();
        if sources.is_empty() {
            return None;
        }
        let words: Vec<String> = EXITS.iter().map(|word| (*word).to_owned()).collect();
        let exits = self.repo.mentions(MentionsIn::Tree(&on.tree), &words, &["*.go".to_owned()], 0).ok()?;
        if exits.is_empty() {
            return None;
        }
        let all =
            self.repo.mentions(MentionsIn::Tree(&on.tree), &["package ".to_owned()], &["*.go".to_owned()], 0).ok()?;
        let files: BTreeSet<RepoPath> = all.into_iter().map(|mention| mention.file).collect();
        let read = |path: RepoPath| Some((regular_file::read_text(&root.join(path.to_os())).ok()?, path));
        let texts = files.into_iter().take(MAX_SOURCES).filter_map(read);
        let functions: Vec<GoFunction> = texts.flat_map(|(text, path)| functions(&text, &path)).collect();
        let (path, through) = reached(&functions, &sources)?;
        let verbose = line.replacen("go test", "go test -v", 1);
        let shown = if verbose == line { "go test -v ./...".to_owned() } else { verbose };
        Some(format!(
            "{path} may end the process before its tests run, with status 0 ({through}), which go test reports as a pass: \
             gate run -- {shown}"
        ))
    }
}

/// Returns the file and the name of a function that ends the process before the tests, if the work changed it or one on the way.
fn reached(functions: &[GoFunction], changed: &BTreeSet<&RepoPath>) -> Option<(RepoPath, String)> {
    let mut by_name: BTreeMap<&str, Vec<&GoFunction>> = BTreeMap::new();
    for function in functions {
        by_name.entry(&function.name).or_default().push(function);
    }
    for start in functions.iter().filter(|one| matches!(one.name.as_str(), "" | "init" | "TestMain")) {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open = vec![(start, changed.contains(&start.path))];
        let mut runs = start.name != "TestMain" || !changed.contains(&start.path);
        while let Some((function, is_changed)) = open.pop() {
            runs |= function.uses.iter().any(|name| RUNS.iter().any(|run| name.contains(run)));
            if is_changed && function.uses.contains(EXIT) {
                return Some((function.path.clone(), shown(&start.name).to_owned()));
            }
            for name in function.uses.iter().filter(|name| seen.insert(name)) {
                let next = by_name.get(name.as_str()).into_iter().flatten();
                open.extend(next.map(|next| (*next, is_changed || changed.contains(&next.path))));
            }
        }
        if !runs {
            return Some((start.path.clone(), start.name.clone()));
        }
    }
    None
}

fn shown(name: &str) -> &str {
    if name.is_empty() { "a variable of the package" } else { name }
}

/// Returns the functions of a source as `gofmt` writes it, and what runs before them.
fn functions(text: &str, path: &RepoPath) -> Vec<GoFunction> {
    let mut found = Vec::new();
    let mut before = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(header) = line.strip_prefix("func ") else {
            before.push_str(line);
            before.push('\n');
            continue;
        };
        let name = header.strip_prefix('(').and_then(|rest| Some(rest.split_once(')')?.1)).unwrap_or(header);
        let name = name.trim_start().split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        let mut body = header.split_once('{').map(|(_, body)| body.to_owned()).unwrap_or_default();
        if !line.trim_end().ends_with('}') {
            for line in lines.by_ref().take_while(|line| !line.starts_with('}')) {
                body.push('\n');
                body.push_str(line);
            }
        }
        // In a test, such an exit is a panic.
        if name != "main" {
            found.push(GoFunction { name: name.to_owned(), uses: uses(&body, name == "TestMain"), path: path.clone() });
        }
    }
    found.push(GoFunction { name: String::new(), uses: uses(&before, false), path: path.clone() });
    found
}

/// Returns the names that a body calls.
fn uses(body: &str, runs_tests: bool) -> BTreeSet<String> {
    let Some(calls) = compiled(r"\b(\w+)\(") else { return BTreeSet::new() };
    let body: String = body.lines().flat_map(|line| [line.split("//").next().unwrap_or_default(), "\n"]).collect();
    let body = without_kept_functions(&body);
    let mut found = BTreeSet::new();
    for call in calls.captures_iter(&body) {
        let (name, rest) = (&call[1], &body[call.get_match().end()..]);
        let argument = rest.split(['(', ')', '\n']).next().unwrap_or_default().trim();
        let code = argument.parse::<u8>().ok();
        // What the tests returned, or a failure.
        let is_honest = argument.ends_with("Run") || code.map_or(runs_tests, |code| code > 0);
        let is_exit = matches!(name, "Exit" | "_exit" | "exit") && !is_honest;
        found.insert(if is_exit { EXIT.to_owned() } else { name.to_owned() });
    }
    found
}

/// Returns a body without the functions that it only keeps, in a field or in a variable, and does not run.
fn without_kept_functions(body: &str) -> String {
    let mut kept = String::new();
    let mut rest = body;
    while let Some(at) = rest.find("func(") {
        let (before, literal) = rest.split_at(at);
        kept.push_str(before);
        let end = end_of_literal(literal).unwrap_or(literal.len());
        let is_run = before.trim_end().ends_with(['(', ',']) || literal[end..].starts_with('(');
        let (text, after) = literal.split_at(if is_run { "func(".len() } else { end });
        kept.push_str(if is_run { text } else { "" });
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// Returns the end of a function that begins here: behind the brace that closes its body.
fn end_of_literal(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth <= 1 => return Some(at + 1),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaches(text: &str) -> bool {
        let path = RepoPath::from("a.go");
        reached(&functions(text, &path), &BTreeSet::from([&path])).is_some()
    }

    #[test]
    fn an_exit_before_the_tests_is_found() {
        for (text, expected) in [
            ("func init() {\n\tos.Exit(0)\n}\n", true),
            ("func init() { os.Exit(0) }\n", true),
            ("func init() { stop() }\n\nfunc stop() {\n\tsyscall.Exit(0)\n}\n", true),
            ("var _ = stop()\n\nfunc stop() int {\n\tos.Exit(0)\n\treturn 0\n}\n", true),
            ("var _ = func() int { os.Exit(0); return 0 }()\n", true),
            ("func init() {\n\tonce.Do(func() {\n\t\tos.Exit(0)\n\t})\n}\n", true),
            ("func TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n", true),
            ("func TestMain(m *testing.M) {\n\tm.Run()\n\tos.Exit(0)\n}\n", true),
            ("func TestMain(m *testing.M) {\n}\n", true),
            ("func TestMain(m *testing.M) {\n\tm.Run()\n}\n", false),
            ("func TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n", false),
            ("func TestMain(m *testing.M) {\n\tcode := m.Run()\n\tos.Exit(code)\n}\n", false),
            (
                "func TestMain(m *testing.M) {\n\tos.Exit(run(m))\n}\n\nfunc run(m *testing.M) int {\n\treturn m.Run()\n}\n",
                false,
            ),
            ("func TestMain(m *testing.M) {\n\tgoleak.VerifyTestMain(m)\n}\n", false),
            ("func init() {\n\tif bad {\n\t\tos.Exit(1)\n\t}\n}\n", false),
            ("func main() {\n\tos.Exit(0)\n}\n", false),
            ("func usage() {\n\tos.Exit(0)\n}\n", false),
            ("var root = &cmd{\n\tRun: func() {\n\t\tos.Exit(0)\n\t},\n}\n", false),
            ("func init() {\n\troot.Run = func() { os.Exit(0) }\n}\n", false),
            ("func init() {\n\t// os.Exit(0)\n}\n", false),
        ] {
            assert_eq!(reaches(text), expected, "{text}");
        }
    }
}
