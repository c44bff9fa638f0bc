//! `gate ci`: judges the change of a CI job by the policy of its target branch.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::Result;

use crate::ci::authorship::{self, Authors};
use crate::ci::{duration, target};
use crate::cmd::{prove, run};
use crate::collect::attested::AttestedRuns;
use crate::collect::contracts::{self, ContractInForce};
use crate::collect::forge_query::{self, Question};
use crate::collect::merge_base::Lineage;
use crate::collect::{self, Sources};
use crate::digest::hex_digest;
use crate::engine::{Judgement, Workplace};
use crate::exit::Exit;
use crate::fact::{Base, Facts, Hosting, Note, StartedFor, Trouble};
use crate::failure::Failure;
use crate::gates::{self, ci_green, finding::Answer};
use crate::moment::Moment;
use crate::policy::{Policy, PolicySource, Strictness};
use crate::render;
use crate::render::ci::{annotations, junit, sarif, summary};
use crate::render::ui::Ui;
use crate::source::forge::github_actions::{EventError, Happening, JobEvent, WorkflowJob};
use crate::source::forge::repository_url::{ForgeRepository, ForgeSettings, GITHUB};
use crate::source::forge::{self, Patience, token};
use crate::verdict::verdict_files;

/// Arguments of `gate ci`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Args {
    /// Wait up to this long for every check to end: 90s, 20m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration::span)]
    wait: Option<Duration>,
    /// The pause between two queries
    #[arg(long, value_name = "TIME", value_parser = duration::span, default_value = "15s", hide = true)]
    every: Duration,
    /// Run the declared commands whose evidence is missing, and make missing proofs, on the commit that is checked out
    #[arg(long)]
    run: bool,
    /// After a push: check that each commit that landed came through a pull request
    #[arg(long)]
    audit: bool,
    /// Read the event from this file instead of the job's event file
    #[arg(long, value_name = "FILE", requires = "event_name", conflicts_with = "base")]
    event: Option<PathBuf>,
    /// The name of the event
    #[arg(long, value_name = "NAME")]
    event_name: Option<String>,
    /// Judge the commits that HEAD adds to this revision; this needs no event and no forge
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// With --base: judge this revision
    #[arg(long, value_name = "REV", default_value = "HEAD", requires = "base")]
    head: String,
    /// Write verdict.json, gate.sarif and gate.junit.xml into this directory
    #[arg(long, value_name = "DIR")]
    artifacts: Option<PathBuf>,
    /// Keep one comment on the pull request up to date
    #[arg(long)]
    comment: bool,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
}

/// Judges, writes the artifacts, and prints the verdict.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let job = WorkflowJob::of_process();
    judge(args, job.as_ref(), ui).map_err(|error| match (&job, error.downcast::<Failure>()) {
        (Some(job), Ok(failure)) => told(args, job, failure, ui).into(),
        (None, Ok(failure)) => failure.into(),
        (_, Err(error)) => error,
    })
}

/// Reports a failure before there is a verdict, in the places that readers of a job look at. The caller prints the
/// rest.
fn told(args: &Args, job: &WorkflowJob, mut failure: Failure, ui: &mut Ui) -> Failure {
    append(job, &summary::failed(&failure), "cannot-judge", ui);
    if !args.json {
        ui.line(annotations::failed(&failure));
    }
    failure.what = annotations::inside(&failure.what);
    failure
}

fn judge(args: &Args, job: Option<&WorkflowJob>, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?.without_spool();
    let (judged, event) = match &args.base {
        Some(base) => (Some(target::of_revisions(&place.repo, base, &args.head)?), None),
        None => {
            let event = read_event(args, job)?;
            (target::of_event(&place.repo, &event)?, Some(event))
        }
    };
    let Some(judged) = judged else {
        ui.say("gate: a ref was deleted: there is nothing to judge");
        return Ok(Exit::Pass);
    };
    if args.audit && judged.landed.len() > target::MAX_LANDED {
        let what = format!("more than {} commits landed at once: not all of them can be looked at", target::MAX_LANDED);
        return Err(Failure::new(Exit::CannotJudge, what)
            .remedy("see who pushed, and which pull requests they are of")
            .into());
    }
    let (mut policy, mut notes) = policy(&place, &judged)?;
    let contracts = contracts_of(&place, &judged)?;
    contracts::add_commands(&mut policy, &contracts);
    let range = judged.base.as_ref().map(|base| format!("{base}..{}", judged.lineage.commit));
    if policy.ci != Strictness::default() {
        let authors = authors(&place, &judged, range.as_deref(), event.as_ref());
        notes.push(authorship::apply(&mut policy, &authors));
    }
    let policy = policy;
    let fork = judged.head.as_ref().and_then(|head| head.repository.as_deref());
    let known_here = place.journal.newest_id().map_err(Failure::with(Exit::CannotJudge))?;
    let (base, head) = (judged.base.as_ref(), &judged.lineage.commit);
    let attested = AttestedRuns::fetched(&place.repo, &policy, base, head, fork, known_here)?;
    if args.run {
        refuse_foreign_code(args, job)?;
        is_checked_out(&place, &judged.lineage)?;
        run::missing(&place, &policy, &judged.lineage, &attested, &contracts, ui)?;
        prove::missing(&place, &policy, &judged.lineage, &attested, ui)?;
    }

    let known = ForgeSettings::of_process();
    let forge_place = event.as_ref().and_then(|event| forge_place(&known, &event.repository));
    let token = forge_place.as_ref().and_then(|place| token::find(place, &known));
    let question = judged.head.clone().map(|head| Question {
        head,
        default_branch: event.as_ref().and_then(|event| event.default_branch.clone()),
        base: judged.base_branch.clone(),
        started_for: judged
            .number
            .zip(judged.base_branch.clone())
            .map(|(number, base_branch)| StartedFor { number, base_branch }),
        own: job.map(|job| job.own.clone()).unwrap_or_default(),
        landed: if args.audit { judged.landed.clone() } else { Vec::new() },
    });
    let ask = || -> Option<Hosting> {
        let (place, question) = (forge_place.as_ref()?, question.as_ref()?);
        if !forge_query::is_wanted(&policy, Moment::Ci) {
            return None;
        }
        forge_query::about(place, token.as_ref(), Patience::LONG, question)
    };

    let state = place.state()?;
    let sources = Sources { repo: &place.repo, journal: &place.journal, state: &state, policy: &policy };
    let mut facts =
        collect::in_range(sources, Moment::Ci, &judged.name, &judged.lineage, range.as_deref(), judged.head.as_ref())?;
    facts.notes.extend(notes);
    attested.add_to(&place.repo, &policy, &mut facts)?;
    contracts::collect(&place.repo, &policy, &contracts, &mut facts)?;
    facts.hosting = ask();
    let until = Instant::now() + args.wait.unwrap_or_default();
    while let Some(open) = waits_for(&policy, &facts) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let line = format!("gate: {open}; asking again, for {} s at most", left.as_secs());
        ui.say(annotations::harmless(&line));
        thread::sleep(args.every.min(left));
        facts.hosting = ask();
    }

    // A job judges many changes of many people: none of them is an attempt of one session.
    let judgement = place.judge_if(&policy, &state, facts, None, || false);
    write_artifacts(args, &judgement)?;
    if let Some(job) = job {
        let outcome = serde_json::to_string(&judgement.verdict.outcome).unwrap_or_default();
        append(job, &summary::markdown(&judgement.verdict), outcome.trim_matches('"'), ui);
    }
    if args.comment
        && let (Some(number), Some(forge_place)) = (judged.number, &forge_place)
    {
        comment(forge_place, token.as_ref(), number, &judgement, ui);
    }
    print(args, job.is_some(), &judgement, ui)?;
    Ok(judgement.verdict.outcome.exit())
}

fn read_event(args: &Args, job: Option<&WorkflowJob>) -> Result<JobEvent, Failure> {
    let name = args.event_name.clone().or_else(|| Some(job?.event_name.clone()));
    let path = args.event.clone().or_else(|| job?.event_path.clone());
    let (Some(name), Some(path)) = (name, path) else {
        let remedy = "run it in a job of a workflow; elsewhere: gate ci --base origin/main";
        return Err(Failure::new(Exit::Usage, "there is no event to judge").remedy(remedy));
    };
    let text = fs::read(&path).map_err(|error| {
        Failure::new(Exit::BadInput, format!("the event {} cannot be read: {error}", path.display()))
    })?;
    JobEvent::read(&name, &text).map_err(|error| match error {
        EventError::Malformed { .. } => Failure::new(Exit::BadInput, error),
        EventError::Unsupported(_) => {
            Failure::new(Exit::Usage, error).remedy("start the job on pull_request, merge_group or push")
        }
    })
}

/// Returns the policy of the branch that the change is meant for, never the change's own.
fn policy(place: &Workplace, judged: &target::JobTarget) -> Result<(Policy, Vec<Note>), Failure> {
    let mut lineage = judged.lineage.clone();
    if let Some(base) = &judged.base {
        let branch = judged.base_branch.clone().unwrap_or_default();
        lineage.base = Base::MergeBase { commit: base.clone(), branch };
    }
    let (policy, mut notes) = place.policy_of_push(&[&lineage], None)?;
    let is_own = match &policy.source {
        PolicySource::Commit(commit) => judged.base.as_ref() != Some(commit) && judged.lineage.commit == *commit,
        PolicySource::WorkingTree | PolicySource::Defaults => false,
    };
    if let (true, Some(base)) = (is_own, &judged.base_branch) {
        let text = format!("{base} has no readable policy and never had one, so the change is judged by its own");
        notes.push(Note::new("policy", text));
    }
    Ok((policy, notes))
}

/// Returns the contracts in the folder of the base and of the change.
fn contracts_of(place: &Workplace, judged: &target::JobTarget) -> Result<Vec<ContractInForce>, Failure> {
    let ((Base::MergeBase { commit: base, .. }, _) | (_, Some(base))) = (&judged.lineage.base, &judged.base) else {
        return Ok(Vec::new());
    };
    let tip = judged.base.as_ref().unwrap_or(base);
    contracts::of_change(&place.repo, tip, base, &judged.lineage.commit).map_err(Failure::with(Exit::CannotJudge))
}

/// Returns the authors of the judged commits.
fn authors(place: &Workplace, judged: &target::JobTarget, range: Option<&str>, event: Option<&JobEvent>) -> Authors {
    let opener = match event.map(|event| &event.what) {
        Some(Happening::Pull(pull)) => Some(pull.author.as_str()),
        _ => None,
    };
    let branch = judged.head.as_ref().and_then(|head| head.branch.as_deref());
    match range.map(|range| place.repo.named_range(range)) {
        Some(Ok(range)) => authorship::of_range(&place.repo, &range, branch, opener),
        _ => Authors::Unknown,
    }
}

/// Refuses to run commands of a change in a job with the secrets of the base.
fn refuse_foreign_code(args: &Args, job: Option<&WorkflowJob>) -> Result<(), Failure> {
    let name = args.event_name.as_deref().or_else(|| job.map(|job| job.event_name.as_str()));
    if name != Some("pull_request_target") {
        return Ok(());
    }
    let what = "pull_request_target has the secrets of the base, so no code of the change runs there";
    Err(Failure::new(Exit::Usage, what).remedy("run it on pull_request, or leave --run out"))
}

/// Checks that the judged commit is checked out: a run is evidence about the checked-out content.
fn is_checked_out(place: &Workplace, judged: &Lineage) -> Result<(), Failure> {
    place.work_tree()?;
    let internal = |error: crate::git::GitError| Failure::new(Exit::CannotJudge, error);
    let head = place.repo.head().map_err(internal)?.commit;
    let tree = head.map(|head| place.repo.tree_of(&head)).transpose().map_err(internal)?;
    if tree.as_ref() == Some(&place.repo.tree_of(&judged.commit).map_err(internal)?) {
        return Ok(());
    }
    let what =
        format!("what is checked out is not {}, so a run here would prove nothing about it", judged.commit.short());
    let remedy = "check it out: actions/checkout with `ref: ${{ github.event.pull_request.head.sha || github.sha }}`";
    Err(Failure::new(Exit::CannotJudge, what).remedy(remedy))
}

/// Returns the repository of the event, on the forge of the job.
fn forge_place(known: &ForgeSettings, repository: &str) -> Option<ForgeRepository> {
    let host = known.job.as_ref().map_or(GITHUB, |(host, _)| host.as_str());
    known.at(host, "", "").other(repository)
}

/// Returns the reason to wait, in a sentence, or `None` if waiting would change nothing.
fn waits_for(policy: &Policy, facts: &Facts) -> Option<String> {
    let hosting = facts.hosting.as_ref()?;
    let outage = |trouble: Option<&Trouble>| trouble.is_some_and(|trouble| trouble.kind.is_outage());
    if outage(hosting.checks.trouble()) || outage(hosting.pulls.trouble()) {
        return Some("the forge does not answer".to_owned());
    }
    let results = gates::judge(policy, facts);
    let findings = results.iter().flat_map(|result| &result.findings);
    let mut open =
        findings.filter(|one| one.answer == Answer::Unknown && ci_green::WAITING.contains(&one.reason.as_str()));
    open.next().map(|finding| finding.message.clone())
}

fn write_artifacts(args: &Args, judgement: &Judgement) -> Result<()> {
    let Some(folder) = &args.artifacts else { return Ok(()) };
    let verdict = &judgement.verdict;
    let failed = |error: std::io::Error| {
        Failure::new(Exit::BadInput, format!("{} cannot be written to: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(failed)?;
    verdict_files::write_json(&folder.join("verdict.json"), verdict).map_err(failed)?;
    verdict_files::write_json(&folder.join("gate.sarif"), &sarif::log(verdict)).map_err(failed)?;
    verdict_files::write_bytes(&folder.join("gate.junit.xml"), junit::report(verdict).as_bytes()).map_err(failed)?;
    Ok(())
}

/// Writes the summary and the output of the step. An error is reported and does not change the verdict.
fn append(job: &WorkflowJob, summary: &str, outcome: &str, ui: &mut Ui) {
    let append = |path: &Path, text: &str| {
        fs::OpenOptions::new().append(true).create(true).open(path).and_then(|mut file| file.write_all(text.as_bytes()))
    };
    let outputs = format!("outcome={outcome}\n");
    let texts = [(&job.summary, summary), (&job.output, outputs.as_str())];
    for (path, text) in texts.iter().filter_map(|(path, text)| Some((path.as_ref()?, text))) {
        if let Err(error) = append(path, text) {
            ui.say(format_args!("gate: {} cannot be written: {error}", path.display()));
        }
    }
}

/// Writes the comment. A token that may not write it is not an error.
fn comment(place: &ForgeRepository, token: Option<&token::Token>, number: u64, judgement: &Judgement, ui: &mut Ui) {
    let text = summary::markdown(&judgement.verdict);
    let written = match forge::connect(place, token, Patience::LONG) {
        Ok(Some(forge)) => forge.comment(number, summary::MARKER, &text),
        Ok(None) => Ok(()),
        Err(trouble) => Err(trouble),
    };
    if let Err(trouble) = written {
        let line = format!("gate: the comment was not written, which changes nothing: {}", trouble.what);
        ui.say(annotations::harmless(&line));
    }
}

fn print(args: &Args, in_job: bool, judgement: &Judgement, ui: &mut Ui) -> Result<()> {
    let verdict = &judgement.verdict;
    if args.json {
        ui.json(verdict)?;
        return Ok(());
    }
    let record = judgement.written.as_deref();
    let text = render::verdict::lines(verdict, record);
    if !in_job {
        ui.raw(text);
        return Ok(());
    }
    // Nobody who is judged can know this word.
    let now = Instant::now();
    let word = hex_digest(&[verdict.id.as_bytes(), format!("{now:?} {}", std::process::id()).as_bytes()]);
    ui.raw(annotations::inert(text.trim_end(), &word[..32]));
    for line in annotations::lines(verdict) {
        ui.line(line);
    }
    Ok(())
}
