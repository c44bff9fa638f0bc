//! Selects the recorded runs that are compared with a subject, and finds their differences.
//!
//! Comparing costs most of a judgement. Nearly always one of the newest runs is good and of exactly this content. Then
//! other good runs cannot change the answer, and only those that failed or showed nothing are still looked at.

use crate::collect::draft::Draft;
use std::collections::{BTreeMap, BTreeSet};

use crate::collect::failed_tests::is_named_by_code;
use crate::collect::named_texts::NamedTexts;
use crate::collect::{CollectError, Sources, run_products, tree_differences};
use crate::command_line::rewritten_files::rewriter;
use crate::fact::evidence::{RunFact, RunProof};
use crate::git::{GitError, PathChange, Repo, TreeDiff};
use crate::journal::{MAX_PATHS, RecordedRun};
use crate::local_file::{LocalCause, LocalFile, is_collected};
use crate::oid::Oid;
use crate::policy::{Command, PathRules};
use crate::repo_path::RepoPath;
use crate::snapshot::{KeptSnapshot, Presence, Snapshot};

/// The number of the newest runs of a command that are compared with a subject, in addition to those on exactly its
/// tree.
const COMPARED: usize = 32;
/// The number of these that are compared first.
const FIRST: usize = 4;

/// A run that is compared with a draft.
struct RunPair<'a> {
    draft: usize,
    command: &'a Command,
    run: RecordedRun,
}

/// Adds to each subject the runs that may be of its content, newest first. Calls git at most twice.
pub(super) fn runs(sources: Sources<'_>, texts: &NamedTexts<'_>, drafts: &mut [Draft<'_>]) -> Result<(), CollectError> {
    let (mut exact, mut first, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (index, draft) in drafts.iter().enumerate() {
        let Some(tree) = &draft.tree else { continue };
        // Below changes that a command does not read, a run on the commit's tree counts, too.
        let mut trees = vec![tree];
        trees.extend(draft.whole.as_ref().filter(|whole| *whole != tree));
        for command in sources.policy.commands.iter().filter(|command| may_be_asked(draft, &texts.rules(command))) {
            for (number, run) in candidates(sources, command, &trees)?.into_iter().enumerate() {
                let part = if is_on(&run, draft) {
                    &mut exact
                } else if number < FIRST {
                    &mut first
                } else {
                    &mut rest
                };
                part.push(RunPair { draft: index, command, run });
            }
        }
    }
    // Equal trees cost nothing, and usually settle it.
    compare(sources, texts, drafts, exact)?;
    let (settled, open) = split(sources, texts, drafts, first);
    compare(sources, texts, drafts, open)?;
    let (also_settled, open) = split(sources, texts, drafts, rest);
    let not_good = |pair: &RunPair<'_>| run_fact(&pair.run, None, &TreeDiff::Unreadable).shows() != RunProof::Pass;
    let settled = settled.into_iter().chain(also_settled).filter(not_good);
    compare(sources, texts, drafts, settled.chain(open).collect())?;
    for draft in drafts.iter_mut() {
        draft.subject.runs.values_mut().for_each(|runs| runs.sort_by(|a, b| b.id.cmp(&a.id)));
    }
    let all: Vec<_> = drafts.iter_mut().flat_map(|draft| draft.subject.runs.values_mut().flatten()).collect();
    if all.iter().any(|run| !run.left_behind.is_empty() || !run.local_files.is_empty()) {
        let local = made_local_files(sources);
        let made = made_by_runs(sources);
        for run in all {
            run.left_behind.retain(|path| !made.contains(path));
            run.local_files.retain(|file| !local.contains(file));
        }
    }
    Ok(())
}

/// Returns the left-behind files that declared commands make: they did not exist when such a run started, and existed
/// when it ended.
fn made_by_runs(sources: Sources<'_>) -> BTreeSet<RepoPath> {
    let keys = sources.policy.commands.iter().map(|command| command.reference().key);
    let runs: Vec<RecordedRun> = keys.flat_map(|key| sources.state.runs(&key).to_vec()).collect();
    let made = runs.iter().flat_map(|recorded| {
        let run = &recorded.run;
        run.end.left_behind.iter().filter(|path| !run.start.left_behind.contains(path))
    });
    made.cloned().collect()
}

/// Returns the hidden files that a declared command makes: they did not exist when it started, and existed when it
/// ended. What a rule hides that is not committed counts only if the line was the command word for word. Files that
/// runners find by name alone are never included.
pub(super) fn made_local_files(sources: Sources<'_>) -> BTreeSet<LocalFile> {
    let keys = sources.policy.commands.iter().map(|command| command.reference().key);
    let mut made = BTreeSet::new();
    for recorded in keys.flat_map(|key| sources.state.runs(&key)) {
        let run = &recorded.run;
        let is_made = |file: &&LocalFile| {
            let hidden = file.cause == LocalCause::Ignored || file.cause == LocalCause::Excluded && run.verbatim;
            hidden && !is_collected(&file.path) && !run.start.local_files.contains(file)
        };
        made.extend(run.end.local_files.iter().filter(is_made).cloned());
    }
    made
}

/// Splits the pairs into those whose command is settled for their subject, and the others.
fn split<'a>(
    sources: Sources<'_>,
    texts: &NamedTexts<'_>,
    drafts: &[Draft<'_>],
    pairs: Vec<RunPair<'a>>,
) -> (Vec<RunPair<'a>>, Vec<RunPair<'a>>) {
    let mut known = BTreeMap::new();
    pairs.into_iter().partition(|pair| {
        *known
            .entry((pair.draft, &pair.command.name))
            .or_insert_with(|| is_settled(sources, texts, &drafts[pair.draft], pair.command))
    })
}

fn compare(
    sources: Sources<'_>,
    texts: &NamedTexts<'_>,
    drafts: &mut [Draft<'_>],
    pairs: Vec<RunPair<'_>>,
) -> Result<(), CollectError> {
    // Of a run, what it is compared with first, then what happened while it ran: the list in the journal is cut off.
    let trees: Vec<_> = pairs
        .iter()
        .filter_map(|pair| {
            let (start, end) = (pair.run.run.start.tree.clone(), pair.run.run.end.tree.clone());
            let draft = &drafts[pair.draft];
            let with = if is_on(&pair.run, draft) { start.clone() } else { draft.tree.clone()? };
            Some([(start.clone(), with), (start, end)])
        })
        .flatten()
        .collect();
    let diffs = sources.repo.diff_trees(&trees)?;
    for (pair, diff) in pairs.into_iter().zip(diffs.chunks_exact(2)) {
        let draft = &mut drafts[pair.draft];
        let differs = if is_on(&pair.run, draft) { Some(Vec::new()) } else { draft.differing(&diff[0]) };
        let absent = absent_inputs(sources.repo, &pair.run.run.start, &pair.command.inputs);
        let mut fact = RunFact { absent, ..run_fact(&pair.run, differs, &diff[1]) };
        name_failures(sources, &pair.run, &mut fact);
        let mut own = own_logs(sources, &pair.run)?;
        own.extend(run_products::of(&pair.run.run, &diff[1]));
        leave_out(&mut fact, &own, &diff[0], &diff[1], draft.snapshot);
        take_rewritten_files(&mut fact, &diff[0], &diff[1]);
        forget_committed(&mut fact, &diff[0]);
        texts.ask_of_run(pair.command, &fact)?;
        draft.subject.runs.entry(pair.command.name.clone()).or_default().push(fact);
    }
    Ok(())
}

/// The inputs of a command that a kept content holds and that were not on disk.
pub fn absent_inputs(repo: &Repo, kept: &KeptSnapshot, inputs: &PathRules) -> Vec<RepoPath> {
    let may_count = |path: &&RepoPath| path.as_bytes() == b"." || inputs.matches_below(path);
    let paths: Vec<RepoPath> = kept.absent.iter().filter(may_count).cloned().collect();
    // Content that is not here any more agrees with nothing anyway.
    let mut files = repo.files_below(&kept.tree, &paths).unwrap_or_default();
    files.retain(|path| inputs.matches(path));
    files
}

/// Returns the files into which a run, or an earlier one of the same command, wrote only its own output: they did not exist
/// when it began, or held the output of the earlier run. The checks may have read any other content.
fn own_logs(sources: Sources<'_>, recorded: &RecordedRun) -> Result<Vec<RepoPath>, GitError> {
    let run = &recorded.run;
    let earlier = sources.state.runs(&run.command.key).iter().filter(|earlier| earlier.id < recorded.id);
    let earlier: Vec<&RecordedRun> = earlier.filter(|earlier| !earlier.run.logs.is_empty()).take(FIRST).collect();
    let logged = run.logs.iter().chain(earlier.iter().flat_map(|earlier| &earlier.run.logs));
    let (old, new): (Vec<&RepoPath>, Vec<&RepoPath>) = logged.partition(|path| run.start.untracked.contains(path));
    let mut own: Vec<RepoPath> = new.into_iter().filter(|path| run.logs.contains(path)).cloned().collect();
    if old.is_empty() {
        return Ok(own);
    }
    let trees: Vec<_> = earlier.iter().map(|earlier| (earlier.run.end.tree.clone(), run.start.tree.clone())).collect();
    let diffs = sources.repo.diff_trees(&trees)?;
    let was_written = |path: &RepoPath| {
        let same = |diff: &TreeDiff| matches!(diff, TreeDiff::Changes(changes) if changes.iter().all(|change| change.path != *path));
        earlier.iter().zip(&diffs).any(|(earlier, diff)| earlier.run.logs.contains(path) && same(diff))
    };
    for path in old.into_iter().filter(|path| was_written(path)) {
        // The checks may read what an earlier run left.
        if run.logs.contains(path) || !is_named_by_code(sources.repo, path, &run.start.tree)? {
            own.push(path.clone());
        }
    }
    Ok(own)
}

/// Leaves out these files of a run, if no commit holds them and if they are as the run left them, or gone. `with` leads
/// from its start to the subject's tree, `during` to its end.
fn leave_out(fact: &mut RunFact, own: &[RepoPath], with: &TreeDiff, during: &TreeDiff, snapshot: Option<&Snapshot>) {
    let (TreeDiff::Changes(with), TreeDiff::Changes(during)) = (with, during) else { return };
    let of = |changes: &[PathChange], path: &RepoPath| changes.iter().find(|change| change.path == *path).cloned();
    for path in own {
        let (with, during) = (of(with, path), of(during, path));
        let here = snapshot.and_then(|here| here.dirty.iter().find(|dirty| dirty.path == *path));
        let committed = match (&with, &during) {
            _ if here.is_some_and(|here| here.presence == Presence::Untracked) => false,
            (Some(with), _) => with.after.is_some(),
            (None, Some(during)) => during.before.is_some(),
            (None, None) => continue,
        };
        let left = during.as_ref().map_or_else(|| with.and_then(|with| with.before), |during| during.after.clone());
        let is_another = here.is_some_and(|here| here.now.is_some() && here.now != left);
        if !committed && !is_another {
            fact.changed.iter_mut().chain(&mut fact.differs).for_each(|paths| paths.retain(|known| known != path));
        }
    }
}

/// Takes the content at the end of a run for the tested one if it differs only in files that a tool rewrites before the
/// checks begin (`Cargo.lock`), and if the subject has them as the run left them.
fn take_rewritten_files(fact: &mut RunFact, with: &TreeDiff, during: &TreeDiff) {
    let (TreeDiff::Changes(with), TreeDiff::Changes(during)) = (with, during) else { return };
    let is_taken = |change: &PathChange| {
        let here = with.iter().find(|other| other.path == change.path);
        rewriter(&change.path).is_some_and(|file| !file.manifest) && here.is_some_and(|here| here.after == change.after)
    };
    if during.iter().all(is_taken) {
        let is_other = |path: &RepoPath| during.iter().all(|change| change.path != *path);
        fact.changed.iter_mut().chain(&mut fact.differs).for_each(|paths| paths.retain(&is_other));
    }
}

/// Leaves the paths out of the untracked ones that the subject holds by now.
fn forget_committed(fact: &mut RunFact, with: &TreeDiff) {
    let TreeDiff::Changes(with) = with else { return };
    fact.untracked.retain(|path| !with.iter().any(|change| change.path == *path && change.after.is_some()));
}

/// Returns `true` if a run was on exactly the content of a draft.
fn is_on(run: &RecordedRun, draft: &Draft<'_>) -> bool {
    draft.whole.as_ref() == Some(&run.run.start.tree)
}

/// Returns `true` if any gate could require the evidence of this command: a change that it does not read needs no
/// comparison.
fn may_be_asked(draft: &Draft<'_>, inputs: &PathRules) -> bool {
    let changed = |paths: &Vec<RepoPath>| paths.iter().any(|path| inputs.matches(path));
    draft.subject.opaque.iter().any(|path| inputs.matches_below(path))
        || draft.subject.changed.as_ref().is_none_or(changed)
}

/// Returns `true` if a run that counts is good and of this content, so that another good one adds nothing.
fn is_settled(sources: Sources<'_>, texts: &NamedTexts<'_>, draft: &Draft<'_>, command: &Command) -> bool {
    let inputs = texts.rules(command);
    let gate = sources.policy.gates.iter().find(|gate| gate.id == command.gate);
    let good = |run: &RunFact| {
        gate.is_some_and(|gate| run.grade >= gate.min_grade)
            && run.shows() == RunProof::Pass
            && run.left_behind.is_empty()
            && run.is_stable(&inputs)
            && run.agrees(&inputs, &draft.subject.opaque)
    };
    draft.subject.runs.get(&command.name).is_some_and(|runs| runs.iter().any(good))
}

/// Returns the runs that may be of this content: the newest, and all on exactly one of `trees`. Newest first.
fn candidates(sources: Sources<'_>, command: &Command, trees: &[&Oid]) -> Result<Vec<RecordedRun>, CollectError> {
    let key = command.reference().key;
    // What the state says is a cache: a pass counts where the journal has it. What waits in the spool is in no cache.
    let counts = |run: &&RecordedRun| run.offset.is_none() || !run.run.ended.success() || sources.journal.holds(run);
    let mut runs: Vec<_> = sources.state.runs(&key).iter().take(COMPARED).filter(counts).cloned().collect();
    for tree in trees {
        for run in sources.journal.runs_on(&key, tree)? {
            if runs.iter().all(|known| known.id != run.id) && !sources.state.doubts(&run.id) {
                runs.push(run);
            }
        }
    }
    runs.sort_by(|a, b| b.id.cmp(&a.id));
    Ok(runs)
}

/// Adds the tests that failed in a run. They are all that is wrong with it if the runner named every test, counted as
/// many failures, and was started by the line itself in a way in which a failure keeps no other test from running.
fn name_failures(sources: Sources<'_>, recorded: &RecordedRun, fact: &mut RunFact) {
    let Some(named) = sources.state.failed_in(&recorded.id) else { return };
    fact.failed_tests.clone_from(&named.tests);
    let Some(report) = recorded.run.report.as_ref().filter(|_| named.all) else { return };
    let runner = sources.policy.runners.runner(&report.runner);
    let source = runner.and_then(|runner| Some((runner, runner.names.as_ref()?)));
    let goes_on = source.is_some_and(|(runner, source)| source.goes_on(&runner.id, &recorded.run.command.line));
    fact.failed_in_these_alone = goes_on && report.passed > 0 && report.failed == named.tests.len() as u64;
}

fn run_fact(recorded: &RecordedRun, differs: Option<Vec<RepoPath>>, during: &TreeDiff) -> RunFact {
    let run = &recorded.run;
    // A list that is full may have lost paths, and then nobody knows which.
    let cut = [&run.start, &run.end].iter().any(|snapshot| snapshot.opaque.len() >= MAX_PATHS);
    RunFact {
        id: recorded.id.clone(),
        grade: recorded.origin.grade,
        ended: run.ended,
        over_time: run.over_time,
        report: run.report.clone(),
        verbatim: run.verbatim,
        masked: run.masked.clone(),
        tree: run.start.tree.clone(),
        head: run.start.head.clone(),
        changed: match during {
            // Files that were written during the run, and put back.
            TreeDiff::Changes(changes) if changes.is_empty() => Some(run.changed.clone()),
            TreeDiff::Changes(changes) => Some(tree_differences::listed(changes)),
            TreeDiff::Unreadable => None,
        },
        opaque: run.start.opaque.iter().chain(&run.end.opaque).cloned().collect::<Vec<_>>(),
        untracked: run.start.untracked.clone(),
        left_behind: run.start.left_behind.clone(),
        tool_folders: run.start.tool_folders.clone(),
        local_files: run.start.local_files.clone(),
        absent: Vec::new(),
        failed_tests: Vec::new(),
        failed_in_these_alone: false,
        on_a_copy: false,
        differs: differs.filter(|_| !cut),
    }
}
