//! Every file of the runner catalogue keeps what it promises.

use gate::embedded::GATES;
use gate::runner::{Catalogue, CommandKind, ExitMeaning, Invocation, classify};

fn file_name(id: &str) -> String {
    id.split([' ', '-']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

#[test]
fn a_file_is_named_after_its_runner() {
    let catalogue = Catalogue::embedded();
    for (path, text) in GATES.iter().filter(|(path, _)| path.starts_with("runners/") && !path.contains("/_")) {
        let name = path.trim_start_matches("runners/").trim_end_matches(".toml");
        let id = catalogue.runners().map(|runner| runner.id.as_str()).find(|id| file_name(id) == name);
        let id = id.unwrap_or_else(|| panic!("{path} holds no runner of its name"));
        assert!(text.contains(&format!("id = \"{id}\"")), "{path}");
    }
}

#[test]
fn the_examples_hold() {
    let catalogue = Catalogue::embedded();
    let mut wrong = Vec::new();
    for runner in catalogue.runners() {
        assert!(!runner.example.is_empty(), "{} has no example", runner.id);
        let differences = runner.example.iter().filter_map(|example| {
            Some(format!("{}: `{}`: {}", runner.id, example.line, example.difference(catalogue, runner)?))
        });
        wrong.extend(differences);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_no_file_describes_stays_unknown() {
    for line in ["frobnicate --all", "git status", "cargo", "node index.js", "cargo frobnicate"] {
        let words = line.split(' ').map(|word| Some(word.to_owned())).collect::<Vec<_>>();
        let seen = classify(Catalogue::embedded(), &words, &());
        assert_eq!((seen.kinds.as_slice(), seen.runner.as_ref()), (&[] as &[CommandKind], None), "{line}");
    }
    let unknown: Invocation = classify(Catalogue::embedded(), &[None, Some("test".to_owned())], &());
    assert_eq!((unknown.runner, unknown.exit), (None, ExitMeaning::Decides));
}
