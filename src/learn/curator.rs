//! Proposes edits to the memory file from what the record shows. Each has evidence, and only a person says yes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::event::agent_work::{Act, Prompt, Speaker};
use crate::event::{Event, EventKind};
use crate::learn::memory_file::{self, MemoryChange};
use crate::learn::reflection::clean;
use crate::learn::reflection_store::Reflections;
use crate::learn::similarity;
use crate::learn::task_record::TaskRecord;

/// The largest number of proposals.
pub const MAX_PROPOSALS: usize = 5;
/// The number of tasks in which a command must have been needed, or a person must have said the same.
const TWICE: usize = 2;
/// The number of runs after which a command that never passed counts as one that always fails.
const MIN_FAILED_RUNS: usize = 3;
/// The longest words of a person that are quoted, in characters.
const MAX_QUOTED: usize = 150;

/// A proposed edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MemoryProposal {
    /// A name that stays the same as long as the proposal does.
    pub id: String,
    /// The reason.
    pub kind: ProposalKind,
    /// The rule that is added, or that is removed.
    pub text: String,
    /// The commits, and the lines of `gate log`, that show it.
    pub evidence: Vec<String>,
    /// The edit as a patch.
    pub patch: String,
    /// The edit.
    #[serde(skip)]
    pub change: MemoryChange,
}

/// The reasons for a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProposalKind {
    /// A rule names a path that a commit deleted.
    PathGone,
    /// A rule names a command that never passed.
    AlwaysFails,
    /// A command was needed more than once.
    Needed,
    /// A person corrected the same thing more than once.
    Corrected,
    /// A lesson was learned more than once.
    Learned,
}

/// What the proposals are made of.
pub struct CuratorSources<'s> {
    /// The name of the memory file.
    pub name: &'s std::path::Path,
    /// Its text.
    pub memory: &'s str,
    /// The events of the journal, in order.
    pub events: &'s [Event],
    /// The tasks in them.
    pub tasks: &'s [TaskRecord],
    /// The kept reflections.
    pub reflections: &'s Reflections,
    /// The rules that a person refused earlier.
    pub refused: &'s [String],
    /// Returns the commit that deleted a path that does not exist now.
    pub deleted: &'s dyn Fn(&str) -> Option<String>,
}

/// Returns the proposals, the best shown first: corrections of what is there, then additions.
pub fn propose(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let found = gone(sources).into_iter().chain(failing(sources)).chain(needed(sources)).chain(corrected(sources));
    let mut proposals: Vec<MemoryProposal> = Vec::new();
    for proposal in found.chain(learned(sources)) {
        let is_known = |text: &String| similarity::is_same(text, &proposal.text);
        let is_double = proposals.iter().any(|other| other.change == proposal.change || is_known(&other.text));
        if !is_double && !sources.refused.iter().any(is_known) {
            proposals.push(proposal);
        }
    }
    proposals.truncate(MAX_PROPOSALS);
    proposals
}

fn proposal(
    sources: &CuratorSources<'_>,
    kind: ProposalKind,
    text: &str,
    change: MemoryChange,
    evidence: Vec<String>,
) -> MemoryProposal {
    let id = hex_digest(&[format!("{kind:?}").as_bytes(), text.as_bytes()])[..8].to_owned();
    let patch = memory_file::patch(sources.name, sources.memory, &memory_file::changed(sources.memory, &change));
    MemoryProposal { id, kind, text: text.to_owned(), evidence, patch, change }
}

/// Returns the rules of the file: the lines of its lists.
fn rules<'s>(sources: &CuratorSources<'s>) -> impl Iterator<Item = (usize, &'s str)> {
    let lines = sources.memory.lines().enumerate();
    lines.filter(|(_, line)| memory_file::rule(line) != line.trim()).map(|(at, line)| (at, memory_file::rule(line)))
}

fn gone(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let of = |(at, rule)| {
        let mut names =
            memory_file::code(rule).filter(|code| !code.contains(char::is_whitespace) && code.contains(['/', '.']));
        let commit = names.find_map(|name| Some((name, (sources.deleted)(name)?)));
        let (name, commit) = commit?;
        let evidence = vec![format!("commit {commit} deleted {name}")];
        Some(proposal(sources, ProposalKind::PathGone, rule, MemoryChange::Remove(at), evidence))
    };
    rules(sources).filter_map(of).collect()
}

fn failing(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let mut runs: BTreeMap<&str, Vec<(&str, bool)>> = BTreeMap::new();
    for event in sources.events {
        if let EventKind::Run(run) = &event.kind {
            runs.entry(run.command.line.trim()).or_default().push((&event.id, run.ended.success()));
        }
    }
    let of = |(at, rule)| {
        let always = |code: &&str| {
            let runs = runs.get(code.trim());
            runs.is_some_and(|runs| runs.len() >= MIN_FAILED_RUNS && runs.iter().all(|(_, passed)| !passed))
        };
        let command = memory_file::code(rule).find(always)?;
        let failed = &runs[command.trim()];
        let evidence = failed.iter().rev().take(MIN_FAILED_RUNS).map(|(id, _)| format!("run {id}: `{command}` failed"));
        Some(proposal(sources, ProposalKind::AlwaysFails, rule, MemoryChange::Remove(at), evidence.collect()))
    };
    rules(sources).filter_map(of).collect()
}

fn addition(
    sources: &CuratorSources<'_>,
    kind: ProposalKind,
    text: &str,
    evidence: Vec<String>,
) -> Option<MemoryProposal> {
    (!memory_file::says(sources.memory, text))
        .then(|| proposal(sources, kind, text, MemoryChange::Add(text.to_owned()), evidence))
}

fn needed(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let mut cleared: BTreeMap<&str, Vec<(&str, &TaskRecord)>> = BTreeMap::new();
    for task in sources.tasks {
        for failure in &task.failures {
            let command = failure.cleared_by.as_deref().and_then(|by| by.strip_prefix('`')?.strip_suffix('`'));
            if let Some(command) = command {
                cleared.entry(command).or_default().push((&failure.gate, task));
            }
        }
    }
    let of = |(command, tasks): (&str, Vec<(&str, &TaskRecord)>)| {
        let ids: BTreeSet<String> = tasks.iter().map(|(_, task)| task.id()).collect();
        if ids.len() < TWICE || command.contains('`') {
            return None;
        }
        let text = format!("Run `{command}` before you call work done.");
        let evidence = tasks.iter().rev().take(3).map(|(gate, task)| {
            let (session, day) = (&task.session, task.ended.strftime("%Y-%m-%d"));
            format!("session {session}, {day}: {gate} failed, and `{command}` cleared it")
        });
        addition(sources, ProposalKind::Needed, &text, evidence.collect())
    };
    cleared.into_iter().filter_map(of).collect()
}

fn corrected(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for event in sources.events {
        let EventKind::Work(work) = &event.kind else { continue };
        let Act::Prompt(Prompt { from: Speaker::Person, text }) = &work.act else { continue };
        let text = clean(text);
        if !corrects(&text) || text.chars().count() > MAX_QUOTED {
            continue;
        }
        match said.iter_mut().find(|(other, _)| similarity::is_same(other, &text)) {
            Some((_, ids)) => ids.push(&event.id),
            None => said.push((text, vec![&event.id])),
        }
    }
    let of = |(text, ids): (String, Vec<&str>)| {
        let evidence: Vec<String> = ids.iter().map(|id| format!("prompt {id}")).collect();
        (ids.len() >= TWICE).then(|| addition(sources, ProposalKind::Corrected, &text, evidence)).flatten()
    };
    said.into_iter().filter_map(of).collect()
}

/// Returns `true` if words correct what was done before. It only decides what is proposed.
fn corrects(text: &str) -> bool {
    let text = text.to_lowercase();
    let begins =
        ["no,", "no ", "don't ", "do not ", "never ", "always ", "use ", "stop ", "please don't ", "please use "];
    begins.iter().any(|begin| text.starts_with(begin)) || text.contains(" instead of ")
}

fn learned(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let seen = sources.reflections.0.iter().filter(|one| one.seen as usize >= TWICE);
    let common = sources.reflections.common_lessons();
    let all = seen.chain(common.iter().map(|lesson| lesson.newest));
    let of = |one: &crate::learn::reflection::Reflection| {
        let text = one.lesson_learned.as_deref()?;
        let evidence = vec![format!("cycle {}, session {}: a lesson of role {}", one.cycle, one.session, one.role)];
        addition(sources, ProposalKind::Learned, text, evidence)
    };
    all.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::learn::reflection::Reflection;
    use crate::learn::reflection_store::tests::reflection;
    use crate::learn::task_record::tests::{event, judged, prompt};
    use crate::learn::task_record::{GateFailure, tasks};
    use crate::moment::Moment;

    const MEMORY: &str = "# Rules\n\n- Read `docs/old.md` first.\n- Keep `src/a.rs` small.\n- Be kind.\n";

    fn found(
        memory: &str,
        events: &[Event],
        tasks: &[TaskRecord],
        all: &Reflections,
        refused: &[String],
    ) -> Vec<MemoryProposal> {
        propose(&CuratorSources {
            name: Path::new("AGENTS.md"),
            memory,
            events,
            tasks,
            reflections: all,
            refused,
            deleted: &|path| (path == "docs/old.md").then(|| "abc1234".to_owned()),
        })
    }

    fn cleared(sessions: &[&str]) -> Vec<TaskRecord> {
        let of = |session: &&str| {
            let events = [event(0, session, prompt("x")), event(9, session, judged(Moment::Stop, &[], 0))];
            let mut task = tasks(&events).remove(0);
            let cleared_by = Some("`make gen`".to_owned());
            task.failures = vec![GateFailure { gate: "tests".to_owned(), times: 1, cleared_by, seconds: None }];
            task
        };
        sessions.iter().map(of).collect()
    }

    #[test]
    fn a_rule_whose_path_was_deleted_is_to_go_with_the_commit_as_evidence() {
        let proposals = found(MEMORY, &[], &[], &Reflections::default(), &[]);
        assert_eq!(proposals.len(), 1);
        assert_eq!((proposals[0].kind, proposals[0].change.clone()), (ProposalKind::PathGone, MemoryChange::Remove(2)));
        assert_eq!(proposals[0].evidence, ["commit abc1234 deleted docs/old.md"]);
        assert!(proposals[0].patch.contains("\n-- Read `docs/old.md` first.\n"), "{}", proposals[0].patch);
        assert!(found(MEMORY, &[], &[], &Reflections::default(), &["Read `docs/old.md` first.".to_owned()]).is_empty());
    }

    #[test]
    fn a_command_is_proposed_once_it_was_needed_twice() {
        let none = Reflections::default();
        assert!(found("", &[], &cleared(&["a"]), &none, &[]).is_empty());
        let proposals = found("", &[], &cleared(&["a", "b"]), &none, &[]);
        assert_eq!(proposals[0].text, "Run `make gen` before you call work done.");
        assert_eq!(proposals[0].evidence.len(), 2);
        assert!(found("- `make gen` first\n", &[], &cleared(&["a", "b"]), &none, &[]).is_empty(), "it is there");
    }

    #[test]
    fn a_correction_made_twice_and_a_lesson_learned_twice_are_proposed() {
        let events = [
            event(0, "a", prompt("Use pnpm instead of npm here")),
            event(1, "b", prompt("use pnpm instead of npm, here!")),
            event(2, "b", prompt("Add a parser")),
            event(3, "c", prompt("Add a parser")),
        ];
        let all = Reflections(vec![Reflection { seen: 2, ..reflection("a", "dev", "read the log first") }]);
        let proposals = found("", &events, &[], &all, &[]);
        let kinds: Vec<ProposalKind> = proposals.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [ProposalKind::Corrected, ProposalKind::Learned]);
        assert_eq!(proposals[0].evidence, ["prompt 0", "prompt 1"]);
    }

    #[test]
    fn there_are_at_most_five() {
        let of = |n: u32| Reflection { seen: 2, ..reflection(&n.to_string(), "dev", &format!("a{n} b{n} c{n}")) };
        let all = Reflections((0..9).map(of).collect());
        assert_eq!(found("", &[], &[], &all, &[]).len(), MAX_PROPOSALS);
    }
}
