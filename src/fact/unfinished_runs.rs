//! Runs of declared commands that a session started and whose status is unknown.

use serde::{Deserialize, Serialize};

use crate::command_line::{self, ObservedLine};
use crate::event::Ended;
use crate::fact::session_steps::Story;
use crate::policy::Policy;
use crate::repo_path::RepoPath;
use crate::runner::ProjectFiles;
use crate::shell_kind::Shell;

/// The newest run of a declared command, if its status is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OpenRun {
    /// The command, by name.
    pub command: String,
    /// The state of the run.
    pub state: OpenRunState,
}

/// The state of a run whose status is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OpenRunState {
    /// The run was left in the background, and no event reports its end.
    Running,
    /// A time limit of the client ended the run.
    OverTime,
}

/// Finds the open runs in a story. A run on content that was changed since says nothing about the current content,
/// ended or not.
pub fn find(policy: &Policy, story: &Story, files: &dyn ProjectFiles) -> Vec<OpenRun> {
    let Some(last) = story.steps.last() else { return Vec::new() };
    let mut found: Vec<OpenRun> = Vec::new();
    for (step, ran) in story.runs() {
        let state = match ran.ended {
            None if ran.over_time => Some(OpenRunState::OverTime),
            None if ran.background => Some(OpenRunState::Running),
            _ => None,
        };
        // Only a run that ended takes the place of one that is open.
        if (state.is_none() || step.content != last.content) && found.is_empty() {
            continue;
        }
        let state = state.filter(|_| step.content == last.content);
        let served = commands_of(policy, &ran.line, ran.shell, files);
        let endless = state == Some(OpenRunState::Running)
            && command_line::understand_in(&ran.line, ran.shell, policy.project(files)).is_ok_and(|line| {
                command_line::may_be_endless(&line, |part| !commands_of(policy, part, ran.shell, files).is_empty())
            });
        for command in served {
            found.retain(|open| open.command != command);
            if let Some(state) = state.filter(|_| !endless) {
                found.push(OpenRun { command, state });
            }
        }
    }
    found
}

/// Returns the names of the declared commands that a line runs, as far as its words show it.
fn commands_of(policy: &Policy, line: &str, shell: Option<Shell>, files: &dyn ProjectFiles) -> Vec<String> {
    let told = ObservedLine {
        line,
        dir: &RepoPath::default(),
        root: None,
        ended: Some(Ended::Exited(0)),
        output: None,
        cut: false,
        background: false,
        shell,
    };
    let served = command_line::witness(&policy.commands, &told, policy.project(files));
    served.into_iter().filter_map(|served| served.command.name).collect()
}
