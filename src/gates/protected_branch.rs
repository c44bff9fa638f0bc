//! The gate `protected-branch`: no push goes directly to a protected branch.
//!
//! It judges the refs that git resolved, never the text of a command: `git push`, `origin HEAD` and `--all` do not show
//! their refs.

use minijinja::context;
use serde::Deserialize;

use super::finding::{Answer, Finding};
use super::{GateKind, finding_text};
use crate::fact::{DefaultBranch, Facts, RefUpdate, Subject};
use crate::globs::Globs;
use crate::oid::Oid;
use crate::policy::{Gate, ParamError, Policy, read_params};
use crate::ref_names;
use crate::shell_quote::shell_word;

/// The kind `protected-branch`.
pub const KIND: GateKind = GateKind { name: "protected-branch", words: "protected-branch", check, evaluate };

/// The reason of a refusal that no command here clears: the forge has to move the branch.
pub const SYNC: &str = "sync";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    #[serde(default)]
    branches: Vec<String>,
    #[serde(default)]
    default_branch: bool,
    /// Patterns for tags whose push is reported.
    #[serde(default)]
    tags: Vec<String>,
}

impl Params {
    fn lists(&self, branch: &str) -> bool {
        Globs::new(&self.branches).is_ok_and(|patterns| patterns.is_match(branch))
    }
}

fn check(params: &toml::Table) -> Result<(), ParamError> {
    let params: Params = read_params(params)?;
    for (key, globs) in [("branches", &params.branches), ("tags", &params.tags)] {
        let invalid =
            |error: crate::globs::InvalidGlob| ParamError { key: Some(key.to_owned()), what: error.to_string() };
        Globs::new(globs).map(drop).map_err(invalid)?;
    }
    Ok(())
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    let Ok(params) = read_params::<Params>(&gate.params) else { return Vec::new() };
    facts.subjects.iter().filter_map(|subject| Some(answer(gate, &params, subject, subject.update.as_ref()?))).collect()
}

/// Returns `true` if a gate of this kind lists `branch` by a pattern.
pub(super) fn is_listed(policy: &Policy, branch: &str) -> bool {
    let gates = policy.gates.iter().filter(|gate| gate.kind == KIND.name);
    gates.filter_map(|gate| read_params::<Params>(&gate.params).ok()).any(|params| params.lists(branch))
}

fn answer(gate: &Gate, params: &Params, subject: &Subject, update: &RefUpdate) -> Finding {
    let Some(branch) = ref_names::branch(&update.remote_ref) else {
        let tag = update.remote_ref.strip_prefix("refs/tags/");
        if let Some(tag) = tag.filter(|tag| Globs::new(&params.tags).is_ok_and(|patterns| patterns.is_match(tag))) {
            return finding(gate, subject, Answer::Pass, "tag", &context! { tag });
        }
        return finding(gate, subject, Answer::Skip, "not-a-branch", &minijinja::Value::UNDEFINED);
    };
    let action = match (&update.new, &update.old) {
        (None, _) => "deleting it",
        (_, None) => "creating it",
        _ => "changing it",
    };
    let commit = update.new.as_ref().map(Oid::short).unwrap_or_default();
    // A branch of its own for the same commit: the local one where it has another name, else a new one.
    let refspec = match &subject.branch {
        Some(local) if local != branch && subject.is_named_like_tag => shell_word(&format!("refs/heads/{local}")),
        Some(local) if local != branch => shell_word(local),
        _ => format!("{commit}:refs/heads/change/{commit}"),
    };
    let context = context! { branch, action, refspec, remote => shell_word(&update.remote) };
    let listed = params.lists(branch);
    let refuse = || {
        let reason = match &subject.synced_from {
            _ if update.new.is_none() => "delete",
            Some(_) => SYNC,
            None => "protected",
        };
        let from = &subject.synced_from;
        finding(gate, subject, Answer::Fail, reason, &context! { from, ..context.clone() })
    };
    if listed {
        return refuse();
    }
    if !params.default_branch {
        return finding(gate, subject, Answer::Pass, "free", &context);
    }
    match &update.default_branch {
        DefaultBranch::Known(name) if *name == update.remote_ref => refuse(),
        DefaultBranch::EmptyRemote => finding(gate, subject, Answer::Pass, "first-push", &context),
        // What such a remote does not have yet may become its default branch, and it may only hide it from here.
        DefaultBranch::Unborn if update.old.is_none() && matches!(branch, "main" | "master") => {
            let why = "the remote has no default branch yet";
            finding(gate, subject, Answer::Unknown, "unknown-default", &context! { why, ..context })
        }
        DefaultBranch::Known(_) | DefaultBranch::Unborn => finding(gate, subject, Answer::Pass, "free", &context),
        DefaultBranch::Unknown(why) => {
            finding(gate, subject, Answer::Unknown, "unknown-default", &context! { why, ..context })
        }
    }
}

fn finding(gate: &Gate, subject: &Subject, answer: Answer, reason: &str, context: &minijinja::Value) -> Finding {
    let words = finding_text::say(gate, reason, context);
    // Where a push arrives, nobody knows what whoever pushes calls this place.
    let named = subject.update.as_ref().is_some_and(|update| !update.remote.is_empty());
    let finding = words.finding(&subject.name, answer, reason);
    Finding { remedy: finding.remedy.filter(|_| named), ..finding }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::tests as examples;
    use crate::moment::Moment;

    fn gate(branches: &[&str], default_branch: bool) -> Gate {
        let params = format!("branches = {branches:?}\ndefault_branch = {default_branch}");
        examples::gate_with("protected-branch", &params)
    }

    fn push(gate: &Gate, local_ref: &str, remote_ref: &str, new: bool, default_branch: DefaultBranch) -> Finding {
        let subject = Subject {
            changed: None,
            update: Some(RefUpdate {
                local_ref: local_ref.to_owned(),
                new: new.then(|| examples::HEAD.parse().unwrap()),
                remote_ref: remote_ref.to_owned(),
                old: None,
                remote: "origin".to_owned(),
                default_branch,
            }),
            branch: ref_names::branch(local_ref).map(str::to_owned),
            ..Subject::empty(remote_ref)
        };
        examples::judge(gate, &Facts { subjects: vec![subject], ..Facts::at(Moment::Push) })
    }

    #[test]
    fn every_kind_of_update() {
        let main = || DefaultBranch::Known("refs/heads/main".to_owned());
        let cases = [
            ("refs/heads/main", true, main(), Answer::Fail, "protected"),
            ("refs/heads/main", false, main(), Answer::Fail, "delete"),
            ("refs/heads/release/1.0", true, main(), Answer::Fail, "protected"),
            ("refs/heads/release/1.0", false, main(), Answer::Fail, "delete"),
            ("refs/heads/release/1/hotfix", true, main(), Answer::Pass, "free"),
            ("refs/heads/feature", true, main(), Answer::Pass, "free"),
            ("refs/heads/feature/main-nav", true, main(), Answer::Pass, "free"),
            ("refs/heads/Main", true, main(), Answer::Pass, "free"),
            ("refs/heads/maintenance", true, main(), Answer::Pass, "free"),
            ("refs/tags/main", true, main(), Answer::Skip, "not-a-branch"),
            ("refs/tags/v1.2.3", true, main(), Answer::Pass, "tag"),
            ("refs/tags/very", true, main(), Answer::Skip, "not-a-branch"),
            ("refs/notes/gate", true, main(), Answer::Skip, "not-a-branch"),
            ("refs/heads/main", true, DefaultBranch::Known("refs/heads/trunk".to_owned()), Answer::Pass, "free"),
            ("refs/heads/trunk", true, DefaultBranch::Known("refs/heads/trunk".to_owned()), Answer::Fail, "protected"),
            ("refs/heads/main", true, DefaultBranch::EmptyRemote, Answer::Pass, "first-push"),
            ("refs/heads/feature", true, DefaultBranch::Unborn, Answer::Pass, "free"),
            ("refs/heads/main", true, DefaultBranch::Unborn, Answer::Unknown, "unknown-default"),
            (
                "refs/heads/feature",
                true,
                DefaultBranch::Unknown("no answer".to_owned()),
                Answer::Unknown,
                "unknown-default",
            ),
            ("refs/heads/release/2", true, DefaultBranch::Unknown("no answer".to_owned()), Answer::Fail, "protected"),
        ];
        let gate = gate(&["release/*"], true);
        for (remote_ref, new, default_branch, answer, reason) in cases {
            let finding = push(&gate, "refs/heads/feature", remote_ref, new, default_branch.clone());
            assert_eq!((finding.answer, finding.reason.as_str()), (answer, reason), "{remote_ref} {default_branch:?}");
        }
    }

    #[test]
    fn without_default_branch_only_patterns_count() {
        let gate = gate(&["stable"], false);
        let unknown = || DefaultBranch::Unknown("offline".to_owned());
        assert_eq!(push(&gate, "HEAD", "refs/heads/main", true, unknown()).answer, Answer::Pass);
        assert_eq!(push(&gate, "HEAD", "refs/heads/stable", true, unknown()).answer, Answer::Fail);
    }

    #[test]
    fn the_remedy_pushes_the_same_commit_to_a_free_branch() {
        let gate = gate(&["main"], false);
        let finding = push(&gate, "refs/heads/feature", "refs/heads/main", true, DefaultBranch::EmptyRemote);
        assert_eq!(finding.remedy.as_deref(), Some("git push origin feature"));
        let finding = push(&gate, "HEAD", "refs/heads/main", true, DefaultBranch::EmptyRemote);
        assert_eq!(finding.remedy.as_deref(), Some("git push origin 1111111:refs/heads/change/1111111"));
    }

    #[test]
    fn a_malformed_pattern_is_an_error_of_the_policy() {
        let mut params = toml::Table::new();
        params.insert("branches".to_owned(), vec!["release/["].into());
        assert_eq!(check(&params).unwrap_err().key.as_deref(), Some("branches"));
        let mut params = toml::Table::new();
        params.insert("branchs".to_owned(), vec!["main"].into());
        assert!(check(&params).unwrap_err().what.contains("branchs"));
    }
}
