//! The effects of command lines on branches of a remote: pushes without recorded refs, and writes through the forge's
//! interface, which no hook of git ever sees.

use crate::command_line::{Purpose, understand};
use crate::replay::proofs_by_package::RecordedLine;
use crate::replay::simulated_repository::World;
use crate::replay::simulated_run::Update;
use crate::runner::Project;
use crate::shell::expanded_program::Leaf;

/// The local side of an update that was made through the forge.
pub const THROUGH_FORGE: &str = "(forge)";

/// Returns the effects of a recorded line on branches of remotes.
pub fn updates(seq: u64, recorded: &RecordedLine<'_>, world: &World) -> Vec<Update> {
    let Ok(understood) = understand(recorded.line, Project::without_runners(&())) else { return Vec::new() };
    let refused = recorded.status.is_some_and(|status| status != 0);
    let mut found = Vec::new();
    for (leaf, purpose) in understood.steps() {
        if !purpose.pushes.is_empty() {
            found.extend(pushed(leaf, purpose, world));
        }
        found.extend(forge_writes(leaf));
    }
    for update in &mut found {
        update.seq = seq;
        update.refused = refused;
    }
    found
}

/// Returns the refs of a push as far as its words show them.
fn pushed(leaf: &Leaf, purpose: &Purpose, world: &World) -> Vec<Update> {
    let words: Vec<&str> = leaf.argv.iter().filter_map(|arg| arg.literal()).collect();
    let dry = words.iter().any(|word| matches!(*word, "--dry-run" | "-n"));
    let at = words.iter().position(|word| *word == "push").unwrap_or(words.len());
    let remote = words.iter().skip(at + 1).find(|word| !word.starts_with('-')).copied().unwrap_or("origin").to_owned();
    let update = |branch: &str, new: Option<String>| Update {
        local_ref: if new.is_some() { "HEAD".to_owned() } else { "(delete)".to_owned() },
        new,
        remote_ref: if branch.starts_with("refs/") { branch.to_owned() } else { format!("refs/heads/{branch}") },
        remote: remote.clone(),
        dry,
        ..Update::default()
    };
    let mut found = Vec::new();
    for place in &purpose.pushes {
        match place.as_str() {
            "@current" => found.push(update(&world.branch, Some(world.head.clone()))),
            "--all" | "--branches" | "--mirror" | "--matching" => {
                found.extend(world.branches.iter().map(|(branch, commit)| update(branch, Some(commit.clone()))));
            }
            "--tags" | "?" => {}
            place => match place.strip_prefix("delete:") {
                Some(branch) => found.push(update(branch, None)),
                None => {
                    let place = place.trim_end_matches('?');
                    let mut made =
                        update(place, Some(world.branches.get(place).cloned().unwrap_or_else(|| world.head.clone())));
                    if is_tag(&words, place) {
                        made.remote_ref = format!("refs/tags/{place}");
                        made.local_ref.clone_from(&made.remote_ref);
                    }
                    found.push(made);
                }
            },
        }
    }
    found
}

/// Returns `true` if a word of a push names a tag: `tag v1`, or a version.
fn is_tag(words: &[&str], place: &str) -> bool {
    let version = place.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    version && !place.contains('/') || words.windows(2).any(|pair| pair[0] == "tag" && pair[1] == place)
}

/// Branches that a call of the forge's interface writes: contents, refs, merges.
fn forge_writes(leaf: &Leaf) -> Vec<Update> {
    let words: Vec<&str> = leaf.texts().collect();
    let (path, writes, deletes) = match words.as_slice() {
        ["gh" | "glab", "api", rest @ ..] => {
            let method = option(rest, &["-X", "--method"]).map(str::to_uppercase);
            let fields = rest.iter().any(|word| matches!(*word, "-f" | "-F" | "--field" | "--raw-field" | "--input"));
            let writes = method.as_deref().map_or(fields, |method| method != "GET" && method != "HEAD");
            let Some(path) = rest.iter().find(|word| word.contains("repos/") || word.contains("projects/")) else {
                return Vec::new();
            };
            (*path, writes, method.as_deref() == Some("DELETE"))
        }
        ["curl", rest @ ..] => {
            let method = option(rest, &["-X", "--request"]).map(str::to_uppercase);
            let data = rest.iter().any(|word| matches!(*word, "-d" | "--data" | "--json" | "--data-raw"));
            let writes = method.as_deref().map_or(data, |method| method != "GET" && method != "HEAD");
            let Some(path) = rest.iter().find(|word| word.contains("/repos/")) else { return Vec::new() };
            (*path, writes, method.as_deref() == Some("DELETE"))
        }
        ["gh", "pr", "merge", rest @ ..] if rest.contains(&"--admin") => {
            // What protects the branch is set aside.
            return vec![through_forge("refs/heads/main", false)];
        }
        _ => return Vec::new(),
    };
    if !writes {
        return Vec::new();
    }
    let field = |name: &str| {
        let start = format!("{name}=");
        words.iter().find_map(|word| word.strip_prefix(&start)).map(str::to_owned).or_else(|| {
            let json = words.iter().find(|word| word.trim_start().starts_with('{'))?;
            let json: serde_json::Value = serde_json::from_str(json).ok()?;
            Some(json.get(name)?.as_str()?.to_owned())
        })
    };
    let branch = if path.contains("/contents/") {
        // Without a branch the forge takes the default one.
        Some(field("branch").unwrap_or_else(|| "main".to_owned()))
    } else if let Some((_, name)) = path.split_once("/git/refs/heads/") {
        Some(name.to_owned())
    } else if path.ends_with("/git/refs") {
        field("ref").map(|name| name.trim_start_matches("refs/heads/").to_owned())
    } else if path.ends_with("/merges") {
        field("base")
    } else {
        None
    };
    branch
        .map(|branch| through_forge(&format!("refs/heads/{branch}"), deletes && path.contains("/git/refs/")))
        .into_iter()
        .collect()
}

fn through_forge(remote_ref: &str, deletes: bool) -> Update {
    Update {
        local_ref: THROUGH_FORGE.to_owned(),
        new: (!deletes).then(|| "forge".to_owned()),
        remote_ref: remote_ref.to_owned(),
        remote: "origin".to_owned(),
        ..Update::default()
    }
}

fn option<'a>(words: &[&'a str], names: &[&str]) -> Option<&'a str> {
    words.iter().enumerate().find_map(|(at, word)| {
        let (name, value) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
        if names.contains(&name) { value.or_else(|| words.get(at + 1).copied()) } else { None }
    })
}
