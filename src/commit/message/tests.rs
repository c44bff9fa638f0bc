//! Tests with the examples of Conventional Commits 1.0.0, other styles, and hostile input.

use proptest::prelude::*;

use super::*;

fn styles(names: &[&str]) -> Vec<Style> {
    names.iter().map(|name| Style::parse(name).unwrap()).collect()
}

fn types() -> Vec<String> {
    ["feat", "fix", "docs", "refactor", "revert", "chore"].map(str::to_owned).to_vec()
}

struct Expected {
    kind: &'static str,
    scopes: &'static [&'static str],
    breaking: bool,
    text: &'static str,
    body: &'static str,
    trailers: &'static [(&'static str, &'static str)],
}

const PLAIN: Expected = Expected { kind: "", scopes: &[], breaking: false, text: "", body: "", trailers: &[] };

fn conventional(text: &str) -> CommitMessage {
    CommitMessage::parse(text, &styles(&["conventional"]), &[])
}

/// Every example of <https://www.conventionalcommits.org/en/v1.0.0/#examples>, in its order.
#[test]
fn the_examples_of_the_specification() {
    let cases = [
        (
            "feat: allow provided config object to extend other configs\n\nBREAKING CHANGE: `extends` key in config file is now used for extending other config files",
            Expected {
                kind: "feat",
                text: "allow provided config object to extend other configs",
                trailers: &[(
                    "BREAKING CHANGE",
                    "`extends` key in config file is now used for extending other config files",
                )],
                ..PLAIN
            },
        ),
        (
            "feat!: send an email to the customer when a product is shipped",
            Expected {
                kind: "feat",
                text: "send an email to the customer when a product is shipped",
                breaking: true,
                ..PLAIN
            },
        ),
        (
            "feat(api)!: send an email to the customer when a product is shipped",
            Expected {
                kind: "feat",
                scopes: &["api"],
                text: "send an email to the customer when a product is shipped",
                breaking: true,
                ..PLAIN
            },
        ),
        (
            "feat!: drop support for Node 6\n\nBREAKING CHANGE: use JavaScript features not available in Node 6.",
            Expected {
                kind: "feat",
                text: "drop support for Node 6",
                breaking: true,
                trailers: &[("BREAKING CHANGE", "use JavaScript features not available in Node 6.")],
                ..PLAIN
            },
        ),
        (
            "docs: correct spelling of CHANGELOG",
            Expected { kind: "docs", text: "correct spelling of CHANGELOG", ..PLAIN },
        ),
        (
            "feat(lang): add Polish language",
            Expected { kind: "feat", scopes: &["lang"], text: "add Polish language", ..PLAIN },
        ),
        (
            "fix: prevent racing of requests\n\nIntroduce a request id and a reference to latest request. Dismiss\nincoming responses other than from latest request.\n\nRemove timeouts which were used to mitigate the racing issue but are\nobsolete now.\n\nReviewed-by: Z\nRefs: #123",
            Expected {
                kind: "fix",
                text: "prevent racing of requests",
                body: "Introduce a request id and a reference to latest request. Dismiss\nincoming responses other than from latest request.\n\nRemove timeouts which were used to mitigate the racing issue but are\nobsolete now.",
                trailers: &[("Reviewed-by", "Z"), ("Refs", "#123")],
                ..PLAIN
            },
        ),
        (
            "revert: let us never again speak of the noodle incident\n\nRefs: 676104e, a215868",
            Expected {
                kind: "revert",
                text: "let us never again speak of the noodle incident",
                trailers: &[("Refs", "676104e, a215868")],
                ..PLAIN
            },
        ),
    ];
    for (text, expected) in cases {
        let message = conventional(text);
        let (_, subject) = message.parsed.clone().unwrap_or_else(|| panic!("{text}"));
        assert_eq!(subject.kind.as_deref(), Some(expected.kind), "{text}");
        assert_eq!(subject.scopes, expected.scopes, "{text}");
        assert_eq!(subject.text, expected.text, "{text}");
        assert_eq!(subject.breaking, expected.breaking, "{text}");
        assert_eq!(message.body, expected.body, "{text}");
        let trailers: Vec<_> = message.trailers.iter().map(|t| (t.token.as_str(), t.value.as_str())).collect();
        assert_eq!(trailers, expected.trailers, "{text}");
    }
    let noodle = conventional(cases_revert());
    assert_eq!(noodle.reverts.unwrap(), ["676104e", "a215868"]);
}

const fn cases_revert() -> &'static str {
    "revert: let us never again speak of the noodle incident\n\nRefs: 676104e, a215868"
}

#[test]
fn what_conventional_commits_forbids() {
    for text in
        ["fix:no space", "fix (a): b", "fix(): b", "fix(a: b", ": b", "fix: ", "fix", "fix!(a): b", "a b: c", ""]
    {
        assert!(conventional(text).parsed.is_none(), "{text:?}");
    }
    for text in ["FIX: b", "Feat(A,B)!: c", "fix(a): b: c (d)", "new-type: x"] {
        assert!(conventional(text).parsed.is_some(), "{text:?}");
    }
}

#[test]
fn subjects_of_every_style() {
    let all = styles(&["conventional", "subsystem", "bracket"]);
    for (text, kind, scopes) in [
        ("fix(parser): a", Some("fix"), &["parser"][..]),
        ("fix(parser, web): a", Some("fix"), &["parser", "web"]),
        ("fix(@scope/name)!: a", Some("fix"), &["@scope/name"]),
        ("fix: a", Some("fix"), &[]),
        ("parser: a", None, &["parser"]),
        ("cli, lib: a", None, &["cli", "lib"]),
        ("Documentation/git-add.txt: a", None, &["Documentation/git-add.txt"]),
        ("[net] a", None, &["net"]),
        ("[net]: a", None, &["net"]),
        ("Fix the thing", None, &[]),
        ("This is a sentence: with a colon", None, &[]),
        ("https://example.com is down", None, &[]),
    ] {
        let message = CommitMessage::parse(text, &all, &types());
        assert_eq!(message.kind().as_deref(), kind, "{text}");
        assert_eq!(message.scopes(), scopes, "{text}");
    }
    let subsystem_first = styles(&["subsystem"]);
    assert_eq!(CommitMessage::parse("docs: a", &subsystem_first, &types()).scopes(), ["docs"]);
    let own = styles(&["^(?<scope>[A-Z]+)-\\d+ (?<text>.*)$"]);
    let message = CommitMessage::parse("NET-12 fix it", &own, &[]);
    assert_eq!((message.scopes(), message.description()), (&["NET".to_owned()][..], "fix it"));
    for wrong in ["convention", "(?<scope>", "^a: (.*)"] {
        assert!(Style::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn marks_of_autosquash_come_off() {
    for (text, marks, subject) in [
        ("fixup! fix(a): b", &[Autosquash::Fixup][..], "fix(a): b"),
        ("fixup! squash! fix: b", &[Autosquash::Fixup, Autosquash::Squash], "fix: b"),
        ("amend! fix: b", &[Autosquash::Amend], "fix: b"),
        ("fixup!fix: b", &[], "fixup!fix: b"),
    ] {
        let message = conventional(text);
        assert_eq!((message.autosquash.as_slice(), message.subject.as_str()), (marks, subject), "{text}");
    }
}

#[test]
fn a_revert_names_what_it_undoes() {
    for (text, reverts) in [
        ("Revert \"fix: a\"\n\nThis reverts commit 676104e1234567890123456789012345678901ab.", Some(1)),
        ("revert: a\n\nRefs: 676104e", Some(1)),
        ("revert: a", Some(0)),
        ("Revert \"fix: a\"", Some(0)),
        ("fix: a\n\nThis reverts commit 676104e1234567890123456789012345678901ab.", None),
        ("fix: revert \"a\"", None),
        ("revert: a\n\nRefs: #12", Some(0)),
    ] {
        assert_eq!(conventional(text).reverts.map(|commits| commits.len()), reverts, "{text}");
    }
}

#[test]
fn hostile_messages_are_read_in_linear_time() {
    for text in [
        "(".repeat(200_000),
        "a: ".repeat(100_000),
        "A: b\n".repeat(100_000),
        format!("fix({}): b", "a,".repeat(100_000)),
        "\n\n\na: b\n\n".repeat(50_000),
    ] {
        let start = std::time::Instant::now();
        CommitMessage::parse(&text, &styles(&["conventional", "subsystem", "bracket"]), &types());
        assert!(start.elapsed().as_secs() < 20, "{}", text.len());
    }
}

proptest! {
    #[test]
    fn no_message_panics(text in "\\PC{0,80}|[a-z()!:#, \n-]{0,200}") {
        let message = CommitMessage::parse(&text, &styles(&["conventional", "subsystem", "bracket"]), &types());
        let _ = (message.kind(), message.description().len());
        let _ = super::super::message_draft::clean(&text, "#");
    }

    #[test]
    fn what_is_written_is_read(
        kind in "[a-z]{1,8}",
        scopes in proptest::collection::vec("[a-z][a-z0-9/_-]{0,8}", 0..3),
        breaking: bool,
        text in "[a-z][a-z :!()]{0,30}[a-z]",
        body in proptest::option::of("[a-z ]{1,30}[a-z]"),
        trailers in proptest::collection::vec(("[A-Z][a-z]{1,6}(-[a-z]{1,6})?", "[a-z0-9#][a-z0-9 ]{0,10}[a-z0-9]"), 0..3),
    ) {
        let scope = if scopes.is_empty() { String::new() } else { format!("({})", scopes.join(",")) };
        let mut whole = format!("{kind}{scope}{}: {text}\n", if breaking { "!" } else { "" });
        if let Some(body) = &body {
            whole = format!("{whole}\n{body}\n");
        }
        if !trailers.is_empty() {
            whole.push('\n');
            for (token, value) in &trailers {
                whole = format!("{whole}{token}: {value}\n");
            }
        }
        let message = conventional(&whole);
        let (_, subject) = message.parsed.clone().unwrap();
        prop_assert_eq!(subject.kind.as_deref(), Some(kind.as_str()));
        prop_assert_eq!(&subject.scopes, &scopes);
        prop_assert_eq!(subject.breaking, breaking);
        prop_assert_eq!(&subject.text, text.trim());
        prop_assert_eq!(message.body.trim(), body.as_deref().unwrap_or_default().trim());
        let read: Vec<_> = message.trailers.iter().map(|t| (t.token.clone(), t.value.clone())).collect();
        prop_assert_eq!(read, trailers);
    }
}
