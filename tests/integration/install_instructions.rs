//! `gate init --instructions` and its reverse.

use std::fs;

use crate::project::Project;

const FILES: [&str; 4] = ["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md"];

#[test]
fn the_block_is_shown_written_once_and_removed_byte_for_byte() {
    let project = Project::new();
    project.repo.write("CLAUDE.md", "# Rules\n\nNo tabs.").write("AGENTS.md", "Be brief.\r\n");
    let text = |name: &str| fs::read_to_string(project.repo.path(name)).unwrap_or_default();
    let shown = project.gate(["init", "--instructions", "--dry-run"]).exits(0);
    assert!(shown.text().contains("+Before you change a file, have `gate` check the person's request"), "{shown:?}");
    assert_eq!(text("CLAUDE.md"), "# Rules\n\nNo tabs.");
    assert_eq!(text("GEMINI.md"), "");

    project.gate(["init", "--instructions", "--yes"]).exits(0);
    for name in FILES {
        assert_eq!(text(name).matches("gate prompt --json -").count(), 1, "{name}");
    }
    assert!(text("CLAUDE.md").starts_with("# Rules\n\nNo tabs.\n<!-- >>> gate >>> -->\n"));
    project.gate(["init", "--instructions", "--yes"]).exits(0).says("Nothing to do");
    // A person goes on writing.
    project.repo.append("GEMINI.md", "Our own line.\n");

    project.gate(["uninstall", "--yes"]).exits(0);
    assert_eq!(text("CLAUDE.md"), "# Rules\n\nNo tabs.");
    assert_eq!(text("AGENTS.md"), "Be brief.\r\n");
    assert_eq!(text("GEMINI.md"), "Our own line.\n");
    assert!(!project.repo.path(".github").exists());
}

#[test]
fn only_the_files_of_named_clients_are_written() {
    let project = Project::new();
    project.repo.link("AGENTS.md", "README.md");
    project.gate(["init", "--instructions", "--clients", "claude,codex", "--yes"]).exits(0).says("AGENTS.md is a link");
    assert!(project.repo.path("CLAUDE.md").exists() && !project.repo.path("GEMINI.md").exists());
}
