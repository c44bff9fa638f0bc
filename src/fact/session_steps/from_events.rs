//! Makes steps from events: joins the reports of one tool call, and gives each step its content.

use std::collections::{HashMap, HashSet};
use std::mem::discriminant;

use super::command_run::CommandRun;
use super::content_tracking::Contents;
use super::{Deed, KnownRuns, MAX_STEPS, Step, Story, TouchedFile};
use crate::event::{Act, AgentWork, Event, EventKind, Run, ShellCommand};
use crate::foreign_text::shortened_in_bytes;
use crate::runner::Project;
use crate::timeline::Entry;

/// The maximum length of a text that is kept, in bytes.
const TEXT: usize = 4 * 1024;

pub(super) fn story(
    entries: &[Entry],
    session: Option<&str>,
    project: Project<'_>,
    mut known: Option<&mut KnownRuns>,
) -> Story {
    let own = |event: &Event| session.is_none() || event.session.as_deref() == session;
    let mut story = Story { session: session.map(str::to_owned), ..Story::default() };
    let Some(last) = entries.iter().rposition(|entry| own(&entry.event)) else { return story };
    let first = entries.iter().position(|entry| own(&entry.event)).unwrap_or(0);
    let between = |entry: &&Entry| {
        own(&entry.event) || (entry.event.session.is_none() && matches!(entry.event.kind, EventKind::Git(_)))
    };
    let mut told: Vec<&Entry> = entries[first..=last].iter().filter(between).collect();
    if told.len() > MAX_STEPS {
        told.drain(..told.len() - MAX_STEPS);
        story.cut = true;
    }
    let JoinedReports { acts, runs } = join(&told);
    let mut contents = Contents::new();
    for (at, (entry, work)) in told.iter().zip(acts).enumerate() {
        let before = contents.now();
        let (deed, before) = match (&entry.event.kind, &work) {
            (EventKind::Work(_), Some(work)) => match act(work, &mut contents, project, known.as_deref_mut()) {
                Some((Deed::Ran(mut ran), start)) => {
                    let tail = if let Act::Command(command) = &work.act { command.tail.as_str() } else { "" };
                    runs.iter().filter(|told| told.act == at).for_each(|told| ran.shown_by(told.run, tail, project));
                    (Deed::Ran(ran), start.unwrap_or(before))
                }
                Some((deed, start)) => (deed, start.unwrap_or(before)),
                None => continue,
            },
            (EventKind::Run(run), _) if runs.iter().any(|told| told.entry == at) => {
                // What it left may be known only now: it ran in the background.
                contents.seen(&run.end.tree);
                continue;
            }
            (EventKind::Run(run), _) => {
                contents.seen(&run.start.tree);
                let start = contents.now();
                contents.seen(&run.end.tree);
                (Deed::Ran(Box::new(CommandRun::observed(run, &run.tail, project))), start)
            }
            (EventKind::Git(event), _) => {
                contents.moved(event);
                (Deed::Git { event: event.clone(), unjudged: entry.unjudged }, before)
            }
            (EventKind::Judged(judged), _) => {
                let (moment, blocked, failing) = (judged.moment, judged.blocked, judged.failing.clone());
                (Deed::Judged { moment, blocked, failing }, before)
            }
            _ => continue,
        };
        story.steps.push(Step {
            id: entry.event.id.clone(),
            grade: entry.event.origin.grade,
            actor: work.as_ref().and_then(|work| work.actor.clone()),
            call: work.and_then(|work| work.call),
            before,
            content: contents.now(),
            deed,
        });
    }
    if let Some(known) = known {
        known.forget_unused();
    }
    for step in &mut story.steps {
        step.before = contents.final_name(&step.before);
        step.content = contents.final_name(&step.content);
    }
    story
}

/// Returns the action of an act, and the content before it if a snapshot was taken. Returns `None` if it is not a step.
fn act(
    work: &AgentWork,
    contents: &mut Contents,
    project: Project<'_>,
    known: Option<&mut KnownRuns>,
) -> Option<(Deed, Option<super::ContentId>)> {
    let text = |text: &str| shortened_in_bytes(text.to_owned(), TEXT);
    let deed = match &work.act {
        Act::Session(phase) => Deed::Session(*phase),
        Act::Prompt(prompt) => Deed::Prompted { from: prompt.from, text: text(&prompt.text) },
        Act::Said(said) => Deed::Said(text(said)),
        Act::Asked(asked) => Deed::Asked(text(asked)),
        Act::Planned(items) => Deed::Planned(items.clone()),
        Act::Command(command) => {
            let (ran, start) = run(command, contents, project, known);
            return Some((Deed::Ran(Box::new(ran)), start));
        }
        Act::CommandEnded(_) => return None,
        Act::Edited(edits) => {
            contents.edited(edits);
            let touched = edits.iter().map(|edit| TouchedFile {
                path: edit.path.clone(),
                how: edit.how,
                removed: text(&edit.removed),
                added: text(&edit.added),
            });
            Deed::Edited(touched.collect())
        }
        Act::Used(used) => {
            Deed::Used { tool: used.tool.clone(), reads: used.reads, target: text(&used.target), failed: used.failed }
        }
        Act::Denied(denial) => Deed::Denied(denial.clone()),
        Act::SubagentStarted(id) => Deed::Subagent { id: id.clone(), started: true },
        Act::SubagentEnded(id) => Deed::Subagent { id: id.clone(), started: false },
        Act::Stopped(stop) => Deed::Stopped { how: stop.how, text: text(&stop.text), running: stop.running },
    };
    Some((deed, None))
}

fn run(
    command: &ShellCommand,
    contents: &mut Contents,
    project: Project<'_>,
    known: Option<&mut KnownRuns>,
) -> (CommandRun, Option<super::ContentId>) {
    let read =
        || CommandRun::of(&command.line, command.ended, &command.tail, command.background, command.shell, project);
    let ran = if let Some(known) = known { known.of(command, read) } else { read() };
    if let Some(start) = &command.start {
        contents.seen(&start.tree);
    }
    let start = contents.now();
    if let Some(end) = &command.end {
        contents.seen(&end.tree);
    } else if ran.edits {
        // A check whose output goes into a file leaves the work as it is.
        let kept_output = |simple: &&super::SimpleRun| ran.is_check() && !simple.writes.is_empty();
        let edits: Vec<_> = ran.commands.iter().filter(|simple| simple.edits && !kept_output(simple)).collect();
        if edits.is_empty() && !ran.commands.iter().any(|simple| simple.edits) {
            contents.unknown();
        }
        for simple in edits {
            contents.ran(simple, command.dir.as_ref());
        }
    }
    (ran, Some(start))
}

/// The reports of each action, joined.
struct JoinedReports<'a> {
    /// The acts, one for each entry, or `None` if the entry has none or another entry reports it.
    acts: Vec<Option<AgentWork>>,
    /// The runs that are tool calls and that acts report, too.
    runs: Vec<ToldRun<'a>>,
}

/// A run that is a tool call and that an act reports, too: the indexes of both.
struct ToldRun<'a> {
    run: &'a Run,
    entry: usize,
    act: usize,
}

fn join<'a>(entries: &[&'a Entry]) -> JoinedReports<'a> {
    let mut joined: Vec<Option<AgentWork>> = Vec::with_capacity(entries.len());
    let mut runs = Vec::new();
    let mut calls: HashMap<(String, &'static str), usize> = HashMap::new();
    let mut words: HashSet<(&'static str, String)> = HashSet::new();
    let mut reporters: HashMap<(&'static str, String), String> = HashMap::new();
    for (number, entry) in entries.iter().enumerate() {
        if let EventKind::Run(run) = &entry.event.kind
            && let Some(at) = run.call.as_ref().and_then(|call| calls.get(&(call.clone(), COMMAND)))
        {
            runs.push(ToldRun { run, entry: number, act: *at });
        }
        let EventKind::Work(work) = &entry.event.kind else {
            joined.push(None);
            continue;
        };
        let work = (**work).clone();
        // Words have no call: a log repeats those that a hook told already.
        if let Some(said) = said(&work.act) {
            let by = format!("{} {}", entry.event.origin.by, entry.event.origin.grade.as_str());
            let known = reporters.entry(said.clone()).or_insert_with(|| by.clone());
            if !words.insert(said) && *known != by {
                joined.push(None);
                continue;
            }
        }
        let place = work.call.clone().and_then(|call| Some((call, family(&work.act)?)));
        let Some(place) = place else {
            joined.push(Some(work));
            continue;
        };
        // An id that is made of what the call was is the same at the next such call, which is another one.
        let same = |first: &AgentWork| !first.has_made_up_call() || discriminant(&first.act) != discriminant(&work.act);
        let known = calls.get(&place).copied().filter(|at| joined[*at].as_ref().is_some_and(same));
        match known {
            Some(at) => {
                if let Some(first) = &mut joined[at] {
                    absorb(first, work);
                }
                joined.push(None);
            }
            None => {
                calls.insert(place, joined.len());
                joined.push(Some(work));
            }
        }
    }
    JoinedReports { acts: joined, runs }
}

/// The family of the reports of a command.
const COMMAND: &str = "command";

/// Returns the family of an act. Acts of one call and one family are reports of the same action.
fn family(act: &Act) -> Option<&'static str> {
    Some(match act {
        Act::Command(_) | Act::CommandEnded(_) | Act::Denied(_) => COMMAND,
        Act::Edited(_) => "edit",
        Act::Used(_) => "use",
        Act::Planned(_) => "plan",
        _ => return None,
    })
}

fn said(act: &Act) -> Option<(&'static str, String)> {
    Some(match act {
        Act::Prompt(prompt) => ("prompt", prompt.text.trim().to_owned()),
        Act::Said(text) => ("said", text.trim().to_owned()),
        Act::Asked(text) => ("asked", text.trim().to_owned()),
        Act::Stopped(stop) => ("stopped", stop.text.trim().to_owned()),
        _ => return None,
    })
}

/// Adds another report of the same call to the first.
fn absorb(first: &mut AgentWork, other: AgentWork) {
    first.head = first.head.take().or(other.head);
    match (&mut first.act, other.act) {
        (Act::Command(known), Act::Command(more)) => {
            known.ended = known.ended.or(more.ended);
            if more.tail.len() > known.tail.len() {
                known.tail = more.tail;
            }
            known.background |= more.background;
            known.start = known.start.take().or(more.start);
            known.end = known.end.take().or(more.end);
            known.dir = known.dir.take().or(more.dir);
        }
        (Act::Command(known), Act::CommandEnded(end)) => {
            known.ended = end.ended.or(known.ended);
            if !end.tail.is_empty() {
                known.tail = end.tail;
            }
            // What is known now is how it ended.
            known.background &= known.ended.is_none();
        }
        (known @ Act::Command(_), denied @ Act::Denied(_)) => *known = denied,
        (Act::Edited(known), Act::Edited(more)) => {
            for edit in more {
                match known.iter_mut().find(|own| own.path == edit.path) {
                    Some(own) if own.removed.is_empty() && own.added.is_empty() => *own = edit,
                    Some(_) => {}
                    None => known.push(edit),
                }
            }
        }
        (Act::Used(known), Act::Used(more)) => known.failed |= more.failed,
        _ => {}
    }
}
