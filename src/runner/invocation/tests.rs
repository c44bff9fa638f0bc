use proptest::prelude::*;

use super::*;

fn seen(line: &str) -> Invocation {
    let argv: Vec<Option<String>> = line.split(' ').map(|word| (word != "?").then(|| word.to_owned())).collect();
    classify(Catalogue::embedded(), &argv, &())
}

#[test]
fn programs_by_any_name() {
    for (line, runner) in [
        ("/usr/bin/cargo test", Some("cargo test")),
        ("cargo.exe test", Some("cargo test")),
        ("C:\\Python\\python3.11.exe -m pytest", Some("pytest")),
        ("node_modules/.bin/jest", Some("jest")),
        ("node ./node_modules/mocha/bin/mocha.js", Some("mocha")),
        ("./gradlew test", Some("gradle")),
        ("php vendor/bin/phpunit", Some("phpunit")),
        ("python -m mypy src", Some("mypy")),
        ("bash -n run.sh", Some("bash -n")),
        ("cargo doc", Some("cargo doc")),
        ("shellcheck a.sh", Some("shellcheck")),
        ("npm ci", Some("npm ci")),
        ("? test", None),
        ("cargo ?", None),
        ("", None),
    ] {
        assert_eq!(seen(line).runner.as_deref(), runner, "{line}");
    }
}

#[test]
fn what_the_text_does_not_show_is_not_full() {
    assert_eq!(seen("cargo test").scope, RunScope::Full);
    assert!(matches!(seen("cargo test ?").scope, RunScope::Filtered { .. }));
    assert_eq!(seen("cargo test -j ?").scope, RunScope::Full);
    assert!(matches!(seen("npm test -- ?").scope, RunScope::Filtered { .. }));
    assert_eq!(seen("npm run ?").kinds, []);
}

#[test]
fn tasks_that_call_each_other_end() {
    struct Loop;
    impl ProjectFiles for Loop {
        fn read(&self, _: &str) -> Option<String> {
            Some(r#"{"scripts":{"test":"npm test && npm test"}}"#.to_owned())
        }
    }
    let argv = ["npm", "test"].map(|word| Some(word.to_owned()));
    assert_eq!(classify(Catalogue::embedded(), &argv, &Loop).kinds, [CommandKind::Test]);
}

proptest! {
    #[test]
    fn no_words_make_it_panic(line in "(cargo|npm|go|python|make|pnpm|mvn|node|bun|x|é)( (test|run|-m|--|-|-k=|=|[?]|é|-é|--x=y|pytest|-C)){0,6}") {
        let _ = seen(&line);
    }
}
