//! Tests of commits and their judgements.

use super::*;
use crate::commit::change::Person;
use crate::commit::change_class::{ChangeForm, Texture};
use crate::commit::split;
use crate::policy::Scope;

fn scope(name: &str, paths: &[&str]) -> Scope {
    Scope { name: name.to_owned(), paths: paths.iter().map(|&path| path.to_owned()).collect(), ..Scope::default() }
}

fn table() -> ScopeTable {
    let mut tests = scope("tests", &["tests/**"]);
    tests.goes_along = true;
    let mut api = scope("api", &["api/**"]);
    api.with = vec!["proto".to_owned()];
    api.shared = vec!["assets/api/**".to_owned()];
    ScopeTable::new(vec![
        scope("parser", &["src/parser/**"]),
        scope("core", &["src/**"]),
        scope("core/lexer", &["src/lexer/**"]),
        scope("core/tree", &["src/tree/**"]),
        scope("web", &["web/**"]),
        api,
        scope("proto", &["proto/**"]),
        scope("assets", &["assets/**"]),
        tests,
    ])
    .unwrap()
}

fn rules() -> CommitRules {
    let file = crate::embedded::file(crate::embedded::GATES, "atomic.toml").unwrap();
    let table: toml::Table = file.parse().unwrap();
    CommitRules::read(table["params"].as_table().unwrap()).unwrap()
}

fn oid(digit: char) -> crate::oid::Oid {
    digit.to_string().repeat(40).parse().unwrap()
}

/// `M path`, `A path`, `D path`, `R90 from to`; lines and names after a `|`: `M path |12 some_name other_name`.
fn file(text: &str) -> FileChange {
    let (head, texture) = text.split_once(" |").map_or((text, None), |(head, texture)| (head, Some(texture)));
    let words: Vec<&str> = head.split(' ').collect();
    let (status, from, path) = match words[..] {
        [score, from, path] => (PathStatus::Renamed(score[1..].parse().unwrap()), Some(RepoPath::from(from)), path),
        ["A", path] => (PathStatus::Added, None, path),
        ["D", path] => (PathStatus::Deleted, None, path),
        [_, path] => (PathStatus::Modified, None, path),
        _ => panic!("{text}"),
    };
    let texture = texture.map(|texture| {
        let mut words = texture.split(' ');
        let lines: u32 = words.next().unwrap().parse().unwrap();
        let mut names: Vec<String> = words.map(str::to_owned).collect();
        names.sort();
        let form =
            if names.first().is_some_and(|name| name == "FORM") { ChangeForm::Whitespace } else { ChangeForm::Content };
        let form_lines = if form == ChangeForm::Content { 0 } else { lines };
        Texture { added: lines, removed: 0, form, form_lines, names }
    });
    FileChange { path: RepoPath::from(path), from, status, texture }
}

fn commit(message: &str, files: &[&str]) -> Commit {
    Commit {
        id: Some(oid('1')),
        parents: vec![oid('2')],
        author: Person::default(),
        committer: Person::default(),
        message: message.to_owned(),
        files: files.iter().map(|text| file(text)).collect(),
        agent: None,
        looked_into: true,
    }
}

fn codes(commit: &Commit) -> Vec<&'static str> {
    judge(commit, &table(), &rules()).reasons.iter().map(|reason| reason.rule.as_str()).collect()
}

#[test]
fn mixing_is_told_from_what_goes_together() {
    let long: Vec<String> = (0..16).map(|n| format!("M src/lexer/{n}.rs")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("fix(parser): a", &["M src/parser/lex.rs"], &[]),
        ("fix(parser): a", &["M src/parser/lex.rs", "M web/app.css"], &["crosses-scopes"]),
        ("fix stuff", &["M api/a.ts", "A web/b.tsx"], &["crosses-scopes"]),
        // What the table allows.
        ("fix: a", &["M api/a.ts", "M proto/a.proto"], &[]),
        ("fix: a", &["M src/lexer/a.rs", "M src/lib.rs"], &[]),
        ("fix: a", &["M src/lexer/a.rs", "M src/tree/a.rs"], &["crosses-scopes"]),
        ("fix(core): a", &["M src/lexer/a.rs", "M src/tree/a.rs"], &[]),
        ("fix: a", &["M api/a.ts", "M assets/api/logo.svg"], &[]),
        ("fix: a", &["M web/a.ts", "M assets/api/logo.svg"], &["crosses-scopes"]),
        // What the subject declares.
        ("fix(parser,web): a", &["M src/parser/lex.rs", "M web/app.css"], &[]),
        ("fix(parser,web,api): a", &["M src/parser/lex.rs", "M web/app.css", "M api/a"], &["crosses-scopes"]),
        // What goes along.
        ("fix(parser): a", &["M src/parser/lex.rs", "M Cargo.lock", "M Cargo.toml", "M CHANGELOG.md"], &[]),
        ("fix(parser): a", &["M src/parser/lex.rs", "M Cargo.lock"], &["dependency-mixed"]),
        ("build(deps): a", &["M Cargo.lock"], &[]),
        ("fix(parser): a", &["M src/parser/lex.rs", "A tests/lex.rs", "M docs/a.md", "M web/app.test.ts"], &[]),
        ("fix(parser): a", &["M src/parser/lex.rs", "M Makefile"], &[]),
        ("fix(parser): a", &["M src/parser/lex.rs", "M web/generated/a.ts", "M web/__snapshots__/a.snap"], &[]),
        ("test: a", &["M tests/a.rs", "M web/app.test.ts"], &[]),
        // A tool's small edits everywhere; one that is not small, or a part that is declared, is none of those.
        ("nightly clippy fixes", &["M src/parser/a.rs |3 x", "M web/a.ts |1 y"], &[]),
        ("nightly clippy fixes", &["M src/parser/a.rs |30 x", "M web/a.ts |1 y"], &["crosses-scopes"]),
        ("fix(parser): clippy", &["M src/parser/a.rs |3 x", "M web/a.ts |1 y"], &["crosses-scopes"]),
        ("sync: add a benchmark", &["A benches/x.rs |90 x", "M src/parser/a.rs |1 y"], &[]),
        // Names connect; words of a language do not.
        ("fix: a", &["M src/parser/a.rs |9 parse_tree", "M web/a.ts |9 parse_tree"], &[]),
        ("fix: a", &["M src/parser/a.rs |90 parse_tree", "M web/a.ts |90 other_name"], &["crosses-scopes"]),
        ("fix: a", &["M src/parser/a.rs |9 one_name", "M main.c |9 one_name two_name", "M web/a.ts |9 two_name"], &[]),
        // The same small edit everywhere.
        ("refactor: a", &["M src/parser/a.rs |2 aa", "M web/a |2 bb", "M api/a |2 cc"], &[]),
        ("feat: a", &["M src/parser/a.rs |90 aa", "M web/a |2 bb", "M api/a |2 cc"], &["crosses-scopes"]),
        ("feat: a", &["A src/parser/a.rs |2 aa", "M web/a |2 bb", "M api/a |2 cc"], &["crosses-scopes"]),
        ("clippy: a", &["M src/parser/a.rs |2 aa", "M web/a |2 bb"], &[]),
        ("chore(web): a", &["M src/parser/a.rs |2 aa", "M web/a |2 bb"], &["crosses-scopes"]),
        // The rest of a sweep whose edits are larger elsewhere; a part of its own is not.
        (
            "feat: a",
            &["M src/parser/a.rs |40 one_name", "M web/a |40 one_name", "M api/a |40 one_name", "M assets/x |2 zz"],
            &[],
        ),
        (
            "feat: a",
            &["M src/parser/a.rs |40 one_name", "M web/a |40 one_name", "M api/a |40 one_name", "M assets/x |40 zz"],
            &["crosses-scopes"],
        ),
        (
            "feat: a",
            &["M src/parser/a.rs |40 one_name", "M web/a |40 one_name", "M api/a |40 one_name", "A assets/x |2 zz"],
            &["crosses-scopes"],
        ),
        (
            "feat: a",
            &["M src/parser/a.rs |40 one_name", "M web/a |40 one_name", "M assets/x |2 zz"],
            &["crosses-scopes"],
        ),
        // Form alone is not a second concern; beside content it is a word worth.
        ("fix: a", &["M src/parser/a.rs |9 aa", "M web/a |9 FORM"], &[]),
        ("fix: a", &["M src/parser/a.rs |9 aa", "M src/parser/b.rs |90 FORM"], &["formatting-mixed"]),
        ("style: a", &["M src/parser/a.rs |90 FORM"], &[]),
        // Moving is one thing, whatever it crosses; edits that hide in it are not.
        ("refactor: move", &["R100 src/parser/a.rs web/a.rs", "R100 src/parser/b.rs api/b.rs"], &[]),
        ("refactor: move", &["R100 a b", "R100 c d", "R100 e f", "R100 g h", "R100 i j", "R70 k l"], &["rename-mixed"]),
        ("refactor: move", &["R95 a b", "R95 c d", "R95 e f", "R95 g h", "R95 i j"], &[]),
        // The declared scope.
        ("fix(parser): a", &["M web/app.css"], &["other-scope"]),
        ("web: a", &["M src/parser/lex.rs |3 aa"], &["other-scope"]),
        ("parser: a", &["M web/parser.css"], &[]),
        ("parser: a", &["M web/a.ts |3 parser_options"], &[]),
        ("fix(lexer): a", &["M src/lib.rs"], &[]),
        ("fix(core): a", &["M src/lexer/a.rs"], &[]),
        ("fix(unheard): a", &["M web/app.css"], &[]),
        ("fix(parzer): a", &["M web/app.css"], &["unknown-scope"]),
        ("docs(parser): a", &["M README.md"], &[]),
        // Size never blocks.
        ("fix: a", &long, &["large"]),
        ("fixup! fix: a", &["M web/a"], &["autosquash-left"]),
    ];
    for (message, files, expected) in cases {
        assert_eq!(codes(&commit(message, files)), *expected, "{message} {files:?}");
    }
}

#[test]
fn each_kind_of_commit_has_its_rule() {
    let files = &["M src/parser/lex.rs", "M web/app.css"];
    let mut merge = commit("Merge branch x", files);
    merge.parents.push(oid('3'));
    assert_eq!(judge(&merge, &table(), &rules()).outcome(), CommitOutcome::Skip);
    let mut first = commit("start", files);
    first.parents.clear();
    assert_eq!(judge(&first, &table(), &rules()).outcome(), CommitOutcome::Skip);
    let hash = "676104e1234567890123456789012345678901ab";
    let revert = commit(&format!("Revert \"a\"\n\nThis reverts commit {hash}."), files);
    assert_eq!(judge(&revert, &table(), &rules()).outcome(), CommitOutcome::Pass);
    let pretended = commit("revert: a", files);
    assert_eq!(judge(&pretended, &table(), &rules()).outcome(), CommitOutcome::Block, "a revert names its commit");
}

#[test]
fn a_trailer_lets_through_where_policy_allows_it() {
    let files = &["M src/parser/lex.rs", "M web/app.css"];
    let mut mixed = commit("fix: a\n\nScope-Exempt: one release, two halves", files);
    assert_eq!(judge(&mixed, &table(), &rules()).outcome(), CommitOutcome::Block);
    let mut rules = rules();
    rules.exempt_trailer = "Scope-Exempt".to_owned();
    let judgement = judge(&mixed, &table(), &rules);
    assert_eq!(
        (judgement.outcome(), judgement.exempt.as_deref()),
        (CommitOutcome::Exempt, Some("one release, two halves"))
    );
    mixed.agent = Some("claude".to_owned());
    assert_eq!(judge(&mixed, &table(), &rules).outcome(), CommitOutcome::Block);
    rules.exempt_agents = true;
    assert_eq!(judge(&mixed, &table(), &rules).outcome(), CommitOutcome::Exempt);
    let empty = commit("fix: a\n\nScope-Exempt:", files);
    assert_eq!(judge(&empty, &table(), &rules).outcome(), CommitOutcome::Block, "a reason is asked for");
}

#[test]
fn policy_may_ask_more_of_agents() {
    let text = "rules = { formatting-mixed = \"advise\" }\nagents = { formatting-mixed = \"block\" }";
    let rules = CommitRules::read(&text.parse().unwrap()).unwrap();
    let mut mixed = commit("fix: a", &["M a.rs |9 aa", "M b.rs |90 FORM"]);
    assert_eq!(judge(&mixed, &table(), &rules).outcome(), CommitOutcome::Advise);
    mixed.agent = Some("codex".to_owned());
    assert_eq!(judge(&mixed, &table(), &rules).outcome(), CommitOutcome::Block);
}

#[test]
fn lines_are_asked_for_only_where_they_decide() {
    let asked = |message: &str, files: &[&str], looked_into: bool, rules: &CommitRules| {
        judge(&Commit { looked_into, ..commit(message, files) }, &table(), rules).wants
    };
    let crossing = &["M src/parser/lex.rs", "M web/app.css"];
    let defaults = rules();
    assert!(asked("fix(parser): a", &["M src/parser/lex.rs"], false, &defaults).is_empty());
    assert_eq!(asked("fix: a", crossing, false, &defaults), [0, 1]);
    assert!(asked("fix: a", crossing, true, &defaults).is_empty());
    let many: Vec<String> = (0..60).map(|at| format!("M {}/f{at}.rs", ["src/parser", "web"][at / 30])).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let turns: Vec<usize> = (0..30).flat_map(|at| [at, at + 30]).collect();
    assert_eq!(asked("fix: a", &many, false, &defaults), turns, "one of each in turns");
    // What no scope claims may connect, and any changed line may name what the subject declares.
    let open = ["M Cargo.lock", "M main.c", "M src/parser/lex.rs", "M web/app.css", "M docs/a.md"];
    assert_eq!(asked("fix: a", &open, false, &defaults), [2, 3, 1]);
    let declared = ["M Cargo.lock", "M docs/a.md", "M web/app.css"];
    assert_eq!(asked("fix(proto): a", &declared, false, &defaults), [2, 0, 1, 2]);
    // A scope that holds two others together may turn out to be an aside.
    let held = ["M src/lexer/a.rs", "M src/lib.rs", "M src/tree/a.rs"];
    assert_eq!(asked("fix: a", &held, false, &defaults), [1]);
    assert!(asked("fix: a", &["M src/lexer/a.rs", "M src/lib.rs |3 one_name", held[2]], false, &defaults).is_empty());
    assert!(asked("fix(core): a", &held, false, &defaults).is_empty(), "declared");
    let aside = ["M src/lexer/a.rs", "M src/lib.rs |3 FORM", "M src/tree/a.rs"];
    assert_eq!(codes(&commit("fix: a", &aside)), ["crosses-scopes"]);
    // A rule that blocks is about the lines of all files that count.
    for rule in ["formatting-mixed", "large"] {
        let strict = CommitRules::read(&format!("rules = {{ {rule} = \"block\" }}").parse().unwrap()).unwrap();
        let files = ["M Cargo.lock", "M web/a.css", "M web/a.test.ts"];
        assert!(!asked("fix: a", &files, false, &strict).is_empty(), "{rule}");
        assert!(asked("fix: a", &files, true, &strict).is_empty(), "{rule}");
    }
}

#[test]
fn some_of_the_lines_connect_and_are_no_measure() {
    let mut some = commit("fix: a", &["M src/parser/lex.rs |900 lex_all", "M web/app.css |3 lex_all", "M web/b.css"]);
    some.looked_into = false;
    let judgement = judge(&some, &table(), &rules());
    assert_eq!((judgement.outcome(), judgement.wants), (CommitOutcome::Pass, Vec::new()));
}

#[test]
fn without_a_table_nothing_is_said_about_scopes() {
    let mixed = commit("fix(parser): a", &["M src/parser/lex.rs", "M web/app.css"]);
    assert_eq!(judge(&mixed, &ScopeTable::default(), &rules()).outcome(), CommitOutcome::Pass);
}

#[test]
fn parameters_are_checked() {
    for (text, key) in [
        ("styles = [\"conventionel\"]", Some("styles")),
        ("classes = { lock = [\"[\"] }", Some("classes.lock")),
        ("rules = { crosses = \"block\" }", None),
        ("rules = { large = \"loud\" }", None),
        ("limits = { fils = 3 }", None),
        ("tests = [\"{\"]", Some("tests")),
    ] {
        let error = CommitRules::read(&text.parse().unwrap()).unwrap_err();
        assert!(key.is_none_or(|key| error.key.as_deref() == Some(key)), "{text}: {error:?}");
    }
}

fn proposed(message: &str, files: &[&str]) -> Vec<(String, Vec<String>)> {
    let (commit, table, rules) = (commit(message, files), table(), rules());
    let judgement = judge(&commit, &table, &rules);
    let parts = match split::propose(&commit, &judgement, &table, &rules) {
        split::Proposal::Parts(parts) => parts,
        split::Proposal::Whole => Vec::new(),
        split::Proposal::Refused { subject, rule } => panic!("{subject}: {}", rule.as_str()),
    };
    parts
        .into_iter()
        .map(|part| {
            let subject = part.message.lines().next().unwrap_or_default().to_owned();
            (subject, part.paths.iter().map(ToString::to_string).collect())
        })
        .collect()
}

#[test]
fn a_split_keeps_together_what_belongs_together() {
    assert!(proposed("fix(parser): a", &["M src/parser/a.rs"]).is_empty());
    let own = |parts: &[(&str, &[&str])]| -> Vec<(String, Vec<String>)> {
        parts.iter().map(|(m, p)| ((*m).to_owned(), p.iter().map(|&p| p.to_owned()).collect())).collect()
    };
    assert_eq!(
        proposed(
            "fix(parser): accept commas",
            &["M src/parser/lex.rs", "M web/app.css", "A web/app.test.ts", "A tests/lex.rs", "M Cargo.lock"]
        ),
        own(&[
            ("fix(web): accept commas", &["web/app.css", "web/app.test.ts"]),
            ("fix(parser): accept commas", &["Cargo.lock", "src/parser/lex.rs", "tests/lex.rs"]),
        ])
    );
    assert_eq!(
        proposed("update things", &["M web/a.ts", "M api/b.ts", "M proto/b.proto"]),
        own(&[("web: update things", &["web/a.ts"]), ("api: update things", &["api/b.ts", "proto/b.proto"])])
    );
    assert_eq!(
        proposed("[web] update", &["M web/a.ts", "M src/parser/b.rs", "R95 web/x web/y"]),
        own(&[("[parser] update", &["src/parser/b.rs"]), ("[web] update", &["web/a.ts", "web/x", "web/y"])])
    );
}
