//! `gate scope`: lists the tasks in a request, if there are several, and records the order that a person chose.

use anyhow::Result;
use serde::Serialize;

use super::prompt::Args;
use crate::engine::Workplace;
use crate::event::accepted_plan::{AcceptedPlan, numbered};
use crate::event::{EventKind, Origin};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::foreign_text::one_line;
use crate::journal::NewEvent;
use crate::prompt::{TaskInPrompt, chosen_order};
use crate::redact::redact;
use crate::render;
use crate::render::ui::Ui;

/// Arguments of `gate scope`.
#[derive(Debug, clap::Args)]
pub struct ScopeArgs {
    #[command(flatten)]
    request: Args,
    /// Make the tasks the plan of this session: the person's answer, such as "2, 1, 3" or "all together"
    #[arg(long, value_name = "ANSWER")]
    order: Option<String>,
}

/// The tasks of one request, for programs. Empty if it is one task.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct TaskList<'a> {
    schema_version: u32,
    tasks: &'a [TaskInPrompt],
    /// True if the request says that it wants the tasks all together.
    together: bool,
    /// The plan, if one was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<AcceptedPlan>,
}

/// Lists the tasks of one request, and makes them the plan of the session if their order is known.
pub fn main(args: &ScopeArgs, ui: &mut Ui) -> Result<Exit> {
    let evaluation = args.request.evaluate()?;
    let plan = if let Some(answer) = &args.order { Some(accepted(&evaluation.tasks, answer)?) } else { None };
    if args.request.is_json() {
        let (tasks, together) = (&*evaluation.tasks, evaluation.together);
        ui.json(&TaskList { schema_version: 1, tasks, together, plan })?;
    } else if let Some(plan) = &plan {
        ui.raw(render::prompt_evaluation::plan(plan));
    } else if evaluation.tasks.is_empty() {
        ui.line("this is one task");
    } else {
        ui.raw(render::prompt_evaluation::table(&evaluation));
    }
    Ok(Exit::Pass)
}

/// Records the order that a person chose.
fn accepted(tasks: &[TaskInPrompt], answer: &str) -> Result<AcceptedPlan> {
    if tasks.is_empty() {
        return Err(Failure::new(Exit::Usage, "the request is one task: it has no order").into());
    }
    let unclear = || {
        Failure::new(Exit::Usage, format!("the order cannot be read: {}", one_line(answer)))
            .remedy("name tasks by their numbers, such as `2, 1, 3`, or say `all together` or `in this order`")
    };
    let order = chosen_order(answer, tasks.len(), true).ok_or_else(unclear)?;
    let place = Workplace::here()?;
    let head = place.repo.head().map_err(Failure::with(Exit::CannotJudge))?.commit;
    let planned = numbered(tasks, |text| redact(text).into_owned());
    let plan = AcceptedPlan::ordered(&planned, &order.numbers, order.together, head);
    let session = Some(place.session.id.clone());
    let event = NewEvent { session, origin: Origin::observed(), kind: EventKind::Plan(plan.clone()) };
    place.journal.append(event).map_err(Failure::with(Exit::CannotJudge))?;
    Ok(plan)
}
