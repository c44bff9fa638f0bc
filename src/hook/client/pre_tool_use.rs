//! Checks before a tool runs: a push that would be refused, or a change of the safeguards of the work.
//!
//! The check is early, so that the agent learns of it before it tries. The hooks of git and the judgement in CI do not
//! depend on it.

use std::path::{Component, Path};

use super::HookDecision;
use super::hook_context::{Desk, clean};
use super::hook_event::{HookEvent, StartedTool};
use super::line_runs::policy_here;
use super::roles::{self, CallPlan};
use crate::command_line::Understood;
use crate::event::agent_work::{Act, Denial};
use crate::fact::{Facts, client_hooks};
use crate::fact::{Intent, IntentKind, PlannedAct, RefUpdate, Subject};
use crate::gates;
use crate::gates::finding::{Effect, GateResult};
use crate::hook::protected_push::{default_remote, destination, judge_refs, subject, update};
use crate::moment::Moment;
use crate::policy::PolicySource;
use crate::ref_names;
use crate::shell::expanded_program::{Arg, Leaf};

/// Judges a call before it runs. `plan` is what it is about to do.
pub(super) fn judge(
    desk: &mut Desk,
    told: &HookEvent,
    call: &StartedTool,
    what: &str,
    intents: Vec<Intent>,
    plan: CallPlan<'_>,
) -> HookDecision {
    let pushes = plan.line().map(|line| pushes(desk, line)).unwrap_or_default();
    let intents: Vec<Intent> = intents.into_iter().filter(|intent| is_of_this_project(desk, intent)).collect();
    let has_roles = roles::may_concern(Some(&desk.root));
    if intents.is_empty() && pushes.is_empty() && !has_roles {
        return HookDecision::Allow;
    }
    let policy = match policy_here(&desk.place) {
        Ok(policy) => policy,
        Err(said) => {
            desk.said.push(said);
            return HookDecision::Allow;
        }
    };
    if policy.source == PolicySource::Defaults {
        return HookDecision::Allow;
    }
    let (planned, role_claims) = if policy.roles.list.is_empty() {
        (PlannedAct::default(), Vec::new())
    } else {
        (roles::planned(desk, plan), roles::claims(desk, told, &policy.roles))
    };
    let mut results = gates::judge(&policy, &Facts { intents, role_claims, planned, ..Facts::at(Moment::Write) });
    if !pushes.is_empty() {
        results.extend(judge_refs(&policy, pushes));
    }
    let refused: Vec<&GateResult> = results.iter().filter(|result| result.effect() == Effect::Blocks).collect();
    if refused.is_empty() {
        return HookDecision::Allow;
    }
    let reason = reason(&refused);
    let denial = Denial { tool: call.name.clone(), what: clean(what), reason: clean(&reason) };
    desk.record(Some(&call.id), Act::Denied(denial));
    HookDecision::Deny(reason)
}

/// Returns `true` if the target is a safeguard of this project. Files in another repository, and its session logs, are
/// not.
fn is_of_this_project(desk: &Desk, intent: &Intent) -> bool {
    if intent.kind == IntentKind::ChangesClientHooks && client_hooks::holds_hook_files(&intent.what) {
        return has_hooks_of_gate(&desk.root, &intent.what);
    }
    let is_a_path =
        matches!(intent.kind, IntentKind::ChangesHooks | IntentKind::ChangesRecord | IntentKind::ChangesPolicy);
    let path = Path::new(&intent.what);
    let home = intent.what.starts_with("~/") || intent.what.starts_with("$HOME/");
    if !is_a_path || !(path.is_absolute() || home) {
        return true;
    }
    if let Some((_, log)) = intent.what.split_once("/.claude/projects/") {
        // Claude Code names the folder after the directory, with a dash for whatever is not a letter or digit.
        let dashed = |root: &Path| root.to_string_lossy().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let folder = log.split('/').next().unwrap_or_default();
        return folder.is_empty() || folder.contains('*') || folder.starts_with(&dashed(&desk.root));
    }
    let repo = &desk.place.repo;
    // Where such a path leads is not known before it exists.
    if path.components().any(|part| part == Component::ParentDir) && !path.exists() {
        return true;
    }
    let is_log =
        intent.kind == IntentKind::ChangesRecord && !intent.what.contains("/.git/") && !intent.what.contains("/.gate/");
    let git_dir = repo.common_dir();
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let in_git_dir = |dir: &Path| path.starts_with(dir) || real.starts_with(dir);
    let below_git_dir = in_git_dir(git_dir) || git_dir.canonicalize().is_ok_and(|dir| in_git_dir(&dir));
    is_log || home || below_git_dir || desk.work_tree_of(path).is_some() || path.starts_with(&desk.root)
}

/// Returns `true` if a path is a file with hooks of gate, or a folder of `root` that contains one.
fn has_hooks_of_gate(root: &Path, path: &str) -> bool {
    let place = root.join(path.trim_end_matches(['/', '*']));
    let has = |file: &Path| std::fs::read_to_string(file).is_ok_and(|text| text.contains(client_hooks::CALL));
    let below = || {
        client_hooks::HOOK_FILES.iter().map(|file| root.join(file)).any(|file| file.starts_with(&place) && has(&file))
    };
    if place.is_dir() { below() } else { has(&place) }
}

fn reason(refused: &[&GateResult]) -> String {
    let mut lines = Vec::new();
    for result in refused {
        for finding in result.decisive() {
            lines.push(format!("gate: {}.", finding.message));
            if let Some(fix) = &finding.fix {
                lines.push(format!("Instead: {fix}."));
            }
            if let Some(remedy) = &finding.remedy {
                lines.push(format!("Next: {remedy}"));
            }
        }
    }
    lines.join("\n")
}

/// Returns the updates that the pushes of a line would make, as far as its words show them. The default branch is the
/// one that the clone recorded or the remote reported at an earlier push: the network is not used here.
fn pushes(desk: &Desk, line: &Understood) -> Vec<Subject> {
    let leaves = line.steps();
    let here = leaves.filter(|(leaf, purpose)| !purpose.pushes.is_empty() && in_this_repository(leaf));
    let mut found: Vec<Subject> = Vec::new();
    for (leaf, purpose) in here {
        let Ok(head) = desk.place.repo.head() else { return Vec::new() };
        let current = head.branch.as_deref().and_then(ref_names::branch);
        let remote = remote(leaf).unwrap_or_else(|| default_remote(&desk.place.repo, current));
        for place in &purpose.pushes {
            let (name, deleted) =
                if let Some(name) = place.strip_prefix("delete:") { (name, true) } else { (place.as_str(), false) };
            let name = if name == "@current" {
                current.and_then(|branch| destination(&desk.place.repo, branch))
            } else {
                Some(name.to_owned())
            };
            let Some(name) = name.filter(|name| !name.starts_with("--") && !name.ends_with('?')) else { continue };
            let remote_ref = if name.starts_with("refs/") { name.clone() } else { format!("refs/heads/{name}") };
            let new = head.commit.as_ref().filter(|_| !deleted);
            let update = update(&desk.place.repo, &remote, &remote_ref, new);
            let local_ref = head.branch.clone().unwrap_or_else(|| "HEAD".to_owned());
            // It may not exist over there yet; then it is refused all the same.
            let update = RefUpdate { local_ref, old: head.commit.clone(), ..update };
            if found.iter().all(|subject| subject.name != name) {
                found.push(subject(&name, update, current));
            }
        }
    }
    found
}

/// Returns `true` if a command is about the repository that it is started in, as far as its words show it.
fn in_this_repository(leaf: &Leaf) -> bool {
    let away = leaf.directory.as_ref().is_some_and(|dir| {
        dir.path.as_deref().is_none_or(|path| path.starts_with(['/', '~']) || path.split('/').any(|part| part == ".."))
    });
    let before_push = leaf.argv.iter().take_while(|arg| arg.text != "push");
    !leaf.remote && !away && !before_push.into_iter().any(|arg| arg.text == "-C" || arg.text.starts_with("--git-dir"))
}

/// Returns the remote that the words of a push name.
fn remote(leaf: &Leaf) -> Option<String> {
    let mut words = leaf.argv.iter().skip_while(|arg| arg.text != "push").skip(1);
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-o" | "--push-option" | "--receive-pack" | "--exec" => {
                words.next();
            }
            "--repo" => return words.next().and_then(Arg::literal).map(str::to_owned),
            option if option.starts_with('-') => {}
            _ => return word.literal().map(str::to_owned),
        }
    }
    None
}
