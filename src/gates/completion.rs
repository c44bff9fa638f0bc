//! The gate `completion`: signs in a turn's record that its task is not done. They only advise: words are a heuristic.

use std::borrow::Cow;

use minijinja::context;
use serde::Deserialize;

use super::finding::{Answer, Finding};
use super::{GateKind, finding_text};
use crate::command_line::CheckOutcome;
use crate::event::forwarded_text::own_words;
use crate::event::{PlannedTask, Speaker, StopKind};
use crate::fact::plan::PlanProgress;
use crate::fact::session_steps::{CommandRun, Deed, Step, last_words};
use crate::fact::{Facts, final_message, message_sentences};
use crate::gates::finding_text::plain;
use crate::lazy_patterns::PhrasePatterns;
use crate::policy::{Gate, ParamError, Policy, read_params};

/// The rules, each the reason of its findings.
pub const RULES: [&str; 7] = [PLAN, "asked", "nothing-done", "left-alone", "last-failed", "offered", "ahead"];

/// The rule about the plan that a person accepted.
const PLAN: &str = "plan";
/// The most tasks that a sentence names.
const MAX_TASKS: usize = 3;

/// The kind `completion`.
pub const KIND: GateKind = GateKind { name: "completion", words: "completion", check, evaluate };

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    rules: Vec<String>,
    asks_tests: PhrasePatterns,
    asks_words: PhrasePatterns,
    asks_acts: PhrasePatterns,
    asks_change: PhrasePatterns,
    ahead: PhrasePatterns,
}

fn check(params: &toml::Table) -> Result<(), ParamError> {
    let params: Params = read_params(params)?;
    if let Some(other) = params.rules.iter().find(|rule| !RULES.contains(&rule.as_str())) {
        let what = format!("`{other}` is not a rule; the rules are: {}", RULES.join(", "));
        return Err(ParamError { key: Some("rules".to_owned()), what });
    }
    for (key, patterns) in [
        ("asks_tests", &params.asks_tests),
        ("asks_words", &params.asks_words),
        ("asks_acts", &params.asks_acts),
        ("asks_change", &params.asks_change),
        ("ahead", &params.ahead),
    ] {
        patterns.check().map_err(|error| ParamError { key: Some(key.to_owned()), what: error.to_string() })?;
    }
    Ok(())
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    let Ok(params) = read_params::<Params>(&gate.params) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut add = |reason: &str, values: &minijinja::Value| {
        if !params.rules.iter().any(|rule| rule == reason) {
            return;
        }
        let words = finding_text::say(gate, reason, values);
        findings.push(words.finding(
            facts.subjects.last().map_or("session", |subject| subject.name.as_str()),
            Answer::Unknown,
            reason,
        ));
    };
    if let Some((tasks, first)) = open_tasks(facts) {
        add(PLAN, &context! { tasks, first });
    }
    if params.rules.iter().all(|rule| rule == PLAN) {
        return findings;
    }
    let Some((task, steps)) = turn(facts) else { return findings };
    let task = &*task;
    let Params { asks_tests, asks_words, asks_acts, asks_change, ahead, .. } = &params;
    let last = last_words(steps).unwrap_or_default();
    let words = final_message::read(last);
    let is_test = |ran: &CommandRun| ran.kinds.iter().any(|kind| kind == "test");
    let mut runs = steps.iter().filter_map(ran);
    if asks_tests.is_match(task) && !runs.clone().any(is_test) {
        add("asked", &context! {});
    }
    let wants_an_act = !asks_words.is_match(task.trim()) || asks_acts.is_match(task);
    let acted = steps
        .iter()
        .any(|step| matches!(step.deed, Deed::Ran(_) | Deed::Edited(_) | Deed::Used { .. } | Deed::Subagent { .. }));
    let only_looked = steps.iter().all(|step| match &step.deed {
        Deed::Used { reads, .. } => *reads,
        deed => !matches!(deed, Deed::Ran(_) | Deed::Edited(_) | Deed::Subagent { .. }),
    });
    let wants_a_change = wants_an_act && asks_change.is_match(task.trim()) && !words.asks && !words.waits;
    if wants_an_act && !acted || wants_a_change && only_looked {
        add("nothing-done", &context! {});
    }
    if let Some((named, changed)) = left_alone(task, steps) {
        add("left-alone", &context! { named, changed });
    }
    // A search that finds nothing ends badly, too: only what does something counts.
    let does = |ran: &&CommandRun| {
        ran.decides.is_some()
            || ran.edits
            || ran.kinds.iter().any(|kind| matches!(kind.as_str(), "install" | "push" | "pr"))
    };
    if let Some(ran) = runs
        .rfind(does)
        .filter(|ran| ran.result != Some(CheckOutcome::Pass) || !is_test(ran))
        .filter(|ran| ran.ended.is_some_and(|ended| !ended.success()) || ran.result == Some(CheckOutcome::Fail))
    {
        add("last-failed", &context! { command => plain(&ran.line) });
    }
    if final_message::offer(last) {
        add("offered", &context! { words => plain(&tail(last)) });
    } else if wants_an_act
        && let Some(sentence) =
            message_sentences::sentences(last).iter().rev().take(12).find(|line| ahead.is_match(line))
        && !words.waits
    {
        add("ahead", &context! { words => plain(sentence) });
    }
    findings
}

/// Returns the tasks of the plan that no commit names, for a sentence, and the number of the first.
fn open_tasks(facts: &Facts) -> Option<(String, usize)> {
    let open: Vec<&PlannedTask> = facts.plan.iter().flat_map(PlanProgress::open).collect();
    let shown = open.iter().take(MAX_TASKS).map(|task| format!("{} (“{}”)", task.number, plain(&task.text)));
    let mut list = shown.collect::<Vec<_>>().join(", ");
    if open.len() > MAX_TASKS {
        list = format!("{list} and {} more", open.len() - MAX_TASKS);
    }
    let noun = if open.len() == 1 { "task" } else { "tasks" };
    Some((format!("{noun} {list}"), open.first()?.number))
}

/// Returns the task of the last turn in a person's own words, and its steps, if the agent ended the turn itself.
fn turn(facts: &Facts) -> Option<(Cow<'_, str>, &[Step])> {
    let turn = facts.story.turn();
    let (first, steps) = turn.split_first()?;
    let Deed::Prompted { from: Speaker::Person, text } = &first.deed else { return None };
    let ended = steps.iter().rev().any(|step| matches!(step.deed, Deed::Stopped { how: StopKind::Completed, .. }));
    ended.then(|| (own_words(text), steps))
}

fn ran(step: &Step) -> Option<&CommandRun> {
    if let Deed::Ran(ran) = &step.deed { Some(ran) } else { None }
}

/// Returns a file that the task names by its path and that was not changed, and another one that was.
fn left_alone(task: &str, steps: &[Step]) -> Option<(String, String)> {
    let is_path = |word: &&str| {
        word.contains('/') && !word.contains("://") && word.rsplit('/').next().is_some_and(|base| base.contains('.'))
    };
    let words = task.split_whitespace().map(|word| word.trim_matches(['`', '"', '\'', ',', '.', ':', ';', '(', ')']));
    let named: Vec<&str> = words.filter(is_path).collect();
    let changed: Vec<String> = steps
        .iter()
        .filter_map(|step| if let Deed::Edited(files) = &step.deed { Some(files) } else { None })
        .flatten()
        .map(|file| file.path.to_string())
        .collect();
    let touched = |named: &&&str| changed.iter().any(|path| path.ends_with(**named));
    let ran = steps.iter().any(|step| ran(step).is_some_and(|ran| ran.edits));
    if named.is_empty() || changed.is_empty() || ran || named.iter().any(|named| touched(&named)) {
        return None;
    }
    Some((named[0].to_owned(), changed[0].clone()))
}

fn tail(text: &str) -> String {
    message_sentences::sentences(text).last().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::session_steps::test_builder::Tale;
    use crate::moment::Moment;
    use crate::policy::PolicySource;

    fn reasons(tale: &Tale) -> Vec<String> {
        let rules = "[gates.completion.params]\nrules = [\"asked\", \"nothing-done\", \"left-alone\", \"last-failed\", \
                     \"offered\", \"ahead\"]\n";
        let policy =
            crate::config::parse("gate.toml", rules, PolicySource::Defaults, &super::super::check_params).unwrap();
        let facts = Facts { story: tale.story(), ..Facts::at(Moment::Stop) };
        let results = super::super::judge(&policy, &facts);
        let result = results.iter().find(|result| result.gate == "completion").unwrap();
        assert!(result.effect() <= super::super::finding::Effect::Said, "it advises");
        result.findings.iter().map(|finding| finding.reason.clone()).collect()
    }

    #[test]
    fn signs_that_a_task_is_not_done() {
        let of = |prompt: &str| Tale::default().prompt(prompt);
        let edited = |prompt: &str| of(prompt).edit("src/a.ts", "a", "b");
        for (tale, want) in [
            (edited("Fix a and run the tests").stop("Fixed."), &["asked"][..]),
            (edited("Fix a and run the tests").ran("npm test", 0, "").stop("Fixed."), &[]),
            (of("Deploy it").stop("Here is how to deploy it."), &["nothing-done"]),
            (of("How is it deployed?").stop("With make."), &[]),
            (of("Explain the parser").stop("It parses."), &[]),
            (of("Fix the pager").read("pager.rs").stop("I fixed the pager."), &["nothing-done"]),
            (of("Make it stream").read("a.rs").stop("I could not do this."), &["nothing-done"]),
            (of("Fix the pager").read("pager.rs").stop("Which of the two is wrong?"), &[]),
            (of("Look at the pager").read("pager.rs").stop("It is off by one."), &[]),
            (of("Analysiere den Pager").read("pager.rs").stop("Er zählt falsch."), &[]),
            (edited("Fix the typo in src/config.ts").stop("Fixed."), &["left-alone"]),
            (edited("Fix the typo in src/a.ts").stop("Fixed."), &[]),
            (edited("Add joi").ran("npm install joi", 1, "npm error").stop("Added."), &["last-failed"]),
            (edited("Add joi").ran("grep -rn joi src", 1, "").stop("Added."), &[]),
            (edited("Add joi").ran("go test ./... 2>&1 | grep -v '^ok'", 1, "").stop("Added."), &[]),
            (edited("Move all routes").stop("Moved one.\n\nWould you like me to continue?"), &["offered"]),
            (edited("Move all routes").stop("Moved two.\n\nRemaining (3/5):\n- ⬜ orders"), &["ahead"]),
            (edited("Move all routes").stop("Moved all routes."), &[]),
            (edited("Stelle alle Module um").stop("Zwei sind umgestellt.\n\nNoch offen:\n- c.py"), &["ahead"]),
            (edited("修复分页并运行测试").stop("分页已经修复。"), &["asked"]),
            (edited("Ändere a und führe die Tests aus").ran("npm test", 0, "").stop("Fertig."), &[]),
            (
                edited("Corrige a")
                    .ran("cargo test 2>&1 | tail -1", 0, "error: test failed, to rerun pass `--lib`")
                    .stop("Listo."),
                &["last-failed"],
            ),
            (edited("Fix a").said("Next I read it."), &[]),
        ] {
            assert_eq!(reasons(&tale), want);
        }
    }

    #[test]
    fn a_plan_with_tasks_that_no_commit_names_gets_advice() {
        use crate::event::accepted_plan::AcceptedPlan;
        let task = |number| PlannedTask { number, text: format!("do {number}"), touches: Vec::new() };
        let plan = AcceptedPlan { tasks: vec![task(2), task(1)], ..AcceptedPlan::default() };
        let policy =
            crate::config::parse("gate.toml", "", PolicySource::Defaults, &super::super::check_params).unwrap();
        let messages = |commit: &str| {
            let commits = [("abc1234".to_owned(), format!("a: b\n\n{commit}\n"))];
            let facts = Facts { plan: Some(PlanProgress::of(&plan, &commits)), ..Facts::at(Moment::Stop) };
            let results = super::super::judge(&policy, &facts);
            let result = results.into_iter().find(|result| result.gate == "completion").unwrap();
            assert!(result.effect() <= super::super::finding::Effect::Said, "it advises");
            result.findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        assert_eq!(messages("no trailer"), ["no commit names tasks 2 (“do 2”), 1 (“do 1”) of the plan"]);
        assert_eq!(messages("Plan-Item: 1"), ["no commit names task 2 (“do 2”) of the plan"]);
        assert!(messages("Plan-Item: 1, 2").is_empty());
    }

    #[test]
    fn no_other_rule_is_on_by_itself() {
        let policy =
            crate::config::parse("gate.toml", "", PolicySource::Defaults, &super::super::check_params).unwrap();
        let story = Tale::default().prompt("Deploy it").stop("Here is how to deploy it.").story();
        let results = super::super::judge(&policy, &Facts { story, ..Facts::at(Moment::Stop) });
        assert!(results.iter().all(|result| result.gate != "completion" || result.findings.is_empty()));
    }
}
