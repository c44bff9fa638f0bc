//! References to another record: a text can say that it replaces the record, or is not bound by it.

use super::{Decision, RecordKind, same_text};

/// The verbs with which a record says that it replaces another, or claims to.
const VERBS: [&str; 8] =
    ["supersedes", "superseding", "replaces", "amends", "revises", "overrides", "overrules", "invalidates"];
/// Further verbs that say so in a tag, or about one.
const MORE_VERBS: [&str; 22] = [
    "supersede", "replace", "amend", "revise", "override", "overrule", "invalidate", "overriding", "lifts", "lift",
    "withdraws", "withdraw", "reverses", "reverse", "revokes", "revoke", "drops", "drop", "allows", "allow", "permits",
    "reintroduces",
];
/// The number of words after such a verb in which the other record must occur.
const REACH: usize = 8;
/// The words that end the object of a verb: a reason, a means or a remark follows.
const ENDS: [&str; 18] = [
    "as", "see", "compare", "cf", "per", "like", "unlike", "by", "with", "under", "because", "since", "following",
    "which", "that", "whose", "but", "when",
];
/// The words after the name of an ADR which say that it does not concern this place. That may be so.
const OUT_OF_SCOPE: [&str; 4] = ["does not apply", "doesn't apply", "is not applicable", "does not concern"];
/// The words after the name of an ADR which say that it is not followed.
const NOT_FOLLOWED: [&str; 17] = [
    "need not apply", "does not hold", "doesn't hold", "no longer applies", "no longer holds", "is not followed",
    "is overridden", "is overruled", "is ignored", "is waived", "is suspended", "is lifted", "is replaced",
    "is superseded", "is disregarded", "is bypassed", "is wrong",
];
/// The words before the name of an ADR which say that it is not followed.
const EXCEPTS: [&str; 16] = [
    "exception to", "exception from", "exempt from", "exempted from", "ignores", "ignoring", "disregards",
    "disregarding", "bypasses", "bypassing", "deviates from", "deviating from", "departs from", "contrary to",
    "violates", "breaks",
];
const NEGATIONS: [&str; 7] = ["no", "not", "never", "nobody", "nothing", "cannot", "without"];

/// Returns `adr-4` for `0004-x`, `4. X`, `ADR-0004`, `ADR 4: x`: the beginning of a title or of the name of a file.
pub(super) fn number(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['[', '(', '"', '`']);
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

/// Returns the ADR that a word of a sentence names: `ADR-4`, `[D4:ADR]`, `[2.` before its title, a link to its file,
/// `0002-a-pool`. A number alone counts, measures or dates something.
pub(super) fn adr(word: &str) -> Option<String> {
    let target = word.rsplit_once("](").map_or(word, |(_, target)| target);
    let plain = target.trim_matches(|c: char| !c.is_alphanumeric());
    if let Some(id) = plain.strip_suffix(":ADR").or_else(|| plain.strip_suffix(":adr")) {
        return Some(id.to_owned());
    }
    let file = plain.rsplit('/').next().unwrap_or(plain);
    let is_file = [".md", ".markdown", ".adoc", ".rst"].iter().any(|ending| file.ends_with(ending));
    let prefixed = file.get(..3).is_some_and(|prefix| prefix.eq_ignore_ascii_case("adr"));
    let padded = || {
        let digits = file.bytes().take_while(u8::is_ascii_digit).count();
        digits == 4 && file.starts_with('0') && file[4..].chars().next().is_none_or(|c| matches!(c, '-' | '_'))
    };
    let titled = || {
        let inner = word.strip_prefix('[').and_then(|inner| inner.strip_suffix('.'));
        inner.is_some_and(|inner| !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if is_file || prefixed {
        number(file)
    } else if padded() {
        number(&format!("adr-{file}"))
    } else {
        titled().then(|| number(word)).flatten()
    }
}

/// Returns the ADR that the words from `at` on name, and the number of these words.
fn adr_at(words: &[&str], at: usize) -> Option<(String, usize)> {
    let word = words.get(at)?;
    if word.trim_start_matches(['[', '(']).eq_ignore_ascii_case("adr") {
        return number(&format!("adr {}", words.get(at + 1)?)).map(|id| (id, 2));
    }
    adr(word).map(|id| (id, 1))
}

/// Returns the ids of the records that a text says it supersedes, amends or revises.
pub(super) fn named_in(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut ids = Vec::new();
    for (at, verb) in words.iter().enumerate().map(|(at, word)| (at, plain(word))) {
        if VERBS.contains(&verb.as_str()) {
            add(&mut ids, objects(&words[at + 1..], verb.starts_with("supersed")));
        }
    }
    ids
}

/// The ADRs that a record of one place is against.
#[derive(Debug, Default)]
pub(super) struct Against {
    /// The ids of those that it says it overrules, does not follow, or rejects.
    pub(super) overruled: Vec<String>,
    /// The ids of those that it only says are about something else.
    pub(super) out_of_scope: Vec<String>,
}

impl Against {
    pub(super) fn is_empty(&self) -> bool {
        self.overruled.is_empty() && self.out_of_scope.is_empty()
    }
}

/// Returns the ADRs that a record of one place says do not bind it.
pub(super) fn against(tag: &Decision) -> Against {
    let words: Vec<&str> = tag.text.split_whitespace().collect();
    let mut ids = named_in(&tag.text);
    let mut out_of_scope = Vec::new();
    for (at, verb) in words.iter().enumerate().map(|(at, word)| (at, plain(word))) {
        if MORE_VERBS.contains(&verb.as_str()) && !is_negated(&words[..at]) {
            add(&mut ids, objects(&words[at + 1..], false));
        }
        let Some((id, length)) = adr_at(&words, at) else { continue };
        let behind = joined(&words[(at + length).min(words.len())..]);
        let begins =
            |phrase: &str| behind.strip_prefix(phrase).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        let is_excepted = (0..=at).rev().take(5).any(|end| {
            let before = joined(&words[..end]);
            let between = &words[end..at];
            between.iter().all(|word| ["the", "rule", "of", "in", "what", "decision"].contains(&plain(word).as_str()))
                && EXCEPTS.iter().any(|phrase| {
                    let rest = before.strip_suffix(phrase);
                    rest.is_some_and(|rest| !is_negated(&rest.split_whitespace().collect::<Vec<_>>()))
                })
        });
        let last = words[at + length - 1];
        let rejected = tag.kind == RecordKind::Rejected
            && at == 0
            && (last.ends_with(':')
                || behind.is_empty()
                || ["is ", "because ", "since ", "- ", "– ", "— "].iter().any(|word| behind.starts_with(word)));
        if rejected || is_excepted || NOT_FOLLOWED.iter().any(|phrase| begins(phrase)) {
            add(&mut ids, vec![id]);
        } else if OUT_OF_SCOPE.iter().any(|phrase| begins(phrase)) {
            add(&mut out_of_scope, vec![id]);
        }
    }
    out_of_scope.retain(|id| !ids.contains(id));
    Against { overruled: ids, out_of_scope }
}

/// Returns `true` if a text says that it changes the record called `name`, and does not only mention it.
pub(super) fn changes(text: &str, name: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let verb = plain(word);
        if !VERBS.contains(&verb.as_str()) && (!MORE_VERBS.contains(&verb.as_str()) || is_negated(&words[..at])) {
            return false;
        }
        let behind = &words[at + 1..];
        let end = behind.iter().position(|word| word.ends_with(['.', ';'])).map_or(behind.len(), |at| at + 1);
        let most = REACH + same_text::words(name).len();
        same_text::names(&behind[..end.min(most)].join(" "), name)
    })
}

/// Returns the ADRs that are the objects of the verb before these words. `numbers`: `#2` directly after it is one.
fn objects(behind: &[&str], numbers: bool) -> Vec<String> {
    let mut found = Vec::new();
    for (at, word) in behind.iter().enumerate().take(REACH) {
        if ENDS.contains(&plain(word).as_str()) {
            break;
        }
        let short = || {
            let short = word.trim_start_matches('[').strip_prefix('#').filter(|_| numbers && at == 0)?;
            number(&format!("adr-{short}"))
        };
        let named = adr_at(behind, at).map(|(id, _)| id).or_else(short);
        // A list goes on behind a comma; another clause is not about it. A title has its number and a full stop before it.
        let goes_on = match &named {
            Some(_) => !word.ends_with([';', ':']) && (!word.ends_with('.') || word.starts_with('[')),
            None => !word.ends_with([',', ';', ':', '.']),
        };
        found.extend(named);
        if !goes_on {
            break;
        }
    }
    found
}

fn is_negated(before: &[&str]) -> bool {
    before.iter().rev().take(3).any(|word| {
        let word = plain(word);
        NEGATIONS.contains(&word.as_str()) || word.ends_with("n't")
    })
}

fn add(ids: &mut Vec<String>, new: Vec<String>) {
    for id in new {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
}

fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphabetic()).to_lowercase()
}

fn joined(words: &[&str]) -> String {
    words.join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_named_in_several_ways() {
        for (text, expected) in [
            ("Supersedes [2. A global pool](0002-a-global-pool.md)", &["adr-2"][..]),
            ("supersedes ADR-0007 and amends [ADR 8]", &["adr-7", "adr-8"]),
            ("Supersedes ADR-4, ADR-5 and 0006-x.md.", &["adr-4", "adr-5", "adr-6"]),
            ("Supersedes #2", &["adr-2"]),
            ("replaces the old pool (ADR-4)", &["adr-4"]),
            ("Supersedes ADR-4. ADR-9 stays.", &["adr-4"]),
            ("@RELATION REVISES -> [D4:ADR]", &["D4"]),
            ("overrides ADR 12 here", &["adr-12"]),
            ("superseded by ADR-0009", &[]),
            ("replaces the 3 threads by one", &[]),
            ("A saga replaces 2-phase commit in checkout.", &[]),
            ("replaces 4.2 of the driver by 5.0", &[]),
            ("replaces #4 of the list", &[]),
            ("This replaces the nightly job, compare ADR-4, by a timer.", &[]),
            ("this replaces the old lock as ADR-4 demands", &[]),
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

    #[test]
    fn a_record_of_one_place_overrules_in_several_ways() {
        for (tag, expected) in [
            ("# @RATIONALE overrides ADR-4: two pools here", true),
            ("# @REJECTED ADR-4: one pool is too slow here", true),
            ("# @REJECTED ADR 4 is too slow here", true),
            ("# @RATIONALE exception to ADR-4: two pools here", true),
            ("# @RATIONALE an exception to the rule of ADR-4", true),
            ("# @RATIONALE ADR-4 is overridden here: two pools", true),
            ("# @RATIONALE we override [ADR-4] for speed", true),
            ("# @RATIONALE no exception to ADR-4, only its first use", false),
            ("# @RATIONALE this must not override ADR-4", false),
            ("# @RATIONALE ADR-4 is followed here", false),
            ("# @RATIONALE ADR-4 is not overridden here", false),
            ("# @RATIONALE one pool, as ADR-4 demands", false),
            ("# @REJECTED two pools: ADR-4 says one", false),
            ("# @REJECTED ADR-4's alternative, a global pool", false),
            ("# @RATIONALE a saga replaces 2-phase commit here", false),
            ("# @RATIONALE replaces 4.2 of the driver by 5.0", false),
            ("# @RATIONALE this replaces the old lock, as ADR-4 demands", false),
        ] {
            let found = super::super::tags::read(&"a.py".into(), tag);
            assert_eq!(against(&found[0]).overruled.contains(&"adr-4".to_owned()), expected, "{tag}");
            assert!(expected || against(&found[0]).is_empty(), "{tag}");
        }
    }

    #[test]
    fn a_record_may_say_that_an_adr_is_about_something_else() {
        for (tag, expected) in [
            ("# @RATIONALE ADR-4 does not apply here: there is no pool", true),
            ("# @RATIONALE no lock; [ADR-4] doesn't apply to readers", true),
            ("# @RATIONALE ADR-4 does not apply here, this overrides ADR-4", false),
            ("# @RATIONALE ADR-4 need not apply here", false),
            ("# @RATIONALE ADR-4 applies here", false),
        ] {
            let found = super::super::tags::read(&"a.py".into(), tag);
            let against = against(&found[0]);
            assert_eq!(against.out_of_scope == ["adr-4"], expected, "{tag}");
            assert!(!expected || against.overruled.is_empty(), "{tag}");
        }
    }

    #[test]
    fn what_only_speaks_of_a_record_does_not_change_it() {
        for (text, expected) in [
            ("This supersedes the rejection of synchronous writes: the loop is gone.", true),
            ("We allow synchronous writes again.", true),
            ("Logs are buffered; synchronous writes stay forbidden for logs as well.", false),
            ("We do not allow synchronous writes.", false),
            ("A timer replaces polling. Synchronous writes stay out.", false),
            ("Revises synchronous reads", false),
        ] {
            assert_eq!(changes(text, "synchronous writes"), expected, "{text}");
        }
    }
}
