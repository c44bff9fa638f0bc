//! The message of a commit.

use super::subject_style::{self, CommitSubject, Style};
use super::trailers::{self, CommitTrailer};

/// A commit message, taken apart.
#[derive(Clone, Debug)]
pub struct CommitMessage {
    /// The first line, without the marks of `--fixup` and `--squash`.
    pub subject: String,
    /// The marks that were taken off, outermost first.
    pub autosquash: Vec<Autosquash>,
    /// The subject by the style that fits it.
    pub parsed: Option<(Style, CommitSubject)>,
    /// The text between subject and trailers.
    pub body: String,
    pub trailers: Vec<CommitTrailer>,
    /// The commits that it says it reverts, as written; `None` if it is not a revert.
    pub reverts: Option<Vec<String>>,
}

/// A commit that waits for `git rebase --autosquash`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autosquash {
    /// `fixup! …`: its content goes into another commit.
    Fixup,
    /// `squash! …`: so does its message.
    Squash,
    /// `amend! …`: it replaces the other's message.
    Amend,
}

impl CommitMessage {
    /// Takes a cleaned message apart. `types`: see [`subject_style::parse`].
    pub fn parse(text: &str, styles: &[Style], types: &[String]) -> Self {
        let text = text.trim_start_matches('\n');
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let mut subject = first.trim();
        let mut autosquash = Vec::new();
        while let Some((mark, inner)) = marked(subject) {
            autosquash.push(mark);
            subject = inner;
        }
        let parsed = subject_style::parse(subject, styles, types);
        let (body, trailers) = trailers::split(rest);
        let reverts = reverts(subject, parsed.as_ref().map(|(_, subject)| subject), &body, &trailers);
        Self { subject: subject.to_owned(), autosquash, parsed, body, trailers, reverts }
    }

    /// Returns the type, in small letters.
    pub fn kind(&self) -> Option<String> {
        self.parsed.as_ref()?.1.kind.as_ref().map(|kind| kind.to_lowercase())
    }

    /// Returns the scopes it declares.
    pub fn scopes(&self) -> &[String] {
        self.parsed.as_ref().map_or(&[], |(_, subject)| &subject.scopes)
    }

    /// Returns the description without type and scope; the subject if no style fits.
    pub fn description(&self) -> &str {
        self.parsed.as_ref().map_or(&self.subject, |(_, subject)| &subject.text)
    }

    /// Returns the value of a trailer.
    pub fn trailer(&self, token: &str) -> Option<&str> {
        self.trailers.iter().find(|trailer| trailer.is(token)).map(|trailer| trailer.value.as_str())
    }
}

fn marked(subject: &str) -> Option<(Autosquash, &str)> {
    [("fixup! ", Autosquash::Fixup), ("squash! ", Autosquash::Squash), ("amend! ", Autosquash::Amend)]
        .into_iter()
        .find_map(|(mark, kind)| subject.strip_prefix(mark).map(|inner| (kind, inner.trim_start())))
}

/// Returns the commits it undoes. `git revert` writes `Revert "…"` and names the commit in the body; Conventional
/// Commits requires the type `revert` and a footer `Refs`.
fn reverts(
    subject: &str,
    parsed: Option<&CommitSubject>,
    body: &str,
    trailers: &[CommitTrailer],
) -> Option<Vec<String>> {
    let typed =
        parsed.and_then(|parsed| parsed.kind.as_deref()).is_some_and(|kind| kind.eq_ignore_ascii_case("revert"));
    let lower = |line: &str| line.to_ascii_lowercase();
    let quoted = ["revert \"", "reapply \""].iter().any(|start| lower(subject).starts_with(start));
    let named = |line: &str| {
        let line = lower(line.trim());
        let rest = line.strip_prefix("this reverts commit ").or_else(|| line.strip_prefix("reverts commit "))?;
        let hash: String = rest.chars().take_while(char::is_ascii_hexdigit).collect();
        (hash.len() >= 7).then_some(hash)
    };
    let mut commits: Vec<String> = body.lines().filter_map(named).collect();
    if !typed && !quoted {
        return None;
    }
    for trailer in trailers.iter().filter(|trailer| trailer.is("Refs") || trailer.is("Reverts")) {
        let words = trailer.value.split([',', ' ', '\n']).map(str::trim);
        commits.extend(words.filter(|word| word.len() >= 7 && word.bytes().all(|b| b.is_ascii_hexdigit())).map(lower));
    }
    Some(commits)
}

#[cfg(test)]
mod tests;
