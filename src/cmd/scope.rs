//! `gate scope`: the tasks in a request, when there are several.

use anyhow::Result;

use super::prompt::Args;
use crate::exit::Exit;
use crate::render;
use crate::render::ui::Ui;

/// Lists the tasks of one request.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let evaluation = args.evaluate()?;
    if args.is_json() {
        ui.line(serde_json::to_string_pretty(&evaluation.tasks)?);
    } else if evaluation.tasks.is_empty() {
        ui.line("this is one task");
    } else {
        ui.raw(render::prompt::table(&evaluation.tasks));
    }
    Ok(Exit::Pass)
}
