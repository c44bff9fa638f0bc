//! `gate sessions`: lists the sessions of coding agents in this repository.

use std::env;
use std::path::Path;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::git::Repo;
use crate::render;
use crate::render::sessions::Listed;
use crate::render::ui::{Ui, WARN};
use crate::source::sessions::{self, Client, Cursors, Roots, SessionLog, SessionSummary};

/// Arguments of `gate sessions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Lists the sessions, the most recently active one at the end.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    let gate_dir = place.repo.gate_dir();
    let roots = roots(&place.repo);
    let cursors = Cursors::of(&gate_dir);
    let mut all = Vec::new();
    for found in sessions::find(&roots, &|name| env::var_os(name)) {
        let Some(summary) = look(&cursors, &found.log, &roots, ui) else { continue };
        let mut one = Listed { session: found.id, ..listed(found.log.client, &summary, &found.log.path) };
        for summary in found.subagents.iter().filter_map(|log| look(&cursors, log, &roots, ui)) {
            one.commands += summary.counts.commands;
            one.edits += summary.counts.edits;
            one.broken += summary.counts.broken;
            one.first_broken = one.first_broken.or(summary.counts.first_broken);
            for (kind, count) in summary.counts.unknown {
                *one.unknown.entry(kind).or_default() += count;
            }
            one.last = one.last.max(summary.last);
            one.subagents += 1;
        }
        all.push(one);
    }
    for imported in sessions::imported(&gate_dir) {
        all.push(Listed { imported: true, ..listed(imported.client, &imported.summary, &imported.path) });
    }
    all.sort_by_key(|one| one.last);
    for one in &all {
        if args.json { ui.line(render::sessions::json(one)?) } else { ui.line(render::sessions::human(one)) }
    }
    if all.is_empty() {
        ui.say("gate: no session of a coding agent was found for this repository");
        ui.say("      `gate import FILE` imports a log from elsewhere");
    }
    Ok(Exit::Pass)
}

/// Returns the fields of a session that are shown.
pub(super) fn listed(client: Client, summary: &SessionSummary, file: &Path) -> Listed {
    Listed {
        schema_version: 1,
        client: client.to_string(),
        session: summary.session.clone().unwrap_or_default(),
        began: summary.began,
        last: summary.last,
        dir: summary.dir.clone(),
        prompts: summary.counts.prompts,
        commands: summary.counts.commands,
        edits: summary.counts.edits,
        stops: summary.counts.stops,
        broken: summary.counts.broken,
        first_broken: summary.counts.first_broken,
        unknown: summary.counts.unknown.clone(),
        subagents: 0,
        imported: false,
        file: file.to_path_buf(),
    }
}

/// Returns the working trees of a repository, as clients may name them.
pub(super) fn roots(repo: &Repo) -> Roots {
    let roots = repo.work_trees();
    let real: Vec<_> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    Roots::new(roots.into_iter().chain(real))
}

/// Returns the current summary of a log. The position up to which it was read is saved if possible; nothing depends on
/// it.
fn look(cursors: &Cursors, log: &SessionLog, roots: &Roots, ui: &mut Ui) -> Option<SessionSummary> {
    match sessions::newer(cursors.load(log), log, roots, &mut |_| ()) {
        Ok(newer) => {
            let _ = cursors.save(&newer.cursor);
            Some(newer.summary)
        }
        Err(error) => {
            ui.say(format_args!("{WARN}warning:{WARN:#} {error}"));
            None
        }
    }
}
