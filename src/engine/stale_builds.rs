//! Inputs of a run whose old build may have run in their place.
//!
//! Some tools build again only what is younger than its build, and Python what has another size or second. A file that
//! was put back with its old time (`mv`, `cp -p`, `tar`) is passed over, and what ran was made from other content.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::Workplace;
use super::file_times::{FileTimes, SECOND, TICK, times};
use super::installed_copies::installed_copy;
use super::silent_programs::silent_program;
use super::stale_objects::stale_object;
use crate::collect::{BaseOf, lineage};
use crate::event::CommandRef;
use crate::fact::subject::Base;
use crate::git::{GitError, PathChange, TreeDiff};
use crate::journal::RecordedRun;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::runner::{BuildReuse, CommandKind, Runner};
use crate::shell_quote::{shell_line, shell_word};
use crate::snapshot::{KeptSnapshot, SnapshotEntry};

/// The number of earlier contents that are compared.
const MAX_EARLIER: usize = 16;
/// The number of files that are looked at.
const MAX_FILES: usize = 2_000;
/// The number of files that a remedy names.
const MAX_NAMED: usize = 16;
/// The same where times have whole seconds.
const WHOLE_SECONDS: i128 = 2 * SECOND;
/// The time in which a folder is copied.
const COPY_TIME: i128 = 60 * SECOND;

/// The beginning of a file of bytecode, and its times.
#[derive(Clone, Copy, Debug)]
struct Bytecode {
    flags: u32,
    seconds: u32,
    size: u32,
    written: i128,
    /// The time at which the file came to its place.
    changed: i128,
}

/// A reason why bytecode may not be that of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Staleness {
    /// It has the size and the second of the source and is older.
    SameStamp,
    /// Python does not compare it with the source.
    Unchecked,
}

/// A run of the same tool before, and the files that differ since.
struct EarlierRun {
    started: i128,
    differing: Vec<RepoPath>,
}

impl Workplace {
    /// Returns the reason why a run of `command` that passed may have used what was built from other content, with a
    /// remedy. `runners` are those that it started, `is_input` says which files it reads, `on` is its content.
    pub fn stale_build(
        &self,
        command: &CommandRef,
        runners: &[&Runner],
        is_input: &dyn Fn(&RepoPath) -> bool,
        on: &KeptSnapshot,
        output: &str,
    ) -> Option<String> {
        let root = self.repo.root()?;
        let again = command
            .name
            .as_deref()
            .map_or_else(|| ", then run it again".to_owned(), |name| format!(" && gate run {}", shell_word(name)));
        let then = again.replace(" && ", ", then: ");
        let changed = OnceCell::new();
        let of_work = || changed.get_or_init(|| self.changed_by_the_work(is_input, on)).as_slice();
        let stale_program = || self.stale_program(root, command, &of_work, on, &then);
        if runners.iter().any(|runner| runner.id == "go test")
            && let Some(exit) = self.early_exit(root, &of_work, on, &command.line, output)
        {
            return Some(exit);
        }
        if runners.iter().any(|runner| runner.id == "make")
            && let Some(stale) = self.stale_header(root, of_work(), on, &again)
        {
            return Some(stale);
        }
        let Some(reuse) = reuse(runners) else { return stale_program() };
        let earlier = self.earlier_runs(command, is_input, &on.tree).ok()?;
        let sources = earlier.iter().flat_map(|run| &run.differing).chain(of_work()).collect();
        let stale = match reuse {
            BuildReuse::ByAge => Some(passed_over(root, &earlier)).filter(|old| !old.is_empty()).map(|old| {
                format!(
                    "{} is older than an earlier run on other content, so that the build from then may have run: {}{again}",
                    old[0],
                    touch(&old)
                )
            }).or_else(|| self.future_build(root, on, &again)),
            BuildReuse::Unbuilt => stale_object(root, &sources, &again).or_else(|| silent_program(root, &again)),
            BuildReuse::AsItIs => self.stale_output(root, &sources, &on.tree, &then),
            BuildReuse::ByStamp => stale_bytecode(root, &sources, &again)
                .or_else(|| installed_copy(root, &sources, &command.line, &then)),
        };
        stale.or_else(stale_program)
    }

    /// Returns the earlier runs of the same program, each with the files that have other content now.
    fn earlier_runs(
        &self,
        command: &CommandRef,
        is_input: &dyn Fn(&RepoPath) -> bool,
        tree: &Oid,
    ) -> Result<Vec<EarlierRun>, GitError> {
        let Ok(state) = self.state() else { return Ok(Vec::new()) };
        let program = |line: &str| line.split_whitespace().next().map(str::to_owned);
        let is_same = |run: &&RecordedRun| {
            run.run.command.key == command.key || program(&run.run.command.line) == program(&command.line)
        };
        let mut runs: Vec<&RecordedRun> = state.all_runs().filter(is_same).collect();
        runs.sort_by(|a, b| b.id.cmp(&a.id));
        let mut seen = BTreeSet::new();
        runs.retain(|run| run.run.start.tree != *tree && seen.insert(run.run.start.tree.clone()));
        runs.truncate(MAX_EARLIER);
        let pairs: Vec<_> = runs
            .iter()
            .flat_map(|run| [&run.run.start, &run.run.end].map(|it| (it.tree.clone(), tree.clone())))
            .collect();
        let diffs = self.repo.diff_trees(&pairs)?;
        let earlier = runs.iter().zip(diffs.chunks_exact(2)).map(|(run, diffs)| {
            let (mut differing, still) = (edited(&diffs[0], is_input), edited(&diffs[1], is_input));
            // What changed while it ran was perhaps not built.
            differing.retain(|path| still.contains(path));
            EarlierRun { started: run.at.as_nanosecond() - i128::from(run.run.millis) * 1_000_000, differing }
        });
        Ok(earlier.collect())
    }

    /// Returns the inputs that differ from where the work began.
    fn changed_by_the_work(&self, is_input: &dyn Fn(&RepoPath) -> bool, on: &KeptSnapshot) -> Vec<RepoPath> {
        let base = on.head.as_ref().and_then(|head| lineage(&self.repo, head, BaseOf::AnyRemote).ok());
        let base = match base.map(|lineage| lineage.base) {
            Some(Base::MergeBase { commit, .. }) => self.repo.tree_of(&commit).ok(),
            _ => Some(self.repo.empty_tree()),
        };
        let diff = base.and_then(|base| self.repo.diff_trees(&[(base, on.tree.clone())]).ok()?.pop());
        let Some(TreeDiff::Changes(changes)) = diff else { return Vec::new() };
        let is_there = |change: &PathChange| change.after.is_some() && is_input(&change.path);
        changes.into_iter().filter(is_there).map(|change| change.path).collect()
    }
}

/// Returns the sentence about bytecode that may not be that of one of these sources.
fn stale_bytecode(root: &Path, sources: &BTreeSet<&RepoPath>, again: &str) -> Option<String> {
    let mut old: Vec<(&RepoPath, String)> = Vec::new();
    for path in sources.iter().filter(|path| path.as_bytes().ends_with(b".py")).take(MAX_FILES) {
        let Some(source) = times(&root.join(path.to_os())) else { continue };
        for (file, bytecode) in bytecode_of(root, path) {
            let file = file.to_string_lossy().into_owned();
            match staleness(source, bytecode) {
                Some(Staleness::Unchecked) => {
                    return Some(format!(
                        "Python runs {file} without a look at {path}: rm -- {}{again}",
                        shell_word(&file)
                    ));
                }
                Some(Staleness::SameStamp) => old.push((path, file)),
                None => {}
            }
        }
    }
    let (first, _) = old.first()?;
    // A new time may still be one of the same second.
    let files = shell_line(old.iter().take(MAX_NAMED).map(|(_, file)| file.as_str()));
    Some(format!(
        "Python may have run bytecode of other content of {first}, which has the same size and second: rm -- {files}{again}"
    ))
}

/// Returns the way in which old builds may be taken for new ones. A task that starts tests without builds has none.
fn reuse(runners: &[&Runner]) -> Option<BuildReuse> {
    let known: Vec<&&Runner> = runners.iter().filter(|runner| runner.task.is_none()).collect();
    let way = known.iter().find_map(|runner| runner.reuse);
    let tests = known.iter().any(|runner| runner.kinds.contains(&CommandKind::Test));
    if way.is_some() || tests { way } else { runners.iter().find_map(|runner| runner.reuse) }
}

/// Returns the files that have other content on both sides.
fn edited(diff: &TreeDiff, is_input: &dyn Fn(&RepoPath) -> bool) -> Vec<RepoPath> {
    let TreeDiff::Changes(changes) = diff else { return Vec::new() };
    let is_file =
        |entry: &Option<SnapshotEntry>| entry.as_ref().is_some_and(|entry| entry.mode & 0o170_000 == 0o100_000);
    let other = |change: &&PathChange| {
        let oid = |entry: &Option<SnapshotEntry>| entry.as_ref().map(|entry| entry.oid.clone());
        is_file(&change.before) && is_file(&change.after) && oid(&change.before) != oid(&change.after)
    };
    changes.iter().filter(other).map(|change| &change.path).filter(|path| is_input(path)).cloned().collect()
}

/// Returns the files that are older than a run with other content of them, although they were put there after it.
fn passed_over(root: &Path, earlier: &[EarlierRun]) -> Vec<RepoPath> {
    let mut old = BTreeSet::new();
    for run in earlier {
        for path in run.differing.iter().take(MAX_FILES) {
            if times(&root.join(path.to_os())).is_some_and(|times| is_passed_over(times, run.started)) {
                old.insert(path.clone());
            }
        }
    }
    old.into_iter().collect()
}

fn is_passed_over(file: FileTimes, started: i128) -> bool {
    let tick = if file.modified % SECOND == 0 { WHOLE_SECONDS } else { TICK };
    file.modified + tick < started && file.changed > started
}

/// Returns the reason why bytecode may not be that of its source, which the work changed.
fn staleness(source: FileTimes, bytecode: Bytecode) -> Option<Staleness> {
    const HASHED: u32 = 1;
    const CHECKED: u32 = 2;
    if bytecode.flags & HASHED != 0 {
        return (bytecode.flags & CHECKED == 0).then_some(Staleness::Unchecked);
    }
    // Python compares the lower 32 bits.
    let low = |value: i128| u32::try_from(value & i128::from(u32::MAX)).ok();
    let is_taken = low(source.modified.div_euclid(SECOND)) == Some(bytecode.seconds)
        && low(i128::from(source.size)) == Some(bytecode.size);
    // A copy of the whole folder keeps the times at which both were written.
    let is_copied = bytecode.changed - bytecode.written > SECOND
        && (source.changed - bytecode.changed).abs() < COPY_TIME
        && source.modified <= bytecode.written;
    let is_older = !is_copied && source.modified.max(source.changed) > bytecode.written;
    (is_taken && is_older).then_some(Staleness::SameStamp)
}

/// Returns the bytecode of a source, each with its path from the root.
fn bytecode_of(root: &Path, source: &RepoPath) -> Vec<(PathBuf, Bytecode)> {
    let source = source.to_os();
    let (Some(parent), Some(stem)) = (source.parent(), source.file_stem().and_then(|stem| stem.to_str())) else {
        return Vec::new();
    };
    let folder = parent.join("__pycache__");
    let entries = fs::read_dir(root.join(&folder)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_its = |name: &String| {
        let tag = name.strip_prefix(stem).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".pyc"));
        tag.is_some()
    };
    let read = |name: String| {
        let path = root.join(&folder).join(&name);
        let FileTimes { modified: written, changed, .. } = times(&path)?;
        let mut head = [0; 16];
        fs::File::open(path).ok()?.read_exact(&mut head).ok()?;
        let word = |at: usize| Some(u32::from_le_bytes(head[at..at + 4].try_into().ok()?));
        Some((folder.join(name), Bytecode { flags: word(4)?, seconds: word(8)?, size: word(12)?, written, changed }))
    };
    names.filter(is_its).filter_map(read).collect()
}

/// Returns the command that makes all of these files new.
fn touch(paths: &[RepoPath]) -> String {
    let paths: Vec<String> = paths.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    format!("touch -- {}", shell_line(paths.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: i128 = 1_000 * SECOND;

    fn file(modified: i128, changed: i128) -> FileTimes {
        FileTimes { modified, changed, size: 40 }
    }

    #[test]
    fn a_file_that_was_put_back_with_its_old_time_is_passed_over() {
        let (before, after) = (RUN - 60 * SECOND - 7, RUN + 60 * SECOND);
        for (what, times, expected) in [
            ("put back by `mv` or `cp -p`", file(before, after), true),
            ("set back by `touch -d`", file(before - 3_600 * SECOND, after), true),
            ("edited since", file(after, after), false),
            ("not touched since", file(before, before), false),
            ("edited in the tick of the run", file(RUN - TICK / 2, after), false),
            ("edited in the second of the run, where times have no more", file(RUN - SECOND, after), false),
        ] {
            assert_eq!(is_passed_over(times, RUN), expected, "{what}");
        }
    }

    #[test]
    fn bytecode_of_the_same_second_may_be_of_other_content() {
        use Staleness::{SameStamp, Unchecked};
        let second = 1_000;
        let of = |flags, seconds, written| Bytecode { flags, seconds, size: 40, written, changed: written };
        let (early, late) = (RUN + 100_000_000, RUN + 500_000_000);
        let copied = Bytecode { changed: late * 2, ..of(0, second, early) };
        for (what, source, bytecode, expected) in [
            ("edited after the build, in one second", file(late, late), of(0, second, early), Some(SameStamp)),
            ("set back to that second", file(early, late * 2), of(0, second, late), Some(SameStamp)),
            ("built after the edit", file(early, early), of(0, second, late), None),
            ("copied with its bytecode", file(early, late * 2), copied, None),
            ("edited long after it was copied", file(early, late * 3), copied, Some(SameStamp)),
            ("another second", file(late, late), of(0, second - 1, early), None),
            ("another size", FileTimes { size: 41, ..file(late, late) }, of(0, second, early), None),
            ("never compared", file(early, early), of(1, 0, late), Some(Unchecked)),
            ("compared by its hash", file(late, late), of(3, 0, early), None),
        ] {
            assert_eq!(staleness(source, bytecode), expected, "{what}");
        }
    }

    #[test]
    fn a_task_that_starts_a_runner_is_as_that_runner() {
        let runner = |id: &str| crate::runner::Catalogue::embedded().runner(id).unwrap();
        for (ids, expected) in [
            (vec!["cargo test"], Some(BuildReuse::ByAge)),
            (vec!["make", "cargo test"], Some(BuildReuse::ByAge)),
            (vec!["make"], Some(BuildReuse::ByAge)),
            (vec!["make", "go test"], None),
            (vec!["make", "pytest"], Some(BuildReuse::ByStamp)),
            (vec!["npm run", "jest"], Some(BuildReuse::AsItIs)),
            (vec!["npm run", "go test"], None),
            (vec!["make", "compilers"], Some(BuildReuse::ByAge)),
            (vec!["npm run", "tsc"], Some(BuildReuse::AsItIs)),
        ] {
            let runners: Vec<&Runner> = ids.iter().map(|id| runner(id)).collect();
            assert_eq!(reuse(&runners), expected, "{ids:?}");
        }
    }
}
