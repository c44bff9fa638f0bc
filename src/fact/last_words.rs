//! What the last words of a turn ask and claim: a heuristic, which proves nothing and blocks nothing.
//!
//! All it decides is whether an agent that stops without a claim is left to wait for its person. The patterns are data:
//! `gates/human-actions.toml`.

use std::sync::LazyLock;

use regex::{RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

use crate::embedded;

/// How much of the end of a text is looked at, in bytes.
const END: usize = 4 * 1024;

/// What was found in the last words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastWords {
    /// They end in a question that is not an offer to do the work.
    pub asks: bool,
    /// They ask for something that only a person can do.
    pub waits: bool,
    /// They claim that the work or its proof is there.
    pub claims: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lists {
    person: Vec<String>,
    agent: Vec<String>,
    offers: Vec<String>,
    claims: Vec<String>,
    denials: Vec<String>,
    nothing: Vec<String>,
}

struct Patterns {
    person: RegexSet,
    agent: RegexSet,
    offers: RegexSet,
    claims: RegexSet,
    denials: RegexSet,
    nothing: RegexSet,
}

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    // A test holds the embedded file readable.
    let file = embedded::file(embedded::GATES, "human-actions.toml").unwrap_or_default();
    let none =
        Lists { person: vec![], agent: vec![], offers: vec![], claims: vec![], denials: vec![], nothing: vec![] };
    let lists: Lists = toml::from_str(file).unwrap_or(none);
    let set = |patterns: &[String]| {
        RegexSetBuilder::new(patterns).case_insensitive(true).build().unwrap_or_else(|_| RegexSet::empty())
    };
    Patterns {
        person: set(&lists.person),
        agent: set(&lists.agent),
        offers: set(&lists.offers),
        claims: set(&lists.claims),
        denials: set(&lists.denials),
        nothing: set(&lists.nothing),
    }
});

/// Reads the last words of a turn.
pub fn read(text: &str) -> LastWords {
    let patterns = &*PATTERNS;
    let sentences = sentences(text);
    let claims = sentences.iter().any(|sentence| {
        patterns.claims.is_match(sentence) && !sentence.ends_with('?') && !patterns.denials.is_match(sentence)
    });
    // Whoever waits says so at the end.
    let end = &sentences[sentences.len().saturating_sub(3)..];
    let asks = end.iter().any(|sentence| sentence.ends_with('?'))
        && !end.iter().any(|sentence| patterns.offers.is_match(sentence));
    let waits = end.iter().any(|sentence| {
        patterns.person.is_match(sentence) && addresses(sentence) && !patterns.agent.is_match(sentence)
    });
    LastWords { asks, waits, claims }
}

/// Whether the last words of a turn offer work instead of doing it.
pub fn offer(text: &str) -> bool {
    let sentences = sentences(text);
    let end = &sentences[sentences.len().saturating_sub(3)..];
    end.iter().any(|sentence| PATTERNS.offers.is_match(sentence))
}

/// Whether what is asked for is something that only a person can do, and no part of it is the agent's.
pub fn only_a_person(item: &str) -> bool {
    PATTERNS.person.is_match(item) && !PATTERNS.agent.is_match(item)
}

/// Whether an entry of a list says that there is none: "None known".
pub fn nothing(entry: &str) -> bool {
    PATTERNS.nothing.is_match(entry.trim())
}

/// Whether a sentence is said to somebody rather than about the code: a test of a password check is no request.
fn addresses(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    any(&["you", "your", "please", "need", "needs", "waiting", "requires", "must", "tu", "por", "necesito"])
        || sentence.ends_with('?')
}

/// The sentences of the end of a text, without the marks of its layout. Code is left out.
pub fn sentences(text: &str) -> Vec<String> {
    let start = text.len().saturating_sub(END);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text[start..].lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        let line = line.trim().trim_start_matches(['#', '-', '*', '>', ' ']);
        let mut from = 0;
        for (at, c) in line.char_indices() {
            let ends = matches!(c, '.' | '!' | '?')
                && line[at + c.len_utf8()..]
                    .chars()
                    .next()
                    .is_none_or(|next| next.is_whitespace() || "*_\")".contains(next));
            if ends {
                found.push(line[from..at + c.len_utf8()].to_owned());
                from = at + c.len_utf8();
            }
        }
        found.push(line[from..].to_owned());
    }
    let bare =
        |sentence: String| sentence.trim_matches(|c: char| c.is_whitespace() || "*_`\"()".contains(c)).to_owned();
    found.into_iter().map(bare).filter(|sentence| sentence.chars().any(char::is_alphanumeric)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_lists_are_readable() {
        let file = embedded::file(embedded::GATES, "human-actions.toml").unwrap();
        let lists: Lists = toml::from_str(file).unwrap();
        for patterns in [&lists.person, &lists.agent, &lists.offers, &lists.claims, &lists.denials, &lists.nothing] {
            RegexSetBuilder::new(patterns).build().unwrap();
            assert!(!patterns.is_empty());
        }
    }

    #[test]
    fn questions_waits_and_claims() {
        const NOTHING: LastWords = LastWords { asks: false, waits: false, claims: false };
        const ASKS: LastWords = LastWords { asks: true, ..NOTHING };
        const WAITS: LastWords = LastWords { waits: true, ..NOTHING };
        const CLAIMS: LastWords = LastWords { claims: true, ..NOTHING };
        for (text, want) in [
            ("", NOTHING),
            ("I looked at the parser.", NOTHING),
            ("Which of the two formats does the server send?", ASKS),
            ("I found two schemas.\n\n1. old\n2. new\n\n**Which one is in production?**", ASKS),
            ("All done! All tests pass.", CLAIMS),
            ("Done.", CLAIMS),
            ("The fix is ready. Which branch should I use?", LastWords { asks: true, ..CLAIMS }),
            ("I changed the parser. Would you like me to run the tests?", NOTHING),
            ("Should I go ahead and commit?", NOTHING),
            ("It is implemented and 12 tests passed. Anything else?", CLAIMS),
            ("Please open the URL in your browser and approve the OAuth consent screen.", WAITS),
            ("I need your API key from the dashboard to go on.", WAITS),
            ("Enter the 2FA code that was sent to you, please.", WAITS),
            ("Please run the tests with your credentials.", NOTHING),
            ("The login handler checks passwords against the store.", NOTHING),
            ("The tests do not pass yet.", NOTHING),
            ("Once the tests pass I will open the pull request.", NOTHING),
            ("Tests pass?", ASKS),
            ("```\nall tests pass\n```\nI stopped there.", NOTHING),
            ("Todo listo.", CLAIMS),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_read_from_its_end() {
        let text = format!("{}\nWhat is the name of the table?", "é ".repeat(20_000));
        assert!(read(&text).asks);
    }
}
