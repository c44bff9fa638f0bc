//! Tests of valid files and their meaning.

use super::{FULL, check, good};
use crate::config::{FILE, defaults, parse};
use crate::event::Grade;
use crate::moment::Moment;
use crate::policy::{Gate, Mode, ModeFrom, OnUnknown, Policy, PolicySource, Severity, Signers};
use crate::repo_path::RepoPath;

fn gate<'p>(policy: &'p Policy, id: &str) -> &'p Gate {
    policy.gates.iter().find(|gate| gate.id == id).unwrap()
}

#[test]
fn everything_that_can_be_said_is_understood() {
    let policy = good(FULL);
    let names: Vec<_> = policy.commands.iter().map(|command| command.name.as_str()).collect();
    assert_eq!(names, ["test", "web"]);
    let test = &policy.commands[0];
    assert_eq!((test.gate.as_str(), test.run.as_str()), ("tests", "cargo test --workspace"));
    assert_eq!(test.dir, RepoPath::from("crates/core"));
    assert_eq!(test.inputs.inputs, ["crates/core/**"]);
    assert_eq!(test.inputs.ignore, ["**/*.md", "!README.md", "notes/**"]);
    assert_eq!(test.reports, ["target/junit/*.xml"]);
    let web = &policy.commands[1];
    for (path, counts) in [("web/a.ts", true), ("web/dist/a.js", false), ("web/a.md", false), ("src/a", false)] {
        assert_eq!(web.inputs.matches(&RepoPath::from(path)), counts, "{path}");
    }
    let ids: Vec<_> = policy.gates.iter().map(|gate| gate.id.as_str()).collect();
    assert_eq!(ids, ["protected-branch", "tests", "lint"]);
    let changed = gate(&policy, "protected-branch");
    assert_eq!((changed.mode, changed.mode_from), (Mode::Block, ModeFrom::Entry));
    assert_eq!(
        (changed.on_unknown, changed.min_grade, changed.severity),
        (OnUnknown::Warn, Grade::Observed, Severity::High)
    );
    assert_eq!(changed.moments, [Moment::Push, Moment::Stop]);
    assert_eq!(changed.params["branches"].as_array().unwrap().len(), 2);
    let message = &changed.messages["protected"];
    assert_eq!((message.text.as_str(), message.fix.as_str()), ("{{ branch }} is protected", "open a pull request"));
    assert_eq!((changed.title.as_str(), changed.explain.as_str()), ("No direct push", "Refs count."));
    let added = gate(&policy, "lint");
    assert_eq!((added.mode, added.mode_from), (Mode::Block, ModeFrom::AllGates));
    assert_eq!((added.on_unknown, added.min_grade), (OnUnknown::Warn, Grade::Hooked));
    assert_eq!(gate(&policy, "tests").params["counts"].as_bool(), Some(true));
}

#[test]
fn whose_statements_count() {
    let line = "alice@example.com namespaces=\"gate*\" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIh6NJDbdOCVz/mw0xxjY1x8YmuQ0fguOOd12n0U6K7J";
    for (text, signers) in [
        ("", Signers::Nobody),
        ("[attest]\nsigners = \"./.gate//signers\"", Signers::File(RepoPath::from(".gate/signers"))),
        ("[attest]\nsigners = []", Signers::Listed(Vec::new())),
        (&format!("[attest]\nsigners = ['{line}']"), Signers::Listed(vec![line.to_owned()])),
    ] {
        assert_eq!(good(text).signers, signers, "{text}");
    }
    let digest = |text: &str| good(text).digest;
    assert_ne!(digest(""), digest("[attest]\nsigners = \"a\""), "who may sign is a part of the policy");
    assert_ne!(digest("[attest]\nsigners = \"a\""), digest("[attest]\nsigners = []"));
}

#[test]
fn an_empty_file_says_what_no_file_says() {
    let policy = good("# nothing\n");
    assert!(policy.commands.is_empty());
    let tests = gate(&policy, "tests");
    assert_eq!((tests.mode, tests.mode_from), (Mode::Block, ModeFrom::Default));
    let branch = gate(&policy, "protected-branch");
    assert_eq!((branch.mode, branch.mode_from), (Mode::Warn, ModeFrom::GateFile));
    assert_eq!(parse(FILE, "", PolicySource::WorkingTree, &check).unwrap().digest, defaults(&check).digest);
    assert_eq!(defaults(&check).source, PolicySource::Defaults);
}

#[test]
fn the_mode_of_all_makes_milder_but_not_harder() {
    for (text, tests, branch) in [
        ("mode = \"observe\"", Mode::Observe, Mode::Observe),
        ("mode = \"block\"", Mode::Block, Mode::Warn),
        ("mode = \"off\"", Mode::Off, Mode::Off),
        ("mode = \"observe\"\n[gates.tests]\nmode = \"block\"", Mode::Block, Mode::Observe),
    ] {
        let policy = good(text);
        assert_eq!((gate(&policy, "tests").mode, gate(&policy, "protected-branch").mode), (tests, branch), "{text}");
    }
}

#[test]
fn inputs_follow_the_directory() {
    for (dir, inputs) in [("", "**"), (".", "**"), ("a/./b/", "a/b/**"), ("a[1]", "a[[]1[]]/**")] {
        let policy = good(&format!("[commands.x]\ngate = \"tests\"\nrun = \"x\"\ndir = \"{dir}\""));
        assert_eq!(policy.commands[0].inputs.inputs, [inputs], "{dir}");
    }
    let policy = good("[commands.x]\ngate = \"tests\"\nrun = \"x\"\ndir = \"a[1]\"");
    assert!(policy.commands[0].inputs.matches(&RepoPath::from("a[1]/b")));
}

#[test]
fn the_digest_is_of_what_is_said() {
    let one = "[commands.a]\ngate = \"tests\"\nrun = \"a\"\n[commands.b]\nrun = \"b\"\ngate = \"tests\"\n";
    let other = "# words\r\n[commands.b]\r\ngate = \"tests\"\r\nrun = \"b\"\r\n[commands.a]\r\nrun = 'a'\r\ngate = \"tests\"\r\n";
    assert_eq!(good(one).digest, good(other).digest);
    let mut digests = vec![good(one).digest, good("").digest];
    for change in [
        "[commands.a]\ngate = \"tests\"\nrun = \"a2\"\n",
        "[commands.a]\ngate = \"tests\"\nrun = \"a\"\ndir = \"d\"\n",
        "[commands.a]\ngate = \"tests\"\nrun = \"a\"\nreports = [\"d\"]\n",
        "[commands.a]\ngate = \"tests\"\nrun = \"a\"\nignore = [\"d\"]\n",
        "[gates.tests]\nmode = \"warn\"\n",
        "[gates.tests]\non_unknown = \"block\"\n",
        "[gates.tests]\nmin_grade = \"ci\"\n",
        "[gates.tests]\nseverity = \"low\"\n",
        "[gates.tests]\nmoments = [\"push\"]\n",
        "[gates.tests.params]\ncounts = false\n",
        "[gates.tests.messages.missing]\nremedy = \"\"\n",
    ] {
        digests.push(good(change).digest);
    }
    let count = digests.len();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), count);
}

#[test]
fn line_ends_do_not_change_a_command() {
    let text = "[commands.a]\ngate = \"tests\"\nrun = \"\"\"\na\nb\n\"\"\"\n";
    assert_eq!(good(text).commands[0].run, good(&text.replace('\n', "\r\n")).commands[0].run);
}

#[test]
fn scopes_are_lists_or_tables() {
    let policy = good(
        "[scopes]\nparser = [\"src/parser/**\"]\nweb = { paths = [\"web/**\"], aliases = [\"ui\"], with = [\"parser\"] }\n\
         tests = { paths = [\"tests/**\"], goes_along = true }\n",
    );
    let names: Vec<&str> = policy.scopes.iter().map(|scope| scope.name.as_str()).collect();
    assert_eq!(names, ["parser", "web", "tests"]);
    assert_eq!(policy.scopes[0].paths, ["src/parser/**"]);
    assert_eq!(
        (policy.scopes[1].aliases.as_slice(), policy.scopes[1].with.as_slice()),
        (&["ui".to_owned()][..], &["parser".to_owned()][..])
    );
    assert!(policy.scopes[2].goes_along && !policy.scopes[1].goes_along);
    assert_ne!(policy.digest, good("").digest, "another table is another policy");
}

#[test]
fn documents_count_for_a_command_that_reads_them() {
    for (run, counts) in [("mkdocs build --strict", true), ("prettier --check .", true), ("cargo build", false)] {
        let policy = good(&format!("version = 1\n[commands.site]\ngate = \"tests\"\nrun = \"{run}\"\n"));
        let inputs = &policy.commands[0].inputs;
        assert_eq!(inputs.matches(&RepoPath::from("docs/a.md")), counts, "{run}");
        assert!(inputs.matches(&RepoPath::from("src/a.rs")), "{run}");
    }
}
