//! The state of a person's requests, in that person's state directory: scores, smells and questions, never the text.
//!
//! Sessions write at the same time, so each change is made under a lock and replaces the file as a whole. A file that
//! cannot be read is set aside, and the next one begins empty.

mod trend;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

pub use self::trend::PromptTrend;
use crate::digest::hex_digest;
use crate::file_lock;
use crate::prompt::{PromptBand, PromptEvaluation, PromptQuestion};

/// The number of scores that are kept.
const MAX_SCORES: usize = 10;
/// The number of sessions whose questions are kept.
const MAX_SESSIONS: usize = 20;
/// The number of questions of one session that are remembered.
const MAX_ASKED: usize = 50;
/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;
/// The time that a writer waits for the others. The prompt of the person waits as long.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const FILE: &str = "prompts.json";

/// The score of one request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScoredPrompt {
    /// The time, in seconds since 1970.
    pub at: u64,
    /// From 1.0 to 5.0.
    pub score: f64,
    /// `true` if questions came first.
    pub halted: bool,
}

/// The questions of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AskedQuestions {
    /// The time of the last request, in seconds since 1970.
    pub at: u64,
    /// The digests of the questions that were asked. None is asked again in this session.
    pub asked: Vec<String>,
    /// The kinds of the questions of the last note that no later request answered.
    pub open: Vec<String>,
}

/// The state of one person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PromptHistory {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The last ten scores, oldest first.
    pub scores: Vec<ScoredPrompt>,
    /// The number of requests with each smell.
    pub smells: BTreeMap<String, u64>,
    /// `true` if the present improvement was acknowledged.
    pub acknowledged: bool,
    /// The questions, by session.
    pub sessions: BTreeMap<String, AskedQuestions>,
}

impl PromptHistory {
    /// Returns the direction of the scores.
    pub fn trend(&self) -> PromptTrend {
        PromptTrend::of(&self.scores)
    }

    /// Returns the kinds of the questions that are open in any session, sorted.
    pub fn open(&self) -> Vec<&str> {
        let mut open: Vec<&str> =
            self.sessions.values().flat_map(|session| &session.open).map(String::as_str).collect();
        open.sort_unstable();
        open.dedup();
        open
    }

    /// Adds an evaluation. Returns `true` if an improvement is to be acknowledged now.
    pub fn add(&mut self, evaluation: &PromptEvaluation) -> bool {
        self.schema_version = 1;
        let Some(score) = evaluation.score else { return false };
        self.scores.push(ScoredPrompt { at: now(), score, halted: evaluation.band.is_halted() });
        let surplus = self.scores.len().saturating_sub(MAX_SCORES);
        self.scores.drain(..surplus);
        let mut ids: Vec<&str> = evaluation.smells.iter().map(|smell| smell.id).collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            *self.smells.entry(id.to_owned()).or_default() += 1;
        }
        let is_rising = self.trend() == PromptTrend::Rising;
        let is_first = is_rising && !self.acknowledged && evaluation.band == PromptBand::Pass;
        self.acknowledged = is_rising && (self.acknowledged || is_first);
        is_first
    }

    /// Returns the questions that were not yet asked in the session, and notes them as asked and open. Whatever was open
    /// before counts as answered: the person went on.
    pub fn ask<'q>(&mut self, session: &str, questions: &'q [PromptQuestion]) -> Vec<&'q PromptQuestion> {
        let of = self.sessions.entry(session.to_owned()).or_default();
        of.at = now();
        let key = |question: &PromptQuestion| {
            hex_digest(&[question.kind.as_bytes(), question.about.as_bytes()])[..16].to_owned()
        };
        let new: Vec<&PromptQuestion> =
            questions.iter().filter(|question| !of.asked.contains(&key(question))).collect();
        of.asked.extend(new.iter().map(|question| key(question)));
        let surplus = of.asked.len().saturating_sub(MAX_ASKED);
        of.asked.drain(..surplus);
        of.open = new.iter().map(|question| question.kind.to_owned()).collect();
        while self.sessions.len() > MAX_SESSIONS {
            let oldest = self.sessions.iter().min_by_key(|(_, session)| session.at).map(|(id, _)| id.clone());
            self.sessions.remove(&oldest.unwrap_or_default());
        }
        new
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

/// The result of reading the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadHistory {
    /// The state; empty if there is none yet.
    pub history: PromptHistory,
    /// The place of a file that could not be read and was set aside.
    pub set_aside: Option<PathBuf>,
}

/// Returns the folder of this person's state, or `None` without a home directory.
pub fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_STATE_HOME").filter(|path| path.is_absolute());
    Some(base.or_else(|| Some(std::env::home_dir()?.join(".local/state")))?.join("gate"))
}

/// Reads the state.
pub fn read(folder: &Path) -> io::Result<ReadHistory> {
    if !folder.join(FILE).exists() {
        return Ok(ReadHistory::default());
    }
    let _lock = lock(folder)?;
    load(folder)
}

/// Changes the state under a lock. Returns the result of the change, and the place of a damaged file.
pub fn update<T>(folder: &Path, change: impl FnOnce(&mut PromptHistory) -> T) -> io::Result<(T, Option<PathBuf>)> {
    fs::create_dir_all(folder)?;
    let _lock = lock(folder)?;
    let ReadHistory { mut history, set_aside } = load(folder)?;
    let result = change(&mut history);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer_pretty(&mut file, &history)?;
    file.persist(folder.join(FILE)).map_err(|error| error.error)?;
    Ok((result, set_aside))
}

/// Removes the state. Returns `true` if there was any.
pub fn forget(folder: &Path) -> io::Result<bool> {
    if !folder.is_dir() {
        return Ok(false);
    }
    let _lock = lock(folder)?;
    let mut found = false;
    for entry in fs::read_dir(folder)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(FILE) {
            fs::remove_file(entry.path())?;
            found = true;
        }
    }
    Ok(found)
}

fn lock(folder: &Path) -> io::Result<File> {
    let lock = File::options().create(true).truncate(false).write(true).open(folder.join("prompts.lock"))?;
    if file_lock::take(&lock, LOCK_TIMEOUT)? {
        return Ok(lock);
    }
    Err(io::Error::other(format!("another process holds {}", folder.join("prompts.lock").display())))
}

fn load(folder: &Path) -> io::Result<ReadHistory> {
    let path = folder.join(FILE);
    let length = match fs::metadata(&path) {
        Ok(data) => data.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ReadHistory::default()),
        Err(error) => return Err(error),
    };
    let text = if length <= MAX_FILE { fs::read(&path)? } else { Vec::new() };
    match serde_json::from_slice(&text) {
        Ok(history) => Ok(ReadHistory { history, set_aside: None }),
        Err(_) => {
            let aside = folder.join(format!("{FILE}.damaged-{}", now()));
            fs::rename(&path, &aside)?;
            Ok(ReadHistory { history: PromptHistory::default(), set_aside: Some(aside) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::{Findings, PromptText, evaluate};

    fn evaluated(text: &str) -> PromptEvaluation {
        evaluate(&PromptText::of(text), None, &Findings::default())
    }

    #[test]
    fn ten_scores_are_kept_and_smells_are_counted() {
        let mut history = PromptHistory::default();
        for _ in 0..12 {
            history.add(&evaluated("make it faster"));
        }
        assert_eq!(history.scores.len(), MAX_SCORES);
        assert_eq!(history.smells["performance_without_metric"], 12);
        assert!(!serde_json::to_string(&history).unwrap().contains("make it"), "no text is kept");
    }

    #[test]
    fn no_question_is_asked_twice_in_a_session() {
        let mut history = PromptHistory::default();
        let evaluation = evaluated("improve it");
        assert!(!history.ask("a", &evaluation.questions).is_empty());
        assert!(history.ask("a", &evaluation.questions).is_empty());
        assert!(history.open().is_empty(), "the person went on");
        assert!(!history.ask("b", &evaluation.questions).is_empty(), "another session is another conversation");
    }

    #[test]
    fn an_improvement_is_acknowledged_once() {
        let mut history = PromptHistory::default();
        for _ in 0..4 {
            history.add(&evaluated("make it better"));
        }
        let good = evaluated("rename `a_b` to `c_d` in `x_y.rs`, nothing else");
        assert_eq!(good.band, PromptBand::Pass, "{good:?}");
        let said: Vec<bool> = (0..4).map(|_| history.add(&good)).collect();
        assert_eq!(said.iter().filter(|said| **said).count(), 1, "{said:?}");
    }

    #[test]
    fn a_damaged_file_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), "{not json").unwrap();
        let (_, aside) = update(folder.path(), |history| history.add(&evaluated("improve it"))).unwrap();
        assert_eq!(fs::read_to_string(aside.unwrap()).unwrap(), "{not json");
        assert_eq!(read(folder.path()).unwrap().history.scores.len(), 1);
        assert!(forget(folder.path()).unwrap());
        assert_eq!(read(folder.path()).unwrap(), ReadHistory::default());
    }

    #[test]
    fn sessions_that_write_at_the_same_time_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| update(folder.path(), |history| history.add(&evaluated("improve it"))).unwrap());
            }
        });
        assert_eq!(read(folder.path()).unwrap().history.smells["vague_improvement"], 8);
    }
}
