//! Asks the judges of last resort where a gate would have to understand words.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::Workplace;
use crate::digest::hex_digest;
use crate::event::{EventKind, Origin};
use crate::fact::{Facts, FailedJudge, WordJudgement};
use crate::gates;
use crate::gates::finding::GateResult;
use crate::gates::word_judge;
use crate::journal::NewEvent;
use crate::judge::consultation::{Consultation, consult};
use crate::judge::word_question::WordQuestion;
use crate::model::model_settings::{SettingsError, UserSettings};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::run::start_itself;
use crate::verdict::verdict_files::write_json;

/// The time for which a hook waits for a judge. The client gives the whole stop 25 s or more.
pub(super) const HOOK_TIMEOUT: Duration = Duration::from_secs(12);
/// The time for which a command waits for all judges together.
pub(super) const COMMAND_TIMEOUT: Duration = Duration::from_hours(1);
/// The interval at which a running judge is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A question that is handed to the process that asks the judges.
#[derive(Debug, Serialize, Deserialize)]
struct PendingQuestion {
    /// The session that it is about.
    session: String,
    /// The question.
    question: WordQuestion,
}

impl Workplace {
    /// Has words read that a gate would have to understand, if the user configured judges. Returns the answers of all
    /// gates.
    pub(super) fn read_words(&self, policy: &Policy, facts: &mut Facts, results: Vec<GateResult>) -> Vec<GateResult> {
        if facts.moment != Moment::Stop {
            return results;
        }
        let judgement = match word_judge::to_be_read(policy, facts, &results) {
            None => self.late_judgement(),
            Some(open) => match UserSettings::read() {
                Err(error) => Some(unusable(&error)),
                Ok(settings) if settings.judges.is_empty() => self.late_judgement(),
                // The answer to the same words is not a late one.
                Ok(_) => {
                    let judgement = self.judge_words(&WordQuestion::of_turn(facts, &open));
                    Some(with_late(judgement, self.late_judgement()))
                }
            },
        };
        if judgement.is_none() {
            return results;
        }
        facts.word_judgement = judgement;
        gates::judge(policy, facts)
    }

    /// Returns the answer to a question. A process of its own asks, so that an answer that comes too late for this stop
    /// is there at the next one.
    fn judge_words(&self, question: &WordQuestion) -> WordJudgement {
        let failed = |why: String| WordJudgement::Failed(vec![FailedJudge { judge: "gate".to_owned(), why }]);
        let path = self.judgement_path(&question.digest());
        if let Some(judgement) = taken(&path) {
            return judgement;
        }
        let asked = path.with_extension("question");
        let until = Instant::now() + self.judge_patience;
        if is_being_asked(&asked) {
            // An earlier stop asked the same: the answer comes from that process.
            while Instant::now() < until {
                if let Some(judgement) = taken(&path) {
                    return judgement;
                }
                std::thread::sleep(POLL_INTERVAL);
            }
            return WordJudgement::Pending;
        }
        let pending = PendingQuestion { session: self.session.id.clone(), question: question.clone() };
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| write_json(&asked, &pending));
        let dir = self.repo.root().unwrap_or(self.repo.git_dir());
        let started = written.and_then(|()| start_itself(dir, &["judge-words", &asked.to_string_lossy()]));
        let mut child = match started {
            Ok(child) => child,
            Err(error) => return failed(format!("the judges could not be asked: {error}")),
        };
        while Instant::now() < until {
            match child.try_wait() {
                Ok(None) => std::thread::sleep(POLL_INTERVAL),
                Ok(Some(_)) => {
                    return taken(&path)
                        .unwrap_or_else(|| failed("the judges' process ended without an answer".to_owned()));
                }
                Err(error) => return failed(format!("the judges could not be waited for: {error}")),
            }
        }
        WordJudgement::Pending
    }

    /// Returns an answer to an earlier stop of this session that came too late for it.
    fn late_judgement(&self) -> Option<WordJudgement> {
        let prefix = self.session_prefix();
        let entries = fs::read_dir(self.judgements()).ok()?;
        let is_own = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "json")
                && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
        };
        let mut found = None;
        for path in entries.flatten().map(|entry| entry.path()).filter(is_own) {
            found = match taken(&path) {
                Some(WordJudgement::Read(reading)) => Some(WordJudgement::Late(reading)),
                Some(WordJudgement::Failed(failed)) if found.is_none() => Some(WordJudgement::LateFailed(failed)),
                _ => found,
            };
        }
        found
    }

    fn judgements(&self) -> PathBuf {
        self.repo.gate_dir().join("judgements")
    }

    fn session_prefix(&self) -> String {
        hex_digest(&[self.session.id.as_bytes()])[..12].to_owned()
    }

    fn judgement_path(&self, digest: &str) -> PathBuf {
        self.judgements().join(format!("{}-{digest}.json", self.session_prefix()))
    }

    /// Asks the judges the question in a file, records the calls, and writes the answer next to the file.
    pub fn answer_words(&self, asked: &Path) -> Result<(), String> {
        let text = fs::read(asked).map_err(|error| error.to_string())?;
        let pending: PendingQuestion = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        let consultation = match UserSettings::read() {
            Ok(settings) => consult(&pending.question, settings.judges(), COMMAND_TIMEOUT),
            Err(error) => Consultation { judgement: unusable(&error), calls: Vec::new() },
        };
        let event = |call| NewEvent {
            session: Some(pending.session.clone()),
            origin: Origin::observed(),
            kind: EventKind::Model(call),
        };
        let events: Vec<NewEvent> = consultation.calls.into_iter().map(event).collect();
        let recorded = self.journal.append_with(|_| (events, ())).1.map(drop);
        write_json(&asked.with_extension("json"), &consultation.judgement).map_err(|error| error.to_string())?;
        // A question that stays is asked again.
        let _ = fs::remove_file(asked);
        recorded.map_err(|error| error.to_string())
    }
}

/// Joins the judgement of this stop with a late one. A late failure counts where words have to be read again and nobody has
/// read them yet.
fn with_late(judgement: WordJudgement, late: Option<WordJudgement>) -> WordJudgement {
    match (judgement, late) {
        (WordJudgement::Pending, Some(WordJudgement::Late(reading))) => WordJudgement::PendingAfter(reading),
        (WordJudgement::Pending, Some(WordJudgement::LateFailed(failed))) => WordJudgement::Failed(failed),
        (judgement, _) => judgement,
    }
}

fn unusable(error: &SettingsError) -> WordJudgement {
    WordJudgement::Failed(vec![FailedJudge { judge: "config.toml".to_owned(), why: error.to_string() }])
}

/// Returns `true` if a question was handed to a process that may still be asking it: all judges together have not used up
/// their time yet.
fn is_being_asked(question: &Path) -> bool {
    let age = fs::metadata(question).and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
    let settings = UserSettings::read().unwrap_or_default();
    let most: u64 = settings.judges().map(|judge| judge.timeout).sum();
    age.is_some_and(|age| age < Duration::from_secs(most).min(COMMAND_TIMEOUT))
}

/// Reads an answer and removes its file, so that each answer is used once.
fn taken(path: &Path) -> Option<WordJudgement> {
    let text = fs::read(path).ok()?;
    let _ = fs::remove_file(path);
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::word_judgement::JudgeReading;
    use crate::policy::Severity;

    #[test]
    fn a_late_answer_is_used_where_this_stop_has_none() {
        let reading = |complete| JudgeReading {
            judge: "opus".to_owned(),
            complete,
            severity: Severity::Low,
            reason: "Two are left.".to_owned(),
            missing: Vec::new(),
            human_actions: Vec::new(),
        };
        let failed = || vec![FailedJudge { judge: "opus".to_owned(), why: "slow".to_owned() }];
        let late = || Some(WordJudgement::Late(reading(false)));
        assert_eq!(with_late(WordJudgement::Pending, late()), WordJudgement::PendingAfter(reading(false)));
        let late_failure = Some(WordJudgement::LateFailed(failed()));
        assert_eq!(with_late(WordJudgement::Pending, late_failure.clone()), WordJudgement::Failed(failed()));
        assert_eq!(with_late(WordJudgement::Pending, None), WordJudgement::Pending);
        // An answer to these words counts more than one to earlier words.
        let read = || WordJudgement::Read(reading(true));
        assert_eq!(with_late(read(), late()), read());
        assert_eq!(with_late(read(), late_failure), read());
    }
}
