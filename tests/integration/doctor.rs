//! `gate doctor` finds what keeps a hook from working, and sends a canary to be sure.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{GATE, Sandbox, said};

/// An installed repository.
fn installed() -> Sandbox {
    let s = Sandbox::with_repository();
    s.init(&s.path("repo"));
    s
}

/// The health of each check of an id, and everything that was said.
fn doctor(s: &Sandbox, dir: &Path, id: &str) -> (i32, Vec<String>, String) {
    let (code, out, err) = s.gate(dir, &["doctor", "--json"]);
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
    let checks = answer["checks"].as_array().unwrap().iter().filter(|check| check["id"] == id);
    (code, checks.map(|check| check["health"].as_str().unwrap().to_owned()).collect(), out)
}

fn hook(s: &Sandbox) -> std::path::PathBuf {
    s.path("repo/.git/hooks/pre-push")
}

/// Insists on the exit code and on one answer with this word; returns everything that was printed.
#[track_caller]
fn answers(s: &Sandbox, dir: &Path, id: &str, code: i32, word: &str) -> String {
    let (exit, found, out) = doctor(s, dir, id);
    assert_eq!((exit, found), (code, vec![word.to_owned()]), "{out}");
    out
}

#[test]
fn a_sound_installation_is_sound() {
    let s = installed();
    let out = answers(&s, &s.path("repo"), "canary", 0, "ok");
    assert!(out.contains("\"health\": \"ok\"") && out.contains("\"schema_version\": 1"), "{out}");
    assert!(s.push(&s.path("repo")).0, "only canaries are refused");
}

#[test]
fn nothing_installed_is_broken_and_sends_no_canary() {
    let s = Sandbox::with_repository();
    let out = answers(&s, &s.path("repo"), "hook", 10, "broken");
    assert!(!out.contains("canary"), "{out}");
}

#[test]
fn the_canary_works_offline_on_an_unborn_branch_and_with_odd_settings() {
    let s = Sandbox::new();
    let dir = s.path("repo");
    s.git(&dir, &["init", "-q"]);
    s.init(&dir);
    for (key, value) in [
        ("protocol.file.allow", "never"),
        ("push.gpgSign", "true"),
        ("push.followTags", "true"),
        ("commit.gpgSign", "true"),
        ("push.default", "nothing"),
        ("init.templateDir", "/nowhere"),
    ] {
        s.git(&dir, &["config", key, value]);
    }
    let before = s.traces_outside();
    answers(&s, &dir, "canary", 0, "ok");
    assert!(before == s.traces_outside(), "nothing remains of it");
}

#[test]
fn a_canary_that_goes_through_is_said_loudly() {
    let s = installed();
    let text = fs::read_to_string(hook(&s)).unwrap();
    fs::write(hook(&s), text.replace("gate='", "exit 0\ngate='")).unwrap();
    let out = answers(&s, &s.path("repo"), "canary", 10, "broken");
    assert!(out.contains("gate did not refuse a push that it must refuse"), "{out}");

    let bare = s.path("bare.git");
    s.git(&s.path("home"), &["init", "-q", "--bare", bare.to_str().unwrap()]);
    s.init(&bare);
    let hook = bare.join("hooks/pre-receive");
    let text = fs::read_to_string(&hook).unwrap();
    fs::write(&hook, text.replace("gate='", "exit 0\ngate='")).unwrap();
    let before = s.traces_outside();
    answers(&s, &bare, "canary", 10, "broken");
    assert!(before == s.traces_outside(), "not even then does anything remain in the repository");
}

#[test]
fn earlier_hooks_do_not_run_for_a_canary() {
    let s = Sandbox::with_repository();
    s.write("repo/.git/hooks/pre-push", "#!/bin/sh\ntouch \"$HOME/ran\"\n", 0o755);
    s.init(&s.path("repo"));
    answers(&s, &s.path("repo"), "chained", 0, "ok");
    assert!(!s.path("home/ran").exists());
}

#[test]
fn a_hook_without_a_run_bit_is_named() {
    let s = installed();
    fs::set_permissions(hook(&s), fs::Permissions::from_mode(0o644)).unwrap();
    let out = answers(&s, &s.path("repo"), "hook", 10, "broken");
    assert!(out.contains("not executable") && out.contains("chmod +x"), "{out}");
    s.init(&s.path("repo"));
    assert_eq!(doctor(&s, &s.path("repo"), "hook").0, 0, "init repairs it");
}

#[test]
fn an_earlier_hook_without_a_run_bit_is_named() {
    let s = Sandbox::with_repository();
    s.write("repo/.git/hooks/pre-push", "exit 1\n", 0o644);
    s.init(&s.path("repo"));
    answers(&s, &s.path("repo"), "chained", 0, "warn");
}

#[test]
fn a_replaced_hook_is_named_with_its_author() {
    let s = installed();
    s.write("repo/lefthook.yml", "pre-push:\n", 0o644);
    s.write("repo/.git/hooks/pre-push", "#!/bin/sh\ntouch \"$HOME/ran\"\ncall_lefthook\n", 0o755);
    let out = answers(&s, &s.path("repo"), "hook", 10, "broken");
    assert!(out.contains("but of lefthook") && out.contains("use_stdin: true"), "{out}");
    assert!(!s.path("home/ran").exists(), "somebody else's hook is not run to find that out");
}

#[test]
fn an_edited_hook_is_named() {
    let s = installed();
    let text = fs::read_to_string(hook(&s)).unwrap();
    fs::write(hook(&s), text.replace("gate hook 1 ", "gate hook 0 ")).unwrap();
    assert_eq!(doctor(&s, &s.path("repo"), "hook").1, ["warn"]);
}

#[test]
fn hooks_that_moved_are_named() {
    let s = installed();
    s.git(&s.path("repo"), &["config", "core.hooksPath", ".githooks"]);
    let out = answers(&s, &s.path("repo"), "hook-moved", 10, "broken");
    assert!(out.contains("core.hooksPath = .githooks (local, file:.git/config)"), "{out}");
    s.git(&s.path("repo"), &["config", "core.hooksPath", "/dev/null"]);
    answers(&s, &s.path("repo"), "hook", 10, "broken");
}

#[test]
fn without_the_program_pushes_are_refused_and_it_is_named() {
    let s = Sandbox::with_repository();
    fs::remove_file(s.path("bin/gate")).unwrap();
    let copy = s.path("a dir's/gate");
    fs::create_dir(copy.parent().unwrap()).unwrap();
    // Another process copies it: while this one has it open to write, what other tests start may keep it open.
    let copied = fs::hard_link(GATE, &copy).is_ok()
        || Command::new("cp").args([GATE.as_ref(), copy.as_os_str()]).status().unwrap().success();
    assert!(copied);
    let mut init = s.command(copy.to_str().unwrap(), &s.path("repo"));
    assert!(init.args(["init", "--yes", "--observe"]).output().unwrap().status.success());
    assert!(s.push(&s.path("repo")).0, "the shim remembers where the program was");
    s.write("bin/gate", "#!/bin/sh\nexit 3\n", 0o755);
    s.write("repo/later", "x", 0o644);
    s.git(&s.path("repo"), &["add", "later"]);
    s.git(&s.path("repo"), &["commit", "-q", "-m", "feat: later"]);
    assert!(s.push(&s.path("repo")).0, "the program of the shim runs, whatever is first on the PATH");
    fs::remove_file(s.path("bin/gate")).unwrap();

    fs::remove_file(&copy).unwrap();
    let (arrived, words) = s.push(&s.path("repo"));
    assert!(!arrived);
    assert!(words.contains("the program `gate` is not in your PATH"), "{words}");
    assert!(!words.contains("no-verify"), "{words}");
    answers(&s, &s.path("repo"), "program", 10, "broken");

    s.write("bin/gate", "#!/bin/sh\necho another\n", 0o755);
    let out = answers(&s, &s.path("repo"), "program", 10, "broken");
    assert!(out.contains("another program"), "{out}");
}

#[test]
fn a_hook_that_is_switched_off_in_the_configuration_is_named() {
    let s = installed();
    s.git(&s.path("repo"), &["config", "hook.pre-push.enabled", "false"]);
    let (_, found, out) = doctor(&s, &s.path("repo"), "hook-config");
    assert_eq!(found.len(), 1, "{out}");
    assert_ne!(found[0], "ok");
    assert!(out.contains("hook.pre-push.enabled is false (local)") && out.contains("--unset-all"), "{out}");
}

#[test]
fn a_manager_switched_off_in_the_environment_is_named() {
    let s = installed();
    let done = s.command(GATE, &s.path("repo")).arg("doctor").env("HUSKY", "0").output().unwrap();
    let (code, out, _) = said(&done);
    assert_eq!(code, 0);
    assert!(out.contains("HUSKY=0"), "{out}");
}

#[test]
fn a_manager_that_calls_gate_by_itself_is_enough() {
    let s = Sandbox::with_repository();
    let dir = s.path("repo");
    s.write(
        "repo/lefthook.yml",
        "pre-push:\n  commands:\n    gate:\n      run: gate hook git pre-push {1} {2}\n",
        0o644,
    );
    s.write("repo/.git/hooks/pre-push", "#!/bin/sh\n# lefthook\ngate hook git \"pre-push\" \"$@\"\n", 0o755);
    answers(&s, &dir, "canary", 0, "ok");
}

#[test]
fn a_damaged_record_is_named() {
    let s = installed();
    s.write("repo/.git/gate/install.json", "{", 0o644);
    answers(&s, &s.path("repo"), "install", 10, "broken");
    assert_eq!(s.gate(&s.path("repo"), &["uninstall", "--yes"]).0, 65);
}

#[test]
fn husky_that_has_not_run_yet_is_named() {
    let s = Sandbox::new();
    s.write("repo/.husky/pre-push", "gate hook git pre-push \"$@\"\n", 0o644);
    let dir = s.with_setting(&["core.hooksPath", ".husky/_"]);
    let out = answers(&s, &dir, "hook", 10, "broken");
    assert!(out.contains("npm install"), "{out}");
}

#[test]
fn hooks_of_all_repositories_without_gate_are_named() {
    let s = Sandbox::new();
    s.write("home/hooks/pre-push", "#!/bin/sh\ntouch \"$HOME/ran\"\n", 0o755);
    let dir = s.with_setting(&["--global", "core.hooksPath", "~/hooks"]);
    s.init(&dir);
    answers(&s, &dir, "hook", 10, "broken");
    assert!(!s.path("home/ran").exists());
    s.write("home/hooks/pre-push", "#!/bin/sh\ngate hook git pre-push \"$@\" || exit $?\ntouch \"$HOME/ran\"\n", 0o755);
    answers(&s, &dir, "canary", 0, "ok");
    assert!(!s.path("home/ran").exists());
}
