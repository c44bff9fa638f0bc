//! The commits that an agent took part in. The marks that agents' clients leave show them; they are data
//! (`gates/agents.toml`).

use std::sync::OnceLock;

use regex::bytes::Regex;
use serde::Deserialize;

use super::cache::Memo;
use super::change::Person;
use super::trailers;
use crate::embedded;
use crate::foreign_text::beginning;
use crate::ref_names;

/// `gates/agents.toml`, as far as it is about commits.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Authorship {
    /// Trailers whose value names who helped.
    trailers: Vec<String>,
    /// Phrases in a body that clients write by themselves: pattern and agent.
    #[serde(default)]
    phrases: Vec<AgentMark>,
    /// Authors, committers and values of the trailers: a pattern over `name <address>`, and the agent.
    identities: Vec<AgentMark>,
    /// Branches that clients make: a pattern over the name, and the agent.
    branches: Vec<AgentMark>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentMark {
    agent: String,
    /// The words, in lower case: a text without any of them cannot match, so that the pattern need not be compiled.
    words: Vec<String>,
    pattern: String,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

impl AgentMark {
    fn matches(&self, text: &str, lower: &str) -> bool {
        let compile = || Regex::new(&format!("(?i-u){}", self.pattern)).ok();
        self.words.iter().any(|word| lower.contains(word.as_str()))
            && self.compiled.get_or_init(compile).as_ref().is_some_and(|pattern| pattern.is_match(text.as_bytes()))
    }
}

/// The compiled marks.
struct Marks {
    trailers: Vec<String>,
    phrases: AuthorPatterns,
    identities: AuthorPatterns,
    branches: AuthorPatterns,
}

struct AuthorPatterns {
    marks: Vec<AgentMark>,
    known: Memo<Option<usize>>,
}

impl AuthorPatterns {
    fn new(marks: Vec<AgentMark>) -> Self {
        Self { marks, known: Memo::default() }
    }

    fn find(&self, text: &str) -> Option<&str> {
        self.first(text).map(|at| self.marks[at].agent.as_str())
    }

    /// Returns the agent of a text that occurs often: the name of a person.
    fn find_again(&self, text: &str) -> Option<&str> {
        self.known.get(text.as_bytes(), || self.first(text)).map(|at| self.marks[at].agent.as_str())
    }

    fn first(&self, text: &str) -> Option<usize> {
        let lower = text.to_ascii_lowercase();
        self.marks.iter().position(|mark| mark.matches(text, &lower))
    }
}

fn marks() -> &'static Marks {
    static MARKS: OnceLock<Marks> = OnceLock::new();
    MARKS.get_or_init(|| {
        let authorship: Authorship = embedded::part("agents.toml", "authorship");
        Marks {
            trailers: authorship.trailers,
            phrases: AuthorPatterns::new(authorship.phrases),
            identities: AuthorPatterns::new(authorship.identities),
            branches: AuthorPatterns::new(authorship.branches),
        }
    })
}

/// Returns the agent that took part in a commit, by its marks. A lack of marks does not prove a person.
pub fn agent_of(author: &Person, committer: &Person, message: &str) -> Option<String> {
    let marks = marks();
    let people = [author, committer].map(|person| format!("{} <{}>", person.name, person.email));
    if let Some(agent) = people.iter().find_map(|person| marks.identities.find_again(person)) {
        return Some(agent.to_owned());
    }
    // Trailers stand at line starts; most messages have none of these words at all.
    for line in message.lines().skip(1) {
        let Some((token, value)) = line.split_once(':') else { continue };
        if !marks.trailers.iter().any(|known| known.eq_ignore_ascii_case(token.trim())) {
            continue;
        }
        let (_, trailers) = trailers::split(line);
        if trailers.is_empty() {
            continue;
        }
        // A trailer that only agents' clients write names an agent by being there.
        let by_token = token.trim().to_ascii_lowercase();
        if let Some(agent) = marks.identities.find(value.trim()) {
            return Some(agent.to_owned());
        }
        if by_token.starts_with("generated-") || by_token.starts_with("assisted-") {
            return Some(beginning(value, 60));
        }
    }
    marks.phrases.find(message).map(str::to_owned)
}

/// Returns the agent whose client makes branches of such names.
pub fn agent_of_branch(branch: &str) -> Option<String> {
    marks().branches.find(ref_names::short(branch)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(text: &str) -> Person {
        let (name, email) = text.split_once(" <").unwrap();
        Person { name: name.to_owned(), email: email.trim_end_matches('>').to_owned() }
    }

    #[test]
    fn the_embedded_file_is_readable() {
        let authorship: Authorship = embedded::part("agents.toml", "authorship");
        for marks in [&authorship.phrases, &authorship.identities, &authorship.branches] {
            for mark in marks {
                Regex::new(&format!("(?i-u){}", mark.pattern)).unwrap();
                // Each way to match holds one of the words.
                let mut depth = 0;
                let outside = |letter: char| {
                    depth += i32::from(letter == '(') - i32::from(letter == ')');
                    letter == '|' && depth == 0
                };
                for way in mark.pattern.replace("\\(", "").replace("\\)", "").split(outside) {
                    let plain = way.replace('\\', "");
                    let has = |word: &String| !word.is_empty() && plain.contains(word.as_str());
                    assert!(mark.words.iter().any(has), "{way} without any of {:?}", mark.words);
                }
            }
        }
    }

    #[test]
    fn marks_of_agents_are_known() {
        let ada = "Ada <ada@example.com>";
        for (author, message, agent) in [
            (ada, "fix: a", None),
            (ada, "fix: a\n\nCo-authored-by: Bob <bob@example.com>", None),
            (ada, "fix: a\n\nCo-Authored-By: Claude <noreply@anthropic.com>", Some("claude")),
            (ada, "fix: a\n\nCo-authored-by: Claude Opus 4 <noreply@anthropic.com>", Some("claude")),
            (ada, "fix: a\n\nCo-authored-by: Cursor <cursoragent@cursor.com>", Some("cursor")),
            (ada, "fix: a\n\nAssisted-by: SomeTool:v1", Some("SomeTool:v1")),
            (ada, "fix: a\n\nGenerated-by: codex", Some("codex")),
            (ada, "fix: a\n\n🤖 Generated with [Claude Code](https://claude.com/claude-code)", Some("claude")),
            ("copilot-swe-agent[bot] <198982749+Copilot@users.noreply.github.com>", "a", Some("copilot")),
            ("google-labs-jules[bot] <161369871+google-labs-jules[bot]@users.noreply.github.com>", "a", Some("jules")),
            ("Devin AI <158243242+devin-ai-integration[bot]@users.noreply.github.com>", "a", Some("devin")),
            ("Ada (aider) <ada@example.com>", "a", Some("aider")),
            ("Claude Monet <monet@example.com>", "a", None),
            ("renovate[bot] <29139614+renovate[bot]@users.noreply.github.com>", "chore(deps): x", None),
            (ada, "docs: how Co-authored-by: Claude works in a subject", None),
        ] {
            assert_eq!(agent_of(&person(author), &person(ada), message).as_deref(), agent, "{author} {message}");
        }
    }

    #[test]
    fn branches_of_agents_are_known() {
        for (branch, agent) in [
            ("refs/heads/claude/fix-1", Some("claude")),
            ("codex/x", Some("codex")),
            ("copilot/fix-x", Some("copilot")),
            ("cursor/y", Some("cursor")),
            ("feature/claude", None),
            ("main", None),
        ] {
            assert_eq!(agent_of_branch(branch).as_deref(), agent, "{branch}");
        }
    }
}
