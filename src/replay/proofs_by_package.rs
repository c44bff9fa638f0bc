//! The proofs that the record of a command line gives about the packages of a repository.

use std::fmt::Write as _;

use crate::command_line::coverage::content_comes_and_goes;
use crate::command_line::{self, CheckOutcome, ExitDecides, LineRecord, Proves, Understood, judge_kinds, understand};
use crate::event::{Ended, RunReport};
use crate::replay::packages::{self, Package, Reach, Selector, join};
use crate::replay::tree_content::Content;
use crate::repo_path::seen_from;
use crate::runner::{Catalogue, CommandKind, Project, ProjectFiles, read_output_of, resolve};
use crate::shell::expanded_program::Leaf;
use crate::shell_kind::Shell;
use crate::shell_quote::shell_word;

/// A recorded command line.
pub struct RecordedLine<'a> {
    pub line: &'a str,
    /// The directory in which it was started, relative to the root, or `None` for another place.
    pub dir: Option<&'a str>,
    /// Its status, if it was recorded.
    pub status: Option<i32>,
    /// Its output, if it was recorded.
    pub output: Option<&'a str>,
    /// It had not ended.
    pub background: bool,
    /// Folders outside that hold an unchanged copy of the repository, with their originals.
    pub copies: &'a [String],
}

/// The proof for a kind of check.
#[derive(Clone, Debug)]
pub struct PackageProof {
    pub kind: CommandKind,
    /// The packages it is about, by their place in the list.
    pub packages: Vec<usize>,
    /// The end of the command.
    pub ended: Ended,
    /// The counts of the runner.
    pub report: Option<RunReport>,
    /// The reason why its status proves nothing.
    pub masked: Option<String>,
    /// `true` if it ran on a copy, which nothing compared.
    pub on_a_copy: bool,
    /// `true` if it passed or failed with certainty.
    pub conclusive: bool,
}

/// The kinds of checks.
pub const KINDS: [CommandKind; 4] = [CommandKind::Test, CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint];

/// The files of a content, seen from a folder.
pub struct From<'a>(pub &'a Content, pub &'a str);

impl ProjectFiles for From<'_> {
    fn read(&self, path: &str) -> Option<String> {
        self.0.text(&seen_from("", &join(self.1, path))?).map(str::to_owned)
    }
}

/// Returns everything that the record of a line proves.
pub fn proofs(recorded: &RecordedLine<'_>, content: &Content, all: &[Package]) -> Vec<PackageProof> {
    let files = From(content, recorded.dir.unwrap_or_default());
    let Ok(understood) = understand(recorded.line, Project::without_runners(&files)) else { return Vec::new() };
    let mut found = Vec::new();
    for kind in KINDS {
        let (program, purposes) = (&understood.program, &understood.purposes);
        let leaves = program.leaves.iter().zip(purposes).enumerate().filter(|(_, (_, purpose))| purpose.is(kind));
        let reached: Vec<Reached> = leaves
            .filter_map(|(id, (leaf, purpose))| {
                let runs: Vec<&str> = purpose.runs().collect();
                let mut reached = Reached::of(leaf, kind, &runs, recorded, content, all)?;
                if reached.empty.is_none() && content_comes_and_goes(program, purposes, id) {
                    reached.empty =
                        Some(Empty::Masked("the line changes files before it, and again after it".to_owned()));
                }
                Some(reached)
            })
            .collect();
        if reached.is_empty() {
            continue;
        }
        let record = LineRecord {
            status: recorded.status,
            output: recorded.output,
            background: recorded.background,
            shell: Some(Shell::Bash),
        };
        let judged = judge_kinds(recorded.line, &record, Project::without_runners(&files), &[kind]);
        let result = judged.result.unwrap_or(CheckOutcome::Unknown);
        for reached in reached {
            // A part that passed says nothing of the whole; a part that failed does.
            if result == CheckOutcome::Pass && kind == CommandKind::Test && !reached.whole {
                continue;
            }
            let counted = || counts(recorded.output?, &reached.runs);
            let nothing = RunReport { runner: String::new(), passed: 0, failed: 0, skipped: 0 };
            let (ended, report, masked) = match (result, &reached.empty) {
                (CheckOutcome::Pass, Some(Empty::Nothing)) => (Ended::Exited(0), Some(nothing), None),
                (CheckOutcome::Pass, Some(Empty::Masked(why))) => (Ended::Exited(0), None, Some(why.clone())),
                (CheckOutcome::Pass, None) => (Ended::Exited(0), counted(), None),
                (CheckOutcome::NoTests, _) if recorded.status.unwrap_or(0) == 0 => {
                    (Ended::Exited(0), Some(nothing), None)
                }
                (CheckOutcome::Fail | CheckOutcome::NoTests, _) => (failed(recorded.status), None, None),
                (CheckOutcome::Unknown, _)
                    if recorded.status.is_some_and(|status| status != 0)
                        && judged.exit_decides == Some(ExitDecides::Yes) =>
                {
                    (failed(recorded.status), None, None)
                }
                (CheckOutcome::Unknown, _) => (Ended::Exited(0), None, Some(judged.reason.clone())),
            };
            let conclusive = matches!(result, CheckOutcome::Pass | CheckOutcome::Fail) && masked.is_none();
            let on_a_copy = reached.on_a_copy;
            found.push(PackageProof { kind, packages: reached.packages, ended, report, masked, on_a_copy, conclusive });
        }
    }
    found
}

/// Whether a line commits or pushes, and runs no tests itself: those in its output were run by a hook.
pub fn may_run_hooks(line: &str, files: &From<'_>) -> bool {
    let Ok(Understood { program, purposes }) = understand(line, Project::without_runners(files)) else { return false };
    let calls = |leaf: &Leaf| {
        let is = |word: &str| leaf.argv.iter().any(|arg| arg.literal() == Some(word));
        leaf.name() == Some("git") && (is("commit") || is("push"))
    };
    program.leaves.iter().any(calls) && !purposes.iter().any(|purpose| purpose.is(CommandKind::Test))
}

/// Returns the checks that the hooks of a commit or a push ran, as far as their output shows it.
///
/// A commit that was made shows that its hooks passed. The check is one that the repository itself defines, and counts
/// as whole.
pub fn hook_proofs(recorded: &RecordedLine<'_>, content: &Content, all: &[Package]) -> Vec<PackageProof> {
    let (Some(0), Some(output)) = (recorded.status, recorded.output) else { return Vec::new() };
    let files = From(content, recorded.dir.unwrap_or_default());
    let record = LineRecord { status: Some(0), output: Some(output), background: false, shell: Some(Shell::Bash) };
    let judged = command_line::judge(recorded.line, &record, Project::without_runners(&files));
    let proof = |kind, report| PackageProof {
        kind,
        packages: (0..all.len()).collect::<Vec<_>>(),
        ended: Ended::Exited(0),
        report,
        masked: None,
        on_a_copy: false,
        conclusive: true,
    };
    let mut found = Vec::new();
    if judged.proves == Proves::FullPass && judged.decisive_kind == Some(CommandKind::Test) {
        found.push(proof(CommandKind::Test, counts(output, &[])));
    }
    if judged.kind.iter().any(|kind| kind == "vcs" || kind == "push") && !judged.kind.iter().any(|kind| kind == "build")
    {
        for line in output.lines() {
            let Some(echoed) = line.strip_prefix("$ ").or_else(|| line.strip_prefix("> ")) else { continue };
            let Ok(understood) = understand(echoed, Project::without_runners(&files)) else { continue };
            for kind in [CommandKind::Build, CommandKind::Typecheck, CommandKind::Lint] {
                if understood.purposes.iter().any(|purpose| purpose.is(kind) && purpose.honest()) {
                    found.push(proof(kind, None));
                }
            }
        }
    }
    found
}

fn failed(status: Option<i32>) -> Ended {
    Ended::Exited(status.filter(|status| *status != 0).unwrap_or(1))
}

/// Returns the counts of a runner, if nothing failed.
fn counts(output: &str, runs: &[String]) -> Option<RunReport> {
    let runners: Vec<_> = runs.iter().filter_map(|id| Catalogue::embedded().runner(id)).collect();
    let reading = read_output_of(Catalogue::embedded(), &runners, output);
    let mut reports = reading.reports.into_iter();
    let mut sum = reports.next()?;
    for report in reports {
        sum.passed += report.passed;
        sum.failed += report.failed;
        sum.skipped += report.skipped;
    }
    (sum.failed == 0 && sum.passed > 0).then_some(sum)
}

/// The reason why a pass does not count.
enum Empty {
    /// Nothing is executed.
    Nothing,
    /// The task's own script hides the result of its check, or the line hides the output.
    Masked(String),
}

/// The packages that one command of a line concerns.
struct Reached {
    packages: Vec<usize>,
    /// All tests of these packages, not a part of them.
    whole: bool,
    runs: Vec<String>,
    empty: Option<Empty>,
    on_a_copy: bool,
}

impl Reached {
    fn of(
        leaf: &Leaf,
        kind: CommandKind,
        runs: &[&str],
        recorded: &RecordedLine<'_>,
        content: &Content,
        all: &[Package],
    ) -> Option<Self> {
        let place = RunDirectory::of(leaf, recorded, content)?;
        let words: Vec<&str> = leaf.argv.iter().map(|arg| arg.literal()).collect::<Option<_>>().unwrap_or_default();
        let Some(aim) = Aim::of(&words, leaf.narrowed_by.as_deref(), &place.dir, content, all) else {
            // What it is about is not in the text; a failure is one of the place where it runs.
            let packages = about(&[Reach::Below(place.dir.clone())], all, &words, runs, content);
            return Some(Self { packages, whole: false, runs: owned(runs), empty: None, on_a_copy: place.copy });
        };
        let packages = about(&aim.reach, all, &words, runs, content);
        let mut line = String::new();
        for word in &aim.rest {
            let _ = write!(line, "{} ", shell_word(word));
        }
        let files = From(content, &aim.dir);
        let whole = understand(&line, Project::without_runners(&files)).is_ok_and(|understood| {
            understood.purposes.iter().any(|purpose| {
                purpose.is(kind) && purpose.extent.is_none_or(|extent| extent == command_line::Extent::Full)
            })
        });
        let whole = whole && !leaf.appended && !words.is_empty();
        let empty = empty_task(&aim.rest, Project::without_runners(&files), kind);
        Some(Self { packages, whole, runs: owned(runs), empty, on_a_copy: place.copy })
    }
}

fn owned(runs: &[&str]) -> Vec<String> {
    runs.iter().map(|run| (*run).to_owned()).collect()
}

fn about(reach: &[Reach], all: &[Package], words: &[&str], runs: &[&str], content: &Content) -> Vec<usize> {
    let reached = |package: &Package| reach.iter().any(|reach| packages::reaches(reach, package, all, words, content));
    let fitting = |package: &Package| packages::fits(runs, package) && reached(package);
    all.iter().enumerate().filter(|(_, package)| fitting(package)).map(|(index, _)| index).collect()
}

/// The directory in which a command runs.
struct RunDirectory {
    dir: String,
    copy: bool,
}

impl RunDirectory {
    fn of(leaf: &Leaf, recorded: &RecordedLine<'_>, content: &Content) -> Option<Self> {
        let named = if let Some(directory) = &leaf.directory { Some(directory.path.as_deref()?) } else { None };
        let outside = |path: &str| path.starts_with(['/', '~', '$']) || path.as_bytes().get(1) == Some(&b':');
        let path = match named {
            Some(path) if outside(path) => path.to_owned(),
            Some(path) => {
                let start = recorded.dir?;
                if let Some(path) = seen_from("", &join(start, path)) { path } else { join(start, path) }
            }
            None => recorded.dir?.to_owned(),
        };
        if outside(&path)
            || path.starts_with("..")
            || named.is_some_and(|named| named.starts_with("..")) && path.is_empty()
        {
            let copy = recorded.copies.iter().find(|copy| packages::within(&path, copy))?;
            let dir = path[copy.len()..].trim_start_matches('/').to_owned();
            return Some(Self { dir, copy: true });
        }
        let there = path.is_empty() || content.files.keys().any(|file| packages::within(file, &path));
        there.then_some(Self { dir: path, copy: false })
    }
}

/// The packages that the words of a command name, and the other words.
struct Aim<'a> {
    reach: Vec<Reach>,
    rest: Vec<&'a str>,
    /// The folder of its task files.
    dir: String,
}

impl<'a> Aim<'a> {
    fn of(
        words: &[&'a str],
        narrowed: Option<&'a str>,
        start: &str,
        content: &Content,
        all: &[Package],
    ) -> Option<Self> {
        let program = words.first()?.rsplit('/').next()?;
        let none = Selector::default();
        let selector = packages::selector(program).unwrap_or(&none);
        let mut dir = start.to_owned();
        let mut reach = Vec::new();
        let mut rest = vec![words[0]];
        let mut verbs = selector.verbs.as_slice();
        let mut at = 1;
        while let Some(word) = words.get(at).copied() {
            at += 1;
            let (option, attached) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
            let is = |list: &[String]| list.iter().any(|known| known == option);
            let mut value = || {
                attached.or_else(|| {
                    at += 1;
                    words.get(at - 1).copied()
                })
            };
            if is(&selector.name) || is(&selector.after) {
                reach.push(Reach::Named(value()?.to_owned()));
            } else if is(&selector.folder) {
                dir = seen_from("", &join(&dir, value()?))?;
            } else if is(&selector.manifest) {
                let path = seen_from("", &join(&dir, value()?))?;
                dir = path.rsplit_once('/').map_or_else(String::new, |(dir, _)| dir.to_owned());
            } else if is(&selector.dropped) {
            } else if selector.tasks && word.starts_with(':') && word[1..].contains(':') {
                let (project, task) = word[1..].rsplit_once(':')?;
                reach.push(Reach::Below(seen_from("", &join(start, &project.replace(':', "/")))?));
                rest.push(task);
            } else if verbs.iter().any(|verb| verb == word) {
                // Also where there is a folder of this name. A second word of this kind is that folder.
                verbs = &[];
                rest.push(word);
            } else if let Some(found) = path_reach(selector, word, &dir, content, all) {
                reach.push(found);
            } else {
                rest.push(word);
            }
        }
        if let Some(name) = narrowed.and_then(|option| option.split([' ', '=']).nth(1)) {
            reach.push(Reach::Named(name.to_owned()));
        }
        if reach.is_empty() {
            reach.push(if selector.exact { Reach::Exactly(dir.clone()) } else { Reach::Below(dir.clone()) });
        }
        // The scripts of a package lie beside its manifest.
        if let [Reach::Named(_)] = reach.as_slice()
            && let Some(package) = all.iter().find(|package| packages::reaches(&reach[0], package, all, words, content))
        {
            dir.clone_from(&package.dir);
        }
        Some(Self { reach, rest, dir })
    }
}

/// Returns a word that is the path of a folder or, in Go, of a package.
fn path_reach(selector: &Selector, word: &str, dir: &str, content: &Content, all: &[Package]) -> Option<Reach> {
    if !selector.paths || word.starts_with('-') {
        return None;
    }
    if selector.exact {
        let module = all.iter().find(|package| !package.name.is_empty() && package.ecosystem == "go");
        let inner = module
            .and_then(|module| word.strip_prefix(module.name.as_str()))
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let path = match inner {
            Some(inner) => inner.trim_start_matches('/').to_owned(),
            None if word.starts_with('.') => seen_from("", &join(dir, word.trim_end_matches("...")))?,
            None => return None,
        };
        let path = path.trim_end_matches("...").trim_end_matches('/').to_owned();
        return Some(if word.ends_with("...") { Reach::Below(path) } else { Reach::Exactly(path) });
    }
    let path = seen_from("", &join(dir, word.trim_end_matches('/')))?;
    let folder = !content.files.contains_key(&path) && content.files.keys().any(|file| packages::within(file, &path));
    let project = word.rsplit_once('.').is_some_and(|(_, end)| end.ends_with("proj") || end == "sln");
    if project {
        return Some(Reach::Below(path.rsplit_once('/').map_or_else(String::new, |(dir, _)| dir.to_owned())));
    }
    (folder && !path.is_empty()).then_some(Reach::Below(path))
}

/// Programs that execute nothing of the repository.
const IDLE: [&str; 6] = ["exit", "true", ":", "echo", "printf", "cd"];

/// Returns the reason if the called task does nothing, or hides the result of its check.
fn empty_task(words: &[&str], project: Project<'_>, kind: CommandKind) -> Option<Empty> {
    let argv: Vec<Option<String>> = words.iter().map(|word| Some((*word).to_owned())).collect();
    let runs = resolve(project.runners, &argv, project.files);
    let mut scripts = runs.iter().filter_map(|run| run.script.as_ref()).peekable();
    scripts.peek()?;
    let lines: Vec<&String> = scripts.flatten().collect();
    let understood: Vec<_> =
        lines.iter().filter_map(|line| understand(line.trim_start_matches(['@', '-']), project).ok()).collect();
    if understood.len() != lines.len() {
        return None;
    }
    let mut leaves = understood.iter().flat_map(|line| &line.program.leaves);
    if leaves.all(|leaf| leaf.name().is_some_and(|name| IDLE.contains(&name))) {
        return Some(Empty::Nothing);
    }
    lines.iter().find_map(|line| {
        let record = LineRecord { status: Some(0), output: None, background: false, shell: Some(Shell::Bash) };
        let judged = judge_kinds(line, &record, project, &[kind]);
        let hidden = judged.exit_decides == Some(ExitDecides::NoMasked);
        hidden.then(|| Empty::Masked(format!("the task runs `{line}`: {}", judged.reason)))
    })
}
