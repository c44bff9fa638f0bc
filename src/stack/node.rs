//! npm, pnpm, yarn and bun: the package manager of a project, and its scripts.

use serde_json::Value;

use super::file_list::{join, resolve, within};
use super::{BUILD, Detection, Files, TESTS};
use crate::globs::Globs;
use crate::runner::workspace_members;

/// The lockfiles, and whose they are.
const LOCKS: [(&str, PackageManager); 6] = [
    ("pnpm-lock.yaml", PackageManager::Pnpm),
    ("yarn.lock", PackageManager::Yarn),
    ("bun.lock", PackageManager::Bun),
    ("bun.lockb", PackageManager::Bun),
    ("package-lock.json", PackageManager::Npm),
    ("npm-shrinkwrap.json", PackageManager::Npm),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackageManager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

/// Words before a command in a script that start it.
const LAUNCHERS: [&str; 7] = ["cross-env", "dotenv", "npx", "pnpm", "yarn", "exec", "--"];

struct PackageJson {
    dir: String,
    json: Value,
    members: Vec<String>,
}

/// Returns the outermost packages that have a script for tests or for a build; a workspace counts once, at its root.
pub(super) fn find(files: &Files) -> Vec<Detection> {
    let packages: Vec<PackageJson> = files
        .folders_with("package.json")
        .into_iter()
        .filter_map(|dir| {
            let json: Value = serde_json::from_str(&files.text(&join(&dir, "package.json"))).ok()?;
            let members = members(files, &dir, &json);
            Some(PackageJson { dir, json, members })
        })
        .collect();
    let owned = |package: &PackageJson| {
        packages.iter().any(|root| {
            root.dir != package.dir
                && within(&package.dir, &root.dir)
                && Globs::new(&root.members).is_ok_and(|globs| globs.is_match(&package.dir))
        })
    };
    packages.iter().filter(|package| !owned(package)).filter_map(|package| found(files, package, &packages)).collect()
}

fn found(files: &Files, package: &PackageJson, all: &[PackageJson]) -> Option<Detection> {
    let (manager, why) = manager(files, package);
    let manifest = join(&package.dir, "package.json");
    let inner: Vec<&PackageJson> = all
        .iter()
        .filter(|other| other.dir != package.dir && Globs::new(&package.members).is_ok_and(|g| g.is_match(&other.dir)))
        .collect();
    let mut commands = Vec::new();
    for (gate, name) in [(TESTS, "test"), (BUILD, "build")] {
        if let Some(script) = script(&package.json, name) {
            let run = run_script(manager, name, script);
            commands.push((gate, run, format!("script `{name}` in {manifest}; {why}")));
        } else if inner.iter().any(|member| script(&member.json, name).is_some()) {
            let berry = files.has(&join(&package.dir, ".yarnrc.yml"));
            let run = run_everywhere(manager, berry, name);
            commands.push((gate, run, format!("members of the workspace of {manifest} have a script `{name}`; {why}")));
        } else if gate == TESTS && manager == PackageManager::Bun && has_test_files(files, &package.dir) {
            commands.push((gate, "bun test".to_owned(), format!("there are test files for bun; {why}")));
        }
    }
    let manifests = std::iter::once(manifest).chain(inner.iter().map(|m| join(&m.dir, "package.json"))).collect();
    let (stack, dir) = ("node".to_owned(), package.dir.clone());
    (!commands.is_empty()).then(|| Detection { stack, dir, manifests, commands, ..Detection::default() })
}

/// Returns the globs of the members of a workspace, from the root of the repository.
fn members(files: &Files, dir: &str, json: &Value) -> Vec<String> {
    let pnpm = files.text(&join(dir, "pnpm-workspace.yaml"));
    let listed = workspace_members::package_folders(json, Some(&pnpm)).unwrap_or_default();
    listed.iter().filter_map(|glob| resolve(dir, glob)).collect()
}

/// Returns a script that does something: npm writes a placeholder that only fails.
fn script<'a>(json: &'a Value, name: &str) -> Option<&'a str> {
    let text = json.get("scripts")?.get(name)?.as_str()?;
    (!text.trim().is_empty() && !text.contains("no test specified")).then_some(text)
}

fn manager(files: &Files, package: &PackageJson) -> (PackageManager, String) {
    let field = package.json.get("packageManager").and_then(Value::as_str).unwrap_or_default();
    let named = match field.split('@').next() {
        Some("npm") => Some(PackageManager::Npm),
        Some("pnpm") => Some(PackageManager::Pnpm),
        Some("yarn") => Some(PackageManager::Yarn),
        Some("bun") => Some(PackageManager::Bun),
        _ => None,
    };
    if let Some(manager) = named {
        return (manager, format!("`packageManager` is `{field}`"));
    }
    let mut dir = package.dir.as_str();
    loop {
        if let Some((lock, manager)) = LOCKS.iter().find(|(lock, _)| files.has(&join(dir, lock))) {
            return (*manager, format!("{} is there", join(dir, lock)));
        }
        if dir.is_empty() {
            return (PackageManager::Npm, "no lockfile, so npm".to_owned());
        }
        dir = dir.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
}

fn run_script(manager: PackageManager, name: &str, script: &str) -> String {
    let mut run = match (manager, name) {
        (PackageManager::Npm, "test") => "npm test".to_owned(),
        (PackageManager::Npm, name) => format!("npm run {name}"),
        (PackageManager::Pnpm, "test") => "pnpm test".to_owned(),
        (PackageManager::Pnpm, name) => format!("pnpm run {name}"),
        (PackageManager::Yarn, name) => format!("yarn run {name}"),
        // `bun test` would be bun's own runner and not the script.
        (PackageManager::Bun, name) => format!("bun run {name}"),
    };
    // On a terminal these two wait for edits instead of ending.
    if waits_for_edits(script) {
        run.push_str(if manager == PackageManager::Npm { " -- --run" } else { " --run" });
    } else if script.trim() == "react-scripts test" {
        run.insert_str(0, "CI=true ");
    }
    run
}

/// Whether a script ends with vitest, without the word or option that makes it end: what a package manager appends
/// goes to the last command.
fn waits_for_edits(script: &str) -> bool {
    let last = script.rsplit(['&', '|', ';']).next().unwrap_or_default();
    let mut words = last.split_whitespace().skip_while(|word| word.contains('=') || LAUNCHERS.contains(word));
    let ends = |word: &str| {
        matches!(word, "run" | "list" | "bench" | "related") || word.starts_with("--run") || word.starts_with("--watch")
    };
    words.next() == Some("vitest") && !words.any(ends)
}

fn run_everywhere(manager: PackageManager, berry: bool, name: &str) -> String {
    match manager {
        PackageManager::Npm => format!("npm run {name} --workspaces --if-present"),
        PackageManager::Pnpm => format!("pnpm -r run {name}"),
        PackageManager::Yarn if berry => format!("yarn workspaces foreach -A run {name}"),
        PackageManager::Yarn => format!("yarn workspaces run {name}"),
        PackageManager::Bun => format!("bun run --filter '*' {name}"),
    }
}

fn has_test_files(files: &Files, dir: &str) -> bool {
    files.below(dir).any(|path| {
        let stem = path.rsplit_once('.').filter(|(_, end)| matches!(*end, "js" | "jsx" | "ts" | "tsx"));
        stem.is_some_and(|(stem, _)| [".test", "_test", ".spec", "_spec"].iter().any(|end| stem.ends_with(end)))
    })
}
