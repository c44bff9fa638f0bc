//! The questions and claims in the final message of a turn. This is a heuristic, which proves nothing and blocks
//! nothing.
//!
//! It decides only if an agent that stops without a claim may wait for its person. The patterns are data:
//! `gates/human-actions.toml`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::embedded;
use crate::lazy_patterns::PhrasePatterns;

/// The length of the end of a text that is read, in bytes.
const END: usize = 4 * 1024;

/// The questions and claims in the final message.
#[expect(clippy::struct_excessive_bools, reason = "each was found or not")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LastWords {
    /// `true` if the message ends in a question that is not an offer to do the work.
    pub asks: bool,
    /// `true` if it requests something that only a person can do.
    pub waits: bool,
    /// `true` if it claims that the work or its proof is done, or requests something that makes sense only then.
    pub claims: bool,
    /// `true` if it says that the agent waits for something that is still running.
    pub announces: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimPatterns {
    person: PhrasePatterns,
    agent: PhrasePatterns,
    offers: PhrasePatterns,
    choices: PhrasePatterns,
    claims: PhrasePatterns,
    closings: PhrasePatterns,
    reports: PhrasePatterns,
    afterwards: PhrasePatterns,
    confirmations: PhrasePatterns,
    blocked: PhrasePatterns,
    announcements: PhrasePatterns,
    aside: PhrasePatterns,
    proofs: PhrasePatterns,
    denials: PhrasePatterns,
    nothing: PhrasePatterns,
    questions: PhrasePatterns,
    addressed: PhrasePatterns,
}

static PATTERNS: LazyLock<ClaimPatterns> = LazyLock::new(|| embedded::table("human-actions.toml"));

/// Reads the final message of a turn.
pub fn read(text: &str) -> LastWords {
    let patterns = &*PATTERNS;
    let sentences = sentences(text);
    let claims = claimed(&sentences, &patterns.claims) || claimed(&sentences, &patterns.proofs);
    let announces = sentences.iter().any(|sentence| patterns.announcements.is_match(sentence));
    // Whoever waits says so at the end.
    let end = &sentences[sentences.len().saturating_sub(3)..];
    let asks = end.iter().any(|sentence| is_question(sentence)) && !end.iter().any(|sentence| offers(sentence));
    let waits = end.iter().any(|sentence| {
        patterns.person.is_match(sentence) && addresses(sentence) && !patterns.agent.is_match(sentence)
    });
    let in_end = |patterns: &PhrasePatterns| end.iter().any(|sentence| patterns.is_match(sentence));
    let follows = (waits || in_end(&patterns.afterwards)) && !in_end(&patterns.blocked);
    let implies = in_end(&patterns.closings) || follows && claimed(&sentences, &patterns.reports);
    LastWords { asks, waits, claims: claims || implies, announces }
}

/// Returns `true` if the final message requests that a person confirm, try or take over the work. After edits this
/// claims the work as clearly as a claim does. A question that must be answered before the work goes on does not.
pub fn asks_to_confirm(text: &str) -> bool {
    let patterns = &*PATTERNS;
    let sentences = sentences(text);
    let end = &sentences[sentences.len().saturating_sub(3)..];
    let in_end = |patterns: &PhrasePatterns| end.iter().any(|sentence| patterns.is_match(sentence));
    (in_end(&patterns.confirmations) || in_end(&patterns.closings)) && !in_end(&patterns.blocked)
}

/// Returns `true` if the final message of a turn claims that the work is proven.
pub fn claims_proof(text: &str) -> bool {
    claimed(&sentences(text), &PATTERNS.proofs)
}

/// Returns `true` if the last message of a turn say that some work was put aside or is not finished.
pub fn puts_aside(text: &str) -> bool {
    sentences(text).iter().any(|sentence| PATTERNS.aside.is_match(sentence))
}

fn claimed(sentences: &[String], patterns: &PhrasePatterns) -> bool {
    // What is denied in one half of a sentence does not deny the other.
    let claims = |clause: &str| patterns.is_match(clause.trim()) && !PATTERNS.denials.is_match(clause);
    sentences.iter().any(|sentence| !is_question(sentence) && sentence.split(';').any(claims))
}

/// Returns `true` if the final message of a turn offers work instead of doing it.
pub fn offer(text: &str) -> bool {
    let sentences = sentences(text);
    let end = &sentences[sentences.len().saturating_sub(3)..];
    end.iter().any(|sentence| offers(sentence))
}

fn offers(sentence: &str) -> bool {
    PATTERNS.offers.is_match(sentence) && !PATTERNS.choices.is_match(sentence)
}

/// Returns `true` if only a person can do the requested action, and no part of it is the agent's.
pub fn only_a_person(item: &str) -> bool {
    PATTERNS.person.is_match(item) && !PATTERNS.agent.is_match(item)
}

/// Returns `true` if an entry of a list says that there is none: "None known".
pub fn nothing(entry: &str) -> bool {
    PATTERNS.nothing.is_match(entry.trim())
}

/// Returns `true` if a sentence is a question.
pub fn is_question(sentence: &str) -> bool {
    PATTERNS.questions.is_match(sentence)
}

/// Returns `true` if a sentence addresses somebody, rather than describing the code: a test of a password check is not
/// a request.
fn addresses(sentence: &str) -> bool {
    PATTERNS.addressed.is_match(sentence) || is_question(sentence)
}

/// Returns `true` if a sentence ends with a character that is followed by this one. Some scripts put no space between
/// sentences.
fn ends(mark: char, next: Option<char>) -> bool {
    match mark {
        '。' | '！' | '？' | '؟' | '।' => true,
        '.' | '!' | '?' | '\u{37e}' => next.is_none_or(|next| next.is_whitespace() || "*_\")".contains(next)),
        _ => false,
    }
}

/// Returns the sentences of the end of a text, without its markup and code.
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
            if ends(c, line[at + c.len_utf8()..].chars().next()) {
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
        let p = &*PATTERNS;
        for patterns in [
            &p.person,
            &p.agent,
            &p.offers,
            &p.choices,
            &p.claims,
            &p.closings,
            &p.reports,
            &p.afterwards,
            &p.confirmations,
            &p.blocked,
            &p.announcements,
            &p.aside,
            &p.proofs,
            &p.denials,
            &p.nothing,
            &p.questions,
            &p.addressed,
        ] {
            patterns.check().unwrap();
            assert!(patterns.count() > 0);
        }
    }

    #[test]
    fn work_that_is_put_aside() {
        for (text, aside) in [
            ("Done. The fix is parked on `keep`.", true),
            ("I stashed the parser; it is unfinished.", true),
            ("The docs are done. The work on feature is not tested yet.", true),
            ("Its tests have not been run.", true),
            ("I left it for later.", true),
            ("Done, all tests pass.", false),
            ("The fix is on feature and ready to merge.", false),
        ] {
            assert_eq!(puts_aside(text), aside, "{text}");
        }
    }

    #[test]
    fn questions_waits_and_claims() {
        const NOTHING: LastWords = LastWords { asks: false, waits: false, claims: false, announces: false };
        const ASKS: LastWords = LastWords { asks: true, ..NOTHING };
        const WAITS: LastWords = LastWords { waits: true, ..NOTHING };
        const CLAIMS: LastWords = LastWords { claims: true, ..NOTHING };
        const ANNOUNCES: LastWords = LastWords { announces: true, ..NOTHING };
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
            ("Want me to start with the first part?", NOTHING),
            ("I know what is left, would you like me to go on?", NOTHING),
            ("This cannot be undone. Are you sure you want me to delete all of these files?", ASKS),
            ("Could you please clarify what specific task you'd like me to perform?", ASKS),
            ("So, which of the two would you like me to keep?", ASKS),
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
            ("服务器期望哪种格式？", ASKS),
            ("我看了代码。服务器期望哪种格式？ 请告诉我。", ASKS),
            ("ما هو التنسيق المطلوب؟", ASKS),
            ("Ποια μορφή περιμένει ο διακομιστής;", ASKS),
            ("I read the parser; it is fine;", NOTHING),
            ("请在浏览器中批准 OAuth 授权。", WAITS),
            ("Veuillez approuver l'accès OAuth dans votre navigateur.", WAITS),
            ("Bitte bestätige den OAuth-Zugriff in deinem Browser.", WAITS),
            ("Ich brauche dein Passwort.", WAITS),
            ("J'ai besoin de votre mot de passe.", WAITS),
            ("Waiting for your approval of the deployment.", WAITS),
            ("Please run `sudo apt-get install libpq-dev` and tell me when it is there.", WAITS),
            ("The script calls sudo where it must.", NOTHING),
            ("Das Passwort wird gehasht gespeichert.", NOTHING),
            ("CI is green. Which branch should I use?", LastWords { asks: true, ..CLAIMS }),
            ("The build is green.", CLAIMS),
            ("All 14 tests ran without errors. Which branch?", LastWords { asks: true, ..CLAIMS }),
            ("I've finished.", CLAIMS),
            ("I have not finished.", NOTHING),
            ("I have fixed the rounding.", CLAIMS),
            ("I've now implemented the parser. Which name do you prefer?", LastWords { asks: true, ..CLAIMS }),
            (
                "I fixed it. To deploy it, please complete the OAuth consent in your browser.",
                LastWords { waits: true, ..CLAIMS },
            ),
            ("The server is up. Want to test it?", LastWords { asks: true, ..CLAIMS }),
            ("Let me know if you run into anything.", CLAIMS),
            ("I updated the parser. Which reviewers should I add?", CLAIMS),
            ("The bug is gone. Which environment should I deploy to?", LastWords { asks: true, ..CLAIMS }),
            (
                "The fix is in place; you'll need to rotate the API key in the dashboard before deploying.",
                LastWords { waits: true, ..CLAIMS },
            ),
            ("The rounding is corrected. Which commit message do you prefer?", LastWords { asks: true, ..CLAIMS }),
            ("I changed the rounding to half-even. Is that fine?", LastWords { asks: true, ..CLAIMS }),
            ("The config file is gone. Should I restore the one of last week?", ASKS),
            ("That should do it. Which of them is next?", LastWords { asks: true, ..CLAIMS }),
            ("The plan is done.", NOTHING),
            ("I updated the first parser. Which of the two schemas is in production?", ASKS),
            ("I added the call. To continue I need your API key from the dashboard.", WAITS),
            ("I added the call. For the release, please provide the signing key.", LastWords { waits: true, ..CLAIMS }),
            ("I have not fixed the rounding yet.", NOTHING),
            ("Once I have fixed the rounding I will push.", NOTHING),
            ("The suite runs. I'll wait for the notification.", ANNOUNCES),
            ("The build is still running.", ANNOUNCES),
            ("Once CI is green I will merge.", NOTHING),
            ("Is the build green?", ASKS),
        ] {
            assert_eq!(read(text), want, "{text}");
        }
    }

    #[test]
    fn a_question_about_the_result_is_told_from_one_that_the_work_waits_for() {
        for text in [
            "We now round half to even. Does this match what you wanted?",
            "The total is rounded. What do you think?",
            "Is everything right?",
            "The parser streams. Ready to commit?",
            "Looks much better. Want to eyeball it before I commit?",
            "Should this be squashed?",
            "Any concerns?",
            "It streams. May I close the ticket?",
        ] {
            assert!(asks_to_confirm(text), "{text}");
        }
        for text in [
            "Which of the two schemas is in production?",
            "Is that table still in use?",
            "There are two ways. Should I use a lock, or would you prefer a queue?",
            "Does this plan look complete? Any adjustments before I start implementing?",
            "To continue I need your API key.",
            "What's on your mind?",
        ] {
            assert!(!asks_to_confirm(text), "{text}");
        }
    }

    #[test]
    fn a_claim_of_proof_is_one_of_its_own() {
        for (text, proof) in [
            ("All tests pass. Which branch?", true),
            ("CI is green.", true),
            ("Done. Which branch?", false),
            ("The feature is implemented.", false),
            ("The tests do not pass yet.", false),
        ] {
            assert_eq!(claims_proof(text), proof, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_read_from_its_end() {
        let text = format!("{}\nWhat is the name of the table?", "é ".repeat(20_000));
        assert!(read(&text).asks);
    }
}
