//! The common functions of the gates that judge a forge's answers.

use minijinja::{Value, context};
use serde::Deserialize;

use super::finding::{Answer, Finding};
use super::finding_text;
use crate::fact::{Facts, Hosting, Subject, SubjectKind, Trouble, TroubleKind};
use crate::foreign_text::shortened;
use crate::gates::finding_text::plain;
use crate::globs::Globs;
use crate::moment::Moment;
use crate::policy::{Gate, ModeFrom, ParamError};

/// The effect of an outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Offline {
    /// The outage blocks: an answer that cannot be read is unknown.
    #[default]
    Block,
    /// The outage is shown and recorded.
    Warn,
}

/// Returns the subject that the forge's answers are about.
pub(super) fn subject<'a>(facts: &'a Facts, hosting: &Hosting) -> Option<&'a Subject> {
    let commits = || facts.subjects.iter().filter(|subject| subject.role == SubjectKind::Commit);
    commits().find(|subject| subject.commit.as_ref() == Some(&hosting.head.commit))
}

/// Returns the answer of a gate, and its reason code, if the forge did not answer.
///
/// In CI it is never a pass. At a stop it blocks only if the policy names the gate, and the policy may then ignore
/// outages.
pub(super) fn unreadable(gate: &Gate, moment: Moment, offline: Offline, trouble: &Trouble) -> (Answer, &'static str) {
    let lenient = gate.mode_from != ModeFrom::Entry || (offline == Offline::Warn && trouble.kind.is_outage());
    match (moment, lenient) {
        (Moment::Ci, _) | (_, false) => (Answer::Unknown, "unreadable"),
        (_, true) => (Answer::Pending, "offline"),
    }
}

/// Returns the trouble as a phrase.
pub(super) fn why(trouble: &Trouble) -> String {
    let what = shortened(&trouble.what, 300);
    if let Some(needs) = &trouble.needs { format!("{what}; the token needs {}", plain(needs)) } else { what }
}

/// Returns the remedy.
pub(super) fn cure(trouble: &Trouble) -> String {
    match trouble.kind {
        TroubleKind::Forbidden | TroubleKind::NotFound => match &trouble.needs {
            Some(needs) => format!("give the token the permission {}", plain(needs)),
            None => "use a token that may read this repository".to_owned(),
        },
        TroubleKind::Unauthorized => "use a token that the forge knows: gh auth status".to_owned(),
        TroubleKind::RateLimited => "ask again later".to_owned(),
        TroubleKind::Offline | TroubleKind::Timeout | TroubleKind::Server => {
            "ask again when the forge answers".to_owned()
        }
        TroubleKind::Malformed => "check whether a proxy between here and the forge answers in its place".to_owned(),
        TroubleKind::Moved => "judge the new head".to_owned(),
    }
}

/// Checks that the parameter `key` is a list of globs.
pub(super) fn check_globs(key: &str, globs: &[String]) -> Result<(), ParamError> {
    Globs::new(globs).map(drop).map_err(|error| ParamError { key: Some(key.to_owned()), what: error.to_string() })
}

/// Returns a finding about the commit that the forge's answers are about. `more` are values for its words.
pub(super) fn finding(
    gate: &Gate,
    facts: &Facts,
    hosting: &Hosting,
    (answer, reason, more): (Answer, &str, Value),
) -> Finding {
    let all = context! {
        commit => hosting.head.commit.short(),
        branch => plain(hosting.head.branch.as_deref().unwrap_or_default()),
        repository => plain(&hosting.repository),
        ..more
    };
    let words = finding_text::say(gate, reason, &all);
    words.finding(subject(facts, hosting).map_or("HEAD", |subject| subject.name.as_str()), answer, reason)
}
