//! The gate `ci-green`: all reports on the judged commit are green.
//!
//! Reports are grouped as on GitHub's page of a commit: the jobs of the newest run of a workflow for one event. Names
//! alone are not enough: several workflows may have a job of the same name, and then a green one would hide a red one.

use std::collections::BTreeMap;

use minijinja::{Value, context};
use serde::Deserialize;

use super::GateKind;
use super::finding::{Answer, Finding};
use super::forge_gates::{self, Offline, cure, unreadable, why};
use super::pull_request::open_pull;
use crate::fact::{Check, CheckKind, Checks, Facts, ForgeAnswer, Hosting, RequiredStatus, Via};
use crate::gates::finding_text::names;
use crate::globs::Globs;
use crate::moment::Moment;
use crate::policy::{Gate, ParamError, Policy, read_params};

/// The kind `ci-green`.
pub const KIND: GateKind = GateKind { name: "ci-green", words: "ci-green", check, evaluate };

/// The reasons that resolve by themselves: a caller that can wait tries again.
pub const WAITING: &[&str] = &["pending", "absent", "none"];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    required: Vec<String>,
    only_required: bool,
    ignore: Vec<String>,
    green: Vec<String>,
    red: Vec<String>,
    offline: Offline,
}

fn check(params: &toml::Table) -> Result<(), ParamError> {
    forge_gates::check_globs("ignore", &read_params::<Params>(params)?.ignore)
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    let (Ok(params), Some(hosting)) = (read_params::<Params>(&gate.params), &facts.hosting) else {
        return Vec::new();
    };
    let (answer, reason, more) = answer(gate, &params, facts.moment, hosting);
    let more = context! { number => open_pull(hosting).map(|pull| pull.number), ..more };
    vec![forge_gates::finding(gate, facts, hosting, (answer, reason, more))]
}

type CheckReports = (Answer, &'static str, Value);

fn answer(gate: &Gate, params: &Params, moment: Moment, hosting: &Hosting) -> CheckReports {
    let head = &hosting.head;
    if head.via == Via::Branch && moment != Moment::Ci && head.pushed.as_ref() != Some(&head.commit) {
        return (Answer::Skip, "unpushed", context! {});
    }
    let cannot = |trouble| {
        let (answer, reason) = unreadable(gate, moment, params.offline, trouble);
        (answer, reason, context! { why => why(trouble), cure => cure(trouble) })
    };
    let (checks, required) = match (&hosting.checks, &hosting.required) {
        (ForgeAnswer::Unreadable(trouble), _) => return cannot(trouble),
        (ForgeAnswer::Known(checks), ForgeAnswer::Known(required)) => (checks, required.as_slice()),
        // A failure that is seen is one, whatever else is not.
        (ForgeAnswer::Known(checks), ForgeAnswer::Unreadable(trouble)) => {
            let said = tally(params, moment, checks, &[]);
            return if said.0 == Answer::Fail { said } else { cannot(trouble) };
        }
    };
    let said = tally(params, moment, checks, required);
    match checks.missing.first() {
        Some(trouble) if said.0 != Answer::Fail => match unreadable(gate, moment, params.offline, trouble) {
            (Answer::Unknown, _) => {
                (Answer::Unknown, "incomplete", context! { why => why(trouble), cure => cure(trouble) })
            }
            _ => cannot(trouble),
        },
        _ => said,
    }
}

/// The colour of one report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Colour {
    Green,
    /// The report is green for the forge, but not if the policy requires success.
    Skipped,
    Pending,
    /// The report waits for a person.
    Approval,
    Red,
}

fn colour(params: &Params, check: &Check) -> Colour {
    let Some(conclusion) = check.conclusion.as_deref().filter(|_| check.status == "completed") else {
        return Colour::Pending;
    };
    let is = |words: &[String]| words.iter().any(|word| word == conclusion);
    match () {
        // A run of a workflow without jobs that wants an action is one from a fork that nobody has let start.
        () if check.kind == CheckKind::Workflow && conclusion == "action_required" => Colour::Approval,
        () if is(&params.red) => Colour::Red,
        () if conclusion == "success" && is(&params.green) => Colour::Green,
        () if is(&params.green) => Colour::Skipped,
        () => Colour::Pending,
    }
}

fn tally(params: &Params, moment: Moment, checks: &Checks, required: &[RequiredStatus]) -> CheckReports {
    let ignored = Globs::new(&params.ignore).ok();
    let counts = |check: &&Check| !ignored.as_ref().is_some_and(|set| set.is_match(&check.name));
    let (own, mut others): (Vec<&Check>, Vec<&Check>) = checks.list.iter().filter(counts).partition(|check| check.own);
    // What the asking job said of this commit in an earlier run is what it is asked again for. Only of itself: what else
    // is in its run may not be listed yet.
    others.retain(|check| !own.iter().any(|mine| is_former(mine, check)));
    let newest = newest(params, &others);

    let asked: Vec<ExpectedCheck<'_>> = required
        .iter()
        .map(|one| ExpectedCheck { name: &one.name, app: one.app, strict: false })
        .chain(params.required.iter().map(|name| ExpectedCheck { name, app: None, strict: true }))
        .filter(|one| !own.iter().any(|check| one.is(check)))
        .collect();
    let wanted = |check: &&Check| !params.only_required || asked.is_empty() || asked.iter().any(|one| one.is(check));
    let counted: Vec<&Check> = newest.iter().copied().filter(wanted).collect();
    let of = |wanted: Colour| counted.iter().copied().filter(move |check| colour(params, check) == wanted);

    let mut red: Vec<&Check> = of(Colour::Red).collect();
    // Required by the policy, and only skipped.
    let strict = |check: &&Check| asked.iter().any(|one| one.strict && one.is(check));
    let skipped: Vec<&Check> = of(Colour::Skipped).filter(strict).collect();
    let unmet: Vec<&Check> =
        skipped.into_iter().filter(|one| !of(Colour::Green).any(|check| check.name == one.name)).collect();
    red.extend(unmet);

    let absent: Vec<&str> =
        asked.iter().filter(|one| !newest.iter().any(|check| one.is(check))).map(|one| one.name).collect();
    let open = if moment == Moment::Ci { Answer::Unknown } else { Answer::Pending };
    let total = counted.len();
    let say = |answer, reason, list: Vec<&str>| {
        (answer, reason, context! { count => list.len(), total, names => names(list.into_iter()) })
    };
    let approval: Vec<_> = of(Colour::Approval).map(|check| check.name.as_str()).collect();
    let pending: Vec<_> = of(Colour::Pending).map(|check| check.name.as_str()).collect();
    if !red.is_empty() {
        say(Answer::Fail, "red", red.iter().map(|check| check.name.as_str()).collect())
    } else if !approval.is_empty() {
        say(open, "approval", approval)
    } else if !pending.is_empty() {
        say(open, "pending", pending)
    } else if !absent.is_empty() {
        say(open, "absent", absent)
    } else if total == 0 && !own.is_empty() {
        say(Answer::Skip, "alone", Vec::new())
    } else if total == 0 {
        say(open, "none", Vec::new())
    } else {
        say(Answer::Pass, "green", Vec::new())
    }
}

/// A check that must report.
struct ExpectedCheck<'a> {
    name: &'a str,
    app: Option<u64>,
    /// `true` if only success is enough.
    strict: bool,
}

impl ExpectedCheck<'_> {
    fn is(&self, check: &Check) -> bool {
        self.name == check.name
            && self.app.is_none_or(|app| check.app == Some(app))
            && check.kind != CheckKind::Workflow
    }
}

/// Returns `true` if the check of this name succeeded in each of its reports that count, and there is one. If the forge
/// requires it from one app, only the reports of that app count: many tokens can set a status with its name.
pub(super) fn succeeded(checks: &Checks, required: &[RequiredStatus], name: &str) -> bool {
    let others: Vec<&Check> =
        checks.list.iter().filter(|check| !check.own && check.kind != CheckKind::Workflow).collect();
    let apps: Vec<u64> = required.iter().filter(|one| one.name == name).filter_map(|one| one.app).collect();
    let expected = |check: &&Check| apps.is_empty() || check.app.is_some_and(|app| apps.contains(&app));
    let newest = newest(&Params::default(), &others).into_iter();
    let mut reports = newest.filter(|check| check.name == name).filter(expected).peekable();
    let success = |check: &Check| check.status == "completed" && check.conclusion.as_deref() == Some("success");
    reports.peek().is_some() && reports.all(success)
}

/// The group of a report. In each group, the newest counts.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum ReportGroup<'a> {
    Status(&'a str),
    Job { workflow: &'a str, event: Option<&'a str> },
    Other { app: Option<u64>, name: &'a str },
}

fn group(check: &Check) -> ReportGroup<'_> {
    match (check.kind, &check.workflow) {
        (CheckKind::Status, _) => ReportGroup::Status(&check.name),
        (_, Some(workflow)) => ReportGroup::Job { workflow, event: check.event.as_deref() },
        (_, None) => ReportGroup::Other { app: check.app, name: &check.name },
    }
}

/// Returns `true` if `check` is an earlier report of the job of `mine`, or of a run of its workflow that came to no
/// job.
fn is_former(mine: &Check, check: &Check) -> bool {
    (mine.name == check.name || check.kind == CheckKind::Workflow)
        && group(mine) == group(check)
        && (check.run, check.id) < (mine.run, mine.id)
}

/// Returns the reports that count: of each group, the newest run with all its jobs, and of an older run each job whose
/// newer report was skipped, since a skipped job proves nothing.
fn newest<'a>(params: &Params, checks: &[&'a Check]) -> Vec<&'a Check> {
    let mut groups: BTreeMap<ReportGroup<'_>, Vec<&'a Check>> = BTreeMap::new();
    for &check in checks {
        groups.entry(group(check)).or_default().push(check);
    }
    let mut counted = Vec::new();
    for (key, mut members) in groups {
        members.sort_by_key(|check| std::cmp::Reverse((check.run, check.id)));
        let Some(first) = members.first().copied() else { continue };
        for &check in members.iter().filter(|check| match key {
            ReportGroup::Job { .. } => check.run == first.run,
            ReportGroup::Status(_) | ReportGroup::Other { .. } => check.id == first.id && check.run == first.run,
        }) {
            let former = || {
                let older = members.iter().copied().filter(|older| older.name == check.name && older.run < check.run);
                older.into_iter().find(|older| colour(params, older) != Colour::Skipped)
            };
            let undone = if colour(params, check) == Colour::Skipped { former() } else { None };
            counted.push(undone.filter(|older| colour(params, older) == Colour::Red).unwrap_or(check));
        }
    }
    counted
}

#[cfg(test)]
mod tests;
