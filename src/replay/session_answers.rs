//! What the gates say of each stop of a session.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::git::GitError;
use crate::replay::case::{Case, CaseError};
use crate::replay::gate_answers::{GateAnswer, answer};
use crate::replay::session_case::RecordedSession;
use crate::source::sessions::SessionCounts;

/// The maximum length of the last message of a turn, as it is shown.
const MAX_WORDS: usize = 200;

/// What the gates say of a session.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SessionAnswers {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The session.
    pub session: String,
    /// By question, at the last stop; where no turn ended, at the end of the record.
    pub gates: BTreeMap<String, GateAnswer>,
    /// Its stops, the first one first.
    pub stops: Vec<StopAnswers>,
    /// How many turns a person or an error interrupted. They are not judged.
    pub interrupted: usize,
    /// Whether edits or commands follow the last stop. They are not judged.
    pub continues: bool,
    /// What of its logs is not understood.
    pub unread: Vec<UnreadRecords>,
}

/// What the gates say of one stop.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StopAnswers {
    /// Its number in the session, from 1.
    pub number: usize,
    /// When it was.
    pub at: Timestamp,
    /// The beginning of the words it ended with.
    pub text: String,
    /// By question.
    pub gates: BTreeMap<String, GateAnswer>,
}

/// What of a log is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnreadRecords {
    /// The name of the file.
    pub file: String,
    /// Lines that cannot be read.
    pub broken: u64,
    /// The first of them.
    pub first_broken: Option<u64>,
    /// By kind, how often something was not understood.
    pub unknown: BTreeMap<String, u64>,
}

impl UnreadRecords {
    /// Returns what of a log is not understood, or `None` if everything is understood.
    pub fn of(file: &str, counts: &SessionCounts) -> Option<Self> {
        let SessionCounts { broken, first_broken, unknown, .. } = counts.clone();
        let file = file.to_owned();
        (broken > 0 || !unknown.is_empty()).then_some(Self { file, broken, first_broken, unknown })
    }
}

/// A session that cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// The repository cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The session cannot be written down as a case.
    #[error(transparent)]
    Case(#[from] CaseError),
}

/// Judges each stop of a session by what happened up to it.
pub fn judge(session: &RecordedSession<'_>, unread: Vec<UnreadRecords>) -> Result<SessionAnswers, StopError> {
    let mut stops = Vec::new();
    for (index, stop) in session.stops().into_iter().enumerate() {
        let Some((at, text)) = session.told_at(stop) else { continue };
        let gates = judged(session, Some(stop))?;
        stops.push(StopAnswers { number: index + 1, at, text: beginning(&text), gates });
    }
    let gates = if let Some(last) = stops.last() { last.gates.clone() } else { judged(session, None)? };
    let (interrupted, continues) = (session.interrupted(), session.continues());
    Ok(SessionAnswers { schema_version: 1, session: session.id.clone(), gates, stops, interrupted, continues, unread })
}

fn judged(session: &RecordedSession<'_>, stop: Option<usize>) -> Result<BTreeMap<String, GateAnswer>, StopError> {
    let case: Case = serde_json::from_value(session.case(stop)?).map_err(CaseError::Json)?;
    Ok(answer(&case)?.gates)
}

pub(super) fn beginning(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_WORDS);
    if end == text.len() { text.to_owned() } else { format!("{}…", &text[..end]) }
}
