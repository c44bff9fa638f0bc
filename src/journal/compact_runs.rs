//! The runs of a key in the checkpoint: values that most of them share are written once, since every command reads the
//! checkpoint.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::recorded_run::RecordedRun;
use crate::event::{CommandRef, Ended, NamedPart, Origin, Run, RunReport};
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;

/// Runs, and the tables that they refer to by number.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct StoredRuns {
    commands: Vec<CommandRef>,
    origins: Vec<Origin>,
    sessions: Vec<String>,
    policies: Vec<String>,
    runs: Vec<StoredRun>,
}

/// One run. `end` is left out when it equals `start`.
#[derive(Serialize, Deserialize)]
struct StoredRun {
    id: String,
    /// Seconds and nanoseconds.
    at: (i64, i32),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<usize>,
    /// A run that is in no journal is in no checkpoint.
    offset: u64,
    /// Numbers of the origin, the command and the policy.
    of: (usize, usize, usize),
    start: KeptSnapshot,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<KeptSnapshot>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changed: Vec<RepoPath>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    logs: Vec<RepoPath>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    verbatim: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    built: Vec<RepoPath>,
    ended: Ended,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    over_time: bool,
    millis: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    report: Option<RunReport>,
    #[serde(default, skip_serializing_if = "NamedPart::is_none")]
    named: NamedPart,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    masked: Option<String>,
}

/// Returns the number of a value in a table; it adds missing values.
fn number<T: Clone + PartialEq>(table: &mut Vec<T>, value: &T) -> usize {
    table.iter().position(|known| known == value).unwrap_or_else(|| {
        table.push(value.clone());
        table.len() - 1
    })
}

impl From<Vec<RecordedRun>> for StoredRuns {
    fn from(recorded: Vec<RecordedRun>) -> Self {
        let mut stored = Self::default();
        for RecordedRun { id, at, session, origin, offset, run } in recorded {
            let of = (
                number(&mut stored.origins, &origin),
                number(&mut stored.commands, &run.command),
                number(&mut stored.policies, &run.policy),
            );
            let session = session.map(|session| number(&mut stored.sessions, &session));
            let Some(offset) = offset else { continue };
            let end = (run.end != run.start).then_some(run.end);
            let Run { start, changed, logs, verbatim, built, ended, over_time, millis, report, named, masked, .. } =
                *run;
            let at = (at.as_second(), at.subsec_nanosecond());
            stored.runs.push(StoredRun {
                id,
                at,
                session,
                offset,
                of,
                start,
                end,
                changed,
                logs,
                verbatim,
                built,
                ended,
                over_time,
                millis,
                report,
                named,
                masked,
            });
        }
        stored
    }
}

/// A number that is not in a table, or an invalid time.
#[derive(Debug, thiserror::Error)]
#[error("the stored runs do not fit together")]
pub(super) struct Misfit;

impl TryFrom<StoredRuns> for Vec<RecordedRun> {
    type Error = Misfit;

    fn try_from(stored: StoredRuns) -> Result<Self, Misfit> {
        let StoredRuns { commands, origins, sessions, policies, runs } = stored;
        let restored = runs.into_iter().map(|stored| {
            let (origin, command, policy) = stored.of;
            let run = Run {
                command: commands.get(command)?.clone(),
                call: None,
                end: stored.end.unwrap_or_else(|| stored.start.clone()),
                start: stored.start,
                changed: stored.changed,
                logs: stored.logs,
                verbatim: stored.verbatim,
                built: stored.built,
                ended: stored.ended,
                over_time: stored.over_time,
                millis: stored.millis,
                report: stored.report,
                named: stored.named,
                masked: stored.masked,
                tail: String::new(),
                policy: policies.get(policy)?.clone(),
            };
            let session = if let Some(number) = stored.session { Some(sessions.get(number)?.clone()) } else { None };
            let at = Timestamp::new(stored.at.0, stored.at.1).ok()?;
            let (id, origin, offset) = (stored.id, origins.get(origin)?.clone(), Some(stored.offset));
            Some(RecordedRun { id, at, session, origin, offset, run: Box::new(run) })
        });
        restored.collect::<Option<Self>>().ok_or(Misfit)
    }
}

/// For `#[serde(with)]`.
pub(super) mod compact {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{RecordedRun, StoredRuns};

    pub(in super::super) fn serialize<S: Serializer>(runs: &[RecordedRun], serializer: S) -> Result<S::Ok, S::Error> {
        StoredRuns::from(runs.to_vec()).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<RecordedRun>, D::Error> {
        StoredRuns::deserialize(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}
