//! What a person types in bash is recorded, and their prompt is as it was.
#![cfg(target_os = "linux")]

use std::fs;

use crate::support::{both_streams, run_with_input};
use crate::typing::{Typist, holds_in};

#[test]
fn a_persons_own_run_in_bash_counts_and_other_lines_leave_nothing() {
    holds_in("bash");
}

#[test]
fn bash_keeps_its_traps_and_the_status_for_the_prompt() {
    for array in [false, true] {
        let mut typist = Typist::new("bash", "exit 3\n");
        typist.settings = "HISTCONTROL=ignoreboth\ntrap 'echo \"trap:$BASH_COMMAND:$?\"' DEBUG\n".to_owned();
        let theirs = r#"echo "prompt:$?""#;
        typist.settings +=
            &["PROMPT_COMMAND=", if array { "('" } else { "'" }, theirs, if array { "')" } else { "'" }].concat();
        let shown = typist.types(&["sh t.sh", "echo got:$?", "(exit 4)", "echo last:$?"]);
        for part in ["prompt:3", "got:3", "prompt:4", "last:4", "trap:sh t.sh:"] {
            assert!(shown.contains(part), "{array}: {part}: {shown}");
        }
        assert_eq!(typist.runs().len(), 1, "{array}: {shown}");
    }
}

#[test]
fn bash_keeps_the_last_word_of_a_command() {
    let typist = Typist::new("bash", "true\n");
    let shown = typist.types(&["echo one two; echo last:$_; sh t.sh; echo last:$_"]);
    assert!(shown.contains("last:two") && shown.contains("last:t.sh"), "{shown}");
    assert_eq!(typist.runs().len(), 1, "{shown}");
}

#[test]
fn bash_preexec_calls_where_it_is_loaded() {
    let mut typist = Typist::new("bash", "true\n");
    // What bash-preexec offers: arrays of functions, the line as an argument, the status at a prompt.
    typist.settings = "bash_preexec_imported=defined\n__status() { return \"$1\"; }\n\
        __begin() { local f; for f in \"${preexec_functions[@]}\"; do \"$f\" \"$(HISTTIMEFORMAT= history 1 | sed 's/^ *[0-9]* *//')\"; done; }\n\
        __end() { local s=$? f; for f in \"${precmd_functions[@]}\"; do __status $s; \"$f\"; done; return $s; }\n\
        trap '[[ $BASH_COMMAND != sh* ]] || __begin' DEBUG\nPROMPT_COMMAND=__end\n"
        .to_owned();
    let shown = typist.types(&["true", "sh t.sh"]);
    assert_eq!((typist.check().0, typist.runs().len()), (0, 1), "{shown}");
}

#[test]
fn what_the_environment_of_the_shell_makes_less_of_a_run_is_known() {
    let typist = Typist::new("bash", "true\n");
    let policy = "version = 1\n\n[commands.test]\ngate = \"tests\"\nrun = \"./pytest\"\n";
    typist.repo.write("gate.toml", policy);
    typist.repo.script("pytest", "#!/bin/sh\necho 1 passed in 0.1s\n").commit_all("test: pytest");
    let shown = typist.types(&["export PYTEST_ADDOPTS='-k one'", "./pytest"]);
    let (code, said) = typist.check();
    assert!(code == 10 && said.contains("PYTEST_ADDOPTS"), "{said}\n{shown}");
    typist.types(&["./pytest"]);
    assert_eq!(typist.check().0, 0);
}

#[test]
fn an_alias_is_what_it_stands_for() {
    let mut typist = Typist::new("bash", "exit 3\n");
    typist.settings = "alias t='sh t.sh'\nalias sh='true'\n".to_owned();
    typist.types(&["sh t.sh", "t"]);
    assert_eq!(typist.check().0, 10);
    typist.repo.write("t.sh", "true\n").commit_all("fix: it");
    typist.settings = "alias t='sh t.sh'\n".to_owned();
    typist.types(&["t"]);
    assert_eq!(typist.check().0, 0);
}

#[test]
fn without_a_terminal_nothing_is_recorded() {
    let typist = Typist::new("bash", "true\n");
    let begin = ["hook", "shell", "begin", "--shell", "bash", "--line", "sh t.sh"];
    let mut command = typist.repo.command_in("setsid", typist.repo.root());
    let output = command.arg("--wait").arg(env!("CARGO_BIN_EXE_gate")).args(begin).output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    assert!(!typist.repo.path(".git/gate").exists());
}

#[test]
fn a_token_counts_once_and_not_for_another_content() {
    let typist = Typist::new("bash", "true\n");
    let gate = env!("CARGO_BIN_EXE_gate");
    let begin = format!("token=$({gate} hook shell begin --shell bash --line 'sh t.sh')");
    let end = format!("{gate} hook shell end $token 0");
    typist.types(&[&begin, "echo two >>notes", &end]);
    assert_eq!(typist.check().0, 10, "the content changed in between");
    typist.repo.git(["checkout", "-q", "."]);
    typist.types(&[&begin, &format!("{gate} hook shell end $token 1"), &end, &end]);
    assert!(typist.check().1.contains("failed"), "it ended once");
    assert!(fs::read_dir(typist.repo.path(".git/gate/hooked")).unwrap().next().is_none());
}

#[test]
fn an_agent_is_refused_that_makes_up_what_a_person_ran() {
    let typist = Typist::new("bash", "exit 3\n");
    for line in [
        "gate hook shell end \"$(gate hook shell begin --shell bash --line 'sh t.sh')\" 0",
        "env -u CLAUDECODE script -qc 'gate hook shell begin --line x' /dev/null",
        "echo '{}' | gate hook claude PostToolUse",
    ] {
        let payload = serde_json::json!({
            "session_id": "s", "cwd": typist.repo.root(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_use_id": "t", "tool_input": {"command": line},
        });
        let mut hook = typist.repo.gate(["hook", "claude", "PreToolUse"]);
        let said = run_with_input(&mut hook, payload.to_string());
        assert!(both_streams(&said).contains("\"permissionDecision\":\"deny\""), "{line}");
    }
}

#[test]
fn what_a_person_ran_is_not_signed() {
    let typist = Typist::new("bash", "true\n");
    typist.types(&["sh t.sh"]);
    assert_eq!(typist.check().0, 0);
    let output = typist.repo.gate(["attest"]).output().unwrap();
    let said = both_streams(&output);
    assert_eq!(output.status.code(), Some(10), "{said}");
    assert!(said.contains("is only of grade hooked"), "{said}");
}
