//! No push goes directly to a protected branch.
//!
//! Judged on the refs that git resolved, never on the text of a command: the seeds' own guard read text and missed
//! `git push`, `origin HEAD` and `--all` (`seeds/002`, as its implementation was observed).

use minijinja::context;
use serde::Deserialize;

use super::Kind;
use super::finding::{Answer, Finding};
use super::words;
use crate::fact::Facts;
use crate::fact::subject::{DefaultBranch, RefUpdate, Subject};
use crate::policy::{Gate, ParamError, Policy, glob_set};

/// The kind `protected-branch`.
pub const KIND: Kind = Kind { name: "protected-branch", words: "protected-branch", check, evaluate };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    #[serde(default)]
    branches: Vec<String>,
    #[serde(default)]
    default_branch: bool,
}

fn check(params: &toml::Table) -> Result<(), ParamError> {
    let params: Params = super::parse(params)?;
    let invalid =
        |error: crate::policy::InvalidGlob| ParamError { key: Some("branches".to_owned()), what: error.to_string() };
    glob_set(&params.branches).map(drop).map_err(invalid)
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    let Ok(params) = super::parse::<Params>(&gate.params) else { return Vec::new() };
    facts.subjects.iter().filter_map(|subject| Some(answer(gate, &params, subject, subject.update.as_ref()?))).collect()
}

fn answer(gate: &Gate, params: &Params, subject: &Subject, update: &RefUpdate) -> Finding {
    let Some(branch) = update.remote_ref.strip_prefix("refs/heads/") else {
        return finding(gate, subject, Answer::Skip, "not-a-branch", &minijinja::Value::UNDEFINED);
    };
    let action = match (&update.new, &update.old) {
        (None, _) => "deleting it",
        (_, None) => "creating it",
        _ => "moving it",
    };
    let source = match update.local_ref.strip_prefix("refs/heads/") {
        Some(local) if local != branch => local.to_owned(),
        _ => update.new.as_ref().map(|oid| oid.short().to_owned()).unwrap_or_default(),
    };
    let free_branch = match update.local_ref.strip_prefix("refs/heads/") {
        Some(local) if local != branch => local.to_owned(),
        _ => format!("change/{source}"),
    };
    let context = context! { branch, action, source, free_branch, remote => update.remote.as_str() };
    let listed = glob_set(&params.branches).is_ok_and(|patterns| patterns.is_match(branch));
    let refuse = || {
        let reason = if update.new.is_none() { "delete" } else { "protected" };
        finding(gate, subject, Answer::Fail, reason, &context)
    };
    if listed {
        return refuse();
    }
    if !params.default_branch {
        return finding(gate, subject, Answer::Pass, "free", &context);
    }
    match &update.default_branch {
        DefaultBranch::Known(name) if *name == update.remote_ref => refuse(),
        DefaultBranch::Known(_) => finding(gate, subject, Answer::Pass, "free", &context),
        DefaultBranch::EmptyRemote => finding(gate, subject, Answer::Pass, "first-push", &context),
        DefaultBranch::Unknown(why) => {
            finding(gate, subject, Answer::Unknown, "unknown-default", &context! { why, ..context })
        }
    }
}

fn finding(gate: &Gate, subject: &Subject, answer: Answer, reason: &str, context: &minijinja::Value) -> Finding {
    let words = match answer {
        Answer::Pass | Answer::Skip => words::Words { message: reason.replace('-', " "), remedy: None, fix: None },
        _ => words::say(gate, reason, context),
    };
    Finding {
        subject: subject.name.clone(),
        answer,
        reason: reason.to_owned(),
        message: words.message,
        command: None,
        paths: Vec::new(),
        evidence: Vec::new(),
        remedy: words.remedy,
        fix: words.fix,
    }
}
