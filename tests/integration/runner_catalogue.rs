//! Every file of the runner catalogue keeps what it promises.

use std::collections::BTreeMap;

use gate::embedded::GATES;
use gate::runner::simple_command_line::simple_commands;
use gate::runner::{Catalogue, CommandKind, ExitMeaning, Invocation, ProjectFiles, RunScope, classify};

fn catalogue() -> Catalogue {
    let files = GATES.iter().filter(|(path, _)| path.starts_with("runners/")).copied();
    Catalogue::parse(files).unwrap_or_else(|error| panic!("{error}"))
}

struct Files(BTreeMap<String, String>);

impl ProjectFiles for Files {
    fn read(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned()
    }
}

fn scope_name(scope: &RunScope) -> &'static str {
    match scope {
        RunScope::Full => "full",
        RunScope::Filtered { .. } => "filtered",
        RunScope::NoneExecuted { .. } => "none_executed",
        RunScope::NotApplicable => "not_applicable",
    }
}

#[test]
fn every_file_parses_and_every_pattern_compiles() {
    catalogue().check().unwrap_or_else(|error| panic!("{error}"));
    assert!(Catalogue::embedded().runners().count() >= 5, "the embedded catalogue is empty");
}

fn file_name(id: &str) -> String {
    id.split([' ', '-']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

#[test]
fn a_file_is_named_after_its_runner() {
    let catalogue = catalogue();
    for (path, text) in GATES.iter().filter(|(path, _)| path.starts_with("runners/") && !path.contains("/_")) {
        let name = path.trim_start_matches("runners/").trim_end_matches(".toml");
        let id = catalogue.runners().map(|runner| runner.id.as_str()).find(|id| file_name(id) == name);
        let id = id.unwrap_or_else(|| panic!("{path} holds no runner of its name"));
        assert!(text.contains(&format!("id = \"{id}\"")), "{path}");
    }
}

#[test]
fn the_examples_hold() {
    let catalogue = catalogue();
    let mut wrong = Vec::new();
    for runner in catalogue.runners() {
        assert!(!runner.example.is_empty(), "{} has no example", runner.id);
        for example in &runner.example {
            let commands = simple_commands(&example.line).unwrap_or_else(|| panic!("not simple: {}", example.line));
            let [words] = commands.as_slice() else { panic!("one command: {}", example.line) };
            let argv: Vec<Option<String>> = words.iter().cloned().map(Some).collect();
            let seen = classify(&catalogue, &argv, &Files(example.files.clone()));
            let own = if runner.family { seen.runner.clone() } else { Some(runner.id.clone()) };
            let name = example.runner.clone().or(own);
            let kinds = example.kinds.clone().unwrap_or_else(|| runner.kinds.clone());
            let holds = seen.runner == name
                && name.is_some()
                && (example.other || seen.runs.contains(&runner.id))
                && (seen.kinds == kinds || (kinds.is_empty() && runner.task.is_some()))
                && example.scope.as_deref().is_none_or(|scope| scope == scope_name(&seen.scope))
                && example.edits.is_none_or(|edits| edits == seen.edits)
                && example.empty_exits_zero.is_none_or(|zero| zero == seen.empty_exits_zero)
                && example.watches.is_none_or(|watches| watches == seen.watches)
                && example.exit.is_none_or(|exit| exit == seen.exit);
            if !holds {
                wrong.push(format!("{}: `{}` is {seen:?}", runner.id, example.line));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_no_file_describes_stays_unknown() {
    for line in ["frobnicate --all", "git status", "cargo", "node index.js", "cargo frobnicate"] {
        let words = line.split(' ').map(|word| Some(word.to_owned())).collect::<Vec<_>>();
        let seen = classify(&catalogue(), &words, &());
        assert_eq!((seen.kinds.as_slice(), seen.runner.as_ref()), (&[] as &[CommandKind], None), "{line}");
    }
    let unknown: Invocation = classify(&catalogue(), &[None, Some("test".to_owned())], &());
    assert_eq!((unknown.runner, unknown.exit), (None, ExitMeaning::Decides));
}
