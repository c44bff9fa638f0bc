//! Conditions in words: `cargo test: all pass`, `channels/: exists, 5 files`.

use super::wordings::{is_judged, usual_forms};
use super::{Ask, Comparison, Limit};

/// Words that say that a command succeeds.
const SUCCEEDS: [&str; 10] =
    ["success", "succeeds", "passes", "pass", "all pass", "all passed", "all tests pass", "ok", "exit 0", "green"];

/// Words that say that the tests of a command pass.
const TESTS_PASS: [&str; 3] = ["all pass", "all passed", "all tests pass"];

/// Words that say that something is not there.
const GONE: [&str; 9] = [
    "deleted", "gone", "removed", "absent", "missing", "does not exist", "not exists", "not there", "no longer exists",
];

/// Words that say that something is there.
const THERE: [&str; 4] = ["exists", "present", "is there", "created"];

/// Returns the requirements of a condition, or `None` if it is not understood.
pub(super) fn understand(subject: &str, predicate: &str) -> Option<Vec<Ask>> {
    let predicate = predicate.split(['→', '⇒', '⟵', '⟸', '⟶', '⟹']).next().unwrap_or(predicate);
    let predicate = bare(predicate);
    let subject = bare(subject);
    let lower = predicate.to_lowercase();
    let lower_subject = subject.to_lowercase();
    match lower_subject.as_str() {
        "task" => return None,
        "all original functions" | "all functions" | "original functions" | "functions" => {
            return matches!(lower.as_str(), "preserved" | "all preserved" | "kept" | "still there")
                .then(|| vec![Ask::FunctionsPreserved]);
        }
        "new dependencies" | "new dependency" | "added dependencies" => {
            return matches!(lower.as_str(), "none" | "no" | "0" | "not allowed").then(|| vec![Ask::NoNewDependency]);
        }
        "dependencies" => {
            return matches!(lower.as_str(), "unchanged" | "none new" | "no new" | "nothing new")
                .then(|| vec![Ask::NoNewDependency]);
        }
        "changed paths" | "changes" | "changed files" | "only changed" => {
            match lower.as_str() {
                "none" | "nothing" => return Some(vec![Ask::OnlyChanged(Vec::new())]),
                _ => {}
            }
            let list = strip_word(&predicate, "only").unwrap_or(&predicate);
            let globs: Vec<String> =
                list.split(',').map(|glob| unquoted(glob).to_owned()).filter(|g| !g.is_empty()).collect();
            let is_any = |glob: &String| ["any", "anything", "all", "everything"].contains(&glob.as_str());
            return (!globs.is_empty() && !globs.iter().any(is_any)).then(|| vec![Ask::OnlyChanged(globs)]);
        }
        "import map" | "import_map" => {
            let map = strip_word(&predicate, "verifies").or_else(|| predicate.strip_suffix(" verifies"));
            return map.map(|map| vec![Ask::ImportMap(unquoted(map).to_owned())]);
        }
        _ => {}
    }
    if let Some(glob) = maximum(&subject) {
        let lines = limit(&lower, "lines").or_else(|| limit(&lower, "line"))?;
        let number = if lines.comparison == Comparison::AtLeast { return None } else { lines.number };
        return Some(vec![Ask::MaxLines((!glob.is_empty()).then(|| glob.to_owned()), number)]);
    }
    if let Some(rest) = strip_word(&subject, "pattern") {
        return pattern(rest, &lower);
    }
    if SUCCEEDS.contains(&lower.as_str()) {
        // `file x: ok` is not a command.
        let line = strip_word(&subject, "run").unwrap_or(&subject).to_owned();
        return (strip_word(&subject, "file").is_none() && !line.is_empty())
            .then(|| vec![Ask::Command { line, tests: TESTS_PASS.contains(&lower.as_str()) }]);
    }
    // `TODO in src/**: absent`
    if subject.rsplit_once(" in ").is_some_and(|(_, glob)| glob.contains('*'))
        && let Some(ask) = pattern(&subject, &lower)
    {
        return Some(ask);
    }
    let is_file = strip_word(&subject, "file").is_some_and(|path| !path.ends_with('/'));
    let path = strip_word(&subject, "file")
        .or_else(|| strip_word(&subject, "folder"))
        .or_else(|| strip_word(&subject, "directory"))
        .or_else(|| strip_word(&subject, "dir"));
    let path = unquoted(path.unwrap_or(&subject)).to_owned();
    if let Some(other) = ["equals", "equal to", "identical to", "same as", "is equal to"]
        .iter()
        .find_map(|word| strip_word(&predicate, word))
    {
        return Some(vec![Ask::Equal(path, unquoted(other).to_owned())]);
    }
    for (word, occurs) in [("does not contain", false), ("contains no", false), ("contains", true)] {
        if let Some(text) = strip_word(&predicate, word) {
            if is_judged(text) {
                return None;
            }
            return Some(vec![Ask::Pattern { pattern: unquoted(text).to_owned(), glob: path, occurs }]);
        }
    }
    lower.split(',').map(|part| about(&path, is_file, part.trim())).collect()
}

/// Returns the requirements of a condition in other words, or `None` if it is not understood.
pub(super) fn understand_freely(text: &str) -> Option<Vec<Ask>> {
    let text = bare(text);
    usual_forms(&text).find_map(|(subject, predicate)| understand(&subject, &predicate))
}

/// Returns the requirement of one part for a file or folder.
fn about(path: &str, is_file: bool, part: &str) -> Option<Ask> {
    if THERE.contains(&part) {
        return Some(if is_file { Ask::IsFile(path.to_owned()) } else { Ask::Exists(path.to_owned()) });
    }
    if GONE.contains(&part) {
        return Some(Ask::Gone(path.to_owned()));
    }
    if let Some(limit) = limit(part, "lines").or_else(|| limit(part, "line")) {
        return (!path.ends_with('/')).then(|| Ask::Lines(path.to_owned(), limit));
    }
    limit(part, "files").or_else(|| limit(part, "file")).map(|limit| Ask::Files(path.to_owned(), limit))
}

/// Reads the glob in `max file`, `max file src/**`, `no file under src/**`.
fn maximum(subject: &str) -> Option<&str> {
    let rest = ["max file", "max lines", "largest file", "longest file", "every file", "no file", "files"];
    let rest = rest.iter().find_map(|word| strip_word(subject, word))?;
    let glob = ["under", "in", "of", "matching"].iter().find_map(|word| strip_word(rest, word)).unwrap_or(rest);
    Some(unquoted(glob))
}

/// Reads `"TODO" in src/**: absent`.
fn pattern(rest: &str, predicate: &str) -> Option<Vec<Ask>> {
    let (pattern, glob) = rest.rsplit_once(" in ")?;
    let occurs = match predicate {
        "occurs" | "present" | "found" | "exists" => true,
        "absent" | "none" | "gone" | "does not occur" | "not found" | "missing" => false,
        _ => return None,
    };
    Some(vec![Ask::Pattern { pattern: unquoted(pattern).to_owned(), glob: unquoted(glob).to_owned(), occurs }])
}

/// Reads `5 files`, `≤1500 lines`, `at most 3 files`.
fn limit(part: &str, unit: &str) -> Option<Limit> {
    let rest = part.strip_suffix(unit)?.trim();
    let signs = [
        ("≤", Comparison::AtMost),
        ("<=", Comparison::AtMost),
        ("at most", Comparison::AtMost),
        ("maximum", Comparison::AtMost),
        ("max", Comparison::AtMost),
        ("no more than", Comparison::AtMost),
        ("not more than", Comparison::AtMost),
        ("up to", Comparison::AtMost),
        ("≥", Comparison::AtLeast),
        (">=", Comparison::AtLeast),
        ("at least", Comparison::AtLeast),
        ("min", Comparison::AtLeast),
        ("exactly", Comparison::Exactly),
        ("==", Comparison::Exactly),
        ("=", Comparison::Exactly),
        ("has", Comparison::Exactly),
    ];
    let found = signs.iter().find_map(|(sign, comparison)| Some((rest.strip_prefix(sign)?, *comparison)));
    let strict = [("<", Comparison::AtMost), (">", Comparison::AtLeast)];
    let Some((number, comparison)) = found else {
        if let Some((number, comparison)) = strict.iter().find_map(|(sign, c)| Some((rest.strip_prefix(sign)?, *c))) {
            let number: usize = number.trim().parse().ok()?;
            let number =
                if comparison == Comparison::AtMost { number.checked_sub(1)? } else { number.checked_add(1)? };
            return Some(Limit { comparison, number });
        }
        return Some(Limit { comparison: Comparison::Exactly, number: rest.replace('_', "").parse().ok()? });
    };
    Some(Limit { comparison, number: number.trim().replace('_', "").parse().ok()? })
}

/// Returns the text without the part after an arrow, or in brackets at the end: `← MANDATORY`.
pub(super) fn bare(text: &str) -> String {
    let text = text.split(['←', '⇐']).next().unwrap_or(text);
    let text = text.split(" <- ").next().unwrap_or(text).trim();
    let lower = text.to_lowercase();
    let end = ["(mandatory)", "[mandatory]", "-- mandatory", "- mandatory", "! mandatory"]
        .iter()
        .find_map(|mark| lower.strip_suffix(mark).map(str::len));
    text.get(..end.unwrap_or(text.len())).unwrap_or(text).trim().to_owned()
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    (head.eq_ignore_ascii_case(word) && (rest.is_empty() || rest.starts_with([' ', ':']))).then(|| rest.trim())
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let quoted = ['"', '\'', '`'].iter().find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark));
    quoted.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_people_write() {
        let limit = |comparison, number| Limit { comparison, number };
        let command = |line: &str, tests| Ask::Command { line: line.to_owned(), tests };
        let only = |globs: &[&str]| Ask::OnlyChanged(globs.iter().map(|glob| (*glob).to_owned()).collect());
        let absent = |pattern: &str, glob: &str| Ask::Pattern {
            pattern: pattern.to_owned(),
            glob: glob.to_owned(),
            occurs: false,
        };
        for (text, want) in [
            ("src/parser.rs exists", Ask::Exists("src/parser.rs".to_owned())),
            ("file src/a.rs must exist", Ask::Exists("src/a.rs".to_owned())),
            ("src/a.rs does not exist", Ask::Gone("src/a.rs".to_owned())),
            ("src/a.rs is deleted.", Ask::Gone("src/a.rs".to_owned())),
            ("src/a.rs has at most 500 lines", Ask::Lines("src/a.rs".to_owned(), limit(Comparison::AtMost, 500))),
            ("src/a.rs: 3,438 lines", Ask::Lines("src/a.rs".to_owned(), limit(Comparison::Exactly, 3438))),
            ("src/a.rs: fewer than 500 lines", Ask::Lines("src/a.rs".to_owned(), limit(Comparison::AtMost, 499))),
            ("src/ contains 5 files", Ask::Files("src/".to_owned(), limit(Comparison::Exactly, 5))),
            ("cargo check passes with 0 errors", command("cargo check", false)),
            ("cargo check: 0 errors", command("cargo check", false)),
            ("run cargo check: success -- mandatory", command("cargo check", false)),
            ("cargo test: all tests passing", command("cargo test", true)),
            ("No file exceeds 500 lines", Ask::MaxLines(None, 500)),
            ("no file under src/** is longer than 500 lines", Ask::MaxLines(Some("src/**".to_owned()), 500)),
            ("every file in src/** is under 500 lines", Ask::MaxLines(Some("src/**".to_owned()), 499)),
            ("max file: ≤ 1,720 lines", Ask::MaxLines(None, 1720)),
            ("all original functions are preserved", Ask::FunctionsPreserved),
            ("all original functions: still exist", Ask::FunctionsPreserved),
            ("no new dependencies added", Ask::NoNewDependency),
            ("dependencies: unchanged", Ask::NoNewDependency),
            ("only src/** changed", only(&["src/**"])),
            ("modified files: only src/**, tests/**", only(&["src/**", "tests/**"])),
            ("a.txt and b.txt are identical", Ask::Equal("a.txt".to_owned(), "b.txt".to_owned())),
            ("src/a.rs does not contain TODO", absent("TODO", "src/a.rs")),
            ("no TODO in src/**", absent("TODO", "src/**")),
            ("TODO in src/**: absent", absent("TODO", "src/**")),
            ("no \"errors\" in src/m.py", absent("errors", "src/m.py")),
            ("no console.log in src/**", absent("console.log", "src/**")),
            ("no unwrap\\(\\) in src/**", absent("unwrap\\(\\)", "src/**")),
            ("src/a.rs does not contain unwrap", absent("unwrap", "src/a.rs")),
            ("ningún archivo supera 500 líneas", Ask::MaxLines(None, 500)),
            ("src/a.rs no existe", Ask::Gone("src/a.rs".to_owned())),
            ("se conservan todas las funciones originales", Ask::FunctionsPreserved),
        ] {
            assert_eq!(understand_freely(text), Some(vec![want]), "{text}");
        }
        for text in [
            "changed files: anything",
            "the code is clean",
            "moon phase: full",
            "README.md: exists, shiny",
            "looks good",
            "3 files",
            "",
            "no errors in src/m.py",
            "src/m.py contains no errors",
            "there are no bugs in src/**",
            "src/m.py does not contain errors",
            "src/m.py does not contain dead code",
            "src/m.py: contains no typos",
            "no hay errores en src/m.py",
            "no mistakes in src/**",
        ] {
            assert_eq!(understand_freely(text), None, "{text}");
        }
    }

    #[test]
    fn one_requirement_in_many_words() {
        let gone = [Ask::Gone("a/".to_owned())];
        for (subject, predicate, want) in [
            ("a/", "deleted", &gone[..]),
            ("file a/", "not exists", &gone),
            ("folder a/", "gone", &gone),
            ("directory a/", "does not exist", &gone),
            ("dir a/", "removed", &gone),
        ] {
            assert_eq!(understand(subject, predicate).as_deref(), Some(want), "{subject}: {predicate}");
        }
        let none = [Ask::OnlyChanged(Vec::new())];
        assert_eq!(understand("changed files", "none").as_deref(), Some(&none[..]));
        for (subject, predicate) in
            [("changed paths", "anything"), ("changed files", "everything"), ("a", "→ exists"), ("→", "")]
        {
            assert_eq!(understand(subject, predicate), None, "{subject}: {predicate}");
        }
        for arrow in ['→', '⟵', '⇒', '←'] {
            let there = [Ask::Exists("a".to_owned())];
            assert_eq!(understand("a", &format!("exists {arrow} MANDATORY")).as_deref(), Some(&there[..]), "{arrow}");
        }
        // A command keeps its arrows.
        let line = [Ask::Command { line: "grep -q → a".to_owned(), tests: false }];
        assert_eq!(understand("grep -q → a", "success").as_deref(), Some(&line[..]));
        for (subject, predicate) in [("a", "shiny"), ("a", "exists, shiny"), ("a", "3,438 lines"), ("task", "exists")] {
            assert_eq!(understand(subject, predicate), None, "{subject}: {predicate}");
        }
    }
}
