//! The policy of a case: the text of a `gate.toml`, made of the requirements of the case and the content of its
//! repository.

use toml::{Table, Value};

use crate::commit::derive_scopes::derive;
use crate::commit::rules::CommitRules;
use crate::policy::{Policy, PolicySource};
use crate::replay::case::{Case, CaseError};
use crate::replay::packages::{self, Package, join};
use crate::replay::simulated_repository::World;
use crate::replay::tree_content::Content;
use crate::repo_path::RepoPath;
use crate::runner::CommandKind;
use crate::{config, gates, stack};

/// A policy, and which recorded runs its commands are about.
pub struct CasePolicy {
    pub policy: Policy,
    /// By name of a command: the kind of check, and the package; `None`: all of them.
    pub about: Vec<(String, CommandKind, Option<Package>)>,
}

/// Returns the policy of a case.
pub fn asked(case: &Case, world: &World) -> Result<CasePolicy, CaseError> {
    let content = world.content(&world.head).unwrap_or(&world.tree);
    let (table, about) = table(case, world, content);
    // The commands of a policy that is brought along are its own.
    let (text, about) = match &case.policy.gate_toml {
        Some(text) => (text.clone(), Vec::new()),
        None => (toml::to_string(&table).map_err(|error| CaseError::Policy(error.to_string()))?, about),
    };
    let policy = config::parse("gate.toml", &text, PolicySource::Defaults, &gates::check_params)
        .map_err(|error| CaseError::Policy(error.render()))?;
    Ok(CasePolicy { policy, about })
}

fn table(case: &Case, world: &World, content: &Content) -> (Table, Vec<(String, CommandKind, Option<Package>)>) {
    let wanted = &case.policy;
    let mut commands = Table::new();
    let mut about = Vec::new();
    let tests_asked = wanted.tests.as_ref().is_none_or(|tests| tests.required != serde_json::Value::Bool(false));
    let all = packages::find(content);
    let kept = ignored_takes_back(content);
    let settings = if wanted.ci_settings_exempt { unread_settings(content) } else { Vec::new() };
    for package in all.iter().filter(|package| owns_files(package, &all, content)) {
        let name = if package.dir.is_empty() { "test".to_owned() } else { format!("test-{}", word(&package.dir)) };
        let name = if commands.contains_key(&name) { format!("{name}-{}", package.ecosystem) } else { name };
        let numbered = (2..=all.len()).map(|number| format!("{name}-{number}"));
        let is_free = |name: &String| !commands.contains_key(name);
        let Some(name) = std::iter::once(name.clone()).chain(numbered).find(is_free) else { continue };
        let mut inputs = vec![join(&globset::escape(&package.dir), "**")];
        inputs.extend(packages::inside(package, &all).map(|inner| format!("!{}/**", globset::escape(&inner.dir))));
        inputs.extend(settings.iter().map(|glob| format!("!{glob}")));
        commands.insert(name.clone(), command("tests", &run_of(package), &package.dir, inputs, &kept));
        about.push((name, CommandKind::Test, Some(package.clone())));
    }
    let kinds = [
        ("build", "build", CommandKind::Build),
        (CHECKS, "types", CommandKind::Typecheck),
        (CHECKS, "lint", CommandKind::Lint),
    ];
    for (gate, name, kind) in kinds {
        commands.insert(name.to_owned(), command(gate, name, "", vec!["**".to_owned()], &[]));
        about.push((name.to_owned(), kind, None));
    }
    let mut of_gates = Table::new();
    let exempt = wanted.tests.as_ref().is_none_or(|tests| tests.docs_only_exempt);
    let mut of_tests = Table::new();
    // What nobody asks for is not missed; what failed all the same counts.
    of_tests.insert("required".to_owned(), Value::Boolean(tests_asked));
    if !exempt {
        of_tests.insert("ignore".to_owned(), Value::Array(Vec::new()));
    }
    of_gates
        .insert("tests".to_owned(), Value::Table(Table::from_iter([("params".to_owned(), Value::Table(of_tests))])));
    let build_asked = wanted.build.as_ref().is_some_and(super::case::Requirement::is_asked);
    of_gates.insert("build".to_owned(), params([("required", Value::Boolean(build_asked))]));
    of_gates.insert(CHECKS.to_owned(), checks());
    let pull_asked = wanted.pr.as_ref().is_some_and(super::case::Requirement::is_asked);
    of_gates.insert("pull-request".to_owned(), params([("required", Value::Boolean(pull_asked))]));
    if wanted.transcripts_count {
        for (_, gate) in of_gates.iter_mut().filter(|(id, _)| ["tests", "build", CHECKS].contains(&id.as_str())) {
            if let Value::Table(gate) = gate {
                gate.insert("min_grade".to_owned(), Value::String("transcribed".to_owned()));
            }
        }
    }
    if !wanted.default_word_rules {
        let on = |rules: &[&str]| Value::Array(rules.iter().map(|rule| Value::String((*rule).to_owned())).collect());
        of_gates.insert("claims".to_owned(), params([("words", on(&gates::claims::WORD_RULES))]));
        of_gates.insert("completion".to_owned(), params([("rules", on(&gates::completion::RULES))]));
    }
    let branches = wanted.protected_branches.iter().cloned().map(Value::String).collect();
    let protected = [("branches", Value::Array(branches)), ("default_branch", Value::Boolean(false))];
    of_gates.insert("protected-branch".to_owned(), params(protected));
    let mut table = Table::new();
    table.insert("version".to_owned(), Value::Integer(1));
    table.insert("commands".to_owned(), Value::Table(commands));
    table.insert("gates".to_owned(), Value::Table(of_gates));
    table.insert("scopes".to_owned(), Value::Table(scopes(case, world, content)));
    (table, about)
}

/// Settings of forges and editors, and a word without which no file can name them.
const SETTINGS: [(&str, &str); 7] = [
    (".github/workflows/*", "workflows"),
    (".github/dependabot.yml", "dependabot"),
    (".gitlab-ci.yml", "gitlab-ci"),
    (".circleci/**", "circleci"),
    (".vscode/**", "vscode"),
    ("{docker-,}compose*.{yml,yaml}", "compose"),
    (".editorconfig", "editorconfig"),
];

/// Those that no file names whose text is known: no test reads them.
fn unread_settings(content: &Content) -> Vec<&'static str> {
    let names =
        |word: &str| content.files.keys().any(|path| content.text(path).is_some_and(|text| text.contains(word)));
    SETTINGS.iter().filter(|(_, word)| !names(word)).map(|(glob, _)| *glob).collect()
}

/// The gate of type checks and linters: no case requires them, and their findings count.
pub const CHECKS: &str = "checks";

fn checks() -> Value {
    let mut gate = Table::new();
    gate.insert("title".to_owned(), Value::String("Type checks and linters found nothing".to_owned()));
    gate.insert("kind".to_owned(), Value::String(config::EVIDENCE.to_owned()));
    gate.insert("moments".to_owned(), Value::Array(vec![Value::String("stop".to_owned())]));
    gate.insert("severity".to_owned(), Value::String("high".to_owned()));
    gate.insert("explain".to_owned(), Value::String("What a type check or a linter found on this content.".to_owned()));
    gate.insert("params".to_owned(), params([("required", Value::Boolean(false))])["params"].clone());
    Value::Table(gate)
}

fn params<const N: usize>(values: [(&str, Value); N]) -> Value {
    let params: Table = values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let mut gate = Table::new();
    gate.insert("params".to_owned(), Value::Table(params));
    Value::Table(gate)
}

fn command(gate: &str, run: &str, dir: &str, inputs: Vec<String>, ignore: &[String]) -> Value {
    let list = |texts: Vec<String>| Value::Array(texts.into_iter().map(Value::String).collect());
    let mut table = Table::new();
    table.insert("gate".to_owned(), Value::String(gate.to_owned()));
    table.insert("run".to_owned(), Value::String(run.to_owned()));
    if !dir.is_empty() {
        table.insert("dir".to_owned(), Value::String(dir.to_owned()));
    }
    table.insert("inputs".to_owned(), list(inputs));
    if !ignore.is_empty() {
        table.insert("ignore".to_owned(), list(ignore.to_vec()));
    }
    Value::Table(table)
}

/// Returns `true` if any file belongs to a package itself and not to a package inside it.
fn owns_files(package: &Package, all: &[Package], content: &Content) -> bool {
    let own = |path: &String| {
        packages::within(path, &package.dir)
            && !packages::inside(package, all).any(|inner| packages::within(path, &inner.dir))
    };
    package.dir.is_empty() || content.files.keys().any(own)
}

/// Returns the usual command to run all tests of a package.
fn run_of(package: &Package) -> String {
    let run = match package.ecosystem.as_str() {
        "rust" if package.umbrella => "cargo test --workspace",
        "rust" => "cargo test",
        "node" => "npm test",
        "deno" => "deno test",
        "go" if package.umbrella => "go test ./...",
        "go" => "go test .",
        "python" => "pytest",
        "jvm" => "mvn test",
        "dotnet" => "dotnet test",
        "ruby" => "bundle exec rake test",
        "php" => "composer test",
        "elixir" => "mix test",
        "swift" => "swift test",
        "dart" => "dart test",
        "zig" => "zig build test",
        _ => "the tests",
    };
    run.to_owned()
}

/// Returns the documentation that is compiled into the program.
fn ignored_takes_back(content: &Content) -> Vec<String> {
    let known: Vec<(&str, &str)> =
        content.files.keys().map(|path| (path.as_str(), content.text(path).unwrap_or_default())).collect();
    let found = stack::detect(&stack::Files::in_memory(known));
    let mut kept: Vec<String> =
        found.into_iter().flat_map(|component| component.commands).flat_map(|command| command.ignore).collect();
    kept.sort();
    kept.dedup();
    kept
}

/// Returns the scopes that the case names; else those that the paths show.
fn scopes(case: &Case, world: &World, content: &Content) -> Table {
    let list = |globs: &[String]| Value::Array(globs.iter().cloned().map(Value::String).collect());
    if !case.policy.scopes.is_empty() {
        return case.policy.scopes.iter().map(|(name, globs)| (name.clone(), list(&globs.0))).collect();
    }
    let table: Table = crate::embedded::table("atomic.toml");
    let rules = table.get("params").and_then(|params| CommitRules::read(params.as_table()?).ok());
    let Some(rules) = rules else { return Table::new() };
    let mut paths: Vec<RepoPath> = content.files.keys().map(|path| RepoPath::from(path.as_str())).collect();
    for commit in world.own.iter().filter_map(|own| world.commits.get(own)) {
        paths.extend(commit.files.iter().map(|file| file.path.clone()));
    }
    paths.sort();
    paths.dedup();
    let derived = derive(&paths, &[], &rules).unwrap_or_default();
    derived
        .iter()
        .map(|scope| {
            let mut table = Table::new();
            table.insert("paths".to_owned(), list(&scope.paths));
            if scope.goes_along {
                table.insert("goes_along".to_owned(), Value::Boolean(true));
            }
            (scope.name.clone(), Value::Table(table))
        })
        .collect()
}

/// Returns a folder as a part of a name.
fn word(dir: &str) -> String {
    dir.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' }).collect()
}
