//! `gate review`: has a change reviewed by two models that did not make it.

use std::path::PathBuf;

use serde::Serialize;

use crate::engine::{Here, Workplace};
use crate::event::{EventKind, ModelCall, Origin};
use crate::exit::Exit;
use crate::fact::{Base, FindingAnswer, ReviewFinding, ReviewState};
use crate::failure::Failure;
use crate::foreign_text::plain;
use crate::journal::NewEvent;
use crate::judge::kind_question;
use crate::judge::word_question::WordQuestion;
use crate::model::model_settings::{ModelSettings, UserSettings};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::Severity;
use crate::render;
use crate::render::ui::{Ui, WARN};
use crate::repo_path::RepoPath;
use crate::review::author_model::{ChangeAuthors, Kinship};
use crate::review::change_hunks::ChangeHunk;
use crate::review::reading::{self, Reviewers};
use crate::review::review_store::ReviewStore;
use crate::review::second_opinion;
use crate::routing::{self, DEFAULT_KIND, WorkRoute};
use crate::shell_quote::shell_word;

/// The lowest severity of a finding that makes the command fail.
const DISSENT: Severity = Severity::Medium;

/// Arguments of `gate review`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Review what changed since this revision; by default, since the branch left the default branch
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Read the task from this file; by default, it is what the person asked for last in this session. An agent's file
    /// does not replace what the person asked for
    #[arg(long, value_name = "FILE")]
    task: Option<PathBuf>,
    /// The model that made the change; by default, gate reads it from the logs of the agents' sessions. If an agent
    /// gives this option, the logs still count
    #[arg(long, value_name = "MODEL")]
    author: Option<String>,
    /// If only one model reports a finding, ask the other one about it. If it disagrees, the finding no longer blocks
    #[arg(long)]
    answer: bool,
    /// Confirm, as a person, the findings at this place: a finding that only one model calls a blocker becomes a
    /// blocker
    #[arg(long, value_name = "FILE:LINE", conflicts_with = "answer")]
    confirm: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The answer of `gate review`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReviewReport {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The commit that the change is compared with.
    pub base: Oid,
    /// The reviewed content.
    pub tree: Oid,
    /// The model that looked at the logic, by its name in the user's configuration.
    pub reviewer: String,
    /// The model that looked at security and at the task.
    pub auditor: String,
    /// The models that made the change, as far as they are known.
    pub authors: Vec<String>,
    /// Remarks on the choice of the models.
    pub warnings: Vec<String>,
    /// The state of the review.
    pub review: ReviewState,
    /// The calls that it took; none if everything was reviewed before.
    pub calls: Vec<ModelCall>,
}

/// Has the working tree reviewed, as far as it was not reviewed before.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    let settings = UserSettings::read().map_err(Failure::with(Exit::BadInput))?;
    let auditor = named(&settings, settings.auditor.as_ref())?;
    named(&settings, settings.reviewer.as_ref())?;
    let here = place.look()?;
    let base = base(&place, &here, args.base.as_deref())?;
    let snapshot = &here.look.snapshot;
    let tree = place.repo.keep(snapshot).map_err(Failure::with(Exit::CannotJudge))?.tree;
    let hunks = place
        .change_hunks(&base, &tree, Some(snapshot))
        .map_err(|error| Failure::new(Exit::CannotJudge, format!("the change cannot be read: {error}")))?;
    let ReviewTask { words, text: task } = task(&place, &here, args)?;
    let mut paths: Vec<_> = hunks.iter().map(|hunk| hunk.path.clone()).collect();
    paths.dedup();
    let route = route(&place, &settings, &paths, &words)?;
    let reviewer = named(&settings, route.model.as_ref().or(settings.reviewer.as_ref()))?;
    // Where work is routed to the auditor, the other one audits.
    let auditor = match route.model.as_ref() {
        Some(_) if reviewer.name == auditor.name => named(&settings, settings.reviewer.as_ref())?,
        _ => auditor,
    };
    if reviewer.is_same_model(auditor) {
        let names = if reviewer.name == auditor.name { String::new() } else { format!(" ({})", auditor.name) };
        let what = format!("{}{names} is both the reviewer and the auditor: two models are needed", reviewer.name);
        return Err(Failure::new(Exit::Usage, what)
            .remedy("name another model in [review] or [routing.models]")
            .into());
    }
    let authors = authors(&place, args.author.as_deref(), &paths, &base)?;
    let mut warnings = Vec::new();
    if args.base.is_some() && !has_known_base(&here) {
        warnings.extend(keep_base(&place, &base)?);
    }
    for model in [reviewer, auditor] {
        warnings.extend(kinship(&authors, model)?);
    }
    let store = place.reviews(&settings);
    let models = Reviewers { reviewer, auditor };
    let mut reading = reading::read(&store, &hunks, &task, models);
    if args.answer && reading.failed.is_empty() {
        let answers = second_opinion::answer(&store, &hunks, &task, models, DISSENT);
        reading.calls.extend(answers.calls);
        reading.failed = answers.failed;
    }
    record(&place, &reading.calls)?;
    if let Some(at) = &args.confirm {
        confirm(&place, &store, &hunks, at, ui)?;
    }
    let mut review = store.state(&hunks);
    review.failed = reading.failed;
    let report = ReviewReport {
        schema_version: 1,
        base,
        tree,
        reviewer: reviewer.name.clone(),
        auditor: auditor.name.clone(),
        authors: authors.models,
        warnings,
        review,
        calls: reading.calls,
    };
    if args.json {
        ui.json(&report)?;
    } else {
        for warning in &report.warnings {
            ui.say(format_args!("{WARN}warning:{WARN:#} {warning}"));
        }
        ui.raw(render::review::lines(&report.review, report.calls.len()));
    }
    let dissents = report.review.findings.iter().any(|finding| finding.severity >= DISSENT && !finding.is_refuted());
    Ok(match (dissents, report.review.unreviewed) {
        (true, _) => Exit::Blocked,
        (false, 0) => Exit::Pass,
        (false, _) => Exit::CannotJudge,
    })
}

/// Keeps a person's answer to the findings at a place.
fn confirm(
    place: &Workplace,
    store: &ReviewStore,
    hunks: &[ChangeHunk],
    at: &str,
    ui: &mut Ui,
) -> Result<(), anyhow::Error> {
    ui.only_for_a_person(place.session.agent.is_some(), format_args!("gate review --confirm {}", shell_word(at)))?;
    let name_of = |finding: &ReviewFinding| {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}", finding.path)
    };
    let mut meant = store.state(hunks).findings;
    meant.retain(|finding| name_of(finding) == at);
    if meant.is_empty() {
        let what = format!("no model reported anything at `{}`", at.escape_debug());
        return Err(Failure::new(Exit::Usage, what).remedy("`gate review` lists what they report").into());
    }
    for finding in &meant {
        ui.say(format_args!("{at}  {}: {}", finding.by, plain(&finding.message)));
    }
    if !ui.confirm("Is this right?") {
        return Ok(());
    }
    let by = place.repo.config("user.name")?.unwrap_or_else(|| "somebody".to_owned());
    let answer = FindingAnswer { by, is_person: true, stands: true, reason: "confirmed by a person".to_owned() };
    for finding in &meant {
        store.answer(hunks, finding, &answer)?;
    }
    Ok(())
}

/// Returns a reviewer, or an error if none is configured.
fn named<'s>(settings: &'s UserSettings, name: Option<&String>) -> Result<&'s ModelSettings, Failure> {
    name.and_then(|name| settings.models.get(name)).ok_or_else(|| {
        let file = crate::model::model_settings::path().unwrap_or_else(|| PathBuf::from("gate/config.toml"));
        Failure::new(Exit::Usage, "no reviewers are configured").remedy(format_args!(
            "name two models in {}:\n[review]\nreviewer = \"NAME\"\nauditor = \"NAME\"",
            file.display()
        ))
    })
}

/// Returns the kind of a piece of work. A model is asked only if nothing else says it and the user names one.
pub(super) fn route(
    place: &Workplace,
    settings: &UserSettings,
    paths: &[RepoPath],
    task: &str,
) -> Result<WorkRoute, Failure> {
    let route = routing::route(paths, task, &settings.routes).map_err(|what| Failure::new(Exit::BadInput, what))?;
    let asked = settings.routes.ask.as_ref().filter(|_| route.kind == DEFAULT_KIND);
    let Some(model) = asked.and_then(|name| settings.models.get(name)) else { return Ok(route) };
    let (call, answer) = kind_question::ask(model, task, paths, &routing::kinds(&settings.routes));
    record(place, call.as_slice())?;
    let (kind, why) = match answer {
        Ok(kind) => (kind, format!("{}, and {} says so", route.why, model.name)),
        Err(failure) => (route.kind, format!("{}, and {} gave no answer: {}", route.why, model.name, plain(&failure))),
    };
    Ok(WorkRoute::of(kind, why, &settings.routes))
}

/// Returns the models that made a change: of the agent's session in which this runs, or else of the sessions that edited
/// its files.
fn authors(
    place: &Workplace,
    named: Option<&str>,
    paths: &[RepoPath],
    base: &Oid,
) -> Result<ChangeAuthors, anyhow::Error> {
    let named = named.map(str::to_owned);
    // A person knows better than the logs. An agent only adds to them.
    if let Some(model) = named.clone().filter(|_| place.session.agent.is_none()) {
        return Ok(ChangeAuthors { models: vec![model], clients: Vec::new() });
    }
    let ledger = super::reward::ledger(place)?;
    let own = place.session.agent.as_ref().filter(|_| ledger.client_of(&place.session.id).is_some());
    let sessions = match own {
        Some(_) => vec![place.session.id.clone()],
        None => ledger.sessions_behind(paths, place.repo.commit_time(base)?),
    };
    let mut authors = ChangeAuthors { models: named.into_iter().collect(), clients: Vec::new() };
    for session in &sessions {
        authors.models.extend(ledger.usage(session).models);
        authors.clients.extend(ledger.client_of(session).map(str::to_owned));
    }
    authors.clients.extend(place.session.agent.clone());
    for names in [&mut authors.models, &mut authors.clients] {
        names.sort();
        names.dedup();
    }
    Ok(authors)
}

/// Returns a warning if a reviewer is of the family of an author. An author's own model does not review.
fn kinship(authors: &ChangeAuthors, model: &ModelSettings) -> Result<Option<String>, Failure> {
    match authors.compare(model) {
        Kinship::Same => {
            let what = format!("{} is the model that made the change: it does not review itself", model.name);
            let remedy = format!(
                "name another model in [review], or say who made the change: gate review --author MODEL\n\
                 the sessions name {}",
                authors.models.join(", ")
            );
            Err(Failure::new(Exit::Usage, what).remedy(remedy))
        }
        Kinship::Family(family) => {
            Ok(Some(format!("{} and the author are models of {family}: they may miss the same faults", model.name)))
        }
        Kinship::None => Ok(None),
    }
}

fn base(place: &Workplace, here: &Here, rev: Option<&str>) -> Result<Oid, Failure> {
    if let Some(rev) = rev {
        let none = || Failure::new(Exit::Usage, format!("`{rev}` is not a commit of this repository"));
        let named = super::named_commit(&place.repo, rev)?.ok_or_else(none)?;
        // What others did there since is not part of this change.
        let Some(head) = here.lineage.as_ref().map(|lineage| &lineage.commit) else { return Ok(named) };
        let left = place.repo.merge_base(&named, head).map_err(Failure::with(Exit::CannotJudge))?;
        return Ok(left.unwrap_or(named));
    }
    match here.lineage.as_ref().map(|lineage| &lineage.base) {
        Some(Base::MergeBase { commit, .. }) => Ok(commit.clone()),
        _ => Err(Failure::new(Exit::CannotJudge, "gate cannot tell where this work began")
            .remedy("gate review --base REV compares it with a revision")),
    }
}

/// The task of a change.
struct ReviewTask {
    /// The request, or an empty text if nobody wrote one down. It chooses the model.
    words: String,
    /// The text that the models get.
    text: String,
}

fn task(place: &Workplace, here: &Here, args: &Args) -> Result<ReviewTask, Failure> {
    let named = args.task.as_ref().map(|path| {
        let wrong = Failure::of_file(Exit::Usage, path);
        std::fs::read_to_string(path).map_err(wrong)
    });
    let named = named.transpose()?;
    if let Some(task) = named.clone().filter(|_| place.session.agent.is_none()) {
        return Ok(ReviewTask { words: task.clone(), text: task });
    }
    let facts = place.facts_here(here, Moment::Stop, &place.session.id)?;
    let WordQuestion { task: asked, context, .. } = WordQuestion::of_turn(&facts, &[]);
    let known =
        if context.is_empty() { String::new() } else { format!("\n\nWhat else is known of the task:\n{context}") };
    // The end of a long text is what a model sees.
    let text = match (&named, asked.is_empty()) {
        (None, true) => "(nobody wrote it down)".to_owned(),
        (None, false) => format!("{asked}{known}"),
        (Some(said), true) => format!("{said}\n\n(The author says so; nobody wrote down what the person asked for.)"),
        (Some(said), false) => format!("The author says:\n{said}\n\nThe person asked for:\n{asked}{known}"),
    };
    Ok(ReviewTask { words: if asked.is_empty() { named.unwrap_or_default() } else { asked }, text })
}

fn has_known_base(here: &Here) -> bool {
    here.lineage.as_ref().is_some_and(|lineage| matches!(lineage.base, Base::MergeBase { .. }))
}

/// Keeps the revision with which a person compares, so that the gate compares with it, too. Returns a warning if an agent
/// named it.
fn keep_base(place: &Workplace, base: &Oid) -> Result<Option<String>, anyhow::Error> {
    if place.session.agent.is_some() {
        return Ok(Some(
            "the gate does not take the beginning of the work from an agent: a person types --base".to_owned(),
        ));
    }
    place.keep_review_base(base)?;
    Ok(None)
}

/// Records calls of models in the journal.
pub(super) fn record(place: &Workplace, calls: &[ModelCall]) -> Result<(), Failure> {
    let session = Some(place.session.id.clone());
    let event = |call: &ModelCall| NewEvent {
        session: session.clone(),
        origin: Origin::observed(),
        kind: EventKind::Model(call.clone()),
    };
    let events = calls.iter().map(event).collect();
    let recorded = place.journal.append_with(|_| (events, ())).1;
    recorded.map(drop).map_err(Failure::with(Exit::CannotJudge))
}
