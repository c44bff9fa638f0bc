//! Every way in which git makes a commit, past the hook that `gate init` installs: each with the right answer.

use std::process::Output;

use crate::support::{TestRepo, both_streams as text};

const SCOPES: &str = "[scopes]\nparser = [\"src/parser/**\"]\nweb = [\"web/**\"]\n";

/// A repository with a table of scopes, the hook, and a first commit.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("gate.toml", SCOPES).write("src/parser/lex.rs", "let start = 1;\n").write("web/app.css", "body {}\n");
    let init = repo.gate(["init", "--yes"]).output().unwrap();
    assert!(init.status.success(), "{}", text(&init));
    repo.commit_all("start");
    repo
}

/// Git in the repository; no editor may be opened.
fn git(repo: &TestRepo, args: &[&str]) -> Output {
    repo.command_in("git", repo.root()).args(args).env("GIT_EDITOR", "false").output().unwrap()
}

#[track_caller]
fn passes(repo: &TestRepo, args: &[&str]) {
    let done = git(repo, args);
    assert!(done.status.success(), "git {args:?}: {}", text(&done));
}

/// Refused by gate, with these words, and nothing was made.
#[track_caller]
fn refused(repo: &TestRepo, args: &[&str], words: &str) {
    let head = repo.git(["rev-parse", "HEAD"]);
    let done = git(repo, args);
    assert!(!done.status.success() && text(&done).contains(words), "git {args:?}: {}", text(&done));
    assert_eq!(repo.git(["rev-parse", "HEAD"]), head, "git {args:?}");
}

/// A commit of the parser alone.
fn parser(repo: &TestRepo, word: &str) -> String {
    repo.append("src/parser/lex.rs", format!("let {word} = 1;\n"));
    passes(repo, &["commit", "-qam", &format!("fix(parser): {word}")]);
    repo.git(["rev-parse", "HEAD"])
}

/// A mixed commit that went past the hook.
fn mixed(repo: &TestRepo, word: &str) -> String {
    repo.append("src/parser/lex.rs", format!("let {word} = 1;\n")).append("web/app.css", "p {}\n");
    repo.git(["commit", "-qan", "-m", &format!("fix(parser): {word}")]);
    repo.git(["rev-parse", "HEAD"])
}

const MIXED: &str = "crosses scopes: parser (src/parser/lex.rs) and web (web/app.css)";

#[test]
fn an_amended_commit_is_judged_as_what_it_becomes() {
    let repo = repo();
    parser(&repo, "alpha");
    repo.append("src/parser/lex.rs", "let beta = 1;\n");
    passes(&repo, &["commit", "-qa", "--amend", "--no-edit"]);
    // The subject declares nothing and what is added is one thing: together they are not.
    repo.append("web/app.css", "p {}\n").git(["add", "-A"]);
    refused(&repo, &["commit", "--amend", "-m", "fix: it"], MIXED);
    repo.git(["reset", "-q", "--hard"]);
    refused(&repo, &["commit", "--amend", "-m", "fix(web): it"], "names the scope web but changes parser");
    passes(&repo, &["commit", "-q", "--am", "-m", "fix(parser): other words"]);
    // What was mixed is mended by taking out what does not belong.
    mixed(&repo, "gamma");
    refused(&repo, &["commit", "--amend", "-m", "fix(parser): more words"], MIXED);
    repo.git(["checkout", "-q", "HEAD~1", "--", "web"]);
    passes(&repo, &["commit", "-q", "--amend", "--no-edit"]);
    assert_eq!(repo.git(["diff", "--name-only", "HEAD~1", "HEAD"]), "src/parser/lex.rs");
}

#[test]
fn merges_and_first_commits_may_be_amended() {
    let repo = repo();
    repo.write("src/parser/more.rs", "let more = 1;\n").write("web/more.css", "p {}\n").git(["add", "-A"]);
    passes(&repo, &["commit", "-q", "--amend", "-m", "feat(parser): start"]);
    repo.git(["switch", "-qc", "side"]);
    repo.append("web/app.css", "p {}\n");
    passes(&repo, &["commit", "-qam", "fix(web): p"]);
    repo.git(["switch", "-q", "main"]);
    parser(&repo, "alpha");
    passes(&repo, &["merge", "-q", "--no-edit", "side"]);
    passes(&repo, &["commit", "-q", "--amend", "-m", "Merge branch side, with other words"]);
    assert_eq!(repo.git(["rev-list", "--count", "--merges", "HEAD"]), "1");
}

#[test]
fn a_merge_with_conflicts_is_made() {
    let repo = repo();
    repo.git(["switch", "-qc", "side"]);
    mixed(&repo, "theirs");
    repo.git(["switch", "-q", "main"]);
    parser(&repo, "ours");
    assert!(!git(&repo, &["merge", "side"]).status.success());
    repo.write("src/parser/lex.rs", "let both = 1;\n").append("web/app.css", "em {}\n").git(["add", "-A"]);
    passes(&repo, &["commit", "-q", "--no-edit"]);
    assert_eq!(repo.git(["rev-list", "--count", "--merges", "HEAD"]), "1");
    // The same content without the second parent is a commit like any other.
    repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    assert!(!git(&repo, &["merge", "--squash", "side"]).status.success());
    repo.write("src/parser/lex.rs", "let both = 1;\n").git(["add", "-A"]);
    refused(&repo, &["commit", "-m", "fix: side"], MIXED);
}

#[test]
fn picked_and_undone_commits_with_conflicts_are_judged_by_what_they_bring() {
    let repo = repo();
    repo.git(["switch", "-qc", "side"]);
    let good = parser(&repo, "good");
    let bad = mixed(&repo, "bad");
    repo.git(["switch", "-q", "main"]);
    parser(&repo, "other");
    assert!(!git(&repo, &["cherry-pick", &good]).status.success());
    repo.append("src/parser/lex.rs", "let resolved = 1;\n").git(["add", "-A"]);
    passes(&repo, &["commit", "-q", "--no-edit"]);
    assert!(!git(&repo, &["cherry-pick", &bad]).status.success());
    repo.write("src/parser/lex.rs", "let chosen = 1;\n").git(["add", "-A"]);
    refused(&repo, &["commit", "--no-edit"], MIXED);
    repo.git(["cherry-pick", "--abort"]);
    // A revert mixes what the commit mixed that it names.
    repo.git(["switch", "-q", "side"]);
    parser(&repo, "later");
    assert!(!git(&repo, &["revert", &bad]).status.success());
    repo.write("src/parser/lex.rs", "let start = 1;\nlet good = 1;\nlet later = 1;\n").git(["add", "-A"]);
    passes(&repo, &["commit", "-q", "--no-edit"]);
    assert!(repo.git(["log", "-1", "--format=%B"]).contains(&format!("This reverts commit {bad}")));
}

#[test]
fn commits_to_be_squashed_are_judged_like_what_they_mark() {
    let repo = repo();
    parser(&repo, "alpha");
    repo.append("src/parser/lex.rs", "let beta = 1;\n").git(["add", "-A"]);
    passes(&repo, &["commit", "-q", "--fixup=HEAD"]);
    repo.append("web/app.css", "p {}\n").git(["add", "-A"]);
    refused(&repo, &["commit", "--fixup=HEAD~1"], "names the scope parser but changes web");
    repo.append("src/parser/lex.rs", "let gamma = 1;\n").git(["add", "-A"]);
    refused(&repo, &["commit", "--fixup=HEAD~1"], MIXED);
    refused(&repo, &["commit", "-m", "squash! fix(parser): alpha"], MIXED);
    // Squashing them asks nobody: what it makes is judged at the push.
    repo.git(["reset", "-q", "--hard"]);
    let mut rebase = repo.command_in("git", repo.root());
    rebase.args(["rebase", "-q", "-i", "--autosquash", "HEAD~2"]);
    let done = rebase.env("GIT_SEQUENCE_EDITOR", "true").env("GIT_EDITOR", "false").output().unwrap();
    assert!(done.status.success(), "{}", text(&done));
    assert_eq!(repo.git(["rev-list", "--count", "HEAD"]), "2");
}

#[test]
fn every_index_that_git_commits_from_is_the_one_that_is_judged() {
    let repo = repo();
    let linked = repo.outside().join("linked");
    repo.git(["worktree", "add", "-q", linked.to_str().unwrap()]);
    for dir in [repo.root().to_owned(), repo.path("src"), linked] {
        let run = |args: &[&str]| repo.command_in("git", &dir).args(args).output().unwrap();
        let top = repo.git_in(&dir, ["rev-parse", "--show-toplevel"]);
        let path = |name: &str| format!("{top}/{name}");
        let (code, style) = (path("src/parser/lex.rs"), path("web/app.css"));
        let word = dir.file_name().unwrap().to_string_lossy().into_owned();
        for (file, line) in [(&code, format!("let {word} = 1;\n")), (&style, ".other {}\n".to_owned())] {
            let old = std::fs::read_to_string(file).unwrap();
            std::fs::write(file, old + &line).unwrap();
        }
        let all = run(&["commit", "-am", "fix: both"]);
        assert!(!all.status.success() && text(&all).contains(MIXED), "{dir:?}: {}", text(&all));
        let both = run(&["commit", "-m", "fix: both", "--", &code, &style]);
        assert!(!both.status.success() && text(&both).contains(MIXED), "{dir:?}: {}", text(&both));
        let other = run(&["commit", "-m", "fix(parser): it", "--", &style]);
        assert!(text(&other).contains("names the scope parser but changes web"), "{dir:?}: {}", text(&other));
        repo.git_in(&dir, ["add", &code]);
        let only = run(&["commit", "-qm", "fix(web): it", "--only", "--", &style]);
        assert!(only.status.success(), "{dir:?}: what is staged besides is not in it: {}", text(&only));
        let rest = run(&["commit", "-qm", "fix(parser): it", "-i", "--", &code]);
        assert!(rest.status.success(), "{dir:?}: {}", text(&rest));
    }
}

#[test]
fn an_empty_commit_is_nothing_to_judge() {
    let repo = repo();
    passes(&repo, &["commit", "-q", "--allow-empty", "-m", "fix(web): nothing"]);
    passes(&repo, &["commit", "-q", "--allow-empty", "--allow-empty-message", "-m", ""]);
    let unborn = TestRepo::new();
    unborn.write("gate.toml", SCOPES).gate(["init", "--yes"]).output().unwrap();
    passes(&unborn, &["commit", "-q", "--allow-empty", "-m", "start"]);
}

#[test]
fn a_rebase_under_way_is_judged_step_by_step() {
    let repo = repo();
    parser(&repo, "alpha");
    repo.write("src/parser/more.rs", "let more = 1;\n").git(["add", "-A"]);
    passes(&repo, &["commit", "-qm", "feat(parser): more"]);
    let rebase = |edit: &str, words: &str| {
        let sequence = format!("sed -i '1s/^pick/{edit}/'");
        let editor = format!("printf '%s\\n' '{words}' >");
        let mut command = repo.command_in("git", repo.root());
        command.args(["rebase", "-i", "HEAD~2"]).env("GIT_SEQUENCE_EDITOR", sequence).env("GIT_EDITOR", editor);
        command.output().unwrap()
    };
    let wrong = rebase("reword", "fix(web): alpha");
    assert!(
        !wrong.status.success() && text(&wrong).contains("names the scope web but changes parser"),
        "{}",
        text(&wrong)
    );
    repo.git(["rebase", "--abort"]);
    let right = rebase("reword", "fix(parser): first");
    assert!(right.status.success(), "{}", text(&right));
    assert_eq!(repo.git(["log", "-1", "--format=%s", "HEAD~1"]), "fix(parser): first");
    // Stopped in the middle: what is amended there, and what is put in between.
    assert!(rebase("edit", "").status.success());
    repo.append("web/app.css", "p {}\n");
    refused(&repo, &["commit", "-a", "--amend", "-m", "fix: both"], MIXED);
    refused(&repo, &["commit", "-am", "fix(parser): between"], "names the scope parser but changes web");
    passes(&repo, &["commit", "-qam", "fix(web): between"]);
    repo.append("src/parser/lex.rs", "let beta = 1;\n");
    refused(&repo, &["commit", "-a", "--amend", "--no-edit"], "crosses scopes");
    passes(&repo, &["commit", "-qam", "fix(parser): beta"]);
    passes(&repo, &["rebase", "--continue"]);
    assert_eq!(
        repo.git(["log", "--format=%s", "-4"]),
        "feat(parser): more\nfix(parser): beta\nfix(web): between\nfix(parser): first"
    );
}

#[test]
fn a_commit_that_breaks_the_policy_is_refused_and_one_that_repairs_it_is_not() {
    let repo = repo();
    repo.write("gate.toml", "[scopes\n");
    refused(&repo, &["commit", "-qam", "break it"], "this commit makes gate.toml unreadable");
    passes(&repo, &["commit", "--no-verify", "-qam", "break it"]);
    repo.write("gate.toml", SCOPES);
    passes(&repo, &["commit", "-qam", "repair it"]);
    repo.append("src/parser/lex.rs", "let alpha = 1;\n").append("web/app.css", "p {}\n");
    refused(&repo, &["commit", "-am", "fix: both"], MIXED);
}
