//! Proposes edits to the memory file from what the record shows. Each has evidence, and only a person says yes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::event::agent_work::Speaker;
use crate::fact::session_steps::{Deed, Story};
use crate::git::PathFate;
use crate::learn::memory_file::{self, MemoryChange};
use crate::learn::reflection::clean;
use crate::learn::reflection_store::Reflections;
use crate::learn::similarity;
use crate::learn::task_record::TaskRecord;
use crate::repo_path::RepoPath;

mod checks;
pub mod citable_evidence;
mod mentions;
mod missing_commands;
mod paths;
mod plain_command;
mod seen_runs;
pub mod suggested;

/// The largest number of proposals, and of those about paths of the same fate.
pub const MAX_PROPOSALS: usize = 5;
const MAX_PATHS: usize = 3;
/// The number of tasks in which a command must have been needed, or a person must have said the same.
const TWICE: usize = 2;
/// The number of runs after which a rule with a command that does not exist is to go.
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
    /// The rule that is added, or that is changed or removed.
    pub text: String,
    /// The commits, and the lines of `gate log`, that show it.
    pub evidence: Vec<String>,
    /// The reason in the words of the model that suggests it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
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
    /// A rule names a path that a commit moved.
    PathMoved,
    /// A rule names a command that does not exist.
    AlwaysFails,
    /// A command does not exist, and another one does the same.
    Missing,
    /// A command was needed more than once.
    Needed,
    /// A command repaired what a check had found, more than once.
    Repairs,
    /// A person corrected the same thing more than once.
    Corrected,
    /// A lesson was learned more than once.
    Learned,
    /// A model suggests it, with evidence from the record.
    Suggested,
}

/// The details of a command: everything but its line.
#[derive(Clone, Debug, Default)]
pub struct RunDetails {
    /// The end of its output.
    pub output: String,
    /// The directory that it was started in, relative to the root of the working tree. `None` if it is outside of it or
    /// unknown.
    pub dir: Option<RepoPath>,
}

/// What the proposals are made of.
pub struct CuratorSources<'s> {
    /// The name of the memory file.
    pub name: &'s std::path::Path,
    /// Its text.
    pub memory: &'s str,
    /// The kinds of checks that its commands run.
    pub named_checks: &'s BTreeSet<String>,
    /// The steps of each session.
    pub stories: &'s [Story],
    /// The root of the working tree.
    pub root: &'s std::path::Path,
    /// The details of commands, by the id of the event.
    pub details: &'s BTreeMap<String, RunDetails>,
    /// The tasks in the journal.
    pub tasks: &'s [TaskRecord],
    /// The kept reflections.
    pub reflections: &'s Reflections,
    /// The rules that a person refused earlier.
    pub refused: &'s [String],
    /// Returns the fate of a path that does not exist now, if git knows it.
    pub fate: &'s dyn Fn(&str) -> Option<PathFate>,
    /// Returns `true` if a line of the file, counted from 0, is known to be younger than a commit, or of that commit.
    pub is_younger: &'s dyn Fn(usize, &str) -> bool,
}

/// Returns the proposals, the best shown first: corrections of what is there, then additions.
pub fn propose(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let runs = seen_runs::all(sources);
    let mut found = paths::outdated(sources);
    found.extend(missing_commands::missing(sources, &runs));
    found.extend(needed(sources));
    found.extend(checks::needed(sources, &runs));
    found.extend(checks::repairs(sources, &runs));
    found.extend(corrected(sources));
    found.extend(learned(sources));
    let mut proposals: Vec<MemoryProposal> = Vec::new();
    for proposal in found {
        let is_known = |text: &String| similarity::is_same(text, &proposal.text);
        let is_double = proposals.iter().any(|other| other.change == proposal.change || is_known(&other.text));
        let is_path = matches!(proposal.kind, ProposalKind::PathGone | ProposalKind::PathMoved);
        let is_rare = !is_path || proposals.iter().filter(|other| other.kind == proposal.kind).count() < MAX_PATHS;
        if is_rare && !is_double && !sources.refused.iter().any(is_known) {
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
    MemoryProposal { id, kind, text: text.to_owned(), evidence, why: None, patch, change }
}

/// Returns the rules of the file: the lines of its lists.
fn rules<'s>(sources: &CuratorSources<'s>) -> impl Iterator<Item = (usize, &'s str)> {
    let lines = sources.memory.lines().enumerate();
    lines.filter(|(_, line)| memory_file::rule(line) != line.trim()).map(|(at, line)| (at, memory_file::rule(line)))
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

/// Words of a person that correct something, and where they stand.
struct Correction {
    text: String,
    /// The session, the number of the turn in it, and the id of the prompt.
    places: Vec<(String, usize, String)>,
}

fn corrected(sources: &CuratorSources<'_>) -> Vec<MemoryProposal> {
    let mut said: Vec<Correction> = Vec::new();
    for story in sources.stories {
        collect_corrections(story, &mut said);
    }
    let of = |correction: Correction| {
        let Correction { text, places } = correction;
        let quote = |(session, _, id): &(String, usize, String)| format!("session {session}, prompt {id}: \"{text}\"");
        let evidence = places.iter().map(quote).collect();
        (places.len() >= TWICE).then(|| addition(sources, ProposalKind::Corrected, &text, evidence)).flatten()
    };
    said.into_iter().filter_map(of).collect()
}

/// Adds the corrections of a session. Words that a person sends again before the agent has answered count once.
fn collect_corrections(story: &Story, said: &mut Vec<Correction>) {
    let session = story.session.clone().unwrap_or_default();
    let mut turn = 0;
    for step in &story.steps {
        let text = match &step.deed {
            Deed::Stopped { .. } => {
                turn += 1;
                continue;
            }
            Deed::Prompted { from: Speaker::Person, text } if step.actor.is_none() => clean(text),
            _ => continue,
        };
        if !corrects(&text) || text.chars().count() > MAX_QUOTED {
            continue;
        }
        let place = (session.clone(), turn, step.id.clone());
        match said.iter_mut().find(|other| similarity::is_same(&other.text, &text)) {
            Some(known) if known.places.iter().any(|(other, at, _)| (other, *at) == (&session, turn)) => {}
            Some(known) => known.places.push(place),
            None => said.push(Correction { text, places: vec![place] }),
        }
    }
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
        let named =
            |cycle: u64, session: &str| format!("cycle {cycle}, session {session}: a lesson of role {}", one.role);
        let before = one.seen_before.iter().map(|(cycle, session)| named(*cycle, session));
        let evidence = std::iter::once(named(one.cycle, &one.session)).chain(before).collect();
        addition(sources, ProposalKind::Learned, text, evidence)
    };
    all.filter_map(of).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::*;
    use crate::event::EventKind;
    use crate::event::agent_work::Act;
    use crate::fact::session_steps::test_builder::Tale;
    use crate::git::PathMove;
    use crate::learn::reflection::Reflection;
    use crate::learn::reflection_store::tests::reflection;
    use crate::learn::task_record::tests::{event, judged, prompt};
    use crate::learn::task_record::{GateFailure, tasks};
    use crate::moment::Moment;

    const MEMORY: &str = "# Rules\n\n- Read `docs/old.md` first.\n- Keep `src/a.rs` small.\n- Be kind.\n";

    fn found(
        memory: &str,
        tales: &[Tale],
        tasks: &[TaskRecord],
        all: &Reflections,
        refused: &[String],
    ) -> Vec<MemoryProposal> {
        with_sources((memory, refused), tales, tasks, all, propose)
    }

    /// Returns what `work` makes of a record.
    pub(crate) fn with_sources<T>(
        (memory, refused): (&str, &[String]),
        tales: &[Tale],
        tasks: &[TaskRecord],
        all: &Reflections,
        work: impl FnOnce(&CuratorSources<'_>) -> T,
    ) -> T {
        let stories: Vec<Story> = tales.iter().map(Tale::story).collect();
        work(&CuratorSources {
            name: Path::new("AGENTS.md"),
            memory,
            named_checks: &BTreeSet::new(),
            stories: &stories,
            root: Path::new("/home/me/work"),
            details: &tales.iter().flat_map(|tale| &tale.entries).filter_map(details).collect(),
            tasks,
            reflections: all,
            refused,
            fate: &|path| match path {
                "docs/old.md" => Some(PathFate { moves: Vec::new(), deleted_by: Some("abc1234".to_owned()) }),
                "src/moved.rs" => Some(PathFate {
                    moves: vec![
                        a_move("1111111", "src/moved.rs", "src/other.rs"),
                        a_move("2222222", "src/other.rs", "lib/moved.rs"),
                    ],
                    deleted_by: None,
                }),
                _ => None,
            },
            is_younger: &|at, commit| at >= 40 && commit == "abc1234",
        })
    }

    /// Returns the proposals for sessions and their outputs alone.
    pub(crate) fn curated(memory: &str, tales: &[Tale]) -> Vec<MemoryProposal> {
        found(memory, tales, &[], &Reflections::default(), &[])
    }

    fn a_move(commit: &str, from: &str, to: &str) -> PathMove {
        PathMove { commit: commit.to_owned(), from: from.to_owned(), to: to.to_owned() }
    }

    fn details(entry: &crate::timeline::Entry) -> Option<(String, RunDetails)> {
        let EventKind::Work(work) = &entry.event.kind else { return None };
        let Act::Command(command) = &work.act else { return None };
        Some((entry.event.id.clone(), RunDetails { output: command.tail.clone(), dir: command.dir.clone() }))
    }

    /// Returns a task in each session in which a command cleared a refusal.
    pub(crate) fn cleared(sessions: &[&str]) -> Vec<TaskRecord> {
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
    fn a_path_that_moved_is_corrected_and_an_aside_about_a_deleted_one_goes() {
        let changed =
            |memory: &str| found(memory, &[], &[], &Reflections::default(), &[]).first().map(|one| one.patch.clone());
        for (memory, expected) in [
            ("All of it is in `src/moved.rs`.\n", "+All of it is in `lib/moved.rs`.\n"),
            ("```\nsrc/moved.rs  # one\ndocs/old.md   # two\n```\n", "+lib/moved.rs  # one\n"),
            ("```\ndocs/old.md   # two\n```\n", "-docs/old.md   # two\n"),
            ("1. **The map** (`docs/old.md`): keep it.\n", "+1. **The map**: keep it.\n"),
            ("- Use make (see `docs/old.md`).\n", "+- Use make.\n"),
            ("The [map](src/moved.rs#top) is small.\n", "+The [map](lib/moved.rs#top) is small.\n"),
            ("It is in src/moved.rs, not in src/moved.rs.bak.\n", "+It is in lib/moved.rs, not in src/moved.rs.bak.\n"),
            (
                "Never edit `src/moved.rs`.\nRun `sh src/moved.rs`.\n",
                "+Never edit `lib/moved.rs`.\n+Run `sh lib/moved.rs`.\n",
            ),
            ("- Read docs/old.md first.\n", "-- Read docs/old.md first.\n"),
            ("- Run `sh docs/old.md -x` (see `README.md`).\n", "-- Run `sh docs/old.md -x` (see `README.md`).\n"),
            ("- Read `docs/old.md` and `docs/new.md`.\n", "+- Read `docs/new.md`.\n"),
            ("- Read `docs/new.md` and docs/old.md\n", "+- Read `docs/new.md`\n"),
            ("- Run `docs/old.md` and then `make check`.\n", "+- Run `make check`.\n"),
            ("- Read `a`, `docs/old.md` and `b`.\n", "+- Read `a` and `b`.\n"),
            ("# T\n\n```\nsh docs/old.md\n```\n", "-sh docs/old.md\n"),
        ] {
            let patch = changed(memory).unwrap_or_default();
            assert!(patch.contains(expected), "{memory}{patch}");
        }
        for memory in [
            "All of it is in `docs/old.md`.\n",
            "- Read `docs/new.md`; it took the words of `docs/old.md` and more.\n",
            "<!-- x START -->\n- Read `docs/old.md`.\n<!-- x END -->\n",
            "```\ncat docs/old.md\n```\n",
            "- Never recreate `docs/old.md`: it was deleted on purpose.\n",
            "- `docs/old.md` is gone; use make.\n",
            "- History: `docs/old.md` was removed in 2026.\n",
            "- Do not restore docs/old.md.\n",
            "- `src/moved.rs` was renamed.\n",
        ] {
            assert_eq!(changed(memory), None, "{memory}");
        }
    }

    #[test]
    fn a_line_that_is_younger_than_the_deletion_means_another_path() {
        let memory = |lines: usize| format!("{}- Read `docs/old.md`.\n", "\n".repeat(lines));
        let count = |memory: &str| found(memory, &[], &[], &Reflections::default(), &[]).len();
        assert_eq!((count(&memory(39)), count(&memory(40))), (1, 0));
    }

    #[test]
    fn each_move_of_a_path_is_evidence() {
        let proposals = found("See `src/moved.rs`.\n", &[], &[], &Reflections::default(), &[]);
        let expected =
            ["commit 1111111 moved src/moved.rs to src/other.rs", "commit 2222222 moved src/other.rs to lib/moved.rs"];
        assert_eq!(proposals[0].evidence, expected);
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
        let tale =
            Tale::default().prompt("Use pnpm instead of npm here").prompt("Use pnpm instead of npm here").stop("done");
        let again =
            tale.prompt("use pnpm instead of npm, here!").prompt("Add a parser").stop("done").prompt("Add a parser");
        let all = Reflections(vec![Reflection { seen: 2, ..reflection("a", "dev", "read the log first") }]);
        let proposals = found("", &[again], &[], &all, &[]);
        let kinds: Vec<ProposalKind> = proposals.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [ProposalKind::Corrected, ProposalKind::Learned]);
        let evidence = ["session s, prompt e0", "session s, prompt e3"];
        let quotes = evidence.map(|place| format!("{place}: \"Use pnpm instead of npm here\""));
        assert_eq!(proposals[0].evidence, quotes);
    }

    #[test]
    fn there_are_at_most_five() {
        let of = |n: u32| Reflection { seen: 2, ..reflection(&n.to_string(), "dev", &format!("a{n} b{n} c{n}")) };
        let all = Reflections((0..9).map(of).collect());
        assert_eq!(found("", &[], &[], &all, &[]).len(), MAX_PROPOSALS);
    }
}
