//! `gate init` and `gate uninstall`: how they behave with hooks, policies and people that are there already.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;

use crate::install_places::husky_9;
use crate::sandbox::{GATE, RECORDS, Sandbox, differences};

#[test]
fn a_bare_repository_judges_what_arrives() {
    let s = Sandbox::new();
    let dir = s.path("repo");
    s.git(&dir, &["init", "-q", "--bare"]);
    s.write("repo/hooks/pre-receive", RECORDS, 0o755);
    let before = s.traces();
    s.init(&dir);
    assert!(!dir.join("gate.toml").exists());
    let installed = s.traces_outside();
    let (code, out, err) = s.gate(&dir, &["doctor"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("bare repository") && out.contains("gate refused a trial push"), "{out}");
    assert_eq!(differences(&installed, &s.traces_outside()), Vec::<String>::new());

    s.write("source/gate.toml", "mode = \"off\"\n", 0o644);
    let source = s.repository("source", &[]);
    s.git(&source, &["push", "-q", "../repo", "HEAD:refs/heads/x"]);
    assert!(fs::read_to_string(s.path("home/ran")).unwrap().contains("refs/heads/x"), "the earlier hook ran");
    fs::remove_file(s.path("home/ran")).unwrap();
    s.git(&dir, &["update-ref", "-d", "refs/heads/x"]);
    s.uninstall(&dir);
    for path in ["hooks/pre-receive", "hooks/pre-receive.before-gate"] {
        let traces = s.traces();
        assert_eq!(traces.get(&dir.join(path)), before.get(&dir.join(path)), "{path}");
    }
}

#[test]
fn the_earlier_hook_gets_what_git_said_and_its_refusal_counts() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    s.write("repo/.git/hooks/pre-push", RECORDS, 0o755);
    s.init(&dir);
    let head = s.git(&dir, &["rev-parse", "HEAD"]);
    assert!(s.push(&dir).0);
    let ran = fs::read_to_string(s.path("home/ran")).unwrap();
    let target = s.path("target.git").display().to_string();
    assert_eq!(ran, format!("{target} {target}\nHEAD {head} refs/heads/pushed {}\n", "0".repeat(40)));

    for (hook, mode, arrives) in [
        ("#!/bin/sh\nexit 7\n", 0o755, false),
        ("exit 7\n", 0o755, false),
        ("exit 7\n", 0o644, true),
        ("#!/bin/sh\nexec <&-\nexit 0\n", 0o755, true),
    ] {
        s.write("repo/.git/hooks/pre-push.before-gate", hook, mode);
        assert_eq!(s.push(&dir).0, arrives, "{hook:?} {mode:o}");
    }
    s.write("repo/.git/hooks/pre-push.before-gate", "#!/bin/sh\nexit 7\n", 0o755);
    let mut hook = s.command(GATE, &dir);
    hook.args(["hook", "git", "pre-push", "origin", "-url"]).env("GATE_HOOK_FILE", ".git/hooks/pre-push");
    assert_eq!(hook.output().unwrap().status.code(), Some(7), "its status is the hook's");
}

#[test]
fn a_commit_that_crosses_scopes_is_refused_wherever_hooks_are() {
    type Setup = fn(&Sandbox) -> std::path::PathBuf;
    let places: [(&str, Setup); 5] = [
        ("plain", |s| s.repository("repo", &[])),
        ("a linked working tree", |s| {
            let dir = s.repository("repo", &[]);
            s.git(&dir, &["worktree", "add", "-q", "../linked"]);
            s.path("linked")
        }),
        ("an earlier hook", |s| {
            s.write("repo/.git/hooks/commit-msg", "#!/bin/sh\ncp \"$1\" \"$HOME/ran\"\n", 0o755);
            s.repository("repo", &[])
        }),
        ("husky 9", |s| {
            s.write("repo/.husky/commit-msg", "cp \"$1\" \"$HOME/ran\"\n", 0o644);
            husky_9(s)
        }),
        ("in the working tree", |s| s.with_setting(&["core.hooksPath", ".githooks"])),
    ];
    for (name, setup) in places {
        let s = Sandbox::new();
        let dir = setup(&s);
        fs::write(dir.join("gate.toml"), "[scopes]\nparser = [\"src/**\"]\nweb = [\"web/**\"]\n").unwrap();
        let (code, out, err) = s.gate(&dir, &["init", "--yes"]);
        assert_eq!(code, 0, "{name}: {out}{err}");
        assert!(s.commit(&dir, "set up").0, "{name}");
        let head = s.git(&dir, &["rev-parse", "HEAD"]);
        for (path, text) in [("src/lex.rs", "let alpha = 1;\n"), ("web/app.css", "body {}\n")] {
            fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
            fs::write(dir.join(path), text).unwrap();
        }
        let _ = fs::remove_file(s.path("home/ran"));
        let (made, words) = s.commit(&dir, "fix(parser): accept trailing commas");
        assert!(
            !made && words.contains("crosses scopes: parser (src/lex.rs) and web (web/app.css)"),
            "{name}: {words}"
        );
        assert_eq!(s.git(&dir, &["rev-parse", "HEAD"]), head, "{name}");
        assert!(!s.path("home/ran").exists(), "{name}: what is refused reaches no other hook");
        s.git(&dir, &["reset", "-q"]);
        s.git(&dir, &["add", "src"]);
        s.git(&dir, &["commit", "-q", "-m", "fix(parser): accept trailing commas"]);
        let earlier = matches!(name, "an earlier hook" | "husky 9");
        assert_eq!(s.path("home/ran").exists(), earlier, "{name}: the earlier hook runs");
    }
}

#[test]
fn a_repository_of_an_earlier_version_gets_the_hook_that_is_missing() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    s.init(&dir);
    fs::remove_file(dir.join(".git/hooks/commit-msg")).unwrap();
    let (code, out, _) = s.gate(&dir, &["doctor"]);
    assert!(code == 0 && out.contains("there is no commit-msg hook"), "pushes are judged all the same: {out}");
    s.init(&dir);
    let (code, out, _) = s.gate(&dir, &["doctor"]);
    assert!(code == 0 && out.contains("gate refused a trial commit message"), "{out}");
    s.uninstall(&dir);
    assert!(!dir.join(".git/hooks/commit-msg").exists() && !dir.join(".git/hooks/pre-push").exists());
}

#[test]
fn husky_scripts_still_read_the_refs() {
    let s = Sandbox::new();
    let dir = husky_9(&s);
    s.write("repo/.husky/pre-push", "cat > \"$HOME/ran\"\n", 0o644);
    let (_, _, said) = s.gate(&dir, &["init", "--yes", "--observe"]);
    assert!(said.contains("Commit gate.toml, .husky/pre-push, .husky/commit-msg so that they apply"), "{said}");
    assert!(s.push(&dir).0);
    let ran = fs::read_to_string(s.path("home/ran")).unwrap();
    assert!(ran.starts_with("HEAD ") && ran.trim_end().ends_with(&"0".repeat(40)), "{ran}");
    // An edit by somebody else is not a reason to stay in.
    let script = fs::read_to_string(dir.join(".husky/pre-push")).unwrap();
    fs::write(dir.join(".husky/pre-push"), format!("{script}npm test\n")).unwrap();
    s.uninstall(&dir);
    assert_eq!(fs::read_to_string(dir.join(".husky/pre-push")).unwrap(), "cat > \"$HOME/ran\"\nnpm test\n");
}

#[test]
fn a_manager_that_calls_the_earlier_hook_again_does_not_go_round_in_circles() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    // What pre-commit writes: it runs the hook it found, then its own.
    let manager = "#!/bin/sh\n# pre-commit.com\necho x >> \"$HOME/ran\"\nhere=$(dirname \"$0\")\n\
                   [ -x \"$here/pre-push.legacy\" ] || exit 0\n\"$here/pre-push.legacy\" \"$@\"\n";
    s.write("repo/.pre-commit-config.yaml", "repos: []\n", 0o644);
    s.write("repo/.git/hooks/pre-push", manager, 0o755);
    let before = s.traces();
    s.init(&dir);
    fs::rename(dir.join(".git/hooks/pre-push"), dir.join(".git/hooks/pre-push.legacy")).unwrap();
    s.write("repo/.git/hooks/pre-push", manager, 0o755);
    let (arrived, words) = s.push(&dir);
    assert!(arrived, "{words}");
    assert_eq!(fs::read_to_string(s.path("home/ran")).unwrap(), "x\nx\n");
    fs::remove_file(s.path("home/ran")).unwrap();
    let (code, out, _) = s.gate(&dir, &["doctor"]);
    assert_eq!(code, 0, "{out}");
    let out = s.uninstall(&dir);
    assert!(out.contains("taken out there"), "{out}");
    let hooks = |name: &str| fs::read(dir.join(".git/hooks").join(name)).ok();
    assert_eq!(hooks("pre-push").as_deref(), Some(manager.as_bytes()));
    assert_eq!(hooks("pre-push.before-gate"), None);
    assert_eq!(before[&dir.join(".git/hooks/pre-push")].1, manager.as_bytes());
}

#[test]
fn what_others_changed_since_is_left_alone_and_said() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    let hook = dir.join(".git/hooks/pre-push");
    let kept = dir.join(".git/hooks/pre-push.before-gate");

    s.write("repo/.git/hooks/pre-push", RECORDS, 0o755);
    s.init(&dir);
    s.write("repo/.git/hooks/pre-push", "#!/bin/sh\n# another tool\n", 0o755);
    let out = s.uninstall(&dir);
    assert!(out.contains("is left alone") && out.contains("before-gate"), "{out}");
    assert_eq!(fs::read_to_string(&hook).unwrap(), "#!/bin/sh\n# another tool\n");
    assert_eq!(fs::read_to_string(&kept).unwrap(), RECORDS);
    let (code, out, _) = s.gate(&dir, &["init", "--yes"]);
    assert_eq!(code, 0);
    assert!(out.contains("join them into one"), "{out}");
    s.uninstall(&dir);

    // Removed by hand: what it replaced comes back.
    fs::rename(&kept, &hook).unwrap();
    s.init(&dir);
    fs::remove_file(&hook).unwrap();
    s.uninstall(&dir);
    assert_eq!(fs::read_to_string(&hook).unwrap(), RECORDS);
    assert!(!kept.exists());

    // Written again by its manager: gate takes the place once more, and the copy comes back in the end.
    s.init(&dir);
    s.write("repo/.git/hooks/pre-push", RECORDS, 0o755);
    s.init(&dir);
    assert_eq!(s.gate(&dir, &["doctor"]).0, 0);
    s.uninstall(&dir);
    assert_eq!(fs::read_to_string(&hook).unwrap(), RECORDS);
    assert!(!kept.exists());
}

#[test]
fn a_gate_toml_that_became_the_users_stays() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    let policy = dir.join("gate.toml");
    s.init(&dir);
    let text = fs::read_to_string(&policy).unwrap();
    assert!(text.contains("run = \"cargo test\""), "{text}");
    fs::write(&policy, format!("{text}# mine\n")).unwrap();
    assert!(s.uninstall(&dir).contains("was edited since and stays"));
    assert!(policy.exists());
    fs::remove_file(&policy).unwrap();

    s.init(&dir);
    s.git(&dir, &["add", "gate.toml"]);
    assert!(s.uninstall(&dir).contains("is tracked by git and stays"));
    assert!(policy.exists());
}

#[test]
fn commands_are_added_to_a_gate_toml_and_never_changed() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    let text = "# mine\n[commands.test]\ngate = \"tests\"\nrun = \"x\"\n";
    s.write("repo/gate.toml", text, 0o644);
    let (code, out, err) = s.gate(&dir, &["init", "--yes", "--test", "y", "--build", "z", "--no-hooks"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("declares `test` as `x`, which stays"), "{out}");
    let added = format!("{text}\n[commands.build]\ngate = \"build\"\nrun = \"z\"\n");
    assert_eq!(fs::read_to_string(dir.join("gate.toml")).unwrap(), added);
    assert!(!dir.join(".git/hooks/pre-push").exists());
    s.uninstall(&dir);
    assert_eq!(fs::read_to_string(dir.join("gate.toml")).unwrap(), text);

    s.write("repo/gate.toml", "[commands\n", 0o644);
    let (code, _, err) = s.gate(&dir, &["init", "--yes", "--test", "y"]);
    assert_eq!(code, 65);
    assert!(err.contains("gate.toml") && err.contains("line 1"), "{err}");
}

#[test]
fn what_was_not_recognised_is_said() {
    let s = Sandbox::new();
    let dir = s.path("repo");
    s.git(&dir, &["init", "-q"]);
    let out = s.init(&dir);
    assert!(out.contains("No stack was recognised") && out.contains("--test"), "{out}");
    let read = || fs::read_to_string(dir.join("gate.toml")).unwrap();
    assert!(read().contains("# [commands.test]"));
    // What is there later is declared by the next call; a file that somebody edited stays.
    fs::write(dir.join("Makefile"), "test:\n\tsh t.sh\n").unwrap();
    fs::write(dir.join("t.sh"), "true\n").unwrap();
    s.init(&dir);
    assert!(read().contains("\n[commands.test]") && !read().contains("# [commands.test]"), "{}", read());
    assert_eq!(s.gate(&dir, &["uninstall", "--yes"]).0, 0);
    assert!(!dir.join("gate.toml").exists());
}

#[test]
fn nothing_happens_without_a_yes_or_a_repository() {
    let s = Sandbox::with_repository();
    let before = s.traces();
    let (code, out, err) = s.gate(&s.path("repo"), &["init"]);
    assert_eq!(code, 64);
    assert!(out.contains("+++ b/gate.toml") && err.contains("repeat the command with --yes"), "{out}{err}");
    assert_eq!(differences(&before, &s.traces()), Vec::<String>::new());
    for command in ["init", "uninstall", "doctor"] {
        let (code, _, err) = s.gate(&s.path("home"), &[command]);
        assert_eq!(code, 64, "{command}");
        assert!(err.contains("is not inside a git repository"), "{err}");
    }
    assert_eq!(s.gate(&s.path("repo"), &["init", "--test", " ", "--yes"]).0, 64);
    let (code, _, err) = s.gate(&s.path("repo"), &["uninstall", "--yes"]);
    assert_eq!((code, err.contains("Nothing to do.")), (0, true), "{err}");
}

#[test]
fn inherited_variables_do_not_lead_to_another_repository() {
    let s = Sandbox::with_repository();
    let other = s.repository("other", &[]);
    let mut init = s.command(GATE, &s.path("repo"));
    init.args(["init", "--yes"]).env("GIT_DIR", other.join(".git")).env("GIT_WORK_TREE", &other);
    assert!(init.output().unwrap().status.success());
    assert!(s.path("repo/.git/hooks/pre-push").exists() && !other.join(".git/hooks/pre-push").exists());
}

#[test]
fn the_journal_stays_unless_it_is_asked_away() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    s.init(&dir);
    s.write("repo/.git/gate/journal/x.jsonl", "{}\n", 0o644);
    let out = s.uninstall(&dir);
    assert!(out.contains("The journal stays"), "{out}");
    assert!(dir.join(".git/gate/journal/x.jsonl").exists() && !dir.join(".git/gate/install.json").exists());
    s.init(&dir);
    assert_eq!(s.gate(&dir, &["uninstall", "--yes", "--purge"]).0, 0);
    assert!(!dir.join(".git/gate").exists());
}

#[test]
fn a_repository_that_moved_is_still_cleaned() {
    let s = Sandbox::with_repository();
    s.write("repo/.git/hooks/pre-push", RECORDS, 0o750);
    s.init(&s.path("repo"));
    fs::rename(s.path("repo"), s.path("moved")).unwrap();
    s.uninstall(&s.path("moved"));
    assert_eq!(fs::read_to_string(s.path("moved/.git/hooks/pre-push")).unwrap(), RECORDS);
    assert!(!s.path("moved/gate.toml").exists() && !s.path("moved/.git/gate").exists());
}

#[test]
fn a_hook_that_asks_for_its_name_keeps_it() {
    let s = Sandbox::with_repository();
    let hook = "#!/bin/sh\nexec dispatch \"$(basename \"$0\")\"\n";
    s.write("repo/.git/hooks/pre-push", hook, 0o755);
    let out = s.init(&s.path("repo"));
    assert!(out.contains("depends on its own file name") && out.contains("gate hook git pre-push"), "{out}");
    assert_eq!(fs::read_to_string(s.path("repo/.git/hooks/pre-push")).unwrap(), hook);
}

#[test]
fn what_managers_document_is_said() {
    let s = Sandbox::with_repository();
    s.write("repo/lefthook.toml", "", 0o644);
    s.write("repo/package.json", r#"{"simple-git-hooks": {"pre-commit": "x"}}"#, 0o644);
    let out = s.init(&s.path("repo"));
    for words in [
        "[pre-push.scripts.gate]",
        "[commit-msg.scripts.gate]",
        "runner = \"sh -c 'exec gate hook git pre-push ",
        "(.lefthook/pre-push/gate, .lefthook/commit-msg/gate)",
        "use_stdin = true",
        "\"pre-push\": \"gate hook git pre-push",
        "\"commit-msg\": \"gate hook git commit-msg",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
}

#[test]
fn an_installation_that_was_interrupted_is_undone() {
    let s = Sandbox::new();
    let dir = s.with_hook(RECORDS, 0o755);
    let (hook, kept) = (dir.join(".git/hooks/pre-push"), dir.join(".git/hooks/pre-push.before-gate"));
    // The record is on disk, and nothing was moved yet; then, moved, and ours not yet written.
    for moved in [false, true] {
        s.init(&dir);
        fs::rename(&kept, &hook).unwrap();
        if moved {
            fs::rename(&hook, &kept).unwrap();
        }
        s.uninstall(&dir);
        assert_eq!(fs::read_to_string(&hook).unwrap(), RECORDS);
        assert!(!kept.exists() && !dir.join("gate.toml").exists() && !dir.join(".git/gate").exists());
    }
}

#[test]
fn a_folder_of_hooks_that_several_share_is_emptied_by_the_one_that_filled_it() {
    let s = Sandbox::new();
    let hooks = s.write("shared/pre-push", RECORDS, 0o755).parent().unwrap().to_owned();
    let first = s.with_setting(&["core.hooksPath", hooks.to_str().unwrap()]);
    let second = s.repository("second", &[]);
    s.git(&second, &["config", "core.hooksPath", hooks.to_str().unwrap()]);
    s.init(&first);
    s.init(&second);
    for dir in [&first, &second] {
        assert_eq!(s.gate(dir, &["doctor"]).0, 0);
        assert!(s.push(dir).0);
        assert!(fs::remove_file(s.path("home/ran")).is_ok(), "the earlier hook ran");
    }
    assert!(s.uninstall(&second).contains("was not installed from here"));
    assert_eq!(s.gate(&first, &["doctor"]).0, 0);
    s.uninstall(&first);
    assert_eq!(fs::read_to_string(hooks.join("pre-push")).unwrap(), RECORDS);
}

#[test]
fn all_working_trees_share_what_one_installs() {
    let s = Sandbox::new();
    let dir = s.with_hook(RECORDS, 0o755);
    s.git(&dir, &["worktree", "add", "-q", "../linked"]);
    let linked = s.path("linked");
    let before = s.traces();
    s.init(&linked);
    assert!(linked.join("gate.toml").exists() && !dir.join("gate.toml").exists());
    for tree in [&dir, &linked] {
        let (code, out, _) = s.gate(tree, &["doctor"]);
        assert_eq!(code, 0, "{out}");
    }
    s.uninstall(&dir);
    assert_eq!(differences(&before, &s.traces()), Vec::<String>::new(), "from whichever it is taken out");
}

#[test]
fn hooks_that_travel_with_a_clone_work_there() {
    let s = Sandbox::new();
    s.write("repo/.githooks/pre-push", RECORDS, 0o755);
    let dir = s.with_setting(&["core.hooksPath", ".githooks"]);
    let out = s.init(&dir);
    assert!(out.contains("inside the working tree"), "{out}");
    let shim = fs::read_to_string(dir.join(".githooks/pre-push")).unwrap();
    assert!(!shim.contains(s.path("").to_str().unwrap()) && !shim.contains(GATE), "no path of this machine: {shim}");
    s.git(&dir, &["add", "-A"]);
    s.git(&dir, &["commit", "-q", "-m", "gate"]);
    s.git(&s.path("home"), &["clone", "-q", dir.to_str().unwrap(), s.path("clone").to_str().unwrap()]);
    let clone = s.path("clone");
    s.git(&clone, &["config", "core.hooksPath", ".githooks"]);
    assert_eq!(s.gate(&clone, &["doctor"]).0, 0);
    assert!(s.push(&clone).0);
    assert!(s.path("home/ran").exists(), "the earlier hook travelled, too");
    let (code, _, err) = s.gate(&clone, &["init"]);
    assert_eq!(code, 0, "there is nothing to do: {err}");
}

#[test]
fn hooks_in_a_folder_that_git_ignores_are_not_said_to_travel() {
    let s = Sandbox::new();
    s.write("repo/.gitignore", "node_modules\n", 0o644);
    s.write("repo/node_modules/scripts/hooks/pre-commit", "#!/bin/sh\n", 0o755);
    let dir = s.with_setting(&["core.hooksPath", "node_modules/scripts/hooks"]);
    let out = s.init(&dir);
    assert!(out.contains("which git ignores") && !out.contains("commit what changes there"), "{out}");
    assert!(s.push(&dir).0, "the hook is there");
    fs::remove_dir_all(dir.join("node_modules")).unwrap();
    assert_eq!(s.gate(&dir, &["doctor"]).0, 10, "and after an installation it is not");
    s.write("repo/node_modules/scripts/hooks/pre-commit", "#!/bin/sh\n", 0o755);
    s.init(&dir);
    assert_eq!(s.gate(&dir, &["doctor"]).0, 0);
}

#[test]
fn a_hook_that_somebody_put_back_leaves_no_copy() {
    let s = Sandbox::new();
    let hook = s.write("repo/.githooks/pre-push", RECORDS, 0o755);
    let dir = s.with_setting(&["core.hooksPath", ".githooks"]);
    let before = s.traces();
    s.init(&dir);
    // As `git checkout .githooks` does.
    fs::remove_file(&hook).unwrap();
    s.write("repo/.githooks/pre-push", RECORDS, 0o755);
    s.uninstall(&dir);
    assert_eq!(differences(&before, &s.traces()), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_hook_comes_back_byte_for_byte(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        mode in prop_oneof![Just(0o755u32), Just(0o644), Just(0o400), Just(0o711), Just(0o777), Just(0o4755)],
    ) {
        let s = Sandbox::with_repository();
        let hook = s.write("repo/.git/hooks/pre-push", &bytes, mode);
        s.init(&s.path("repo"));
        prop_assert_ne!(&fs::read(&hook).unwrap(), &bytes);
        s.uninstall(&s.path("repo"));
        prop_assert_eq!(fs::metadata(&hook).unwrap().permissions().mode() & 0o7777, mode);
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o600)).unwrap();
        prop_assert_eq!(fs::read(&hook).unwrap(), bytes);
    }
}
