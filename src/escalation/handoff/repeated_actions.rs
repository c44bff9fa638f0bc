//! Actions that a reply ruled out and that the agent repeated.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::command_line::{CommonGround, Deeds};
use crate::embedded;
use crate::event::{Act, EditKind, Event, EventKind};
use crate::repo_path::{RepoPath, seen_from};

/// The maximum number of earlier command lines that are searched for the folders in which they ran.
const LOOKED_BACK: usize = 128;

/// The work before and after a reply.
#[derive(Clone, Copy)]
pub struct PastWork<'a> {
    /// The events before the reply, of any session.
    pub before: &'a [Event],
    /// The events since.
    pub since: &'a [Event],
    /// The current session.
    pub session: &'a str,
    /// The paths whose content differs from that of the handoff.
    pub changed: &'a [RepoPath],
    /// The working tree for which command lines are read.
    pub ground: CommonGround<'a>,
}

/// The words around a name in an item (`gates/handoff.toml`).
#[derive(Debug, Default, Deserialize)]
struct RetryWords {
    instead: Vec<String>,
    beside: Vec<String>,
    within: Vec<String>,
}

static WORDS: LazyLock<RetryWords> = LazyLock::new(|| {
    #[derive(Default, Deserialize)]
    struct RetryWordsFile {
        ruled_out: RetryWords,
    }
    embedded::table::<RetryWordsFile>("handoff.toml").ruled_out
});

/// Returns the items of `ruled_out` that were done again. An item names a command line or a path as code (`` `pytest -k
/// clock` ``), or is one as a whole. Other words are for people and are not compared, except those that give the folder
/// or an alternative. A command is the same in any spelling and wrapper, in the named folder, or else in the root and
/// in every folder in which it ran before. Another selection of tests is another command. A folder (`src/`) means
/// everything in it.
pub fn repeated<'a>(ruled_out: &'a [String], past: &PastWork<'_>) -> Vec<&'a str> {
    let done = DoneSince::of(past);
    ruled_out
        .iter()
        .filter(|item| named(item).iter().any(|name| done.repeats(name, past)))
        .map(String::as_str)
        .collect()
}

/// The actions since the reply.
struct DoneSince<'a> {
    lines: Vec<String>,
    runs: Vec<Deeds>,
    edited: Vec<String>,
    /// The earlier commands and their work, computed on demand.
    before: OnceCell<Vec<(&'a str, Deeds)>>,
}

impl<'a> DoneSince<'a> {
    fn of(past: &PastWork<'a>) -> Self {
        let mine = || past.since.iter().filter(|event| event.session.as_deref() == Some(past.session));
        let lines: HashSet<(&str, &str)> = mine().filter_map(ran).collect();
        let edits = mine().flat_map(|event| match &event.kind {
            EventKind::Work(work) => match &work.act {
                Act::Edited(edits) => edits.as_slice(),
                _ => &[],
            },
            _ => &[],
        });
        let edits = edits.filter(|edit| matches!(edit.how, EditKind::Written | EditKind::Deleted));
        Self {
            lines: lines.iter().map(|(line, _)| plain(line)).collect(),
            runs: lines.iter().map(|(line, dir)| Deeds::of(line, dir, past.ground)).collect(),
            edited: edits.map(|edit| &edit.path).chain(past.changed).map(ToString::to_string).collect(),
            before: OnceCell::new(),
        }
    }

    fn repeats(&self, name: &NamedThing, past: &PastWork<'a>) -> bool {
        self.edits(name) || self.runs(name, past)
    }

    fn edits(&self, name: &NamedThing) -> bool {
        let Some(path) = seen_from(name.folder.as_deref().unwrap_or_default(), &name.text) else { return false };
        let is = |edited: &String| {
            let inner = edited.strip_prefix(&path);
            inner == Some("") || name.text.ends_with('/') && inner.is_some_and(|inner| inner.starts_with('/'))
        };
        !path.is_empty() && self.edited.iter().any(is)
    }

    fn runs(&self, name: &NamedThing, past: &PastWork<'a>) -> bool {
        // `src/pool.rs` is what is edited, `./test.sh` what is run.
        let is_path = |text: &str| !text.contains(' ') && text.contains('/') && !text.starts_with(['.', '/']);
        let ruled_out = |dir: &str| Deeds::of(&name.text, dir, past.ground);
        if is_path(&name.text) || !ruled_out("").is_told() {
            return self.lines.contains(&name.text);
        }
        let again = |ruled_out: &Deeds| self.runs.iter().any(|run| run.repeat(ruled_out));
        if let Some(folder) = &name.folder {
            return again(&ruled_out(folder));
        }
        if again(&ruled_out("")) {
            return true;
        }
        let before = self.before.get_or_init(|| {
            let runs: HashSet<_> = past.before.iter().rev().filter_map(ran).take(LOOKED_BACK).collect();
            let elsewhere = runs.into_iter().map(|(line, dir)| (dir, Deeds::of(line, dir, past.ground)));
            elsewhere.collect()
        });
        let folders: HashSet<String> = before.iter().flat_map(|(_, run)| run.folders()).collect();
        folders.iter().filter(|folder| !folder.is_empty()).any(|folder| {
            let meant = ruled_out(folder);
            before.iter().any(|(_, run)| run.repeat(&meant)) && again(&meant)
        })
    }
}

/// Returns the command line of an event, and the directory that it started in.
fn ran(event: &Event) -> Option<(&str, &str)> {
    let (line, dir) = match &event.kind {
        EventKind::Run(run) => (&run.command.line, Some(&run.command.dir)),
        EventKind::Work(work) => match &work.act {
            Act::Command(command) => (&command.line, command.dir.as_ref()),
            _ => return None,
        },
        _ => return None,
    };
    Some((line, dir.map_or(Ok(""), |dir| std::str::from_utf8(dir.as_bytes())).ok()?))
}

/// A command or path that an item names.
#[derive(Debug, PartialEq)]
struct NamedThing {
    text: String,
    /// The folder, if the item names one.
    folder: Option<String>,
}

/// Returns the code in an item that it rules out, or the whole item if it has no code.
fn named(item: &str) -> Vec<NamedThing> {
    let name = |text: &str| NamedThing { text: plain(text), folder: None };
    let mut found: Vec<NamedThing> = Vec::new();
    let mut is_code = false;
    let mut before = String::new();
    for part in item.split('`') {
        if is_code && !part.trim().is_empty() {
            let ends = |phrases: &[String]| {
                phrases.iter().any(|phrase| {
                    let rest = before.strip_suffix(phrase.as_str());
                    rest.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
                })
            };
            if ends(&WORDS.within) && !part.trim().contains(' ') && found.iter().any(|one| one.folder.is_none()) {
                let folder = seen_from("", part.trim());
                for one in &mut found {
                    one.folder = one.folder.take().or_else(|| folder.clone());
                }
            } else if ends(&WORDS.instead) {
                found = vec![name(part)];
            } else if found.is_empty() || !ends(&WORDS.beside) {
                found.push(name(part));
            }
        }
        before = plain(part).to_lowercase();
        is_code = !is_code;
    }
    if found.is_empty() { vec![name(item)] } else { found }
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Origin;
    use crate::event::agent_work::{AgentWork, FileEdit, ShellCommand};
    use crate::runner::Project;

    fn event(act: Act) -> Event {
        Event {
            id: String::new(),
            at: jiff::Timestamp::UNIX_EPOCH,
            session: Some("s".to_owned()),
            origin: Origin::observed(),
            kind: EventKind::Work(Box::new(AgentWork { actor: None, call: None, head: None, act })),
        }
    }

    fn ran(dir: &str, line: &str) -> Event {
        event(Act::Command(Box::new(ShellCommand {
            line: line.to_owned(),
            dir: Some(RepoPath::from(dir)),
            ..ShellCommand::default()
        })))
    }

    fn edited(path: &str) -> Event {
        let edit = FileEdit {
            path: RepoPath::from(path),
            how: EditKind::Written,
            removed: String::new(),
            added: String::new(),
        };
        event(Act::Edited(vec![edit]))
    }

    fn is_repeated(item: &str, before: &[Event], since: &[Event], changed: &[RepoPath]) -> bool {
        let ground = CommonGround { root: Some("/work/repo"), project: Project::without_runners(&()) };
        let past = PastWork { before, since, session: "s", changed, ground };
        let other = PastWork { session: "other", changed: &[], ..past };
        let items = [item.to_owned()];
        assert!(repeated(&items, &other).is_empty(), "what another session did: {item}");
        !repeated(&items, &past).is_empty()
    }

    #[test]
    fn a_command_or_a_path_that_was_ruled_out() {
        let before = [ran("api", "sh t.sh"), ran("", "make old")];
        let since = [
            ran("", "pytest  -k clock"),
            ran("", "cd api && timeout 60 go test -run=TestA -v ./... 2>&1 | tail -5"),
            ran("api", "./t.sh"),
            ran("web", "sh u.sh"),
            edited("src/pool.rs"),
        ];
        let changed = [RepoPath::from("src/lock.rs")];
        for (item, hit) in [
            ("`pytest -k clock` again", true),
            ("pytest -k clock", true),
            ("`python -m pytest -k clock`", true),
            ("editing `src/pool.rs`", true),
            ("another edit of `src/lock.rs`", true),
            ("`pool.rs` in `src/`", true),
            ("src/pool.rs", true),
            ("`./src/pool.rs`", true),
            ("nothing in `src/`", true),
            ("nothing in `sr/`", false),
            ("`go test ./... -v -run TestA` in `api/`", true),
            ("`go test ./... -v -run TestB` in `api`", false),
            ("`go test ./... -v -run TestA` in `web/`", false),
            ("`cd api && go test -run TestA ./...`", true),
            ("`go vet ./...`", false),
            ("`pytest -k clocks`", false),
            ("`pytest`", false),
            ("`sh t.sh`, which ran in its folder before", true),
            ("`sh t.sh` in `web/`", false),
            ("`sh u.sh`, which never ran there before", false),
            ("do not run `make` before `pytest -k clock`", false),
            ("use `pytest -k clock` instead of `make`", false),
            ("use `make` instead of `pytest -k clock`", true),
            ("`if then`", false),
            ("do not touch the clock", false),
            ("", false),
        ] {
            assert_eq!(is_repeated(item, &before, &since, &changed), hit, "{item}");
        }
    }

    #[test]
    fn what_stands_before_code_says_what_it_is() {
        for (item, expected) in [
            ("`a b`", &[("a b", None)][..]),
            ("`a b` or `c d`", &[("a b", None), ("c d", None)]),
            ("`a b` in `x/`", &[("a b", Some("x"))]),
            ("In `x/`", &[("x/", None)]),
            ("rather than `a b`, try `c d`", &[("a b", None), ("c d", None)]),
            ("`a b` begin `x`", &[("a b", None), ("x", None)]),
            ("a  b", &[("a b", None)]),
        ] {
            let found = named(item);
            let found: Vec<_> = found.iter().map(|one| (one.text.as_str(), one.folder.as_deref())).collect();
            assert_eq!(found, expected, "{item}");
        }
    }
}
