//! `gate commits`, ranges with real remotes, and what `commit-msg` and `pre-push` say about mixing.

use std::ffi::OsStr;

use serde_json::Value;

use crate::hermetic;
use crate::support::{TestRepo, both_streams as text, run_with_input};

const SCOPES: &str = "[scopes]\nparser = [\"src/parser/**\"]\nweb = [\"web/**\"]\napi = [\"api/**\"]\n";

/// A repository with a table of scopes and a first commit.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("gate.toml", SCOPES).write("README.md", "# x\n").commit_all("start");
    repo
}

/// A commit that is one thing.
fn clean(repo: &TestRepo, number: u32) -> String {
    repo.write(format!("src/parser/f{number}.rs"), format!("pub fn thing{number}() -> u32 {{ {number} }}\n"));
    repo.commit_all(&format!("feat(parser): thing {number}"))
}

/// A commit that is two things.
fn mixed(repo: &TestRepo, number: u32) -> String {
    repo.write(format!("src/parser/m{number}.rs"), format!("let alpha{number} = {number};\n"));
    repo.write(format!("web/m{number}.css"), format!("body {{ margin: {number}px }}\n"));
    repo.commit_all(&format!("feat(parser): mixed {number}"))
}

fn commits<S: AsRef<OsStr>>(repo: &TestRepo, args: impl IntoIterator<Item = S>) -> (Option<i32>, Value) {
    let mut command = repo.gate(["commits", "--json"]);
    command.args(args);
    let output = command.output().unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    (output.status.code(), value)
}

fn subjects(value: &Value) -> Vec<String> {
    value["commits"].as_array().unwrap().iter().map(|commit| commit["subject"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_range_is_judged_commit_by_commit() {
    let repo = repo();
    clean(&repo, 1);
    let bad = mixed(&repo, 2);
    clean(&repo, 3);
    let (code, value) = commits(&repo, ["HEAD~3..HEAD"]);
    assert_eq!(code, Some(10));
    assert_eq!(value["summary"]["blocked"], 1);
    assert_eq!(value["commits"][1]["verdict"], "block");
    assert_eq!(value["commits"][1]["reasons"][0]["reason"], "crosses-scopes");
    assert_eq!(commits(&repo, ["HEAD"]).0, Some(0), "one revision is one commit");
    assert_eq!(commits(&repo, [bad.as_str()]).0, Some(10));
    assert_eq!(commits(&repo, ["--history", "10"]).0, Some(0), "a history blocks nobody");
    let shown = repo.gate(["commits", "HEAD~3..HEAD"]).output().unwrap();
    let shown = text(&shown);
    assert!(
        shown.contains("parser,web") && shown.contains("src/parser/m2.rs") && shown.contains("3 judged, 1 blocked"),
        "{shown}"
    );
    let missing = repo.gate(["commits", "nowhere..HEAD"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(64), "{}", text(&missing));
    let option = repo.gate(["commits", "--", "--output=x"]).output().unwrap();
    assert_eq!(option.status.code(), Some(64), "a revision is never an option of git");
    assert!(!repo.path("x").exists());
}

#[test]
fn names_that_both_sides_change_make_one_change() {
    let repo = repo();
    repo.write("src/parser/a.rs", "pub fn parse_header_line() {}\n");
    repo.write("web/a.ts", "import { parseHeaderLine } from 'x'\n");
    repo.commit_all("feat(parser): one thing in two places");
    let (code, value) = commits(&repo, ["HEAD"]);
    assert_eq!(code, Some(0));
    assert_eq!(value["commits"][0]["connections"][0]["name"], "parse_header_line");
}

#[test]
fn many_commits_whose_lines_are_needed_come_out_in_their_order() {
    let repo = repo();
    // Every other one has to be looked into; of these, every other one is connected by a name.
    for number in 0..140 {
        let name = format!("parse_header_line_{}", ["alpha", "beta", "gamma"][number % 3]);
        repo.write("src/parser/m.rs", format!("pub fn {name}() {{ {number} }}\n"));
        if number % 2 == 0 {
            let other = if number % 4 == 0 { name } else { "margin: auto".to_owned() };
            repo.write("web/m.ts", format!("{other} {number}\n"));
        }
        repo.commit_all(&format!("feat(parser): change {number}"));
    }
    let (code, value) = commits(&repo, ["HEAD~140..HEAD"]);
    assert_eq!(code, Some(10));
    let verdicts: Vec<(String, String)> = value["commits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|commit| (commit["subject"].as_str().unwrap().to_owned(), commit["verdict"].as_str().unwrap().to_owned()))
        .collect();
    let expected: Vec<(String, String)> = (0..140)
        .rev()
        .map(|number| {
            (format!("feat(parser): change {number}"), if number % 4 == 2 { "block" } else { "pass" }.to_owned())
        })
        .collect();
    assert_eq!(verdicts, expected);
}

#[test]
fn a_commit_whose_content_is_missing_is_not_judged_and_said_to_be_unknown() {
    let repo = repo();
    clean(&repo, 1);
    mixed(&repo, 2);
    clean(&repo, 3);
    let blob = repo.git(["rev-parse", "HEAD~1:web/m2.css"]);
    // Git takes the content from the working tree where it can.
    repo.remove("web/m2.css").remove(format!(".git/objects/{}/{}", &blob[..2], &blob[2..]));
    let (code, value) = commits(&repo, ["HEAD~3..HEAD"]);
    assert_eq!(code, Some(12), "{value}");
    assert!(value["unknown"]["why"].as_str().unwrap().contains(&blob), "{value}");
    assert_eq!(subjects(&value), ["feat(parser): thing 3"]);
}

#[test]
fn odd_paths_and_messages_are_read() {
    let repo = repo();
    repo.write(b"src/parser/\xff\n:100644 \t.rs", "a\n").write("web/ü \".css", "b\n");
    repo.commit_all("feat: line one\n\n:000000 100644 looks like raw output\n\nSigned-off-by: A <a@b>");
    repo.git(["mv", "web/ü \".css", "web/b.css"]);
    repo.commit_all("refactor(web): move");
    let (code, value) = commits(&repo, ["HEAD~2..HEAD"]);
    assert_eq!((code, value["summary"]["judged"].as_u64()), (Some(10), Some(2)));
    assert_eq!(value["commits"][0]["verdict"], "pass");
}

#[test]
fn new_branches_force_pushes_merges_and_several_remotes() {
    let repo = repo();
    let remote = repo.add_bare_remote("origin");
    repo.git(["push", "-q", "origin", "HEAD:main"]);
    repo.git(["remote", "set-head", "origin", "main"]);
    // A new branch: what no default branch has.
    repo.git(["switch", "-qc", "feature"]);
    clean(&repo, 1);
    mixed(&repo, 2);
    let (code, value) = commits(&repo, [] as [&str; 0]);
    assert_eq!((code, subjects(&value).len()), (Some(10), 2));
    // Main moves on, with a mixed commit, and is merged: that is nobody's new work.
    let other = repo.outside().join("other");
    repo.git([OsStr::new("clone"), "-q".as_ref(), remote.as_ref(), other.as_ref()]);
    repo.git_in(&other, ["switch", "-q", "main"]);
    std::fs::create_dir_all(other.join("web")).unwrap();
    std::fs::create_dir_all(other.join("api")).unwrap();
    std::fs::write(other.join("web/x.css"), "x\n").unwrap();
    std::fs::write(other.join("api/x.go"), "y\n").unwrap();
    repo.git_in(&other, ["add", "-A"]);
    repo.git_in(&other, ["commit", "-qm", "upstream mixes"]);
    repo.git_in(&other, ["push", "-q", "origin", "HEAD:main"]);
    repo.git(["fetch", "-q", "origin"]);
    repo.git(["merge", "-q", "--no-edit", "origin/main"]);
    let (_, value) = commits(&repo, [] as [&str; 0]);
    assert_eq!(subjects(&value).len(), 3, "{value}");
    assert!(!subjects(&value).contains(&"upstream mixes".to_owned()));
    assert_eq!(value["commits"][0]["kind"], "merge");
    // A second remote whose main was fetched: its commits are not ours either.
    repo.add_bare_remote("fork");
    repo.git(["push", "-q", "fork", "HEAD~1:refs/heads/main"]);
    let (_, value) = commits(&repo, [] as [&str; 0]);
    assert!(subjects(&value).len() <= 1, "{value}");
}

#[test]
fn pushes_are_judged_by_what_is_new_to_the_remote() {
    let repo = repo();
    repo.add_bare_remote("origin");
    repo.git(["push", "-q", "origin", "HEAD:main"]);
    repo.git(["switch", "-qc", "feature"]);
    let one = clean(&repo, 1);
    let bad = mixed(&repo, 2);
    let push = |new: &str, old: &str, name: &str| {
        let line = format!("refs/heads/feature {new} refs/heads/{name} {old}\n");
        let mut command = repo.gate(["hook", "git", "pre-push", "origin", "origin"]);
        run_with_input(&mut command, line)
    };
    let zero = "0".repeat(40);
    let refused = push(&bad, &zero, "feature");
    assert_eq!(refused.status.code(), Some(10), "{}", text(&refused));
    assert!(
        text(&refused).contains("crosses scopes: parser (src/parser/m2.rs) and web (web/m2.css)"),
        "{}",
        text(&refused)
    );
    let first = push(&one, &zero, "feature");
    assert!(!text(&first).contains("crosses scopes"), "{}", text(&first));
    // Once it is there, it is old; a forced push is judged by what it adds, whatever it replaces.
    repo.git(["push", "-q", "origin", "feature"]);
    let next = clean(&repo, 3);
    let pushed = push(&next, &bad, "feature");
    assert!(!text(&pushed).contains("crosses scopes"), "{}", text(&pushed));
    repo.git(["reset", "-q", "--hard", &one]);
    let rewritten = mixed(&repo, 4);
    let forced = push(&rewritten, &bad, "feature");
    assert!(text(&forced).contains("web/m4.css"), "{}", text(&forced));
    // An old object that is not here changes nothing.
    let unknown = push(&next, &"1".repeat(40), "feature");
    assert!(!text(&unknown).contains("cannot"), "{}", text(&unknown));
}

#[test]
fn a_receiving_repository_judges_what_no_ref_has() {
    let repo = repo();
    let remote = repo.add_bare_remote("origin");
    repo.git(["push", "-q", "origin", "HEAD:main"]);
    mixed(&repo, 1);
    let hook = remote.join("hooks/pre-receive");
    std::fs::write(&hook, format!("#!/bin/sh\nexec '{}' hook git pre-receive\n", env!("CARGO_BIN_EXE_gate"))).unwrap();
    std::os::unix::fs::PermissionsExt::set_mode(&mut std::fs::metadata(&hook).unwrap().permissions(), 0o755);
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let pushed = repo.try_git(["push", "origin", "HEAD:refs/heads/topic"]);
    assert!(!pushed.status.success() && text(&pushed).contains("crosses scopes"), "{}", text(&pushed));
}

#[test]
fn a_shallow_clone_says_what_would_have_to_be_fetched() {
    let repo = repo();
    let remote = repo.add_bare_remote("origin");
    clean(&repo, 1);
    mixed(&repo, 2);
    repo.git(["push", "-q", "origin", "HEAD:main", "HEAD:refs/heads/topic"]);
    let shallow = repo.outside().join("shallow");
    let url = format!("file://{}", remote.display());
    repo.git(["clone", "-q", "--depth", "1", "--branch", "topic", &url, shallow.to_str().unwrap()]);
    let run = |args: &[&str]| {
        let mut command = repo.gate(["commits"]);
        command.args(args).current_dir(&shallow);
        command.output().unwrap()
    };
    let output = run(&["HEAD"]);
    assert_eq!(output.status.code(), Some(12), "{}", text(&output));
    assert!(text(&output).contains("git fetch --unshallow origin"), "{}", text(&output));
    repo.git_in(&shallow, ["fetch", "-q", "--unshallow", "origin"]);
    assert_eq!(run(&["HEAD"]).status.code(), Some(10), "what was named clears it");
}

#[test]
fn a_commit_is_refused_before_it_exists() {
    let repo = repo();
    repo.script(
        ".git/hooks/commit-msg",
        &format!("#!/bin/sh\nexec '{}' hook git commit-msg \"$1\"\n", env!("CARGO_BIN_EXE_gate")),
    );
    let head = repo.git(["rev-parse", "HEAD"]);
    repo.write("src/parser/lex.rs", "let alpha = 1;\n").write("web/app.css", "body {}\n");
    repo.git(["add", "-A"]);
    let refused = repo.try_git(["commit", "-m", "fix(parser): accept trailing commas"]);
    assert!(!refused.status.success(), "{}", text(&refused));
    assert!(
        text(&refused).contains("crosses scopes: parser (src/parser/lex.rs) and web (web/app.css)"),
        "{}",
        text(&refused)
    );
    assert!(text(&refused).contains("gate commit --split"), "{}", text(&refused));
    assert_eq!(repo.git(["rev-parse", "HEAD"]), head);
    // One path alone: git makes the commit from an index of its own.
    let one = repo.try_git(["commit", "-qm", "fix(parser): accept trailing commas", "src/parser/lex.rs"]);
    assert!(one.status.success(), "{}", text(&one));
    let two = repo.try_git(["commit", "-qm", "fix(parser): nothing of it"]);
    assert!(text(&two).contains("names the scope parser but changes web"), "{}", text(&two));
    let three = repo.try_git(["commit", "-qm", "fix(web): body"]);
    assert!(three.status.success() && text(&three).is_empty(), "{}", text(&three));
    // `commit -a`, too, and a message that only git's comments follow.
    repo.append("src/parser/lex.rs", "let beta = 2;\n").append("web/app.css", "p {}\n");
    let all = repo.try_git(["commit", "-qam", "fix: both"]);
    assert!(!all.status.success(), "{}", text(&all));
    let later = repo.try_git(["commit", "-qam", "fixup! fix(web,parser): both"]);
    assert!(later.status.success(), "{}", text(&later));
}

#[test]
fn an_exemption_is_recorded_and_is_none_for_agents() {
    let repo = TestRepo::new();
    repo.write("gate.toml", format!("{SCOPES}[gates.atomic.params]\nexempt_trailer = \"Gate-Exempt\"\n"));
    repo.commit_all("start");
    let commit = |number: u32, trailers: &str| {
        repo.write(format!("src/parser/m{number}.rs"), format!("let alpha{number} = {number};\n"));
        repo.write(format!("web/m{number}.css"), format!("body {{ margin: {number}px }}\n"));
        repo.commit_all(&format!("feat(parser): mixed {number}\n\n{trailers}"))
    };
    commit(1, "Gate-Exempt: one deployment for both");
    let (code, value) = commits(&repo, ["HEAD"]);
    assert_eq!((code, value["commits"][0]["verdict"].as_str()), (Some(0), Some("exempt")), "{value}");
    assert_eq!(value["commits"][0]["exempt"], "one deployment for both");
    let verdict: Value = serde_json::from_slice(&repo.gate(["check", "--json"]).output().unwrap().stdout).unwrap();
    let gate = verdict["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == "atomic").unwrap();
    let finding = &gate["findings"][0];
    assert_eq!((&gate["answer"], &finding["answer"]), (&Value::from("waived"), &Value::from("waived")), "{verdict}");
    assert!(finding["message"].as_str().unwrap().contains("one deployment for both"), "{finding}");
    for (number, trailers) in
        [(2, "Gate-Exempt:"), (3, "Gate-Exempt: so\nCo-authored-by: Claude <noreply@anthropic.com>"), (4, "Exempt: so")]
    {
        commit(number, trailers);
        assert_eq!(commits(&repo, ["HEAD"]).0, Some(10), "{trailers}");
    }
}

#[test]
fn a_path_is_explained() {
    let repo = repo();
    let output =
        repo.gate(["explain-path", "src/parser/a.rs", "Cargo.lock", "web/x.test.ts", "other"]).output().unwrap();
    let shown = text(&output);
    for part in [
        "src/parser/a.rs: parser (`src/parser/**`)",
        "lockfile: it goes along",
        "a test: it goes along",
        "other: no scope",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

#[test]
fn a_table_is_derived_and_can_be_used_at_once() {
    let repo = TestRepo::new();
    for path in ["packages/api/package.json", "packages/api/a.ts", "packages/web/package.json", "packages/web/b.tsx"] {
        repo.write(path, "{}\n");
    }
    repo.commit_all("start");
    let derived = repo.gate(["init", "--scopes"]).output().unwrap();
    assert!(derived.status.success() && !repo.path("gate.toml").exists());
    let write = || repo.gate(["init", "--scopes", "--yes"]).output().unwrap();
    assert_eq!(write().status.code(), Some(65), "there is no gate.toml yet");
    repo.write("gate.toml", "version = 1\n# a word\n");
    assert!(write().status.success());
    let text = String::from_utf8_lossy(&repo.read("gate.toml")).into_owned();
    assert!(text.starts_with("version = 1\n# a word\n\n# ") && text.contains("[scopes]\napi = "), "{text}");
    let again = write();
    assert!(String::from_utf8_lossy(&again.stderr).contains("it has [scopes] already"), "{again:?}");
    repo.write("gate.toml", &derived.stdout);
    repo.write("packages/api/a.ts", "const alpha = 1\n").write("packages/web/b.tsx", "<b/>\n");
    repo.commit_all("fix stuff");
    assert_eq!(commits(&repo, ["HEAD"]).0, Some(10));
}

hermetic! {
    fn more_commits_than_a_verdict_holds_are_unknown_and_not_passed_over() {
        let repo = repo();
        repo.add_bare_remote("origin");
        for number in 0..4 {
            clean(&repo, number);
        }
        let own = gate::git::Repo::discover(repo.root()).unwrap();
        let range = own.new_commits(&repo.git(["rev-parse", "HEAD"]).parse().unwrap()).unwrap();
        let policy = gate::config::defaults(&gate::gates::check_params);
        let yardsticks = gate::fact::commits::Yardstick::all(&policy, gate::moment::Moment::Push);
        for (most, read, unknown) in [(5, 5, false), (4, 4, true), (2, 2, true)] {
            let found = gate::collect::commits::collect_at_most(most, &own, &range, &yardsticks, None).unwrap();
            assert_eq!((found.commits.len(), found.unknown.is_some()), (read, unknown), "{most}");
            if let Some(unknown) = found.unknown {
                assert!(unknown.why.contains(&format!("more than {most} commits are new")), "{}", unknown.why);
                assert_eq!(unknown.fetch, "git fetch origin");
            }
        }
    }
}
