//! The report of `gate run`: the end of a run, the files that it changed, and the commands that it proves.

use crate::collect::run_comparison::absent_inputs;
use crate::collect::{run_products, unread_scratch_files};
use crate::command_line::chosen_part;
use crate::engine::Workplace;
use crate::event::{Ended, Run};
use crate::gates::command_difference;
use crate::git::Repo;
use crate::policy::Policy;
use crate::recorded_run::CompletedRun;
use crate::render::ui::{BAD, GOOD, Ui, WARN};
use crate::repo_path::RepoPath;
use crate::runner::{Catalogue, why_nothing_ran};
use crate::shell_quote::shell_word;
use crate::snapshot::KeptSnapshot;

/// The maximum number of paths that are named.
const MAX_LISTED: usize = 3;

/// Prints whether a run that passed proves this commit or only the working tree, or why it proves nothing.
pub(super) fn say_what_it_proves(place: &Workplace, recorded: &CompletedRun, policy: &Policy, ui: &mut Ui) {
    let named = recorded.run.iter().filter(|run| run.command.name.is_some());
    let mut runs = named.chain(&recorded.served).peekable();
    for one in &recorded.open {
        let name = one.command.name.as_deref().unwrap_or(&one.command.line);
        let why = one.masked.as_deref().unwrap_or_default();
        ui.say(format_args!("gate: {WARN}this run proves nothing{WARN:#} about {name}: {why}"));
        ui.say(format_args!("      run it alone, so that its own status shows: gate run {}", shell_word(name)));
    }
    if runs.peek().is_none() && recorded.open.is_empty() {
        let why = why_nothing_declared(recorded, policy);
        ui.say(format_args!("gate: {WARN}this run proves nothing{WARN:#}: {why}"));
        return;
    }
    for run in runs {
        let name = run.command.name.as_deref().unwrap_or(&run.command.line);
        if let Some(how) = failure(run.ended) {
            ui.say(format_args!("gate: {BAD}this does not prove {name}{BAD:#}: `{}` {how}", run.command.line));
            continue;
        }
        let inputs = policy.commands.iter().find(|command| Some(&command.name) == run.command.name.as_ref());
        let counts = |path: &&RepoPath| inputs.is_none_or(|command| command.inputs.matches(path));
        let products = products(place, run);
        let scratch = unread_scratch_files(&place.repo, policy, run).unwrap_or_default();
        let own = |path: &RepoPath| run.logs.contains(path) || products.contains(path) || scratch.contains(path);
        let differing = differing_from_head(&place.repo, &run.end);
        let open: Option<Vec<_>> =
            differing.map(|paths| paths.into_iter().filter(|path| counts(&path) && !own(path)).collect());
        let committed = run.end.opaque.is_empty() && open.as_ref().is_some_and(Vec::is_empty);
        let changed = run.changed.iter().filter(|path| counts(path) && !own(path));
        let changed: Vec<_> = changed.take(3).map(ToString::to_string).collect();
        let absent = inputs.map(|command| absent_inputs(&place.repo, &run.start, &command.inputs)).unwrap_or_default();
        let absent: Vec<_> = absent.iter().take(3).map(ToString::to_string).collect();
        let opaque = run.start.opaque.iter().chain(&run.end.opaque).find(counts);
        match (why_it_proves_nothing(run, opaque, &changed, &absent), &run.end.head) {
            (Some(why), _) => ui.say(format_args!("gate: {WARN}this run proves nothing{WARN:#} about {name}: {why}")),
            (None, Some(head)) if committed => {
                ui.say(format_args!("gate: {GOOD}this proves {name}{GOOD:#} for this commit ({})", head.short()));
            }
            (None, _) => {
                let files = match products.as_slice() {
                    [] => "the files as they are now".to_owned(),
                    made => {
                        format!("the files as they are now, without {}", listed(&made.iter().collect::<Vec<_>>()))
                    }
                };
                ui.say(format_args!(
                    "gate: {GOOD}this proves {name}{GOOD:#} for {files}, and so a commit of exactly these files"
                ));
                if let Some(open) = open.filter(|open| !open.is_empty()) {
                    let paths: Vec<&RepoPath> = open.iter().collect();
                    ui.say(format_args!("      not as in the last commit: {}{}", listed(&paths), more(paths.len())));
                }
            }
        }
    }
}

/// Returns the reason why a run shows nothing of a declared command.
fn why_nothing_declared(recorded: &CompletedRun, policy: &Policy) -> String {
    let declared: Vec<_> = policy.commands.iter().map(|command| format!("`{}`", command.run)).collect();
    if declared.is_empty() {
        return "no command is declared".to_owned();
    }
    if let Some(part) = recorded.run.as_ref().and_then(|run| chosen_part(&run.command.line)) {
        return format!("it ran only a part of the tests: {part}");
    }
    let line = recorded.run.as_ref().map(|run| run.command.line.as_str()).unwrap_or_default();
    let how = policy.commands.iter().find_map(|command| command_difference(line, &command.run));
    let how = how.map(|how| format!(": {how}")).unwrap_or_default();
    format!("nothing shows that it ran what gate.toml declares ({}){how}", declared.join(", "))
}

/// Returns the files that the run made itself.
fn products(place: &Workplace, run: &Run) -> Vec<RepoPath> {
    let trees = [(run.start.tree.clone(), run.end.tree.clone())];
    let during = place.repo.diff_trees(&trees).ok().and_then(|mut diffs| diffs.pop());
    during.map(|during| run_products::of(run, &during)).unwrap_or_default()
}

/// Returns the paths on which a kept working tree differs from its commit; `None` if that cannot be told.
fn differing_from_head(repo: &Repo, kept: &KeptSnapshot) -> Option<Vec<RepoPath>> {
    let committed = kept.head.as_ref().map_or_else(|| Ok(repo.empty_tree()), |head| repo.tree_of(head)).ok()?;
    repo.paths_between(&committed, &kept.tree).ok()
}

/// Returns the reason why a run with status 0 proves nothing. `opaque` is an input that no commit can hold as it is;
/// `changed` are inputs that changed.
fn why_it_proves_nothing(
    run: &Run,
    opaque: Option<&RepoPath>,
    changed: &[String],
    absent: &[String],
) -> Option<String> {
    if let Some(why) = &run.masked {
        Some(why.clone())
    } else if run.report.as_ref().is_some_and(|report| report.failed > 0) {
        Some("its output counts failures".to_owned())
    } else if run.report.as_ref().is_some_and(|report| report.passed == 0) {
        let why = why_nothing_ran(Catalogue::embedded(), &run.tail).map(|why| format!(": {why}"));
        Some(format!("it executed no test{}", why.unwrap_or_default()))
    } else if !changed.is_empty() {
        Some(format!("{} changed while it ran", changed.join(", ")))
    } else if !absent.is_empty() {
        Some(format!("{} is tracked but not on disk, so it ran without it", absent.join(", ")))
    } else {
        opaque.map(|path| format!("{path} cannot be committed as it is (`git add` says why)"))
    }
}

/// Prints the files that changed while a command ran, and those that it made.
fn say_what_changed(place: &Workplace, run: &Run, ui: &mut Ui) {
    let products = products(place, run);
    let (products, changed): (Vec<&RepoPath>, Vec<&RepoPath>) =
        run.changed.iter().partition(|path| products.contains(path));
    if !changed.is_empty() {
        ui.say(format_args!("gate: {WARN}{} changed while it ran{WARN:#}", listed(&changed)));
    }
    if !products.is_empty() {
        ui.say(format_args!("gate: {WARN}it made {}, which is not committed{WARN:#}", listed(&products)));
        ui.say("      list it in .gitignore, or commit it and run the command again");
    }
}

/// Returns the end of a list, such as ` and 3 more`, for the paths that [`listed`] leaves out.
fn more(count: usize) -> String {
    if count > MAX_LISTED { format!(" and {} more", count - MAX_LISTED) } else { String::new() }
}

/// Names the first of some paths.
fn listed(paths: &[&RepoPath]) -> String {
    paths.iter().take(MAX_LISTED).map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns how a run ended that did not pass, as the end of a sentence about it.
fn failure(ended: Ended) -> Option<String> {
    match ended {
        Ended::Exited(0) => None,
        Ended::Exited(code @ (126 | 127)) => {
            Some(format!("could not start (exit status {code}: a program was not found or may not be executed)"))
        }
        Ended::Exited(code) => Some(format!("ended with status {code}")),
        Ended::Signalled(signal) => Some(format!("was killed by signal {signal}")),
        Ended::NotStarted => Some("could not start".to_owned()),
    }
}

/// Prints how a run ended, and what it changed.
pub(super) fn say(place: &Workplace, name: &str, recorded: &CompletedRun, ui: &mut Ui) {
    if let Some(error) = &recorded.finished.start_error {
        ui.say(format_args!("{BAD}gate:{BAD:#} {}", error.what));
        for line in error.remedy.lines() {
            ui.say(format_args!("      {line}"));
        }
    }
    if !recorded.withheld.is_empty() {
        let names = recorded.withheld.join(", ");
        ui.say(format_args!(
            "gate: {names} was not passed on: with it, the command would run other code than elsewhere"
        ));
    }
    let report = recorded.run.as_ref().and_then(|run| run.report.as_ref());
    let failures = report.is_some_and(|report| report.failed > 0);
    let empty = report.is_some_and(|report| report.passed == 0);
    let counts = report
        .map(|report| format!(" ({} passed, {} failed, {} skipped)", report.passed, report.failed, report.skipped));
    let counts = counts.unwrap_or_default();
    match (recorded.finished.ended, failure(recorded.finished.ended)) {
        (Ended::NotStarted, _) => {}
        (_, None) if failures => ui.say(format_args!("gate: {BAD}{name} ended with status 0{BAD:#}{counts}")),
        (_, None) if empty => ui.say(format_args!("gate: {WARN}{name} ended with status 0{WARN:#}{counts}")),
        (_, None) => ui.say(format_args!("gate: {GOOD}{name} passed{GOOD:#}{counts}")),
        (_, Some(how)) => ui.say(format_args!("gate: {BAD}{name} {how}{BAD:#}{counts}")),
    }
    match &recorded.environment {
        Ok(Some(own)) if !recorded.finished.ended.success() => {
            ui.say(format_args!("gate: it ran in the virtual environment {}", own.folder.display()));
        }
        Ok(_) => {}
        Err(distrusted) => {
            ui.say(format_args!("gate: it did not run in the project's virtual environment: {distrusted}"));
        }
    }
    if let Some(run) = &recorded.run {
        say_what_changed(place, run, ui);
    }
    if let Some(loss) = &recorded.loss {
        ui.say(format_args!("{BAD}gate:{BAD:#} this run is not recorded and proves nothing: {loss}"));
    }
}
