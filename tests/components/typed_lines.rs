//! What a person types in a real zsh and fish is recorded.
#![cfg(target_os = "linux")]

use crate::typing::{Typist, holds_in};

#[test]
fn a_persons_own_run_in_zsh_counts_and_other_lines_leave_nothing() {
    holds_in("zsh");
}

#[test]
fn a_persons_own_run_in_fish_counts_and_other_lines_leave_nothing() {
    holds_in("fish");
}

#[test]
fn zsh_keeps_its_functions_and_the_status_for_the_prompt() {
    let mut typist = Typist::new("zsh", "exit 3\n");
    typist.settings = "setopt no_unset\nmine() { echo \"mine:$?\" }\nbefore() { echo \"before:$1\" }\n\
        precmd_functions=(mine)\npreexec_functions=(before)\nPS1='ps:%?> '\n"
        .to_owned();
    let shown = typist.types(&["sh t.sh", "echo got:$?", "(exit 4)"]);
    for part in ["mine:3", "before:sh t.sh", "got:3", "mine:4", "ps:3>", "ps:4>"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(typist.runs().len(), 1, "{shown}");
}

#[test]
fn fish_keeps_the_status_for_the_prompt() {
    let mut typist = Typist::new("fish", "exit 3\n");
    typist.settings = "function fish_prompt; echo \"ps:$status> \"; end\n".to_owned();
    let shown = typist.types(&["sh t.sh", "echo got:$status"]);
    for part in ["ps:3>", "got:3"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(typist.runs().len(), 1, "{shown}");
}
