//! `gate reflect`: shows what the record says of a task, and keeps what its agent learned.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::learn::branch_fate::{self, BranchFate};
use crate::learn::reflection::{Reflection, ReflectionReply};
use crate::learn::rotation::Rotation;
use crate::learn::task_record::{self, TaskRecord};
use crate::learn::{self, DEFAULT_ROLE, reflection_store};
use crate::render::reflections::ReflectionList;
use crate::render::ui::Ui;
use crate::{render, session};

/// Arguments of `gate reflect`.
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The role of the agent; by default, the one that `GATE_ROLE` names
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// The session (its id or the start of it); by default, the session that works here, or the last one
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// A file with the agent's answer; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "list", "rotation"])]
    answer: Option<PathBuf>,
    /// Print the question for the agent
    #[arg(long, conflicts_with_all = ["list", "rotation", "json"])]
    prompt: bool,
    /// Show the kept reflections
    #[arg(long, conflicts_with_all = ["rotation", "session"])]
    list: bool,
    /// Print the kept reflections as one JSON object, in the form `rotation.json` (docs/learning.md)
    #[arg(long, conflicts_with_all = ["session", "json"])]
    rotation: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Reflects on the last task of a session, or shows what is kept.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = super::place_of_agent()?;
    let named = match &args.role {
        Some(role) => Some(session::role_name(role).ok_or_else(|| not_a_role(role, "--role"))?),
        None => match session::malformed_role() {
            Some(role) => return Err(not_a_role(&role, "GATE_ROLE").into()),
            None => None,
        },
    };
    if args.list || args.rotation {
        return show_kept(args, &place, named.or_else(session::role).as_deref(), ui);
    }
    let task = chosen(&place, args.session.as_deref())?;
    let fate = branch_fate::of(&place.repo, &task)?;
    // The record may not name the role; what is kept does.
    let kept = reflection_store::read(&place.repo.gate_dir())?.0.into_iter().find(|one| one.id == task.id());
    let is_kept = kept.is_some();
    let role = named.or_else(|| Some(kept?.role)).or_else(session::role).or_else(|| task.role.clone());
    let role = role.unwrap_or_else(|| DEFAULT_ROLE.to_owned());
    let mut reflection = Reflection::of(&task, &role);
    if args.prompt {
        let question = learn::question(&reflection)?;
        if let Some(wrong) = question.wrong {
            ui.say(format_args!("gate: {wrong}; the built-in text is used instead"));
        }
        ui.raw(question.text);
        return Ok(Exit::Pass);
    }
    if let Some(file) = &args.answer {
        let reply = ReflectionReply::read(&super::handoff::read(file)?);
        if !reply.says_something() {
            ui.say("gate: the agent's answer cannot be read, so what it says of the outcome is unknown");
        }
        reflection = reflection.answered(reply);
    }
    let policy = place.policy_of_head()?;
    let root = place.repo.root().unwrap_or(place.repo.git_dir());
    reflection = reflection.with_cause(&policy, &|name| learn::exists_below(root, name));
    if task.is_over || fate == BranchFate::Gone || args.answer.is_some() || is_kept {
        reflection = reflection_store::add(&place.repo.gate_dir(), reflection)?;
    } else {
        ui.say("gate: the task is not over yet, so its reflection is not kept");
    }
    ui.show(args.json, &reflection, render::reflections::human(&reflection, Some(fate)))?;
    Ok(Exit::Pass)
}

/// Returns the last task of the named session, of the one at work, or of any.
fn chosen(place: &Workplace, named: Option<&str>) -> Result<TaskRecord, Failure> {
    let events = place.journal.latest_events().map_err(Failure::with(Exit::CannotJudge))?;
    let mut tasks = task_record::tasks(&events);
    if let Some(named) = named {
        let is_whole = tasks.iter().any(|task| task.session == named);
        tasks.retain(|task| if is_whole { task.session == named } else { task.session.starts_with(named) });
        let sessions: BTreeSet<&str> = tasks.iter().map(|task| task.session.as_str()).collect();
        if sessions.len() > 1 {
            let failure = format!("`{}` is the beginning of {} sessions", named.escape_debug(), sessions.len());
            return Err(Failure::new(Exit::BadInput, failure).remedy("type more of it; to list them: gate sessions"));
        }
        let Some(task) = tasks.pop() else {
            let failure = format_args!("no task of a session `{}` is recorded here", named.escape_debug());
            return Err(Failure::new(Exit::BadInput, failure).remedy("`gate log` shows what is recorded"));
        };
        return Ok(task);
    }
    let own = tasks.iter().rposition(|task| task.session == place.session.id);
    let at = own.or_else(|| tasks.len().checked_sub(1)).ok_or_else(|| {
        Failure::new(Exit::NothingFails, "no task is recorded here: nothing was judged yet").remedy("gate check --done")
    })?;
    Ok(tasks.swap_remove(at))
}

fn not_a_role(role: &str, from: &str) -> Failure {
    Failure::new(Exit::Usage, format_args!("{from}: `{}` is not the name of a role", role.escape_debug()))
        .remedy("use at most 40 letters, digits, `-`, `_`, `.` and spaces")
}

fn show_kept(args: &Args, place: &Workplace, role: Option<&str>, ui: &mut Ui) -> Result<Exit> {
    let mut all = reflection_store::read(&place.repo.gate_dir())?;
    if args.role.is_some() {
        all.0.retain(|one| role == Some(one.role.as_str()));
    }
    if args.rotation {
        ui.json(&Rotation::of(&all))?;
    } else if args.json {
        let list = ReflectionList { schema_version: 1, reflections: all.0.iter().collect() };
        ui.json(&list)?;
    } else if all.0.is_empty() {
        ui.say("gate: no reflection is kept here; `gate reflect` makes one of the last task");
    } else {
        ui.raw(render::reflections::list(&all, None));
    }
    Ok(Exit::Pass)
}
