//! Declared checks that run in the background while the agent stops.

use super::hook_context::Desk;
use super::line_runs::policy_here;
use crate::command_line;
use crate::event::Ended;
use crate::repo_path::RepoPath;
use crate::source::project_files::DiskDirectory;

/// Returns `true` if a line in the background runs a declared check and will come to its end.
pub(super) fn will_end_a_check(desk: &Desk, line: &str) -> bool {
    let files = DiskDirectory(desk.root.clone());
    let Ok(policy) = policy_here(&desk.place) else { return false };
    let project = policy.project(&files);
    let Ok(understood) = command_line::understand_in(line, desk.shell(), project) else { return false };
    let is_declared = |line: &str| {
        let told = command_line::ObservedLine {
            line,
            dir: &RepoPath::default(),
            root: desk.root.to_str(),
            ended: Some(Ended::Exited(0)),
            output: None,
            cut: false,
            background: false,
            shell: desk.shell(),
        };
        !command_line::witness(&policy.commands, &told, policy.project(&files)).is_empty()
    };
    is_declared(line) && !command_line::may_be_endless(&understood, is_declared)
}
