//! Hooks that are taken out or switched off: refused to an agent before it happens, and reported afterwards.

use std::path::Path;

use serde_json::{Value, json};

use crate::client_session::Session;
use crate::project::{Project, finish};

/// A project in which three clients have hooks.
fn with_clients() -> Project {
    let project = Project::new();
    project.gate(["init", "--yes", "--clients", "claude,codex,gemini"]).exits(0);
    project
}

#[test]
fn an_agent_may_not_take_the_hooks_of_a_client_out() {
    let project = with_clients();
    let session = Session::claude(&project);
    let shell = |line: &str| {
        session.hook("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "t"}))
    };
    for line in [
        "rm .codex/hooks.json",
        "rm -rf .gemini",
        "echo '{}' > .claude/settings.local.json",
        "echo '{\"disableAllHooks\": true}' > .claude/settings.json",
        "> .codex/hooks.json",
        "find .codex -delete",
        "git clean -fdx",
        "python3 -c \"import os; os.remove('.codex/hooks.json')\"",
    ] {
        let said = shell(line);
        assert!(said.out.contains("\"deny\"") && said.out.contains("hooks that tell gate"), "{line}: {said:?}");
    }
    let write = |path: &str, text: &str| {
        let input = json!({"file_path": project.repo.root().join(path), "content": text});
        session.hook("PreToolUse", json!({"tool_name": "Write", "tool_input": input, "tool_use_id": "t"}))
    };
    assert!(write(".codex/hooks.json", "{}").out.contains("\"deny\""));
    assert!(write(".claude/settings.json", "{\"disableAllHooks\": true}").out.contains("\"deny\""));
    write(".claude/settings.json", "{\"permissions\": {}}").quiet();
    for line in
        ["git clean -fdx -e .codex -e .gemini -e .claude", "find . -name '*.pyc' -delete", "cat .codex/hooks.json"]
    {
        shell(line).quiet();
    }
    // Where no hook of gate is, nothing is guarded.
    let other = Project::new();
    let session = Session::claude(&other);
    other.repo.write(".codex/hooks.json", "{}");
    let line = json!({"tool_name": "Bash", "tool_input": {"command": "rm .codex/hooks.json"}, "tool_use_id": "t"});
    session.hook("PreToolUse", line).quiet();
}

#[test]
fn an_agent_may_not_change_the_models_wherever_the_person_keeps_them() {
    let project = with_clients();
    let (settings, state) = (project.repo.outside().join("settings"), project.repo.outside().join("state"));
    let ask = |tool: &str, input: Value| {
        let root = project.repo.root();
        let payload = json!({
            "session_id": "s", "transcript_path": "", "cwd": root, "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": input, "tool_use_id": "t",
        });
        let mut command = project.command("gate", root);
        command.args(["hook", "claude", "PreToolUse"]).env("XDG_CONFIG_HOME", &settings).env("XDG_STATE_HOME", &state);
        finish(command, payload.to_string().as_bytes()).out
    };
    let (config, budget) = (settings.join("gate/config.toml"), state.join("gate/models/m.2026-11-26"));
    for (tool, input, denied) in [
        ("Write", json!({"file_path": config, "content": ""}), true),
        ("Bash", json!({"command": format!("rm {}", config.display())}), true),
        ("Bash", json!({"command": format!("rm {}", budget.display())}), true),
        ("Bash", json!({"command": format!("cat {}", config.display())}), false),
        ("Bash", json!({"command": format!("rm {}", settings.join("other/config.toml").display())}), false),
    ] {
        let said = ask(tool, input.clone());
        assert_eq!(said.contains("\"deny\"") && said.contains("which models judge"), denied, "{input}: {said}");
    }
}

/// Asks the hook of a client before a tool runs; the answer.
fn before(project: &Project, client: &str, event: &str, payload: &Value) -> String {
    let mut command = project.command("gate", project.repo.root());
    command.args(["hook", client, event]);
    finish(command, payload.to_string().as_bytes()).exits(0).out
}

fn bash(project: &Project, cwd: &Path, line: &str) -> String {
    let payload = json!({"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "transcript_path": "/none",
        "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "t"});
    before(project, "claude", "PreToolUse", &payload)
}

#[test]
fn a_guarded_path_is_known_in_every_spelling() {
    let project = with_clients();
    let root = project.repo.root().canonicalize().unwrap();
    project.repo.git(["config", "alias.p", "push --no-verify"]);
    project.repo.git(["config", "alias.st", "status --short"]);
    std::fs::write(project.repo.outside().join("inc"), "[core]\n\thooksPath = /x\n").unwrap();
    std::fs::write(project.repo.outside().join("plain"), "[user]\n\tname = x\n").unwrap();
    for (dir, line) in [
        ("", "rm $PWD/.git/hooks/pre-push"),
        ("", "rm \"$(git rev-parse --git-path hooks)/pre-push\""),
        ("src", "G=$(git rev-parse --git-dir); rm $G/hooks/pre-push"),
        ("", "for h in .git/hooks/*; do rm $h; done"),
        ("", "cp /dev/null $PWD/.codex/hooks.json"),
        ("src", "rm ../.codex/hooks.json"),
        ("", "git clean -xdf ."),
        ("", "git stash --all"),
        ("", "rm -rf .git && git init"),
        ("", "git p origin x"),
        ("", "git config include.path ../../inc"),
        (".git", "rm hooks/pre-push"),
        (".git", ": > hooks/pre-push"),
        (".git/hooks", "rm pre-push"),
        (".git/hooks", "chmod -x pre-push"),
        (".git/gate", "rm journal.jsonl"),
        (".git/gate", "echo x >> journal.jsonl"),
    ] {
        let line = line.replace("../../inc", &project.repo.outside().join("inc").display().to_string());
        let answer = bash(&project, &root.join(dir), &line);
        assert!(answer.contains("\"deny\""), "{dir}: {line}: {answer}");
    }
    for (dir, line) in [
        ("", "chmod +x .git/hooks/pre-push"),
        ("", "git config --unset core.hooksPath"),
        ("", "cp .git/hooks/pre-push.sample .git/hooks/commit-msg.sample"),
        ("", "git push --dry-run --no-verify"),
        ("", "gate init --yes"),
        ("", "gate doctor"),
        ("", "git st"),
        ("", "git config include.path ../plain"),
        ("", "for f in src/*; do rm $f; done"),
        ("", "rm $PWD/src/x; rm -rf ../other/.git"),
        ("src", "rm hooks"),
        (".git", "rm index.lock"),
    ] {
        assert_eq!(bash(&project, &root.join(dir), line), "", "{dir}: {line}");
    }
    // Where gate's own hooks are reached by that setting, it is not taken out.
    project.sh("mv .git/hooks ../hooks; git config core.hooksPath \"$PWD/../hooks\"").exits(0);
    let answer = bash(&project, &root, "git config --unset core.hooksPath");
    assert!(answer.contains("\"deny\""), "{answer}");
}

#[test]
fn an_edit_is_made_to_the_text_before_it_is_let_happen() {
    let project = with_clients();
    project.gate(["init", "--yes", "--clients", "claude,codex,gemini,copilot,opencode"]).exits(0);
    let root = project.repo.root();
    let tool = |name: &str, input: Value| {
        let payload = json!({"session_id": "s", "cwd": root, "hook_event_name": "PreToolUse", "transcript_path": "/none",
            "tool_name": name, "tool_input": input, "tool_use_id": "t"});
        before(&project, "claude", "PreToolUse", &payload)
    };
    let settings = root.join(".claude/settings.local.json");
    let edit = |old: &str, new: &str| json!({"file_path": settings, "old_string": old, "new_string": new});
    for input in [edit("\"hooks\"", "\"hooksOff\""), edit("gate", "true")] {
        assert!(tool("Edit", input.clone()).contains("\"deny\""), "{input}");
    }
    let several = json!({"file_path": settings, "edits": [{"old_string": "\"hooks\"", "new_string": "\"h\""}]});
    assert!(tool("MultiEdit", several).contains("\"deny\""));
    assert_eq!(tool("Edit", edit("{", "{\n\"permissions\": {},")), "");
    assert_eq!(tool("Edit", edit("no such text", "x")), "");
    let path = root.join(".git/hooks/pre-push");
    assert!(tool("mcp__filesystem__write_file", json!({"path": path, "content": ""})).contains("\"deny\""));
    assert_eq!(tool("mcp__filesystem__read_file", json!({"path": path})), "");

    let gemini = |name: &str, input: Value| {
        let payload = json!({"session_id": "g", "cwd": root, "hook_event_name": "BeforeTool", "transcript_path": "/none",
            "tool_name": name, "tool_input": input});
        before(&project, "gemini", "BeforeTool", &payload)
    };
    let hooks =
        json!({"file_path": root.join(".gemini/settings.json"), "old_string": "gate hook", "new_string": "true"});
    assert!(gemini("replace", hooks).contains("\"deny\""));
    let user = project.repo.home().join(".gemini/settings.json");
    let off = json!({"file_path": user, "content": "{\"hooksConfig\": {\"enabled\": false}}"});
    assert!(gemini("write_file", off).contains("\"deny\""));
    assert_eq!(gemini("write_file", json!({"file_path": user, "content": "{\"theme\": \"dark\"}"})), "");
    let there = json!({"command": "rm hooks/pre-push", "dir_path": ".git"});
    assert!(gemini("run_shell_command", there).contains("\"deny\""));

    let copilot = |name: &str, input: Value| {
        let payload = json!({"sessionId": "c", "cwd": root, "timestamp": 1, "toolName": name, "toolArgs": input});
        before(&project, "copilot", "preToolUse", &payload)
    };
    let path = root.join(".github/hooks/gate.json");
    assert!(copilot("edit", json!({"path": path, "old_str": "gate hook", "new_str": "true"})).contains("\"deny\""));
    assert!(copilot("write_bash", json!({"sessionId": "1", "input": "git push --no-verify\n"})).contains("\"deny\""));
    assert_eq!(copilot("write_bash", json!({"sessionId": "1", "input": "y\n"})), "");

    let opencode = |name: &str, input: Value| {
        let payload = json!({"directory": root, "sessionID": "o", "tool": name, "callID": "c", "args": input});
        before(&project, "opencode", "tool.execute.before", &payload)
    };
    let path = root.join(".opencode/plugins/gate.js");
    let plugin = json!({"filePath": path, "oldString": "export", "newString": "//"});
    assert!(opencode("edit", plugin).contains("deny"));
    assert!(opencode("bash", json!({"command": "rm hooks/pre-push", "workdir": ".git"})).contains("deny"));
}

#[test]
fn hooks_of_clients_that_are_gone_or_switched_off_are_reported() {
    for (change, said, undo) in [
        (
            "rm .codex/hooks.json",
            "the hooks of gate for Codex are gone from .codex/hooks.json",
            "gate init --yes --clients codex",
        ),
        (
            "echo '{}' > .gemini/settings.json",
            "the hooks of gate for Gemini CLI are gone",
            "gate init --yes --clients gemini",
        ),
        (
            "mkdir -p .claude; echo '{\"disableAllHooks\": true}' > .claude/settings.json",
            "Claude Code runs no hooks: .claude/settings.json sets `disableAllHooks`",
            "rm .claude/settings.json",
        ),
        (
            "printf '[features]\\nhooks = false\\n' > .codex/config.toml",
            "Codex runs no hooks: .codex/config.toml sets `features.hooks`",
            "rm .codex/config.toml",
        ),
    ] {
        let project = with_clients();
        project.repo.write(".gitignore", ".claude/\n.codex/\n.gemini/\n");
        project.edit("one");
        project.gate(["run", "test"]).exits(0);
        project.check().exits(0).never_says("not judged");
        project.sh(change).exits(0);
        project.check().exits(0).says(said);
        project.gate(["doctor"]).says(said);
        let session = Session::claude(&project).prompted("go on");
        let stopped = session.stop("All done.");
        assert!(stopped.text().contains(said), "{stopped:?}");
        project.push("git push origin feature").exits(0).says(said);
        project.sh(undo).exits(0);
        project.check().exits(0).never_says("not judged");
    }
}

#[test]
fn a_hook_of_git_that_is_gone_or_emptied_is_reported() {
    for (change, said) in [
        ("rm .git/hooks/pre-push", "the pre-push hook of git is gone from"),
        (": > .git/hooks/pre-push", "the pre-push hook of git is empty in"),
        ("echo 'exit 0' > .git/hooks/pre-push", "the pre-push hook of git does not call gate any more"),
        ("chmod -x .git/hooks/pre-push", "the pre-push hook of git has no execute permission, so git skips it in"),
        ("sed -i '2i exit 0' .git/hooks/pre-push", "the pre-push hook of git ends before gate is called in"),
        ("sed -i '/exec/d; $a exit 0' .git/hooks/pre-push", "the pre-push hook of git ends before gate is called in"),
        ("git config core.hooksPath /dev/null", "the pre-push and commit-msg hooks of git are gone from /dev/null"),
    ] {
        let project = Project::new().edited("one").tested();
        project.check().exits(0).never_says("not judged");
        project.sh(change).exits(0);
        project.sh("gate check").exits(0).says(said).says("gate init");
        let session = Session::claude(&project).prompted("go on");
        let stopped = session.stop("All done.");
        assert!(stopped.text().contains(said), "{stopped:?}");
    }
    let project = Project::new().edited("one").tested();
    for change in ["rm .git/hooks/pre-push", "chmod -x .git/hooks/pre-push", "sed -i '2i exit 0' .git/hooks/pre-push"] {
        project.sh(&format!("{change} && gate check")).says("not judged");
        project.sh("gate init --yes").exits(0);
        project.check().exits(0).never_says("not judged");
    }
    project.gate(["uninstall", "--yes"]).exits(0);
    project.check().never_says("not judged");
}

#[test]
fn a_new_linked_working_tree_gets_the_hooks_of_the_clients() {
    let project = with_clients();
    let tree = project.repo.outside().join("linked");
    let path = tree.display().to_string();
    let files = [".claude/settings.local.json", ".codex/hooks.json", ".gemini/settings.json"];
    project.sh(&format!("git worktree add -q -b other '{path}' && git switch -q -c more && git switch -q -")).exits(0);
    assert!(files.iter().all(|file| tree.join(file).is_file()));
    project.gate_in(&tree, ["doctor"]).says("Codex: the hooks in .codex/hooks.json answer");
    project.gate_in(&tree, ["check"]).exits(0).never_says("not judged");
    // Git keeps nothing of it, and a working tree that is gone is nothing to put back.
    project
        .sh(&format!("git -C '{path}' status --porcelain | grep -q . && exit 1; git worktree remove '{path}'"))
        .exits(0);
    project.gate(["uninstall", "--yes"]).exits(0).never_says("left alone").never_says("edited since");
    assert!(files.iter().all(|file| !project.repo.root().join(file).exists()));
    assert!(!project.repo.root().join(".git/hooks/post-checkout").exists());
    // One that lost them is told.
    let project = with_clients();
    project.sh(&format!("git worktree add -q '{path}' && rm '{path}/.codex/hooks.json'")).exits(0);
    let said = "the hooks of gate for Codex are not in this working tree: .codex/hooks.json";
    project.gate_in(&tree, ["doctor"]).says(said);
    project.gate_in(&tree, ["init", "--yes", "--clients", "codex"]).exits(0);
    project.gate_in(&tree, ["doctor"]).never_says(said);
}
