//! Environments, installed packages and caches that lie in a working tree, untracked and without a line in `.gitignore`.

use crate::client_session::Session;
use crate::project::Project;
use crate::support::{TestRepo, files_below};

const POLICY: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh t.sh\"\n";

/// A project whose tests write into `folder`, as tools do that compile or cache what they read.
fn project(folder: &str, marker: &str, content: &str) -> Project {
    let project = Project::with(POLICY);
    let repo = &project.repo;
    repo.write("t.sh", format!("grep -q good src/a && echo $$ > {folder}/stamp\n")).write("src/a", "good\n");
    repo.commit_all("feat: a test");
    repo.write(format!("{folder}/{marker}"), content).write(format!("{folder}/lib/x.py"), "x = 1\n");
    project
}

fn kept_bytes(repo: &TestRepo) -> u64 {
    files_below(&repo.path(".git/gate/objects")).iter().map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn a_folder_of_a_tool_is_no_content_and_is_named() {
    for (folder, marker, content) in [
        (".venv", "pyvenv.cfg", "home = /usr/bin\n"),
        ("env", "pyvenv.cfg", ""),
        ("node_modules", ".package-lock.json", "{}"),
        ("out", "CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n"),
        ("web/node_modules", ".modules.yaml", ""),
    ] {
        let project = project(folder, marker, content);
        let repo = &project.repo;
        project.gate(["run", "test"]).exits(0);
        project.check().exits(0).says(&format!("{folder}/ (")).says(".gitignore");
        let verdict = project.verdict();
        let notes = verdict["notes"].as_array().unwrap();
        assert!(notes.iter().any(|note| note["kind"] == "tool-folder"), "{folder}: {notes:?}");
        assert_eq!(kept_bytes(repo), 0, "{folder}: nothing of it is stored");
        project.push("git push origin HEAD:feature").exits(0).says(folder);
        project.gate(["status"]).exits(0).says(folder);
        let remedy = format!("printf '\\n%s\\n' /{folder}/ >> .gitignore");
        project.gate(["doctor"]).says(folder).says(&remedy);
        project.gate(["init", "--dry-run"]).says(folder);
        // The line that is printed ends it, and spoils no other one.
        repo.write(".gitignore", "*.log");
        project.sh(&remedy).exits(0);
        assert!(repo.read(".gitignore").starts_with(b"*.log\n"));
        project.check().exits(0).never_says(&format!("{folder}/ ("));
        assert!(repo.path(format!("{folder}/lib/x.py")).exists());
    }
}

#[test]
fn the_files_of_a_tool_name_nothing_and_are_not_looked_up() {
    let project = project(".venv", "pyvenv.cfg", "");
    project
        .repo
        .write(".venv/lib/x.py", "open(\"debug.log\")\n")
        .write(".venv/lib/main.py", "")
        .write("src/main.py", "x\n");
    project.repo.git(["add", "src"]);
    project.repo.git(["commit", "-qm", "feat: main"]);
    project.repo.write("debug.log", "what a run left\n");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0).never_says("counts as content");
    project.sh("echo 'Rename x in main to y' | gate prompt -").never_says(".venv");
}

#[test]
fn a_link_to_a_folder_of_a_tool_is_no_content_either() {
    let project = Project::with(POLICY);
    let repo = &project.repo;
    repo.write("t.sh", "grep -q good src/a\n").write("src/a", "good\n").write(".gitignore", "node_modules/\n");
    repo.write("elsewhere/a.js", "1\n").commit_all("feat: a test");
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join(".package-lock.json"), "{}").unwrap();
    std::os::unix::fs::symlink(outside.path(), repo.path("node_modules")).unwrap();
    std::os::unix::fs::symlink("elsewhere", repo.path("linked")).unwrap();
    project.gate(["run", "test"]).exits(0).says("not as in the last commit: linked");
    repo.remove("linked");
    project.gate(["run", "test"]).exits(0).never_says("not as in the last commit");
    project.check().exits(0).says("node_modules (");
    project.push("git push origin HEAD:feature").exits(0);
    let remedy = "printf '\\n%s\\n' /node_modules >> .gitignore";
    project.gate(["doctor"]).says(remedy);
    project.sh(remedy).exits(0);
    project.check().exits(0).never_says("node_modules (");
}

#[test]
fn a_folder_without_a_marker_or_with_a_tracked_file_is_content() {
    for (folder, marker, tracked) in [
        (".venv", "other.cfg", false),
        ("out", "CACHEDIR.TAG", false),
        ("node_modules", "package.json", false),
        (".venv", "pyvenv.cfg", true),
    ] {
        let project = project(folder, marker, "no signature\n");
        if tracked {
            project.sh(&format!("git add {folder}/lib && git commit -qm 'feat: it is mine'")).exits(0);
        }
        project.gate(["run", "test"]);
        project.push("git push origin HEAD:feature").exits(1).says(folder);
    }
}

#[test]
fn a_folder_with_a_marker_that_the_agent_wrote_is_content() {
    for line in [
        "mkdir -p out && printf 'Signature: 8a477f597d28d172789f06886806bc55\\n' >out/CACHEDIR.TAG",
        "mkdir -p out; echo 'Signature: 8a477f597d28d172789f06886806bc55' | tee out/CACHEDIR.TAG",
        "touch ../pyvenv.cfg && cp ../pyvenv.cfg out/",
    ] {
        let project = Project::with(POLICY);
        project.repo.write("t.sh", "grep -q good out/a\n").write("src/a", "1\n").commit_all("feat: a test");
        project.repo.write("out/a", "good\n");
        let session = Session::claude(&project);
        session.prompt("Make the test pass");
        session.run(line);
        session.run("gate run test");
        project.push("git push origin HEAD:feature").exits(1).says("out/");
    }
}

#[test]
fn an_edit_of_an_installed_package_is_told_until_it_is_installed_again() {
    for (line, again) in [
        (
            "sed -i s/bad/good/ node_modules/x/a.js",
            "printf 'bad\\n' >node_modules/x/a.js.new; mv node_modules/x/a.js.new node_modules/x/a.js",
        ),
        ("cp good.js node_modules/x/a.js", "rm node_modules/x/a.js"),
        ("python3 -c \"open('node_modules/x/a.js', 'w').write('good')\"", "rm -r node_modules"),
    ] {
        let project = Project::with(POLICY);
        project.repo.write("t.sh", "test -f src/a\n").write("src/a", "1\n").write(".gitignore", "node_modules/\n");
        project.repo.commit_all("feat: a test");
        project.repo.write("node_modules/x/a.js", "bad\n").write("good.js", "good\n");
        let session = Session::claude(&project);
        session.prompt("Make the test pass");
        session.run(line);
        session.run("git add -A && git commit -qm 'feat: more'");
        session.run("gate run test");
        let told = "node_modules/x/a.js was edited here, and no commit holds it";
        project.gate(["check"]).exits(0).says(told);
        project.sh(again).exits(0);
        project.gate(["check"]).exits(0).never_says(told);
    }
}

#[test]
fn an_untouched_checkout_with_a_folder_of_a_tool_is_not_blocked() {
    let project = Project::with(POLICY);
    project.sh("git switch -q -c other origin/main").exits(0);
    project.repo.write(".venv/pyvenv.cfg", "").write(".venv/bin/python", "");
    project.check().exits(0);
}

#[test]
fn a_file_that_a_tool_rewrites_is_committed_or_left_alone() {
    for file in ["go.mod", "web/package-lock.json"] {
        let project = Project::with(POLICY);
        let repo = &project.repo;
        repo.write("t.sh", format!("echo 'rewritten' > {file}\n")).write(file, "as committed\n");
        repo.commit_all("feat: a test");
        project.gate(["run", "test"]).exits(0);
        let remedy =
            format!("git add -- {file} && git commit -m 'Update {}' -- {file}", file.rsplit('/').next().unwrap());
        let tool = if file == "go.mod" { "-mod=readonly" } else { "npm ci" };
        project.push("git push origin HEAD:feature").exits(1).says(tool).says(&remedy);
        project.sh(&remedy).exits(0);
        project.gate(["run", "test"]).exits(0);
        project.push("git push origin HEAD:feature").exits(0);
    }
}

#[test]
fn what_does_not_belong_to_the_commit_is_listed_in_gitignore() {
    let project = Project::with(POLICY);
    let repo = &project.repo;
    repo.write("t.sh", "grep -q good src/a\n").write("src/a", "good\n").commit_all("feat: a test");
    repo.write("extra.py", "mine\n");
    project.gate(["run", "test"]).exits(0);
    let pushed = project.push("git push origin HEAD:feature");
    pushed.exits(1).says("list the rest in .gitignore").never_says("stash -u");
    project.sh("echo /extra.py >> .gitignore && git add .gitignore && git commit -qm 'chore: ignore'").exits(0);
    project.gate(["run", "test"]).exits(0);
    project.push("git push origin HEAD:feature").exits(0);
    assert_eq!(repo.read("extra.py"), b"mine\n");
}

#[test]
fn what_git_leaves_of_a_submodule_and_a_working_tree_inside_are_no_content() {
    let project = Project::with(POLICY);
    let repo = &project.repo;
    repo.write("t.sh", "grep -q good src/a\n").write("src/a", "good\n").commit_all("feat: a test");
    project.sh("git init -q ../part && git -C ../part commit -q --allow-empty -m 'feat: part'").exits(0);
    project
        .sh("git switch -qc other && git -c protocol.file.allow=always submodule add -q ../part vendor/part")
        .exits(0);
    project.sh("git commit -qm 'feat: vendor' && git switch -q -").exits(0);
    assert!(repo.root().join("vendor/part/.git").exists());
    project.sh("git worktree add -q .claude/worktrees/one").exits(0);
    project.gate(["run", "test"]).exits(0).says("this proves test for this commit");
    project.check().exits(0).says("vendor/part/ (a submodule of another branch) is not part of what is judged");
    project.push("git push origin HEAD:feature").exits(0);
    // A repository that somebody else put there is content.
    project.sh("git init -q lib && git -C lib commit -q --allow-empty -m 'feat: lib'").exits(0);
    repo.append("src/a", "more\n");
    project.sh("git commit -qam 'feat: more'").exits(0);
    project.gate(["run", "test"]).exits(0);
    project.push("git push origin HEAD:feature").exits(1).says("lib");
}
