//! The gate `claims`: compares an agent's claims about its work with the record. A claim proves nothing; one that the
//! record contradicts is a finding of its own.

use minijinja::context;
use serde::Deserialize;

use super::finding::{Answer, Finding};
use super::{GateKind, finding_text};
use crate::command_line::CheckOutcome;
use crate::event::Ended;
use crate::fact::session_steps::{CommandRun, Deed, Step, last_words};
use crate::fact::{Assessment, PullState, RunProof, WorkStatus};
use crate::fact::{Facts, final_message, message_sentences};
use crate::gates::finding_text::plain;
use crate::lazy_patterns::PhrasePatterns;
use crate::policy::{Gate, ParamError, Policy, read_params};
use crate::repo_path::RepoPath;

/// The kind `claims`.
pub const KIND: GateKind = GateKind { name: "claims", words: "claims", check, evaluate };

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    /// The one subject that is checked, `security`. Empty for everything else.
    only: String,
    /// The rules on plain words that are on, by the names in [`WORD_RULES`].
    words: Vec<String>,
    tests: PhrasePatterns,
    build: PhrasePatterns,
    ci: PhrasePatterns,
    denials: PhrasePatterns,
    pull: PhrasePatterns,
    security: PhrasePatterns,
    security_open: PhrasePatterns,
    security_closed: PhrasePatterns,
    flaky: PhrasePatterns,
    flaky_ignored: PhrasePatterns,
    flaky_fixed: PhrasePatterns,
}

fn check(params: &toml::Table) -> Result<(), ParamError> {
    let params: Params = read_params(params)?;
    let lists = [
        ("tests", &params.tests),
        ("build", &params.build),
        ("ci", &params.ci),
        ("denials", &params.denials),
        ("pull", &params.pull),
        ("security", &params.security),
        ("security_open", &params.security_open),
        ("security_closed", &params.security_closed),
        ("flaky", &params.flaky),
        ("flaky_ignored", &params.flaky_ignored),
        ("flaky_fixed", &params.flaky_fixed),
    ];
    if let Some(other) = params.words.iter().find(|word| !WORD_RULES.contains(&word.as_str())) {
        let what = format!("`{other}` is not a rule on words; the rules are: {}", WORD_RULES.join(", "));
        return Err(ParamError { key: Some("words".to_owned()), what });
    }
    for (key, patterns) in lists {
        patterns.check().map_err(|error| ParamError { key: Some(key.to_owned()), what: error.to_string() })?;
    }
    match params.only.as_str() {
        "" | "security" => Ok(()),
        other => Err(ParamError { key: Some("only".to_owned()), what: format!("`{other}` is not `security`") }),
    }
}

/// The rules on plain words.
pub const WORD_RULES: [&str; 6] = ["tests", "build", "ci", "pull", "security", "flaky"];

/// The maximum number of entries of a list that are shown.
const LISTED: usize = 5;

/// The subject of a finding about claims on tests.
pub const TESTS: &str = "claims about tests";
/// The subject of a finding about claims on the build.
pub const BUILD: &str = "claims about the build";
/// The subject of a finding about claims on the pull request.
pub const HOSTED: &str = "claims about the pull request";
/// The subject of a finding about claims on the work.
pub const WORK: &str = "claims about the work";

fn evaluate(gate: &Gate, policy: &Policy, facts: &Facts) -> Vec<Finding> {
    let Ok(params) = read_params::<Params>(&gate.params) else { return Vec::new() };
    let mut judge = ClaimJudge { gate, policy, facts, findings: Vec::new() };
    if params.only == "security" {
        if let Some(form) = &facts.assessment {
            judge.listed(WORK, Answer::Fail, "security", &form.security_issues);
        }
        return judge.findings;
    }
    judge.last_words(&params);
    if let Some(form) = &facts.assessment {
        judge.form(form);
    }
    judge.findings
}

struct ClaimJudge<'a> {
    gate: &'a Gate,
    policy: &'a Policy,
    facts: &'a Facts,
    findings: Vec<Finding>,
}

impl ClaimJudge<'_> {
    /// Checks the claim in plain words at the end of the turn.
    fn last_words(&mut self, params: &Params) {
        let Some(last) = last_words(self.facts.story.turn()) else { return };
        let sentences = message_sentences::sentences(last);
        let is_on = |rule: &str| params.words.iter().any(|word| word == rule);
        let claimed = |rule: &str, patterns: &PhrasePatterns| {
            let claims = |sentence: &&String| {
                is_on(rule)
                    && patterns.is_match(sentence)
                    && !params.denials.is_match(sentence)
                    && !final_message::is_question(sentence)
            };
            sentences.iter().find(claims).map(|sentence| format!("the agent said “{}”", cut(sentence)))
        };
        let named = |rule: &str, [named, open, closed]: [&PhrasePatterns; 3]| {
            let left = |sentence: &&String| {
                is_on(rule) && named.is_match(sentence) && open.is_match(sentence) && !closed.is_match(sentence)
            };
            sentences.iter().find(left).map(|sentence| cut(sentence))
        };
        if let Some(claim) = claimed("tests", &params.tests) {
            self.tests_pass(&claim);
        }
        if let Some(claim) = claimed("build", &params.build) {
            self.build_passes(&claim);
        }
        if let Some(claim) = claimed("pull", &params.pull) {
            self.pull_exists(&claim);
        }
        if let Some(claim) = claimed("ci", &params.ci) {
            self.checks_green(&claim);
        }
        if let Some(words) = named("security", [&params.security, &params.security_open, &params.security_closed]) {
            self.add(WORK, Answer::Unknown, "named-hole", &context! { words });
        }
        if let Some(words) = named("flaky", [&params.flaky, &params.flaky_ignored, &params.flaky_fixed]) {
            self.add(TESTS, Answer::Unknown, "ignored-failure", &context! { words });
        }
    }

    fn form(&mut self, form: &Assessment) {
        let says = |what: &str| format!("the self-assessment says {what}");
        let tests = &form.evidence.tests;
        if tests.results == "pass" {
            self.tests_pass(&says("that tests passed"));
        } else if tests.ran == Some(true) && self.newest(is_test).is_none() {
            self.unrecorded(TESTS, &says("that tests were run"));
        }
        for command in &tests.commands {
            self.was_run(command);
        }
        if tests.ran_after_changes == Some(true)
            && let Some(step) = self.newest(is_test).map(|(step, _)| step)
            && let Some(edit) = self.changed_after(step, |_| true)
        {
            let record = format!("{edit} was changed after the last test run");
            self.misreported(TESTS, &says("that tests ran after the last change"), &record, "run them again");
        }
        if tests.skipped == Some(true) || !tests.skip_reason.is_empty() {
            self.add(TESTS, Answer::Fail, "left-out", &context! { why => cut(&tests.skip_reason) });
        }
        let build = &form.evidence.build;
        if build.results == "pass" || build.ran == Some(true) && build.results != "fail" {
            self.build_passes(&says("that the build passed"));
        }
        let pull = &form.evidence.pr;
        if pull.created == Some(true) {
            self.pull_exists(&says("that there is a pull request"));
        }
        if pull.ci_status == "pass" {
            self.checks_green(&says("that the checks are green"));
        }
        self.listed(WORK, Answer::Fail, "unfinished", &form.remaining_work);
        if form.remaining_work.is_empty() && form.status == WorkStatus::InProgress {
            let steps =
                if form.next_steps.is_empty() { vec!["in progress".to_owned()] } else { form.next_steps.clone() };
            self.listed(WORK, Answer::Fail, "unfinished", &steps);
        }
        if form.stuck || form.status == WorkStatus::Stuck {
            self.add(WORK, Answer::Fail, "stuck", &context! { other => cut(&form.alternate_approach) });
        }
        let (own, persons): (Vec<String>, Vec<String>) =
            form.needs_user_action.iter().cloned().partition(|item| !final_message::only_a_person(item));
        self.listed(WORK, Answer::Fail, "own-work", &own);
        self.listed(WORK, Answer::Unknown, "needs-person", &persons);
        if let Some(finding) = self.findings.iter_mut().find(|finding| finding.reason == "needs-person") {
            finding.persons = persons.iter().take(LISTED).map(|item| cut(item)).collect();
        }
    }

    /// Returns the newest run of such a check in the session.
    fn newest(&self, is: fn(&CommandRun, &Policy) -> bool) -> Option<(&Step, &CommandRun)> {
        self.facts.story.runs().rev().find(|(_, ran)| is(ran, self.policy) && !ran.background)
    }

    /// Returns `true` if the session's commands are recorded at all.
    fn is_told(&self) -> bool {
        !self.facts.story.is_empty()
    }

    /// Returns `true` if evidence of any session shows that a declared command of such a gate passes on the judged
    /// content.
    fn is_proven(&self) -> bool {
        let passed = |subject: &crate::fact::subject::Subject| {
            let good = |run: &crate::fact::evidence::RunFact| {
                run.shows() == RunProof::Pass && run.differs.as_ref().is_some_and(Vec::is_empty)
            };
            subject.runs.values().flatten().any(good)
        };
        self.facts.subjects.iter().any(passed)
    }

    fn tests_pass(&mut self, claim: &str) {
        match self.newest(is_test) {
            Some((step, ran)) => match ran.result {
                Some(CheckOutcome::Fail) => {
                    let (record, cure) = ended_badly(ran);
                    self.misreported(TESTS, claim, &record, cure);
                }
                Some(CheckOutcome::NoTests) => {
                    let record = format!("`{}` executed no test", cut(&ran.line));
                    self.misreported(TESTS, claim, &record, "run the tests");
                }
                // A status that is another's, over an output that was cut: nobody saw them pass.
                Some(CheckOutcome::Unknown) if ran.ended.is_some() && !self.is_proven() => {
                    self.add(TESTS, Answer::Unknown, "unshown", &context! { claim, command => cut(&ran.line) });
                }
                Some(CheckOutcome::Pass) if !self.is_proven() => {
                    if let Some(path) = self.input_edited_after(step) {
                        self.add(TESTS, Answer::Unknown, "outdated", &context! { claim, path });
                    }
                }
                _ => {}
            },
            None if !self.is_proven() => self.unrecorded(TESTS, claim),
            None => {}
        }
    }

    fn build_passes(&mut self, claim: &str) {
        match self.newest(is_build) {
            Some((_, ran)) if ran.result == Some(CheckOutcome::Fail) => {
                let (record, cure) = ended_badly(ran);
                self.misreported(BUILD, claim, &record, cure);
            }
            // Tests that ran were built before.
            None if self.newest(is_test).is_none() && !self.is_proven() => self.unrecorded(BUILD, claim),
            Some(_) | None => {}
        }
    }

    fn was_run(&mut self, command: &str) {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let named = squeezed(command.trim_matches('`'));
        let is_it = |(_, ran): (&Step, &CommandRun)| {
            let whole = squeezed(&ran.line);
            whole == named || ran.commands.iter().any(|simple| simple.words.join(" ") == named)
        };
        if !named.is_empty() && self.is_told() && !self.facts.story.runs().any(is_it) {
            self.add(TESTS, Answer::Fail, "not-run", &context! { command => cut(&named) });
        }
    }

    /// Returns a file that a declared command reads and that was changed after a step, if the content differs since.
    fn input_edited_after(&self, step: &Step) -> Option<String> {
        self.changed_after(step, |path| self.policy.commands.iter().any(|command| command.inputs.matches(path)))
    }

    /// Returns a file that `counts` and that was changed after a step, if the content differs since.
    fn changed_after(&self, step: &Step, counts: impl Fn(&RepoPath) -> bool) -> Option<String> {
        let steps = &self.facts.story.steps;
        let at = steps.iter().position(|other| other.id == step.id)?;
        if steps.last().is_none_or(|last| last.content == step.content) {
            return None;
        }
        steps[at + 1..].iter().find_map(|later| match &later.deed {
            Deed::Edited(files) => files.iter().find(|file| counts(&file.path)).map(|file| file.path.to_string()),
            _ => None,
        })
    }

    fn pull_exists(&mut self, claim: &str) {
        let known = self.facts.hosting.as_ref().and_then(|hosting| hosting.pulls.known());
        if let Some(pulls) = known
            && !pulls.iter().any(|pull| matches!(pull.state, PullState::Open | PullState::Merged))
        {
            self.misreported(HOSTED, claim, "the forge knows no open one", "open one");
        }
        let opened =
            |ran: &CommandRun| ran.kinds.iter().any(|kind| kind == "pr") && ran.ended.is_some_and(Ended::success);
        if known.is_none() && !self.facts.story.runs().any(|(_, ran)| opened(ran)) {
            self.add(HOSTED, Answer::Unknown, "unchecked", &context! { claim });
        }
    }

    fn checks_green(&mut self, claim: &str) {
        let known = self.facts.hosting.as_ref().and_then(|hosting| hosting.checks.known());
        let Some(checks) = known else {
            self.add(HOSTED, Answer::Unknown, "unchecked", &context! { claim });
            return;
        };
        let good = |check: &&crate::fact::hosting::Check| {
            matches!(check.conclusion.as_deref(), Some("success" | "skipped" | "neutral"))
        };
        if let Some(other) = checks.list.iter().find(|check| !good(check)) {
            let state = other.conclusion.as_deref().unwrap_or(other.status.as_str());
            let record = format!("{} is {state}", cut(&other.name));
            self.misreported(HOSTED, claim, &record, "wait for the checks, and fix what fails");
        }
    }

    fn misreported(&mut self, subject: &str, claim: &str, record: &str, cure: &str) {
        self.add(subject, Answer::Fail, "misreported", &context! { claim, record, cure });
    }

    fn unrecorded(&mut self, subject: &str, claim: &str) {
        if self.is_told() {
            self.add(subject, Answer::Fail, "unrecorded", &context! { claim });
        }
    }

    fn listed(&mut self, subject: &str, answer: Answer, reason: &'static str, items: &[String]) {
        if !items.is_empty() {
            let items: Vec<String> = items.iter().take(LISTED).map(|item| cut(item)).collect();
            self.add(subject, answer, reason, &context! { items => items.join("; ") });
        }
    }

    fn add(&mut self, subject: &str, answer: Answer, reason: &str, values: &minijinja::Value) {
        let words = finding_text::say(self.gate, reason, values);
        // The same is often claimed twice, in the form and in the last message.
        if self.findings.iter().any(|known| known.subject == subject && known.reason == reason && reason != "not-run") {
            return;
        }
        self.findings.push(words.finding(subject, answer, reason));
    }
}

/// Returns the record of a run that did not pass, and the remedy: it failed, or was killed before it could.
fn ended_badly(ran: &CommandRun) -> (String, &'static str) {
    let line = cut(&ran.line);
    if ran.was_cut_short() {
        let by = if ran.over_time { "ended by the time limit" } else { "killed" };
        (format!("`{line}` was {by} when it was last run"), "let it run to its end")
    } else {
        (format!("`{line}` failed when it was last run"), "fix what failed and run it again")
    }
}

fn is_test(ran: &CommandRun, policy: &Policy) -> bool {
    ran.result.is_some() && (ran.kinds.iter().any(|kind| kind == "test") || is_declared(ran, policy, "tests"))
}

fn is_build(ran: &CommandRun, policy: &Policy) -> bool {
    let built = |kind: &String| matches!(kind.as_str(), "build" | "typecheck" | "lint");
    let builds = ran.kinds.iter().any(built) || is_declared(ran, policy, "build");
    ran.result.is_some() && !is_test(ran, policy) && builds
}

/// Returns `true` if it is a command that the policy declares for this gate: the output of the project's own script
/// shows no more.
fn is_declared(ran: &CommandRun, policy: &Policy, gate: &str) -> bool {
    let named = |name: &String| policy.commands.iter().any(|command| command.name == *name && command.gate == gate);
    ran.declared.as_ref().is_some_and(named)
}

/// Shortens a foreign text for a sentence.
fn cut(text: &str) -> String {
    plain(text)
}

#[cfg(test)]
mod tests;
