//! The styles in which a subject names the part of the program it is about.

use regex::Regex;

/// A way to write subjects.
#[derive(Clone, Debug)]
pub enum Style {
    /// `type(scope)!: text`, as Conventional Commits 1.0.0 has it.
    Conventional,
    /// `scope: text`, as in git, Linux, Go and jj.
    Subsystem,
    /// `[scope] text`.
    Bracket,
    /// A pattern of the project's own, with a group `scope` and perhaps a group `text`.
    Pattern(Box<Regex>),
}

/// A style that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidStyle {
    /// Neither a known word nor a pattern with a group `scope`.
    #[error("`{0}` is not a style: use \"conventional\", \"subsystem\", \"bracket\", or a pattern with `(?<scope>…)`")]
    Unknown(String),
    /// A pattern that cannot be compiled.
    #[error("`{0}` is not a pattern: {1}")]
    Malformed(String, String),
}

impl Style {
    /// Returns the style that a policy names.
    pub fn parse(text: &str) -> Result<Self, InvalidStyle> {
        match text {
            "conventional" => Ok(Self::Conventional),
            "subsystem" => Ok(Self::Subsystem),
            "bracket" => Ok(Self::Bracket),
            pattern if pattern.contains("(?<scope>") || pattern.contains("(?P<scope>") => {
                let compiled = regex::RegexBuilder::new(pattern).size_limit(1 << 20).build();
                compiled.map(|regex| Self::Pattern(Box::new(regex))).map_err(|error| {
                    let error = error.to_string();
                    let last = error.lines().last().unwrap_or_default();
                    InvalidStyle::Malformed(text.to_owned(), last.trim_start_matches("error: ").to_owned())
                })
            }
            other => Err(InvalidStyle::Unknown(other.to_owned())),
        }
    }
}

/// A subject, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitSubject {
    /// The type, if the style has one: `feat`.
    pub kind: Option<String>,
    /// The scopes it declares, as written.
    pub scopes: Vec<String>,
    /// `!` before the colon.
    pub breaking: bool,
    /// The rest of the subject.
    pub text: String,
}

/// Takes a subject apart by the first style that fits. `types` are the words that are types and no subsystems.
pub fn parse(subject: &str, styles: &[Style], types: &[String]) -> Option<(Style, CommitSubject)> {
    styles.iter().find_map(|style| {
        let parsed = match style {
            Style::Conventional => conventional(subject).filter(|parsed| {
                let kind = parsed.kind.as_deref().unwrap_or_default();
                types.is_empty() || !parsed.scopes.is_empty() || types.iter().any(|t| t.eq_ignore_ascii_case(kind))
            }),
            Style::Subsystem => subsystem(subject),
            Style::Bracket => bracket(subject),
            Style::Pattern(regex) => {
                let found = regex.captures(subject)?;
                let text = found.name("text").map_or(subject, |text| text.as_str());
                Some(CommitSubject {
                    scopes: list(found.name("scope")?.as_str()),
                    text: text.to_owned(),
                    ..CommitSubject::default()
                })
            }
        };
        parsed.map(|subject| (style.clone(), subject))
    })
}

/// Reads Conventional Commits 1.0.0, rules 1, 4, 5 and 13: a type, an optional scope in parentheses, an optional `!`, a
/// colon and a space, and a description.
pub fn conventional(subject: &str) -> Option<CommitSubject> {
    let end = subject.find(['(', '!', ':'])?;
    let (kind, mut rest) = subject.split_at(end);
    if kind.is_empty() || kind.contains(char::is_whitespace) {
        return None;
    }
    let mut scopes = Vec::new();
    if let Some(inner) = rest.strip_prefix('(') {
        let (scope, after) = inner.split_once(')')?;
        if scope.contains(['(', '\n']) {
            return None;
        }
        scopes = list(scope);
        if scopes.is_empty() {
            return None;
        }
        rest = after;
    }
    let (breaking, rest) = if let Some(rest) = rest.strip_prefix('!') { (true, rest) } else { (false, rest) };
    let text = rest.strip_prefix(": ")?.trim();
    if text.is_empty() {
        return None;
    }
    Some(CommitSubject { kind: Some(kind.to_owned()), scopes, breaking, text: text.to_owned() })
}

/// Reads `scope: text`; the scope may be a path or a list, but not a sentence.
fn subsystem(subject: &str) -> Option<CommitSubject> {
    let (head, text) = subject.split_once(": ")?;
    let (head, breaking) = if let Some(head) = head.strip_suffix('!') { (head, true) } else { (head, false) };
    let scopes = list(head);
    let word = |scope: &String| !scope.contains(|c: char| c.is_whitespace() || "[]()".contains(c)) && scope.len() <= 60;
    if scopes.is_empty() || !scopes.iter().all(word) || text.trim().is_empty() {
        return None;
    }
    Some(CommitSubject { kind: None, scopes, breaking, text: text.trim().to_owned() })
}

/// Reads `[scope] text`.
fn bracket(subject: &str) -> Option<CommitSubject> {
    let (head, text) = subject.strip_prefix('[')?.split_once(']')?;
    let scopes = list(head);
    let text = text.trim_start_matches(':').trim();
    if scopes.is_empty() || text.is_empty() {
        return None;
    }
    Some(CommitSubject { kind: None, scopes, breaking: false, text: text.to_owned() })
}

/// Returns the scopes of a list.
fn list(text: &str) -> Vec<String> {
    text.split([',', ';']).map(str::trim).filter(|scope| !scope.is_empty()).map(str::to_owned).collect()
}
