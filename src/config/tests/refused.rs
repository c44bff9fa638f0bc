//! Tests of the errors of invalid files, word for word.

use super::{check, parsed};
use crate::config::{ConfigError, FILE, MAX_FILE_SIZE, Problem, read};
use crate::policy::PolicySource;

/// Each invalid file, with all of its errors.
const BAD: &[(&str, &[&str])] = &[
    ("mdoe = \"warn\"", &["1:1: unknown key `mdoe` at the top level; did you mean `mode`?"]),
    (
        "xyz = 1",
        &[
            "1:1: unknown key `xyz` at the top level, which takes version, mode, commands, gates, scopes, roles, unblock, attest, ci, push, retention, quarantine, prompts",
        ],
    ),
    (
        "[[quarantine]]\ntest = \"t\"\nreason = \" \"\nuntill = 2026-12-31",
        &[
            "1:1: missing key `owner` in [[quarantine]]",
            "3:10: `reason` is empty",
            "4:1: unknown key `untill` in [[quarantine]]; did you mean `until`?",
        ],
    ),
    (
        "[[quarantine]]\ntest = \"t\"\nreason = \"r\"\nowner = \"o\"\nuntil = \"soon\"",
        &["5:9: `until` takes a day such as 2026-12-31, not `soon`"],
    ),
    (
        "[[quarantine]]\ntest = \"t\"\nreason = \"r\"\nowner = \"o\"\nuntil = 2026-12-31T10:00:00Z",
        &["5:9: `until` takes a day such as 2026-12-31, not `2026-12-31T10:00:00Z`"],
    ),
    ("[quarantine]\ntest = \"t\"", &["1:1: `quarantine` takes an array of tables, not a table"]),
    ("quarantine = [\"t\"]", &["1:15: `quarantine` takes an array of tables, not a string"]),
    ("[attest]\n", &["1:2: missing key `signers` in [attest]"]),
    ("[attest]\nsigner = \"a\"", &["2:1: unknown key `signer` in [attest]; did you mean `signers`?"]),
    ("attest = \"a\"", &["1:10: `attest` takes a table, not a string"]),
    ("[attest]\nsigners = 1", &["2:11: `signers` takes a path or an array of strings, not an integer"]),
    ("[attest]\nsigners = \" \"", &["2:11: `signers` is empty"]),
    ("[attest]\nsigners = \".\"", &["2:11: `signers` is a file, which `.` is not"]),
    (
        "[attest]\nsigners = \"../signers\"",
        &["2:11: `signers` must stay inside the repository, without `..`, and `../signers` does not"],
    ),
    (
        "[attest]\nsigners = [\"alice\", \"#\"]",
        &[
            "2:12: a signer is a name, then options if any, then a public key: `alice@example.com ssh-ed25519 AAAA…`",
            "2:21: an empty entry names nobody",
        ],
    ),
    ("[attest]\nsigners = [\"alice cert-authority ssh-ed25519 AAAA\"]", &["2:12: not an SSH public key"]),
    ("mode = \"bloc\"", &["1:8: `mode` takes off, observe, warn or block, not `bloc`; did you mean `block`?"]),
    ("mode = false", &["1:8: `mode` takes a string, not a boolean"]),
    ("version = \"1\"", &["1:11: `version` takes an integer, not a string"]),
    ("version = 0", &["1:11: `version` must be 1"]),
    ("gates = 1", &["1:9: `gates` takes a table, not an integer"]),
    ("commands = []", &["1:12: `commands` takes a table, not an array"]),
    ("[[commands]]\nrun = \"x\"", &["1:1: `commands` takes a table, not an array"]),
    ("[command.test]\n", &["1:2: unknown key `command` at the top level; did you mean `commands`?"]),
    ("mode = \"off\"\nmode = \"warn\"", &["2:1: `mode` is there twice"]),
    ("[gates.tests]\n[gates.tests]\n", &["2:8: `tests` is there twice"]),
    ("mode = \"off", &["1:12: not TOML: invalid basic string, expected `\"`"]),
    ("é = 1", &["1:1: not TOML: invalid unquoted key, expected letters, numbers, `-`, `_`"]),
    (
        "[commands.test]\n",
        &["1:11: missing key `gate` in [commands.test]", "1:11: missing key `run` in [commands.test]"],
    ),
    (
        "[commands.test]\ngate = \"tests\"\nrnu = \"x\"",
        &["3:1: unknown key `rnu` in [commands.test]; did you mean `run`?"],
    ),
    ("[commands.test]\ngate = \"test\"\nrun = \"x\"", &["2:8: there is no gate `test`; did you mean `tests`?"]),
    ("[commands.test]\ngate = \"zzz\"\nrun = \"x\"", &["2:8: there is no gate `zzz`; commands are for tests"]),
    (
        "[commands.test]\ngate = \"protected-branch\"\nrun = \"x\"",
        &["2:8: the gate `protected-branch` takes no commands; commands are for tests"],
    ),
    ("[commands.test]\ngate = \"tests\"\nrun = \" \\n\"", &["3:7: `run` is empty"]),
    ("[commands.test]\ngate = \"tests\"\nrun = \"a\\u0000b\"", &["3:7: `run` holds a NUL character"]),
    ("[commands.test]\ngate = \"tests\"\nrun = [\"x\"]", &["3:7: `run` takes a string, not an array"]),
    (
        "[commands.\"a b\"]\ngate = \"tests\"\nrun = \"x\"",
        &["1:11: `a b` is not a name: use lowercase letters, digits, `.`, `_` and `-`"],
    ),
    (
        "commands.x.gate = \"tests\"\ncommands.x.run = \"x\"\ncommands.x.dir = \"../y\"",
        &["3:18: `dir` must stay inside the repository, without `..`, and `../y` does not"],
    ),
    (
        "[commands.x]\ngate = \"tests\"\nrun = \"x\"\ndir = \"/y\"",
        &["4:7: `dir` must be relative to the root of the repository, and `/y` is not"],
    ),
    (
        "[commands.x]\ngate = \"tests\"\nrun = \"x\"\ndir = \"C:\\\\y\"",
        &["4:7: `dir` must be relative to the root of the repository, and `C:\\y` is not"],
    ),
    (
        "[commands.x]\ngate = \"tests\"\nrun = \"x\"\ninputs = [\n  \"src/**\",\n  \"a[\",\n]",
        &["6:3: `a[` is not a glob: unclosed character class; missing ']'"],
    ),
    (
        "[commands.x]\ngate = \"tests\"\nrun = \"x\"\ninputs = [\"/src/**\", \"web/\", \"./a\", \"!\"]",
        &[
            "4:11: `/src/**` begins with `/` and matches nothing: globs are relative to the root",
            "4:22: `web/` ends with `/` and matches nothing: write `web/**`",
            "4:30: `./a` matches nothing: no path holds `.`, `..` or `//`",
            "4:37: an empty glob matches nothing",
        ],
    ),
    (
        "[commands.x]\ngate = \"tests\"\nrun = \"x\"\ninputs = [\"!web/**\"]",
        &["4:10: `inputs` matches no path, so no change would require the command; begin with \"**\""],
    ),
    (
        "[commands.x]\ngate = \"tests\"\nrun = \"x\"\ninputs = \"**\"",
        &["4:10: `inputs` takes an array of strings, not a string"],
    ),
    ("[commands.x]\ngate = \"tests\"\nrun = \"x\"\nreports = [1]", &["4:12: `reports` takes a string, not an integer"]),
    ("[gates.test]\nmode = \"warn\"", &["1:8: there is no gate `test`; a new one needs `kind`; did you mean `tests`?"]),
    (
        "[gates.x]\nkind = \"evidence\"",
        &[
            "1:8: missing key `title` in [gates.x]",
            "1:8: missing key `moments` in [gates.x]",
            "1:8: missing key `severity` in [gates.x]",
            "1:8: missing key `explain` in [gates.x]",
        ],
    ),
    (
        "[gates.x]\ntitle = \"X\"\nkind = \"evidense\"\nmoments = [\"push\"]\nseverity = \"low\"\nexplain = \"X\"",
        &["3:8: there is no kind of gate `evidense`; did you mean `evidence`?"],
    ),
    (
        "[gates.tests]\nkind = \"protected-branch\"",
        &["2:8: `tests` is of kind `evidence`; a gate of another kind needs its own id"],
    ),
    ("[gates.tests]\nseverity = \"urgent\"", &["2:12: `severity` takes low, medium, high or blocker, not `urgent`"]),
    (
        "[gates.tests]\nmin_grade = \"claimed\"",
        &["2:13: `min_grade` takes transcribed, hooked, observed, attested or ci, not `claimed`"],
    ),
    (
        "[gates.tests]\nmoments = [\"psuh\"]",
        &["2:12: `moments` takes prompt, write, commit, push, stop, ci or after, not `psuh`; did you mean `push`?"],
    ),
    (
        "[gates.tests]\nmoments = []",
        &["2:11: `moments` is empty: the gate would never be asked; `mode = \"off\"` says so"],
    ),
    (
        "[gates.protected-branch.params]\nbranchs = [\"x\"]",
        &["2:1: unknown key `branchs` in the params of `protected-branch`; did you mean `branches`?"],
    ),
    ("[gates.protected-branch.params]\nbranches = \"x\"", &["2:1: invalid type: string \"x\", expected a sequence"]),
    (
        "[gates.x]\ntitle = \"X\"\nkind = \"protected-branch\"\nmoments = [\"push\"]\nseverity = \"low\"\nexplain = \"X\"",
        &["1:8: missing field `branches`"],
    ),
    (
        "[gates.tests.params]\nignore = [\"docs/\"]",
        &["2:11: `docs/` ends with `/` and matches nothing: write `docs/**`"],
    ),
    (
        "[gates.tests.messages.mising]\ntext = \"x\"",
        &["1:23: this gate never gives the reason `mising`; did you mean `missing`?"],
    ),
    (
        "[gates.tests.messages.missing]\ntxt = \"x\"",
        &["2:1: unknown key `txt` in the message `missing`; did you mean `text`?"],
    ),
    (
        "[gates.tests.messages.missing]\ntext = \"{{ x\"",
        &["2:8: not a message template: unexpected end of input, expected end of variable block"],
    ),
    (
        "[gates.\"a\\nb\\u001b[0m\"]\n",
        &["1:8: there is no gate `a\\nb\\u{1b}[0m`; a new one needs `kind`; the gates are protected-branch, tests"],
    ),
    (
        "mode = \"x\"\r\nversion = 99999999999999999999",
        &[
            "2:11: written for version 99999999999999999999 of the format; gate 0.1.0 reads version 1: install a later gate",
        ],
    ),
    (
        "version = 2\nnew_key = 1",
        &["1:11: written for version 2 of the format; gate 0.1.0 reads version 1: install a later gate"],
    ),
    (
        "\u{feff}mode = \"x\"\r\n\r\nfoo = 1\r\n",
        &[
            "1:8: `mode` takes off, observe, warn or block, not `x`",
            "3:1: unknown key `foo` at the top level, which takes version, mode, commands, gates, scopes, roles, unblock, attest, ci, push, retention, quarantine, prompts",
        ],
    ),
    ("# ünïcödé\n\"ä\" = 1; ", &["2:7: not TOML: string values must be quoted, expected literal string"]),
    (
        "[ci]\nagents = 'off'\nhumans = 'warn'",
        &[
            "2:10: `agents` takes observe, warn or block, not `off`",
            "3:1: unknown key `humans` in [ci], which takes agents, people",
        ],
    ),
    ("[push]\nrun = 'all'", &["2:7: `run` takes nothing or missing, not `all`"]),
    ("[unblock]", &["1:2: missing key `run` in [unblock]"]),
    ("[unblock]\nrun = ''", &["2:7: `run` is a command line, not an empty text"]),
    ("[unblock]\nrn = 'a'", &["2:1: unknown key `rn` in [unblock]; did you mean `run`?"]),
    ("[scopes]\na = 1", &["2:5: `a` takes a list of globs or a table, not an integer"]),
    ("[scopes]\na = 'a/**'", &["2:5: `a` takes a list of globs or a table, not a string"]),
    ("[scopes]\na = [1]", &["2:6: `a` takes a string, not an integer"]),
    ("[scopes]\na = []", &["2:5: the scope `a` matches no path"]),
    (
        "[scopes]\na = [\"/a/**\"]",
        &["2:6: `/a/**` begins with `/` and matches nothing: globs are relative to the root"],
    ),
    ("[scopes]\n\"a b\" = [\"a\"]", &["2:1: `a b` is not a name of a scope: use letters, digits and `/ @ . _ + -`"]),
    (
        "[scopes]\na = { with = [\"b\"] }",
        &["2:1: missing key `paths` in [scopes.a]", "2:15: there is no scope `b`; did you mean `a`?"],
    ),
    (
        "[scopes.a]\npaths = [\"a\"]\nalias = [\"b\"]",
        &["3:1: unknown key `alias` in [scopes.a], which takes paths, aliases, with, shared, goes_along"],
    ),
    ("[scopes.a]\npaths = [\"a\"]\ngoes_along = \"yes\"", &["3:14: `goes_along` takes true or false, not a string"]),
    ("[gates.tests.params]\nignore = []\ncounts = 1e999", &["3:10: not a finite number"]),
    ("[gates.tests.params]\nx = [99999999999999999999]", &["2:6: too large a number"]),
];

fn lines(error: &ConfigError) -> Vec<String> {
    let one = |problem: &Problem| {
        let meant = problem.meant.as_ref().map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        format!("{}:{}: {}{meant}", problem.line, problem.column, problem.what)
    };
    error.problems.iter().map(one).collect()
}

#[test]
fn what_is_wrong_is_said_exactly() {
    let mut wrong = Vec::new();
    for (text, said) in BAD {
        match parsed(text) {
            Ok(_) => wrong.push(format!("{text:?}: accepted")),
            Err(error) if lines(&error) != *said => wrong.push(format!("{text:?}:\n{:#?}", lines(&error))),
            Err(error) => assert_eq!(error.to_string(), format!("gate.toml:{}", said[0])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn an_error_shows_the_line_and_a_caret() {
    let error = parsed("version = 1\n\n[gates.tests]\n\tmdoe = \"warn\"\nfoo = 1\n[gates.tset]\n").unwrap_err();
    insta::assert_snapshot!(error.render(), @r#"
    gate.toml:4:2: unknown key `mdoe` in [gates.tests]
      |
    4 |  mdoe = "warn"
      |  ^^^^
      = did you mean `mode`?
      = 2 more problems, in lines 5, 6
    "#);
}

#[test]
fn bytes_that_are_no_text_are_named() {
    let error = read(FILE, b"mode = \"off\"\n# caf\xe9\n", PolicySource::WorkingTree, &check).unwrap_err();
    assert_eq!(error.to_string(), "gate.toml:2:6: not UTF-8; save the file in that encoding");
    let large = "#".repeat(MAX_FILE_SIZE + 1);
    let error = read(FILE, large.as_bytes(), PolicySource::WorkingTree, &check).unwrap_err();
    assert_eq!(error.to_string(), "gate.toml:1:1: 1048577 bytes is more than a policy may have (1 MiB)");
}

#[test]
fn only_a_later_version_counts_as_newer() {
    assert!(parsed("version = 2").unwrap_err().newer);
    assert!(!parsed("version = 0").unwrap_err().newer);
    assert!(!parsed("mdoe = 2").unwrap_err().newer);
}

#[test]
fn many_problems_are_bounded() {
    let text: Vec<String> = (0..30_000).map(|i| format!("k{i} = 1")).collect();
    let error = parsed(&text.join("\n")).unwrap_err();
    assert_eq!(lines(&error)[0], lines(&parsed("k0 = 1").unwrap_err())[0]);
    assert!(error.problems.len() <= 20);
    assert!(error.render().lines().count() <= 6);
}

#[test]
fn deep_nesting_is_refused_and_does_not_end_the_process() {
    for text in [
        format!("mode = {}", "[".repeat(400_000)),
        format!("gates{} = 1", ".a".repeat(200_000)),
        format!("[gates{}]", ".a".repeat(200_000)),
        format!("gates = {}", "{a=".repeat(200_000)),
        format!("[gates.tests.params]\nx{} = 1", ".a".repeat(200_000)),
    ] {
        assert!(parsed(&text).is_err(), "{}", &text[..20]);
    }
}
