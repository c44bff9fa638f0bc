//! The timeline on a terminal, one line an event, and as JSON lines.

use std::fmt::Write as _;

use anstyle::Style;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::event::{
    AcceptedPlan, Act, AgentWork, Ended, EventKind, GitEvent, Judged, ModelCall, Origin, RedGreenProof, Rescue, Run,
    SessionSettings, TestResult, TestResults, Trial,
};
use crate::foreign_text::shortened;
use crate::journal;
use crate::oid::Oid;
use crate::plural::counted;
use crate::render::ui::{BAD, DIM, GOOD, WARN};
use crate::timeline::Entry;

/// The maximum length of a foreign text in a line, in characters.
const MAX_TEXT: usize = 100;

/// Returns one line for people: the time, the reporter, the event, its result, and its content.
pub fn human(entry: &Entry) -> String {
    let event = &entry.event;
    let mut who = format!("{} {}", event.origin.grade.as_str(), event.origin.by);
    for other in &entry.also {
        let _ = write!(who, "+{}", other.by);
    }
    let (style, what, content) = tell(&event.kind);
    let at = event.at.strftime("%Y-%m-%d %H:%M:%SZ");
    let mut line =
        format!("{DIM}{at}{DIM:#}  {:<14}  {style}{}{style:#}", shortened(&who, MAX_TEXT), shortened(&what, MAX_TEXT));
    if !content.is_empty() {
        let _ = write!(line, "  {DIM}{content}{DIM:#}");
    }
    if entry.unjudged {
        let _ = write!(line, "  {BAD}without a verdict{BAD:#}");
    }
    line
}

fn tell(kind: &EventKind) -> (Style, String, String) {
    match kind {
        EventKind::RunStarted(run) => {
            (WARN, format!("run {}: started; its end is not recorded", name(&run.command)), String::new())
        }
        EventKind::Run(run) => tell_run(run),
        EventKind::Tests(tests) => tell_tests(tests),
        EventKind::Judged(judged) => tell_judged(judged),
        EventKind::Waived(waived) => (
            WARN,
            format!("waived {} by {}: {}", waived.gate, waived.by, waived.reason),
            waived.tree.short().to_owned(),
        ),
        EventKind::Appealed(appealed) => {
            let what = if appealed.blocked { "refused" } else { "passed" };
            (WARN, format!("appealed against verdict {}, which {what}", appealed.verdict), String::new())
        }
        EventKind::Git(movement) => tell_movement(movement),
        EventKind::Work(work) => tell_work(work),
        EventKind::Rescue(rescue) => tell_rescue(rescue),
        EventKind::Trial(trial) => tell_trial(trial),
        EventKind::Proof(proof) => tell_proof(proof),
        EventKind::Posted(posted) => {
            let role = posted.role.as_ref().map(|role| format!(" as {role}")).unwrap_or_default();
            let what = format!("board {} version {} by {}{role}", posted.place, posted.version, posted.author);
            (GOOD, what, String::new())
        }
        EventKind::Plan(plan) => (GOOD, tell_plan(plan), String::new()),
        EventKind::Task(task) => (Style::new(), format!("task: {}", task.lines().join("; ")), String::new()),
        EventKind::Settings(settings) => (Style::new(), tell_settings(settings), String::new()),
        EventKind::Model(call) => tell_model(call),
        EventKind::Damage(damage) => (BAD, format!("damage: {}", damage.what), String::new()),
        EventKind::Repaired(repaired) => {
            let faults = repaired.faults;
            let noun = if faults == 1 { "fault" } else { "faults" };
            (WARN, format!("the journal: {faults} {noun} acknowledged"), String::new())
        }
        EventKind::Head(head) => {
            (DIM, format!("the journal: {} older lines became {}", head.lines, head.carried.0), String::new())
        }
        EventKind::Pruned(pruned) => {
            let entries = counted(pruned.entries, "old entry");
            (DIM, format!("the journal: {entries} removed, which prove nothing any more"), String::new())
        }
        EventKind::Unknown { kind, .. } => (DIM, format!("{kind} (of a later version)"), String::new()),
    }
}

fn tell_plan(plan: &AcceptedPlan) -> String {
    let tasks: Vec<String> = plan.tasks.iter().map(|task| format!("{}. {}", task.number, task.text)).collect();
    let how = if plan.together { "all together" } else { "in this order" };
    format!("plan accepted, {how}: {}", tasks.join("; "))
}

fn tell_settings(settings: &SessionSettings) -> String {
    let mut what = "session settings:".to_owned();
    if let Some(role) = &settings.role {
        let _ = write!(what, " role {role}");
    }
    for (name, value) in &settings.strategies {
        let _ = write!(what, " {name}={value}");
    }
    what
}

fn tell_model(call: &ModelCall) -> (Style, String, String) {
    let tokens = call.input_tokens.saturating_add(call.output_tokens);
    let cost = format!("{tokens} tokens, {}.{} s", call.milliseconds / 1000, call.milliseconds % 1000 / 100);
    let what = format!("asked {} ({}; {cost})", call.name, call.purpose.as_str());
    let prompt = call.prompt[..call.prompt.floor_char_boundary(12)].to_owned();
    match &call.failure {
        None => (Style::new(), what, prompt),
        Some(why) => (WARN, format!("{what}: {why}"), prompt),
    }
}

fn name(command: &crate::event::CommandRef) -> &str {
    command.name.as_deref().unwrap_or(&command.line)
}

fn tell_run(run: &Run) -> (Style, String, String) {
    let (style, end) = match run.ended {
        Ended::Exited(0) if let Some(why) = &run.masked => (WARN, format!("proves nothing, {why}")),
        Ended::Exited(0) => (GOOD, "passed".to_owned()),
        Ended::Exited(status) => (BAD, format!("exit status {status}")),
        Ended::Signalled(signal) => (BAD, format!("killed by signal {signal}")),
        Ended::NotStarted => (BAD, "could not be started".to_owned()),
    };
    let mut what = format!("run {}: {end}", name(&run.command));
    if let Some(report) = &run.report {
        let _ = write!(what, " ({} passed, {} failed, {} skipped)", report.passed, report.failed, report.skipped);
    }
    let _ = write!(what, " in {}.{} s", run.millis / 1000, run.millis % 1000 / 100);
    let (start, end) = (&run.start.tree, &run.end.tree);
    let content =
        if start == end { start.short().to_owned() } else { format!("{} → {}", start.short(), end.short()) };
    (style, what, content)
}

/// The largest number of names in a line.
const MAX_NAMES: usize = 3;

fn tell_tests(tests: &TestResults) -> (Style, String, String) {
    let names = |names: Vec<&str>| {
        let more = names.len().saturating_sub(MAX_NAMES);
        let shown = names.into_iter().take(MAX_NAMES).collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let mut parts = Vec::new();
    if !tests.failed.is_empty() {
        parts.push(format!("failed: {}", names(tests.failed.iter().map(String::as_str).collect())));
    }
    for (result, what) in [
        (TestResult::Passed, "failed before, passed now"),
        (TestResult::Skipped, "failed before, skipped now"),
        (TestResult::ExpectedFailure, "failed before, expected to fail now"),
        (TestResult::Missing, "failed before, did not run now"),
    ] {
        let those: Vec<&str> =
            tests.earlier.iter().filter(|one| one.result == result).map(|one| one.test.as_str()).collect();
        if !those.is_empty() {
            parts.push(format!("{what}: {}", names(those)));
        }
    }
    let style = if tests.failed.is_empty() { Style::new() } else { BAD };
    (style, format!("tests {}", parts.join("; ")), tests.tree.short().to_owned())
}

fn tell_judged(judged: &Judged) -> (Style, String, String) {
    let gates = |blocks| {
        let names = judged.failing.iter().filter(|failing| failing.blocks == blocks).map(|failing| &*failing.gate);
        names.collect::<Vec<_>>().join(", ")
    };
    let (style, mut what) = if judged.blocked {
        let attempt = if judged.attempt > 0 { format!(", attempt {}", judged.attempt) } else { String::new() };
        (BAD, format!("{}: blocked by {}{attempt}", judged.moment, gates(true)))
    } else {
        (GOOD, format!("{}: let through", judged.moment))
    };
    let quiet = gates(false);
    if !quiet.is_empty() {
        let _ = write!(what, " (failing without blocking: {quiet})");
    }
    let trees = judged.trees.iter().map(Oid::short);
    let verdict = std::iter::once(judged.verdict.as_str()).filter(|id| !id.is_empty());
    (style, what, trees.chain(verdict).collect::<Vec<_>>().join(" "))
}

fn tell_rescue(rescue: &Rescue) -> (Style, String, String) {
    match rescue {
        Rescue::HandedOver(handed) => (
            WARN,
            format!("handed over as {}, rescue attempt {}", handed.id, handed.attempt),
            handed.tree.as_ref().map(|tree| tree.short().to_owned()).unwrap_or_default(),
        ),
        Rescue::Replied(reply) => {
            (Style::new(), format!("reply to {}: {} {}", reply.handoff, reply.output, reply.hypothesis), String::new())
        }
        Rescue::Withdrawn(it) => (WARN, format!("handoff {} reached nobody", it.handoff), String::new()),
        Rescue::GivenUp(end) => (BAD, format!("rescue given up at attempt {}", end.attempt), String::new()),
    }
}

fn tell_trial(trial: &Trial) -> (Style, String, String) {
    let how = match trial.ended {
        Ended::Exited(status) => format!("status {status}"),
        Ended::Signalled(signal) => format!("killed by signal {signal}"),
        Ended::NotStarted => "it could not be started".to_owned(),
    };
    let what = format!("tried on a clean checkout: {}: {how}", trial.line);
    (Style::new(), what, trial.tree.short().to_owned())
}

fn tell_proof(proof: &RedGreenProof) -> (Style, String, String) {
    let results = &proof.results;
    let style = if results.proven.is_empty() || !results.failing.is_empty() { BAD } else { GOOD };
    let (shown, all) = (results.proven.len(), results.lists().iter().map(|list| list.len()).sum::<usize>());
    let of = counted(all, "new or changed test");
    let what = format!("prove {}: of {of}, {shown} failed without the change and passed with it", name(&proof.command));
    (style, what, proof.tree.short().to_owned())
}

fn tell_work(work: &AgentWork) -> (Style, String, String) {
    let plain = Style::new();
    let (style, mut what) = match &work.act {
        Act::Session(phase) => (DIM, format!("session {}", phase.as_str())),
        Act::Prompt(prompt) => (plain, format!("{}: {}", format!("{:?}", prompt.from).to_lowercase(), prompt.text)),
        Act::Said(text) => (DIM, format!("said: {text}")),
        Act::Asked(text) => (plain, format!("asked: {text}")),
        Act::Planned(items) => {
            (DIM, format!("plan: {} of {} done", items.iter().filter(|item| item.done).count(), items.len()))
        }
        Act::Command(command) => match command.ended {
            Some(Ended::Exited(0)) => (GOOD, format!("$ {}", command.line)),
            Some(Ended::Exited(status)) => (BAD, format!("$ {}: exit status {status}", command.line)),
            Some(Ended::Signalled(signal)) => (BAD, format!("$ {}: killed by signal {signal}", command.line)),
            Some(Ended::NotStarted) => (BAD, format!("$ {}: could not be started", command.line)),
            None => (WARN, format!("$ {}: no status recorded", command.line)),
        },
        Act::CommandEnded(end) => match end.ended {
            Some(ended) if ended.success() => (GOOD, "a command in the background passed".to_owned()),
            Some(_) => (BAD, "a command in the background failed".to_owned()),
            None => (WARN, "a command in the background ended".to_owned()),
        },
        Act::Edited(edits) => {
            let paths: Vec<_> = edits.iter().map(|edit| edit.path.to_string()).collect();
            (plain, format!("edited {}", paths.join(", ")))
        }
        Act::Used(tool) => (DIM, format!("{} {}", tool.tool, tool.target)),
        Act::Denied(denial) => (WARN, format!("refused {}: {}", denial.what, denial.reason)),
        Act::SubagentStarted(id) => (DIM, format!("sub-agent {id} started")),
        Act::SubagentEnded(id) => (DIM, format!("sub-agent {id} ended")),
        Act::Stopped(stop) => {
            let unjudged = stop.left_alone.as_ref().map_or_else(String::new, |why| format!(" (not judged: {why})"));
            (plain, format!("stopped: {}{unjudged}", stop.text))
        }
    };
    if let Some(actor) = &work.actor {
        let _ = write!(what, " (sub-agent {actor})");
    }
    (style, what, String::new())
}

fn tell_movement(movement: &GitEvent) -> (Style, String, String) {
    let reference = ["refs/heads/", "refs/remotes/"]
        .iter()
        .find_map(|prefix| movement.reference.strip_prefix(prefix))
        .unwrap_or(&movement.reference);
    let rest = movement.message.strip_prefix(&movement.action).unwrap_or(&movement.message);
    let rest = rest.trim_start_matches([':', ' ']);
    let mut what = format!("{} {reference}", movement.action);
    if !rest.is_empty() {
        let _ = write!(what, ": {rest}");
    }
    let short = |oid: &Option<Oid>| oid.as_ref().map(|oid| oid.short().to_owned());
    let content = match (short(&movement.old), short(&movement.new)) {
        (Some(old), Some(new)) if old != new => format!("{old} → {new}"),
        (_, Some(new)) => new,
        (Some(old), None) => format!("{old} → deleted"),
        (None, None) => String::new(),
    };
    (Style::new(), what, content)
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Started<'a> {
    id: &'a str,
    at: Timestamp,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TimelineLine<'a> {
    schema_version: u32,
    id: &'a str,
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    by: &'a str,
    grade: &'a str,
    #[serde(skip_serializing_if = "<[Origin]>::is_empty")]
    also: &'a [Origin],
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<Started<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unjudged: bool,
    #[cfg_attr(test, schemars(with = "serde_json::Value"))]
    data: Box<RawValue>,
}

/// Returns one line of JSON: `schema_version, id, at, session?, by, grade, also?, kind, started?, unjudged?, data`, as
/// in the journal.
pub fn json(entry: &Entry) -> serde_json::Result<String> {
    let event = &entry.event;
    serde_json::to_string(&TimelineLine {
        schema_version: 1,
        id: &event.id,
        at: event.at,
        session: event.session.as_deref(),
        by: &event.origin.by,
        grade: event.origin.grade.as_str(),
        also: &entry.also,
        kind: event.kind.as_str(),
        started: entry.started.as_ref().map(|(id, at)| Started { id, at: *at }),
        unjudged: entry.unjudged,
        data: journal::data(&event.kind)?,
    })
}
