//! `@RATIONALE` and `@REJECTED` in comments, and the `[DEF:id:Type]` anchors around them.

use super::{AdrStatus, Decision, RecordKind, comments, revision};
use crate::repo_path::RepoPath;

/// An anchor that is open: its id, its type and where it began.
struct Anchor {
    id: String,
    is_adr: bool,
    line: u32,
    said: Vec<String>,
    status: Option<AdrStatus>,
}

/// Returns the records in the comments of a text.
pub(super) fn read(path: &RepoPath, text: &str) -> Vec<Decision> {
    let lines = comments::lines(path, text);
    let mut found: Vec<Decision> = Vec::new();
    let mut anchors: Vec<Anchor> = Vec::new();
    // The record that the next line may go on with, and that line.
    let mut open: Option<(usize, u32)> = None;
    for line in lines {
        let continues = open.take().filter(|(_, next)| *next == line.number);
        if let Some(rest) = line.text.strip_prefix("[DEF:") {
            anchors.extend(anchor(rest, line.number));
            continue;
        }
        if let Some(rest) = line.text.strip_prefix("[/DEF:") {
            let id = rest.split([':', ']']).next().unwrap_or_default();
            if let Some(at) = anchors.iter().rposition(|anchor| anchor.id == id) {
                found.extend(
                    anchors.drain(at..).next().filter(|anchor| anchor.is_adr).map(|anchor| closed(path, anchor)),
                );
            }
            continue;
        }
        if let Some((kind, said)) = tag(line.text) {
            let within = anchors.last().map(|anchor| anchor.id.clone()).unwrap_or_default();
            let mut decision = Decision {
                kind,
                id: String::new(),
                text: String::new(),
                within,
                status: None,
                revises: Vec::new(),
                patterns: Vec::new(),
                paths: Vec::new(),
                path: path.clone(),
                line: line.number,
            };
            take(&mut decision, said);
            found.push(decision);
            open = Some((found.len() - 1, line.number + 1));
            continue;
        }
        match continues {
            Some((at, _)) if goes_on(line.text) => {
                take(&mut found[at], line.text);
                open = Some((at, line.number + 1));
            }
            _ => {
                if let Some(anchor) = anchors.last_mut() {
                    hear(anchor, line.text);
                }
            }
        }
    }
    found.extend(anchors.into_iter().filter(|anchor| anchor.is_adr).map(|anchor| closed(path, anchor)));
    // A tag that says nothing records nothing.
    found.retain(|decision| !decision.text.is_empty() || !decision.patterns.is_empty());
    found
}

/// Returns `true` if a line can continue the record above it.
fn goes_on(line: &str) -> bool {
    !line.is_empty() && !line.starts_with(['@', '['])
}

/// Returns `true` for each comment line that belongs to a record.
pub(super) fn of_records(lines: &[comments::CommentLine<'_>]) -> Vec<bool> {
    let mut next = None;
    let of_one = |line: &comments::CommentLine<'_>| {
        let belongs = tag(line.text).is_some() || (next == Some(line.number) && goes_on(line.text));
        next = belongs.then(|| line.number + 1);
        belongs
    };
    lines.iter().map(of_one).collect()
}

fn anchor(rest: &str, line: u32) -> Option<Anchor> {
    let (inner, after) = rest.split_once(']')?;
    let (id, kind) = inner.rsplit_once(':')?;
    let is_adr = kind.trim().eq_ignore_ascii_case("adr");
    let said = Some(after.trim()).filter(|text| !text.is_empty()).map(str::to_owned).into_iter().collect();
    Some(Anchor { id: id.trim().to_owned(), is_adr, line, said, status: None })
}

/// Adds a line inside an anchor to the anchor.
fn hear(anchor: &mut Anchor, text: &str) {
    let plain = |text: &str| text.trim_start_matches(':').trim().to_owned();
    if let Some(status) = text.strip_prefix("@STATUS") {
        anchor.status = super::adr::status(&plain(status));
    } else if let Some(purpose) = text.strip_prefix("@PURPOSE") {
        anchor.said.push(plain(purpose));
    } else if !text.is_empty() && !text.starts_with("@COMPLEXITY") {
        anchor.said.push(text.to_owned());
    }
}

fn closed(path: &RepoPath, anchor: Anchor) -> Decision {
    let text = anchor.said.join(" ");
    Decision {
        kind: RecordKind::Adr,
        revises: revision::named_in(&text),
        id: anchor.id,
        text,
        within: String::new(),
        status: anchor.status,
        patterns: Vec::new(),
        paths: Vec::new(),
        path: path.clone(),
        line: anchor.line,
    }
}

/// Returns the tag that a line begins with, and the text after it.
fn tag(line: &str) -> Option<(RecordKind, &str)> {
    [(RecordKind::Rationale, "@RATIONALE"), (RecordKind::Rejected, "@REJECTED")].into_iter().find_map(|(kind, mark)| {
        let rest = line.strip_prefix(mark)?;
        let ends = rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        ends.then(|| (kind, rest.trim_start_matches(':').trim()))
    })
}

/// Adds a line to a record: its words, and `pattern: …` and `path: …`, each up to the next of them.
fn take(decision: &mut Decision, line: &str) {
    let mut rest = line;
    let mut key: Option<&str> = None;
    loop {
        let found = ["pattern:", "path:"].into_iter().filter_map(|word| Some((position(rest, word)?, word))).min();
        let (said, after) = match found {
            Some((at, word)) => (&rest[..at], Some((word, &rest[at + word.len()..]))),
            None => (rest, None),
        };
        match key {
            None => {
                let said = said.trim();
                if !said.is_empty() && !decision.text.is_empty() {
                    decision.text.push(' ');
                }
                decision.text.push_str(said);
            }
            Some(key) => {
                let value = unquoted(said);
                if !value.is_empty() {
                    let list = if key == "path:" { &mut decision.paths } else { &mut decision.patterns };
                    list.push(value.to_owned());
                }
            }
        }
        let Some((word, after)) = after else { break };
        key = Some(word);
        rest = after;
    }
    decision.text.truncate(decision.text.trim_end_matches([' ', ',', ';']).len());
}

/// Returns the position of a word that begins a line or follows a blank or a bracket.
fn position(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | ',' | ';'))
            && !(word == "pattern:" && gives_a_reason(&text[..at], &text[at + word.len()..]))
    })
}

/// Returns `true` if `pattern:` ends the name of a design pattern, and a sentence follows.
fn gives_a_reason(name: &str, said: &str) -> bool {
    let last = name.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    let plain = |word: &str| {
        let word = word.trim_end_matches([',', '.', ';', ')']);
        !word.is_empty()
            && word.chars().skip(1).all(|c| c.is_lowercase() || matches!(c, '-' | '\''))
            && word.chars().next().is_some_and(char::is_alphabetic)
    };
    let mut words = said.split_whitespace();
    comments::design_patterns().contains(&last)
        && words.clone().nth(1).is_some()
        && words.by_ref().take_while(|word| *word != "path:").all(plain)
}

fn unquoted(text: &str) -> &str {
    let text = text.trim().trim_end_matches([',', ';']).trim_end();
    for quote in ['`', '"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, text: &str) -> Vec<String> {
        let show = |decision: Decision| {
            let mut line = format!("{}:{} {}", decision.line, decision.kind.as_str(), decision.text);
            for (word, values) in [("pattern", &decision.patterns), ("path", &decision.paths)] {
                for value in values {
                    line = format!("{line} [{word} {value}]");
                }
            }
            if !decision.within.is_empty() {
                line = format!("{line} in {}", decision.within);
            }
            if !decision.id.is_empty() {
                line = format!("{line} #{} {:?}", decision.id, decision.status);
            }
            line
        };
        read(&RepoPath::from(name), text).into_iter().map(show).collect()
    }

    #[test]
    fn tags_are_read_from_comments_of_any_language() {
        for (name, text, expected) in [
            ("a.rs", "// @REJECTED global mutex", vec!["1:@REJECTED global mutex"]),
            (
                "a.py",
                "x = 1\n# @RATIONALE: one pool\n#   for each core\ny",
                vec!["2:@RATIONALE one pool for each core"],
            ),
            ("a.sql", "-- @REJECTED x\n\n-- not of it", vec!["1:@REJECTED x"]),
            ("a.ts", "/**\n * @REJECTED polling\n * is slow\n *\n * more\n */", vec!["2:@REJECTED polling is slow"]),
            ("a.c", "/* @RATIONALE a\n   @REJECTED b */", vec!["1:@RATIONALE a", "2:@REJECTED b"]),
            ("a.html", "<!-- @REJECTED frames -->", vec!["1:@REJECTED frames"]),
            ("a.rs", "let a = \"// @REJECTED no\";", vec![]),
            ("a.rs", "// see @REJECTED below", vec![]),
            ("a.rs", "// @REJECTEDLY no\n// @REJECTED", vec![]),
            ("a.md", "- @REJECTED x\n```\n@REJECTED no\n```", vec!["1:@REJECTED x"]),
            (
                "a.rs",
                "// @REJECTED global mutex (deadlocks) pattern: Mutex<Pool> path: src/pool/*.rs\n// pattern: `static LOCK`",
                vec![
                    "1:@REJECTED global mutex (deadlocks) [pattern Mutex<Pool>] [pattern static LOCK] [path src/pool/*.rs]",
                ],
            ),
        ] {
            assert_eq!(shown(name, text), expected, "{name}: {text}");
        }
    }

    #[test]
    fn the_name_of_a_design_pattern_is_no_pattern_to_look_for() {
        for (text, expected) in [
            ("# @REJECTED singleton pattern: global state", "1:@REJECTED singleton pattern: global state"),
            ("# @REJECTED singleton pattern: INSTANCE = None", "1:@REJECTED singleton [pattern INSTANCE = None]"),
            ("# @REJECTED singleton pattern: `global state`", "1:@REJECTED singleton [pattern global state]"),
            ("# @REJECTED unsafe statics pattern: static mut", "1:@REJECTED unsafe statics [pattern static mut]"),
            ("# @REJECTED a factory\n#   pattern: make all", "1:@REJECTED a factory [pattern make all]"),
        ] {
            assert_eq!(shown("a.py", text), [expected], "{text}");
        }
    }

    #[test]
    fn anchors_hold_records() {
        let text = "# [DEF:Pool:Module]\n# @PURPOSE: pools\n# @REJECTED: global mutex\n# [/DEF:Pool:Module]\n\
                    # @RATIONALE outside\n# [DEF:D4:ADR]\n# @STATUS: accepted\n# One pool per core.\n# [/DEF:D4:ADR]\n";
        assert_eq!(
            shown("a.py", text),
            ["3:@REJECTED global mutex in Pool", "5:@RATIONALE outside", "6:ADR One pool per core. #D4 Some(Accepted)"]
        );
    }
}
