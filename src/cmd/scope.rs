//! `gate scope`: lists the tasks in a request, if there are several.

use anyhow::Result;
use serde::Serialize;

use super::prompt::Args;
use crate::exit::Exit;
use crate::prompt::TaskInPrompt;
use crate::render;
use crate::render::ui::Ui;

/// The tasks of one request, for programs. Empty if it is one task.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct TaskList<'a> {
    schema_version: u32,
    tasks: &'a [TaskInPrompt],
}

/// Lists the tasks of one request.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let evaluation = args.evaluate()?;
    if args.is_json() {
        let list = TaskList { schema_version: 1, tasks: &evaluation.tasks };
        ui.json(&list)?;
    } else if evaluation.tasks.is_empty() {
        ui.line("this is one task");
    } else {
        ui.raw(render::prompt_evaluation::table(&evaluation.tasks));
    }
    Ok(Exit::Pass)
}
