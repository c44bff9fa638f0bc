use super::*;

fn arguments() -> Arguments {
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Arguments {
        value: list(&["-k", "-n", "--config", "--only"]),
        filter: list(&["-k", "--only", "--lf"]),
        neutral: list(&["--only=all"]),
        nothing: list(&["--list", "-h", "--run=^$"]),
        watch: list(&["--watch"]),
        edit: list(&["-w", "--fix"]),
        no_edit: list(&["--check"]),
        exit_zero: list(&["--exit-zero"]),
        whole: list(&[".", "tests"]),
        after_dashes: Some(Box::new(Arguments { value: list(&["--threads"]), ..Arguments::default() })),
        ..Arguments::default()
    }
}

#[test]
fn what_arguments_choose() {
    for (line, filter, nothing) in [
        ("", None, None),
        ("-v --config a.toml -n 4 -n8 --color=always", None, None),
        (". tests tests/ ./tests", None, None),
        ("tests/a.py", Some("tests/a.py"), None),
        ("-k login", Some("-k login"), None),
        ("-klogin", Some("-klogin"), None),
        ("--only=a", Some("--only=a"), None),
        ("--only all", None, None),
        ("--only b", Some("--only b"), None),
        ("--lf", Some("--lf"), None),
        ("-qh", None, Some("-qh")),
        ("--list x", Some("x"), Some("--list")),
        ("--run=^$", None, Some("--run=^$")),
        ("--run=a", None, None),
        ("-- --threads 4", None, None),
        ("-- name", Some("name"), None),
        ("-k", Some("-k"), None),
        ("-", Some("-"), None),
    ] {
        let words: Vec<Option<&str>> = line.split(' ').filter(|word| !word.is_empty()).map(Some).collect();
        let read = arguments().read(&words);
        assert_eq!((read.filter.as_deref(), read.nothing.as_deref()), (filter, nothing), "{line}");
    }
}

#[test]
fn the_beginning_of_an_option_is_as_good_as_the_whole() {
    let plain = Arguments { nothing: vec!["--dry-run".to_owned()], ..Arguments::default() };
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let abbreviated = Arguments {
        nothing: list(&["--dry-run", "--just-print"]),
        value: list(&["--directory", "--jobs"]),
        abbreviated: true,
        ..Arguments::default()
    };
    for (word, nothing) in [
        ("--dry", true),
        ("--just", true),
        ("--d", true),
        ("--dry-run", true),
        ("--dir=x", false),
        ("--jobs=4", false),
        ("--debug", false),
        ("--", false),
    ] {
        assert_eq!(abbreviated.read(&[Some(word)]).nothing.is_some(), nothing, "{word}");
    }
    assert!(plain.read(&[Some("--dry")]).nothing.is_none());
    assert!(abbreviated.read(&[Some("--dir"), Some("x")]).filter.is_none());
}

#[test]
fn arguments_in_the_value_of_an_option_are_read() {
    let holding = Arguments { holds: vec!["-o=addopts".to_owned()], ..arguments() };
    let holding = Arguments { value: [holding.value.clone(), vec!["-o".to_owned()]].concat(), ..holding };
    for (words, filter) in [
        (["-o", "addopts=-k zero"], true),
        (["-o", "addopts="], false),
        (["-o", "addopts=-v --color=yes"], false),
        (["-o", "log_cli=true"], false),
        (["-oaddopts=-kzero", "-v"], true),
    ] {
        assert_eq!(holding.read(&words.map(Some)).filter.is_some(), filter, "{words:?}");
    }
}

#[test]
fn a_word_that_is_not_shown_may_choose_anything() {
    assert!(arguments().read(&[None]).filter.is_some());
    assert!(arguments().read(&[Some("-n"), None]).filter.is_none());
    assert!(arguments().read(&[Some("--only"), None]).filter.is_some());
}

#[test]
fn one_dash_is_as_good_as_two() {
    let one_dash = Arguments {
        one_dash: true,
        value: vec!["-run".to_owned(), "-tags".to_owned()],
        filter: vec!["-run".to_owned()],
        ..Arguments::default()
    };
    for (words, filter) in [
        (["--run", "A"], Some("--run A")),
        (["-run=A", "-v"], Some("-run=A")),
        (["-tags", "x"], None),
        (["--tags=x", "-race"], None),
    ] {
        let read = one_dash.read(&words.map(Some));
        // The name is normalised, the words are shown as they were.
        assert_eq!(read.filter.as_deref().is_some(), filter.is_some(), "{words:?}");
    }
}

#[test]
fn the_last_word_on_editing_counts() {
    let edit = |words: &[&str]| arguments().read(&words.iter().map(|word| Some(*word)).collect::<Vec<_>>()).edit;
    assert_eq!(
        (edit(&["-w"]), edit(&["-w", "--check"]), edit(&["-lw"]), edit(&[])),
        (Some(true), Some(false), Some(true), None)
    );
}
