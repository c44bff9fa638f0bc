//! Every kind of place hooks can be in: what is installed there fires, and taken out again leaves no trace.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::sandbox::{RECORDS, Sandbox, differences};

/// What husky 9 writes into `.husky/_`.
const HUSKY: &str = "#!/usr/bin/env sh\n[ \"$HUSKY\" = \"2\" ] && set -x\nn=$(basename \"$0\")\n\
    s=$(dirname \"$(dirname \"$0\")\")/$n\n[ ! -f \"$s\" ] && exit 0\nsh -e \"$s\" \"$@\"\nc=$?\n\
    [ $c != 0 ] && echo \"husky - $n script failed (code $c)\"\nexit $c\n";

/// A repository as husky 9 sets it up.
pub(crate) fn husky_9(s: &Sandbox) -> PathBuf {
    let dir = s.repository("repo", &[]);
    s.write("repo/.husky/_/h", HUSKY, 0o644);
    for name in ["pre-push", "commit-msg"] {
        s.write(&format!("repo/.husky/_/{name}"), "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"", 0o755);
    }
    s.git(&dir, &["config", "core.hooksPath", ".husky/_"]);
    dir
}

/// A name, how the repository comes to be, and whether pushes from it are judged once gate is installed.
type Place = (&'static str, fn(&Sandbox) -> PathBuf, bool);

fn check(places: &[Place]) {
    for (name, setup, judged) in places {
        let s = Sandbox::new();
        let dir = setup(&s);
        let before = s.traces();
        let (code, _, _) = s.gate(&dir, &["init", "--dry-run", "--test", "make test"]);
        assert_eq!((code, differences(&before, &s.traces())), (0, vec![]), "{name}: a dry run changes nothing");

        let (code, out, err) = s.gate(&dir, &["init", "--yes", "--test", "make test"]);
        assert_eq!(code, 0, "{name}: {out}{err}");
        let installed = s.traces();
        assert_ne!(installed, before, "{name}");
        let (code, out, err) = s.gate(&dir, &["init", "--yes", "--test", "make test"]);
        assert_eq!((code, differences(&installed, &s.traces())), (0, vec![]), "{name}: twice is once: {out}{err}");

        let outside = s.traces_outside();
        let (code, out, err) = s.gate(&dir, &["doctor"]);
        assert_eq!(code == 0, *judged, "{name}: {out}{err}");
        for canary in ["gate refused a trial push into a throwaway repository", "gate refused a trial commit message"] {
            assert_eq!(out.contains(canary), *judged, "{name}: {canary}: {out}{err}");
        }
        assert_eq!(
            differences(&outside, &s.traces_outside()),
            Vec::<String>::new(),
            "{name}: the canary leaves nothing"
        );

        let installed = s.traces();
        let (code, out, err) = s.gate(&dir, &["uninstall", "--dry-run"]);
        assert_eq!((code, differences(&installed, &s.traces())), (0, vec![]), "{name}: {out}{err}");
        s.uninstall(&dir);
        assert_eq!(differences(&before, &s.traces()), Vec::<String>::new(), "{name}: everything is as it was");
    }
}

#[test]
fn hooks_that_are_there() {
    check(&[
        ("no hook", |s| s.repository("repo", &[]), true),
        ("no folder for hooks", |s| s.repository("repo", &["--template="]), true),
        ("an executable hook", |s| s.with_hook(RECORDS, 0o755), true),
        ("a private hook", |s| s.with_hook(RECORDS, 0o700), true),
        ("a hook without a run bit", |s| s.with_hook("exit 1", 0o640), true),
        ("a hook that is not text", |s| s.with_hook(b"#!/bin/sh\n# \xff\xfe\0\r\n", 0o755), true),
        ("an empty hook", |s| s.with_hook("", 0o755), true),
        ("a link to a hook", |s| linked(s, "../../scripts/push"), true),
        ("a link to nothing", |s| linked(s, "nowhere"), true),
        (
            "hooks at all events",
            |s| {
                s.write("repo/.git/hooks/commit-msg", RECORDS, 0o711);
                s.with_hook(RECORDS, 0o755)
            },
            true,
        ),
    ]);
}

fn linked(s: &Sandbox, target: &str) -> PathBuf {
    let dir = s.repository("repo", &[]);
    s.write("repo/scripts/push", RECORDS, 0o755);
    symlink(target, dir.join(".git/hooks/pre-push")).unwrap();
    dir
}

#[test]
fn folders_that_are_set() {
    check(&[
        ("in the git directory", |s| s.with_setting(&["core.hooksPath", ".git/my/hooks"]), true),
        (
            "in the working tree",
            |s| {
                s.write("repo/.githooks/pre-push", RECORDS, 0o755);
                s.with_setting(&["core.hooksPath", ".githooks"])
            },
            true,
        ),
        (
            "a link from the git directory into the working tree",
            |s| {
                let dir = s.repository("repo", &["--template="]);
                s.write("repo/hooks/pre-push", RECORDS, 0o755);
                symlink("../hooks", dir.join(".git/hooks")).unwrap();
                dir
            },
            true,
        ),
        (
            "an absolute folder",
            |s| {
                s.write("else where/pre-push", RECORDS, 0o755);
                s.with_setting(&["core.hooksPath", s.path("else where").to_str().unwrap()])
            },
            true,
        ),
        (
            "of all repositories",
            |s| {
                s.write("home/hooks/pre-push", RECORDS, 0o755);
                s.with_setting(&["--global", "core.hooksPath", "~/hooks"])
            },
            false,
        ),
        ("of all, but in each", |s| s.with_setting(&["--global", "core.hooksPath", ".hooks"]), true),
        (
            "of this working tree",
            |s| {
                let dir = s.with_setting(&["extensions.worktreeConfig", "true"]);
                s.git(&dir, &["config", "--worktree", "core.hooksPath", "my-hooks"]);
                dir
            },
            true,
        ),
        ("none at all", |s| s.with_setting(&["core.hooksPath", "/dev/null"]), false),
    ]);
}

#[test]
fn hook_managers() {
    check(&[
        (
            "husky 9",
            |s| {
                s.write("repo/.husky/pre-push", "cat > \"$HOME/ran\"\n", 0o644);
                s.write("repo/.husky/commit-msg", "npx --no -- commitlint --edit \"$1\"\n", 0o644);
                husky_9(s)
            },
            true,
        ),
        ("husky 9 without a script", husky_9, true),
        (
            "husky 8",
            |s| {
                let husky = "if [ -z \"$skip\" ]; then skip=1; export skip; sh -e \"$0\" \"$@\"; exit $?; fi\n";
                let script = ". \"$(dirname \"$0\")/_/husky.sh\"\ncat > \"$HOME/ran\"\n";
                s.write("repo/.husky/_/husky.sh", husky, 0o644);
                s.write("repo/.husky/pre-push", script, 0o755);
                s.with_setting(&["core.hooksPath", ".husky"])
            },
            true,
        ),
        (
            "husky before its packages are installed",
            |s| {
                s.write("repo/.husky/pre-push", "npm test\n", 0o644);
                s.repository("repo", &[])
            },
            true,
        ),
        (
            "lefthook",
            |s| {
                s.write("repo/lefthook.yml", "pre-push:\n", 0o644);
                s.with_hook(format!("{RECORDS}# call_lefthook run \"pre-push\" \"$@\"\n"), 0o755)
            },
            true,
        ),
        (
            "pre-commit",
            |s| {
                s.write("repo/.pre-commit-config.yaml", "repos: []\n", 0o644);
                s.with_hook(format!("{RECORDS}# File generated by pre-commit: https://pre-commit.com\n"), 0o755)
            },
            true,
        ),
    ]);
}

#[test]
fn kinds_of_repositories() {
    check(&[
        (
            "unborn branch",
            |s| {
                s.git(&s.path("repo"), &["init", "-q"]);
                s.path("repo")
            },
            true,
        ),
        (
            "a subfolder",
            |s| {
                s.repository("repo", &[]);
                s.write("repo/a/b/x", "", 0o644).parent().unwrap().to_owned()
            },
            true,
        ),
        (
            "linked working tree",
            |s| {
                let dir = s.repository("repo", &[]);
                s.git(&dir, &["worktree", "add", "-q", "../linked"]);
                s.path("linked")
            },
            true,
        ),
        (
            "submodule",
            |s| {
                s.repository("inner", &[]);
                let dir = s.repository("repo", &[]);
                s.git(&dir, &["-c", "protocol.file.allow=always", "submodule", "-q", "add", "../inner", "sub"]);
                dir.join("sub")
            },
            true,
        ),
        (
            "separate git directory",
            |s| s.repository("repo", &["--separate-git-dir", s.path("git dir").to_str().unwrap()]),
            true,
        ),
        ("a path with spaces and quotes", |s| s.repository("re \"p'o:\" $(x)", &[]), true),
        ("sha256", |s| s.repository("repo", &["--object-format=sha256"]), true),
        (
            "a gate.toml that is there",
            |s| {
                s.write("repo/gate.toml", "# mine\r\nmode = 'warn'", 0o600);
                s.repository("repo", &[])
            },
            true,
        ),
    ]);
}
