//! What a command line executes, for the spellings that mislead text matching; and that no input is too much.

use std::time::{Duration, Instant};

use gate::command_line::{LineRecord, judge};
use gate::runner::Project;
use gate::shell::build_program;
use gate::shell::exit_status::fate;
use gate::shell_kind::Shell;
use proptest::prelude::*;

/// The commands of a line, wrappers removed, with the directory where one is known.
fn commands(line: &str) -> Vec<String> {
    let program = build_program::program(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    program
        .leaves
        .iter()
        .map(|leaf| {
            let words: Vec<String> =
                leaf.words().into_iter().map(|word| word.unwrap_or_else(|| "?".to_owned())).collect();
            let place =
                leaf.directory.as_ref().map(|directory| directory.path.clone().unwrap_or_else(|| "?".to_owned()));
            place.map(|place| format!("{place}: ")).unwrap_or_default() + &words.join(" ")
        })
        .collect()
}

#[test]
fn the_commands_of_a_line() {
    let mut wrong = Vec::new();
    for (line, wanted) in [
        (
            "cd web && CI=1 npm test 2>&1 | tail -5 || true",
            &["cd web", "web: npm test", "web: tail -5", "web: true"][..],
        ),
        ("cargo test # && cargo clippy", &["cargo test"]),
        ("echo 'cargo test'", &["echo cargo test"]),
        ("git commit -m \"fix: cargo test; npm test\"", &["git commit -m fix: cargo test; npm test"]),
        ("cat <<EOF\ncargo test\nEOF", &["cat"]),
        ("cat <<'EOF' | bash\ncargo test\nEOF", &["cat", "bash"]),
        ("bash <<'EOF'\ncargo test\nEOF", &["cargo test"]),
        ("bash -s <<EOF\ncargo test\nEOF", &["cargo test"]),
        ("python3 - <<'EOF'\nimport os\nEOF", &["python3 -"]),
        ("bash -lc 'cd a && make test'", &["cd a", "a: make test"]),
        ("sh -c \"npm test -- --ci\"", &["npm test -- --ci"]),
        ("bash -c \"$SCRIPT\"", &["bash -c ?"]),
        ("(cd a && npm test); npm run lint", &["cd a", "a: npm test", "npm run lint"]),
        ("pushd a; npm test; popd; npm test", &["pushd a", "a: npm test", "a: popd", "npm test"]),
        ("g=git; $g push origin main", &["git push origin main"]),
        ("c='git push'; $c origin main", &["git push origin main"]),
        ("c='git push'; \"$c\" origin", &["git push origin"]),
        ("p() { git push \"$@\"; }; p origin main", &["git push origin main"]),
        ("alias t='cargo test'\nt -q", &["t -q", "cargo test -q"]),
        ("echo $(cargo test)", &["cargo test", "echo ?"]),
        ("echo `cargo test`", &["cargo test", "echo ?"]),
        ("x=$(cargo test) && echo", &["cargo test", "echo"]),
        ("diff <(cargo test) <(npm test)", &["cargo test", "npm test", "diff ? ?"]),
        ("cargo test > >(tee log) 2>&1", &["tee log", "cargo test"]),
        ("cargo test &> log", &["cargo test"]),
        ("cargo test 2>&1 3<>f {fd}>g", &["cargo test"]),
        ("if cargo test; then echo a; else echo b; fi", &["cargo test", "echo a", "echo b"]),
        ("while ! cargo test; do sleep 1; done", &["cargo test", "sleep 1"]),
        ("for d in a b; do (cd $d && npm test); done", &["cd a", "a: npm test", "cd b", "b: npm test"]),
        ("for f in *.py; do pytest $f; done", &["pytest ?"]),
        ("case $x in a) cargo test;; b|c) npm test;; esac", &["cargo test", "npm test"]),
        ("time -p cargo test", &["cargo test"]),
        ("! cargo test", &["cargo test"]),
        ("exec cargo test", &["cargo test"]),
        ("eval \"cargo test\"", &["cargo test"]),
        ("eval \"$X\"", &["?"]),
        ("$RUNNER test", &["? test"]),
        ("env -u X FOO=bar timeout -k 5 60 nice -n 3 cargo test", &["cargo test"]),
        ("find . -name '*.sh' | xargs -n1 bash -n", &["find . -name *.sh", "bash -n"]),
        ("ssh host 'cd app && make test'", &["cd app", "app: make test"]),
        ("docker compose exec -T web npm test", &["npm test"]),
        ("cargo test \\\n  --workspace", &["cargo test --workspace"]),
        ("cargo test;cargo clippy&&cargo fmt", &["cargo test", "cargo clippy", "cargo fmt"]),
        ("cargo test & wait", &["cargo test"]),
        ("coproc cargo test", &["cargo test"]),
        ("[[ -f a ]] && cargo test", &["cargo test"]),
        ("(( n > 3 )) || cargo test", &["cargo test"]),
        ("trap 'cargo clean' EXIT; cargo test", &["cargo clean", "cargo test"]),
        ("f() { cargo test; }", &[]),
        ("a\\ b c", &["a b c"]),
        ("\"cargo\" 'test'", &["cargo test"]),
        ("c\\argo te\"st\"", &["cargo test"]),
        ("$'cargo' test", &["cargo test"]),
        ("rm -rf !(keep|me)", &["rm -rf !(keep|me)"]),
        ("cargo test {a,b}", &["cargo test {a,b}…"]),
        ("A=1 B=2", &[]),
        ("> log", &[":"]),
    ] {
        let found = commands(line);
        if found != wanted {
            wrong.push(format!("{line}\n    {found:?}\n    {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A line for each way in which exit status 0 does or does not imply that `cargo test` ran and succeeded.
#[test]
fn what_a_status_implies() {
    let mut wrong = Vec::new();
    for (line, decides) in [
        ("cargo test", true),
        ("cargo test | cat", false),
        ("cargo test |& cat", false),
        ("set -o pipefail; cargo test | cat", true),
        ("set -o pipefail\nset +o pipefail\ncargo test | cat", false),
        ("(set -o pipefail); cargo test | cat", false),
        ("(set -o pipefail; cargo test | cat)", true),
        ("set -o pipefail && cargo test | cat", true),
        ("true || set -o pipefail; cargo test | cat", false),
        ("bash -eo pipefail -c 'cargo test | cat; ls'", true),
        ("cargo test && ls", true),
        ("ls && cargo test", true),
        ("ls || cargo test", false),
        ("cargo test || ls", false),
        ("cargo test; ls", false),
        ("cargo test\n", true),
        ("cargo test & ", false),
        ("! cargo test", false),
        ("set -e; cargo test; ls", true),
        ("set -e; cargo test || true; ls", false),
        ("set -e; if cargo test; then ls; fi", false),
        ("set -e; cargo test && ls; pwd", false),
        ("set -e; x=$(cargo test); ls", true),
        ("set -e; local x=$(cargo test); ls", false),
        ("set -e; echo $(cargo test)", false),
        ("set -e; f() { cargo test; ls; }; f", true),
        ("set -e; f() { cargo test; ls; }; f || true", false),
        ("set -e; f() { cargo test; ls; }; f && ls", false),
        ("set -e; (cargo test; ls)", true),
        ("cargo test; exit $?", true),
        ("cargo test; exit", true),
        ("cargo test; x=$?; ls; exit $x", true),
        ("cargo test; x=$?; ls; exit \"${x}\"", true),
        ("cargo test; x=$?; ls; x=0; exit $x", false),
        ("cargo test; x=$?; ls; return $x", true),
        ("cargo test; x=$?; [ $x = 0 ]", true),
        ("cargo test; x=$?; [ $x != 0 ] && exit 1; ls", true),
        ("cargo test; x=$?; if [ $x -ne 0 ]; then exit $x; fi; true", true),
        ("cargo test; if [ $? -ne 0 ]; then echo bad; fi", false),
        ("cargo test | tail; exit ${PIPESTATUS[0]}", true),
        ("cargo test | tail; exit ${PIPESTATUS[1]}", false),
        ("cargo test | tail; ls; exit ${PIPESTATUS[0]}", false),
        ("a=0; cargo test || a=1; exit $a", true),
        ("a=0; cargo test || a=$?; exit $a", true),
        ("a=0; cargo test || ((a++)); exit $a", true),
        ("a=0; cargo test || a=$((a+1)); [ $a -eq 0 ]", true),
        ("ok=false; cargo test && ok=true; $ok", false),
        ("ok=0; cargo test && ok=1; test $ok = 1", true),
        ("cargo test; a=$?; npm test; b=$?; exit $((a | b))", true),
        ("cargo test; a=$?; npm test; b=$?; exit $((a || b))", true),
        ("cargo test; a=$?; npm test; b=$?; exit $((a + b))", false),
        ("cargo test && { ls; true; }", true),
        ("cargo test || { ls; false; }", true),
        ("cargo test || { ls; exit 3; }; true", true),
        ("cargo test || return 1; true", true),
        // It may have failed before it succeeded.
        ("until cargo test; do sleep 1; done", false),
        ("while cargo test; do break; done", false),
        ("for i in 1 2 3; do cargo test && break; done", false),
        ("for i in 1 2; do cargo test || exit 1; done", true),
        ("for i in $(ls); do cargo test || exit 1; done", false),
        ("case $x in *) cargo test;; esac", true),
        ("case a in b) cargo test;; esac", false),
        ("trap 'exit 0' EXIT; cargo test", false),
        ("trap 'exit 1' ERR; cargo test; true", true),
        ("cargo test & wait $!", true),
        ("cargo test & wait", false),
        ("xargs cargo test", false),
        ("timeout 5 cargo test", true),
        ("watch cargo test", false),
        ("script -c 'cargo test'", false),
        ("ssh h cargo test", true),
        ("eval 'cargo test; ls'", false),
        ("alias cargo=true; cargo test", false),
        ("hash -p /bin/true cargo; cargo test", false),
        ("hash -r; cargo test", true),
        ("$X && cargo test", true),
        ("[ -d x ] && cargo test", true),
        ("[ -d x ] || cargo test", false),
        ("if [ -d x ]; then cargo test; fi", false),
        ("if [ -d x ]; then cargo test; else exit 1; fi", true),
        ("exec cargo test; ls", true),
        ("set -u; cargo test; echo $?", false),
    ] {
        let program = build_program::program(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let mut found = program.leaves.iter().enumerate().filter(|(_, leaf)| leaf.name() == Some("cargo")).peekable();
        assert!(found.peek().is_some(), "{line}");
        if found.all(|(id, _)| fate(&program, id).decides()) != decides {
            wrong.push(format!("{line}: not {decides}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Judges a line; the answer is not looked at.
fn explain(line: &str, output: &str) {
    let record = LineRecord { status: Some(0), output: Some(output), background: false, shell: Some(Shell::Bash) };
    let judgement = judge(line, &record, Project::without_runners(&()));
    assert!(!judgement.reason.is_empty(), "{line:?}");
}

#[test]
fn bombs_are_answered() {
    let nested =
        |open: &str, close: &str, depth: usize| format!("{}cargo test{}", open.repeat(depth), close.repeat(depth));
    let numbered = |text: &str| (0..300).map(|i| text.replace('N', &i.to_string())).collect::<Vec<_>>().concat();
    let mut bombs = vec![
        "cargo test && ".repeat(3000) + "true",
        "cargo test | ".repeat(3000) + "cat",
        "cargo test; ".repeat(4000),
        "f() { g; g; }; g() { h; h; }; h() { i; i; }; i() { j; j; }; j() { k; k; }; k() { cargo test; }; f".to_owned(),
        "f() { f; f; }; f; cargo test".to_owned(),
        "a=1; ".repeat(3000) + "cargo test",
        "x".repeat(200_000),
        "\u{0}\u{1}\u{ff}".repeat(100),
        numbered("cargo test || aN=1; [ $aN = 1 ] && exit 1; "),
        numbered("cN && v=$? || w=$v; ") + "exit $w",
        "eval ".repeat(2000) + "cargo test",
        "timeout 5 ".repeat(3000) + "cargo test",
        "echo \"$x$(cargo test)\" ".repeat(500),
        "a=xxxxxxxxxx; ".to_owned() + &"a=$a$a; ".repeat(40) + "cargo test $a",
        "a=xxxxxxxxxx; ".to_owned() + &"a=$a$a; ".repeat(12) + "cargo test $a",
        format!("echo $(({}1{})); cargo test", "(".repeat(5000), ")".repeat(5000)),
        "for i in a b c d; do ".repeat(12) + "cargo test" + &"; done".repeat(12),
    ];
    for depth in [20, 60, 500, 2000, 6000] {
        for (open, close) in [
            ("( ", " )"),
            ("{ ", "; }"),
            ("$(", ")"),
            ("\"$(", ")\""),
            ("if true; then ", "; fi"),
            ("bash -c \"", "\""),
        ] {
            bombs.push(nested(open, close, depth));
        }
    }
    for bomb in &bombs {
        let start = Instant::now();
        explain(bomb, "");
        let took = start.elapsed();
        assert!(took < Duration::from_secs(10), "{took:?} for {:?}…", bomb.chars().take(60).collect::<String>());
    }
}

/// Words that make lines, valid and not.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(vec![
            "cargo", "test", "npm", "git", "push", "&&", "||", ";", "|", "&", "(", ")", "{", "}", "if", "then", "fi",
            "for", "in", "do", "done", "while", "case", "esac", "$(", "`", "\"", "'", "\\", "\n", "<<EOF", "EOF", ">",
            "2>&1", "/dev/null", "$?", "$x", "${x}", "${PIPESTATUS[0]}", "[", "]", "[[", "]]", "((", "))", "!", "echo",
            "exit", "set", "-e", "-o", "pipefail", "cd", "..", "a=b", "f()", "trap", "EXIT", "wait", "eval", "bash", "-c",
            "xargs", "timeout", "5", "*", "#", "tail", "-5", "grep", "-v", "^ok",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_line_makes_it_panic(words in prop::collection::vec(word(), 0..30), output in "\\PC{0,80}") {
        explain(&words.join(" "), &output);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        explain(&String::from_utf8_lossy(&bytes), "");
    }
}
