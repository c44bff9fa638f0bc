//! What the gates say of each stop of a log whose repository is not here. The log is judged as it is read, turn by turn,
//! and of what is past only as much is kept as a later answer may need.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::mem;

use serde_json::Value;

use crate::event::Event;
use crate::replay::anonymize::Neutral;
use crate::replay::case::{Case, CaseError};
use crate::replay::compose::{EarlierActs, compose, compose_part};
use crate::replay::gate_answers::{GateAnswer, OpenCase};
use crate::replay::session_answers::{SessionAnswers, StopAnswers, StopError, UnreadRecords, beginning};
use crate::replay::session_case::{is_deed, record};
use crate::replay::turn_end::{is_stop, stop_of};
use crate::timeline::Entry;

/// The largest number of events that are read before they are judged, in a turn that does not end.
const MAX_TURN: usize = 4_000;

/// A log that is judged while it is read.
pub struct LogJudge<'a> {
    id: String,
    neutral: &'a Neutral,
    case: Case,
    open: OpenCase,
    earlier: EarlierActs,
    /// The events since the last stop, or the last of so many.
    turn: Vec<Entry>,
    /// The ids of the events, as digests: a log repeats those of the session that it continues.
    seen: HashSet<u64>,
    digests: RandomState,
    stops: Vec<StopAnswers>,
    interrupted: usize,
    continues: bool,
}

impl<'a> LogJudge<'a> {
    /// Begins with the log of a session.
    pub fn new(id: String, neutral: &'a Neutral) -> Result<Self, StopError> {
        let empty = compose(None, neutral, &record(id.clone(), &[], None, None, Vec::new()))?;
        let case: Case = serde_json::from_value(empty).map_err(CaseError::Json)?;
        Ok(Self {
            id,
            neutral,
            open: OpenCase::of(&case),
            case,
            earlier: EarlierActs::default(),
            turn: Vec::new(),
            seen: HashSet::new(),
            digests: RandomState::new(),
            stops: Vec::new(),
            interrupted: 0,
            continues: false,
        })
    }

    /// Reads the next event, and judges the stop that it may be.
    pub fn event(&mut self, event: Event) -> Result<(), StopError> {
        if !self.seen.insert(self.digests.hash_one(&event.id)) {
            return Ok(());
        }
        let stop =
            is_stop(&event).then(|| stop_of(&event).map(|stop| (event.at, self.neutral.text(&stop.text)))).flatten();
        self.interrupted += usize::from(stop.is_none() && stop_of(&event).is_some());
        self.continues = stop.is_none() && (self.continues || is_deed(&event));
        self.turn.push(Entry { event, started: None, also: Vec::new(), unjudged: false });
        if let Some((at, text)) = stop {
            let gates = self.judged()?;
            self.stops.push(StopAnswers { number: self.stops.len() + 1, at, text: beginning(&text), gates });
        } else if self.turn.len() >= MAX_TURN {
            self.happen(false)?;
        }
        Ok(())
    }

    /// Returns the answers after the last event, or `None` if the log has none.
    pub fn finish(mut self, unread: Vec<UnreadRecords>) -> Result<Option<SessionAnswers>, StopError> {
        if self.seen.is_empty() {
            return Ok(None);
        }
        let gates = if let Some(last) = self.stops.last() { last.gates.clone() } else { self.judged()? };
        let Self { id: session, stops, interrupted, continues, .. } = self;
        Ok(Some(SessionAnswers { schema_version: 1, session, gates, stops, interrupted, continues, unread }))
    }

    /// Judges what happened so far as the end of the session.
    fn judged(&mut self) -> Result<BTreeMap<String, GateAnswer>, StopError> {
        self.happen(true)?;
        Ok(self.open.answers(&self.case)?.0.gates)
    }

    /// Lets the events of this turn happen.
    fn happen(&mut self, ends: bool) -> Result<(), StopError> {
        let turn = mem::take(&mut self.turn);
        let record = record(self.id.clone(), &turn, None, None, Vec::new());
        self.case.events = Vec::new();
        for event in compose_part(self.neutral, &record, &mut self.earlier, ends)? {
            if let Value::Object(event) = event {
                self.case.events.push(event);
            }
        }
        for (seq, act) in self.case.acts()? {
            self.open.act(seq, &act);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::event::agent_work::{Act, AgentWork, EditKind, FileEdit, ShellCommand, StopKind, TurnEnd};
    use crate::event::{Ended, EventKind, Grade, Origin};
    use crate::fact::session_steps::MAX_STEPS;
    use crate::replay::answer;
    use crate::repo_path::RepoPath;
    use crate::source::sessions::{self, Roots, SessionLog};

    fn judge_all(events: &[Event], neutral: &Neutral) -> Option<SessionAnswers> {
        let mut judge = LogJudge::new("s".to_owned(), neutral).unwrap();
        for event in events {
            judge.event(event.clone()).unwrap();
        }
        judge.finish(Vec::new()).unwrap()
    }

    fn entries(events: &[Event]) -> Vec<Entry> {
        let entry = |event: &Event| Entry { event: event.clone(), started: None, also: Vec::new(), unjudged: false };
        events.iter().map(entry).collect()
    }

    #[test]
    fn each_stop_has_the_answers_of_the_case_that_ends_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session-logs");
        let roots = Roots::new([PathBuf::from("/w/shop")]);
        let mut stops = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let file = file.unwrap().path();
            let Some(client) = sessions::recognise(&file).ok().flatten() else { continue };
            let events = sessions::read(&SessionLog::new(client, file.clone()), &roots).unwrap().events;
            let neutral = Neutral::new(None, None);
            let Some(answers) = judge_all(&events, &neutral) else { continue };
            let ends: Vec<usize> = (0..events.len()).filter(|at| is_stop(&events[*at])).collect();
            assert_eq!(answers.stops.len(), ends.len(), "{}", file.display());
            for (end, stop) in ends.into_iter().zip(&answers.stops) {
                let entries = entries(&events[..=end]);
                let case = compose(None, &neutral, &record("s".to_owned(), &entries, None, None, Vec::new())).unwrap();
                let whole = answer(&serde_json::from_value(case).unwrap()).unwrap();
                assert_eq!(stop.gates, whole.gates, "stop {} of {}", stop.number, file.display());
                stops += 1;
            }
        }
        assert!(stops > 5, "{stops} stops");
    }

    fn turn(number: usize) -> [Event; 3] {
        let command = ShellCommand {
            line: format!("cargo test -p part{}", number % 7),
            dir: Some(RepoPath::from("")),
            ended: Some(Ended::Exited(0)),
            tail: "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out".to_owned(),
            ..ShellCommand::default()
        };
        let path = RepoPath::from(format!("src/part{}.rs", number % 7).as_str());
        let edit = FileEdit { path, how: EditKind::Written, removed: "a".to_owned(), added: number.to_string() };
        let stop = TurnEnd { how: StopKind::Completed, text: "Done.".to_owned(), running: 0, left_alone: None };
        let acts = [Act::Edited(vec![edit]), Act::Command(Box::new(command)), Act::Stopped(stop)];
        let mut part = 0;
        acts.map(|act| {
            part += 1;
            let work = AgentWork { actor: None, call: Some(format!("{number}-{part}")), head: None, act };
            Event {
                id: format!("{number}-{part}"),
                at: jiff::Timestamp::UNIX_EPOCH,
                session: Some("s".to_owned()),
                origin: Origin { by: "claude-log".to_owned(), grade: Grade::Transcribed },
                kind: EventKind::Work(Box::new(work)),
            }
        })
    }

    #[test]
    fn what_is_kept_does_not_grow_with_the_log() {
        let neutral = Neutral::new(None, None);
        let mut judge = LogJudge::new("s".to_owned(), &neutral).unwrap();
        let turns = MAX_STEPS / 2;
        for number in 0..turns {
            let [edit, ran, stop] = turn(number);
            judge.event(edit).unwrap();
            judge.event(ran).unwrap();
            // Of so many turns only the last ones end, so that the test is quick.
            if number + 3 >= turns {
                judge.event(stop).unwrap();
            }
            assert!(judge.turn.len() <= MAX_TURN);
        }
        let (latest, runs) = judge.open.kept();
        assert!(latest <= MAX_STEPS && runs <= 128, "{latest} events, {runs} runs");
        let answers = judge.finish(Vec::new()).unwrap().unwrap();
        assert_eq!((answers.stops.len(), answers.continues), (3, false));
    }
}
