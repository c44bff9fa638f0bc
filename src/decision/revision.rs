//! Revisions: how a record is changed by saying so.

use serde::{Deserialize, Serialize};

use super::{Decision, Kind, Status, words};

/// The trailer of a commit message that revises a record of the code: `Decision-Revision: NAME: what changed`.
pub const TRAILER: &str = "Decision-Revision";

/// What verbs of a record say that it takes the place of another, or claims to.
const VERBS: [&str; 8] =
    ["supersedes", "superseding", "replaces", "amends", "revises", "overrides", "overrules", "invalidates"];
/// How many words behind such a verb the other record is looked for.
const REACH: usize = 8;
/// With fewer words beside the name, a revision does not say what changed.
const FEWEST: usize = 3;

/// A text that says which record is revised and what changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// Where it stands: `docs/adr/0007-x.md:1`, `a1b2c3d`.
    pub place: String,
    /// The ids it says it revises.
    pub ids: Vec<String>,
    /// What it says.
    pub text: String,
    /// Whether it is an architecture decision record, and may revise others of its kind.
    pub global: bool,
}

impl Revision {
    /// The revision that an ADR is: once it is in force.
    pub fn of_adr(decision: &Decision) -> Option<Self> {
        let in_force = matches!(decision.status, None | Some(Status::Accepted));
        (decision.kind == Kind::Adr && in_force).then(|| Self {
            place: format!("{}:{}", decision.path, decision.line),
            ids: decision.revises.clone(),
            text: decision.text.clone(),
            global: true,
        })
    }

    /// The revision that the value of a trailer is.
    pub fn of_trailer(commit: &str, value: &str) -> Self {
        let first = value.split_whitespace().next().unwrap_or_default();
        let ids = number(first).into_iter().chain(named_in(value)).collect();
        Self { place: commit.to_owned(), ids, text: value.to_owned(), global: false }
    }

    /// Whether it names a record, whatever it says about it.
    pub fn names(&self, decision: &Decision) -> bool {
        if decision.kind == Kind::Adr {
            let same = |id: &String| id.eq_ignore_ascii_case(&decision.id);
            self.ids.iter().any(same) || (!self.global && words::names(&self.text, &decision.id))
        } else {
            words::names(&self.text, &decision.name())
        }
    }

    /// Whether it names a record of its own reach and says what changed: an ADR is revised by an ADR alone.
    pub fn revises(&self, decision: &Decision) -> bool {
        let about = if decision.kind == Kind::Adr { 1 } else { words::words(&decision.name()).len() };
        self.names(decision)
            && (self.global || decision.kind != Kind::Adr)
            && words::words(&self.text).len() >= about + FEWEST
    }
}

/// `adr-4` of `0004-x`, `4. X`, `ADR-0004`, `ADR 4: x`.
pub(super) fn number(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['[', '(', '"']);
    let prefix = text.get(..3).is_some_and(|prefix| prefix.eq_ignore_ascii_case("adr"));
    let rest = if prefix { text[3..].trim_start_matches(['-', '_', ' ', '#', ':']) } else { text };
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let after = rest[digits.len()..].chars().next();
    let ends = prefix || after.is_some_and(|c| matches!(c, '-' | '.' | '_'));
    let number = digits.trim_start_matches('0');
    // Four digits are a number of a record, more are a date or something else.
    (ends && !digits.is_empty() && digits.len() <= 5)
        .then(|| format!("adr-{}", if number.is_empty() { "0" } else { number }))
}

/// The ids of the records that a text says it supersedes, amends or revises.
pub(super) fn named_in(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut ids = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let verb = word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        if !VERBS.contains(&verb.as_str()) {
            continue;
        }
        let behind = &words[at + 1..words.len().min(at + 1 + REACH)];
        for (at, word) in behind.iter().enumerate() {
            let anchored = word.trim_matches(['[', ']', ',', '.', ';', '(', ')']);
            let of_anchor = anchored.strip_suffix(":ADR").or_else(|| anchored.strip_suffix(":adr"));
            let with_next = || Some(format!("{word} {}", behind.get(at + 1)?));
            let spaced = word.trim_start_matches('[').eq_ignore_ascii_case("adr").then(with_next).flatten();
            let id = of_anchor.map(str::to_owned).or_else(|| number(spaced.as_deref().unwrap_or(word)));
            ids.extend(id.filter(|id| !ids.contains(id)));
        }
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_named_in_several_ways() {
        for (text, expected) in [
            ("Supersedes [2. A global pool](0002-a-global-pool.md)", &["adr-2"][..]),
            ("supersedes ADR-0007 and amends [ADR 8]", &["adr-7", "adr-8"]),
            ("@RELATION REVISES -> [D4:ADR]", &["D4"]),
            ("overrides ADR 12 here", &["adr-12"]),
            ("superseded by ADR-0009", &[]),
            ("replaces the 3 threads by one", &[]),
            ("nothing", &[]),
        ] {
            assert_eq!(named_in(text), expected, "{text}");
        }
        for (text, expected) in [
            ("0004-one-pool", Some("adr-4")),
            ("4. One pool", Some("adr-4")),
            ("ADR-0004: x", Some("adr-4")),
            ("adr_12", Some("adr-12")),
            ("2026-01-02-x", Some("adr-2026")),
            ("pool", None),
            ("4 pools", None),
            ("", None),
        ] {
            assert_eq!(number(text).as_deref(), expected, "{text}");
        }
    }
}
