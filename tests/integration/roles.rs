//! Roles: before a tool runs, at a commit, at a push and in CI.

use serde_json::{Value, json};

use crate::project::{Project, Said, finish};

const POLICY: &str = "version = 1\n[gates.tests]\nmode = \"off\"\n[gates.atomic]\nmode = \"off\"\n\n[roles.tester]\nwrite = \
                      [\"tests/**\"]\nrun = [\"sh test.sh\"]\naliases = [\"test-engineer\"]\n\n[roles.reviewer]\nwrite = []\n";

fn project() -> Project {
    Project::with(POLICY)
}

fn commit(project: &Project, variables: &[(&str, &str)], message: &str) -> Said {
    project.repo.git(["add", "-A"]);
    let mut command = project.command("git", project.repo.root());
    command.args(["commit", "-q", "-m", message]).envs(variables.iter().copied());
    finish(command, b"")
}

/// Calls a hook of a client before a tool runs.
fn before(project: &Project, client: &str, payload: Value, variables: &[(&str, &str)]) -> String {
    let mut payload = payload;
    payload["session_id"] = json!("s1");
    payload["cwd"] = json!(project.repo.root());
    let event = if client == "gemini" { "BeforeTool" } else { "PreToolUse" };
    payload["hook_event_name"] = json!(event);
    let mut command = project.command(env!("CARGO_BIN_EXE_gate"), project.repo.root());
    command.args(["hook", client, event]).envs(variables.iter().copied());
    finish(command, payload.to_string().as_bytes()).exits(0).out
}

fn write(path: &str) -> Value {
    json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}, "tool_use_id": "t1"})
}

fn bash(line: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "t1"})
}

fn patch(path: &str) -> Value {
    let added = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n");
    json!({"tool_name": "apply_patch", "tool_input": {"command": added}, "tool_use_id": "t1"})
}

#[test]
fn a_commit_of_a_role_holds_only_its_files() {
    let project = project();
    let tester = [("GATE_ROLE", "tester")];
    project.repo.write("tests/a.sh", "a\n").append("src/lib.sh", "more\n");
    commit(&project, &tester, "feat: more")
        .exits(1)
        .says("the role tester (from GATE_ROLE) may not write src/lib.sh; it writes tests/**");
    // The same change without a role, and what is the tester's with it.
    project.repo.git(["restore", "--staged", "--worktree", "src/lib.sh"]);
    commit(&project, &tester, "test: a").exits(0);
    project.repo.append("src/lib.sh", "more\n");
    commit(&project, &[], "feat: more").exits(0);
    project.repo.append("src/lib.sh", "even more\n");
    commit(&project, &[("GATE_ROLE", "cook")], "feat: x")
        .exits(1)
        .says("GATE_ROLE names the role cook, which is not in");
}

#[test]
fn a_push_and_ci_judge_by_branch_and_trailer() {
    let project = project();
    let past = |message: &str| {
        project.repo.git(["add", "-A"]);
        project.repo.git(["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", message]);
    };
    project.repo.append("src/lib.sh", "more\n");
    past("feat: more\n\nRole: reviewer");
    project
        .push("git push origin feature")
        .exits(1)
        .says("the role reviewer (from a trailer) may not write src/lib.sh");
    project.gate(["ci", "--base", "origin/main"]).exits(10).says("may not write src/lib.sh; it writes nothing");
    project.repo.git(["switch", "-q", "-c", "tester/coverage", "main"]);
    project.repo.write("tests/a.sh", "a\n");
    past("test: a");
    project.push("git push origin tester/coverage").exits(0);
    project.repo.write("tests/a.sh", "b\n");
    past("test: b\n\nRole: reviewer");
    project
        .push("git push origin tester/coverage")
        .exits(1)
        .says("reviewer (from a trailer) and tester (from the branch) may not write tests/a.sh");
    // A change cannot give itself another role: the table of the base counts.
    project.repo.git(["switch", "-q", "-c", "open", "main"]);
    let relaxed = POLICY.replace("write = []", "write = [\"**\"]");
    project.repo.write("gate.toml", relaxed).append("src/lib.sh", "x\n");
    past("feat: x\n\nRole: reviewer");
    project.gate(["ci", "--base", "origin/main"]).exits(10).says("the role reviewer (from a trailer) may not write");
}

#[test]
fn a_role_can_be_required() {
    let project = Project::with(&POLICY.replace("[roles.tester]", "[roles]\nrequired = true\n[roles.tester]"));
    project.repo.write("tests/a.sh", "a\n");
    commit(&project, &[], "test: a").exits(1).says("has no role, and this repository requires one (tester, reviewer)");
    // The remedies that it names.
    commit(&project, &[], "test: a\n\nRole: tester").exits(0);
    project.push("git push origin feature").exits(0);
}

#[test]
fn an_edit_is_refused_before_it_happens() {
    let project = project();
    let denied = |answer: &str| answer.contains("deny");
    let role = [("GATE_ROLE", "tester")];
    for (client, payload, refused) in [
        ("claude", write("src/lib.sh"), true),
        ("claude", write("tests/new.sh"), false),
        ("codex", patch("src/new.sh"), true),
        ("codex", patch("tests/new.sh"), false),
        ("gemini", json!({"tool_name": "write_file", "tool_input": {"file_path": "src/lib.sh", "content": "x"}}), true),
        ("gemini", json!({"tool_name": "write_file", "tool_input": {"file_path": "tests/a", "content": "x"}}), false),
        ("claude", bash("echo x > src/lib.sh"), true),
        ("claude", bash("echo x > tests/a.sh && sh test.sh"), false),
        ("claude", bash("sed -i s/one/two/ src/lib.sh"), true),
        ("claude", bash("cp README.md src/new.sh"), true),
        ("claude", bash("rm -rf src"), true),
        ("claude", bash("cd src && tee lib.sh </dev/null"), true),
        ("claude", bash("python3 -c \"open('src/lib.sh', 'w').write('x')\""), true),
        ("claude", bash("cat src/lib.sh | head -3; git status"), false),
        ("claude", bash("echo x > /tmp/elsewhere.txt"), false),
        ("claude", bash("grep one src/lib.sh > tests/found.txt"), false),
        ("claude", bash("sort src/lib.sh | sed s/a/b/ > tests/sorted.txt 2>/dev/null"), false),
        ("claude", bash("sed -i s/one/two/ src/lib.sh >/dev/null"), true),
        ("claude", bash("bash -c 'echo x > src/q'"), true),
        ("claude", bash("npm install left-pad"), true),
        ("codex", bash("echo x > src/lib.sh"), true),
    ] {
        let answer = before(&project, client, payload.clone(), &role);
        assert_eq!(denied(&answer), refused, "{client} {payload}: {answer}");
        assert!(!denied(&before(&project, client, payload, &[])), "{client}: without a role nothing is restricted");
    }
}

#[test]
fn lines_that_name_the_file_they_change() {
    let project = project();
    project.repo.write("tests/t.sh", "t\n").write("src/a.ts", "a\n").write("src/a.go", "a\n").write("src/a.rs", "a\n");
    project.repo.commit_all("chore: more files");
    let role = [("GATE_ROLE", "tester")];
    let mut wrong = Vec::new();
    for (line, refused) in [
        ("git checkout HEAD~1 -- src/lib.sh", true),
        ("git mv src/lib.sh tests/lib.sh", true),
        ("git rm -q src/lib.sh", true),
        ("git restore src/lib.sh", true),
        ("sort -o src/lib.sh tests/t.sh", true),
        ("find src -name '*.sh' -delete", true),
        ("find src -exec rm {} \\;", true),
        ("ls src/*.sh | xargs rm", true),
        ("echo src/lib.sh | xargs rm -f", true),
        ("git ls-files src | xargs rm", true),
        ("grep -rl one src | xargs sed -i s/one/two/", true),
        ("grep -rl one tests | xargs sed -i s/one/two/", false),
        ("rm -rf src/{lib,b}.sh", true),
        ("git restore .", true),
        ("git checkout -- .", true),
        ("npx prettier --write .", true),
        ("rm src/*.sh", true),
        ("gzip src/lib.sh", true),
        ("split -l 3 tests/t.sh src/p_", true),
        ("tar xf x.tar -C src", true),
        ("unzip x.zip -d src", true),
        ("rustfmt src/a.rs", true),
        ("gofmt -w src/a.go", true),
        ("npx prettier --write src/a.ts", true),
        ("chmod +x src/lib.sh", true),
        ("truncate -s 0 src/lib.sh", true),
        ("cp -t src tests/t.sh", true),
        // What the role may do.
        ("git checkout main", false),
        ("git checkout HEAD~1 -- tests/t.sh", false),
        ("git mv tests/t.sh tests/u.sh", false),
        ("git restore --staged src/lib.sh", false),
        ("git diff src/lib.sh", false),
        ("sort src/lib.sh", false),
        ("sort -o tests/t.sh src/lib.sh", false),
        ("find src -name '*.sh'", false),
        ("find src -exec grep -n x {} \\;", false),
        ("find . -name '*.pyc' -delete", false),
        ("find tests -name '*.sh' -delete", false),
        ("ls src/*.sh | xargs cat", false),
        ("ls tests/*.sh | xargs rm", false),
        ("rm -rf tests/{t,u}.sh", false),
        ("gzip -c src/lib.sh > tests/lib.gz", false),
        ("tar tf x.tar -C src", false),
        ("gofmt -l src/a.go", false),
        ("truncate -s 0 tests/t.sh", false),
        ("touch -r src/lib.sh -d yesterday tests/t.sh", false),
        ("cp -t tests src/lib.sh", false),
    ] {
        let answer = before(&project, "claude", bash(line), &role);
        // Which programs a role may run is another question.
        if answer.contains("may not write") != refused {
            wrong.push(format!("{line}: {answer}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let answer = before(&project, "claude", bash("truncate -s 0 src/lib.sh"), &role);
    assert!(answer.contains("may not write src/lib.sh; it writes"), "{answer}");
    assert!(before(&project, "claude", bash("$(echo make) all"), &role).contains("may not run `$(echo make) all`"));
}

#[test]
fn a_write_through_a_link_is_a_write_where_it_leads() {
    let project = project();
    project.repo.write("tests/t.sh", "t\n").link("tests/link", "../src").link("tests/lib.sh", "../src/lib.sh");
    project.repo.link("src/t.sh", "../tests/t.sh");
    let role = [("GATE_ROLE", "tester")];
    for (payload, refused) in [
        (write("tests/link/lib.sh"), true),
        (write("tests/link/new.sh"), true),
        (write("tests/lib.sh"), true),
        (bash("echo x > tests/link/lib.sh"), true),
        (bash("rm tests/link/lib.sh"), true),
        (write("src/t.sh"), false),
        (write("tests/t.sh"), false),
        (bash("rm tests/lib.sh"), false),
    ] {
        let answer = before(&project, "claude", payload.clone(), &role);
        assert_eq!(answer.contains("may not write src/"), refused, "{payload}: {answer}");
    }
}

#[test]
fn ignored_files_belong_to_everybody() {
    let project = project();
    project.repo.write(".gitignore", "out/\n").write("out/x", "x\n");
    let role = [("GATE_ROLE", "reviewer")];
    let answer = before(&project, "claude", write("out/report.txt"), &role);
    assert!(!answer.contains("deny"), "{answer}");
    assert!(before(&project, "claude", write("src/x"), &role).contains("it writes nothing"));
}

#[test]
fn a_sub_agent_has_the_role_of_its_type() {
    let project = project();
    let of = |kind: &str, path: &str, variables: &[(&str, &str)]| {
        let mut payload = write(path);
        payload["agent_id"] = json!("a1");
        payload["agent_type"] = json!(kind);
        before(&project, "claude", payload, variables)
    };
    assert!(
        of("test-engineer", "src/lib.sh", &[])
            .contains("the role tester (from the sub-agent) may not write src/lib.sh")
    );
    assert!(!of("test-engineer", "tests/a.sh", &[]).contains("deny"));
    assert!(!of("general-purpose", "src/lib.sh", &[]).contains("deny"));
    assert!(of("test-engineer", "tests/a.sh", &[("GATE_ROLE", "reviewer")]).contains("deny"), "both must allow it");
}

#[test]
fn the_six_roles_are_a_template() {
    let project = Project::new();
    project.gate(["init", "--roles", "--yes"]).exits(0);
    let policy = String::from_utf8(project.repo.read("gate.toml")).unwrap();
    let table: toml::Table = policy.parse().unwrap();
    let roles = table["roles"].as_table().unwrap();
    for role in ["architect", "reviewer", "backend", "frontend", "tester", "devops"] {
        assert!(roles.contains_key(role), "{role}");
    }
    project.gate(["init", "--roles", "--yes"]).exits(65).says("it has [roles] already");
    project.check();
}
