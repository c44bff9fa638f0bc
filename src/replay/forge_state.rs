//! The state of the forge in a case, as the gates read it.

use std::collections::BTreeMap;

use crate::command_line::understand;
use crate::fact::hosting::{
    Check, CheckKind, Checks, ForgeAnswer, HostedHead, Hosting, Pull, PullState, RequiredStatus, Via,
};
use crate::replay::case;
use crate::replay::simulated_repository::World;
use crate::replay::tree_content::oid;
use crate::runner::Project;

/// The repository that pull requests go to, if a case does not name it.
const REPOSITORY: &str = "origin/repository";

/// Returns the state of the forge for the commit that is handed over, or `None` if the case knows no pull request and
/// no check, and no act tried to open one or required one (`wanted`).
pub fn of(world: &World, wanted: bool) -> Option<Hosting> {
    if world.pulls.is_empty() && world.checks.is_empty() && world.requests.is_empty() && !wanted {
        return None;
    }
    let opened = world.requests.iter().filter_map(|command| opened(command, world));
    let mut pulls: BTreeMap<u64, Pull> = opened.map(|pull| (pull.number, pull)).collect();
    for (_, said) in &world.pulls {
        pulls.insert(said.number, pull(said, world));
    }
    let repository =
        pulls.values().find_map(|pull| pull.head_repository.clone()).unwrap_or_else(|| REPOSITORY.to_owned());
    let pushed = world
        .updates
        .iter()
        .rev()
        .find(|update| !update.refused && !update.dry && update.remote_ref == format!("refs/heads/{}", world.branch))
        .and_then(|update| update.new.as_deref())
        .or_else(|| world.pulls.last().map(|(_, said)| said.head_sha.as_str()).filter(|head| !head.is_empty()));
    let here = world.checks.iter().rev().find(|checks| checks.head_sha == world.head);
    let required = here.or(world.checks.last()).and_then(|checks| checks.required.clone()).unwrap_or_default();
    Some(Hosting {
        repository: REPOSITORY.to_owned(),
        head: HostedHead {
            commit: oid(&world.head),
            via: Via::Branch,
            branch: Some(world.branch.clone()),
            repository: Some(repository),
            pushed: pushed.map(oid),
        },
        default_branch: Some("main".to_owned()),
        pulls: ForgeAnswer::Known(pulls.into_values().collect()),
        checks: ForgeAnswer::Known(here.map(checks).unwrap_or_default()),
        required: ForgeAnswer::Known(required.into_iter().map(|name| RequiredStatus { name, app: None }).collect()),
        started_for: None,
        base: None,
        landed: Vec::new(),
    })
}

fn pull(said: &case::CasePull, world: &World) -> Pull {
    let state = match said.state.to_lowercase().as_str() {
        "merged" => PullState::Merged,
        "closed" if said.merged => PullState::Merged,
        "closed" => PullState::Closed,
        _ => PullState::Open,
    };
    let fork = || said.head_repo.clone().unwrap_or_else(|| "fork/repository".to_owned());
    Pull {
        number: said.number,
        url: String::new(),
        state,
        draft: said.draft,
        head: oid(&said.head_sha),
        head_branch: world.branch.clone(),
        head_repository: Some(if said.cross_repo { fork() } else { REPOSITORY.to_owned() }),
        base_branch: said.base.clone(),
    }
}

fn checks(said: &case::CaseChecks) -> Checks {
    const STATES: [&str; 6] = ["queued", "in_progress", "pending", "waiting", "requested", "expected"];
    let check = |name: &str, word: &str, kind| {
        let done = !STATES.contains(&word);
        Check {
            name: name.to_owned(),
            kind,
            status: if done { "completed".to_owned() } else { word.to_owned() },
            conclusion: done.then(|| word.to_owned()),
            ..Check::default()
        }
    };
    let mut list: Vec<Check> = said
        .checks
        .iter()
        .map(|(name, value)| {
            let inner = |key: &str| value.get(key).and_then(serde_json::Value::as_str);
            let word = value.as_str().or_else(|| inner("conclusion")).or_else(|| inner("status")).unwrap_or("pending");
            check(name, &word.to_lowercase(), CheckKind::Run)
        })
        .collect();
    // What nobody reports in detail is known by its sum: a workflow without jobs.
    if let Some(conclusion) = said.conclusion.as_deref().filter(|_| list.is_empty()) {
        list.push(check("workflow", &conclusion.to_lowercase(), CheckKind::Workflow));
    }
    Checks { list, missing: Vec::new() }
}

/// Returns `true` if a command line opens a pull request.
pub fn opens(command: &case::RecordedCommand) -> bool {
    // A cheap look first: most lines name neither program.
    if !["gh", "glab"].iter().any(|program| command.command.contains(program)) {
        return false;
    }
    understand(&command.command, Project::without_runners(&())).is_ok_and(|understood| {
        understood.program.leaves.iter().any(|leaf| {
            let words: Vec<&str> = leaf.argv.iter().filter_map(|arg| arg.literal()).collect();
            matches!(words.as_slice(), ["gh", "pr", "create" | "new", ..] | ["glab", "mr", "create" | "new", ..])
        })
    })
}

/// Returns the pull request that a command opened, by the address that it printed.
fn opened(command: &case::RecordedCommand, world: &World) -> Option<Pull> {
    if command.exit != Some(0) {
        return None;
    }
    let output = command.output.as_deref().unwrap_or_default();
    let number = output.split_whitespace().find_map(|word| {
        let (_, number) = word.split_once("/pull/").or_else(|| word.split_once("/merge_requests/"))?;
        number.trim_end_matches('/').parse().ok()
    });
    number.map(|number| Pull {
        number,
        url: String::new(),
        state: PullState::Open,
        draft: command.command.contains("--draft"),
        head: oid(command.head.as_deref().unwrap_or(&world.head)),
        head_branch: command.branch.clone().unwrap_or_else(|| world.branch.clone()),
        head_repository: Some(REPOSITORY.to_owned()),
        base_branch: "main".to_owned(),
    })
}
