//! Judges the end of a turn, which may be the end of the work.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use minijinja::context;

use super::hook_context::{Desk, clean};
use super::hook_event::{HookEvent, Stopping};
use super::own_commits::{self, Unproven};
use super::{HookDecision, background_checks, command_evidence, failing_test, lessons, prompt_note};
use crate::collect::contracts;
use crate::digest::hex_digest;
use crate::engine::{Uncommitted, Workplace};
use crate::event::agent_work::{Act, Prompt, Speaker, StopKind, TurnEnd};
use crate::fact::final_message::{self, LastWords};
use crate::fact::{Facts, OpenRunState};
use crate::failure::Failure;
use crate::gates;
use crate::gates::finding::GateResult;
use crate::hook::unix_millis::millis_since_1970;
use crate::model::model_settings::UserSettings;
use crate::moment::Moment;
use crate::policy::PolicySource;
use crate::routing;
use crate::snapshot::Snapshot;
use crate::source::sessions::Client;
use crate::templates::sentences::say;
use crate::verdict::{Outcome, Verdict, feedback, verdict_files};

/// The time for which the agent is left alone after a person interrupted a turn.
const COOLDOWN: Duration = Duration::from_secs(10);

/// Judges the end of a turn.
pub(super) fn judge(desk: &mut Desk, told: &HookEvent, stop: &Stopping) -> HookDecision {
    command_evidence::settle(desk, told.log.as_deref());
    command_evidence::note_left_running(desk, told.log.as_deref());
    let new = Stopping { words: said_now(desk, &stop.words), ..stop.clone() };
    let stop = &new;
    prompt_note::remember_turn(desk, &stop.words);
    lessons::take_answer(desk, stop);
    let waits = waits(desk, stop);
    let act = TurnEnd { how: stop.how, text: clean(&stop.words), running: stop.running, left_alone: waits.clone() };
    desk.record(None, Act::Stopped(act));
    if stop.how == StopKind::Aborted {
        desk.memory.aborted = Some(millis_since_1970());
        desk.remember();
    }
    if waits.is_some() || left_alone(desk, told, stop) {
        return HookDecision::Allow;
    }
    let decision = judge_places(desk, stop);
    desk.memory.own.told = !matches!(decision, HookDecision::Push(_));
    desk.remember();
    lessons::at_stop(desk, decision)
}

/// Judges each working tree of the session, up to the first that is refused.
fn judge_places(desk: &mut Desk, stop: &Stopping) -> HookDecision {
    let mut passed = HookDecision::Allow;
    for (root, began_on) in places(desk) {
        let decision = judged(desk, stop, &root, began_on.as_deref()).unwrap_or_else(|failure| {
            desk.said.push(say("stop", "unjudged", &context! { failure => failure.to_string() }));
            HookDecision::Allow
        });
        match decision {
            HookDecision::Allow => {}
            HookDecision::Tell(_) => passed = decision,
            refused => {
                desk.memory.refused_at = Some(root);
                desk.remember();
                return refused;
            }
        }
    }
    passed
}

/// Returns the working trees to judge, and their content when the task began: this one, and the others that the agent
/// changed. The one that was last refused comes first. If another one passed before it, its attempts would start again.
fn places(desk: &Desk) -> Vec<(PathBuf, Option<String>)> {
    let own = (desk.root.clone(), desk.memory.task_began_on.clone());
    let others = desk
        .memory
        .elsewhere
        .iter()
        .filter(|(root, _)| **root != desk.root)
        .map(|(root, began_on)| (root.clone(), began_on.clone()));
    let mut places: Vec<_> = std::iter::once(own).chain(others).collect();
    places.sort_by_key(|(root, _)| Some(root) != desk.memory.refused_at.as_ref());
    places
}

/// Returns the final message of this stop: Gemini CLI reports those of all stops of a turn together.
fn said_now(desk: &mut Desk, words: &str) -> String {
    if desk.client != Client::Gemini {
        return words.to_owned();
    }
    let new = desk.memory.newly_said(words).trim().to_owned();
    desk.remember();
    if new.is_empty() { words.to_owned() } else { new }
}

/// Returns the reason why the agent may wait for a command in the background, or `None` if it does not wait. A declared
/// check that is still running is such a reason: its client wakes the agent when it ends. A running server is not, unless
/// the agent says that it waits.
fn waits(desk: &Desk, stop: &Stopping) -> Option<String> {
    if stop.running == 0 || stop.how != StopKind::Completed {
        return None;
    }
    let check = stop.commands.iter().find(|line| background_checks::will_end_a_check(desk, line));
    let check = check.map(|command| say("stop", "check_runs", &context! { command => clean(command) }));
    let words = final_message::read(&stop.words);
    check.or_else(|| (words.announces && !words.claims).then(|| say("stop", "something_runs", &context! {})))
}

/// Returns `true` if, by the record, the agent waits for a command in the background, if its client does not report the
/// running commands: a declared check, or anything that the agent says it waits for.
fn still_runs(desk: &Desk, facts: &Facts, words: LastWords) -> bool {
    let check = facts.open_runs.iter().any(|open| open.state == OpenRunState::Running);
    desk.client != Client::Claude
        && (check || words.announces && facts.story.runs().any(|(_, ran)| ran.background && ran.ended.is_none()))
}

/// Lets the agent stop and shows the remarks to its person. The agent gets them with the next prompt.
fn remark(desk: &mut Desk, remarks: &[String]) -> HookDecision {
    if remarks.is_empty() {
        return HookDecision::Allow;
    }
    let said = say("stop", "remarks", &context! { remarks => remarks.join("; ") });
    desk.memory.remarks.clone_from(&said);
    desk.remember();
    HookDecision::Tell(said)
}

/// Returns the sentence about unproven work that a question releases, although nothing says that the work cannot go on
/// without an answer.
fn released_by_question(results: &[GateResult]) -> Option<String> {
    let open = feedback::open(results);
    let first: Vec<String> = open.into_iter().take(3).collect();
    (!first.is_empty()).then(|| say("stop", "question", &context! { open => first }))
}

/// Returns `true` if this stop is not judged, for any content.
fn left_alone(desk: &mut Desk, told: &HookEvent, stop: &Stopping) -> bool {
    let told_already = stop.message.is_some() && desk.memory.judged == stop.message;
    if told_already || stop.how != StopKind::Completed || desk.memory.is_planning(told.planning) {
        return true;
    }
    let just_now =
        |at: u64| millis_since_1970().saturating_sub(at) < COOLDOWN.as_millis().try_into().unwrap_or(u64::MAX);
    if desk.memory.aborted.is_some_and(just_now) {
        return true;
    }
    if stop.message.is_some() {
        desk.memory.judged.clone_from(&stop.message);
        desk.remember();
    }
    false
}

fn judged(desk: &mut Desk, stop: &Stopping, root: &Path, began_on: Option<&str>) -> Result<HookDecision, Failure> {
    // What was put aside is told with what is here.
    let aside = if root == desk.root { own_commits::put_aside(desk) } else { Vec::new() };
    let elsewhere = if root == desk.root { None } else { Some(desk.place_at(root)) };
    let place = match &elsewhere {
        None => &desk.place,
        Some(Some(place)) => place,
        // It was removed.
        Some(None) => return Ok(HookDecision::Allow),
    };
    let mut here = place.look()?;
    // Where nobody set up anything, nothing is asked but what an open contract promises.
    if here.policy.source == PolicySource::Defaults {
        if !place.has_open_contract()? {
            return Ok(HookDecision::Allow);
        }
        here.policy.gates.retain(|gate| gate.id == contracts::GATE);
    }
    let words = final_message::read(&stop.words);
    let content = print(&here.look.snapshot);
    let unchanged = began_on == Some(&*content);
    let waits = words.asks || words.waits;
    let finished = words.claims || !unchanged && final_message::asks_to_confirm(&stop.words);
    if !finished && waits && !unchanged {
        // A file that cannot be written now could not be written by a verdict either.
        let _ = verdict_files::outdate(&place.repo.gate_dir(), &place.session.id);
    }
    let mut facts = place.facts_here(&here, Moment::Stop, &place.session.id)?;
    if elsewhere.is_none() && own_commits::is_visit(desk, &here) {
        for subject in &mut facts.subjects {
            subject.changed = Some(Vec::new());
        }
    }
    let unproven = own_commits::unproven(place, &here, &aside)?;
    let holds = words.claims && !unproven.is_empty() && !final_message::puts_aside(&stop.words);
    let told: Vec<String> = if holds { Vec::new() } else { unproven.iter().map(Unproven::sentence).collect() };
    let names: Vec<String> = unproven.iter().map(|one| one.name.clone()).collect();
    if holds {
        for one in unproven {
            one.add_to(&mut facts);
        }
    }
    let with_told = |remarks: Vec<String>| -> Vec<String> { remarks.into_iter().chain(told).collect() };
    // Who asks is left alone, but for what the words themselves admit.
    if !finished && waits {
        let results = gates::judge(&here.policy, &facts);
        let mut remarks = feedback::remarks_on_words(&results);
        if !unchanged && !final_message::cannot_go_on(&stop.words) {
            remarks.extend(released_by_question(&results));
        }
        return Ok(remark(desk, &with_told(remarks)));
    }
    // What a session did not change is not its work, unless it says that the checks passed.
    let claims_proof = final_message::claims_proof(&stop.words);
    let untouched = desk.memory.began_on.as_ref() == Some(&content);
    let claims = claims_proof || !untouched && words.claims && !waits;
    let nothing_to_prove = !holds && unchanged && !claims;
    if nothing_to_prove || !finished && still_runs(desk, &facts, words) {
        let remarks = desk.memory.first_shown(feedback::remarks(&gates::judge(&here.policy, &facts)));
        return Ok(remark(desk, &with_told(remarks)));
    }
    if !holds && let Some(open) = failing_test::as_asked(&here.policy, &facts, &stop.words) {
        let note = say("stop", "failing_test", &context! { open });
        return Ok(remark(desk, &with_told(vec![note])));
    }
    if desk.client == Client::Opencode {
        desk.next_model = next_model(&facts, &mut desk.said);
    }
    let judgement = place.judge(&here.policy, &here.state, facts, Some(Uncommitted::Work(&here.look.snapshot)));
    let verdict = judgement.verdict;
    Ok(match verdict.outcome {
        // To push the agent for its words alone would be to judge by words.
        Outcome::Pass => {
            let mut remarks = feedback::remarks(&verdict.gates);
            remarks.extend(desk.memory.first_shown(feedback::remarks_on_tests(&verdict.gates)));
            remark(desk, &with_told(remarks))
        }
        // Attempts that are not counted would never end.
        _ if uncounted(&verdict) => {
            desk.said.push(say("stop", "uncounted", &context! {}));
            HookDecision::Allow
        }
        Outcome::Blocked | Outcome::CannotJudge => {
            let mut feedback = verdict.feedback;
            if elsewhere.is_some() {
                let root = root.display().to_string();
                feedback = say("stop", "elsewhere", &context! { root, feedback });
            }
            if holds {
                feedback = say("stop", "put_aside", &context! { names, feedback });
            }
            desk.memory.tell(&feedback);
            desk.remember();
            let prompt = Prompt { from: Speaker::Hook, text: clean(&feedback) };
            desk.record(None, Act::Prompt(prompt));
            HookDecision::Push(feedback)
        }
        Outcome::NeedsHuman => {
            let place = &desk.place;
            let payload = crate::engine::escalation_path(&place.repo.gate_dir(), &place.session.id);
            let (attempt, payload) = (verdict.attempt, payload.display().to_string());
            let ruled_out = verdict.notes.into_iter().filter(|note| note.kind == "ruled-out").map(|note| note.text);
            let ruled_out: Vec<String> = ruled_out.collect();
            let open = feedback::open(&verdict.gates);
            let next = verdict.next_actions.first();
            HookDecision::Release(say("stop", "released", &context! { attempt, payload, open, next, ruled_out }))
        }
    })
}

/// Returns the user's model for refused work of this kind. No model is asked for the kind, since a person waits.
fn next_model(facts: &Facts, said: &mut Vec<String>) -> Option<String> {
    let settings = UserSettings::read().map_err(|error| error.to_string());
    let of_work = |settings: UserSettings| match settings.routes {
        routes if routes.feedback.is_empty() => Ok(None),
        routes => routing::of_facts(facts, &routes).map(|route| route.feedback),
    };
    settings.and_then(of_work).unwrap_or_else(|error| {
        said.push(format!("gate: {error}"));
        None
    })
}

fn uncounted(verdict: &Verdict) -> bool {
    verdict.notes.iter().any(|note| note.kind == "journal-unwritable")
}

/// Returns the milliseconds since 1970. They decide no verdict, only for how long an agent is left alone after an
/// interruption.
/// Returns a short digest of the current content of a working tree.
pub(super) fn content(place: &Workplace) -> Option<String> {
    place.repo.snapshot().ok().map(|snapshot| print(&snapshot))
}

/// Returns a short digest of the content of a working tree.
fn print(snapshot: &Snapshot) -> String {
    let mut text = format!("{:?} {}", snapshot.head, snapshot.base);
    // Writing to a string cannot fail.
    for dirty in &snapshot.dirty {
        let _ = write!(text, "\0{:?} {:?}", dirty.path, dirty.now);
    }
    for path in &snapshot.opaque {
        let _ = write!(text, "\0{path:?}");
    }
    hex_digest(&[text.as_bytes()])[..32].to_owned()
}
