//! The sessions of which attempts are counted.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::attempts::SessionState;
use crate::event::rescue::{self, Rescue};
use crate::event::{Judged, forwarded_text};

/// The largest number of sessions that are kept, the most recently judged ones.
pub const MAX_SESSIONS: usize = 256;

/// The sessions, the most recently judged one first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sessions(Vec<(String, SessionState)>);

impl Sessions {
    pub(super) fn count(&mut self, session: &str, judged: &Judged) {
        self.first(session).count(judged);
    }

    /// Returns the session, as the one that was at work last.
    fn first(&mut self, session: &str) -> &mut SessionState {
        match self.0.iter().position(|(known, _)| known == session) {
            Some(at) => self.0[..=at].rotate_right(1),
            None => self.0.insert(0, (session.to_owned(), SessionState::default())),
        }
        self.0.truncate(MAX_SESSIONS);
        &mut self.0[0].1
    }

    pub(super) fn rescue(&mut self, session: &str, id: &str, rescue: &Rescue) {
        if let Some((_, state)) = self.0.iter_mut().find(|(known, _)| known == session) {
            state.rescue.follow(id, rescue);
        }
    }

    /// Returns the session and name of a packet without an answer: the one called `id`, else the latest.
    pub(super) fn waiting(&self, id: Option<&str>) -> Option<(&str, &str)> {
        let open = self.0.iter().filter_map(|(session, state)| Some((session.as_str(), state.rescue.open.as_deref()?)));
        match id {
            Some(id) => open.into_iter().find(|(_, open)| *open == id),
            // Names begin with the time.
            None => open.into_iter().max_by_key(|(_, open)| *open),
        }
    }

    /// Returns the sessions whose counts have not ended.
    pub(super) fn refused(&self) -> impl Iterator<Item = (&str, &SessionState)> {
        self.0
            .iter()
            .filter(|(_, state)| *state != SessionState::default())
            .map(|(session, state)| (session.as_str(), state))
    }

    pub(super) fn latest_refused(&self) -> Option<&str> {
        self.0.iter().find(|(_, state)| state.made() > 0).map(|(session, _)| session.as_str())
    }

    /// Records that a person wrote to the session. That is a new task, and the counts of the task before end. They
    /// continue if the person passes on a packet or a payload of this program. A reply continues them in whatever
    /// session it arrives, since that session is the one that tries again.
    pub(super) fn prompted(&mut self, session: &str, text: &str) {
        for carried in rescue::carried(text) {
            let has_it = |state: &SessionState| state.rescue.packets.iter().any(|name| name == carried.name);
            if self.goes_on(session, carried.reply, has_it) {
                return;
            }
        }
        let states = |state: &SessionState| forwarded_text::states(text, &state.rescue.hypotheses).is_some();
        if self.goes_on(session, true, states) || forwarded_text::has_payload(text) && self.of(session).made() > 0 {
            return;
        }
        self.0.retain(|(known, _)| known != session);
    }

    /// Returns `true` if the count of attempts continues in `session`: with its own rescue if that `is_meant`, and, if
    /// the message is for the agent that failed, with the rescue that is, which the session takes over.
    fn goes_on(&mut self, session: &str, for_coder: bool, is_meant: impl Fn(&SessionState) -> bool) -> bool {
        if is_meant(self.of(session)) {
            return true;
        }
        let other = self.0.iter().find(|(_, state)| for_coder && is_meant(state)).map(|(_, state)| state.clone());
        let goes_on = other.is_some();
        if let Some(other) = other {
            self.first(session).take_up(&other);
        }
        goes_on
    }

    pub(super) fn of(&self, session: &str) -> &SessionState {
        static NEW: LazyLock<SessionState> = LazyLock::new(SessionState::default);
        self.0.iter().find(|(known, _)| known == session).map_or(&NEW, |(_, state)| state)
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use crate::event::FailingGate;
    use crate::event::rescue::{HandedOver, Replied};
    use crate::journal::attempts::MAX_BRANCHES;
    use crate::moment::Moment;
    use crate::oid::Oid;

    fn gate(name: &str, blocks: bool) -> FailingGate {
        FailingGate { gate: name.to_owned(), fingerprint: format!("{name} failed"), blocks }
    }

    fn judged(moment: Moment, blocked: bool, failing: &[FailingGate]) -> Judged {
        let trees = vec![Oid::empty_tree(false)];
        Judged {
            verdict: "v".to_owned(),
            trees,
            failing: failing.to_vec(),
            blocked,
            attempt: u32::from(blocked),
            ..Judged::at(moment)
        }
    }

    #[test]
    fn the_ladder() {
        let (tests, push) = (gate("tests", true), gate("protected-branch", true));
        let quiet = gate("build", false);
        let idle = Judged { idle: vec!["tests".to_owned()], ..judged(Moment::Stop, false, &[]) };
        // Each step: a verdict, then the attempt that a next failure of `tests` would be.
        let steps: &[(Judged, u32, &str)] = &[
            (judged(Moment::Stop, true, &[tests.clone(), quiet.clone()]), 2, "one failure"),
            (judged(Moment::Push, true, from_ref(&tests)), 3, "counted over moments"),
            (judged(Moment::Commit, false, &[]), 3, "a moment that does not ask it says nothing"),
            (judged(Moment::Commit, false, from_ref(&quiet)), 3, "nor does one that passes with a warning"),
            (judged(Moment::Push, true, from_ref(&push)), 3, "it passed while another gate failed"),
            (judged(Moment::Stop, true, &[tests.clone(), push.clone()]), 4, "and failed again"),
            (judged(Moment::Stop, true, &[gate("tests", false)]), 4, "failing without blocking clears nothing"),
            (idle.clone(), 4, "content that asks for no run shows nothing"),
            (judged(Moment::Stop, false, from_ref(&quiet)), 1, "nothing blocked: all begins anew"),
        ];
        let mut sessions = Sessions::default();
        assert_eq!(sessions.of("s").attempt_for(from_ref(&tests), &[]), 1);
        for (verdict, next, why) in steps {
            sessions.count("s", verdict);
            assert_eq!(sessions.of("s").attempt_for(from_ref(&tests), &[]), *next, "{why}");
        }
        assert_eq!(sessions.of("s").attempt_for(&[quiet], &[]), 0, "what does not block is not an attempt");
        assert_eq!(sessions.of("other"), &SessionState::default());
    }

    #[test]
    fn each_branch_has_attempts_of_its_own() {
        let tests = gate("tests", true);
        let on = |branches: &[&str], blocked: bool| Judged {
            branches: branches.iter().map(|&name| name.to_owned()).collect(),
            ..judged(Moment::Push, blocked, if blocked { from_ref(&tests) } else { &[] })
        };
        let look = Judged { attempt: 0, ..on(&["feature"], true) };
        // Each step: a verdict, then the attempts that a next failure would be: on `feature`, on `second`, on no branch.
        let steps: &[(Judged, [u32; 3], &str)] = &[
            (on(&["feature"], true), [2, 1, 1], "it fails"),
            (look.clone(), [2, 1, 1], "somebody looks"),
            (on(&["other"], false), [2, 1, 1], "another branch passes"),
            (on(&[], false), [2, 1, 1], "nobody knows which one passes"),
            (on(&["second"], true), [2, 2, 1], "it fails there, too"),
            (on(&["second", "feature"], true), [3, 3, 1], "on a branch that goes on from another"),
            (on(&["second"], false), [3, 1, 1], "and passes there alone"),
            (on(&["other", "feature"], false), [1, 1, 1], "everything that failed passes"),
            (on(&[], true), [1, 1, 2], "it fails on no branch"),
            (on(&["other"], false), [1, 1, 1], "which any pass ends"),
        ];
        let mut sessions = Sessions::default();
        for (verdict, next, why) in steps {
            sessions.count("s", verdict);
            let on = |branches: &[String]| sessions.of("s").attempt_for(from_ref(&tests), branches);
            let found = [on(&["feature".to_owned()]), on(&["second".to_owned()]), on(&[])];
            assert_eq!(found, *next, "{why}");
        }
        assert_eq!(sessions.of("s"), &SessionState::default());
    }

    #[test]
    fn the_branches_that_are_remembered_are_bounded() {
        let mut sessions = Sessions::default();
        let tests = gate("tests", true);
        let on = |name: String| Judged { branches: vec![name], ..judged(Moment::Push, true, from_ref(&tests)) };
        sessions.count("s", &on("often".to_owned()));
        sessions.count("s", &on("often".to_owned()));
        for number in 0..2 * MAX_BRANCHES {
            sessions.count("s", &on(format!("b{number}")));
        }
        let next = |name: &str| sessions.of("s").attempt_for(from_ref(&tests), &[name.to_owned()]);
        assert_eq!(sessions.of("s").failing_on().count(), MAX_BRANCHES);
        assert_eq!((next("often"), next(&format!("b{}", 2 * MAX_BRANCHES - 1))), (3, 2));
    }

    #[test]
    fn a_commit_that_is_let_through_ends_what_commits_counted_and_nothing_else() {
        let (atomic, tests) = (gate("atomic", true), gate("tests", true));
        let refused = judged(Moment::Commit, true, from_ref(&atomic));
        let mixed = judged(Moment::Commit, true, &[atomic.clone(), gate("decisions", true)]);
        let through = judged(Moment::Commit, false, &[]);
        let steps: &[(&Judged, u32, u32, &str)] = &[
            (&refused, 2, 1, "one refused commit"),
            (&judged(Moment::Commit, true, &[gate("decisions", true)]), 2, 1, "two gates in turn"),
            (&mixed, 3, 1, "do not clear each other"),
            (&through, 1, 1, "done right"),
            (&refused, 2, 1, "another commit"),
            (&judged(Moment::Push, true, &[atomic.clone(), tests.clone()]), 3, 2, "a push counts by itself"),
            (&through, 2, 2, "and a commit does not take that back"),
            (&through, 2, 2, "not twice either"),
        ];
        let mut sessions = Sessions::default();
        for (verdict, commits, runs, why) in steps {
            sessions.count("s", verdict);
            let next = |gate| sessions.of("s").attempt_for(from_ref(gate), &[]);
            assert_eq!((next(&atomic), next(&tests)), (*commits, *runs), "{why}");
        }
        let mut sessions = Sessions::default();
        sessions.count("s", &refused);
        sessions.count("s", &through);
        assert_eq!(sessions.of("s"), &SessionState::default());
    }

    #[test]
    fn a_new_task_begins_anew_and_leaves_others_alone() {
        let mut sessions = Sessions::default();
        let tests = gate("tests", true);
        for session in ["s", "other"] {
            sessions.count(session, &judged(Moment::Stop, true, from_ref(&tests)));
        }
        sessions.prompted("s", "make it say three");
        assert_eq!(sessions.of("s").attempt_for(from_ref(&tests), &[]), 1);
        assert_eq!(sessions.of("other").attempt_for(from_ref(&tests), &[]), 2);
    }

    #[test]
    fn with_a_packet_of_ours_the_ladder_goes_on_where_it_came_to() {
        const NAME: &str = "h20261122T153612-404dee68";
        let tests = gate("tests", true);
        let mut sessions = Sessions::default();
        sessions.count("s", &judged(Moment::Stop, true, from_ref(&tests)));
        let handed = HandedOver { id: NAME.to_owned(), attempt: 1, tree: None };
        sessions.rescue("s", "e1", &Rescue::HandedOver(handed));
        let packet = format!("# Handoff {NAME}\n\n<ESCALATION>\n");
        // Who is to find the way out is not who failed.
        sessions.prompted("unblocker", &packet);
        assert_eq!(sessions.of("unblocker"), &SessionState::default());
        let replied = Replied {
            handoff: NAME.to_owned(),
            output: "retry_packet_for_coder".to_owned(),
            hypothesis: "a cache".to_owned(),
            not_to_retry: vec!["`make`".to_owned()],
        };
        sessions.rescue("s", "e2", &Rescue::Replied(replied));
        let before = sessions.of("s").clone();
        let reply = format!("# Reply to handoff {NAME}: retry_packet_for_coder\n");
        let raw = "It says:\nretry_packet_for_coder\nnew_hypothesis: a cache\n".to_owned();
        let inline = format!("Here is what the unblocker says: {reply}");
        let payload = "Look at this: <ESCALATION>\nstatus: blocked\n</ESCALATION>\n".to_owned();
        for text in [&packet, &reply, &raw, &inline, &payload] {
            sessions.prompted("s", text);
            assert_eq!(sessions.of("s"), &before, "{text}");
        }
        sessions.prompted("fresh", &reply);
        assert_eq!(sessions.of("fresh"), &before);
        assert_eq!(sessions.latest_refused(), Some("fresh"));
        // One that nobody knows is a text like any other.
        sessions.prompted("fresh", &reply.replace("404dee68", "00000000"));
        assert_eq!(sessions.of("fresh"), &SessionState::default());
        assert_eq!(sessions.of("s"), &before);
        sessions.prompted("s", &format!("leave {NAME} and make it say three"));
        assert_eq!(sessions.of("s"), &SessionState::default());
    }

    #[test]
    fn the_highest_of_several_gates_counts() {
        let mut sessions = Sessions::default();
        sessions.count("s", &judged(Moment::Stop, true, &[gate("tests", true)]));
        let failing = [gate("build", true), gate("tests", true)];
        assert_eq!(sessions.of("s").attempt_for(&failing, &[]), 2);
        assert_eq!(sessions.of("s").attempt_for(&failing[..1], &[]), 1);
    }

    #[test]
    fn the_same_failure_on_the_same_content_is_recognised() {
        let mut sessions = Sessions::default();
        let tests = gate("tests", true);
        let many: Vec<Oid> = std::iter::repeat_n(Oid::empty_tree(false), 40).collect();
        sessions.count("s", &Judged { trees: many.clone(), ..judged(Moment::Stop, true, from_ref(&tests)) });
        let both = [tests.clone(), gate("build", true)];
        let repeats = |sessions: &Sessions, failing: &[FailingGate]| sessions.of("s").repeats(failing, &many);
        assert!(repeats(&sessions, from_ref(&tests)));
        sessions.count("c", &Judged { trees: Vec::new(), ..judged(Moment::Commit, true, from_ref(&tests)) });
        assert!(!sessions.of("c").repeats(from_ref(&tests), &[]), "nobody knows which content it was");
        assert!(!sessions.of("s").repeats(from_ref(&tests), &[Oid::empty_tree(true)]), "other content");
        assert!(
            !repeats(&sessions, &[FailingGate { fingerprint: "other".to_owned(), ..tests.clone() }]),
            "other failure"
        );
        assert!(!repeats(&sessions, &both[1..]), "other gate");
        assert!(!repeats(&sessions, &both), "one gate more");
        sessions.count("s", &Judged { trees: many.clone(), ..judged(Moment::Push, true, &both) });
        assert!(repeats(&sessions, &both));
        assert!(!repeats(&sessions, from_ref(&tests)), "one gate was settled");
    }

    #[test]
    fn sessions_are_bounded() {
        let mut sessions = Sessions::default();
        for number in 0..=MAX_SESSIONS {
            sessions.count(&number.to_string(), &judged(Moment::Stop, true, &[gate("tests", true)]));
        }
        assert_eq!(sessions.0.len(), MAX_SESSIONS);
        assert_eq!(sessions.of("0"), &SessionState::default(), "the oldest is gone");
        assert_ne!(sessions.of("1"), &SessionState::default());
    }
}
