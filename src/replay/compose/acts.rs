//! The acts of a timeline, as the events of a case.

use serde_json::{Value, json};

use super::{CaseEnd, CaseWriter, name};
use crate::event::{Act, AgentWork, EditKind, Ended, Event, EventKind, Grade, Run, ShellCommand, Speaker, StopKind};
use crate::git::GitError;
use crate::oid::Oid;
use crate::replay::turn_end;
use crate::repo_path::RepoPath;
use crate::source::sessions::is_absolute;
use crate::timeline::Entry;

/// A command line, from any reporter.
struct RanLine<'a> {
    line: &'a str,
    dir: Option<&'a RepoPath>,
    ended: Option<Ended>,
    tail: &'a str,
    start: Option<&'a Oid>,
    end: Option<&'a Oid>,
    head: Option<&'a Oid>,
    grade: Grade,
    agent: Option<&'a str>,
}

impl CaseWriter<'_> {
    pub(super) fn entry(&mut self, index: usize, event: &Event) -> Result<(), GitError> {
        match &event.kind {
            EventKind::Run(run) if event.origin.grade == Grade::Observed || !self.is_told(index, run) => {
                let told = self.record.entries[..index].iter().rev().find_map(|entry| told_output(&entry.event, run));
                let tail = run.output(told).to_owned();
                self.run(run, &tail, event.origin.grade)
            }
            EventKind::Git(movement) => {
                let made = self.record.commits.iter().position(|commit| commit.id == movement.new);
                made.map_or(Ok(()), |at| self.commits_up_to(at + 1))
            }
            EventKind::Work(work) => self.work(index, work, event.origin.grade),
            _ => Ok(()),
        }
    }

    /// Returns `true` if a run is that of a command line which is recorded, too.
    fn is_told(&self, index: usize, run: &Run) -> bool {
        self.record.entries[..index].iter().rev().any(|entry| match &entry.event.kind {
            EventKind::Work(work) => match &work.act {
                Act::Command(command) => command.start.as_ref() == Some(&run.start),
                _ => false,
            },
            _ => false,
        })
    }

    fn run(&mut self, run: &Run, tail: &str, grade: Grade) -> Result<(), GitError> {
        self.command(&RanLine {
            line: &run.command.line,
            dir: Some(&run.command.dir),
            ended: Some(run.ended),
            tail,
            start: Some(&run.start.tree),
            end: Some(&run.end.tree),
            head: run.start.head.as_ref(),
            grade,
            agent: None,
        })
        .map(drop)
    }

    fn work(&mut self, index: usize, work: &AgentWork, grade: Grade) -> Result<(), GitError> {
        let text = |text: &str| json!({"text": self.neutral.text(text)});
        match &work.act {
            Act::Prompt(prompt) if prompt.from == Speaker::Person && work.actor.is_none() => {
                let said = text(&prompt.text);
                self.push("prompt", said);
            }
            Act::Said(said) if work.actor.is_none() => {
                let said = text(said);
                self.push("say", said);
            }
            Act::Asked(asked) => {
                let asked = text(asked);
                self.push("ask_user", asked);
            }
            Act::Planned(items) => {
                let items: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
                let plan = text(&items.join("\n"));
                self.push("plan_update", plan);
            }
            Act::Command(command) => self.shell(index, work, command, grade)?,
            Act::CommandEnded(end) => {
                let call = work.call.as_ref().and_then(|call| self.earlier.calls.get(call)).copied();
                if let Some(for_seq) = call {
                    let output = self.neutral.text(&end.tail);
                    self.push(
                        "cmd_result",
                        json!({"for_seq": for_seq, "exit": end.ended.map(status), "output": output}),
                    );
                }
            }
            Act::Edited(edits) => {
                for edit in edits {
                    let path = self.neutral.text(&edit.path.to_string());
                    // A note of the agent's own, or another working tree, is not content of the repository.
                    if is_outside(&edit.path) {
                        self.push("tool", json!({"tool": "Edit", "arg": path}));
                        continue;
                    }
                    let deleted = edit.how == EditKind::Deleted;
                    // What it holds is seen at the next content that was kept.
                    let content = self.next_tree(index).filter(|_| !deleted);
                    let content = content.map(|tree| self.text_at(&tree, &edit.path)).transpose()?.flatten();
                    self.push(
                        if deleted { "delete" } else { "edit" },
                        json!({"path": path, "content": content, "via": "Edit"}),
                    );
                }
            }
            Act::Used(used) => {
                let target = self.neutral.text(&used.target);
                self.push("tool", json!({"tool": used.tool, "arg": target}));
            }
            Act::Denied(denial) => {
                let (what, why) = (self.neutral.text(&denial.what), self.neutral.text(&denial.reason));
                self.push("cmd", json!({"command": what, "status": "not_executed", "output": why}));
            }
            Act::Session(crate::event::agent_work::Phase::Compacted) => {
                self.push("compaction", json!({}));
            }
            Act::Stopped(stop) if work.actor.is_none() && stop.how == StopKind::Completed => {
                // The last one is the end of the case.
                if self.record.entries[index + 1..].iter().any(is_stop)
                    || !matches!(self.record.end, CaseEnd::Stop { .. })
                {
                    let said = text(&stop.text);
                    self.push("stop", said);
                }
            }
            Act::Prompt(_)
            | Act::Said(_)
            | Act::Session(_)
            | Act::SubagentStarted(_)
            | Act::SubagentEnded(_)
            | Act::Stopped(_) => {}
        }
        Ok(())
    }

    /// Adds a command line of the agent's own shell. Its end may have become known later.
    fn shell(&mut self, index: usize, work: &AgentWork, command: &ShellCommand, grade: Grade) -> Result<(), GitError> {
        let later = || {
            self.record.entries[index + 1..].iter().find_map(|entry| match &entry.event.kind {
                EventKind::Work(other) if other.call.is_some() && other.call == work.call => match &other.act {
                    Act::CommandEnded(end) => Some(end.ended),
                    _ => None,
                },
                _ => None,
            })
        };
        let ended = command.ended.or_else(|| if command.background { None } else { later().flatten() });
        let seq = self.command(&RanLine {
            line: &command.line,
            dir: command.dir.as_ref(),
            ended,
            tail: &command.tail,
            start: command.start.as_ref().map(|start| &start.tree),
            end: command.end.as_ref().map(|end| &end.tree),
            head: work.head.as_ref(),
            grade,
            agent: work.actor.as_deref(),
        })?;
        if let (Some(call), true) = (&work.call, command.background) {
            self.earlier.calls.insert(call.clone(), seq);
            if let Some(fields) = self.events.last_mut().and_then(Value::as_object_mut) {
                fields.insert("background".to_owned(), true.into());
            }
        }
        Ok(())
    }

    fn command(&mut self, ran: &RanLine<'_>) -> Result<u64, GitError> {
        if let Some(start) = ran.start {
            self.go_to(start)?;
        }
        let dir = ran.dir.map(ToString::to_string);
        let event = json!({
            // From somewhere else the root is one step up, so that its paths are not taken for those of that place.
            "command": self.neutral.line(ran.line, dir.as_deref().unwrap_or("elsewhere")),
            "cwd": dir.map_or_else(|| "/elsewhere".to_owned(), |dir| if dir.is_empty() { ".".to_owned() } else { dir }),
            "exit": ran.ended.map(status),
            "output": self.neutral.text(ran.tail),
            "wt": ran.start.map(name),
            "head": ran.head.map(name),
            "grade": (ran.grade != Grade::Hooked).then_some(ran.grade),
            "agent_id": ran.agent,
        });
        let (Some(start), Some(end)) = (ran.start, ran.end) else { return Ok(self.push("cmd", event)) };
        if start == end {
            return Ok(self.push("cmd", event));
        }
        // Files changed while it ran.
        let (exit, output) = (event["exit"].clone(), event["output"].clone());
        let mut open = event;
        open["exit"] = Value::Null;
        open["output"] = Value::Null;
        open["background"] = true.into();
        let seq = self.push("cmd", open);
        self.go_to(end)?;
        self.push("cmd_result", json!({"for_seq": seq, "exit": exit, "output": output}));
        Ok(seq)
    }
}

/// Returns the end of the output of a run, if an event is that of its call.
fn told_output<'a>(event: &'a Event, run: &Run) -> Option<&'a str> {
    let EventKind::Work(work) = &event.kind else { return None };
    if run.call.is_none() || work.call != run.call {
        return None;
    }
    match &work.act {
        Act::Command(command) => Some(command.tail.as_str()),
        Act::CommandEnded(end) => Some(end.tail.as_str()),
        _ => None,
    }
    .filter(|tail| !tail.is_empty())
}

fn is_stop(entry: &Entry) -> bool {
    turn_end::is_stop(&entry.event)
}

/// Whether a path that was told from the root lies outside of it, on whatever system.
fn is_outside(path: &RepoPath) -> bool {
    let path = path.to_string();
    is_absolute(&path) || path.starts_with("~/") || path.starts_with("../")
}

/// Returns a status as a shell gives it.
fn status(ended: Ended) -> i32 {
    match ended {
        Ended::Exited(status) => status,
        Ended::Signalled(signal) => 128 + signal,
        Ended::NotStarted => 127,
    }
}
