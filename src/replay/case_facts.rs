//! The facts of a case for the gates, made of the repository as its acts left it.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use crate::collect::decisions;
use crate::command_line::{ObservedLine, witness};
use crate::decision::compare::FileStates;
use crate::decision::{self, Decision, RecordKind};
use crate::event::{Ended, Grade};
use crate::fact::decision_change::{self, DecisionChange, SubjectDecisions};
use crate::fact::weakening::{self, FilePair, Weakening};
use crate::fact::{Base, DefaultBranch, RefUpdate, RunFact, RunProof, Subject, SubjectKind};
use crate::fact::{Facts, Note, policy_relaxation};
use crate::moment::Moment;
use crate::policy::{Command, PolicySource};
use crate::ref_names;
use crate::replay::case_policy::CasePolicy;
use crate::replay::packages::{self, Package};
use crate::replay::proofs_by_package::{From, PackageProof};
use crate::replay::remote_effects;
use crate::replay::simulated_repository::World;
use crate::replay::simulated_run::{EndedLine, SimulatedRun, Update};
use crate::replay::tree_content::{Content, FileText, oid};
use crate::repo_path::RepoPath;
use crate::runner::{Catalogue, CommandKind, Project};
use crate::shell_kind::Shell;
use crate::{config, gates};

/// Returns the facts at the end of the session.
pub fn at_stop(world: &World, asked: &CasePolicy, ci_counts: bool) -> Facts {
    let head = world.content_or_empty(&world.head);
    let mut subjects = vec![subject("HEAD", world, asked, &head, ci_counts, Some(&world.head))];
    if world.tree.differing(&head).is_none_or(|paths| !paths.is_empty()) {
        let mut tree = subject("working tree", world, asked, &world.tree, ci_counts, None);
        tree.role = SubjectKind::WorkingTree;
        subjects.push(tree);
    }
    Facts { subjects, ..Facts::at(Moment::Stop) }
}

/// Returns the facts of the updates that one act made.
pub fn at_push(world: &World, updates: &[&Update]) -> Facts {
    let subjects = updates.iter().map(|update| updated(world, update)).collect();
    Facts { subjects, ..Facts::at(Moment::Push) }
}

/// Returns the subject that an update makes.
fn updated(world: &World, update: &Update) -> Subject {
    let [local, remote] = [&update.local_ref, &update.remote_ref].map(|name| ref_names::short(name));
    let name = match &update.new {
        None => format!("delete {remote}"),
        Some(_) if update.local_ref == remote_effects::THROUGH_FORGE => format!("{remote} (through the forge)"),
        Some(_) => format!("{local} → {remote}"),
    };
    Subject {
        commit: update.new.as_deref().map(oid),
        tree: update.new.as_deref().and_then(|commit| world.content(commit)).map(Content::id),
        update: Some(RefUpdate {
            local_ref: update.local_ref.clone(),
            new: update.new.as_deref().map(oid),
            remote_ref: update.remote_ref.clone(),
            old: update.old.as_deref().map(oid),
            remote: update.remote.clone(),
            default_branch: match &world.default_branch {
                Some(name) => DefaultBranch::Known(format!("refs/heads/{name}")),
                None => DefaultBranch::Unknown("the record does not say".to_owned()),
            },
        }),
        branch: ref_names::branch(&update.local_ref).map(str::to_owned),
        ..Subject::empty(&name)
    }
}

/// Returns the parts of the tests that the work takes away, by subject.
pub fn weakening(world: &World, facts: &Facts) -> BTreeMap<String, Weakening> {
    let base = world.content_or_empty(&world.base);
    let head = world.content_or_empty(&world.head);
    let of = |subject: &Subject| {
        let content = if subject.role == SubjectKind::WorkingTree { &world.tree } else { &head };
        let text = |content: &Content, path: &str| content.text(path).map(str::to_owned);
        // A file whose text is not known is not compared.
        let known = |path: &str| {
            [&base, content].iter().all(|side| !matches!(side.files.get(path), Some(FileText::Unknown(_))))
        };
        let paths = base.files.keys().chain(content.files.keys()).collect::<BTreeSet<_>>();
        let pairs: Vec<FilePair> = paths
            .into_iter()
            .filter(|path| known(path) && weakening::concerns(&RepoPath::from(path.as_str())))
            .map(|path| FilePair {
                path: RepoPath::from(path.as_str()),
                old: text(&base, path),
                new: text(content, path),
            })
            .collect();
        (subject.name.clone(), weakening::compare(&pairs, Catalogue::embedded()))
    };
    facts.subjects.iter().map(of).collect()
}

/// Returns the changes of the work to written decisions, by subject.
pub fn decisions(world: &World, asked: &CasePolicy, facts: &Facts) -> Vec<SubjectDecisions> {
    let Some(rules) = decisions::rules(&asked.policy, facts.moment) else { return Vec::new() };
    let base = world.content_or_empty(&world.base);
    let head = world.content_or_empty(&world.head);
    let bytes = |content: &Content, path: &str| content.text(path).map(|text| text.as_bytes().to_vec());
    let records = |path: &String| {
        let path = RepoPath::from(path.as_str());
        let text = base.text(&path.to_string()).unwrap_or_default();
        decision::read(&path, text.as_bytes(), &rules.adr)
    };
    let everything: Vec<Decision> = base.files.keys().flat_map(records).collect();
    let is_found =
        |one: &&Decision| one.kind == RecordKind::Rejected && !(one.patterns.is_empty() && one.paths.is_empty());
    let rejected: Vec<Decision> = everything.iter().filter(is_found).cloned().collect();
    let messages: Vec<(String, String)> =
        world.own.iter().filter_map(|own| Some((own.clone(), world.commits.get(own)?.message.clone()))).collect();
    let of = |subject: &Subject| {
        let content = if subject.role == SubjectKind::WorkingTree { &world.tree } else { &head };
        let changed = subject.changed.as_ref()?;
        // A file whose text is not known is not compared.
        let known = |path: &&RepoPath| {
            [&base, content].iter().all(|side| !matches!(side.files.get(&path.to_string()), Some(FileText::Unknown(_))))
        };
        let file = |path: &RepoPath| FileStates {
            path: path.clone(),
            before: bytes(&base, &path.to_string()),
            now: bytes(content, &path.to_string()),
        };
        let files: Vec<FileStates> = changed.iter().filter(known).map(file).collect();
        let change = DecisionChange { name: &subject.name, changed, files: &files, rejected: &rejected };
        let found: Result<_, Infallible> =
            decision_change::of(&rules, &change, || Ok(everything.clone()), || Ok(messages.clone()));
        found.unwrap_or_default()
    };
    facts.subjects.iter().filter_map(of).collect()
}

/// Returns the note about the change of the policy, if the work has one at the end or had one.
pub fn policy_note(world: &World) -> Option<Note> {
    let base = world.content_or_empty(&world.base);
    let (old, new) = (base.text(config::FILE), world.tree.text(config::FILE));
    if old == new {
        return None;
    }
    let read =
        |text: &str| config::read(config::FILE, text.as_bytes(), PolicySource::WorkingTree, &gates::check_params);
    let note = |kind: &str, text: String| Some(Note::new(kind, text));
    let Some(new) = new else { return note("policy-removed", format!("{} is gone", config::FILE)) };
    let before = old.and_then(|old| read(old).ok()).unwrap_or_else(|| config::defaults(&gates::check_params));
    match read(new) {
        Err(error) => note("policy-broken", error.to_string()),
        Ok(after) => {
            let less = policy_relaxation::relaxed(&before, &after, &());
            let kind = if less.is_empty() { "policy-changed" } else { "policy-relaxed" };
            note(kind, format!("{} changed: {}", config::FILE, less.join("; ")))
        }
    }
}

fn subject(
    name: &str,
    world: &World,
    asked: &CasePolicy,
    content: &Content,
    ci_counts: bool,
    commit: Option<&str>,
) -> Subject {
    let base = world.content_or_empty(&world.base);
    let mut subject = Subject {
        commit: commit.map(oid),
        tree: Some(content.id()),
        base: Base::MergeBase { commit: oid(&world.base), branch: "origin/main".to_owned() },
        changed: base.differing(content),
        branch: Some(world.branch.clone()),
        checked_out: Some(true),
        ..Subject::empty(name)
    };
    for command in &asked.policy.commands {
        subject.runs.insert(command.name.clone(), runs(world, asked, &command.name, content));
    }
    if let Some(commit) = commit {
        if ci_counts {
            ci_runs(world, asked, commit, &mut subject);
        }
        let own = world.own.iter().rev().filter_map(|own| Some(world.commits.get(own)?.commit(own)));
        subject.commits.commits = own.collect();
    }
    subject
}

/// Returns the runs of a declared command, newest first. One that proves nothing does not hide one that does.
fn runs(world: &World, asked: &CasePolicy, name: &str, content: &Content) -> Vec<RunFact> {
    let Some((_, kind, package)) = asked.about.iter().find(|(about, ..)| about == name) else {
        return declared_runs(world, asked, name, content);
    };
    let is_about = |seen: &&SimulatedRun| {
        let same =
            |other: &Package, package: &Package| other.dir == package.dir && other.ecosystem == package.ecosystem;
        let about = package.as_ref().is_none_or(|package| seen.packages.iter().any(|other| same(other, package)));
        let passed_tests = seen.proof.kind == CommandKind::Test && seen.proof.conclusive && seen.proof.ended.success();
        let built = *kind == CommandKind::Build && passed_tests && seen.packages.iter().all(packages::tests_build);
        about && (seen.proof.kind == *kind || built) && (package.is_some() || !seen.packages.is_empty())
    };
    facts_of(world.runs.iter().filter(is_about), content)
}

/// Returns the runs of a command of a policy that the case brings along: the lines that prove it, anywhere.
fn declared_runs(world: &World, asked: &CasePolicy, name: &str, content: &Content) -> Vec<RunFact> {
    let Some(command) = asked.policy.commands.iter().find(|command| command.name == name) else { return Vec::new() };
    let all: Vec<SimulatedRun> = world.lines.iter().filter_map(|line| declared_run(command, line)).collect();
    facts_of(all.iter(), content)
}

fn declared_run(command: &Command, line: &EndedLine) -> Option<SimulatedRun> {
    let dir = RepoPath::from(line.dir.as_deref()?);
    let told = ObservedLine {
        line: &line.command.command,
        dir: &dir,
        root: None,
        ended: Some(Ended::Exited(line.command.exit?)),
        output: Some(line.command.output.as_deref().unwrap_or_default()),
        cut: false,
        background: false,
        shell: Some(Shell::Bash),
    };
    let files = From(&line.start, "");
    let shown = witness(std::slice::from_ref(command), &told, Project::without_runners(&files)).pop()?;
    let grade = line.command.grade.unwrap_or(Grade::Hooked);
    // As of a hook's report: a status that is another's shows nothing.
    if shown.masked.is_some() && grade < Grade::Observed {
        return None;
    }
    let proof = PackageProof {
        kind: CommandKind::Test,
        packages: Vec::new(),
        ended: shown.ended,
        report: shown.report,
        conclusive: shown.masked.is_none(),
        masked: shown.masked,
        on_a_copy: false,
    };
    let (start, end) = (line.start.clone(), line.end.clone());
    Some(SimulatedRun { seq: line.seq, proof, packages: Vec::new(), grade, start, end })
}

fn facts_of<'a>(seen: impl DoubleEndedIterator<Item = &'a SimulatedRun>, content: &Content) -> Vec<RunFact> {
    let facts: Vec<(bool, RunFact)> = seen.rev().map(|seen| (seen.proof.conclusive, fact(seen, content))).collect();
    let shown = |fact: &RunFact| {
        facts.iter().any(|(conclusive, other)| {
            *conclusive && matches!(other.shows(), RunProof::Pass | RunProof::Fail) && other.tree == fact.tree
        })
    };
    facts.iter().filter(|(conclusive, fact)| *conclusive || !shown(fact)).map(|(_, fact)| fact.clone()).collect()
}

fn fact(seen: &SimulatedRun, content: &Content) -> RunFact {
    RunFact {
        over_time: Ended::is_over_time(Some(seen.proof.ended), ""),
        report: seen.proof.report.clone(),
        masked: seen.proof.masked.clone(),
        changed: seen.start.differing(&seen.end),
        on_a_copy: seen.proof.on_a_copy,
        differs: seen.start.differing(content),
        ..RunFact::new(format!("event {}", seen.seq), seen.grade, seen.proof.ended, seen.start.id())
    }
}

/// Returns the checks of the forge on the commit, if the policy accepts them as a test run.
fn ci_runs(world: &World, asked: &CasePolicy, commit: &str, subject: &mut Subject) {
    let Some(checks) = world.checks.iter().rev().find(|checks| checks.head_sha == commit) else { return };
    let is_green = |name: &String| checks.checks.get(name).and_then(serde_json::Value::as_str) == Some("success");
    let green = match &checks.required {
        Some(required) if !required.is_empty() => required.iter().all(is_green),
        _ => !checks.checks.is_empty() && checks.checks.keys().all(is_green),
    };
    if !green || checks.conclusion.as_deref().is_some_and(|conclusion| conclusion != "success") {
        return;
    }
    for (name, kind, _) in &asked.about {
        if *kind == CommandKind::Test {
            let run = RunFact {
                changed: Some(Vec::new()),
                differs: Some(Vec::new()),
                ..RunFact::new(
                    format!("ci {commit}"),
                    Grade::Ci,
                    Ended::Exited(0),
                    world.content(commit).map_or_else(|| oid(commit), Content::id),
                )
            };
            // What ran here on the very same content is told before it: two that disagree are flaky.
            subject.runs.entry(name.clone()).or_default().push(run);
        }
    }
}
